"""The convention of RePlay beside RePlay, user by user."""

from __future__ import annotations

from typing import Any

import pytest

from support.generated import Collection
from support.loops import for_each
from support.peers import COLLECTIONS, HEAVY, Case, cases, compare, only_relevant, ours

pytestmark = HEAVY

NAME = "replay"
DATA = {name: only_relevant(given) for name, given in COLLECTIONS.items()}


def values(given: Collection, metric: str, k: int, *, dicts: bool = False) -> dict[str, float]:
    pd = pytest.importorskip("pandas")
    metrics = pytest.importorskip("replay.metrics")
    asked = getattr(metrics, metric)(k, mode=metrics.PerUser())
    if dicts:
        run = {query: list(scores.items()) for query, scores in given.run.items()}
        found = asked(run, {query: list(grades) for query, grades in given.judgements.items()})
    else:
        run = pd.DataFrame(given.rows, columns=["query_id", "item_id", "rating"])
        truth = pd.DataFrame(
            [(query, item) for query, grades in given.judgements.items() for item in grades],
            columns=["query_id", "item_id"],
        )
        found = asked(run, truth)
    (by_query,) = found.values()
    return dict(by_query)


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given, (metric, _) = DATA[collection], case.call()
    theirs = values(given, metric, int(case.places["k"]))
    assert compare(NAME, case, given, theirs) == len(given.judgements)
    # Dicts keep the order of ties.
    theirs = values(given, metric, int(case.places["k"]), dicts=True)
    assert compare(NAME, case, given, theirs, policy={"ties": "input"}) == len(given.judgements)


def test_ids_that_are_numbers_are_ordered_as_numbers() -> None:
    """9 and 10 are tied, and 10 is relevant: first as a number, second as a text."""
    pd = pytest.importorskip("pandas")
    metrics = pytest.importorskip("replay.metrics")
    run = pd.DataFrame({"query_id": [1, 1], "item_id": [9, 10], "rating": [1.0, 1.0]})
    truth = pd.DataFrame({"query_id": [1], "item_id": [10]})
    assert metrics.MRR(2)(run, truth)["MRR@2"] == 1.0
    texts = run.astype({"item_id": str}), truth.astype({"item_id": str})
    assert metrics.MRR(2)(*texts)["MRR@2"] == 0.5
    given = Collection({"1": {"10": 1}}, [("1", "9", 1.0), ("1", "10", 1.0)])
    evaluation = ours(NAME, given, "MRR@2")
    assert evaluation.value() == 0.5
    assert any("as numbers where ids are numbers" in text for text in evaluation.warnings())


def test_an_item_recommended_twice_counts_twice() -> None:
    metrics: Any = pytest.importorskip("replay.metrics")
    assert metrics.MAP(2)({"q": [("a", 2.0), ("a", 1.0)]}, {"q": ["a"]})["MAP@2"] == 2.0
