"""Which group each query is of: sessions, templates, passages that several queries share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from judged.arrays import Ints
from judged.errors import InputError
from judged.inputs.agreement import apart, few
from judged.inputs.columns import beside_query
from judged.inputs.dicts import as_id
from judged.inputs.sheets import Nested, Sheet, names_columns, sheet_of
from judged.inputs.tables import Kind
from judged.text import counted, quote

if TYPE_CHECKING:
    from judged.options import GroupsLike

GROUPS = Kind("groups of queries", "group", "a dict {query: group}, a table or a file")
NAMES = (
    *("group", "group_id", "groups", "cluster", "cluster_id", "session", "session_id"),
    *("template", "template_id"),
)
"""What a column of groups may be called; one of two columns may have any name."""
GIVEN = "the groups given"
EVERY = "give every query one, if need be one of its own."


def groups_of(given: GroupsLike, queries: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """The number of each query's group, and the names of the groups by their numbers.

    Groups are numbered as they first occur among the queries. Those of other queries do not count.

    Parameters
    ----------
    given : GroupsLike
        {query: group}, a table or a file with the columns query and group.
    queries : sequence of str
        The queries that need a group.

    Returns
    -------
    groups : numpy.ndarray
    names : tuple of str

    >>> groups_of({"q1": "s1", "q2": "s2", "q3": "s1"}, ["q2", "q1", "q3"])
    (array([0, 1, 1]), ('s2', 's1'))
    """
    table = sheet_of(given, GROUPS, GIVEN, names_columns)
    by_query = _of_dict(table) if isinstance(table, Nested) else _of_sheet(table)
    lost = [query for query in queries if query not in by_query]
    if lost:
        raise InputError(_lost(lost, queries, list(by_query), table.source))
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(by_query[query], len(numbers)) for query in queries]
    return np.array(found, np.int64), tuple(numbers)


def _lost(lost: Sequence[str], queries: Sequence[str], known: Sequence[str], source: str) -> str:
    """The message on queries without a group."""
    if len(lost) < len(queries):
        which = counted(len(lost), "query has", "queries have")
        return f"{source}: {which} no group ({few(lost)}); {EVERY}"
    return f"{source}: no query has a group. {apart(known, queries, 'The groups are')}"


def _of_dict(given: Nested) -> dict[str, str]:
    found: dict[str, str] = {}
    if not given.content:
        raise InputError(f"{given.source}: holds no rows.")
    for key, value in given.content.items():
        query = as_id(key, given.source)
        where = f"{given.source}: the group of query {query!r}"
        if value is None or (isinstance(value, (str, float)) and _is_nothing(value)):
            raise InputError(f"{where} is missing; {EVERY}")
        if isinstance(value, (Mapping, list, tuple, set)):
            raise InputError(
                f"{where} is a {type(value).__name__}; a group is a text or a whole number, in "
                "{query: group}."
            )
        group = as_id(value, where).strip()
        if found.setdefault(query, group) != group:
            raise InputError(_two(given.source, query, found[query], group))
    return found


def _is_nothing(value: str | float) -> bool:
    return not value.strip() if isinstance(value, str) else value != value


def _two(place: str, query: str, one: str, other: str) -> str:
    return f"{place}: query {query!r} has the groups {one!r} and {other!r}; a query has one."


def _of_sheet(sheet: Sheet) -> dict[str, str]:
    query, group = _chosen(sheet)
    ids = sheet.ids(query, "query")
    names = sheet.ids(group, "group").str.strip_chars()
    frame = pl.DataFrame([ids.alias("query"), names.alias("group")]).with_row_index("row")
    if len(empty := frame.filter(pl.col("group") == "")):
        raise InputError(f"{sheet.place(empty['row'][0])}: the group is missing.")
    first = pl.col("group").first().over("query")
    again = frame.with_columns(first=first).filter(pl.col("group") != pl.col("first"))
    if again.height:
        row, name, other, one = again.row(0)
        raise InputError(_two(sheet.place(row), name, one, other))
    return dict(frame.select("query", "group").iter_rows())


def _chosen(sheet: Sheet) -> tuple[str, str]:
    """The columns of query and group; where two may be the group, neither is taken."""
    header = sheet.header
    if not sheet.headed:
        if len(header) != 2:
            row = " ".join(map(str, sheet.frame.row(0)))
            raise InputError(
                f"{sheet.place(0)}: expected a query and its group, found "
                f"{counted(len(header), 'field')}: {quote(row)}. With more columns, the first line "
                "has to name them."
            )
        return header[0], header[1]
    query, group = beside_query(header, sheet.source, "group", NAMES)
    return header[query], header[group]
