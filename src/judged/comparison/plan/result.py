"""A plan as sentences that somebody without statistics understands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from judged.comparison.plan.pilot import Pilot
from judged.comparison.plan.power import MOST, Simulation, Terms
from judged.comparison.wording import percent_of
from judged.options import checked_methods
from judged.results import Part, Result, Table
from judged.text import Best, Dim, Warned, counted, plain

if TYPE_CHECKING:
    import polars as pl

    from judged.comparison.plan.pilot import Pilot


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

        return [*assumptions(self), *definitions(self)]

    def _brief(self) -> list[str]:

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
                ranged(row.queries, shown_number),
                *([ranged(row.equivalence, shown_number)] if row.equivalence else []),
                ranged(row.power, share),
            ]
            rows.append([Best(cell) for cell in cells] if row.asked else cells)
        return [(header, rows)]


def _all(answer: Answer | None) -> Sequence[float | None]:
    """Value and ends for a table of numbers; none of them infinite."""
    known = () if answer is None else (answer.value, answer.low, answer.high)
    finite = [None if each is None or math.isinf(each) else each for each in known]
    return finite or [None] * 3


APART = 0.02
"""A simulated power that is further from the planned one than this, and for sure, is a warning."""


def size(value: float | None) -> str:
    """A difference with three digits.

    >>> size(0.0198765), size(-12.345), size(math.inf), size(0.0)
    ('0.0199', '−12.3', '∞', '0')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{float(f'{value:.3g}'):,.12g}".replace("-", "−", 1)


def share(value: float | None) -> str:
    """A power with two decimals, which is neither 0 nor 1.

    >>> share(0.8), share(0.9999), share(0.001)
    ('0.80', '>0.99', '<0.01')
    """
    if value is None or math.isnan(value):
        return "–"
    return "<0.01" if value < 0.005 else ">0.99" if value > 0.995 else f"{value:.2f}"


def effect(value: float) -> str:
    """A difference in standard deviations, with two decimals where these say something.

    >>> effect(0.2), effect(-0.1), effect(0.0), effect(0.0012)
    ('0.20', '−0.10', '0.00', '0.0012')
    """
    if value == 0 or 0.005 <= abs(value) < MOST:
        return f"{value:.2f}".replace("-", "−")
    return size(value)


def shown_number(value: float | None) -> str:
    """A number of queries.

    >>> shown_number(1234), shown_number(math.inf), shown_number(None)
    ('1,234', 'over 1,000,000,000', 'never')
    """
    if value is None:
        return "never"
    return f"over {MOST:,}" if math.isinf(value) else f"{value:,.0f}"


def asked(value: float) -> str:
    """A number as somebody gave it."""
    return f"{value:.10g}".replace("-", "−", 1)


def wanted(power: float) -> str:
    """A power as somebody asked for it, with two decimals or more.

    >>> wanted(0.8), wanted(0.995), wanted(0.999999)
    ('0.80', '0.995', '0.999999')
    """
    short = f"{power:.2f}"
    return short if float(short) == power else asked(power)


def ranged(answer: Answer, words: Callable[[float | None], str]) -> str:
    """A value with its ends in words, where it has some."""
    said = words(answer.value)
    if answer.low is None:
        return said
    return f"{said} ({words(answer.low)} to {words(answer.high)})"


def answers(plan: Plan) -> list[str]:
    """The answer first, then what goes with it."""
    found = {"queries": _queries, "power": _power, "difference": _difference}[plan.solved](plan)
    if plan.terms.margin is not None:
        found.append(_equivalence(plan))
    if plan.asked_half_width is None:
        found.append(f"The interval of a difference is then about ±{size(plan.half_width)} wide.")
    if plan.simulation is not None:
        found.append(_simulated(plan))
    return found


