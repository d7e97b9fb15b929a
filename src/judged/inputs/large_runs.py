"""Large runs, read as blocks of whole queries.

A run that is grouped by query is read once: the last query of a piece waits for the next piece.
The rows of any other run are put on disk by query, and read back some queries at a time.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl

from judged.arrays import Ints, borders
from judged.errors import InputError, OutputError
from judged.inputs import format_of, read_run, refuse_nameless, table_in
from judged.inputs.blocks import SMALL, Room, RunBlocks, Told, UngroupedError, may_be_large, phase
from judged.inputs.columns import NamedColumns, as_columns, has_lists
from judged.inputs.csv import SEPARATORS, DelimitedReader, records
from judged.inputs.formats import NAMELESS, printable, run_name
from judged.inputs.frames import (
    LazyRun,
    lazy_pieces,
    parquet_files,
    parquet_pieces,
    places_in,
    scan_file,
)
from judged.inputs.source import ByteStream, Source, StreamedFile, ahead, blocks, checked
from judged.inputs.tables import RUN, Locate, Lookup, Passed, Piece, Places, Run, run_of
from judged.inputs.trec import LastTag, LineReader
from judged.text import merged

if TYPE_CHECKING:
    from judged.options import ColumnsLike, FileFormat

_BYTES_IN_STREAM = SMALL  # a compressed file or a pipe with fewer unpacked bytes is read whole
_BYTES_SAMPLED = 1 << 22  # the format of compressed files and pipes is detected from so many bytes
_MAX_NAMES = 1000  # unjudged queries that are remembered by name, for messages
_MIN_PARTITIONS, _MAX_PARTITIONS = 64, 2048
_BYTES_PER_PARTITION = 8 << 20
_ROWS_PER_TABLE = 400_000  # small partitions are read back together, up to so many rows
_PLACE = "place"


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
        return _lazy_blocks(given, room, name or "run", named)
    path = Path(fspath(given))
    if path.is_dir():
        label = printable(path)
        files = parquet_files(path, label)
        return _parquet_blocks(files, label, room, name or run_name(path.resolve()), named, path)
    return _LargeFile(path, room, name or run_name(path), named, format).read()


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
    frame: Any, room: Room, name: str, named: NamedColumns
) -> Run | Lookup | RunBlocks:
    source = "a data frame" if name == "run" else f"data frame {name!r}"
    if has_lists(frame.collect_schema().names(), ("retrieved",), named):
        return read_run(frame, name=name, columns=named)
    table = LazyRun.of(frame, source, named)
    info = RunInfo(name, source, table.notes, by_line=False)
    return BlockReader(info, lambda told: lazy_pieces(table), room).run()


def _parquet_blocks(
    files: list[Path],
    label: str,
    room: Room,
    name: str,
    named: NamedColumns,
    folder: Path | None = None,
) -> RunBlocks:
    first = LazyRun.of(scan_file(files[0], label, folder), label, named, sampled=True)
    first_rows: dict[Path, int] = {}
    places = None if folder is None else partial(places_in, folder, first_rows)
    info = RunInfo(name, label, first.notes, by_line=False, places=places)
    size = sum(path.stat().st_size for path in files)

    def pieces(told: Told) -> Iterator[Piece]:
        return parquet_pieces(files, label, named, folder=folder, tell=told, first_rows=first_rows)

    return BlockReader(info, pieces, room, size).run()


@dataclass(frozen=True, eq=False)
class _LargeFile:
    """A file or a pipe that may be large."""

    path: Path
    room: Room
    name: str
    columns: NamedColumns
    format: FileFormat | None

    def read(self) -> Run | RunBlocks:
        file = StreamedFile.at(
            self.path, "standard input" if str(self.path) == "-" else printable(self.path)
        )
        if file.lasting and file.packed is None:
            source = self._source(file, None)
            if format_of(source, self.format).name == "parquet":
                return self._parquet(source)
            return self._blocks(source, file, file.opened) or self._whole(source)
        if file.lasting:
            with file.opened() as stream:
                return self._from_stream(file, stream, _BYTES_IN_STREAM)
        # a pipe stays open, because it is read later.
        opened = file.opened()
        stream = opened.__enter__()
        stream.opened = opened
        return self._from_stream(file, stream, max(_BYTES_IN_STREAM, self.room.memory // 4))

    def _source(self, file: StreamedFile, data: bytes | None) -> Source:
        return checked(Source(file.label, RUN, file.path, data, file.lasting, self.columns))

    def _whole(self, source: Source) -> Run:
        run: Run = table_in(source, self.format, name=self.name)
        return run

    def _parquet(self, source: Source) -> Run | RunBlocks:
        names = scan_file(self.path, source.label).collect_schema().names()
        if has_lists(names, ("retrieved",), self.columns):
            return self._whole(source)
        return _parquet_blocks([self.path], source.label, self.room, self.name, self.columns)

    def _from_stream(self, file: StreamedFile, stream: ByteStream, most: int) -> Run | RunBlocks:
        """Read a compressed file or a pipe whole if it is small or cannot be cut."""
        head = stream.read(most)
        if len(head) == most:
            start = head[: head.rfind(b"\n", 0, _BYTES_SAMPLED) + 1] or head[:_BYTES_SAMPLED]
            source = self._source(file, start)

            def again(told: Told) -> AbstractContextManager[ByteStream]:
                return nullcontext(stream)

            run = self._blocks(source, file, file.opened if file.lasting else again)
            if run is not None:
                stream.put_back(head)
                return run
            head += stream.rest(file.label, file.size or 0)
        return self._whole(self._source(file, head))

    def _blocks(
        self,
        source: Source,
        file: StreamedFile,
        opened: Callable[[Told], AbstractContextManager[ByteStream]],
    ) -> RunBlocks | None:
        """Return the run in blocks; None if it cannot be cut."""
        format = format_of(source, self.format)
        if format.name in SEPARATORS:
            table = self._delimited(source, SEPARATORS[format.name])
            if table is None:
                return None
            reader: DelimitedReader | LineReader = table
        elif format.name in NAMELESS:
            refuse_nameless(source, format)
            reader = LineReader.of(source, format.name)
        else:
            return None

        def pieces(told: Told) -> Iterator[Piece]:
            with opened(told) as stream:
                size = self.room.block
                if file.packed is not None:  # unpacked bytes wait in the stream
                    stream, size = stream.ahead(), size // 2
                if isinstance(reader, LineReader):
                    yield from reader.pieces(blocks(stream, size))
                else:
                    yield from reader.pieces(stream, size)

        info = RunInfo(self.name, file.label, reader.notes, reader.tag)
        return BlockReader(info, pieces, self.room, file.size, lasting=file.lasting).run()

    def _delimited(self, source: Source, separator: str) -> DelimitedReader | None:
        """Return the reader of a table; None if it has lists in it or line ends in its header."""
        names = next(records(source, separator), (0, []))[1]
        if has_lists(names, ("retrieved",), self.columns) or any("\n" in name for name in names):
            return None
        reader = DelimitedReader.of(source, separator)
        return replace(reader, source=replace(source, data=b""))  # the first bytes can be freed


@dataclass(frozen=True)
class RunInfo:
    name: str
    source: str
    notes: tuple[str, ...] = ()
    tag: LastTag | None = None
    by_line: bool = True
    places: Places | None = None  # a function from row numbers to words, if there are several files


@dataclass(eq=False)
class BlockReader:
    """The function `RunBlocks.blocks`: called with the judged queries, it reads the run."""

    info: RunInfo
    pieces: Callable[[Told], Iterator[Piece]]
    room: Room
    size: int | None = None
    lasting: bool = True
    grouped: bool = True
    used: bool = False

    def run(self) -> RunBlocks:
        return RunBlocks(self.info.name, self.info.source, self, self.info.tag)

    def __call__(self, judged: frozenset[str] | None) -> Iterator[Run | Lookup]:
        if self.used and not self.lasting:
            raise InputError(
                f"{self.info.source}: can be read only once, but is needed twice here; write it "
                "to a file first, and give that."
            )
        self.used = True
        if not self.lasting:
            memory = f"{self.room.memory / 10**9:g} GB"
            return self._from_disk(judged, f"cannot be read twice, and may not fit into {memory}")
        if self.grouped:
            return self._grouped(judged)
        return self._from_disk(judged, "is not grouped by query")

    def _grouped(self, judged: frozenset[str] | None) -> Iterator[Run]:
        with (
            phase(f"Reading {self.info.name}", self.size) as told,
            closing(ahead(self._checked_pieces(told))) as pieces,
        ):
            try:
                yield from whole_queries(pieces, self.info, judged, self.room)
            except UngroupedError:
                self.grouped = False
                raise

    def _from_disk(self, judged: frozenset[str] | None, why: str) -> Iterator[Run]:
        if sys.stderr is not None:
            sys.stderr.write(
                f"{self.info.source}: {why}; its rows are put on disk by query first.\n"
            )
        with phase(f"Putting {self.info.name} on disk", self.size) as told:
            checked = self._checked_pieces(told)
            with closing(ahead(checked) if self.lasting else checked) as pieces:
                yield from partitioned(pieces, self.info, judged, self.room, self.size)

    def _checked_pieces(self, told: Told) -> Generator[Piece]:
        has_rows = False
        for piece in self.pieces(told):
            has_rows = has_rows or piece.frame.height > 0
            yield piece
        if not has_rows:
            raise InputError(f"{self.info.source}: holds no rows.")


class SeenQueries:
    """A set of queries as hashes of their ids."""

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def add(self, names: pl.Series) -> list[bool]:
        """Add distinct names; return which of them were there before."""
        hashes = names.hash(1).to_list()
        before = [number in self._hashes for number in hashes]
        self._hashes.update(hashes)
        return before


class JudgedFilter:
    """A filter for judged queries, which counts the others."""

    def __init__(self, judged: frozenset[str] | None) -> None:
        self._names = judged or frozenset()
        self._judged = None if judged is None else pl.Series(list(judged), dtype=pl.String)
        self._seen = SeenQueries()
        self._names_left = _MAX_NAMES

    def judged(self, names: pl.Series) -> npt.NDArray[np.bool_]:
        if self._judged is None:
            return np.ones(len(names), bool)
        if len(names) * 50 < len(self._judged):
            return np.fromiter(map(self._names.__contains__, names.to_list()), bool, len(names))
        return names.is_in(self._judged.implode()).to_numpy()

    def count(self, names: pl.Series, rows: int, own: int) -> Passed:
        """Count unjudged queries that are new; `own` rows have an item with the query's id."""
        if not len(names):
            return Passed()
        names = names.unique(maintain_order=True)
        new = names.filter(~pl.Series(self._seen.add(names), dtype=pl.Boolean))
        shown = tuple(new.head(self._names_left).to_list())
        self._names_left -= len(shown)
        return Passed(len(new), rows, shown, own)


