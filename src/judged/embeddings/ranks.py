"""Exact ranks of relevant items without a ranking: count the scores above each of them.

Queries are taken a block at a time, as many as the memory allows. The scores of a block with all
items come from one matrix product. The scores of relevant items are read from the same product, and
the number of greater scores in the row is the rank. Rows with many relevant items, and short rows,
are sorted once instead.

A tile in single precision decides an order where two scores differ by more than rounding can
explain. The items whose scores are closer to a relevant one are its neighbours. These are rescored
in double precision, and those that are still too close are scored exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, descending, order_in_segments
from judged.embeddings.categories import AnyProduct, CategoryProduct
from judged.embeddings.exact import Precision, sum_error, unit
from judged.embeddings.kernel import LimitCounts, count_rows
from judged.embeddings.product import ScoreTile, over_blocks
from judged.embeddings.relations import Bound, BoundJudgements, Pairs, pair_counts
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix
from judged.policy import Policy
from judged.rankings.lists import favoured
from judged.rankings.rankings import Rankings, by_query_and_rank

_PAIRS_PER_BLOCK = 400_000
"""Relevant and excluded pairs that are held at a time."""


@dataclass(frozen=True, eq=False)
class RankCounts:
    """The ranks of the relevant items of a block of queries."""

    begin: int
    """The first query."""
    relevant: Pairs
    first: Ints
    """The first rank of the item's tie; 0 for an item that was not ranked."""
    last: Ints
    place: Ints
    """The number of tied items before the item, by the tie rule."""
    ranked: Ints
    """The number of items that were ranked for each query."""


