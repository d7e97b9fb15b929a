"""The convention of ranx beside ranx, query by query, without ties."""

from __future__ import annotations

import pytest

from judged import evaluate
from judged.errors import PolicyError
from support.generated import Collection
from support.loops import for_each
from support.parts import Later
from support.peers import (
    WITHOUT_TIES,
    Case,
    cases,
    compare,
    ours,
    two_by_default,
    with_relevant,
    without_negative,
)

ranx = Later("ranx")  # which loads numba and matplotlib

NAME = "ranx"
CASES = cases(NAME, places={"p": (50, 8, 95)})


def values(text: str, given: Collection) -> dict[str, float]:
    qrels, run = ranx.Qrels(given.judgements), ranx.Run(given.run)
    found = ranx.evaluate(qrels, run, text, return_mean=False, make_comparable=True)
    return dict(zip(sorted(given.judgements), found.tolist(), strict=True))


@pytest.mark.parametrize("collection", two_by_default(WITHOUT_TIES))
@for_each("case", CASES, ids=str)
def test_every_name(case: Case, collection: str) -> None:
    if case.theirs.startswith("rbp") and collection != "binary":
        pytest.skip("its rbp gains the bare grade; see below")
    given = WITHOUT_TIES[collection]
    if case.theirs == "bpref":
        # It needs judgements of both kinds, and knows no negative grades; see below.
        known = without_negative(with_relevant(given)).judgements
        given = Collection(
            {query: grades for query, grades in known.items() if 0 in grades.values()}, given.rows
        )
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


@pytest.mark.filterwarnings("ignore:invalid value")
def test_its_bpref_needs_both_kinds_of_judgements() -> None:
    given = Collection({"q": {"a": 1}, "r": {"a": 1, "b": 0}}, [("q", "a", 1.0), ("r", "a", 1.0)])
    assert str(values("bpref", given)) == "{'q': nan, 'r': 1.0}"
    assert ours(NAME, given, "bpref").value() == 1.0


def test_its_bpref_takes_negative_grades_for_irrelevant_ones() -> None:
    """b, of a negative grade, stands above a: 1 - min(1, 1) / min(1, 2) = 0."""
    given = Collection({"q": {"a": 1, "b": -1, "c": 0}}, [("q", "b", 2.0), ("q", "a", 1.0)])
    assert values("bpref", given) == {"q": 0.0}
    assert ours(NAME, given, "bpref").value() == 1.0


@for_each(
    ("theirs", "measure"),
    {
        **{"hits": "NumRelRet", "hit_rate": "Success", "precision": "P", "recall": "R", "f1": "F"},
        **{"mrr": "RR", "map": "AP"},
    }.items(),
)
def test_levels_of_relevance(theirs: str, measure: str) -> None:
    for given in (WITHOUT_TIES["complete"], without_negative(WITHOUT_TIES["gaps"])):
        for at in ("", "@1", "@3", "@10"):
            expected = values(f"{theirs}{at}-l2", given)
            scored = evaluate(given.judgements, given.run, f"{measure}(rel=2){at}").scored()
            (found,) = scored.values.values()
            by_query = dict(zip(scored.rankings.queries, found.tolist(), strict=True))
            assert by_query == pytest.approx(expected, abs=1e-9, rel=0)


def test_known_disagreement_level_of_ndcg() -> None:
    """With -l2 ranx zeroes grade 1 in nDCG; trec_eval and judged keep it, without a table."""
    given = Collection({"q": {"a": 1, "b": 2}}, [("q", "a", 2.0), ("q", "b", 1.0)])
    theirs = values("ndcg-l2", given)["q"]
    found = evaluate(given.judgements, given.run, "nDCG(gains={1:0}), nDCG")
    assert found.value("nDCG(gains={1:0})") == pytest.approx(theirs)
    assert found.value("nDCG") != pytest.approx(theirs)