def whole_queries(
    pieces: Iterable[Piece], info: RunInfo, judged: frozenset[str] | None, room: Room
) -> Iterator[Run]:
    """Yield tables of whole judged queries; raise `UngroupedError` if one comes back."""
    only_judged, seen = JudgedFilter(judged), SeenQueries()
    waiting: list[Piece] = []
    name = None  # of the query that waits
    for piece in pieces:
        query = piece.frame["query"]
        if not len(query):  # it has only notes
            waiting.append(piece)
            continue
        if not only_judged.judged(query.tail(1)).all():  # its last query need not wait
            yield from _block([*waiting, piece], info, only_judged, seen)
            waiting, name = [], None
            continue
        start = int(_starts(query)[-1])
        if start or query[0] != name:
            before, piece = piece.cut(start)
            yield from _block([*waiting, before], info, only_judged, seen)
            waiting, name = [], query[-1]
        waiting.append(piece)
        room.refuse_long(info.source, query[-1], sum(part.frame.height for part in waiting))
    yield from _block(waiting, info, only_judged, seen)


def _starts(query: pl.Series) -> Ints:
    """Return the rows at which another query begins, compared by hash as in matching."""
    return np.flatnonzero(borders(query.hash(1).to_numpy()))


def _own_ids(frame: pl.DataFrame) -> int:
    return int((frame["query"] == frame["item"]).sum())


