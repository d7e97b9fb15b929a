"""Tables from an id to something: groups, weights, attributes, categories, documents and texts.

`read_sheet` reads any such table, from a file or from Python. The functions below it choose the
columns and check the values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from judged.arrays import Ints
from judged.errors import InputError, quoted
from judged.inputs.agreement import apart, few
from judged.inputs.columns import called, candidates, refuse_two_columns, shown_header
from judged.inputs.csv import check_width
from judged.inputs.csv import records as csv_records
from judged.inputs.dicts import as_id, numbered
from judged.inputs.formats import COMMENT, is_number
from judged.inputs.frames import id_texts, scan_source
from judged.inputs.json import objects, parse_document, parsed_lines
from judged.inputs.objects import Records, as_known, column_of, pandas_column
from judged.inputs.polars_errors import reading_parquet, refusing
from judged.inputs.source import HEAD_BYTES, Source, decoded, open_source
from judged.inputs.tables import CATEGORIES, Categories, Kind, texts
from judged.inputs.weights import WEIGHTS_GIVEN, QueryWeights
from judged.options import real
from judged.text import Warned, counted, listed, quote

if TYPE_CHECKING:
    from judged.options import AttributesLike, GroupsLike

    IsHeader = Callable[[Sequence[str]], bool]

NamedDict = tuple[Mapping[Any, Any], str]  # a dict, and its name in messages

_SPACES = re.compile("[ \t]+")
_QUOTED = re.compile(rb'"[^"]*"')
_ROWS_WITH_ALL_NAMES = 1000
"""Rows whose keys name the columns of JSON that is read row by row."""


@dataclass(eq=False)
class Sheet:
    """A table with cells as they came, to be read row by row or whole."""

    source: str
    header: Sequence[str]
    rows: Iterator[tuple[str, Mapping[str, Any]]]
    """The place of each row, such as "line 3", and its cells by column."""
    headed: bool = True  # whether the columns have names; otherwise they are numbered
    is_text: bool = False
    remarks: Sequence[str] = ()  # comments below rows, as judged writes its warnings
    table: pl.DataFrame | None = None  # the rows, if they come as a data frame
    places: Sequence[str] = ()  # of all rows, once they were read, if these are not rows from 1
    scan: pl.LazyFrame | None = None  # the rows, if columns are read one by one

    @classmethod
    def of_frame(cls, table: pl.DataFrame, source: str) -> Sheet:
        if not table.height:
            raise InputError(f"{source}: holds no rows.")
        return cls(source, table.columns, numbered(table.iter_rows(named=True)), table=table)

    @classmethod
    def of_scan(cls, scan: pl.LazyFrame, source: str) -> Sheet:
        return cls(source, scan.collect_schema().names(), iter(()), scan=scan)

    @classmethod
    def of_rows(cls, rows: Iterator[tuple[str, Mapping[str, Any]]], source: str) -> Sheet:
        """Return a table with the columns that the first rows have."""
        first = list(islice(rows, _ROWS_WITH_ALL_NAMES))
        names = dict.fromkeys(name for _, row in first for name in row)
        return cls(source, list(names), chain(first, rows))

    @cached_property
    def all_rows(self) -> Sequence[Mapping[str, Any]]:
        read = list(self.rows)
        if not read:
            raise InputError(f"{self.source}: holds no rows.")
        self.places, rows = zip(*read, strict=True)
        return rows

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All rows: texts if they are from text; otherwise with the types of the input."""
        if self.table is not None:
            return self.table
        if self.scan is not None:
            return self.only(self.header).frame
        rows = self.all_rows
        self.header = list(dict.fromkeys([*self.header, *chain.from_iterable(rows)]))
        pack = texts if self.is_text else column_of
        return pl.DataFrame(
            {name: pack(name, [row.get(name) for row in rows]) for name in self.header}
        )

    def cells(self, names: Iterable[str]) -> dict[str, list[Any]]:
        """Return the cells of some columns; those that a row lacks are None."""
        if self.scan is not None:
            return self.only(names).frame.to_dict(as_series=False)
        return {name: [row.get(name) for row in self.all_rows] for name in names}

    def only(self, names: Iterable[str]) -> Sheet:
        """Return the table with some columns, so that no others are read."""
        if self.scan is None:
            return self
        with refusing(f"{self.source}: cannot be read"):
            return Sheet.of_frame(self.scan.select(names).collect(), self.source)

    def row_name(self, row: int) -> str:
        return self.places[row] if self.places else f"row {row + 1}"

    def place(self, row: int) -> str:
        return f"{self.source}, {self.row_name(row)}"

    def ids(self, column: str, word: str) -> pl.Series:
        """Return the ids in a column as texts; a missing one is an error."""
        dtype = self.frame[column].dtype
        ids = self.frame.select(id_texts(column, dtype, self.source, [])).to_series()
        missing = (ids.is_null() | (ids == "")).arg_true()
        if len(missing):
            raise InputError(f"{self.place(missing[0])}: the {word} is missing.")
        return ids


