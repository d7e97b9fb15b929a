"""Runs as flat arrays: the lists of all queries end to end, each with its best result first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, by_rows, starts_of
from judged.errors import InputError
from judged.inputs.tables import Run
from judged.matching.checks import EMPTY, nan_message, refuse_lost

if TYPE_CHECKING:
    import polars as pl

Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of one run, each down to the depth."""

    run: Run
    first: int
    """Where the rows of the run begin among those of all runs."""
    query: Ints
    """The number of each result's query, ascending."""
    row: Ints
    """Where each result stands among the rows of all runs."""
    score: Floats
    """Descending in each list."""
    rank: Ints
    """From 1, ties broken."""
    tie: Ints
    """The number of each result's tie, ascending; results without a tie have one of their own."""
    cut: int
    """How many lists were longer than the depth."""

    @property
    def starts(self) -> Ints:
        """Where each list begins."""
        return np.flatnonzero(self.rank == 1)

    @property
    def lengths(self) -> Ints:
        """How many results each list has."""
        return np.diff(np.append(self.starts, len(self.rank)))

    def each(self, of_list: NDArray[Number]) -> NDArray[Number]:
        """A value of each list, for each of its results."""
        return np.repeat(of_list, self.lengths)

    def original(self, at: int | np.integer[Any]) -> tuple[str, str, float]:
        """The query, the item and the score of a result."""
        query, item, score = self.run.frame.row(int(self.row[at]) - self.first)[:3]
        return query, item, score

    def place(self, at: int | np.integer[Any]) -> str:
        """Where a result was read, for a message."""
        return f"{self.run.source}, {self.run.where([int(self.row[at]) - self.first])}"


@dataclass(frozen=True, eq=False)
class Collected:
    """All runs, with one numbering of queries and one of items."""

    queries: pl.Series
    """In the order in which the runs name them, the first run first."""
    items: pl.Series
    """The items of all rows, run after run."""
    runs: tuple[Lists, ...]


def collect(tables: Sequence[Run], *, depth: int, ties: str) -> Collected:
    """The lists of all runs, ranked by score."""
    import polars as pl

    for table in tables:
        _refuse(table)
    stretches = [_stretches(table.frame["query"]) for table in tables]
    named = pl.concat(
        [table.frame["query"].gather(at) for table, at in zip(tables, stretches, strict=True)]
    )
    queries = named.unique(maintain_order=True)
    numbered = queries.to_frame("query").with_row_index("number")
    number = (
        named.to_frame("query")
        .join(numbered, on="query", how="left", maintain_order="left")["number"]
        .to_numpy()
        .astype(np.int64)
    )
    items = pl.concat([table.frame["item"] for table in tables], rechunk=True)
    runs: list[Lists] = []
    first = 0
    for table, starts in zip(tables, stretches, strict=True):
        own, number = number[: len(starts)], number[len(starts) :]
        query = np.repeat(own, np.diff(np.append(starts, table.frame.height)))
        runs.append(_lists(table, query, items, first, depth, ties))
        first += table.frame.height
    return Collected(queries, items, tuple(runs))


def _refuse(table: Run) -> None:
    """An error where a run holds nothing, or a score that has no place in an order."""
    if not table.frame.height:
        raise InputError(f"{table.source}: {EMPTY}")
    refuse_lost(table)
    nan = table.frame["score"].is_nan().arg_true().to_numpy().astype(np.int64)
    if len(nan):
        raise InputError(nan_message(table, nan))


def _stretches(query: pl.Series) -> Ints:
    """The rows where another query begins."""
    return (query != query.shift()).fill_null(True).arg_true().to_numpy().astype(np.int64)


def _lists(table: Run, query: Ints, items: pl.Series, first: int, depth: int, ties: str) -> Lists:
    """The lists of a run whose rows have these queries, and stand among all items from `first`."""
    order = np.arange(len(query))
    if (query[1:] < query[:-1]).any():
        order = np.argsort(query, kind="stable")
        query = query[order]
    score = table.frame["score"].to_numpy()[order]
    lengths = np.bincount(query)
    place, new = ranked(score, lengths, query, items, order + first, ties)
    rank = np.arange(len(query)) - np.repeat(starts_of(lengths), lengths) + 1
    kept = within(rank, new, depth, ties)
    return Lists(
        table,
        first,
        query[kept],
        (order[place] + first)[kept],
        score[place][kept],
        rank[kept],
        (np.cumsum(new) - 1)[kept],
        int((lengths > depth).sum()),
    )


def ranked(
    score: Floats, lengths: Ints, query: Ints, items: pl.Series, row: Ints, ties: str
) -> tuple[Ints, NDArray[np.bool_]]:
    """The places of results in each list, the greatest score first and ties by the rule; and
    whether the result that stands there begins a tie.

    Lists lie end to end; `row` says where each result stands among the items.
    """
    place = _descending(score, lengths)
    new = borders(query, score[place])
    if ties != "input" and not new.all():
        place = _by_id(place, new, items, row)
    return place, new


def within(rank: Ints, new: NDArray[np.bool_], depth: int, ties: str) -> NDArray[np.bool_]:
    """Which results count down to a depth; where ties have no order, one at the depth stays
    whole."""
    if ties == "expected":
        rank = rank[new][np.cumsum(new) - 1]
    return rank <= depth


def _descending(score: Floats, lengths: Ints) -> Ints:
    """The places of each list's results by score; equal scores keep their order."""
    starts = starts_of(lengths)
    wrong = score[1:] > score[:-1]
    inner = starts[(starts > 0) & (starts < len(score))]
    wrong[inner - 1] = False
    at = np.flatnonzero(wrong)
    place = np.arange(len(score))
    if not len(at):
        return place
    unsorted = np.unique(np.searchsorted(starts + lengths, at, side="right"))
    # What fills a row up stands behind all of its results, also behind those of minus infinity.
    order = by_rows(
        -score,
        starts[unsorted],
        lengths[unsorted],
        lambda rows: np.argsort(rows, axis=1, kind="stable").astype(np.float64),
        padding=np.inf,
    )
    changed = np.repeat(np.isin(np.arange(len(lengths)), unsorted), lengths)
    within_list = order[changed].astype(np.int64)
    place[changed] = np.repeat(starts, lengths)[changed] + within_list
    return place


def _by_id(place: Ints, new: NDArray[np.bool_], items: pl.Series, row: Ints) -> Ints:
    """The same places, with the results of each tie in descending order of their ids' bytes."""
    import polars as pl

    starts = np.flatnonzero(new)
    size = np.diff(np.append(starts, len(new)))
    place = place.copy()
    first = starts[size == 2]
    one, other = place[first], place[first + 1]
    swapped = (items.gather(row[one]) < items.gather(row[other])).to_numpy()
    place[first] = np.where(swapped, other, one)
    place[first + 1] = np.where(swapped, one, other)
    crowd = np.flatnonzero(np.repeat(size > 2, size))
    if len(crowd):
        tied = pl.DataFrame(
            {
                "tie": np.repeat(np.arange(len(size)), size)[crowd],
                "item": items.gather(row[place[crowd]]),
                "place": place[crowd],
            }
        )
        tied = tied.sort(["tie", "item"], descending=[False, True])
        place[crowd] = tied["place"].to_numpy()
    return place
