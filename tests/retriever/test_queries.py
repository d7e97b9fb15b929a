"""Queries to ask, by every way in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from judged import evaluate_retriever
from judged.inputs.retriever_answers import read_queries
from support.errors import error_of
from support.loops import for_each

TWO = {"q1": "red apple", "q2": 'blue, "sky"'}


def test_texts_are_their_own_ids(folder: Path) -> None:
    own = {text: text for text in TWO.values()}
    assert read_queries(list(own)) == read_queries(tuple(own)) == own
    assert read_queries(np.array(list(own))) == own
    assert read_queries([{"question": text} for text in own]) == own
    Path("lines.txt").write_text("\n".join(own))
    assert read_queries("lines.txt") == own
    Path("one.tsv").write_text("\n".join(["question", *own]))
    assert read_queries("one.tsv") == own
    found = evaluate_retriever(lambda text: ["a"], list(own), {"red apple": {"a": 1}}, "RR")
    assert found.value() == 1.0


FORMS = (
    "texts of queries are {id: text}, {id: {title, text}}, rows with an id and a text, a table, or "
    "a file"
)
NEEDED = "an id and a title or a text are needed."


@for_each(
    ("given", "message"),
    [
        ({}, "there are no queries to ask; give at least one."),
        ([], "there are no queries to ask; give at least one."),
        (3, f"{FORMS}; got int."),
        (["a", "b", "a"], 'the queries given, row 3: query "a" has a text already; give each one'),
        (
            [{"id": "q1", "text": "a"}, {"id": "q2"}],
            'the queries given: query "q2" has no text to ask.',
        ),
        (
            [{"id": "q1", "words": "a"}],
            f'the queries given: the columns are "id", "words"; {NEEDED}',
        ),
        ({"": "a"}, "the queries: the id '' is an empty text"),
        ({1: "a", "1": "b"}, "the queries: some queries, such as 1, are the same as texts"),
    ],
)
def test_wrong_queries(given: Any, message: str) -> None:
    assert error_of(read_queries, given).startswith(message)


JUDGEMENTS = {"q1": {"a": 1}, "q2": {"b": 1}}


def test_only_judged_queries_are_asked() -> None:
    asked: list[str] = []

    def search(text: str) -> list[str]:
        asked.append(text)
        return ["a"]

    queries = {"q3": "three", "q2": "two", "q1": "one"}
    found = evaluate_retriever(search, queries, JUDGEMENTS, "RR")
    assert asked == ["two", "one"]
    assert "note: 1 query without judgements not asked." in found.sentences()
    asked.clear()
    found = evaluate_retriever(search, queries, JUDGEMENTS, "RR", all_queries=True)
    assert asked == ["three", "two", "one"]
    assert found.audit["search"].ignored_queries == 1
    assert found.value() == 0.5


def test_a_judged_query_without_a_text_is_missing_and_said() -> None:
    found = evaluate_retriever(lambda text: ["a"], {"q1": "one"}, JUDGEMENTS, "RR")
    assert found.value() == 0.5
    assert found.warnings() == [
        "1 judged query is not among the queries to ask (q2).",
        "The run has no results for 1 of 2 judged queries (q2), which "
        "count as empty lists. Use missing=skip to leave them out.",
    ]


def test_queries_that_nobody_judged() -> None:
    assert error_of(evaluate_retriever, lambda text: ["a"], ["red apple"], JUDGEMENTS) == (
        "none of the queries is judged: the queries have 'red apple', the judgements 'q1'. Give "
        "queries the ids of the judgements."
    )
    assert (
        error_of(evaluate_retriever, lambda text: ["a"], None, {})
        == "the judgements are empty: no query is judged."
    )


def test_the_judged_ids_themselves() -> None:
    found = evaluate_retriever(lambda text: text.split(), None, {"x a": {"a": 1}}, "RR")
    assert found.value() == 0.5
