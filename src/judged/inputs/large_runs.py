"""Large runs, read as blocks of whole queries.

A run that is grouped by query is read once: the last query of a piece waits for the next piece.
The rows of any other run are put on disk by query, and read back some queries at a time.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl

from judged.arrays import Ints, borders
from judged.errors import InputError
from judged.inputs import format_of, read_run, refuse_nameless, table_in
from judged.inputs.blocks import Room, RunBlocks, Told, UngroupedError, phase
from judged.inputs.columns import NamedColumns, as_columns, has_lists
from judged.inputs.csv import SEPARATORS, DelimitedReader, records
from judged.inputs.formats import NAMELESS, printable, run_name
from judged.inputs.frames import LazyRun, parquet_files, scan_source
from judged.inputs.polars_errors import refusing
from judged.inputs.source import (
    SMALL,
    Source,
    ahead,
    checked,
    compression,
    may_be_large,
    open_stream,
    size_and_start,
)
from judged.inputs.tables import RUN, Lookup, Passed, Piece, Run, run_of
from judged.inputs.trec import LastTag, LineReader
from judged.text import merged

if TYPE_CHECKING:
    from judged.options import ColumnsLike, FileFormat

_BYTES_IN_STREAM = SMALL  # a compressed file or a pipe with fewer unpacked bytes is read whole
_BYTES_SAMPLED = 1 << 22  # the format of compressed files and pipes is detected from so many bytes
_MAX_NAMES = 1000  # unjudged queries that are remembered by name, for messages
_MIN_PARTITIONS, _MAX_PARTITIONS = 64, 2048
_ROWS_PER_TABLE = 400_000  # small partitions are read back together, up to so many rows
_PLACE = "place"
_Part = tuple[pl.DataFrame, Passed, tuple[str, ...]]
"""Rows of judged queries with their places, the counts of other queries, and notes."""


def read_run_or_blocks(
    given: Any,
    room: Room,
    *,
    name: str | None = None,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Run | Lookup | RunBlocks:
    """Read a run like `read_run`; a large one that can be cut is left to be read in blocks."""
    if not may_be_large(given):
        return read_run(given, name=name, columns=columns, format=format)
    named = as_columns(columns)
    if not isinstance(given, (str, PathLike)):
        name = name or "run"
        source = "a data frame" if name == "run" else f"data frame {name!r}"
        if _holds_lists(given, source, named):
            return read_run(given, name=name, columns=named)
        return _lazy_blocks(given, source, room, name, named)
    path = Path(fspath(given))
    if path.is_dir():
        label = printable(path)
        files = parquet_files(path, label)
        size = sum(file.stat().st_size for file in files)
        name = name or run_name(path.resolve())
        return _lazy_blocks(pl.scan_parquet(files, glob=False), label, room, name, named, size=size)
    return _read_file(path, room, name or run_name(path), named, format)


def read_query(
    given: Any, query: str | None, room: Room, *, name: str | None = None
) -> Run | Lookup:
    """Read a run; of a large one, only the results of a query that it has."""
    if query is not None and not isinstance(given, (Run, Lookup)) and may_be_large(given):
        run = read_run_or_blocks(given, room, name=name)
        if not isinstance(run, RunBlocks):
            return run
        if (results := run.only(query)) is not None:
            return results
    return read_run(given, name=name)


def _lazy_blocks(
    frame: pl.LazyFrame,
    source: str,
    room: Room,
    name: str,
    named: NamedColumns,
    *,
    size: int | None = None,
    copy: object = None,
) -> RunBlocks:
    table = LazyRun.of(frame, source, named, size)
    return BlockReader(
        name, source, table.pieces, room, table.notes, size=size, by_line=False, copy=copy
    ).run()


def _holds_lists(frame: pl.LazyFrame, source: str, named: NamedColumns) -> bool:
    with refusing(f"{source}: cannot be read"):
        return has_lists(frame.collect_schema().names(), ("retrieved",), named)


def _read_file(
    path: Path, room: Room, name: str, named: NamedColumns, format: FileFormat | None
) -> Run | RunBlocks:
    """Read a file or a pipe; one that is small or cannot be cut is read whole."""
    label = "standard input" if str(path) == "-" else printable(path)
    size, start = size_and_start(path, label)
    copy: Any = None  # of a pipe, which cannot be read twice

    def source_of(data: bytes | None) -> Source:
        return checked(Source(label, RUN, path, data, size is not None, named))

    def read_whole(data: bytes | None) -> Run:
        run: Run = table_in(source_of(data), format, name=name)
        return run

    sample: bytes | None = None
    if size is None or compression(start) is not None:
        with open_stream(path, label) as stream:
            head = stream.read(_BYTES_IN_STREAM)
            if len(head) < _BYTES_IN_STREAM:
                return read_whole(head)
            if size is None:
                copy = room.copy(chain([head], stream))
                path = Path(copy.name)
            else:
                sample = head[: head.rfind(b"\n", 0, _BYTES_SAMPLED) + 1] or head[:_BYTES_SAMPLED]
    source = source_of(sample)
    if sample is None and format_of(source, format).name == "parquet":
        frame = scan_source(source)
        if _holds_lists(frame, label, named):
            return read_whole(None)
        return _lazy_blocks(frame, label, room, name, named, size=source.size(), copy=copy)
    reader = _reader_of(source, format)
    if reader is None and sample is None and copy is None:
        return read_whole(None)
    if reader is None:
        with open_stream(path, label) as stream:
            return read_whole(stream.rest(label, size or 0))

    def pieces(told: Told) -> Iterator[Piece]:
        with open_stream(path, label, told) as stream:
            if sample is None:
                yield from reader.pieces(stream, room.block)
            else:  # bytes that were unpacked ahead take room, too
                yield from reader.pieces(ahead(iter(stream)), room.block // 2)

    return BlockReader(name, label, pieces, room, reader.notes, reader.tag, size, copy=copy).run()


def _reader_of(source: Source, format: FileFormat | None) -> DelimitedReader | LineReader | None:
    """Return the reader of a file in blocks; None if it cannot be cut."""
    file_format = format_of(source, format)
    if file_format.name in NAMELESS:
        refuse_nameless(source, file_format)
        return LineReader.of(source, file_format.name)
    separator = SEPARATORS.get(file_format.name)
    if separator is None:
        return None
    names = next(records(source, separator), (0, []))[1]
    if has_lists(names, ("retrieved",), as_columns(source.columns)):
        return None
    reader = DelimitedReader.of(source, separator)
    return replace(reader, source=replace(source, data=b""))  # the first bytes can be freed


@dataclass(eq=False)
class BlockReader:
    """The function `RunBlocks.blocks`: called with the judged queries, it reads the run."""

    name: str
    source: str
    pieces: Callable[[Told], Iterator[Piece]]
    room: Room
    notes: tuple[str, ...] = ()
    tag: LastTag | None = None
    size: int | None = None
    by_line: bool = True
    grouped: bool = True
    copy: object = None  # the temporary file that is read, which is deleted together with this

    def run(self) -> RunBlocks:
        return RunBlocks(self.name, self.source, self, self.tag)

    def __call__(self, judged: frozenset[str] | None) -> Iterator[Run | Lookup]:
        wanted = JudgedQueries(judged)
        return self._grouped(wanted) if self.grouped else self._from_disk(wanted)

    def _judged_rows(self, judged: JudgedQueries, told: Told) -> Generator[_Part]:
        has_rows = False
        for piece in self.pieces(told):
            has_rows = has_rows or piece.frame.height > 0
            frame = piece.frame.with_columns(pl.Series(_PLACE, piece.places()))
            yield *judged.rows_of(frame), piece.notes
        if not has_rows:
            raise InputError(f"{self.source}: holds no rows.")

    def _grouped(self, judged: JudgedQueries) -> Iterator[Run]:
        """Yield tables of whole judged queries; raise `UngroupedError` if one comes back."""
        waiting: list[_Part] = []
        last = None  # the query that waits for the rest of its rows
        with (
            phase(f"Reading {self.name}", self.size) as told,
            closing(ahead(self._judged_rows(judged, told))) as parts,
        ):
            for frame, passed, notes in parts:
                query = frame["query"]
                start = int(_starts(query)[-1]) if len(query) else 0
                if len(query) and (start or query[0] != last):
                    waiting.append((frame[:start], passed, notes))
                    if any(part.height for part, *_ in waiting):
                        yield self._checked_table(waiting, judged)
                        waiting = []
                    frame, passed, notes, last = frame[start:], Passed(), (), query[-1]
                waiting.append((frame, passed, notes))
                rows = sum(part.height for part, *_ in waiting)
                self.room.refuse_long(self.source, str(last), rows)
            yield self._checked_table(waiting, judged)

    def _checked_table(self, parts: Sequence[_Part], judged: JudgedQueries) -> Run:
        run = self._table(pl.concat([frame for frame, *_ in parts], rechunk=False), parts)
        query = run.frame["query"]
        names = query.gather(_starts(query))
        if names.n_unique() < len(names) or judged.have_come(names):
            self.grouped = False
            raise UngroupedError
        return run

    def _table(self, frame: pl.DataFrame, parts: Sequence[_Part] = ()) -> Run:
        """Return rows as a table, with the counts and notes of parts of the run."""
        places = frame.drop_in_place(_PLACE).to_numpy()
        counts = [passed for _, passed, _ in parts]
        run = Run(
            frame,
            self.source,
            (*merged(notes for *_, notes in parts), *self.notes),
            list if self.by_line else None,  # places are lines already
            rows=places if self.by_line else places - 1,
            name=self.name,
            passed=Passed(
                sum(passed.queries for passed in counts),
                sum(passed.rows for passed in counts),
                tuple(name for passed in counts for name in passed.names),
                sum(passed.own for passed in counts),
            ),
            part=True,
        )
        return run_of(run) if frame.height else run

    def _from_disk(self, judged: JudgedQueries) -> Iterator[Run]:
        """Yield tables of whole judged queries, from rows in any order."""
        wanted = _MAX_PARTITIONS if self.size is None else self.size // self.room.block
        count = min(_MAX_PARTITIONS, max(_MIN_PARTITIONS, wanted))
        with (
            phase(f"Putting {self.name} on disk", self.size) as told,
            closing(ahead(self._judged_rows(judged, told))) as parts,
            self.room.folder() as folder,
            (folder / "rows").open("w+b") as handle,
        ):
            if sys.stderr is not None:
                sys.stderr.write(
                    f"{self.source}: is not grouped by query; its rows are put on disk by query "
                    "first.\n"
                )
            disk = _RowsOnDisk(handle, self.room, count)
            seen: list[_Part] = []
            waiting: list[pl.DataFrame] = []
            size = 0
            for frame, passed, notes in parts:
                seen.append((frame.clear(), passed, notes))
                waiting.append(frame)
                size += int(frame.estimated_size())
                if size > self.room.memory // 32:
                    disk.write(pl.concat(waiting, rechunk=False))
                    waiting, size = [], 0
            disk.write(pl.concat([seen[0][0], *waiting], rechunk=False))
            for table in disk.tables(self.source):
                yield self._table(table, seen)
                seen = []
            if seen:
                yield self._table(seen[0][0], seen)


class JudgedQueries:
    """A filter for judged queries, which counts the others."""

    def __init__(self, names: frozenset[str] | None) -> None:
        self._names = names
        self._come: set[int] = set()  # hashes of judged queries that came already
        self._passed: set[int] = set()  # hashes of the others
        self._names_left = _MAX_NAMES

    def holds(self, names: pl.Series) -> npt.NDArray[np.bool_]:
        if self._names is None:
            return np.ones(len(names), bool)
        return np.fromiter(map(self._names.__contains__, names.to_list()), bool, len(names))

    def have_come(self, names: pl.Series) -> bool:
        """Add distinct names; return whether one of them came before."""
        hashes = set(names.hash(1).to_list())
        before = not self._come.isdisjoint(hashes)
        self._come |= hashes
        return before

    def rows_of(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, Passed]:
        """Return the rows of judged queries, and counts of the others."""
        starts = _starts(frame["query"])
        names = frame["query"].gather(starts)
        is_judged = self.holds(names)
        if is_judged.all():
            return frame, Passed()
        judged = frame.filter(np.repeat(is_judged, np.diff(np.append(starts, frame.height))))
        others = names.filter(pl.Series(~is_judged)).unique(maintain_order=True)
        hashes = others.hash(1).to_list()
        new = others.filter(pl.Series([number not in self._passed for number in hashes]))
        self._passed.update(hashes)
        shown = tuple(new.head(self._names_left).to_list())
        self._names_left -= len(shown)
        same_ids = _own_ids(frame) - _own_ids(judged)
        return judged, Passed(len(new), frame.height - judged.height, shown, same_ids)


def _starts(query: pl.Series) -> Ints:
    """Return the rows at which another query begins, compared by hash as in matching."""
    return np.flatnonzero(borders(query.hash(1).to_numpy()))


def _own_ids(frame: pl.DataFrame) -> int:
    return int((frame["query"] == frame["item"]).sum())


@dataclass(eq=False)
class _RowsOnDisk:
    """One file with the rows of all partitions, in chunks as they came."""

    handle: BinaryIO
    room: Room
    partitions: int
    chunks: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """The start and the rows of each chunk of each partition."""

    def write(self, frame: pl.DataFrame) -> None:
        number = (frame["query"].hash(7) % self.partitions).cast(pl.UInt16).alias("partition")
        parts = frame.with_columns(number).partition_by(
            "partition", as_dict=True, include_key=False, maintain_order=True
        )
        with self.room.refusing_full_disk():
            for (partition,), part in parts.items():
                packed = io.BytesIO()
                part.write_ipc_stream(packed, compression="lz4")
                self.chunks.setdefault(partition, []).append((self.handle.tell(), part.height))
                # Not getbuffer(): Python 3.12.1 can crash when it collects one.
                self.handle.write(packed.getvalue())
            self.handle.flush()

    def tables(self, source: str) -> Iterator[pl.DataFrame]:
        """Yield partitions, small ones together, with the rows of each query in their order."""
        waiting: list[pl.DataFrame] = []
        rows = 0
        for partition in sorted(self.chunks):
            height = sum(rows for _, rows in self.chunks[partition])
            if waiting and rows + height > min(_ROWS_PER_TABLE, self.room.rows // 4):
                yield _grouped(waiting)
                waiting, rows = [], 0
            if height > self.room.rows:
                lengths = pl.concat([c["query"] for c in self._read(partition)]).value_counts()
                self.room.refuse_long(source, *lengths.sort("count").row(-1))
            waiting += self._read(partition)
            rows += height
        if waiting:
            yield _grouped(waiting)

    def _read(self, partition: int) -> Iterator[pl.DataFrame]:
        for start, _ in self.chunks[partition]:
            self.handle.seek(start)
            yield pl.read_ipc_stream(self.handle)


def _grouped(chunks: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Group rows by query, each query in the order of the input."""
    frame = pl.concat(chunks, rechunk=True)
    return frame[np.argsort(frame["query"].hash(8).to_numpy(), kind="stable")]
