"""Columns of lists, flat: the ids of all rows one after the other, with how many each row has."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judged.errors import InputError
from judged.inputs.columns import candidates, matching, sure
from judged.inputs.dicts import as_id
from judged.inputs.formats import is_number
from judged.inputs.objects import is_series, results_of_series
from judged.inputs.tables import JUDGEMENTS, RUN
from judged.text import quote

Place = Callable[[int], str]
"""Where a row is, from its number from 0: "rows.jsonl, line 3"."""
_TEXTS = ("text", "content", "page_content", "chunk")
"""What stands for an item in objects that have no id."""
_DISTANCE = re.compile(r"(^|[_ -])dist(ance)?$", re.IGNORECASE)
_SEPARATED = re.compile(r"[\s,;|]")


@dataclass(frozen=True)
class Column:
    """One column of lists, as it was given."""

    name: str
    role: str
    """relevant or retrieved."""
    values: pl.Series | Sequence[Any]
    place: Place
    said: bool = False
    """Whether somebody said what the column is."""

    @property
    def value(self) -> str:
        """What may stand beside an id."""
        return "score" if self.role == "retrieved" else "grade"

    def refuse(self, row: int, what: str) -> InputError:
        return InputError(f"{self.place(row)}: column {quote(self.name)} {what}")


@dataclass(frozen=True, eq=False)
class Lists:
    """The ids of all rows, and what stands beside them."""

    ids: pl.Series
    values: pl.Series | None
    """The score or grade of each id, where they were given with it."""
    counts: NDArray[np.int64]
    """How many each row has; -1 where the list is missing."""
    integers: bool = False
    """Whether ids were whole numbers."""
    are_ranks: bool = False
    """Whether `values` are ranks with a minus."""
    ranks: Sequence[Any] | None = None
    """The rank of each id, where results have ranks beside scores."""
    distances: tuple[str, Sequence[Any]] | None = None
    """The distance of each id, and what it is called, where results have distances."""

    def rows(self) -> NDArray[np.intp]:
        """The row of each id."""
        return np.repeat(np.arange(len(self.counts)), np.maximum(self.counts, 0))


def lists_of(column: Column) -> Lists:
    """The lists of a column; what is no list of ids is refused with its row."""
    if isinstance(column.values, pl.Series):
        if isinstance(column.values.dtype, (pl.List, pl.Array)):
            return _from_series(column, column.values)
        return _from_cells(column, column.values.to_list())
    return _from_cells(column, column.values)


def numbers_of(column: Column, of: str) -> tuple[pl.Series, NDArray[np.int64]]:
    """A column of lists of numbers: all of them, and how many each row has; `of` is what they
    are."""
    given = column.values
    if isinstance(given, pl.Series) and isinstance(given.dtype, (pl.List, pl.Array)):
        flat, counts = _flat(given)
    else:
        read = given.to_list() if isinstance(given, pl.Series) else given
        cells = [_cell(column, each, row) for row, each in enumerate(read)]
        counts = _counts(cells)
        flat = _numbers(column, list(chain.from_iterable(filter(None, cells))), counts, of)
    if not (flat.dtype.is_numeric() or flat.dtype == pl.Null):
        raise column.refuse(_first(counts), f"holds {flat.dtype}, where {of}s must be numbers.")
    if (lost := flat.is_null().arg_true()).len():
        raise column.refuse(_row_of(counts, lost[0]), f"has no {of} for one of the ids.")
    return flat.cast(pl.Float64), counts


def is_lists(values: pl.Series | Sequence[Any]) -> bool:
    """Whether the first value that there is is a list."""
    if isinstance(values, pl.Series) and values.dtype != pl.String:
        return isinstance(values.dtype, (pl.List, pl.Array))
    first = next((each for each in values if each is not None), None)
    if isinstance(first, str):
        return first.strip().startswith("[")
    return isinstance(first, (list, tuple)) or getattr(first, "ndim", 0) == 1


def holds_texts(values: pl.Series | Sequence[Any]) -> bool:
    """Return whether the first value in some lists is a text, which no score or grade is."""
    if isinstance(values, pl.Series) and isinstance(values.dtype, (pl.List, pl.Array)):
        return values.dtype.inner == pl.String
    cells = (_parsed(each.strip()) if isinstance(each, str) else each for each in values)
    filled = (cell for cell in cells if cell is not None and len(cell))
    return isinstance(next((cell[0] for cell in filled), None), str)


def _from_series(column: Column, given: pl.Series) -> Lists:
    """Typed lists, as Parquet and Arrow have them."""
    flat, counts = _flat(given)
    ranks: list[Any] | None = None
    distances = None
    if isinstance(flat.dtype, pl.Struct):
        names = [field.name for field in flat.dtype.fields]
        item, value, is_rank = _fields(column, names, _first(counts))
        values = None if value is None else _typed_numbers(column, flat.struct.field(value), counts)
        values = -values if is_rank and values is not None else values
        ids = flat.struct.field(item)
        if (rank := _rank_beside(column, names)) is not None and not is_rank:
            ranks = flat.struct.field(rank).to_list()
        if (distance := _distance_in(column, names)) is not None:
            distances = distance, flat.struct.field(distance).to_list()
    elif isinstance(flat.dtype, (pl.List, pl.Array)):
        return _from_cells(column, given.to_list())
    else:
        ids, values, is_rank = flat, None, False
    texts = _typed_ids(column, ids, counts)
    integers = ids.dtype.is_integer()
    return Lists(
        texts, values, counts, integers, are_ranks=is_rank, ranks=ranks, distances=distances
    )


def _flat(given: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    lists = given.arr.to_list() if isinstance(given.dtype, pl.Array) else given
    counts = lists.list.len().cast(pl.Int64).fill_null(-1).to_numpy()
    return lists.explode(empty_as_null=False, keep_nulls=False), counts


def _typed_ids(column: Column, ids: pl.Series, counts: NDArray[np.int64]) -> pl.Series:
    dtype = ids.dtype
    texts = isinstance(dtype, (pl.String, pl.Categorical, pl.Enum, pl.Null))
    if not (texts or dtype.is_integer()):
        raise column.refuse(
            _first(counts),
            f"holds lists of {dtype}, but ids must be texts or whole numbers.{_hint(dtype)}",
        )
    ids = ids.cast(pl.String)
    wrong = (ids.is_null() | (ids == "")).arg_true()
    if len(wrong):
        raise column.refuse(_row_of(counts, wrong[0]), "has an id that is missing or empty.")
    return ids


def _hint(dtype: pl.DataType) -> str:
    if dtype.is_float():
        return " Floats come from ids read as numbers."
    if dtype == pl.Boolean:
        return " Which of the retrieved items are relevant is read by Rankings.from_relevance."
    return ""


def _typed_numbers(column: Column, values: pl.Series, counts: NDArray[np.int64]) -> pl.Series:
    of = column.value
    if not (values.dtype.is_numeric() or values.dtype == pl.Null):
        raise column.refuse(_first(counts), f"holds {values.dtype}, where a {of} must be a number.")
    if (lost := values.is_null().arg_true()).len():
        raise column.refuse(_row_of(counts, lost[0]), f"has no {of} for one of the ids.")
    return values.cast(pl.Float64)


def _from_cells(column: Column, given: Sequence[Any]) -> Lists:
    """Lists as Python has them, or as texts."""
    cells = [_cell(column, each, row) for row, each in enumerate(given)]
    counts = _counts(cells)
    flat = list(chain.from_iterable(filter(None, cells)))
    values: pl.Series | None = None
    are_ranks = False
    kinds = set(map(type, flat))
    ranks: list[Any] | None = None
    distances = None
    if kinds and all(issubclass(kind, Mapping) for kind in kinds):
        names = dict.fromkeys(name for each in flat for name in each if isinstance(name, str))
        if (rank := _rank_beside(column, list(names))) is not None:
            ranks = [each.get(rank) for each in flat]
        if (distance := _distance_in(column, list(names))) is not None:
            distances = distance, [each.get(distance) for each in flat]
        flat, values, are_ranks = _from_objects(column, flat, counts)
    elif kinds and all(_is_list(kind) for kind in kinds):
        flat, values = _from_pairs(column, flat, counts)
    kinds = set(map(type, flat))
    _refuse_flags(column, cells, kinds, flat)
    if kinds <= {str} and all(flat):
        texts = flat
    else:
        texts = [_id(column, each, counts, at) for at, each in enumerate(flat)]
    try:
        ids = pl.Series(texts, dtype=pl.String)
    except UnicodeEncodeError as error:
        half = quote(error.object[error.start : error.end])
        at = texts.index(error.object)
        raise column.refuse(
            _row_of(counts, at), f"has {half}, which is half of a pair and no character."
        ) from None
    if are_ranks:
        ranks = None
    return Lists(
        ids,
        values,
        counts,
        not kinds <= {str},
        are_ranks=are_ranks,
        ranks=ranks,
        distances=distances,
    )


def _refuse_flags(
    column: Column, cells: Sequence[Any], kinds: Collection[type], flat: Sequence[Any]
) -> None:
    """Refuse 0 and 1 in rank order, where the ids of relevant items are wanted."""
    if bool in kinds or (column.role == "relevant" and kinds == {int} and set(flat) <= {0, 1}):
        row = next(
            (
                row
                for row, cell in enumerate(cells)
                if cell and (len(set(cell)) < len(cell) or bool in set(map(type, cell)))
            ),
            None,
        )
        if row is not None:
            raise column.refuse(
                row,
                f"holds {_shown(cells[row])}, which says of each result whether it is relevant, "
                "not the ids of relevant items; judged.Rankings.from_relevance reads such lists.",
            )


def _cell(column: Column, given: Any, row: int) -> Sequence[Any] | None:
    """One row's list; None where there is none."""
    if given is None or (isinstance(given, float) and given != given):
        return None
    kind = RUN if column.role == "retrieved" else JUDGEMENTS
    if isinstance(given, str):
        return _from_text(column, given, row)
    if isinstance(given, Mapping):
        return _from_mapping(column, given, row)
    if is_series(given):
        return results_of_series(given, f"{column.place(row)}, column {quote(column.name)}", kind)
    if getattr(given, "ndim", 0) == 1:  # an array
        return list(given.tolist())
    if isinstance(given, pl.Series):
        return given.to_list()
    if isinstance(given, (set, frozenset)):
        if column.role == "retrieved":
            raise column.refuse(row, "holds a set, which has no order; give a list, best first.")
        return sorted(given, key=str)
    if isinstance(given, (list, tuple)):
        return given
    if isinstance(given, (int, np.integer)) and called_ids(column.name):
        return [given]
    raise column.refuse(
        row, f"holds {_shown(given)}, which is no list of ids; write [{_shown(given)}] for one."
    )


