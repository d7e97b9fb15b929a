"""Read vectors from tables: Parquet, NDJSON, CSV, TSV, and numbers between white space."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from judged.errors import InputError
from judged.inputs.columns import NAMES
from judged.inputs.formats import COMMENT, is_number
from judged.inputs.json import objects, parsed_lines
from judged.inputs.polars_errors import POLARS_ERRORS, reading_parquet
from judged.inputs.source import Source, decoded, not_a_table, open_source
from judged.inputs.vectors.formats import ID_NAMES, VECTORS, File, choose, choose_ids, is_index
from judged.inputs.vectors.vectors import Matrix, Vectors, casting
from judged.text import Warned, quote

LABEL_NAMES = ("label", "labels", "class", "category", "group", "target", "y")
_NOT_DIMENSIONS = {
    *ID_NAMES,
    *chain.from_iterable(NAMES.values()),
    *LABEL_NAMES,
    *("title", "text", "split", "index", ""),
} - {"y"}


def first_null(column: pl.Series) -> int | None:
    return int(column.is_null().arg_true()[0]) if column.null_count() else None


def is_dimension(name: str) -> bool:
    return (
        not is_index(name)
        and name.strip().replace("-", "_").replace(" ", "_").lower() not in _NOT_DIMENSIONS
    )


def left_out(file: File, names: Sequence[str]) -> tuple[str, ...]:
    note = f"{file.label}: {', '.join(map(quote, names))} were not taken for dimensions."
    return (note,) if names else ()


def read_parquet(file: File) -> Vectors:
    """Read the column of lists of numbers, or the columns of numbers."""
    notes: tuple[str, ...] = ()
    with reading_parquet(file.label):
        scan = pl.scan_parquet(file.path, glob=False)
        schema = scan.collect_schema()
        fitting = [name for name, dtype in schema.items() if may_be_ids(dtype)]
        ids = _named_ids(file, {name: str(dtype) for name, dtype in schema.items()}, fitting)
        lists = [name for name, dtype in schema.items() if _is_list(dtype)]
        used = [
            name
            for name, dtype in schema.items()
            if dtype.is_numeric() and name != ids and is_dimension(name)
        ]
        if file.key is None and not lists and used:
            notes = left_out(file, [name for name in schema if name not in (ids, *used)])
        else:
            # Lists of numbers are what has two dimensions.
            chosen = choose(file, {name: (0, 0) if name in lists else None for name in schema})
            if chosen not in lists:
                raise InputError(
                    f"{file.label}: column {quote(chosen)} is {schema[chosen]}; lists of numbers "
                    "are needed."
                )
            used = [chosen]
        frame = scan.select(*used, *((ids,) if ids and ids not in used else ())).collect()
    if lists:
        values = matrix_of(frame[used[0]], lambda row: f"{file.label}, row {row + 1}")
    else:
        for name in used:
            if (row := first_null(frame[name])) is not None:
                raise InputError(f"{file.label}, row {row + 1}: column {quote(name)} is missing.")
        values = frame.select(used).to_numpy()
    others = _perhaps_ids([name for name in fitting if name not in (ids, *used)])
    named = _ids_of(frame[ids], file) if ids else None
    return Vectors(values, named, file.source, notes, others=others)


def _is_list(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.List | pl.Array) and (
        dtype.inner.is_numeric() or dtype.inner == pl.Boolean
    )


def may_be_ids(dtype: pl.DataType) -> bool:
    return dtype.is_integer() or dtype in (pl.String, pl.Categorical, pl.Enum, pl.Binary)


def _named_ids(file: File, kinds: dict[str, str], fitting: list[str]) -> str | None:
    """Return the column of ids; a column with such a name and another type is an error."""
    ids = choose_ids(fitting) or next(filter(is_index, fitting), None)
    named = choose_ids([name for name in kinds if name not in fitting])
    if ids is None and named is not None:
        raise InputError(
            f"{file.label}: {quote(named)} should hold ids, texts or whole numbers; it is "
            f"{kinds[named]}. Write it as one of these, or under another name."
        )
    return ids


def _perhaps_ids(names: Sequence[str]) -> tuple[str, ...]:
    no_ids = (*LABEL_NAMES, "text", "split")
    return tuple(name for name in names if name.strip().lower() not in no_ids)


def without_repeated(ids: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    """Return ids, or None for an index of pandas that repeats: frames were put together."""
    return None if is_index(name) and len(set(ids)) < len(ids) else ids


def _ids_of(column: pl.Series, file: File) -> tuple[str, ...] | None:
    if (row := first_null(column)) is not None:
        raise InputError(f"{file.label}, row {row + 1}: the id is missing.")
    try:
        return without_repeated(tuple(column.cast(pl.String).to_list()), column.name)
    except POLARS_ERRORS:
        raise InputError(f"{file.label}: the ids are not UTF-8 text.") from None


def matrix_of(column: pl.Series, place: Callable[[int], str]) -> Any:
    if (row := first_null(column)) is not None:
        raise InputError(f"{place(row)}: the vector is missing.")
    if isinstance(column.dtype, pl.Array):
        dims = column.dtype.size
    else:
        lengths = column.list.len()
        dims = int(lengths[0]) if len(lengths) else 0
        odd = (lengths != dims).arg_true()
        if len(odd):
            row = int(odd[0])
            raise InputError(
                f"{place(row)}: the vector has {lengths[row]} dimensions, but the first has {dims}."
            )
    if not len(column) or not dims:
        return np.zeros((len(column), dims), np.float32)
    numbers = column.explode()
    if (number := first_null(numbers)) is not None:
        raise InputError(f"{place(number // dims)}: a number of the vector is missing (null).")
    if numbers.dtype.is_decimal():
        numbers = numbers.cast(pl.Float64)
    return numbers.to_numpy().reshape(-1, dims)


def read_ndjson(file: File) -> Vectors:
    source = open_source(file.path, VECTORS)
    where, first = next(objects(parsed_lines(source), file.label), ("", {}))
    if not where:
        raise InputError(f"{file.label}: there are no vectors in it.")
    shapes = {name: (0, 0) if isinstance(value, list) else None for name, value in first.items()}
    chosen = choose(file, shapes)
    kinds = {
        name: f"{type(value).__name__} in {where}"
        for name, value in first.items()
        if not isinstance(value, list)
    }
    fitting = [name for name in kinds if _is_id(first[name])]
    ids = _named_ids(file, kinds, fitting)
    others = _perhaps_ids([name for name in fitting if name != ids])
    vectors = _ndjson_at_once(file, source, chosen, ids)
    return replace(vectors or _ndjson_line_by_line(file, source, chosen, ids), others=others)


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


_DOUBTFUL = r"^(-?\d+[.eE]|true$|false$|\{|\[)"  # what polars may have made a text of


def _ndjson_at_once(file: File, source: Source, chosen: str, ids: str | None) -> Vectors | None:
    schema = {chosen: pl.List(pl.Float32), **({} if ids is None else {ids: pl.String()})}
    try:
        frame = pl.scan_ndjson(source.for_polars(), schema=schema).select(*schema).collect()
        if ids is not None and frame[ids].str.contains(_DOUBTFUL).fill_null(True).any():
            return None
        values = matrix_of(frame[chosen], lambda row: "")
    except (*POLARS_ERRORS, InputError):
        return None
    return Vectors(values, _ids_of(frame[ids], file) if ids else None, file.source)


def _ndjson_line_by_line(file: File, source: Source, chosen: str, ids: str | None) -> Vectors:
    """Read line by line, so that the error names the first bad line."""
    rows: list[Matrix] = []
    names: list[str] = []
    for where, line in objects(parsed_lines(source), file.label):
        place = f"{file.label}, {where}"
        values = line.get(chosen)
        if not isinstance(values, list):
            raise InputError(f"{place}: the vector is missing (no list {quote(chosen)}).")
        odd = (v for v in values if isinstance(v, bool) or not isinstance(v, int | float))
        bad = next(odd, None)
        if bad is not None or None in values:
            raise InputError(f"{place}: not a number: {quote(json.dumps(bad), 30)}.")
        if rows and len(values) != len(rows[0]):
            raise InputError(
                f"{place}: {len(values)} numbers, but the first vector has {len(rows[0])}."
            )
        with casting():
            rows.append(np.array([float(str(value)) for value in values]).astype(np.float32))
        if ids is not None:
            identity = line.get(ids)
            if not _is_id(identity):
                raise InputError(
                    f"{place}: the id is {quote(json.dumps(identity), 30)}, but ids must be "
                    "strings or integers."
                )
            names.append(str(identity))
    return Vectors(
        np.stack(rows), without_repeated(tuple(names), ids) if ids else None, file.source
    )


SEPARATORS = {"csv": ",", "tsv": "\t", "text": " "}


@dataclass(frozen=True)
class Layout:
    separator: str
    first: int
    width: int
    ids: int | None
    dimensions: tuple[int, ...]
    promised: int | None = None
    """The number of vectors in the first line, as word2vec writes it."""
    notes: tuple[str, ...] = ()

    def split(self, line: str) -> list[str]:
        return split(line, self.separator)


def split(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    if separator == "\t":
        return line.split("\t")
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line], skipinitialspace=True), [])
    except csv.Error as error:
        raise not_a_table(f"the line {quote(line, 30)}", error) from None


def read_text(file: File) -> Vectors:
    source = open_source(file.path, VECTORS)
    lines = _first_lines(source)
    if not lines:
        raise InputError(f"{file.label}: there are no vectors in it.")
    if file.format is None and lines[0][1].lstrip().startswith("{"):
        return read_ndjson(file)
    if file.key is not None:
        raise InputError(
            f"{file.label}: a text file holds one table; there is no {file.key!r} to choose."
        )
    separator = _separator(lines[0][1]) if file.format is None else SEPARATORS[file.format]
    layout = _layout(file, lines, separator)
    vectors = _read(file, source, layout)
    has_header = lines[0][0] < layout.first
    if has_header and layout.promised is None:
        names = [name.strip() for name in layout.split(lines[0][1])]
        if layout.ids is not None and vectors.ids is not None:
            vectors = replace(vectors, ids=without_repeated(vectors.ids, names[layout.ids]))
        used = (layout.ids, *layout.dimensions)
        others = [name for place, name in enumerate(names) if place not in used]
        vectors = replace(vectors, others=_perhaps_ids(others))
    if _may_begin_with_ids(lines, layout):
        vectors = _settle_first_column(file, source, layout, vectors)
    if layout.promised not in (None, len(vectors)):
        raise InputError(
            f"{file.label}: the first line promises {layout.promised:,} vectors, there are "
            f"{len(vectors):,}."
        )
    return vectors


def _read(file: File, source: Source, layout: Layout) -> Vectors:
    return _text_at_once(file, source, layout) or _text_line_by_line(file, source, layout)


_MANY_ROWS = 10  # so many rows do not have different whole numbers by chance
_MANY_CELLS = 16
"""As many cells do not all have a fraction by chance while those of another column have none."""
_WHOLE = re.compile(r"\d+", re.ASCII)


def _may_begin_with_ids(lines: Sequence[tuple[int, str]], layout: Layout) -> bool:
    """Return whether the first column may be ids: whole numbers, with an unlike name."""
    if layout.ids is not None or layout.dimensions[:2] != (0, 1):
        return False
    rows = [layout.split(line) for number, line in lines if number >= layout.first]
    if rows and not _WHOLE.fullmatch(rows[0][0].strip()):
        return False
    header = layout.split(lines[0][1]) if lines[0][0] < layout.first else []
    kinds = [re.sub(r"\d+", "", name).strip().lower() for name in header]
    return not kinds or (kinds[0] not in kinds[1:] and len(set(kinds[1:])) == 1)


def _settle_first_column(file: File, source: Source, layout: Layout, vectors: Vectors) -> Vectors:
    """Take a first column of whole numbers that all differ for ids or a dimension, or fail.

    It holds ids if all other columns have fractions, and is a dimension if all are like it.
    """
    first = np.asarray(vectors.values)[:, 0]
    exact = first.max(initial=0) < 2**24  # single precision holds no larger whole numbers
    if not np.isfinite(first).all() or (exact and not _all_differ(first)):
        return vectors
    with_ids = _read(
        file, source, replace(layout, ids=0, dimensions=layout.dimensions[1:], notes=())
    )
    ids, values = with_ids.ids or (), np.asarray(with_ids.values)
    if len(set(ids)) < len(ids) or not all(map(_WHOLE.fullmatch, ids)):
        return vectors
    names = layout.separator.join(("{}", "x1", "x2", "…")).replace("\t", "\\t")
    advice = f'begin the file with names of columns, as "{names}"'
    start = f"{file.label}: the first column"
    fractions = values != np.rint(values)
    varied = (values != values[:1]).any(axis=0)
    many = len(ids) >= _MANY_ROWS
    if (many and varied.any() and fractions.any(axis=0)[varied].all()) or (
        fractions.all() and fractions.size >= _MANY_CELLS
    ):
        note = (
            f"{start}, of whole numbers, was taken for ids, so it is no dimension of the vectors. "
            f"If it is one, {advice.format('x0')}."
        )
        return replace(with_ids, notes=(*vectors.notes, Warned(note)))
    if many and not all(map(_all_differ, values.T)):
        raise InputError(
            f"{start} holds whole numbers that all differ, unlike the other columns, so it could "
            f"be ids or a dimension. If it holds ids, {advice.format('id')}; if it is a dimension, "
            f"{advice.format('x0')}."
        )
    if len(ids) < 3:
        return vectors
    note = f"{start}, of whole numbers, was taken for a dimension. If it holds ids, "
    return replace(vectors, notes=(*vectors.notes, Warned(f"{note}{advice.format('id')}.")))


def _all_differ(column: Matrix) -> bool:
    """Return whether a column holds whole numbers that all differ."""
    return bool((column == np.rint(column)).all()) and len(np.unique(column)) == len(column)


def _first_lines(source: Source) -> list[tuple[int, str]]:
    """Return the first two lines that are not blank; comments are only above them."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(source.lines(), 1):
        if line.strip() and (found or not line.startswith(COMMENT)):
            found.append((number, decoded(source.label, number, line)))
            if len(found) == 2:
                break
    return found


