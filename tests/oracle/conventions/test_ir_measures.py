"""The convention of ir_measures beside ir_measures, query by query."""

from __future__ import annotations

import ir_measures
import pytest

from support.generated import Collection, generate
from support.loops import for_each
from support.parts import Needs
from support.peers import (
    COLLECTIONS,
    WITHOUT_TIES,
    Case,
    cases,
    check_version,
    compare,
    ours,
    two_by_default,
)

NAME = "ir_measures"
GDEVAL = 0.5000001e-5
"""The Perl script prints five decimals."""
BY_GDEVAL = ("ERR@{k}", "nDCG(dcg='exp-log2')@{k}")
OTHER_TIES = ("RR@{k}", "Judged@{k}", "RBP(p={p},rel={rel})")
"""Providers that order tied results by ascending id or by no rule; compared without ties."""
PLAIN = generate(111, ties=False, grades=(0, 0, 1, 2, 3, 4), letters=("D",), gaps=False)
"""gdeval knows plain ids and grades from 0 to 4, and every query has to be there."""


def values(text: str, given: Collection) -> dict[str, float]:
    measure = ir_measures.parse_measure(text)
    return {
        each.query_id: each.value
        for each in ir_measures.iter_calc([measure], given.judgements, given.run)
    }


@pytest.mark.parametrize("collection", two_by_default(COLLECTIONS))
@for_each("case", [case for case in cases(NAME) if case.name.theirs not in BY_GDEVAL], ids=str)
def test_every_name(case: Case, collection: str) -> None:
    if case.name.theirs in OTHER_TIES and collection not in WITHOUT_TIES:
        pytest.skip("its ties are ordered otherwise")
    given = COLLECTIONS[collection]
    if case.theirs.startswith("Judged"):
        given = Collection(
            {
                query: {item: abs(grade) for item, grade in grades.items()}
                for query, grades in given.judgements.items()
            },
            given.rows,
        )
    assert compare(NAME, case, given, values(case.theirs, given)) == len(given.judgements)


@pytest.mark.parametrize(
    "case", [case for case in cases(NAME) if case.name.theirs in BY_GDEVAL], ids=str
)
def test_every_name_of_gdeval(case: Case, needs: Needs) -> None:
    needs("perl")
    assert compare(NAME, case, PLAIN, values(case.theirs, PLAIN), tolerance=GDEVAL) == len(
        PLAIN.judgements
    )


def test_the_order_of_ties_depends_on_the_provider() -> None:
    given = Collection({"q": {"a": 1}}, [("q", "a", 1.0), ("q", "b", 1.0)])
    assert values("RR", given) == {"q": 0.5}
    assert values("RR@10", given) == {"q": 1.0}
    assert ours(NAME, given, "RR@10").value() == 0.5


def test_version() -> None:
    check_version(NAME)
