"""The scores of all queries with all items, a tile at a time under a cap of memory."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from judged.arrays import Floats, Ints, one_thread_each
from judged.embeddings.exact import Precision, VectorPairs
from judged.embeddings.kernel import EqualScores, first_equal, first_places, keys_of
from judged.embeddings.relations import Bound, Pairs
from judged.embeddings.similarity import SINGLE, Similarity
from judged.errors import InputError
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Lazy, Matrix, Vectors
from judged.options import size_in_bytes

MEMORY = "1GB"
Result = TypeVar("Result")
_NUMBERS_PER_BATCH = 1 << 18
"""Numbers of vectors that are compared pair by pair at a time."""
_MIN_HEIGHT = 16
"""With fewer queries at a time, one product with all items is slower than two with part of them."""


# -- blocks of queries


class Blocks(Protocol):
    """Queries that are worked on a block at a time."""

    @property
    def threads(self) -> int:
        """The number of blocks that may be worked on side by side."""
        ...

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Return the first query and the end of each block."""
        ...


def over_blocks(
    product: Blocks,
    work: Callable[[int, int], Result],
    progress: Callable[[int], None] | None = None,
    *,
    blocks: Sequence[tuple[int, int]] | None = None,
) -> Iterator[Result]:
    """Do some work on each block of queries, and yield the results in the order of the blocks.

    Each thread multiplies and counts for itself. A BLAS with threads of its own would keep them
    spinning, and so a core busy, while others count.
    """
    blocks = list(product.blocks()) if blocks is None else blocks
    with ExitStack() as stack:
        if product.threads > 1 and len(blocks) > 1:
            stack.enter_context(one_thread_each())
            pool = stack.enter_context(ThreadPoolExecutor(product.threads))
            results = _in_turn(pool, work, blocks, 2 * product.threads)
        else:
            results = (work(*block) for block in blocks)
        for (begin, end), result in zip(blocks, results, strict=True):
            yield result
            if progress is not None:
                progress(end - begin)
    for side in ("queries", "items"):
        if isinstance(vectors := getattr(product, side, None), Vectors):
            vectors.refuse_changed()


def _in_turn(
    pool: ThreadPoolExecutor,
    work: Callable[[int, int], Result],
    blocks: Sequence[tuple[int, int]],
    ahead: int,
) -> Iterator[Result]:
    """Yield results in order; at most `ahead` are begun before they are wanted."""
    waiting: deque[Future[Result]] = deque()
    try:
        for block in blocks:
            if len(waiting) == ahead:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, *block))
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


# -- tiles


@dataclass(frozen=True)
class Tile:
    """The scores of a block of queries with a block of items; excluded items are at -infinity."""

    row: int
    """The first query."""
    column: int
    """The first item."""
    scores: Matrix
    slack: Floats | None = None
    """For each query, how close two scores may be and yet be in the wrong order, or tied; None
    where scores are compared as they are."""
    in_order: bool = False
    """Whether scores are in the right order in spite of `slack`: they lack the same number."""

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.scores.dtype)

    def rows(self, begin: int, end: int) -> Self:
        """Return the part with these queries, by their numbers among all."""
        at = slice(begin - self.row, end - self.row)
        slack = None if self.slack is None else self.slack[at]
        return replace(self, row=begin, scores=self.scores[at], slack=slack)

    def holds(self, item: Ints) -> Any:
        """Return which items are in this tile."""
        return (item >= self.column) & (item < self.column + self.scores.shape[1])

    def first_places(self, k: int) -> tuple[Ints, Ints]:
        """Return row and column of all scores that may be among the first k of their row."""
        columns = [self._first_places(at, k) for at in range(len(self.scores))]
        row = np.repeat(np.arange(len(columns)), [len(part) for part in columns])
        return row, np.concatenate(columns)

    def _first_places(self, at: int, k: int) -> Ints:
        scores = self.scores[at]
        columns = first_places(scores, k)
        if self.slack is None or not len(columns):
            return columns
        return np.flatnonzero(scores >= scores[columns].min() - self.slack[at])


