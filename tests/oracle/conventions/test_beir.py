"""The convention of BEIR beside BEIR: means over queries, rounded to five decimals."""

from __future__ import annotations

from typing import Any

import pytest

from support.generated import Collection
from support.loops import for_each
from support.peers import COLLECTIONS, HEAVY, Case, cases, compare, judged_only, with_relevant

pytestmark = HEAVY

NAME = "beir"
EMPTY = judged_only(COLLECTIONS["nothing relevant"])
SELF = Collection(
    {"q": {"a": 1}, "r": {"b": 1}, "s": {"s": 2, "c": 1}},
    [
        *[("q", "q", 2.0), ("q", "a", 1.0), ("r", "r", 1.0)],
        *[("s", "s", 3.0), ("s", "x", 2.0), ("s", "c", 1.0)],
    ],
)
"""q and r retrieve themselves, r nothing else; s is judged relevant for itself."""
DATA = {
    # Its own measures stop at queries of the run without judgements.
    **{name: judged_only(with_relevant(given)) for name, given in COLLECTIONS.items()},
    "nothing relevant, kept": EMPTY,
    "items that are queries": SELF,
}
OWN = ("MRR", "R_cap", "Accuracy")


def value(theirs: str, given: Collection, k: int) -> float:
    pytest.importorskip("beir")
    from beir.retrieval.evaluation import EvaluateRetrieval

    root = theirs.partition("@")[0]
    run: dict[str, dict[str, Any]] = given.run
    if root in ("NDCG", "MAP", "Recall", "P"):
        found: dict[str, float] = {}
        for part in EvaluateRetrieval.evaluate(given.judgements, run, [k]):
            found.update(part)
    else:
        found = EvaluateRetrieval.evaluate_custom(given.judgements, run, [k], metric=root)
    return found[theirs]


@pytest.mark.parametrize("collection", DATA)
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given = DATA[collection]
    own = case.theirs.startswith(OWN)
    if (given is EMPTY and case.theirs.startswith("R_cap")) or (given is SELF and own):
        pytest.skip("see below")
    assert compare(NAME, case, given, value(case.theirs, given, int(case.places["k"])))


def test_its_own_measures_stop() -> None:
    with pytest.raises(ZeroDivisionError):
        value("R_cap@10", EMPTY, 10)
    for name in OWN:
        with pytest.raises(KeyError):
            value(f"{name}@10", Collection({"q": {"a": 1}}, [("q", "a", 1.0), ("r", "a", 1.0)]), 10)


def test_the_run_is_changed() -> None:
    pytest.importorskip("beir")
    from beir.retrieval.evaluation import EvaluateRetrieval

    run: dict[str, dict[str, Any]] = {"q": {"q": 2.0, "a": 1.0}}
    EvaluateRetrieval.evaluate({"q": {"a": 1}}, run, [1])
    assert run == {"q": {"a": 1.0}}
