"""Exact ranks of relevant items without a ranking: count the scores above each.

Queries are taken a block at a time, as many as the memory allows; the scores of a block with all
items come from one matrix product, the relevant items' own scores are read from that same product,
and the number of greater scores in their row is their rank. Rows with many relevant items, and
short rows, are sorted once instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from judged.arrays import Floats, Ints, order_in_segments
from judged.embeddings.blocks import over_blocks
from judged.embeddings.categories import UniqueProduct
from judged.embeddings.counted import Counted
from judged.embeddings.pairs import Pairs
from judged.embeddings.pieces import blocks, pieces
from judged.embeddings.product import Scores
from judged.embeddings.relations import Bound
from judged.embeddings.settling import Neighbours, Told, Windows
from judged.embeddings.similarity.rounding import Precision, sum_error, unit
from judged.embeddings.tiles import Limits, Tile
from judged.inputs.vectors.vectors import Matrix

Result = TypeVar("Result")


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
    """The ranks of all relevant items, piece after piece of queries."""
    return over_pieces(
        product, relevance, lambda each: each, ties=ties, onlooker=onlooker, progress=progress
    )


def over_pieces(
    product: Scores,
    relevance: Bound,
    finish: Callable[[Counted], Result],
    *,
    ties: TieOrder,
    onlooker: Onlooker | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[Result]:
    """What is made of the ranks of all relevant items, piece after piece of queries, in the thread
    that counted them.

    A tile is multiplied once, and its rows are then counted in pieces, so that what is held for
    each relevant item is held for few of them at a time.
    """

    def work(begin: int, end: int) -> list[Result]:
        prepared, excluded = product.query_block(begin, end), excluded_from(product, begin, end)
        if len(product.columns) > 1:
            return [finish(tallied(begin, end, prepared, excluded))]
        tile = product.tile(prepared, begin, product.columns[0], excluded)
        found = []
        for first, last, relevant in pieces(relevance, begin, end, len(product.items)):
            part = tile if (first, last) == (begin, end) else tile.rows(first, last)
            gone = None if excluded is None else excluded.part(first - begin, last - begin)
            tally = Tally(
                product, first, relevant if gone is None else relevant.without(gone), ties
            )
            tally.read(part)
            if onlooker is not None:
                onlooker.add(part)
            tally.begin()
            tally.add(part)
            found.append(finish(tally.counted(first, gone)))
        return found

    def tallied(begin: int, end: int, prepared: Matrix, excluded: Pairs | None) -> Counted:
        relevant = relevance.block(begin, end)
        tally = Tally(
            product, begin, relevant if excluded is None else relevant.without(excluded), ties
        )
        for column in product.columns:
            tile = product.tile(prepared, begin, column, excluded)
            tally.read(tile)
            if onlooker is not None:
                onlooker.add(tile)
        tally.begin()
        for column in product.columns:
            tally.add(product.tile(prepared, begin, column, excluded))
        return tally.counted(begin, excluded)

    for found in over_blocks(product, work, progress, blocks=blocks(product, relevance)):
        yield from found


def excluded_from(product: Scores, begin: int, end: int) -> Pairs | None:
    """What is excluded from the rankings of some queries."""
    if product.exclude is None:
        return None
    excluded = product.exclude.block(begin, end)
    return excluded.where(excluded.item >= 0)  # what has no vector was not going to be ranked


def relevant_and_excluded(
    product: Scores, relevance: Bound, begin: int, end: int
) -> tuple[Pairs, Pairs | None]:
    """What is relevant to some queries and not excluded, and what is excluded."""
    relevant, excluded = relevance.block(begin, end), excluded_from(product, begin, end)
    return relevant if excluded is None else relevant.without(excluded), excluded


class TieOrder:
    """In which order tied items stand: their place in it, worked out when the first tie is met."""

    def __init__(self, scores: Scores, rule: str, also: tuple[str, ...] = ()) -> None:
        """`also` are ids of items that are numbered after those of the scores."""
        self._items, self._rule, self._also = scores.items, rule, also
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

        names = pl.Series((*self._items.names(), *self._also), dtype=pl.String)
        order = names.arg_sort(descending=True).to_numpy()
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
        self._slack = None if tile.in_order else tile.slack
        if tile.dtype != self._score.dtype:
            self._score = self._score.astype(tile.dtype)
        inside = tile.holds(self._item)
        self._score[inside] = tile.at(self._row[inside], self._item[inside] - tile.column)

    def take(self, own: Floats, tile: Tile, shift: Floats | None) -> None:
        """The relevant items are in no tile, and their exact scores are known: put each row's in
        ascending order, with the limits that the scores of such tiles are compared to.

        `shift` is what a tile's scores lack, for each row, where they lack something.
        """
        self._score = self._own = own[self._known]
        self._slack = tile.slack
        self._order()
        own = self._own = self._score
        kind = tile.dtype.type
        with np.errstate(over="ignore"):
            if self._slack is None:
                self._low, self._high = beside(own, kind)
                return
            # A tile's score is off by half of the slack. What is done here is in double precision,
            # with two roundings of what may be as large as the row's greatest score.
            room, most = self._slack / 2, np.zeros(len(self._slack))
            np.maximum.at(most, self._row, np.abs(own))
            if shift is not None:
                room = room + 2 * sum_error(self._product.items.dims + 3, np.float64) * np.abs(
                    shift
                )
                most = most + np.abs(shift)
                own = own - shift[self._row]
            room = (room + 4 * unit(np.float64) * most)[self._row]
            self._low, self._high = _limits(own, room, kind)

    def _order(self) -> None:
        order = order_in_segments(self._row, self._score)
        self._known, self._row, self._item = (
            each[order] for each in (self._known, self._row, self._item)
        )
        self._score = self._score[order]
        self._lengths = np.bincount(self._row, minlength=len(self._all.lengths))

    def begin(self) -> None:
        """All scores are read: put each row's in ascending order, with the limits that other scores
        are compared to."""
        self._order()
        if self._slack is None:
            self._low = self._high = self._score
        else:
            slack = self._slack[self._row]
            kind = self._score.dtype.type
            self._low, self._high = _limits(self._score, slack, kind)

    def add(self, tile: Tile) -> None:
        """Count, for each relevant item, the scores of the tile above its own, level with it, and
        before it in a tie."""
        own, apart = tile.holds(self._item), self._slack is not None
        limits = Limits(self._row, self._lengths, self._low, self._high, own, apart)
        above, level, close = tile.count(limits)
        crowded = np.flatnonzero(level - above > own)
        if len(crowded):
            self._settle(tile, crowded, above, level, close)
        self._above += above
        self._level += level

    def _settle(
        self, tile: Tile, crowded: Ints, above: Ints, level: Ints, close: dict[int, Ints]
    ) -> None:
        """Look at the items whose scores cannot be told from a relevant one's, or are the same."""
        row, low, high = (each[crowded] for each in (self._row, self._low, self._high))
        windows, window = Windows.around(row, low, high)
        ahead = above[crowded[windows.last]]
        for some, which, column in tile.within(windows, close):
            mine = slice(*np.searchsorted(window, [some.start, some.stop]).tolist())
            near, score = self._neighbours(
                tile, windows.row[which], column, which, crowded[mine], window[mine], ahead
            )
            for told in self._told(near, score, tile):
                above[told.own], level[told.own] = told.above, told.level
                self._before[told.own] += told.before

    def _neighbours(
        self,
        tile: Tile,
        row: Ints,
        column: Ints,
        window: Ints,
        own: Ints,
        of_window: Ints,
        ahead: Ints,
    ) -> tuple[Neighbours, Floats]:
        """Places of a tile, with the relevant items that lie there and those that do not; and their
        scores."""
        width, relevant = tile.scores.shape[1], np.full(len(row), -1)
        key, wanted = row * width + column, self._row[own] * width + self._item[own] - tile.column
        at = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        there = (key[at] == wanted) & tile.holds(self._item[own])
        relevant[at[there]] = own[there]
        there[there] = relevant[at[there]] == own[there]
        others, of_others = own[~there], of_window[~there]
        window = np.append(window, of_others)
        near = Neighbours(
            group=window,
            query=self._begin + np.append(row, self._row[others]),
            item=np.append(column + tile.column, self._item[others]),
            counts=np.append(np.ones(len(row), bool), np.zeros(len(others), bool)),
            own=np.append(relevant, others),
            above=ahead[window],
        )
        score = tile.at(row, column).astype(np.float64)
        own_score = self._score[others] if self._slack is None else self._exact(others)
        return near, np.append(score, own_score)

    def _told(self, near: Neighbours, score: Floats, tile: Tile) -> Iterator[Told]:
        """What better and better scores tell of relevant items and their neighbours."""
        if self._slack is not None:
            new = self._to_score(near)
            if len(new) and near.many(tile.scores.shape[1]):
                score, room = near.double(self._product, new)
                yield near.tell(self._with_exact(near, score), room)
            elif self._product.comparable and self._few(near):
                # Against a score without rounding, half of the slack is left.
                self._exact(near.own[near.own >= 0])
                room = self._slack[near.query - self._begin] * 0.5000001
                yield near.tell(self._with_exact(near, score), room)
            if len(near):
                yield from self._quick(near)
            new, score = self._to_score(near), np.zeros(len(near))
            score[new] = self._product.exact_pairs(near.query[new], near.item[new])
            score = self._with_exact(near, score)
        yield near.settle(score, self._ties.places)

    def _quick(self, near: Neighbours) -> Iterator[Told]:
        new = self._to_score(near)
        if not len(new):
            return
        quick = self._product.quick_pairs(near.query[new], near.item[new])
        if quick is not None:
            score, error = np.zeros(len(near)), np.zeros(len(near))
            score[new], error[new] = quick
            yield near.tell(self._with_exact(near, score), near.widest(2 * error))

    def _few(self, near: Neighbours) -> bool:
        """Whether few of some items are relevant, so that their exact scores take little time."""
        return int(np.count_nonzero(near.own >= 0)) * _EXACT < len(near)

    def _to_score(self, near: Neighbours) -> Ints:
        """Which of some items have no exact score yet."""
        return np.flatnonzero((near.own < 0) | np.isnan(self._own[near.own]))

    def _with_exact(self, near: Neighbours, score: Floats) -> Floats:
        """Scores, with those of relevant items that are known exactly in their places."""
        exact = np.where(near.own >= 0, self._own[near.own], np.nan)
        return np.where(np.isnan(exact), score, exact)

    def _exact(self, some: Ints) -> Floats:
        """The exact scores of some relevant items, computed when they are first asked for."""
        new = some[np.isnan(self._own[some])]
        self._own[new] = self._product.exact_pairs(self._begin + self._row[new], self._item[new])
        return self._own[some]

    def counted(self, begin: int, excluded: Pairs | None, items: int | None = None) -> Counted:
        """The ranks of the relevant items, in the order in which they came; `items` are ranked for
        a query, all of the product unless another number is named, but for those excluded."""
        items = len(self._product.items) if items is None else items
        ranked = np.full(len(self._all.lengths), items, np.int64)
        if excluded is not None:
            ranked -= excluded.lengths
        first, last, before = (np.zeros(len(self._all.item), np.int64) for _ in range(3))
        first[self._known], last[self._known], before[self._known] = (
            self._above + 1,
            self._level,
            self._before,
        )
        return Counted(begin, self._all, first, last, before, ranked)


def _limits(scores: Matrix, room: Floats, kind: Precision) -> tuple[Matrix, Matrix]:
    """Return limits that lie at least some room below and above scores."""
    with np.errstate(over="ignore"):
        low = np.nextafter((scores - room).astype(kind), kind(-np.inf))
        high = np.nextafter((scores + room).astype(kind), kind(np.inf))
    # Excluded items score minus infinity, and must lie below every limit.
    return np.maximum(low, np.finfo(kind).min), high


def beside(numbers: Floats, kind: Precision) -> tuple[Matrix, Matrix]:
    """For each number the nearest ones of a precision: not below it, and not above it."""
    low = numbers.astype(kind)
    high = low.copy()
    low = np.where(low < numbers, np.nextafter(low, kind(np.inf)), low)
    high = np.where(high > numbers, np.nextafter(high, kind(-np.inf)), high)
    return low, high


_EXACT = 8
"""Scores in double precision that take as long as an exact one, with what is spared by having it.
"""
