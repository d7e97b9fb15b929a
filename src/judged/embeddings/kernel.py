"""The inner loops on rows of scores and vectors: counting, windows, first places, equal vectors.

`count_rows` counts the scores above and below limits without sorting a row. `keys_of` and
`first_equal` find equal vectors by a hash. Both kernels have plain twins in the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints, borders, count_above, positions
from judged.embeddings.exact import Precision
from judged.inputs.vectors.vectors import Matrix, Vectors

Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]

SHORT_ROW = 2048
"""Rows of at most so many scores are sorted many at a time. Of 2,000 rows of 1,000 scores that
takes 13 ms, and counting row by row 30 ms."""
_SCORES_PER_BATCH = 1 << 18

# -- counting


_SORT_SHARE = 64
"""Sorting so many scores takes as long as comparing a row of them with one pair of limits."""


def count_rows(
    scores: Matrix, row: Ints, lengths: Ints, limits: tuple[Matrix, Matrix]
) -> tuple[Ints, Ints]:
    """Count, for each relevant item, the scores of its row above the high limit and from the low.

    Limits ascend in each row, and `lengths` says how many each row has.
    """
    above, level = np.empty(len(row), np.int64), np.empty(len(row), np.int64)
    if scores.shape[1] <= SHORT_ROW:
        _count_short_rows(scores, row, limits, above, level)
        return above, level
    ends = np.cumsum(lengths)
    for number in np.flatnonzero(lengths).tolist():
        at = slice(int(ends[number] - lengths[number]), int(ends[number]))
        _count_row(scores[number], limits[0][at], limits[1][at], above[at], level[at])
    return above, level


def _count_row(scores: Matrix, low: Matrix, high: Matrix, above: Ints, level: Ints) -> None:
    """Sort the scores that reach the lowest limit if they are few, or compare all with each limit.

    For 100,000 scores and 50 limits, sorting all takes 2.3 ms, comparing 1 ms, and sorting the
    1,000 scores that reach the lowest limit of good embeddings 0.1 ms.
    """
    reaching = scores >= low[0]
    count = np.count_nonzero(reaching)
    if count * _SORT_SHARE < len(low) * len(scores):
        ordered = np.sort(scores[reaching])
        np.subtract(count, ordered.searchsorted(high, side="right"), out=above)
        np.subtract(count, ordered.searchsorted(low, side="left"), out=level)
        return
    for number in range(len(low)):
        above[number] = np.count_nonzero(scores > high[number])
        level[number] = np.count_nonzero(scores >= low[number])


def _count_short_rows(
    scores: Matrix, row: Ints, limits: tuple[Matrix, Matrix], above: Ints, level: Ints
) -> None:
    rows, width = scores.shape
    step = max(1, _SCORES_PER_BATCH // width)
    for begin in range(0, rows, step):
        batch = scores[begin : begin + step]
        ordered: NDArray[Any] = -np.sort(-batch, axis=1).ravel()
        starts, lengths = np.arange(0, len(ordered), width), np.full(len(batch), width)
        at = slice(*np.searchsorted(row, [begin, begin + step]).tolist())
        of, (low, high) = row[at] - begin, (limit[at] for limit in limits)
        above[at] = count_above(ordered, starts, lengths, of, high, or_equal=False)
        level[at] = count_above(ordered, starts, lengths, of, low, or_equal=True)


# -- windows of scores that are too close to tell apart


_TABLE_STEPS = 1 << 12
_COMPARED_WINDOWS = 8
"""With more windows in a row, one look-up in a table takes less time than comparing with each."""
NEIGHBOURS_PER_BATCH = 1 << 17


class Windows(NamedTuple):
    """Ranges of scores around relevant items, ascending in each row, none of which overlap."""

    row: Ints
    low: Matrix
    high: Matrix
    last: Ints
    """The relevant item with the highest score in each."""

    @classmethod
    def around(cls, row: Ints, low: Matrix, high: Matrix) -> tuple[Windows, Ints]:
        """Return the windows around relevant items, and the number of each item's window."""
        new = borders(row)
        new[1:] |= low[1:] > high[:-1]
        last = np.flatnonzero(np.append(new[1:], True))
        return cls(row[last], low[new], high[last], last), np.cumsum(new) - 1


