from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def reference() -> ModuleType:
    """docs/reference.py, which writes the generated parts of the documentation."""
    return import_module("reference")


@pytest.fixture(scope="session")
def pasted() -> ModuleType:
    """docs/pasted.py, which runs what pages show."""
    return import_module("pasted")
