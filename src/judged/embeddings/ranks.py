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
from judged.embeddings.product import Scores, Tile, over_blocks
from judged.embeddings.relations import Bound, Judged, Pairs
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix
from judged.policy import Policy
from judged.rankings.rankings import Rankings, by_query_and_rank
from judged.rankings.ties import favoured
from judged.segments import Floats, Ints, borders, count_above, descending


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
        self._above, self._level, self._before = (
            np.zeros(len(self._known), np.int64) for _ in range(3)
        )

    def read(self, tile: Tile) -> None:
        """Take the relevant items' own scores from the tile they are in."""
        self._slack = tile.slack
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
            self._low = np.nextafter((self._score - slack).astype(np.float32), np.float32(-np.inf))
            self._high = np.nextafter((self._score + slack).astype(np.float32), np.float32(np.inf))

    def add(self, tile: Tile) -> None:
        """Count, for each relevant item, the scores of the tile above its own, level with it, and
        before it in a tie."""
        above, level = np.empty_like(self._above), np.empty_like(self._level)
        width = tile.scores.shape[1]
        if width <= _SHORT:
            self._count_short_rows(tile.scores, above, level)
        else:
            counter = RowCounter(width)
            ends = np.cumsum(self._lengths)
            for row in np.flatnonzero(self._lengths).tolist():
                at = slice(int(ends[row] - self._lengths[row]), int(ends[row]))
                counter.count(tile.scores[row], self._low[at], self._high[at], above[at], level[at])
        crowded = np.flatnonzero(level - above > tile.holds(self._item))
        if len(crowded):
            self._settle(tile, crowded, above, level)
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

    def _settle(self, tile: Tile, crowded: Ints, above: Ints, level: Ints) -> None:
        """Look at the items whose scores cannot be told from a relevant one's, or are the same."""
        held: list[tuple[Ints, Ints]] = []
        width = tile.scores.shape[1]
        for some in self._of_one_row(crowded, max(1, _SCORES_AT_A_TIME // width)):
            scores = tile.scores[self._row[some[0]]]
            if self._slack is None:
                close = scores == self._score[some, None]
            else:
                close = (scores >= self._low[some, None]) & (scores <= self._high[some, None])
            place, item = np.divmod(np.flatnonzero(close), width)
            held.append((some[place], item + tile.column))
            if sum(len(place) for place, _ in held) > _PAIRS_AT_A_TIME:
                self._settle_pairs(held, above, level)
                held = []
        if held:
            self._settle_pairs(held, above, level)

    def _of_one_row(self, places: Ints, most: int) -> Iterator[Ints]:
        """The places of each row, not too many at a time; places are in the order of rows."""
        for own in np.split(places, np.flatnonzero(borders(self._row[places]))[1:]):
            yield from (own[at : at + most] for at in range(0, len(own), most))

    def _settle_pairs(self, held: list[tuple[Ints, Ints]], above: Ints, level: Ints) -> None:
        """Relevant items, and beside each those that are close to it in score: which of them stand
        above it, and which tie?"""
        place, item = (np.concatenate(each) for each in zip(*held, strict=True))
        if self._slack is not None:
            some, which = np.unique(place, return_inverse=True)
            own = self._product.exact_pairs(self._begin + self._row[some], self._item[some])[which]
            exact = self._product.exact_pairs(self._begin + self._row[place], item)
            tied = exact == own
            above += np.bincount(place[exact > own], minlength=len(above))
            level[some] = above[some] + np.bincount(which[tied], minlength=len(some))
            place, item = place[tied], item[tied]
        queries = self._begin + self._row[place]
        before = self._ties.places(queries, item) < self._ties.places(queries, self._item[place])
        self._before += np.bincount(place[before], minlength=len(self._before))

    def counted(self, ranked: Ints) -> Counted:
        first, last, before = (np.zeros(len(self._all.item), np.int64) for _ in range(3))
        first[self._known], last[self._known], before[self._known] = (
            self._above + 1,
            self._level,
            self._before,
        )
        return Counted(self._all, first, last, before, ranked)


class RowCounter:
    """Counts in rows of one width, by comparing a row with several limits at a time."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._untried = {0: 0, _BEHIND: 0}
        # Comparisons are counted as bytes of long words: up to 255 words can be added before a byte
        # overflows.
        self._flags = np.zeros((_AT_A_TIME, -(-width // (8 * _WORDS)) * 8 * _WORDS), bool)
        self._words = self._flags.view(np.uint64).reshape(_AT_A_TIME, -1, _WORDS)

    def count(self, scores: Matrix, low: Matrix, high: Matrix, above: Ints, level: Ints) -> None:
        """How many scores are above each high and not below each low limit; limits ascend."""
        many = len(low) > _SORT_FROM
        # Of many relevant items a few often stand far behind the others: without them only few
        # scores may count.
        for behind in (0, _BEHIND) if many else (0,):
            few = self._reaching(scores, low[behind], len(low), behind)
            if few is not None:
                few.sort()
                _count_sorted(few, low[behind:], high[behind:], above[behind:], level[behind:])
                if behind:
                    self._compare(
                        scores, low[:behind], high[:behind], above[:behind], level[:behind]
                    )
                return
        if many:
            _count_sorted(np.sort(scores), low, high, above, level)
        else:
            self._compare(scores, low, high, above, level)

    def _compare(self, scores: Matrix, low: Matrix, high: Matrix, above: Ints, level: Ints) -> None:
        # Not below a limit is above the number next to it.
        limits = np.concatenate([high, np.nextafter(low, np.float32(-np.inf))])
        parts = [
            self._above(scores, limits[at : at + _AT_A_TIME])
            for at in range(0, len(limits), _AT_A_TIME)
        ]
        above[:], level[:] = np.concatenate(parts).reshape(2, -1)

    def _reaching(
        self, scores: Matrix, lowest: np.float32, limits: int, behind: int
    ) -> Matrix | None:
        """The scores that reach the lowest limit, if they are few, as where relevant items stand
        high: only these count.

        Where many do, the next rows are not even tried.
        """
        if self._untried[behind]:
            self._untried[behind] -= 1
            return None
        reaching = self._flags[0, : self._width]
        np.greater_equal(scores, lowest, reaching)
        if np.count_nonzero(reaching) * max(_FEW // limits, 2) < self._width:
            return scores.take(
                np.flatnonzero(reaching)
            )  # several times faster than by the flags themselves
        self._untried[behind] = _NOT_TRIED
        return None

    def _above(self, scores: Matrix, limits: Matrix) -> Ints:
        count = len(limits)
        np.greater(scores, limits[:, None], self._flags[:count, : self._width])
        return (
            self._words[:count]
            .sum(axis=2)
            .view(np.uint8)
            .reshape(count, -1)
            .sum(axis=1, dtype=np.int64)
        )


def _count_sorted(ordered: Matrix, low: Matrix, high: Matrix, above: Ints, level: Ints) -> None:
    np.subtract(len(ordered), ordered.searchsorted(high, side="right"), out=above)
    np.subtract(len(ordered), ordered.searchsorted(low, side="left"), out=level)


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


_AT_A_TIME = 10
"""Limits that a row is compared with in one call."""
_WORDS = 250
_NOT_TRIED = 7
"""Rows that are not looked through for few scores, after one that had many."""
_SHORT = 2048
"""Rows of so many scores or fewer are sorted many at a time: calling numpy for each would take
longer."""
_SCORES_AT_A_TIME = 1 << 18
_PAIRS_AT_A_TIME = 1 << 17
"""Items that are close in score to a relevant one, which are settled together."""
_SORT_FROM = 28
"""From so many relevant items on, sorting a row costs less than comparing it with each of them."""
_BEHIND = 5
"""Relevant items that may stand far behind the others: as many as are compared with a row in one
call."""
_FEW = 120
"""Scores that reach the lowest limit are taken out and sorted where they are fewer than limits /
120 of a row."""
