"""Runs that are not grouped by query: their rows are put on disk by query, and read back some
queries at a time."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import polars as pl

from judged.errors import OutputError
from judged.inputs.blocks.queries import About, Passing, empty, own_ids
from judged.inputs.readings import run_of
from judged.inputs.tables import Passed, Run
from judged.text import merged

if TYPE_CHECKING:
    from judged.inputs.blocks.pieces import Piece
    from judged.inputs.blocks.room import Room

_FEWEST, _MOST = 64, 2048
"""So many partitions there are at least and at most."""
_OF_TEXT = 8 << 20
"""So many bytes of a run belong to a partition, where there may be enough of them."""
_AT_ONCE = 400_000
"""So many rows are judged at once, where partitions are smaller."""
_PLACE = "place"


def partitioned(
    pieces: Iterable[Piece],
    about: About,
    judged: frozenset[str] | None,
    room: Room,
    size: int | None,
) -> Iterator[Run]:
    """Tables of whole judged queries, from rows in any order; `size` is that of the input, where
    it is known."""
    count = min(_MOST, max(_FEWEST, (size or _MOST * _OF_TEXT) // _OF_TEXT))
    with room.folder() as folder, (folder / "rows").open("w+b", buffering=0) as handle:
        rows = _Rows(handle, folder, count)
        passed, notes = _written(pieces, rows, judged, room)
        found = False
        for table in rows.tables(about, room):
            yield _run(table, about, notes if not found else (), Passed() if found else passed)
            found = True
        if not found:
            yield Run(empty(), about.source, name=about.name, passed=passed, part=True)


def _written(
    pieces: Iterable[Piece], rows: _Rows, judged: frozenset[str] | None, room: Room
) -> tuple[Passed, tuple[str, ...]]:
    """Put the rows of judged queries on disk; returned is what was passed over, and the notes."""
    passing = Passing(judged)
    passed, notes = Passed(), []
    waiting: list[pl.DataFrame] = []
    size = 0
    for piece in pieces:
        frame = piece.frame.with_columns(pl.Series(_PLACE, piece.places()))
        kept = pl.Series(passing.judged(frame["query"]))
        if not kept.all():
            left = frame.filter(~kept)
            over = passing.over(left["query"], left.height, own_ids(left))
            passed = Passed(
                passed.queries + over.queries,
                passed.rows + over.rows,
                passed.names + over.names,
                passed.own + over.own,
            )
            frame = frame.filter(kept)
        notes.append(piece.notes)
        waiting.append(frame)
        size += int(frame.estimated_size())
        if size > room.memory // 32:
            rows.write(pl.concat(waiting, rechunk=False))
            waiting, size = [], 0
    if waiting:
        rows.write(pl.concat(waiting, rechunk=False))
    return passed, merged(notes)


@dataclass(eq=False)
class _Rows:
    """One file with the rows of all partitions, in chunks as they came."""

    handle: BinaryIO
    folder: Path
    count: int
    chunks: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    """Of each partition: where its chunks begin, their bytes and their rows."""
    end: int = 0

    def write(self, frame: pl.DataFrame) -> None:
        number = (frame["query"].hash(7) % self.count).cast(pl.UInt16).alias("partition")
        parts = frame.with_columns(number).partition_by(
            "partition", as_dict=True, include_key=False, maintain_order=True
        )
        for (partition,), part in parts.items():
            packed = io.BytesIO()
            part.write_ipc_stream(packed, compression="lz4")
            data = packed.getbuffer()
            self._append(data)
            self.chunks.setdefault(partition, []).append((self.end, len(data), part.height))
            self.end += len(data)

    def _append(self, data: memoryview) -> None:
        try:
            while data:
                data = data[self.handle.write(data) :]
        except OSError as error:
            raise OutputError(
                f"{self.folder.parent}: the rows of a run that is not grouped by query cannot be "
                f"kept there ({error.strerror}, after {self.end:,} bytes); name a folder with more "
                "room (temporary=, --temporary DIR), or sort the run by query."
            ) from None

    def tables(self, about: About, room: Room) -> Iterator[pl.DataFrame]:
        """Some partitions at a time; one that has too many rows in several parts."""
        waiting: list[pl.DataFrame] = []
        rows = 0
        for partition in sorted(self.chunks):
            height = sum(rows for _, _, rows in self.chunks[partition])
            if waiting and rows + height > min(_AT_ONCE, room.rows // 4):
                yield _grouped(waiting)
                waiting, rows = [], 0
            if height > room.rows // 4:
                yield from self._in_parts(partition, height, about, room)
                continue
            waiting += self._read(partition)
            rows += height
        if waiting:
            yield _grouped(waiting)

    def _read(self, partition: int) -> Iterator[pl.DataFrame]:
        for start, size, _ in self.chunks[partition]:
            self.handle.seek(start)
            yield pl.read_ipc_stream(io.BytesIO(self.handle.read(size)))

    def _in_parts(
        self, partition: int, height: int, about: About, room: Room
    ) -> Iterator[pl.DataFrame]:
        """The lists of a partition that is too long, some at a time."""
        lengths: dict[str, int] = {}
        for chunk in self._read(partition):
            for query, length in chunk["query"].value_counts().iter_rows():
                lengths[query] = lengths.get(query, 0) + length
                room.refuse_long(about.source, query, lengths[query])
        for some in _fitting(lengths, room.rows // 4):
            names = pl.Series(some, dtype=pl.String).implode()
            yield _grouped(
                [chunk.filter(pl.col("query").is_in(names)) for chunk in self._read(partition)]
            )


def _grouped(chunks: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Rows by query, in each of them in the order in which they came."""
    frame = pl.concat(chunks, rechunk=True)
    key = frame["query"].hash(8).to_numpy()
    # Numbers of 16 bits are put in order several times faster than others, and stay in it. Should
    # two queries have all 32 bits in common, their rows come in turns, which takes a little longer.
    order = np.argsort(key.astype(np.uint16), kind="stable")
    order = order[np.argsort((key >> np.uint64(16)).astype(np.uint16)[order], kind="stable")]
    return frame[order]


def _fitting(lengths: dict[str, int], most: int) -> Iterator[list[str]]:
    """Queries together that have so many rows at most, or one that has more."""
    some: list[str] = []
    rows = 0
    for query, length in lengths.items():
        if some and rows + length > most:
            yield some
            some, rows = [], 0
        some.append(query)
        rows += length
    yield some


def _run(frame: pl.DataFrame, about: About, notes: tuple[str, ...], passed: Passed) -> Run:
    """Rows that were read back, as a run."""
    places = frame[_PLACE].to_numpy()
    run = Run(
        frame.drop(_PLACE),
        about.source,
        (*notes, *about.notes),
        _as_they_are if about.by_line else None,
        rows=places if about.by_line else places - 1,
        places=about.places,
        name=about.name,
        passed=passed,
        part=True,
    )
    return run_of(run)


def _as_they_are(places: Iterable[int]) -> list[int]:
    return [int(place) for place in places]
