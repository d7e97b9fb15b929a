"""Similarities: blocks of queries and items in, a matrix of scores out; higher is more similar."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from judged.arrays import Floats
from judged.embeddings.exact import (
    Adding,
    Precision,
    RoundedSum,
    VectorPairs,
    absolute_sums,
    cosines,
    dots,
    half_squares,
    sum_error,
    times,
    underflow,
    unit,
)
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix, Vectors


@dataclass(frozen=True, eq=False)
class Similarity:
    """The dot product; subclasses are the other similarities.

    Vectors of each side are prepared once, a block at a time, and then blocks are scored. `ready`
    vectors are prepared ones; `vectors` and `begin` name the rows of a block in messages.

    >>> query, item = np.float32([[1, 2]]), np.float32([[3, 4]])
    >>> Similarity().scores(query, item, np.empty((1, 1), np.float32)).tolist()
    [[11.0]]
    """

    name: str = "dot"
    says: str = "the score is the dot product"
    """The definition of the score, which results print."""
    certain: ClassVar[bool] = True
    """True if the rounding of scores has a bound, and pairs can be scored exactly."""
    maps: ClassVar[bool] = False
    """True if other vectors are compared, made from the given ones in double precision."""
    whole: ClassVar[bool] = False
    """True if all scores are whole numbers, which single precision does not round."""
    needs_direction: ClassVar[bool] = False
    """True if a vector of zeros cannot be compared."""
    side_by_side: ClassVar[bool] = True
    """True if several threads may score at a time."""
    spread: ClassVar[int] = 1
    """The numbers that one number of a vector becomes when it is prepared."""
    comparable: ClassVar[bool] = True
    """True if scores of different queries can be compared, because they lack nothing."""

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        return block

    def scores(self, queries: Matrix, items: Matrix, out: Matrix) -> Matrix:
        # OpenBLAS may flag finite numbers as invalid (numpy issue 24067). Both sides were checked.
        with np.errstate(invalid="ignore"):
            return np.matmul(queries, items.T, out=out)

    def longest(self, ready: Matrix) -> float:
        return float(self.lengths(ready).max())

    def lengths(self, ready: Matrix) -> Floats:
        """Return the lengths of vectors; 0 if scores are not products."""
        with np.errstate(over="ignore", under="ignore"):  # too long is an error later
            lengths = np.sqrt(np.einsum("ij,ij->i", ready, ready, dtype=np.float64))
            if ready.dtype == np.float64 and not ((lengths > 1e-140) & (lengths < 1e140)).all():
                # The squares of large or tiny numbers overflow or vanish.
                power = np.frexp(np.abs(ready).max(axis=1))[1]
                near = np.ldexp(ready, -power[:, None])
                lengths = np.ldexp(np.sqrt(np.einsum("ij,ij->i", near, near)), power)
        return np.asarray(lengths)

    def greatest(self, query_length: float, item_length: float) -> float:
        """Return what no score exceeds."""
        return query_length * item_length

    def bound(self, queries: Matrix, longest: float, precision: Precision) -> Floats:
        """Return the greatest error of the scores of each query."""
        lengths, dims = self.lengths(queries), queries.shape[1]
        # Vectors that are off by k roundings add 2 k u |q| |x|; one more covers the terms left out.
        share = sum_error(dims, precision) + 2 * (self.roundings(queries, precision) + 1) * unit(
            precision
        )
        return share * lengths * longest + underflow(lengths + longest, dims, precision)

    def roundings(self, ready: Matrix, precision: Precision) -> float:
        """Return how many roundings prepared vectors may be off by."""
        return 1.0

    def compared(self, block: Matrix, *, items: bool) -> Matrix:
        """Return the vectors that are compared, where these are not the given ones."""
        return block

    def formula(self, pairs: VectorPairs, add: Adding) -> RoundedSum:
        """Compute the scores of pairs by sums that are more or less exact."""
        return dots(pairs, add)

    def placed(self, items: Vectors) -> Similarity:
        """Return the same similarity, measured from where numbers are smallest."""
        return self

    def shift(self, queries: Matrix) -> Floats:
        """Return a column with what the scores of each query lack."""
        return np.zeros((len(queries), 1))

    def reversed(self) -> Similarity:
        """Return the similarity of items with queries."""
        return self

    def allow_training_queries(self) -> Similarity:
        """Return the same similarity, also for queries that it was learned from."""
        return self

    def check(self, queries: Vectors, items: Vectors) -> None:
        """Raise an error for vectors that cannot be compared, or must not be evaluated."""
        if queries.dims != items.dims:
            raise InputError(
                f"{queries.source} have {queries.dims} dimensions but {items.source} have "
                f"{items.dims}; the numbers must match. Do they come from the same model?"
            )


@dataclass(frozen=True, eq=False)
class Cosine(Similarity):
    """The cosine of the angle between the vectors."""

    name: str = "cosine"
    says: str = "the score is the cosine of the angle between the vectors"
    needs_direction: ClassVar[bool] = True

    def lengths(self, ready: Matrix) -> Floats:
        return np.ones(len(ready))

    def roundings(self, ready: Matrix, precision: Precision) -> float:
        # The length, a division and a cast; a length in double precision comes from a sum whose
        # rounding does not count beside single precision.
        return 3.0 if precision is np.float32 else ready.shape[1] / 2 + 4

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        if block.dtype == np.float64:
            # The squares of large or tiny numbers must neither overflow nor vanish.
            top = np.abs(block).max(axis=1)
            if not (top.min() > 1e-140 and top.max() < 1e140):
                block = np.ldexp(block, -np.frexp(top)[1][:, None])
        length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
        if not length.all():
            row = begin + int(np.flatnonzero(length == 0)[0])
            raise InputError(
                f"{vectors.source}: vector {vectors.name(row)} is all zeros, so it has no "
                "direction and no cosine; remove it, or choose another similarity."
            )
        if block.dtype == np.float64 or (length.min() > 1e-30 and length.max() < 1e30):
            return block / length.astype(block.dtype)[:, None]
        return (block / length[:, None]).astype(np.float32)

    def formula(self, pairs: VectorPairs, add: Adding) -> RoundedSum:
        return cosines(pairs, add)


@dataclass(frozen=True, eq=False)
class Euclidean(Similarity):
    """Minus half the squared distance, computed as q·x - |x|²/2, which orders items the same way.

    Both sides are moved by the same vector, so that the numbers are as small as the distances.
    """

    name: str = "euclidean"
    says: str = "the score is minus half the squared Euclidean distance"
    centre: Matrix = field(default_factory=lambda: np.zeros(0, np.float32))
    comparable: ClassVar[bool] = False

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        with np.errstate(over="ignore"):  # an overflow is seen by its length
            moved = block - self.centre if len(self.centre) else block
            if not items:
                return np.hstack([moved, np.ones((len(moved), 1), moved.dtype)])
            half = np.einsum("ij,ij->i", moved, moved, dtype=np.float64) / -2
            return np.hstack([moved, half.astype(moved.dtype)[:, None]])

    def greatest(self, query_length: float, item_length: float) -> float:
        square = _square(item_length)
        return query_length * math.sqrt(square) + square / 2

    def bound(self, queries: Matrix, longest: float, precision: Precision) -> Floats:
        length = self.lengths(queries[:, :-1])
        square = _square(longest)
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
        return share * size + unit(np.float64) * both**2 + underflow(both, dims, precision)

    def formula(self, pairs: VectorPairs, add: Adding) -> RoundedSum:
        return half_squares(pairs, add)

    def shift(self, queries: Matrix) -> Floats:
        """Return half the squares of the queries, which their scores lack."""
        moved = queries[:, :-1]
        return np.einsum("ij,ij->i", moved, moved, dtype=np.float64)[:, None] / -2

    def placed(self, items: Vectors) -> Euclidean:
        """Measure from the middle of the items, where the numbers are smallest."""
        total = np.zeros(items.dims)
        squares = 0.0
        for _, block in items.blocks(dtype=items.precise):
            with np.errstate(over="ignore", invalid="ignore"):
                total += block.sum(axis=0, dtype=np.float64)
                squares += float(np.einsum("ij,ij->", block, block, dtype=np.float64))
        mean = total / len(items)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.sqrt(np.maximum(squares / len(items) - mean @ mean, 0.0) / items.dims)
        if not np.isfinite(spread):  # the numbers themselves are an error later
            return self
        # Rounded to a power of two no coarser than the spread, so that whole numbers stay whole.
        grid = 2.0 ** np.floor(np.log2(spread)) if spread > 0 else 1.0
        centre = np.round(mean / grid) * grid
        with np.errstate(over="ignore"):
            single = centre.astype(np.float32)
        # What single precision cannot hold is read and scored in double precision.
        return replace(self, centre=single if np.isfinite(single).all() else centre)


def _square(length: float) -> float:
    """Return the square r² of an item, from its prepared length with r²/2 as one more number."""
    # L² = r² + r⁴/4, so r² = 2(√(1 + L²) - 1), for small L too.
    return 2 * length * (length / (math.hypot(1.0, length) + 1)) if length < math.inf else length


@dataclass(frozen=True, eq=False)
class Manhattan(Similarity):
    """Minus the sum of absolute differences."""

    name: str = "manhattan"
    says: str = (
        "the nearer in Manhattan distance (the sum of absolute differences), the higher the score"
    )

    def lengths(self, ready: Matrix) -> Floats:
        """Return the Manhattan distance of each vector from the origin."""
        with np.errstate(over="ignore"):  # too long is an error later
            return np.asarray(np.abs(ready).sum(axis=1, dtype=np.float64))

    def greatest(self, query_length: float, item_length: float) -> float:
        return query_length + item_length

    def bound(self, queries: Matrix, longest: float, precision: Precision) -> Floats:
        # Numbers were rounded once, and so is the score; in between, sums are in double precision.
        dims = queries.shape[1]
        share = 3 * unit(precision) + 2 * sum_error(dims, np.float64)
        length = self.lengths(queries) + longest
        return share * length + underflow(length, dims, precision)

    def scores(self, queries: Matrix, items: Matrix, out: Matrix) -> Matrix:
        from scipy.spatial.distance import cdist

        np.negative(cdist(queries, items, "cityblock"), out=out, casting="same_kind")
        return out

    def formula(self, pairs: VectorPairs, add: Adding) -> RoundedSum:
        return absolute_sums(pairs, add)


@dataclass(frozen=True, eq=False)
class Hamming(Similarity):
    """Bits that agree: the dot product of signs is agreements minus disagreements."""

    name: str = "hamming"
    says: str = "the more bits agree (a number above 0 is a 1, any other a 0), the higher the score"
    packed: bool = False
    """True if each number is a byte of eight bits."""
    whole: ClassVar[bool] = True

    @property
    def spread(self) -> int:  # type: ignore[override]
        return 8 if self.packed else 1

    def check(self, queries: Vectors, items: Vectors) -> None:
        super().check(queries, items)
        if not self.packed:
            return
        (low, high), (other_low, other_high) = map(_range, (queries, items))
        if min(low, other_low) < 0 and max(high, other_high) > 127:
            raise InputError(
                f"{queries.source} and {items.source} hold bytes from -128 to 127 and from 0 to "
                "255, which could be the same bits (a view) or differ in the first bit (minus "
                "128). Give both as uint8."
            )

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        if self.packed and ((block != np.rint(block)) | (block < -128) | (block > 255)).any():
            raise InputError(
                f"{vectors.source}: packed bits must be whole numbers from 0 to 255, or from -128 "
                "to 127. Choose the similarity hamming for one bit per number."
            )
        if not self.packed and _may_be_packed(block, vectors):
            raise InputError(
                f"{vectors.source}: numbers such as {block[np.abs(block) >= _BYTE][0]:g} could be "
                "bytes of eight bits (packed, as by np.packbits) or single bits, which a number "
                "above 0 sets. Choose the similarity hamming-packed for bytes, or give x > 0 for "
                "one bit per number."
            )
        return self.compared(block, items=items).astype(np.float32)

    def compared(self, block: Matrix, *, items: bool) -> Matrix:
        return _signs(block).astype(np.float64) if self.packed else np.where(block > 0, 1.0, -1.0)


_BYTE = 32
"""Some bytes of packed bits reach this; numbers whose sign counts rarely do."""


def _may_be_packed(block: Matrix, vectors: Vectors) -> bool:
    """Tell whether vectors may hold eight bits in each number."""
    least, most = float(block.min(initial=0)), float(block.max(initial=0))
    in_bytes = (least >= 0 and most <= 255) or (least >= -128 and most <= 127)
    if not in_bytes or max(-least, most) < _BYTE:
        return False
    if vectors.values.dtype.kind == "f" and (block != np.rint(block)).any():
        return False
    # Of masks of 0 and 255 both readings give the same order.
    return not np.isin(block, (0, 255)).all()


def _range(vectors: Vectors) -> tuple[float, float]:
    blocks = [(float(block.min()), float(block.max())) for _, block in vectors.blocks()]
    return min(low for low, _ in blocks), max(high for _, high in blocks)


def _signs(block: Matrix) -> Matrix:
    bits = np.unpackbits((block.astype(np.int16) & 0xFF).astype(np.uint8), axis=1)
    return bits.astype(np.int8) * 2 - 1


@dataclass(frozen=True, eq=False)
class Bilinear(Similarity):
    """The similarity q W x: the product of q W, rounded to double precision, and x."""

    name: str = "bilinear"
    says: str = "the score is q W x with a learned matrix W"
    weights: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    reverse: bool = False
    """True if items search queries; the score of a pair is the same."""
    maps: ClassVar[bool] = True

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        # An overflow is seen by its length.
        with np.errstate(over="ignore", invalid="ignore"):
            if block.dtype == np.float64 or items != self.reverse:
                return self.compared(block, items=items)
            return block @ self.weights.astype(np.float32)

    def compared(self, block: Matrix, *, items: bool) -> Matrix:
        return block if items != self.reverse else times(block, self.weights)

    def reversed(self) -> Similarity:
        return replace(self, reverse=not self.reverse)

    def check(self, queries: Vectors, items: Vectors) -> None:
        searching, searched = (items, queries) if self.reverse else (queries, items)
        if self.weights.shape != (searching.dims, searched.dims):
            raise InputError(
                "the matrix of the bilinear similarity is "
                f"{' × '.join(map(str, self.weights.shape))}, but queries have {searching.dims} "
                f"dimensions and items have {searched.dims}."
            )


@dataclass(frozen=True, eq=False)
class Custom(Similarity):
    """Any function of two blocks of vectors that returns scores."""

    name: str = "custom"
    says: str = "the score is what the given function returns"
    function: Callable[[Any, Any], Any] = field(default=lambda queries, items: queries @ items.T)

    side_by_side: ClassVar[bool] = False
    certain: ClassVar[bool] = False

    def lengths(self, ready: Matrix) -> Floats:
        return np.zeros(len(ready))

    def reversed(self) -> Similarity:
        return replace(self, function=lambda queries, items: self._call(items, queries).T)

    def scores(self, queries: Matrix, items: Matrix, out: Matrix) -> Matrix:
        result = self._call(queries, items)
        if result.dtype.kind not in "biuf" or result.shape != out.shape:
            raise InputError(
                f"the similarity function returned {result.dtype} of shape {result.shape} for "
                f"{out.shape[0]} queries and {out.shape[1]} items; it must return numbers of shape "
                f"{out.shape}."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            out[...] = result
        if not np.isfinite(out).all():
            raise InputError(
                "the similarity function returned scores that are NaN, infinite or too large. Use "
                "exclude for items that should not be ranked."
            )
        return out

    def check(self, queries: Vectors, items: Vectors) -> None:
        """Accept any dimensions: the function decides."""

    def _call(self, queries: Matrix, items: Matrix) -> Any:
        try:
            return np.asarray(self.function(queries, items))
        except TypeError as error:
            raise InputError(
                "a similarity function must take two matrices, queries and items; calling this "
                f"one failed ({error})."
            ) from error


SIMILARITIES: dict[str, Similarity] = {
    similarity.name: similarity
    for similarity in (
        Cosine(),
        Similarity(),
        Euclidean(),
        Manhattan(),
        Hamming(),
        Hamming(
            "hamming-packed",
            "the more bits agree (each number is a byte of eight bits), the higher the score",
            packed=True,
        ),
    )
}
"""Similarities that are chosen by name."""
