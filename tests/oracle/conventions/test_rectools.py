"""The convention of RecTools beside RecTools, user by user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from support.generated import Collection, generate
from support.loops import for_each
from support.peers import (
    WITHOUT_TIES,
    Case,
    cases,
    check_table,
    check_version,
    compare,
    only_relevant,
    ranked,
)

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

NAME = "rectools"
DATA = {name: only_relevant(given) for name, given in WITHOUT_TIES.items()}
CATALOG = 5000
CALLS: dict[str, Callable[..., tuple[str, dict[str, Any]]]] = {
    "Precision(k={k})": lambda k: ("Precision", {"k": k}),
    "Precision(k={k}, r_precision=True)": lambda k: ("Precision", {"k": k, "r_precision": True}),
    "Recall(k={k})": lambda k: ("Recall", {"k": k}),
    "F1Beta(k={k})": lambda k: ("F1Beta", {"k": k}),
    "F1Beta(k={k}, beta={b})": lambda k, b: ("F1Beta", {"k": k, "beta": b}),
    "HitRate(k={k})": lambda k: ("HitRate", {"k": k}),
    "Accuracy(k={k})": lambda k: ("Accuracy", {"k": k}),
    "MRR(k={k})": lambda k: ("MRR", {"k": k}),
    "MAP(k={k})": lambda k: ("MAP", {"k": k}),
    "MAP(k={k}, divide_by_k=True)": lambda k: ("MAP", {"k": k, "divide_by_k": True}),
    "NDCG(k={k})": lambda k: ("NDCG", {"k": k}),
    "NDCG(k={k}, divide_by_achievable=True)": lambda k: (
        "NDCG",
        {"k": k, "divide_by_achievable": True},
    ),
}


def values(given: Collection, metric: str, options: dict[str, Any]) -> dict[str, float]:
    pd = pytest.importorskip("pandas")
    metrics = pytest.importorskip("rectools.metrics")
    recommended = pd.DataFrame(
        [
            (query, item, rank)
            for query in given.run
            for rank, item in enumerate(ranked(given, query), 1)
        ],
        columns=["user_id", "item_id", "rank"],
    )
    interactions = pd.DataFrame(
        [(query, item) for query, grades in given.judgements.items() for item in grades],
        columns=["user_id", "item_id"],
    )
    extra = {"catalog": range(CATALOG)} if metric == "Accuracy" else {}
    return dict(
        getattr(metrics, metric)(**options).calc_per_user(recommended, interactions, **extra)
    )


def test_table() -> None:
    check_table(NAME, CALLS)


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given = DATA[collection]
    if case.theirs.startswith("Accuracy"):
        # A list of fewer than k results is filled up with false positives there.
        given = only_relevant(generate(141, ties=False, gaps=False, shortest=50, longest=60))
    theirs = values(given, *CALLS[case.name.theirs](**case.places))
    assert compare(NAME, case, given, theirs, collection=CATALOG) == len(given.judgements)


def test_an_interaction_that_occurs_twice_counts_twice() -> None:
    pd = pytest.importorskip("pandas")
    metrics = pytest.importorskip("rectools.metrics")
    recommended = pd.DataFrame({"user_id": ["q"], "item_id": ["a"], "rank": [1]})
    interactions = pd.DataFrame({"user_id": ["q", "q", "q"], "item_id": ["a", "a", "b"]})
    assert metrics.Recall(k=1).calc(recommended, interactions) == pytest.approx(2 / 3)


def test_version() -> None:
    pytest.importorskip("rectools")
    check_version(NAME, exactly=True)
