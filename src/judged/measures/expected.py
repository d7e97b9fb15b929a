"""Means over all orders of tied results, each equally likely.

Where a measure declares a closed form, after McSherry and Najork (2008), it is made of what stands
first here. In a random order of a tie each of its items is equally likely to be at each of its
ranks. So whatever is a sum over the results, each with a weight that depends on its rank alone,
needs only the mean weight of the ranks that a tie spans. What depends on other relevant items too
needs how many of them the tie holds.

Otherwise the orders themselves are seen: all of them, or some (`orders`). The least and the
greatest value are those of two orders where a measure declares what an item is worth, and otherwise
come from the orders that are seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import (
    Floats,
    Ints,
    borders,
    ordinals,
    positions,
    products_before,
)
from judged.measures.orders import Orders, Sample, in_order, tied_queries
from judged.measures.worth import Closed, Worth, by_grade
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.measures.measure import Measure

Mask = NDArray[np.bool_]


def sums_of(weight: Callable[[Floats], Floats], last: int) -> Floats:
    """The sums of a weight over the ranks 1 to 0, 1, 2, … and so on to the last."""
    return np.append(0.0, np.cumsum(weight(np.arange(1, last + 1, dtype=np.float64))))


def mean_weights(r: Rankings, end: Floats, weight: Callable[[Floats], Floats]) -> Floats:
    """The mean weight of the ranks that each hit's tie spans; ranks below `end` of its query, or
    its list, weigh nothing."""
    first, last = r.spans
    stop = np.minimum(end, r.retrieved)[r.hit_query]
    sums = sums_of(weight, int(np.minimum(last, stop).max(initial=0)))
    above = np.minimum(first - 1, stop).astype(np.int64)
    down = np.minimum(last, stop).astype(np.int64)
    return (sums[down] - sums[above]) / (last - first + 1)


@dataclass(frozen=True, eq=False)
class Ties:
    """The ties that hold a relevant item, in (query, rank) order; a relevant item without equals is
    a tie of one."""

    query: Ints
    first: Floats
    size: Floats
    relevant: Floats
    """How many relevant items the tie holds."""
    before: Floats
    """How many relevant items stand above the tie."""
    shown: Floats
    """How many of its ranks are at or above the end."""


def ties_of(r: Rankings, rel: float, end: Floats) -> Ties:
    """The ties of relevant items, looked at down to `end` of each query."""
    chosen = np.flatnonzero(r.hit_grade >= rel)
    query, (first, last) = r.hit_query[chosen], (each[chosen] for each in r.spans)
    new = np.flatnonzero(borders(query, first))
    relevant = np.diff(np.append(new, len(query)))
    before = ordinals(query, len(r))[new] - 1
    query, first, last = query[new], first[new], last[new]
    stop = np.minimum(end, r.retrieved)[query]
    shown = np.clip(np.minimum(last, stop) - first + 1, 0, None)
    return Ties(
        query,
        *(each.astype(np.float64) for each in (first, last - first + 1, relevant, before, shown)),
    )


def first_chances(r: Rankings, rel: float, end: Floats) -> tuple[Ints, Floats, Floats]:
    """Query, rank and chance of each place where a query's first relevant item may stand."""
    ties = ties_of(r, rel, end)
    lead = np.flatnonzero((ties.before == 0) & (ties.shown > 0))
    size, relevant = ties.size[lead], ties.relevant[lead]
    places = np.minimum(ties.shown[lead], size - relevant + 1).astype(np.int64)
    above = positions(np.zeros(len(lead), np.int64), places).astype(np.float64)
    tie = np.repeat(np.arange(len(lead)), places)
    left = size[tie] - above
    none_yet = products_before(1 - relevant[tie] / left, places)
    return ties.query[lead][tie], ties.first[lead][tie] + above, none_yet * relevant[tie] / left


