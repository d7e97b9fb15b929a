"""Means over all orders of tied results in closed form, after McSherry and Najork (2008): what the
measures share.

In a random order of a tie each of its items is equally likely to be at each of its ranks. So
whatever is a sum over the results, each with a weight that hangs on its rank alone, needs only the
mean weight of the ranks that a tie spans. What hangs on other relevant items too needs how many of
them the tie holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judged.rankings.rankings import Rankings
from judged.segments import Floats, Ints, ordinals, positions, products_before


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
    new = np.flatnonzero(
        np.append(True, (query[1:] != query[:-1]) | (first[1:] != first[:-1]))[: len(query)]
    )
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
