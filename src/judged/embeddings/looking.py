"""Vectors looked at one by one: which can be compared, how long each is, and stand-ins for those
that cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import nan

import numpy as np
from numpy.typing import NDArray

from judged.embeddings.diagnosis import Rows
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.segments import Floats, Ints
from judged.similarity.equal import keys_of
from judged.similarity.similarity import Similarity

SHOWN = 20
"""So many rows, groups or pairs are named; all are counted."""
NUMBERS_AT_A_TIME = 1 << 21

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Mended(Vectors):
    """Vectors with stand-ins for those that cannot be compared, so that rows keep their numbers."""

    bad: Flags = field(default_factory=lambda: np.zeros(0, bool))

    def block(self, begin: int, end: int) -> Matrix:
        return self._mended(super().block(begin, end), self.bad[begin:end])

    def rows(self, rows: Ints) -> Matrix:
        return self._mended(super().rows(rows), self.bad[rows])

    def _mended(self, block: Matrix, bad: Flags) -> Matrix:
        if bad.any():
            block = block.copy()
            block[bad] = 0
            block[bad, 0] = 1
        return block


@dataclass(frozen=True, eq=False)
class Looked:
    """A side once its vectors were looked at one by one."""

    vectors: Vectors
    finite: Flags
    norm: Floats
    """NaN where the vector is not finite."""
    key: NDArray[np.uint64]
    """The same for equal vectors, and almost never for others."""
    usable: Flags
    """Vectors that the similarity can compare."""

    @classmethod
    def at(cls, vectors: Vectors, similarity: Similarity) -> Looked:
        finite, norm = np.zeros(len(vectors), bool), np.full(len(vectors), nan)
        key = np.zeros(len(vectors), np.uint64)
        for begin, block in blocks(vectors):
            at = slice(begin, begin + len(block))
            finite[at] = np.isfinite(block).all(axis=1)
            good = block[finite[at]]
            norm[at][finite[at]] = np.sqrt(np.einsum("ij,ij->i", good, good, dtype=np.float64))
            key[at] = keys_of(block)
        usable = finite & (norm > 0) if similarity.needs_direction else finite
        return cls(vectors, finite, norm, key, usable)

    @property
    def mended(self) -> Vectors:
        return self._mended(self.usable)

    @property
    def directed(self) -> Vectors:
        """Mended so that every vector has a direction."""
        return self._mended(self.has_direction)

    @property
    def has_direction(self) -> Flags:
        return self.finite & (self.norm > 0)

    def _mended(self, usable: Flags) -> Vectors:
        vectors = self.vectors
        return (
            vectors
            if usable.all()
            else _Mended(vectors.values, vectors.ids, vectors.source, vectors.notes, ~usable)
        )

    def named(self, rows: Ints) -> Rows:
        return Rows(len(rows), tuple(self.vectors.name(row) for row in rows[:SHOWN].tolist()))


def blocks(vectors: Vectors) -> Iterator[tuple[int, Matrix]]:
    return vectors.blocks(max(1, NUMBERS_AT_A_TIME // vectors.dims))


def finite_blocks(looked: Looked) -> Iterator[tuple[int, Matrix]]:
    for begin, block in blocks(looked.vectors):
        yield begin, block[looked.finite[begin : begin + len(block)]]
