"""Pairs of queries and items, query after query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Pairs:
    """Items of some queries, query after query, each item once: how many each has, which, and with
    what grade.

    An item of -1 is judged but has no vector: it can only be missed.
    """

    lengths: Ints
    item: Ints
    grade: Floats

    @property
    def row(self) -> Ints:
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def part(self, begin: int, end: int) -> Pairs:
        """Those of some of the queries."""
        start = int(self.lengths[:begin].sum())
        lengths = self.lengths[begin:end]
        at = slice(start, start + int(lengths.sum()))
        return Pairs(lengths, self.item[at], self.grade[at])

    def where(self, keep: NDArray[np.bool_]) -> Pairs:
        return Pairs(
            np.bincount(self.row[keep], minlength=len(self.lengths)),
            self.item[keep],
            self.grade[keep],
        )

    def without(self, others: Pairs) -> Pairs:
        """Those that others of the same queries do not hold; what has no vector stays."""
        beyond = 1 + max(self.item.max(initial=0), others.item.max(initial=0))
        gone = np.isin(self.row * beyond + self.item, others.row * beyond + others.item)
        return self.where(~gone | (self.item < 0))
