"""Ranges of a value: over the orders of tied results, and over what unjudged results may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judged.evaluation.scores import graded_for, nothing_relevant, settled
from judged.measures import Measure
from judged.measures.tie_orders import ByWorth, in_order, tied_queries
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.statistics.samples import Sample

if TYPE_CHECKING:
    from judged.arrays import Floats
    from judged.evaluation.settings import Conventional
    from judged.measures.registry import Mask

TIE_SENTENCES = {
    "worst": "the worst value that any order of the tied results gives",
    "expected": "the mean over all orders of the tied results",
    "best": "the best value that any order of the tied results gives",
}
"""A description of these values; the policies `best` and `worst` are one order for all measures."""


class TieRange(NamedTuple):
    """A number in the worst order of tied results, on average over all orders, and in the best."""

    worst: float
    """No order of the tied results gives a worse value, unless a warning says that one may."""
    expected: float
    """The mean over all orders of the tied results."""
    best: float
    """No order of the tied results gives a better value, unless a warning says that one may."""


class UnjudgedRange(NamedTuple):
    """A number if all unjudged results had been judged: irrelevant, or of the top grade.

    For measures to which each result counts for itself, such as P@10, DCG@10 and RR, any other
    judgements give a number between these two. For others, such as AP and nDCG@10, they are two
    scenarios and no bounds; a warning names them.
    """

    irrelevant: float
    """All of grade 0."""
    relevant: float
    """All of the top grade in the judgements."""


def last_rank(measure: Measure) -> int | None:
    """Return the last rank that a measure uses; None if it is not fixed."""
    k = measure.params.get("k") if measure.spec.at == "k" else None
    return k if isinstance(k, int) else None


def difference_is_bounded(measure: Measure, policy: Policy) -> bool:
    """Return whether the two ends bound the difference of two runs for all judgements."""
    adds = measure.spec.adds is not None and measure.spec.adds(measure.params)
    straight = measure.params["aggregate"] in ("mean", "sum")
    ordered = policy.ties in ("id", "input") and policy.unjudged == "nonrelevant"
    return adds and straight and ordered and policy.empty in ("zero", "error")


TieEnds = tuple[Rankings, "Floats", "Floats", "Mask"]
"""Rankings of one measure with unbroken ties, the least and the greatest value of each query (NaN
if it does not count), and the queries in which other orders may go further."""


def by_worth(
    r: Rankings, measure: Measure, policy: Policy, convention: Conventional | None, *, best: bool
) -> tuple[Floats, Sample | None, float] | None:
    """Return what `settled` makes of the best or worst order of ties; None if it is not known."""
    worth = measure.worth(r)
    if worth is None:
        return None
    order = in_order(r, worth.ranks(r, best=best))
    raw = measure.compute_as_ranked(order)
    raw = convention.filled(measure, raw) if convention else raw
    return settled(
        measure, order, policy, raw, nothing_relevant(measure, order), measure.gives(order)
    )


def tie_ends(
    known: Mapping[Measure, Floats],
    unbroken: Rankings,
    measures: tuple[Measure, ...],
    policy: Policy,
    convention: Conventional | None,
) -> dict[Measure, TieEnds]:
    """Return the measures that ties change; `unbroken` has the ties without an order."""
    tied = np.flatnonzero(tied_queries(unbroken))
    found: dict[Measure, TieEnds] = {}
    loose: dict[int, ByWorth] = {}
    if not len(tied):
        return found
    for measure, own in graded_for(unbroken, measures, convention).items():
        if id(own) not in loose:
            loose[id(own)] = ByWorth(own.take(tied))
        low, high, sure = loose[id(own)].ends(measure)
        values = known[measure]
        counts = ~np.isnan(values[tied])
        moves = counts & (low < high)
        if policy.empty == "one" and measure.spec.rates_relevance:
            moves &= ~nothing_relevant(measure, own)[tied]
        if moves.any():
            least, greatest = values.copy(), values.copy()
            least[tied[moves]], greatest[tied[moves]] = low[moves], high[moves]
            beyond = np.zeros(len(values), bool)
            beyond[tied] = ~sure & counts
            found[measure] = own, least, greatest, beyond
    return found
