"""Ties: means, least and greatest values of measures over all orders of tied results.

In a random order of a tie, each of its items is equally likely to be at each of its ranks. So a sum
over the results, each with a weight that depends on its rank alone, needs only the mean weight of
the ranks that a tie spans (McSherry and Najork, 2008). Measures without a closed form are computed
for the orders themselves: for all of them if they are few, otherwise for a sample.

Results of one grade, or of the same grades by subtopic, are interchangeable, as are unjudged ones.
A query whose ties have at most `LIMIT` different orders gets them all. Other queries get random
orders, each with its reverse, whose mean varies less. The random numbers depend only on the query's
id, the place and the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, ordinals, positions, products_before, starts_of
from judged.rankings.lists import favoured
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.measures.measure import Measure


class Worth(NamedTuple):
    """The worth of each result: orders by it, up or down, give the extreme values of a measure."""

    hits: Floats
    unjudged: float
    """The worth of any other result."""
    sure: NDArray[np.bool_] | None = None
    """A mask of the queries where this holds; None if it does for all."""

    def ranks(self, r: Rankings, *, best: bool) -> Ints:
        """Rank the hits by worth, or in the reverse order."""
        first, last = r.spans
        tied = np.flatnonzero(last > first)
        rank = r.hit_rank.copy()
        rank[tied] = favoured(
            r.hit_query[tied],
            first[tied],
            last[tied],
            self.hits[tied],
            best=best,
            unjudged=self.unjudged,
            then=None if r.hit_item is None else r.hit_item[tied],
        )
        return rank


class Closed(NamedTuple):
    """Means over all orders of ties in closed form, and the queries that have one."""

    values: Floats
    known: NDArray[np.bool_]


def by_grade(r: Rankings) -> Worth:
    """Value better grades more, and unjudged results least.

    This holds for every measure that never loses when a better grade moves up one rank.
    """
    return Worth(r.hit_grade, -np.inf)


def own_merit(params: Mapping[str, Any]) -> bool:
    """Return whether each result counts for itself; declared as `monotone` of such measures.

    It does not with a cutoff that depends on all relevant items, nor with a table of gains.
    """
    return params.get("k") != "R" and not params.get("gains")


def uncut(r: Rankings, end: Floats) -> NDArray[np.bool_]:
    """Return the queries in which no tie of a judged item crosses a rank or the end of the list."""
    first, last = r.spans
    stop = np.minimum(end, r.retrieved)[r.hit_query]
    whole = np.ones(len(r), bool)
    whole[r.hit_query[(first <= stop) & (last > stop)]] = False
    return whole


Mask = NDArray[np.bool_]


def sums_of(weight: Callable[[Floats], Floats], last: int) -> Floats:
    """Add up a weight over the ranks from 1 to 0, 1, 2, … and so on to the last."""
    return np.append(0.0, np.cumsum(weight(np.arange(1, last + 1, dtype=np.float64))))


def mean_weights(r: Rankings, end: Floats, weight: Callable[[Floats], Floats]) -> Floats:
    """Average a weight over the ranks of each hit's tie; ranks below `end` weigh 0."""
    first, last = r.spans
    stop = np.minimum(end, r.retrieved)[r.hit_query]
    sums = sums_of(weight, int(np.minimum(last, stop).max(initial=0)))
    above = np.minimum(first - 1, stop).astype(np.int64)
    down = np.minimum(last, stop).astype(np.int64)
    return (sums[down] - sums[above]) / (last - first + 1)


class Ties(NamedTuple):
    """The ties that hold a relevant item, in (query, rank) order, ties of one included."""

    query: Ints
    first: Floats
    size: Floats
    relevant: Floats
    """The number of relevant items in the tie."""
    before: Floats
    """The number of relevant items above the tie."""
    shown: Floats
    """The number of its ranks at or above the end."""


