"""Similarities that are distances seen the other way round: Euclidean, Manhattan and Hamming."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from judged.arrays import Floats
from judged.embeddings.similarity.exact import Pairs, absolute_sums, half_squares
from judged.embeddings.similarity.quick import quick_absolute_sums, quick_half_squares
from judged.embeddings.similarity.rounding import Precision, sum_error, unit, vanished
from judged.embeddings.similarity.similarity import Similarity
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix, Vectors


@dataclass(frozen=True, eq=False)
class Euclidean(Similarity):
    """Minus half the squared distance, as a dot product: q·x - |x|²/2, which orders the items of a
    query as distance does.

    Both sides are moved by the same vector, so that the numbers are as small as the distances.
    """

    name: str = "euclidean"
    says: str = "the score is minus half the squared Euclidean distance"
    centre: Matrix = field(default_factory=lambda: np.zeros(0, np.float32))
    both_ways: ClassVar[bool] = False
    moves: ClassVar[bool] = True

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        with np.errstate(over="ignore"):  # what overflows is refused by its length
            moved = block - self.centre if len(self.centre) else block
            if not items:
                return np.hstack([moved, np.ones((len(moved), 1), moved.dtype)])
            half = np.einsum("ij,ij->i", moved, moved, dtype=np.float64) / -2
            return np.hstack([moved, half.astype(moved.dtype)[:, None]])

    def greatest(self, own: float, other: float) -> float:
        square = _own_square(other)
        return own * math.sqrt(square) + square / 2

    def bound(self, queries: Matrix, longest: float, precision: Precision) -> Floats:
        length = self.lengths(queries[:, :-1])
        square = _own_square(longest)
        # The sizes of the products add up to |q| r + r²/2 at most. Each side was moved and rounded
        # once; the half square of moved numbers is off by twice that, by its own rounding, and in
        # double precision by that of its sum.
        dims = queries.shape[1]
        share = sum_error(dims, precision) + 5 * unit(precision)
        if precision is np.float64:
            share += sum_error(dims, precision)
        size = length * np.sqrt(square) + square / 2
        both = length + np.sqrt(square)
        # The score has the query's own length in it, which is rounded with it in the end.
        return share * size + unit(np.float64) * both**2 + vanished(both, dims, precision)

    def exact(self, pairs: Pairs) -> Floats:
        return half_squares(pairs)

    def quick(self, pairs: Pairs) -> tuple[Floats, Floats]:
        return quick_half_squares(pairs)

    def shift(self, queries: Matrix) -> Floats:
        """The query's own length, which its scores come without."""
        moved = queries[:, :-1]
        return np.einsum("ij,ij->i", moved, moved, dtype=np.float64)[:, None] / -2

    def placed(self, items: Vectors) -> Euclidean:
        """Measured from the middle of the items, where the numbers are smallest."""
        total = np.zeros(items.dims)
        squares = 0.0
        for _, block in items.blocks(dtype=items.precise):
            with np.errstate(over="ignore", invalid="ignore"):
                total += block.sum(axis=0, dtype=np.float64)
                squares += float(np.einsum("ij,ij->", block, block, dtype=np.float64))
        mean = total / len(items)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.sqrt(np.maximum(squares / len(items) - mean @ mean, 0.0) / items.dims)
        if not np.isfinite(spread):  # the numbers themselves will be refused
            return self
        # Rounded to a power of two no coarser than the spread: whole numbers stay whole, and their
        # ties ties.
        grid = 2.0 ** np.floor(np.log2(spread)) if spread > 0 else 1.0
        centre = np.round(mean / grid) * grid
        with np.errstate(over="ignore"):
            single = centre.astype(np.float32)
        # What single precision cannot hold is read and scored in double precision.
        return replace(self, centre=single if np.isfinite(single).all() else centre)


def _own_square(length: float) -> float:
    """The square r² of an item's length that was made ready, with half of it as one more number."""
    # L² = r² + r⁴/4, so r² = 2(√(1 + L²) - 1), for small L too.
    return 2 * length * (length / (math.hypot(1.0, length) + 1)) if length < math.inf else length


