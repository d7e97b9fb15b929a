"""Two runs: what their lists share, query by query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.arrays import Floats, Ints
from judged.matching.join import equal_pairs
from judged.runs.overlap.lists import Lists
from judged.runs.overlap.persistence import Persistence, Span
from judged.statistics.concordance import taus


@dataclass(frozen=True, eq=False)
class Numbers:
    """What each query says that both runs have results for."""

    query: Ints
    """The queries, by their numbers."""
    rbo: Floats
    """Rank-biased overlap, extrapolated."""
    least: Floats
    """What it is at least, whatever follows below the lists."""
    residual: Floats
    """By how much it may be more than the least."""
    jaccard: Floats
    """Shared items as a share of all items of both lists."""
    shared: Floats
    """How many items both lists have."""
    tau: Floats
    """tau-b of the items that both lists have; NaN where it is undefined."""
    tied: int
    """In how many queries a shared item is tied."""


def numbers_of(ours: Lists, theirs: Lists, p: float, depth: int | None) -> Numbers:
    """The numbers of two runs, their lists cut at a depth or whole."""
    both = (ours.lengths > 0) & (theirs.lengths > 0)
    queries = np.flatnonzero(both)
    lengths = ours.lengths[queries], theirs.lengths[queries]
    if depth is not None:
        lengths = np.minimum(lengths[0], depth), np.minimum(lengths[1], depth)
    left, right = _shared(ours, theirs)
    query = (np.cumsum(both) - 1)[ours.query[left]]
    one = Span.of(ours.first[left], ours.last[left], lengths[0][query])
    other = Span.of(theirs.first[right], theirs.last[right], lengths[1][query])
    there = (one.end > one.above) & (other.end > other.above)
    if not there.all():
        query, one, other = query[there], one.at(there), other.at(there)
    tied = (one.size > 1) | (other.size > 1)
    return Numbers(
        queries,
        *_overlaps(query, one, other, lengths, p),
        tau=taus(one.above, other.above, query, len(queries)),
        tied=len(np.unique(query[tied])),
    )


def _shared(ours: Lists, theirs: Lists) -> tuple[Ints, Ints]:
    """The rows of both runs that hold the same item for the same query."""
    count = len(ours.key)
    left, right = equal_pairs(ours.key, theirs.key)
    across = (left < count) & (right >= count)
    left, right = left[across], right[across] - count
    # The hashes agree; so must the texts.
    same = ours.query[left] == theirs.query[right]
    same &= (ours.items.gather(left) == theirs.items.gather(right)).to_numpy()
    return left[same], right[same]


def _overlaps(
    query: Ints, one: Span, other: Span, lengths: tuple[Ints, Ints], p: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """RBO, its least value and residual, Jaccard and the number of shared items of each query.

    Overlaps are their means over all orders of ties; RBO and its least value are linear in them
    (Webber, Moffat and Zobel 2010, equation 32 and its bounds, with lists of any lengths).
    """
    short, long = np.minimum(*lengths), np.maximum(*lengths)
    by = Persistence.of(p, 2 * int(long.max(initial=1)))
    over, power = by.over, by.power

    def summed(values: Floats) -> Floats:
        return np.bincount(query, values, len(short)).astype(np.float64)

    base = summed(by.shared(one, other, long[query]))
    at_short = summed(one.within(short[query]) * other.within(short[query]))
    shared = summed(one.chance * other.chance)
    unseen = power[short] - power[long] - short * (over[short] - over[long])
    rbo = base + at_short / short * unseen
    rbo += ((shared - at_short) / long + at_short / short) * power[long]
    least = base + shared * over[long]
    full = np.floor(short + long - shared + 1e-9).astype(np.int64)  # where all may be shared
    residual = unseen + 2 * power[long] - power[full]
    residual -= (short + long) * (over[long] - over[full]) + shared * over[full]
    least, residual = np.clip(least, 0.0, 1.0), np.clip(residual, 0.0, 1.0)
    rbo = np.clip(rbo, least, np.minimum(least + residual, 1.0))
    return rbo, least, residual, shared / (short + long - shared), shared
