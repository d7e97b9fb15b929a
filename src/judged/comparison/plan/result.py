"""Plan: how many queries a difference needs, or what the queries can detect."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from judged.comparison.plan.pilot import Pilot
from judged.comparison.plan.power import MAX_QUERIES, PowerAnalysis, Simulation
from judged.comparison.wording import percent_of
from judged.results import Display, Document, Frame, Result, ResultPart, Table, plain_value
from judged.text import Best, Dim, Warned, counted

LARGEST_DEVIATION = 0.02
"""A simulated power that differs from the planned one by more than this is a warning."""


@dataclass(frozen=True)
class Estimate(ResultPart):
    """A computed value, with its range if the standard deviation comes from a pilot.

    A number of queries is infinite if it is too large; a value is None if it is impossible.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class PlanRow(ResultPart):
    """One difference of the table: the queries it needs, and its power with those of the plan."""

    difference: float
    effect: float
    """The difference in standard deviations."""
    queries: Estimate
    power: Estimate
    equivalence: Estimate | None = None
    """With a margin: queries needed for equivalence."""
    asked: bool = False
    """True if it is the difference of the plan."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """Result of `plan`: queries, power and difference, one of them from the others.

    >>> from judged import plan
    >>> plan(difference=0.02, sd=0.1).queries
    199
    """

    solved: str
    """Name of what was computed: queries, power or difference."""
    difference: float | None
    """The true difference to detect; None if only a half-width is wanted."""
    queries: int
    power: float
    """Probability of detecting the difference."""
    half_width: float
    """Half-width of the confidence interval of a difference, with this number of queries."""
    asked_half_width: float | None
    sd: float
    """Standard deviation of the differences of queries, or of groups."""
    analysis: PowerAnalysis
    """Confidence level, number of comparisons, margin, and queries per unit."""
    answer: Estimate
    """The computed value, with its range if there is a pilot."""
    for_difference: Estimate | None
    """Queries that the difference, or the margin, needs."""
    for_half_width: Estimate | None
    """Queries that the half-width needs."""
    equivalence: Estimate | None
    """With a margin: queries needed for equivalence, or its power."""
    rows: tuple[PlanRow, ...]
    planned_difference: float
    """The difference to detect, or the smallest that these queries detect."""
    wanted_power: float
    """Power that numbers of queries in the table are for."""
    pilot: Pilot | None = None
    simulation: Simulation | None = None
    notes: tuple[str, ...] = ()

    @property
    def units(self) -> float:
        """Number of independent queries, or groups."""
        return self.queries / self.analysis.per_unit

    @property
    def sd_interval(self) -> tuple[float, float] | None:
        """Confidence interval of the standard deviation; None without a pilot."""
        return None if self.pilot is None else self.pilot.interval(self.analysis.level)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        >>> from judged import plan
        >>> plan(difference=0.02, sd=0.1).to_dict()["queries"]
        199
        """
        low, high = self.sd_interval or (None, None)
        analysis = self.analysis
        values = {
            "what": "plan",
            "solved": self.solved,
            "difference": self.difference,
            "queries": self.queries,
            "units": self.units,
            "per_unit": analysis.per_unit,
            "power": self.power,
            "wanted_power": self.wanted_power,
            "half_width": self.half_width,
            "asked_half_width": self.asked_half_width,
            "sd": self.sd,
            "sd_low": low,
            "sd_high": high,
            "level": analysis.level,
            "comparisons": analysis.comparisons,
            "tested_level": analysis.tested_level,
            "margin": analysis.margin,
            "sides": analysis.sides,
            "answer": self.answer,
            "for_difference": self.for_difference,
            "for_half_width": self.for_half_width,
            "equivalence": self.equivalence,
            "simulation": self.simulation,
            "differences": self.rows,
            "pilot": None if self.pilot is None else self.pilot.to_dict(analysis.level),
            "says": self.says(),
            "notes": [str(note) for note in self.notes],
        }
        return {name: plain_value(value) for name, value in values.items()}

    def to_frame(self) -> Frame:
        """Return a row for each difference: the queries it needs, and its power.

        >>> from judged import plan
        >>> plan(difference=0.02, sd=0.1).to_frame()["queries"].to_list()
        [787, 351, 199, 90, 52]
        """
        import polars as pl

        kinds: dict[str, Any] = {"queries": pl.Int64, "power": pl.Float64, "equivalence": pl.Int64}
        schema: dict[str, Any] = {"difference": pl.Float64, "effect": pl.Float64}
        for name, kind in kinds.items():
            schema |= dict.fromkeys((name, f"{name}_low", f"{name}_high"), kind)
        rows = []
        for row in self.rows:
            estimates = [row.queries, row.power, row.equivalence or Estimate(None)]
            ends = [end for known in estimates for end in (known.value, known.low, known.high)]
            finite = (None if end is None or math.isinf(end) else end for end in ends)
            rows.append((row.difference, row.effect, *finite, row.asked))
        return pl.DataFrame(rows, schema={**schema, "asked": pl.Boolean}, orient="row")

    def says(self) -> list[str]:
        """Return the answer in words.

        >>> from judged import plan
        >>> plan(difference=0.02, sd=0.1).says()[0]
        'You need 199 queries to detect a difference of 0.02 with 80 % power.'
        """
        sentences = {"queries": _queries, "power": _power, "difference": _difference}[self.solved](
            self
        )
        if self.analysis.margin is not None:
            sentences.append(_equivalence(self))
        if self.asked_half_width is None:
            sentences.append(
                f"The confidence interval of a difference is then about ±{size(self.half_width)}."
            )
        if self.simulation is not None:
            sentences.append(_simulated(self, self.simulation))
        return sentences

    def document(self, display: Display) -> Document:
        return Document(
            answer=() if display.quiet else self.says(),
            tables=[self._table()],
            warnings=[note for note in self.notes if isinstance(note, Warned)],
            notes=[*_assumptions(self), Dim("formulas and limits: verbose (-v)")],
            details=_definitions(self),
        )

    def _table(self) -> Table:
        with_margin = self.analysis.margin is not None
        grouped = self.pilot is not None and self.pilot.grouped
        header = [
            "true difference" if with_margin else "difference",
            "d_z of groups" if grouped else "d_z",
            f"queries for {percent_of(self.wanted_power)} power",
            *(["for equivalence"] if with_margin else []),
            f"power with {self.queries:,}",
        ]
        rows = []
        for row in self.rows:
            cells = [
                size(row.difference),
                _effect(row.effect),
                _ranged(row.queries, shown_number),
                *([_ranged(row.equivalence, shown_number)] if row.equivalence else []),
                _ranged(row.power, share),
            ]
            rows.append([Best(cell) for cell in cells] if row.asked else cells)
        return Table(header, rows)


