"""Labels of vectors from files: one for each vector, or several. They stay exact: texts, or whole
numbers of 64 bits."""

from __future__ import annotations

import json
import os
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judged.errors import InputError
from judged.inputs.categories import read_categories
from judged.inputs.polars_errors import reading_parquet
from judged.inputs.source import Source, decoded, open_source
from judged.inputs.tables import Kind
from judged.inputs.vectors.containers import array_of_npz, choose_named
from judged.inputs.vectors.formats import File, choose_ids, detected, file_of
from judged.inputs.vectors.npy import NPY_ERRORS, refuse_objects
from judged.inputs.vectors.tables import LABEL_NAMES
from judged.inputs.vectors.text import SEPARATORS, split
from judged.text import quote

LABELS = Kind("labels", "label", "one label per line")
_REVISITED = Kind("JSON", "row", "the lists easy, hard and junk of item rows for each query")
_KNOWN = ("npy", "npz", "parquet", "csv", "tsv", "text")


def labels_from(
    path: str | os.PathLike[str], *, key: str | None = None
) -> list[str] | NDArray[Any]:
    """One label per vector: lines of text, a column of a CSV, TSV or Parquet file, or an array of
    a .npy or .npz file.

    A column or array that is not called "label" or the like is chosen by `key`, or as "path::key".
    """
    file = _detected(path, key)
    if file.format in ("npy", "npz"):
        return _checked_array(file, _array(file), 1)
    if file.format == "parquet":
        return _from_parquet(file)
    lines = _lines(open_source(file.path, LABELS))
    while lines and not lines[-1]:
        lines.pop()
    labels, first = (
        (lines, 1)
        if file.format in (None, "text")
        else _column(file, lines, SEPARATORS[file.format])
    )
    for number, label in enumerate(labels, first):
        if not label:
            raise InputError(f"{file.label}, line {number}: the label is missing.")
    if not labels:
        raise InputError(f"{file.label}: there is no label in it.")
    return labels


def labels_lists_from(path: str | os.PathLike[str], *, key: str | None = None) -> list[list[str]]:
    """Several labels per vector, one line per vector: between semicolons, or else commas, or else
    white space. A blank line has none.

    Also a column of such texts in a CSV or TSV file, or of lists in a Parquet file; or a matrix of
    0 and 1 in a .npy or .npz file, where the number of a column is a label.
    """
    file = _detected(path, key)
    if file.format in ("npy", "npz"):
        matrix = _checked_array(file, _array(file), 2)
        if not np.isin(matrix, (0, 1)).all():
            raise InputError(
                f"{file.label}: several labels per vector are a matrix of 0 and 1; it has other "
                "numbers."
            )
        return [[str(place) for place in np.flatnonzero(row)] for row in matrix]
    if file.format == "parquet":
        column = _parquet_column(file)
        if not isinstance(column.dtype, pl.List | pl.Array):
            raise InputError(
                f"{file.label}: column {quote(column.name)} is {column.dtype}; lists of labels are "
                "needed."
            )
        return [[str(label) for label in _texts(file, row).to_list()] for row in column]
    lines = _lines(open_source(file.path, LABELS))
    if file.format in ("csv", "tsv"):
        separator = SEPARATORS[file.format]
        if file.key or choose_ids(split(lines[0], separator), LABEL_NAMES):
            lines, _ = _column(file, lines, separator)
    mark = next((mark for mark in ";," if any(mark in line for line in lines)), None)
    parts = [[part.strip() for part in line.split(mark)] for line in lines]
    if not any(chain.from_iterable(parts)):
        raise InputError(f"{file.label}: there is no label in it.")
    return [[part for part in each if part] for each in parts]


def categories_from(path: str | os.PathLike[str], *, key: str | None = None) -> Any:
    """The items' categories: one label an item, as `labels_from` reads them, or a table of items
    and their categories."""
    file = _detected(path, key)
    if file.key is None and file.format not in ("npy", "npz"):
        try:
            return read_categories(path)
        except InputError as error:
            try:
                return labels_from(path)
            except InputError:
                raise error from None
    return labels_from(path, key=key)


