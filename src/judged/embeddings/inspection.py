"""One side looked at by itself: bad vectors and stand-ins for them, duplicates, lengths, spread,
collapse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.embeddings.diagnosis import (
    NEAR,
    Collapse,
    Duplicates,
    NearDuplicates,
    Norms,
    Rows,
    Side,
)
from judged.embeddings.product import Product
from judged.embeddings.similarity.equal import first_equal, keys_of
from judged.embeddings.similarity.rounding import Precision
from judged.embeddings.similarity.similarity import Cosine, Similarity
from judged.embeddings.streams import chunks
from judged.inputs.vectors.vectors import Matrix, Vectors

SHOWN = 20
"""So many rows, groups or pairs are named; all are counted."""
NUMBERS_AT_A_TIME = 1 << 21

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _WithStandIns(Vectors):
    """Vectors with stand-ins for those that cannot be compared, so that rows keep their numbers."""

    bad: Flags = field(default_factory=lambda: np.zeros(0, bool))

    def block(self, begin: int, end: int, dtype: Precision = np.float32) -> Matrix:
        return self._filled(super().block(begin, end, dtype), self.bad[begin:end])

    def rows(self, rows: Ints, dtype: Precision = np.float32) -> Matrix:
        return self._filled(super().rows(rows, dtype), self.bad[rows])

    def _filled(self, block: Matrix, bad: Flags) -> Matrix:
        if bad.any():
            block = block.copy()
            block[bad] = 0
            block[bad, 0] = 1
        return block


@dataclass(frozen=True, eq=False)
class Inspection:
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
    def of(cls, vectors: Vectors, similarity: Similarity) -> Inspection:
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
    def comparable(self) -> Vectors:
        """With stand-ins where the similarity cannot compare a vector."""
        return self._with_stand_ins(self.usable)

    @property
    def directed(self) -> Vectors:
        """With stand-ins where a vector has no direction."""
        return self._with_stand_ins(self.has_direction)

    @property
    def has_direction(self) -> Flags:
        return self.finite & (self.norm > 0)

    def _with_stand_ins(self, usable: Flags) -> Vectors:
        vectors = self.vectors
        return (
            vectors
            if usable.all()
            else _WithStandIns(
                vectors.values,
                vectors.ids,
                vectors.source,
                vectors.notes,
                ~usable,
                beside=vectors.beside,
            )
        )

    def named(self, rows: Ints) -> Rows:
        return Rows(len(rows), tuple(self.vectors.name(row) for row in rows[:SHOWN].tolist()))


def blocks(vectors: Vectors) -> Iterator[tuple[int, Matrix]]:
    return vectors.blocks(max(1, NUMBERS_AT_A_TIME // vectors.dims))


def finite_blocks(looked: Inspection) -> Iterator[tuple[int, Matrix]]:
    for begin, block in blocks(looked.vectors):
        yield begin, block[looked.finite[begin : begin + len(block)]]


def side(
    looked: Inspection, memory: str | int, sample: int | None, random: np.random.Generator
) -> Side:
    vectors, norm = looked.vectors, looked.norm[looked.finite]
    group = first_equal(looked.vectors, looked.key)
    near, uniformity = _pairs(looked, group, memory, sample, random)
    return Side(
        source=vectors.source,
        count=len(vectors),
        dims=vectors.dims,
        not_finite=looked.named(np.flatnonzero(~looked.finite)),
        zero=looked.named(np.flatnonzero(looked.norm == 0)),
        duplicates=_duplicates(looked, group),
        near_duplicates=near,
        norms=_norms(norm),
        uniformity=uniformity,
    )


def _norms(norm: Floats) -> Norms:
    if not len(norm):
        return Norms()
    mean = norm.mean()
    spread = norm.std() / mean if mean else nan
    return Norms(*map(float, (norm.min(), np.median(norm), norm.max(), spread)))


def _duplicates(looked: Inspection, group: Ints) -> Duplicates:
    again = np.flatnonzero(group != np.arange(len(group)))
    groups = [np.flatnonzero(group == first)[:SHOWN] for first in np.unique(group[again])[:SHOWN]]
    return Duplicates(len(again), tuple(looked.named(rows).names for rows in groups))


def _pairs(
    looked: Inspection,
    group: Ints,
    memory: str | int,
    sample: int | None,
    random: np.random.Generator,
) -> tuple[NearDuplicates, float]:
    """Near duplicates and uniformity, from the cosines of vectors of one side with each other."""
    has_direction = looked.has_direction
    rows, others = np.arange(len(group)), int(has_direction.sum()) - 1
    sampled = sample is not None and others >= sample
    some = looked.directed
    if sampled:
        rows = np.sort(random.choice(np.flatnonzero(has_direction), sample, replace=False))
        some = Vectors(looked.vectors.rows(rows), source=looked.vectors.source)
    size = int(has_direction[rows].sum())
    if others < 1:
        return NearDuplicates(looked_at=size), nan
    looked_at, has_near = np.isin(np.arange(len(group)), rows), np.zeros(len(rows), bool)
    found: list[tuple[str, str, float]] = []
    total = 0.0
    product = Product(
        some, looked.directed, Cosine(), exclude=None, memory=memory, precision="single"
    )
    for chunk in chunks(product):
        row, values = rows[chunk.rows], chunk.values
        values[~has_direction[row]] = -np.inf
        values[:, ~has_direction[chunk.columns]] = -np.inf
        own = (row >= chunk.columns.start) & (row < chunk.columns.stop)
        values[own, row[own] - chunk.columns.start] = -np.inf
        # |x - y|² = 2 - 2·cosine
        total += float(np.exp(4 * values - 4).sum())
        near, column = np.nonzero(values > NEAR)
        item = column + chunk.columns.start
        apart = group[row[near]] != group[item]
        near, item, column = near[apart], item[apart], column[apart]
        has_near[chunk.rows.start + near] = True
        once = ~looked_at[item] | (item > row[near])
        for place in np.flatnonzero(once)[: SHOWN - len(found)].tolist():
            names = (
                looked.vectors.name(int(row[near[place]])),
                looked.vectors.name(int(item[place])),
            )
            found.append((*names, float(values[near[place], column[place]])))
    return NearDuplicates(int(has_near.sum()), size, sampled, tuple(found)), float(
        np.log(total / (size * others))
    )


def collapse(looked: Inspection) -> tuple[Collapse, Matrix]:
    """The collapse of the vectors, and their middle."""
    vectors, count = looked.vectors, int(looked.finite.sum())
    total, low, high = (
        np.zeros(vectors.dims),
        np.full(vectors.dims, np.inf),
        np.full(vectors.dims, -np.inf),
    )
    for _, block in finite_blocks(looked):
        total += block.sum(axis=0, dtype=np.float64)
        low, high = (
            np.minimum(low, block.min(axis=0, initial=np.inf)),
            np.maximum(high, block.max(axis=0, initial=-np.inf)),
        )
    mean = total / max(count, 1)
    covariance = np.zeros((vectors.dims, vectors.dims))
    for _, block in finite_blocks(looked):
        moved = block - mean
        covariance += moved.T @ moved
    variance = np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0.0)
    # What is below the rounding of the largest is none.
    variance[variance <= variance[0] * vectors.dims * np.finfo(np.float64).eps] = 0.0
    singular = np.sqrt(variance)
    found = Collapse(
        nan, nan, nan, tuple(np.flatnonzero(low == high).tolist()), tuple(singular.tolist())
    )
    if variance[0] > 0:
        share = singular[singular > 0] / singular.sum()
        found = replace(
            found,
            effective_rank=float(np.exp(-(share * np.log(share)).sum())),
            top_1=float(variance[0] / variance.sum()),
            top_10=float(variance[:10].sum() / variance.sum()),
        )
    return found, mean.astype(np.float32)