def _separator(line: str) -> str:
    def gain(separator: str) -> tuple[int, int]:
        cells = split(line, separator)
        return sum(is_number(cell.strip()) for cell in cells), len(cells)

    return max(("\t", ",", " "), key=gain)


_DIGITS = 16  # a count of vectors or dimensions has fewer


def _layout(file: File, lines: Sequence[tuple[int, str]], separator: str) -> Layout:
    number, line = lines[0]
    cells = [cell.strip() for cell in split(line, separator)]
    below = split(lines[1][1], separator) if len(lines) > 1 else []
    after = lines[1][0] if len(lines) > 1 else number + 1
    numeric = [is_number(cell) for cell in cells]
    everything = tuple(range(len(cells)))
    if all(numeric):
        if (
            separator == " "
            and len(cells) == 2
            and all(cell.isdecimal() and len(cell) < _DIGITS for cell in cells)
            and len(below) == int(cells[1]) + 1 > 2
        ):
            return Layout(
                separator, after, len(below), 0, tuple(range(1, len(below))), int(cells[0])
            )
        if cells == [str(position) for position in everything] and len(cells) > 2:
            note = (
                f"{file.label}: the first line, {quote(line, 30)}, was taken for the names of "
                "columns."
            )
            return Layout(separator, after, len(cells), None, everything, notes=(note,))
        return Layout(separator, number, len(cells), None, everything)
    if any(numeric) and all(is_dimension(cell) for cell in cells):
        if all(numeric[1:]):
            return Layout(separator, number, len(cells), 0, everything[1:])
        bad = next(cell for cell, right in zip(cells[1:], numeric[1:], strict=True) if not right)
        raise InputError(f"{file.label}, line {number}: not a number: {quote(bad, 30)}.")
    name = choose_ids(cells)
    ids = cells.index(name) if name is not None else None
    if ids is None and (is_index(cells[0]) or (below and not is_number(below[0].strip()))):
        ids = 0
    dimensions = tuple(place for place in everything if place != ids and is_dimension(cells[place]))
    if not dimensions:
        raise InputError(
            f"{file.label}: no column holds numbers; the columns are "
            f"{', '.join(map(quote, cells))}."
        )
    others = [cells[place] for place in everything if place != ids and place not in dimensions]
    return Layout(separator, after, len(cells), ids, dimensions, notes=left_out(file, others))