@dataclass(frozen=True, eq=False)
class Manhattan(Similarity):
    name: str = "manhattan"
    says: str = (
        "the nearer in Manhattan distance (the sum of absolute differences), the higher the score"
    )

    def lengths(self, ready: Matrix) -> Floats:
        """From the origin, in this distance."""
        with np.errstate(over="ignore"):  # what is too long is refused
            return np.asarray(np.abs(ready).sum(axis=1, dtype=np.float64))

    def greatest(self, own: float, other: float) -> float:
        return own + other

    def bound(self, queries: Matrix, longest: float, precision: Precision) -> Floats:
        # Numbers were rounded once, and so is the score; in between, sums are in double precision.
        dims = queries.shape[1]
        share = 3 * unit(precision) + 2 * sum_error(dims, np.float64)
        length = self.lengths(queries) + longest
        return share * length + vanished(length, dims, precision)

    def scores(self, queries: Matrix, items: Matrix, out: Matrix) -> Matrix:
        from scipy.spatial.distance import cdist

        np.negative(cdist(queries, items, "cityblock"), out=out, casting="same_kind")
        return out

    def exact(self, pairs: Pairs) -> Floats:
        return absolute_sums(pairs)

    def quick(self, pairs: Pairs) -> tuple[Floats, Floats]:
        return quick_absolute_sums(pairs)


@dataclass(frozen=True, eq=False)
class Hamming(Similarity):
    """Bits that agree: with signs for bits the dot product is agreements minus disagreements."""

    name: str = "hamming"
    says: str = "the more bits agree (a number above 0 is a 1, any other a 0), the higher the score"

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        if _may_be_packed(block, vectors):
            raise InputError(
                f"{vectors.source}: numbers such as {block[np.abs(block) >= _BYTE][0]:g} could be "
                "bytes of eight bits each (packed, as np.packbits and binary indexes hold them), "
                "or one bit each, which a number above 0 sets. Choose the similarity "
                "hamming-packed for bytes, or give x > 0 for one bit each."
            )
        return np.where(block > 0, np.float32(1), np.float32(-1))

    def compared(self, block: Matrix, *, items: bool) -> Matrix:
        return np.where(block > 0, 1.0, -1.0)


_BYTE = 32
"""Some bytes of packed bits reach this, and numbers whose sign alone is meant rarely do."""


def _may_be_packed(block: Matrix, vectors: Vectors) -> bool:
    """Whether vectors may hold eight bits in each number."""
    least, most = float(block.min(initial=0)), float(block.max(initial=0))
    in_bytes = (least >= 0 and most <= 255) or (least >= -128 and most <= 127)
    if not in_bytes or max(-least, most) < _BYTE:
        return False
    if vectors.values.dtype.kind == "f" and (block != np.rint(block)).any():
        return False
    # Of masks of 0 and 255 both readings give the same order.
    return not np.isin(block, (0, 255)).all()


@dataclass(frozen=True, eq=False)
class PackedHamming(Similarity):
    """Bits that agree, eight of them in each number."""

    name: str = "hamming-packed"
    says: str = "the more bits agree (each number is a byte of eight bits), the higher the score"
    spread: ClassVar[int] = 8

    def check(self, queries: Vectors, items: Vectors) -> None:
        super().check(queries, items)
        (low, high), (other_low, other_high) = map(_range, (queries, items))
        if min(low, other_low) < 0 and max(high, other_high) > 127:
            raise InputError(
                f"{queries.source} and {items.source} hold bytes from -128 to 127 and from 0 to "
                "255, which could be the same bits (a view) or the first bit turned over (minus "
                "128); give both as uint8."
            )

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        if (block != np.rint(block)).any() or ((block < -128) | (block > 255)).any():
            raise InputError(
                f"{vectors.source}: packed bits are whole numbers from 0 to 255, or from -128 to "
                "127; there are others. Choose the similarity hamming for one bit per number."
            )
        return _signs(block).astype(np.float32)

    def compared(self, block: Matrix, *, items: bool) -> Matrix:
        return _signs(block).astype(np.float64)


def _range(vectors: Vectors) -> tuple[float, float]:
    """Return the least and the greatest number of some vectors."""
    blocks = [(float(block.min()), float(block.max())) for _, block in vectors.blocks()]
    return min(low for low, _ in blocks), max(high for _, high in blocks)


def _signs(block: Matrix) -> Matrix:
    """Return 1 and -1 for the bits of some bytes."""
    bits = np.unpackbits((block.astype(np.int16) & 0xFF).astype(np.uint8), axis=1)
    return bits.astype(np.int8) * 2 - 1
