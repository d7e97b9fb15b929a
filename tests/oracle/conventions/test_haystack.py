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


def test_documents_of_the_same_text_are_one_by_default() -> None:
    haystack = pytest.importorskip("haystack")
    wanted, other = (haystack.Document(id=name, content="the same") for name in "ab")
    assert run("DocumentMRREvaluator", [[wanted]], [[other]]) == [1.0]
    by_id = run("DocumentMRREvaluator", [[wanted]], [[other]], document_comparison_field="id")
    assert by_id == [0.0]


def test_a_document_retrieved_twice_keeps_both_ranks_and_counts_once() -> None:
    a, b, x = (document(name) for name in "abx")
    assert run("DocumentMAPEvaluator", [[a, b]], [[a, a, b]]) == pytest.approx([(1 + 2 / 3) / 2])
    assert run("DocumentMRREvaluator", [[a]], [[x, x, a]]) == pytest.approx([1 / 3])
    assert run("DocumentNDCGEvaluator", [[a]], [[a, a]]) == [1.0]


def test_an_empty_text_matches_in_some() -> None:
    haystack = pytest.importorskip("haystack")
    wanted, other = (haystack.Document(id=name, content="") for name in "ab")
    assert run("DocumentRecallEvaluator", [[wanted]], [[other]]) == [0.0]
    assert run("DocumentMRREvaluator", [[wanted]], [[other]]) == [1.0]


def test_negative_scores_lead_out_of_0_to_1() -> None:
    a, b = document("a", 1.0), document("b", -1.0)
    low = run("DocumentNDCGEvaluator", [[a, b]], [[document("b")]])
    high = run("DocumentNDCGEvaluator", [[a, b]], [[document("a")]])
    assert low[0] < 0
    assert high[0] > 1


def test_a_score_matters_to_ndcg_alone() -> None:
    truth = [[document("a", 0.0)]]
    assert run("DocumentMRREvaluator", truth, [[document("a")]]) == [1.0]
    assert run("DocumentNDCGEvaluator", truth, [[document("a")]]) == [0]