def count_ranks(
    product: AnyProduct,
    relevance: Bound,
    *,
    ties: TieOrder,
    onlooker: Callable[[ScoreTile], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[RankCounts]:
    """Count the ranks of all relevant items, block after block of queries.

    `onlooker` sees every tile, such as the search for the first k items.
    """

    def work(begin: int, end: int) -> RankCounts:
        relevant, excluded = relevant_and_excluded(product, relevance, begin, end)
        prepared = product.query_block(begin, end)
        tally = Tally(product, begin, relevant, ties)
        if not product.rescores:
            for column in product.columns:
                tile = product.tile(prepared, begin, column, excluded)
                tally.read(tile)
            tally.begin()
        for column in product.columns:
            if product.rescores or len(product.columns) > 1:
                tile = product.tile(prepared, begin, column, excluded)
            if product.rescores and not column:
                tally.begin_with(*tally.rescored(), tile, product.exact_shifts(begin, end))
            if onlooker is not None:
                onlooker(tile)
            tally.add(tile)
        return tally.counts(begin, excluded)

    return over_blocks(product, work, progress, blocks=_blocks(product, relevance))


def cut(begin: int, end: int, sizes: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Cut rows into pieces of at most so much, or of one row.

    >>> list(cut(10, 14, np.array([3, 1, 5, 1]), 4))
    [(10, 12), (12, 13), (13, 14)]
    """
    reached = np.cumsum(sizes, dtype=np.int64)
    first = 0
    while first < end - begin:
        before = int(reached[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(reached, before + most, side="right")))
        yield begin + first, begin + last
        first = last


def _blocks(product: AnyProduct, relevance: Bound) -> list[tuple[int, int]]:
    held = [pairs for pairs in (relevance, product.exclude) if pairs is not None]
    return [
        piece
        for begin, end in product.blocks()
        for piece in cut(
            begin,
            end,
            np.sum([pair_counts(pairs, begin, end, len(product.items)) for pairs in held], axis=0),
            _PAIRS_PER_BLOCK,
        )
    ]


def relevant_and_excluded(
    product: AnyProduct, relevance: Bound, begin: int, end: int
) -> tuple[Pairs, Pairs | None]:
    """Return what is relevant to some queries and not excluded, and what is excluded."""
    relevant = relevance.block(begin, end)
    if product.exclude is None:
        return relevant, None
    excluded = product.exclude.block(begin, end)
    excluded = excluded.where(excluded.item >= 0)
    return relevant.without(excluded), excluded


class TieOrder:
    """The order of tied items, worked out at the first tie.

    `more` are ids of items that are numbered after those of the scores.
    """

    def __init__(self, scores: AnyProduct, rule: str, more: tuple[str, ...] = ()) -> None:
        self._items, self._rule, self._more = scores.items, rule, more
        # Categories have no order in the input, but their best items have.
        self._leaders = None
        if isinstance(scores, CategoryProduct) and rule == "input":
            self._leaders = scores.leaders

    def places(self, queries: Ints, items: Ints) -> Ints:
        """Return, for as many queries as items, numbers that order tied items, lowest first."""
        return self._place[items] if self._leaders is None else self._leaders(queries, items)

    @cached_property
    def _place(self) -> Ints:
        if self._rule == "input":
            return np.arange(len(self._items))
        import polars as pl

        names = pl.Series((*self._items.names(), *self._more), dtype=pl.String)
        order = names.arg_sort(descending=True).to_numpy()
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return place


class Tally:
    """The counts of a block's relevant items, added up over the tiles of its row."""

    def __init__(self, product: AnyProduct, begin: int, relevant: Pairs, ties: TieOrder) -> None:
        self._product, self._begin, self._all, self._ties = product, begin, relevant, ties
        self._slack: Floats | None = None
        self._known: Ints = np.flatnonzero(relevant.item >= 0)
        self._row, self._item = relevant.row[self._known], relevant.item[self._known]
        self._score: Matrix = np.zeros(len(self._known), np.float32)
        self._error: Floats = np.full(len(self._known), np.inf)
        """Bounds of the rounding error of scores in double precision."""
        self._above, self._level, self._before = (
            np.zeros(len(self._known), np.int64) for _ in range(3)
        )

    def read(self, tile: ScoreTile) -> None:
        """Take the scores of relevant items from the tile they are in."""
        self._slack = tile.slack
        if tile.scores.dtype != self._score.dtype:
            self._score = self._score.astype(tile.scores.dtype)
        inside = tile.holds(self._item)
        self._score[inside] = tile.scores[self._row[inside], self._item[inside] - tile.column]

    def begin(self) -> None:
        """Sort the scores of relevant items in each row, with the limits of their neighbours."""
        self._sort()
        self._low = self._high = self._score
        if self._slack is not None:
            slack, kind = self._slack[self._row], self._score.dtype.type
            self._low, self._high = _limits(self._score, slack, kind)

    def rescored(self) -> tuple[Floats, Floats]:
        """Return the scores of relevant items in double precision, with their errors."""
        return self._product.rescored_pairs(self._begin + self._row, self._item)

    def begin_with(
        self, scores: Floats, error: Floats, tile: ScoreTile, shift: Floats | None
    ) -> None:
        """Begin with the scores of relevant items in double precision; an error of 0 is exact.

        `shift` is what the scores of tiles lack, for each row, if they lack anything.
        """
        self._score, self._error, self._slack = scores, error, tile.slack
        self._sort()
        scores = self._score
        kind = tile.scores.dtype.type
        with np.errstate(over="ignore", invalid="ignore"):
            if self._slack is None:
                self._low, self._high = nearest_numbers(scores, kind)
                return
            # A tile's score is off by half of the slack. The arithmetic here is in double
            # precision, with two roundings of numbers as large as the row's greatest score.
            room, most = self._slack / 2, np.zeros(len(self._slack))
            off = np.zeros(len(self._slack))
            np.maximum.at(most, self._row, np.abs(scores))
            np.maximum.at(off, self._row, self._error)
            if shift is not None:
                error_of_shift = sum_error(self._product.items.dims + 3, np.float64)
                room = room + 2 * error_of_shift * np.abs(shift)
                most = most + np.abs(shift)
                scores = scores - shift[self._row]
            room = (room + off + 4 * unit(np.float64) * most)[self._row]
            self._low, self._high = _limits(scores, room, kind)

    def _sort(self) -> None:
        order = order_in_segments(self._row, self._score)
        self._known, self._row, self._item, self._score = (
            column[order] for column in (self._known, self._row, self._item, self._score)
        )
        self._error = self._error[order]
        self._lengths = np.bincount(self._row, minlength=len(self._all.lengths))

    def add(self, tile: ScoreTile) -> None:
        """Count the scores of a tile above each relevant item, level with it, and before it."""
        for counts in count_rows(tile.scores, self._lengths, (self._low, self._high)):
            self._settle(tile, counts)
            self._above[counts.limits] += counts.above
            self._level[counts.limits] += counts.level

    def _settle(self, tile: ScoreTile, counts: LimitCounts) -> None:
        """Correct the counts of relevant items that have neighbours."""
        row, low, high, item = (
            column[counts.limits] for column in (self._row, self._low, self._high, self._item)
        )
        above, level = counts.above, counts.level
        crowded = level - above > tile.holds(item)
        if not crowded.any():
            return
        # Limits that overlap share a window.
        new = borders(row)
        new[1:] |= low[1:] > high[:-1]
        window = np.cumsum(new) - 1
        above_window = above[np.flatnonzero(np.append(new[1:], True))]
        is_crowded = np.bincount(window, crowded) > 0
        own, near = np.flatnonzero(is_crowded[window]), is_crowded[window[counts.limit]]
        limit, column = counts.limit[near], counts.column[near]
        neighbours = self._neighbours(
            tile, row[limit], column, window[limit], counts.limits.start + own, window[own]
        )
        if self._slack is not None:
            neighbours = self._rescored(neighbours)
        own, own_window, above_own, tied, before = neighbours.counts_of_relevant(self._ties.places)
        at = own - counts.limits.start
        above[at] = above_window[own_window] + above_own
        level[at] = above[at] + tied
        self._before[own] += before

    def _neighbours(
        self, tile: ScoreTile, row: Ints, column: Ints, window: Ints, own: Ints, own_window: Ints
    ) -> Neighbours:
        """Return the scores of a tile in windows, and relevant items `own` that are not there."""
        width, relevant = tile.scores.shape[1], np.full(len(row), -1)
        key, wanted = row * width + column, self._row[own] * width + self._item[own] - tile.column
        at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        there = (key[at] == wanted) & tile.holds(self._item[own])
        relevant[at[there]] = own[there]
        there[there] = relevant[at[there]] == own[there]
        others = own[~there]
        return Neighbours(
            window=np.append(window, own_window[~there]),
            query=self._begin + np.append(row, self._row[others]),
            item=np.append(column + tile.column, self._item[others]),
            counts=np.append(np.ones(len(row), bool), np.zeros(len(others), bool)),
            relevant=np.append(relevant, others),
            score=np.append(tile.scores[row, column].astype(np.float64), self._score[others]),
            error=np.zeros(len(row) + len(others)),
            cluster=np.append(window, own_window[~there]),
        )

    def _rescored(self, near: Neighbours) -> Neighbours:
        """Rescore neighbours in double precision, and exactly where these are too close."""
        score = self._score[near.relevant].astype(np.float64)
        error = self._error[near.relevant]
        new = np.flatnonzero((near.relevant < 0) | (error == np.inf))
        score[new], error[new] = self._product.rescored_pairs(near.query[new], near.item[new])
        near = near.clustered(score, error)
        new = np.flatnonzero(near.undecided())
        score = near.score
        score[new] = self._product.exact_pairs(near.query[new], near.item[new])
        return near

    def counts(self, begin: int, excluded: Pairs | None, items: int | None = None) -> RankCounts:
        """Return the ranks of the relevant items, in their original order.

        `items` are ranked for each query, all of the product by default, except excluded ones.
        """
        items = len(self._product.items) if items is None else items
        ranked = np.full(len(self._all.lengths), items, np.int64)
        if excluded is not None:
            ranked -= excluded.lengths
        first, last, before = (np.zeros(len(self._all.item), np.int64) for _ in range(3))
        first[self._known] = self._above + 1
        last[self._known], before[self._known] = self._level, self._before
        return RankCounts(begin, self._all, first, last, before, ranked)


@dataclass(frozen=True)
class Neighbours:
    """Items whose scores are too close to a relevant one's, and the relevant ones."""

    window: Ints
    query: Ints
    item: Ints
    counts: NDArray[np.bool_]
    """False for relevant items of another tile, which are only compared with."""
    relevant: Ints
    """The number of a relevant item, -1 for others."""
    score: Floats
    error: Floats
    cluster: Ints
    """Ascending numbers: scores of different clusters of a window are in the right order."""

    def take(self, order: Ints) -> Neighbours:
        return Neighbours(*(getattr(self, column.name)[order] for column in fields(self)))

    def clustered(self, score: Floats, error: Floats) -> Neighbours:
        """Cut windows into clusters by better scores, the best first."""
        order = order_in_segments(self.window, -score)
        near = replace(self, score=score, error=error).take(order)
        widest = np.zeros(int(self.window.max()) + 1)
        np.maximum.at(widest, near.window, near.error)
        start = borders(near.window)
        start[1:] |= near.score[:-1] - near.score[1:] > 2 * widest[near.window[1:]]
        return replace(near, cluster=np.cumsum(start))

    def undecided(self) -> NDArray[np.bool_]:
        """Return which items share a cluster with a relevant item, and have no exact score."""
        cluster = self.cluster - int(self.cluster.min())
        has_relevant = np.bincount(cluster, self.relevant >= 0) > 0
        return (has_relevant & (np.bincount(cluster) > 1))[cluster] & (self.error > 0)

    def counts_of_relevant(self, places: Callable[[Ints, Ints], Ints]) -> tuple[Ints, ...]:
        """Sort clusters by scores that are final, ties by their places, and count.

        Returns relevant items, their windows, and the numbers of scores above them in the window,
        as great (their own included if the tile holds it), and tied before them.
        """
        near = self.take(order_in_segments(self.cluster, -self.score))
        start_window, start = borders(near.window), borders(near.cluster, near.score)
        tie = np.cumsum(start) - 1
        running = np.cumsum(near.counts, dtype=np.int64) - near.counts
        above = running[start][tie] - running[start_window][np.cumsum(start_window) - 1]
        tied = np.bincount(tie, near.counts).astype(np.int64)[tie]
        before = np.zeros(len(tie), np.int64)
        is_relevant = near.relevant >= 0
        shared = (np.bincount(tie, is_relevant) > 0)[tie] & (np.bincount(tie) > 1)[tie]
        if shared.any():
            some = np.flatnonzero(shared)
            place = places(near.query[some], near.item[some])
            # A relevant item that does not count is before its copy in the tile, which does.
            some = some[np.argsort((tie[some] << 33) + (place << 1) + near.counts[some])]
            running = np.cumsum(near.counts[some], dtype=np.int64) - near.counts[some]
            begin = borders(tie[some])
            before[some] = running - running[begin][np.cumsum(begin) - 1]
        columns = (near.relevant, near.window, above, tied, before)
        return tuple(column[is_relevant] for column in columns)


def _limits(scores: Matrix, room: Floats, kind: Precision) -> tuple[Matrix, Matrix]:
    with np.errstate(over="ignore"):
        low = np.nextafter((scores - room).astype(kind), kind(-np.inf))
        high = np.nextafter((scores + room).astype(kind), kind(np.inf))
    # Excluded items score minus infinity, and must lie below every limit.
    return np.maximum(low, np.finfo(kind).min), high


def nearest_numbers(numbers: Floats, kind: Precision) -> tuple[Matrix, Matrix]:
    """Return the nearest numbers of a precision that are not below, and not above."""
    low = numbers.astype(kind)
    high = low.copy()
    low = np.where(low < numbers, np.nextafter(low, kind(np.inf)), low)
    high = np.where(high > numbers, np.nextafter(high, kind(-np.inf)), high)
    return low, high


# -- rankings of counts


def rankings_of(
    queries: Sequence[str], counts: list[RankCounts], policy: Policy, name: str
) -> Rankings:
    """Return counted ranks as `Rankings`; raise an error if nothing is relevant."""
    lengths = np.concatenate([block.relevant.lengths for block in counts])
    query = np.repeat(np.arange(len(queries)), lengths)
    grade = np.concatenate([block.relevant.grade for block in counts])
    first, last, place, ranked = (
        np.concatenate([getattr(block, part) for block in counts])
        for part in ("first", "last", "place", "ranked")
    )
    if not len(query):
        raise InputError("no item is relevant to any query; check the relevance that was given.")
    hit = first > 0
    hit_query, hit_grade = query[hit], grade[hit]
    rank = first[hit] + place[hit]
    if policy.ties in ("best", "worst"):
        rank = favoured(hit_query, first[hit], last[hit], hit_grade, best=policy.ties == "best")
    order = by_query_and_rank(hit_query, rank)
    return Rankings(
        queries=tuple(queries),
        retrieved=ranked,
        hit_query=hit_query[order],
        hit_rank=rank[order],
        hit_grade=hit_grade[order],
        hit_tie_first=first[hit][order],
        hit_tie_last=last[hit][order],
        pool_query=query,
        pool_grade=descending(grade, lengths),
        missing=np.zeros(len(queries), bool),
        collection=ranked,
        ties=policy.ties,
        name=name,
    )


def of_judged_queries(
    r: Rankings, judged: BoundJudgements, of_absent: Bound | None, items: int
) -> Rankings:
    """Leave out queries without judgements, and add judged queries without a vector as missing.

    `of_absent` holds what is relevant to the latter.
    """
    r = r.take(np.flatnonzero(judged.known))
    if of_absent is None or not judged.absent:
        return r
    count = len(judged.absent)
    pairs = of_absent.block(0, count)
    return replace(
        r,
        queries=(*r.queries, *judged.absent),
        retrieved=np.append(r.retrieved, np.zeros(count, np.int64)),
        missing=np.append(r.missing, np.ones(count, bool)),
        collection=np.append(r.collection, np.full(count, items)),  # type: ignore[arg-type]
        pool_query=np.append(r.pool_query, len(r) + pairs.row),
        pool_grade=np.append(r.pool_grade, descending(pairs.grade, pairs.lengths)),
    )
