"""Rows with lists of ids to judgements and a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import polars as pl

from judged.errors import InputError
from judged.inputs.columns import LISTS
from judged.inputs.dicts import IDS_NOTE, ORDER_NOTE, as_id
from judged.inputs.order import Ranked, against_ranks, refuse_odd_ranks
from judged.inputs.rows.lists import (
    Column,
    Lists,
    holds_texts,
    is_lists,
    lists_of,
    numbers_of,
)
from judged.inputs.rows.names import EXAMPLES, RowColumns, may_be_labels, shown, two_columns
from judged.inputs.tables import NO_GRADES, Judgements, Locate, Run, texts
from judged.text import Warned, counted, quote

_LONG = 60
"""Ids of so many characters, with spaces in them, are texts."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A table with lists in it, before anybody looked at the lists."""

    header: Sequence[str]
    columns: Mapping[str, pl.Series | Sequence[Any]]
    """Those that are needed."""
    height: int
    label: str
    locate: Locate | None = None

    def place(self, row: int) -> str:
        """Where a row is: "rows.jsonl, line 3"."""
        word = "line" if self.locate else "row"
        number = self.locate([row])[0] if self.locate else row + 1
        return f"{self.label}, {word} {number}"


@dataclass(frozen=True, eq=False)
class Rows:
    """What rows hold."""

    judgements: Judgements | None
    run: Run | None


def rows_of(table: Loaded, columns: RowColumns, roles: Sequence[str] = LISTS) -> Rows:
    """Judgements from the relevant ids, a run from the retrieved ones; those of `roles`."""
    if not table.height:
        raise InputError(f"{table.label}: holds no rows.")
    notes = list(columns.notes)
    queries = _queries(table, columns, notes)
    judgements = run = None
    if "relevant" in roles:
        judgements = _judgements(table, columns, queries, tuple(notes))
    if "retrieved" in roles:
        run = _run(table, columns, queries, tuple(notes))
    if judgements is not None and run is not None:
        judgements = replace(judgements, notes=(*judgements.notes, *_strangers(judgements, run)))
    return Rows(judgements, run)


def _strangers(judgements: Judgements, run: Run) -> tuple[str, ...]:
    """A warning where no relevant item was retrieved for any query, as where ids are of two
    kinds."""
    relevant, retrieved = judgements.frame["item"], run.frame["item"]
    if relevant.is_empty() or retrieved.is_empty() or relevant.is_in(retrieved.implode()).any():
        return ()
    return (
        Warned(
            f"None of the relevant ids, such as {quote(relevant[0], 30)}, is among the retrieved "
            f"ones, such as {quote(retrieved[0], 30)}: are they ids of the same kind?"
        ),
    )


