"""Strips: the kinds of results at the first ranks of every query, all queries at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.options import OPTIONS

if TYPE_CHECKING:
    from judged.rankings.rankings import Rankings

Kind = Literal["relevant", "irrelevant", "unjudged", "nothing"]
KINDS: tuple[Kind, ...] = ("relevant", "irrelevant", "unjudged", "nothing")
"""A graded item, one judged not relevant, an unjudged one, or no result."""
RELEVANT, IRRELEVANT, UNJUDGED, NOTHING = range(len(KINDS))
LEVELS = 3  # the number of colour strengths for grades


@dataclass(frozen=True)
class Cell:
    """A rank of a list."""

    kind: Kind  # relevant (a grade above 0), judged and not relevant, unjudged, or no result
    grade: float | None = None  # its grade, where it was judged
    top: float = 1.0  # the best grade that there is, by which heights are measured

    @property
    def level(self) -> int:
        """The strength of its colour, from 1 to 3; 0 if it is not relevant.

        Grades 1, 2 and 3 are the levels if no grade is above 3; otherwise grades are spread over
        the three. If no grade is above 1, every relevant result has level 2.
        """
        if self.kind != "relevant" or self.grade is None:
            return 0
        return int(_levels(np.array([self.grade]), self.top)[0])

    @property
    def share(self) -> float:
        """Its grade as a share of the best one; 0 if it is not relevant."""
        return self.grade / self.top if self.kind == "relevant" and self.grade else 0.0


@dataclass(frozen=True, eq=False)
class Strips:
    """The first k ranks of every query."""

    kind: NDArray[np.uint8]  # for each query and rank, an index into `KINDS`
    grade: Floats  # for each query and rank, the grade; NaN without a result or judgement
    top: float  # the best grade among the judgements of all queries; 1 where nothing is relevant

    def __len__(self) -> int:
        return len(self.kind)

    def cells(self, query: int) -> list[Cell]:
        """Return the strip of one query, by its index, rank by rank."""
        return [
            Cell(KINDS[kind], None if np.isnan(grade) else float(grade), self.top)
            for kind, grade in zip(self.kind[query], self.grade[query], strict=True)
        ]

    def codes(self) -> list[str]:
        """Return each strip as text with one character per rank.

        1 to 3 is the strength of the grade (see `Cell.level`), "." is judged and not relevant, "?"
        is unjudged, "-" is no result.
        """
        letters = np.frombuffer(b"0.?-", np.uint8)[self.kind]
        relevant = self.kind == RELEVANT
        levels = _levels(self.grade[relevant], self.top)
        letters[relevant] = ord("0") + levels.astype(np.uint8)
        rows, width = letters.shape
        text = letters.tobytes().decode("ascii")
        return [text[row * width : (row + 1) * width] for row in range(rows)]

    def shares(self) -> list[tuple[float, float, float, float]]:
        """Return for each rank the share of queries with each of `KINDS` there."""
        counts = np.array([(self.kind == kind).sum(axis=0) for kind in range(len(KINDS))])
        return [(a, b, c, d) for a, b, c, d in (counts / max(len(self), 1)).T.tolist()]


def strips(r: Rankings, k: int) -> Strips:
    """Return what is at the first k ranks of every query.

    A negative grade is no judgement. With ties=expected the strips show one order of many. A judged
    query that the run lacks has no result at any rank.
    """
    k = OPTIONS["k"]("k", k)
    filled = np.arange(1, k + 1) <= r.retrieved[:, None]
    other = IRRELEVANT if r.complete else UNJUDGED
    kind = np.where(filled, other, NOTHING).astype(np.uint8)
    grade = np.where(filled & r.complete, 0.0, np.nan)
    # A tie that is left open may reach below the end of the list.
    end = np.minimum(r.retrieved, k)[r.hit_query]
    hit = np.flatnonzero((r.hit_rank <= end) & (r.hit_grade >= 0))
    cells = (r.hit_query[hit], r.hit_rank[hit] - 1)
    kind[cells] = np.where(r.hit_grade[hit] > 0, RELEVANT, IRRELEVANT)
    grade[cells] = r.hit_grade[hit]
    top = float(r.pool_grade.max(initial=0.0))
    return Strips(kind, grade, top if top > 0 else 1.0)


def mean_strip(r: Rankings, k: int) -> list[tuple[float, float, float, float]]:
    """Return the `Strips.shares` of the first k ranks."""
    return strips(r, k).shares()


def _levels(grade: Floats, top: float) -> Floats:
    if top <= 1:
        return np.full(len(grade), 2.0)
    spread = grade if top <= LEVELS else grade * LEVELS / top
    return np.clip(np.ceil(spread - 1e-9), 1, LEVELS)  # 1.1 · 3 / 3.3 is 1.0000000000000002