_UNEVEN = (b"  ", b"\t", b"\n ", b" \n", b" \r")


def _text_at_once(file: File, source: Source, layout: Layout) -> Vectors | None:
    where: Any = source.for_polars()
    if layout.separator == " ":
        text = source.read()
        if text.startswith(b" ") or any(gap in text for gap in _UNEVEN):
            text = b"\n".join(b" ".join(line.split()) for line in text.splitlines())
        where = io.BytesIO(text)
    names = [f"column {place}" for place in range(layout.width)]
    schema: dict[str, Any] = dict.fromkeys(names, pl.String)
    schema |= dict.fromkeys((names[place] for place in layout.dimensions), pl.Float32)
    try:
        frame = pl.read_csv(
            where,
            separator=layout.separator,
            has_header=False,
            skip_lines=layout.first - 1,
            schema=schema,
            quote_char='"' if layout.separator == "," else None,
            glob=False,
        )
    except POLARS_ERRORS:
        return None
    used = [names[place] for place in layout.dimensions]
    needed = used if layout.ids is None else [*used, names[layout.ids]]
    if any(frame[name].null_count() for name in needed) or not len(frame):
        return None
    ids = None if layout.ids is None else tuple(name.strip() for name in frame[names[layout.ids]])
    return Vectors(frame.select(used).to_numpy(), ids, file.source, layout.notes)


