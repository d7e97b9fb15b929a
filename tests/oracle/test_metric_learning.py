"""Side by side with pytorch-metric-learning's AccuracyCalculator, whose neighbours come from faiss
in single precision.

Data have no two distances closer than 1e-4 or so of themselves, so that single precision cannot
turn them round. The calculator then divides in double precision, but for the reciprocal rank, which
it holds in single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged import evaluate_embeddings
from judged.embeddings.relevance import same_label, same_row
from support.parts import Needs

pytestmark = pytest.mark.full

PAIRS = {
    "precision_at_1": ("P@1", 1e-9),
    "r_precision": ("Rprec", 1e-9),
    "mean_average_precision_at_r": ("AP@R", 1e-9),
    "mean_average_precision": ("AP", 1e-9),
    "mean_reciprocal_rank": ("RR", 1e-7),  # held in single precision there
}
MEASURES = [measure for measure, _ in PAIRS.values()]


@pytest.fixture
def calculator(needs: Needs) -> Any:
    needs("torch")
    needs("metric_learning")
    import torch
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    def calculate(*given: Any, k: int | None = None, **options: Any) -> dict[str, float]:
        return AccuracyCalculator(
            include=tuple(PAIRS), k=k, device=torch.device("cpu")
        ).get_accuracy(*given, **options)

    return calculate


def data(seed: int, queries: int = 60, items: int = 140, labels: int = 12) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, labels, queries), rng.integers(0, labels, items)
    centres = rng.normal(size=(labels, 8))
    vectors = (centres[each] + rng.normal(size=(len(each), 8)) for each in (left, right))
    return *(each.astype(np.float32) for each in vectors), left, right


def compare(theirs: dict[str, float], ours: Any) -> None:
    for name, (measure, allowed) in PAIRS.items():
        assert ours.value(measure) == pytest.approx(theirs[name], abs=allowed, rel=0), name


@pytest.mark.parametrize("seed", range(3))
def test_queries_and_a_reference_set(calculator: Any, seed: int) -> None:
    queries, items, left, right = data(seed)
    theirs = calculator(queries, left, items, right)
    compare(
        theirs,
        evaluate_embeddings(
            queries, items, same_label(left, right), similarity="euclidean", measures=MEASURES
        ),
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_reference_set_that_includes_the_queries(calculator: Any, seed: int) -> None:
    queries, items, left, right = data(seed + 10)
    items, right = np.vstack([queries, items]), np.concatenate([left, right])
    theirs = calculator(queries, left, items, right, ref_includes_query=True)
    ours = evaluate_embeddings(
        queries,
        items,
        same_label(left, right),
        similarity="euclidean",
        measures=MEASURES,
        exclude=same_row(),
    )
    compare(theirs, ours)


def test_one_set_searched_by_itself_with_labels_that_nobody_shares(calculator: Any) -> None:
    # Vectors whose label no other has are left out there: the policy empty=skip.
    _, items, _, right = data(20)
    right[:9] = np.arange(100, 109)
    theirs = calculator(items, right)
    ours = evaluate_embeddings(
        items,
        items,
        same_label(right, right),
        similarity="euclidean",
        measures=MEASURES,
        exclude=same_row(),
        policy={"empty": "skip"},
    )
    compare(theirs, ours)


@pytest.mark.parametrize("k", [1, 5, 20])
def test_average_precision_of_k_neighbours(calculator: Any, k: int) -> None:
    # Divided by all that is relevant, however few neighbours were asked for. (R-precision and MAP@R
    # need all of them.)
    queries, items, left, right = data(21)
    theirs = calculator(queries, left, items, right, k=k)
    measures = [f"AP@{k}", f"RR@{k}"]
    ours = evaluate_embeddings(
        queries, items, same_label(left, right), similarity="euclidean", measures=measures
    )
    assert ours.value(measures[0]) == pytest.approx(
        theirs["mean_average_precision"], abs=1e-9, rel=0
    )
    assert ours.value(measures[1]) == pytest.approx(theirs["mean_reciprocal_rank"], abs=1e-7, rel=0)


def test_known_disagreement_labels_in_single_precision(calculator: Any) -> None:
    """The calculator casts labels to float32, in which 2^24 and 2^24 + 1 are the same; here they
    stay exact."""
    queries, items = np.zeros((1, 2), np.float32), np.array([[1, 0], [2, 0], [3, 0]], np.float32)
    left, right = np.array([2**24 + 1]), np.array([2**24, 2**24, 2**24 + 1])
    assert calculator(queries, left, items, right)["precision_at_1"] == 1.0
    ours = evaluate_embeddings(
        queries, items, same_label(left, right), similarity="euclidean", measures=["P@1", "RR"]
    )
    assert [ours.value("P@1"), ours.value("RR")] == [0.0, pytest.approx(1 / 3)]
