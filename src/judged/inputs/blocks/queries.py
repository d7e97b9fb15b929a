"""From pieces of a run to tables of whole queries: the last query of a piece waits for the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from judged.arrays import Ints, borders
from judged.inputs.blocks import UngroupedError
from judged.inputs.blocks.pieces import Piece, places_of
from judged.inputs.readings import run_of
from judged.inputs.tables import Locate, Passed, Places, Run
from judged.text import merged

if TYPE_CHECKING:
    from judged.inputs.blocks.room import Room
    from judged.inputs.layouts import LastTag

_NAMED = 1000
"""So many queries that nobody judged are remembered by name, for messages."""


@dataclass(frozen=True)
class About:
    """What all blocks of a run have in common."""

    name: str
    source: str
    notes: tuple[str, ...] = ()
    tag: LastTag | None = None
    by_line: bool = True
    """Whether places are lines, not rows."""
    places: Places | None = None
    """From the numbers of rows, from 0, to words, where there are several files."""


class Seen:
    """Which queries came already, by hashes of their ids: 8 bytes for each, however many."""

    def __init__(self) -> None:
        self._sorted: list[npt.NDArray[np.uint64]] = []

    def add(self, names: pl.Series) -> npt.NDArray[np.bool_]:
        """Which of some distinct names were here before; now all are."""
        hashes = names.hash(1).to_numpy()
        before = np.zeros(len(hashes), bool)
        for known in self._sorted:
            at = np.searchsorted(known, hashes)
            before |= known[np.minimum(at, len(known) - 1)] == hashes
        self._keep(np.sort(hashes[~before]))
        return before

    def _keep(self, hashes: npt.NDArray[np.uint64]) -> None:
        """Arrays of like length are merged, so that there are few."""
        while self._sorted and len(self._sorted[-1]) <= 2 * len(hashes):
            hashes = np.sort(np.concatenate([self._sorted.pop(), hashes]))
        if len(hashes):
            self._sorted.append(hashes)


class Passing:
    """What is passed over, as nobody judged it: rows, and distinct queries."""

    def __init__(self, judged: frozenset[str] | None) -> None:
        self._known = judged or frozenset()
        self._judged = None if judged is None else pl.Series(list(judged), dtype=pl.String)
        self._seen = Seen()
        self._left = _NAMED

    def judged(self, names: pl.Series) -> npt.NDArray[np.bool_]:
        """Which of some names are those of judged queries."""
        if self._judged is None:
            return np.ones(len(names), bool)
        if len(names) * 50 < len(self._judged):
            return np.fromiter(map(self._known.__contains__, names.to_list()), bool, len(names))
        return names.is_in(self._judged.implode()).to_numpy()

    def over(self, names: pl.Series, rows: int, own: int) -> Passed:
        """What these stretches of unjudged queries, with so many rows, of which some have the id
        of their query, add to what was passed."""
        if not len(names):
            return Passed()
        names = names.unique(maintain_order=True)
        new = names.filter(~pl.Series(self._seen.add(names)))
        told = tuple(new.head(self._left).to_list())
        self._left -= len(told)
        return Passed(len(new), rows, told, own)


def whole_queries(
    pieces: Iterable[Piece], about: About, judged: frozenset[str] | None, room: Room
) -> Iterator[Run]:
    """Tables of whole judged queries. Raises `UngroupedError` where one comes back."""
    passing, seen = Passing(judged), Seen()
    waiting: list[Piece] = []
    name = None  # of the query that waits
    for piece in pieces:
        query = piece.frame["query"]
        if not len(query):  # there are notes in it
            waiting.append(piece)
            continue
        if not passing.judged(query.tail(1)).all():  # its last query need not wait
            yield from _block([*waiting, piece], about, passing, seen)
            waiting, name = [], None
            continue
        at = int(_starts(query)[-1])
        if at or query[0] != name:
            before, piece = piece.cut(at)
            yield from _block([*waiting, before], about, passing, seen)
            waiting, name = [], query[-1]
        waiting.append(piece)
        room.refuse_long(about.source, query[-1], sum(each.frame.height for each in waiting))
    yield from _block(waiting, about, passing, seen)


def _starts(query: pl.Series) -> Ints:
    """The rows where another query begins, as `judging` finds them: by hashes of the ids."""
    return np.flatnonzero(borders(query.hash(1).to_numpy()))


def own_ids(frame: pl.DataFrame) -> int:
    """How many rows have an item with the id of its query."""
    return int((frame["query"] == frame["item"]).sum())


def empty() -> pl.DataFrame:
    """A run's table without rows."""
    return pl.DataFrame(schema={"query": pl.String, "item": pl.String, "score": pl.Float64})


def _block(pieces: Sequence[Piece], about: About, passing: Passing, seen: Seen) -> Iterator[Run]:
    """The rows of pieces as a run, those of judged queries."""
    pieces = [piece for piece in pieces if piece.frame.height or piece.notes]
    if not pieces:
        return
    frame = pl.concat([piece.frame for piece in pieces], rechunk=False)
    starts = _starts(frame["query"])
    names = frame["query"].gather(starts)
    kept = passing.judged(names)
    mine = names.filter(pl.Series(kept))
    if mine.n_unique() < len(mine) or seen.add(mine).any():
        raise UngroupedError
    rows: Ints | None = None
    height, own = frame.height, 0
    if not kept.all():
        own = own_ids(frame)
        rows = np.flatnonzero(np.repeat(kept, np.diff(np.append(starts, height))))
        frame = frame[rows]
        own -= own_ids(frame)
    locate: Locate | None = places_of(pieces)
    if not about.by_line:
        places = np.concatenate([piece.places() for piece in pieces]) - 1
        rows, locate = places if rows is None else places[rows], None
    run = Run(
        frame,
        about.source,
        (*merged(piece.notes for piece in pieces), *about.notes),
        locate,
        rows=rows,
        places=about.places,
        name=about.name,
        part=True,
        passed=passing.over(names.filter(pl.Series(~kept)), height - frame.height, own),
    )
    yield run_of(run) if frame.height else run
