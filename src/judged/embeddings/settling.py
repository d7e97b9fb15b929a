"""What scores are too close to tell: settled by their exact values, each of them computed once.

A tile tells for sure that a score is above a relevant item's, or below, where both lie further
apart than rounding can move them. The others are candidates. Where these are few, their exact
scores decide; where they are many, a product in double precision first leaves fewer of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from judged.inputs.vectors.vectors import Matrix
from judged.segments import Floats, Ints, count_above, starts_of

_SHORT = 2048
"""Rows of so many scores or fewer are looked through many at a time."""
_SCORES_AT_A_TIME = 1 << 18
_WINDOWS = 4
"""So many windows are compared with a row one by one; more are looked up in a table."""
_STEPS = 1 << 12
"""Of the table, from the lowest limit to the highest."""
_CANDIDATES = 1 << 17
"""Candidates that are settled together, or a row's where it has more."""


def within(
    scores: Matrix, row: Ints, low: Matrix, high: Matrix, known: dict[int, Ints]
) -> Iterator[tuple[Ints, Ints]]:
    """The scores that lie within some windows of their row, limits included: rows and columns, each
    place once, many rows at a time. Windows are in the order of rows; of some rows the columns are
    known, perhaps with those of other windows."""
    rows, begins, counts = np.unique(row, return_index=True, return_counts=True)
    width = scores.shape[1]
    step = max(1, _SCORES_AT_A_TIME // width) if width <= _SHORT else 1
    held: list[tuple[Ints, Ints]] = []
    size = 0
    for at in range(0, len(rows), step):
        some, first, count = (each[at : at + step] for each in (rows, begins, counts))
        if step == 1:
            windows = slice(int(first[0]), int(first[0] + count[0]))
            close = known.get(int(some[0]))
            if close is None:
                close = _of_row(scores[some[0]], low[windows], high[windows])
            found = np.broadcast_to(some, len(close)), close
        else:
            place, column = np.divmod(
                np.flatnonzero(_of_rows(scores[some], first, count, low, high)), width
            )
            found = some[place], column
        held.append(found)
        size += len(found[0])
        if size > _CANDIDATES:
            yield _joined(held)
            held, size = [], 0
    if held:
        yield _joined(held)


def _joined(held: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    rows, columns = zip(*held, strict=True)
    return np.concatenate(rows), np.concatenate(columns)


def _of_rows(
    scores: Matrix, first: Ints, count: Ints, low: Matrix, high: Matrix
) -> NDArray[np.bool_]:
    close = np.zeros(scores.shape, bool)
    for turn in range(int(count.max())):
        has = np.flatnonzero(count > turn)
        part, at = scores[has], first[has] + turn
        close[has] |= (part >= low[at, None]) & (part <= high[at, None])
    return close


def _of_row(scores: Matrix, low: Matrix, high: Matrix) -> Ints:
    if len(low) > _WINDOWS:
        near = _maybe(scores, low, high)
        part = scores[near]
        place = np.searchsorted(np.sort(low), part, side="right")
        return near[place > np.searchsorted(np.sort(high), part, side="left")]
    close = scores >= low[0]
    close &= scores <= high[0]
    for at in range(1, len(low)):
        close |= (scores >= low[at]) & (scores <= high[at])
    return np.flatnonzero(close)


def _maybe(scores: Matrix, low: Matrix, high: Matrix) -> Ints:
    """Where scores may lie within some windows, by a table of steps that windows touch."""
    least, most = low.min(), high.max()
    with np.errstate(over="ignore", divide="ignore"):
        scale = scores.dtype.type(_STEPS) / (most - least)
    if not np.isfinite(scale):
        return np.flatnonzero((scores >= least) & (scores <= most))

    def step(numbers: Matrix) -> NDArray[np.intp]:
        # The same operations for limits and scores: none of them changes an order.
        found = numbers - least
        found *= scale
        found += found.dtype.type(1)
        with np.errstate(invalid="ignore"):  # what is excluded lies below the table
            return found.astype(np.intp)

    touched = np.zeros(_STEPS + 4, np.int64)
    np.add.at(touched, step(low), 1)
    np.subtract.at(touched, step(high) + 1, 1)
    inside = np.cumsum(touched, dtype=np.int64) > 0
    inside[[0, -1]] = False
    return np.flatnonzero(inside.take(step(scores), mode="clip"))


class Doubling(Protocol):
    """What can multiply in double precision, as a product can."""

    def doubled(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]: ...


@dataclass
class Candidates:
    """Scores of some rows that cannot yet be told from a relevant item's, in the order of rows and
    columns."""

    row: Ints
    column: Ints
    score: NDArray[Any]

    def counts(self, of_row: Ints, limit: NDArray[Any], *, or_equal: bool = False) -> Ints:
        """How many scores of its row are above each limit, or equal to it."""
        return _counts(self.row, self.score, of_row, limit, or_equal=or_equal)

    def narrow(self, of_row: Ints, own: Floats, room: Floats) -> Ints:
        """Keep those that lie within some room of one of the scores `own` of their row; and count
        for each of these the others that are above."""
        below = _counts(of_row, own - room, self.row, self.score, or_equal=False)
        left = _counts(of_row, own + room, self.row, self.score, or_equal=True) > below
        above = _counts(self.row[~left], self.score[~left], of_row, own, or_equal=False)
        self.row, self.column, self.score = self.row[left], self.column[left], self.score[left]
        return above

    def find(self, row: Ints, column: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Where some places stand among these, and whether they are there at all."""
        width = 1 + int(max(self.column.max(initial=0), column.max(initial=0)))
        key, wanted = self.row * width + self.column, row * width + column
        at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return at, (key[at] == wanted) & (column >= 0)

    def many(self, width: int) -> bool:
        """Whether to multiply whole rows in double precision costs less than to settle each."""
        # To settle a score takes as long as to make some seven items ready, or to multiply three
        # hundred.
        rows = 1 + int(np.count_nonzero(np.diff(self.row)))
        return len(self.row) > width * (0.15 + 0.003 * rows)

    def double(self, product: Doubling, row: int, column: int, height: int) -> Floats:
        """Take the scores of a product in double precision, for a tile of so many queries whose
        first query and item these are; gives the slack of each query."""
        rows, place = np.unique(self.row, return_inverse=True)
        columns, where = np.unique(self.column, return_inverse=True)
        score, slack = np.empty(len(self.row)), np.zeros(height)
        step = max(1, _SCORES_AT_A_TIME // len(rows))
        for begin in range(0, len(columns), step):
            some = columns[begin : begin + step]
            found, close = product.doubled(row + rows, column + some)
            here = (where >= begin) & (where < begin + step)
            score[here] = found[place[here], where[here] - begin]
            slack[rows] = np.maximum(slack[rows], close)
        self.score = score
        return slack


def _counts(
    row: Ints, score: NDArray[Any], of_row: Ints, limit: NDArray[Any], *, or_equal: bool
) -> Ints:
    """How many scores of its row are above each limit, or equal to it; rows ascend."""
    if not len(row):
        return np.zeros(len(limit), np.int64)
    order = np.lexsort((-score, row))
    lengths = np.bincount(row, minlength=int(of_row.max(initial=-1)) + 1)
    return count_above(score[order], starts_of(lengths), lengths, of_row, limit, or_equal=or_equal)


def counts_before(
    row: Ints, score: Floats, place: Ints, of_row: Ints, of_score: Floats, of_place: Ints
) -> Ints:
    """How many of some scores tie with each of others in its row and have a lower place."""
    rows, scores, places = (
        np.concatenate(each) for each in ((of_row, row), (of_score, score), (of_place, place))
    )
    counted = np.arange(len(rows)) >= len(of_row)
    order = np.lexsort((counted, places, scores, rows))
    before: Ints = np.cumsum(counted[order], dtype=np.int64) - counted[order]
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(rows[order]) != 0) | (np.diff(scores[order]) != 0)
    before = before - np.maximum.accumulate(np.where(new, before, 0))
    result = np.empty(len(order), np.int64)
    result[order] = before
    return result[: len(of_row)]
