"""Sums over many subsets of units: random ones, or all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, one_thread_each

ROWS, WIDTH = 512, 1024
"""Subsets and units of a tile, so that its bits as floats fit into a cache. Draws come tile by
tile, so these numbers are part of what a seed means."""
WORD = 64
"""Bits that are drawn at once."""
FEW = 3
"""So few columns are multiplied one by one: a matrix as thin as that is slow."""


@dataclass(frozen=True)
class Subsets:
    """Subsets of units, each of which stands for the rest as well: random ones, or all but the
    empty one if these are no more. The pair of the empty and the whole set is never drawn for its
    own sake; who counts pairs adds it."""

    units: int
    resamples: int
    seed: int

    @property
    def all(self) -> bool:
        """Whether every pair of a subset and the rest is here, once."""
        return self.units <= WORD and 2 ** (self.units - 1) - 1 <= self.resamples

    def __len__(self) -> int:
        return 2 ** (self.units - 1) - 1 if self.all else self.resamples

    def sums(self, numbers: Floats) -> Floats:
        """The sum of each column over each subset: a row per column."""
        # Products of one tile are so small that threads of BLAS would mostly wait for each other.
        with one_thread_each():
            return self._sums(numbers)

    def _sums(self, numbers: Floats) -> Floats:
        found = np.zeros((numbers.shape[1], len(self)))
        tile = np.empty((ROWS, WIDTH))
        for first, start, bits in self._tiles():
            rows, width = bits.shape
            of = tile[:rows, :width]
            np.copyto(of, bits)
            into = found[:, first : first + rows]
            part = numbers[start : start + width]
            if len(found) > FEW:
                into += (of @ part).T
            else:
                for row, column in zip(into, part.T, strict=True):
                    row += of @ column
        return found

    def _tiles(self) -> Iterator[tuple[int, int, NDArray[np.uint8]]]:
        """First subset, first unit and bits of each tile: whether the unit is in the subset."""
        source = np.random.PCG64(self.seed)
        for first in range(0, len(self), ROWS):
            rows = min(ROWS, len(self) - first)
            for start in range(0, self.units, WIDTH):
                width = min(WIDTH, self.units - start)
                words = -(-width // WORD)
                if self.all:
                    drawn = np.arange(first + 1, first + 1 + rows, dtype=np.uint64)
                else:
                    drawn = source.random_raw(rows * words)
                octets = drawn.astype("<u8").view(np.uint8).reshape(rows, -1)
                yield first, start, np.unpackbits(octets, axis=1, count=width, bitorder="little")


def whole_numbers(columns: Floats) -> tuple[Floats, Ints]:
    """Columns as whole numbers times a power of two each, and its exponent.

    The numbers of a column and so all sums of any of them are below 2**53, hence exact and the same
    in any order, by any BLAS and with any number of threads. A sum is off by no more than
    n * 2**-52 times the sum of all absolute values, about what adding up floats may cost.
    """
    _, size = np.frexp(np.abs(columns).max(axis=0))
    scaled = np.ldexp(columns, -size)
    _, more = np.frexp(np.abs(scaled).sum(axis=0))
    return np.rint(np.ldexp(scaled, 52 - more)), size + more - 52
