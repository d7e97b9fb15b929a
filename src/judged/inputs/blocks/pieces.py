"""Pieces of a run as they are read: rows in the order of the input, and where each row stands."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import get_ident
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from judged.arrays import Ints

if TYPE_CHECKING:
    import polars as pl

Thing = TypeVar("Thing")


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows, one after the other."""

    frame: pl.DataFrame
    """As of a `Reading`."""
    first: int
    """The place of the first row: the number of its line, or of its row from 1."""
    found: Callable[[], Sequence[int]] | None = None
    """The place of each row, where they do not follow each other line by line."""
    notes: tuple[str, ...] = ()
    """What was repaired or assumed here."""

    def places(self) -> Ints:
        """The place of each row."""
        if self.found is not None:
            return np.array(self.found(), np.int64)
        return np.arange(self.first, self.first + self.frame.height, dtype=np.int64)

    def cut(self, at: int) -> tuple[Piece, Piece]:
        """The rows before one, and those from it on."""
        found = self.found
        before = replace(
            self,
            frame=self.frame.slice(0, at),
            found=None if found is None else lambda: found()[:at],
        )
        rest = Piece(
            self.frame.slice(at),
            self.first + at,
            None if found is None else lambda: found()[at:],
        )
        return before, rest


def places_of(pieces: Sequence[Piece]) -> Callable[[Sequence[int]], list[int]]:
    """From row numbers of pieces that stand end to end to places; nothing is counted before."""

    def locate(rows: Sequence[int]) -> list[int]:
        return [int(place) for place in np.concatenate([each.places() for each in pieces])[rows]]

    return locate


def ahead(things: Iterator[Thing]) -> Generator[Thing]:
    """The same things, the next of which is made in a thread while one is used."""
    thread, none = ThreadPoolExecutor(1), object()
    own = thread.submit(get_ident).result()
    coming = thread.submit(next, things, none)
    try:
        while (thing := coming.result()) is not none:
            coming = thread.submit(next, things, none)
            yield thing  # type: ignore[misc]
    finally:
        # Where nobody closed this, it may be cleared away anywhere, after the thread has ended or
        # in the midst of its work: nothing is asked of the thread, and it never waits for itself.
        coming.cancel()
        if get_ident() == own:
            thread.shutdown(wait=False)
        else:
            thread.shutdown()
            getattr(things, "close", bool)()
