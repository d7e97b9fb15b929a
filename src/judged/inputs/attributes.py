"""What is known of each query beside its judgements, such as its language or length: for slices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from judged.errors import InputError
from judged.inputs.agreement import apart, few
from judged.inputs.columns import candidates
from judged.inputs.dicts import as_id
from judged.inputs.sheets import Nested, Sheet, sheet_of, typed
from judged.inputs.tables import Kind, texts
from judged.text import Warned, counted, quote

if TYPE_CHECKING:
    from judged.options import AttributesLike

ATTRIBUTES = Kind(
    "attributes of queries",
    "attribute",
    "a dict {query: {attribute: value}}, a table with the column query and one for each "
    "attribute, or a file",
)
GIVEN = "the attributes given"
TAKEN = "relevant"
"""The attribute that every query has by itself."""
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^(?i)[+-]?(inf|infinity|nan)$"
_CODE = r"^0\d"
"""What is no number, for all its digits: leading zeros are those of a code."""
_EXACT = float(2**53)


@dataclass(frozen=True, eq=False)
class Attributes:
    """A row for each query that was asked for, in that order, and a column for each attribute."""

    frame: pl.DataFrame
    """Numbers (Int64 where all are whole, else Float64) or texts; null where nothing is known."""
    source: str
    notes: tuple[str, ...] = ()
    """What was assumed, a sentence each."""


def attributes_of(given: AttributesLike, queries: Sequence[str]) -> Attributes:
    """The attributes of some queries.

    Parameters
    ----------
    given : AttributesLike
        {query: {attribute: value}}, or a table or a file with the column query and any others.
    queries : sequence of str
        The queries whose attributes are wanted.

    Returns
    -------
    Attributes

    >>> found = attributes_of({"q1": {"language": "en", "words": 3}, "q2": {"words": 5}}, ["q2"])
    >>> found.frame.to_dicts()
    [{'language': None, 'words': 5}]
    """
    table = sheet_of(given, ATTRIBUTES, GIVEN, lambda cells: True)
    notes: list[str] = []
    if isinstance(table, Nested):
        sheet, ids = _of_dict(table, queries)
    else:
        sheet, ids = _without_query(table, notes)
    _refuse_twice(sheet, ids)
    _refuse_names(sheet)
    typed = [_typed(sheet, name, notes) for name in sheet.header]
    known = pl.DataFrame([ids.alias(_QUERY), *typed])
    asked = pl.DataFrame([texts(_QUERY, queries)])
    lost = asked.join(known, on=_QUERY, how="anti", maintain_order="left")[_QUERY].to_list()
    if lost and len(lost) == len(queries):
        said = apart(ids.to_list(), queries, "The attributes are")
        raise InputError(f"{sheet.source}: no query has attributes. {said}")
    if lost:
        which = counted(len(lost), "query has", "queries have")
        notes.append(Warned(f"{sheet.source}: {which} no attributes ({few(lost)})."))
    frame = asked.join(known, on=_QUERY, how="left", maintain_order="left").drop(_QUERY)
    return Attributes(frame, sheet.source, tuple(notes))


_QUERY = "\x00query"
"""No attribute is called so."""


def _of_dict(given: Nested, queries: Sequence[str]) -> tuple[Sheet, pl.Series]:
    expected = "give {query: {attribute: value}}"
    if not given.content:
        raise InputError(f"{given.source}: holds no rows.")
    ids = [as_id(query, given.source) for query in given.content]
    rows = list(given.content.values())
    for query, row in zip(ids, rows, strict=True):
        if not isinstance(row, Mapping):
            raise InputError(
                f"{given.source}: query {query!r} has a {type(row).__name__}; {expected}."
            )
    asked = set(queries)
    if asked.isdisjoint(ids) and any(str(key) in asked for row in rows for key in row):
        raise InputError(f"{given.source}: these are attributes with queries in them; {expected}.")
    names = {as_id(name, given.source): name for row in rows for name in row}
    columns = [typed(text, [row.get(name) for row in rows]) for text, name in names.items()]
    return Sheet(pl.DataFrame(columns), given.source), texts("query", ids)


def _without_query(sheet: Sheet, notes: list[str]) -> tuple[Sheet, pl.Series]:
    """The attributes, and the ids of their queries."""
    header = sheet.header
    found = candidates("query", header)
    if not found:
        named = ", ".join(quote(name, 30) for name in header[:20])
        raise InputError(
            f"{sheet.source}: a column with the ids of queries is needed, called query_id, qid or "
            f"query; the columns are {named}."
        )
    query = header[found[0]]
    nameless = [name for name in header if name.strip().lower() in ("", "unnamed: 0")]
    if nameless:
        notes.append(f"{sheet.source}: a column without a name was left out.")
    rest = sheet.frame.drop(query, *nameless)
    ids = sheet.ids(query, "query")
    return sheet.with_columns(rest), ids


def _refuse_twice(sheet: Sheet, ids: pl.Series) -> None:
    twice = (ids.is_duplicated() & ~ids.is_first_distinct()).arg_true()
    if len(twice):
        raise InputError(
            f"{sheet.place(twice[0])}: query {ids[twice[0]]!r} has attributes already; give each "
            "query one row."
        )


def _refuse_names(sheet: Sheet) -> None:
    if not sheet.header:
        raise InputError(f"{sheet.source}: there is no attribute beside the query.")
    for name in sheet.header:
        if name.strip().lower() == TAKEN:
            raise InputError(
                f"{sheet.source}: the attribute {quote(name)} is there by itself, as the number of "
                "relevant items of each query; call yours something else."
            )


def _typed(sheet: Sheet, name: str, notes: list[str]) -> pl.Series:
    """A column as numbers or as texts."""
    column = sheet.frame[name]
    if sheet.is_text:
        return _numbers_or_texts(column, sheet.source, notes)
    if column.dtype.is_numeric():
        return _numbers(column)
    if column.dtype == pl.Boolean or column.dtype.is_temporal():
        return column.cast(pl.String)
    if isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum | pl.Null):
        return _texts(column.cast(pl.String))
    what = "of several types" if column.dtype == pl.Object else str(column.dtype)
    raise InputError(
        f"{sheet.source}: the attribute {quote(name)} is {what}; an attribute is a number or a "
        "text for each query."
    )


def _texts(column: pl.Series) -> pl.Series:
    stripped = column.str.strip_chars()
    return stripped.set(stripped == "", None)


def _numbers(column: pl.Series) -> pl.Series:
    """Whole numbers as such, however they came: missing ones make floats of them in pandas."""
    floats = column.cast(pl.Float64).fill_nan(None)
    if not floats.count():  # nothing is known, as in a column of empty cells
        return floats.cast(pl.String)
    whole = (floats == floats.floor()) & (floats.abs() <= _EXACT)
    return floats.cast(pl.Int64) if whole.all() else floats


def _numbers_or_texts(column: pl.Series, source: str, notes: list[str]) -> pl.Series:
    """Numbers where all cells are that, but for codes with leading zeros."""
    found = _texts(column)
    number = found.str.contains(_NUMBER)
    if number.all() and not found.str.contains(_CODE).any():
        return _numbers(found.cast(pl.Float64))
    if number.sum() * 2 > found.count() and not number.all():
        odd = found.filter(~number)
        notes.append(
            Warned(
                f"{source}: the attribute {quote(column.name)} is read as text, as "
                f"{counted(len(odd), 'value is', 'values are')} no number ({quote(odd[0], 30)}). "
                "Leave such cells empty."
            )
        )
    return found
