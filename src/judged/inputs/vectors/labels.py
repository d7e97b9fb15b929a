"""Read labels of vectors from files, and join them with the vectors by id.

Labels stay exact: texts, or whole numbers of 64 bits.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from judged.errors import InputError, quoted
from judged.inputs.json import parse_document
from judged.inputs.keyed import Sheet, read_categories, read_sheet
from judged.inputs.polars_errors import reading_parquet
from judged.inputs.source import decoded, open_source
from judged.inputs.tables import Kind
from judged.inputs.vectors.arrays import choose_named, labelled_arrays, open_npy
from judged.inputs.vectors.formats import File, choose_ids, detected, is_index
from judged.inputs.vectors.tables import LABEL_NAMES, SEPARATORS, first_null, may_be_ids, split
from judged.inputs.vectors.vectors import ColumnIds, Vectors, is_of_pandas, refuse_other_ids
from judged.text import few, quote

_IN_MEMORY = "the labels"
"""The source of labels that come from no file, but from a Series or a dict."""


@dataclass(frozen=True, eq=False)
class LabelTable(Sequence[Any]):
    """Labels and the ids of their vectors, in the order of the table; several labels are a list."""

    ids: tuple[str, ...] | None  # None where no column is named as ids are
    labels: Sequence[Any] | np.ndarray[Any, Any]
    source: str = _IN_MEMORY
    several: bool = False
    """True if each vector has a list of labels; lists of rows with the same id are joined."""
    unnamed: bool = False  # whether the ids may be row numbers: an index without a name
    others: tuple[tuple[str, ...], ...] = ()  # columns that are ids if they hold all of the vectors

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, row: Any) -> Any:
        return self.labels[row]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    def of(self, vectors: Vectors) -> Any:
        """Return the labels in the order of some vectors."""
        if vectors.ids is None:
            if self.ids is not None and not self.unnamed:
                self._refuse_another_order(vectors)
                refuse_other_ids(vectors, self.ids, "labels")
            return self.labels
        if self.ids == vectors.ids:
            return self.labels
        known = set(vectors.ids)
        if self.ids is None or not known <= set(self.ids):
            column = next((other for other in self.others if known <= set(other)), None)
            if column is not None:
                return replace(self, ids=column).by_name(vectors)
        if self.ids is None:
            return self.labels
        if self.unnamed:
            self._refuse_another_order(vectors)
            numbers = self.ids == tuple(map(str, range(len(vectors))))
            if numbers or (known.isdisjoint(self.ids) and all(map(str.isdecimal, self.ids))):
                return self.labels
        return self.by_name(vectors)

    def _refuse_another_order(self, vectors: Vectors) -> None:
        """Raise an error if the ids may as well be row numbers, and say another order."""
        names, ids = vectors.names(), self.ids or ()
        if ids != names and len(ids) == len(names) and set(ids) == set(names):
            raise InputError(
                f"{self.source}: its ids are those of {vectors.source} in another order, and on "
                "one side they may be row numbers, so labels could be meant by id or by row. Give "
                "both sides a column (or index) id to join by id, or leave the ids out"
                f"{self._by_row} to go by row."
            )

    @property
    def _by_row(self) -> str:
        return " (labels.to_numpy())" if self.source == _IN_MEMORY else ""

    def by_name(self, vectors: Vectors) -> Any:
        """Return the label of each vector's id, or of its row number without ids."""
        assert self.ids is not None
        refuse_other_ids(vectors, self.ids, "labels")
        names, known = vectors.names(), set(self.ids)
        lost = [name for name in names if name not in known]
        if len(lost) == len(names) and len(known) < len(self.ids):
            return self.labels  # what repeats and names no vector is no column of ids
        if lost:
            raise InputError(
                f"{self.source}: labels are joined by id, and {len(lost):,} of {len(names):,} "
                f"vectors of {vectors.source} are not in the table ({_few(lost)}); its ids "
                f"are {_few(self.ids)}. Give every vector a label, or leave the ids out of the "
                f"table{self._by_row} if its rows are in the order of the vectors."
            )
        if self.several:
            lists: dict[str, list[Any]] = {}
            for name, labels in zip(self.ids, self.labels, strict=True):
                lists.setdefault(name, []).extend(labels)
            return [lists[name] for name in names]
        if len(known) < len(self.ids):
            again = next(name for name, times in Counter(self.ids).items() if times > 1)
            raise InputError(
                f"{self.source}: the id {quoted(again)} occurs more than once; a vector "
                "has one label."
            )
        row_of = {name: row for row, name in enumerate(self.ids)}
        rows = [row_of[name] for name in names]
        if isinstance(self.labels, np.ndarray):
            return self.labels[rows]
        return [self.labels[row] for row in rows]