def _from_mapping(column: Column, given: Mapping[Any, Any], row: int) -> list[tuple[Any, Any]]:
    """{id: score}; one object of an id and a score is not that."""
    names = [name for name in given if isinstance(name, str)]
    numbers = all(_is_number(value) for value in given.values())
    if not numbers or "id" in names or candidates("item", names):
        raise column.refuse(
            row,
            f"holds {_shown(given)}; write a list of ids, or {{id: {column.value}}}.",
        )
    return list(given.items())


def _from_text(column: Column, given: str, row: int) -> Sequence[Any] | None:
    text = given.strip()
    if not text:
        return None
    if text[0] in "[{":
        read = _parsed(text)
        if isinstance(read, Mapping):
            return _from_mapping(column, read, row)
        if read is not None:
            return read
        raise column.refuse(
            row, f'holds {quote(text, 60)}, which is no list; write lists as JSON: ["a", "b"].'
        )
    ids = called_ids(column.name)
    if (ids or (column.said and not is_number(text))) and not _SEPARATED.search(text):
        return [text]
    raise column.refuse(
        row,
        f"holds {quote(text, 60)}, which may be one id or several; write lists as JSON: "
        '["a", "b"].',
    )


def _parsed(text: str) -> Any:
    """A list from JSON, or as Python prints it; None where that is not certain."""
    # Where a list of Python has neither " nor \\, no text in it holds a quotation mark.
    plain = '"' not in text and "\\" not in text
    for spelling in (text, text.replace("'", '"')) if plain else (text,):
        try:
            return json.loads(spelling)
        except (ValueError, RecursionError):
            continue
    try:
        read = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    # Texts side by side ("['a' 'b']", as numpy prints them) become one in Python.
    same = repr(read).replace(" ", "") == text.replace(" ", "")
    return read if same and isinstance(read, (list, dict)) else None


