"""The convention of RecTools beside RecTools, user by user."""

from __future__ import annotations

from typing import Any

import pytest

from support.generated import Collection, generate
from support.loops import for_each
from support.peers import HEAVY, WITHOUT_TIES, Case, cases, compare, only_relevant, ranked

pytestmark = HEAVY

NAME = "rectools"
DATA = {name: only_relevant(given) for name, given in WITHOUT_TIES.items()}
CATALOG = 5000


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


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given = DATA[collection]
    if case.theirs.startswith("Accuracy"):
        # A list of fewer than k results is filled up with false positives there.
        given = only_relevant(generate(141, ties=False, gaps=False, shortest=50, longest=60))
    theirs = values(given, *case.call())
    assert compare(NAME, case, given, theirs, collection=CATALOG) == len(given.judgements)


def test_an_interaction_that_occurs_twice_counts_twice() -> None:
    pd = pytest.importorskip("pandas")
    metrics = pytest.importorskip("rectools.metrics")
    recommended = pd.DataFrame({"user_id": ["q"], "item_id": ["a"], "rank": [1]})
    interactions = pd.DataFrame({"user_id": ["q", "q", "q"], "item_id": ["a", "a", "b"]})
    assert metrics.Recall(k=1).calc(recommended, interactions) == pytest.approx(2 / 3)
