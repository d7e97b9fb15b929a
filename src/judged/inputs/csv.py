"""CSV and TSV with a header: parsed by polars, and by Python's csv module if polars has a doubt.

There is one parser for blocks of whole rows. A file is read as several blocks.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import polars as pl

from judged.errors import InputError
from judged.inputs.columns import TableColumns, choose_columns
from judged.inputs.formats import COMMENT, is_number
from judged.inputs.frames import frame_of_rows
from judged.inputs.polars_errors import POLARS_ERRORS
from judged.inputs.source import (
    BYTE_ORDER_MARK,
    BYTES_PER_BLOCK,
    LineNumbers,
    Source,
    blocks,
    count_lines,
    decoded,
    has_lone_returns,
    not_a_table,
)
from judged.inputs.tables import (
    ROWS_PER_BATCH,
    Piece,
    is_complete,
    skipped_comments,
    unchecked_table,
)
from judged.text import counted, merged, quote

SEPARATORS = {"csv": ",", "tsv": "\t"}
_QUEPID = ("query", "docid", "rating")


def read_delimited(source: Source, format: str) -> Any:
    return DelimitedReader.of(source, SEPARATORS[format]).whole(source)


@dataclass(frozen=True, eq=False)
class DelimitedReader:
    source: Source
    separator: str
    line: int  # the last of the header
    header: Sequence[str]
    columns: TableColumns
    comments: int
    tag: None = None

    @classmethod
    def of(cls, source: Source, separator: str) -> DelimitedReader:
        line, header = next(records(source, separator), (0, []))
        if not header:
            raise InputError(f"{source.label}: holds no rows.")
        if any(is_number(cell.strip()) for cell in header):
            raise InputError(
                f"{source.label}: the first line should name the columns, but it is "
                f"{quote(separator.join(header))}, which looks like a row."
            )
        columns = choose_columns(header, source.kind, source.label, source.columns)
        columns = columns.with_ranks(_first_rows(source, separator))
        line += len(re.findall("\r\n?|\n", "|".join(header)))  # names on several lines
        return cls(source, separator, line, header, columns, _comments_on_top(source))

    @property
    def notes(self) -> tuple[str, ...]:
        return self.columns.notes

    def whole(self, source: Source) -> Any:
        pieces = list(self.pieces(source.parts(), BYTES_PER_BLOCK))
        frames = [self._careful_frame([]), *(piece.frame for piece in pieces)]
        return unchecked_table(
            source.kind,
            pl.concat(frames, rechunk=False),
            source.label,
            (*merged(piece.notes for piece in pieces), *self.notes),
            LineNumbers(source, partial(line_numbers, separator=self.separator)),
            may_be_run=self.columns.may_be_run,
        )

    def pieces(self, parts: Iterable[bytes], size: int) -> Iterator[Piece]:
        """Parse the rows below the header."""
        if self.comments:
            yield Piece(self._careful_frame([]), 1, notes=skipped_comments(self.comments))
        coming = blocks(parts, size, quoted=True)
        above, first = self.line, 1
        for block in coming:
            if above:
                lines = block.splitlines(True)
                block = b"".join(lines[above:])
                first += min(above, len(lines))
                above = max(above - len(lines), 0)
            if not is_plain(block, self.separator.encode()):
                # Quotation marks are ambiguous, so it is unclear where a row ends from here on.
                yield from self._row_by_row(chain([block], coming), first)
                return
            if block:
                yield self._piece(block, first)
            first += count_lines(block)

    def _piece(self, block: bytes, first: int) -> Piece:
        frame = None
        if not block.startswith(BYTE_ORDER_MARK):  # which polars drops
            frame = self._parsed_by_polars(block)
        if frame is None:
            frame = self._careful_frame(self._records(block.splitlines(True), first))
        lines = None if frame.height == count_lines(block) else partial(self._lines, block, first)
        return Piece(frame, first, lines)

    def _row_by_row(self, texts: Iterator[bytes], first: int) -> Iterator[Piece]:
        every = self._records((line for text in texts for line in text.splitlines(True)), first)
        while rows := list(islice(every, ROWS_PER_BATCH)):
            numbers = [number for number, _ in rows]
            yield Piece(self._careful_frame(rows), numbers[0], partial(list, numbers))

    def _records(self, lines: Iterable[bytes], first: int) -> Iterator[tuple[int, list[str]]]:
        return records_of(lines, self.source.label, self.separator, first=first, started=True)

    def _lines(self, block: bytes, first: int) -> list[int]:
        return [number for number, _ in self._records(block.splitlines(True), first)]

    def _parsed_by_polars(self, text: bytes) -> pl.DataFrame | None:
        """Return None if polars cannot read the rows or a needed cell is empty."""
        names = [f"column {number}" for number in range(len(self.header))]
        numbers = (self.columns.value, self.columns.weight)
        schema = {name: pl.Float64 if at in numbers else pl.String for at, name in enumerate(names)}

        def column(role: str, at: int) -> pl.Expr:
            return pl.col(names[at])

        rows = pl.scan_csv(
            text, separator=self.separator, has_header=False, schema=schema, glob=False
        ).select(
            *self.columns.select(self.source.kind.value, column, column),
            # polars reports rows that are too long only if it reads every column.
            pl.any_horizontal(pl.all().is_null()).alias("all columns"),
        )
        try:
            frame = rows.collect(engine="streaming").drop("all columns")
        except POLARS_ERRORS:
            return None
        return frame if not frame.is_empty() and is_complete(frame) else None

    def _careful_frame(self, records: Iterable[tuple[int, list[str]]]) -> pl.DataFrame:
        columns, value = self.columns, self.source.kind.value
        numbers = {value: columns.value, "weight": columns.weight}
        rows = []
        for number, cells in self._cells(records):
            row: dict[str, Any] = dict(zip(self.header, cells, strict=True))
            for role, at in numbers.items():
                if at is not None and cells[at]:
                    word = "rank" if columns.is_rank and role == value else role
                    place = f"{self.source.label}, line {number}"
                    row[self.header[at]] = _number(cells[at], word, place)
            rows.append((f"line {number}", row))
        return frame_of_rows(rows, self.source, columns, self.header)[0]

    def _cells(self, records: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each row with its line; subtopics at the end may be missing."""
        width = len(self.header)
        optional = () if self.columns.subtopic is None else (self.columns.subtopic,)
        least = 1 + max(at for at in self.columns.needed if at not in optional)
        for number, cells in records:
            place = f"{self.source.label}, line {number}"
            # Quepid writes a query without ratings alone.
            if len(cells) > 1 or tuple(self.header) != _QUEPID:
                check_width(cells, width, place, least=least, separator=self.separator)
            yield number, cells + [""] * (width - len(cells))


