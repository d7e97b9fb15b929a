"""The convention of Haystack beside Haystack: lists of documents, one of each kind a query."""

from __future__ import annotations

from typing import Any

import pytest

from judged import evaluate
from support.generated import Collection
from support.loops import for_each
from support.peers import (
    COLLECTIONS,
    HEAVY,
    Case,
    cases,
    compare,
    only_relevant,
    ours,
    ranked,
    without_negative,
)

pytestmark = HEAVY

NAME = "haystack"
FIELDS = ("id", "content", "meta.key")


def document(item: str, score: float | None = None) -> Any:
    haystack = pytest.importorskip("haystack")
    return haystack.Document(id=item, content=f"text of {item}", meta={"key": item}, score=score)


def run(evaluator: str, truth: Any, retrieved: Any, **options: Any) -> list[float]:
    evaluators = pytest.importorskip("haystack.components.evaluators")
    found = getattr(evaluators, evaluator)(**options).run(
        ground_truth_documents=truth, retrieved_documents=retrieved
    )
    assert found["score"] == pytest.approx(sum(found["individual_scores"]) / len(truth), abs=1e-12)
    return found["individual_scores"]


def values(
    given: Collection, evaluator: str, options: dict[str, Any], k: int | None = None
) -> dict[str, float]:
    """A query with nothing relevant, or nothing retrieved, has an empty list."""
    graded = evaluator == "DocumentNDCGEvaluator"
    truth = [
        [
            document(item, float(grade) if graded else None)
            for item, grade in grades.items()
            if graded or grade > 0
        ]
        for grades in given.judgements.values()
    ]
    retrieved = [[document(item) for item in ranked(given, q)[:k]] for q in given.judgements]
    found = run(evaluator, truth, retrieved, **options)
    return dict(zip(given.judgements, found, strict=True))


@pytest.mark.parametrize("collection", COLLECTIONS)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given = without_negative(COLLECTIONS[collection])
    evaluator, options = case.call()
    for field in FIELDS:
        theirs = values(given, evaluator, {**options, "document_comparison_field": field}, case.k)
        assert compare(NAME, case, given, theirs) == len(given.judgements)


def test_documents_without_scores_gain_1() -> None:
    given = only_relevant(COLLECTIONS["complete"])
    truth = [[document(item) for item in grades] for grades in given.judgements.values()]
    retrieved = [[document(item) for item in ranked(given, q)] for q in given.judgements]
    theirs = run("DocumentNDCGEvaluator", truth, retrieved)
    binary = Collection({q: dict.fromkeys(g, 1) for q, g in given.judgements.items()}, given.rows)
    assert ours(NAME, binary, "DocumentNDCGEvaluator").value() == pytest.approx(
        sum(theirs) / len(theirs), abs=1e-9
    )


@pytest.mark.parametrize("k", [1, 3, 10])
def test_ndcg_of_k_results_is_that_of_lists_cut_at_k(k: int) -> None:
    given = without_negative(COLLECTIONS["complete"])
    theirs = values(given, "DocumentNDCGEvaluator", {}, k)
    mean = sum(theirs.values()) / len(theirs)
    found = ours(NAME, given, "DocumentNDCGEvaluator", depth=k).value()
    assert found == pytest.approx(mean, abs=1e-9)
    assert evaluate(given.judgements, given.run, f"nDCG@{k}").value() > mean + 0.005
