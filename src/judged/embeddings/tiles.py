"""A block of queries with a block of items, and what is asked of their scores wherever they lie."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from judged.arrays import Floats, Ints
from judged.embeddings.counting import count_rows
from judged.embeddings.first_places import reaching
from judged.embeddings.settling import Windows, within
from judged.inputs.vectors.vectors import Matrix


@dataclass(frozen=True)
class Limits:
    """What the scores of a tile are compared with: for each relevant item a low and a high limit,
    row after row, ascending in each."""

    row: Ints
    lengths: Ints
    """How many each row has."""
    low: Matrix
    high: Matrix
    own: Any
    """Whether the tile holds the relevant item itself, which lies between its limits."""
    apart: bool
    """Whether low limits lie below high ones."""


@dataclass(frozen=True)
class Tile:
    """A block of queries with a block of items: their scores, the excluded items' at minus
    infinity."""

    row: int
    """The first query."""
    column: int
    """The first item."""
    scores: Any
    """A matrix of single or double precision."""
    slack: Floats | None = None
    """For each query how close two scores may be and yet stand in the wrong order, or tie; None
    where scores are as they are."""
    in_order: bool = False
    """Whether they stand in the right order all the same, and tie where they should: they only lack
    the same number."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the scores."""
        return np.dtype(self.scores.dtype)

    def rows(self, begin: int, end: int) -> Self:
        """The scores of some of the queries, by their numbers among all."""
        at = slice(begin - self.row, end - self.row)
        slack = None if self.slack is None else self.slack[at]
        return replace(self, row=begin, scores=self.scores[at], slack=slack)

    def holds(self, item: Ints) -> Any:
        """Which of some items lie in this tile."""
        return (item >= self.column) & (item < self.column + self.scores.shape[1])

    def at(self, row: Ints, column: Ints) -> Matrix:
        """The scores of some places."""
        found: Matrix = self.scores[row, column]
        return found

    def exclude(self, row: Ints, column: Ints) -> None:
        """Put the scores of some places at minus infinity."""
        self.scores[row, column] = -np.inf

    def count(self, limits: Limits) -> tuple[Ints, Ints, dict[int, Ints]]:
        """How many scores of its row are above each high limit, and how many are not below each low
        one. And of some rows columns that hold all scores between limits, and perhaps others."""
        return count_rows(
            self.scores,
            limits.row,
            limits.lengths,
            (limits.low, limits.high),
            limits.own,
            windows=limits.apart,
        )

    def within(
        self, windows: Windows, known: dict[int, Ints]
    ) -> Iterator[tuple[slice, Ints, Ints]]:
        """The scores that lie within some windows of their row, limits included, a part of the
        windows at a time: which, and of each score the window and the column, row after row.
        `known` is what counting found of columns."""
        return within(self.scores, windows, known)

    def reaching(self, k: int) -> tuple[Ints, Ints]:
        """Places of all scores that may be among the first k of their row, row after row."""
        found = [self._reaching(at, k) for at in range(len(self.scores))]
        row = np.repeat(np.arange(len(found)), [len(columns) for columns in found])
        return row, np.concatenate(found)

    def _reaching(self, at: int, k: int) -> Ints:
        scores = self.scores[at]
        columns = reaching(scores, k)
        if self.slack is None or not len(columns):
            return columns
        return np.flatnonzero(scores >= scores[columns].min() - self.slack[at])
