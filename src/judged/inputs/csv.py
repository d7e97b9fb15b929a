"""CSV and TSV with a header: polars first; Python's csv line by line where polars has a doubt."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import Columns, choose_columns, joined, joined_columns
from judged.inputs.polars_errors import POLARS_ERRORS
from judged.inputs.readings import (
    SUBTOPIC_COLUMNS,
    Reading,
    Row,
    as_score,
    from_rows,
    is_complete,
    skipped_comments,
)
from judged.inputs.source import BYTE_ORDER_MARK, LineNumbers, Source, decoded, not_a_table
from judged.inputs.tables import JUDGEMENTS, Kind
from judged.inputs.whitespace import COMMENT, is_number, is_plain
from judged.text import counted, quote


def read_csv(source: Source) -> Reading:
    return _read(source, ",")


def read_tsv(source: Source) -> Reading:
    return _read(source, "\t")


def _read(source: Source, separator: str) -> Reading:
    line, header, columns = heading(source, separator)
    frame = _at_once(source, separator, header, line, columns)
    if frame is None:
        found = islice(records(source, separator), 1, None)
        frame = careful_frame(found, source, separator, header, columns)
    notes = skipped_comments(comments_on_top(source)) + columns.notes
    return Reading(
        frame,
        notes,
        LineNumbers.of(source, partial(line_numbers, separator=separator)),
        may_be_run=columns.may_be_run,
    )


def heading(source: Source, separator: str) -> tuple[int, list[str], Columns]:
    """The number of the header's line, the header, and which of its columns is what."""
    line, header = next(records(source, separator), (0, []))
    if not header:
        raise InputError(f"{source.label}: holds no rows.")
    if any(is_number(cell.strip()) for cell in header):
        found = f"{quote(separator.join(header))}, which looks like a row"
        raise InputError(
            f"{source.label}: the first line should name the columns, but it is {found}."
        )
    columns = choose_columns(header, source.kind, source.label, source.columns)
    return line, header, columns.with_ranks(_sample(source, separator))


def _sample(source: Source, separator: str) -> Iterator[list[str]]:
    """Yield the first rows, up to one that is cut off or wrong: it is named where all are read."""
    with suppress(InputError):
        for _, cells in islice(records(source, separator), 1, None):
            yield cells


def careful_frame(
    found: Iterable[tuple[int, list[str]]],
    source: Source,
    separator: str,
    header: Sequence[str],
    columns: Columns,
) -> pl.DataFrame:
    """The table of rows that are looked at one by one."""
    subtopic = None if columns.subtopic is None else columns.subtopic_role
    rows = _careful_rows(found, source, separator, header, columns)
    return from_rows(rows, source.kind, subtopic, columns.extra)


def comments_on_top(source: Source) -> int:
    """Comments are known only above the header: below it, "#1" is an id."""
    comments = 0
    for line in source.lines():
        if line.strip() and not line.startswith(COMMENT):
            break
        comments += bool(line.strip())
    return comments


def _at_once(
    source: Source, separator: str, header: Sequence[str], line: int, columns: Columns
) -> pl.DataFrame | None:
    """None where polars cannot read it or a needed cell is empty."""
    with source.open() as handle:
        if not is_plain(handle, separator.encode()):
            return None
    below = next(islice(source.lines(), line, None), b"")
    if below.startswith(BYTE_ORDER_MARK) or any("\n" in name for name in header):
        return None  # polars drops such a mark, and skips one line for a header
    return plain_rows(source.for_polars(), separator, header, line, columns, source.kind)


def plain_rows(
    text: Path | bytes,
    separator: str,
    header: Sequence[str],
    line: int,
    columns: Columns,
    kind: Kind,
) -> pl.DataFrame | None:
    """The rows below a line; None where polars cannot read them or a needed cell is empty."""
    names = [f"column {number}" for number in range(len(header))]
    schema: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys(names, pl.String)
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
    try:
        frame = (
            pl.scan_csv(
                text,
                separator=separator,
                has_header=False,
                skip_lines=line,
                schema=schema,
                glob=False,
            )
            .select(
                ids.pop("query").alias("query"),
                ids.pop("item").alias("item"),
                value.alias(kind.value),
                *(column.alias(role) for role, column in ids.items()),
                # polars refuses rows that are too long only where it reads every column.
                pl.any_horizontal(pl.all().is_null()).alias(_READ),
            )
            .collect(engine="streaming")
            .drop(_READ)
        )
    except POLARS_ERRORS:
        return None
    return frame if not frame.is_empty() and is_complete(frame) else None


