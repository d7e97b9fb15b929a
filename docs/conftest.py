"""Examples of a page run in a folder of their own, which holds the files that the page shows."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

WRITE = runpy.run_path(str(Path(__file__).with_name("reference.py")))["write_files"]


@pytest.fixture(autouse=True)
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.suffix == ".md":
        WRITE(request.path.read_text(encoding="utf-8"), tmp_path)
        monkeypatch.chdir(tmp_path)
