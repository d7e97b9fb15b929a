"""Which runs are read in blocks, and how: the rest is read whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs import format_of, read_run, refuse_nameless, run_in
from judged.inputs.blocks import SMALL, RunBlocks, may_be_large
from judged.inputs.columns import as_columns
from judged.inputs.formats import UNDECIDED, printable, run_name
from judged.inputs.readings import skipped_comments
from judged.inputs.rows.names import has_lists
from judged.inputs.tables import RUN, Lookup, Run

if TYPE_CHECKING:
    from judged.inputs.blocks.delimited import Delimited
    from judged.inputs.blocks.pieces import Piece
    from judged.inputs.blocks.progress import Told
    from judged.inputs.blocks.room import Room
    from judged.inputs.blocks.streams import File, Reader
    from judged.inputs.blocks.text import Text
    from judged.inputs.named import Named
    from judged.inputs.source import Source
    from judged.options import ColumnsLike, FileFormat

_SEPARATORS = {"csv": ",", "tsv": "\t"}
_CUT = ("trec", "msmarco", "scores", UNDECIDED.name, *_SEPARATORS)
"""Formats of text that can be cut into blocks."""
_LOOKED_AT = 1 << 22
"""So many bytes of what is compressed, or comes from a pipe, tell what it is."""


def read_run_or_blocks(
    given: Any,
    room: Room,
    *,
    name: str | None = None,
    columns: ColumnsLike | None = None,
    format: FileFormat | None = None,
) -> Run | Lookup | RunBlocks:
    """As `read_run`; what is large, and can be cut into whole queries, is left to be read in
    blocks."""
    if not may_be_large(given):
        return read_run(given, name=name, columns=columns, format=format)
    named = as_columns(columns)
    if not isinstance(given, (str, PathLike)):
        return _lazy(given, room, name or "run", named)
    path = Path(fspath(given))
    if path.is_dir():
        return _folder(path, room, name, named)
    return _Large(path, room, name or run_name(path), named, format).read()


def read_query(
    given: Any, query: str | None, room: Room, *, name: str | None = None
) -> Run | Lookup:
    """A run; of a large one, where a query is named that it has, only the results of that."""
    if query is not None and not isinstance(given, (Run, Lookup)) and may_be_large(given):
        run = read_run_or_blocks(given, room, name=name)
        if not isinstance(run, RunBlocks):
            return run
        if (found := run.only(query)) is not None:
            return found
    return read_run(given, name=name)


def _lazy(frame: Any, room: Room, name: str, named: Named) -> Run | Lookup | RunBlocks:
    from judged.inputs.blocks.runs import About, Blocks
    from judged.inputs.blocks.tables import TypedTable, lazy_pieces

    source = "a data frame" if name == "run" else f"data frame {name!r}"
    if has_lists(frame.collect_schema().names(), ("retrieved",), named):
        return read_run(frame, name=name, columns=named)
    table = TypedTable.of(frame, source, named)
    about = About(name, source, table.notes, by_line=False)
    return Blocks(about, lambda told: lazy_pieces(table, source), room).run()


def _folder(folder: Path, room: Room, name: str | None, named: Named) -> RunBlocks:
    from judged.inputs.blocks.tables import parquet_files

    label = printable(folder)
    files = parquet_files(folder, label)
    return _parquet(files, label, room, name or run_name(folder.resolve()), named, folder)


def _parquet(
    files: list[Path], label: str, room: Room, name: str, named: Named, folder: Path | None = None
) -> RunBlocks:
    from judged.inputs.blocks.runs import About, Blocks
    from judged.inputs.blocks.tables import TypedTable, parquet_pieces, places_in, scanned

    first = TypedTable.of(scanned(files[0], label, folder), label, named, sampled=True)
    begun: dict[Path, int] = {}
    places = None if folder is None else partial(places_in, folder, begun)
    about = About(name, label, first.notes, by_line=False, places=places)
    size = sum(path.stat().st_size for path in files)

    def pieces(told: Told) -> Iterator[Piece]:
        return parquet_pieces(files, label, named, room, folder=folder, tell=told, begun=begun)

    return Blocks(about, pieces, room, size).run()


@dataclass(frozen=True, eq=False)
class _Large:
    """A file or a pipe that may be large."""

    path: Path
    room: Room
    name: str
    columns: Named
    format: FileFormat | None

    def read(self) -> Run | RunBlocks:
        from judged.inputs.blocks.streams import File

        file = File.at(
            self.path, "standard input" if str(self.path) == "-" else printable(self.path)
        )
        if file.lasting and file.packed is None:
            source = self._source(file, None)
            if format_of(source, self.format).name == "parquet":
                return self._parquet(source)
            return self._blocks(source, file, file.opened) or run_in(source, self.name, self.format)
        if file.lasting:
            with file.opened() as reader:
                return self._begun(file, reader, SMALL)
        # A pipe stays open: what is in it is read when it is asked for.
        opened = file.opened()
        reader = opened.__enter__()
        reader.opened = opened
        return self._begun(file, reader, max(SMALL, self.room.memory // 4))

    def _source(self, file: File, data: bytes | None) -> Source:
        from judged.inputs.source import Source, checked

        return checked(Source(file.label, RUN, file.path, data, file.lasting, self.columns))

    def _parquet(self, source: Source) -> Run | RunBlocks:
        from judged.inputs.blocks.tables import scanned

        named = self.columns
        names = scanned(self.path, source.label).collect_schema().names()
        if has_lists(names, ("retrieved",), named):
            return run_in(source, self.name, self.format)
        return _parquet([self.path], source.label, self.room, self.name, named)

    def _begun(self, file: File, reader: Reader, most: int) -> Run | RunBlocks:
        """A compressed file or a pipe: whole where it is small, or cannot be cut."""
        head = reader.read(most)
        if len(head) == most:
            start = head[: head.rfind(b"\n", 0, _LOOKED_AT) + 1] or head[:_LOOKED_AT]
            source = self._source(file, start)

            def again(told: Told) -> AbstractContextManager[Reader]:
                return nullcontext(reader)

            blocks = self._blocks(source, file, file.opened if file.lasting else again)
            if blocks is not None:
                reader.put_back(head)
                return blocks
            head += reader.rest(file.label, file.size or 0)
        return run_in(self._source(file, head), self.name, self.format)

    def _blocks(
        self, source: Source, file: File, opened: Callable[[Told], AbstractContextManager[Reader]]
    ) -> RunBlocks | None:
        """The run in blocks; None where it cannot be cut."""
        from judged.inputs.blocks.runs import About, Blocks
        from judged.inputs.blocks.text import Text

        format = format_of(source, self.format)
        if format.name not in _CUT:
            return None
        how = self._delimited(source, format.name)
        if how is None and format.name in _SEPARATORS:
            return None
        if how is None:
            refuse_nameless(source, format)
        text = how or Text.of(source, format.name)

        def blocks(text: Delimited | Text) -> RunBlocks:
            def pieces(told: Told) -> Iterator[Piece]:
                with opened(told) as reader:
                    if file.packed is None:
                        yield from text.pieces(reader, self.room.block)
                    else:  # what is unpacked, and the block that is joined from it: as much
                        yield from text.pieces(reader.ahead(), self.room.block // 2)

            about = About(self.name, file.label, text.notes, text.tag)
            return Blocks(about, pieces, self.room, file.size, lasting=file.lasting).run()

        if isinstance(text, Text) and format is UNDECIDED:
            if not file.lasting:
                raise InputError(
                    f"{file.label}: has no header, and its third column may hold ranks or scores. "
                    "What is large and can be read only once has to say it: run_format='msmarco' "
                    "(--run-format msmarco) reads ranks, 'scores' scores."
                )
            text = text.decided(blocks(text))
        return blocks(text)

    def _delimited(self, source: Source, format: str) -> Delimited | None:
        """How a table with a header is read; None where it has none, or lists in it, or a name over
        several lines."""
        if format not in _SEPARATORS:
            return None
        from judged.inputs.blocks.delimited import Delimited
        from judged.inputs.csv import comments_on_top, heading, records

        separator = _SEPARATORS[format]
        names = next(records(source, separator), (0, []))[1]
        if has_lists(names, ("retrieved",), self.columns) or any("\n" in name for name in names):
            return None
        line, header, columns = heading(source, separator)
        above = skipped_comments(comments_on_top(source))
        return Delimited(replace(source, data=b""), separator, line, header, columns, above)
