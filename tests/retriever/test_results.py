"""What a retriever may return, and what is refused."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace as Object
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from judged import evaluate, evaluate_retriever
from judged.inputs.retriever_answers import AnswerReader, RetrievedResults
from support.errors import error_of
from support.loops import for_each

Scored = namedtuple("Scored", ["query_id", "doc_id", "score"])


@dataclass
class Document:
    """As LangChain has it."""

    page_content: str = "text"
    id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Node:
    node_id: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class NodeWithScore:
    """As LlamaIndex has it."""

    node: Node
    score: float | None = None


def read(answer: Any, item: Any = None, k: int = 100) -> RetrievedResults:
    return AnswerReader(item, k).read("q", answer)


ORDER = RetrievedResults(("a", "b"), None)
SCORED = RetrievedResults(("a", "b"), (2.0, 1.0))
AS_ORDER: dict[str, Any] = {
    "ids": ["a", "b"],
    "a tuple of ids": ("a", "b"),
    "an array": np.array(["a", "b"]),
    "keys": {"a": 0, "b": 0}.keys(),
    "mappings": [{"id": "a"}, {"id": "b"}],
    "distances": [{"_id": "a", "distance": 0.1}, {"_id": "b", "distance": 0.2}],
    "documents": [Document(id="a"), Document(id="b")],
    "metadata": [Document(metadata={"doc_id": "a"}), Document(metadata={"doc_id": "b"})],
    "sources": [Document(metadata={"source": "a"}), Document(metadata={"source": "b"})],
    "the same twice": [Document(id=x, metadata={"id": x}) for x in "ab"],
    "nodes": [NodeWithScore(Node("a")), NodeWithScore(Node("b"))],
    "a series": pd.Series(["a", "b"]),
    "a component": {"documents": ["a", "b"]},
    "a pipeline": {"retriever": {"documents": ["a", "b"]}},
    "a column of a table": pl.DataFrame({"docno": ["a", "b"]}),
}
AS_SCORES: dict[str, Any] = {
    "pairs": [("a", 2.0), ("b", 1)],
    "lists": [["a", 2], ["b", 1]],
    "two pairs in a tuple": (("a", 2.0), ("b", 1.0)),
    "numpy": [("a", np.float32(2)), ("b", np.float64(1))],
    "arrays without a dimension": [("a", np.array(2.0)), ("b", np.array(1.0))],
    "scores by id": {"a": 2.0, "b": 1.0},
    "items of a dict": {"a": 2.0, "b": 1.0}.items(),
    "mappings": [{"doc_id": "a", "score": 2.0}, {"doc_id": "b", "score": 1.0}],
    "objects": [Object(id="a", score=2.0), Object(id="b", score=1.0)],
    "nodes": [NodeWithScore(Node("a"), 2.0), NodeWithScore(Node("b"), 1.0)],
    "documents with scores": [(Document(id="a"), 2.0), (Document(id="b"), 1.0)],
    "inside": [{"document": {"id": "a"}, "score": 2.0}, {"document": {"id": "b"}, "score": 1.0}],
    "named tuples": [Scored("q", "a", 2.0), Scored("q", "b", 1.0)],
    "Elasticsearch": {
        "took": 3,
        "hits": {"total": 2, "hits": [{"_id": "a", "_score": 2.0}, {"_id": "b", "_score": 1.0}]},
    },
    "points": Object(points=[Object(id="a", score=2.0), Object(id="b", score=1.0)]),
    "a series": pd.Series({"a": 2.0, "b": 1.0}),
    "pandas": pd.DataFrame({"docno": ["a", "b"], "score": [2.0, 1.0], "rank": [0, 1]}),
    "polars": pl.DataFrame({"docno": ["a", "b"], "score": [2.0, 1.0]}),
    "pyarrow": pa.table({"docno": ["a", "b"], "score": [2.0, 1.0]}),
}


def test_results_with_and_without_scores() -> None:
    for forms, expected in ((AS_ORDER, ORDER), (AS_SCORES, SCORED)):
        found = {kind: read(answer) for kind, answer in forms.items()}
        assert found == dict.fromkeys(forms, expected)


def test_other_ids() -> None:
    assert read([7, np.int64(8)]).items == ("7", "8")
    uuid = UUID(int=1)
    assert read([uuid]).items == read([Object(id=uuid)]).items == (str(uuid),)
    assert read([]) == read({}) == read({"documents": []}) == RetrievedResults((), None)
    by_rank = [{"id": "a", "rank": 2}, {"id": "b", "rank": 1}]
    assert read(by_rank) == RetrievedResults(("b", "a"), (-1.0, -2.0))


def test_item_names_the_id() -> None:
    both = Document(id="u", metadata={"doc_id": "a", "a.b": "c", "parts": ["x", "y"]})
    assert read([both], "metadata.doc_id").items == ("a",)
    assert read([both], "metadata.a.b").items == ("c",)
    assert read([both], "metadata.parts.1").items == ("y",)
    assert read([(both, 0.5)], "metadata.doc_id") == RetrievedResults(("a",), (0.5,))
    assert read([("a", "text", 0.5)], "0") == RetrievedResults(("a",), None)
    assert read([{"url": "a", "score": 2}], "url") == RetrievedResults(("a",), (2.0,))
    assert read([both], lambda document: document.id) == RetrievedResults(("u",), None)
    assert read([both], lambda document: (document.id, 3)) == RetrievedResults(("u",), (3.0,))
    # A function that gives the id alone says that the order counts.
    assert read([("a", 0.1), ("b", 0.9)], lambda pair: pair[0]) == ORDER


def test_k_keeps_the_best() -> None:
    assert read(["a", "b", "c"], k=2) == RetrievedResults(("a", "b"), None, 1)
    assert read([("a", 1), ("b", 3), ("c", 2)], k=2) == RetrievedResults(("b", "c"), (3.0, 2.0), 1)
    assert read([("a", 1), ("b", 1), ("c", 1)], k=2) == RetrievedResults(("a", "b"), (1.0, 1.0), 1)


ASK = "return a list of results, the best first."
LIST_OR_SCORES = "return a list of results, or {id: score}."
IDS = "ids must be texts or whole numbers."
WRONG: list[tuple[Any, str]] = [
    *((given, f": the retriever returned {given!r}; {ASK}") for given in (None, "a", {"a"}, 3)),
    ({"id": 7, "b": 5}, f": the retriever returned {{'id': 7, 'b': 5}}; {LIST_OR_SCORES}"),
    ({"a": "b"}, f": the retriever returned {{'a': 'b'}}; {LIST_OR_SCORES}"),
    (
        {"documents": ["a"], "results": ["b"]},
        ": the retriever returned lists called documents and results; return only one of them.",
    ),
    (
        ([3, 4], [2, 1]),
        ": the retriever returned two lists; return a list of (id, score), as "
        "list(zip(ids, scores)).",
    ),
    (["a", None], f": the id None of result 2 is of type NoneType; {IDS}"),
    ([0.5], f": the id 0.5 of result 1 is of type float; {IDS}"),
    (["a", ""], f": the id '' of result 2 is an empty text; {IDS}"),
    ([("a", float("nan"))], ": the score of result 1 is NaN; scores must be numbers."),
    ([("a", "b")], ", result 1: the score 'b' is not a number."),
    ([("a", 1, 2)], ", result 1 is ('a', 1, 2); give (id, score), or only the id."),
    (
        [("a", 1.0), "b"],
        ": result 2 has no score, but result 1 has one; give a score to every result, or to none.",
    ),
    (
        [Document()],
        ", result 1: no id was found in Document(page_content='text', id=None, metadata={}); give "
        "the path to it, such as item='metadata.doc_id', or a function from a result to its id.",
    ),
    (
        [Document(id="u", metadata={"source": "a.pdf"})],
        ", result 1: its id could be id ('u') or metadata.source ('a.pdf'); choose one, such as "
        "item='metadata.source'.",
    ),
    (
        [Document(id="u"), Document(metadata={"source": "a.pdf"})],
        ", result 2: its id is metadata.source, but other results have theirs in id; give the "
        "path with item.",
    ),
]
WRONG_ITEMS: list[tuple[Any, Any, str]] = [
    ([{"id": "a"}], "metadata.doc_id", ", result 1: there is no 'metadata.doc_id' in {'id': 'a'}."),
    ([{"id": None}], "id", ", result 1: 'id' is None in {'id': None}."),
    (
        [{"id": "a"}],
        lambda result: result.id,
        ", result 1: item failed for {'id': 'a'} (AttributeError: 'dict' object has no attribute "
        "'id').",
    ),
    (["a"], lambda result: None, f": the id None of result 1 is of type NoneType; {IDS}"),
]


@for_each(
    ("answer", "item", "message"),
    [*((answer, None, message) for answer, message in WRONG), *WRONG_ITEMS],
)
def test_wrong_results(answer: Any, item: Any, message: str) -> None:
    message = f"query 'q'{message}"
    assert error_of(read, answer, item) == message
    given = {"q": "x"}, {"q": {"a": 1}}
    assert error_of(evaluate_retriever, lambda text: answer, *given, item=item) == message


def test_an_item_returned_twice() -> None:
    answer = ["a", "b", "a"]
    assert error_of(evaluate_retriever, lambda text: answer, None, {"q": {"b": 1}}) == (
        "query 'q': item 'a' is returned twice, as results 1 and 3. If parts of a document share "
        "its id, give the path to their own with item, or use duplicates='first'."
    )
    found = evaluate_retriever(
        lambda text: answer, None, {"q": {"b": 1}}, policy={"duplicates": "first"}
    )
    assert found.value("RR") == 0.5
    assert found.audit["retriever"].duplicates_dropped == 1


DISTANCES = (
    "the scores rise from the first to the last result of every list, as distances do, but the "
    "greatest score is best. Return (id, -distance), ids without scores, or results sorted by "
    "falling score."
)


def test_distances_are_refused_as_soon_as_they_show() -> None:
    judgements = {f"q{number}": {"a": 1} for number in range(9)}
    asked = []

    def nearest(text: str) -> list[tuple[str, float]]:
        asked.append(text)
        return [("a", 0.1), ("b", 0.1), ("c", 0.3)]

    assert error_of(evaluate_retriever, nearest, None, judgements) == DISTANCES
    assert len(asked) == 5
    assert error_of(evaluate_retriever, nearest, None, {"q1": {"a": 1}}) == DISTANCES
    assert evaluate_retriever(nearest, None, judgements, "RR", item=lambda x: x[0]).value() == 1


def test_scores_that_are_not_in_the_order_of_results_are_said() -> None:
    lists = {"q1": [("b", 1.0), ("a", 2.0)], "q2": [("a", 2.0), ("b", 1.0)]}
    found = evaluate_retriever(lists.get, None, {"q1": {"a": 1}, "q2": {"a": 1}}, "RR")
    assert found.value() == 1.0
    assert found.warnings() == [
        "In 1 query the scores do not fall in the order of the results. The scores define the "
        "ranks; return only ids to rank by order."
    ]


def test_results_beyond_k_are_said_where_a_measure_would_count_them() -> None:
    ids = [f"d{number}" for number in range(30)]
    note = "20 results beyond the first 10 of 1 query not kept (k=10)"
    end = "further: relevant results beyond count as not retrieved. Raise k, or use cutoffs up to"
    both, late = {"q": {"d9": 1, "d20": 1}}, {"q": {"d9": 0, "d20": 1}}
    first = {"q": {"d9": 1, "d20": 0}}
    for judgements, measures, expected in (
        (both, ["AP", "nDCG", "RR"], f"{note}, though AP and nDCG look {end} 10."),
        (late, ["RR", "P@5"], f"{note}, though RR looks {end} 10."),
        (late, ["R@20"], f"{note}, though R@20 looks {end} 10."),
        (first, ["AP", "RR", "R@20"], None),
        (both, ["AP@10", "RR"], None),
    ):
        rows = [(query, *pair) for query, items in judgements.items() for pair in items.items()]
        for form in (judgements, pl.DataFrame(rows, ["query", "item", "grade"], orient="row")):
            evaluation = evaluate_retriever(lambda text: ids, None, form, measures, k=10)
            warned = [text for text in evaluation.warnings() if "not kept" in text]
            assert warned == ([] if expected is None else [expected])
            assert expected or f"note: {note}." in evaluation.sentences()


def test_ids_that_nobody_judged_are_said() -> None:
    found = evaluate_retriever(lambda text: [Object(id="x1")], None, {"q": {"d1": 1}}, "RR")
    assert found.warnings() == [
        "No result is a judged item: 'x1' and others were returned, 'd1' and others are judged. "
        "Give the path to the id with item."
    ]
    assert "note: The id of each result is its id." in found.sentences()
    many = {"q": {f"d{number}": 1 for number in range(50)}}
    found = evaluate_retriever(lambda text: ["x1"], None, many, "RR")
    assert any("'d0' and others are judged" in each for each in found.warnings())


def test_nothing_at_all_is_no_system() -> None:
    assert error_of(evaluate_retriever, lambda text: [], None, {"q": {"a": 1}}) == (
        "the retriever returned no result for any query, so there is nothing to evaluate."
    )


def test_random_answers_in_every_form_are_the_run_that_they_hold() -> None:
    """The same lists as pairs, mappings, objects, a table and a dict: one set of numbers."""
    random = np.random.default_rng(14)
    items = [f"d{number}" for number in range(12)]
    judgements = {
        f"q{number}": {item: int(random.integers(0, 3)) for item in random.choice(items, 5, False)}
        for number in range(8)
    }
    run = {
        query: {
            str(item): float(random.integers(0, 4))
            for item in random.choice(items, random.integers(1, 9), False)
        }
        for query in judgements
    }
    forms = {
        "pairs": lambda query: list(run[query].items()),
        "falling": lambda query: sorted(run[query].items(), key=lambda pair: -pair[1]),
        "dict": run.get,
        "mappings": lambda query: [{"id": a, "score": b} for a, b in run[query].items()],
        "objects": lambda query: [Object(id=a, score=b) for a, b in run[query].items()],
        "table": lambda query: pl.DataFrame(
            list(run[query].items()), ["docno", "score"], orient="row"
        ),
    }
    measures = ["AP", "nDCG@3", "RR", "P@5"]
    for policy in ({"ties": "id"}, {"ties": "expected"}, {"unjudged": "removed"}):
        expected = evaluate(judgements, run, measures, policy=policy)
        for name, form in forms.items():
            found = evaluate_retriever(form, None, judgements, measures, policy=policy, workers=2)
            assert (
                found.to_frame(per_query=True)
                .drop("run")
                .equals(expected.to_frame(per_query=True).drop("run"))
            ), name
        for k in (1, 3):
            cut = evaluate_retriever(
                forms["falling"], None, judgements, measures, k=k, policy=policy
            )
            kept = {q: dict(forms["falling"](q)[:k]) for q in run}
            same = evaluate(judgements, kept, measures, policy=policy)
            assert (
                cut.to_frame(per_query=True)
                .drop("run")
                .equals(same.to_frame(per_query=True).drop("run"))
            )


def test_ranks_in_any_order() -> None:
    """The ranks of results without scores were taken for distances."""
    answer = [{"id": "b", "rank": 2}, {"id": "c", "rank": 3}, {"id": "a", "rank": 1}]
    for given in (answer, answer[::-1], pl.DataFrame(answer)):
        found = evaluate_retriever(
            lambda text, given=given: given, None, {"q": {"a": 1}}, "RR", k=2
        )
        assert found.value() == 1.0
        assert not any("fall" in text for text in found.warnings())
