"""What was asked for, worked out: at the spread that is known, and at the ends of its interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from judged.comparison.plan.asked import Asked
from judged.comparison.plan.pilot import FEW, Pilot
from judged.comparison.plan.result import Answer, Plan, Row
from judged.comparison.plan.sentences import about_simulation, number, size
from judged.comparison.plan.simulation import Simulation, simulated
from judged.comparison.plan.terms import MOST
from judged.errors import InputError
from judged.text import Warned, counted

TIMES = (0.5, 0.75, 1.0, 1.5, 2.0)
"""The differences of a table, by that of the plan."""
MARGINS = (-0.5, 0.0, 0.5, 1.0)
"""The same where there is a margin, by that."""


def solved(asked: Asked, seed: int = 0) -> Plan:
    """The plan."""
    known, terms = _Spreads(asked), asked.terms
    for_difference = for_half_width = equivalence = None
    if asked.queries is not None:
        solution, queries = "power", asked.queries
    else:
        if asked.difference is not None:
            for_difference = known.queries(asked.difference)
            what = f"difference of {asked.difference:g}"
            if terms.margin is not None:
                what = f"margin of {terms.margin:g}, with a true {what},"
            _refuse_endless(for_difference, what, asked.sd)
        if asked.half_width is not None:
            for_half_width = known.half_width_queries(asked.half_width)
            _refuse_endless(for_half_width, f"half-width of {asked.half_width:g}", asked.sd)
        answer = _larger([each for each in (for_difference, for_half_width) if each is not None])
        assert answer.value is not None
        solution, queries = "queries", round(answer.value)
    units = queries / terms.per_unit
    difference, power = asked.difference, asked.power
    if difference is not None:
        reached = known.power(difference, units)
        assert reached.value is not None
        base, power = difference, reached.value
        answer = reached if solution == "power" else answer
    else:
        seen = known.detectable(units)
        assert seen.value is not None
        base = seen.value
        if solution == "power":
            solution, difference, answer = "difference", base, seen
    if terms.margin is not None:
        equivalence = (
            known.equivalence_queries(base)
            if solution == "queries"
            else known.equivalence_power(base, units)
        )
    found = Plan(
        solved=solution,
        difference=difference,
        queries=queries,
        power=power,
        half_width=terms.half_width(asked.sd, units),
        asked_half_width=asked.half_width,
        sd=asked.sd,
        terms=terms,
        answer=answer,
        for_difference=for_difference,
        for_half_width=for_half_width,
        equivalence=equivalence,
        rows=tuple(known.row(each, units, difference) for each in _differences(base, terms.margin)),
        wanted_power=asked.power,
        pilot=asked.pilot,
        simulation=_simulation(asked, base, units, seed) if asked.simulate else None,
    )
    return replace(found, notes=(*_notes(asked, found), *about_simulation(found)))


def _simulation(asked: Asked, difference: float, units: float, seed: int) -> Simulation:
    assert asked.pilot is not None
    return simulated(
        asked.pilot.differences,
        asked.terms,
        difference=asked.sign * difference,
        units=math.floor(units * (1 + 1e-12)),
        seed=seed,
    )


class _Spreads:
    """The answers at a spread, and at the ends of its interval where it comes from a pilot."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.terms = asked, asked.terms
        pilot = asked.pilot
        self.sds = [asked.sd, *(() if pilot is None else pilot.interval(asked.terms.level))]

    def _each(self, work: Callable[[float], float]) -> Answer:
        value, *ends = (work(sd) for sd in self.sds)
        return Answer(value, *sorted(ends))

    def _queries(self, units: int | None) -> float:
        return math.inf if units is None else self.terms.queries(units)

    def queries(self, difference: float) -> Answer:
        power = self.asked.power
        return self._each(lambda sd: self._queries(self.terms.units(sd, difference, power)))

    def half_width_queries(self, half_width: float) -> Answer:
        return self._each(lambda sd: self._queries(self.terms.half_width_units(sd, half_width)))

    def equivalence_queries(self, difference: float) -> Answer:
        assert self.terms.margin is not None
        if abs(difference) >= self.terms.margin:
            return Answer(None)
        power = self.asked.power
        return self._each(
            lambda sd: self._queries(self.terms.equivalence_units(sd, difference, power))
        )

    def power(self, difference: float, units: float) -> Answer:
        return self._each(lambda sd: self.terms.power(sd, difference, units))

    def equivalence_power(self, difference: float, units: float) -> Answer:
        return self._each(lambda sd: self.terms.equivalence_power(sd, difference, units))

    def detectable(self, units: float) -> Answer:
        return self._each(lambda sd: self.terms.detectable(sd, units, self.asked.power))

    def row(self, difference: float, units: float, asked: float | None) -> Row:
        """One difference of the table."""
        return Row(
            difference=difference,
            effect=difference / self.asked.sd,
            queries=self.queries(difference),
            power=self.power(difference, units),
            equivalence=None if self.terms.margin is None else self.equivalence_queries(difference),
            asked=difference == asked,
        )


def _differences(base: float, margin: float | None) -> list[float]:
    if margin is None:
        return [base * each for each in TIMES]
    return sorted({base, *(margin * each for each in MARGINS)})


def _larger(answers: list[Answer]) -> Answer:
    """What does for all of them."""
    if len(answers) == 1:
        return answers[0]
    values, lows, highs = (
        [getattr(each, end) for each in answers] for end in ("value", "low", "high")
    )
    if None in lows:
        return Answer(max(values))
    return Answer(max(values), max(lows), max(highs))


def _refuse_endless(answer: Answer, what: str, sd: float) -> None:
    if answer.value == math.inf:
        raise InputError(
            f"a {what} takes more than {MOST:,} queries where differences spread "
            f"by {sd:g}; ask for a larger one."
        )


def _worth(pilot: Pilot) -> str:
    if pilot.effective_units is None:
        return ""
    return f", which count as {pilot.effective:,.1f} of equal weight,"


def _notes(asked: Asked, found: Plan) -> list[str]:
    """What could mislead: a pilot that says little, a difference that cannot be."""
    pilot = asked.pilot
    if pilot is None:
        return []
    notes = [*pilot.notes]
    if pilot.effective < FEW:
        low, high = pilot.interval(asked.terms.level)
        words = {"queries": number, "power": lambda each: f"{each:.2f}", "difference": size}
        said = words[found.solved]
        notes.append(
            Warned(
                f"a pilot of {counted(pilot.units, *pilot.unit)}{_worth(pilot)} hardly knows the "
                f"standard deviation: it may be anything from {size(low)} to {size(high)}, and the "
                f"{found.solved} anything from {said(found.answer.low)} to "
                f"{said(found.answer.high)}. Take at least {FEW}."
            )
        )
    if found.solved == "difference" and (found.difference or 0.0) >= pilot.width:
        notes.append(
            Warned(
                f"no difference of {pilot.measure} can be as large as that: so few queries show "
                "none."
            )
        )
    return notes
