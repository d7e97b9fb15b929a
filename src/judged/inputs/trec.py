"""Text with fields between white space: TREC runs and qrels, and what else has such lines.

Three ways to the same table, each tried only where the one before has a doubt: polars on the file
as it is; polars on blocks with white space evened out; a block line by line, which either names the
bad line or returns the rows.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl

from judged.errors import InputError
from judged.inputs.formats import looks_like
from judged.inputs.layouts import (
    TREC_JUDGEMENTS,
    TREC_RUN,
    LastTag,
    Layout,
    first_rows,
    notes_on_ranks,
)
from judged.inputs.polars_errors import POLARS_ERRORS
from judged.inputs.readings import Reading, Row, as_score, from_rows
from judged.inputs.source import BYTE_ORDER_MARK, LineNumbers, Source, decoded
from judged.inputs.tables import JUDGEMENTS, RUN, Kind
from judged.inputs.whitespace import (
    blocks,
    count_fields,
    count_lines,
    data_lines,
    even_out,
    is_number,
    split,
)
from judged.text import merged, quote


def read_trec(source: Source) -> Reading:
    refuse_the_other_kind(source)
    if source.kind is not RUN:
        return _without_times(read_layout(source, TREC_JUDGEMENTS), source.label)
    reading = read_layout(source, TREC_RUN)
    notes = (*reading.notes, *notes_on_ranks(first_rows(source)))
    return replace(reading, notes=notes, tag=str(LastTag.of(source)))


def _without_times(reading: Reading, source: str) -> Reading:
    """Judgements, once it is sure that these are no ratings: user, item, rating and time."""
    least = reading.frame["grade"].min()
    if isinstance(least, float) and least >= _TIME:
        raise InputError(
            f"{source}: every grade is {_TIME:,} or more, as {least:.0f}: a time, not a grade. "
            f"{TREC_JUDGEMENTS.example} If a line is user, item, rating and time, put a line with "
            "these names above the others (user_id, item_id, rating, timestamp), with tabs "
            "between them."
        )
    return reading


_TIME = 100_000_000


def refuse_the_other_kind(source: Source) -> None:
    """Refuse judgements where a run should be, and the other way round."""
    other = JUDGEMENTS if source.kind is RUN else RUN
    first = [split(line) for _, line in islice(data_lines(source.lines()), 10)]
    if first and all(looks_like(other, fields) for fields in first):
        raise InputError(other.mistaken_for(source.kind, source.label))


def read_layout(source: Source, layout: Layout) -> Reading:
    """The table of a text whose lines all have one layout."""
    frame = _as_it_is(source, layout)
    if frame is not None:  # nothing was skipped
        return Reading(frame, (), _every_line)
    frame, notes = _by_blocks(source, layout)
    return Reading(frame, notes, LineNumbers.of(source, line_numbers))


def _as_it_is(source: Source, layout: Layout) -> pl.DataFrame | None:
    """None where the file is not evenly spaced, or not good; the parse and the look at its spacing
    share the time."""
    head = source.head()
    line = head.split(b"\n", 1)[0]
    separator = b"\t" if b"\t" in line else b" "
    fields = line.count(separator) + 1
    if count_fields(io.BytesIO(head.rpartition(b"\n")[0] + b"\n"), separator) is None:
        return None

    def all_fields() -> int | None:
        with source.open() as handle:
            return count_fields(handle, separator)

    with ThreadPoolExecutor(max_workers=1) as pool:
        counted = pool.submit(all_fields)
        frame = _parse(source.for_polars(), layout, fields, separator.decode(), source.kind)
        # No line has too few fields, and together they have no more than that: each has its own.
        return frame if frame is not None and counted.result() == frame.height * fields else None


def _by_blocks(source: Source, layout: Layout) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows, and notes on comments among them."""
    frames = [from_rows([], source.kind, layout.subtopic)]
    notes: list[tuple[str, ...]] = []
    with source.open() as handle:
        for number, block in enumerate(blocks(handle)):

            def first(number: int = number) -> int:
                with source.open() as again:
                    return 1 + sum(map(count_lines, islice(blocks(again), number)))

            frame, skipped = uneven_rows(block, layout, source.kind, source.label, first)
            notes.append(skipped)
            frames.append(frame)
    return pl.concat(frames, rechunk=False), merged(notes)


def even_rows(block: bytes, layout: Layout, kind: Kind) -> pl.DataFrame | None:
    """The rows of some lines as they are; None where these are not evenly spaced, or not good."""
    end = block.find(b"\n")
    if end < 0:  # its lines end otherwise
        return None
    separator = b"\t" if block.find(b"\t", 0, end) >= 0 else b" "
    return _split(block, layout, separator, kind)


