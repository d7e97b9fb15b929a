"""Examples of a page run in a folder of their own, which holds the files that the page shows, and
those of the demo's text search where examples read them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pasted import write_files


@pytest.fixture(autouse=True)
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.suffix == ".md":
        text = request.path.read_text(encoding="utf-8")
        if re.search(r"(>>>|\.\.\.) .*judged-demo/text", text):
            from judged.cli.demo_data import write_text_demo

            write_text_demo(tmp_path / "judged-demo" / "text")
        write_files(text, tmp_path)
        monkeypatch.chdir(tmp_path)
