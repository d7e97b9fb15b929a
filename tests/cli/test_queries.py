"""Weights of queries and queries with nothing relevant, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
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
    outcome = judged("evaluate", "qrels", "a.run", "-m", "RR", "--weights", "w.csv")
    # RR is 1/2, 1, 0, 0 and 0 with the weights 1, 2, 1, 1 and 3.
    assert outcome.out.splitlines()[:2] == ["run      RR", "a    0.3125"]
    said = "queries are weighted by w.csv; effective number of queries (Kish) 4.0 of 5"
    outcome = judged(
        "evaluate", "qrels", "a.run", "-m", "RR", "--weights", "w.csv", "--format", "json"
    )
    found = json.loads(outcome.out)
    weights = found["runs"][0]["weights"]
    assert weights == {"source": "w.csv", "effective_queries": {"RR": pytest.approx(4)}}
    assert said[1:] in found["definition"]


def test_unanswerable(judged: Any, unanswered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    options = ("-m", "RR", "--unanswerable")
    outcome = judged("evaluate", "qrels", "a.run", *options)
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--answer-threshold", "1"),
            "--answer-threshold is about queries without relevant items; it needs --unanswerable.",
        ),
        (
            ("--unanswerable", "--answer-threshold", "nan"),
            "threshold must be a finite number; got nan.",
        ),
        (
            ("--unanswerable", "--empty", "one"),
            "empty=one says what queries with nothing relevant count, and unanswerable takes them "
            "out; choose empty=skip, or leave out unanswerable.",
        ),
        (("--weights", "none.csv"), "none.csv: no such file."),
        (
            ("--weights", "short.csv"),
            "short.csv: 4 judged queries have no weight ('q2', 'q3', 'n1', …); give every judged "
            "query one, 0 for one that is not to count.",
        ),
        (
            ("--weights", "w.csv", "-m", "NumRel"),
            "NumRel is a sum over the queries, for which weights have no one meaning; leave it "
            "out, or ask for its mean, NumRel(aggregate=mean).",
        ),
    ],
)
def test_what_is_refused(
    judged: Any, unanswered: Path, options: tuple[str, ...], message: str
) -> None:
    (unanswered / "short.csv").write_text("q1 1\n")
    outcome = judged("evaluate", "qrels", "a.run", *options)
    assert outcome.code != 0
    assert outcome.err.splitlines()[-1].endswith(message)


def test_embeddings(judged: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    np.save("q.npy", rng.normal(size=(5, 3)))
    np.save("i.npy", rng.normal(size=(7, 3)))
    (tmp_path / "qrels").write_text("0 0 0 1\n1 0 1 1\n2 0 2 1\n3 0 0 0\n4 0 0 0\n")
    (tmp_path / "w").write_text("0 1\n1 2\n2 3\n3 1\n4 1\n")
    options = ("--qrels", "qrels", "-m", "RR", "--weights", "w", "--unanswerable")
    outcome = judged("embeddings", "q.npy", "i.npy", *options, "--format", "json")
    assert outcome.code == 0, outcome.err
    [run] = json.loads(outcome.out)["runs"]
    assert (run["unanswerable"]["queries"], run["unanswerable"]["answerable"]) == (2, 3)
    assert run["weights"]["source"] == "w"
    saved = judged(
        *("embeddings", "q.npy", "i.npy", *options, "--save-run", "r.run", "--format", "json")
    )
    assert json.loads(saved.out)["runs"][0]["unanswerable"] == run["unanswerable"]
    refused = judged("embeddings", "q.npy", "i.npy", *options, "--both")
    assert refused.err.splitlines()[-1].endswith(
        "--groups and --unanswerable are about the queries, but with --both the items are queries "
        "too. Evaluate one direction at a time."
    )
    refused = judged("embeddings", "q.npy", "i.npy", *options, "--diagnose")
    assert refused.err.splitlines()[-1] == (
        "Error: --weights has no meaning with --diagnose; leave it out."
    )


def test_a_column_of_the_judgements(judged: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("j.csv").write_text("query,item,grade,traffic\na,x,1,1\na,y,0,1\nb,x,1,3\nc,,,4\n")
    Path("r.json").write_text('{"a": ["x"], "b": ["y", "x"], "c": ["x"]}')
    options = ("j.csv", "r.json", "-m", "RR", "--columns", "weight=traffic")
    outcome = judged("evaluate", *options)
    assert outcome.out.splitlines()[:2] == ["run      RR", "r    0.3125"]  # (1 + 3/2 + 0) / 8
    Path("w.csv").write_text("query,weight\na,1\nb,1\nc,1\n")
    outcome = judged("evaluate", *options, "--weights", "w.csv")
    assert outcome.err.splitlines()[-1].endswith(
        "the judgements have weights of queries (a column of j.csv), and weights were given too; "
        "give one of them."
    )
