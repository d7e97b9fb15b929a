"""Means over all orders of tied results, each equally likely.

Where a measure declares a closed form, after McSherry and Najork (2008), it is made of what stands
first here. In a random order of a tie each of its items is equally likely to be at each of its
ranks. So whatever is a sum over the results, each with a weight that depends on its rank alone,
needs only the mean weight of the ranks that a tie spans. What depends on other relevant items too
needs how many of them the tie holds.

Otherwise orders are drawn. A random order is drawn together with its reverse, in which every tie is
reversed. Each of the two is as likely as any order, and their mean varies less than that of two
orders drawn apart. The seed is fixed: the same rankings always get the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judged.rankings.rankings import Rankings
from judged.segments import (
    Floats,
    Ints,
    borders,
    ordinals,
    positions,
    products_before,
    starts_of,
)

if TYPE_CHECKING:
    from judged.measures.measure import Measure


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


def is_cut(r: Rankings, end: Floats) -> bool:
    """Whether some tie of a judged item reaches from above a rank of its query, or the end of its
    list, to below it."""
    first, last = r.spans
    stop = np.minimum(end, r.retrieved)[r.hit_query]
    return bool(((first <= stop) & (last > stop)).any())


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


# -- drawn orders

PAIRS = 250
"""How many random orders are drawn, each with its reverse."""
DRAWS = 2 * PAIRS
SEED = 2008


@dataclass(frozen=True, eq=False)
class Expected:
    """One expected value per query."""

    values: Floats
    errors: Floats | None = None
    """Their standard errors where orders were drawn (0 for a query without ties); None where the
    values are exact."""


def expectations(measures: Iterable[Measure], r: Rankings) -> dict[Measure, Expected]:
    """The mean of each measure over all orders of the tied results, each equally likely."""
    first, last = r.spans
    tied = np.zeros(len(r), bool)
    tied[r.hit_query[last > first]] = True
    if not tied.any():
        return {measure: Expected(measure.compute_as_ranked(r)) for measure in measures}
    loose = r.take(np.flatnonzero(tied))
    others = r.take(np.flatnonzero(~tied))
    plain = {} if tied.all() else {each: each.compute_as_ranked(others) for each in measures}
    exact = {measure: measure.closed(loose) for measure in measures}
    drawn = _drawn([measure for measure, values in exact.items() if values is None], loose)
    result = {}
    for measure, values in exact.items():
        every = np.empty(len(r))
        if measure in plain:
            every[~tied] = plain[measure]
        if values is not None:
            every[tied] = values
            result[measure] = Expected(every)
        else:
            errors = np.zeros(len(r))
            every[tied], errors[tied] = drawn[measure]
            result[measure] = Expected(every, errors)
    return result


def _drawn(measures: list[Measure], r: Rankings) -> dict[Measure, tuple[Floats, Floats]]:
    """Means over random orders, and their standard errors; all measures see the same orders."""
    if not measures:
        return {}
    tally = {measure: _Tally(len(r)) for measure in measures}
    for order, reverse in _orders(r):
        for measure in measures:
            one, other = measure.compute_as_ranked(order), measure.compute_as_ranked(reverse)
            tally[measure].add((one + other) / 2)
    return {measure: each.result() for measure, each in tally.items()}


class _Tally:
    """Sums of values and of their squares, both counted from the first value: where all are the
    same, the error is 0."""

    def __init__(self, queries: int) -> None:
        self.base: Floats | None = None
        self.total, self.squares = np.zeros(queries), np.zeros(queries)

    def add(self, values: Floats) -> None:
        if self.base is None:
            self.base = np.where(np.isfinite(values), values, 0.0)
        self.total += values - self.base
        self.squares += (values - self.base) ** 2

    def result(self) -> tuple[Floats, Floats]:
        """The means and their standard errors; an infinite mean is known for sure, and so is that
        there is none."""
        assert self.base is not None
        finite = np.isfinite(self.total)
        total = np.where(finite, self.total, 0.0)
        spread = np.where(finite, self.squares, 0.0) - total**2 / PAIRS
        return self.base + self.total / PAIRS, np.sqrt(
            np.maximum(spread, 0.0) / (PAIRS - 1) / PAIRS
        )


def _orders(r: Rankings) -> Iterator[tuple[Rankings, Rankings]]:
    """Random orders, each with its reverse."""
    draw = np.random.default_rng(SEED)
    first, last = r.spans
    tied = np.flatnonzero(last > first)
    query = r.hit_query[tied]
    new = borders(query, first[tied])
    tie = np.cumsum(new) - 1
    size = (last - first + 1)[tied][new]
    start = starts_of(size)
    # Every place of every tie gets a random number; the hits of a tie hold its first places, and
    # where those come when the numbers are put in order are their ranks.
    home = np.repeat(np.arange(len(size)), size).astype(np.float64)
    place = start[tie] + ordinals(tie, len(size)) - 1
    at = np.empty(len(home), np.int64)
    for _ in range(PAIRS):
        at[np.argsort(home + draw.random(len(home)))] = np.arange(len(home))
        rank = r.hit_rank.copy()
        rank[tied] = first[tied] + at[place] - start[tie]
        yield _in_order(r, rank), _in_order(r, first + last - rank)


def _in_order(r: Rankings, rank: Ints) -> Rankings:
    """The rankings with ties broken so, and without what is then below the end of a list that a
    depth cut."""
    ordered = r.arranged(rank, ties="input", whole=None)
    seen = ordered.hit_rank <= ordered.retrieved[ordered.hit_query]
    return ordered if seen.all() else replace(ordered, **ordered.hits(seen))