def names_columns(cells: Sequence[str]) -> bool:
    """Return whether a first line names the columns: a query and, beside it, no number."""
    number = len(cells) == 2 and any(is_number(cell.strip()) for cell in cells)
    return bool(candidates("query", cells)) and not number


def read_sheet(
    given: Any,
    kind: Kind,
    name: str,
    is_header: IsHeader,
    *,
    most_fields: int = 0,
    verbatim: bool = False,
) -> Sheet | NamedDict:
    """Read the table or the dict that a file or an object of Python holds."""
    if isinstance(given, (str, PathLike)):
        source = open_source(fspath(given), kind)
        if source.head().startswith(b"PAR1"):
            with reading_parquet(source.label):
                return Sheet.of_scan(scan_source(source), source.label)
        if source.head().lstrip()[:1] in (b"[", b"{"):
            return sheet_of_json(source, is_header)
        records = separated_rows(source, most_fields, verbatim=verbatim)
        return sheet_of_text(source, records, is_header)
    if type(given).__module__.partition(".")[0] == "pandas" and not hasattr(given, "columns"):
        given = _series_as_frame(given, kind)
    given = as_known(given, kind)
    if isinstance(given, Mapping):
        return given, name
    if isinstance(given, Records):
        return Sheet.of_frame(given.frame(), name)
    if hasattr(given, "iloc") and hasattr(given, "columns"):
        header = [str(column) for column in given.columns]
        refuse_two_columns(header, name)
        columns = [pandas_column(column, given.iloc[:, at]) for at, column in enumerate(header)]
        return Sheet.of_frame(pl.DataFrame(columns), name)
    with refusing(f"{name}: cannot be read"):
        if isinstance(given, (pl.LazyFrame, pl.DataFrame)):
            return Sheet.of_frame(given.lazy().collect(), name)
    raise InputError(f"{kind.phrase} are {kind.columns}; got {type(given).__name__}.")


def _series_as_frame(given: Any, kind: Kind) -> Any:
    """Turn a pandas Series into a table, because a dict would lose repeated queries."""
    if not hasattr(given, "iloc") or given.index.nlevels > 1:
        return given
    has_name = isinstance(given.name, str) and kind.value == "attribute"
    name = given.name if has_name and not candidates("query", [given.name]) else kind.value
    return given.rename_axis(kind.key).rename(name).reset_index()


def sheet_of_json(source: Source, is_header: IsHeader) -> Sheet | NamedDict:
    """Return a dict, or the rows of a list or of NDJSON."""
    expected = f"{source.kind.phrase} are {source.kind.columns}; JSON is such a dict or table."
    if _is_ndjson(source, is_header):
        rows = parsed_lines(source, expected)
    else:
        content = parse_document(source, expected)
        if isinstance(content, Mapping):
            return content, source.label
        rows = numbered(content if isinstance(content, list) else [content])
    return Sheet.of_rows(objects(rows, source.label, expected), source.label)


