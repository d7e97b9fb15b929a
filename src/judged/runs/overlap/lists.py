"""Runs as lists of ranks: of each result the first and the last rank that its tie spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Floats, Ints, borders, count_above, descending, starts_of
from judged.errors import InputError
from judged.inputs.tables import Lookup, Run
from judged.matching.checks import EMPTY, nan_message, refuse_lost, rising_scores
from judged.matching.documents import as_table
from judged.matching.join import Grouped, distinct, group

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of one run; results are in the order of its rows."""

    name: str
    key: pl.Series
    """A hash of the query and the item of each result."""
    items: pl.Series
    """The id of each result."""
    query: Ints
    """The query of each result, as a number that holds for all runs."""
    first: Ints
    """The first rank that the result may have: one more than the number of greater scores."""
    last: Ints
    """The last one: the number of scores that are not smaller."""
    lengths: Ints
    """How many results each query has; 0 for a query that the run lacks."""
    notes: tuple[str, ...]
    """What was noticed on the way."""


def lists_of(runs: Sequence[Run | Lookup], duplicates: str) -> tuple[tuple[str, ...], list[Lists]]:
    """All queries of some runs, in the order in which they are named, and the runs' lists."""
    import polars as pl

    grouped = [_grouped(run, duplicates) for run in runs]
    queries = pl.concat([each.names for each in grouped]).unique(maintain_order=True)
    numbered = queries.to_frame("query").with_row_index("number")
    found = []
    for each in grouped:
        joined = each.names.to_frame("query").join(numbered, on="query", maintain_order="left")
        number = joined["number"].to_numpy().astype(np.int64)
        found.append(_lists(each, number, len(queries)))
    return tuple(queries.to_list()), found


def _grouped(run: Run | Lookup, duplicates: str) -> Grouped[Run]:
    table = as_table(run, duplicates)
    if not table.frame.height:
        raise InputError(f"{table.source}: {EMPTY}")
    refuse_lost(table)
    grouped = group(distinct(table, duplicates))
    nan = grouped.table.frame["score"].is_nan().arg_true().to_numpy().astype(np.int64)
    if len(nan):
        raise InputError(nan_message(grouped.table, nan))
    return grouped


def _lists(grouped: Grouped[Run], number: Ints, queries: int) -> Lists:
    table, scores = grouped.table, grouped.values("score")
    segment = np.repeat(np.arange(len(grouped.lengths)), grouped.lengths)
    first, last = tie_spans(scores, grouped.lengths, segment)
    lengths = np.zeros(queries, np.int64)
    lengths[number] = grouped.lengths
    rising = rising_scores(scores, grouped.lengths, table.notes)
    return Lists(
        table.name,
        grouped.key,
        table.frame["item"],
        _by_row(grouped, number[segment]),
        _by_row(grouped, first),
        _by_row(grouped, last),
        lengths,
        (*rising, *table.notes),
    )


def _by_row(grouped: Grouped[Run], values: Ints) -> Ints:
    """Values of results that lie query after query, in the order of the rows."""
    if grouped.order is None:
        return values
    found = np.empty_like(values)
    found[grouped.order] = values
    return found


def tie_spans(scores: Floats, lengths: Ints, segment: Ints) -> tuple[Ints, Ints]:
    """The first and the last rank of each score in its list; lists lie end to end.

    >>> first, last = tie_spans(np.array([2.0, 1.0, 2.0]), np.array([3]), np.zeros(3, int))
    >>> first.tolist(), last.tolist()
    ([1, 3, 1], [2, 3, 2])
    """
    starts = starts_of(lengths)
    ordered = descending(scores, lengths)
    if ordered is scores:
        new = borders(segment, scores)
        begins = np.flatnonzero(new)
        sizes = np.diff(np.append(begins, len(scores)))
        first = np.repeat(begins - starts[segment[begins]] + 1, sizes)
        return first, first + np.repeat(sizes, sizes) - 1
    above, upto = (
        count_above(ordered, starts, lengths, segment, scores, or_equal=or_equal)
        for or_equal in (False, True)
    )
    return above + 1, upto