def check_width(
    cells: list[str], width: int, place: str, *, least: int | None = None, separator: str = " "
) -> None:
    """Raise an error for a row with too few or too many cells; empty ones at its end are cut."""
    while len(cells) > width and not cells[-1]:  # spreadsheets leave such ends
        cells.pop()
    if not (width if least is None else least) <= len(cells) <= width:
        hint = " Put a cell with a separator in it between quotation marks."
        raise InputError(
            f"{place}: expected {counted(width, 'field')}, found {len(cells)}: "
            f"{quote(separator.join(cells))}.{hint if len(cells) > width else ''}"
        )


def _number(cell: str, role: str, place: str) -> float:
    text = cell.strip(" ")
    if not is_number(text):
        raise InputError(f"{place}: the {role} is not a number: {quote(text, 30)}.")
    return float(text)


def _first_rows(source: Source, separator: str) -> Iterator[list[str]]:
    """Yield the first rows, up to one that is cut off or wrong, which is reported later."""
    with suppress(InputError):
        for _, cells in islice(records(source, separator), 1, None):
            yield cells


def _comments_on_top(source: Source) -> int:
    """Count comments above the header; below it, "#1" is an id."""
    comments = 0
    for line in source.lines():
        if line.strip() and not line.startswith(COMMENT):
            break
        comments += bool(line.strip())
    return comments


def records(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    return records_of(source.lines(ends=True), source.label, separator)


def records_of(
    lines: Iterable[bytes], label: str, separator: str, *, first: int = 1, started: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of lines numbered from `first` on; once `started`, none is a comment."""
    last = first - 1

    def texts() -> Iterator[str]:
        nonlocal last
        for last, line in enumerate(lines, first):
            if not started and (not line.strip() or line.startswith(COMMENT)):
                yield "\n"
            else:
                yield decoded(label, last, line)

    reader = csv.reader(texts(), delimiter=separator, strict=True)
    start = first
    try:
        for cells in reader:
            if cells:
                started = True
                yield start, cells
            start = last + 1
    except csv.Error as error:
        raise not_a_table(f"{label}, line {start}", error) from None


def line_numbers(source: Source, separator: str) -> Iterator[int]:
    return (number for number, _ in islice(records(source, separator), 1, None))


def is_plain(block: bytes, separator: bytes) -> bool:
    """Return whether all CSV parsers agree on a text."""
    if has_lone_returns(block):
        return False
    if b'"' not in block:
        return True
    characters = np.frombuffer(b"\n" + block, np.uint8)
    marks = np.flatnonzero(characters == ord('"'))
    if len(marks) % 2:
        return False
    around = np.frombuffer(separator + b'\r\n"', np.uint8)
    beside = np.concatenate([characters[marks[::2] - 1], characters[marks[1::2] + 1]])
    return bool(np.isin(beside, around).all())
