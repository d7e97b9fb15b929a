"""Judgements by subtopic: one grade an item for measures that know no subtopics, and the whole for
those that do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Ints, ordinals
from judged.errors import InputError
from judged.inputs.tables import Judgements, Lookup
from judged.matching.join import Hashed, group
from judged.rankings.rankings import Subtopics
from judged.text import Tallied

if TYPE_CHECKING:
    import polars as pl


def table_by_item(rows: Hashed[Judgements]) -> tuple[Judgements, Subtopics]:
    """The best grade of each query and item, and what was judged by subtopic; each query's items in
    descending order."""
    grouped = group(rows)
    frame = rows.table.frame if grouped.order is None else rows.table.frame[grouped.order]
    query = np.repeat(np.arange(len(grouped.names)), grouped.lengths)
    items, subtopics = _by_item(frame, query)
    frame = items.select(grouped.names.gather(items["number"]).alias("query"), "item", "grade")
    table = replace(
        rows.table,
        frame=frame,
        notes=(*rows.table.notes, *_note(subtopics, items.height)),
        locate=None,
        rows=None,
    )
    return table, subtopics


def lists_by_item(given: Lookup) -> tuple[Lookup, Subtopics]:
    """The same for a dict of dicts of dicts."""
    frame = rows_of(given)
    items, subtopics = _by_item(frame, frame["number"].to_numpy())
    pairs = zip(items["item"].to_list(), items["grade"].to_list(), strict=True)
    lists = {query: dict(next(pairs) for _ in own) for query, own in given.lists.items()}
    return replace(
        given, lists=lists, notes=(*given.notes, *_note(subtopics, items.height)), by_subtopic=False
    ), subtopics


def rows_of(given: Lookup) -> pl.DataFrame:
    """The rows of a dict of dicts of dicts: the number of the query, item, subtopic and grade."""
    import polars as pl

    rows = [
        (number, item, subtopic, _grade(query, item, subtopic, grade))
        for number, (query, items) in enumerate(given.lists.items())
        for item, grades in items.items()
        for subtopic, grade in grades.items()
    ]
    schema = {"number": pl.Int64, "item": pl.String, "subtopic": pl.String, "grade": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _grade(query: str, item: str, subtopic: str, grade: object) -> float:
    if isinstance(grade, str) or not hasattr(grade, "__float__"):
        raise InputError(
            f"item {item!r} of query {query!r} has {grade!r} where a grade for subtopic "
            f"{subtopic!r} should be; give a number."
        )
    return float(grade)


def _by_item(frame: pl.DataFrame, query: Ints) -> tuple[pl.DataFrame, Subtopics]:
    """Items (number of the query, item, best grade), and every judgement; from rows that lie query
    after query.

    Items are in descending order of their ids: of items that are equally good next, ndeval's ideal
    list takes the one with the greatest id. Subtopics are numbered in the order of their names, so
    that the order of rows plays no part.
    """
    import polars as pl

    rows = (
        frame.select("item", "subtopic", "grade", number=pl.Series(query))
        .with_columns(subtopic=pl.col("subtopic").rank("dense").over("number").cast(pl.Int64) - 1)
        .sort("number", "item", "subtopic", descending=[False, True, False])
    )
    query = rows["number"].to_numpy()
    same = (rows["item"] == rows["item"].shift()) & (rows["number"] == rows["number"].shift())
    new = ~same.fill_null(False).to_numpy()
    grade = rows["grade"].to_numpy()
    first = np.flatnonzero(new)
    items = rows.select("number", "item")[first].with_columns(
        grade=np.maximum.reduceat(grade, first) if len(first) else grade
    )
    own = query[first]
    item = (ordinals(own, int(own.max(initial=-1)) + 1) - 1)[np.cumsum(new) - 1]
    return items, Subtopics(query, item, rows["subtopic"].to_numpy(), grade)


def _note(subtopics: Subtopics, items: int) -> Iterator[str]:
    yield from _said(len(subtopics.grade), items)


def _said(rows: int, items: int) -> Iterator[str]:
    if items < rows:
        yield (
            f"{rows:,} judgements by subtopic are of {items:,} items: "
            "measures that know no subtopics take the best grade of each item."
        )


class SubtopicRows(Tallied):
    """How many judgements by subtopic a part of all has, until all parts are known."""


class SubtopicItems(Tallied):
    """How many items these are of."""


def counts_of(subtopics: Subtopics, items: int) -> tuple[str, ...]:
    """The note of a part of all judgements, as counts that add up."""
    return (
        SubtopicRows(len(subtopics.grade), *["{} judgements by subtopic"] * 2),
        SubtopicItems(items, *["{} items by subtopic"] * 2),
    )


def with_note(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes of all parts, with the note in place of such counts.

    >>> both = SubtopicRows(3, "{} rows", "{} rows"), SubtopicItems(2, "{} items", "{} items")
    >>> with_note(["First.", *both, "Last."])[1]
    '3 judgements by subtopic are of 2 items: measures that know no subtopics take the best grade \
of each item.'
    """
    found: list[str] = []
    rows = 0
    for note in notes:
        if isinstance(note, SubtopicRows):
            rows = note.number
        elif isinstance(note, SubtopicItems):
            found.extend(_said(rows, note.number))
        else:
            found.append(note)
    return tuple(found)