def revisited_from(path: str | os.PathLike[str]) -> list[dict[str, list[int]]]:
    """The lists easy, hard and junk of the revisited Oxford and Paris benchmarks, from JSON: a
    list, one entry per query.

    Their own files are pickles, which can run any program when they are read; write `gnd` of such a
    file as JSON.
    """
    file = file_of(path, None)
    try:
        data = file.path.read_bytes()
    except (OSError, ValueError):
        data = open_source(
            file.path, _REVISITED
        ).read()  # standard input; what cannot be read is refused in the usual words
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(
            f"{file.label}: is not JSON. The benchmark's own pickle is written so by "
            "json.dump(pickle.load(f)['gnd'], …)."
        ) from None
    queries = given.get("gnd") if isinstance(given, dict) else given
    parts = ("easy", "hard", "junk")
    if not isinstance(queries, list) or not all(
        isinstance(each, dict) and all(_is_rows(each.get(part)) for part in parts)
        for each in queries
    ):
        raise InputError(
            f"{file.label}: a list is needed, with the lists easy, hard and junk of item rows for "
            "each query."
        )
    return queries


def _is_rows(given: object) -> bool:
    """Whether it is a list of whole numbers."""
    return isinstance(given, list) and all(
        isinstance(each, int) and not isinstance(each, bool) for each in given
    )


def _detected(path: str | os.PathLike[str], key: str | None) -> File:
    file = detected(path, LABELS, key=key)
    if file.format is not None and file.format not in _KNOWN:
        raise InputError(
            f"{file.label}: labels are not read from {file.format} files; from {', '.join(_KNOWN)}."
        )
    if file.key is not None and file.format in (None, "text"):
        raise InputError(
            f"{file.label}: a text file holds one label per line; there is no {file.key!r} to "
            "choose."
        )
    return file


def _array(file: File) -> NDArray[Any]:
    if file.format == "npz":
        return array_of_npz(file, LABEL_NAMES)
    try:
        return np.asarray(np.lib.format.open_memmap(file.path, mode="r"))
    except NPY_ERRORS as error:
        if "Python objects" in str(error):
            refuse_objects(file, np.dtype(object), "labels")
        raise file.damaged("npy", error) from None


def _checked_array(file: File, labels: NDArray[Any], dimensions: int) -> NDArray[Any]:
    if labels.ndim == dimensions + 1 and labels.shape[-1] == 1:
        labels = labels[..., 0]
    if labels.ndim != dimensions:
        needed = (
            "one label per vector is needed"
            if dimensions == 1
            else "a matrix with a row for each vector is needed"
        )
        raise InputError(f"{file.label}: {needed}; got an array of shape {labels.shape}.")
    if labels.dtype.kind == "S":
        try:
            return np.char.decode(labels, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{file.label}: the labels are not UTF-8 text.") from None
    if labels.dtype.kind not in "biufU":
        raise InputError(
            f"{file.label}: labels must be texts or whole numbers; got {labels.dtype}."
        )
    if not len(labels):
        raise InputError(f"{file.label}: there is no label in it.")
    return labels


def _parquet_column(file: File) -> pl.Series:
    with reading_parquet(file.label):
        scan = pl.scan_parquet(file.path, glob=False)
        column = (
            scan.select(choose_named(file, scan.collect_schema().names(), LABEL_NAMES))
            .collect()
            .to_series()
        )
    if column.null_count():
        raise InputError(
            f"{file.label}, row {int(column.is_null().arg_true()[0]) + 1}: the label is missing."
        )
    if not len(column):
        raise InputError(f"{file.label}: there is no label in it.")
    return column


def _texts(file: File, column: pl.Series) -> pl.Series:
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if column.dtype.is_integer() or column.dtype == pl.Boolean or not len(column):
        return column
    raise InputError(
        f"{file.label}: labels must be texts or whole numbers; column {quote(column.name)} is "
        f"{column.dtype}."
    )


def _from_parquet(file: File) -> list[str] | NDArray[Any]:
    column = _texts(file, _parquet_column(file))
    return column.to_list() if column.dtype == pl.String else column.to_numpy()


def _lines(source: Source) -> list[str]:
    return [
        decoded(source.label, number, line).strip() for number, line in enumerate(source.lines(), 1)
    ]


def _column(file: File, lines: list[str], separator: str) -> tuple[list[str], int]:
    """The labels in a column that the first line names, and the line of the first; or all lines,
    where they have no columns."""
    header = [cell.strip() for cell in split(lines[0], separator)] if lines else []
    if len(header) == 1 and file.key is None and header[0].lower() not in LABEL_NAMES:
        return [(split(line, separator) or [""])[0].strip() for line in lines], 1
    place = header.index(choose_named(file, header, LABEL_NAMES))
    labels = []
    for number, line in enumerate(lines[1:], 2):
        cells = split(line, separator)
        if line and len(cells) != len(header):
            raise InputError(
                f"{file.label}, line {number}: expected {len(header)} fields, found {len(cells)}: "
                f"{quote(line)}"
            )
        labels.append(cells[place].strip() if line else "")
    return labels, 2
