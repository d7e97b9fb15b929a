"""The scores of all queries with all items, a tile at a time under a cap of memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from judged.embeddings.ready import Plan, ReadyItems, refuse_infinite
from judged.embeddings.relations import Bound, Pairs
from judged.errors import InputError
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Matrix, Vectors
from judged.segments import Floats, Ints
from judged.similarity.equal import Levelled
from judged.similarity.exact import Pairs as PairsOfVectors
from judged.similarity.rounding import Precision, sum_error, vanished
from judged.similarity.similarity import Similarity
from judged.threads import one_thread_each

MEMORY = "1GB"
Result = TypeVar("Result")
_NUMBERS_AT_A_TIME = 1 << 18
"""Of vectors that are compared pair by pair."""


@dataclass(frozen=True)
class Tile:
    """A block of queries with a block of items: their scores, the excluded items' at minus
    infinity."""

    row: int
    """The first query."""
    column: int
    """The first item."""
    scores: Matrix
    slack: Floats | None = None
    """For each query how close two scores may be and yet stand in the wrong order, or tie; None
    where scores are as they are."""

    def holds(self, item: Ints) -> Any:
        """Which of some items lie in this tile."""
        return (item >= self.column) & (item < self.column + self.scores.shape[1])


class Blocks(Protocol):
    """Queries that are worked on a block at a time."""

    @property
    def threads(self) -> int:
        """Blocks that may be worked on side by side."""
        ...

    def blocks(self) -> Iterator[tuple[int, int]]:
        """The blocks of queries: first and end."""
        ...


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
    that were checked against them.
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
        plan = Plan.of(queries, items, similarity, memory, self.kept)
        self.threads = plan.threads
        self.height, self.width = shape or (plan.height, plan.width)
        self.listed: Precision = np.float64 if double else np.float32
        self.comparable = similarity.both_ways
        self.whole: Matrix | None = (
            np.empty((len(queries), len(items)), self.kept) if keep else None
        )

    def _prepare(self, ready: ReadyItems | None, *, wide: bool) -> None:
        """Look at both sides, in double precision where single precision cannot hold them."""
        self.kept: Precision = np.float64 if wide else np.float32
        if ready is not None and (ready.kept is self.kept or not wide):
            self.ready, self.kept = ready, ready.kept
        else:
            given = np.float64 if np.float64 in (self.kept, self._exact) else np.float32
            plan = Plan.of(self.queries, self.items, self.similarity, self.memory, self.kept)
            self.ready = ReadyItems(
                self.items, self.similarity, hold=plan.hold, given=given, kept=self.kept
            )
        self.whole_numbers = False
        """Whether all scores are whole numbers that are never rounded, sums on the way too."""
        if self.certain:
            self._measure(wide=wide)

    def _measure(self, *, wide: bool) -> None:
        """See whether single precision can hold all lengths and scores, and not only as zeros."""
        whole, own = self.ready.whole, 0.0
        for block in self._queries():
            whole = whole and bool((block == np.rint(block)).all())
            own = max(own, self.similarity.longest(block))
        most = self.similarity.greatest(own, self.ready.longest)
        self.whole_numbers = whole and most < 2.0**24
        sizes = own, self.ready.longest, most
        if not wide and not all(each == 0 or 2.0**-80 < each < 2.0**120 for each in sizes):
            self._prepare(None, wide=True)

    def _queries(self) -> Iterator[Matrix]:
        for begin in range(0, len(self.queries), ROWS_AT_A_TIME):
            yield self._made_ready(begin, min(begin + ROWS_AT_A_TIME, len(self.queries)))

    def greatest_slack(self) -> float:
        """That of the queries whose scores are rounded most."""
        most = [
            self.similarity.bound(each, self.ready.longest, self.kept) for each in self._queries()
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
            ready = self._made_ready(begin, end).astype(self.kept, copy=False)
        most = self.similarity.greatest(self.similarity.longest(ready), self.ready.longest)
        if not most <= float(np.finfo(self.kept).max):  # NaN is infinity times 0
            raise InputError(
                f"the numbers of {self.queries.source} and {self.items.source} are so large that a "
                "score would overflow; divide all of them by the same number."
            )
        return ready

    def _made_ready(self, begin: int, end: int) -> Matrix:
        block = self.queries.block(begin, end, self.ready.given)
        refuse_infinite(block, self.queries, begin)
        return self.similarity.prepare(block, self.queries, begin, items=False)

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
        if self.certain and not self.whole_numbers:
            slack = 2 * self.similarity.bound(prepared, self.ready.longest, self.kept)
        elif self._normaliser is not None:
            self._normaliser.apply(scores, row, column)
        tile = Tile(row, column, scores, slack)
        if excluded is not None:
            inside = tile.holds(excluded.item)
            scores[excluded.row[inside], excluded.item[inside] - column] = -np.inf
        return tile

    def shifts(self, begin: int, end: int) -> Floats:
        """What a tile's scores of some queries lack to be whole, where nothing settles them."""
        return self.similarity.shift(self.query_block(begin, end))

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
        return self._of_pairs(queries, items, self.similarity.exact)

    def quick_pairs(self, queries: Ints, items: Ints) -> tuple[Floats, Floats] | None:
        if not self.similarity.has_quick:
            return None
        scores = self._of_pairs(queries, items, self.similarity.quick)
        # Sums of numbers above 0, each of which was rounded some three times.
        share = sum_error(self.items.dims + 4, np.float64)
        return scores, share * np.abs(scores) + vanished(scores * 0, self.items.dims, np.float64)

    def _of_pairs(
        self, queries: Ints, items: Ints, score: Callable[[PairsOfVectors], Floats]
    ) -> Floats:
        exact = np.empty(len(items))
        step = max(1, _NUMBERS_AT_A_TIME // self.items.dims)
        for begin in range(0, len(items), step):
            at = slice(begin, begin + step)
            asked, query = np.unique(queries[at], return_inverse=True)
            found, item = np.unique(self.first_equal(items[at]), return_inverse=True)
            compared = self.similarity.compared
            left = compared(self.queries.rows(asked, self._exact), items=False)
            right = compared(self.items.rows(found, self._exact), items=True)
            # Equal vectors may stand for many pairs, of which one is enough.
            pair, which = np.unique(query * len(found) + item, return_inverse=True)
            pairs = PairsOfVectors(left, right, pair // len(found), pair % len(found))
            exact[at] = score(pairs)[which]
        return exact

    def doubled(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        made, similarity = self.similarity.prepare, self.similarity
        left = made(self.queries.rows(queries, np.float64), self.queries, 0, items=False)
        right = made(self.items.rows(items, np.float64), self.items, 0, items=True)
        shift = similarity.shift(left)
        bound = similarity.bound(left, similarity.longest(right), np.float64)
        bound += 2 * sum_error(left.shape[1] + 3, np.float64) * np.abs(shift[:, 0])
        scores = similarity.scores(left, right, np.empty((len(left), len(right))))
        return scores + shift, 2 * bound


def over_blocks(
    product: Blocks,
    work: Callable[[int, int], Result],
    progress: Callable[[int], None] | None = None,
) -> Iterator[Result]:
    """What some work on each block of queries gives, in their order; as many side by side as the
    product allows.

    Each thread multiplies and counts for itself: a BLAS with threads of its own would keep them
    spinning, and so a core busy, while others count.
    """
    blocks = list(product.blocks())
    with ExitStack() as stack:
        if product.threads > 1 and len(blocks) > 1:
            stack.enter_context(one_thread_each())
            pool = stack.enter_context(ThreadPoolExecutor(product.threads))
            results = pool.map(lambda block: work(*block), blocks)
        else:
            results = (work(*block) for block in blocks)
        for (begin, end), result in zip(blocks, results, strict=True):
            yield result
            if progress is not None:
                progress(end - begin)