def _queries(plan: Plan) -> list[str]:
    found = []
    if plan.for_difference is not None:
        need = f"You need {_counted(plan.for_difference)}"
        with_power = f"with power {wanted(plan.wanted_power)}"
        if plan.terms.margin is None:
            assert plan.difference is not None
            what = f"to see a difference of {asked(plan.difference)} {with_power}"
        else:
            what = f"to show, {with_power}, that {_truth(plan)} is {_no_worse(plan)}"
        found.append(f"{need} {what}.")
    if plan.for_half_width is not None:
        assert plan.asked_half_width is not None
        also = "You need" if not found else "You need at least"
        found.append(
            f"{also} {_counted(plan.for_half_width)} for intervals of a difference of at most "
            f"±{asked(plan.asked_half_width)}."
        )
    if plan.difference is None:
        seen = plan.rows[len(plan.rows) // 2].difference
        power = wanted(plan.wanted_power)
        found.append(f"They see a difference of {size(seen)} or more with power {power}.")
    if plan.for_difference is not None and plan.for_half_width is not None:
        found.append(f"Both take {_counted(plan.answer)}.")
    return found


def _power(plan: Plan) -> list[str]:
    said = f"With {counted(plan.queries, 'query', 'queries')}"
    power = ranged(plan.answer, share)
    if plan.terms.margin is not None:
        return [f"{said}, {_truth(plan)} is shown, with power {power}, to be {_no_worse(plan)}."]
    assert plan.difference is not None
    return [f"{said}, a difference of {asked(plan.difference)} is seen with power {power}."]


def _difference(plan: Plan) -> list[str]:
    return [
        f"{counted(plan.queries, 'query sees', 'queries see')} a difference of "
        f"{ranged(plan.answer, size)} or more with power {wanted(plan.wanted_power)}."
    ]


def _truth(plan: Plan) -> str:
    """The system as it truly is, which is to be shown to keep a margin."""
    by = plan.difference or 0.0
    if by == 0:
        return "a system that is as good"
    return f"a system that is {'better' if by > 0 else 'worse'} by {asked(abs(by))}"


def _no_worse(plan: Plan) -> str:
    return f"no worse by {asked(plan.terms.margin or 0.0)} or more"


def _equivalence(plan: Plan) -> str:
    found, margin = plan.equivalence, asked(plan.terms.margin or 0.0)
    called = f"To be called equivalent within ±{margin}, by both sides"
    if found is None or found.value is None:
        return f"It cannot be called equivalent within ±{margin}, for it is not."
    if plan.solved == "power":
        return f"{called}, it has power {ranged(found, share)}."
    return f"{called}, takes {_counted(found)}."


def _counted(answer: Answer) -> str:
    ends = (
        ""
        if answer.low is None
        else f" ({shown_number(answer.low)} to {shown_number(answer.high)})"
    )
    return f"{shown_number(answer.value)} queries{ends}"


def _simulated(plan: Plan) -> str:
    found = plan.simulation
    assert found is not None
    what = "the margin was kept" if plan.terms.margin is not None else "the difference was shown"
    power, alarms = found.power, found.false_alarms
    none = (
        "without any difference, one was shown"
        if plan.terms.margin is None
        else "of a system that is worse by the margin, it was shown"
    )
    return (
        f"Of {found.draws:,} samples drawn from the pilot's differences, {what} in "
        f"{power.value:.1%} ({power.low:.1%} to {power.high:.1%}), where t says "
        f"{plan.power:.1%}; {none} in {alarms.value:.1%}."
    ).replace("%", " %")


def about_simulation(plan: Plan) -> list[Warned]:
    """A warning where samples do not bear out what t says."""
    found = plan.simulation
    if found is None:
        return []
    said = []
    power = found.power
    if not power.low <= plan.power <= power.high and abs(power.value - plan.power) > APART:
        less = "less" if power.value < plan.power else "more"
        said.append(
            Warned(
                f"samples of the pilot's differences show it {less} often than t says, for these "
                "differences are far from normal; go by the samples."
            )
        )
    alarm = (1 - plan.terms.level) / plan.terms.comparisons
    if found.false_alarms.low > alarm * 1.2:
        said.append(
            Warned(
                f"samples without what is to be shown show it in {found.false_alarms.value:.1%}, "
                f"more often than the {alarm:.1%} that the level allows; take more "
                "queries.".replace("%", " %")
            )
        )
    return said


def assumptions(plan: Plan) -> list[str]:
    """What the answer stands on."""
    pilot = plan.pilot
    found = [
        f"Differences of queries are taken to spread by {asked(plan.sd)} (standard deviation)."
        if pilot is None
        else _spread(plan, pilot)
    ]
    if pilot is not None and pilot.grouped:
        found.append(_groups(plan, pilot))
    elif plan.terms.per_unit != 1:
        weighted = 1.0 if pilot is None else pilot.per_unit
        effect = plan.terms.per_unit / weighted
        causes = [
            *([f"A design effect of {asked(effect)}"] if effect != 1 else []),
            *(["Weights as uneven as the pilot's"] if weighted != 1 else []),
        ]
        found.append(
            f"{' and '.join(causes)}: {plan.queries:,} queries count as {plan.units:,.0f} "
            "independent ones."
        )
    return [*found, _test(plan)]


def _spread(plan: Plan, pilot: Pilot) -> str:
    low, high = pilot.interval(plan.terms.level)
    pair = "" if pilot.run is None else f"{pilot.measure}, {pilot.run} against {pilot.against}: "
    weighed = ", each by its weight," if pilot.weighted else ""
    most = f"; of {pilot.pairs:,} pairs this one spreads most" if pilot.pairs > 1 else ""
    return (
        f"{pair}differences of {counted(pilot.units, *pilot.unit)}{weighed} spread by "
        f"{size(pilot.sd)} "
        f"({size(low)} to {size(high)} at {percent_of(plan.terms.level)}), which makes the answer "
        f"a range{most}."
    )


def _groups(plan: Plan, pilot: Pilot) -> str:
    effect = pilot.design_effect
    correlated = (
        "" if pilot.correlation is None else f" (intraclass correlation {pilot.correlation:.2f})"
    )
    # A design effect below 1 is mostly chance: queries never count as more than they are.
    counting = (
        f"they count as {pilot.queries / effect:,.0f} independent ones"
        if effect > 1
        else "queries of a group are no more alike than others"
    )
    per_group = pilot.queries / pilot.units
    groups = plan.queries / per_group
    return (
        f"{pilot.queries:,} queries in {pilot.units:,} groups have a design effect of "
        f"{effect:.2f}{correlated}: {counting}. "
        f"The plan is for {groups:,.{0 if groups.is_integer() else 1}f} groups of "
        f"{size(per_group)} queries on average{_evenly(pilot)}."
    )


def _evenly(pilot: Pilot) -> str:
    """How many groups of equal size those of uneven size are worth."""
    if pilot.effective_units is None:
        return ""
    return (
        f", as uneven in size as the pilot's, whose {pilot.units:,} count as "
        f"{pilot.effective:,.1f} of equal size"
    )


def _test(plan: Plan) -> str:
    terms = plan.terms
    sides = (
        "two-sided"
        if terms.margin is None
        else "one-sided for the margin, as the rule safe of judged gate; equivalent is both sides, "
        "as in judged compare"
    )
    said = f"test: paired t, {sides}; level {percent_of(terms.level)}"
    if terms.comparisons > 1:
        alone = (1 - terms.level) / terms.comparisons
        said += (
            f"; {terms.comparisons:,} comparisons: each counts where p is below {alone:.2g} "
            "(Bonferroni, the first step of Holm, so later steps see more)"
        )
    return f"{said}."


def definitions(plan: Plan) -> list[str]:
    """The formulas, and what a plan does not say."""
    terms = plan.terms
    away = "|difference|" if terms.margin is None else "(difference + margin)"
    found = [
        f"Power: how often the noncentral t with n − 1 degrees of freedom and noncentrality "
        f"{away}·√n/sd is beyond the critical value; n is the smallest number that reaches it, and "
        f"at least {terms.floor}, for judged compare says nothing of fewer.",
        "Half-width: t·sd/√n with the two-sided quantile of the level, whatever the number of "
        "comparisons; about half of all samples come out a little wider.",
    ]
    if plan.pilot is not None:
        found.append(
            f"The interval of the sd: a chi-square with {plan.pilot.freedom:,.1f} degrees of "
            f"freedom, which are n − 1 = {round(plan.pilot.effective - 1, 1):,.9g} or fewer where "
            "differences have long tails (by their kurtosis)."
        )
    if terms.margin is not None:
        found.append(
            "Equivalent: both one-sided tests hold at once, corrected for the number of "
            "comparisons as in judged compare."
        )
    if plan.simulation is not None:
        found.append(
            "Samples: as many differences as the plan has, drawn with replacement from the "
            "pilot's, centred, with the pilot's standard deviation, the true difference added; "
            f"seed {plan.simulation.seed}."
        )
    found.append(
        "It holds for queries that are drawn as these were, and for systems whose differences "
        "spread alike. It does not say that there is a difference, nor which size matters."
    )
    return found
