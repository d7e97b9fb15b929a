"""Plan: how many queries a difference takes, or what can be seen with those there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judged.comparison.plan.pilot import Pilot
from judged.comparison.plan.simulation import Simulation
from judged.comparison.plan.terms import Terms
from judged.options import checked_methods
from judged.results import Part, Result, Table
from judged.text import Best, Dim, plain

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Answer:
    """What was worked out, and between which ends it lies where the pilot's spread is at those of
    its own interval. A number of queries is infinite where it is more than anybody asks for; None
    is for what cannot be, and ends are None where there is no pilot."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {"value": plain(self.value), "low": plain(self.low), "high": plain(self.high)}


@dataclass(frozen=True)
class Row:
    """One difference of the table: how many queries it takes, and its power with those of the
    plan; with a margin, for a system that truly differs by so much."""

    difference: float
    effect: float
    """In standard deviations."""
    queries: Answer
    power: Answer
    equivalence: Answer | None = None
    """With a margin: how many queries it takes to be called equivalent."""
    asked: bool = False
    """Whether it is the difference of the plan itself."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "difference": plain(self.difference),
            "effect": plain(self.effect),
            "queries": self.queries.to_dict(),
            "power": self.power.to_dict(),
            "equivalence": None if self.equivalence is None else self.equivalence.to_dict(),
            "asked": self.asked,
        }


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """What `plan` returns: queries, power and difference, one of them from the others.

    >>> from judged import plan
    >>> plan(difference=0.02, sd=0.1).queries
    199
    """

    BETWEEN: ClassVar[str] = "\n\n"

    solved: str
    """What was worked out: queries, power or difference."""
    difference: float | None
    """The true difference that is to be seen; None where only a half-width was asked for."""
    queries: int
    """How many queries there are, or have to be."""
    power: float
    """How often the difference is shown."""
    half_width: float
    """How far the ends of the interval of a difference are from it, with so many queries."""
    asked_half_width: float | None
    """How far they may be, where that was asked for."""
    sd: float
    """The standard deviation of the differences of queries; of groups, where the pilot has some."""
    terms: Terms
    """The level, the number of comparisons, the margin, and how many queries count as one."""
    answer: Answer
    """What was worked out, with its ends where the sd comes from a pilot."""
    for_difference: Answer | None
    """How many queries the difference, or the margin, takes alone, where that was worked out."""
    for_half_width: Answer | None
    """How many queries the half-width takes alone, where one was asked for."""
    equivalence: Answer | None
    """With a margin: how many queries it takes to be called equivalent, or its power."""
    rows: tuple[Row, ...]
    """Some differences."""
    wanted_power: float
    """The power that numbers of queries in the table are for."""
    pilot: Pilot | None = None
    """Where the sd comes from, if it was not given."""
    simulation: Simulation | None = None
    """What samples of the pilot's differences showed, where they were drawn."""
    notes: tuple[str, ...] = ()
    """What was noticed on the way."""

    @property
    def units(self) -> float:
        """How many independent queries, or groups, the queries count as."""
        return self.queries / self.terms.per_unit

    @property
    def sd_interval(self) -> tuple[float, float] | None:
        """Where the true standard deviation lies, by the pilot; None where it was given."""
        return None if self.pilot is None else self.pilot.interval(self.terms.level)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> from judged import plan
        >>> plan(difference=0.02, sd=0.1).to_dict()["queries"]
        199
        """
        interval = self.sd_interval
        terms = self.terms
        return {
            "what": "plan",
            "solved": self.solved,
            "difference": plain(self.difference),
            "queries": self.queries,
            "units": plain(self.units),
            "per_unit": plain(terms.per_unit),
            "power": plain(self.power),
            "wanted_power": plain(self.wanted_power),
            "half_width": plain(self.half_width),
            "asked_half_width": plain(self.asked_half_width),
            "sd": plain(self.sd),
            "sd_low": None if interval is None else plain(interval[0]),
            "sd_high": None if interval is None else plain(interval[1]),
            "level": terms.level,
            "comparisons": terms.comparisons,
            "tested_level": terms.tested_level,
            "margin": terms.margin,
            "sides": terms.sides,
            "answer": self.answer.to_dict(),
            **{
                name: None if (found := getattr(self, name)) is None else found.to_dict()
                for name in ("for_difference", "for_half_width", "equivalence", "simulation")
            },
            "differences": [row.to_dict() for row in self.rows],
            "pilot": None if self.pilot is None else self.pilot.to_dict(terms.level),
            "says": self.says(),
            "notes": [str(note) for note in self.notes],
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per difference: how many queries it takes, and its power with those of the plan.

        Returns
        -------
        polars.DataFrame

        >>> from judged import plan
        >>> plan(difference=0.02, sd=0.1).to_frame()["queries"].to_list()
        [787, 351, 199, 90, 52]
        """
        import polars as pl

        whole = ("queries", "queries_low", "queries_high")
        shares = ("power", "power_low", "power_high")
        again = ("equivalence", "equivalence_low", "equivalence_high")
        schema: dict[str, Any] = {
            **dict.fromkeys(("difference", "effect"), pl.Float64),
            **dict.fromkeys(whole, pl.Int64),
            **dict.fromkeys(shares, pl.Float64),
            **dict.fromkeys(again, pl.Int64),
            "asked": pl.Boolean,
        }
        rows = [
            (row.difference, row.effect, *_all(row.queries), *_all(row.power),
             *_all(row.equivalence), row.asked)
            for row in self.rows
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=schema, orient="row")

    def says(self) -> list[str]:
        """The answer, in words.

        Returns
        -------
        list of str

        >>> from judged import plan
        >>> plan(difference=0.02, sd=0.1).says()[0]
        'You need 199 queries to see a difference of 0.02 with power 0.80.'
        """
        from judged.comparison.plan.sentences import answers

        return answers(self)

    def sentences(self) -> list[str]:
        """What could mislead, the answer, and what it was worked out under.

        Returns
        -------
        list of str

        >>> from judged import plan
        >>> plan(difference=0.02, sd=0.1).sentences()[0]
        'You need 199 queries to see a difference of 0.02 with power 0.80.'
        """
        from judged.comparison.plan.sentences import assumptions, definitions

        return [*self._warned(), *self.says(), *assumptions(self), *definitions(self)]

    def parts(self, *, verbose: bool = False, quiet: bool = False) -> list[Part]:
        """What people see, in order: the answer, the table, the warnings, and what was assumed.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences stand there.
        quiet : bool, optional
            Whether the table stands alone.

        Returns
        -------
        list of str or (header, rows)

        >>> from judged import plan
        >>> plan(difference=0.02, sd=0.1).parts()[0]
        'You need 199 queries to see a difference of 0.02 with power 0.80.'
        """
        numbers: list[Part] = [*self.tables()]
        if not quiet:
            numbers = [*self.says(), "", *numbers]
        warned = [] if quiet else self._warned()
        return self._parts(numbers, warned, verbose=verbose, quiet=quiet)

    def _said(self) -> list[str]:
        from judged.comparison.plan.sentences import assumptions, definitions

        return [*assumptions(self), *definitions(self)]

    def _brief(self) -> list[str]:
        from judged.comparison.plan.sentences import assumptions

        return [*assumptions(self), Dim("formulas and what it does not say: verbose (-v)")]

    def _answer(self) -> list[str]:
        return list(self.says())

    def tables(self) -> list[Table]:
        """The table that people see.

        Returns
        -------
        list of (header, rows)

        >>> from judged import plan
        >>> plan(difference=0.02, sd=0.1).tables()[0][1][2]
        ['0.02', '0.20', '199', '0.80']
        """
        from judged.comparison.plan.sentences import effect, number, ranged, share, size, wanted

        of_margin = self.terms.margin is not None
        grouped = self.pilot is not None and self.pilot.grouped
        header = [
            "true difference" if of_margin else "difference",
            "d_z of groups" if grouped else "d_z",
            f"queries for {wanted(self.wanted_power)}",
            *(["to be equivalent"] if of_margin else []),
            f"power with {self.queries:,}",
        ]
        rows = []
        for row in self.rows:
            cells = [
                size(row.difference),
                effect(row.effect),
                ranged(row.queries, number),
                *([ranged(row.equivalence, number)] if row.equivalence else []),
                ranged(row.power, share),
            ]
            rows.append([Best(cell) for cell in cells] if row.asked else cells)
        return [(header, rows)]


def _all(answer: Answer | None) -> Sequence[float | None]:
    """Value and ends for a table of numbers; none of them infinite."""
    known = () if answer is None else (answer.value, answer.low, answer.high)
    finite = [None if each is None or math.isinf(each) else each for each in known]
    return finite or [None] * 3
