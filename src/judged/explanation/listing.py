"""One query's list as steps read it: plain numbers, one rank at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from judged.explanation.arithmetic import Expression, Named, total
from judged.measures import Measure
from judged.rankings.rankings import Cutoff, Rankings

ANY = float(np.nextafter(0, 1))  # the lowest grade above 0

Cell = Expression | str | None


@dataclass(frozen=True)
class Row:
    """One rank of the list."""

    rank: int  # from 1
    item: str | None  # its id; None where the input has none
    grade: float | None  # None if unjudged
    relevant: bool  # whether the measure counts it as relevant, or gains something from it
    counts: bool  # whether it is at or above the cutoff


def threshold(measure: Measure) -> float:
    """The lowest grade that a measure counts as relevant, or gains something from."""
    params = measure.params
    if "rel" in params:
        return float(params["rel"])
    return float(np.nextafter(params["min_rel"], inf)) if "min_rel" in params else ANY


@dataclass(frozen=True)
class Column:
    """What a measure looks at, at each shown rank; None for an empty cell."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Line:
    """A number on the way to the value: its symbol, how it comes about, and why."""

    symbol: str
    value: Expression
    says: str = ""


@dataclass(frozen=True)
class Cumulated:
    """Gains that add up down the list, and down the ideal one."""

    name: str  # what they add up to
    gains: Mapping[int, Expression]
    """The gain of each rank that gains something, before its discount."""
    terms: Mapping[int, Expression]  # what is left of each gain
    ideal: tuple[float, ...] = ()
    """What each rank of the ideal list adds, from the first; nothing where none is ideal."""
    ideal_name: str = ""  # what these add up to


@dataclass(frozen=True)
class Steps:
    """How one number comes about."""

    value: Expression
    columns: tuple[Column, ...] = ()
    adds: dict[int, Expression] | None = None
    """What each rank adds to the value, together all of it; None where the value is no such sum."""
    before: tuple[Line, ...] = ()  # what is worked out first
    divisor: Line | None = None
    says: str = ""
    """What happened in this list, in a sentence, where the arithmetic does not say it."""
    end: float = inf  # the last rank that counts
    bars: tuple[tuple[int, float], ...] | None = None
    """For measures that are an area under the precision-recall curve: the rank and height of each
    bar, all as wide as 1 / divisor."""
    cumulated: Cumulated | None = None  # for measures of gain: how it adds up


def divided(
    terms: Mapping[int, Expression],
    divisor: Line,
    columns: tuple[Column, ...] = (),
    *,
    named: bool = False,
    **others: Any,
) -> Steps:
    """The sum of a term per rank, divided; the divisor may stand in the sum by its name."""
    whole = Named(divisor.symbol, divisor.value) if named else divisor.value
    adds = {rank: term / whole for rank, term in terms.items()}
    return Steps(total(terms.values()) / whole, columns, adds, divisor=divisor, **others)


@dataclass(frozen=True, eq=False)
class Listing:
    """The rankings of one query, and the ranks that are shown."""

    rankings: Rankings
    measure: Measure
    ranks: tuple[int, ...] = field(default=())

    @cached_property
    def hits(self) -> list[tuple[int, float]]:
        """Rank and grade of every retrieved item that is in the pool."""
        return list(
            zip(self.rankings.hit_rank.tolist(), self.rankings.hit_grade.tolist(), strict=True)
        )

    @cached_property
    def grades(self) -> dict[int, float]:
        return dict(self.hits)

    @cached_property
    def pool(self) -> list[float]:
        """All grades there are, the best first."""
        return list(self.rankings.pool_grade.tolist())

    @property
    def retrieved(self) -> int:
        return int(self.rankings.retrieved[0])

    @property
    def collection(self) -> int:
        assert self.rankings.collection is not None  # the measure itself has asked for it before
        return int(self.rankings.collection[0])

    def relevant(self, rel: float) -> int:
        return sum(grade >= rel for grade in self.pool)

    def cutoff(self, k: Cutoff, rel: float) -> float:
        return self.relevant(rel) if k == "R" else inf if k is None else k

    def shown(self, k: Cutoff, rel: float) -> int:
        return int(min(self.retrieved, self.cutoff(k, rel)))

    def found(self, end: float, rel: float) -> list[int]:
        """Ranks of the relevant items down to some rank."""
        return [rank for rank, grade in self.hits if grade >= rel and rank <= end]

    def column(self, name: str, cell: Callable[[int], Cell], end: float = inf) -> Column:
        """A column with a cell for each shown rank that counts."""
        return Column(name, tuple(cell(rank) if rank <= end else None for rank in self.ranks))

    def counter(self, rel: float) -> Callable[[int], int]:
        """How many relevant items stand at or above a rank."""
        ranks = self.found(inf, rel)
        return lambda rank: bisect_right(ranks, rank)

    def describe(self, name: str) -> str:
        """What the value of a parameter means."""
        return self.measure.spec.param(name).describe(self.measure.params[name])


def shown_ranks(r: Rankings, rel: float, end: float, rows: int | None) -> tuple[int, ...]:
    """Return the ranks that fit: relevant items that count, then others from the top."""
    length = int(r.retrieved[0])
    if rows is None or length <= rows:
        return tuple(range(1, length + 1))
    chosen = r.hit_rank[(r.hit_grade >= rel) & (r.hit_rank <= end)].tolist()[:rows]
    taken = set(chosen)
    others = (rank for rank in range(1, length + 1) if rank not in taken)
    while len(chosen) < rows:
        chosen.append(next(others))
    return tuple(sorted(chosen))
