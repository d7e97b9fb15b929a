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
from support.loops import for_each
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


def ours(queries: Any, items: Any, left: Any, right: Any, **options: Any) -> Any:
    relevance = same_label(left, right)
    return evaluate_embeddings(queries, items, relevance, similarity="euclidean", **options)


def compare(theirs: dict[str, float], found: Any) -> None:
    for name, (measure, allowed) in PAIRS.items():
        assert found.value(measure) == pytest.approx(theirs[name], abs=allowed, rel=0), name


@for_each("seed", range(3))
def test_queries_and_a_reference_set(calculator: Any, seed: int) -> None:
    queries, items, left, right = data(seed)
    theirs = calculator(queries, left, items, right)
    compare(theirs, ours(queries, items, left, right, measures=MEASURES))
    # A reference set that includes the queries.
    items, right = np.vstack([queries, items]), np.concatenate([left, right])
    theirs = calculator(queries, left, items, right, ref_includes_query=True)
    found = ours(queries, items, left, right, measures=MEASURES, exclude=same_row())
    compare(theirs, found)


def test_one_set_searched_by_itself_with_labels_that_nobody_shares(calculator: Any) -> None:
    # Vectors whose label no other has are left out there: the policy empty=skip.
    _, items, _, right = data(20)
    right[:9] = np.arange(100, 109)
    options: dict[str, Any] = {"measures": MEASURES, "policy": {"empty": "skip"}}
    found = ours(items, items, right, right, exclude=same_row(), **options)
    compare(calculator(items, right), found)


@for_each("k", [1, 5, 20])
def test_average_precision_of_k_neighbours(calculator: Any, k: int) -> None:
    # Divided by all that is relevant, however few neighbours were asked for. (R-precision and MAP@R
    # need all of them.)
    queries, items, left, right = data(21)
    theirs = calculator(queries, left, items, right, k=k)
    found = ours(queries, items, left, right, measures=[f"AP@{k}", f"RR@{k}"])
    expected = theirs["mean_average_precision"], theirs["mean_reciprocal_rank"]
    assert found.value(f"AP@{k}") == pytest.approx(expected[0], abs=1e-9, rel=0)
    assert found.value(f"RR@{k}") == pytest.approx(expected[1], abs=1e-7, rel=0)
