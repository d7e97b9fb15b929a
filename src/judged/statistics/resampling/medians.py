"""Medians of many resamples at once."""

from __future__ import annotations

import math

import numpy as np

from judged.arrays import Floats, Ints
from judged.statistics.aggregates import CLOSE, relative
from judged.statistics.samples import Median
from judged.statistics.units import number_of_units

TABLE = 2**19
"""Numbers in the table of units and parts, at most, if that leaves some parts."""
PARTS = 4


def room(sample: Median) -> int:
    """How many numbers a median that is made ready holds, at most."""
    return 3 * len(sample.values) + len(sample) * _parts(len(sample.values), len(sample))


def _parts(values: int, units: int) -> int:
    return max(1, min(math.isqrt(values), max(PARTS, TABLE // max(units, 1))))


class Medians:
    """A median, made ready for resamples of units.

    The values in order are cut into parts. A product of counts and of how much each unit has in
    each part says in which one the middle of a resample lies, so that only there values need to be
    counted one by one.
    """

    def __init__(self, sample: Median, groups: Ints | None) -> None:
        order = np.argsort(sample.values, kind="stable")
        owner = sample.owner[order]
        shares = relative(sample.weights)
        self.values = sample.values[order]
        self.units = owner if groups is None else groups[owner]
        self.weights = None if shares is None else shares[owner]
        size = number_of_units(len(sample), groups)
        parts = _parts(len(order), size)
        self.edges = np.linspace(0, len(order), parts + 1).astype(np.int64)
        part = np.repeat(np.arange(parts), np.diff(self.edges))
        self.table = np.bincount(
            self.units * parts + part, self.weights, minlength=size * parts
        ).reshape(size, parts)

    def of(self, counts: Floats) -> Floats:
        """The median for each row of counts, how often each unit is taken; NaN where that leaves
        no value."""
        upto = np.cumsum(counts @ self.table, axis=1)
        half = upto[:, -1] / 2
        if not len(self.values):
            return np.full(len(counts), np.nan)
        low = self._first(counts, upto, half * (1 - CLOSE))
        high = self._first(counts, upto, np.nextafter(half * (1 + CLOSE), np.inf))
        return np.where(half > 0, (low + high) / 2, np.nan)

    def _first(self, counts: Floats, upto: Floats, bound: Floats) -> Floats:
        """The first value up to which a row has as much as its bound."""
        parts = np.argmax(upto >= bound[:, None], axis=1)
        found = np.empty(len(counts))
        for part in np.unique(parts):
            rows = np.flatnonzero(parts == part)
            inside = slice(self.edges[part], self.edges[part + 1])
            taken = np.take(counts[rows], self.units[inside], axis=1)
            if self.weights is not None:
                taken = taken * self.weights[inside]
            before = upto[rows, part - 1] if part else np.zeros(len(rows))
            reached = before[:, None] + np.cumsum(taken, axis=1) >= bound[rows, None]
            reached[:, -1] = True
            found[rows] = self.values[inside][np.argmax(reached, axis=1)]
        return found