def ties_of(r: Rankings, rel: float, end: Floats) -> Ties:
    """Find the ties of relevant items, down to `end` of each query."""
    chosen = np.flatnonzero(r.hit_grade >= rel)
    query, (first, last) = r.hit_query[chosen], (column[chosen] for column in r.spans)
    new = np.flatnonzero(borders(query, first))
    relevant = np.diff(np.append(new, len(query)))
    before = ordinals(query, len(r))[new] - 1
    query, first, last = query[new], first[new], last[new]
    stop = np.minimum(end, r.retrieved)[query]
    shown = np.clip(np.minimum(last, stop) - first + 1, 0, None)
    return Ties(
        query,
        *(
            column.astype(np.float64)
            for column in (first, last - first + 1, relevant, before, shown)
        ),
    )


def first_chances(r: Rankings, rel: float, end: Floats) -> tuple[Ints, Floats, Floats]:
    """Return query, rank and chance of each place where a query's first relevant item may be."""
    ties = ties_of(r, rel, end)
    lead = np.flatnonzero((ties.before == 0) & (ties.shown > 0))
    size, relevant = ties.size[lead], ties.relevant[lead]
    places = np.minimum(ties.shown[lead], size - relevant + 1).astype(np.int64)
    above = positions(np.zeros(len(lead), np.int64), places).astype(np.float64)
    tie = np.repeat(np.arange(len(lead)), places)
    left = size[tie] - above
    none_yet = products_before(1 - relevant[tie] / left, places)
    return ties.query[lead][tie], ties.first[lead][tie] + above, none_yet * relevant[tie] / left


def all_chances(r: Rankings, rel: float, end: Floats) -> Floats:
    """Compute for each query the chance that all its relevant items are at or above the end."""
    ties = ties_of(r, rel, end)
    chance = np.where(r.total(ties.query, ties.relevant) == r.relevant(rel), 1.0, 0.0)
    # Only ties that reach below the end can lose something. The relevant items take places one
    # after the other: the first is shown with the chance s/n, the next with (s - 1)/(n - 1), …
    cut = np.flatnonzero(ties.shown < ties.size)
    places = ties.relevant[cut].astype(np.int64)
    tie = np.repeat(cut, places)
    taken = positions(np.zeros(len(cut), np.int64), places)
    chances = np.maximum(ties.shown[tie] - taken, 0) / (ties.size[tie] - taken)
    starts = np.cumsum(places) - places
    kept = np.multiply.reduceat(chances, starts) if len(cut) else np.zeros(0)
    np.multiply.at(chance, ties.query[cut], kept)
    return chance


def counts_shown(ties: Ties, which: Ints) -> tuple[Ints, Floats, Floats]:
    """Compute how many relevant items of some ties may be at or above the end, and how likely.

    Returns the tie, the number and its hypergeometric chance, tie after tie.
    """
    from scipy.special import gammaln

    def ways(total: Floats, taken: Floats) -> Floats:
        return gammaln(total + 1) - gammaln(taken + 1) - gammaln(total - taken + 1)

    size, relevant, shown = ties.size[which], ties.relevant[which], ties.shown[which]
    least = np.maximum(relevant + shown - size, 0)
    kinds = (np.minimum(relevant, shown) - least + 1).astype(np.int64)
    tie = np.repeat(np.arange(len(which)), kinds)
    number = positions(least.astype(np.int64), kinds).astype(np.float64)
    size, relevant, shown = size[tie], relevant[tie], shown[tie]
    chance = np.exp(
        ways(relevant, number) + ways(size - relevant, shown - number) - ways(size, shown)
    )
    return which[tie], number, chance / np.bincount(tie, chance, minlength=len(which))[tie]


def precisions(
    first: Floats, places: Floats, relevant: Floats, size: Floats, before: Floats, harmonic: Floats
) -> Floats:
    """Compute the expected sum of precision at the relevant items of a tie, over its first places.

    At rank j of the tie, a relevant item has the chance m/n, and of the others (j - a)(m - 1)/(n -
    1) are above it. `harmonic` holds 1 + 1/2 + … + 1/i at i.
    """
    rate = np.divide(relevant - 1, size - 1, out=np.zeros(len(size)), where=size > 1)
    start = (first - 1).astype(np.int64)
    weights = harmonic[start + places.astype(np.int64)] - harmonic[start]
    return relevant / size * ((before + 1 - first * rate) * weights + rate * places)


