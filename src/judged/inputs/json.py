"""NDJSON, and JSON documents, which are read like dicts or like rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import as_columns, choose_columns, may_be_grade
from judged.inputs.dicts import lookup_from_dict, numbered
from judged.inputs.frames import NamedRow, frame_of_rows, wrong_value
from judged.inputs.source import LineNumbers, Source
from judged.inputs.tables import ROWS_PER_BATCH, Lookup, unchecked_table
from judged.text import quote


def read_ndjson(source: Source, format: str = "ndjson") -> Any:
    """Read a row from each line."""
    rows = objects(parsed_lines(source), source.label)
    return _rows_table(source, rows, LineNumbers(source, line_numbers))


def read_json(source: Source, format: str = "json") -> Any:
    """Read a dict of queries, a document of another tool, or a list of rows."""
    content = parse_document(source, _expected(source))
    if isinstance(content, dict) and content:
        as_columns(source.columns).record(source.kind, source.label, "has no names of columns")
        lookup = lookup_from_dict(content, source.kind, source.label)
        _refuse_other_than_numbers(lookup, source)
        return lookup
    if content != {} and not isinstance(content, list):
        raise InputError(f"{source.label}: {_expected(source)}")
    return _rows_table(source, objects(numbered(content), source.label, _expected(source)))


def _rows_table(source: Source, rows: Iterator[NamedRow], locate: LineNumbers | None = None) -> Any:
    """Read rows in batches; the rows of the first batch name the columns."""
    batch = list(islice(rows, ROWS_PER_BATCH))
    if not batch:
        raise InputError(f"{source.label}: holds no rows.")
    header = list(dict.fromkeys(chain.from_iterable(row for _, row in batch)))
    columns = choose_columns(header, source.kind, source.label, source.columns)
    columns = columns.with_ranks(list(map(row.get, header)) for _, row in batch)
    frames, notes = [], dict[str, None]()
    while batch:
        frame, more = frame_of_rows(batch, source, columns, header)
        frames.append(frame)
        notes.update(dict.fromkeys(more))
        batch = list(islice(rows, ROWS_PER_BATCH))
        new = {name for _, row in batch for name in row}.difference(header)
        if columns.value is None and any(map(may_be_grade, new)):
            raise InputError(f"{source.label}: some rows have a grade and others none.")
    return unchecked_table(
        source.kind,
        pl.concat(frames),
        source.label,
        tuple(notes),
        locate,
        may_be_run=columns.may_be_run,
    )


def _expected(source: Source) -> str:
    value = source.kind.value
    return (
        f"JSON should be {{query: {{item: {value}}}}}, {{query: [item, …]}} or "
        f"{{query: [[item, {value}], …]}}, or a list of rows with names."
    )


def _refuse_other_than_numbers(lookup: Lookup, source: Source) -> None:
    for query, items in lookup.lists.items():
        for item, value in items.items():
            for number in value.values() if lookup.by_subtopic else (value,):
                if type(number) not in (int, float):
                    place = f"{source.label}, query {quote(query, 30)}, item {quote(item, 30)}"
                    raise wrong_value(number, source.kind.value, place, is_number=True)


def objects(rows: Iterable[tuple[str, Any]], label: str, expected: str = "") -> Iterator[NamedRow]:
    """Yield rows with their places; one without names is an error that tells what is expected."""
    for place, row in rows:
        if not isinstance(row, Mapping):
            found = quote(json.dumps(row, ensure_ascii=False, default=str))
            what = expected or f"expected a JSON object, found {found}."
            raise InputError(f"{label}, {place}: {what}")
        yield place, row


def parse_document(source: Source, expected: str) -> Any:
    return _parse(source, source.read(), 1, source.label, expected)


def parsed_lines(source: Source, expected: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the JSON of each line that is not blank, with its place."""
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            place = f"line {number}"
            yield place, _parse(source, line, number, f"{source.label}, {place}", expected)


def _parse(source: Source, text: bytes, line: int, place: str, expected: str) -> Any:
    """Parse JSON that begins in a line of a source."""
    try:
        return _DISTINCT.decode(text.decode())
    except UnicodeDecodeError as error:
        number = line + text.count(b"\n", 0, error.start)
        raise InputError(
            f"{source.label}, line {number}: not UTF-8 text. Convert the file to UTF-8 first."
        ) from None
    except json.JSONDecodeError as error:
        lines = error.doc.split("\n")[: error.lineno]
        bad = next((text for text in reversed(lines) if text.strip()), "")
        cut = "" if error.doc[error.pos :].strip() else " The text may be cut off here."
        raise InputError(
            f"{source.label}, line {line + error.lineno - 1}: not valid JSON ({error.msg}, column "
            f"{error.colno}): {quote(bad)}.{cut}"
        ) from None
    except ValueError as error:  # a name twice, or an integer with thousands of digits
        raise InputError(f"{place}: the JSON cannot be read ({error}).") from None
    except RecursionError:
        raise InputError(f"{source.label}: the JSON is nested too deeply. {expected}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{quote(twice, 30)} occurs twice in one object")
    return content


_DISTINCT = json.JSONDecoder(object_pairs_hook=_distinct)


def line_numbers(source: Source) -> Iterator[int]:
    return (number for number, line in enumerate(source.lines(), 1) if line.strip())
