"""The convention of torchmetrics beside torchmetrics, query by query, with scores above 0."""

from __future__ import annotations

from typing import Any

import pytest

from support.generated import Collection
from support.loops import for_each
from support.parts import Later, Needs
from support.peers import (
    COLLECTIONS,
    WITHOUT_TIES,
    Case,
    cases,
    closed,
    compare,
    ours,
    two_by_default,
)

pytestmark = pytest.mark.full

NAME = "torchmetrics"
torch, retrieval, functional = (
    Later("torch"),
    Later("torchmetrics.retrieval"),
    Later("torchmetrics.functional.retrieval"),
)
DATA = {name: closed(given, between_0_and_1=True) for name, given in COLLECTIONS.items()}
GRADED = "retrieval_normalized_dcg"


@pytest.fixture(autouse=True)
def library(needs: Needs) -> None:
    needs("torch")
    needs("torchmetrics")


def tensors(given: Collection, query: str, *, graded: bool) -> tuple[Any, Any]:
    grades = [max(given.judgements[query][item], 0) for item in given.run[query]]
    return torch.tensor(list(given.run[query].values())), torch.tensor(
        grades if graded else [int(grade > 0) for grade in grades]
    )


def by_query(given: Collection, function: str, **options: Any) -> dict[str, float]:
    """The functional metric of each list; 0 where the modular metric never calls it."""
    found = {}
    for query in given.run:
        scores, target = tensors(given, query, graded=function == GRADED)
        value = getattr(functional, function)(scores, target, **options) if target.sum() else 0.0
        found[query] = float(value)
    return found


FUNCTIONS = {
    "RetrievalMAP": "retrieval_average_precision",
    "RetrievalMRR": "retrieval_reciprocal_rank",
    "RetrievalPrecision": "retrieval_precision",
    "RetrievalRecall": "retrieval_recall",
    "RetrievalHitRate": "retrieval_hit_rate",
    "RetrievalRPrecision": "retrieval_r_precision",
    "RetrievalNormalizedDCG": GRADED,
    "RetrievalAUROC": "retrieval_auroc",
}


def theirs_of(case: Case, given: Collection) -> dict[str, float]:
    name, options = case.call()
    if name in ("RetrievalFallOut", "retrieval_fall_out"):
        return fall_out(given, modular=name == "RetrievalFallOut", **options)
    return by_query(given, FUNCTIONS[name], **options)


def fall_out(given: Collection, top_k: int | None = None, *, modular: bool) -> dict[str, float]:
    """It looks for queries without irrelevant items rather than without relevant ones: the class
    gives them 1, the function 0."""
    found = {}
    for query in given.run:
        scores, target = tensors(given, query, graded=False)
        found[query] = float(
            retrieval.RetrievalFallOut(top_k=top_k)(
                scores, target, indexes=torch.zeros_like(target)
            )
            if modular
            else functional.retrieval_fall_out(scores, target, top_k=top_k)
        )
    return found


@pytest.mark.parametrize("collection", two_by_default(DATA))
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    if "NormalizedDCG" not in case.theirs and collection not in WITHOUT_TIES:
        pytest.skip("only its nDCG averages tied scores")
    given = DATA[collection]
    sizes = {query: len(scores) for query, scores in given.run.items()}
    theirs = theirs_of(case, given)
    assert compare(NAME, case, given, theirs, collection=sizes) == len(given.run)


@pytest.mark.parametrize("k", [None, 1, 3])
def test_fall_out_of_a_query_with_nothing_irrelevant(k: int | None) -> None:
    """a: everything is relevant, and the class says 1. b: one irrelevant result, the first."""
    given = Collection(
        {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 0}},
        [("a", "x", 0.9), ("a", "y", 0.5), ("b", "x", 0.5), ("b", "y", 0.9)],
    )
    name = "RetrievalFallOut" if k is None else f"RetrievalFallOut(top_k={k})"
    theirs = fall_out(given, k, modular=True)
    assert theirs == {"a": 1.0, "b": 1.0}
    evaluation = ours(NAME, given, name, collection={"a": 2, "b": 2})
    assert evaluation.scored().to_dict(per_query=True)["per_query"] == {
        query: {name: value} for query, value in theirs.items()
    }


@pytest.mark.parametrize(("action", "empty"), [("neg", "zero"), ("pos", "one"), ("skip", "skip")])
@pytest.mark.parametrize("metric", ["RetrievalMAP", "RetrievalMRR", "RetrievalNormalizedDCG"])
def test_means_and_what_becomes_of_empty_queries(metric: str, action: str, empty: str) -> None:
    given = DATA["nothing relevant"]
    calculated = getattr(retrieval, metric)(empty_target_action=action)
    for number, query in enumerate(given.run):
        scores, target = tensors(given, query, graded=metric == "RetrievalNormalizedDCG")
        calculated.update(scores, target, indexes=torch.full_like(target, number))
    (case,) = [case for case in cases(NAME) if case.theirs == metric]
    assert compare(
        NAME, case, given, float(calculated.compute()), policy={"empty": empty}, tolerance=1e-5
    )


def test_items_without_a_positive_score_are_not_relevant_in_half_of_its_metrics() -> None:
    scores, target = torch.tensor([2.0, -1.0]), torch.tensor([0, 1])
    assert float(functional.retrieval_average_precision(scores, target)) == 0.0
    assert float(functional.retrieval_recall(scores, target)) == 0.0
    assert float(functional.retrieval_hit_rate(scores, target)) == 1.0
    given = Collection({"q": {"a": 1, "b": 0}}, [("q", "b", 2.0), ("q", "a", -1.0)])
    assert ours(NAME, given, "RetrievalMAP").value() == 0.5
