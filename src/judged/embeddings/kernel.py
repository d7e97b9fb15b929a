"""The inner loops on rows of scores and vectors: counting, first places, equal vectors.

`count_rows` counts the scores above and near limits without sorting a row. `keys_of` and
`first_equal` find equal vectors by a hash. Both kernels have plain twins in the tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints, borders
from judged.embeddings.exact import Precision
from judged.inputs.vectors.vectors import Matrix, Vectors

Flags = NDArray[np.bool_]
Keys = NDArray[np.uint64]

_SORT_SHARE = 64
"""Sorting this many scores takes as long as comparing a row of them with one pair of limits."""
_TABLE_STEPS = 1 << 12
_COMPARED_WINDOWS = 8
"""With more windows in a row, one look-up in a table takes less time than a search for each."""
NEIGHBOURS_PER_BATCH = 1 << 17

# -- counting


class LimitCounts(NamedTuple):
    """The scores of some rows above, level with and near the limits of their relevant items."""

    limits: slice
    """The limits of these rows."""
    above: Ints
    """For each limit, the number of scores above the high one."""
    level: Ints
    """For each limit, the number of scores that reach the low one."""
    limit: Ints
    """For each score within limits, the last of these limits."""
    column: Ints


def count_rows(
    scores: Matrix, lengths: Ints, limits: tuple[Matrix, Matrix]
) -> Iterator[LimitCounts]:
    """Count, for each relevant item, the scores of its row above the high limit and from the low.

    Limits ascend in each row, and `lengths` has the number of each row's limits. Yields some rows
    at a time, with all scores that lie within limits, by rows and columns.
    """
    ends = np.cumsum(lengths)
    rows = np.flatnonzero(lengths).tolist()
    batch: list[tuple[Ints, ...]] = []
    begin = near = 0
    for number in rows:
        end = int(ends[number])
        at = slice(end - int(lengths[number]), end)
        above, level, limit, column = _count_row(scores[number], limits[0][at], limits[1][at])
        batch.append((above, level, limit + (at.start - begin), column))
        near += len(column)
        if near > NEIGHBOURS_PER_BATCH or number == rows[-1]:
            yield LimitCounts(slice(begin, end), *map(np.concatenate, zip(*batch, strict=True)))
            batch, begin, near = [], end, 0


def _count_row(row: Matrix, low: Matrix, high: Matrix) -> tuple[Ints, Ints, Ints, Ints]:
    """Count in one row, and find the scores within limits.

    The scores that reach the lowest limit are sorted if they are few, or else all are compared with
    each limit. For 100,000 scores and 50 limits, sorting all takes 2.3 ms, comparing 1 ms, and
    sorting the 1,000 scores that reach the lowest limit of good embeddings 0.1 ms.
    """
    inside = row >= low[0]
    count = np.count_nonzero(inside)
    few = count * _SORT_SHARE < len(low) * len(row)
    if not few:
        inside ^= row > high[0]
        level = np.full(len(low), count)
        for number in range(1, len(low)):
            from_low = row >= low[number]
            level[number] = np.count_nonzero(from_low)
            from_low ^= row > high[number]
            inside |= from_low
    columns = np.flatnonzero(inside)
    near = row[columns]
    ordered = np.sort(near)
    begin = ordered.searchsorted(low)
    if few:
        level = count - begin
        if len(low) > _COMPARED_WINDOWS:
            columns = columns[_by_table(near, low, high)]
            near = row[columns]
    above = level - ordered.searchsorted(high, side="right") + begin
    limit = low.searchsorted(near, side="right") - 1
    within = near <= high[limit]
    return above, level, limit[within], columns[within]


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
"""Rows this many times longer than k are searched by groups first."""


def first_places(scores: Matrix, k: int, slack: float = 0.0) -> Ints:
    """Return where all scores are that reach the k-th greatest of a row, but for the slack.

    At least k items reach the k-th greatest of the greatest scores of groups, and few others do:
    0.07 ms for the first 10 of 100,000 scores, which np.partition finds in 0.6 ms. Excluded items
    score minus infinity.
    """
    width, lowest = len(scores), scores.dtype.type(-np.inf)

    def limit_of(numbers: Matrix) -> Any:
        kth = np.partition(numbers, len(numbers) - k)[len(numbers) - k]
        return np.nextafter(scores.dtype.type(float(kth) - slack), lowest) if slack else kth

    limit = lowest
    if width >= _GROUPED_FROM * k:
        groups = isqrt(width * k)
        depth = width // groups
        limit = limit_of(scores[: depth * groups].reshape(depth, groups).max(axis=0))
    places = np.flatnonzero(scores >= limit if limit > lowest else scores > lowest)
    if len(places) <= k:
        return places
    reached = scores[places]
    return places[reached >= limit_of(reached)]


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
