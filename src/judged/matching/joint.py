"""Two runs if what nobody judged had been judged: in favour of one of them, or of the other.

A judging has one answer for both runs. So the unjudged results that a run ranks above the other get
the best grade and all others the lowest, and both runs are judged by that.

Items have numbers (`listings`), so a pair costs arithmetic and no look at ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.errors import PolicyError
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching.listings import Listed, Listings
from judged.matching.variants import FAVOURS, judged_otherwise
from judged.rankings.rankings import Rankings, by_query_and_rank

if TYPE_CHECKING:
    from judged.policy import Policy


class Pair(NamedTuple):
    """Two runs under one judging."""

    run: Rankings
    against: Rankings


@dataclass(frozen=True, eq=False)
class Joint:
    """Runs and judgements from which any two runs can be judged in favour of one of them.

    >>> from judged import judge
    >>> judgements, runs = {"q": {"a": 1}}, [{"q": ["a", "b"]}, {"q": ["c", "a"]}]
    >>> tables = [Lookup({"q": {"a": 2.0, "b": 1.0}}), Lookup({"q": {"c": 2.0, "a": 1.0}})]
    >>> joint = Joint.of(Lookup(judgements), tables)
    >>> run, against = (judge(judgements, each) for each in runs)
    >>> best, worst = joint.judged((0, run), (1, against), top=1.0)
    >>> best.run.hit_grade.tolist(), best.against.hit_grade.tolist()
    ([1.0, 1.0], [0.0, 1.0])
    >>> worst.run.hit_grade.tolist(), worst.against.hit_grade.tolist()
    ([1.0, 0.0], [1.0, 1.0])
    """

    queries: Mapping[str, int]
    """The number of each query."""
    query: Ints
    """The query of each item."""
    grades: Floats
    """The grade of each item; NaN where nobody judged it."""
    runs: tuple[Listed, ...]

    @classmethod
    def of(
        cls,
        judgements: Judgements | Lookup,
        runs: Sequence[Run | Lookup],
        *,
        policy: Policy | None = None,
        duplicates: str = "error",
    ) -> Joint:
        """Of judgements and runs as they were read."""
        ties = "id" if policy is None else policy.ties
        return cls.of_listings(Listings.of(judgements, runs, ties=ties, duplicates=duplicates))

    @classmethod
    def of_listings(cls, listings: Listings) -> Joint:
        """Of listings that hold every result that is looked at."""
        if listings.pool.subtopics is not None:
            raise PolicyError(
                f"{listings.pool.name}: judged by subtopic, where an unjudged result may serve one "
                "subtopic and not another: there is no one judging in favour of a run. Leave out "
                "unjudged_range."
            )
        queries = {name: number for number, name in enumerate(listings.queries)}
        return cls(queries, listings.query, listings.grades, listings.runs)

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
        both = [(self.runs[number], r) for number, r in (run, against)]
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
        self, listed: Listed, r: Rankings, cutoff: int | None
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

    def of(self, listed: Listed, r: Rankings) -> Rankings:
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
