"""Results with their labels and scores, as scikit-learn takes them: tables and arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import polars as pl

from judged.errors import InputError, quoted
from judged.inputs.columns import (
    LISTS,
    NamedColumns,
    has_lists,
    is_labelled,
    label_columns,
    say_which,
)
from judged.inputs.dicts import numbered
from judged.inputs.formats import is_number
from judged.inputs.frames import complete, id_texts
from judged.inputs.keyed import Sheet
from judged.inputs.objects import column_of
from judged.inputs.rows import Cells
from judged.inputs.tables import JUDGEMENTS, RUN, Judgements, Kind, Run, unchecked_table
from judged.text import Warned, counted, listed, quote

_FLAGS = {"true": "1", "false": "0"}
_USES = {"query", "item", "grade", "score"}
_WORDS = {"grade": "label"}
ONE_QUERY = "no column is the query: all rows are results of one query."


def read_labelled(table: Sheet | None, named: NamedColumns) -> dict[Kind, Judgements | Run] | None:
    """Read a table with a label and a score in each row; None if it is no such table."""
    if table is None or not is_labelled(table.header, named):
        return None
    choice = {role: _column(role, table, named) for role in ("query", "item")}
    if has_lists(table.header, LISTS, named, alone=True):
        likely = [name for role in ("grade", "score") for name in label_columns(role, table.header)]
        cells = table.cells(likely)
        if "relevant" in named or "retrieved" in named or not _are_numbers(cells, choice["item"]):
            return None
    choice |= {role: _column(role, table, named) for role in ("grade", "score")}
    for role in named.positions(table.header):
        if role not in _USES:
            raise InputError(
                f"{table.source}: a column of {role}s has no place in a table of labels and "
                "scores; roles are query, item, label and score."
            )
    for kind in (JUDGEMENTS, RUN):
        named.record(kind, table.source, table.header)
    cells = table.cells([name for name in dict.fromkeys(choice.values()) if name is not None])
    grade, score = choice["grade"], choice["score"]
    assert grade is not None
    assert score is not None
    height = len(cells[grade])
    notes = [] if choice["query"] else [_one_query(table, choice.values())]
    values = {
        role: _numbers_in(cells[name], role, table)
        for role, name in (("grade", grade), ("score", score))
    }
    ids: dict[str, pl.Series] = {}
    for role, default in (("query", ["all"] * height), ("item", _numbers(height))):
        name = choice[role]
        column = column_of(name or role, default if name is None else cells[name])
        texts = id_texts(column.name, column.dtype, table.source, notes)
        ids[role] = pl.DataFrame([column]).select(texts.alias(role)).to_series()
    frame = pl.DataFrame({**ids, **values})
    read: dict[Kind, Judgements | Run] = {}

    def named_places(rows: Sequence[int]) -> str:
        return listed(list(map(table.row_name, rows)))

    for kind in (JUDGEMENTS, RUN):
        rows = complete(frame.select("query", "item", kind.value), kind, table.place)
        unchecked = unchecked_table(kind, rows, table.source, tuple(notes))
        read[kind] = replace(unchecked, places=named_places)
    return read


def _one_query(table: Sheet, used: Collection[str | None]) -> str:
    """Return a note, or a warning if a column that is not used repeats values as queries do."""
    note = f"{table.source}: {ONE_QUERY}"
    unused = [name for name in table.header if name not in used]
    for name, column in (table.cells(unused) if unused else {}).items():
        texts = list(map(str, column[:1000]))
        if 1 < len(set(texts)) < len(texts):
            return Warned(
                f"{note} If column {quote(name)} is the query, name it: "
                f"columns={{'query': {name!r}}} (--columns query={name})."
            )
    return note


def _column(role: str, table: Sheet, named: NamedColumns) -> str | None:
    """Return the column of a role, the user's first; several are an error."""
    names = label_columns(role, table.header, named)
    if len(names) > 1:
        raise say_which(_WORDS.get(role, role), names, table.source)
    return names[0] if names else None


def _are_numbers(cells: Mapping[str, Cells], item: str | None) -> bool:
    """Return whether these are numbers of items, and not ids, which may be numbers too."""
    texts = [str(cell).strip().lower() for column in cells.values() for cell in column[:100]]
    scalar = all(is_number(text) or text in _FLAGS for text in texts)
    return scalar and (item is not None or any("." in text for text in texts))


