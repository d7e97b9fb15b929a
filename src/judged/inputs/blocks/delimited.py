"""CSV and TSV, some megabytes of whole rows at a time: a quoted cell may run over several lines."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from judged.inputs.blocks.pieces import Piece
from judged.inputs.csv import careful_frame, plain_rows, records_of
from judged.inputs.readings import from_rows
from judged.inputs.source import BYTE_ORDER_MARK
from judged.inputs.whitespace import count_lines, is_plain

if TYPE_CHECKING:
    from judged.inputs.blocks.streams import Reader
    from judged.inputs.columns import Columns
    from judged.inputs.source import Source

_BATCH = 100_000


@dataclass(frozen=True, eq=False)
class Delimited:
    """How a text with a header is read."""

    source: Source
    """The beginning of it."""
    separator: str
    line: int
    """The line of the header."""
    header: Sequence[str]
    columns: Columns
    above: tuple[str, ...] = ()
    """What is said of the lines above the header."""
    tag: None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed of the columns."""
        return self.columns.notes

    def pieces(self, reader: Reader, size: int) -> Iterator[Piece]:
        """The rows of a run below its header.

        Where quotation marks stand so that readers disagree about them, all that follows is read
        row by row: nobody can tell then where a row ends.
        """
        if self.above:
            yield Piece(from_rows([], self.source.kind), 1, notes=self.above)
        coming = _blocks(reader, size)
        first = 1
        for number, block in enumerate(coming):
            rows = _below(block, self.line) if not number else block
            first += count_lines(block) - count_lines(rows)
            if not is_plain(io.BytesIO(rows), self.separator.encode()):
                yield from self._one_by_one(chain([rows], coming), first)
                return
            if rows:
                yield self._piece(rows, first)
            first += count_lines(rows)

    def _piece(self, block: bytes, first: int) -> Piece:
        frame = None
        if not block.startswith(BYTE_ORDER_MARK):  # which polars drops
            kind = self.source.kind
            frame = plain_rows(block, self.separator, self.header, 0, self.columns, kind)
        if frame is None:
            found = self._records(block.splitlines(True), first)
            frame = careful_frame(found, self.source, self.separator, self.header, self.columns)
        lines = None if frame.height == count_lines(block) else partial(self._lines, block, first)
        return Piece(frame, first, lines)

    def _one_by_one(self, blocks: Iterator[bytes], first: int) -> Iterator[Piece]:
        every = self._records((line for block in blocks for line in block.splitlines(True)), first)
        while rows := list(islice(every, _BATCH)):
            frame = careful_frame(rows, self.source, self.separator, self.header, self.columns)
            numbers = [number for number, _ in rows]
            yield Piece(frame, numbers[0], partial(list, numbers))

    def _records(
        self, lines: Iterator[bytes] | Sequence[bytes], first: int
    ) -> Iterator[tuple[int, list[str]]]:
        return records_of(lines, self.source.label, self.separator, first=first, started=True)

    def _lines(self, block: bytes, first: int) -> list[int]:
        return [number for number, _ in self._records(block.splitlines(True), first)]


def _below(block: bytes, line: int) -> bytes:
    """A block without its first lines."""
    return b"".join(block.splitlines(True)[line:])


def _blocks(reader: Reader, size: int) -> Iterator[bytes]:
    """Whole rows at a time, some `size` bytes, each line ended."""
    rest = b""
    while data := reader.read(max(size, len(rest))):
        data = rest + data
        cut = _last_end(data)
        if cut:
            yield data[:cut]
        rest = data[cut:]
    if rest:
        yield rest + b"\n"


def _last_end(data: bytes) -> int:
    """Where the last whole row ends: at an LF before which quotation marks come in pairs."""
    cut = data.rfind(b"\n") + 1
    marks = data.count(b'"', 0, cut)
    while cut and marks % 2:
        before = data.rfind(b"\n", 0, cut - 1) + 1
        marks -= data.count(b'"', before, cut)
        cut = before
    return cut
