"""Tables of spans of documents: evidence of queries, retrieved chunks, and the chunks of ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.columns import GRADES_BY_ANOTHER_NAME, NAMES, called, plain, shown_header
from judged.inputs.dicts import as_id
from judged.inputs.keyed import Sheet, read_sheet
from judged.inputs.order import against_ranks
from judged.inputs.tables import DOCUMENTS, Kind
from judged.text import counted, few, listed

SPANS = Kind(
    "spans",
    "span",
    "a dict {query: [(document, start, end), …]}, or a table or file with the columns query, doc, "
    "start and end",
    given="the spans",
)
CHUNKS = Kind(
    "chunks",
    "span",
    "a dict {item: (document, start, end)}, or a table or file with the columns item, doc, start "
    "and end",
    key="item",
    given="the chunks",
)
_IDS = sorted((*DOCUMENTS.key_names, *NAMES["item"]), key=lambda name: not name.endswith("id"))
_NAMES = {
    "query": NAMES["query"],
    "item": ("item", *_IDS),
    "doc": DOCUMENTS.names,
    "start": (
        *("start", "begin", "start_char", "char_start", "start_offset", "offset_start"),
        *("start_index", "start_char_idx"),  # LangChain, LlamaIndex
    ),
    "end": (
        *("end", "stop", "end_char", "char_end", "end_offset", "offset_end"),
        *("end_index", "end_char_idx"),
    ),
    "grade": (*NAMES["grade"], *GRADES_BY_ANOTHER_NAME),
    "score": NAMES["score"],
    "rank": NAMES["rank"],
}
_VALUES: dict[str, tuple[str, ...]] = {"": (), "grade": ("grade",), "score": ("score", "rank")}
_SCORES = {plain(name) for role in ("score", "rank") for name in NAMES[role]}
_HINTS = {
    "grade": " Judgements of chunk ids need a table of chunks: judged_chunks (--judged-chunks).",
    "score": " A run of chunk ids needs a table of chunks: chunks (--chunks).",
}
_MAX_OFFSET = 2**40  # documents are laid end to end in 64 bits


class SpanTable(NamedTuple):
    """Spans of documents, as they were read."""

    frame: pl.DataFrame
    """Columns query or item, doc, start, end, and the grade or the score as `value`."""
    source: str
    """The name in messages."""
    names: list[str]
    """All ids of queries or items, also those without spans."""
    scored: bool
    """True if there are scores or ranks, or grades in a column of such a name."""
    notes: tuple[str, ...] = ()
    """Warnings about the order of a run."""


def read_spans(given: Any, kind: Kind, value: str = "") -> SpanTable:
    """Read spans with a "grade", or a "score" (minus the rank or the row, without scores)."""
    sheet = read_sheet(given, kind, kind.given, lambda cells: bool(called(_NAMES["start"], cells)))
    names: list[str] | None = None
    notes: tuple[str, ...] = ()
    if isinstance(sheet, tuple):
        names = [as_id(key, sheet[1]) for key in sheet[0]]
        sheet = _sheet_of_dict(*sheet, kind, value)
    header = sheet.frame.columns
    found: dict[str, str] = {}
    for role in ("doc", "start", "end", kind.key, *_VALUES[value]):
        if names_of_role := [x for x in called(_NAMES[role], header) if x not in found.values()]:
            found[role] = names_of_role[0]
    if missing := [role for role in (kind.key, "doc", "start", "end") if role not in found]:
        raise InputError(
            f"{sheet.source}: {listed(missing)} missing. The first line must name the columns "
            f"{kind.key}, doc, start and end; the columns are {shown_header(header)}."
            f"{_HINTS.get(value, '')}"
        )
    ids = sheet.ids(found[kind.key], kind.key)
    start, end = (_offsets(sheet, found[role], role) for role in ("start", "end"))
    refuse_first(
        start > end,
        lambda at: (
            f"{sheet.place(at)}: start {start[at]:,} is greater than end {end[at]:,}. A span is "
            "[start, end), with start before end."
        ),
    )
    if value in found:
        values = _numbers(sheet, found[value], value)
        if "rank" in found:
            notes = against_ranks(zip(ids, sheet.frame[found["rank"]], values, strict=True))
    elif "rank" in found:
        values = -_numbers(sheet, found["rank"], "rank")
    elif value == "score":
        values = -_rows(ids)
        if names is None:  # in dicts the order is meant
            notes = ("there is no column with a score or a rank, so rows are in rank order.",)
    else:
        values = 0 * _rows(ids) + 1
    documents = sheet.ids(found["doc"], "document")
    columns = {kind.key: ids, "doc": documents, "start": start, "end": end, "value": values}
    frame = pl.DataFrame(columns)
    if value == "grade":
        refuse_empty(frame, sheet.place)
    if kind is CHUNKS:
        refuse_first(
            ids.is_duplicated() & ~ids.is_first_distinct(),
            lambda at: f"{sheet.place(at)}: item {ids[at]!r} has a span already; give it one row.",
        )
    names = ids.unique(maintain_order=True).to_list() if names is None else names
    scored = any(plain(found[role]) in _SCORES for role in _VALUES[value] if role in found)
    return SpanTable(frame, sheet.source, names, scored, notes)


def tables_by_run(chunks: Any, runs: Sequence[str | None]) -> dict[str | None, SpanTable]:
    """Read the table of chunks of all runs, or of each run that has one."""
    if chunks is None:
        return {}
    if not isinstance(chunks, Mapping) or any(map(is_span, chunks.values())):
        return dict.fromkeys(runs, read_spans(chunks, CHUNKS))
    for name in chunks:
        if name not in runs:
            known = [run or "run" for run in runs]
            hint = did_you_mean(name, known) if isinstance(name, str) else "."
            raise InputError(f"chunks: there is no run {quoted(name)}{hint}")
    return {name: read_spans(table, CHUNKS) for name, table in chunks.items()}


def with_spans(frame: pl.DataFrame, chunks: SpanTable, source: str) -> pl.DataFrame:
    """Look the items of a table up in a table of chunks."""
    spans = chunks.frame.drop("value")
    joined = frame.join(spans, on="item", how="left", maintain_order="left")
    unknown = joined.filter(joined["doc"].is_null())["item"].unique(maintain_order=True).to_list()
    if unknown:
        raise InputError(
            f"{source}: {counted(len(unknown), 'chunk is', 'chunks are')} not in {chunks.source} "
            f"({few(unknown)}). Give the table of the chunks that {source} names."
        )
    return joined


def _sheet_of_dict(content: Mapping[Any, Any], source: str, kind: Kind, value: str) -> Sheet:
    """Return {query: [(document, start, end), …]} or {item: (document, start, end)} as a table."""
    header = [kind.key, "doc", "start", "end", *([value] if value else [])]
    rows = []
    for key, spans in content.items():
        name = as_id(key, source)
        for span in spans if isinstance(spans, (list, tuple)) and not is_span(spans) else [spans]:
            if not is_span(span) or len(span) >= len(header):
                raise InputError(
                    f"{source}: {kind.key} {name!r} has {quoted(span)}; {kind.phrase} are "
                    f"{kind.columns}."
                )
            rows.append((f"{kind.key} {name!r}", dict(zip(header, (name, *span), strict=False))))
    if len({len(row) for _, row in rows}) > 1:
        raise InputError(f"{source}: only some spans have a {value}; give it to all or none.")
    return Sheet.of_rows(iter(rows), source)


def is_span(given: Any) -> bool:
    """Return whether this is (document, start, end), perhaps with a grade or a score."""
    return (
        isinstance(given, (list, tuple))
        and len(given) in (3, 4)
        and not isinstance(given[1], (str, list, tuple, Mapping))
    )


def _rows(ids: pl.Series) -> pl.Series:
    return pl.Series(np.arange(1.0, len(ids) + 1))


def _numbers(sheet: Sheet, column: str, role: str) -> pl.Series:
    cells = sheet.frame[column]
    if not (cells.dtype.is_numeric() or cells.dtype == pl.String):
        raise InputError(f"{sheet.source}: the {role} is {cells.dtype}; it must be a number.")
    texts = cells.str.strip_chars() if cells.dtype == pl.String else cells
    numbers = texts.cast(pl.Float64, strict=False)
    refuse_first(
        ~numbers.is_finite().fill_null(False),
        lambda at: f"{sheet.place(at)}: the {role} is {quoted(cells[at])}; give a finite number.",
    )
    return numbers


def _offsets(sheet: Sheet, column: str, role: str) -> pl.Series:
    numbers = _numbers(sheet, column, role)
    refuse_first(
        (numbers < 0) | (numbers != numbers.floor()) | (numbers > _MAX_OFFSET),
        lambda at: (
            f"{sheet.place(at)}: the {role} is {quoted(sheet.frame[column][at])}; an offset is a "
            "whole number from 0."
        ),
    )
    return numbers.cast(pl.Int64)


def refuse_first(wrong: pl.Series, message: Callable[[int], str]) -> None:
    """Raise an error about the first row that is wrong."""
    if wrong.any():
        raise InputError(message(int(wrong.arg_true()[0])))


def refuse_empty(evidence: pl.DataFrame, place: Callable[[int], str]) -> None:
    """Raise an error if a span of evidence has no characters."""
    refuse_first(
        evidence["start"] == evidence["end"],
        lambda at: (
            f"{place(at)}: the evidence in document {evidence['doc'][at]!r} from "
            f"{evidence['start'][at]:,} to {evidence['end'][at]:,} is empty. The end is the first "
            "character after the evidence."
        ),
    )
