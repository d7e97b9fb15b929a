"""How much each query weighs, as traffic does, from a dict, a frame or a file."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, quoted
from judged.inputs.columns import beside_query, candidates
from judged.inputs.dicts import as_id
from judged.inputs.tables import Kind, QueryWeights
from judged.options import real
from judged.text import counted, quote

if TYPE_CHECKING:
    from judged.inputs.source import Source

GIVEN = "the weights given"
WEIGHTS = Kind("weights of queries", "weight", "2 columns: query, weight")
NAMES = (
    *("weight", "weights", "traffic", "frequency", "freq", "count", "volume", "clicks"),
    *("impressions", "searches"),
)
"""What a column of weights may be called; one of two columns may have any name."""
FORMS = "a dict {query: weight}, a table or a file"


def read_weights(given: Any) -> QueryWeights:
    """How much each query weighs: {query: weight}, a frame or a file with the columns query and
    weight.

    A file is Parquet, JSON, NDJSON, comma- or tab-separated with or without a header, or has a
    query and a weight per line.
    """
    if isinstance(given, QueryWeights):
        return given
    if isinstance(given, (str, PathLike)):
        from judged.inputs.source import open_source

        source = open_source(Path(given), WEIGHTS)
        return QueryWeights(_checked(_of_file(source), source.label), source.label)
    is_series = type(given).__name__ == "Series" and hasattr(given, "to_dict")  # of pandas
    is_pairs = is_series or isinstance(given, Mapping)
    rows = _of_mapping(given) if is_pairs else _of_table(given, GIVEN)
    return QueryWeights(_checked(rows, GIVEN))


Row = tuple[str, Any, Any]
"""Where it stands (", line 3" of a file), the query, and its weight."""


def _checked(rows: Iterable[Row], source: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for place, given, weight in rows:
        if given is None or given == "":
            raise InputError(f"{source}{place}: the query is missing.")
        query = as_id(given, f"{source}{place}")
        if query in found:
            raise InputError(
                f"{source}{place}: query {query!r} has a weight already; give each query one, if "
                "need be the sum."
            )
        number = real(weight)
        if number is None or number < 0:
            raise InputError(
                f"{source}{place}: the weight of query {query!r} is "
                f"{'missing' if weight is None or weight == '' else quoted(weight)}; a weight is "
                "a finite number from 0."
            )
        found[query] = number
    if not found:
        raise InputError(f"{source}: holds no rows.")
    return found


def _of_mapping(given: Mapping[Any, Any]) -> Iterator[Row]:
    return (("", query, weight) for query, weight in given.items())


def _of_table(given: Any, source: str) -> Iterator[Row]:
    """The rows of a frame, or of a list of dicts."""
    if isinstance(given, (list, tuple)) and given and all(isinstance(x, Mapping) for x in given):
        return _of_rows([(f", row {at}", row) for at, row in enumerate(given, 1)], source)
    if type(given).__name__ == "LazyFrame" and hasattr(given, "collect"):
        given = given.collect()
    if not hasattr(given, "columns") and not hasattr(given, "__arrow_c_stream__"):
        raise InputError(f"weights of queries are {FORMS}; got {type(given).__name__}.")
    if type(given).__module__.partition(".")[0] not in ("pandas", "polars"):
        from judged.inputs.objects import from_arrow

        given = from_arrow(given)
    header = [str(name) for name in given.columns]
    columns = (list(given[given.columns[at]]) for at in _chosen(header, source))
    return ((f", row {at}", *pair) for at, pair in enumerate(zip(*columns, strict=True), 1))


def _of_rows(rows: Sequence[tuple[str, Mapping[str, Any]]], source: str) -> Iterator[Row]:
    header = list(dict.fromkeys(name for _, row in rows for name in row))
    query, weight = (header[at] for at in _chosen(header, source))
    return ((place, row.get(query), row.get(weight)) for place, row in rows)


def _chosen(header: Sequence[str], source: str) -> tuple[int, int]:
    """The columns of query and weight."""
    return beside_query(header, source, "weight", NAMES)


def _of_file(source: Source) -> Iterator[Row]:
    from judged.inputs.json import parse
    from judged.inputs.polars_errors import reading_parquet
    from judged.inputs.source import decoded

    if source.head().startswith(b"PAR1"):
        import polars as pl

        with reading_parquet(source.label):
            return _of_table(pl.read_parquet(source.for_polars()), source.label)
    start = source.head().lstrip()[:1]
    if start == b"[" or (start == b"{" and not _is_ndjson(source)):
        expected = "JSON should be {query: weight}, or a list of {query: …, weight: …}."
        whole = parse(source, source.read(), 1, expected, whole=True)
        if isinstance(whole, Mapping):
            return _of_mapping(whole)
        if not whole or not all(isinstance(row, Mapping) for row in whole):
            raise InputError(f"{source.label}: {expected}")
        return _of_table(whole, source.label)
    lines = ((at, decoded(source.label, at, line)) for at, line in enumerate(source.lines(), 1))
    numbered = [(at, line) for at, line in lines if line.strip()]
    if start == b"{":
        expected = "A line should be {query: …, weight: …}."
        rows = [
            (f", line {at}", parse(source, line.encode(), at, expected)) for at, line in numbered
        ]
        if odd := next((place for place, row in rows if not isinstance(row, Mapping)), None):
            raise InputError(f"{source.label}{odd}: {expected}")
        return _of_rows(rows, source.label)
    return _of_lines(numbered, source.label)


def _is_ndjson(source: Source) -> bool:
    """Whether the first line is an object of its own, and about one query."""
    first = next((line for line in source.lines() if line.strip()), b"")
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and bool(candidates("query", list(row))) and len(row) > 1


def _of_lines(lines: Sequence[tuple[int, str]], source: str) -> Iterator[Row]:
    first = lines[0][1] if lines else ""
    separator = next((each for each in ("\t", ",", ";") if each in first), None)
    if separator is None:
        cells = [(at, line.split()) for at, line in lines]
    else:
        reader = csv.reader((line for _, line in lines), delimiter=separator)
        try:
            cells = [(lines[reader.line_num - 1][0], list(map(str.strip, row))) for row in reader]
        except csv.Error as error:
            from judged.inputs.source import not_a_table

            place = f"{source}, line {lines[reader.line_num - 1][0]}"
            raise not_a_table(place, error) from None
    header = cells[0][1] if cells else []
    places = (0, 1)
    if candidates("query", header):
        places = _chosen(header, source)
        cells = cells[1:]
    for at, row in cells:
        if len(row) <= max(places) or (not candidates("query", header) and len(row) != 2):
            raise InputError(
                f"{source}, line {at}: expected a query and its weight, found "
                f"{counted(len(row), 'field')}: {quote(' '.join(row))}."
            )
        query, weight = (row[place] for place in places)
        yield f", line {at}", query, _number(weight)


def _number(text: str) -> Any:
    """A cell as a number, or as it is where it is none."""
    try:
        return text if "_" in text else float(text)
    except ValueError:
        return text
