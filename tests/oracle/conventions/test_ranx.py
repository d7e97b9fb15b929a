"""The convention of ranx beside ranx, query by query, without ties."""

from __future__ import annotations

import os

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import pytest
import ranx

from judged import PolicyError
from support.generated import Collection
from support.peers import WITHOUT_TIES, Case, cases, check_version, compare, ours

NAME = "ranx"
CASES = cases(NAME, places={"p": (50, 8, 95)})


def values(text: str, given: Collection) -> dict[str, float]:
    qrels, run = ranx.Qrels(given.judgements), ranx.Run(given.run)
    found = ranx.evaluate(qrels, run, text, return_mean=False, make_comparable=True)
    return dict(zip(sorted(given.judgements), found.tolist(), strict=True))


PAIRS = [
    pytest.param(case, collection, id=f"{case}-{collection}")
    for case in CASES
    # Its rbp gains the bare grade; see below.
    for collection in (["binary"] if case.theirs.startswith("rbp") else WITHOUT_TIES)
]


@pytest.mark.parametrize(("case", "collection"), PAIRS)
def test_every_name(case: Case, collection: str) -> None:
    given = WITHOUT_TIES[collection]
    theirs = values(case.theirs, given)
    assert compare(NAME, case, given, theirs, policy={"missing": "zero"}) == len(given.judgements)


def test_a_missing_query_is_refused_by_both() -> None:
    given = WITHOUT_TIES["gaps"]
    with pytest.raises(AssertionError, match="do not match"):
        ranx.evaluate(ranx.Qrels(given.judgements), ranx.Run(given.run), "mrr")
    with pytest.raises(PolicyError, match="missing=error"):
        ours(NAME, given, "mrr")


def test_it_gains_the_bare_grade_in_rank_biased_precision() -> None:
    given = Collection({"q": {"a": 3, "b": 2}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    assert values("rbp.50", given) == pytest.approx({"q": 0.5 * (3 + 2 * 0.5)})
    assert ours(NAME, given, "rbp.50").value() == 0.5 * (1 + 0.5)


def test_its_bpref_is_not_that_of_trec_eval() -> None:
    """More relevant than irrelevant judgements: ranx subtracts min(irrelevant above, R) / min(R, N) without a bound."""
    given = Collection(
        {"q": {"a": 0, "b": 0, "c": 1, "d": 1, "e": 1}}, [("q", item, 9.0 - at) for at, item in enumerate("abcde")]
    )
    # Two irrelevant above each, min(2, 3) / min(3, 2) = 1: nothing is left. With 1 irrelevant and 3 relevant it is negative.
    assert values("bpref", given) == {"q": 0.0}


def test_version() -> None:
    check_version(NAME)