def uneven_rows(
    block: bytes, layout: Layout, kind: Kind, source: str, first: Callable[[], int]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of some lines with white space evened out, or else line by line; and notes on
    comments among them. `first` tells the number of the first line, for messages."""
    text, comments = even_out(block)
    notes = layout.skipped(comments)
    if not text:
        return from_rows([], kind, layout.subtopic), notes
    frame = _split(text, layout, b" ", kind)
    if frame is None:
        rows = _line_by_line(block.splitlines(), first(), layout, source)
        frame = from_rows(rows, kind, layout.subtopic)
    return frame, notes


def _split(text: bytes, layout: Layout, separator: bytes, kind: Kind) -> pl.DataFrame | None:
    """The rows of lines with single separators between as many fields in each; None where they are
    not like that."""
    fields = text.count(separator, 0, text.index(b"\n")) + 1
    counted = count_fields(io.BytesIO(text), separator)
    if counted is None:
        return None
    if text.startswith(BYTE_ORDER_MARK):
        # Inside a file it is text, but polars drops it from the start of whatever it reads.
        text = BYTE_ORDER_MARK + text
    frame = _parse(text, layout, fields, separator.decode(), kind)
    return frame if frame is not None and frame.height * fields == counted else None


def _parse(
    text: Path | bytes, layout: Layout, fields: int, separator: str, kind: Kind
) -> pl.DataFrame | None:
    """The rows of a text whose lines have so many fields; None where polars cannot read one, where
    one has fewer, or where one may be read in two ways."""
    beyond = fields - len(layout.fields)
    if beyond < 0:
        return None
    names = [*layout.fields, *(f"beyond {number}" for number in range(beyond))]
    schema: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys(names, pl.String)
    schema[layout.value] = pl.Float64
    value = as_score(pl.col(layout.value), layout.value == "rank")
    if names[-1] != layout.value:  # polars says nothing of fields that a line lacks at its end
        value = pl.when(pl.col(names[-1]).is_not_null()).then(value)
    try:
        frame = (
            pl.scan_csv(
                text,
                separator=separator,
                has_header=False,
                schema=schema,
                quote_char=None,
                glob=False,
                truncate_ragged_lines=True,
            )
            .select(
                "query",
                "item",
                value.alias(kind.value),
                *filter(None, [layout.subtopic]),
                *([_may_hold_spaces(layout, names).alias(_DOUBT)] if beyond else []),
            )
            .collect(engine="streaming")
        )
    except POLARS_ERRORS:
        return None
    if beyond:
        if frame[_DOUBT].any():
            return None
        frame = frame.drop(_DOUBT)
    return None if sum(frame.null_count().row(0)) else frame


_DOUBT = "may be read in two ways"


def _may_hold_spaces(layout: Layout, names: Sequence[str]) -> pl.Expr:
    """`Layout.may_hold_spaces` of all lines at once; where in doubt, true."""
    beyond = len(names) - len(layout.fields)

    def like(at: int, pattern: str) -> pl.Expr:
        return pl.col(names[at]).cast(pl.String).str.contains(pattern)

    ranks = [layout.position(name) for name in layout.fields if name == "rank" != layout.value]
    moved = like(layout.position(layout.value) + beyond, r"^[+-]?[.\dinIN]")
    plain = pl.lit(True)
    for at in ranks:
        plain &= like(at, r"^\d+$")
        moved &= like(at + beyond, r"^\d")
    return moved | ~plain


def _line_by_line(lines: Iterable[bytes], first: int, layout: Layout, source: str) -> Iterator[Row]:
    """The careful look that names a bad line."""
    query, item, value = (layout.position(field) for field in ("query", "item", layout.value))
    sign = -1 if layout.value == "rank" else 1
    for number, line in data_lines(lines, first):
        fields = re.findall(r"[^ \t]+", decoded(source, number, line))
        if len(fields) < len(layout.fields):
            reason = f"expected {len(layout.fields)} fields, found {len(fields)}"
            raise InputError(
                f"{source}, line {number}: {reason}: {quote(line.strip())}. {layout.example}"
            )
        if layout.may_hold_spaces(fields):
            raise InputError(
                f"{source}, line {number}: {len(fields)} fields where {len(layout.fields)} are "
                f"expected, so that an id may have a space in it: {quote(line.strip())}. "
                "Such ids need another format, as CSV or JSON; if the last fields are not meant, "
                "leave them out."
            )
        if not is_number(fields[value]):
            reason = f"the {layout.value} is not a number: {quote(fields[value], 30)}"
            raise InputError(
                f"{source}, line {number}: {reason}, in the line {quote(line.strip())}."
            )
        row = (fields[query], fields[item], sign * float(fields[value]))
        yield row if layout.subtopic is None else (*row, fields[layout.position(layout.subtopic)])


def line_by_line(lines: Iterable[bytes], layout: Layout, source: str) -> Iterator[Row]:
    """The rows of some lines that are not all of a file; a bad one is named without its number."""
    try:
        yield from _line_by_line(lines, 1, layout, source)
    except InputError as error:
        raise InputError(re.sub(r", line \d+:", ":", str(error), count=1)) from None


def line_numbers(source: Source) -> Iterator[int]:
    """The line of each row."""
    return (number for number, _ in data_lines(source.lines()))


def _every_line(rows: Sequence[int]) -> list[int]:
    return [row + 1 for row in rows]
