"""The scores of all queries with all items, a tile at a time under a cap of memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import numpy as np

from judged.arrays import Floats, Ints
from judged.embeddings.blocks import Blocks
from judged.embeddings.pairs import Pairs
from judged.embeddings.ready import Plan, ReadyItems, halvings, refuse_infinite
from judged.embeddings.relations import Bound
from judged.embeddings.similarity.equal import Levelled
from judged.embeddings.similarity.exact import Pairs as PairsOfVectors
from judged.embeddings.similarity.rounding import Precision, sum_error
from judged.embeddings.similarity.similarity import Similarity
from judged.embeddings.tiles import Tile
from judged.errors import InputError
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Lazy, Matrix, Vectors

MEMORY = "1GB"
Result = TypeVar("Result")
_NUMBERS_AT_A_TIME = 1 << 18
"""Of vectors that are compared pair by pair."""
_DOUBLED_AT_A_TIME = 1 << 18
"""Of vectors that are multiplied in double precision."""


class Scores(Blocks, Protocol):
    """The scores of queries with items, tile by tile; computing the same tile again gives the same
    bits."""

    queries: Vectors
    items: Vectors
    exclude: Bound | None
    listed: Precision
    """The precision of scores that are kept: double where tiles have slack."""
    comparable: bool
    """Whether a tile's scores are those of `exact_pairs`, but for rounding, and not for a shift."""

    def shifts(self, begin: int, end: int) -> Floats:
        """For each of some queries, a row each, what its scores lack."""
        ...

    @property
    def columns(self) -> Sequence[int]:
        """Where the tiles of a block of queries begin, from left to right; they must be asked for
        in this order."""
        ...

    def query_block(self, begin: int, end: int) -> Matrix:
        """A block of queries made ready for `tile`."""
        ...

    def tile(self, prepared: Matrix, row: int, column: int, excluded: Pairs | None) -> Tile:
        """One tile; its scores are overwritten by the next that the same thread asks for."""
        ...

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        """The scores of as many queries as items without the rounding that a tile's `slack` stands
        for."""
        ...

    def quick_pairs(self, queries: Ints, items: Ints) -> tuple[Floats, Floats] | None:
        """The same with what each may be off by, where that takes less time."""
        ...

    def doubled(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        """Those of all of some queries with all of some items, multiplied in double precision; and
        for each query how close two may be and yet stand in the wrong order."""
        ...


class Normaliser(Protocol):
    """What changes the scores of a tile in place."""

    def apply(self, scores: Matrix, row: int, column: int) -> None: ...


class Product:
    """One matrix product per tile, as wide as all items where the memory allows.

    Items are looked at once beforehand: what cannot be scored is refused before any work is done.
    `precision` is what is promised of ranks: those of scores in single precision, as they come, or
    those of scores in double precision. For the latter, tiles are in single precision where that
    has a bound and the numbers are not too large or small for it, and in double elsewhere, as
    with a `normaliser`, which changes the scores of each tile, and with `wide`. `shape` is the
    height and width of tiles, where it is not left to the memory. With `keep`, tiles stay: all
    scores are held, for whoever wants to see them from the other side. `cuts` are columns at which
    tiles may begin too. `ready` are the items of another product of the same sides, or of vectors
    that were checked against them. With a `device`, tiles are multiplied and counted there.
    """

    def __init__(
        self,
        queries: Vectors,
        items: Vectors,
        similarity: Similarity,
        *,
        exclude: Bound | None,
        memory: str | int,
        precision: str = "double",
        wide: bool = False,
        shape: tuple[int, int] | None = None,
        normaliser: Normaliser | None = None,
        keep: bool = False,
        cuts: Ints | None = None,
        ready: ReadyItems | None = None,
    ) -> None:
        if ready is None:
            similarity.check(queries, items)
        self.queries, self.items, self.similarity = queries, items, similarity
        self.exclude, self.memory, self.cuts = exclude, memory, cuts
        self.precision, self._normaliser = precision, normaliser
        double = precision == "double"
        wide = double and (wide or normaliser is not None or not similarity.certain)
        self.certain = double and not wide
        """Whether ranks can be settled where scores are too close to tell."""
        both = np.float64 if np.float64 in (queries.precise, items.precise) else np.float32
        self._exact: Precision = np.float64 if similarity.maps else both
        if not self.certain:
            self._exact = np.float64 if wide else np.float32
        self._prepare(ready, wide=wide)
        plan = self._plan()
        self.threads = plan.threads
        self.height, self.width = shape or (plan.height, plan.width)
        self.listed: Precision = np.float64 if double else np.float32
        self.comparable = similarity.both_ways
        self.whole: Matrix | None = (
            np.empty((len(queries), len(items)), self.kept) if keep else None
        )

    def _plan(self) -> Plan:
        sides = self.queries, self.items, self.similarity
        return Plan.of(*sides, self.memory, self.kept)

    def _prepare(self, ready: ReadyItems | None, *, wide: bool) -> None:
        """Look at both sides, in double precision where single precision cannot hold them."""
        self.kept: Precision = np.float64 if wide else np.float32
        if ready is not None and (ready.kept is self.kept or not wide):
            self.ready, self.kept = ready, ready.kept
        else:
            given = np.float64 if np.float64 in (self.kept, self._exact) else np.float32
            self.ready = ReadyItems(
                self.items,
                self.similarity,
                hold=self._plan().hold,
                given=given,
                kept=self.kept,
            )
        self.whole_numbers = False
        """Whether all scores are whole numbers or halves of them (or of halves) that are never
        rounded, sums on the way too."""
        if self.certain:
            self._measure(wide=wide)

    def _measure(self, *, wide: bool) -> None:
        """See whether single precision can hold all lengths and scores, and not only as zeros."""
        items, queries, own = self.ready.halvings, 0.0, 0.0
        for begin in range(0, len(self.queries), ROWS_AT_A_TIME):
            given, ready = self._made_ready(begin, begin + ROWS_AT_A_TIME)
            if items + queries < np.inf:
                queries = max(queries, halvings(given, ready, self.similarity))
            own = max(own, self.similarity.longest(ready))
        most = self.similarity.greatest(own, self.ready.longest)
        self.whole_numbers = most < 2.0 ** (24 - items - queries)
        sizes = own, self.ready.longest, most
        if not wide and not all(each == 0 or 2.0**-80 < each < 2.0**120 for each in sizes):
            self._prepare(None, wide=True)

    def greatest_slack(self) -> float:
        """That of the queries whose scores are rounded most."""
        most = [
            self.similarity.bound(
                self._made_ready(begin, begin + ROWS_AT_A_TIME)[1], self.ready.longest, self.kept
            )
            for begin in range(0, len(self.queries), ROWS_AT_A_TIME)
        ]
        return 2 * float(np.concatenate(most).max())

    def first_equal(self, items: Ints) -> Ints:
        """For each of some items the first one with the same vector, which may be itself."""
        return items if self.ready.first is None else self.ready.first[items]

    @property
    def columns(self) -> Sequence[int]:
        return range(0, len(self.items), self.width)

    def blocks(self) -> Iterator[tuple[int, int]]:
        for begin in range(0, len(self.queries), self.height):
            yield begin, min(begin + self.height, len(self.queries))

    def query_block(self, begin: int, end: int) -> Matrix:
        with np.errstate(over="ignore"):
            ready = self._made_ready(begin, end)[1].astype(self.kept, copy=False)
        most = self.similarity.greatest(self.similarity.longest(ready), self.ready.longest)
        if not most <= float(np.finfo(self.kept).max):  # NaN is infinity times 0
            raise InputError(
                f"the numbers of {self.queries.source} and {self.items.source} are so large that a "
                "score would overflow; divide all of them by the same number."
            )
        return ready

    def _made_ready(self, begin: int, end: int) -> tuple[Matrix, Matrix]:
        """Some queries as they were given, and made ready."""
        block = self.queries.block(begin, min(end, len(self.queries)), self.ready.given)
        refuse_infinite(block, self.queries, begin)
        return block, self.similarity.prepare(block, self.queries, begin, items=False)

    def tile(self, prepared: Matrix, row: int, column: int, excluded: Pairs | None) -> Tile:
        end = min(column + self.width, len(self.items))
        items = self.ready.block(column, end)
        if self.whole is not None:
            out = self.whole[row : row + len(prepared), column:end]
        else:
            out = (
                self._workspace()
                .buffer[: len(prepared) * (end - column)]
                .reshape(len(prepared), end - column)
            )
        scores = self.similarity.scores(prepared, items, out)
        if self.ready.first is not None:
            self._workspace().levelled.level(scores, column)
        slack = None
        if self.certain and not (self.whole_numbers and self.comparable):
            slack = 2 * self.similarity.bound(prepared, self.ready.longest, self.kept)
        elif self._normaliser is not None:
            self._normaliser.apply(scores, row, column)
        tile = Tile(row, column, scores, slack, self.whole_numbers)
        if excluded is not None:
            inside = tile.holds(excluded.item)
            tile.exclude(excluded.row[inside], excluded.item[inside] - column)
        return tile

    def shifts(self, begin: int, end: int) -> Floats:
        """What a tile's scores of some queries lack to be whole, where nothing settles them."""
        return self.similarity.shift(self.query_block(begin, end))

    def exact_shifts(self, begin: int, end: int) -> Floats | None:
        """For each of some queries, what its tiles' scores lack to be those of `exact_pairs`, but
        for rounding in double precision; None where they lack nothing."""
        if self.comparable:
            return None
        block = self.queries.block(begin, end, np.float64)
        made = self.similarity.prepare(block, self.queries, begin, items=False)
        return self.similarity.shift(made)[:, 0]

    def _workspace(self) -> threading.local:
        """What each thread has for itself: room for a tile, and what it keeps of one tile for the
        next."""
        own, size = self.ready.workspace, 0 if self.whole is not None else self.height * self.width
        if getattr(own, "shape", None) != (size, self.height):
            own.shape, own.buffer = (size, self.height), np.empty(size, self.kept)
            if self.ready.first is not None:
                begins = np.asarray(self.columns)
                if self.cuts is not None:
                    begins = np.union1d(begins, self.cuts)
                own.levelled = Levelled(self.ready.first, begins, self.height, self.kept)
        return own

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        if not len(items):
            return np.zeros(0)
        return self._of_pairs(queries, items, lambda pairs: (self.similarity.exact(pairs),))[0]

    def quick_pairs(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        scores, errors = self._of_pairs(queries, items, self.similarity.quick)
        return scores, errors

    def _of_pairs(
        self, queries: Ints, items: Ints, score: Callable[[PairsOfVectors], tuple[Floats, ...]]
    ) -> tuple[Floats, ...]:
        """What is found of some pairs of vectors, a few of them at a time."""
        parts: list[tuple[Floats, ...]] = []
        step = max(1, _NUMBERS_AT_A_TIME // self.items.dims)
        for begin in range(0, len(items), step):
            at = slice(begin, begin + step)
            asked, query = self._distinct(queries[at], self.queries)
            found, item = self._distinct(self.first_equal(items[at]), self.items)
            compared = self.similarity.compared
            left = compared(self.queries.rows(asked, self._exact), items=False)
            right = compared(self.items.rows(found, self._exact), items=True)
            if self.ready.first is None:
                parts.append(score(PairsOfVectors(left, right, query, item)))
                continue
            # Equal vectors may stand for many pairs, of which one is enough.
            pair, which = np.unique(query * len(found) + item, return_inverse=True)
            some = score(PairsOfVectors(left, right, *np.divmod(pair, len(found))))
            parts.append(tuple(each[which] for each in some))
        return tuple(np.concatenate(each) for each in zip(*parts, strict=True))

    def _distinct(self, rows: Ints, vectors: Vectors) -> tuple[Ints, Ints]:
        """Some rows, each of them once where looking them up takes long; and which is which."""
        if self.similarity.maps or self.ready.first is not None or isinstance(vectors.values, Lazy):
            return np.unique(rows, return_inverse=True)
        return rows, np.arange(len(rows))

    def doubled(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        # A few items at a time: there are copies of them in double precision on the way.
        step = max(1, _DOUBLED_AT_A_TIME // self.items.dims)
        parts = [
            self._doubled(queries, items[begin : begin + step])
            for begin in range(0, len(items), step)
        ]
        scores, slack = zip(*parts, strict=True)
        return np.concatenate(scores, axis=1), np.max(slack, axis=0)

    def _doubled(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        found = self.items.rows(items, np.float64)
        # Measured from their own middle, those that lie close together differ by more.
        similarity = self.similarity.placed(Vectors(found))
        left = self.queries.rows(queries, np.float64)
        left = similarity.prepare(left, self.queries, 0, items=False)
        right = similarity.prepare(found, self.items, 0, items=True)
        shift = similarity.shift(left)
        bound = similarity.bound(left, similarity.longest(right), np.float64)
        bound += 2 * sum_error(left.shape[1] + 3, np.float64) * np.abs(shift[:, 0])
        scores = similarity.scores(left, right, np.empty((len(left), len(right))))
        return scores + shift, 2 * bound
