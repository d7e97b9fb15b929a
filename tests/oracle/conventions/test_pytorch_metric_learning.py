"""The convention of pytorch-metric-learning beside its own functions, on lists of neighbours'
labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from support.generated import Collection, generate
from support.loops import for_each
from support.parts import Later, Needs
from support.peers import Case, cases, compare, ranked, two_by_default

pytestmark = pytest.mark.full

NAME = "pytorch-metric-learning"
torch, accuracy = Later("torch"), Later("pytorch_metric_learning.utils.accuracy_calculator")
ITEMS = 40
RANKED: dict[str, Any] = {"ties": False, "gaps": False}
RANKED |= {"items": ITEMS, "longest": ITEMS, "shortest": ITEMS}
DATA = {
    "many right": generate(121, grades=(0, 1), queries=12, **RANKED),
    "few right": generate(122, grades=(0,) * 9 + (1,), queries=25, **RANKED),
}
"""Every query ranks the whole reference; an item is right where it has the query's label, which is
1."""
SHAPE = {"avg_of_avgs": False, "return_per_class": False}


@pytest.fixture(autouse=True)
def library(needs: Needs) -> None:
    needs("torch")
    needs("metric_learning")


def by_query(
    given: Collection,
    compute: Callable[..., float],
    *,
    k: int | None = None,
    counts: bool = True,
    **options: Any,
) -> Any:
    """One query at a time; the calculator itself leaves out those without a right reference."""
    found = {}
    for query, grades in given.judgements.items():
        labels = [grades.get(item, 0) for item in ranked(given, query)]
        if not any(labels):
            continue
        known = (
            {"ref_includes_query": False, "label_counts": ([torch.tensor([1])], [sum(labels)])}
            if counts
            else {}
        )
        neighbours, label = torch.tensor([labels[:k]]), torch.tensor([[1]])
        found[query] = compute(
            neighbours, label, **known, **SHAPE, **options, label_comparison_fn=torch.eq
        )
    return found


CALLS: dict[str, Callable[..., Any]] = {
    "precision_at_1": lambda given: by_query(given, first, counts=False),
    "r_precision": lambda given: by_query(given, accuracy.r_precision),
    "mean_average_precision_at_r": lambda given: by_query(
        given, accuracy.mean_average_precision, at_r=True
    ),
    "mean_average_precision": lambda given: by_query(given, accuracy.mean_average_precision),
    "mean_average_precision(k={k})": lambda given, k: by_query(
        given, accuracy.mean_average_precision, k=k
    ),
    "mean_reciprocal_rank": lambda given: by_query(
        given, accuracy.mean_reciprocal_rank, counts=False
    ),
    "mean_reciprocal_rank(k={k})": lambda given, k: by_query(
        given, accuracy.mean_reciprocal_rank, k=k, counts=False
    ),
}


def first(neighbours: Any, label: Any, **options: Any) -> float:
    return float(accuracy.precision_at_k(neighbours, label, 1, **options))


@pytest.mark.parametrize("collection", two_by_default(DATA))
@for_each("case", cases(NAME, CALLS), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given = DATA[collection]
    theirs = CALLS[case.name.theirs](given, **case.places)
    # mean_reciprocal_rank alone is computed in single precision.
    assert compare(
        NAME, case, given, theirs, tolerance=1e-7 if "reciprocal" in case.theirs else None
    ) == len(theirs)
