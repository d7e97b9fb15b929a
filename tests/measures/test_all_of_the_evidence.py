"""All relevant items, and the last of them: by hand, explained, and from the command line."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from judged import Rankings, explain
from judged.measures import parse_measure
from judged.measures.reference import readable

# Two relevant items at ranks 2 and 4; one of two at rank 1 and one never retrieved; one at rank 3;
# nothing relevant; three, of which the run has the query not at all.
LISTS = [[0, 1, 0, 1, 0], [1, 0], [0, 0, 2], [0, 0], []]
RELEVANT = [2, 2, 1, 0, 3]


def rankings() -> Rankings:
    return Rankings.from_relevance(LISTS, relevant=RELEVANT)


@pytest.mark.parametrize(
    ("measure", "values"),
    [
        ("Success(of=all)@4", [1, 0, 1, np.nan, 0]),
        ("Success(of=all)@3", [0, 0, 1, np.nan, 0]),
        ("Success(of=all)@2", [0, 0, 0, np.nan, 0]),
        ("Success(of=all)@1", [0, 0, 0, np.nan, 0]),
        ("Success(of=all)@R", [0, 0, 0, np.nan, 0]),
        ("Success(of=all)", [1, 0, 1, np.nan, 0]),
        ("Success(of=any)@2", [1, 1, 0, np.nan, 0]),
        # Of grade 2 there is one item in all.
        ("Success(of=all, rel=2)@3", [np.nan, np.nan, 1, np.nan, np.nan]),
        ("Rank(of=last)", [4, inf, 3, np.nan, inf]),
        ("Rank", [2, 1, 3, np.nan, inf]),
        ("INP", [2 / 4, 0, 1 / 3, np.nan, 0]),
    ],
)
def test_worked_by_hand(measure: str, values: list[float]) -> None:
    np.testing.assert_array_equal(parse_measure(measure).compute(rankings()), values)


def test_summaries() -> None:
    found = rankings().evaluate("Success(of=all)@4, Rank(of=last), MedR(of=last)")
    assert found.value("Success(of=all)@4") == 2 / 5
    assert found.value("Rank(of=last)") == inf
    # 4, infinite, 3, infinite for nothing relevant, infinite: the one in the middle.
    assert found.value("MedR(of=last)") == inf
    skipped = rankings().evaluate(
        "MedR(of=last), Success(of=all)@4", policy={"empty": "skip", "missing": "skip"}
    )
    assert skipped.value("MedR(of=last)") == inf
    assert skipped.value("Success(of=all)@4") == pytest.approx(2 / 4)
    some = Rankings.from_relevance(LISTS[:1] + LISTS[2:3]).evaluate("MedR(of=last)")
    assert some.value() == 3.5


@pytest.mark.parametrize(
    ("measure", "formula"),
    [
        ("Success@3", r"\max_{i\le k}[g_i \ge rel]"),
        ("Success(of=all)@3", r"[\sum_{i\le k}[g_i \ge rel] = N]"),
        ("Rank", r"\min\{i : g_i \ge rel\}"),
        ("MedR(of=last)", r"\max\{i : g_i \ge rel\}"),
    ],
)
def test_a_variant_has_its_own_formula_wherever_one_is_given(measure: str, formula: str) -> None:
    assert parse_measure(measure).definition()["formula"] == formula
    assert formula in rankings().evaluate(measure).definition()
    explained = explain("0 1 0 1", measure=measure)
    assert readable(formula) in explained.to_text()
    assert formula in explained.to_latex()