def _from_objects(
    column: Column, flat: list[Mapping[str, Any]], counts: NDArray[np.int64]
) -> tuple[list[Any], pl.Series | None, bool]:
    """The ids of objects, their scores or grades, and whether these are ranks with a minus."""
    fields = dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, flat))))
    item, value, is_rank = _fields(
        column, [name for name in fields if isinstance(name, str)], _first(counts)
    )
    ids = [each.get(item) for each in flat]
    if value is None:
        return ids, None, False
    of = "rank" if is_rank else column.value
    values = _numbers(column, [each.get(value) for each in flat], counts, of)
    return ids, -values if is_rank else values, is_rank


def _fields(column: Column, names: Sequence[str], row: int) -> tuple[str, str | None, bool]:
    """What the id and the score or grade of an object are called; or its rank, without a score."""
    known = [name for name in names if name in ("id", "_id")]
    items = [names[at] for at in candidates("item", names)]
    if not known and items and sure("item", names) is None:
        what = f'{" and ".join(map(quote, items))}, which could both be the id; call the one "id".'
        raise column.refuse(row, f"holds objects with {what}")
    known += items
    known += [name for name in names if name in ("uri", "doc_uri", "node_id")]
    known += [] if known else [name for name in _TEXTS if name in names]
    if not known:
        raise column.refuse(
            row,
            f"holds objects without an id; their fields are {', '.join(map(quote, names[:20]))}. "
            'Write {"id": …}.',
        )
    value = [names[at] for at in candidates(column.value, names)]
    beside = list(chain.from_iterable(matching(f"{column.value}s", names)))
    value += [name for name in beside if name not in value]
    if column.role == "retrieved":
        value += [name for name in names if name == "_score"]
        if len(beside) > 1:
            both = " and ".join(map(quote, beside))
            raise column.refuse(
                row, f"holds objects with {both}, which could both be the score; leave one out."
            )
        if not value and (ranks := candidates("rank", names)):
            return known[0], names[ranks[0]], True
    elif not value and (score := candidates("score", names)):
        raise column.refuse(
            row,
            f"holds objects with {quote(names[score[0]])}, which may be the score of a search; "
            'call it "grade" where it is one, or leave it out.',
        )
    return known[0], value[0] if value else None, False