def precisions_before(
    first: Floats, places: Floats, relevant: Floats, size: Floats, before: Floats, harmonic: Floats
) -> Floats:
    """Compute the same for the precision just above each relevant item, which is 1 above rank 1."""
    rate = np.divide(relevant - 1, size - 1, out=np.zeros(len(size)), where=size > 1)
    start = np.maximum(first - 2, 0).astype(np.int64)
    top = (first == 1) & (places > 0)
    lower = np.where(top, places - 1, places)
    weights = harmonic[start + lower.astype(np.int64)] - harmonic[start]
    return (
        relevant
        / size
        * (top + (before - np.maximum(first - 1, 0) * rate) * weights + rate * lower)
    )


# -- all measures


class Expected(NamedTuple):
    """One expected value per query, and how far orders can move it where that was asked for."""

    values: Floats
    errors: Floats | None = None
    """Their standard errors where orders were drawn (0 for a query without ties, or whose orders
    were all seen); None where the values are exact."""
    low: Floats | None = None
    """The least value of any order."""
    high: Floats | None = None
    """The greatest."""
    sure: Mask | None = None
    """For which queries no order goes further; of the others some orders go at least this far."""


def expectations(
    measures: Iterable[Measure], r: Rankings, *, ends: bool = False
) -> dict[Measure, Expected]:
    """Compute the mean of each measure over all orders of ties, and with `ends` both extremes."""
    measures = tuple(measures)
    tied = tied_queries(r)
    if not tied.any():
        return {measure: _untied(measure.compute_as_ranked(r), ends) for measure in measures}
    loose = r.take(np.flatnonzero(tied))
    others = r.take(np.flatnonzero(~tied))
    exact = {measure: measure.closed(loose) for measure in measures}
    by_worth = ByWorth(loose)
    sorted_ends = {measure: by_worth.ends(measure) for measure in measures} if ends else {}
    seen = [
        measure
        for measure, closed in exact.items()
        if not closed.known.all() or (ends and not sorted_ends[measure][2].all())
    ]
    orders = TieOrders(loose) if seen else None
    samples = orders.sample(seen) if orders else {}
    expected = {
        measure: _over(closed, samples.get(measure), orders, sorted_ends.get(measure))
        for measure, closed in exact.items()
    }
    if tied.all():
        return expected
    return {
        measure: _joined(tied, value, _untied(measure.compute_as_ranked(others), ends))
        for measure, value in expected.items()
    }


def _untied(values: Floats, ends: bool) -> Expected:
    sure = np.ones(len(values), bool)
    return Expected(values, None, values, values, sure) if ends else Expected(values)


class ByWorth:
    """Rankings in the orders by worth, each made once: most measures share theirs."""

    def __init__(self, r: Rankings) -> None:
        self.rankings = r
        self._made: dict[tuple[int, float], tuple[Floats, list[Rankings]]] = {}

    def ends(self, measure: Measure) -> tuple[Floats, Floats, Mask]:
        """Return the least and greatest value, and for which queries no order goes further."""
        r, worth = self.rankings, measure.worth(self.rankings)
        orders = [] if worth is None else self._orders(worth)
        sure = np.full(len(r), worth is not None)
        if worth is not None and worth.sure is not None:
            sure = worth.sure
        if not sure.all():
            orders = [*orders, *self._orders(by_grade(r)), in_order(r, r.hit_rank)]
        values = [measure.compute_as_ranked(order) for order in orders]
        return np.minimum.reduce(values), np.maximum.reduce(values), sure

    def _orders(self, worth: Worth) -> list[Rankings]:
        # The array is kept, so that no other can have its place in memory.
        key = id(worth.hits), worth.unjudged
        if key not in self._made:
            r = self.rankings
            both = [in_order(r, worth.ranks(r, best=best)) for best in (True, False)]
            self._made[key] = worth.hits, both
        return self._made[key][1]


