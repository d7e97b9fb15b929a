"""The convention of trectools beside trectools, query by query."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
import pytest

from support.generated import Collection
from support.loops import for_each
from support.parts import Later, Needs
from support.peers import (
    COLLECTIONS,
    WITHOUT_TIES,
    Case,
    cases,
    compare,
    judged_only,
    ours,
    two_by_default,
    without_negative,
)

NAME = "trectools"
trectools = Later("trectools")
DATA = {name: judged_only(given) for name, given in COLLECTIONS.items()}
"""It counts queries that nobody judged, and stops at them in R-precision; see below."""


@pytest.fixture(autouse=True)
def library(needs: Needs) -> None:
    needs("trectools")


def evaluator(given: Collection) -> Any:
    run, qrels = trectools.TrecRun(), trectools.TrecQrel()
    rows = sorted(given.rows, key=lambda row: (row[0], -row[2]))
    frame = pd.DataFrame(rows, columns=["query", "docid", "score"])
    frame["q0"], frame["system"], frame["rank"] = "Q0", "run", frame.groupby("query").cumcount() + 1
    run.load_run_from_dataframe(frame)
    pairs = [
        (query, "0", item, grade)
        for query, grades in given.judgements.items()
        for item, grade in grades.items()
    ]
    qrels.qrels_data = pd.DataFrame(pairs, columns=["query", "q0", "docid", "rel"])
    return trectools.TrecEval(run, qrels)


def by_query(given: Collection, method: str, **options: Any) -> dict[str, float]:
    """Its values by query; those without a relevant result are missing there, or not a number, and
    are 0 in its means."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(evaluator(given), method)(per_query=True, **options)
    frame = found[0] if isinstance(found, tuple) else found
    known = frame.iloc[:, 0].dropna().to_dict()
    return {query: float(known.get(query, 0.0)) for query in given.common}


OTHER_TIES = ("get_ndcg", "get_rbp")


@pytest.mark.parametrize("collection", two_by_default(DATA))
@for_each("case", cases(NAME), ids=str)
def test_every_name(case: Case, collection: str) -> None:
    if case.theirs.startswith(OTHER_TIES) and collection not in WITHOUT_TIES:
        pytest.skip("its ties are ordered otherwise")
    given = DATA[collection]
    if "bpref" in case.theirs:
        # It errs where nothing was judged irrelevant, and about negative grades; see below.
        both = {
            query: grades
            for query, grades in without_negative(given).judgements.items()
            if 0 in grades.values()
        }
        given = judged_only(Collection(both, given.rows))
    method, options = case.call()
    assert compare(NAME, case, given, by_query(given, method, **options)) == len(given.common)


def test_known_disagreement_preferences() -> None:
    """Where nothing was judged irrelevant, and with negative grades."""
    for value, grades, items in ((0.0, {"a": 1}, "a"), (2.0, {"a": 1, "b": -1, "c": 0}, "ba")):
        given = Collection(
            {"q": grades}, [("q", item, -float(place)) for place, item in enumerate(items)]
        )
        assert by_query(given, "get_bpref") == {"q": value}
        assert ours(NAME, given, "bpref").value() == 1.0


def test_a_query_that_nobody_judged_lowers_its_means_and_stops_r_precision() -> None:
    given = Collection({"q": {"a": 1}}, [("q", "a", 1.0), ("r", "a", 1.0)])
    assert evaluator(given).get_map(depth=10) == 0.5
    assert ours(NAME, given, "MAP@10").value() == 1.0
    with pytest.raises(KeyError, match="r"):
        by_query(given, "get_rprec")