def _few(names: Sequence[str]) -> str:
    return few([quoted(name) for name in names[:4]])


def in_order_of(vectors: Vectors, given: Any, *, several: bool = False) -> Any:
    """Return labels in the order of the vectors: joined by id where they come with ids."""
    if isinstance(given, LabelTable):
        return given.of(vectors)
    if isinstance(given, Mapping):
        ids = tuple(map(str, given))
        return LabelTable(ids, list(given.values()), several=several).by_name(vectors)
    is_frame = hasattr(given, "columns")
    if is_frame and not several:
        return given  # refused for its shape
    labels = _of_columns(given) if is_frame else given
    if not is_of_pandas(given):
        return labels
    values = list(labels if is_frame else given.array)
    if isinstance(vectors.ids, ColumnIds) and vectors.ids.index.equals(given.index):
        return values
    ids, index = tuple(map(str, given.index.tolist())), given.index
    unnamed = index.name is None and index.dtype.kind in "iu"
    return LabelTable(ids, values, several=several, unnamed=unnamed).of(vectors)


def _of_columns(frame: Any) -> list[list[str]]:
    values, names = np.asarray(frame), [str(name) for name in frame.columns]
    if values.dtype.kind not in "biuf" or not np.isin(values, (0, 1)).all():
        raise InputError(
            "the labels: a frame of labels has a column of 0 and 1 for each label, and no other; "
            f"its columns are {_few(names)}. Set a column of ids as the index, or give the column "
            "of labels alone."
        )
    return [[names[at] for at in np.flatnonzero(row)] for row in values]


LABELS = Kind("labels", "label", "one label per line")
_REVISITED = Kind(
    "JSON, as json.dump(pickle.load(f)['gnd'], …) writes it",
    "row",
    "the lists easy, hard and junk of item rows for each query",
)
_KNOWN = ("npy", "npz", "parquet", "csv", "tsv", "text")


def labels_from(path: str | os.PathLike[str]) -> LabelTable:
    """Read one label per vector."""
    file = _detected(path)
    if file.format in ("npy", "npz"):
        return _array(file, 1)
    column, about = _label_column(file)
    column = _texts(file, column)
    labels = column.to_list() if column.dtype == pl.String else column.to_numpy()
    return LabelTable(labels=labels, source=file.label, **about)


def labels_lists_from(path: str | os.PathLike[str]) -> LabelTable:
    """Read several labels per vector: lists, or a column of 0 and 1 for each label."""
    file = _detected(path)
    if file.format in ("npy", "npz"):
        table = _array(file, 2)
        if not np.isin(table.labels, (0, 1)).all():
            raise InputError(
                f"{file.label}: several labels per vector are a matrix of 0 and 1; it has other "
                "numbers."
            )
        return replace(table, several=True)
    if file.format == "parquet":
        return _lists_from_parquet(file)
    lines, about = _lines(file), _NO_IDS
    mark = SEPARATORS.get(file.format or "", next((m for m in "\t," if m in "".join(lines)), " "))
    cells = [split(line, mark) for line in lines if line]
    if file.format in ("csv", "tsv") and (file.key or choose_ids(cells[0], LABEL_NAMES)):
        column, about = _label_column(file, several=True)
        lines = column.fill_null("").to_list()
    elif bits := _bit_columns(file, cells):
        return bits
    between = next((mark for mark in ";," if any(mark in line for line in lines)), None)
    parts = [[part.strip() for part in _bare(line).split(between)] for line in lines]
    if not any(chain.from_iterable(parts)):
        raise InputError(f"{file.label}: the file has no labels.")
    labels = [[part for part in row if part] for row in parts]
    return LabelTable(labels=labels, source=file.label, several=True, **about)


