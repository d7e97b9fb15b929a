"""Items made ready to be scored, once, and how the memory for that and for scores is used."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from judged.arrays import Ints
from judged.embeddings.similarity.equal import first_equal, keys_of
from judged.embeddings.similarity.rounding import Precision
from judged.embeddings.similarity.similarity import SINGLE, Similarity
from judged.errors import InputError
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Matrix, Vectors
from judged.options import size_in_bytes

_LOW = 16
"""With fewer queries at a time, a product of all items takes longer than two with part of them."""


@dataclass(frozen=True)
class Plan:
    """How the memory is used: whether items are held ready, how many threads, how large a tile."""

    hold: bool
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
    ) -> Plan:
        cap, size = size_in_bytes(memory), np.dtype(precision).itemsize
        held = len(items) * (items.dims * similarity.spread + 1) * size
        hold = held <= cap // 2
        # Beside the scores there is what they are compared and sorted with, for which a third is
        # left.
        room = (cap - held if hold else cap) * 2 // 3 * 4 // size
        threads = _side_by_side(queries, items, similarity, room)
        ready = 0 if hold else items.dims * similarity.spread * 8
        return cls(hold, threads, *_shape(queries, items, ready, threads, room // threads))


def _side_by_side(queries: Vectors, items: Vectors, similarity: Similarity, room: int) -> int:
    """A thread per core, where each has room for a good block; one, and a BLAS with threads of its
    own, where few have."""
    if not similarity.side_by_side:
        return 1
    cores = os.cpu_count() or 1
    fitting = min(room // (len(items) * 4 * 2 * _LOW), len(queries), cores)
    return fitting if fitting * 2 >= cores else 1


def _shape(
    queries: Vectors, items: Vectors, ready: int, threads: int, room: int
) -> tuple[int, int]:
    """How many queries and items a tile may have; items that are not held take `ready` bytes."""
    height = min(room // (len(items) * 4), 512, -(-len(queries) // threads))
    if height >= min(_LOW, len(queries)):
        return height, len(items)
    # Items in several tiles are multiplied twice, so that is only for what would else be too slow.
    height = min(64, len(queries))
    return height, min(max(room // (height * 4 + ready), 1), len(items))


class ReadyItems:
    """Items once they were looked at: checked, made ready if they are held, and the equal ones
    found.

    `given` is the precision in which they are read, `kept` the one in which they are multiplied.
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
        """What each thread of a product has for itself."""
        self.halvings = 0.0 if similarity.keeps_whole else np.inf
        """How often to double all numbers, as given and made ready, until they are whole."""
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
                with np.errstate(over="ignore"):  # what overflows is seen by its length
                    self._held[begin:end] = ready
            return similarity.longest(ready), halved

        # Small enough to stay in a core's cache from one step to the next; what is not in memory is
        # read by larger pieces, from its beginning to its end.
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

    def block(self, begin: int, end: int) -> Any:
        """Some items made ready."""
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
    """How often to double vectors that were made ready until all their numbers are whole: infinity
    where three times are not enough, for them or for what was moved and perhaps rounded."""
    with np.errstate(over="ignore"):  # what is infinite then is refused elsewhere
        if similarity.moves and not _whole(given * 8):
            return np.inf
        return next((times for times in (0.0, 1.0, 3.0) if _whole(ready * 2**times)), np.inf)


def _whole(numbers: Matrix) -> bool:
    return bool((numbers == np.rint(numbers)).all())


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
            held = np.isfinite(vectors.rows(bad[:1], np.float64)).all()
            raise InputError(
                f"{vectors.source}: vectors {names}{more} hold "
                + (
                    f"numbers too large for single precision; {SINGLE}"
                    if held
                    else "NaN or infinite numbers; remove or fix them."
                )
            )
