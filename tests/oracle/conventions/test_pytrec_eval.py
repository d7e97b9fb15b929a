"""The convention of pytrec_eval beside pytrec_eval, query by query, ties and gaps included."""

from __future__ import annotations

import pytest
import pytrec_eval

from support.loops import for_each
from support.peers import COLLECTIONS, Case, cases, check_version, compare, ours, two_by_default

NAME = "pytrec_eval"
GEOMETRIC = ("gm_map", "gm_bpref")
"""Logarithms until they are aggregated."""


def asked(case: Case) -> str:
    """As pytrec_eval is asked: a number stands behind a point."""
    root, _, number = case.theirs.rpartition("_")
    return f"{root}.{number}" if case.places else case.theirs


def values(case: Case, collection: str) -> dict[str, float]:
    given = COLLECTIONS[collection]
    found = pytrec_eval.RelevanceEvaluator(given.judgements, {asked(case)}).evaluate(given.run)
    return {query: next(iter(by_name.values())) for query, by_name in found.items()}


@pytest.mark.parametrize("collection", two_by_default(COLLECTIONS))
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    theirs = values(case, collection)
    if case.theirs in GEOMETRIC:
        assert compare(
            NAME,
            case,
            COLLECTIONS[collection],
            pytrec_eval.compute_aggregated_measure(case.theirs, list(theirs.values())),
        )
    else:
        assert compare(NAME, case, COLLECTIONS[collection], theirs) == len(
            COLLECTIONS[collection].common
        )


@pytest.mark.parametrize(
    ("measure", "option"),
    [
        ("P@5", "P_5"),
        ("AP", "map"),
        ("nDCG@10", "ndcg_cut_10"),
        ("IPrec@0.3", "iprec_at_recall_0.3"),
    ],
)
def test_our_names_mean_its_variants(measure: str, option: str) -> None:
    given = COLLECTIONS["ties and gaps"]
    assert ours(NAME, given, measure).value() == ours(NAME, given, option).value()


def test_version() -> None:
    check_version(NAME)
