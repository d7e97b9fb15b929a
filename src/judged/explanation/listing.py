"""One query's list as steps read it, the steps of a measure, and their registry."""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import inf
from typing import Any

import numpy as np

from judged.errors import MeasureError
from judged.explanation.arithmetic import Expression, Named, Number, total
from judged.measures import Measure
from judged.rankings.rankings import Cutoff, Rankings
from judged.text import plain

ANY = float(np.nextafter(0, 1))  # the lowest grade above 0

Cell = Expression | str | None
Column = tuple[str, tuple[Cell, ...]]
"""The name of a column of the table and its cells, one for each shown rank."""


@dataclass(frozen=True)
class RankRow:
    """One rank of the list."""

    rank: int  # from 1
    item: str | None  # its id; None if the input has no ids
    grade: float | None  # None if unjudged
    relevant: bool  # whether the measure counts it as relevant, or gains something from it
    counts: bool  # whether it is at or above the cutoff


def threshold(measure: Measure) -> float:
    """Return the lowest grade that a measure counts as relevant, or gains something from."""
    params = measure.params
    if "rel" in params:
        return float(params["rel"])
    return float(np.nextafter(params["min_rel"], inf)) if "min_rel" in params else ANY


def cell_text(cell: Cell) -> str:
    """Return a cell as text: a short fraction with its value, such as 1/2 = 0.5."""
    if not isinstance(cell, Expression):
        return cell or ""
    texts = cell.stages()
    fraction = len(texts) > 1 and len(texts[0]) <= 9 and "/" in texts[0] and " " not in texts[0]
    return f"{texts[0]} = {texts[-1]}" if fraction and texts[0] != texts[-1] else texts[-1]


@dataclass(frozen=True)
class Equation:
    """A number on the way to the value: its symbol, its calculation, and why."""

    symbol: str
    value: Expression
    says: str = ""

    @property
    def text(self) -> str:
        """The whole line: the symbol, the calculation step by step, the value."""
        return " = ".join([self.symbol, *self.value.stages()])

    def to_dict(self) -> dict[str, Any]:
        return {
            "symbol": self.symbol,
            "text": self.text,
            "stages": self.value.stages(),
            "value": plain(self.value.value),
            "says": self.says,
            "latex": self.value.latex(),
        }


def named(*equations: Equation) -> list[Expression]:
    """Return results of equations by their symbols, for the calculation that uses them."""
    return [Named(equation.symbol, equation.value) for equation in equations]


def all_items(number: int, found: int, what: str = "relevant items of the query") -> Equation:
    """Return the number of all items of a kind as a divisor, with how many were retrieved."""
    return Equation("R", Number(number), f"all {what}, {found} of them in the list")


@dataclass(frozen=True)
class Cumulated:
    """Gains that add up down the list, and down the ideal one."""

    name: str  # of their sum
    gains: Mapping[int, Expression]  # the gain of each rank that gains something, undiscounted
    terms: Mapping[int, Expression]  # the discounted gain of each of these ranks
    ideal: tuple[float, ...] = ()  # what each rank of the ideal list adds; empty if none is ideal
    ideal_name: str = ""  # of the sum of the ideal list


@dataclass(frozen=True)
class Steps:
    """The calculation of one value."""

    value: Expression
    columns: tuple[Column, ...] = ()
    adds: dict[int, Expression] | None = None
    """The part of the value that each rank adds; None if the value is not a sum over ranks."""
    before: tuple[Equation, ...] = ()  # intermediate results
    divisor: Equation | None = None
    says: str = ""  # a sentence about this list, if the arithmetic does not show it
    end: float = inf  # the last rank that counts
    bars: tuple[tuple[int, float], ...] | None = None
    """For areas under the precision-recall curve: rank and height of each bar of width 1/divisor.
    """
    cumulated: Cumulated | None = None  # for measures of gain


