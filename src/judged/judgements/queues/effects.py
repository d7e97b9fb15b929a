"""By how much one judgement would move the difference of runs on its query.

Each query is copied once for each of its candidates, which has the top grade there. So one
evaluation of all copies has the values of all candidates, whatever the measure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Floats, Ints
from judged.evaluation.scores import score
from judged.matching.variants import judged_otherwise
from judged.rankings.columns import gathered
from judged.rankings.rankings import Rankings, by_query_and_rank

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.judgements.queues.candidates import Candidates

_ROWS = 1 << 21
"""So many hits and judgements are copied at a time."""
_NOTHING = 1e-12
"""What is smaller, beside the values, is rounding."""


@dataclass(frozen=True, eq=False)
class _Copied:
    """A run, of which queries can be copied with one more judgement each."""

    whole: Rankings
    """The run with the judgements that there are, before unjudged items are removed."""
    like: Rankings
    """What its rankings are to be."""
    rank: Ints
    """The rank of each candidate; 0 for one that the run lacks."""
    first: Ints
    last: Ints
    query: Ints
    """The query of each candidate."""

    @classmethod
    def of(cls, candidates: Candidates, run: int, like: Rankings, sizes: Ints | None) -> _Copied:
        listings = candidates.listings
        listed, pool = listings.runs[run], listings.pool
        places, grade = listed.places, listings.grades[listed.item]
        judged = np.flatnonzero(~np.isnan(grade))
        query = listings.query[listed.item[judged]]
        judged = judged[order := by_query_and_rank(query, places.rank[judged])]
        whole = Rankings(
            queries=listings.queries,
            retrieved=listed.retrieved,
            hit_query=query[order],
            hit_rank=places.rank[judged],
            hit_grade=grade[judged],
            hit_tie_first=places.first[judged],
            hit_tie_last=places.last[judged],
            pool_query=pool.query,
            pool_grade=pool.best_first,
            missing=listed.missing,
            collection=sizes,
            ties=like.ties,
            name=like.name,
        )
        row = np.full(len(listings.grades), -1)
        row[listed.item] = np.arange(len(listed.item))
        own = row[candidates.number]
        rank, first, last = (
            np.where(own >= 0, each[own], 0) for each in (places.rank, places.first, places.last)
        )
        return cls(whole, like, rank, first, last, candidates.query)

    def blocks(self) -> Iterator[slice]:
        """Some candidates at a time."""
        r = self.whole
        size = np.bincount(r.hit_query, minlength=len(r)) + np.bincount(
            r.pool_query, minlength=len(r)
        )
        block = np.cumsum(size[self.query] + 2) // _ROWS
        ends = np.append(np.flatnonzero(np.diff(block)) + 1, len(block))
        yield from map(slice, np.append(0, ends[:-1]).tolist(), ends.tolist())

    def copies(self, chosen: slice, grade: float) -> Rankings:
        """The query of each of some candidates, with a grade for the candidate alone; the grade is
        at least the best that there is."""
        r, query = self.whole, self.query[chosen]
        rows, copy = gathered(r.hit_query, query, len(r))
        held = np.flatnonzero(self.rank[chosen])
        hit_query = np.concatenate([copy, held])
        hit_rank = np.concatenate([r.hit_rank[rows], self.rank[chosen][held]])
        order = by_query_and_rank(hit_query, hit_rank)
        first, last = r.spans
        pool, pool_copy = gathered(r.pool_query, query, len(r))
        pool_query = np.concatenate([np.arange(len(query)), pool_copy])
        best_first = np.argsort(pool_query, kind="stable")
        whole = replace(
            r,
            queries=tuple(map(r.queries.__getitem__, query.tolist())),
            retrieved=r.retrieved[query],
            hit_query=hit_query[order],
            hit_rank=hit_rank[order],
            hit_grade=np.append(r.hit_grade[rows], np.full(len(held), grade))[order],
            hit_tie_first=np.append(first[rows], self.first[chosen][held])[order],
            hit_tie_last=np.append(last[rows], self.last[chosen][held])[order],
            pool_query=pool_query[best_first],
            pool_grade=np.append(np.full(len(query), grade), r.pool_grade[pool])[best_first],
            missing=r.missing[query],
            collection=None if r.collection is None else r.collection[query],
        )
        return judged_otherwise(whole, self.like)


def effects_of(
    candidates: Candidates, evaluation: Evaluation, *, grade: float, sizes: Ints | None
) -> Floats:
    """By how much the difference of any two runs on its query, or the value of the only run, would
    change at most if a candidate alone had this grade.

    A query that does not count for one of two runs counts nothing to their difference; so does a
    query that nobody judged.
    """
    query, (measure,) = candidates.query, evaluation.measures
    more = len(candidates.listings.queries) - len(evaluation.runs[0].rankings)
    before, after = [], []
    for number, run in enumerate(evaluation.runs):
        before.append(np.append(run.values[measure], np.full(more, np.nan))[query])
        copied = _Copied.of(candidates, number, evaluation.scored(run.name).rankings, sizes)
        asked = (measure,), evaluation.policy, evaluation.convention
        values = [
            score(copied.copies(block, grade), *asked).values[measure]
            for block in (copied.blocks() if len(candidates) else ())
        ]
        after.append(np.concatenate([np.zeros(0), *values]))
    if len(before) == 1:  # a value is how far it is above 0
        before.append(np.zeros(len(query)))
        after.append(np.zeros(len(query)))
    found = _moved(before, after)
    weights = evaluation.runs[0].rankings.weights
    if weights is not None:
        found[np.append(weights.values, np.ones(more))[query] == 0] = 0.0
    return found


def _moved(before: Sequence[Floats], after: Sequence[Floats]) -> Floats:
    """The largest change of a difference of two."""
    found = np.zeros(len(before[0]))
    for one, other in combinations(range(len(before)), 2):
        change = _gap(_gap(after[one], after[other]), _gap(before[one], before[other]))
        np.maximum(found, np.abs(change), out=found)
    sizes = [np.where(np.isfinite(each), np.abs(each), 1.0) for each in (*before, *after)]
    found[found <= _NOTHING * np.maximum(np.maximum.reduce(sizes), 1.0)] = 0.0
    return found


def _gap(one: Floats, other: Floats) -> Floats:
    """How far one is above the other; 0 where one of them does not count, and where both are
    infinite alike."""
    with np.errstate(invalid="ignore"):
        gap = one - other
    return np.where(np.isnan(gap), 0.0, gap)
