"""Similarities that are distances seen the other way round: Euclidean, Manhattan and Hamming."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.segments import Floats
from judged.similarity.similarity import Rescored, Similarity


@dataclass(frozen=True, eq=False)
class Euclidean(Rescored):
    """Minus half the squared distance, as a dot product: q·x - |x|²/2, which orders the items of a
    query as distance does.

    Both sides are moved by the same vector, so that the numbers are as small as the distances. What
    single precision still cannot tell apart, as near duplicates far from that middle, is told apart
    by `exact`.
    """

    name: str = "euclidean"
    says: str = "the score is minus half the squared Euclidean distance"
    centre: Matrix = field(default_factory=lambda: np.zeros(0, np.float32))

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        with np.errstate(over="ignore"):  # what overflows is refused by its length
            moved = block - self.centre if len(self.centre) else block
            if not items:
                return np.hstack([moved, np.ones((len(moved), 1), np.float32)])
            half = np.einsum("ij,ij->i", moved, moved, dtype=np.float64) / -2
            return np.hstack([moved, half.astype(np.float32)[:, None]])

    precision: ClassVar[str] = (
        "in single precision, and in double where that could put two items in the wrong order"
    )
    both_ways: ClassVar[bool] = False

    def slack(self, queries: Matrix, longest: float) -> Floats:
        moved = queries[:, :-1]
        length = np.sqrt(np.einsum("ij,ij->i", moved, moved, dtype=np.float64))
        # The longest item made ready has its own square in it: L² = r² + r⁴/4, so r² = 2(√(1 + L²)
        # - 1), for small L too.
        square = 2 * longest**2 / (np.sqrt(1 + longest**2) + 1)
        # A sum of n products is off by at most n roundings of the lengths' product, or of what is
        # too small to be rounded at all; two such scores are compared.
        single = np.finfo(np.float32)
        rounding = float(single.eps) * (length * np.sqrt(square) + square / 2) + float(single.tiny)
        return (queries.shape[1] + 4) * rounding

    def exact(self, query: Matrix, items: Matrix) -> Floats:
        """Minus half the squared distances in double precision."""
        return ((items.astype(np.float64) - query) ** 2).sum(axis=1) / -2

    def shift(self, queries: Matrix) -> Floats:
        """The query's own length, which its scores come without."""
        moved = queries[:, :-1]
        return np.einsum("ij,ij->i", moved, moved, dtype=np.float64)[:, None] / -2

    def placed(self, items: Vectors) -> Euclidean:
        """Measured from the middle of the items, where the numbers are smallest."""
        total = np.zeros(items.dims)
        squares = 0.0
        for _, block in items.blocks():
            total += block.sum(axis=0, dtype=np.float64)
            squares += float(np.einsum("ij,ij->", block, block, dtype=np.float64))
        mean = total / len(items)
        spread = np.sqrt(max(squares / len(items) - float(mean @ mean), 0.0) / items.dims)
        if not np.isfinite(spread):  # the numbers themselves will be refused
            return self
        # Rounded to a power of two no coarser than the spread: whole numbers stay whole, and their
        # ties ties.
        grid = 2.0 ** np.floor(np.log2(spread)) if spread > 0 else 1.0
        return replace(self, centre=(np.round(mean / grid) * grid).astype(np.float32))


@dataclass(frozen=True, eq=False)
class Manhattan(Similarity):
    name: str = "manhattan"
    says: str = (
        "the nearer in Manhattan distance (the sum of absolute differences), the higher the score"
    )

    def longest(self, ready: Matrix) -> float:
        return 0.0

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        # A distance is at most the sum of both vectors' own.
        far = np.abs(block).sum(axis=1, dtype=np.float64) > float(np.finfo(np.float32).max) / 2
        if far.any():
            raise InputError(
                f"{vectors.source}: the numbers of vector "
                f"{vectors.name(begin + int(np.flatnonzero(far)[0]))} are so large that a score "
                "would overflow; divide all vectors by the same number."
            )
        return block

    def scores(self, queries: Matrix, items: Matrix, out: Matrix) -> Matrix:
        from scipy.spatial.distance import cdist

        np.negative(cdist(queries, items, "cityblock"), out=out, casting="same_kind")
        return out


@dataclass(frozen=True, eq=False)
class Hamming(Similarity):
    """Bits that agree: with signs for bits the dot product is agreements minus disagreements."""

    name: str = "hamming"
    says: str = "the more bits agree (a number above 0 is a 1, any other a 0), the higher the score"

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        return np.where(block > 0, np.float32(1), np.float32(-1))
