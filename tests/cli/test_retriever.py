"""`judged retriever`: a module of one's own, asked by its name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

MODULE = """
calls = []

def search(text):
    print("searching", text)
    calls.append(text)
    if text == "fail":
        raise ConnectionError("refused")
    return [{"key": "y", "score": 2.0}, {"key": "x", "score": 1.0}]

async def later(text):
    return ["x", "y"]

class Store:
    def invoke(self, text):
        return ["x"]

store = Store()
key = lambda result: result["key"]
number = 3
"""


@pytest.fixture
def module(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (files / "my_search.py").write_text(MODULE)
    (files / "broken_search.py").write_text("1 / 0")
    (files / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "red"}\n{"_id": "q2", "text": "fail"}\n{"_id": "q8", "text": "x"}\n'
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("my_search", "broken_search"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return files


def test_a_retriever_is_asked(judged: Any, module: Path) -> None:
    outcome = judged(
        *("retriever", "qrels", "my_search:search", "--queries", "queries.jsonl", "-m", "RR"),
        *("--item", "key", "--missing", "skip", "--format", "json", "--save", "run.jsonl"),
    )
    assert outcome.code == 0
    found = json.loads(outcome.out)  # what the retriever prints is not in it
    assert "searching red\n" in outcome.err
    assert found["runs"][0]["name"] == "search"
    assert found["runs"][0]["scores"] == {"RR": 0.5}
    assert found["latency"]["queries"] == 1
    assert found["warnings"] == [
        "1 judged query is not among the queries to ask (q3).",
        "1 of 2 queries failed (q2). The first error was ConnectionError: refused (query 'q2').",
        "The run has no results for 2 of 3 judged queries (q2, q3), which are left "
        "out of the means.",
    ]
    again = judged(
        "evaluate", "qrels", "run.jsonl", "-m", "RR", "--missing", "skip", "--format", "csv"
    )
    assert again.out.startswith("run,RR\nrun,0.5\n")


@pytest.mark.parametrize(
    ("options", "out"),
    [
        (("my_search:search", "--item", "my_search:key"), "run,P@1\nsearch,0.0\n"),
        (("my_search:store", "--name", "ours"), "run,P@1\nours,0.3333333333333333\n"),
        (("my_search:store.invoke",), "run,P@1\nStore,0.3333333333333333\n"),
        (("my_search:later", "--workers", "2"), "run,P@1\nlater,0.3333333333333333\n"),
    ],
)
def test_every_kind(judged: Any, module: Path, options: tuple[str, ...], out: str) -> None:
    outcome = judged("retriever", "qrels", *options, "-m", "P@1", "--format", "csv")
    assert (outcome.code, outcome.out) == (0, out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("my_search",),
            "a retriever is named as MODULE:NAME, as search.bm25:ask; got 'my_search'.",
        ),
        (
            ("my_search:no",),
            "my_search:no cannot be imported (AttributeError: module 'my_search' has no attribute "
            "'no').",
        ),
        (
            ("no_such:no",),
            "no_such:no cannot be imported (ModuleNotFoundError: No module named 'no_such').",
        ),
        (
            ("broken_search:x",),
            "broken_search:x cannot be imported (ZeroDivisionError: division by zero).",
        ),
        (
            ("my_search:number",),
            "a retriever is a function of a query, or an object with .invoke, .retrieve or .run; "
            "got 3.",
        ),
        (
            ("my_search:later", "--workers", "0"),
            "--workers must be a whole number from 1 to 1,024; got 0.",
        ),
        (
            ("my_search:later", "--save", "x.run"),
            "x.run: the ending says the format, and must be .jsonl or .ndjson.",
        ),
        (("my_search:later", "--queries", "no.jsonl"), "no.jsonl: no such file."),
    ],
)
def test_wrong_arguments(
    judged: Any, module: Path, arguments: tuple[str, ...], message: str
) -> None:
    outcome = judged("retriever", "qrels", *arguments)
    assert outcome.code != 0
    assert outcome.err == f"judged: {message}\n"


def test_it_does_not_save_over_what_it_reads(judged: Any, module: Path) -> None:
    before = (module / "queries.jsonl").read_text()
    outcome = judged(
        *("retriever", "qrels", "my_search:later", "--queries", "queries.jsonl"),
        *("--save", "queries.jsonl"),
    )
    assert outcome.code != 0
    assert outcome.err == (
        "judged: queries.jsonl: is read by this very command; write to another file.\n"
    )
    assert (module / "queries.jsonl").read_text() == before


def test_it_has_the_options_of_evaluate(judged: Any) -> None:
    from judged.cli.evaluate import evaluate
    from judged.cli.retriever import retriever

    ours, theirs = ({param.name for param in each.params} for each in (retriever, evaluate))
    of_runs = {"runs", "run_format", "memory", "temporary", "jobs", "skip_bad"}
    assert theirs - ours == {*of_runs, "engine", "master", "remote", "spark_conf"}
