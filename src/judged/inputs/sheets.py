"""Tables about queries, of which nothing is known yet but their cells: from files and from Python.

Groups, attributes and values of queries are read from these; each says itself what the columns are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from judged.errors import InputError
from judged.inputs.columns import candidates
from judged.inputs.csv import records
from judged.inputs.formats import COMMENT, is_number
from judged.inputs.frames import id_texts
from judged.inputs.json import parse
from judged.inputs.objects import as_dict, as_known, column_of, is_record
from judged.inputs.polars_errors import reading_parquet, refusing
from judged.inputs.source import Source, decoded, open_source
from judged.inputs.tables import Kind
from judged.text import counted, quote

if TYPE_CHECKING:
    IsHeader = Callable[[Sequence[str]], bool]


@dataclass(frozen=True, eq=False)
class Sheet:
    """Cells in columns, as they came."""

    frame: pl.DataFrame
    """Texts where it was read from text; whatever they were in anything that has types."""
    source: str
    """What messages call it."""
    headed: bool = True
    """Whether the names of the columns were given; otherwise they are numbers."""
    is_text: bool = False
    """Whether all cells are texts because the file is one."""
    lines: Sequence[int] | None = None
    """The line of each row, where there are lines."""
    remarks: tuple[str, ...] = ()
    """What comments among the rows say."""

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return self.frame.columns

    def place(self, row: int) -> str:
        """Where a row is: the source with a line, or the number of the row."""
        if self.lines is None:
            return f"{self.source}, row {row + 1}"
        return f"{self.source}, line {self.lines[row]}"

    def with_columns(self, frame: pl.DataFrame) -> Sheet:
        """The same rows with other columns."""
        return replace(self, frame=frame)

    def ids(self, column: str, word: str) -> pl.Series:
        """The ids in a column as texts, none of them missing; `word` is what messages call one."""
        dtype = self.frame[column].dtype
        if dtype.is_nested():
            raise InputError(
                f"{self.source}: column {quote(column)} is {dtype}, but a {word} is a text or a "
                "whole number."
            )
        found = self.frame.select(id_texts(column, dtype, self.source, [])).to_series()
        missing = (found.is_null() | (found == "")).arg_true()
        if len(missing):
            raise InputError(f"{self.place(missing[0])}: the {word} is missing.")
        return found


@dataclass(frozen=True, eq=False)
class Nested:
    """A dict, of Python or of JSON."""

    content: Mapping[Any, Any]
    source: str
    """What messages call it."""


def names_columns(cells: Sequence[str]) -> bool:
    """Whether the first line of a text names the columns: a query and, beside it, no number."""
    number = len(cells) == 2 and any(is_number(cell.strip()) for cell in cells)
    return bool(candidates("query", cells)) and not number


def sheet_of(given: Any, kind: Kind, name: str, is_header: IsHeader) -> Sheet | Nested:
    """The table that a file or something of Python is, or the dict; anything else is refused.

    `name` is what messages call what comes from no file; `is_header` tells by the cells of the
    first line of a text whether it names the columns.
    """
    if isinstance(given, (str, PathLike)):
        return sheet_in(open_source(fspath(given), kind), is_header)
    if isinstance(given, Mapping):
        return Nested(given, name)
    if type(given).__module__.partition(".")[0] == "pandas" and not hasattr(given, "columns"):
        given = _series_as_frame(given, kind)
    if _is_iterable(given) and not hasattr(given, "columns"):
        rows = list(given)
        if rows and all(map(is_record, rows)):
            return _of_rows([as_dict(row) for row in rows], name)
        given = rows
    given = as_known(given, kind).given if not isinstance(given, list) else given
    if isinstance(given, Mapping):
        return Nested(given, name)
    if hasattr(given, "iloc") and hasattr(given, "columns"):
        return _of_pandas(given, name)
    with refusing(f"{name}: cannot be read"):
        if isinstance(given, pl.LazyFrame):
            return _filled(Sheet(given.collect(), name))
        if isinstance(given, pl.DataFrame):
            return _filled(Sheet(given, name))
    raise InputError(f"{kind.phrase} are {kind.columns}; got {type(given).__name__}.")


def _is_iterable(given: Any) -> bool:
    known = ("polars", "pyarrow", "numpy", "pandas", "ranx", "datasets")
    return (
        isinstance(given, Iterable)
        and not isinstance(given, bytes)
        and not hasattr(given, "__arrow_c_stream__")
        and type(given).__module__.partition(".")[0] not in known
    )


def _filled(sheet: Sheet) -> Sheet:
    if not sheet.frame.height:
        raise InputError(f"{sheet.source}: holds no rows.")
    return sheet


def _series_as_frame(given: Any, kind: Kind) -> Any:
    """A pandas Series by query as a table: in a dict, a query that is there twice would be lost."""
    if not hasattr(given, "iloc") or given.index.nlevels > 1:
        return given
    own = isinstance(given.name, str) and kind.value == "attribute"
    name = given.name if own and not candidates("query", [given.name]) else kind.value
    return given.rename_axis("query").rename(name).reset_index()


def _of_pandas(given: Any, source: str) -> Sheet:
    columns = [given.iloc[:, at] for at in range(given.shape[1])]
    header = [str(name) for name in given.columns]
    _refuse_two(header, source)
    made = []
    for name, column in zip(header, columns, strict=True):
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
            made.append(pl.Series(name, column.to_numpy()))
        else:
            missing = column.isna()
            cells = (None if none else value for value, none in zip(column, missing, strict=True))
            made.append(typed(name, list(cells)))
    return _filled(Sheet(pl.DataFrame(made), source))


def _of_rows(
    rows: Sequence[Mapping[Any, Any]], source: str, lines: Sequence[int] | None = None
) -> Sheet:
    """Every name in any row is a column; what a row lacks is missing."""
    names = dict.fromkeys(name for row in rows for name in row)
    texts = [str(name) for name in names]
    _refuse_two(texts, source)
    columns = [
        typed(text, [row.get(name) for row in rows])
        for text, name in zip(texts, names, strict=True)
    ]
    return _filled(Sheet(pl.DataFrame(columns), source, lines=lines))


def typed(name: str, values: Sequence[Any]) -> pl.Series:
    """A column of values, where True is not one with the others."""
    kinds = {type(each) for each in values if each is not None}
    if len(kinds) > 1 and kinds & {bool, np.bool_}:
        return pl.Series(name, values, dtype=pl.Object)
    return column_of(name, values)


def _refuse_two(header: Sequence[str], source: str) -> None:
    if len(set(header)) < len(header):
        twice = next(name for name in header if list(header).count(name) > 1)
        raise InputError(f"{source}: there are two columns {quote(twice)}; name each column once.")


def sheet_in(source: Source, is_header: IsHeader) -> Sheet | Nested:
    """The table in a file: Parquet, JSON, NDJSON, separated by commas, tabs, semicolons or white
    space; or the object that JSON is."""
    if source.head().startswith(b"PAR1"):
        with reading_parquet(source.label):
            return _filled(Sheet(pl.read_parquet(source.for_polars()), source.label))
    start = source.head().lstrip()[:1]
    if start == b"[" or (start == b"{" and not _is_ndjson(source)):
        return _in_json(source)
    if start == b"{":
        expected = "A line should be an object with names of columns."
        numbered = [(at, line) for at, line in enumerate(source.lines(), 1) if line.strip()]
        rows = [parse(source, line, at, expected) for at, line in numbered]
        lines = [at for at, _ in numbered]
        for at, row in zip(lines, rows, strict=True):
            if not isinstance(row, Mapping):
                raise InputError(f"{source.label}, line {at}: {expected}")
        return _of_rows(rows, source.label, lines)
    return _in_text(source, is_header)


def _in_json(source: Source) -> Sheet | Nested:
    expected = f"{source.kind.phrase} are {source.kind.columns}; JSON is such a dict or table."
    whole = parse(source, source.read(), 1, expected, whole=True)
    if isinstance(whole, Mapping):
        return Nested(whole, source.label)
    if not whole or not all(isinstance(row, Mapping) for row in whole):
        raise InputError(f"{source.label}: {expected}")
    return _of_rows(whole, source.label)


def _is_ndjson(source: Source) -> bool:
    """Whether the first line is an object of its own, with others below or about one query."""
    lines = (line for line in source.lines() if line.strip())
    first = next(lines, b"")
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    if not isinstance(row, dict):
        return False
    flat = not any(isinstance(value, (dict, list)) for value in row.values())
    about = flat and len(row) > 1 and bool(candidates("query", list(row)))
    return about or next(lines, None) is not None


_SPACES = re.compile("[ \t]+")
_QUOTED = re.compile(rb'"[^"]*"')


def _in_text(source: Source, is_header: IsHeader) -> Sheet:
    lines, rows = [], []
    for line, cells in _records(source):
        lines.append(line)
        rows.append(cells)
    if not rows:
        raise InputError(f"{source.label}: holds no rows.")
    headed = is_header(rows[0])
    header = rows[0] if headed else [f"column {at}" for at in range(1, len(rows[0]) + 1)]
    header = [name.strip() for name in header]
    _refuse_two(header, source.label)
    rows, lines = rows[headed:], lines[headed:]
    width = len(header)
    remarks = [_is_remark(cells, width) for cells in rows]
    said = tuple(cells[0][1:].strip() for cells, so in zip(rows, remarks, strict=True) if so)
    lines = [line for line, so in zip(lines, remarks, strict=True) if not so]
    rows = [cells for cells, so in zip(rows, remarks, strict=True) if not so]
    for at, cells in enumerate(rows):
        while len(cells) > width and not cells[-1]:  # spreadsheets leave such ends
            cells.pop()
        if len(cells) != width:
            raise InputError(
                f"{source.label}, line {lines[at]}: expected {counted(width, 'field')}, found "
                f"{len(cells)}: {quote(' '.join(cells))}."
            )
    columns = {name: [cells[at] for cells in rows] for at, name in enumerate(header)}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String))
    return _filled(Sheet(frame, source.label, headed, True, lines, said))


def _is_remark(cells: Sequence[str], width: int) -> bool:
    """Whether this can be no row: judged writes its warnings so below those of a CSV."""
    return len(cells) == 1 < width and cells[0].startswith("#")


def _records(source: Source) -> Iterator[tuple[int, list[str]]]:
    """The rows with the number of their line; comments are known only above the first one."""
    first = next((line for line in source.lines() if _says_something(line)), b"")
    first = _QUOTED.sub(b"", first)
    separator = next((each for each in ("\t", ",", ";") if each.encode() in first), None)
    if separator is not None:
        yield from records(source, separator)
        return
    started = False
    for number, line in enumerate(source.lines(), 1):
        started = started or _says_something(line)
        if started and (text := decoded(source.label, number, line).strip(" \t")):
            yield number, _SPACES.split(text)


def _says_something(line: bytes) -> bool:
    return bool(line.strip()) and not line.startswith(COMMENT)