def _lists_from_parquet(file: File) -> LabelTable:
    with reading_parquet(file.label):
        scan = pl.scan_parquet(file.path, glob=False)
        names = scan.collect_schema().names()
        if file.key is None and choose_ids(names, LABEL_NAMES) is None:
            flat = scan.select(~cs.nested()).cast(pl.String, strict=False).collect().fill_null("")
            if flat.width == len(names) and (
                table := _bit_columns(file, [names, *map(list, flat.rows())])
            ):
                return table
    column, about = _label_column(file, several=True)
    if (row := first_null(column)) is not None:
        raise InputError(f"{file.label}, row {row + 1}: the label is missing.")
    if not isinstance(column.dtype, pl.List | pl.Array):
        raise InputError(
            f"{file.label}: column {quote(column.name)} is {column.dtype}; lists of labels are "
            "needed."
        )
    labels = [[str(label) for label in _texts(file, row).to_list()] for row in column]
    return LabelTable(labels=labels, source=file.label, several=True, **about)


_NO_IDS: dict[str, Any] = {"ids": None}


def _label_column(file: File, *, several: bool = False) -> tuple[pl.Series, dict[str, Any]]:
    """Return the column of labels, and the fields of a `LabelTable` about the ids beside it."""
    table, places = _table_of(file)
    with reading_parquet(file.label):
        schema = table.collect_schema()
        chosen = choose_named(file, schema.names(), LABEL_NAMES)
        column = table.select(chosen).collect().to_series()
        beside = [name for name in schema if name != chosen and may_be_ids(schema[name])]
        named = choose_ids(beside) or next(filter(is_index, beside), None)
        texts = table.select(pl.col(beside).cast(pl.String)).collect()
    if not several:
        bad = column.is_null() if column.dtype != pl.String else column.fill_null("") == ""
        if bad.any():
            row = int(bad.arg_true()[0])
            place = places[row] if places else f"row {row + 1}"
            raise InputError(f"{file.label}, {place}: the label is missing.")
        if not len(column):
            raise InputError(f"{file.label}: the file has no labels.")
    ids = None
    if named is not None and not (texts[named].fill_null("") == "").any():
        ids = tuple(texts[named])
    # What repeats is no id, and need not be kept.
    others = (texts[name] for name in beside if name != named)
    return column, {
        "ids": ids,
        "unnamed": named is not None and is_index(named),
        "others": tuple(tuple(other) for other in others if other.n_unique() == len(other)),
    }


def _table_of(file: File) -> tuple[pl.LazyFrame, Sequence[str] | None]:
    """Return a table with its labels, and the places of its rows if these are not row numbers."""
    if file.format == "parquet":
        return pl.scan_parquet(file.path, glob=False), None
    lines, mark = _lines(file), SEPARATORS[file.format or "text"]
    if mark != " " and mark in next(filter(lambda line: line[:1] not in ("", "#"), lines), ""):
        sheet = read_sheet(file.path, LABELS, file.label, lambda cells: True)
        assert isinstance(sheet, Sheet)  # JSON is not among the formats
        return sheet.frame.lazy().with_columns(pl.all().str.strip_chars()), sheet.places
    name, places = "label", [f"line {number}" for number, _ in enumerate(lines, 1)]
    if mark != " ":
        cells = [[cell.strip() for cell in split(line, mark)] or [""] for line in lines]
        if wide := next((number for number, row in enumerate(cells, 1) if len(row) > 1), None):
            raise InputError(
                f"{file.label}, line {wide}: expected 1 field, found {len(cells[wide - 1])}: "
                f"{quote(lines[wide - 1])}."
            )
        lines = [row[0] for row in cells]
        if file.key is not None or lines[0].lower() in LABEL_NAMES:
            (name, *lines), places = lines, places[1:]
    return pl.LazyFrame({name: lines}, schema={name: pl.String}), places


def _bare(text: str) -> str:
    """Return the inside of a list as Python and JSON write it, or the text as it is."""
    if not (text.startswith("[") and text.endswith("]")):
        return text
    return ",".join(part.strip().strip("'\"") for part in text[1:-1].split(","))


