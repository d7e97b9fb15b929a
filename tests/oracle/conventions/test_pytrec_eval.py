"""pytrec_eval (trec_eval 9) beside its convention and beside our own names, query by query, ties
and gaps included."""

from __future__ import annotations

import pytest
import pytrec_eval

from judged import evaluate
from judged.measures import parse_measure
from support.generated import Collection
from support.loops import for_each
from support.peers import COLLECTIONS, Case, cases, compare, ours, two_by_default

NAME = "pytrec_eval"
GEOMETRIC = ("gm_map", "gm_bpref")
"""Logarithms until they are aggregated."""
CASES = {case.theirs: case for case in cases(NAME)}


def asked(case: Case) -> str:
    """As pytrec_eval is asked: a number stands behind a point."""
    root, _, number = case.theirs.rpartition("_")
    return f"{root}.{number}" if case.places else case.theirs


def values(given: Collection, text: str, **options: int) -> dict[str, float]:
    found = pytrec_eval.RelevanceEvaluator(given.judgements, {text}, **options).evaluate(given.run)
    return {query: next(iter(by_name.values())) for query, by_name in found.items()}


@pytest.mark.parametrize("collection", two_by_default(COLLECTIONS))
@for_each("case", CASES.values(), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    given = COLLECTIONS[collection]
    theirs = values(given, asked(case))
    if case.theirs in GEOMETRIC or case.theirs in ("map", "ndcg", "recip_rank"):
        mean = pytrec_eval.compute_aggregated_measure(case.theirs, list(theirs.values()))
        assert compare(NAME, case, given, mean)
    if case.theirs not in GEOMETRIC:
        assert compare(NAME, case, given, theirs) == len(given.common)


@pytest.mark.parametrize("collection", two_by_default(COLLECTIONS))
def test_relevant_from_grade_2_on(collection: str) -> None:
    given = COLLECTIONS[collection]
    measures = {
        name: measure(rel=2)
        for name, case in CASES.items()
        for measure in [parse_measure(case.name.filled(case.places)[1])]
        if name not in GEOMETRIC and "rel" in measure.params
    }
    scored = evaluate(given.judgements, given.run, list(measures.values())).scored()
    for name, measure in measures.items():
        theirs = values(given, asked(CASES[name]), relevance_level=2)
        found = dict(zip(scored.rankings.queries, scored.values[measure].tolist(), strict=True))
        assert {query: found[query] for query in theirs} == pytest.approx(theirs, abs=1e-9, rel=0)
        # Here a query that the run lacks is an empty list; there it is left out.
        lacking = set(found) - set(theirs)
        assert lacking == set(given.judgements) - set(given.run)
        assert name != "map" or {found[query] for query in lacking} <= {0.0}


@for_each(
    ("measure", "option"),
    {
        "P@5": "P_5",
        "AP": "map",
        "nDCG@10": "ndcg_cut_10",
        "IPrec@0.3": "iprec_at_recall_0.3",
    }.items(),
)
def test_our_names_mean_its_variants(measure: str, option: str) -> None:
    given = COLLECTIONS["ties and gaps"]
    assert ours(NAME, given, measure).value() == ours(NAME, given, option).value()


def test_known_disagreement_recall_points() -> None:
    """Recall 0.35 of 3 items needs 1.05 of them: 2, with precision 2/3; floor(1.05 + 0.9) = 1 item
    has precision 1."""
    given = Collection(
        {"q": {"a": 1, "b": 1, "c": 1}}, [("q", "a", 3.0), ("q", "x", 2.0), ("q", "b", 1.0)]
    )
    assert values(given, "iprec_at_recall.0.35") == {"q": 1.0}
    found = evaluate(given.judgements, given.run, "IPrec(rounding=trec_eval9)@0.35, IPrec@0.35")
    assert found.value("IPrec(rounding=trec_eval9)@0.35") == 1.0
    assert found.value("IPrec@0.35") == 2 / 3


def test_scores_that_differ_beyond_single_precision_are_tied_there() -> None:
    given = Collection({"q": {"a": 1, "b": 0}}, [("q", "a", 1.00000001), ("q", "b", 1.0)])
    assert values(given, "recip_rank") == {"q": 0.5}
    found = ours(NAME, given, "recip_rank")
    assert found.value() == 1.0
    assert found.warnings() == [
        "pytrec_eval holds scores in single precision: scores that differ only beyond it are tied "
        "there, and the item's id decides."
    ]
