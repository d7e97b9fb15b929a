"""One file with relevant and retrieved ids, in every command that takes judgements and a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROWS = [
    {"question": "q1", "gold": ["a"], "retrieved": ["b", "a"]},
    {"question": "q2", "gold": ["c", "d"], "retrieved": ["c", "e"]},
]


@pytest.fixture(autouse=True)
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    turned = [{**row, "retrieved": row["retrieved"][::-1]} for row in ROWS]
    (tmp_path / "turned.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in turned))
    return path


def scores(result):
    assert result.code == 0, result.err
    return {run["name"]: run["scores"]["RR"] for run in json.loads(result.out)["runs"]}


def test_evaluate(judged):
    asked = ("-m", "RR", "--format", "json")
    assert scores(judged("evaluate rows.jsonl", *asked)) == {"rows": 0.75}
    assert scores(judged("evaluate mine=rows.jsonl", *asked)) == {"mine": 0.75}
    both = judged("evaluate rows.jsonl turned.jsonl", *asked)
    assert scores(both) == {"rows": 0.75, "turned": 0.75}
    said = ("--columns", "relevant=gold,retrieved=retrieved")
    assert scores(judged("evaluate rows.jsonl", *said, *asked)) == {"rows": 0.75}


def test_judgements_alone(judged, tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    start = "judged: judgements and a run are needed: judged evaluate QRELS RUN; or rows with "
    for command in (("evaluate",), ("conventions",), ("identify", "0.5"), ("explain",)):
        result = judged(*command, "qrels.txt")
        assert (result.code, result.err[: len(start)]) == (2, start), command
    result = judged("plot precision-recall qrels.txt -o pr.csv")
    assert (result.code, result.err[: len(start)]) == (2, start)


def test_a_run_alone(judged, tmp_path):
    (tmp_path / "lone.run").write_text("q1 Q0 a 1 2.5 tag\nq1 Q0 b 2 1.5 tag\n")
    for command in ("evaluate lone.run", "report lone.run -o r.html", "explain lone.run"):
        result = judged(command)
        assert result.code == 2
        assert result.err.startswith("judged: judgements and a run are needed: ")
