"""Side by side with torchmetrics.retrieval, given the whole matrix of scores, flattened.

It works in single precision, so values may differ by some 1e-7 each, and by as much in their mean.
Scores have to be above 0 there (see below), so cosines are moved up by 2 first, which changes no
ranking.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged import evaluate_embeddings
from support.dense import cosines
from support.parts import Needs
from support.products import rank

pytestmark = pytest.mark.full

SINGLE = 1e-6
RANDOM = np.random.default_rng(1)
QUERIES, ITEMS = RANDOM.normal(size=(25, 6)), RANDOM.normal(size=(90, 6))
SCORES = cosines(QUERIES, ITEMS)
GRADES = np.where(RANDOM.random((25, 90)) < 0.15, RANDOM.integers(1, 5, (25, 90)), 0)
GRADES[:, 0] = 1

PAIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "AP": ("RetrievalMAP", {}),
    # Of k results, those found are averaged over, not those there are.
    "AP(norm=retrieved)@10": ("RetrievalMAP", {"top_k": 10}),
    "RR": ("RetrievalMRR", {}),
    "RR@3": ("RetrievalMRR", {"top_k": 3}),
    "Rprec": ("RetrievalRPrecision", {}),
    **{f"P@{k}": ("RetrievalPrecision", {"top_k": k}) for k in (1, 5, 90)},
    "P@200": ("RetrievalPrecision", {"top_k": 200}),
    "P(short=shrink)@200": ("RetrievalPrecision", {"top_k": 200, "adaptive_k": True}),
    **{f"R@{k}": ("RetrievalRecall", {"top_k": k}) for k in (1, 5, 90)},
    **{f"Success@{k}": ("RetrievalHitRate", {"top_k": k}) for k in (1, 5, 90)},
}


@pytest.fixture
def compute(needs: Needs) -> Any:
    needs("torch")
    needs("torchmetrics")
    import torch
    from torchmetrics import retrieval

    def computed(name: str, scores: Any, grades: Any, **options: Any) -> float:
        indexes = torch.arange(len(scores)).repeat_interleave(scores.shape[1])
        metric = getattr(retrieval, name)(**options)
        metric.update(
            torch.tensor(scores).float().ravel(), torch.tensor(grades).ravel(), indexes=indexes
        )
        return float(metric.compute())

    return computed


def ours(measure: str, grades: Any = GRADES, **options: Any) -> float:
    return evaluate_embeddings(
        QUERIES, ITEMS, lambda begin, end: grades[begin:end], measures=[measure], **options
    ).value()


@pytest.mark.parametrize("measure", PAIRS)
def test_binary_measures(compute: Any, measure: str) -> None:
    name, options = PAIRS[measure]
    relevant = (GRADES > 0).astype(int)
    assert ours(measure, relevant) == pytest.approx(
        compute(name, SCORES + 2, relevant, **options), abs=SINGLE
    )


@pytest.mark.parametrize("k", [None, 5, 30])
def test_graded_gain(compute: Any, k: int | None) -> None:
    at = f"@{k}" if k else ""
    assert ours(f"nDCG{at}") == pytest.approx(
        compute("RetrievalNormalizedDCG", SCORES + 2, GRADES, top_k=k), abs=SINGLE
    )


@pytest.mark.parametrize(("empty", "action"), [("zero", "neg"), ("one", "pos"), ("skip", "skip")])
def test_queries_with_nothing_relevant(compute: Any, empty: str, action: str) -> None:
    relevant = (GRADES > 0).astype(int)
    relevant[::4] = 0
    theirs = compute("RetrievalMAP", SCORES + 2, relevant, empty_target_action=action)
    assert ours("AP", relevant, policy={"empty": empty}) == pytest.approx(theirs, abs=SINGLE)


def test_known_disagreement_scores_below_0(compute: Any) -> None:
    """A relevant item whose score is 0 or less does not count there, as if scores were
    probabilities above a threshold; cosines and distances are below 0, and only their order matters
    here."""
    scores, relevant = np.array([[0.5, -0.1, -0.2]]), np.array([[0, 1, 0]])
    for name in ("RetrievalMAP", "RetrievalMRR"):
        assert compute(name, scores, relevant) == 0
        assert compute(name, scores + 1, relevant) == 0.5
    assert compute("RetrievalRecall", scores, relevant, top_k=2) == 0
    assert compute("RetrievalHitRate", scores, relevant, top_k=2) == 1  # but here it does
    found = rank([[1.0]], scores.T, {"0": {"1": 1}}, similarity="dot").evaluate(
        ["AP", "RR", "R@2", "Success@2"]
    )
    assert [found.value(measure) for measure in ("AP", "RR", "R@2", "Success@2")] == [
        0.5,
        0.5,
        1.0,
        1.0,
    ]


def test_known_disagreement_ties(compute: Any) -> None:
    """Its nDCG averages over the orders of a tie; here a tie has an order, which lies between the
    best and the worst."""
    scores, grades = np.ones((1, 4)), np.array([[3, 0, 0, 1]])
    theirs = compute("RetrievalNormalizedDCG", scores, grades)
    found = {
        ties: evaluate_embeddings(
            [[1.0]],
            np.ones((4, 1)),
            lambda begin, end: grades,
            measures=["nDCG"],
            policy={"ties": ties},
        ).value()
        for ties in ("best", "worst")
    }
    assert found["worst"] < theirs - 0.01 < theirs + 0.01 < found["best"]
