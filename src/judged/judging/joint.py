"""Two runs if what nobody judged had been judged: in favour of one of them, or of the other.

A judging has one answer for both runs. So the unjudged results that a run ranks above the other get
the best grade and all others the lowest, and both runs are judged by that.

Every item that is judged or in any of the runs gets a number once, and each run the ranks of its
items by their numbers; after that a pair costs arithmetic and no look at ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.checks import refuse_lost_polars
from judged.errors import PolicyError
from judged.inputs.tables import Judgements, Lookup, Run, texts
from judged.judging.join import match
from judged.judging.pool import Pool, pool_of
from judged.judging.ties import Places, place
from judged.judging.variants import FAVOURS, judged_otherwise
from judged.rankings.rankings import Rankings, by_query_and_rank
from judged.segments import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

    from judged.policy import Policy


class Pair(NamedTuple):
    """Two runs under one judging."""

    run: Rankings
    against: Rankings


@dataclass(frozen=True, eq=False)
class _Listed:
    """The numbers of a run's items, and where they stand."""

    item: Ints
    places: Places


class Joint:
    """Runs and judgements from which any two runs can be judged in favour of one of them.

    >>> from judged import judge
    >>> judgements, runs = {"q": {"a": 1}}, [{"q": ["a", "b"]}, {"q": ["c", "a"]}]
    >>> tables = [Lookup({"q": {"a": 2.0, "b": 1.0}}), Lookup({"q": {"c": 2.0, "a": 1.0}})]
    >>> joint = Joint(Lookup(judgements), tables)
    >>> run, against = (judge(judgements, each) for each in runs)
    >>> best, worst = joint.judged((0, run), (1, against), top=1.0)
    >>> best.run.hit_grade.tolist(), best.against.hit_grade.tolist()
    ([1.0, 1.0], [0.0, 1.0])
    >>> worst.run.hit_grade.tolist(), worst.against.hit_grade.tolist()
    ([1.0, 0.0], [1.0, 1.0])
    """

    def __init__(
        self,
        judgements: Judgements | Lookup,
        runs: Sequence[Run | Lookup],
        *,
        policy: Policy | None = None,
        duplicates: str = "error",
    ) -> None:
        pool = pool_of(judgements, duplicates=duplicates)
        if pool.subtopics is not None:
            raise PolicyError(
                f"{pool.name}: judged by subtopic, where an unjudged result may serve one "
                "subtopic and not another: there is no one judging in favour of a run. Leave out "
                "unjudged_range."
            )
        every = _numbered(pool, runs)
        self.queries = {name: number for number, name in enumerate(pool.queries)}
        self.query = np.empty(len(every.grades), np.int64)
        """The query of each item."""
        self.query[every.grades.astype(np.int64)] = every.query
        self.grades = np.full(len(every.grades), np.nan)
        """The grade of each item; NaN where nobody judged it."""
        self.grades[: len(pool.grades)] = pool.grades
        ties = "input" if policy is not None and policy.ties == "input" else "id"
        self._runs = [_listed(every, run, ties, duplicates) for run in runs]

    def judged(
        self,
        run: tuple[int, Rankings],
        against: tuple[int, Rankings],
        *,
        top: float,
        cutoff: int | None = None,
    ) -> Iterator[Pair]:
        """Two runs, each by its number and as it was judged, if every unjudged result of either
        down to a cutoff had been judged: in favour of the first run, and of the second.

        Results that neither has at or above the cutoff stay unjudged.
        """
        both = [(self._runs[number], r) for number, r in (run, against)]
        (above, reached), (below, also) = (self._heights(*each, cutoff) for each in both)
        # A negative grade is no judgement.
        unjudged = ~(self.grades >= 0) & (reached | also)
        queries = np.full(len(self.queries), -1)  # some may be looked at apart
        queries[[self.queries[name] for name in run[1].queries]] = np.arange(len(run[1]))
        query = queries[self.query]
        for favoured in (above < below, above > below):
            grades = np.where(unjudged, np.where(favoured, top, 0.0), self.grades)
            judging = _Judging(query, grades, (query >= 0) & ~np.isnan(grades))
            yield Pair(*(judging.of(listed, r) for listed, r in both))

    def _heights(
        self, listed: _Listed, r: Rankings, cutoff: int | None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The rank of each item in a run, infinite where it has none; and whether it is, or may be,
        at or above the cutoff. Where ties have no order of their own, that of their middle."""
        places, loose = listed.places, r.ties in (*FAVOURS, "expected")
        rank = (places.first + places.last) / 2 if loose else places.rank.astype(np.float64)
        highest = places.first if loose else places.rank
        depth = np.inf if r.depth is None else r.depth
        height = np.full(len(self.grades), np.inf)
        height[listed.item] = np.where(highest <= depth, rank, np.inf)
        reached = np.zeros(len(self.grades), bool)
        reached[listed.item] = highest <= min(depth, np.inf if cutoff is None else cutoff)
        return height, reached


@dataclass(frozen=True, eq=False)
class _Judging:
    """Grades of all items, by their numbers."""

    query: Ints
    """The query of each item among those of the rankings; -1 for one that they lack."""
    grades: Floats
    judged: NDArray[np.bool_]
    """Which of the items of these queries have a grade."""

    @cached_property
    def pool(self) -> Ints:
        """The judged items, the best first in each query."""
        pool = np.flatnonzero(self.judged)
        return pool[np.lexsort((-self.grades[pool], self.query[pool]))]

    def of(self, listed: _Listed, r: Rankings) -> Rankings:
        """A run judged so, otherwise as it was."""
        held = np.flatnonzero(self.judged[listed.item])
        query, places = self.query[listed.item], listed.places
        held = held[by_query_and_rank(query[held], places.rank[held])]
        whole = replace(
            r.whole or r,
            hit_query=query[held],
            hit_rank=places.rank[held],
            hit_grade=self.grades[listed.item[held]],
            hit_tie_first=places.first[held],
            hit_tie_last=places.last[held],
            pool_query=self.query[self.pool],
            pool_grade=self.grades[self.pool],
            weights=r.weights,
        )
        return judged_otherwise(whole, r)


def _numbered(pool: Pool, runs: Sequence[Run | Lookup]) -> Pool:
    """The judgements and all results of judged queries, with numbers for grades: first the
    judgements in their order, then the others."""
    import polars as pl

    refuse_lost_polars()
    asked = pl.DataFrame([texts("query", pool.queries)])
    judged = pool.frame.lazy()
    results = [_pairs(run, pool).lazy().join(asked.lazy(), on="query", how="semi") for run in runs]
    others = pl.concat(results).unique().join(judged, on=["query", "item"], how="anti")
    frame = (
        pl.concat([judged, others])
        .with_row_index("grade")
        .select("query", "item", pl.col("grade").cast(pl.Float64))
        .collect()
    )
    return pool_of(Judgements(frame, pool.name, queries=pool.queries))


def _pairs(run: Run | Lookup, pool: Pool) -> pl.DataFrame:
    """Query and item of each result; of a dict, those of judged queries."""
    import polars as pl

    if isinstance(run, Run):
        return run.frame.select("query", "item")
    lists = {query: run.lists[query] for query in pool.queries if query in run.lists}
    lengths = np.fromiter(map(len, lists.values()), np.int64, len(lists))
    query = texts("query", lists).gather(np.repeat(np.arange(len(lists)), lengths))
    return pl.DataFrame([query, texts("item", chain.from_iterable(lists.values()))])


def _listed(every: Pool, run: Run | Lookup, ties: str, duplicates: str) -> _Listed:
    """A run's items by their numbers: all are judged, so the ranks come from where all ranks do."""
    found = match(every, run, duplicates=duplicates)
    item = every.grades[found.hit_judgement].astype(np.int64)
    return _Listed(item, place(every, found, ties))
