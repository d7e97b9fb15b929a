"""Scores of a row above and below limits, counted without putting the row in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints, count_above
from judged.inputs.vectors.vectors import Matrix

Flags = NDArray[np.bool_]

_AT_A_TIME = 10
"""Limits that a row is compared with in one call."""
_WORDS = 250
_NOT_TRIED = 1
"""Rows that are not looked through for few scores, after one that had many."""
_SORT_FROM = 28
"""From so many relevant items on, sorting a row costs less than comparing it with each of them."""
_BEHIND = 5
"""Relevant items that may stand far behind the others: as many as are compared with a row in one
call."""
_FEW = 4
"""Scores that reach the lowest limit are taken out and sorted where they are fewer than a fourth of
a row."""


_SHORT = 2048
"""Rows of so many scores or fewer are sorted many at a time: calling numpy for each would take
longer."""
_SCORES_AT_A_TIME = 1 << 18


def count_rows(
    scores: Matrix,
    row: Ints,
    lengths: Ints,
    limits: tuple[Matrix, Matrix],
    own: Flags,
    *,
    windows: bool,
) -> tuple[Ints, Ints, dict[int, Ints]]:
    """What `RowCounter.count` finds in all rows of a matrix that have limits, as many as `lengths`
    says; and of some rows where scores lie between limits."""
    above, level = np.empty(len(row), np.int64), np.empty(len(row), np.int64)
    close: dict[int, Ints] = {}
    if scores.shape[1] <= _SHORT:
        _count_short_rows(scores, row, limits, above, level)
        return above, level, close
    counter = RowCounter(scores.shape[1], windows=windows)
    ends = np.cumsum(lengths)
    for each in np.flatnonzero(lengths).tolist():
        at = slice(int(ends[each] - lengths[each]), int(ends[each]))
        some = limits[0][at], limits[1][at]
        found = counter.count(scores[each], *some, own[at], above[at], level[at])
        if found is not None:
            close[each] = found
    return above, level, close


def _count_short_rows(
    scores: Matrix, row: Ints, limits: tuple[Matrix, Matrix], above: Ints, level: Ints
) -> None:
    rows, width = scores.shape
    step = max(1, _SCORES_AT_A_TIME // width)
    for begin in range(0, rows, step):
        some = scores[begin : begin + step]
        ordered: NDArray[Any] = -np.sort(-some, axis=1).ravel()
        starts, lengths = np.arange(0, len(ordered), width), np.full(len(some), width)
        at = slice(*np.searchsorted(row, [begin, begin + step]).tolist())
        of, (low, high) = row[at] - begin, (each[at] for each in limits)
        above[at] = count_above(ordered, starts, lengths, of, high, or_equal=False)
        level[at] = count_above(ordered, starts, lengths, of, low, or_equal=True)


class RowCounter:
    """Counts in rows of one width, by comparing a row with several limits at a time; with `windows`
    low limits lie below high ones, and what lies between is looked for."""

    def __init__(self, width: int, *, windows: bool) -> None:
        self._width, self._windows = width, windows
        self._untried = {0: 0, _BEHIND: 0}
        # Comparisons are counted as bytes of long words: up to 255 words can be added before a byte
        # overflows.
        self._flags = np.zeros((_AT_A_TIME, -(-width // (8 * _WORDS)) * 8 * _WORDS), bool)
        self._words = self._flags.view(np.uint64).reshape(_AT_A_TIME, -1, _WORDS)
        self._within = np.zeros(self._flags.shape[1] // 8, np.uint64)

    def count(
        self, scores: Matrix, low: Matrix, high: Matrix, own: Flags, above: Ints, level: Ints
    ) -> Ints | None:
        """How many scores are above each high and not below each low limit; limits ascend. And
        where scores lie between a low and its high one, if that is to be had for little; `own` says
        between which one score does that nobody looks for."""
        many = len(low) > _SORT_FROM
        # Of many relevant items a few often stand far behind the others: without them only few
        # scores may count.
        for behind in (0, _BEHIND) if many else (0,):
            columns = self._reaching(scores, low[behind], behind)
            if columns is not None:
                few = scores.take(columns)  # several times faster than by flags
                ordered = np.sort(few)
                _count_sorted(ordered, low[behind:], high[behind:], above[behind:], level[behind:])
                if behind:
                    self._compare(
                        scores,
                        low[:behind],
                        high[:behind],
                        own[:behind],
                        above[:behind],
                        level[:behind],
                    )
                if many or not self._windows:
                    return None
                return _between(few, columns, low, high, level - above > own)
        if not many:
            return self._compare(scores, low, high, own, above, level)
        _count_sorted(np.sort(scores), low, high, above, level)
        return None

    def _compare(
        self, scores: Matrix, low: Matrix, high: Matrix, own: Flags, above: Ints, level: Ints
    ) -> Ints | None:
        # Not below a limit is above the number next to it.
        limits = np.concatenate([high, np.nextafter(low, low.dtype.type(-np.inf))])
        counted = []
        self._within[:] = 0
        # Windows that overlap are one. A score is within one if it is above an odd number of ends.
        apart = np.append(high[:-1] < low[1:], True)
        ends = np.concatenate([apart, np.append(True, apart[:-1])])
        for at in range(0, len(limits), _AT_A_TIME):
            some = slice(at, at + _AT_A_TIME)
            counted.append(self._above(scores, limits[some]))
            if self._windows:
                flags = self._flags.view(np.uint64)[: len(limits[some])]
                flags = flags if ends[some].all() else flags[ends[some]]
                self._within ^= np.bitwise_xor.reduce(flags, axis=0)
        above[:], level[:] = np.concatenate(counted).reshape(2, -1)
        if not self._windows or (level - above <= own).all():
            return None
        return np.flatnonzero(self._within.view(bool)[: self._width])

    def _reaching(self, scores: Matrix, lowest: np.float32, behind: int) -> Ints | None:
        """Where scores reach the lowest limit, if they are few, as where relevant items stand high:
        only these count.

        Where many do, the next rows are not even tried.
        """
        if self._untried[behind]:
            self._untried[behind] -= 1
            return None
        reaching = self._flags[0, : self._width]
        np.greater_equal(scores, lowest, reaching)
        if np.count_nonzero(reaching) * _FEW < self._width:
            # Most words of eight flags have none.
            words = self._flags[0].view(np.uint64)
            some = (words != 0).nonzero()[0]
            place = words.take(some).view(bool).nonzero()[0]
            return some.take(place >> 3) * 8 + (place & 7)
        self._untried[behind] = _NOT_TRIED
        return None

    def _above(self, scores: Matrix, limits: Matrix) -> Ints:
        count = len(limits)
        np.greater(scores, limits[:, None], self._flags[:count, : self._width])
        return (
            self._words[:count]
            .sum(axis=2)
            .view(np.uint8)
            .reshape(count, -1)
            .sum(axis=1, dtype=np.int64)
        )


def _between(scores: Matrix, columns: Ints, low: Matrix, high: Matrix, which: Flags) -> Ints | None:
    """The columns of scores that lie within some of the windows."""
    windows = which.nonzero()[0].tolist()
    if not windows:
        return None
    inside = np.zeros(len(scores), bool)
    for at in windows:
        inside |= (scores >= low[at]) & (scores <= high[at])
    return columns[inside]


def _count_sorted(ordered: Matrix, low: Matrix, high: Matrix, above: Ints, level: Ints) -> None:
    np.subtract(len(ordered), ordered.searchsorted(high, side="right"), out=above)
    np.subtract(len(ordered), ordered.searchsorted(low, side="left"), out=level)