def _over(
    closed: Closed,
    sample: OrderSummary | None,
    orders: TieOrders | None,
    ends: tuple[Floats, Floats, Mask] | None,
) -> Expected:
    """Combine the closed form of a measure with its sampled orders and its orders by worth."""
    values, errors = closed.values, None
    if sample is not None and orders is not None and not closed.known.all():
        values = np.where(closed.known, values, sample[0])
        if not (closed.known | orders.whole).all():
            errors = np.where(closed.known, 0.0, sample[1])
    if ends is None:
        return Expected(values, errors)
    low, high, sure = ends
    if sample is not None and orders is not None:
        low, high = np.minimum(low, sample[2]), np.maximum(high, sample[3])
        sure = sure | orders.whole
    # A mean is between the ends: what it is beyond ends that are known is rounding, and ends that
    # are not known are at least as far out.
    low, high = (
        np.where(sure, end, further(end, values))
        for end, further in ((low, np.minimum), (high, np.maximum))
    )
    return Expected(np.clip(values, low, high), errors, low, high, sure)


def _joined(tied: Mask, loose: Expected, others: Expected) -> Expected:
    def both(one: NDArray[Any] | None, other: NDArray[Any] | None) -> NDArray[Any] | None:
        if one is None:
            return None
        every = np.zeros(len(tied), one.dtype)
        every[tied] = one
        if other is not None:
            every[~tied] = other
        return every

    return Expected(*map(both, loose, others))  # type: ignore[arg-type]


LIMIT = 720
"""Up to how many orders of a query are gone through one by one: six different results have as many.
"""
PAIRS = 250
"""The number of random orders otherwise, each with its reverse."""
DRAWS = 2 * PAIRS
SEED = 2008
_ROWS = 1 << 18
"""Hits and judgements that are computed at once."""

Words = NDArray[np.uint64]
OrderSummary = tuple[Floats, Floats, Floats, Floats]
"""Means over some orders of each query's ties, their standard errors (0 if every order was seen),
and the least and greatest values."""


def in_order(r: Rankings, rank: Ints) -> Rankings:
    """Break ties in this order, and drop hits that are then below a depth."""
    ordered = r.arranged(rank, ties="input", whole=None)
    seen = ordered.hit_rank <= ordered.retrieved[ordered.hit_query]
    return ordered if seen.all() else replace(ordered, **ordered.hits(seen))