def _block(
    pieces: Sequence[Piece], info: RunInfo, only_judged: JudgedFilter, seen: SeenQueries
) -> Iterator[Run]:
    pieces = [piece for piece in pieces if piece.frame.height or piece.notes]
    if not pieces:
        return
    frame = pl.concat([piece.frame for piece in pieces], rechunk=False)
    starts = _starts(frame["query"])
    names = frame["query"].gather(starts)
    kept = only_judged.judged(names)
    judged_names = names.filter(pl.Series(kept))
    if judged_names.n_unique() < len(judged_names) or any(seen.add(judged_names)):
        raise UngroupedError
    rows: Ints | None = None
    height, own = frame.height, 0
    if not kept.all():
        own = _own_ids(frame)
        rows = np.flatnonzero(np.repeat(kept, np.diff(np.append(starts, height))))
        frame = frame[rows]
        own -= _own_ids(frame)
    locate: Locate | None = None
    if info.by_line:

        def locate(wanted: Sequence[int]) -> list[int]:
            return np.concatenate([piece.places() for piece in pieces])[wanted].tolist()
    else:
        places = np.concatenate([piece.places() for piece in pieces]) - 1
        rows = places if rows is None else places[rows]
    run = Run(
        frame,
        info.source,
        (*merged(piece.notes for piece in pieces), *info.notes),
        locate,
        rows=rows,
        places=info.places,
        name=info.name,
        part=True,
        passed=only_judged.count(names.filter(pl.Series(~kept)), height - frame.height, own),
    )
    yield run_of(run) if frame.height else run


