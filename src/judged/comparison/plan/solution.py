"""The options of a plan, checked, and its solution."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from judged.comparison.plan.pilot import MIN_UNITS, Pilot
from judged.comparison.plan.power import MAX_QUERIES, PowerAnalysis, simulate_power
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


def make_plan(
    *,
    difference: Any,
    sd: Any,
    pilot: Any,
    queries: Any,
    power: Any,
    level: float,
    comparisons: Any,
    margin: Any,
    half_width: Any,
    measure: Any,
    groups: Any,
    simulate: bool,
) -> Plan:
    """Check the options of `plan` and work it out."""
    _check_source(sd, pilot, simulate, measure=measure, groups=groups)
    _check_wanted(queries, power, half_width, difference=difference, margin=margin)
    known = None if pilot is None else Pilot.of(pilot, measure=measure, groups=groups)
    analysis = PowerAnalysis(
        level=level,
        comparisons=whole("comparisons", comparisons, at_most=1_000_000),
        margin=optional(_above_0)("margin", margin),
        per_unit=1.0 if known is None else known.per_unit,
    )
    difference = _difference(difference, analysis.margin)
    sign = 1.0
    if analysis.margin is None and difference is not None:
        sign, difference = math.copysign(1.0, difference), abs(difference)
    if queries is not None:
        queries = whole("queries", queries, at_least=2, at_most=MAX_QUERIES)
    power = _power(POWER if power is None else power, analysis)
    half_width = optional(_above_0)("half_width", half_width)
    sd = _above_0("sd", sd) if known is None else known.sd
    _check_sizes(analysis, known, difference)
    _check_queries(analysis, known, queries)
    plan = _solve(analysis, known, sd, difference, queries, power, half_width)
    if simulate and known is not None:
        simulation = simulate_power(
            known.differences,
            analysis,
            difference=sign * plan.planned_difference,
            units=math.floor(plan.units * (1 + 1e-12)),
            seed=0,
        )
        plan = replace(plan, simulation=simulation)
    return replace(plan, notes=(*_notes(plan), *about_simulation(plan)))


def _solve(
    analysis: PowerAnalysis,
    pilot: Pilot | None,
    sd: float,
    difference: float | None,
    queries: int | None,
    power: float,
    half_width: float | None,
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

    def queries_for_equivalence(size: float) -> Estimate | None:
        if margin is None or abs(size) >= margin:
            return None if margin is None else Estimate(None)
        return estimate(lambda sd: in_queries(analysis.equivalence_units(sd, size, power)))

    for_difference = for_half_width = None
    solved = "queries"
    if queries is not None:
        solved = "difference" if difference is None else "power"
    else:
        if difference is not None:
            for_difference = queries_for(difference)
            what = f"difference of {difference:g}"
            if margin is not None:
                what = f"margin of {margin:g}, with a true {what},"
            _check_finite(for_difference, what, sd)
        if half_width is not None:
            for_half_width = estimate(
                lambda sd: in_queries(analysis.half_width_units(sd, half_width))
            )
            _check_finite(for_half_width, f"half-width of {half_width:g}", sd)
        answer = _larger(for_difference, for_half_width)
        assert answer.value is not None
        queries = round(answer.value)
    units = queries / analysis.per_unit
    base: float | None = difference
    reached: float | None = power
    if difference is None:
        detected = estimate(lambda sd: analysis.detectable(sd, units, power))
        base = detected.value
        if solved == "difference":
            difference, answer = base, detected
    else:
        with_power = estimate(lambda sd: analysis.power(sd, difference, units))
        reached = with_power.value
        answer = with_power if solved == "power" else answer
    assert base is not None
    assert reached is not None
    if margin is None or solved == "queries":
        equivalence = queries_for_equivalence(base)
    else:
        equivalence = estimate(lambda sd: analysis.equivalence_power(sd, base, units))
    sizes = [base * times for times in TIMES]
    if margin is not None:
        sizes = sorted({base, *(margin * times for times in MARGINS)})
    rows = [
        PlanRow(
            size,
            size / sd,
            queries_for(size),
            estimate(lambda sd, size=size: analysis.power(sd, size, units)),  # type: ignore[misc]
            queries_for_equivalence(size),
            asked=size == difference,
        )
        for size in sizes
    ]
    return Plan(
        solved=solved,
        difference=difference,
        queries=queries,
        power=reached,
        half_width=analysis.half_width(sd, units),
        asked_half_width=half_width,
        sd=sd,
        analysis=analysis,
        answer=answer,
        for_difference=for_difference,
        for_half_width=for_half_width,
        equivalence=equivalence,
        rows=tuple(rows),
        planned_difference=base,
        wanted_power=power,
        pilot=pilot,
    )


def _larger(*estimates: Estimate | None) -> Estimate:
    """Return the queries that are enough for all."""
    ends = [
        (estimate.value, estimate.low, estimate.high)
        for estimate in estimates
        if estimate is not None
    ]
    return Estimate(
        *(None if None in values else max(values) for values in zip(*ends, strict=True))
    )


def _check_finite(estimate: Estimate, what: str, sd: float) -> None:
    if estimate.value == math.inf:
        raise InputError(
            f"a {what} needs more than {MAX_QUERIES:,} queries if the standard deviation is "
            f"{sd:g}; use a larger one."
        )


# -- checks


def _check_source(sd: Any, pilot: Any, simulate: bool, **of_pilot: Any) -> None:
    if sd is None and pilot is None:
        raise InputError(
            "a plan needs the standard deviation of per-query differences (sd, --sd), or a pilot "
            "to estimate it from (--pilot QRELS RUN RUN)."
        )
    if pilot is not None:
        if sd is not None:
            raise InputError("sd and pilot are both given; leave one of them out.")
        return
    for name, value in of_pilot.items():
        if value is not None:
            raise InputError(f"{name} is for a pilot; leave it out with sd.")
    if simulate:
        raise InputError(
            "simulate draws from the differences of a pilot; give a pilot (--pilot QRELS RUN "
            "RUN) instead of sd."
        )


def _check_wanted(queries: Any, power: Any, half_width: Any, **to_detect: Any) -> None:
    """Check that neither too little nor too much is given."""
    wanted = [name for name, value in to_detect.items() if value is not None]
    if queries is None and not wanted and half_width is None:
        raise InputError(
            "give a difference (--difference), a margin (--margin) or a half_width (--half-width) "
            "to plan for, or the number of queries (--queries)."
        )
    if queries is not None and half_width is not None:
        raise InputError(
            "the half-width is computed from queries; leave out half_width (--half-width), or "
            "queries."
        )
    if queries is not None and wanted and power is not None:
        raise InputError(
            f"{wanted[0]}, queries and power are all given; leave one of them out, and it is "
            "computed from the others."
        )


def _above_0(name: str, value: Any) -> float:
    known = real(value)
    if known is None or known <= 0:
        raise InputError(f"{name} must be a finite number above 0; got {quoted(value)}.")
    return known


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


def _check_sizes(analysis: PowerAnalysis, pilot: Pilot | None, difference: float | None) -> None:
    margin = analysis.margin
    for name, value in (("difference", difference), ("margin", margin)):
        if pilot is not None and value is not None and abs(value) >= pilot.width:
            raise InputError(
                f"{name} must be smaller than {pilot.width:g}, the largest possible of "
                f"{pilot.measure}; got {value:g}. It is in the measure's own unit, even if numbers "
                "are shown in percent."
            )
    if margin is None:
        return
    if analysis.level <= 0.5:
        raise InputError(
            f"with a margin the level must be above 0.5, such as 0.95; got {analysis.level!r}."
        )
    if difference is not None and difference <= -margin:
        raise InputError(
            f"a system that is worse by {-difference:g} is not within a margin of {margin:g}; give "
            f"a difference above −{margin:g}."
        )


def _check_queries(analysis: PowerAnalysis, pilot: Pilot | None, queries: int | None) -> None:
    floor, per_unit = analysis.floor, analysis.per_unit
    fewest = analysis.queries(floor)
    if queries is None or queries >= fewest:
        return
    why = ""
    if pilot is not None and pilot.grouped and per_unit != 1:
        verb = "are" if pilot.effective_units is None else "count as"
        why = f", which {verb} {floor} groups of {per_unit:.3g} queries"
    elif per_unit != 1:
        why = f", which count as {floor} independent ones"
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
    if plan.solved == "difference" and (plan.difference or 0.0) >= pilot.width:
        notes.append(
            Warned(
                f"No difference of {pilot.measure} can be that large, so these queries detect none."
            )
        )
    return notes