def _is_ndjson(source: Source, is_header: IsHeader) -> bool:
    """Return whether lines are objects; a single one is a row if its names are those of columns."""
    lines = (line for line in source.lines() if line.strip())
    first, is_one = next(lines, b""), next(lines, None) is None
    if is_one and len(first) > HEAD_BYTES:  # a document, which is not parsed twice
        return False
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    flat = isinstance(row, dict) and not any(
        isinstance(cell, (dict, list)) for cell in row.values()
    )
    return not is_one or (flat and len(row) > 1 and is_header(list(row)))


def sheet_of_text(
    source: Source, records: Iterator[tuple[int, list[str]]], is_header: IsHeader = lambda _: True
) -> Sheet:
    """Return the table of these records, the first of which may name the columns."""
    line, first = next(records, (0, []))
    headed = is_header(first)
    header = first if headed else [f"column {at}" for at in range(1, len(first) + 1)]
    header = [name.strip() for name in header]
    width = len(header)
    remarks: list[str] = []

    def rows() -> Iterator[tuple[str, dict[str, str]]]:
        refuse_two_columns(header, source.label)
        for number, cells in records if headed else chain([(line, first)], records):
            if len(cells) == 1 < width and cells[0].startswith("#"):
                remarks.append(cells[0][1:].strip())
                continue
            check_width(cells, width, f"{source.label}, line {number}")
            yield f"line {number}", dict(zip(header, cells, strict=True))

    return Sheet(source.label, header, rows(), headed, is_text=True, remarks=remarks)


