"""CSV and TSV with a header: parsed by polars, and by Python's csv module if polars has a doubt.

There is one parser for blocks of whole rows. A file is read as several blocks.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

import numpy as np
import polars as pl

from judged.errors import InputError
from judged.inputs.columns import TableColumns, choose_columns, joined, joined_columns
from judged.inputs.formats import COMMENT, is_number
from judged.inputs.polars_errors import POLARS_ERRORS
from judged.inputs.source import (
    BYTE_ORDER_MARK,
    BYTES_PER_BLOCK,
    LineNumbers,
    Readable,
    Source,
    count_lines,
    decoded,
    has_lone_returns,
    not_a_table,
)
from judged.inputs.tables import (
    JUDGEMENTS,
    ROWS_PER_BATCH,
    SUBTOPIC_COLUMNS,
    Piece,
    RawTable,
    Row,
    as_score,
    from_rows,
    is_complete,
    skipped_comments,
)
from judged.text import counted, merged, quote

SEPARATORS = {"csv": ",", "tsv": "\t"}
_CHECKED_FIRST = ("query", "item", "score", "grade", "document", "weight")
"""The order in which missing cells are reported."""
_QUEPID = ("query", "docid", "rating")


def read_delimited(source: Source, format: str) -> RawTable:
    return DelimitedReader.of(source, SEPARATORS[format]).whole(source)


@dataclass(frozen=True, eq=False)
class DelimitedReader:
    source: Source
    separator: str
    line: int
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
        return cls(source, separator, line, header, columns, _comments_on_top(source))

    @property
    def notes(self) -> tuple[str, ...]:
        return self.columns.notes

    def whole(self, source: Source) -> RawTable:
        above = skipped_comments(self.comments)
        if any("\n" in name for name in self.header):
            frame = self._careful_frame(islice(records(source, self.separator), 1, None))
            notes = above
        else:
            with source.open() as handle:
                pieces = list(self.pieces(handle, BYTES_PER_BLOCK))
            empty = self._careful_frame([])
            frame = pl.concat([empty, *(piece.frame for piece in pieces)], rechunk=False)
            notes = merged(piece.notes for piece in pieces)
        lines = LineNumbers.of(source, partial(line_numbers, separator=self.separator))
        may_be_run = self.columns.may_be_run
        return RawTable(frame, (*notes, *self.columns.notes), lines, may_be_run=may_be_run)

    def pieces(self, handle: Readable, size: int) -> Iterator[Piece]:
        """Parse the rows below the header."""
        if self.comments:
            yield Piece(self._careful_frame([]), 1, notes=skipped_comments(self.comments))
        coming = _whole_rows(handle, size)
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

    def _row_by_row(self, blocks: Iterator[bytes], first: int) -> Iterator[Piece]:
        every = self._records((line for block in blocks for line in block.splitlines(True)), first)
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
        schema: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys(names, pl.String)
        columns = self.columns
        ids = {
            role: joined_columns([pl.col(names[at]) for at in positions])
            for role, positions in columns.ids.items()
        }
        value = pl.lit(1.0)
        if columns.value is not None:
            schema[names[columns.value]] = pl.Float64
            value = as_score(pl.col(names[columns.value]), columns.is_rank)
        if columns.weight is not None:
            schema[names[columns.weight]] = pl.Float64
            ids["weight"] = pl.col(names[columns.weight])
        rows = pl.scan_csv(
            text, separator=self.separator, has_header=False, schema=schema, glob=False
        ).select(
            ids.pop("query").alias("query"),
            ids.pop("item").alias("item"),
            value.alias(self.source.kind.value),
            *(column.alias(role) for role, column in ids.items()),
            # polars reports rows that are too long only if it reads every column.
            pl.any_horizontal(pl.all().is_null()).alias("all columns"),
        )
        try:
            frame = rows.collect(engine="streaming").drop("all columns")
        except POLARS_ERRORS:
            return None
        return frame if not frame.is_empty() and is_complete(frame) else None

    def _careful_frame(self, rows: Iterable[tuple[int, list[str]]]) -> pl.DataFrame:
        columns = self.columns
        subtopic = None if columns.subtopic is None else columns.subtopic_role
        return from_rows(self._careful_rows(rows), self.source.kind, subtopic, columns.extra)

    def _careful_rows(self, rows: Iterable[tuple[int, list[str]]]) -> Iterator[Row]:
        header, columns, value = self.header, self.columns, self.source.kind.value
        numbers = {value: columns.value, "weight": columns.weight}
        needed = {role: at for role, at in columns.ids.items() if role not in SUBTOPIC_COLUMNS}
        needed |= {role: (at,) for role, at in numbers.items() if at is not None}
        needed = {role: needed[role] for role in _CHECKED_FIRST if role in needed}
        least = 1 + max(at for positions in needed.values() for at in positions)
        for number, cells in rows:
            while len(cells) > len(header) and not cells[-1]:  # spreadsheets leave such ends
                cells.pop()
            if len(cells) == 1 and tuple(header) == _QUEPID:  # a query without ratings
                cells += [""] * (len(header) - 1)
            place = f"{self.source.label}, line {number}"
            if not least <= len(cells) <= len(header):
                hint = (
                    " A cell with a separator in it has to stand between quotation marks."
                    if len(cells) > least
                    else ""
                )
                raise InputError(
                    f"{place}: expected {counted(len(header), 'field')}, found {len(cells)}: "
                    f"{quote(self.separator.join(cells))}.{hint}"
                )
            missing = [role for role, at in needed.items() if not all(cells[part] for part in at)]
            empty = not any(cells[at] for role in ("item", value) for at in needed.get(role, ()))
            if empty:  # a query without items
                missing = [role for role in missing if role in ("query", "weight")]
            missing = [role for role in missing if role != JUDGEMENTS.value]  # not judged yet
            wrong = f"the {missing[0]} is missing" if missing else None
            for role, at in numbers.items():
                if at is not None and cells[at] and not is_number(cells[at].strip(" ")):
                    what = "rank" if columns.is_rank and role == value else role
                    text = quote(cells[at].strip(" "), 30)
                    wrong = wrong or f"the {what} is not a number: {text}"
            if wrong:
                line = quote(self.separator.join(cells))
                raise InputError(f"{place}: {wrong}, in the line {line}.")
            texts = {
                role: joined([cells[part] if part < len(cells) else "" for part in at])
                for role, at in columns.ids.items()
            }
            weight = () if columns.weight is None else (float(cells[columns.weight]),)
            if empty:
                yield (texts["query"], *[None] * len(columns.ids), *weight)
                continue
            sign = -1 if columns.is_rank else 1
            grade: float | None = 1.0
            if columns.value is not None:
                grade = sign * float(cells[columns.value]) if cells[columns.value] else None
            query, item, *others = texts.values()
            yield (query, item, grade, *others, *weight)


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


def _whole_rows(handle: Readable, size: int) -> Iterator[bytes]:
    """Yield whole rows, about `size` bytes at a time, each line ended."""
    rest = b""
    while data := handle.read(max(size, len(rest))):
        data = rest + data
        cut = _end_of_last_row(data)
        if cut:
            yield data[:cut]
        rest = data[cut:]
    if rest:
        yield rest + b"\n"


def _end_of_last_row(data: bytes) -> int:
    """Return the place after the last LF before which quotation marks come in pairs."""
    cut = data.rfind(b"\n") + 1
    marks = data.count(b'"', 0, cut)
    while cut and marks % 2:
        before = data.rfind(b"\n", 0, cut - 1) + 1
        marks -= data.count(b'"', before, cut)
        cut = before
    return cut
