"""Items by number: every judged item and every result near the top of any run gets a number once,
and each run the places of its items by these numbers.

What is then asked of an item costs arithmetic and no look at ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.inputs.tables import Judgements, Lookup, Run, texts
from judged.matching.join import distinct, match, numbers
from judged.matching.pool import Pool, pool_of
from judged.matching.ties import Places, place
from judged.matching.variants import ONE_ORDER

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Listed:
    """A run by numbers."""

    item: Ints
    """The number of each of its results that has one."""
    places: Places
    """Where these stand."""
    retrieved: Ints
    """The length of each query's list."""
    missing: NDArray[np.bool_]
    """The queries that the run lacks."""


@dataclass(frozen=True, eq=False)
class Listings:
    """Judged items and results of runs, by number: the judgements first, in their order."""

    pool: Pool
    """The judgements."""
    queries: tuple[str, ...]
    """Those of the judgements first."""
    query: Ints
    """The query of each item."""
    items: pl.Series
    """The id of each item."""
    grades: Floats
    """The grade of each item; NaN where nobody judged it."""
    runs: tuple[Listed, ...]

    @classmethod
    def of(
        cls,
        judgements: Judgements | Lookup,
        runs: Sequence[Run | Lookup],
        *,
        ties: str = "id",
        duplicates: str = "error",
        within: int | None = None,
        judged_queries: bool = True,
    ) -> Listings:
        """Listings of judgements and of the results that any run has, or by a tie may have, at or
        above the rank `within`; of judged queries only, or of all."""
        import polars as pl

        pool = pool_of(judgements, duplicates=duplicates)
        frames = [_first(_frame(run, duplicates), within, ties) for run in runs]
        results = pl.concat(frames).unique(maintain_order=True)
        known = texts("query", pool.queries).to_frame()
        unasked = results.join(known, on="query", how="anti", maintain_order="left")
        queries = pool.queries
        if judged_queries:
            results = results.join(known, on="query", how="semi", maintain_order="left")
        else:
            queries += tuple(unasked["query"].unique(maintain_order=True).to_list())
        others = results.join(pool.frame, on=["query", "item"], how="anti", maintain_order="left")
        frame = pl.concat([pool.frame, others])
        every = pool_of(_numbered(frame, pool.name, queries))
        number = every.grades.astype(np.int64)
        query = np.empty(frame.height, np.int64)
        query[number] = every.query
        grades = np.full(frame.height, np.nan)
        grades[: len(pool.grades)] = pool.grades
        order = "input" if ties == "input" else "id"
        return cls(
            pool,
            queries,
            query,
            frame["item"],
            grades,
            tuple(_listed(every, run, order, duplicates) for run in runs),
        )


def _numbered(frame: pl.DataFrame, name: str, queries: tuple[str, ...]) -> Judgements:
    """Queries and items, with their numbers for grades."""
    import polars as pl

    row = pl.int_range(pl.len()).cast(pl.Float64).alias("grade")
    return Judgements(frame.with_columns(row), name, queries=queries)


def _frame(run: Run | Lookup, duplicates: str) -> pl.DataFrame:
    """Query, item and score of each result, no item twice."""
    import polars as pl

    if isinstance(run, Run):
        table = distinct(run, duplicates).table if duplicates == "first" else run
        return table.frame.select("query", "item", "score")
    lengths = np.fromiter(map(len, run.lists.values()), np.int64, len(run.lists))
    query = texts("query", run.lists).gather(np.repeat(np.arange(len(lengths)), lengths))
    item = texts("item", chain.from_iterable(run.lists.values()))
    score = pl.Series("score", numbers(run.lists, lengths, "a score"))
    return pl.DataFrame([query, item, score])


def _first(results: pl.DataFrame, within: int | None, ties: str) -> pl.DataFrame:
    """Query and item of the results at or above a rank, or that may be there in some order of
    their tie, where ties have no order of their own."""
    import polars as pl

    if within is not None and within < results.height:
        score = pl.col("score")
        results = results.filter(score >= score.top_k(within).min().over("query"))
        if ties in ONE_ORDER:
            by = ["score", "item"] if ties == "id" else ["score"]
            ordered = results.sort(by, descending=True, maintain_order=True)
            results = ordered.group_by("query", maintain_order=True).head(within)
    return results.select("query", "item")


def _listed(every: Pool, run: Run | Lookup, ties: str, duplicates: str) -> Listed:
    """A run's items by their numbers: all are judged, so the ranks come from where all ranks do."""
    found = match(every, run, duplicates=duplicates)
    item = every.grades[found.hit_judgement].astype(np.int64)
    missing = found.list_of < 0
    retrieved = np.where(missing, 0, found.lengths[found.list_of])
    return Listed(item, place(every, found, ties), retrieved, missing)
