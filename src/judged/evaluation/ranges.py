"""The same rankings under other assumptions: how far ties and unjudged results could move a number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from judged.judging import judged_alike, rearranged
from judged.rankings.rankings import Rankings

TIE_ORDERS = {
    "worst": "tied results are ordered against the system: better grades last",
    "expected": "the mean over all orders of the tied results, each equally likely",
    "best": "tied results are ordered in the system's favour: better grades first",
}
"""Tie rules whose values make a tie range, from the worst to the best."""

UNJUDGED_ENDS = {
    "unjudged irrelevant": "all unjudged results are taken for judged, of grade 0",
    "unjudged relevant": "all unjudged results are taken for judged, of the top grade in the judgements",
}
"""What unjudged results may turn out to be."""


class TieRange(NamedTuple):
    """A number when ties fall against the system, on average over all orders, and in its favour."""

    worst: float
    expected: float
    best: float


class UnjudgedRange(NamedTuple):
    """A number if all unjudged results had been judged: irrelevant, or relevant at the top grade."""

    irrelevant: float
    relevant: float


Others = dict[str, Callable[[], Rankings]]
"""Other readings of some rankings, each made when it is needed: all of them at once would not fit
where one does."""


def tie_orders(r: Rankings) -> Others:
    """The rankings under each tie rule of a range."""
    return {ties: partial(rearranged, r, ties) for ties in TIE_ORDERS}


def unjudged_ends(r: Rankings) -> Others:
    """The rankings with their unjudged results judged, in the one way or the other."""
    irrelevant, relevant = UNJUDGED_ENDS
    return {
        irrelevant: partial(judged_alike, r, 0.0),
        relevant: partial(judged_alike, r, top_grade(r)),
    }


def top_grade(r: Rankings) -> float:
    """The best grade in the judgements; 1 where none is above 0."""
    best = float(r.pool_grade.max(initial=0))
    return best if best > 0 else 1.0
