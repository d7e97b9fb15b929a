"""How alike two vectors are: blocks of queries and items in, a matrix of scores out, the higher the
more alike."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, ClassVar

import numpy as np

from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix, Vectors
from judged.segments import Floats


@dataclass(frozen=True, eq=False)
class Similarity:
    """The dot product, and what the others change of it. Each side is made ready once, then blocks
    are scored."""

    name: str = "dot"
    says: str = "the score is the dot product"
    precision: ClassVar[str] = "in single precision"

    needs_direction: ClassVar[bool] = False
    """A vector of zeros cannot be compared."""

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        """A block of queries or items made ready; `begin` is its first row, for messages."""
        return block

    def scores(self, queries: Matrix, items: Matrix, out: Matrix) -> Matrix:
        """The scores of two blocks that were made ready, into `out`."""
        return np.matmul(queries, items.T, out=out)

    side_by_side: ClassVar[bool] = True
    """Several threads may score at a time."""
    both_ways: ClassVar[bool] = True
    """An item's scores with all queries order them as the item's own search would."""

    def longest(self, ready: Matrix) -> float:
        """The length of the longest of some vectors made ready; no score exceeds the product of two
        such lengths.

        0 where scores are no products and cannot overflow as such.
        """
        return float(np.sqrt(np.einsum("ij,ij->i", ready, ready, dtype=np.float64).max()))

    def slack(self, queries: Matrix, longest: float) -> Floats | None:
        """For each query of a block that was made ready, how close two scores may be and yet stand
        in the wrong order.

        None where the scores are taken as they are. `longest` is the length of the longest item
        made ready.
        """
        return None

    def placed(self, items: Vectors) -> Similarity:
        """The same, measured from where the numbers of these items are smallest, where that makes a
        difference."""
        return self

    def shift(self, queries: Matrix) -> Floats:
        """What the scores of queries made ready lack to be comparable with other queries' scores, a
        column."""
        return np.zeros((len(queries), 1))

    def turned_round(self) -> Similarity:
        """The same with items for queries and queries for items."""
        return self

    def allow_training_queries(self) -> Similarity:
        """The same, for queries that it may have been learned from; most were not learned."""
        return self

    def check(self, queries: Vectors, items: Vectors) -> None:
        """Refuse vectors that cannot be compared so, or not be evaluated."""
        if queries.dims != items.dims:
            raise InputError(
                f"{queries.source} have {queries.dims} dimensions, {items.source} have "
                f"{items.dims}; "
                "they must have as many. Do they come from the same model?"
            )


@dataclass(frozen=True, eq=False)
class Cosine(Similarity):
    name: str = "cosine"
    says: str = "the score is the cosine of the angle between the vectors"
    needs_direction: ClassVar[bool] = True

    def longest(self, ready: Matrix) -> float:
        return 1.0

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        # In double precision: the squares of large or tiny numbers must neither overflow nor
        # vanish.
        length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
        if not length.all():
            row = begin + int(np.flatnonzero(length == 0)[0])
            raise InputError(
                f"{vectors.source}: vector {vectors.name(row)} is all zeros, has no direction and "
                "so no cosine; "
                "remove it, or choose another similarity."
            )
        if length.min() > 1e-30 and length.max() < 1e30:
            return block / length.astype(np.float32)[:, None]
        return (block / length[:, None]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Rescored(Similarity, ABC):
    """One whose scores have slack, and a way to settle what lies within it."""

    @abstractmethod
    def slack(self, queries: Matrix, longest: float) -> Floats: ...

    @abstractmethod
    def exact(self, query: Matrix, items: Matrix) -> Floats:
        """Scores of one query with items, or of as many queries as items, without the rounding that
        `slack` stands for.

        Neither are made ready.
        """


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
                f"{vectors.name(begin + int(np.flatnonzero(far)[0]))} are so large "
                "that a score would overflow; divide all vectors by the same number."
            )
        return block

    def scores(self, queries: Matrix, items: Matrix, out: Matrix) -> Matrix:
        from scipy.spatial.distance import cdist

        np.negative(cdist(queries, items, "cityblock"), out=out, casting="same_kind")
        return out


@dataclass(frozen=True, eq=False)
class Hamming(Similarity):
    """Bits that agree: with signs for bits the dot product counts agreements minus disagreements."""

    name: str = "hamming"
    says: str = "the more bits agree (a number above 0 is a 1, any other a 0), the higher the score"

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        return np.where(block > 0, np.float32(1), np.float32(-1))


@dataclass(frozen=True, eq=False)
class Bilinear(Similarity):
    """A learned similarity q W x."""

    name: str = "bilinear"
    says: str = "the score is q W x with a learned matrix W"
    weights: Matrix = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # what overflows is refused by its length
            return block if items else block @ self.weights

    def turned_round(self) -> Similarity:
        return replace(self, weights=np.ascontiguousarray(self.weights.T))

    def check(self, queries: Vectors, items: Vectors) -> None:
        if self.weights.shape != (queries.dims, items.dims):
            raise InputError(
                "the matrix of the bilinear similarity is "
                f"{' × '.join(map(str, self.weights.shape))}, "
                f"but queries have {queries.dims} dimensions and items {items.dims}."
            )


@dataclass(frozen=True, eq=False)
class Custom(Similarity):
    """Any function f(query block, item block) -> scores; torch modules get and give tensors."""

    name: str = "custom"
    says: str = "the score is what the given function returns"
    function: Callable[[Any, Any], Any] = field(default=lambda queries, items: queries @ items.T)

    side_by_side: ClassVar[bool] = False

    def longest(self, ready: Matrix) -> float:
        return 0.0

    def turned_round(self) -> Similarity:
        return replace(self, function=lambda queries, items: self._call(items, queries).T)

    def scores(self, queries: Matrix, items: Matrix, out: Matrix) -> Matrix:
        result = self._call(queries, items)
        if result.dtype.kind not in "biuf":
            raise InputError(
                f"the similarity function returned {result.dtype}; it must return an array of "
                "numbers."
            )
        if result.shape != out.shape:
            raise InputError(
                f"the similarity function returned shape {result.shape} for {out.shape[0]} queries "
                f"and {out.shape[1]} items; "
                f"it must return {out.shape}."
            )
        if np.isnan(result).any():
            raise InputError(
                "the similarity function returned NaN; a NaN has no place in a ranking."
            )
        with np.errstate(over="ignore"):
            out[...] = result
        if not np.isfinite(out).all():
            raise InputError(
                "the similarity function returned infinite scores, or some too large for single "
                "precision; "
                "items that are not to be ranked are named by exclude."
            )
        return out

    def check(self, queries: Vectors, items: Vectors) -> None:
        """What the function makes of dimensions that differ is its own business."""

    def _call(self, queries: Matrix, items: Matrix) -> Any:
        if any(base.__module__.startswith("torch") for base in type(self.function).__mro__):
            import torch

            with torch.no_grad():
                # Tensors can be written to, so they are not made of arrays that cannot.
                tensors = (
                    torch.from_numpy(np.require(each, requirements="W"))
                    for each in (queries, items)
                )
                return self.function(*tensors).detach().cpu().float().numpy()
        return np.asarray(self.function(queries, items))


SIMILARITIES: dict[str, Similarity] = {
    each.name: each for each in (Cosine(), Similarity(), Euclidean(), Manhattan(), Hamming())
}
"""Those that need nothing but their name."""


def as_similarity(given: Any) -> Similarity:
    """A similarity from its name, a matrix or a file of one (bilinear), the file of a learned one,
    a function or itself."""
    if isinstance(given, Similarity):
        return given
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if isinstance(given, str):
        if given in SIMILARITIES:
            return SIMILARITIES[given]
        if "." in given or os.path.exists(given):
            from judged.inputs.vectors import read_vectors
            from judged.similarity.learned_files import read_learned

            if (learned := read_learned(given)) is not None:
                return learned
            return as_similarity(np.asarray(read_vectors(given).values))
        close = get_close_matches(given, SIMILARITIES, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise InputError(
            f"there is no similarity {given!r}{hint} There is {', '.join(SIMILARITIES)}."
        )
    if callable(given):
        return Custom(function=given)
    weights = np.asarray(given)
    if weights.ndim != 2:
        raise InputError(
            "a similarity is a name, a matrix, or a function of two blocks; got "
            f"{type(given).__name__}."
        )
    if weights.dtype.kind not in "biuf":
        raise InputError(
            f"the matrix of a bilinear similarity must hold numbers; got {weights.dtype}."
        )
    with np.errstate(over="ignore"):
        weights = weights.astype(np.float32)
    if not np.isfinite(weights).all():
        raise InputError(
            "the matrix of a bilinear similarity holds NaN or infinite numbers; mend it."
        )
    return Bilinear(weights=weights)
