"""What other libraries hold: rows, namedtuples, ranx, tables by their methods, and documents."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import judged
from judged.inputs import read_judgements, read_run
from support.errors import error_of


def test_namedtuples_of_ir_measures_and_ir_datasets() -> None:
    import ir_measures
    from ir_datasets.formats import GenericScoredDoc, TrecQrel, TrecSubQrel

    run = [ir_measures.ScoredDoc("q", "b", 2.0), ir_measures.ScoredDoc("q", "a", 1.0)]
    for qrels in (
        [ir_measures.Qrel("q", "a", 1), ir_measures.Qrel("q", "b", 0)],
        [TrecQrel("q", "a", 1, "0"), TrecQrel("q", "b", 0, "0")],
    ):
        assert judged.evaluate(qrels, run, "RR").value("RR") == 0.5
        assert judged.evaluate(iter(qrels), iter(run), "RR").value("RR") == 0.5
    assert read_run(GenericScoredDoc(*row) for row in run).frame.rows() == [tuple(r) for r in run]  # type: ignore[union-attr]
    by_subtopic = read_judgements([TrecSubQrel("q", "a", 1, "s1"), TrecSubQrel("q", "a", 0, "s2")])
    assert by_subtopic.by_subtopic


def test_a_dataset_of_ir_datasets() -> None:
    class Dataset:
        def qrels_iter(self) -> Any:
            return iter([{"query_id": "q", "doc_id": "a", "relevance": 1}])

        def scoreddocs_iter(self) -> Any:
            return iter([{"query_id": "q", "doc_id": "a", "score": 1.5}])

    assert judged.evaluate(Dataset(), Dataset(), "RR").value("RR") == 1.0


def test_ranx() -> None:
    from ranx import Qrels, Run

    qrels = Qrels({"q": {"a": 1}})
    one, other = Run({"q": {"a": 0.1, "b": 0.2}}, name="mine"), Run({"q": {"a": 0.1}})
    assert read_run(one).name == "mine"
    assert read_run(one, name="ours").name == "ours"
    assert judged.evaluate(qrels, one, "RR").value("RR") == 0.5
    both = judged.evaluate(qrels, {"x": one, "y": other}, "RR")
    assert (both.value("RR", run="x"), both.value("RR", run="y")) == (0.5, 1.0)


def test_models_with_fields() -> None:
    class Model:
        """As pydantic's are: what LlamaIndex and ragas return."""

        def __init__(self, **fields: Any) -> None:
            self.fields = fields

        def model_dump(self) -> dict[str, Any]:
            return self.fields

    rows = [Model(query="q", expected_ids=["a"], retrieved_ids=["b", "a"], expected_texts=None)]
    assert judged.evaluate(rows, None, "RR").value("RR") == 0.5


def test_several_runs_that_are_lists_of_rows() -> None:
    rows = [{"query": "q", "doc_id": "b", "score": 2}, {"query": "q", "doc_id": "a", "score": 1.5}]
    found = judged.evaluate({"q": {"a": 1}}, {"x": rows, "y": rows[1:]}, "RR")
    assert (found.value("RR", run="x"), found.value("RR", run="y")) == (0.5, 1.0)
    # The results of one query, each of which names it, are one run.
    assert judged.evaluate({"q": {"a": 1}}, {"q": rows}, "RR").value("RR") == 0.5


def test_a_series_by_query_and_item() -> None:
    index = pd.MultiIndex.from_tuples([("q", "b"), ("q", "a")])
    run = pd.Series([0.5, 0.25], index=index)
    assert judged.evaluate({"q": {"a": 1}}, run, "RR").value("RR") == 0.5


def test_what_is_refused() -> None:
    assert error_of(read_run, [1, 2]) == (
        "a list of rows, row 1: expected a dict, a namedtuple or a dataclass object; got int."
    )
    assert error_of(read_judgements, []) == "a list of rows: holds no rows."
    assert error_of(read_run, [{"query": "q", "item": "a"}, 3]) == (
        "a list of rows, row 2: expected a dict, a namedtuple or a dataclass object; got int."
    )
    rows = [{"query": "q", "item": "a", "score": 1}, {"query": "q", "item": "b"}]
    assert error_of(read_run, rows) == "a list of rows, row 2: the score is missing."
    rows = [{"query": "q", "item": ["a"], "score": 1}]
    assert error_of(read_run, rows) == (
        'a list of rows: column "item" is List(String), but ids must be strings or integers. Give '
        "a row for each item, or a dict {query: [items]}."
    )

    @dataclass
    class Broken:
        def to_pandas(self) -> Any:
            raise RuntimeError("no memory\nleft")

    assert error_of(read_run, Broken()) == (
        "Broken: its to_pandas() failed (RuntimeError: no memory)."
    )
    assert error_of(judged.evaluate, {"q": {"a": 1}}, [{"q": ["a"]}, "run.txt"], "RR").startswith(
        "a list of rows, row 2: expected a dict"
    )
    assert error_of(judged.evaluate, {"q": {"a": 1}}, ["run.txt", 5], "RR") == (
        "several runs are given as a list of paths, or as a dict {name: run}; one run as a list of "
        "rows, each a dict, a namedtuple or a dataclass object."
    )


# Documents of Elasticsearch and LlamaIndex


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


def test_documents_that_are_refused() -> None:
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