def separated_rows(
    source: Source, most_fields: int = 0, *, verbatim: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield rows between tabs, commas, semicolons or spaces, with the number of their line.

    Comments are known only above the first row. In a `verbatim` text, quotation marks between tabs
    are letters, and spaces do not separate.
    """

    def is_content(line: bytes) -> bool:
        return bool(line.strip()) and not line.startswith(COMMENT)

    first = _QUOTED.sub(b"", next(filter(is_content, source.lines()), b""))
    separator = next((mark for mark in ("\t", ",", ";") if mark.encode() in first), None)
    if separator is not None and not (verbatim and separator == "\t"):
        yield from csv_records(source, separator)
        return
    started = verbatim
    for number, line in enumerate(source.lines(), 1):
        started = started or is_content(line)
        if started and line.strip(b" \t"):
            text = decoded(source.label, number, line)
            limit = max(most_fields - 1, 0)
            yield number, text.split("\t") if verbatim else _SPACES.split(text.strip(" \t"), limit)


def _keys(kind: Kind, header: Sequence[str]) -> list[str]:
    known = [header[at] for at in candidates(kind.key, header)]
    return list(dict.fromkeys([*called(kind.key_names, header), *known]))


def _pairs(given: Any, kind: Kind) -> tuple[list[tuple[str, str, Any]], str]:
    """Return the place, the id and the value of each row, and the source."""

    def names_items(cells: Sequence[str]) -> bool:
        return bool(_keys(kind, [cell.strip('" \r') for cell in cells]))

    is_header = names_columns if kind.key == "query" else names_items
    table = read_sheet(given, kind, kind.given, is_header, most_fields=2 * kind.surest)
    if isinstance(table, tuple):
        content, source = table
        pairs = [(source, as_id(key, source), value) for key, value in content.items()]
    else:
        source, values = table.source, table.frame
        key, value = _columns_of(table, kind)
        places = map(table.place, range(values.height))
        pairs = list(zip(places, table.ids(key, kind.key), values[value].to_list(), strict=True))
    if not pairs:
        raise InputError(f"{source}: holds no rows.")
    return pairs, source


def _columns_of(sheet: Sheet, kind: Kind) -> tuple[str, str]:
    header = sheet.header
    if not sheet.headed and len(header) == 2:
        return header[0], header[1]
    keys, values = _keys(kind, header), called(kind.names, header)
    if kind.surest:
        keys = [name for name in keys if [name] != values[:1]]
    else:
        values = [name for name in values if [name] != keys[:1]]
        if keys and not values and len(header) == 2:
            values = [name for name in header if name != keys[0]]
    if not keys or not values:
        raise InputError(
            f"{sheet.source}: the columns {kind.key} and {kind.value} are needed; the columns "
            f"are {shown_header(header)}. Names understood for the {kind.value}: "
            f"{', '.join(kind.names)}."
        )
    if len(values) > 1 and not kind.surest:
        two = " and ".join(quote(name, 30) for name in values[:2])
        raise InputError(
            f"{sheet.source}: the columns {two} may both be the {kind.value}; leave one out."
        )
    return keys[0], values[0]


def _read_texts(given: Any, kind: Kind) -> tuple[dict[str, str], str]:
    """Read a table whose values are texts or whole numbers, and its source."""
    pairs, source = _pairs(given, kind)
    texts: dict[str, str] = {}
    for place, key, value in pairs:
        where = f"{place}: the {kind.value} of {kind.key} {key!r}"
        is_blank = isinstance(value, str) and not value.strip()
        if value is None or is_blank or (isinstance(value, float) and value != value):
            raise InputError(f"{where} is missing; {kind.every}")
        text = as_id(value, where).strip()
        if texts.setdefault(key, text) != text:
            raise InputError(
                f"{place}: {kind.key} {key!r} has the {kind.value} {texts[key]!r} already, and now "
                f"{text!r}; give it one."
            )
    return texts, source


GROUPS = Kind(
    "groups of queries",
    "group",
    "a dict {query: group}, a table or a file",
    names=(
        *("group", "group_id", "groups", "cluster", "cluster_id", "session", "session_id"),
        *("template", "template_id"),
    ),
    given="the groups given",
    every="give every query one, if need be one of its own.",
)


WEIGHTS = Kind(
    "weights of queries",
    "weight",
    "a dict {query: weight}, a table or a file",
    names=(
        *("weight", "weights", "traffic", "frequency", "freq", "count", "volume", "clicks"),
        *("impressions", "searches"),
    ),
    given=WEIGHTS_GIVEN,
)


def groups_of(given: GroupsLike, queries: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Return the number of each query's group, and the names of the groups."""
    by_query, source = _read_texts(given, GROUPS)
    missing = [query for query in queries if query not in by_query]
    if missing and len(missing) == len(queries):
        words = apart(list(by_query), queries, "The groups are")
        raise InputError(f"{source}: no query has a group. {words}")
    if missing:
        which = counted(len(missing), "query has", "queries have")
        raise InputError(f"{source}: {which} no group ({few(missing)}); {GROUPS.every}")
    numbers: dict[str, int] = {}
    groups = [numbers.setdefault(by_query[query], len(numbers)) for query in queries]
    return np.array(groups, np.int64), tuple(numbers)


def read_weights(given: Any) -> QueryWeights:
    """Read the weight of each query: {query: weight}, a table or a file."""
    if isinstance(given, QueryWeights):
        return given
    pairs, source = _pairs(given, WEIGHTS)
    weights: dict[str, float] = {}
    for place, query, weight in pairs:
        if query in weights:
            raise InputError(
                f"{place}: query {query!r} has a weight already; give each query one, if need be "
                "the sum."
            )
        if isinstance(weight, str) and is_number(weight.strip()):
            weight = float(weight)
        number = real(weight)
        if number is None or number < 0:
            what = "missing" if weight is None or weight == "" else quoted(weight)
            raise InputError(
                f"{place}: the weight of query {query!r} is {what}; a weight is a finite number "
                "from 0."
            )
        weights[query] = number
    return QueryWeights(weights, source)


def read_categories(given: Any, kind: Kind = CATEGORIES) -> Categories:
    """Read the category of each item, or its document: {item: category}, a table or a file."""
    if isinstance(given, Categories):
        return given
    return Categories(*_read_texts(given, kind), kind)


ATTRIBUTES = Kind(
    "attributes of queries",
    "attribute",
    "a dict {query: {attribute: value}}, a table with the column query and one for each "
    "attribute, or a file",
    given="the attributes given",
)
RELEVANT_ITEMS = "relevant"  # the attribute that every query has by itself
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^(?i)[+-]?(inf|infinity|nan)$"
_CODE = r"^0\d"  # digits with leading zeros are a code, not a number
_MAX_EXACT_INTEGER = float(2**53)
_LONG_TEXT = 20  # questions and answers have as many characters; attributes seldom do
_QUERY = "\x00query"  # a name that no attribute has
_UNNAMED = ("", "unnamed: 0")


@dataclass(frozen=True, eq=False)
class Attributes:
    """A row for each query, in the order of the queries, and a column for each attribute."""

    frame: pl.DataFrame  # numbers (Int64 if all are whole, else Float64) or texts; null if unknown
    source: str
    notes: tuple[str, ...] = ()


def attributes_of(given: AttributesLike, queries: Sequence[str]) -> Attributes:
    """Read the attributes of some queries."""
    sheet = read_sheet(given, ATTRIBUTES, ATTRIBUTES.given, lambda cells: True)
    notes: list[str] = []
    if isinstance(sheet, tuple):
        sheet, ids = _attributes_of_dict(*sheet)
        columns = sheet.frame.get_columns()
    else:
        query = _query_column(sheet, queries)
        ids = sheet.ids(query, "query")
        columns = [column for column in sheet.frame if column.name != query]
        named = [column for column in columns if column.name.strip().lower() not in _UNNAMED]
        if len(named) < len(columns):
            notes.append(f"{sheet.source}: a column without a name was left out.")
        columns = named
    kept = _without_prose(columns, sheet.source, notes)
    if not kept:
        why = ", only lists, dicts or long texts" if columns else ""
        raise InputError(f"{sheet.source}: the table has no attribute beside the query{why}.")
    for column in kept:
        if column.name.strip().lower() == RELEVANT_ITEMS:
            raise InputError(
                f"{sheet.source}: the attribute {quote(column.name)} is reserved for the number of "
                "relevant items of each query; use another name."
            )
    values = [_numbers_or_texts(column, sheet, notes) for column in kept]
    known = _one_row_each(pl.DataFrame([ids.alias(_QUERY), *values]), sheet, notes)
    wanted = pl.DataFrame([texts(_QUERY, queries)])
    missing = wanted.join(known, on=_QUERY, how="anti", maintain_order="left")[_QUERY].to_list()
    if missing and len(missing) == len(queries):
        words = apart(ids.to_list(), queries, "The attributes are")
        raise InputError(f"{sheet.source}: no query has attributes. {words}")
    if missing:
        which = counted(len(missing), "query has", "queries have")
        notes.append(Warned(f"{sheet.source}: {which} no attributes ({few(missing)})."))
    frame = wanted.join(known, on=_QUERY, how="left", maintain_order="left").drop(_QUERY)
    return Attributes(frame, sheet.source, tuple(notes))


def _one_row_each(rows: pl.DataFrame, sheet: Sheet, notes: list[str]) -> pl.DataFrame:
    """Return one row for each query, with the columns in which all rows of a query agree."""
    again = (~rows[_QUERY].is_first_distinct()).arg_true()
    if not len(again):
        return rows
    differing = [
        name
        for name in rows.columns
        if rows.select(_QUERY, pl.col(name).alias("value")).n_unique() > rows[_QUERY].n_unique()
    ]
    if len(differing) == rows.width - 1:
        raise InputError(
            f"{sheet.place(again[0])}: query {rows[_QUERY][again[0]]!r} has attributes already; "
            "give each query one row."
        )
    if differing:
        names = listed(list(map(quote, differing)))
        notes.append(f"{sheet.source}: rows of one query differ in {names}; ignored.")
    return rows.drop(differing).unique(maintain_order=True)


def _attributes_of_dict(content: Mapping[Any, Any], source: str) -> tuple[Sheet, pl.Series]:
    if not content:
        raise InputError(f"{source}: holds no rows.")
    ids = [as_id(query, source) for query in content]
    rows = list(content.values())
    for query, row in zip(ids, rows, strict=True):
        if not isinstance(row, Mapping):
            raise InputError(
                f"{source}: query {query!r} has a {type(row).__name__}; give {{query: {{attribute: "
                "value}}."
            )
    named = [{as_id(name, source): cell for name, cell in row.items()} for row in rows]
    return Sheet.of_rows(numbered(named), source), texts("query", ids)


def _query_column(sheet: Sheet, queries: Sequence[str]) -> str:
    """Return the first column that may be the query and holds some of these queries."""
    header = sheet.frame.columns
    names = [header[at] for at in candidates("query", header)] + called(("id",), header)
    if not names:
        raise InputError(
            f"{sheet.source}: a column with the ids of queries is needed, called query_id, qid, "
            f"query or id; the columns are {shown_header(header)}."
        )
    for name in names:
        try:
            if not set(queries).isdisjoint(sheet.ids(name, "query")):
                return name
        except InputError:
            continue
    return names[0]


def _without_prose(columns: Sequence[pl.Series], source: str, notes: list[str]) -> list[pl.Series]:
    """Leave out columns that hold lists, dicts or a text of its own for each query."""
    nested = [column.name for column in columns if _is_nested(column)]
    prose = [column.name for column in columns if _is_prose(column)]
    for names, why in ((nested, "lists and dicts"), (prose, "texts that differ for each query")):
        if names:
            ignored = listed([quote(name) for name in names])
            notes.append(f"{source}: {why} are not attributes; ignored {ignored}.")
    return [column for column in columns if column.name not in (*nested, *prose)]


def _is_nested(column: pl.Series) -> bool:
    """Return whether a column, or its cells, are lists or dicts, or such values as JSON."""
    if column.dtype.is_nested():
        return True
    if column.dtype == pl.Object:
        return any(isinstance(cell, (list, tuple, Mapping)) for cell in column)
    if column.dtype != pl.String or not (known := column.drop_nulls()).len():
        return False
    return bool(known.str.contains(r"^\s*(\[.*\]|\{.*\})\s*$").all())


def _is_prose(column: pl.Series) -> bool:
    if column.dtype != pl.String or len(known := column.drop_nulls()) < 2:
        return False
    long = known.str.contains(r"\S\s+\S+\s+\S") & (known.str.len_chars() >= _LONG_TEXT)
    return bool(long.any()) and known.n_unique() == len(known)


def _numbers_or_texts(column: pl.Series, sheet: Sheet, notes: list[str]) -> pl.Series:
    dtype = column.dtype
    if sheet.is_text:
        return _parsed(column, sheet.source, notes)
    if dtype.is_numeric():
        return _numbers(column)
    if dtype == pl.Boolean or dtype.is_temporal():
        return column.cast(pl.String)
    if isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Null):
        return _stripped(column.cast(pl.String))
    what = "of several types" if dtype == pl.Object else str(dtype)
    raise InputError(
        f"{sheet.source}: the attribute {quote(column.name)} is {what}; an attribute is a number "
        "or a text for each query."
    )


