"""Scores that are too close to tell: settled a neighbourhood at a time, by better and better ones.

A tile tells for sure that a score is above a relevant item's, or below, where both lie further
apart than rounding can move them. The others are neighbours. Relevant items whose neighbours may be
the same share a neighbourhood, whose scores are computed once and put in order once, however many
of them are relevant. Scores in double precision cut it into smaller ones; only what these leave is
computed exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, order_in_segments, positions
from judged.inputs.vectors.vectors import Matrix

Flags = NDArray[np.bool_]

_SHORT = 2048
"""Rows of so many scores or fewer are looked through many at a time."""
_SCORES_AT_A_TIME = 1 << 18
_WINDOWS = 4
"""So many windows are compared with a row one by one; more are looked up in a table."""
_STEPS = 1 << 12
"""Of the table, from the lowest limit to the highest."""
_MANY = 64
"""So many windows take longer to be searched for every score than to be found among them all."""
_CANDIDATES = 1 << 17
"""Neighbours that are settled together, or a row's where it has more."""


class Windows(NamedTuple):
    """Where scores may lie that cannot be told from relevant ones: windows of some rows, in
    ascending order, none of which overlap."""

    row: Ints
    low: Matrix
    high: Matrix
    last: Ints
    """The last of the relevant items in each, by score."""

    @classmethod
    def around(cls, row: Ints, low: Matrix, high: Matrix) -> tuple[Windows, Ints]:
        """Those around relevant items, whose limits ascend in each row; and which of them each item
        lies in."""
        new = borders(row)
        new[1:] |= low[1:] > high[:-1]
        last = np.flatnonzero(np.append(new[1:], True))
        window = np.cumsum(new) - 1
        return cls(row[last], low[new], high[last], last), window