class Scores(Blocks, Protocol):
    """The scores of queries with items, tile by tile; the same tile has the same bits again."""

    queries: Vectors
    items: Vectors
    exclude: Bound | None
    listed: Precision
    """The precision of scores in lists: double where tiles have slack."""
    comparable: bool
    """Whether a tile's scores differ from those of `exact_pairs` by rounding only."""

    def shifts(self, begin: int, end: int) -> Floats:
        """Return a column with what the scores of each query lack."""
        ...

    @property
    def columns(self) -> Sequence[int]:
        """The first items of tiles, which must be computed in this order."""
        ...

    def query_block(self, begin: int, end: int) -> Matrix:
        """Return a block of queries, prepared for `tile`."""
        ...

    def tile(self, prepared: Matrix, row: int, column: int, excluded: Pairs | None) -> Tile:
        """Return one tile; the next one of the same thread overwrites its scores."""
        ...

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        """Return the scores of as many queries as items, rounded once."""
        ...

    def rescored_pairs(self, queries: Ints, items: Ints) -> tuple[Floats, Floats] | None:
        """Return the same in double precision with their errors; None if that saves no time."""
        ...


# -- items, prepared


class TilePlan(NamedTuple):
    """The use of the memory."""

    hold: bool
    """Whether prepared items are kept in memory."""
    threads: int
    height: int
    width: int

    @classmethod
    def of(
        cls,
        queries: Vectors,
        items: Vectors,
        similarity: Similarity,
        memory: str | int,
        precision: Precision = np.float32,
    ) -> TilePlan:
        cap, size = size_in_bytes(memory), np.dtype(precision).itemsize
        held = len(items) * (items.dims * similarity.spread + 1) * size
        hold = held <= cap // 2
        # A third is left for what scores are compared and sorted with.
        room = (cap - held if hold else cap) * 2 // 3 * 4 // size
        threads = _count_threads(queries, items, similarity, room)
        prepared = 0 if hold else items.dims * similarity.spread * 8
        return cls(hold, threads, *_shape(queries, items, prepared, threads, room // threads))


def _count_threads(queries: Vectors, items: Vectors, similarity: Similarity, room: int) -> int:
    """Return one thread per core if each has room for a good block, else 1: BLAS has its own."""
    if not similarity.side_by_side:
        return 1
    cores = os.cpu_count() or 1
    fitting = min(room // (len(items) * 4 * 2 * _MIN_HEIGHT), len(queries), cores)
    return fitting if fitting * 2 >= cores else 1


def _shape(
    queries: Vectors, items: Vectors, prepared: int, threads: int, room: int
) -> tuple[int, int]:
    """Return the height and width of a tile; items that are not held take `prepared` bytes."""
    height = min(room // (len(items) * 4), 512, -(-len(queries) // threads))
    if height >= min(_MIN_HEIGHT, len(queries)):
        return height, len(items)
    # Items in several tiles are multiplied twice, so this is only for what would be too slow.
    height = min(64, len(queries))
    return height, min(max(room // (height * 4 + prepared), 1), len(items))


class PreparedItems:
    """Items that were checked, prepared if they are held, and compared with each other.

    They are read in the precision `given`, and multiplied in the precision `kept`.
    """

    def __init__(
        self,
        items: Vectors,
        similarity: Similarity,
        *,
        hold: bool,
        given: Precision = np.float32,
        kept: Precision = np.float32,
    ) -> None:
        self._items, self._similarity = items, similarity
        self.given, self.kept = given, kept
        self._held: Any = None
        self.workspace = threading.local()
        """Buffers of each thread of a product."""
        self.halvings = 0.0 if similarity.keeps_whole else np.inf
        """The number of doublings that make all numbers whole."""
        keys = np.empty(len(items), np.uint64)
        same = items.precise if given is np.float64 else np.float32

        def look(begin: int) -> tuple[float, float]:
            end = min(begin + step, len(items))
            block = items.block(begin, end, given)
            refuse_infinite(block, items, begin)
            keys[begin:end] = keys_of(block.astype(same, copy=False))
            ready = similarity.prepare(block, items, begin, items=True)
            halved = self.halvings
            if halved < np.inf:
                halved = halvings(block, ready, similarity)
                if halved == np.inf:  # the next blocks need not be looked at
                    self.halvings = halved
            if self._held is not None:
                with np.errstate(over="ignore"):  # seen by its length
                    self._held[begin:end] = ready
            return similarity.longest(ready), halved

        # Small enough for a core's cache; files are read in larger pieces, from begin to end.
        in_memory = isinstance(items.values, np.ndarray)
        step = max(1, (1 << 18) // items.dims) if in_memory else ROWS_AT_A_TIME
        if hold:
            start = items.block(0, step, given)
            refuse_infinite(start, items, 0)
            width = similarity.prepare(start[:1], items, 0, items=True).shape[1]
            self._held = np.empty((len(items), width), kept)
        with ThreadPoolExecutor((os.cpu_count() or 1) if in_memory else 1) as pool:
            longest, halved = zip(*pool.map(look, range(0, len(items), step)), strict=True)
        self.longest, self.halvings = max(longest), max(halved)
        first = first_equal(items, keys, same)
        items.release()
        self.first: Ints | None = None if np.array_equal(first, np.arange(len(first))) else first
        """For each item the first one with the same vector; None where all differ."""

    def block(self, begin: int, end: int) -> Matrix:
        """Return some items, prepared."""
        if self._held is not None:
            return self._held[begin:end]
        parts = []
        for first in range(begin, end, ROWS_AT_A_TIME):
            block = self._items.block(first, min(first + ROWS_AT_A_TIME, end), self.given)
            ready = self._similarity.prepare(block, self._items, first, items=True)
            parts.append(ready.astype(self.kept, copy=False))
        self._items.release()
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def halvings(given: Matrix, ready: Matrix, similarity: Similarity) -> float:
    """Return how often to double prepared vectors until all numbers are whole.

    It is infinity where three times are not enough, for them or for what was moved and rounded.
    """
    with np.errstate(over="ignore"):  # infinite numbers are an error elsewhere
        if similarity.moves and not _are_whole(given * 8):
            return np.inf
        return next((times for times in (0.0, 1.0, 3.0) if _are_whole(ready * 2**times)), np.inf)


def _are_whole(numbers: Matrix) -> bool:
    return bool((numbers == np.rint(numbers)).all())


def refuse_infinite(block: Matrix, vectors: Vectors, begin: int) -> None:
    """Raise an error for a block of vectors with NaN or infinite numbers; `begin` is its row."""
    # The sum shows every NaN and infinity. Rows are looked at only where it is not finite, which
    # large numbers can cause too.
    with np.errstate(over="ignore", invalid="ignore"):
        total = block.sum()
    if np.isfinite(total):
        return
    bad = np.flatnonzero(~np.isfinite(block).all(axis=1)) + begin
    if not len(bad):
        return
    names = ", ".join(vectors.name(int(row)) for row in bad[:3]) + (", …" if len(bad) > 3 else "")
    if np.isfinite(vectors.rows(bad[:1], np.float64)).all():
        problem = f"hold numbers too large for single precision; {SINGLE}"
    else:
        problem = "hold NaN or infinite numbers; remove or fix them."
    raise InputError(f"{vectors.source}: vectors {names} {problem}")


# -- products


class Normaliser(Protocol):
    """A fitted normalisation, which changes the scores of a tile in place."""

    def apply(self, scores: Matrix, row: int, column: int) -> None: ...


class Product:
    """One matrix product per tile, as wide as all items where the memory allows.

    Items are checked beforehand, so that bad vectors are an error before any work is done. With
    `precision` "single", ranks are those of scores in single precision. With "double" they are
    those of exact scores: tiles are in single precision where their rounding has a bound and the
    numbers fit, and in double elsewhere, with `wide`, and with a `normaliser`.

    `shape` is the height and width of tiles, if not left to the memory. `cuts` are further columns
    at which tiles may begin. `ready` are the items of another product of the same sides, or of
    queries that were checked against them.
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
        cuts: Ints | None = None,
        ready: PreparedItems | None = None,
    ) -> None:
        if ready is None:
            similarity.check(queries, items)
        self.queries, self.items, self.similarity = queries, items, similarity
        self.exclude, self.memory, self.cuts = exclude, memory, cuts
        self.precision, self._normaliser = precision, normaliser
        double = precision == "double"
        wide = double and (wide or normaliser is not None or not similarity.certain)
        self.certain = double and not wide
        """Whether exact scores decide where scores of tiles are too close."""
        both = np.float64 if np.float64 in (queries.precise, items.precise) else np.float32
        self._exact: Precision = np.float64 if similarity.maps else both
        if not self.certain:
            self._exact = np.float64 if wide else np.float32
        self._prepare(ready, wide=wide)
        plan = self._plan()
        self.threads = plan.threads
        self.height, self.width = shape or (plan.height, plan.width)
        self.listed: Precision = np.float64 if double else np.float32
        self.comparable = similarity.comparable

    def _plan(self) -> TilePlan:
        sides = self.queries, self.items, self.similarity
        return TilePlan.of(*sides, self.memory, self.kept)

    def _prepare(self, ready: PreparedItems | None, *, wide: bool) -> None:
        """Check both sides, in double precision where single precision cannot hold them."""
        self.kept: Precision = np.float64 if wide else np.float32
        if ready is not None and (ready.kept is self.kept or not wide):
            self.ready, self.kept = ready, ready.kept
        else:
            given = np.float64 if np.float64 in (self.kept, self._exact) else np.float32
            self.ready = PreparedItems(
                self.items,
                self.similarity,
                hold=self._plan().hold,
                given=given,
                kept=self.kept,
            )
        self.whole_numbers = False
        """Whether all scores, and sums on the way, are multiples of 1/8 that are never rounded.

        Their ties need no exact scores: 100 codes of 64 bits are ranked among 20,000 in 0.7 s
        instead of 6.6 s.
        """
        if self.certain:
            self._measure(wide=wide)

    def _measure(self, *, wide: bool) -> None:
        """Check that single precision can hold all lengths and scores, and not only as zeros."""
        items, queries, own = self.ready.halvings, 0.0, 0.0
        for begin in range(0, len(self.queries), ROWS_AT_A_TIME):
            given, ready = self._query_rows(begin, begin + ROWS_AT_A_TIME)
            if items + queries < np.inf:
                queries = max(queries, halvings(given, ready, self.similarity))
            own = max(own, self.similarity.longest(ready))
        most = self.similarity.greatest(own, self.ready.longest)
        self.whole_numbers = most < 2.0 ** (24 - items - queries)
        sizes = own, self.ready.longest, most
        if not wide and not all(size == 0 or 2.0**-80 < size < 2.0**120 for size in sizes):
            self._prepare(None, wide=True)

    def first_equal(self, items: Ints) -> Ints:
        """Return, for each of these items, the first one with the same vector."""
        return items if self.ready.first is None else self.ready.first[items]

    @property
    def columns(self) -> Sequence[int]:
        return range(0, len(self.items), self.width)

    def blocks(self) -> Iterator[tuple[int, int]]:
        for begin in range(0, len(self.queries), self.height):
            yield begin, min(begin + self.height, len(self.queries))

    def query_block(self, begin: int, end: int) -> Matrix:
        with np.errstate(over="ignore"):
            ready = self._query_rows(begin, end)[1].astype(self.kept, copy=False)
        most = self.similarity.greatest(self.similarity.longest(ready), self.ready.longest)
        if not most <= float(np.finfo(self.kept).max):  # NaN is infinity times 0
            raise InputError(
                f"the numbers of {self.queries.source} and {self.items.source} are so large that a "
                "score would overflow; divide all of them by the same number."
            )
        return ready

    def _query_rows(self, begin: int, end: int) -> tuple[Matrix, Matrix]:
        """Return some queries as they were given, and prepared."""
        block = self.queries.block(begin, min(end, len(self.queries)), self.ready.given)
        refuse_infinite(block, self.queries, begin)
        return block, self.similarity.prepare(block, self.queries, begin, items=False)

    def tile(self, prepared: Matrix, row: int, column: int, excluded: Pairs | None) -> Tile:
        end = min(column + self.width, len(self.items))
        items = self.ready.block(column, end)
        height, width = len(prepared), end - column
        out = self._workspace().buffer[: height * width].reshape(height, width)
        scores = self.similarity.scores(prepared, items, out)
        if self.ready.first is not None:
            self._workspace().equal.level(scores, column)
        slack = None
        if self.certain and not (self.whole_numbers and self.comparable):
            slack = 2 * self.similarity.bound(prepared, self.ready.longest, self.kept)
        elif self._normaliser is not None:
            self._normaliser.apply(scores, row, column)
        tile = Tile(row, column, scores, slack, self.whole_numbers)
        if excluded is not None:
            inside = tile.holds(excluded.item)
            scores[excluded.row[inside], excluded.item[inside] - column] = -np.inf
        return tile

    def shifts(self, begin: int, end: int) -> Floats:
        """Return a column with what the scores of each query lack."""
        return self.similarity.shift(self.query_block(begin, end))

    def exact_shifts(self, begin: int, end: int) -> Floats | None:
        """Return what the scores of each query lack to be exact; None where they lack nothing."""
        if self.comparable:
            return None
        block = self.queries.block(begin, end, np.float64)
        made = self.similarity.prepare(block, self.queries, begin, items=False)
        return self.similarity.shift(made)[:, 0]

    def _workspace(self) -> threading.local:
        """Return the buffers of this thread: a tile, and scores for the next tiles."""
        own, shape = self.ready.workspace, (self.height, self.width)
        if getattr(own, "shape", None) != shape:
            own.shape, own.buffer = shape, np.empty(self.height * self.width, self.kept)
            if self.ready.first is not None:
                begins = np.asarray(self.columns)
                if self.cuts is not None:
                    begins = np.union1d(begins, self.cuts)
                own.equal = EqualScores(self.ready.first, begins, self.height, self.kept)
        return own

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        if not len(items):
            return np.zeros(0)
        return self._of_pairs(queries, items, lambda pairs: (self.similarity.exact(pairs),))[0]

    def rescored_pairs(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        scores, errors = self._of_pairs(queries, items, self.similarity.rescored)
        return scores, errors

    def _of_pairs(
        self, queries: Ints, items: Ints, score: Callable[[VectorPairs], tuple[Floats, ...]]
    ) -> tuple[Floats, ...]:
        """Score pairs of vectors, a few of them at a time."""
        parts: list[tuple[Floats, ...]] = []
        step = max(1, _NUMBERS_PER_BATCH // self.items.dims)
        compared = self.similarity.compared
        for begin in range(0, len(items), step):
            at = slice(begin, begin + step)
            query_rows, query = self._distinct(queries[at], self.queries)
            item_rows, item = self._distinct(self.first_equal(items[at]), self.items)
            left = compared(self.queries.rows(query_rows, self._exact), items=False)
            right = compared(self.items.rows(item_rows, self._exact), items=True)
            if self.ready.first is None:
                parts.append(score(VectorPairs(left, right, query, item)))
                continue
            # Equal vectors may occur in many pairs, of which one is enough.
            count = len(item_rows)
            pair, which = np.unique(query * count + item, return_inverse=True)
            scored = score(VectorPairs(left, right, *np.divmod(pair, count)))
            parts.append(tuple(column[which] for column in scored))
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))

    def _distinct(self, rows: Ints, vectors: Vectors) -> tuple[Ints, Ints]:
        """Return rows, each of them once where reading takes long, and which is which."""
        if self.similarity.maps or self.ready.first is not None or isinstance(vectors.values, Lazy):
            return np.unique(rows, return_inverse=True)
        return rows, np.arange(len(rows))
