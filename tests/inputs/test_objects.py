"""What other libraries hold: rows, namedtuples, ranx, tables by their methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

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