def divided(
    terms: Mapping[int, Expression],
    divisor: Equation,
    columns: tuple[Column, ...] = (),
    *,
    by_symbol: bool = False,
    **others: Any,
) -> Steps:
    """Return a sum of a term per rank, divided; `by_symbol` writes the divisor as its symbol."""
    whole = Named(divisor.symbol, divisor.value) if by_symbol else divisor.value
    adds = {rank: term / whole for rank, term in terms.items()}
    return Steps(total(terms.values()) / whole, columns, adds, divisor=divisor, **others)


@dataclass(frozen=True, eq=False)
class Listing:
    """The rankings of one query, and the ranks that are shown."""

    rankings: Rankings
    measure: Measure
    ranks: tuple[int, ...] = ()

    @cached_property
    def hits(self) -> list[tuple[int, float]]:
        """Rank and grade of every judged result."""
        return list(
            zip(self.rankings.hit_rank.tolist(), self.rankings.hit_grade.tolist(), strict=True)
        )

    @cached_property
    def grades(self) -> dict[int, float]:
        return dict(self.hits)

    @cached_property
    def pool(self) -> list[float]:
        """All grades of the query, best first."""
        return list(self.rankings.pool_grade.tolist())

    def all_relevant(self, rel: float) -> Equation:
        return Equation("N", Number(self.relevant(rel)), "all relevant items of the query")

    @property
    def retrieved(self) -> int:
        return int(self.rankings.retrieved[0])

    @property
    def collection(self) -> int:
        assert self.rankings.collection is not None  # the measure itself needed it before
        return int(self.rankings.collection[0])

    def relevant(self, rel: float) -> int:
        return sum(grade >= rel for grade in self.pool)

    def cutoff(self, k: Cutoff, rel: float) -> float:
        return self.relevant(rel) if k == "R" else inf if k is None else k

    def shown(self, k: Cutoff, rel: float) -> int:
        return int(min(self.retrieved, self.cutoff(k, rel)))

    def found(self, end: float, rel: float) -> list[int]:
        """Return the ranks of the relevant items down to some rank."""
        return [rank for rank, grade in self.hits if grade >= rel and rank <= end]

    def column(self, name: str, cell: Callable[[int], Cell], end: float = inf) -> Column:
        """Return a column with a cell for each shown rank that counts."""
        return name, tuple(cell(rank) if rank <= end else None for rank in self.ranks)

    def counter(self, rel: float) -> Callable[[int], int]:
        """Return a function that counts the relevant items at or above a rank."""
        ranks = self.found(inf, rel)
        return lambda rank: bisect_right(ranks, rank)

    def sum_to(self, terms: Mapping[int, Expression]) -> Callable[[int], Number]:
        """Return a function that sums the terms of the ranks at or above a rank."""
        ranks = sorted(terms)
        sums = [0.0, *accumulate(terms[rank].value for rank in ranks)]
        return lambda rank: Number(sums[bisect_right(ranks, rank)])

    def describe(self, name: str) -> str:
        """Return what the value of a parameter means."""
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


# -- the registry

STEPS: dict[str, Callable[..., Steps]] = {}
"""(listing, **parameters) -> steps by measure, for queries in which the measure is defined."""


def steps(*names: str) -> Callable[[Callable[..., Steps]], Callable[..., Steps]]:
    """Declare the steps of some measures."""

    def register(function: Callable[..., Steps]) -> Callable[..., Steps]:
        STEPS.update(dict.fromkeys(names, function))
        return function

    return register


def steps_of(listing: Listing) -> Steps:
    """Return the calculation of a listing's measure."""
    name = listing.measure.spec.name
    if name not in STEPS:
        raise MeasureError(
            f"{name} declares no steps, so it cannot be explained; declare them as the files in "
            "judged.explanation.steps do."
        )
    taken = inspect.signature(STEPS[name]).parameters
    params = {key: value for key, value in listing.measure.params.items() if key in taken}
    return STEPS[name](listing, **params)