def _numbers_in(cells: Cells, role: str, table: Sheet) -> pl.Series:
    """Return labels or scores as numbers; anything else is an error that names its row."""
    column = column_of(role, cells)
    if column.dtype == pl.String:
        texts = column.str.strip_chars()
        if role == "grade":
            texts = texts.str.to_lowercase().replace(_FLAGS)
        numbers = texts.cast(pl.Float64, strict=False)
    elif column.dtype.is_numeric() or (column.dtype == pl.Boolean and role == "grade"):
        numbers = column.cast(pl.Float64)
    else:
        known = (Real, np.bool_) if role == "grade" else Real
        values = [float(cell) if isinstance(cell, known) else None for cell in cells]
        numbers = pl.Series(role, values, dtype=pl.Float64)
    wrong = (numbers.is_null() | numbers.is_nan()).arg_true()
    if not len(wrong):
        return numbers
    word, value = _WORDS.get(role, role), cells[wrong[0]]
    if value is None or value == "":
        what = "is missing"
    elif numbers[wrong[0]] is not None:
        what = "is NaN"
    else:
        expected = "a number, or true or false" if role == "grade" else "a number"
        what = f"is {quoted(value)}; a {word} is {expected}"
    raise InputError(f"{table.place(wrong[0])}: the {word} {what}.")


def _numbers(count: int) -> list[str]:
    """Return ids for items without ids, which are no ids of queries."""
    return [f"#{number}" for number in range(1, count + 1)]


# -- arrays


def labelled_arrays(y_true: Any, y_score: Any, query: Any = None) -> tuple[Judgements, Run]:
    """Return judgements and a run from labels and scores, in one row or in one row per query."""
    labels, scores = _rows("y_true", y_true), _rows("y_score", y_score)
    nested = [_is_nested(name, rows) for name, rows in (("y_true", labels), ("y_score", scores))]
    if len(labels) != len(scores) or nested[0] != nested[1]:
        raise InputError(
            f"y_true has {_shape(labels)} and y_score has {_shape(scores)}; they must have the "
            "same shape."
        )
    names = None if query is None else _rows("query", query)
    if names is not None and len(names) != len(labels):
        what = counted(len(labels), "row" if nested[0] else "label")
        raise InputError(f"query has {counted(len(names), 'value')} for {what}; give one for each.")
    if nested[0] and len(labels) > 1 and all(len(row) == 1 for row in labels):
        raise InputError(
            "y_true has one label in each row, so there is nothing to rank. Flatten y_true and "
            "y_score (ravel) if the rows are results of one query."
        )
    if not nested[0]:
        queries = ["all"] * len(labels) if names is None else names
        items = _numbers(len(labels))
        cells = {"query": queries, "item": items, "grade": labels, "score": scores}
    else:
        numbers = range(1, len(labels) + 1)
        cells = {"query": [], "item": [], "grade": [], "score": []}
        queries = [*map(str, numbers)] if names is None else names
        for number, name, row, row_scores in zip(numbers, queries, labels, scores, strict=True):
            grades, values = _rows(f"y_true[{number - 1}]", row), list(row_scores)
            if len(grades) != len(values):
                raise InputError(
                    f"row {number - 1} of y_true has {counted(len(grades), 'label')} and that of "
                    f"y_score {counted(len(values), 'score')}; they must have the same length."
                )
            cells["query"] += [name] * len(grades)
            cells["item"] += _numbers(len(grades))
            cells["grade"] += grades
            cells["score"] += values
    rows = (dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True))
    table = Sheet("y_true and y_score", list(cells), numbered(rows))
    read = read_labelled(table, NamedColumns({}, alone=True))
    assert read is not None
    judgements, run = read[JUDGEMENTS], read[RUN]
    assert isinstance(judgements, Judgements)
    assert isinstance(run, Run)
    return judgements, run


def _rows(name: str, given: Any) -> list[Any]:
    """Return an array, a tensor, a column or a list as a list."""
    if hasattr(given, "detach"):  # a tensor of torch, maybe on a graphics card
        given = given.detach().cpu()
    convert = getattr(given, "tolist", None) or getattr(given, "to_list", None)
    rows = convert() if callable(convert) else given
    if not isinstance(rows, (list, tuple)):
        raise InputError(f"{name} must be an array or a list; got {quoted(given)}.")
    if not rows:
        raise InputError(f"{name} is empty.")
    return list(rows)


def _is_nested(name: str, rows: Sequence[Any]) -> bool:
    nested = [isinstance(row, (list, tuple, np.ndarray)) for row in rows]
    if not any(nested):
        return False
    if not all(nested) or any(isinstance(cell, (list, tuple)) for row in rows for cell in row):
        raise InputError(f"{name} must have one dimension, or two: a row for each query.")
    return True


def _shape(rows: Sequence[Any]) -> str:
    return counted(len(rows), "row" if isinstance(rows[0], (list, tuple)) else "value")
