"""Results of several runs side by side, for unjudged results that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.errors import PolicyError
from judged.inputs.tables import Judgements, Lookup, Run, texts
from judged.matching.documents import as_table
from judged.matching.join import distinct, match
from judged.matching.pool import Pool, pool_of
from judged.matching.ties import (
    BY_SUBTOPIC,
    FAVOURS,
    ONE_ORDER,
    HitPlaces,
    judged_otherwise,
    place,
)
from judged.rankings.rankings import Rankings, by_query_and_rank

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Listed:
    """A run, with items as numbers of `Listings`."""

    item: Ints  # the number of each result
    places: HitPlaces
    retrieved: Ints  # the length of each query's list
    missing: NDArray[np.bool_]  # the queries that the run lacks


@dataclass(frozen=True, eq=False)
class Listings:
    """Judged items and results of runs, by number: the judgements first, in their order."""

    pool: Pool  # the judgements
    queries: tuple[str, ...]  # the queries of the judgements first
    query: Ints  # the query of each item
    items: pl.Series  # the id of each item
    grades: Floats  # the grade of each item; NaN if unjudged
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
        """List judgements and the results of runs that are, or by a tie may be, above a rank."""
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
        numbered = frame.with_columns(pl.int_range(pl.len()).cast(pl.Float64).alias("grade"))
        every = pool_of(Judgements(numbered, pool.name, queries=queries))
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

    def judged(
        self,
        run: tuple[int, Rankings],
        against: tuple[int, Rankings],
        *,
        top: float,
        cutoff: int | None = None,
    ) -> list[tuple[Rankings, Rankings]]:
        """Return two runs with all unjudged results judged in favour of one run, then of the other.

        Results that neither run has at or above the cutoff stay unjudged.
        """
        if self.pool.subtopics is not None:
            raise PolicyError(BY_SUBTOPIC.format(self.pool.name))
        both = [(self.runs[number], r) for number, r in (run, against)]
        (above, reached), (below, also) = (self._heights(*pair, cutoff) for pair in both)
        # A negative grade is no judgement.
        unjudged = ~(self.grades >= 0) & (reached | also)
        numbers = {name: number for number, name in enumerate(run[1].queries)}
        # -1 for queries that the rankings lack.
        query = np.array([numbers.get(name, -1) for name in self.queries], np.int64)[self.query]
        pairs = []
        for favoured in (above < below, above > below):
            grades = np.where(unjudged, np.where(favoured, top, 0.0), self.grades)
            judged = (query >= 0) & ~np.isnan(grades)
            pool = np.flatnonzero(judged)
            pool = pool[np.lexsort((-grades[pool], query[pool]))]
            one, other = (_judged_run(listed, r, query, grades, pool) for listed, r in both)
            pairs.append((one, other))
        return pairs

    def _heights(
        self, listed: Listed, r: Rankings, cutoff: int | None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return each item's rank in a run, the middle of an open tie, and if it may be shown."""
        places, loose = listed.places, r.ties in (*FAVOURS, "expected")
        rank = (places.first + places.last) / 2 if loose else places.rank.astype(np.float64)
        highest = places.first if loose else places.rank
        depth = np.inf if r.depth is None else r.depth
        height = np.full(len(self.grades), np.inf)
        height[listed.item] = np.where(highest <= depth, rank, np.inf)
        reached = np.zeros(len(height), bool)
        reached[listed.item] = highest <= min(depth, np.inf if cutoff is None else cutoff)
        return height, reached


def _frame(run: Run | Lookup, duplicates: str) -> pl.DataFrame:
    """Return query, item and score of each result, no item twice."""
    table = as_table(run, "first")
    if duplicates == "first":
        table = distinct(table, "first").table
    return table.frame.select("query", "item", "score")


def _first(results: pl.DataFrame, within: int | None, ties: str) -> pl.DataFrame:
    """Return the results at or above a rank, or that may be there by a tie without an order."""
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
    """Return a run's items by number; all are judged here, so the join finds all ranks."""
    matches = match(every, run, duplicates=duplicates)
    item = every.grades[matches.hit_judgement].astype(np.int64)
    missing = matches.list_of < 0
    retrieved = np.where(missing, 0, matches.lengths[matches.list_of])
    return Listed(item, place(every, matches, ties), retrieved, missing)


def _judged_run(listed: Listed, r: Rankings, query: Ints, grades: Floats, pool: Ints) -> Rankings:
    """Return a run with other grades, otherwise as it was; `pool` are the judged items."""
    judged = np.zeros(len(grades), bool)
    judged[pool] = True
    held = np.flatnonzero(judged[listed.item])
    own_query, places = query[listed.item], listed.places
    held = held[by_query_and_rank(own_query[held], places.rank[held])]
    whole = replace(
        r.whole or r,
        hit_query=own_query[held],
        hit_rank=places.rank[held],
        hit_grade=grades[listed.item[held]],
        hit_tie_first=places.first[held],
        hit_tie_last=places.last[held],
        pool_query=query[pool],
        pool_grade=grades[pool],
        weights=r.weights,
    )
    return judged_otherwise(whole, r)
