"""JSON that other tools write: Elasticsearch's ranking evaluation, its searches, LlamaIndex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import judged
from judged.inputs import read_judgements, read_run
from support.errors import error_of


def request(*ratings: tuple[str, str, Any], id: str = "q") -> dict[str, Any]:
    rated = [{"_index": index, "_id": item, "rating": grade} for index, item, grade in ratings]
    return {"id": id, "request": {"query": {}}, "ratings": rated}


def hit(item: str, score: float | None, index: str = "i") -> dict[str, Any]:
    return {"_index": index, "_id": item, "_score": score}


ASKED = {
    "requests": [request(("i", "a", 3), ("i", "b", 0)), request(id="empty")],
    "metric": {"precision": {"k": 1}},
}
ANSWERED = {
    "metric_score": 0.4,
    "details": {
        "q": {
            "metric_score": 0.4,
            "unrated_docs": [{"_index": "i", "_id": "x"}],
            "hits": [{"hit": hit("x", 2.5), "rating": None}, {"hit": hit("a", 1.5), "rating": 3}],
        }
    },
    "failures": {},
}
SEARCHED = {"q": {"took": 3, "hits": {"total": 2, "hits": [hit("x", None), hit("a", None)]}}}
PAIRS = {"queries": {"q": "?"}, "corpus": {"a": "text"}, "relevant_docs": {"q": ["a"]}}


@pytest.mark.parametrize("qrels", [ASKED, PAIRS, {**PAIRS, "mode": "text"}])
@pytest.mark.parametrize("run", [ANSWERED, SEARCHED])
@pytest.mark.parametrize("indent", [None, 2])
def test_what_is_read(qrels: Any, run: Any, indent: int | None, tmp_path: Path) -> None:
    files = tmp_path / "qrels.json", tmp_path / "run.json"
    for path, content in zip(files, (qrels, run), strict=True):
        path.write_text(json.dumps(content, indent=indent))
    for given in ((qrels, run), files, (qrels, files[1]), (files[0], run)):
        value = judged.evaluate(*given, "RR", policy={"missing": "skip", "empty": "skip"})
        assert value.value("RR") == 0.5
    assert len(judged.Rankings.from_run(qrels, run).queries) == (2 if qrels is ASKED else 1)


def test_grades_and_scores() -> None:
    assert read_judgements(ASKED).lists == {"q": {"a": 3, "b": 0}, "empty": {}}  # type: ignore[union-attr]
    assert read_run(ANSWERED).lists == {"q": {"x": 2.5, "a": 1.5}}  # type: ignore[union-attr]


def test_what_is_refused() -> None:
    twice = {"requests": [request(("i", "a", 1)), request(("i", "b", 1))]}
    late = {"q": {"timed_out": True, "hits": {"hits": [hit("a", 1.0)]}}}
    both = {"requests": [request(("i", "a", 1)), request(("j", "a", 1), id="p")]}
    nameless = {"q": {"hits": {"hits": [{"_score": 1.0}]}}}
    for read, document, expected in (
        (
            read_run,
            ASKED,
            "a dict is a request of Elasticsearch's ranking evaluation, which holds judgements, "
            "not a run.",
        ),
        (
            read_judgements,
            ANSWERED,
            "a dict is a response of Elasticsearch's ranking evaluation, which holds a run, not "
            "judgements.",
        ),
        (read_judgements, twice, 'a dict: the query "q" occurs twice.'),
        (
            read_run,
            late,
            "a dict: the search of query 'q' timed out, so that results may be missing.",
        ),
        (read_run, nameless, "a dict: a hit of query 'q' has no \"_id\"."),
        (
            read_judgements,
            both,
            'a dict: "a" is an id of the indexes i and j; ids must tell items apart. Evaluate each '
            "index on its own.",
        ),
    ):
        assert error_of(read, document) == expected


def test_an_item_that_is_rated_twice_is_a_repetition() -> None:
    rated = {"requests": [request(("i", "a", 1), ("i", "a", 2))]}
    policy = {"duplicates": "error"}
    assert "'a'" in error_of(judged.evaluate, rated, {"q": ["a"]}, policy=policy)
