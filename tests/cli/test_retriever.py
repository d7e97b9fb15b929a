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
        "retriever qrels my_search:search --queries queries.jsonl -m RR --item key "
        "--format json --save run.jsonl"
    )
    assert outcome.code == 0
    found = json.loads(outcome.out)  # what the retriever prints is not in it
    assert "searching red\n" in outcome.err
    assert found["runs"][0]["name"] == "search"
    assert found["runs"][0]["scores"] == {"RR": pytest.approx(1 / 6)}
    assert found["latency"]["queries"] == 1
    assert found["warnings"] == [
        "1 of 2 queries failed (q2). The first error was ConnectionError: refused (query 'q2').",
        "1 judged query is not among the queries to ask (q3).",
        "The run has no results for 2 of 3 judged queries (q2, q3), which count as "
        "empty lists. Use --missing skip to leave them out.",
    ]
    again = judged("evaluate qrels run.jsonl -m RR --missing skip --format csv")
    assert again.out.startswith("run,RR\nrun,0.5\n")


@pytest.mark.parametrize(
    ("options", "out"),
    [
        (("my_search:search", "--item", "my_search:key"), "run,P@1\nsearch,0.0\n"),
        (("my_search:store.invoke",), "run,P@1\nStore,0.3333333333333333\n"),
        (("my_search:later", "--workers", "2"), "run,P@1\nlater,0.3333333333333333\n"),
    ],
)
def test_every_kind(judged: Any, module: Path, options: tuple[str, ...], out: str) -> None:
    outcome = judged("retriever qrels", *options, "-m", "P@1", "--format", "csv")
    assert (outcome.code, outcome.out) == (0, out)


def test_wrong_arguments(refuses, module):
    refuses("""
    retriever qrels my_search
        judged: a retriever is named as MODULE:NAME, as search.bm25:ask; got 'my_search'.
    retriever qrels my_search:no
        judged: my_search:no cannot be imported (AttributeError: module 'my_search' has no
        attribute 'no').
    retriever qrels no_such:no
        judged: no_such:no cannot be imported (ModuleNotFoundError: No module named 'no_such').
    retriever qrels broken_search:x
        judged: broken_search:x cannot be imported (ZeroDivisionError: division by zero).
    retriever qrels my_search:later --workers 0
        judged: --workers must be a whole number from 1 to 1,024; got 0.
    """)
