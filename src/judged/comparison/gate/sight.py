"""What a gate can see: the smallest drop that these queries show, 8 times in 10."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from judged.comparison.match import Match
from judged.comparison.outcomes import columns_of, further_variances, powered_spread
from judged.comparison.sentences import amount
from judged.statistics.aggregates import CLOSE
from judged.statistics.power import POWER, detectable, needed_units
from judged.statistics.student import spread
from judged.statistics.units import counted_as
from judged.text import counted

MOST = 10**9
"""More queries than these nobody asks for."""


@dataclass(frozen=True)
class Sight:
    """The smallest drop that would be shown, and how many queries would show the allowed one."""

    drop: float | None
    """None where there is no spread to go by, or none of a mean."""
    allowed: float
    units: int | None = None
    """How many queries, or groups, would do for the allowed drop; None where these do, and where
    it cannot be said."""
    note: str = ""
    """Why there is no drop."""

    @property
    def enough(self) -> bool | None:
        """Whether the smallest drop that would be shown is at most the allowed one."""
        return None if self.drop is None else self.drop <= self.allowed

    def says(self, match: Match, rule: str) -> str:
        """What can be seen, as a sentence."""
        name, units = match.measure.name, _units(match, match.units)
        if self.drop is None:
            return f"{name}: what drop {units} would show cannot be said: {self.note}."
        shown = f"{name}: {units} show a drop of {amount(self.drop)} or more, 8 times in 10"
        if rule == "safe":
            shown = (
                f"{name}: {units} show an unchanged system to be safe 8 times in 10 where a drop "
                f"of {amount(self.drop)} or more is allowed"
            )
        if self.enough:
            return f"{shown}; allowed is one of {self.allowed:g}."
        if self.allowed == 0:
            return f"{shown}; smaller ones mostly pass unseen."
        what = (
            f"which is more than the allowed {self.allowed:g}: losses between the two mostly pass "
            "unseen"
            if rule != "safe"
            else f"and allowed is only {self.allowed:g}: a system that is as good mostly fails"
        )
        would = "" if self.units is None else f"; {_units(match, self.units)} would do"
        return f"{shown}, {what}{would}."

    def to_dict(self) -> dict[str, float | int | bool | str | None]:
        """As plain values for JSON."""
        return {
            "drop": self.drop,
            "power": POWER,
            "enough": self.enough,
            "queries_needed": self.units,
            "note": self.note or None,
        }


def _units(match: Match, number: int) -> str:
    one, many = ("query", "queries") if match.groups is None else ("group", "groups")
    said = counted(number, one, many)
    return f"{said} with {match.by_trusted.queries:,} trusted ones" if match.by_trusted else said


def differing(match: Match) -> str:
    """How many queries or groups differ, in words; with trusted judgements, by these."""
    verb = "differs" if match.differing == 1 else "differ"
    if match.by_trusted:
        return f"{match.differing:,} of {match.by_trusted.queries:,} trusted queries {verb}"
    return f"{_units(match, match.differing)} {verb}"


def sight(
    match: Match, allowed: float, level: float, *, few: bool = False, uneven: bool = False
) -> Sight:
    """What the differences of a match could have shown, in one direction, at a level; nothing
    where too `few` queries differ, or their weights are too `uneven`."""
    if match.averaged is None:
        return Sight(None, allowed, note="it is no mean over queries")
    if not (match.by_trusted or match).differs.any():
        query = "trusted query" if match.by_trusted else "query"
        return Sight(None, allowed, note=f"no {query} differs, so there is no spread to go by")
    if match.units < 2 or match.constant:
        why = "one alone has" if match.units < 2 else "all differ by the same, and there is"
        return Sight(None, allowed, note=f"{why} no spread to go by")
    if uneven:
        groups = None if match.groups is None else match.units
        worth = counted_as(match.queries, groups, match.effective_units)
        return Sight(None, allowed, note=f"{worth}, too few to go by")
    if few:
        return Sight(None, allowed, note=f"only {differing(match)}, which is no spread to go by")
    if match.powered is not None:
        return _corrected_sight(match, allowed, level)
    columns = columns_of([match])
    own = spread(columns, match.weights, match.groups)
    more = further_variances([match])
    every = spread(columns, match.weights, match.groups, more=more) if more else own
    least = detectable(every.error, every.freedom, level=level, power=POWER, sides=1)
    drop = float(match.on_scale(np.asarray(least))[0])
    if not math.isfinite(drop):
        return Sight(None, allowed, note="the differences spread too widely")
    units = None
    averaged = _averaged(match, allowed)
    if 0 < allowed < drop and averaged is not None and not more:
        deviation = float(own.error[0]) * math.sqrt(match.effective_units)
        if deviation / averaged < math.sqrt(MOST) / 10:
            needed = needed_units(deviation, averaged, level=level, power=POWER, sides=1)
            units = math.ceil(needed * (match.units / match.effective_units) * (1 - CLOSE))
    return Sight(drop, allowed, units)


def _corrected_sight(match: Match, allowed: float, level: float) -> Sight:
    """What differences that trusted judgements correct could have shown; how many queries would do
    depends on which of both judgements they have."""
    every = powered_spread([match])
    least = detectable(every.error, every.freedom, level=level, power=POWER, sides=1)
    drop = float(match.on_scale(np.asarray(least))[0])
    if not math.isfinite(drop):
        return Sight(None, allowed, note="there is no spread to go by")
    return Sight(drop, allowed)


def _averaged(match: Match, allowed: float) -> float | None:
    """An allowed drop on the scale of what is averaged; None of a sum, which grows with queries."""
    aggregate = match.ours.sample.aggregate
    if aggregate == "mean":
        return allowed
    if aggregate == "geometric":
        middle = math.sqrt(match.value) * math.sqrt(match.against_value)
        return 2 * math.asinh(allowed / (2 * middle)) if middle > 0 else None
    return None
