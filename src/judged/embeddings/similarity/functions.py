"""Similarities of a caller's own: a matrix, or any function of two blocks of vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from judged.arrays import Floats
from judged.embeddings.similarity.exact import times
from judged.embeddings.similarity.similarity import Similarity
from judged.errors import InputError
from judged.inputs.vectors.vectors import Matrix, Vectors


@dataclass(frozen=True, eq=False)
class Bilinear(Similarity):
    """A learned similarity q W x: the product of q W, rounded to double precision, and x."""

    name: str = "bilinear"
    says: str = "the score is q W x with a learned matrix W"
    weights: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    reverse: bool = False
    """Whether items search queries: the score of a pair is the same."""
    maps: ClassVar[bool] = True
    keeps_whole: ClassVar[bool] = False

    def prepare(self, block: Matrix, vectors: Vectors, begin: int, *, items: bool) -> Matrix:
        # What overflows is refused by its length.
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
                f"dimensions and items {searched.dims}."
            )


@dataclass(frozen=True, eq=False)
class Custom(Similarity):
    """Any function f(query block, item block) -> scores; torch modules get and give tensors."""

    name: str = "custom"
    says: str = "the score is what the given function returns"
    function: Callable[[Any, Any], Any] = field(default=lambda queries, items: queries @ items.T)

    side_by_side: ClassVar[bool] = False
    certain: ClassVar[bool] = False
    keeps_whole: ClassVar[bool] = False

    def lengths(self, ready: Matrix) -> Floats:
        return np.zeros(len(ready))

    def reversed(self) -> Similarity:
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
                f"and {out.shape[1]} items; it must return {out.shape}."
            )
        if np.isnan(result).any():
            raise InputError(
                "the similarity function returned NaN; a NaN has no place in a ranking."
            )
        with np.errstate(over="ignore"):
            out[...] = result
        if not np.isfinite(out).all():
            raise InputError(
                "the similarity function returned infinite scores, or some too large for "
                f"{'single' if out.dtype == np.float32 else 'double'} precision; items that are "
                "not to be ranked are named by exclude."
            )
        return out

    def check(self, queries: Vectors, items: Vectors) -> None:
        """What the function makes of dimensions that differ is its own business."""

    def _call(self, queries: Matrix, items: Matrix) -> Any:
        if any(base.__module__.startswith("torch") for base in type(self.function).__mro__):
            import torch

            with torch.no_grad():
                # A module computes in the precision of its own weights. Tensors can be written to,
                # so they are not made of arrays that cannot.
                weights: Any = getattr(self.function, "parameters", tuple)()
                own = next((each.dtype for each in weights if each.is_floating_point()), None)
                tensors = (
                    torch.from_numpy(np.require(each, requirements="W")).to(dtype=own)
                    for each in (queries, items)
                )
                return self.function(*tensors).detach().cpu().double().numpy()
        try:
            return np.asarray(self.function(queries, items))
        except TypeError as error:
            raise InputError(
                "a similarity is a function of two matrices, queries and items; this one cannot "
                f"be called with them ({error})."
            ) from error
