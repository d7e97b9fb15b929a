"""The options of a plan, checked, and its solution."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judged.comparison.plan.pilot import MIN_UNITS, Pilot
from judged.comparison.plan.power import MAX_QUERIES, PowerAnalysis, Simulation, simulate_power
from judged.comparison.plan.result import (
    Estimate,
    Plan,
    PlanRow,
    about_simulation,
    shown_number,
    size,
)
from judged.comparison.wording import percent_of
from judged.errors import InputError, quoted
from judged.options import POWER, number, optional, real, whole
from judged.text import Warned, counted

MAX_POWER = 1 - 1e-9
SMALLEST_P = 1e-9
"""Smallest significance level of one comparison."""
TIMES = (0.5, 0.75, 1.0, 1.5, 2.0)
"""Differences of the table, relative to that of the plan."""
MARGINS = (-0.5, 0.0, 0.5, 1.0)
"""Differences of the table with a margin, relative to it."""


@dataclass(frozen=True)
class PlanOptions:
    """What is known, and what is wanted."""

    difference: float | None
    """None if it is to be computed, or only a half-width is wanted; absolute without a margin."""
    sign: float
    """Direction of the difference in samples: 1, or -1 for a loss."""
    queries: int | None
    """None if it is to be computed."""
    power: float
    half_width: float | None
    sd: float
    analysis: PowerAnalysis
    pilot: Pilot | None
    simulate: bool

    @classmethod
    def of(
        cls,
        pilot: Pilot | None,
        *,
        sd: Any,
        difference: Any,
        queries: Any,
        power: Any,
        level: float,
        comparisons: Any,
        margin: Any,
        half_width: Any,
        simulate: bool,
    ) -> PlanOptions:
        """Check the values that a caller gave."""
        analysis = PowerAnalysis(
            level=level,
            comparisons=whole("comparisons", comparisons, at_most=1_000_000),
            margin=optional(_above_0)("margin", margin),
            per_unit=1.0 if pilot is None else pilot.per_unit,
        )
        true = _difference(difference, analysis.margin)
        options = cls(
            difference=true if true is None or analysis.margin is not None else abs(true),
            sign=-1.0 if analysis.margin is None and (true or 0.0) < 0 else 1.0,
            queries=optional(_queries)("queries", queries),
            power=_power(POWER if power is None else power, analysis),
            half_width=optional(_above_0)("half_width", half_width),
            sd=_above_0("sd", sd) if pilot is None else pilot.sd,
            analysis=analysis,
            pilot=pilot,
            simulate=simulate,
        )
        options._check_sizes()
        return options

    def _check_sizes(self) -> None:
        """Check that differences are possible, and that there are enough queries to test."""
        width = math.inf if self.pilot is None else self.pilot.width
        margin = self.analysis.margin
        for name, value in (("difference", self.difference), ("margin", margin)):
            if value is not None and abs(value) >= width:
                assert self.pilot is not None
                raise InputError(
                    f"{name} must be smaller than {width:g}, the largest possible of "
                    f"{self.pilot.measure}; got {value:g}. It is in the measure's own unit, even "
                    "if numbers are shown in percent."
                )
        if margin is not None and self.analysis.level <= 0.5:
            raise InputError(
                "with a margin the level must be above 0.5, such as 0.95; got "
                f"{self.analysis.level!r}."
            )
        if margin is not None and self.difference is not None and self.difference <= -margin:
            raise InputError(
                f"a system that is worse by {-self.difference:g} is not within a margin of "
                f"{margin:g}; give a difference above −{margin:g}."
            )
        fewest = self.analysis.queries(self.analysis.floor)
        if self.queries is not None and self.queries < fewest:
            level = percent_of(self.analysis.level)
            raise InputError(
                f"{self.queries:,} queries are too few for any significant difference at the "
                f"{level} level; give at least {fewest:,}{self._why_so_many()}."
            )

    def _why_so_many(self) -> str:
        floor, per_unit = self.analysis.floor, self.analysis.per_unit
        if per_unit == 1:
            return ""
        if self.pilot is not None and self.pilot.grouped:
            verb = "are" if self.pilot.effective_units is None else "count as"
            return f", which {verb} {floor} groups of {per_unit:.3g} queries"
        return f", which count as {floor} independent ones"


def check_options(
    *,
    difference: Any,
    margin: Any,
    half_width: Any,
    queries: Any,
    power: Any,
    sd: Any,
    pilot: Any,
    simulate: bool,
    about_pilot: Mapping[str, Any],
) -> None:
    """Check that neither too little nor too much is given."""
    if sd is None and pilot is None:
        raise InputError(
            "a plan needs the standard deviation of per-query differences (sd, --sd), or a pilot "
            "to estimate it from (--pilot QRELS RUN RUN)."
        )
    if sd is not None and pilot is not None:
        raise InputError("sd and pilot are both given; leave one of them out.")
    if pilot is None:
        for name, value in about_pilot.items():
            if value is not None:
                raise InputError(f"{name} is for a pilot; leave it out with sd.")
        if simulate:
            raise InputError(
                "simulate draws from the differences of a pilot; give a pilot (--pilot QRELS RUN "
                "RUN) instead of sd."
            )
    wanted = {"difference": difference, "margin": margin}
    to_detect = [name for name, value in wanted.items() if value is not None]
    if queries is None and not to_detect and half_width is None:
        raise InputError(
            "give a difference (--difference), a margin (--margin) or a half_width (--half-width) "
            "to plan for, or the number of queries (--queries)."
        )
    if queries is not None and half_width is not None:
        raise InputError(
            "the half-width is computed from queries; leave out half_width (--half-width), or "
            "queries."
        )
    if queries is not None and to_detect and power is not None:
        raise InputError(
            f"{to_detect[0]}, queries and power are all given; leave one of them out, and it is "
            "computed from the others."
        )


def _queries(name: str, value: Any) -> int:
    return whole(name, value, at_least=2, at_most=MAX_QUERIES)


def _above_0(name: str, value: Any) -> float:
    found = real(value)
    if found is None or found <= 0:
        raise InputError(f"{name} must be a finite number above 0; got {quoted(value)}.")
    return found


def _difference(value: Any, margin: float | None) -> float | None:
    if value is None:
        return None if margin is None else 0.0
    difference = number("difference", value)
    if difference == 0 and margin is None:
        raise InputError(
            "difference must not be 0, which no number of queries detects; to show that a system "
            "is as good, give a margin."
        )
    return difference


def _power(value: Any, analysis: PowerAnalysis) -> float:
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


def solve(options: PlanOptions) -> Plan:
    """Work out the plan."""
    estimates, analysis = _Estimates(options), options.analysis
    for_difference = for_half_width = equivalence = None
    if options.queries is not None:
        solved, queries = "power", options.queries
    else:
        if options.difference is not None:
            for_difference = estimates.queries(options.difference)
            what = f"difference of {options.difference:g}"
            if analysis.margin is not None:
                what = f"margin of {analysis.margin:g}, with a true {what},"
            _check_finite(for_difference, what, options.sd)
        if options.half_width is not None:
            for_half_width = estimates.half_width_queries(options.half_width)
            _check_finite(for_half_width, f"half-width of {options.half_width:g}", options.sd)
        answer = _larger([each for each in (for_difference, for_half_width) if each is not None])
        assert answer.value is not None
        solved, queries = "queries", round(answer.value)
    units = queries / analysis.per_unit
    difference, power = options.difference, options.power
    if difference is not None:
        reached = estimates.power(difference, units)
        assert reached.value is not None
        base, power = difference, reached.value
        answer = reached if solved == "power" else answer
    else:
        detectable = estimates.detectable(units)
        assert detectable.value is not None
        base = detectable.value
        if solved == "power":
            solved, difference, answer = "difference", base, detectable
    if analysis.margin is not None:
        equivalence = (
            estimates.equivalence_queries(base)
            if solved == "queries"
            else estimates.equivalence_power(base, units)
        )
    differences = [base * times for times in TIMES]
    if analysis.margin is not None:
        differences = sorted({base, *(analysis.margin * times for times in MARGINS)})
    plan = Plan(
        solved=solved,
        difference=difference,
        queries=queries,
        power=power,
        half_width=analysis.half_width(options.sd, units),
        asked_half_width=options.half_width,
        sd=options.sd,
        analysis=analysis,
        answer=answer,
        for_difference=for_difference,
        for_half_width=for_half_width,
        equivalence=equivalence,
        rows=tuple(estimates.row(each, units, difference) for each in differences),
        wanted_power=options.power,
        pilot=options.pilot,
        simulation=_simulation(options, base, units) if options.simulate else None,
    )
    return replace(plan, notes=(*_notes(options, plan), *about_simulation(plan)))


def _simulation(options: PlanOptions, difference: float, units: float) -> Simulation:
    assert options.pilot is not None
    return simulate_power(
        options.pilot.differences,
        options.analysis,
        difference=options.sign * difference,
        units=math.floor(units * (1 + 1e-12)),
        seed=0,
    )


class _Estimates:
    """Estimates at the standard deviation, and at the ends of its interval if there is a pilot."""

    def __init__(self, options: PlanOptions) -> None:
        self.options, self.analysis = options, options.analysis
        pilot = options.pilot
        self.sds = [options.sd, *(() if pilot is None else pilot.interval(self.analysis.level))]

    def _each(self, work: Callable[[float], float]) -> Estimate:
        value, *ends = (work(sd) for sd in self.sds)
        return Estimate(value, *sorted(ends))

    def _queries(self, units: int | None) -> float:
        return math.inf if units is None else self.analysis.queries(units)

    def queries(self, difference: float) -> Estimate:
        power = self.options.power
        return self._each(lambda sd: self._queries(self.analysis.units(sd, difference, power)))

    def half_width_queries(self, half_width: float) -> Estimate:
        return self._each(lambda sd: self._queries(self.analysis.half_width_units(sd, half_width)))

    def equivalence_queries(self, difference: float) -> Estimate:
        assert self.analysis.margin is not None
        if abs(difference) >= self.analysis.margin:
            return Estimate(None)
        power = self.options.power
        return self._each(
            lambda sd: self._queries(self.analysis.equivalence_units(sd, difference, power))
        )

    def power(self, difference: float, units: float) -> Estimate:
        return self._each(lambda sd: self.analysis.power(sd, difference, units))

    def equivalence_power(self, difference: float, units: float) -> Estimate:
        return self._each(lambda sd: self.analysis.equivalence_power(sd, difference, units))

    def detectable(self, units: float) -> Estimate:
        return self._each(lambda sd: self.analysis.detectable(sd, units, self.options.power))

    def row(self, difference: float, units: float, asked: float | None) -> PlanRow:
        with_margin = self.analysis.margin is not None
        return PlanRow(
            difference=difference,
            effect=difference / self.options.sd,
            queries=self.queries(difference),
            power=self.power(difference, units),
            equivalence=self.equivalence_queries(difference) if with_margin else None,
            asked=difference == asked,
        )


def _larger(estimates: list[Estimate]) -> Estimate:
    """Return the queries that are enough for all."""
    if len(estimates) == 1:
        return estimates[0]
    values, lows, highs = (
        [getattr(each, end) for each in estimates] for end in ("value", "low", "high")
    )
    if None in lows:
        return Estimate(max(values))
    return Estimate(max(values), max(lows), max(highs))


def _check_finite(estimate: Estimate, what: str, sd: float) -> None:
    if estimate.value == math.inf:
        raise InputError(
            f"a {what} needs more than {MAX_QUERIES:,} queries if the standard deviation is "
            f"{sd:g}; use a larger one."
        )


def _notes(options: PlanOptions, plan: Plan) -> list[str]:
    """Return what could mislead: a small pilot, or an impossible difference."""
    pilot = options.pilot
    if pilot is None:
        return []
    notes = [*pilot.notes]
    if pilot.effective < MIN_UNITS:
        low, high = pilot.interval(options.analysis.level)
        words = {"queries": shown_number, "power": lambda each: f"{each:.2f}", "difference": size}
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
    if plan.solved == "difference" and (plan.difference or 0.0) >= pilot.width:
        notes.append(
            Warned(
                f"No difference of {pilot.measure} can be that large, so these queries detect none."
            )
        )
    return notes
