"""Examples of a page run in a folder of their own, which holds the files that the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pasted import write_files


@pytest.fixture(autouse=True)
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.suffix == ".md":
        write_files(request.path.read_text(encoding="utf-8"), tmp_path)
        monkeypatch.chdir(tmp_path)
