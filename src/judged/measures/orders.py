"""The orders of tied results: every one that differs where they are few, and a sample where they
are many.

Results of one kind are interchangeable: no measure can tell results of one grade apart, or of the
same grades by subtopic, or those that nobody judged. A query whose ties have no more than `LIMIT`
orders in which the kinds differ gets them all, and these are equally likely, so that their mean,
the least and the greatest value are exact.

Of other queries orders are drawn. A random order is drawn together with its reverse, in which every
tie is reversed. Each of the two is as likely as any order, and their mean varies less than that of
two orders drawn apart. The random numbers are a function of the query's id, the place and the draw:
the same query has the same numbers in any company, and however its rows were ordered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, ordinals, positions, starts_of
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.measures.measure import Measure

LIMIT = 720
"""Up to how many orders of a query are gone through one by one: six different results have as many.
"""
PAIRS = 250
"""How many random orders are drawn otherwise, each with its reverse."""
DRAWS = 2 * PAIRS
SEED = 2008
_ROWS = 1 << 18
"""How many hits and judgements are computed at once."""

Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Sample:
    """What some orders of each query's ties give."""

    mean: Floats
    errors: Floats
    """Standard errors of the means; 0 where every order was seen."""
    low: Floats
    high: Floats


def in_order(r: Rankings, rank: Ints) -> Rankings:
    """The rankings with ties broken so, and without what is then below the end of a list that a
    depth cut."""
    ordered = r.arranged(rank, ties="input", whole=None)
    seen = ordered.hit_rank <= ordered.retrieved[ordered.hit_query]
    return ordered if seen.all() else replace(ordered, **ordered.hits(seen))


