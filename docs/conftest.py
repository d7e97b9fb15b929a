"""Run the examples of each page in a folder of its own.

The folder holds the files that the page shows and, where examples read them, those of the demo's
text search.
"""

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
