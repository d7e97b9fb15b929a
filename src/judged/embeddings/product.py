"""The scores of all queries with all items, a tile at a time under a cap of memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from judged.arrays import Floats, Ints, one_thread_each
from judged.embeddings.exact import Formula, Precision, VectorPairs, rescored, rounded_once
from judged.embeddings.kernel import EqualScores, first_equal, keys_of
from judged.embeddings.relations import Bound, Pairs
from judged.embeddings.similarity import Similarity
from judged.errors import InputError
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Lazy, Matrix, Vectors
from judged.options import size_in_bytes

MEMORY = "1GB"
Result = TypeVar("Result")
_NUMBERS_PER_BATCH = 1 << 18
"""Numbers of vectors that are compared pair by pair at a time."""
_MAX_HEIGHT = 256
"""512 queries at a time are multiplied 3 % faster. But touching new memory for them and 100,000
items takes up to 0.26 s in each thread, a seventh of the product of 4,000 queries."""
_MIN_HEIGHT = 16
"""With fewer queries at a time, one product with all items is slower than two with part of them."""

_MIN_SHARED_SCORES = 1 << 20
"""Fewer scores than these are computed sooner than threads are started."""

# -- blocks of queries


def over_blocks(
    product: Any,
    work: Callable[[int, int], Result],
    progress: Callable[[int], None] | None = None,
    *,
    blocks: Sequence[tuple[int, int]] | None = None,
) -> Iterator[Result]:
    """Do some work on each block of queries, and yield the results in the order of the blocks.

    `product` has `blocks()`, pairs of the first query and the end, and a number of `threads`. Each
    thread multiplies and counts for itself. A BLAS with threads of its own would keep them
    spinning, and so a core busy, while others count.
    """
    blocks = list(product.blocks()) if blocks is None else blocks
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
    for side in ("queries", "items"):
        if isinstance(vectors := getattr(product, side, None), Vectors):
            vectors.refuse_changed()


# -- tiles


@dataclass(frozen=True)
class ScoreTile:
    """The scores of a block of queries with a block of items; excluded items are at -infinity."""

    row: int
    """The first query."""
    column: int
    """The first item."""
    scores: Matrix
    slack: Floats | None = None
    """For each query, how close two scores may be and yet be in the wrong order, or tied; None
    where scores are compared as they are."""

    def holds(self, item: Ints) -> Any:
        return (item >= self.column) & (item < self.column + self.scores.shape[1])


# -- items, prepared


def plan_tiles(
    queries: Vectors,
    items: Vectors,
    similarity: Similarity,
    memory: str | int,
    precision: Precision = np.float32,
) -> tuple[bool, int, int, int]:
    """Return whether prepared items are held in memory, the threads, and a tile's height and width.

    A third of the memory is left for what scores are compared and sorted with.
    """
    cap, size = size_in_bytes(memory), np.dtype(precision).itemsize
    held = len(items) * (items.dims * similarity.spread + 1) * size
    hold = held <= cap // 2
    room = (cap - held if hold else cap) * 2 // 3 * 4 // size
    threads = _count_threads(queries, items, similarity, room)
    prepared = 0 if hold else items.dims * similarity.spread * 8
    return hold, threads, *_shape(queries, items, prepared, threads, room // threads)


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
    height = min(room // (len(items) * 4), _MAX_HEIGHT, -(-len(queries) // threads))
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
        keys = np.empty(len(items), np.uint64)
        same = items.precise if given is np.float64 else np.float32

        def look(begin: int) -> float:
            end = min(begin + step, len(items))
            block = items.block(begin, end, given)
            refuse_infinite(block, items, begin)
            keys[begin:end] = keys_of(block.astype(same, copy=False))
            ready = similarity.prepare(block, items, begin, items=True)
            if self._held is not None:
                with np.errstate(over="ignore"):  # seen by its length
                    self._held[begin:end] = ready
            return similarity.longest(ready)

        # Small enough for a core's cache; files are read in larger pieces, from begin to end.
        in_memory = isinstance(items.values, np.ndarray)
        step = max(1, (1 << 18) // items.dims) if in_memory else ROWS_AT_A_TIME
        if hold:
            start = items.block(0, step, given)
            refuse_infinite(start, items, 0)
            width = similarity.prepare(start[:1], items, 0, items=True).shape[1]
            self._held = np.empty((len(items), width), kept)
        begins = range(0, len(items), step)
        if in_memory and len(begins) > 1:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                self.longest = max(pool.map(look, begins))
        else:
            self.longest = max(map(look, begins))
        first = first_equal(items, keys, same)
        self.first: Ints | None = None if np.array_equal(first, np.arange(len(first))) else first
        """For each item the first one with the same vector; None where all differ."""

    def block(self, begin: int, end: int) -> Matrix:
        if self._held is not None:
            return self._held[begin:end]
        parts = []
        for first in range(begin, end, ROWS_AT_A_TIME):
            block = self._items.block(first, min(first + ROWS_AT_A_TIME, end), self.given)
            ready = self._similarity.prepare(block, self._items, first, items=True)
            parts.append(ready.astype(self.kept, copy=False))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


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
    problem = "NaN or infinite numbers; remove or fix them."
    if np.isfinite(vectors.rows(bad[:1], np.float64)).all():
        problem = "numbers too large for single precision; divide all of them by the same number."
    raise InputError(f"{vectors.source}: vectors {names} hold {problem}")


# -- products


class TiledProduct:
    """One matrix product per tile, as wide as all items where the memory allows.

    Items are checked beforehand, so that bad vectors are an error before any work is done. Tiles
    are in single precision where their rounding has a bound and the numbers fit, and exact scores
    decide what is close. Tiles are in double precision elsewhere, with `wide`, and with a
    `normaliser`, which changes the scores of a tile in place. With `single`, for sums over many
    scores, all is in single precision and nothing is decided exactly.

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
        single: bool = False,
        wide: bool = False,
        shape: tuple[int, int] | None = None,
        normaliser: Callable[[Matrix, int, int], None] | None = None,
        cuts: Ints | None = None,
        ready: PreparedItems | None = None,
    ) -> None:
        if ready is None:
            similarity.check(queries, items)
        self.queries, self.items, self.similarity = queries, items, similarity
        self.exclude, self.memory, self.cuts = exclude, memory, cuts
        self.single, self._normaliser = single, normaliser
        wide = not single and (wide or normaliser is not None or not similarity.certain)
        self.certain = not single and not wide
        """True if exact scores decide where scores of tiles are too close."""
        # Whole numbers tie often. Without exact scores for them, 100 codes of 64 bits are ranked
        # among 20,000 in 0.7 s instead of 6.6 s.
        self.rescores = self.certain and not similarity.whole
        """True if scores of tiles are rounded, so that close ones are computed again."""
        both = np.float64 if np.float64 in (queries.precise, items.precise) else np.float32
        self._exact: Precision = np.float64 if similarity.maps else both
        if not self.certain:
            self._exact = np.float64 if wide else np.float32
        self._prepare(ready, wide=wide)
        _, self.threads, height, width = self._plan()
        self.height, self.width = shape or (height, width)
        if len(queries) * len(items) < _MIN_SHARED_SCORES:
            self.threads = 1
        self.listed: Precision = np.float32 if single else np.float64
        """The precision of scores in lists."""
        self.comparable = similarity.comparable
        """True if a tile's scores differ from those of `exact_pairs` by rounding only."""

    def _plan(self) -> tuple[bool, int, int, int]:
        sides = self.queries, self.items, self.similarity
        return plan_tiles(*sides, self.memory, self.kept)

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
                hold=self._plan()[0],
                given=given,
                kept=self.kept,
            )
        if self.certain and not wide:
            # Can single precision hold all lengths and scores, and not only as zeros?
            begins = range(0, len(self.queries), ROWS_AT_A_TIME)
            blocks = (self._query_rows(begin, begin + ROWS_AT_A_TIME) for begin in begins)
            longest = max(map(self.similarity.longest, blocks), default=0.0), self.ready.longest
            sizes = *longest, self.similarity.greatest(*longest)
            if not all(size == 0 or 2.0**-80 < size < 2.0**120 for size in sizes):
                self._prepare(None, wide=True)

    def first_equal(self, items: Ints) -> Ints:
        """Return, for each of these items, the first one with the same vector."""
        return items if self.ready.first is None else self.ready.first[items]

    @property
    def columns(self) -> Sequence[int]:
        """The first items of tiles, which must be computed in this order."""
        return range(0, len(self.items), self.width)

    def blocks(self) -> Iterator[tuple[int, int]]:
        for begin in range(0, len(self.queries), self.height):
            yield begin, min(begin + self.height, len(self.queries))

    def query_block(self, begin: int, end: int) -> Matrix:
        """Return a block of queries, prepared for `tile`."""
        with np.errstate(over="ignore"):
            ready = self._query_rows(begin, end).astype(self.kept, copy=False)
        most = self.similarity.greatest(self.similarity.longest(ready), self.ready.longest)
        if not most <= float(np.finfo(self.kept).max):  # NaN is infinity times 0
            raise InputError(
                f"the numbers of {self.queries.source} and {self.items.source} are so large that a "
                "score would overflow; divide all of them by the same number."
            )
        return ready

    def _query_rows(self, begin: int, end: int) -> Matrix:
        block = self.queries.block(begin, min(end, len(self.queries)), self.ready.given)
        refuse_infinite(block, self.queries, begin)
        return self.similarity.prepare(block, self.queries, begin, items=False)

    def tile(self, prepared: Matrix, row: int, column: int, excluded: Pairs | None) -> ScoreTile:
        """Return one tile; the next one of the same thread overwrites its scores."""
        end = min(column + self.width, len(self.items))
        items = self.ready.block(column, end)
        height, width = len(prepared), end - column
        out = self._workspace().buffer[: height * width].reshape(height, width)
        scores = self.similarity.scores(prepared, items, out)
        if self.ready.first is not None:
            self._workspace().equal.level(scores, column)
        slack = None
        if self.rescores:
            slack = 2 * self.similarity.bound(prepared, self.ready.longest, self.kept)
        elif self._normaliser is not None:
            self._normaliser(scores, row, column)
        tile = ScoreTile(row, column, scores, slack)
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
        """Return the scores of as many queries as items, rounded once."""
        return self._score_pairs(queries, items, lambda *pairs: (rounded_once(*pairs),))[0]

    def rescored_pairs(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        """Return the same in double precision, with their errors."""
        scores, errors = self._score_pairs(queries, items, rescored)
        return scores, errors

    def _score_pairs(
        self,
        queries: Ints,
        items: Ints,
        score: Callable[[Formula, VectorPairs], tuple[Floats, ...]],
    ) -> tuple[Floats, ...]:
        if not len(items):
            return np.zeros(0), np.zeros(0)
        parts: list[tuple[Floats, ...]] = []
        step = max(1, _NUMBERS_PER_BATCH // self.items.dims)
        compared, formula = self.similarity.compared, self.similarity.formula
        for begin in range(0, len(items), step):
            at = slice(begin, begin + step)
            query_rows, query = self._distinct(queries[at], self.queries)
            item_rows, item = self._distinct(self.first_equal(items[at]), self.items)
            left = compared(self.queries.rows(query_rows, self._exact), items=False)
            right = compared(self.items.rows(item_rows, self._exact), items=True)
            if self.ready.first is None:
                parts.append(score(formula, VectorPairs(left, right, query, item)))
                continue
            # Equal vectors may occur in many pairs, of which one is enough.
            count = len(item_rows)
            pair, which = np.unique(query * count + item, return_inverse=True)
            scored = score(formula, VectorPairs(left, right, *np.divmod(pair, count)))
            parts.append(tuple(column[which] for column in scored))
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))

    def _distinct(self, rows: Ints, vectors: Vectors) -> tuple[Ints, Any]:
        """Return rows, each of them once where reading takes long, and which is which."""
        if self.similarity.maps or self.ready.first is not None or isinstance(vectors.values, Lazy):
            return np.unique(rows, return_inverse=True)
        return rows, slice(None)