def _queries(table: Loaded, columns: RowColumns, notes: list[str]) -> pl.Series:
    if columns.query is None:
        notes.append(f"{table.label}: no column is the query, so that rows are numbered from 1.")
        return pl.Series([str(number + 1) for number in range(table.height)], dtype=pl.String)
    name = columns.query
    given = table.columns[name]
    if isinstance(given, pl.Series) and given.dtype != pl.Object:
        ids = given
    else:
        ids = texts("query", _ids(table, name, list(given)))
        if not all(isinstance(each, str) for each in given):
            notes.append(IDS_NOTE)
    if ids.dtype.is_integer():
        notes.append(IDS_NOTE)
    elif not isinstance(ids.dtype, (pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise InputError(
            f"{table.label}: column {quote(name)} is {ids.dtype}, but queries must be texts or "
            "whole numbers."
        )
    ids = ids.cast(pl.String)
    missing = (ids.is_null() | (ids == "")).arg_true()
    if len(missing):
        raise InputError(f"{table.place(missing[0])}: the query is missing (no {quote(name)}).")
    again = ids.is_duplicated().arg_true()
    if len(again):
        first = ids[again[0]]
        rows = (ids == first).arg_true().to_list()[:2]
        places = table.locate(rows) if table.locate else [row + 1 for row in rows]
        word = "lines" if table.locate else "rows"
        raise InputError(
            f"{table.label}: {word} {places[0]} and {places[1]} have the same query, "
            f"{quote(first, 60)}; give each query one row, or say with columns={{'query': …}} "
            "(--columns query=…) which column tells them apart."
        )
    return ids


def _ids(table: Loaded, name: str, given: list[Any]) -> list[str | None]:
    """Queries as texts; None where one is missing."""
    found: list[str | None] = []
    for row, each in enumerate(given):
        if each is None or each == "" or (isinstance(each, float) and each != each):
            found.append(None)
            continue
        try:
            found.append(as_id(each))
        except InputError as error:
            raise InputError(f"{table.place(row)}, column {quote(name)}: {error}") from None
    return found


def _judgements(
    table: Loaded, columns: RowColumns, queries: pl.Series, notes: tuple[str, ...]
) -> Judgements:
    lists, grades = _lists(table, columns, "relevant")
    missing = np.flatnonzero(lists.counts < 0)
    if len(missing):
        raise InputError(
            f"{table.place(int(missing[0]))}: the relevant ids are missing (column "
            f"{quote(columns.relevant or '')}); write [] where nothing is relevant."
        )
    rows = lists.rows()
    if grades is None:
        notes = (*notes, NO_GRADES) if len(lists.ids) else notes
        grades = pl.repeat(1.0, len(lists.ids), dtype=pl.Float64, eager=True)
    infinite = (~grades.is_finite()).arg_true()
    if len(infinite):
        raise InputError(
            f"{table.place(int(rows[infinite[0]]))}: the grade is {grades[infinite[0]]}; a grade "
            "must be a finite number."
        )
    long = lists.ids.filter(
        (lists.ids.str.len_chars() >= _LONG) & lists.ids.str.contains(" ", literal=True)
    )
    if len(long):
        notes = (
            *notes,
            Warned(
                f"Items are whole texts, such as {quote(long[0], 40)}: only a retrieved text that "
                "is the same, character by character, counts as relevant. Where there are ids, "
                "name their columns."
            ),
        )
    return Judgements(
        _frame(queries, rows, lists.ids, grades.alias("grade")),
        table.label,
        _with_integers(notes, lists),
        table.locate,
        rows=rows,
        queries=_named(queries, lists),
    )


def _run(table: Loaded, columns: RowColumns, queries: pl.Series, notes: tuple[str, ...]) -> Run:
    lists, scores = _lists(table, columns, "retrieved")
    rows = lists.rows()
    if len(lost := np.flatnonzero(lists.counts < 0)):
        many = counted(len(lost), "query has", "queries have")
        first = quote(queries[int(lost[0])], 40)
        said = f"{many} no list of retrieved ids, such as {first}"
        notes = (*notes, Warned(f"{said}: taken for nothing retrieved."))
    if scores is None:
        notes = (*notes, ORDER_NOTE, *_distances(lists, rows)) if len(lists.ids) else notes
        counts = np.maximum(lists.counts, 0)
        left = np.repeat(np.cumsum(counts), counts) - np.arange(len(rows))
        scores = pl.Series(left, dtype=pl.Float64)
    elif lists.are_ranks:
        notes = (*notes, Ranked("There is no score: the rank of each result gives the order."))
    else:
        against = (
            ()
            if lists.ranks is None
            else against_ranks(zip(rows, lists.ranks, scores, strict=True))
        )
        notes = (*notes, *(against or _order(scores, rows)))
    run = Run(
        _frame(queries, rows, lists.ids, scores.alias("score")),
        table.label,
        _with_integers(notes, lists),
        table.locate,
        rows=rows,
        queries=_named(queries, lists),
    )
    if lists.are_ranks:
        refuse_odd_ranks(run)
    return run


def _distances(lists: Lists, rows: Any) -> tuple[str, ...]:
    """Return a warning where lists without scores are not in the order of their distances."""
    if lists.distances is None:
        return ()
    name, given = lists.distances
    unused = f"The field {quote(name)} of the retrieved objects is not used"
    values = np.array([value if isinstance(value, Real) else np.nan for value in given], float)
    falls = (values[1:] < values[:-1]) & (rows[1:] == rows[:-1])
    if not falls.any():
        return (f"{unused}: the order of each list is the ranking.",)
    many = counted(len(set(rows[1:][falls].tolist())), "list does", "lists do")
    return (
        Warned(
            f"{unused}, and {many} not have the smallest distance first. The order of each list "
            'is the ranking. If the distances should rank, sort the lists, or add a field "score" '
            "with the negative distance."
        ),
    )


def _order(scores: pl.Series, rows: Any) -> tuple[str, ...]:
    """What is said of scores that do not fall in the order of the lists."""
    values = scores.to_numpy()
    within = rows[1:] == rows[:-1]
    rises = set(rows[1:][(values[1:] > values[:-1]) & within].tolist())
    falls = set(rows[1:][(values[1:] < values[:-1]) & within].tolist())
    if len(rises - falls) > len(falls):
        some = f"{len(rises - falls):,} of {len(rises | falls):,} lists"
        which = some if falls else "every list"
        return (
            Warned(
                f"The scores rise in the order of {which}, as distances do; ranks are by score, "
                "the greatest first, so that such a list is read backwards. If they are distances, "
                "leave them out: the order of the list is then the ranking."
            ),
        )
    if rises:
        return ("Ranks are by score: some lists are not in the order of their scores.",)
    return ()


def _lists(table: Loaded, columns: RowColumns, role: str) -> tuple[Lists, pl.Series | None]:
    """The ids of a role, and their scores or grades from wherever they are."""
    name = columns.relevant if role == "relevant" else columns.retrieved
    if name is None:
        raise InputError(missing_columns(table.header))
    column = Column(name, role, table.columns[name], table.place, said=name in columns.named)
    lists = lists_of(column)
    beside = _beside(table, columns, role, lists)
    if beside is None:
        return lists, lists.values
    if lists.are_ranks:
        assert lists.values is not None
        lists = replace(lists, values=None, are_ranks=False, ranks=(-lists.values).to_list())
    if lists.values is not None:
        raise InputError(
            f"{table.label}: columns {quote(name)} and {quote(beside)} both have a {column.value} "
            "for each id; leave one out."
        )
    values, counts = numbers_of(
        Column(beside, role, table.columns[beside], table.place), column.value
    )
    ids = np.maximum(lists.counts, 0)
    wrong = np.flatnonzero(ids != np.maximum(counts, 0))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{table.place(row)}: {counted(int(ids[row]), 'id')} in column {quote(name)}, but "
            f"{counted(max(int(counts[row]), 0), column.value)} in column {quote(beside)}; give "
            "one for each."
        )
    return lists, values


def _beside(table: Loaded, columns: RowColumns, role: str, lists: Lists) -> str | None:
    """Return the column that holds the scores or grades of ids, or None."""
    candidates = columns.grades if role == "relevant" else columns.scores
    found = [
        name
        for name in candidates
        if name in columns.named
        or (is_lists(table.columns[name]) and not holds_texts(table.columns[name]))
    ]
    if role == "relevant":
        found = [name for name in found if not _repeats_relevance(table, columns, name, lists)]
    if len(found) > 1:
        raise InputError(
            two_columns("grades" if role == "relevant" else "scores", found, table.label)
        )
    return found[0] if found else None


def _repeats_relevance(table: Loaded, columns: RowColumns, name: str, relevant: Lists) -> bool:
    """Return whether a column says of each retrieved id whether it is relevant, as the relevant ids
    do; an error where it may say that and does not agree with them."""
    retrieved = columns.retrieved
    if retrieved is None or name in columns.named or not may_be_labels(name):
        return False
    column = Column(name, "retrieved", table.columns[name], table.place)
    values, counts = numbers_of(column, "relevance")
    results = lists_of(Column(retrieved, "retrieved", table.columns[retrieved], table.place))
    if not np.array_equal(np.maximum(counts, 0), np.maximum(results.counts, 0)):
        return False
    pairs = pl.DataFrame({"row": relevant.rows(), "item": relevant.ids}).unique()
    found = pl.DataFrame({"row": results.rows(), "item": results.ids}).join(
        pairs.with_columns(known=True), on=["row", "item"], how="left", maintain_order="left"
    )
    agrees = bool((found["known"].fill_null(False) == (values > 0)).all())
    if agrees and values.is_in([0.0, 1.0]).all():
        return True
    fits_relevant = np.array_equal(np.maximum(counts, 0), np.maximum(relevant.counts, 0))
    if fits_relevant and not agrees:
        return False
    raise InputError(
        f"{table.label}: column {quote(name)} has a number for each id of column "
        f"{quote(retrieved)}, so it may grade these results, and not the ids of column "
        f"{quote(columns.relevant or '')}. Leave it out, or say what it is: "
        f"columns={{'grades': {name!r}}} (--columns grades={name})."
    )


def _frame(queries: pl.Series, rows: Any, ids: pl.Series, value: pl.Series) -> pl.DataFrame:
    return pl.DataFrame([queries.gather(rows).alias("query"), ids.alias("item"), value])


def _named(queries: pl.Series, lists: Lists) -> tuple[str, ...]:
    return tuple(queries.to_list()) if (lists.counts <= 0).any() else ()


def _with_integers(notes: tuple[str, ...], lists: Lists) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*notes, IDS_NOTE) if lists.integers else notes))


def missing_columns(header: Sequence[str] | None) -> str:
    """What is said of something that is judgements at best, where no run is beside it."""
    found = "" if header is None else f" (found: {shown(header)})"
    names = "; ".join(f"{role}: {names}" for role, names in EXAMPLES.items())
    return (
        "judgements need a run beside them: judged evaluate QRELS RUN; or rows with columns for "
        f"the query, its relevant ids and its retrieved ids{found}. Names understood are, for "
        f"example, {names}; others are named by columns={{'relevant': …, 'retrieved': …}} "
        "(--columns relevant=…,retrieved=…)."
    )
