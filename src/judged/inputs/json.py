"""NDJSON, and JSON documents, which are read like dicts or like rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import as_columns, choose_columns, may_be_grade
from judged.inputs.dicts import lookup_from_dict
from judged.inputs.frames import NamedRow, frame_of_rows, wrong_value
from judged.inputs.source import LineNumbers, Source
from judged.inputs.tables import (
    JUDGEMENTS,
    ROWS_PER_BATCH,
    RUN,
    Lookup,
    unchecked_table,
)
from judged.text import quote


def read_ndjson(source: Source, format: str = "ndjson") -> Any:
    """Read a row from each line."""
    return _rows_table(source, objects(source), LineNumbers(source, line_numbers))


def read_json(source: Source, format: str = "json") -> Any:
    """Read a dict of queries, a document of another tool, or a list of rows."""
    content = parse_document(source, _expected(source))
    if isinstance(content, dict) and content:
        as_columns(source.columns).record(source.kind, source.label, "has no names of columns")
        lookup = lookup_from_dict(content, source.kind, source.label)
        _refuse_other_than_numbers(lookup, source)
        return lookup
    if content not in ([], {}) and (
        not isinstance(content, list) or not all(isinstance(row, dict) for row in content)
    ):
        raise InputError(f"{source.label}: {_expected(source)}")
    return _rows_table(source, ((f"row {at}", row) for at, row in enumerate(content, 1)))


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
    if source.kind not in (RUN, JUDGEMENTS):
        return "A line should be an object with names of columns."
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


def objects(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, content in parsed_lines(source, _expected(source)):
        if not isinstance(content, dict):
            raise InputError(
                f"{source.label}, line {number}: expected a JSON object, found "
                f"{quote(json.dumps(content, ensure_ascii=False))}."
            )
        yield f"line {number}", content


def parse(source: Source, text: bytes, line: int, expected: str, *, whole: bool = False) -> Any:
    """Parse JSON that begins in a line of a source, its `whole` text or a part."""

    def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            place = source.label if whole else f"{source.label}, line {line}"
            raise InputError(f"{place}: {quote(twice, 30)} occurs twice in one object.")
        return content

    try:
        return json.loads(text.decode(), object_pairs_hook=without_repetition)
    except InputError:
        raise
    except UnicodeDecodeError as error:
        number = line + text.count(b"\n", 0, error.start)
        raise InputError(
            f"{source.label}, line {number}: not UTF-8 text. Convert the file to UTF-8 first."
        ) from None
    except json.JSONDecodeError as error:
        lines = error.doc.split("\n")[: error.lineno]
        bad = next((text for text in reversed(lines) if text.strip()), "")
        cut = "" if error.doc[error.pos :].strip() else " The text may be cut off here."
        place = f"{source.label}, line {line + error.lineno - 1}"
        raise InputError(
            f"{place}: not valid JSON ({error.msg}, column {error.colno}): {quote(bad)}.{cut}"
        ) from None
    except ValueError as error:  # an integer with thousands of digits
        raise InputError(f"{source.label}: the JSON cannot be read ({error}).") from None
    except RecursionError:
        raise InputError(f"{source.label}: the JSON is nested too deeply. {expected}") from None


def parse_document(source: Source, expected: str) -> Any:
    return parse(source, source.read(), 1, expected, whole=True)


def parsed_lines(source: Source, expected: str) -> Iterator[tuple[int, Any]]:
    """Yield the JSON of each line that is not blank, with the number of the line."""
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            try:
                yield number, _DISTINCT.decode(line.decode())
            except (ValueError, RecursionError):  # which `parse` explains
                yield number, parse(source, line, number, expected)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError
    return content


_DISTINCT = json.JSONDecoder(object_pairs_hook=_distinct)


def line_numbers(source: Source) -> Iterator[int]:
    return (number for number, line in enumerate(source.lines(), 1) if line.strip())
