"""Relevance lists as people write them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import Rankings, explain
from judged.rankings.relevance import RelevanceList, relevance_list
from support.errors import error_of

TIED = 'Results that share a score stand in brackets, such as "0 (1 0) 1".'


@pytest.mark.parametrize(
    ("text", "grades", "tied"),
    [
        ("0 1 - 2", (0, 1, None, 2), ()),
        ("0,1, 2.5", (0, 1, 2.5), ()),
        ("0 (1 0) 1", (0, 1, 0, 1), ((2, 3),)),
        ("( 1,-)(0 0)", (1, None, 0, 0), ((1, 2), (3, 4))),
        ("(1) 0", (1, 0), ()),
        ('{"a b":1,"(c}":0} -', ({"a b": 1, "(c}": 0}, None), ()),
    ],
)
def test_what_is_read(text: str, grades: tuple[Any, ...], tied: tuple[Any, ...]) -> None:
    assert relevance_list(text) == RelevanceList(grades, tied)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 (1", f"'0 (1' is not a relevance list: a bracket is not closed. {TIED}"),
        ("0 1)", f"'0 1)' is not a relevance list: ')' is out of place. {TIED}"),
        ("((0 1))", f"'((0 1))' is not a relevance list: '(' is out of place. {TIED}"),
        ("()", f"'()' is not a relevance list: ')' is out of place. {TIED}"),
        (
            "0 x",
            "'0 x' is not a relevance list: 'x' is neither a grade nor - (not judged). Write the "
            'grades in rank order, such as "0 1 0 0 1".',
        ),
        (" ", 'the relevance list is empty; write the grades in rank order, such as "0 1 0 0 1".'),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    assert error_of(relevance_list, text) == message


GRADES = st.one_of(st.none(), st.integers(-2, 5), st.sampled_from([0.5, 2.25]))


@given(st.lists(GRADES, min_size=1, max_size=12), st.lists(st.integers(1, 12), max_size=6))
def test_what_is_written_is_read_again(grades: list[Any], cuts: list[int]) -> None:
    ends = sorted({cut for cut in cuts if cut <= len(grades)})
    tied = tuple(pair for pair in zip(ends[::2], ends[1::2], strict=False))
    listed = RelevanceList(tuple(grades), tied)
    assert relevance_list(str(listed)) == listed


# Ties of the second and third result: as written 1/3 and 2/4, in the system's favour 1/2 and 2/4.
@pytest.mark.parametrize(
    ("ties", "arithmetic"),
    [
        ("id", "AP = (1/3 + 2/4) / 2"),
        ("input", "AP = (1/3 + 2/4) / 2"),
        ("best", "AP = (1/2 + 2/4) / 2"),
        ("worst", "AP = (1/3 + 2/4) / 2"),
    ],
)
def test_ties_of_a_list_are_broken_by_the_policy(ties: Any, arithmetic: str) -> None:
    found = explain("0 (0 1) 1", measure="AP", policy={"ties": ties})
    assert found.arithmetic.startswith(arithmetic)


def test_where_nothing_is_tied_every_rule_is_the_same() -> None:
    assert explain("0 1", measure="RR", policy={"ties": "expected"}).value == 0.5


@pytest.mark.parametrize(
    ("tied", "message"),
    [
        ([], "tied must hold the ties of each of the 1 queries; got 0."),
        ([[(2, 5)]], "tied of query 1: ranks 2 to 5 are not a stretch of its own in a list of 3."),
        (
            [[(1, 2), (2, 3)]],
            "tied of query 1: ranks 2 to 3 are not a stretch of its own in a list of 3.",
        ),
        ([[2]], "tied must hold the first and the last rank of each tie, such as (2, 4); got [2]."),
    ],
)
def test_ties_that_cannot_be(tied: Any, message: str) -> None:
    assert error_of(Rankings.from_relevance, [[0, 1, 0]], tied=tied) == message


def test_ties_of_rankings() -> None:
    r = Rankings.from_relevance([[0, 1, 0], [1, 0]], tied=[[(1, 2)], []])
    values = {
        ties: r.evaluate("RR", policy={"ties": ties}).value() for ties in ("best", "worst")
    } | {"expected": r.evaluate("RR", policy={"ties": "expected"}).value()}
    assert values == {"best": 1.0, "worst": 0.75, "expected": 0.875}
