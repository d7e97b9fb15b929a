"""Vectors that point the same way, up to the rounding of single precision: a query is known again
after it was scaled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, positions
from judged.embeddings.similarity.equal import keys_of
from judged.inputs.vectors.vectors import Matrix, Vectors

MARKS = 4
"""So many numbers stand for a vector: by one alone, two in a million would be taken for each other.
"""
NEAR = 1e-6
"""Marks move by about 1e-7 where vectors are scaled in single precision, and by 1e-3 where they are
rounded to half."""


def marks_of(vectors: Vectors) -> Floats:
    """Where vectors of length 1 lie along some directions drawn once and for all; NaN where there
    is no length."""
    along = np.random.default_rng(1).normal(size=(vectors.dims, MARKS))
    marks = np.empty((len(vectors), MARKS))
    for begin, block in vectors.blocks():
        with np.errstate(invalid="ignore", divide="ignore"):
            length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            marks[begin : begin + len(block)] = (block / length[:, None]) @ along
    return marks


def known(marks: Floats, among: Floats) -> NDArray[np.bool_]:
    """Which of some marks are those of others."""
    found = np.zeros(len(marks), bool)
    found[_near(marks, among)[0]] = True
    return found


def groups_of(block: Matrix) -> Ints:
    """A number for each vector, the same for those that point the same way."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Equal ones first, so that many of them make no more pairs than one.
    _, first, which = np.unique(keys_of(block), return_index=True, return_inverse=True)
    marks = marks_of(Vectors(block[first]))
    pairs = _near(marks, marks)
    together = coo_array((np.ones(len(pairs[0]), bool), pairs), shape=(len(first), len(first)))
    return np.asarray(connected_components(together, directed=False)[1][which], np.int64)


def _near(marks: Floats, among: Floats) -> tuple[Ints, Ints]:
    """The pairs of marks that are the same: rows of the first, rows of the second."""
    order = np.argsort(among[:, 0])
    ordered = among[order]
    begin = np.searchsorted(ordered[:, 0], marks[:, 0] - NEAR, side="left")
    end = np.searchsorted(ordered[:, 0], marks[:, 0] + NEAR, side="right")
    end = np.where(np.isfinite(marks[:, 0]), end, begin)
    row, place = np.repeat(np.arange(len(marks)), end - begin), positions(begin, end - begin)
    same = (np.abs(marks[row] - ordered[place]) <= NEAR).all(axis=1)
    return row[same], order[place[same]]
