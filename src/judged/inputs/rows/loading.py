"""Tables with lists in them from wherever they are: files, frames, and rows of Python."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import LISTS, matching
from judged.inputs.csv import line_numbers as record_lines
from judged.inputs.csv import records
from judged.inputs.json import line_numbers as object_lines
from judged.inputs.json import objects, parse
from judged.inputs.objects import Records, from_arrow, is_record, records_of
from judged.inputs.polars_errors import reading_parquet, refusing
from judged.inputs.rows.names import RowColumns
from judged.inputs.rows.rows import Loaded
from judged.inputs.source import LineNumbers, Source
from judged.text import counted, quote

FRAME = "a data frame"
_SEPARATORS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True, eq=False)
class Headed:
    """A table of which only the names of columns are known so far."""

    header: Sequence[str]
    label: str
    load: Callable[[RowColumns], Loaded]
    """Reads the columns that are needed."""


def table_in_file(source: Source, format: str) -> Headed | None:
    """The table in a file; None where its columns have no names."""
    header = _header(source, format)
    return None if header is None else Headed(header, source.label, _loader(source, format))


def table_of(given: Any) -> Headed | None:
    """The table that a frame or rows of Python are; None of anything else."""
    if isinstance(given, Records):
        return _records(given)
    if hasattr(given, "iloc"):
        return _pandas(given) if hasattr(given, "columns") else None
    if isinstance(given, (pl.LazyFrame, pl.DataFrame)):
        return _polars(given.lazy(), FRAME)
    if hasattr(given, "__arrow_c_stream__"):
        try:
            return _polars(from_arrow(given).lazy(), FRAME)
        except InputError:
            return None  # the reader of frames says what is wrong
    return None


def document_table(source: Source) -> Headed | None:
    """Rows in a whole JSON document: a list of them, {query: row} or {column: [values]}."""
    expected = "JSON should be a list of rows with names."
    content = parse(source, source.read(), 1, expected, whole=True)
    found = records_in(content, source.label)
    return None if found is None else _records(found)


def records_in(content: Any, label: str = "a dict") -> Records | None:
    """Rows from a list of them, from {query: row}, or from {column: [values]}; None where it is
    something else."""
    if isinstance(content, list) and content and all(map(is_record, content)):
        return records_of(content, label)
    if not isinstance(content, Mapping) or not content:
        return None
    if _has_both(content):
        return _from_columns(content, label)
    rows = content.values()
    if all(isinstance(row, Mapping) for row in rows) and _has_both(next(iter(rows))):
        return records_of(({**row, "query_id": key} for key, row in content.items()), label)
    return None


def _has_both(names: Mapping[Any, Any]) -> bool:
    known = [name for name in names if isinstance(name, str)]
    return all(any(matching(role, known)) for role in LISTS)


def _from_columns(content: Mapping[Any, Any], label: str) -> Records:
    columns = {
        str(name): list(values) for name, values in content.items() if hasattr(values, "__len__")
    }
    one, height = next((name, len(values)) for name, values in columns.items())
    for other, values in columns.items():
        if len(values) != height:
            raise InputError(
                f"{label}: column {quote(one)} has {counted(height, 'value')}, but column "
                f"{quote(other)} has {len(values)}; give every column one value per row."
            )
    return Records(columns, label)


def _header(source: Source, format: str) -> list[str] | None:
    if format == "parquet":
        with reading_parquet(source.label):
            return _scanned(source).collect_schema().names()
    if format in _SEPARATORS:
        return next(records(source, _SEPARATORS[format]), (0, None))[1]
    if format == "ndjson":
        return _names(next((line for line in source.lines() if line.strip()), b""))
    if format == "json" and (head := source.head().lstrip()).startswith(b"["):
        return _names(head[1:]) or _names(source.read().lstrip()[1:])
    return None


def _names(text: bytes) -> list[str] | None:
    """The names in the object that a text begins with."""
    try:
        first, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "replace").lstrip())
    except (ValueError, RecursionError):
        return None
    return list(first) if isinstance(first, dict) else None


def _loader(source: Source, format: str) -> Callable[[RowColumns], Loaded]:
    if format == "parquet":
        return _polars(_scanned(source), source.label).load
    if format in _SEPARATORS:
        return partial(_load_delimited, source, _SEPARATORS[format])
    if format == "ndjson":
        return partial(_load_objects, source)

    def load_document(columns: RowColumns) -> Loaded:
        found = document_table(source)
        if found is None:
            raise InputError(f"{source.label}: JSON should be a list of rows with names.")
        return found.load(columns)

    return load_document


def _load_delimited(source: Source, separator: str, columns: RowColumns) -> Loaded:
    found = records(source, separator)
    _, header = next(found)
    rows = []
    for number, cells in found:
        if len(cells) != len(header):
            raise InputError(
                f"{source.label}, line {number}: {counted(len(cells), 'cell')}, but the header has "
                f"{len(header)}; put a list with commas between quotation marks."
            )
        rows.append(cells)
    read = {name: [row[header.index(name)] for row in rows] for name in columns.needed()}
    lines = LineNumbers.of(source, partial(record_lines, separator=separator))
    return Loaded(header, read, len(rows), source.label, lines)


def _load_objects(source: Source, columns: RowColumns) -> Loaded:
    rows = [row for _, row in objects(source)]
    read = {name: [row.get(name) for row in rows] for name in columns.needed()}
    lines = LineNumbers.of(source, object_lines)
    return Loaded(list(rows[0]), read, len(rows), source.label, lines)


def _polars(frame: pl.LazyFrame, label: str) -> Headed:
    def load(columns: RowColumns) -> Loaded:
        with refusing(f"{label}: cannot be read"):
            table = frame.select(columns.needed()).collect()
        return Loaded(header, dict(zip(table.columns, table, strict=True)), table.height, label)

    header = frame.collect_schema().names()
    return Headed(header, label, load)


def _pandas(frame: Any) -> Headed:
    header = [str(name) for name in frame.columns]

    def load(columns: RowColumns) -> Loaded:
        for name in columns.needed():
            if header.count(name) > 1:
                raise InputError(
                    f"{FRAME}: there are two columns {quote(name)}; name each column once."
                )
        read = {name: frame.iloc[:, header.index(name)].tolist() for name in columns.needed()}
        return Loaded(header, read, len(frame), FRAME)

    return Headed(header, FRAME, load)


def _records(given: Records) -> Headed:
    header = list(given.columns)

    def load(columns: RowColumns) -> Loaded:
        read = {name: given.columns[name] for name in columns.needed()}
        return Loaded(header, read, len(given.columns[header[0]]), given.label)

    return Headed(header, given.label, load)


def _scanned(source: Source) -> pl.LazyFrame:
    return pl.scan_parquet(
        source.path if source.data is None else io.BytesIO(source.data), glob=False
    )
