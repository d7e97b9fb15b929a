"""Every file shown in docs/inputs.md is read as the format it is shown for, and every message there
is real."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import judged
from judged.inputs.formats import detect_format
from judged.inputs.source import open_source
from judged.inputs.tables import JUDGEMENTS, RUN
from judged.options import FileFormat, VectorFileFormat
from support.loops import for_each

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "inputs.md").read_text(encoding="utf-8")
FORMAT_OF_HEADING = {
    "TREC": {"trec"},
    "MS MARCO, and three columns with scores": {"msmarco or scores", "trec"},
    "CSV and TSV": {"csv", "tsv"},
    "Judgements without grades": {"csv"},
    "NDJSON": {"ndjson"},
    "JSON": {"json"},
}
JUDGED = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RESULTS = {"q1": {"b": 3.5, "a": 2.5}, "q2": {"c": 9}}


def shown() -> list[tuple[str, str, str]]:
    """(heading, file name, content) of every file on the page."""
    found = []
    for part in re.split(r"^###? ", TEXT, flags=re.MULTILINE)[1:]:
        heading = part.partition("\n")[0]
        for name, content in re.findall(
            r"^```text (\S+)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL
        ):
            found.append((heading, name, content))
    return found


def test_every_text_format_is_shown() -> None:
    assert {heading for heading, _, _ in shown()} == set(FORMAT_OF_HEADING)


@pytest.mark.filterwarnings("ignore:There is no header:judged.errors.JudgedWarning")
@for_each(("heading", "name", "content"), shown())
def test_shown_files_say_what_the_page_says(
    tmp_path: Path, heading: str, name: str, content: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    is_judgements = name.startswith("qrels")
    assert (
        detect_format(open_source(path, JUDGEMENTS if is_judgements else RUN)).name
        in FORMAT_OF_HEADING[heading]
    )
    judgements, run = (path, RESULTS) if is_judgements else (JUDGED, path)
    evaluation = judged.evaluate(judgements, run, ["RR", "NumRel", "NumRet"])
    assert evaluation.to_frame().row(0)[1:] == (0.75, 2.0, 3.0)


LINE = "q1 Q0 b 1 3.5 mine\n"
REFUSED: dict[str, bytes] = {
    "empty.run": b"",
    "photo.png": b"\x89PNG\r\n\x1a\n0000",
    "short.run": f"{LINE}q1 Q0 a 2\n".encode(),
    "word.run": f"{LINE}q1 Q0 a 2 high mine\n".encode(),
    "nan.run": f"{LINE}q1 Q0 a 2 nan mine\n".encode(),
    "twice.run": f"{LINE}q1 Q0 a 2 2.5 mine\n{LINE}".encode(),
    "three.run": b"q1 b 2\nq1 a 1\n",
    "bare.csv": b"q1,b,3.5\n",
    "rivals.csv": b"query,item,score,prediction\nq1,b,3.5,1\n",
    "nothing.csv": b"query,item,points\nq1,b,3.5\n",
    "padded.run": b"Q1 Q0 b 1 3.5 mine\n",
}


def test_shown_messages_are_real(folder: Path) -> None:
    Path("folder").mkdir()
    Path("qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n", encoding="utf-8")
    messages = set()
    for file, content in REFUSED.items():
        Path(file).write_bytes(content)
    for name in ("nope.run", "folder", "qrels.txt", *REFUSED):
        with pytest.raises(judged.errors.InputError) as refused:
            judged.evaluate("qrels.txt", name)
        messages.add(refused.value.args[0])  # the page shows options for both callers
    table = TEXT.partition("<!-- messages")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| .+ \| `(.+)` \|$", table, re.MULTILINE)) == messages


def test_every_format_is_named() -> None:
    formats = (*get_args(FileFormat), *get_args(VectorFileFormat))
    assert [name for name in formats if f"`{name}`" not in TEXT] == []
