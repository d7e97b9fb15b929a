"""Power analysis: how many queries a comparison needs, or what the queries can detect."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judged.comparison.power import MIN_UNITS, Estimate, Pilot, PowerAnalysis
from judged.comparison.settings import MAX_QUERIES
from judged.comparison.wording import percent_of, share, shown_number, size
from judged.errors import InputError, quoted
from judged.options import (
    POWER,
    GroupsLike,
    PilotLike,
    checked,
    later,
    number,
    optional,
    real,
    whole,
)
from judged.results import Display, Document, Frame, Result, ResultPart, Table, plain_value
from judged.text import Bold, Warned, counted

if TYPE_CHECKING:
    from judged.measures import Measure
else:  # loaded by `typing.get_type_hints` only
    Measure = later("judged.measures:Measure")

__all__ = ["Plan", "plan"]

MAX_POWER = 1 - 1e-9
SMALLEST_P = 1e-9
"""Smallest significance level of one comparison."""
TIMES = (0.5, 0.75, 1.0, 1.5, 2.0)
"""Differences of the table, relative to that of the plan."""
MARGINS = (-0.5, 0.0, 0.5, 1.0)
"""Differences of the table with a margin, relative to it."""


@checked
def plan(
    *,
    difference: float | None = None,
    sd: float | None = None,
    pilot: PilotLike | None = None,
    queries: int | None = None,
    power: float | None = None,
    level: float = 0.95,
    comparisons: int = 1,
    margin: float | None = None,
    measure: str | Measure | None = None,
    groups: GroupsLike | None = None,
) -> Plan:
    """Work out how many queries a comparison needs (power analysis).

    Of `queries`, `difference` and `power`, the one that is not given is computed from the others.

    Parameters
    ----------
    difference : float, optional
        The true difference to detect, in the measure's own unit. With a `margin`, how much better
        the system truly is, by default 0.
    sd : float, optional
        Standard deviation of the per-query differences. Either this or a pilot is needed.
    pilot : Comparison, array or dict, optional
        Source of the standard deviation: a comparison, of which the pair with the largest one is
        used, or per-query differences as numbers or as {query: difference}.
    queries : int, optional
        Number of queries; computed by default.
    power : float, optional
        Probability of detecting the difference, 0.8 by default; computed if `difference` and
        `queries` are given.
    level : float, optional
        Confidence level. A difference is significant if its p is below 1 - level.
    comparisons : int, optional
        Number of comparisons that are corrected together. Each is planned for the first step of
        Holm's correction, 1 - (1 - level)/comparisons.
    margin : float, optional
        By how much a system may be worse. The plan is then for a one-sided test of non-inferiority,
        as with the rule safe of `gate`, and for equivalence as in `compare`.
    measure : str or Measure, optional
        One of the measures of a pilot with several.
    groups : GroupsLike, optional
        The group of each of the pilot's queries, if queries of a group are not independent.
        Differences without ids have the ids 1, 2, and so on.

    >>> print(plan(difference=0.02, sd=0.1).says()[0])
    You need 199 queries to detect a difference of 0.02 with 80 % power.
    >>> plan(queries=50, sd=0.1).difference
    0.0404...
    >>> round(plan(queries=50, difference=0.02, sd=0.1).power, 4)
    0.2836
    """
    if (sd is None) == (pilot is None):
        raise InputError(
            "a plan needs either the standard deviation of per-query differences (sd, --sd), or a "
            "pilot to estimate it from (pilot, --pilot QRELS RUN RUN)."
        )
    for name, value in {"measure": measure, "groups": groups}.items():
        if value is not None and pilot is None:
            raise InputError(f"{name} is for a pilot; leave it out with sd.")
    if difference is None and margin is None and queries is None:
        raise InputError(
            "give difference (--difference) or margin (--margin) to plan for, or queries "
            "(--n-queries)."
        )
    asked = difference is not None or margin is not None
    if queries is not None and power is not None and asked:
        given = "margin" if difference is None else "difference"
        raise InputError(
            f"{given}, queries and power are all given; leave one of them out, and it is computed "
            "from the others."
        )
    known = None if pilot is None else Pilot.of(pilot, measure=measure, groups=groups)
    analysis = PowerAnalysis(
        level=level,
        comparisons=whole("comparisons", comparisons, at_most=1_000_000),
        margin=optional(_above_0)("margin", margin),
        per_unit=1.0 if known is None else known.per_unit,
    )
    difference = _check_difference(difference, analysis, known)
    if queries is not None:
        queries = whole("queries", queries, at_least=2, at_most=MAX_QUERIES)
        _check_queries(analysis, known, queries)
    power = _check_power(POWER if power is None else power, analysis)
    sd = _above_0("sd", sd) if known is None else known.sd
    return _solve(analysis, known, sd, difference, queries, power)


def _solve(
    analysis: PowerAnalysis,
    pilot: Pilot | None,
    sd: float,
    difference: float | None,
    queries: int | None,
    power: float,
) -> Plan:
    """Compute what is not given, at the standard deviation and at both ends of its interval."""
    sds = [sd, *(() if pilot is None else pilot.interval(analysis.level))]
    margin = analysis.margin

    def estimate(work: Callable[[float], float]) -> Estimate:
        value, *ends = map(work, sds)
        return Estimate(value, *sorted(ends))

    def in_queries(units: int | None) -> float:
        return math.inf if units is None else analysis.queries(units)

    def queries_for(size: float) -> Estimate:
        return estimate(lambda sd: in_queries(analysis.units(sd, size, power)))

    def power_for(size: float) -> Estimate:
        return estimate(lambda sd: analysis.power(sd, size, units))

    def queries_for_equivalence(size: float) -> Estimate | None:
        if margin is None or abs(size) >= margin:
            return None if margin is None else Estimate(None)
        return estimate(lambda sd: in_queries(analysis.equivalence_units(sd, size, power)))

    solved = "queries" if queries is None else "difference" if difference is None else "power"
    if queries is None:
        assert difference is not None
        answer = queries_for(difference)
        if answer.value is None or math.isinf(answer.value):
            what = f"difference of {difference:g}"
            what = what if margin is None else f"margin of {margin:g}, with a true {what},"
            raise InputError(
                f"a {what} needs more than {MAX_QUERIES:,} queries if the standard deviation is "
                f"{sd:g}; use a larger one."
            )
        queries = round(answer.value)
    units, reached = queries / analysis.per_unit, power
    if difference is None:
        answer = estimate(lambda sd: analysis.detectable(sd, units, power))
        assert answer.value is not None
        difference = answer.value
    else:
        answer = power_for(difference) if solved == "power" else answer
        reached = analysis.power(sd, difference, units)
    equivalence = queries_for_equivalence(difference)
    if margin is not None and solved == "power":
        equivalence = estimate(lambda sd: analysis.equivalence_power(sd, difference, units))
    sizes = [difference * times for times in TIMES]
    if margin is not None:
        sizes = sorted({difference, *(margin * times for times in MARGINS)})
    rows = [
        PlanRow(
            *(size, size / sd, queries_for(size), power_for(size), queries_for_equivalence(size)),
            asked=size == difference,
        )
        for size in sizes
    ]
    found = Plan(
        solved=solved,
        difference=difference,
        queries=queries,
        power=reached,
        half_width=analysis.half_width(sd, units),
        sd=sd,
        analysis=analysis,
        answer=answer,
        equivalence=equivalence,
        rows=tuple(rows),
        wanted_power=power,
        pilot=pilot,
    )
    return replace(found, notes=tuple(_notes(found)))


# -- checks


def _above_0(name: str, value: Any) -> float:
    known = real(value)
    if known is None or known <= 0:
        raise InputError(f"{name} must be a finite number above 0; got {quoted(value)}.")
    return known


def _check_difference(value: Any, analysis: PowerAnalysis, pilot: Pilot | None) -> float | None:
    """Return the difference, 0 with a margin if none is given, checked like the margin."""
    margin = analysis.margin
    difference = None if value is None else number("difference", value)
    if margin is None and difference is not None:
        difference = abs(difference)
        if difference == 0:
            raise InputError(
                "difference must not be 0, which no number of queries detects; to show that a "
                "system is as good, give a margin."
            )
    if margin is not None:
        difference = difference or 0.0
        if analysis.level <= 0.5:
            raise InputError(
                f"with a margin the level must be above 0.5, such as 0.95; got {analysis.level!r}."
            )
        if difference <= -margin:
            raise InputError(
                f"a system that is worse by {-difference:g} is not within a margin of {margin:g}; "
                f"give a difference above −{margin:g}."
            )
    for name, known in (("difference", difference), ("margin", margin)):
        if pilot is not None and known is not None and abs(known) >= pilot.width:
            raise InputError(
                f"{name} must be smaller than {pilot.width:g}, the largest possible of "
                f"{pilot.measure}; got {known:g}. It is in the measure's own unit, even if numbers "
                "are shown in percent."
            )
    return difference


def _check_power(value: Any, analysis: PowerAnalysis) -> float:
    power, alarm = real(value), (1 - analysis.level) / analysis.comparisons
    if alarm < SMALLEST_P:
        raise InputError(
            f"a level of {analysis.level!r} among {counted(analysis.comparisons, 'comparison')} "
            f"needs a p below {alarm:.1g}, which is too small to plan for; use a lower level."
        )
    if power is None or not alarm < power <= MAX_POWER:
        raise InputError(
            f"power must be a number between {alarm:.3g}, which chance alone gives, and 1; got "
            f"{quoted(value)}."
        )
    return power


def _check_queries(analysis: PowerAnalysis, pilot: Pilot | None, queries: int) -> None:
    floor, per_unit = analysis.floor, analysis.per_unit
    fewest = analysis.queries(floor)
    if queries >= fewest:
        return
    why = ""
    if pilot is not None and per_unit != 1:
        verb = "are" if pilot.effective_units is None else "count as"
        units = f"groups of {per_unit:.3g} queries" if pilot.grouped else "independent ones"
        why = f", which {verb} {floor} {units}"
    raise InputError(
        f"{queries:,} queries are too few for any significant difference at the "
        f"{percent_of(analysis.level)} level; give at least {fewest:,}{why}."
    )


def _notes(plan: Plan) -> list[str]:
    """Return what could mislead: a small pilot, or an impossible difference."""
    pilot = plan.pilot
    if pilot is None:
        return []
    notes = [*pilot.notes]
    if pilot.effective < MIN_UNITS:
        low, high = pilot.interval(plan.analysis.level)
        words = {"queries": shown_number, "power": lambda share: f"{share:.2f}", "difference": size}
        shown = words[plan.solved]
        worth = ""
        if pilot.effective_units is not None:
            worth = f" (worth {pilot.effective:,.1f} of equal weight)"
        notes.append(
            Warned(
                f"A pilot of {counted(pilot.units, *pilot.unit)}{worth} hardly determines the "
                f"standard deviation: it may be {size(low)} to {size(high)}, and the "
                f"{plan.solved} {shown(plan.answer.low)} to {shown(plan.answer.high)}. Take at "
                f"least {MIN_UNITS}."
            )
        )
    if plan.solved == "difference" and plan.difference >= pilot.width:
        notes.append(
            Warned(
                f"No difference of {pilot.measure} can be that large, so these queries detect none."
            )
        )
    return notes


# -- result


@dataclass(frozen=True)
class PlanRow(ResultPart):
    """One difference of the table: the queries it needs, and its power with those of the plan."""

    difference: float
    effect: float  # the difference in standard deviations
    queries: Estimate
    power: Estimate
    equivalence: Estimate | None = None  # with a margin: queries needed for equivalence
    asked: bool = False  # True if it is the difference of the plan


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """Result of `plan`: queries, power and difference, one of them from the others.

    >>> plan(difference=0.02, sd=0.1).queries
    199
    """

    solved: str
    """Name of what was computed: queries, power or difference."""
    difference: float
    """The true difference to detect, or the smallest that these queries detect."""
    queries: int
    power: float
    """Probability of detecting the difference."""
    half_width: float
    """Half-width of the confidence interval of a difference, with this number of queries."""
    sd: float
    """Standard deviation of the differences of queries, or of groups."""
    analysis: PowerAnalysis
    """Confidence level, number of comparisons, margin, and queries per unit."""
    answer: Estimate
    """The computed value, with its range if there is a pilot."""
    equivalence: Estimate | None
    """With a margin: queries needed for equivalence, or its power."""
    rows: tuple[PlanRow, ...]
    wanted_power: float
    """Power that numbers of queries in the table are for."""
    pilot: Pilot | None = None
    notes: tuple[str, ...] = ()

    @property
    def units(self) -> float:
        return self.queries / self.analysis.per_unit

    @property
    def sd_interval(self) -> tuple[float, float] | None:
        """Confidence interval of the standard deviation; None without a pilot."""
        return None if self.pilot is None else self.pilot.interval(self.analysis.level)

    def to_dict(self) -> dict[str, Any]:
        low, high = self.sd_interval or (None, None)
        own = ("solved", "difference", "queries", "units", "power", "wanted_power", "half_width")
        of_analysis = ("per_unit", "level", "comparisons", "tested_level", "margin", "sides")
        values = {
            "what": "plan",
            **{name: getattr(self, name) for name in (*own, "sd", "answer", "equivalence")},
            **{name: getattr(self.analysis, name) for name in of_analysis},
            **{"sd_low": low, "sd_high": high, "differences": self.rows},
            "pilot": None if self.pilot is None else self.pilot.to_dict(self.analysis.level),
            "says": self.says(),
            "notes": [str(note) for note in self.notes],
        }
        return {name: plain_value(value) for name, value in values.items()}

    def to_frame(self) -> Frame:
        """Return a row for each difference: the queries it needs, and its power.

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

        >>> plan(difference=0.02, sd=0.1).says()[0]
        'You need 199 queries to detect a difference of 0.02 with 80 % power.'
        """
        sentences = [_answer(self)]
        if self.analysis.margin is not None:
            sentences.append(_equivalence(self))
        sentences.append(
            f"The confidence interval of a difference is then about ±{size(self.half_width)}."
        )
        return sentences

    def document(self, display: Display) -> Document:
        return Document(
            answer=() if display.quiet else self.says(),
            tables=[self._table()],
            warnings=[note for note in self.notes if isinstance(note, Warned)],
            notes=_assumptions(self),
            details=_definitions(self),
            hint="formulas and limits: to_text(verbose=True)",
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
                _with_range(row.queries, shown_number),
                *([_with_range(row.equivalence, shown_number)] if row.equivalence else []),
                _with_range(row.power, share),
            ]
            rows.append([Bold(cell) for cell in cells] if row.asked else cells)
        return Table(header, rows)


# -- sentences


def _effect(value: float) -> str:
    if value == 0 or 0.005 <= abs(value) < MAX_QUERIES:
        return f"{value:.2f}".replace("-", "−")
    return size(value)


def _as_given(value: float) -> str:
    return f"{value:.10g}".replace("-", "−", 1)


def _with_range(estimate: Estimate, words: Callable[[float | None], str], unit: str = "") -> str:
    value = words(estimate.value) + unit
    if estimate.low is None:
        return value
    return f"{value} ({words(estimate.low)} to {words(estimate.high)})"


def _answer(plan: Plan) -> str:
    power, margin = f"{percent_of(plan.wanted_power)} power", plan.analysis.margin
    if plan.solved == "difference":
        detect = counted(plan.queries, "query detects", "queries detect")
        return f"{detect} a difference of {_with_range(plan.answer, size)} with {power}."
    what = f"a difference of {_as_given(plan.difference)}"
    if margin is not None:
        better = "better" if plan.difference > 0 else "worse"
        system = f"a system that is {better} by {_as_given(abs(plan.difference))}"
        system = system if plan.difference else "an equally good system"
        what = f"{system} is not worse by {_as_given(margin)} or more"
    if plan.solved == "queries":
        need = f"You need {_with_range(plan.answer, shown_number, ' queries')} to"
        show = f"detect {what} with {power}" if margin is None else f"show with {power} that {what}"
        return f"{need} {show}."
    queries, power = counted(plan.queries, "query", "queries"), _with_range(plan.answer, share)
    if margin is None:
        return f"With {queries}, {what} is detected with power {power}."
    return f"With {queries}, the power to show that {what} is {power}."


def _equivalence(plan: Plan) -> str:
    estimate, margin = plan.equivalence, _as_given(plan.analysis.margin or 0.0)
    if estimate is None or estimate.value is None:
        return f"Equivalence within ±{margin} is impossible with this true difference."
    if plan.solved == "power":
        return f"The power to show equivalence within ±{margin} is {_with_range(estimate, share)}."
    needed = _with_range(estimate, shown_number, " queries")
    return f"Equivalence within ±{margin} needs {needed}."


def _assumptions(plan: Plan) -> list[str]:
    pilot, analysis = plan.pilot, plan.analysis
    sentences = [f"Assumed standard deviation of per-query differences: {_as_given(plan.sd)}."]
    if pilot is not None:
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
    per_group = pilot.queries / pilot.units
    groups = f"{round(plan.queries / per_group, 1):,.12g} groups"
    uneven = ""
    if pilot.effective_units is not None:
        uneven = (
            f", as uneven in size as the pilot's, whose {pilot.units:,} count as "
            f"{pilot.effective:,.1f} of equal size"
        )
    return (
        f"The pilot has {pilot.queries:,} queries in {pilot.units:,} groups. The plan is for "
        f"{groups} of {size(per_group)} queries on average{uneven}."
    )


def _definitions(plan: Plan) -> list[str]:
    analysis = plan.analysis
    away = "|difference|" if analysis.margin is None else "(difference + margin)"
    sentences = [
        f"Power: the probability that the noncentral t with n − 1 degrees of freedom and "
        f"noncentrality {away}·√n/sd exceeds the critical value. n is the smallest number that "
        f"reaches it, and at least {analysis.floor}, which judged compare needs for a test.",
        "The confidence interval is ±t·sd/√n with the two-sided quantile of the level, for one "
        "comparison; about half of all samples have slightly wider ones.",
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
    sentences.append(
        "The plan holds for queries of the same population and for systems whose differences vary "
        "as much. It does not show that there is a difference, nor which size matters."
    )
    return sentences
