"""The convention of recommenders beside recommenders: means over users."""

from __future__ import annotations

from typing import Any

import pytest

from support.generated import Collection
from support.loops import for_each
from support.peers import COLLECTIONS, HEAVY, Case, cases, compare, only_relevant

pytestmark = HEAVY

NAME = "recommenders"
DATA = {name: only_relevant(given) for name, given in COLLECTIONS.items()}


def value(given: Collection, function: str, options: dict[str, Any]) -> float:
    pd = pytest.importorskip("pandas")
    evaluation = pytest.importorskip("recommenders.evaluation.python_evaluation")
    truth = pd.DataFrame(
        [
            (query, item, float(grade))
            for query, grades in given.judgements.items()
            for item, grade in grades.items()
        ],
        columns=["userID", "itemID", "rating"],
    )
    run = pd.DataFrame(given.rows, columns=["userID", "itemID", "prediction"])
    return float(getattr(evaluation, function)(truth, run, **options))


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given = DATA[collection]
    assert compare(NAME, case, given, value(given, *case.call()))


def test_users_without_a_hit_are_left_out_of_r_precision() -> None:
    given = Collection({"q": {"a": 1}, "r": {"a": 1}}, [("q", "a", 1.0), ("r", "b", 1.0)])
    assert value(given, "r_precision_at_k", {"k": 10}) == 1.0


def test_an_item_predicted_twice_counts_twice() -> None:
    given = Collection({"q": {"a": 1}}, [("q", "a", 2.0), ("q", "a", 1.0)])
    assert value(given, "recall_at_k", {"k": 10}) == 2.0
