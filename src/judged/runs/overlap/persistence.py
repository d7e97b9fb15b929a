"""Sums of rank-biased overlap: how much each depth weighs, and what expected overlaps add up to.

Depth d weighs (1 − p)·p^(d−1), and the agreement there is the overlap divided by d. An item of a
tie is in the first d results with a chance that grows by the same step from rank to rank, so what
two lists share is a sum of products of straight lines, and its weighed sum is made of three sums
over depths: of weight/d, of weight and of weight·d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Persistence:
    """What is left of three sums behind each depth from 0 on."""

    power: Floats
    """p to the power of each depth: the weight of all depths behind it."""
    over: Floats
    """The sum of (1 − p)·p^(d−1)/d over all depths d behind this one."""
    plain: Floats
    """The sum of (1 − p)·p^(d−1) behind it, down to the deepest."""
    times: Floats
    """The sum of (1 − p)·p^(d−1)·d behind it, down to the deepest."""

    @classmethod
    def of(cls, p: float, deepest: int) -> Persistence:
        """The sums down to a depth."""
        depth = np.arange(deepest + 1, dtype=np.float64)
        power = p**depth
        weight = (1 - p) * power[:-1]
        every = -math.log1p(-p) / p  # the sum of p^(d−1)/d over all depths
        behind = (1 - p) * max(every - math.fsum(power[:-1] / depth[1:]), 0.0)
        over = _left(weight / depth[1:]) + behind
        return cls(power, over, _left(weight), _left(weight * depth[1:]))

    def first(self, depth: int) -> float:
        """How much of the weight the first ranks carry, whatever the depth that it is given at
        (Webber, Moffat and Zobel 2010, equation 21).

        >>> round(Persistence.of(0.9, 10).first(10), 4)
        0.8556
        """
        return float(1 - self.power[depth - 1] + depth * self.over[depth - 1])

    def shared(self, ours: Span, theirs: Span, deepest: Ints) -> Floats:
        """What each shared item adds to the weighed sum of overlap/d down to a depth."""
        start = np.maximum(ours.above, theirs.above)  # the last depth at which it is not yet shared
        found = self._between(self.over, start, deepest)
        tied = np.flatnonzero((ours.size > 1) | (theirs.size > 1))
        if len(tied):
            found[tied] = self._tied(ours.at(tied), theirs.at(tied), deepest[tied])
        return found

    def _tied(self, ours: Span, theirs: Span, deepest: Ints) -> Floats:
        """The same of items that are tied: the mean over all orders of both lists."""
        start = np.maximum(ours.above, theirs.above)
        here, there = ours.end <= theirs.end, theirs.end < ours.end
        inner, outer = np.minimum(ours.end, theirs.end), np.maximum(ours.end, theirs.end)
        inner = np.maximum(inner, start)
        both = (
            self._between(self.times, start, inner)
            - (ours.above + theirs.above) * self._between(self.plain, start, inner)
            + ours.above * theirs.above * self._between(self.over, start, inner)
        ) / (ours.size * theirs.size)
        above = np.where(here, theirs.above, ours.above)
        size = np.where(here, theirs.size, ours.size)
        whole = np.where(there, theirs.chance, ours.chance)
        one = (
            whole
            / size
            * (
                self._between(self.plain, inner, outer)
                - above * self._between(self.over, inner, outer)
            )
        )
        rest = ours.chance * theirs.chance * self._between(self.over, outer, deepest)
        found: Floats = both + one + rest
        return found

    def _between(self, sums: Floats, above: Ints, deepest: Ints) -> Floats:
        """A sum over the depths behind one, down to another."""
        return sums[above] - sums[deepest]


def _left(terms: Floats) -> Floats:
    """What is left of a sum behind each term. Summed up from the end, small rests stay exact."""
    return np.append(np.cumsum(terms[::-1])[::-1], 0.0)


@dataclass(frozen=True, eq=False)
class Span:
    """Where results may stand in lists of some length."""

    above: Ints
    """How many results stand above the tie of each."""
    size: Ints
    """How many results the tie has."""
    end: Ints
    """The rank at which its tie ends, or the list is cut."""

    @classmethod
    def of(cls, first: Ints, last: Ints, length: Ints) -> Span:
        """Spans of ties in lists that are cut to a length; what begins behind it is never there."""
        above = np.minimum(first - 1, length)
        return cls(above, last - first + 1, np.minimum(last, length))

    def at(self, which: NDArray[Any]) -> Span:
        """Some of them."""
        return Span(self.above[which], self.size[which], self.end[which])

    @property
    def chance(self) -> Floats:
        """How likely each result is in the list at all."""
        return (self.end - self.above) / self.size

    def within(self, depth: Ints) -> Floats:
        """How likely each is among the first so many."""
        return (np.clip(depth, self.above, self.end) - self.above) / self.size