_READ = "all is read"


def _careful_rows(
    each_row: Iterable[tuple[int, list[str]]],
    source: Source,
    separator: str,
    header: Sequence[str],
    columns: Columns,
) -> Iterator[Row]:
    """The second look, which names a bad row."""
    value, ids = source.kind.value, columns.ids
    numbers = {value: columns.value, "weight": columns.weight}
    needed = {role: at for role, at in ids.items() if role not in SUBTOPIC_COLUMNS}
    needed |= {role: (at,) for role, at in numbers.items() if at is not None}
    needed = {role: needed[role] for role in _ORDER if role in needed}
    least = 1 + max(at for positions in needed.values() for at in positions)
    for number, cells in each_row:
        while len(cells) > len(header) and not cells[-1]:  # spreadsheets leave such ends
            cells.pop()
        if len(cells) == 1 and tuple(header) == QUEPID:  # how it writes a query without ratings
            cells += [""] * (len(header) - 1)
        if not least <= len(cells) <= len(header):
            reason = (
                f"expected {counted(len(header), 'field')}, found {len(cells)}: "
                f"{quote(separator.join(cells))}."
            )
            hint = (
                " A cell with a separator in it has to stand between quotation marks."
                if len(cells) > least
                else ""
            )
            raise InputError(f"{source.label}, line {number}: {reason}{hint}")
        missing = [role for role, at in needed.items() if not all(cells[each] for each in at)]
        empty = not any(cells[at] for role in ("item", value) for at in needed.get(role, ()))
        if empty:  # a query with nothing in it
            missing = [role for role in missing if role in ("query", "weight")]
        missing = [role for role in missing if role != JUDGEMENTS.value]  # nobody judged it yet
        wrong = None
        for role, at in numbers.items():
            if at is not None and cells[at] and not is_number(cells[at].strip(" ")):
                what = "rank" if columns.is_rank and role == value else role
                wrong = wrong or f"the {what} is not a number: {quote(cells[at].strip(' '), 30)}"
        if missing or wrong:
            found = f"the {missing[0]} is missing" if missing else wrong
            raise InputError(
                f"{source.label}, line {number}: {found}, in the line "
                f"{quote(separator.join(cells))}."
            )
        texts = {
            role: joined([cells[each] if each < len(cells) else "" for each in at])
            for role, at in ids.items()
        }
        weight = () if columns.weight is None else (float(cells[columns.weight]),)
        if empty:
            yield (texts["query"], *[None] * len(ids), *weight)
            continue
        sign = -1 if columns.is_rank else 1
        grade: float | None = 1.0
        if columns.value is not None:
            grade = sign * float(cells[columns.value]) if cells[columns.value] else None
        query, item, *others = texts.values()
        yield (query, item, grade, *others, *weight)


_ORDER = ("query", "item", "score", "grade", "document", "weight")
"""What is looked at first where several things are missing."""
QUEPID = ("query", "docid", "rating")
"""The header of its judgements."""


def records(source: Source, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The header and the rows with the number of their first line; a quoted cell may run over
    several lines."""
    return records_of(source.lines(ends=True), source.label, separator)


def records_of(
    lines: Iterable[bytes], label: str, separator: str, *, first: int = 1, started: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """As `records`, of lines from the one with number `first` on; below the header, once reading
    has `started`, no line is a comment."""
    last = first - 1

    def texts() -> Iterator[str]:
        nonlocal last
        for last, line in enumerate(lines, first):
            if not started and (not line.strip() or line.startswith(COMMENT)):
                yield "\n"
            else:
                yield decoded(label, last, line)

    reader = csv.reader(texts(), delimiter=separator, strict=True)
    at = first
    try:
        for cells in reader:
            if cells:
                started = True
                yield at, cells
            at = last + 1
    except csv.Error as error:
        raise not_a_table(f"{label}, line {at}", error) from None


def line_numbers(source: Source, separator: str) -> Iterator[int]:
    """The line of each row."""
    return (number for number, _ in islice(records(source, separator), 1, None))
