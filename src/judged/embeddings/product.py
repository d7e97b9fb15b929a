"""The scores of all queries with all items, a tile at a time under a cap of memory."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from judged.checks import size_in_bytes
from judged.embeddings.relations import Bound, Pairs, reversed_pairs
from judged.errors import InputError
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Matrix, Vectors
from judged.segments import Floats, Ints, starts_of
from judged.similarity.equal import Levelled, equal_groups, first_equal, keys_of
from judged.similarity.similarity import Rescored, Similarity

MEMORY = "1GB"
_LOW = 16
"""With fewer queries at a time, a product of all items takes longer than two with part of them."""
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
    """For each query how close two scores may be and yet stand in the wrong order; None where
    scores are as they are."""

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
    listed: type[np.floating[Any]]
    """The precision of scores that are kept: double where tiles have slack."""

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

    def exact(self, query: int, items: Ints) -> Floats:
        """The scores of some items without the rounding that a tile's `slack` stands for."""
        ...

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        """The same for as many queries as items, each with its own."""
        ...


class Normaliser(Protocol):
    """What changes the scores of a tile in place."""

    def apply(self, scores: Matrix, row: int, column: int) -> None: ...


@dataclass(frozen=True)
class Plan:
    """How the memory is used: whether items are held ready, how many threads, how large a tile."""

    hold: bool
    threads: int
    height: int
    width: int

    @classmethod
    def of(
        cls, queries: Vectors, items: Vectors, similarity: Similarity, memory: str | int
    ) -> Plan:
        cap = size_in_bytes(memory)
        held = len(items) * (items.dims + 1) * 4
        hold = held <= cap // 2
        # Beside the scores there is what they are compared and sorted with, for which a third is
        # left.
        room = (cap - held if hold else cap) * 2 // 3
        threads = _side_by_side(queries, items, similarity, room)
        return cls(hold, threads, *_shape(queries, items, hold, threads, room // threads))


def _side_by_side(queries: Vectors, items: Vectors, similarity: Similarity, room: int) -> int:
    """A thread per core, where each has room for a good block; one, and a BLAS with threads of its
    own, where few have."""
    if not similarity.side_by_side:
        return 1
    cores = os.cpu_count() or 1
    fitting = min(room // (len(items) * 4 * 2 * _LOW), len(queries), cores)
    return fitting if fitting * 2 >= cores else 1


def _shape(
    queries: Vectors, items: Vectors, hold: bool, threads: int, room: int
) -> tuple[int, int]:
    """How many queries and items a tile may have."""
    height = min(room // (len(items) * 4), 512, -(-len(queries) // threads))
    if height >= min(_LOW, len(queries)):
        return height, len(items)
    # Items in several tiles are multiplied twice, so that is only for what would else be too slow.
    ready = 0 if hold else items.dims * 8
    height = min(64, len(queries))
    return height, max(room // (height * 4 + ready), 1)


class ReadyItems:
    """Items once they were looked at: checked, made ready if they are held, and the equal ones
    found."""

    def __init__(self, items: Vectors, similarity: Similarity, *, hold: bool) -> None:
        self._items, self._similarity = items, similarity
        self._held: Matrix | None = None
        self.workspace = threading.local()
        """What each thread of a product has for itself."""
        keys = np.empty(len(items), np.uint64)

        def look(begin: int) -> float:
            end = min(begin + step, len(items))
            block = items.block(begin, end)
            refuse_infinite(block, items, begin)
            keys[begin:end] = keys_of(block)
            ready = similarity.prepare(block, items, begin, items=True)
            if self._held is not None:
                self._held[begin:end] = ready
            return similarity.longest(ready)

        # Small enough to stay in a core's cache from one step to the next; what is not in memory is
        # read by larger pieces, from its beginning to its end.
        in_memory = isinstance(items.values, np.ndarray)
        step = max(1, (1 << 18) // items.dims) if in_memory else ROWS_AT_A_TIME
        if hold:
            start = items.block(0, step)
            refuse_infinite(start, items, 0)
            width = similarity.prepare(start[:1], items, 0, items=True).shape[1]
            self._held = np.empty((len(items), width), np.float32)
        with ThreadPoolExecutor((os.cpu_count() or 1) if in_memory else 1) as pool:
            self.longest = max(pool.map(look, range(0, len(items), step)))
        first = first_equal(items, keys)
        items.release()
        self.first: Ints | None = None if np.array_equal(first, np.arange(len(first))) else first
        """For each item the first one with the same vector; None where all differ."""

    def block(self, begin: int, end: int) -> Matrix:
        if self._held is not None:
            return self._held[begin:end]
        parts = []
        for first in range(begin, end, ROWS_AT_A_TIME):
            block = self._items.block(first, min(first + ROWS_AT_A_TIME, end))
            parts.append(self._similarity.prepare(block, self._items, first, items=True))
        self._items.release()
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


class Product:
    """One matrix product per tile, as wide as all items where the memory allows.

    Items are looked at once beforehand: what cannot be scored is refused before any work is done.
    `shape` is the height and width of tiles, where it is not left to the memory. `normaliser`
    changes the scores of each tile. With `keep`, tiles stay: all scores are held, for whoever wants
    to see them from the other side. `cuts` are columns at which tiles may begin too. `ready` are
    the items of another product of the same sides, or of vectors that were checked against them.
    """

    def __init__(
        self,
        queries: Vectors,
        items: Vectors,
        similarity: Similarity,
        *,
        exclude: Bound | None,
        memory: str | int,
        shape: tuple[int, int] | None = None,
        normaliser: Normaliser | None = None,
        keep: bool = False,
        cuts: Ints | None = None,
        ready: ReadyItems | None = None,
    ) -> None:
        if ready is None:
            similarity.check(queries, items)
        plan = Plan.of(queries, items, similarity, memory)
        self.queries, self.items, self.similarity = queries, items, similarity
        self.exclude, self.memory, self.cuts = exclude, memory, cuts
        self.ready = ReadyItems(items, similarity, hold=plan.hold) if ready is None else ready
        self.threads = plan.threads
        self.height, self.width = shape or (plan.height, plan.width)
        self.listed: type[np.floating[Any]] = (
            np.float64 if isinstance(similarity, Rescored) else np.float32
        )
        self.whole: Matrix | None = (
            np.empty((len(queries), len(items)), np.float32) if keep else None
        )
        self._normaliser = normaliser

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
        block = self.queries.block(begin, end)
        refuse_infinite(block, self.queries, begin)
        ready = self.similarity.prepare(block, self.queries, begin, items=False)
        most = self.similarity.longest(ready) * self.ready.longest
        if not most <= float(np.finfo(np.float32).max):  # NaN is infinity times 0
            raise InputError(
                f"the numbers of {self.queries.source} and {self.items.source} are so large that a "
                "score would overflow; divide all of them by the same number."
            )
        return ready

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
        if self._normaliser is None:
            slack = self.similarity.slack(prepared, self.ready.longest)
        else:
            self._normaliser.apply(scores, row, column)
        tile = Tile(row, column, scores, slack)
        if excluded is not None:
            inside = tile.holds(excluded.item)
            scores[excluded.row[inside], excluded.item[inside] - column] = -np.inf
        return tile

    def _workspace(self) -> threading.local:
        """What each thread has for itself: room for a tile, and what it keeps of one tile for the
        next."""
        own, size = self.ready.workspace, 0 if self.whole is not None else self.height * self.width
        if getattr(own, "shape", None) != (size, self.height):
            own.shape, own.buffer = (size, self.height), np.empty(size, np.float32)
            if self.ready.first is not None:
                begins = np.asarray(self.columns)
                if self.cuts is not None:
                    begins = np.union1d(begins, self.cuts)
                own.levelled = Levelled(self.ready.first, begins, self.height)
        return own

    def exact(self, query: int, items: Ints) -> Floats:
        assert isinstance(self.similarity, Rescored)  # only where there is slack does anybody ask
        return self.similarity.exact(self.queries.block(query, query + 1), self.items.rows(items))

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        assert isinstance(self.similarity, Rescored)
        exact = np.empty(len(items))
        asked, which = np.unique(queries, return_inverse=True)
        own = self.queries.rows(asked)
        step = max(1, _NUMBERS_AT_A_TIME // self.items.dims)
        for begin in range(0, len(items), step):
            at = slice(begin, begin + step)
            exact[at] = self.similarity.exact(own[which[at]], self.items.rows(items[at]))
        return exact


class ReversedProduct:
    """All scores of a product that kept them, seen from the items: a row per item, a column per
    query."""

    def __init__(self, product: Product) -> None:
        assert product.whole is not None
        self._whole = product.whole
        self.queries, self.items = product.items, product.queries
        self.exclude = (
            None
            if product.exclude is None
            else reversed_pairs(product.exclude, product.queries, product.items)
        )
        self._height = max(1, product.height * len(product.items) // len(product.queries))
        self.columns, self.threads, self.listed = (0,), product.threads, product.listed
        self._equal, self._sizes = equal_groups(product.queries)

    def blocks(self) -> Iterator[tuple[int, int]]:
        for begin in range(0, len(self.queries), self._height):
            yield begin, min(begin + self._height, len(self.queries))

    def query_block(self, begin: int, end: int) -> Matrix:
        scores = np.ascontiguousarray(self._whole[:, begin:end].T)
        if len(self._equal):
            # The product levelled equal items; here equal queries must tie. What is excluded stays
            # so.
            own = scores[:, self._equal]
            best = np.maximum.reduceat(own, starts_of(self._sizes), axis=1).repeat(
                self._sizes, axis=1
            )
            scores[:, self._equal] = np.where(own > -np.inf, best, own)
        return scores

    def tile(self, prepared: Matrix, row: int, column: int, excluded: Pairs | None) -> Tile:
        """The excluded pairs are the same as before, and are at minus infinity already."""
        return Tile(row, column, prepared)

    def exact(self, query: int, items: Ints) -> Floats:
        return self._whole[items, query].astype(np.float64)

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        return self._whole[items, queries].astype(np.float64)


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
            from threadpoolctl import threadpool_limits

            stack.enter_context(threadpool_limits(1, user_api="blas"))
            pool = stack.enter_context(ThreadPoolExecutor(product.threads))
            results = pool.map(lambda block: work(*block), blocks)
        else:
            results = (work(*block) for block in blocks)
        for (begin, end), result in zip(blocks, results, strict=True):
            yield result
            if progress is not None:
                progress(end - begin)


def refuse_infinite(block: Matrix, vectors: Vectors, begin: int) -> None:
    """Refuse a block of vectors with numbers that cannot be scored; `begin` is its first row."""
    # One sum sees every NaN and infinity; only where it is not finite (large numbers can do that
    # too) are rows looked at.
    with np.errstate(over="ignore", invalid="ignore"):
        total = block.sum()
    if not np.isfinite(total):
        bad = np.flatnonzero(~np.isfinite(block).all(axis=1)) + begin
        if len(bad):
            names = ", ".join(vectors.name(int(row)) for row in bad[:3])
            more = ", …" if len(bad) > 3 else ""
            raise InputError(
                f"{vectors.source}: vectors {names}{more} hold NaN or infinite numbers; remove or "
                "fix them."
            )