def all_chances(r: Rankings, rel: float, end: Floats) -> Floats:
    """For each query the chance that all its relevant items stand at or above the end."""
    ties = ties_of(r, rel, end)
    chance = np.where(r.total(ties.query, ties.relevant) == r.relevant(rel), 1.0, 0.0)
    # Only ties that reach below the end can lose something. The relevant items take places one
    # after the other: the first is shown with the chance s/n, the next with (s - 1)/(n - 1), …
    cut = np.flatnonzero(ties.shown < ties.size)
    places = ties.relevant[cut].astype(np.int64)
    tie = np.repeat(cut, places)
    taken = positions(np.zeros(len(cut), np.int64), places)
    each = np.maximum(ties.shown[tie] - taken, 0) / (ties.size[tie] - taken)
    starts = np.cumsum(places) - places
    kept = np.multiply.reduceat(each, starts) if len(cut) else np.zeros(0)
    np.multiply.at(chance, ties.query[cut], kept)
    return chance


def counts_shown(ties: Ties, which: Ints) -> tuple[Ints, Floats, Floats]:
    """For some ties, how many of their relevant items may stand at or above the end, and how likely
    that is.

    Returns the tie, the number and its chance (of a hypergeometric distribution), tie after tie.
    """
    from scipy.special import gammaln

    def ways(total: Floats, taken: Floats) -> Floats:
        return gammaln(total + 1) - gammaln(taken + 1) - gammaln(total - taken + 1)

    size, relevant, shown = ties.size[which], ties.relevant[which], ties.shown[which]
    least = np.maximum(relevant + shown - size, 0)
    kinds = (np.minimum(relevant, shown) - least + 1).astype(np.int64)
    tie = np.repeat(np.arange(len(which)), kinds)
    number = positions(least.astype(np.int64), kinds).astype(np.float64)
    size, relevant, shown = size[tie], relevant[tie], shown[tie]
    chance = np.exp(
        ways(relevant, number) + ways(size - relevant, shown - number) - ways(size, shown)
    )
    return which[tie], number, chance / np.bincount(tie, chance, minlength=len(which))[tie]


def precisions(
    first: Floats, places: Floats, relevant: Floats, size: Floats, before: Floats, harmonic: Floats
) -> Floats:
    """The expected sum of precision at the relevant items of a tie, over the first places of it.

    At rank j of the tie stands a relevant item with the chance m/n, and of the others (j - a)(m -
    1)/(n - 1) are above it. `harmonic` holds 1 + 1/2 + … + 1/i at i.
    """
    rate = np.divide(relevant - 1, size - 1, out=np.zeros(len(size)), where=size > 1)
    start = (first - 1).astype(np.int64)
    weights = harmonic[start + places.astype(np.int64)] - harmonic[start]
    return relevant / size * ((before + 1 - first * rate) * weights + rate * places)


def precisions_before(
    first: Floats, places: Floats, relevant: Floats, size: Floats, before: Floats, harmonic: Floats
) -> Floats:
    """The same for the precision just above each relevant item, which is 1 above rank 1."""
    rate = np.divide(relevant - 1, size - 1, out=np.zeros(len(size)), where=size > 1)
    start = np.maximum(first - 2, 0).astype(np.int64)
    top = (first == 1) & (places > 0)
    lower = np.where(top, places - 1, places)
    weights = harmonic[start + lower.astype(np.int64)] - harmonic[start]
    return (
        relevant
        / size
        * (top + (before - np.maximum(first - 1, 0) * rate) * weights + rate * lower)
    )


# -- all measures


@dataclass(frozen=True, eq=False)
class Expected:
    """One expected value per query, and how far orders can move it where that was asked for."""

    values: Floats
    errors: Floats | None = None
    """Their standard errors where orders were drawn (0 for a query without ties, or whose orders
    were all seen); None where the values are exact."""
    low: Floats | None = None
    """The least value of any order."""
    high: Floats | None = None
    """The greatest."""
    sure: Mask | None = None
    """For which queries no order goes further; of the others some orders go at least this far."""


