"""Exact ranks of relevant items without a ranking: count the scores above each.

Queries are taken a block at a time, as many as the memory allows; the scores of a block with all
items come from one matrix product, the relevant items' own scores are read from that same product,
and the number of greater scores in their row is their rank. Rows with many relevant items, and
short rows, are sorted once instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from judged.embeddings.categories import UniqueProduct
from judged.embeddings.counting import RowCounter
from judged.embeddings.product import Scores, Tile, over_blocks
from judged.embeddings.relations import Bound, Judged, Pairs
from judged.embeddings.settling import Candidates, counts_before, within
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix
from judged.policy import Policy
from judged.rankings.rankings import Rankings, by_query_and_rank
from judged.rankings.ties import favoured
from judged.segments import Floats, Ints, count_above, descending


@dataclass(frozen=True, eq=False)
class Counted:
    """For a block of queries: the relevant items, the ranks their ties span, and how many items
    were ranked."""

    relevant: Pairs
    first: Ints
    """0 for an item that was not ranked."""
    last: Ints
    place: Ints
    """How many items of its tie stand before each, by the tie rule."""
    ranked: Ints


class Onlooker(Protocol):
    """What is shown every tile of the pass that counts, as the search for the first k is."""

    def add(self, tile: Tile) -> None: ...


def count_ranks(
    product: Scores,
    relevance: Bound,
    *,
    ties: TieOrder,
    onlooker: Onlooker | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Counted]:
    """The ranks of all relevant items, block after block of queries."""

    def work(begin: int, end: int) -> Counted:
        relevant, excluded = relevant_and_excluded(product, relevance, begin, end)
        prepared = product.query_block(begin, end)
        tally = Tally(product, begin, relevant, ties)
        for column in product.columns:
            tile = product.tile(prepared, begin, column, excluded)
            tally.read(tile)
            if onlooker is not None:
                onlooker.add(tile)
        tally.begin()
        if len(product.columns) == 1:
            tally.add(tile)
        else:
            for column in product.columns:
                tally.add(product.tile(prepared, begin, column, excluded))
        ranked = np.full(end - begin, len(product.items), np.int64)
        return tally.counted(ranked if excluded is None else ranked - excluded.lengths)

    return over_blocks(product, work, progress)


def relevant_and_excluded(
    product: Scores, relevance: Bound, begin: int, end: int
) -> tuple[Pairs, Pairs | None]:
    """What is relevant to some queries and not excluded, and what is excluded."""
    relevant = relevance.block(begin, end)
    if product.exclude is None:
        return relevant, None
    excluded = product.exclude.block(begin, end)
    excluded = excluded.where(excluded.item >= 0)  # what has no vector was not going to be ranked
    return relevant.without(excluded), excluded


class TieOrder:
    """In which order tied items stand: their place in it, worked out when the first tie is met."""

    def __init__(self, scores: Scores, rule: str) -> None:
        self._items, self._rule = scores.items, rule
        # Categories have no order of their own in the input: their best items have.
        self._leaders = (
            scores.leaders if isinstance(scores, UniqueProduct) and rule == "input" else None
        )

    def places(self, queries: Ints, items: Ints) -> Ints:
        """For as many queries as items, by what tied ones are ordered: the lowest first."""
        return self._place[items] if self._leaders is None else self._leaders(queries, items)

    @cached_property
    def _place(self) -> Ints:
        if self._rule == "input":
            return np.arange(len(self._items))
        import polars as pl

        order = pl.Series(self._items.names(), dtype=pl.String).arg_sort(descending=True).to_numpy()
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return place


class Tally:
    """The counts of a block's relevant items, added up over the tiles of its row."""

    def __init__(self, product: Scores, begin: int, relevant: Pairs, ties: TieOrder) -> None:
        self._product, self._begin, self._all, self._ties = product, begin, relevant, ties
        self._slack: Floats | None = None
        self._known: Ints = np.flatnonzero(relevant.item >= 0)
        self._row, self._item = relevant.row[self._known], relevant.item[self._known]
        self._score: Matrix = np.zeros(len(self._known), np.float32)
        self._own = np.full(len(self._known), np.nan)
        self._above, self._level, self._before = (
            np.zeros(len(self._known), np.int64) for _ in range(3)
        )

    def read(self, tile: Tile) -> None:
        """Take the relevant items' own scores from the tile they are in."""
        self._slack = tile.slack
        if tile.scores.dtype != self._score.dtype:
            self._score = self._score.astype(tile.scores.dtype)
        inside = tile.holds(self._item)
        self._score[inside] = tile.scores[self._row[inside], self._item[inside] - tile.column]

    def begin(self) -> None:
        """All scores are read: put each row's in ascending order, with the limits that other scores
        are compared to."""
        order = np.lexsort((self._score, self._row))
        self._known, self._row, self._item = (
            each[order] for each in (self._known, self._row, self._item)
        )
        self._score = self._score[order]
        self._lengths = np.bincount(self._row, minlength=len(self._all.lengths))
        if self._slack is None:
            self._low = self._high = self._score
        else:
            slack = self._slack[self._row]
            kind = self._score.dtype.type
            self._low = np.nextafter((self._score - slack).astype(kind), kind(-np.inf))
            self._high = np.nextafter((self._score + slack).astype(kind), kind(np.inf))

    def add(self, tile: Tile) -> None:
        """Count, for each relevant item, the scores of the tile above its own, level with it, and
        before it in a tie."""
        above, level = np.empty_like(self._above), np.empty_like(self._level)
        width = tile.scores.shape[1]
        close: dict[int, Ints] = {}
        if width <= _SHORT:
            self._count_short_rows(tile.scores, above, level)
        else:
            counter = RowCounter(width, windows=self._slack is not None)
            ends = np.cumsum(self._lengths)
            for row in np.flatnonzero(self._lengths).tolist():
                at = slice(int(ends[row] - self._lengths[row]), int(ends[row]))
                limits = self._low[at], self._high[at]
                found = counter.count(tile.scores[row], *limits, above[at], level[at])
                if found is not None:
                    close[row] = found
        crowded = np.flatnonzero(level - above > tile.holds(self._item))
        if len(crowded):
            self._settle(tile, crowded, above, level, close)
        self._above += above
        self._level += level

    def _count_short_rows(self, scores: Matrix, above: Ints, level: Ints) -> None:
        rows, width = scores.shape
        step = max(1, _SCORES_AT_A_TIME // width)
        for begin in range(0, rows, step):
            some = scores[begin : begin + step]
            ordered: NDArray[Any] = -np.sort(-some, axis=1).ravel()
            starts, lengths = np.arange(0, len(ordered), width), np.full(len(some), width)
            at = slice(*np.searchsorted(self._row, [begin, begin + step]).tolist())
            row = self._row[at] - begin
            above[at] = count_above(ordered, starts, lengths, row, self._high[at], or_equal=False)
            level[at] = count_above(ordered, starts, lengths, row, self._low[at], or_equal=True)

    def _settle(
        self, tile: Tile, crowded: Ints, above: Ints, level: Ints, close: dict[int, Ints]
    ) -> None:
        """Look at the items whose scores cannot be told from a relevant one's, or are the same."""
        limits = (self._row[crowded], self._low[crowded], self._high[crowded])
        for row, column in within(tile.scores, *limits, close):
            some = crowded[slice(*np.searchsorted(limits[0], [row[0], row[-1] + 1]))]
            left = Candidates(row, column, tile.scores[row, column])
            own: NDArray[Any] = self._score[some]
            if self._slack is not None:
                above[some] -= left.counts(self._row[some], self._high[some])
                some = self._told(tile, left, some, above, level)
                own = self._own[some]
            tied = level[some] - above[some] > tile.holds(self._item[some])
            if tied.any():
                places = self._ties.places
                self._before[some] += counts_before(
                    *(left.row, left.score),
                    places(self._begin + left.row, left.column + tile.column),
                    *(self._row[some], own),
                    places(self._begin + self._row[some], self._item[some]),
                )

    def _told(self, tile: Tile, left: Candidates, some: Ints, above: Ints, level: Ints) -> Ints:
        """Count for some relevant items the candidates above and level; gives the items for which
        exact scores were needed, and leaves the candidates that may tie with them."""
        product, (height, width) = self._product, tile.scores.shape
        doubled = left.many(width)
        if doubled:
            slack = left.double(product, self._begin, tile.column, height)
            at, there = left.find(self._row[some], self._item[some] - tile.column)
            own = left.score[at]
            own[~there] = self._exact(some[~there])
            row, room = self._row[some], slack[self._row[some]]
            beyond = left.counts(row, own + room)
            reached = left.counts(row, own - room, or_equal=True) - beyond
            alone = reached <= there
            above[some] += np.where(alone, beyond, 0)
            level[some] = above[some] + reached
            some, own = some[~alone], own[~alone]
            above[some] += left.narrow(row[~alone], own, room[~alone])
        own = self._exact(some)
        row = self._row[some]
        if product.comparable and not doubled:
            # Against a score without rounding, half of the slack is left.
            assert self._slack is not None
            above[some] += left.narrow(row, own, self._slack[row] * 0.5000001)
        elif quick := product.quick_pairs(self._begin + left.row, left.column + tile.column):
            left.score, error = quick
            room = np.zeros(height)
            np.maximum.at(room, left.row, error)
            above[some] += left.narrow(row, own, room[row])
        left.score = np.full(len(left.row), np.nan)
        if len(left.row):
            at, there = left.find(row, self._item[some] - tile.column)
            left.score[at[there]] = own[there]
            new = np.flatnonzero(np.isnan(left.score))
            query, item = self._begin + left.row[new], left.column[new] + tile.column
            left.score[new] = product.exact_pairs(query, item)
        more = left.counts(row, own)
        above[some] += more
        level[some] = above[some] + left.counts(row, own, or_equal=True) - more
        return some

    def _exact(self, some: Ints) -> Floats:
        """The exact scores of some relevant items, computed when they are first asked for."""
        new = some[np.isnan(self._own[some])]
        self._own[new] = self._product.exact_pairs(self._begin + self._row[new], self._item[new])
        return self._own[some]

    def counted(self, ranked: Ints) -> Counted:
        first, last, before = (np.zeros(len(self._all.item), np.int64) for _ in range(3))
        first[self._known], last[self._known], before[self._known] = (
            self._above + 1,
            self._level,
            self._before,
        )
        return Counted(self._all, first, last, before, ranked)


def rankings_of(scores: Scores, counted: list[Counted], policy: Policy, name: str) -> Rankings:
    """Counted ranks as `Rankings`."""
    lengths = np.concatenate([each.relevant.lengths for each in counted])
    if not lengths.any():
        raise InputError("no item is relevant to any query; check the relevance that was given.")
    query = np.repeat(np.arange(len(scores.queries)), lengths)
    grade = np.concatenate([each.relevant.grade for each in counted])
    first, last, place = (
        np.concatenate([getattr(each, part) for each in counted])
        for part in ("first", "last", "place")
    )
    ranked = np.concatenate([each.ranked for each in counted])
    found = first > 0
    hit_query, hit_grade = query[found], grade[found]
    rank = first[found] + place[found]
    if policy.ties in ("best", "worst"):
        rank = favoured(hit_query, first[found], last[found], hit_grade, best=policy.ties == "best")
    order = by_query_and_rank(hit_query, rank)
    return Rankings(
        queries=scores.queries.names(),
        retrieved=ranked,
        hit_query=hit_query[order],
        hit_rank=rank[order],
        hit_grade=hit_grade[order],
        hit_tie_first=first[found][order],
        hit_tie_last=last[found][order],
        pool_query=query,
        pool_grade=descending(grade, lengths),
        missing=np.zeros(len(scores.queries), bool),
        collection=ranked,
        ties=policy.ties,
        name=name,
    )


def of_judged_queries(r: Rankings, judged: Judged, scores: Scores) -> Rankings:
    """As with any run: queries that nobody judged are ignored, and judged queries without a vector
    are missing."""
    r = r.take(np.flatnonzero(judged.known))
    if judged.of_absent is None or not judged.absent:
        return r
    count = len(judged.absent)
    of_absent = (
        scores.relevance_of_others(judged.of_absent)
        if isinstance(scores, UniqueProduct)
        else judged.of_absent
    )
    pairs = of_absent.block(0, count)
    return replace(
        r,
        queries=(*r.queries, *judged.absent),
        retrieved=np.append(r.retrieved, np.zeros(count, np.int64)),
        missing=np.append(r.missing, np.ones(count, bool)),
        collection=np.append(r.collection, np.full(count, len(scores.items))),  # type: ignore[arg-type]
        pool_query=np.append(r.pool_query, len(r) + pairs.row),
        pool_grade=np.append(r.pool_grade, descending(pairs.grade, pairs.lengths)),
    )


_SHORT = 2048
"""Rows of so many scores or fewer are sorted many at a time: calling numpy for each would take
longer."""
_SCORES_AT_A_TIME = 1 << 18
