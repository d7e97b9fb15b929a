"""Text with fields between white space: TREC runs and qrels, MS MARCO runs.

Three ways to the same table, each tried only where the one before has a doubt: polars on the file
as it is; polars on blocks with white space evened out; a block line by line, which either names the
bad line or returns the rows.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import polars as pl

from judged.errors import InputError
from judged.inputs.formats import looks_like
from judged.inputs.source import BYTE_ORDER_MARK, POLARS_ERRORS, Source, decoded
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    Kind,
    Reading,
    Row,
    as_score,
    from_rows,
    skipped_comments,
)
from judged.inputs.whitespace import (
    COMMENT,
    blocks,
    count_fields,
    count_lines,
    even_out,
    is_number,
    split,
)
from judged.text import Warned, quote


@dataclass(frozen=True)
class Layout:
    """The fields of a line in order; those after them are ignored."""

    fields: tuple[str, ...]
    value: str
    example: str
    subtopic: str | None = None
    """The field that may hold a subtopic."""

    def position(self, field: str) -> int:
        return self.fields.index(field)


TREC_RUN = Layout(
    fields=("query", "ignored", "item", "rank", "score", "tag"),
    value="score",
    example="A line of a run is: query Q0 item rank score tag.",
)
TREC_JUDGEMENTS = Layout(
    fields=("query", "iteration", "item", "grade"),
    value="grade",
    example="A line of judgements is: query 0 item grade.",
    subtopic="iteration",
)
MSMARCO_RUN = Layout(
    fields=("query", "item", "rank"),
    value="rank",
    example="A line of an MS MARCO run is: query item rank.",
)


def read_trec(source: Source) -> Reading:
    _refuse_the_other_kind(source)
    if source.kind is not RUN:
        return _read(source, TREC_JUDGEMENTS)
    reading = _read(source, TREC_RUN)
    _, line = next(data_lines(source.lines()))
    return replace(reading, tag=split(line)[TREC_RUN.position("tag")].decode())


def read_msmarco(source: Source) -> Reading:
    """MS MARCO's judgements are TREC qrels; its runs have a rank for a score."""
    reading = _read(source, MSMARCO_RUN if source.kind is RUN else TREC_JUDGEMENTS)
    note = (
        (Warned("There are no scores (an MS MARCO run): the ranks give the order."),)
        if source.kind is RUN
        else ()
    )
    return replace(reading, notes=reading.notes + note)


def data_lines(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Lines that are rows, with their numbers: neither blank nor comments."""
    for number, line in enumerate(lines, first):
        text = line.lstrip(b" \t")
        if text and not text.startswith(COMMENT):
            yield number, line


def _refuse_the_other_kind(source: Source) -> None:
    other = JUDGEMENTS if source.kind is RUN else RUN
    first = [split(line) for _, line in islice(data_lines(source.lines()), 10)]
    if first and all(looks_like(other, fields) for fields in first):
        raise InputError(other.mistaken_for(source.kind, source.label))


def _read(source: Source, layout: Layout) -> Reading:
    frame = _as_it_is(source, layout)
    if frame is not None:  # nothing was skipped
        return Reading(frame, (), lambda rows: [row + 1 for row in rows])
    frame, comments = _by_blocks(source, layout)
    return Reading(frame, skipped_comments(comments), _locate(source.again()))


def _as_it_is(source: Source, layout: Layout) -> pl.DataFrame | None:
    """None where the file is not evenly spaced, or not good; the parse and the look at its spacing
    share the time."""
    head = source.head()
    line = head.split(b"\n", 1)[0]
    separator = b"\t" if b"\t" in line else b" "
    if count_fields(io.BytesIO(head), separator) is None:
        return None

    def fields() -> int | None:
        with source.open() as handle:
            return count_fields(handle, separator)

    with ThreadPoolExecutor(max_workers=1) as pool:
        counted = pool.submit(fields)
        frame = _parse(source.for_polars(), layout, line, separator.decode(), source.kind)
        # A file cut off in its last line, or with a field missing elsewhere, does not add up.
        regular = frame is not None and counted.result() == frame.height * (
            line.count(separator) + 1
        )
        return frame if regular else None


def _by_blocks(source: Source, layout: Layout) -> tuple[pl.DataFrame, int]:
    """The rows, and how many comments were among them."""
    frames = [from_rows([], source.kind, layout.subtopic)]
    comments = 0
    with source.open() as handle:
        for number, block in enumerate(blocks(handle)):
            text, skipped = even_out(block)
            comments += skipped
            frame = _evened_out(text, layout, source.kind)
            if frame is None:
                with source.open() as again:
                    first = 1 + sum(map(count_lines, islice(blocks(again), number)))
                rows = _line_by_line(block.splitlines(), first, layout, source.label)
                frame = from_rows(rows, source.kind, layout.subtopic)
            frames.append(frame)
    return pl.concat(frames, rechunk=False), comments


def _evened_out(text: bytes, layout: Layout, kind: Kind) -> pl.DataFrame | None:
    if not text:
        return from_rows([], kind, layout.subtopic)
    if text.startswith(
        BYTE_ORDER_MARK
    ):  # inside a file it is text, but polars drops it from the start of whatever it reads
        text = BYTE_ORDER_MARK + text
    return _parse(text, layout, text[: text.index(b"\n")], " ", kind, ragged=True)


def _parse(
    text: Path | bytes,
    layout: Layout,
    first_line: bytes,
    separator: str,
    kind: Kind,
    *,
    ragged: bool = False,
) -> pl.DataFrame | None:
    """The rows, or None where polars cannot read a line or finds a needed field missing; any field
    if `ragged`."""
    extra = first_line.count(separator.encode()) + 1 - len(layout.fields)
    if extra < 0:
        return None
    schema: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys(layout.fields, pl.String)
    schema[layout.value] = pl.Float64
    schema |= {f"extra {number}": pl.String for number in range(extra)}
    value = as_score(pl.col(layout.value), layout.value == "rank")
    if (
        ragged
    ):  # polars says nothing of fields missing at the end of a line, unless one looks at the last
        value = pl.when(pl.col(layout.fields[-1]).is_not_null()).then(value)
    try:
        frame = (
            pl.scan_csv(
                text,
                separator=separator,
                has_header=False,
                schema=schema,
                quote_char=None,
                truncate_ragged_lines=True,
                glob=False,
            )
            .select("query", "item", value.alias(kind.value), *filter(None, [layout.subtopic]))
            .collect(engine="streaming")
        )
    except POLARS_ERRORS:
        return None
    return None if sum(frame.null_count().row(0)) else frame


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
        if not is_number(fields[value]):
            reason = f"the {layout.value} is not a number: {quote(fields[value], 30)}"
            raise InputError(
                f"{source}, line {number}: {reason}, in the line {quote(line.strip())}."
            )
        row = (fields[query], fields[item], sign * float(fields[value]))
        yield row if layout.subtopic is None else (*row, fields[layout.position(layout.subtopic)])


def _locate(again: Callable[[], Source]) -> Callable[[Sequence[int]], list[int]]:
    def locate(rows: Sequence[int]) -> list[int]:
        wanted = set(rows)
        last = max(wanted, default=-1)
        found = {}
        for row, (number, _) in enumerate(data_lines(again().lines())):
            if row > last:
                break
            if row in wanted:
                found[row] = number
        return [found[row] for row in rows]

    return locate