def expectations(
    measures: Iterable[Measure], r: Rankings, *, ends: bool = False
) -> dict[Measure, Expected]:
    """The mean of each measure over all orders of the tied results, each equally likely; and, with
    `ends`, the least and the greatest value."""
    measures = tuple(measures)
    tied = tied_queries(r)
    if not tied.any():
        return {measure: _untied(measure.compute_as_ranked(r), ends) for measure in measures}
    loose = r.take(np.flatnonzero(tied))
    others = r.take(np.flatnonzero(~tied))
    exact = {measure: measure.closed(loose) for measure in measures}
    by_worth = ByWorth(loose)
    sorted_ends = {measure: by_worth.ends(measure) for measure in measures} if ends else {}
    seen = [
        measure
        for measure, closed in exact.items()
        if not closed.known.all() or (ends and not sorted_ends[measure][2].all())
    ]
    orders = Orders(loose) if seen else None
    samples = orders.sample(seen) if orders else {}
    found = {
        measure: _over(closed, samples.get(measure), orders, sorted_ends.get(measure))
        for measure, closed in exact.items()
    }
    if tied.all():
        return found
    return {
        measure: _joined(tied, each, _untied(measure.compute_as_ranked(others), ends))
        for measure, each in found.items()
    }


def _untied(values: Floats, ends: bool) -> Expected:
    sure = np.ones(len(values), bool)
    return Expected(values, None, values, values, sure) if ends else Expected(values)


class ByWorth:
    """Rankings in the orders by worth, each made once: most measures share theirs."""

    def __init__(self, r: Rankings) -> None:
        self.rankings = r
        self._made: dict[tuple[int, float], tuple[Floats, list[Rankings]]] = {}

    def ends(self, measure: Measure) -> tuple[Floats, Floats, Mask]:
        """The least and the greatest value, and for which queries no order goes further."""
        r, worth = self.rankings, measure.worth(self.rankings)
        orders = [] if worth is None else self._orders(worth)
        sure = np.zeros(len(r), bool) if worth is None else worth.sure_of(r)
        if not sure.all():
            orders = [*orders, *self._orders(by_grade(r)), in_order(r, r.hit_rank)]
        values = [measure.compute_as_ranked(order) for order in orders]
        return np.minimum.reduce(values), np.maximum.reduce(values), sure

    def _orders(self, worth: Worth) -> list[Rankings]:
        # The array is kept, so that no other can have its place in memory.
        key = id(worth.hits), worth.unjudged
        if key not in self._made:
            r = self.rankings
            both = [in_order(r, worth.ranks(r, best=best)) for best in (True, False)]
            self._made[key] = worth.hits, both
        return self._made[key][1]


def _over(
    closed: Closed,
    sample: Sample | None,
    orders: Orders | None,
    ends: tuple[Floats, Floats, Mask] | None,
) -> Expected:
    """A measure's closed form, what a sample of orders gave and what the orders by worth did, in
    one."""
    values, errors = closed.values, None
    if sample is not None and orders is not None and not closed.known.all():
        values = np.where(closed.known, values, sample.mean)
        if not (closed.known | orders.whole).all():
            errors = np.where(closed.known, 0.0, sample.errors)
    if ends is None:
        return Expected(values, errors)
    low, high, sure = ends
    if sample is not None and orders is not None:
        low, high = np.minimum(low, sample.low), np.maximum(high, sample.high)
        sure = sure | orders.whole
    # A mean is between the ends: what it is beyond ends that are known is rounding, and ends that
    # are not known are at least as far out.
    low, high = (
        np.where(sure, end, further(end, values))
        for end, further in ((low, np.minimum), (high, np.maximum))
    )
    return Expected(np.clip(values, low, high), errors, low, high, sure)


def _joined(tied: Mask, loose: Expected, others: Expected) -> Expected:
    """The values of queries with ties and of those without, in one."""

    def both(one: NDArray[Any] | None, other: NDArray[Any] | None) -> NDArray[Any] | None:
        if one is None:
            return None
        every = np.zeros(len(tied), one.dtype)
        every[tied] = one
        if other is not None:
            every[~tied] = other
        return every

    return Expected(
        *(both(getattr(loose, each.name), getattr(others, each.name)) for each in fields(Expected))  # type: ignore[arg-type]
    )
