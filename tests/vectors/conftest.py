"""Small files of vectors in a folder of their own, and parts that are not installed everywhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

Write = Callable[[str, "str | bytes"], Path]
Needs = Callable[[str], None]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one, so that messages show the bare name."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> Path:
        path = Path(name)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture(scope="session")
def has() -> Needs:
    """`has("torch")` skips the test where a Python package is missing, and fails it where JUDGED_REQUIRE names it."""

    def missing(package: str) -> None:
        if find_spec(package) is None:
            required = [name.strip() for name in os.environ.get("JUDGED_REQUIRE", "").split(",")]
            (pytest.fail if package in required else pytest.skip)(f"the Python package {package} is not installed")

    return missing