class TieOrders:
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
        """The number of hits in each tie."""
        self.place = ordinals(self.tie, len(self.size)) - 1
        """The place of each hit among the hits of its tie."""
        begins = np.flatnonzero(borders(self.tie, grade, kind))
        self.kind_tie = self.tie[begins]
        self.kind_size = np.diff(np.append(begins, len(self.tie)))
        self.first_hit = np.searchsorted(r.hit_query, np.arange(len(r)))
        self.ways = self._ways()
        """The number of different orders of each tie; infinite if there are too many."""
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

    def sample(self, measures: Iterable[Measure]) -> dict[Measure, OrderSummary]:
        """Compute all measures for the same orders."""
        parts: dict[Measure, list[OrderSummary]] = {measure: [] for measure in measures}
        for queries in self._blocks():
            values = self._values(list(parts), queries)
            for measure, (one, other) in values.items():
                parts[measure].append(_summed(one, other, self.count[queries]))
        order = np.argsort(np.concatenate(list(self._blocks())), kind="stable")
        return {
            measure: tuple(  # type: ignore[misc]
                np.concatenate(column)[order] for column in zip(*samples, strict=True)
            )
            for measure, samples in parts.items()
        }

    def _blocks(self) -> Iterator[Ints]:
        """Yield some queries at a time: first those with all orders, then those with a sample."""
        for sort in (self.whole, ~self.whole):
            some = np.flatnonzero(sort)
            step = max(1, _ROWS // PAIRS)
            for begin in range(0, len(some), step):
                yield some[begin : begin + step]

    def _values(
        self, measures: list[Measure], queries: Ints
    ) -> dict[Measure, tuple[Floats, Floats | None]]:
        """Compute all orders of some queries, and the reverses of random orders."""
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
            measure: (np.concatenate(parts), None if listed else np.concatenate(others[measure]))
            for measure, parts in ones.items()
        }

    def _ranks(self, copies: Rankings, owner: Ints, number: Ints, *, listed: bool) -> Ints:
        """Compute the ranks of all hits in some orders of some queries."""
        per_query = np.bincount(self.query, minlength=len(self.rankings))
        rows = positions(starts_of(per_query)[owner], per_query[owner])
        copy = np.repeat(np.arange(len(owner)), per_query[owner])
        starts = np.searchsorted(copies.hit_query, np.arange(len(copies)))
        hits = starts[copy] + self.hit[rows] - self.first_hit[owner[copy]]
        rank = copies.hit_rank.copy()
        places = self._listed if listed else self._drawn
        rank[hits] = copies.spans[0][hits] + places(rows, owner[copy], number[copy], copy)
        return rank

    def _listed(self, rows: Ints, owner: Ints, number: Ints, copy: Ints) -> Ints:
        """Return the places of some tied hits in the orders with these numbers."""
        tie = self.tie[rows]
        stride, base, table = self._tables
        turn = number // stride[tie] % self.ways[tie].astype(np.int64)
        return table[base[tie] + turn * self.held[tie] + self.place[rows]]

    @cached_property
    def _tables(self) -> tuple[Ints, Ints, Ints]:
        """Return the strides of ties, and their starts in a table of places."""
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
        """Return the places of some tied hits in the random orders with these numbers."""
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
        came[np.lexsort((random, segment))] = np.arange(len(random))
        home = np.cumsum(borders(copy, tie)) - 1
        return came[start[home] + self.place[rows]] - start[home]

    @cached_property
    def _before(self) -> Ints:
        """The number of tied places of its query above each tie."""
        all_before = starts_of(self.size)
        lead = borders(self.owner)
        return all_before - all_before[lead][np.cumsum(lead) - 1]

    @cached_property
    def _seeds(self) -> Words:
        from hashlib import blake2b

        names = self.rankings.queries
        made = np.zeros(len(names), np.uint64)
        for query in np.flatnonzero(~self.whole):
            digest = blake2b(names[query].encode("utf-8", "surrogatepass"), digest_size=8).digest()
            made[query] = int.from_bytes(digest, "little")
        return _mixed(made + np.uint64(SEED))


_STEP = np.uint64(0x9E3779B97F4A7C15)


def _mixed(value: Words) -> Words:
    """Mix the bits of each number, so that neighbours are unrelated (SplitMix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def _kinds(r: Rankings) -> Words:
    """Return a number for each hit that is equal for equal judgements by subtopic."""
    kind = np.zeros(len(r.hit_query), np.uint64)
    judged = r.subtopics
    if judged is None or r.hit_item is None:
        return kind
    row = _mixed(
        _mixed(judged.subtopic.astype(np.uint64) + _STEP)
        + (judged.grade + 0.0).view(np.uint64) * _STEP
    )
    width = int(max(judged.item.max(initial=0), r.hit_item.max(initial=0))) + 1
    items, number = np.unique(judged.query * width + judged.item, return_inverse=True)
    total = np.zeros(len(items), np.uint64)
    np.add.at(total, number, row)
    hit_key = r.hit_query * width + r.hit_item
    place = np.minimum(np.searchsorted(items, hit_key), max(len(items) - 1, 0))
    return np.where(items[place] == hit_key, total[place], kind) if len(items) else kind


@lru_cache(256)
def _places(size: int, *kinds: int) -> Ints:
    """List all ways to put results of each kind into the places of a tie.

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


def _summed(one: Floats, other: Floats | None, count: Ints) -> OrderSummary:
    """Compute mean, standard error and extremes of each query's values."""
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
    return mean, errors, low, high


def tied_queries(r: Rankings) -> NDArray[Any]:
    """Return which queries have a judged result in a tie."""
    first, last = r.spans
    tied = np.zeros(len(r), bool)
    tied[r.hit_query[last > first]] = True
    return tied