def within(
    scores: Matrix, windows: Windows, known: dict[int, Ints]
) -> Iterator[tuple[slice, Ints, Ints]]:
    """The scores that lie within some windows of their row, limits included, many rows at a time:
    which windows were looked at, and of each score the window and the column. Of some rows columns
    are known that hold all of these, and perhaps others."""
    rows, begins, counts = np.unique(windows.row, return_index=True, return_counts=True)
    width = scores.shape[1]
    step = max(1, _SCORES_AT_A_TIME // width) if width <= _SHORT else 1
    held: list[tuple[Ints, Ints]] = []
    size = done = 0
    for at in range(0, len(rows), step):
        some, first, count = (each[at : at + step] for each in (rows, begins, counts))
        if step > 1 and count.max() <= _WINDOWS:
            found = [_of_rows(scores, some, first, count, windows)]
        else:
            found = [
                _of_row(scores[row], begin, length, windows, known.get(row))
                for row, begin, length in np.stack([some, first, count], 1).tolist()
            ]
        held += found
        size += sum(len(window) for window, _ in found)
        end = int(first[-1] + count[-1])
        if size > _CANDIDATES or end == len(windows.row):
            window, column = (np.concatenate(each) for each in zip(*held, strict=True))
            yield slice(done, end), window, column
            held, size, done = [], 0, end


def _of_rows(
    scores: Matrix, rows: Ints, first: Ints, count: Ints, windows: Windows
) -> tuple[Ints, Ints]:
    """Of short rows with few windows each."""
    some, window = scores[rows], np.full((len(rows), scores.shape[1]), -1)
    for turn in range(int(count.max())):
        has = np.flatnonzero(count > turn)
        part, at = some[has], first[has] + turn
        inside = (part >= windows.low[at, None]) & (part <= windows.high[at, None])
        window[has] = np.where(inside, at[:, None], window[has])
    place, column = np.nonzero(window >= 0)
    return window[place, column], column


def _of_row(
    scores: Matrix, first: int, count: int, windows: Windows, known: Ints | None
) -> tuple[Ints, Ints]:
    low, high = (each[first : first + count] for each in (windows.low, windows.high))
    if known is None:
        known = _compared(scores, low, high) if count <= _WINDOWS else _maybe(scores, low, high)
    part = scores[known]
    if count > _MANY:
        return _by_order(part, first, low, high, known)
    place = low.searchsorted(part, side="right") - 1
    inside = (place >= 0) & (part <= high[place])
    return first + place[inside], known[inside]


def _by_order(
    scores: Matrix, first: int, low: Matrix, high: Matrix, columns: Ints
) -> tuple[Ints, Ints]:
    """Of scores at some columns, in which many windows are looked up and not the other way."""
    order = np.argsort(scores)
    ordered = scores[order]
    begin, end = ordered.searchsorted(low), ordered.searchsorted(high, side="right")
    lengths = end - begin
    column = columns[order[positions(begin, lengths)]]
    key = (column << 32) + np.arange(first, first + len(low)).repeat(lengths)
    key.sort()
    return key & 0xFFFFFFFF, key >> 32


def _compared(scores: Matrix, low: Matrix, high: Matrix) -> Ints:
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
    if not 0 < scale < np.inf:
        return np.flatnonzero((scores >= least) & (scores <= most))

    def step(numbers: Matrix) -> NDArray[np.intp]:
        # The same operations for limits and scores: none of them changes an order. What overflows
        # lies above the table, and what is excluded below it.
        with np.errstate(over="ignore", invalid="ignore"):
            found = numbers - least
            found *= scale
            found += found.dtype.type(1)
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


class Told(NamedTuple):
    """Of some relevant items how many scores are above, how many are not below, and how many of
    their ties stand before them."""

    own: Ints
    above: Ints
    level: Ints
    before: Ints


@dataclass
class Neighbours:
    """Items whose scores cannot yet be told from a relevant one's, the relevant ones among them."""

    group: Ints
    """The neighbourhood: what lies in different ones can be told apart."""
    query: Ints
    item: Ints
    counts: Flags
    """Not for relevant items of another tile, which are there to be compared with."""
    own: Ints
    """The number of a relevant item, -1 for others."""
    above: Ints
    """How many scores are above those of the neighbourhood."""

    def __len__(self) -> int:
        return len(self.group)

    def many(self, width: int) -> bool:
        """Whether to multiply whole rows in double precision costs less than to settle each."""
        # To settle a score takes as long as to make some two items ready, or to multiply a hundred.
        rows = 1 + int(np.count_nonzero(np.diff(np.sort(self.query))))
        return int(np.count_nonzero(self.counts)) > width * (0.5 + 0.01 * rows)

    def double(self, product: Doubling, which: Ints) -> tuple[Floats, Floats]:
        """The scores of a product in double precision, of some of these; and how close two may be
        and yet stand in the wrong order."""
        queries, place = np.unique(self.query[which], return_inverse=True)
        items, where = np.unique(self.item[which], return_inverse=True)
        score, slack = np.empty(len(which)), np.zeros(len(queries))
        step = max(1, _SCORES_AT_A_TIME // len(queries))
        for begin in range(0, len(items), step):
            found, close = product.doubled(queries, items[begin : begin + step])
            here = (where >= begin) & (where < begin + step)
            score[here] = found[place[here], where[here] - begin]
            np.maximum(slack, close, out=slack)
        scores, room = np.zeros(len(self)), np.zeros(len(self))
        scores[which], room[which] = score, slack[place]
        return scores, self.widest(room)

    def widest(self, error: Floats) -> Floats:
        """The greatest of some numbers in each neighbourhood."""
        most = np.zeros(int(self.group.max(initial=-1)) + 1)
        np.maximum.at(most, self.group, error)
        return most[self.group]

    def tell(self, score: Floats, room: Floats) -> Told:
        """Cut neighbourhoods by better scores, which stand in the right order where they differ by
        more than some room, the same for all of a neighbourhood. Gives the relevant items that are
        left alone; these go, and so does everything that is near none."""
        score, room = self._order(score, room)
        start = borders(self.group)
        place = np.arange(len(self))
        relevant = self.own >= 0
        before = np.maximum.accumulate(np.where(relevant, place, 0))
        after = np.minimum.accumulate(np.where(relevant, place, len(self) - 1)[::-1])[::-1]
        near = np.zeros(len(self), bool)
        for other in (before, after):
            there = relevant[other] & (self.group[other] == self.group)
            near |= there & (np.abs(score[other] - score) <= room)
        start[1:] |= ~(near[1:] & near[:-1]) | (score[:-1] - score[1:] > room[1:])
        self._cut(start)
        sizes = np.bincount(self.group)[self.group]
        alone = relevant & (sizes == 1)
        told = self._told(alone, self.above + self.counts, np.zeros(len(self), np.int64))
        self._keep(np.flatnonzero(sizes > 1))
        return told

    def settle(self, score: Floats, places: Callable[[Ints, Ints], Ints]) -> Told:
        """Put neighbourhoods in the order of scores that are final, and ties in that of their
        places: tells of all relevant items."""
        (score,) = self._order(score)
        self._cut(borders(self.group, score))
        counted = np.bincount(self.group, self.counts).astype(np.int64)[self.group]
        before = np.zeros(len(self), np.int64)
        tied = np.bincount(self.group, self.own >= 0)[self.group] > 0
        tied &= np.bincount(self.group)[self.group] > 1
        if tied.any():
            some = np.flatnonzero(tied)
            place = places(self.query[some], self.item[some])
            # What does not count stands before its own copy that does.
            key = (self.group[some] << 33) + (place << 1) + self.counts[some]
            some = some[np.argsort(key)]
            running = _before(self.counts[some])
            start = borders(self.group[some])
            before[some] = running - running[start][np.cumsum(start) - 1]
        return self._told(self.own >= 0, self.above + counted, before)

    def _told(self, which: Flags, level: Ints, before: Ints) -> Told:
        return Told(self.own[which], self.above[which], level[which], before[which])

    def _order(self, score: Floats, *others: Floats) -> list[Floats]:
        """Put the best scores of each neighbourhood first."""
        order = order_in_segments(self.group, -score)
        self._keep(order)
        return [each[order] for each in (score, *others)]

    def _cut(self, start: Flags) -> None:
        """Make new neighbourhoods of the old ones; the scores of each are now in order."""
        running, old = _before(self.counts), borders(self.group)
        ahead = running[start][np.cumsum(start) - 1] - running[old][np.cumsum(old) - 1]
        self.above = self.above + ahead
        self.group = np.cumsum(start) - 1

    def _keep(self, places: Ints) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[places])


def _before(counts: Flags) -> Ints:
    """How many count before each."""
    running: Ints = np.cumsum(counts, dtype=np.int64) - counts
    return running
