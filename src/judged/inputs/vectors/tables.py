"""Vectors in tables of typed columns: Parquet and NDJSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from judged.errors import InputError
from judged.inputs.columns import NAMES
from judged.inputs.polars_errors import POLARS_ERRORS, reading_parquet
from judged.inputs.source import Source, decoded, open_source
from judged.inputs.vectors.formats import ID_NAMES, VECTORS, File, choose, choose_ids, is_index
from judged.inputs.vectors.vectors import Matrix, Vectors, differing
from judged.text import quote

LABEL_NAMES = ("label", "labels", "class", "category", "group", "target", "y")
_NOT_DIMENSIONS = {
    *ID_NAMES,
    *chain.from_iterable(NAMES.values()),
    *LABEL_NAMES,
    "title",
    "text",
    "split",
    "index",
    "",
} - {"y"}


def is_dimension(name: str) -> bool:
    return (
        not is_index(name)
        and name.strip().replace("-", "_").replace(" ", "_").lower() not in _NOT_DIMENSIONS
    )


def left_out(file: File, names: Sequence[str]) -> tuple[str, ...]:
    return (
        (f"{file.label}: {', '.join(map(quote, names))} were not taken for dimensions.",)
        if names
        else ()
    )


def read_parquet(file: File) -> Vectors:
    with reading_parquet(file.label):
        scan = pl.scan_parquet(file.path, glob=False)
        schema = scan.collect_schema()
        ids = _named_ids(
            file,
            {name: str(dtype) for name, dtype in schema.items()},
            [name for name, dtype in schema.items() if may_be_ids(dtype)],
        )
        # Lists of numbers are what has two dimensions.
        shapes = {
            name: (0, 0) if _is_list(dtype) else (0,) if dtype.is_numeric() else None
            for name, dtype in schema.items()
        }
        if file.key is None and (0, 0) not in shapes.values():
            return _from_columns(file, scan, shapes, ids)
        chosen = choose(file, shapes)
        if shapes[chosen] != (0, 0):
            raise InputError(
                f"{file.label}: column {quote(chosen)} is {schema[chosen]}; lists of numbers are "
                "needed."
            )
        frame = scan.select(chosen, *((ids,) if ids and ids != chosen else ())).collect()
    values = matrix_of(frame[chosen], lambda row: f"{file.label}, row {row + 1}", file)
    others = [name for name, dtype in schema.items() if name != ids and may_be_ids(dtype)]
    return Vectors(
        values,
        _ids_of(frame[ids], file) if ids else None,
        file.source,
        beside=partial(_parquet_beside, scan, others),
    )


def _parquet_beside(scan: pl.LazyFrame, names: Sequence[str]) -> dict[str, list[str | None]]:
    columns = scan.select(pl.col(names).cast(pl.String, strict=False)).collect()
    return columns.to_dict(as_series=False)


def _is_list(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.List | pl.Array) and (
        dtype.inner.is_numeric() or dtype.inner == pl.Boolean
    )


def may_be_ids(dtype: pl.DataType) -> bool:
    return dtype.is_integer() or dtype in (pl.String, pl.Categorical, pl.Enum, pl.Binary)


def _named_ids(file: File, kinds: dict[str, str], fitting: list[str]) -> str | None:
    """The column of ids; one that is named so and cannot be is refused: rows would have numbers for
    ids, and nobody would know."""
    found = choose_ids(fitting) or next(filter(is_index, fitting), None)
    named = choose_ids([name for name in kinds if name not in fitting])
    if found is None and named is not None:
        raise InputError(
            f"{file.label}: {quote(named)} should hold ids, texts or whole numbers; it is "
            f"{kinds[named]}. Write it as one of these, or under another name."
        )
    return found


def _from_columns(
    file: File, scan: pl.LazyFrame, shapes: dict[str, Any], ids: str | None
) -> Vectors:
    dimensions = [
        name for name, shape in shapes.items() if shape and name != ids and is_dimension(name)
    ]
    if not dimensions:
        columns = ", ".join(map(quote, shapes))
        raise InputError(
            f"{file.label}: no column holds lists of numbers, or numbers; the columns are "
            f"{columns}."
        )
    frame = scan.collect()
    for name in dimensions:
        if frame[name].null_count():
            row = int(frame[name].is_null().arg_true()[0])
            raise InputError(f"{file.label}, row {row + 1}: column {quote(name)} is missing.")
    others = [name for name in shapes if name != ids and name not in dimensions]
    return Vectors(
        frame.select(dimensions).to_numpy(),
        _ids_of(frame[ids], file) if ids else None,
        file.source,
        left_out(file, others),
        beside=partial(
            _parquet_beside, scan, [name for name in others if may_be_ids(frame[name].dtype)]
        ),
    )


def without_repeated(ids: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    """Return ids, or None for an index of pandas that repeats: frames were put together."""
    return None if is_index(name) and len(set(ids)) < len(ids) else ids


def _ids_of(column: pl.Series, file: File) -> tuple[str, ...] | None:
    if column.null_count():
        raise InputError(
            f"{file.label}, row {int(column.is_null().arg_true()[0]) + 1}: the id is missing."
        )
    try:
        return without_repeated(tuple(column.cast(pl.String).to_list()), column.name)
    except POLARS_ERRORS:
        raise InputError(f"{file.label}: the ids are not UTF-8 text.") from None


def matrix_of(column: pl.Series, place: Callable[[int], str], file: File) -> Any:
    """A matrix from a column of lists, which must be of one length with no gaps."""
    if column.null_count():
        raise InputError(f"{place(int(column.is_null().arg_true()[0]))}: the vector is missing.")
    if isinstance(column.dtype, pl.Array):
        dims = column.dtype.size
    else:
        lengths = column.list.len()
        dims = int(lengths[0]) if len(lengths) else 0
        odd = (lengths != dims).arg_true()
        if len(odd):
            row = int(odd[0])
            raise InputError(differing(place(row), row, int(lengths[row]), dims))
    if not len(column) or not dims:
        return np.zeros((len(column), dims), np.float32)
    numbers = column.explode()
    if numbers.null_count():
        raise InputError(
            f"{place(int(numbers.is_null().arg_true()[0]) // dims)}: a number of the vector is "
            "missing (null)."
        )
    if numbers.dtype.is_decimal():
        numbers = numbers.cast(pl.Float64)
    return numbers.to_numpy().reshape(-1, dims)


def read_ndjson(file: File) -> Vectors:
    """One object per line, with a list of numbers in it; the first names the fields."""
    source = open_source(file.path, VECTORS)
    number, first = next(_objects(source), (0, {}))
    if not number:
        raise InputError(f"{file.label}: there is no vector in it.")
    shapes = {name: (0, 0) if isinstance(value, list) else None for name, value in first.items()}
    chosen = choose(file, shapes)
    kinds = {
        name: f"{type(value).__name__} in line {number}"
        for name, value in first.items()
        if not isinstance(value, list)
    }
    ids = _named_ids(
        file,
        kinds,
        [
            name
            for name, value in first.items()
            if isinstance(value, str | int) and not isinstance(value, bool)
        ],
    )
    vectors = _ndjson_at_once(file, source, chosen, ids, first)
    if vectors is None:
        vectors = _ndjson_line_by_line(file, source, chosen, ids)
    others = [name for name in kinds if name != ids]
    return replace(vectors, beside=partial(_ndjson_beside, source, others))


def _ndjson_beside(source: Source, names: Sequence[str]) -> dict[str, list[str | None]]:
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    for _, line in _objects(source):
        for name, column in columns.items():
            value = line.get(name)
            column.append(str(value) if isinstance(value, str | int) else None)
    return columns


_DOUBTFUL = r"^(-?\d+[.eE]|true$|false$|\{|\[)"
"""What polars may have made a text of."""


def _ndjson_at_once(
    file: File, source: Source, chosen: str, ids: str | None, first: dict[str, Any]
) -> Vectors | None:
    """None where polars cannot read it, or might take something for a number or an id."""
    schema: dict[str, Any] = {chosen: pl.List(pl.Float32)}
    if ids is not None:
        schema[ids] = pl.Int64 if isinstance(first[ids], int) else pl.String
    try:
        frame = pl.scan_ndjson(source.for_polars(), schema=schema).select(*schema).collect()
        if any(frame[name].null_count() for name in schema):
            return None
        if (
            ids is not None
            and frame[ids].dtype == pl.String
            and frame[ids].str.contains(_DOUBTFUL).any()
        ):
            return None
        values = matrix_of(frame[chosen], lambda row: "", file)
    except (*POLARS_ERRORS, InputError):
        return None
    return Vectors(values, _ids_of(frame[ids], file) if ids else None, file.source)


def _ndjson_line_by_line(file: File, source: Source, chosen: str, ids: str | None) -> Vectors:
    """The second look: names the first bad line, or returns the vectors."""
    rows: list[Matrix] = []
    names: list[str] = []
    for number, line in _objects(source):
        place = f"{file.label}, line {number}"
        values = line.get(chosen)
        if not isinstance(values, list):
            raise InputError(f"{place}: the vector is missing (no list {quote(chosen)}).")
        bad = next(
            (
                value
                for value in values
                if isinstance(value, bool) or not isinstance(value, int | float)
            ),
            None,
        )
        if bad is not None or None in values:
            raise InputError(f"{place}: not a number: {quote(json.dumps(bad), 30)}.")
        if rows and len(values) != len(rows[0]):
            raise InputError(
                f"{place}: {len(values)} numbers, but the first vector has {len(rows[0])}."
            )
        rows.append(numbers_of(values))
        if ids is not None:
            identity = line.get(ids)
            if isinstance(identity, bool) or not isinstance(identity, str | int):
                raise InputError(
                    f"{place}: the id is {quote(json.dumps(identity), 30)}, but ids must be "
                    "strings or integers."
                )
            names.append(str(identity))
    return Vectors(
        np.stack(rows), without_repeated(tuple(names), ids) if ids else None, file.source
    )


def _objects(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(source.lines(), 1):
        if not line.strip():
            continue
        try:
            content = json.loads(decoded(source.label, number, line))
        except (ValueError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{source.label}, line {number}: not valid JSON: {quote(line)}; one object per "
                "line is read."
            ) from None
        if not isinstance(content, dict):
            raise InputError(
                f"{source.label}, line {number}: expected a JSON object, found {quote(line)}."
            )
        yield number, content


def numbers_of(values: Sequence[Any]) -> Matrix:
    return np.array([float(str(value)) for value in values], np.float64)
