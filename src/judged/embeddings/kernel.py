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
"""Rows of at most so many scores are sorted many at a time: one numpy call per row takes longer."""
_SCORES_PER_BATCH = 1 << 18

# -- counting


_LIMITS_PER_CALL = 10
_WORDS_PER_SUM = 250
_SORT_FROM = 28
"""With more relevant items than this, sorting a row costs less than comparing it with each."""
_STRAGGLERS = 5
"""Relevant items that may rank far behind the others of a row."""
_FEW = 4
"""Scores that reach the lowest limit are sorted if they are fewer than a fourth of the row."""


def count_rows(
    scores: Matrix,
    row: Ints,
    lengths: Ints,
    limits: tuple[Matrix, Matrix],
    holds_own: Flags,
    *,
    windows: bool,
) -> tuple[Ints, Ints, dict[int, Ints]]:
    """Count, for each relevant item, the scores of its row above the high limit and from the low.

    Limits ascend in each row, and `lengths` says how many each row has. With `windows` they are
    apart, and the columns of all scores between limits are returned for rows where they are cheap
    to find. `holds_own` says which pairs of limits have the relevant item itself between them.
    """
    above, level = np.empty(len(row), np.int64), np.empty(len(row), np.int64)
    close: dict[int, Ints] = {}
    if scores.shape[1] <= SHORT_ROW:
        _count_short_rows(scores, row, limits, above, level)
        return above, level, close
    counter = _RowCounter(scores.shape[1], windows=windows)
    ends = np.cumsum(lengths)
    for number in np.flatnonzero(lengths).tolist():
        at = slice(int(ends[number] - lengths[number]), int(ends[number]))
        low, high = limits[0][at], limits[1][at]
        columns = counter.count(scores[number], low, high, holds_own[at], above[at], level[at])
        if columns is not None:
            close[number] = columns
    return above, level, close


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


class _RowCounter:
    """Counts in rows of one width, by comparing a row with several limits at a time."""

    def __init__(self, width: int, *, windows: bool) -> None:
        self._width, self._windows = width, windows
        self._skipped = {0: False, _STRAGGLERS: False}
        # Comparisons give bytes of 0 and 1, which are added as words of eight bytes. Up to 255
        # words can be added before a byte overflows.
        size = 8 * _WORDS_PER_SUM
        self._flags = np.zeros((_LIMITS_PER_CALL, -(-width // size) * size), bool)
        self._words = self._flags.view(np.uint64).reshape(_LIMITS_PER_CALL, -1, _WORDS_PER_SUM)
        self._within = np.zeros(self._flags.shape[1] // 8, np.uint64)

    def count(
        self, scores: Matrix, low: Matrix, high: Matrix, holds_own: Flags, above: Ints, level: Ints
    ) -> Ints | None:
        many = len(low) > _SORT_FROM
        # Without the few relevant items that rank far behind, few scores may be left to count.
        for behind in (0, _STRAGGLERS) if many else (0,):
            columns = self._reaching(scores, low[behind], behind)
            if columns is None:
                continue
            few = scores.take(columns)  # several times faster than by flags
            _count_sorted(np.sort(few), low[behind:], high[behind:], above[behind:], level[behind:])
            if behind:
                at = slice(behind)
                self._compare(scores, low[at], high[at], holds_own[at], above[at], level[at])
            if many or not self._windows:
                return None
            return _between(few, columns, low, high, level - above > holds_own)
        if not many:
            return self._compare(scores, low, high, holds_own, above, level)
        _count_sorted(np.sort(scores), low, high, above, level)
        return None

    def _compare(
        self, scores: Matrix, low: Matrix, high: Matrix, holds_own: Flags, above: Ints, level: Ints
    ) -> Ints | None:
        # A score is not below a limit if it is above the next lower number.
        limits = np.concatenate([high, np.nextafter(low, low.dtype.type(-np.inf))])
        counts = []
        self._within[:] = 0
        # Windows that overlap are one. A score is within one if it is above an odd number of ends.
        apart = np.append(high[:-1] < low[1:], True)
        ends = np.concatenate([apart, np.append(True, apart[:-1])])
        for begin in range(0, len(limits), _LIMITS_PER_CALL):
            at = slice(begin, begin + _LIMITS_PER_CALL)
            counts.append(self._above(scores, limits[at]))
            if self._windows:
                flags = self._flags.view(np.uint64)[: len(limits[at])]
                flags = flags if ends[at].all() else flags[ends[at]]
                self._within ^= np.bitwise_xor.reduce(flags, axis=0)
        above[:], level[:] = np.concatenate(counts).reshape(2, -1)
        if not self._windows or (level - above <= holds_own).all():
            return None
        return np.flatnonzero(self._within.view(bool)[: self._width])

    def _reaching(self, scores: Matrix, lowest: np.float32, behind: int) -> Ints | None:
        """Return where scores reach the lowest limit, if these are few: only they can count."""
        if self._skipped[behind]:  # after a row with many, the next one is not tried
            self._skipped[behind] = False
            return None
        reaching = self._flags[0, : self._width]
        np.greater_equal(scores, lowest, reaching)
        if np.count_nonzero(reaching) * _FEW < self._width:
            # Most words of eight flags have none.
            words = self._flags[0].view(np.uint64)
            some = (words != 0).nonzero()[0]
            place = words.take(some).view(bool).nonzero()[0]
            return some.take(place >> 3) * 8 + (place & 7)
        self._skipped[behind] = True
        return None

    def _above(self, scores: Matrix, limits: Matrix) -> Ints:
        count = len(limits)
        np.greater(scores, limits[:, None], self._flags[:count, : self._width])
        sums = self._words[:count].sum(axis=2).view(np.uint8).reshape(count, -1)
        return sums.sum(axis=1, dtype=np.int64)


def _between(scores: Matrix, columns: Ints, low: Matrix, high: Matrix, which: Flags) -> Ints | None:
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


# -- windows of scores that are too close to tell apart


_TABLE_STEPS = 1 << 12
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


def within(
    scores: Matrix, windows: Windows, known: dict[int, Ints]
) -> Iterator[tuple[slice, Ints, Ints]]:
    """Find the scores within windows, limits included, a batch of windows at a time.

    Yields which windows, and the window and the column of each score, in the order of rows and
    columns. `known` holds columns of some rows that include all of these.
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
            columns = known.get(int(some[0]))
            window, column = _in_long_row(scores[some[0]], low, high, columns)
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


def _in_long_row(
    scores: Matrix, low: Matrix, high: Matrix, columns: Ints | None
) -> tuple[Ints, Ints]:
    if columns is None:
        columns = _by_table(scores, low, high)
    part = scores[columns]
    window = low.searchsorted(part, side="right") - 1
    inside = (window >= 0) & (part <= high[window])
    return window[inside], columns[inside]


def _by_table(scores: Matrix, low: Matrix, high: Matrix) -> Ints:
    """Return where scores may lie within windows, by a table of steps that windows touch.

    For a hundred windows this takes a sixth of the time of a binary search for each score.
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
    reach the k-th greatest of these, so only groups that reach it are looked into. Excluded items
    score minus infinity.
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
    """Return a hash of each vector: the same for equal vectors, and almost never for others."""
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
