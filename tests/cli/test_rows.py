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
    assert scores(judged("evaluate", "rows.jsonl", *asked)) == {"rows": 0.75}
    assert scores(judged("evaluate", "mine=rows.jsonl", *asked)) == {"mine": 0.75}
    both = judged("evaluate", "rows.jsonl", "turned.jsonl", *asked)
    assert scores(both) == {"rows": 0.75, "turned": 0.75}
    said = ("--columns", "relevant=gold,retrieved=retrieved")
    assert scores(judged("evaluate", "rows.jsonl", *said, *asked)) == {"rows": 0.75}


def test_the_other_commands(judged):
    assert judged("conventions", "rows.jsonl", "-m", "RR@10").code == 0
    assert "RR" in judged("identify", "0.75", "rows.jsonl", "-m", "RR").out
    explained = judged("explain", "rows.jsonl", "--query", "q1", "-m", "RR")
    assert (explained.code, "0.5" in explained.out) == (0, True)
    assert judged("plot", "precision-recall", "rows.jsonl", "-o", "pr.csv").code == 0
    two = "rows.jsonl", "turned.jsonl"
    assert judged("plot", "precision-recall", *two, "-o", "pr.csv").code == 0
    result = judged("plot", "scores", *two, "-o", "scores.csv")
    assert result.code == 2
    assert result.err == (
        "judged: scores needs judgements and one run with its items and scores; got 2 runs.\n"
    )


def test_judgements_alone(judged, tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    start = "judged: judgements need a run beside them: judged evaluate QRELS RUN; or rows with "
    for command in (("evaluate",), ("conventions",), ("identify", "0.5"), ("explain",)):
        result = judged(*command, "qrels.txt")
        assert (result.code, result.err[: len(start)]) == (2, start), command
    result = judged("plot", "precision-recall", "qrels.txt", "-o", "pr.csv")
    assert (result.code, result.err[: len(start)]) == (2, start)


def test_a_run_alone_and_a_damaged_file_say_what_they_are(judged, tmp_path):
    files = {
        "lone.run": "q1 Q0 a 1 2.5 tag\nq1 Q0 b 2 1.5 tag\n",
        "lone.csv": "query,item,score\nq1,a,0.5\n",
        "ranked.csv": "query,item,rank\nq1,a,1\n",
        "lone.json": '{"q1": {"a": 0.53, "b": 0.25}}',
        "lone.jsonl": '{"query": "q1", "item": "a", "score": 2.5}\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        for command in (("evaluate", name), ("report", name, "-o", "r.html"), ("explain", name)):
            result = judged(*command)
            assert (result.code, result.err) == (
                2,
                f"judged: {name}: this is a run, and the judgements are missing. Give both: judged "
                f"evaluate QRELS {name}.\n",
            )
    (tmp_path / "beir.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\n")
    assert "judgements need a run beside them" in judged("evaluate", "beir.tsv").err
    whole = '{"query": "q1", "item": "a", "grade": 1}\n'
    for name, text in {"cut.jsonl": whole + whole[:20], "only.jsonl": whole[:20]}.items():
        (tmp_path / name).write_text(text)
        result = judged("evaluate", name)
        assert result.code == 2
        assert f"judged: {name}, line {text.count(whole) + 1}: not valid JSON" in result.err
