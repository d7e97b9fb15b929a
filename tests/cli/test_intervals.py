"""Intervals on the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged as library

MESSAGE = "level and groups are about confidence intervals; they need --interval."


@pytest.fixture
def many(files: Path) -> Path:
    """Judgements and a run of twelve queries, whose relevant items stand at ranks 1 to 4."""
    ranks = [at % 4 + 1 for at in range(12)]
    (files / "many.qrels").write_text("".join(f"q{at:02} 0 x 1\n" for at in range(12)))
    rows = [
        f"q{at:02} Q0 {'x' if place == rank else f'd{place}'} {place} {9 - place} many\n"
        for at, rank in enumerate(ranks)
        for place in range(1, 5)
    ]
    (files / "many.run").write_text("".join(rows))
    groups = "".join(f"q{at:02},s{at // 3}\n" for at in range(12))
    (files / "groups.csv").write_text("query,group\n" + groups)
    return files


def expected(files: Path, **options: Any) -> Any:
    return library.evaluate(files / "many.qrels", files / "many.run", "RR").interval(**options)


@pytest.mark.parametrize("option", ["--interval", "--ci"])
def test_evaluate(judged: Any, many: Path, option: str) -> None:
    arguments = ("evaluate", "many.qrels", "many.run", "-m", "RR", option)
    table = pl.read_csv(io.StringIO(judged(*arguments, "--format", "csv", "-q").out))
    interval = expected(many)
    assert table.columns == ["run", "RR", "RR low", "RR high"]
    assert table.row(0)[1:] == pytest.approx((interval.estimate, interval.low, interval.high))
    text = judged(*arguments, "-v").out
    assert "intervals: 95 %: Student's t (RR)" in text
    data = json.loads(judged(*arguments, "--format", "json").out)
    assert data["level"] == 0.95
    assert data["runs"][0]["intervals"]["RR"] == {
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "method": "t",
    }
    lines = judged(*arguments, "--format", "trec").out
    assert lines == judged(*arguments[:-1], "--format", "trec").out


def test_level_and_groups(judged: Any, many: Path) -> None:
    arguments = ("evaluate", "many.qrels", "many.run", "-m", "RR", "--format", "json")
    asked = ("--interval", "--level", "0.9", "--groups", "groups.csv")
    data = json.loads(judged(*arguments, *asked).out)
    interval = expected(many, level=0.9, groups=many / "groups.csv")
    assert (data["level"], data["groups"]) == (0.9, 4)
    assert data["runs"][0]["intervals"]["RR"]["low"] == interval.low
    assert "by 4 groups of 12 queries" in data["definition"]


def test_beside_ranges_and_queries(judged: Any, many: Path) -> None:
    arguments = ("evaluate", "many.qrels", "many.run", "-m", "RR", "--interval")
    ranged = judged(*arguments, "--tie-range", "--format", "markdown").out.splitlines()[0]
    assert ranged == "| run | measure | value | low | high | worst | expected | best |"
    every = ("--per-query", "--format", "csv", "-q")
    assert judged(*arguments, *every).out == judged(*arguments[:-1], *every).out


def test_no_interval_says_why(judged: Any, many: Path) -> None:
    outcome = judged("evaluate", "qrels", "b.run", "-m", "AP@1", "--interval", "--missing", "skip")
    assert outcome.code == 0
    constant = judged("evaluate", "many.qrels", "many.run", "-m", "P@4", "--interval", "-v").out
    said = "no interval of P@4: all queries have the same value, which says nothing of how others "
    assert said + "would spread" in " ".join(constant.split())


def test_retriever(judged: Any, many: Path) -> None:
    (many / "mine.py").write_text("def ask(query):\n    return ['d1', 'x'][int(query[1:]) % 2 :]\n")
    asked = ("retriever", "many.qrels", "mine:ask", "-m", "RR", "--interval", "--format", "json")
    data = json.loads(judged(*asked, "--groups", "groups.csv").out)
    assert data["runs"][0]["intervals"]["RR"]["method"] == "t"
    assert data["groups"] == 4


def test_embeddings(judged: Any, many: Path) -> None:
    draw = np.random.default_rng(5)
    vectors = draw.normal(size=(12, 3))
    np.save("q.npy", vectors)
    np.save("i.npy", vectors + draw.normal(size=(12, 3)))
    Path("groups").write_text("query group\n" + "".join(f"{at} s{at % 4}\n" for at in range(12)))
    asked = ("embeddings", "q.npy", "i.npy", "--pairs", "-m", "RR")
    data = json.loads(judged(*asked, "--ci", "--groups", "groups", "--format", "json").out)
    assert data["groups"] == 4
    found = library.evaluate_embeddings("q.npy", "i.npy", library.relevance.pairs(), "RR")
    assert data["runs"][0]["scores"]["RR"] == found.value()
    both = json.loads(judged(*asked, "--both", "--interval", "--format", "json").out)
    assert [list(run["intervals"]) for run in both["runs"]] == [["RR"], ["RR"]]
    for option in (("--interval",), ("--level", "0.9"), ("--groups", "groups")):
        outcome = judged(*asked, *option, "--diagnose")
        assert (outcome.code, outcome.err.splitlines()[-1]) == (
            2,
            f"Error: {option[0]} has no meaning with --diagnose; leave it out.",
        )


WRONG = {
    ("--level", "0.9"): MESSAGE,
    ("--groups", "groups.csv"): MESSAGE,
    ("--interval", "--level", "95"): "--level must be a number between 0 and 1, as 0.95; got 95.0.",
    ("--interval", "--level", "nan"): "--level must be a number between 0 and 1, as 0.95; got nan.",
    ("--interval", "--groups", "some.csv"): (
        "some.csv: 11 queries have no group ('q01', 'q02', 'q03', …); give every query one, if "
        "need be one of its own."
    ),
    ("--interval", "--groups", "none.csv"): "none.csv: no such file.",
}


@pytest.mark.parametrize("options", WRONG, ids=" ".join)
def test_what_is_refused(judged: Any, many: Path, options: tuple[str, ...]) -> None:
    (many / "some.csv").write_text("query,group\nq00,a\n")
    outcome = judged("evaluate", "many.qrels", "many.run", "-m", "RR", *options)
    assert outcome.code != 0
    assert outcome.err.strip() == f"judged: {WRONG[options]}"