def _text_line_by_line(file: File, source: Source, layout: Layout) -> Vectors:
    """Read line by line, so that the error names the first bad line."""
    rows: list[Matrix] = []
    ids: list[str] = []
    blank = 0
    for number, line in enumerate(source.lines(), 1):
        if number < layout.first:
            continue
        if not line.strip():
            blank = blank or number
            continue
        if blank:
            raise InputError(
                f"{file.label}, line {blank}: a blank line between vectors; remove it."
            )
        text = decoded(file.label, number, line)
        cells = [cell.strip() for cell in layout.split(text)]
        if len(cells) != layout.width:
            raise InputError(
                f"{file.label}, line {number}: expected {layout.width} fields, found {len(cells)}: "
                f"{quote(text)}"
            )
        values = [cells[place] for place in layout.dimensions]
        bad = next((cell for cell in values if not is_number(cell)), None)
        if bad is not None:
            raise InputError(f"{file.label}, line {number}: not a number: {quote(bad, 30)}.")
        if layout.ids is not None and not cells[layout.ids]:
            raise InputError(f"{file.label}, line {number}: the id is missing.")
        rows.append(pl.Series(values, dtype=pl.String).cast(pl.Float32).to_numpy())
        ids += [cells[layout.ids]] if layout.ids is not None else []
    matrix = np.stack(rows) if rows else np.zeros((0, len(layout.dimensions)), np.float32)
    return Vectors(
        matrix, tuple(ids) if layout.ids is not None else None, file.source, layout.notes
    )