def within(scores: Matrix, windows: Windows) -> Iterator[tuple[slice, Ints, Ints]]:
    """Find the scores within windows, limits included, a batch of windows at a time.

    Yields which windows, and the window and the column of each score, in the order of rows and
    columns.
    """
    rows, begins, counts = np.unique(windows.row, return_index=True, return_counts=True)
    width = scores.shape[1]
    step = max(1, _SCORES_PER_BATCH // width) if width <= SHORT_ROW else 1
    batch: list[tuple[Ints, Ints]] = []
    size = done = 0
    for at in range(0, len(rows), step):
        some, begin, count = rows[at : at + step], int(begins[at]), counts[at : at + step]
        end = begin + int(count.sum())
        low, high = windows.low[begin:end], windows.high[begin:end]
        if width <= SHORT_ROW:
            window, column = _in_short_rows(scores[some], count, low, high)
        else:
            window, column = _in_long_row(scores[some[0]], low, high)
        batch.append((begin + window, column))
        size += len(window)
        if size > NEIGHBOURS_PER_BATCH or end == len(windows.row):
            window, column = (np.concatenate(part) for part in zip(*batch, strict=True))
            yield slice(done, end), window, column
            batch, size, done = [], 0, end


def _in_short_rows(scores: Matrix, count: Ints, low: Matrix, high: Matrix) -> tuple[Ints, Ints]:
    """Return window and column of the scores of several rows that lie within their windows."""
    order = np.argsort(-scores, axis=1)
    ordered: NDArray[Any] = np.take_along_axis(scores, order, axis=1).ravel()
    width = scores.shape[1]
    starts, lengths = np.arange(0, len(ordered), width), np.full(len(scores), width)
    row = np.repeat(np.arange(len(scores)), count)
    first = count_above(ordered, starts, lengths, row, high, or_equal=False)
    sizes = count_above(ordered, starts, lengths, row, low, or_equal=True) - first
    window = np.repeat(np.arange(len(row)), sizes)
    column = order.ravel()[positions(starts[row] + first, sizes)]
    by_column = np.argsort(row[window] * width + column)
    return window[by_column], column[by_column]


def _in_long_row(scores: Matrix, low: Matrix, high: Matrix) -> tuple[Ints, Ints]:
    if len(low) <= _COMPARED_WINDOWS:
        inside = np.zeros(len(scores), bool)
        for least, most in zip(low, high, strict=True):
            inside |= (scores >= least) & (scores <= most)
        columns = np.flatnonzero(inside)
    else:
        columns = _by_table(scores, low, high)
    part = scores[columns]
    window = low.searchsorted(part, side="right") - 1
    found = (window >= 0) & (part <= high[window])
    return window[found], columns[found]


def _by_table(scores: Matrix, low: Matrix, high: Matrix) -> Ints:
    """Return where scores may lie within windows, by a table of steps that windows touch.

    For 100,000 scores and 100 windows this takes 0.4 ms, a binary search for each score 4 ms.
    """
    least, most = low.min(), high.max()
    with np.errstate(over="ignore", divide="ignore"):
        scale = scores.dtype.type(_TABLE_STEPS) / (most - least)
    if not 0 < scale < np.inf:
        return np.flatnonzero((scores >= least) & (scores <= most))

    def step(numbers: Matrix) -> NDArray[np.intp]:
        # The same operations for limits and scores: none of them changes an order. What overflows
        # lies above the table, and excluded items below it.
        with np.errstate(over="ignore", invalid="ignore"):
            steps = numbers - least
            steps *= scale
            steps += steps.dtype.type(1)
            return steps.astype(np.intp)

    touched = np.zeros(_TABLE_STEPS + 4, np.int64)
    np.add.at(touched, step(low), 1)
    np.subtract.at(touched, step(high) + 1, 1)
    inside = np.cumsum(touched, dtype=np.int64) > 0
    inside[[0, -1]] = False
    return np.flatnonzero(inside.take(step(scores), mode="clip"))


# -- first places


_GROUPED_FROM = 16
"""Rows so many times longer than k are looked through by groups; shorter ones are partitioned."""


def first_places(scores: Matrix, k: int) -> Ints:
    """Return where all scores are that reach the k-th greatest of a row, ties included.

    The row is seen as a table of groups, whose greatest scores come from one pass. At least k items
    reach the k-th greatest of these, so only groups that reach it are looked into: 0.04 ms for the
    first 10 of 100,000 scores, which np.partition finds in 0.6 ms. Excluded items score minus
    infinity.
    """
    width = len(scores)
    if k >= width:
        return np.flatnonzero(scores > -np.inf)
    if width < _GROUPED_FROM * k:
        return _from(scores, np.partition(scores, width - k)[width - k])
    # With as many groups as members of the best k groups, both steps cost the same.
    groups = isqrt(width * k)
    deep, rest = divmod(width, groups)
    greatest = scores[: deep * groups].reshape(deep, groups).max(axis=0)
    if rest:
        np.maximum(greatest[:rest], scores[deep * groups :], out=greatest[:rest])
    limit = np.partition(greatest, groups - k)[groups - k]
    chosen = np.flatnonzero(greatest >= limit)
    if len(chosen) * 4 > groups or limit == -np.inf:
        places = _from(scores, limit)
    else:
        members = (np.arange(0, width, groups)[:, None] + chosen).ravel()
        members = members[members < width]
        places = members[_from(scores[members], limit)]
    if len(places) <= k:
        return places
    reached = scores[places]
    return places[_from(reached, np.partition(reached, len(places) - k)[len(places) - k])]


def _from(scores: Matrix, limit: np.float32) -> Ints:
    return np.flatnonzero(scores >= limit if limit > -np.inf else scores > limit)


# -- equal vectors


_NUMBERS_PER_BATCH = 1 << 22


def keys_of(block: Matrix) -> Keys:
    """Return a hash of each vector: the same for equal vectors, and almost never for others.

    Finding equal vectors by it takes 32 ms for 100,000 of 128 dimensions, np.unique 250 ms.
    """
    odd = block.shape[1] % 2 if block.dtype == np.float32 else 0
    numbers = np.zeros((len(block), block.shape[1] + odd), block.dtype)
    # Adding 0 makes -0 a 0, an equal number of different bits.
    np.add(block, block.dtype.type(0), out=numbers[:, : block.shape[1]])
    pairs = numbers.view(np.uint64)
    # A product depends only on the bits from a number's lowest one on, but signs and small whole
    # numbers differ in their highest bits alone.
    pairs ^= pairs >> np.uint64(31)
    factors = np.random.default_rng(1).integers(0, 1 << 63, pairs.shape[1], dtype=np.uint64)
    return np.einsum("ij,j->i", pairs, factors * np.uint64(2) + np.uint64(1))


def first_equal(vectors: Vectors, keys: Keys, precision: Precision = np.float32) -> Ints:
    """Return, for each vector, the first that is equal to it, which may be itself.

    Keys are a hint: the numbers decide.
    """
    order = np.argsort(keys, kind="stable")
    run = np.cumsum(borders(keys[order]))
    first = np.arange(len(keys))
    step = max(1, _NUMBERS_PER_BATCH // vectors.dims)
    # Vectors of one key are compared with the first of them, and those that differ once more.
    left = np.flatnonzero(np.bincount(run)[run] > 1)
    while len(left):
        start = borders(run[left])
        leader = order[left[start]][np.cumsum(start) - 1][~start]
        left = left[~start]
        other, same = order[left], np.zeros(len(left), bool)
        for begin in range(0, len(left), step):
            at = slice(begin, begin + step)
            here, there = (vectors.rows(rows[at], precision) for rows in (other, leader))
            same[at] = (here == there).all(axis=1)
        first[other[same]] = leader[same]
        left = left[~same]
    return first


class EqualScores:
    """Gives equal items equal scores, which a matrix product may round differently.

    Tiles of a block of queries must come from left to right: scores that later tiles need are kept.
    `begins` are all columns at which a tile may begin, in ascending order.
    """

    def __init__(
        self, first: Ints, begins: Ints, height: int, precision: Precision = np.float32
    ) -> None:
        self._first = first
        self._again = np.flatnonzero(first != np.arange(len(first)))
        source = first[self._again]
        apart = np.searchsorted(begins, source, side="right") != np.searchsorted(
            begins, self._again, side="right"
        )
        self._far = np.unique(source[apart])
        self._kept = np.empty((height, len(self._far)), precision)

    def level(self, scores: Matrix, column: int) -> None:
        """Copy the scores of first items to those of equal ones, in place."""
        rows, end = len(scores), column + scores.shape[1]
        begin, stop = np.searchsorted(self._far, [column, end])
        self._kept[:rows, begin:stop] = scores[:, self._far[begin:stop] - column]
        begin, stop = np.searchsorted(self._again, [column, end])
        again = self._again[begin:stop]
        source = self._first[again]
        here = source >= column
        scores[:, again[here] - column] = scores[:, source[here] - column]
        kept = self._kept[:rows, np.searchsorted(self._far, source[~here])]
        scores[:, again[~here] - column] = kept