def partitioned(
    pieces: Iterable[Piece],
    info: RunInfo,
    judged: frozenset[str] | None,
    room: Room,
    size: int | None,
) -> Iterator[Run]:
    """Yield tables of whole judged queries, from rows in any order."""
    wanted = (size or _MAX_PARTITIONS * _BYTES_PER_PARTITION) // _BYTES_PER_PARTITION
    count = min(_MAX_PARTITIONS, max(_MIN_PARTITIONS, wanted))
    with room.folder() as folder, (folder / "rows").open("w+b", buffering=0) as handle:
        rows = _RowsOnDisk(handle, folder, count)
        passed, notes = _write(pieces, rows, judged, room)
        is_first = True
        for table in rows.tables(info, room):
            yield _partition_run(
                table, info, notes if is_first else (), passed if is_first else Passed()
            )
            is_first = False
        if is_first:
            schema = {"query": pl.String, "item": pl.String, "score": pl.Float64}
            empty = pl.DataFrame(schema=schema)
            yield Run(empty, info.source, name=info.name, passed=passed, part=True)


def _write(
    pieces: Iterable[Piece], rows: _RowsOnDisk, judged: frozenset[str] | None, room: Room
) -> tuple[Passed, tuple[str, ...]]:
    """Put the rows of judged queries on disk; return the counts of the others, and the notes."""
    only_judged = JudgedFilter(judged)
    passed, notes = Passed(), []
    waiting: list[pl.DataFrame] = []
    size = 0
    for piece in pieces:
        frame = piece.frame.with_columns(pl.Series(_PLACE, piece.places()))
        kept = pl.Series(only_judged.judged(frame["query"]))
        if not kept.all():
            left = frame.filter(~kept)
            more = only_judged.count(left["query"], left.height, _own_ids(left))
            passed = Passed(
                passed.queries + more.queries,
                passed.rows + more.rows,
                passed.names + more.names,
                passed.own + more.own,
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
class _RowsOnDisk:
    """One file with the rows of all partitions, in chunks as they came."""

    handle: BinaryIO
    folder: Path
    partitions: int
    chunks: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    """The start, the bytes and the rows of each chunk of each partition."""
    end: int = 0

    def write(self, frame: pl.DataFrame) -> None:
        number = (frame["query"].hash(7) % self.partitions).cast(pl.UInt16).alias("partition")
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
                "room (judged.config(temporary=DIR), --temporary DIR), or sort the run by query."
            ) from None

    def tables(self, info: RunInfo, room: Room) -> Iterator[pl.DataFrame]:
        """Yield small partitions together, and a large one in several parts."""
        waiting: list[pl.DataFrame] = []
        rows = 0
        for partition in sorted(self.chunks):
            height = sum(rows for _, _, rows in self.chunks[partition])
            if waiting and rows + height > min(_ROWS_PER_TABLE, room.rows // 4):
                yield _grouped(waiting)
                waiting, rows = [], 0
            if height > room.rows // 4:
                yield from self._in_parts(partition, info, room)
                continue
            waiting += self._read(partition)
            rows += height
        if waiting:
            yield _grouped(waiting)

    def _read(self, partition: int) -> Iterator[pl.DataFrame]:
        for start, size, _ in self.chunks[partition]:
            self.handle.seek(start)
            yield pl.read_ipc_stream(io.BytesIO(self.handle.read(size)))

    def _in_parts(self, partition: int, info: RunInfo, room: Room) -> Iterator[pl.DataFrame]:
        lengths: dict[str, int] = {}
        for chunk in self._read(partition):
            for query, length in chunk["query"].value_counts().iter_rows():
                lengths[query] = lengths.get(query, 0) + length
                room.refuse_long(info.source, query, lengths[query])
        for queries in _fitting(lengths, room.rows // 4):
            names = pl.Series(queries, dtype=pl.String).implode()
            yield _grouped(
                [chunk.filter(pl.col("query").is_in(names)) for chunk in self._read(partition)]
            )


def _grouped(chunks: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Group rows by query, each query in the order of the input."""
    frame = pl.concat(chunks, rechunk=True)
    key = frame["query"].hash(8).to_numpy()
    # numpy sorts numbers of 16 bits several times faster than others. If two queries have all 32
    # bits in common, their rows alternate, which takes a little longer later on.
    order = np.argsort(key.astype(np.uint16), kind="stable")
    order = order[np.argsort((key >> np.uint64(16)).astype(np.uint16)[order], kind="stable")]
    return frame[order]


def _fitting(lengths: dict[str, int], most: int) -> Iterator[list[str]]:
    """Yield queries that together have at most so many rows, or one that has more."""
    queries: list[str] = []
    rows = 0
    for query, length in lengths.items():
        if queries and rows + length > most:
            yield queries
            queries, rows = [], 0
        queries.append(query)
        rows += length
    yield queries


def _partition_run(
    frame: pl.DataFrame, info: RunInfo, notes: tuple[str, ...], passed: Passed
) -> Run:
    places = frame[_PLACE].to_numpy()
    run = Run(
        frame.drop(_PLACE),
        info.source,
        (*notes, *info.notes),
        (lambda lines: [int(line) for line in lines]) if info.by_line else None,
        rows=places if info.by_line else places - 1,
        places=info.places,
        name=info.name,
        passed=passed,
        part=True,
    )
    return run_of(run)
