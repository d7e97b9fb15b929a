"""What was asked for, worked out: at the spread that is known, and at the ends of its interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from judged.comparison.plan.pilot import FEW, Pilot
from judged.comparison.plan.power import MOST, Simulation, Terms, simulated
from judged.comparison.plan.result import Answer, Plan, Row, about_simulation, shown_number, size
from judged.comparison.wording import percent_of
from judged.errors import InputError, quoted
from judged.options import number, optional, real, whole
from judged.statistics.power import POWER
from judged.text import Warned, counted

SUREST = 1 - 1e-9
"""The greatest power that is worked out."""
LEAST_ALARM = 1e-9
"""The smallest p that may be asked for."""


@dataclass(frozen=True)
class Asked:
    """What is known, and what is wanted."""

    difference: float | None
    """None where it is to be worked out, or only a half-width is asked for; without a margin its
    size alone."""
    sign: float
    """Which way it goes, for samples: 1, or -1 for a loss."""
    queries: int | None
    """None where it is to be worked out."""
    power: float
    half_width: float | None
    sd: float
    terms: Terms
    pilot: Pilot | None
    simulate: bool

    @classmethod
    def of(
        cls,
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
        design_effect: Any,
        simulate: bool,
    ) -> Asked:
        """What a caller gave; refused where it is too little, too much, or cannot be."""
        _check_source(sd, pilot, measure, groups, simulate)
        _check_question(difference, margin, half_width, queries, power)
        many = whole("comparisons", comparisons, at_most=1_000_000)
        known = None if pilot is None else Pilot.of(pilot, measure=measure, groups=groups)
        if design_effect is not None and known is not None and known.grouped:
            raise InputError(
                "the pilot's groups say what the design effect is; leave out design_effect "
                "(--design-effect), or the groups."
            )
        effect = 1.0 if design_effect is None else design_effect
        effect = number("design_effect", effect, at_least=1, at_most=1e6)
        terms = Terms(
            level=level,
            comparisons=many,
            margin=optional(_above_0)("margin", margin),
            per_unit=effect if known is None else effect * known.per_unit,
        )
        true = _difference(difference, terms.margin)
        found = cls(
            difference=true if true is None or terms.margin is not None else abs(true),
            sign=-1.0 if terms.margin is None and (true or 0.0) < 0 else 1.0,
            queries=optional(_queries)("queries", queries),
            power=_power(POWER if power is None else power, terms),
            half_width=optional(_above_0)("half_width", half_width),
            sd=_above_0("sd", sd) if known is None else known.sd,
            terms=terms,
            pilot=known,
            simulate=simulate,
        )
        found._check_size()
        return found

    def _check_size(self) -> None:
        """Refuse what no measure can have, and fewer queries than say anything."""
        width = math.inf if self.pilot is None else self.pilot.width
        for name, given in (("difference", self.difference), ("margin", self.terms.margin)):
            if given is not None and abs(given) >= width:
                assert self.pilot is not None
                raise InputError(
                    f"{name} must be smaller than {width:g}, the largest that there can be of "
                    f"{self.pilot.measure}; got {given:g}. It is in the measure's own unit, also "
                    "where numbers are shown in percent."
                )
        margin = self.terms.margin
        if margin is not None and self.terms.level <= 0.5:
            raise InputError(
                f"with a margin the level must be above 0.5, as 0.95; got {self.terms.level!r}."
            )
        if margin is not None and self.difference is not None and self.difference <= -margin:
            raise InputError(
                f"a system that is worse by {-self.difference:g} cannot be shown to be no worse by "
                f"{margin:g} or more; give a difference above −{margin:g}."
            )
        fewest = self.terms.queries(self.terms.floor)
        if self.queries is not None and self.queries < fewest:
            level = percent_of(self.terms.level)
            raise InputError(
                f"{self.queries:,} queries cannot show any difference at {level}: give at least "
                f"{fewest:,}{self._why_so_many()}."
            )

    def _why_so_many(self) -> str:
        if self.terms.per_unit == 1:
            return ""
        if self.pilot is not None and self.pilot.grouped:
            verb = "are" if self.pilot.effective_units is None else "count as"
            return f", which {verb} {self.terms.floor} groups of {self.terms.per_unit:.3g} queries"
        return f", which count as {self.terms.floor} independent ones"


def _check_source(sd: Any, pilot: Any, measure: Any, groups: Any, simulate: bool) -> None:
    """Refuse to plan without a spread, or with two."""
    if (sd is None) == (pilot is None):
        both = "sd and pilot are both given; leave one of them out"
        neither = (
            "a plan needs the spread of differences: give their standard deviation, sd (--sd), or "
            "a pilot to estimate it from (--pilot QRELS RUN RUN)"
        )
        raise InputError(f"{neither if sd is None else both}.")
    if pilot is None:
        for name, given in (("measure", measure), ("groups", groups)):
            if given is not None:
                raise InputError(f"{name} is for a pilot; with sd leave it out.")
        if simulate:
            raise InputError(
                "simulate draws from the differences of a pilot; give a pilot (--pilot QRELS RUN "
                "RUN) in place of sd."
            )


def _check_question(
    difference: Any, margin: Any, half_width: Any, queries: Any, power: Any
) -> None:
    """Refuse where nothing is left to be worked out, or nothing is asked for."""
    to_see = [
        name
        for name, given in (("difference", difference), ("margin", margin))
        if given is not None
    ]
    if queries is None and not to_see and half_width is None:
        raise InputError(
            "say what is to be seen: a difference (--difference), a margin (--margin) or a "
            "half_width (--half-width); or give the queries that there are (--queries), to see "
            "what they show."
        )
    if queries is not None and half_width is not None:
        raise InputError(
            "with queries the half-width of intervals is worked out; leave out half_width "
            "(--half-width), or queries."
        )
    if queries is not None and to_see and power is not None:
        raise InputError(
            f"{to_see[0]}, queries and power are all given; leave one of them out, and it is "
            "worked out from the others."
        )


def _queries(name: str, given: Any) -> int:
    return whole(name, given, at_least=2, at_most=MOST)


def _above_0(name: str, given: Any) -> float:
    found = real(given)
    if found is None or found <= 0:
        raise InputError(f"{name} must be a finite number above 0; got {quoted(given)}.")
    return found


def _difference(given: Any, margin: float | None) -> float | None:
    """The true difference, with its sign."""
    if given is None:
        return None if margin is None else 0.0
    found = number("difference", given)
    if found == 0 and margin is None:
        raise InputError(
            "difference must not be 0: no number of queries shows that; to show that a system is "
            "as good, give a margin."
        )
    return found


def _power(given: Any, terms: Terms) -> float:
    found, alarm = real(given), (1 - terms.level) / terms.comparisons
    if alarm < LEAST_ALARM:
        raise InputError(
            f"a level of {terms.level!r} among {counted(terms.comparisons, 'comparison')} asks for "
            f"a p below {alarm:.1g}, which no plan is made for; take a lower level."
        )
    if found is None or not alarm < found <= SUREST:
        raise InputError(
            f"power must be a number between {alarm:.3g}, which chance alone has, and 1; got "
            f"{quoted(given)}."
        )
    return found


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
        words = {"queries": shown_number, "power": lambda each: f"{each:.2f}", "difference": size}
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
