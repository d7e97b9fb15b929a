"""Weights of queries and queries with nothing relevant, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def unanswered(files: Path) -> Path:
    """The files, with two queries more that have nothing relevant; a answers one of them."""
    with (files / "qrels").open("a") as qrels:
        qrels.write("n1 0 x 0\nn2 0 y 0\n")
    with (files / "a.run").open("a") as run:
        run.write("n1 Q0 u 1 2.5 a\n")
    (files / "w.csv").write_text("query,traffic\nq1,1\nq2,2\nq3,1\nn1,1\nn2,3\n")
    return files


def test_weights(judged: Any, unanswered: Path) -> None:
    outcome = judged("evaluate qrels a.run -m RR --weights w.csv")
    # RR is 1/2, 1, 0, 0 and 0 with the weights 1, 2, 1, 1 and 3.
    assert outcome.out.splitlines()[:2] == ["run      RR", "a    0.3125"]
    said = "queries are weighted by w.csv; effective number of queries (Kish) 4.0 of 5"
    outcome = judged("evaluate qrels a.run -m RR --weights w.csv --format json")
    found = json.loads(outcome.out)
    weights = found["runs"][0]["weights"]
    assert weights == {"source": "w.csv", "effective_queries": {"RR": pytest.approx(4)}}
    assert said[1:] in found["definition"]


def test_unanswerable(judged: Any, unanswered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    options = ("-m", "RR", "--unanswerable")
    outcome = judged("evaluate qrels a.run", *options)
    assert outcome.code == 0
    assert outcome.out.splitlines()[:5] == [
        "run      RR",
        "a    0.5000",
        "",
        f"run  unanswerable  wrongly answered  answerable  left empty {'AUROC':>24}",
        "a               2            0.5000           3      0.3333  0.7500 [0.2601, 0.9600]",
    ]
    outcome = judged(
        *("evaluate", "qrels", "a.run", *options, "--answer-threshold", "3", "--format", "json")
    )
    apart = json.loads(outcome.out)["runs"][0]["unanswerable"]
    assert (apart["answered"], apart["threshold"]) == (0.0, 3.0)


def test_what_is_refused(refuses, unanswered):
    refuses("""
    evaluate qrels a.run --unanswerable --answer-threshold nan
        judged: --answer-threshold must be a finite number; got nan.
    evaluate qrels a.run --weights w.csv -m NumRel
        judged: NumRel is a sum over the queries, for which weights have no one meaning; leave
        it out, or ask for its mean, NumRel(aggregate=mean).
    """)
