"""The kinds of learned similarity: what each side's vectors go through before their product is the
score.

A kind is declared by the two maps of its sides. A map works on vectors of length 1, in whatever
precision they come, and knows the gradient of its weights; training and scoring use the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError, did_you_mean, quoted
from judged.options import whole
from judged.text import listed

Array = NDArray[Any]
Weights = dict[str, Array]
Basis = Callable[[int], Array]
"""So many directions, as the columns of a matrix, that keep as much as can be of vectors; all of
them: the identity."""


class Arithmetic(Protocol):
    """Matrix products and lengths whose every bit is the same on all machines."""

    def times(self, left: Array, right: Array) -> Array: ...

    def lengths(self, block: Array) -> Array: ...


RANK = "rank"
"""Stands for the chosen rank where a shape is declared."""


@dataclass(frozen=True)
class Map:
    """Vectors as they are, and what other maps make of them."""

    weights: str = ""
    """What its weights are called; nothing where it has none."""

    def forward(self, unit: Array, weights: Weights, how: Arithmetic | None = None) -> Array:
        """What becomes of vectors of length 1; in which arithmetic, where numpy's own is not
        meant."""
        return unit

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        """The gradient of the weights, from that of the mapped vectors."""
        return {}

    def shape(self, own: int, other: int, rank: int | None) -> tuple[int, ...]:
        """Of the weights, for vectors of `own` dimensions that are compared with others."""
        return ()

    def start(
        self, shape: tuple[int, ...], basis: Basis | None, random: np.random.Generator
    ) -> Array:
        """Weights to begin with: those of a plain cosine, or of the nearest to it, where both sides
        have one `basis`."""
        return np.zeros(shape)


@dataclass(frozen=True)
class Scaled(Map):
    """Each dimension times a number of its own."""

    def forward(self, unit: Array, weights: Weights, how: Arithmetic | None = None) -> Array:
        return unit * weights[self.weights]

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        return {self.weights: np.einsum("ij,ij->j", unit, gradient)}

    def shape(self, own: int, other: int, rank: int | None) -> tuple[int, ...]:
        return (own,)

    def start(
        self, shape: tuple[int, ...], basis: Basis | None, random: np.random.Generator
    ) -> Array:
        return np.ones(shape)


@dataclass(frozen=True)
class Linear(Map):
    """Times a matrix."""

    into: str | None = None
    """RANK, or None for as many dimensions as the other side has."""

    def forward(self, unit: Array, weights: Weights, how: Arithmetic | None = None) -> Array:
        matrix = weights[self.weights]
        return unit @ matrix if how is None else how.times(unit, matrix.astype(np.float64))

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        return {self.weights: unit.T @ gradient}

    def shape(self, own: int, other: int, rank: int | None) -> tuple[int, ...]:
        return (own, other if self.into is None else int(rank or 0))

    def start(
        self, shape: tuple[int, ...], basis: Basis | None, random: np.random.Generator
    ) -> Array:
        return random.normal(0, shape[1] ** -0.5, shape) if basis is None else basis(shape[1])


@dataclass(frozen=True)
class Directed(Linear):
    """Times a matrix, and of that only the direction. What the matrix maps to nothing stays zeros,
    and scores 0."""

    def forward(self, unit: Array, weights: Weights, how: Arithmetic | None = None) -> Array:
        mapped = super().forward(unit, weights, how)
        if how is None:
            return mapped / _lengths(mapped)
        length = how.lengths(mapped)[:, None]
        return mapped / np.where(length > 0, length, 1.0)

    def backward(self, unit: Array, weights: Weights, gradient: Array) -> Weights:
        mapped = super().forward(unit, weights)
        length = _lengths(mapped)
        direction = mapped / length
        along = np.einsum("ij,ij->i", direction, gradient)[:, None]
        turning = (gradient - direction * along) / length
        return super().backward(
            unit, weights, np.where((mapped != 0).any(axis=1, keepdims=True), turning, 0.0)
        )


def _lengths(mapped: Array) -> Array:
    """A column of lengths, 1 for zeros; squares in double precision, where they neither overflow
    nor vanish."""
    length = np.sqrt(np.einsum("ij,ij->i", mapped, mapped, dtype=np.float64))[:, None]
    return np.where(length > 0, length, 1.0).astype(mapped.dtype)


@dataclass(frozen=True)
class Kind:
    """A learned similarity: the score is the product of what the two maps make of a query and an
    item of length 1."""

    name: str
    says: str
    left: Map
    right: Map
    rank_share: int | None = None
    """The rank, where none is given, is the smaller number of dimensions divided by this; None for
    kinds without a rank."""
    equal_dims: bool = False
    """Whether queries and items must have as many dimensions."""

    @property
    def names(self) -> tuple[str, ...]:
        """Its weights."""
        return tuple(side.weights for side in (self.left, self.right) if side.weights)

    def rank(self, given: Any, query_dims: int, item_dims: int) -> int | None:
        """The rank, once it is sure that it is one."""
        most = min(query_dims, item_dims)
        if self.rank_share is None:
            if given is not None:
                ranked = [each.name for each in KINDS.values() if each.rank_share is not None]
                raise InputError(
                    f"{self.name} takes no rank; leave it out, or choose a kind that does "
                    f"({listed(ranked)})."
                )
            return None
        if given is None:
            return max(1, most // self.rank_share)
        return whole("rank", given, at_most=most, otherwise=", the dimensions of the vectors")

    def shapes(
        self, query_dims: int, item_dims: int, rank: int | None
    ) -> dict[str, tuple[int, ...]]:
        """What shape its weights have for vectors of these dimensions."""
        if self.equal_dims and query_dims != item_dims:
            raise InputError(
                f"{self.name} compares dimension with dimension, but queries have {query_dims} "
                f"dimensions and items {item_dims}; choose another kind, such as bilinear."
            )
        sides = ((self.left, query_dims, item_dims), (self.right, item_dims, query_dims))
        return {
            side.weights: side.shape(own, other, rank) for side, own, other in sides if side.weights
        }

    def start(
        self, shapes: dict[str, tuple[int, ...]], basis: Basis | None, random: np.random.Generator
    ) -> Weights:
        """Weights to begin with."""
        sides = (side for side in (self.left, self.right) if side.weights)
        return {side.weights: side.start(shapes[side.weights], basis, random) for side in sides}

    def dims(self, weights: Weights) -> tuple[int, int]:
        """The dimensions of queries and items that such weights are for."""
        left = weights[self.names[0]]
        right = weights[self.right.weights] if self.right.weights else None
        return int(left.shape[0]), int(left.shape[-1] if right is None else right.shape[0])


KINDS: dict[str, Kind] = {
    each.name: each
    for each in (
        Kind("bilinear", "q W x, with a matrix W", Linear("W"), Map()),
        Kind(
            "low-rank",
            "(q U)·(x V), with two matrices",
            Linear("U", RANK),
            Linear("V", RANK),
            rank_share=4,
        ),
        Kind(
            "diagonal",
            "the sum of w q x over dimensions, with a weight w for each",
            Scaled("w"),
            Map(),
            equal_dims=True,
        ),
        Kind(
            "two-tower-linear",
            "the cosine of q A and x B, with two matrices",
            Directed("A", RANK),
            Directed("B", RANK),
            rank_share=1,
        ),
    )
}
"""In each, q and x are brought to length 1 first."""


def as_kind(given: Any) -> Kind:
    """A kind by its name.

    >>> as_kind("low-rank").shapes(8, 6, 2)
    {'U': (8, 2), 'V': (6, 2)}
    """
    if isinstance(given, str) and given in KINDS:
        return KINDS[given]
    raise InputError(
        f"There is no kind {quoted(given)} of learned similarity{did_you_mean(given, KINDS)} "
        f"There is {', '.join(KINDS)}."
    )
