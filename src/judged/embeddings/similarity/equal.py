"""Vectors that are the same, number for number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints, borders
from judged.embeddings.similarity.rounding import Precision
from judged.inputs.vectors.vectors import Matrix, Vectors

Keys = NDArray[np.uint64]


def keys_of(block: Matrix) -> Keys:
    """A number for each vector: the same for equal vectors, and almost never for others."""
    odd = block.shape[1] % 2 if block.dtype == np.float32 else 0
    numbers = np.zeros((len(block), block.shape[1] + odd), block.dtype)
    # Adding 0 makes -0 a 0, an equal number of different bits.
    np.add(block, block.dtype.type(0), out=numbers[:, : block.shape[1]])
    pairs = numbers.view(np.uint64)
    # Of a product only the bits from a number's lowest one on say anything, and signs and small
    # whole numbers differ in their highest bits alone.
    pairs ^= pairs >> np.uint64(31)
    factors = np.random.default_rng(1).integers(
        0, 1 << 63, pairs.shape[1], dtype=np.uint64
    ) * np.uint64(2) + np.uint64(1)
    return np.einsum("ij,j->i", pairs, factors)


def first_equal(vectors: Vectors, keys: Keys, precision: Precision = np.float32) -> Ints:
    """For each vector the first that is equal to it, which may be itself; keys are a hint, the
    numbers decide."""
    order = np.argsort(keys, kind="stable")
    run = np.cumsum(borders(keys[order]))
    first = np.arange(len(keys))
    step = max(1, _NUMBERS_AT_A_TIME // vectors.dims)
    # Vectors of one key are compared with the first of them, and those that differ once more.
    left = np.flatnonzero(np.bincount(run)[run] > 1)
    while len(left):
        start = borders(run[left])
        leader = order[left[start]][np.cumsum(start) - 1][~start]
        left = left[~start]
        other, same = order[left], np.zeros(len(left), bool)
        for begin in range(0, len(left), step):
            at = slice(begin, begin + step)
            here, there = (vectors.rows(rows[at], precision) for rows in (other, leader))
            same[at] = (here == there).all(axis=1)
        first[other[same]] = leader[same]
        left = left[~same]
    return first


_NUMBERS_AT_A_TIME = 1 << 22


def equal_groups(vectors: Vectors, precision: Precision = np.float32) -> tuple[Ints, Ints]:
    """The vectors that are equal to another one, group after group, and how many each group has."""
    keys = np.concatenate([keys_of(block) for _, block in vectors.blocks(dtype=precision)])
    first = first_equal(vectors, keys, precision)
    sizes = np.bincount(first, minlength=len(first))
    order = np.argsort(first, kind="stable")
    return order[sizes[first[order]] > 1], sizes[sizes > 1]


class Levelled:
    """Gives equal vectors equal scores: a matrix product may round them differently, depending on
    where they stand.

    Tiles of a block of queries must come from left to right; what a later tile needs is kept.
    `begins` are all columns at which a tile may begin, in ascending order.
    """

    def __init__(
        self, first: Ints, begins: Ints, height: int, precision: Precision = np.float32
    ) -> None:
        self._first = first
        self._again = np.flatnonzero(first != np.arange(len(first)))
        source = first[self._again]
        apart = np.searchsorted(begins, source, side="right") != np.searchsorted(
            begins, self._again, side="right"
        )
        self._far = np.unique(source[apart])
        self._kept = np.empty((height, len(self._far)), precision)

    def level(self, scores: Matrix, column: int) -> None:
        rows, end = len(scores), column + scores.shape[1]
        begin, stop = np.searchsorted(self._far, [column, end])
        self._kept[:rows, begin:stop] = scores[:, self._far[begin:stop] - column]
        begin, stop = np.searchsorted(self._again, [column, end])
        again = self._again[begin:stop]
        source = self._first[again]
        here = source >= column
        scores[:, again[here] - column] = scores[:, source[here] - column]
        scores[:, again[~here] - column] = self._kept[
            :rows, np.searchsorted(self._far, source[~here])
        ]