def _rank_beside(column: Column, names: Sequence[str]) -> str | None:
    """Return what the rank of retrieved objects is called."""
    return sure("rank", names) if column.role == "retrieved" else None


def _distance_in(column: Column, names: Sequence[str]) -> str | None:
    """Return what the distance of retrieved objects is called."""
    if column.role != "retrieved":
        return None
    return next((name for name in names if _DISTANCE.search(name)), None)


def _from_pairs(
    column: Column, flat: list[Any], counts: NDArray[np.int64]
) -> tuple[list[Any], pl.Series | None]:
    """(id, score) or (id, grade)."""
    lengths = list(map(len, flat))
    if set(lengths) != {2}:
        at = next(at for at, length in enumerate(lengths) if length != 2)
        raise column.refuse(
            _row_of(counts, at),
            f"holds {_shown(flat[at])}; give (id, {column.value}), or the id alone.",
        )
    ids, values = zip(*flat, strict=True)
    return list(ids), _numbers(column, list(values), counts, column.value)


def _numbers(column: Column, given: list[Any], counts: NDArray[np.int64], of: str) -> pl.Series:
    wrong = [kind for kind in set(map(type, given)) if not _is_number_type(kind)]
    if wrong:
        at = next(at for at, each in enumerate(given) if type(each) in wrong)
        what = (
            f"has no {of} for one of the ids."
            if given[at] is None
            else f"has the {of} {_shown(given[at])}, which is no number."
        )
        raise column.refuse(_row_of(counts, at), what)
    # By way of text where needed: a whole number too large for a float is infinite.
    try:
        return pl.Series(list(map(float, given)), dtype=pl.Float64)
    except OverflowError:
        return pl.Series([float(str(each)) for each in given], dtype=pl.Float64)


def _id(column: Column, given: Any, counts: NDArray[np.int64], at: int) -> str:
    try:
        return as_id(given)
    except InputError as error:
        row = _row_of(counts, at)
        raise InputError(f"{column.place(row)}, column {quote(column.name)}: {error}") from None


def _counts(cells: Sequence[Sequence[Any] | None]) -> NDArray[np.int64]:
    return np.array([-1 if cell is None else len(cell) for cell in cells], dtype=np.int64)


def _first(counts: NDArray[np.int64]) -> int:
    """The first row with anything in it."""
    return int(np.argmax(counts > 0))


def _row_of(counts: NDArray[np.int64], at: int) -> int:
    return int(np.searchsorted(np.cumsum(np.maximum(counts, 0)), at, side="right"))


def called_ids(name: str) -> bool:
    """Whether a column's name says that ids are in it, so that a text alone is surely one."""
    return re.search(r"ids?$", name.strip(), re.IGNORECASE) is not None


def _is_list(kind: type) -> bool:
    return issubclass(kind, (list, tuple))


def _is_number(given: Any) -> bool:
    return _is_number_type(type(given))


def _is_number_type(kind: type) -> bool:
    return issubclass(kind, (Real, np.number)) and not issubclass(kind, (bool, np.bool_))


def _shown(given: Any) -> str:
    return quote(given if isinstance(given, str) else repr(given), 60)
