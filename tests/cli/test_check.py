"""`judged check`: what it prints and writes, exit codes, wrong calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\nq2 0 b 0\n"
RUN = "q1 Q0 b 1 3 x\nq1 Q0 a 2 2 x\nq2 Q0 c 1 3 x\nq2 Q0 d 2 2 x\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(QRELS)
    Path("one.run").write_text(RUN)
    Path("queries.tsv").write_text("q1\tcold war\nq2\tCold War?\n")
    Path("items.csv").write_text("id,text\na,ice\nb,snow\nc,rain\nd,hail\n")
    return tmp_path


def test_a_sound_collection(judged, folder: Path) -> None:
    found = judged("check qrels one.run --items items.csv --strict")
    assert found.code == 0
    assert (
        found.out.splitlines()[0] == "No problems found (2 queries, 4 judgements, 1 run checked)."
    )


def test_findings_end_with_1_only_where_that_is_asked_for(judged, folder: Path) -> None:
    call = ("check", "qrels", "one.run", "--queries", "queries.tsv", "-m", "RR")
    assert judged(*call).code == 0
    found = judged(*call, "--strict")
    assert found.code == 1
    assert found.out.splitlines()[:4] == [
        "1 kind of problem found (2 queries, 4 judgements, 1 run checked).",
        "query-twins: 1 pair of identical or nearly identical queries with different relevant "
        "items (2 of 2 queries).",
        "  'q1' \"cold war\" and 'q2' \"Cold War?\" (the same words): relevant are 'a' and 'c'",
        "  Nothing is left to evaluate without these 2 queries.",
    ]
    assert judged(*call, "--strict", "--ignore", "query-twins").code == 0


def test_json_and_files(judged, folder: Path) -> None:
    call = ("check", "qrels", "one.run", "--queries", "queries.tsv")
    read = json.loads(judged(*call, "--format", "json").out)
    assert [each["finding"] for each in read["findings"]] == ["query-twins"]
    assert judged(*call, "-o", "check.json").code == 0
    assert json.loads(Path("check.json").read_text()) == read


def test_training(judged, folder: Path) -> None:
    Path("train").write_text("q2 0 c 1\n")
    found = judged("check qrels one.run --training train")
    assert [line.partition(":")[0] for line in found.out.splitlines()[1:8:3]] == [
        "training-queries",
        "training-pairs",
        "",
    ]
