"""Which items serve which subtopics, of all queries at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.arrays import Floats, Ints, ordinals, starts_of
from judged.errors import MeasureError
from judged.rankings.rankings import Rankings, Subtopics


@dataclass(frozen=True, eq=False)
class Served:
    """Who serves what: pairs of an item and a subtopic, in (query, item, subtopic) order; numbers
    run over all queries."""

    query: Ints
    item: Ints
    subtopic: Ints
    rank: Floats
    """The item's rank; infinite where it was not retrieved."""
    hit_item: Ints
    items: int
    """How many items there are in all."""

    @property
    def subtopics(self) -> int:
        return int(self.subtopic.max(initial=-1)) + 1


def served_by(r: Rankings, rel: float, name: str) -> Served:
    judged, hit_item = r.subtopics, r.hit_item
    if judged is None or hit_item is None:
        raise MeasureError(
            f"{name} needs judgements by subtopic, and these have none. Subtopics are the second "
            "column of TREC qrels (where it is not the same in all rows), a column named "
            "subtopic, aspect, nugget, intent or iteration, or {query: {item: {subtopic: grade}}}."
        )
    first_item = _firsts(judged, judged.item, len(r))
    first_subtopic = _firsts(judged, judged.subtopic, len(r))
    items = int((first_item[judged.query] + judged.item).max(initial=-1)) + 1
    hit_item = first_item[r.hit_query] + hit_item
    rank = np.full(items, np.inf)
    rank[hit_item] = r.hit_rank
    kept = judged.grade >= rel
    query = judged.query[kept]
    item = first_item[query] + judged.item[kept]
    return Served(
        query, item, first_subtopic[query] + judged.subtopic[kept], rank[item], hit_item, items
    )


def _firsts(judged: Subtopics, number: Ints, queries: int) -> Ints:
    """What to add to the numbers within each query so that they run over all queries."""
    count = np.zeros(queries, np.int64)
    np.maximum.at(count, judged.query, number + 1)
    return starts_of(count)


def subtopics_of(r: Rankings, served: Served) -> Floats:
    """How many subtopics each query has that some item serves."""
    _, first = np.unique(served.subtopic, return_index=True)
    return r.total(served.query[first])


def times_before(served: Served, chosen: Ints) -> Ints:
    """How many of the chosen pairs have the same subtopic and a lower rank, for each of them."""
    subtopic, rank = served.subtopic[chosen], served.rank[chosen].astype(np.int64)
    order = np.argsort(subtopic * (int(rank.max(initial=0)) + 1) + rank, kind="stable")
    times = np.empty(len(chosen), np.int64)
    times[order] = ordinals(subtopic[order], served.subtopics) - 1
    return times