def _stripped(column: pl.Series) -> pl.Series:
    stripped = column.str.strip_chars()
    return stripped.set(stripped == "", None)


def _numbers(column: pl.Series) -> pl.Series:
    """Return whole numbers as integers; pandas makes floats of them if some are missing."""
    floats = column.cast(pl.Float64).fill_nan(None)
    if not floats.count():  # nothing is known, as in a column of empty cells
        return floats.cast(pl.String)
    whole = (floats == floats.floor()) & (floats.abs() <= _MAX_EXACT_INTEGER)
    return floats.cast(pl.Int64) if whole.all() else floats


def _parsed(column: pl.Series, source: str, notes: list[str]) -> pl.Series:
    """Return numbers if all cells are numbers and no codes with leading zeros."""
    cells = _stripped(column)
    number = cells.str.contains(_NUMBER)
    if number.all() and not cells.str.contains(_CODE).any():
        return _numbers(cells.cast(pl.Float64))
    if number.sum() * 2 > cells.count() and not number.all():
        odd = cells.filter(~number)
        notes.append(
            Warned(
                f"{source}: the attribute {quote(column.name)} is read as text, as "
                f"{counted(len(odd), 'value is', 'values are')} no number ({quote(odd[0], 30)}). "
                "Leave such cells empty."
            )
        )
    return cells