_BITS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


def _bit_columns(file: File, rows: list[list[str]]) -> LabelTable | None:
    """Return the labels of a table with a column of 0 and 1 for each; None if it is another one.

    The first row names the columns, or the first column holds ids.
    """
    cells = [[cell.strip() for cell in row] for row in rows]
    if len(cells) < 2 or len({len(row) for row in cells}) > 1:
        return None
    header, body = cells[0], cells[1:]
    if all(cell.lower() in _BITS for cell in header[1:]):  # it names no columns
        header, body = ["id", *(str(at) for at, _ in enumerate(header[1:]))], cells
        ids = [row[0] for row in body]
        if len(header) < 3 or set(ids) <= _BITS.keys() or len(set(ids)) < len(ids):
            return None
    name = choose_ids(header) or next(filter(is_index, header), None)
    used = [at for at, other in enumerate(header) if other != name and not is_index(other)]
    bits = [at for at in used if all(row[at].lower() in _BITS for row in body)]
    others = [header[at] for at in used if at not in bits]
    if not bits:
        return None
    if others:
        raise InputError(
            f"{file.label}: the columns {few([quote(other, 30) for other in others])} are neither "
            "ids nor labels of 0 and 1, as other columns are. Leave them out, name a column of ids "
            f'id, or choose the column of labels, as "{file.label}::{others[-1]}".'
        )
    labels = [[header[at] for at in bits if _BITS[row[at].lower()]] for row in body]
    named = None if name is None else tuple(row[header.index(name)] for row in body)
    unnamed = name is not None and is_index(name)
    return LabelTable(named, labels, file.label, several=True, unnamed=unnamed)


def categories_from(path: str | os.PathLike[str]) -> Any:
    """Read the items' categories: one label per item, or a table of items and categories."""
    file = _detected(path)
    if file.key is None and file.format not in ("npy", "npz"):
        try:
            return read_categories(path)
        except InputError as error:
            try:
                return labels_from(path)
            except InputError:
                raise error from None
    return labels_from(path)


def revisited_from(path: str | os.PathLike[str]) -> list[dict[str, list[int]]]:
    """Read the lists easy, hard and junk of the revisited Oxford and Paris benchmarks from JSON."""
    source = open_source(os.fspath(path), _REVISITED)
    given = parse_document(source, f"Give {_REVISITED.columns}.")
    queries = given.get("gnd") if isinstance(given, dict) else given
    if not isinstance(queries, list):
        raise InputError(f"{source.label}: a list is needed, with {_REVISITED.columns}.")
    return queries


def _detected(path: str | os.PathLike[str]) -> File:
    file = detected(path, LABELS)
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


def _array(file: File, dimensions: int) -> LabelTable:
    ids: Sequence[str] | None = None
    if file.format == "npz":
        labels, ids = labelled_arrays(file, LABEL_NAMES)
    else:
        labels = np.array(open_npy(file, "labels"))
    if labels.ndim == dimensions + 1 and labels.shape[-1] == 1:
        labels = labels[..., 0]
    if labels.ndim != dimensions:
        needed = (
            "one label per vector" if dimensions == 1 else "a matrix with a row for each vector"
        )
        raise InputError(f"{file.label}: {needed} is needed; got an array of shape {labels.shape}.")
    if labels.dtype.kind == "S":
        try:
            labels = np.char.decode(labels, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{file.label}: the labels are not UTF-8 text.") from None
    if not len(labels):
        raise InputError(f"{file.label}: the file has no labels.")
    return LabelTable(None if ids is None else tuple(ids), labels, file.label)


def _texts(file: File, column: pl.Series) -> pl.Series:
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if column.dtype.is_integer() or column.dtype == pl.Boolean or not len(column):
        return column
    raise InputError(
        f"{file.label}: labels must be texts or whole numbers; column {quote(column.name)} is "
        f"{column.dtype}."
    )


def _lines(file: File) -> list[str]:
    """Return the lines of a text without blank ones at its end."""
    lines = [
        decoded(file.label, number, line).strip()
        for number, line in enumerate(open_source(file.path, LABELS).lines(), 1)
    ]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise InputError(f"{file.label}: the file has no labels.")
    return lines
