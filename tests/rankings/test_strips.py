"""Strips of rankings against a slow twin, and worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged.rankings.rankings import Rankings
from judged.rankings.strips import KINDS, Cell, mean_strip, strips
from support.errors import error_of

GRADES = st.sampled_from([None, -2.0, -1.0, 0.0, 0.0, 0.25, 0.5, 1.0, 1.0, 2.0, 3.0, 4.0, 7.5])
LISTS = st.lists(st.lists(GRADES, max_size=9), min_size=1, max_size=8)


def slow_kind(grades: list[float | None], rank: int) -> str:
    if rank > len(grades):
        return "nothing"
    grade = grades[rank - 1]
    if grade is None or grade < 0:
        return "unjudged"
    return "relevant" if grade > 0 else "irrelevant"


def slow_code(grades: list[float | None], rank: int, top: float) -> str:
    kind = slow_kind(grades, rank)
    if kind != "relevant":
        return {"irrelevant": ".", "unjudged": "?", "nothing": "-"}[kind]
    grade = grades[rank - 1]
    assert grade is not None
    if top <= 1:
        return "2"
    for level in (1, 2, 3):
        if grade <= (level if top <= 3 else level * top / 3) + 1e-9:
            return str(level)
    raise AssertionError


@given(LISTS, st.integers(1, 12))
def test_against_a_slow_twin(lists: list[list[float | None]], k: int) -> None:
    r = Rankings.from_relevance(lists)
    found = strips(r, k)
    top = max([grade for row in lists for grade in row if grade is not None] + [0.0])
    top = top if top > 0 else 1.0
    ranks = range(1, k + 1)
    assert found.codes() == ["".join(slow_code(row, rank, top) for rank in ranks) for row in lists]
    for at, row in enumerate(lists):
        cells = found.cells(at)
        assert [cell.kind for cell in cells] == [slow_kind(row, rank) for rank in ranks]
        for cell, grade in zip(cells, row, strict=False):
            judged = grade is not None and grade >= 0
            assert cell.grade == (grade if judged else None)
            assert cell.top == top
            assert cell.share == (grade / top if judged and grade > 0 else 0)  # type: ignore[operator]
    shares = mean_strip(r, k)
    for rank, share in zip(ranks, shares, strict=True):
        assert math.isclose(sum(share), 1)
        for kind, part in zip(KINDS, share, strict=True):
            assert part == sum(slow_kind(row, rank) == kind for row in lists) / len(lists)


@pytest.mark.parametrize(
    ("top", "grades", "levels"),
    [
        (1, [1, 0.5], [2, 2]),
        (2, [1, 2], [1, 2]),
        (3, [1, 2, 3, 0.5, 1.5], [1, 2, 3, 1, 2]),
        (4, [1, 2, 3, 4], [1, 2, 3, 3]),
        (6, [1, 2, 3, 4, 5, 6], [1, 1, 2, 2, 3, 3]),
        (3.3, [1.1, 2.2, 3.3], [1, 2, 3]),
    ],
)
def test_levels_by_hand(top: float, grades: list[float], levels: list[int]) -> None:
    assert [Cell("relevant", grade, top).level for grade in grades] == levels


@pytest.mark.parametrize("k", [0, -1, 1.5, "ten"])
def test_how_many_ranks_must_be_a_count(k: object) -> None:
    assert (
        error_of(strips, Rankings.from_relevance([[1]]), k)
        == f"k must be a whole number from 1; got {k!r}."
    )
