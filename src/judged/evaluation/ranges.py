"""How far ties and unjudged results could move a number: the same rankings, otherwise assumed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from judged.judging.variants import Variants
from judged.rankings.rankings import Rankings

TIE_ORDERS = ("worst", "expected", "best")
"""Tie rules whose values make a tie range, from the worst to the best."""

UNJUDGED_ENDS = {
    "unjudged irrelevant": "all unjudged results are taken for judged, of grade 0",
    "unjudged relevant": (
        "all unjudged results are taken for judged, of the top grade in the judgements"
    ),
}
"""What unjudged results may turn out to be."""


class TieRange(NamedTuple):
    """A number when ties fall against the system, on average over all orders, and in its favour."""

    worst: float
    """Better grades last in every tie."""
    expected: float
    """The mean over all orders of the tied results."""
    best: float
    """Better grades first in every tie."""


class UnjudgedRange(NamedTuple):
    """A number if all unjudged results had been judged: irrelevant, or of the top grade."""

    irrelevant: float
    """All of grade 0."""
    relevant: float
    """All of the top grade in the judgements."""


def other_readings(run: Variants, *, ties: bool, unjudged: bool) -> Iterator[tuple[str, Rankings]]:
    """The rankings under the other assumptions of the ranges that were asked for, by name."""
    for rule in TIE_ORDERS if ties else ():
        yield rule, run.under(rule)
    if unjudged:
        for name, grade in zip(UNJUDGED_ENDS, (0.0, top_grade(run.usual)), strict=True):
            yield name, run.filled(grade)


def top_grade(r: Rankings) -> float:
    """The best grade in the judgements; 1 where none is above 0."""
    best = float(r.pool_grade.max(initial=0))
    return best if best > 0 else 1.0
