"""Doctests of modules: each is loaded as everybody loads it, whatever is collected first.

pytest looks for a module among those that are loaded, loads its package where it is not, and then
the module itself: a second time, where its package has loaded it. Classes of the two copies are not
the same, and errors of one are not caught as those of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collect_file(file_path: Path) -> None:
    """Load a module before pytest does; what cannot be loaded is left to pytest, which says so."""
    if file_path.suffix == ".py" and file_path.name != "conftest.py":
        names = file_path.relative_to(HERE).with_suffix("").parts
        with suppress(Exception):
            import_module(".".join(names[:-1] if names[-1] == "__init__" else names))


@pytest.fixture(autouse=True)
def forget_own_measures() -> Iterator[None]:
    """Remove measures that an example declares."""
    from judged.measures.registry import _NAMES, REGISTRY

    known = dict(REGISTRY), dict(_NAMES)
    yield
    for current, before in zip((REGISTRY, _NAMES), known, strict=True):
        current.clear()
        current.update(before)
