"""The convention of BEIR beside BEIR: means over queries, rounded to five decimals."""

from __future__ import annotations

from typing import Any

import pytest

from support.generated import Collection
from support.loops import for_each
from support.peers import (
    COLLECTIONS,
    Case,
    cases,
    check_version,
    compare,
    judged_only,
    with_relevant,
)

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

NAME = "beir"
DATA = {name: judged_only(with_relevant(given)) for name, given in COLLECTIONS.items()}
"""Its own measures stop where nothing is relevant, and where the run has a query that nobody
judged."""


def value(theirs: str, given: Collection, k: int) -> float:
    pytest.importorskip("beir")
    from beir.retrieval.evaluation import EvaluateRetrieval

    root = theirs.partition("@")[0]
    if root in ("NDCG", "MAP", "Recall", "P"):
        found: dict[str, float] = {}
        for part in EvaluateRetrieval.evaluate(given.judgements, given.run, [k]):
            found.update(part)
    else:
        found = EvaluateRetrieval.evaluate_custom(given.judgements, given.run, [k], metric=root)
    return found[theirs]


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given = DATA[collection]
    assert compare(NAME, case, given, value(case.theirs, given, int(case.places["k"])))


@pytest.mark.parametrize(
    "case", [case for case in cases(NAME) if case.name.theirs != "R_cap@{k}"], ids=str
)
def test_where_nothing_is_relevant(case: Case) -> None:
    given = judged_only(COLLECTIONS["nothing relevant"])
    assert compare(NAME, case, given, value(case.theirs, given, int(case.places["k"])))


def test_capped_recall_divides_by_zero_where_nothing_is_relevant() -> None:
    with pytest.raises(ZeroDivisionError):
        value("R_cap@10", judged_only(COLLECTIONS["nothing relevant"]), 10)


@pytest.mark.parametrize("name", ["MRR@10", "R_cap@10", "Accuracy@10"])
def test_its_own_measures_stop_at_a_query_that_nobody_judged(name: str) -> None:
    with pytest.raises(KeyError):
        value(name, Collection({"q": {"a": 1}}, [("q", "a", 1.0), ("r", "a", 1.0)]), 10)


def test_the_run_is_changed() -> None:
    pytest.importorskip("beir")
    from beir.retrieval.evaluation import EvaluateRetrieval

    run: dict[str, dict[str, Any]] = {"q": {"q": 2.0, "a": 1.0}}
    EvaluateRetrieval.evaluate({"q": {"a": 1}}, run, [1])
    assert run == {"q": {"a": 1.0}}


@pytest.mark.parametrize("name", ["NDCG@10", "MAP@10", "Recall@10", "P@10"])
def test_an_item_with_the_id_of_its_query_is_dropped(name: str) -> None:
    """q and r retrieve themselves, r nothing else; s is judged relevant for itself."""
    judgements = {"q": {"a": 1}, "r": {"b": 1}, "s": {"s": 2, "c": 1}}
    rows = [
        ("q", "q", 2.0),
        ("q", "a", 1.0),
        ("r", "r", 1.0),
        ("s", "s", 3.0),
        ("s", "x", 2.0),
        ("s", "c", 1.0),
    ]
    given = Collection(judgements, rows)
    (case,) = [case for case in cases(NAME) if case.theirs == name]
    assert compare(NAME, case, given, value(name, Collection(judgements, rows), 10))


def test_version() -> None:
    pytest.importorskip("beir")
    check_version(NAME, exactly=True)
