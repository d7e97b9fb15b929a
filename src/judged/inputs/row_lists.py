"""Columns that hold lists of ids, with scores or grades beside them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judged.arrays import Ints
from judged.errors import InputError
from judged.inputs.columns import candidates, matching, sure
from judged.inputs.dicts import IDS_NOTE, as_id
from judged.inputs.formats import is_number
from judged.inputs.objects import is_series, results_of_series
from judged.inputs.tables import JUDGEMENTS, RUN
from judged.text import quote

_TEXTS = ("text", "content", "page_content", "chunk")
"""Fields that stand for an item in objects without an id."""
_DISTANCE = re.compile(r"(^|[_ -])dist(ance)?$", re.IGNORECASE)
_SEPARATED = re.compile(r"[\s,;|]")


def are_lists(values: pl.Series | Sequence[Any]) -> bool:
    if isinstance(values, pl.Series) and values.dtype != pl.String:
        return isinstance(values.dtype, (pl.List, pl.Array))
    first = next((value for value in values if value is not None), None)
    if isinstance(first, str):
        return first.strip().startswith("[")
    return isinstance(first, (list, tuple)) or getattr(first, "ndim", 0) == 1


def hold_texts(values: pl.Series | Sequence[Any]) -> bool:
    """Return whether the first value in lists is a text, which no score or grade is."""
    if isinstance(values, pl.Series) and isinstance(values.dtype, (pl.List, pl.Array)):
        return values.dtype.inner == pl.String
    cells = (_parsed_list(value.strip()) if isinstance(value, str) else value for value in values)
    filled = (cell for cell in cells if cell is not None and len(cell))
    return isinstance(next((cell[0] for cell in filled), None), str)


@dataclass(frozen=True, eq=False)
class IdLists:
    """The ids of all rows, one after the other, and the numbers beside them."""

    ids: pl.Series
    values: pl.Series | None  # the score or grade of each id, if they were given with it
    counts: Ints  # the number of ids of each row; -1 if the list is missing
    integers: bool = False
    are_ranks: bool = False  # whether `values` are negated ranks
    ranks: Sequence[Any] | None = None
    distances: tuple[str, Sequence[Any]] | None = None
    """The name of a field of distances and the distance of each id."""

    def rows(self) -> NDArray[np.intp]:
        return np.repeat(np.arange(len(self.counts)), np.maximum(self.counts, 0))

    def frame(self, queries: pl.Series, value: pl.Series) -> pl.DataFrame:
        query = queries.gather(self.rows()).alias("query")
        return pl.DataFrame([query, self.ids.alias("item"), value])

    def all_queries(self, queries: pl.Series) -> tuple[str, ...]:
        return tuple(queries.to_list()) if (self.counts <= 0).any() else ()

    def with_note(self, notes: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*notes, IDS_NOTE) if self.integers else notes))


@dataclass(frozen=True)
class IdListColumn:
    name: str
    role: str
    cells: pl.Series | Sequence[Any]
    place: Callable[[int], str]
    by_user: bool = False

    @property
    def value(self) -> str:
        return "score" if self.role == "retrieved" else "grade"

    def refuse(self, row: int, what: str) -> InputError:
        return InputError(f"{self.place(row)}: column {quote(self.name)} {what}")

    def lists(self) -> IdLists:
        cells = self._parsed_cells()
        counts = _counts(cells)
        flat = list(chain.from_iterable(filter(None, cells)))
        values, is_rank, ranks, distances = None, False, None, None
        types = set(map(type, flat))
        if types and all(issubclass(kind, Mapping) for kind in types):
            given = dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, flat))))
            names = [name for name in given if isinstance(name, str)]
            item, value, is_rank = self._fields(names, int(np.argmax(counts > 0)))
            if self.role == "retrieved":
                rank = sure("rank", names)
                if rank is not None and not is_rank:
                    ranks = [result.get(rank) for result in flat]
                distance = next((name for name in names if _DISTANCE.search(name)), None)
                if distance is not None:
                    distances = distance, [result.get(distance) for result in flat]
            if value is not None:
                word = "rank" if is_rank else self.value
                numbers = [result.get(value) for result in flat]
                values = self._as_numbers(numbers, counts, word)
                values = -values if is_rank else values
            flat = [result.get(item) for result in flat]
        elif types and all(issubclass(kind, (list, tuple)) for kind in types):
            flat, values = self._from_pairs(flat, counts)
        types = set(map(type, flat))
        self._refuse_flags(cells, types, flat)
        ids = flat
        if not (types <= {str} and all(flat)):
            ids = [self._id(value, counts, at) for at, value in enumerate(flat)]
        try:
            series = pl.Series(ids, dtype=pl.String)
        except UnicodeEncodeError as error:
            half = quote(error.object[error.start : error.end])
            raise self.refuse(
                _row_of(counts, ids.index(error.object)),
                f"has {half}, which is half of a pair and no character.",
            ) from None
        return IdLists(series, values, counts, not types <= {str}, is_rank, ranks, distances)

    def numbers(self, word: str) -> tuple[pl.Series, Ints]:
        cells = self._parsed_cells()
        counts = _counts(cells)
        return self._as_numbers(
            list(chain.from_iterable(filter(None, cells))), counts, word
        ), counts

    def _refuse_flags(
        self, cells: Sequence[Any], types: Collection[type], flat: Sequence[Any]
    ) -> None:
        """Raise an error for 0 and 1 in rank order instead of the ids of relevant items."""
        are_flags = self.role == "relevant" and types == {int} and set(flat) <= {0, 1}
        if bool not in types and not are_flags:
            return
        for row, cell in enumerate(cells):
            if cell and (len(set(cell)) < len(cell) or bool in set(map(type, cell))):
                raise self.refuse(
                    row,
                    f"holds {_shown(cell)}, which says of each result whether it is relevant, not "
                    "the ids of relevant items; judged.Rankings.from_relevance reads such lists.",
                )

    def _parsed_cells(self) -> list[Sequence[Any] | None]:
        cells = self.cells.to_list() if isinstance(self.cells, pl.Series) else self.cells
        return [self._parsed(cell, row) for row, cell in enumerate(cells)]

    def _parsed(self, cell: Any, row: int) -> Sequence[Any] | None:
        if cell is None or (isinstance(cell, float) and cell != cell):
            return None
        if isinstance(cell, str):
            return self._from_text(cell, row)
        if isinstance(cell, Mapping):
            return self._from_mapping(cell, row)
        if is_series(cell):
            kind = RUN if self.role == "retrieved" else JUDGEMENTS
            return results_of_series(cell, f"{self.place(row)}, column {quote(self.name)}", kind)
        if getattr(cell, "ndim", 0) == 1:  # an array
            return list(cell.tolist())
        if isinstance(cell, pl.Series):
            return cell.to_list()
        if isinstance(cell, (set, frozenset)):
            if self.role == "retrieved":
                raise self.refuse(row, "holds a set, which has no order; give a list, best first.")
            return sorted(cell, key=str)
        if isinstance(cell, (list, tuple)):
            return cell
        if isinstance(cell, (int, np.integer)) and self._is_called_id():
            return [cell]
        shown = _shown(cell)
        raise self.refuse(row, f"holds {shown}, which is no list of ids; write [{shown}] for one.")

    def _is_called_id(self) -> bool:
        """Return whether the name ends in "id", so that a text alone is surely one."""
        return re.search(r"ids?$", self.name.strip(), re.IGNORECASE) is not None

    def _from_mapping(self, cell: Mapping[Any, Any], row: int) -> list[tuple[Any, Any]]:
        """Read {id: score}; one object with an id and a score is an error."""
        names = [name for name in cell if isinstance(name, str)]
        numbers = all(_is_number_type(type(value)) for value in cell.values())
        if not numbers or "id" in names or candidates("item", names):
            raise self.refuse(
                row, f"holds {_shown(cell)}; write a list of ids, or {{id: {self.value}}}."
            )
        return list(cell.items())

    def _from_text(self, cell: str, row: int) -> Sequence[Any] | None:
        text = cell.strip()
        if not text:
            return None
        if text[0] in "[{":
            read = _parsed_list(text)
            if isinstance(read, Mapping):
                return self._from_mapping(read, row)
            if read is not None:
                return read
            raise self.refuse(
                row, f'holds {quote(text, 60)}, which is no list; write lists as JSON: ["a", "b"].'
            )
        is_id = self._is_called_id() or (self.by_user and not is_number(text))
        if is_id and not _SEPARATED.search(text):
            return [text]
        raise self.refuse(
            row,
            f"holds {quote(text, 60)}, which may be one id or several; write lists as JSON: "
            '["a", "b"].',
        )

    def _fields(self, names: Sequence[str], row: int) -> tuple[str, str | None, bool]:
        """Return the fields of the id and of the number, and whether that is a rank."""
        items = [names[at] for at in candidates("item", names)]
        known = [name for name in names if name in ("id", "_id")]
        if not known and items and sure("item", names) is None:
            both = " and ".join(map(quote, items))
            what = f'{both}, which could both be the id; call the one "id".'
            raise self.refuse(row, f"holds objects with {what}")
        known += items
        known += [name for name in names if name in ("uri", "doc_uri", "node_id")]
        known += [] if known else [name for name in _TEXTS if name in names]
        if not known:
            fields = ", ".join(map(quote, names[:20]))
            raise self.refuse(
                row, f'holds objects without an id; their fields are {fields}. Write {{"id": …}}.'
            )
        values = [names[at] for at in candidates(self.value, names)]
        beside = list(chain.from_iterable(matching(f"{self.value}s", names)))
        values += [name for name in beside if name not in values]
        if self.role == "retrieved":
            values += [name for name in names if name == "_score"]
            if len(beside) > 1:
                both = " and ".join(map(quote, beside))
                raise self.refuse(
                    row, f"holds objects with {both}, which could both be the score; leave one out."
                )
            if not values and (ranks := candidates("rank", names)):
                return known[0], names[ranks[0]], True
        elif not values and (scores := candidates("score", names)):
            raise self.refuse(
                row,
                f"holds objects with {quote(names[scores[0]])}, which may be the score of a "
                'search; call it "grade" where it is one, or leave it out.',
            )
        return known[0], values[0] if values else None, False

    def _from_pairs(self, flat: list[Any], counts: Ints) -> tuple[list[Any], pl.Series]:
        for at, pair in enumerate(flat):
            if len(pair) != 2:
                raise self.refuse(
                    _row_of(counts, at),
                    f"holds {_shown(pair)}; give (id, {self.value}), or the id alone.",
                )
        ids, values = zip(*flat, strict=True)
        return list(ids), self._as_numbers(list(values), counts, self.value)

    def _as_numbers(self, values: list[Any], counts: Ints, word: str) -> pl.Series:
        wrong = [kind for kind in set(map(type, values)) if not _is_number_type(kind)]
        if wrong:
            at = next(at for at, value in enumerate(values) if type(value) in wrong)
            what = (
                f"has no {word} for one of the ids."
                if values[at] is None
                else f"has the {word} {_shown(values[at])}, which is no number."
            )
            raise self.refuse(_row_of(counts, at), what)
        try:
            return pl.Series(list(map(float, values)), dtype=pl.Float64)
        except OverflowError:  # by way of text, an integer too large for a float is infinite
            return pl.Series([float(str(value)) for value in values], dtype=pl.Float64)

    def _id(self, value: Any, counts: Ints, at: int) -> str:
        if value is None:
            raise self.refuse(_row_of(counts, at), "has an id that is missing.")
        try:
            return as_id(value)
        except InputError as error:
            place = f"{self.place(_row_of(counts, at))}, column {quote(self.name)}"
            raise InputError(f"{place}: {error}") from None


def _parsed_list(text: str) -> Any:
    """Parse a list from JSON, or as Python prints it; return None if that is not certain."""
    # If a printed list has neither " nor \\, no text in it holds a quotation mark.
    has_no_marks = '"' not in text and "\\" not in text
    for spelling in (text, text.replace("'", '"')) if has_no_marks else (text,):
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


def _counts(cells: Sequence[Sequence[Any] | None]) -> Ints:
    return np.array([-1 if cell is None else len(cell) for cell in cells], dtype=np.int64)


def _row_of(counts: Ints, at: int) -> int:
    return int(np.searchsorted(np.cumsum(np.maximum(counts, 0)), at, side="right"))


def _is_number_type(kind: type) -> bool:
    return issubclass(kind, (Real, np.number, Decimal)) and not issubclass(kind, (bool, np.bool_))


def _shown(given: Any) -> str:
    return quote(given if isinstance(given, str) else repr(given), 60)