# -- numbers as text


def size(value: float | None) -> str:
    """Return a difference with three digits.

    >>> size(0.0198765), size(-12.345), size(math.inf), size(0.0)
    ('0.0199', '−12.3', '∞', '0')
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{float(f'{value:.3g}'):,.12g}".replace("-", "−", 1)


def share(value: float | None) -> str:
    """Return a power with two decimals, which is neither 0 nor 1.

    >>> share(0.8), share(0.9999), share(0.001)
    ('0.80', '>0.99', '<0.01')
    """
    if value is None or math.isnan(value):
        return "–"
    return "<0.01" if value < 0.005 else ">0.99" if value > 0.995 else f"{value:.2f}"


def shown_number(value: float | None) -> str:
    """Return a number of queries.

    >>> shown_number(1234), shown_number(math.inf), shown_number(None)
    ('1,234', 'over 1,000,000,000', 'never')
    """
    if value is None:
        return "never"
    return f"over {MAX_QUERIES:,}" if math.isinf(value) else f"{value:,.0f}"


def _effect(value: float) -> str:
    if value == 0 or 0.005 <= abs(value) < MAX_QUERIES:
        return f"{value:.2f}".replace("-", "−")
    return size(value)


def _as_given(value: float) -> str:
    return f"{value:.10g}".replace("-", "−", 1)


def _ranged(estimate: Estimate, words: Callable[[float | None], str]) -> str:
    value = words(estimate.value)
    if estimate.low is None:
        return value
    return f"{value} ({words(estimate.low)} to {words(estimate.high)})"


def _counted(estimate: Estimate) -> str:
    value, bracket, ends = _ranged(estimate, shown_number).partition(" (")
    return f"{value} queries{bracket}{ends}"


# -- sentences


def _queries(plan: Plan) -> list[str]:
    sentences = []
    power = f"with {percent_of(plan.wanted_power)} power"
    if plan.for_difference is not None:
        need = f"You need {_counted(plan.for_difference)}"
        if plan.analysis.margin is None:
            assert plan.difference is not None
            what = f"to detect a difference of {_as_given(plan.difference)} {power}"
        else:
            what = f"to show {power} that {_system(plan)} is {_no_worse(plan)}"
        sentences.append(f"{need} {what}.")
    if plan.for_half_width is not None:
        assert plan.asked_half_width is not None
        need = "You need at least" if sentences else "You need"
        sentences.append(
            f"{need} {_counted(plan.for_half_width)} for confidence intervals of at most "
            f"±{_as_given(plan.asked_half_width)}."
        )
    if plan.difference is None:
        detected = size(plan.planned_difference)
        sentences.append(f"They detect a difference of {detected} {power}.")
    if plan.for_difference is not None and plan.for_half_width is not None:
        sentences.append(f"Both need {_counted(plan.answer)}.")
    return sentences


def _power(plan: Plan) -> list[str]:
    queries = f"With {counted(plan.queries, 'query', 'queries')}"
    power = _ranged(plan.answer, share)
    if plan.analysis.margin is not None:
        shown = f"the power to show that {_system(plan)} is {_no_worse(plan)}"
        return [f"{queries}, {shown} is {power}."]
    assert plan.difference is not None
    return [
        f"{queries}, a difference of {_as_given(plan.difference)} is detected with power {power}."
    ]


def _difference(plan: Plan) -> list[str]:
    return [
        f"{counted(plan.queries, 'query detects', 'queries detect')} a difference of "
        f"{_ranged(plan.answer, size)} with {percent_of(plan.wanted_power)} power."
    ]


def _system(plan: Plan) -> str:
    by = plan.difference or 0.0
    if by == 0:
        return "an equally good system"
    return f"a system that is {'better' if by > 0 else 'worse'} by {_as_given(abs(by))}"


def _no_worse(plan: Plan) -> str:
    return f"not worse by {_as_given(plan.analysis.margin or 0.0)} or more"


def _equivalence(plan: Plan) -> str:
    estimate, margin = plan.equivalence, _as_given(plan.analysis.margin or 0.0)
    if estimate is None or estimate.value is None:
        return f"Equivalence within ±{margin} is impossible with this true difference."
    if plan.solved == "power":
        return f"The power to show equivalence within ±{margin} is {_ranged(estimate, share)}."
    return f"Equivalence within ±{margin} needs {_counted(estimate)}."


def _simulated(plan: Plan, simulation: Simulation) -> str:
    power, alarms = simulation.power, simulation.false_alarms
    what, none = "detected the difference", "without a difference"
    if plan.analysis.margin is not None:
        what, none = "showed non-inferiority", "for a system that is worse by the margin"
    return (
        f"Of {simulation.draws:,} samples of the pilot's differences, {power.value:.1%} "
        f"({power.low:.1%} to {power.high:.1%}) {what}, where t predicts {plan.power:.1%}; {none}, "
        f"{alarms.value:.1%} did."
    ).replace("%", " %")


def about_simulation(plan: Plan) -> list[Warned]:
    """Warn if samples contradict the t test."""
    simulation = plan.simulation
    if simulation is None:
        return []
    warnings = []
    power = simulation.power
    deviation = abs(power.value - plan.power)
    if not power.low <= plan.power <= power.high and deviation > LARGEST_DEVIATION:
        less = "less" if power.value < plan.power else "more"
        warnings.append(
            f"Samples of the pilot's differences have {less} power than t predicts, because these "
            "differences are far from normal. Use the power of the samples."
        )
    alarm = (1 - plan.analysis.level) / plan.analysis.comparisons
    if simulation.false_alarms.low > alarm * 1.2:
        warnings.append(
            f"{simulation.false_alarms.value:.1%} of samples are false alarms, more than the "
            f"{alarm:.1%} that the level allows. Take more queries.".replace("%", " %")
        )
    return [Warned(text) for text in warnings]


def _assumptions(plan: Plan) -> list[str]:
    pilot, analysis = plan.pilot, plan.analysis
    if pilot is None:
        sentences = [f"Assumed standard deviation of per-query differences: {_as_given(plan.sd)}."]
    else:
        sentences = [_pilot_sentence(plan, pilot)]
        if pilot.grouped:
            sentences.append(_groups_sentence(plan, pilot))
        elif analysis.per_unit != 1:
            sentences.append(
                f"With weights as uneven as the pilot's, {plan.queries:,} queries count as "
                f"{plan.units:,.0f} independent ones."
            )
    sides = "two-sided"
    if analysis.margin is not None:
        sides = "one-sided for the margin, two one-sided tests for equivalence"
    test = f"Test: paired t, {sides}; confidence level: {percent_of(analysis.level)}"
    if analysis.comparisons > 1:
        alone = (1 - analysis.level) / analysis.comparisons
        test += (
            f"; {analysis.comparisons:,} comparisons: each is significant if p is below "
            f"{alone:.2g} (Bonferroni, the first step of Holm)"
        )
    return [*sentences, f"{test}."]


def _pilot_sentence(plan: Plan, pilot: Pilot) -> str:
    low, high = pilot.interval(plan.analysis.level)
    pair = "" if pilot.run is None else f"{pilot.measure}, {pilot.run} against {pilot.against}: "
    weighted = " weighted" if pilot.weighted else ""
    most = f" Of {pilot.pairs:,} pairs, this one varies most." if pilot.pairs > 1 else ""
    return (
        f"{pair}the standard deviation of{weighted} differences of "
        f"{counted(pilot.units, *pilot.unit)} is {size(pilot.sd)} "
        f"({percent_of(plan.analysis.level)} CI {size(low)} to {size(high)}), which gives the "
        f"ranges.{most}"
    )


def _groups_sentence(plan: Plan, pilot: Pilot) -> str:
    effect, correlation = pilot.design_effect, pilot.correlation
    correlated = "" if correlation is None else f" (intraclass correlation {correlation:.2f})"
    # A design effect below 1 is mostly chance: queries never count as more than they are.
    counting = "queries of a group are no more alike than others"
    if effect > 1:
        counting = f"they count as {pilot.queries / effect:,.0f} independent ones"
    per_group = pilot.queries / pilot.units
    groups = plan.queries / per_group
    uneven = ""
    if pilot.effective_units is not None:
        uneven = (
            f", as uneven in size as the pilot's, whose {pilot.units:,} count as "
            f"{pilot.effective:,.1f} of equal size"
        )
    return (
        f"{pilot.queries:,} queries in {pilot.units:,} groups have a design effect of "
        f"{effect:.2f}{correlated}: {counting}. "
        f"The plan is for {groups:,.{0 if groups.is_integer() else 1}f} groups of "
        f"{size(per_group)} queries on average{uneven}."
    )


def _definitions(plan: Plan) -> list[str]:
    analysis = plan.analysis
    away = "|difference|" if analysis.margin is None else "(difference + margin)"
    sentences = [
        f"Power: the probability that the noncentral t with n − 1 degrees of freedom and "
        f"noncentrality {away}·√n/sd exceeds the critical value. n is the smallest number that "
        f"reaches it, and at least {analysis.floor}, which judged compare needs for a test.",
        "Half-width: t·sd/√n with the two-sided quantile of the level, for a single comparison; "
        "about half of all samples have slightly wider intervals.",
    ]
    if plan.pilot is not None:
        sentences.append(
            f"Interval of the sd: chi-square with {plan.pilot.freedom:,.1f} degrees of freedom, "
            f"which are n − 1 = {round(plan.pilot.effective - 1, 1):,.9g}, or fewer for "
            "differences with long tails (by their kurtosis)."
        )
    if analysis.margin is not None:
        sentences.append(
            "Equivalence: both one-sided tests are significant, corrected for the number of "
            "comparisons as in judged compare."
        )
    if plan.simulation is not None:
        sentences.append(
            "Samples: as many differences as the plan has, drawn with replacement from the "
            "pilot's, centred, with the pilot's standard deviation and the true difference added; "
            f"seed {plan.simulation.seed}."
        )
    sentences.append(
        "The plan holds for queries of the same population and for systems whose differences vary "
        "as much. It does not show that there is a difference, nor which size matters."
    )
    return sentences