class Orders:
    """The orders of the ties of rankings whose ties are unbroken."""

    def __init__(self, r: Rankings) -> None:
        self.rankings = replace(r, whole=None)
        first, last = r.spans
        tied = np.flatnonzero(last > first)
        grade, kind = r.hit_grade[tied], _kinds(r)[tied]
        item = np.zeros(len(tied), np.int64) if r.hit_item is None else r.hit_item[tied]
        order = np.lexsort((item, kind, -grade, first[tied], r.hit_query[tied]))
        self.hit = tied[order]
        """The tied hits, kind after kind in each tie."""
        self.query, grade, kind = r.hit_query[self.hit], grade[order], kind[order]
        new = borders(self.query, first[self.hit])
        self.tie = np.cumsum(new) - 1
        """The tie of each."""
        self.owner = self.query[new]
        """The query of each tie."""
        self.size = (last - first + 1)[self.hit][new]
        self.held = np.bincount(self.tie, minlength=len(self.size))
        """How many hits each tie holds."""
        self.place = ordinals(self.tie, len(self.size)) - 1
        """The place of each hit among the hits of its tie."""
        begins = np.flatnonzero(borders(self.tie, grade, kind))
        self.kind_tie = self.tie[begins]
        self.kind_size = np.diff(np.append(begins, len(self.tie)))
        self.first_hit = np.searchsorted(r.hit_query, np.arange(len(r)))
        self.ways = self._ways()
        """How many orders of each tie differ, and infinity where they are more than enough."""
        count = np.ones(len(r))
        np.multiply.at(count, self.owner, self.ways)
        self.whole = count <= LIMIT
        """The queries of which every order is seen."""
        self.count = np.where(self.whole, count, PAIRS).astype(np.int64)

    def _ways(self) -> Floats:
        logs = np.append(0.0, np.cumsum(np.log(np.arange(1, int(self.size.max(initial=0)) + 1))))
        taken = np.bincount(self.kind_tie, logs[self.kind_size], minlength=len(self.size))
        many = logs[self.size] - taken - logs[self.size - self.held]
        return np.where(many < np.log(LIMIT + 1), np.rint(np.exp(np.minimum(many, 9))), np.inf)

    def sample(self, measures: Iterable[Measure]) -> dict[Measure, Sample]:
        """What all measures give for the same orders."""
        parts: dict[Measure, list[Sample]] = {measure: [] for measure in measures}
        for queries in self._blocks():
            values = self._values(list(parts), queries)
            for measure, (one, other) in values.items():
                parts[measure].append(_summed(one, other, self.count[queries]))
        order = np.argsort(np.concatenate(list(self._blocks())), kind="stable")
        return {
            measure: Sample(
                *(
                    np.concatenate([getattr(each, name) for each in own])[order]
                    for name in ("mean", "errors", "low", "high")
                )
            )
            for measure, own in parts.items()
        }

    def _blocks(self) -> Iterator[Ints]:
        """Some queries at a time, all of one sort: of which every order is seen, or not."""
        for sort in (self.whole, ~self.whole):
            some = np.flatnonzero(sort)
            step = max(1, _ROWS // PAIRS)
            for begin in range(0, len(some), step):
                yield some[begin : begin + step]

    def _values(
        self, measures: list[Measure], queries: Ints
    ) -> dict[Measure, tuple[Floats, Floats | None]]:
        """The values of all orders of some queries, query after query; and of their reverses where
        orders are drawn."""
        r = self.rankings
        listed = bool(self.whole[queries[0]])
        owner = np.repeat(queries, self.count[queries])
        number = positions(np.zeros(len(queries), np.int64), self.count[queries])
        weight = np.bincount(r.hit_query, minlength=len(r)) + np.bincount(
            r.pool_query, minlength=len(r)
        )
        weight += np.bincount(self.owner, self.size, minlength=len(r)).astype(np.int64)
        chunk = np.cumsum(weight[owner]) // _ROWS
        ends = np.append(np.flatnonzero(np.diff(chunk)) + 1, len(owner))
        ones: dict[Measure, list[Floats]] = {measure: [] for measure in measures}
        others: dict[Measure, list[Floats]] = {measure: [] for measure in measures}
        for begin, end in zip(np.append(0, ends[:-1]), ends, strict=True):
            copies = r.take(owner[begin:end])
            rank = self._ranks(copies, owner[begin:end], number[begin:end], listed=listed)
            order = in_order(copies, rank)
            reverse = None if listed else in_order(copies, np.add(*copies.spans) - rank)
            for measure in measures:
                ones[measure].append(measure.compute_as_ranked(order))
                if reverse is not None:
                    others[measure].append(measure.compute_as_ranked(reverse))
        return {
            measure: (np.concatenate(own), None if listed else np.concatenate(others[measure]))
            for measure, own in ones.items()
        }

    def _ranks(self, copies: Rankings, owner: Ints, number: Ints, *, listed: bool) -> Ints:
        """The ranks of all hits in some orders of some queries."""
        per_query = np.bincount(self.query, minlength=len(self.rankings))
        rows = positions(starts_of(per_query)[owner], per_query[owner])
        copy = np.repeat(np.arange(len(owner)), per_query[owner])
        starts = np.searchsorted(copies.hit_query, np.arange(len(copies)))
        at = starts[copy] + self.hit[rows] - self.first_hit[owner[copy]]
        rank = copies.hit_rank.copy()
        places = self._listed if listed else self._drawn
        rank[at] = copies.spans[0][at] + places(rows, owner[copy], number[copy], copy)
        return rank

    def _listed(self, rows: Ints, owner: Ints, number: Ints, copy: Ints) -> Ints:
        """The places of some tied hits in the orders with these numbers."""
        tie = self.tie[rows]
        stride, base, table = self._tables
        turn = number // stride[tie] % self.ways[tie].astype(np.int64)
        return table[base[tie] + turn * self.held[tie] + self.place[rows]]

    @cached_property
    def _tables(self) -> tuple[Ints, Ints, Ints]:
        """Of each tie how many orders of the ties above it there are, and where its own begin in a
        table of places."""
        stride = np.ones(len(self.size), np.int64)
        base = np.zeros(len(self.size), np.int64)
        kinds = np.split(self.kind_size, np.flatnonzero(borders(self.kind_tie))[1:])
        known: dict[tuple[int, ...], int] = {}
        table: list[Ints] = []
        end, query, product = 0, -1, 1
        for tie in np.flatnonzero(self.whole[self.owner]).tolist():
            if self.owner[tie] != query:
                query, product = self.owner[tie], 1
            stride[tie], product = product, product * int(self.ways[tie])
            shape = int(self.size[tie]), *kinds[tie].tolist()
            if shape not in known:
                known[shape] = end
                table.append(_places(*shape))
                end += len(table[-1])
            base[tie] = known[shape]
        return stride, base, np.concatenate(table) if table else np.zeros(0, np.int64)

    def _drawn(self, rows: Ints, owner: Ints, number: Ints, copy: Ints) -> Ints:
        """The places of some tied hits in the random orders with these numbers."""
        # Every place of every tie gets a random number; the hits of a tie hold its first places,
        # and where those come when the numbers are put in order are their places.
        tie = self.tie[rows]
        lead = np.flatnonzero(borders(copy, tie))
        size = self.size[tie[lead]]
        segment = np.repeat(np.arange(len(lead)), size)
        inner = self._before[tie[lead]]
        place = positions(inner, size).astype(np.uint64)
        seed = _mixed(self._seeds[owner[lead]] + number[lead].astype(np.uint64) * _STEP)
        random = _mixed(seed[segment] + place * _STEP)
        start = starts_of(size)
        came = np.empty(len(random), np.int64)
        came[_sorted_within(segment, random)] = np.arange(len(random))
        home = np.cumsum(borders(copy, tie)) - 1
        return came[start[home] + self.place[rows]] - start[home]

    @cached_property
    def _before(self) -> Ints:
        """How many tied places of its query stand above each tie."""
        all_before = starts_of(self.size)
        lead = borders(self.owner)
        return all_before - all_before[lead][np.cumsum(lead) - 1]

    @cached_property
    def _seeds(self) -> Words:
        """A number for each query, made of its id."""
        from hashlib import blake2b

        names = self.rankings.queries
        made = np.zeros(len(names), np.uint64)
        for at in np.flatnonzero(~self.whole):
            digest = blake2b(names[at].encode("utf-8", "surrogatepass"), digest_size=8).digest()
            made[at] = int.from_bytes(digest, "little")
        return _mixed(made + np.uint64(SEED))


def _sorted_within(segment: Ints, random: Words) -> Ints:
    """The order that sorts numbers within their segments."""
    # The segment's number and the first bits of the random one in one number sort faster; where
    # these bits are the same, all of them decide.
    key = (segment.astype(np.uint64) << np.uint64(40)) | (random >> np.uint64(24))
    order = np.argsort(key, kind="stable")
    came = key[order]
    alike = bool((came[1:] == came[:-1]).any())
    return np.lexsort((random, segment)) if alike else order


_STEP = np.uint64(0x9E3779B97F4A7C15)


def _mixed(value: Words) -> Words:
    """Each number well stirred, so that neighbours have nothing in common (SplitMix64's last
    step)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def _kinds(r: Rankings) -> Words:
    """A number for each hit that is the same for items with the same judgements by subtopic."""
    kind = np.zeros(len(r.hit_query), np.uint64)
    judged = r.subtopics
    if judged is None or r.hit_item is None:
        return kind
    row = _mixed(
        _mixed(judged.subtopic.astype(np.uint64) + _STEP)
        + (judged.grade + 0.0).view(np.uint64) * _STEP
    )
    width = int(max(judged.item.max(initial=0), r.hit_item.max(initial=0))) + 1
    items, at = np.unique(judged.query * width + judged.item, return_inverse=True)
    total = np.zeros(len(items), np.uint64)
    np.add.at(total, at, row)
    own = r.hit_query * width + r.hit_item
    found = np.minimum(np.searchsorted(items, own), max(len(items) - 1, 0))
    return np.where(items[found] == own, total[found], kind) if len(items) else kind


@lru_cache(256)
def _places(size: int, *kinds: int) -> Ints:
    """All ways to put so many results of each kind into the places of a tie, way after way; the
    places of a kind ascend.

    >>> _places(2, 1).tolist(), _places(2, 1, 1).tolist()
    ([0, 1], [0, 1, 1, 0])
    """

    def ways(free: tuple[int, ...], kinds: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not kinds:
            yield ()
            return
        for chosen in combinations(free, kinds[0]):
            gone = set(chosen)
            left = tuple(place for place in free if place not in gone) if kinds[1:] else ()
            for rest in ways(left, kinds[1:]):
                yield chosen + rest

    return np.array(list(ways(tuple(range(size)), kinds)), np.int64).ravel()


def _summed(one: Floats, other: Floats | None, count: Ints) -> Sample:
    """Mean, error and ends of each query's values."""
    starts = starts_of(count)
    low, high = np.minimum.reduceat(one, starts), np.maximum.reduceat(one, starts)
    middle = one
    if other is not None:
        low = np.minimum(low, np.minimum.reduceat(other, starts))
        high = np.maximum(high, np.maximum.reduceat(other, starts))
        middle = (one + other) / 2
    # Counted from the first value: where all are the same, the error is 0.
    query = np.repeat(np.arange(len(count)), count)
    base = np.where(np.isfinite(middle[starts]), middle[starts], 0.0)
    off = middle - base[query]
    total = np.bincount(query, off, minlength=len(count))
    mean = np.clip(base + total / count, low, high)
    errors: Floats = np.zeros(len(count))
    if other is not None:
        finite = np.isfinite(total)
        squares = np.bincount(query, np.where(finite[query], off, 0.0) ** 2, minlength=len(count))
        spread = squares - np.where(finite, total, 0.0) ** 2 / count
        errors = np.sqrt(np.maximum(spread, 0.0) / (count - 1) / count)
    return Sample(mean, errors, low, high)


def tied_queries(r: Rankings) -> NDArray[Any]:
    """Which queries have a judged result in a tie."""
    first, last = r.spans
    tied = np.zeros(len(r), bool)
    tied[r.hit_query[last > first]] = True
    return tied
