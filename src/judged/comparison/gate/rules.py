"""Rules of a gate: what each says of a measure, and of a value that must be reached."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judged.comparison.match import (
    Match,
    columns_of,
    further_variances,
    powered_spread,
    too_few,
    too_uneven,
)
from judged.comparison.numbers import Numbers
from judged.comparison.outcomes import Outcome, averages, outcomes
from judged.comparison.settings import Settings
from judged.comparison.verdicts import corrections_of, is_inside, is_smaller
from judged.comparison.wording import amount, shown_level, some
from judged.errors import InputError, MeasureError
from judged.evaluation.trusted import Correction
from judged.statistics.power import POWER, detectable, needed_units
from judged.statistics.ranks import corrected
from judged.statistics.samples import CLOSE, counted_as
from judged.statistics.t import below, fewest_units, spread
from judged.text import counted, plain

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


FAILS = {
    "regression": "a loss is shown, and larger than allowed",
    "not shown to be safe": "the drop may be as large as the allowed one, or larger",
    "dropped": "the drop is larger than the allowed one",
}
"""What a rule says of a measure on which it fails."""
UNDECIDED = {"too small": "so few queries cannot show any loss, or any drop to be safe"}
"""What a rule says of a measure on which it can neither hold nor fail."""
SHOWS = {"loss": "any loss", "safe": "that a drop is below the allowed one"}
"""What a rule has to show, and cannot of too small a set."""
HOLDS = {
    "identical": "no query differs",
    "no drop": "the value did not fall",
    "not shown": "it fell, and no loss is shown",
    "too few": "it fell, and too few queries differ to show a loss",
    "allowed": "it fell by no more than what is allowed",
    "safe": "the drop is shown to be smaller than the allowed one",
}
"""What a rule says of a measure on which it holds."""


@dataclass(frozen=True)
class Ruled:
    """What the rule says of one measure."""

    measure: str
    word: str
    """One of `FAILS`, `HOLDS` or `UNDECIDED`."""
    queries: int
    groups: int | None
    baseline: float
    """The baseline's value on the queries that count in both."""
    value: float
    """The run's on the same queries."""
    difference: float
    """The run's value minus the baseline's."""
    drop: float
    """By how much it is worse: the difference in the measure's own direction."""
    low: float
    """The interval of the difference that one-sided tests at the level go by; NaN where there is
    none."""
    high: float
    allowed: float
    p: float
    """One-sided: how often a drop at least as large would be seen if there were none. NaN where
    the rule does not go by it."""
    corrected_p: float
    """The same among all measures of the gate (Holm)."""
    test: str | None
    """The test that p is of; None where there is none."""
    sight: Sight
    says: str
    sees: str
    """What can be seen, as a sentence."""
    wins: int
    ties: int
    losses: int
    trusted: Correction | None = None
    """How the difference was corrected by trusted judgements, where there are some; its interval is
    the one that the rule goes by."""

    @property
    def holds(self) -> bool:
        """Whether the rule holds."""
        return self.word in HOLDS

    @property
    def fails(self) -> bool:
        """Whether the rule fails; of too small a set it neither holds nor fails."""
        return self.word in FAILS

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {
            "measure": self.measure,
            "holds": self.holds,
            "verdict": self.word,
            "queries": self.queries,
            "groups": self.groups,
            "baseline": plain(self.baseline),
            "value": plain(self.value),
            "difference": plain(self.difference),
            "drop": plain(self.drop),
            "interval": {"low": plain(self.low), "high": plain(self.high)},
            "allowed_drop": self.allowed,
            "p": plain(self.p),
            "corrected_p": plain(self.corrected_p),
            "test": self.test,
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "sees": self.sight.to_dict(),
            "says": self.says,
            **({} if self.trusted is None else {"trusted": self.trusted.to_dict()}),
        }


def ruled(
    matches: Sequence[Match],
    rule: str,
    allowed: Mapping[str, float],
    settings: Settings,
    numbers: Numbers,
) -> tuple[Ruled, ...]:
    """What the rule says of each measure."""
    for match in matches:
        _refuse_infinite(match, numbers)
        if not match.queries:
            raise InputError(
                f"{match.measure.name}: no query counts both today and in the baseline."
            )
    if rule == "point":
        found: list[Outcome | None] = [None] * len(matches)
    else:
        found = [*outcomes(matches, settings, numbers)]
    alone = np.full(len(matches), np.nan)
    if rule == "loss":
        pairs = zip(matches, found, strict=True)
        alone = np.array([_one_sided(*pair, settings) for pair in pairs])
    trusted = corrections_of(matches, settings, numbers, one_sided=True)
    together = corrected(np.where(np.isnan(alone), 1.0, alone), "holm")
    # Holm's first step: what a loss on one measure alone has to reach.
    level = 1 - (1 - settings.level) / (1 if rule == "safe" else len(matches))
    rows = []
    for match, outcome, p, holm, own in zip(matches, found, alone, together, trusted, strict=True):
        drop = allowed[match.measure.name]
        word = RULE[rule](match, outcome, float(holm), drop, settings)
        needed = fewest_units(settings.level)
        if rule == "loss":
            needed = units_needed(match, settings, len(matches))
        undecided = rule == "loss" or (rule == "safe" and word != "safe")
        if undecided and word != "identical" and _is_blind(match, needed, settings):
            word = "too small"
        seen = sight(
            match,
            drop,
            level,
            few=too_few(match, settings),
            uneven=too_uneven(match, settings),
        )
        row = _row(match, outcome, word, (float(p), float(holm)), rule, seen)
        if word == "too small":
            among = len(matches) if rule == "loss" else 1
            says = _too_small(match, row.says, SHOWS[rule], needed, among, settings)
            row = replace(row, says=says)
        rows.append(replace(row, trusted=own))
    return tuple(rows)


def units_needed(match: Match, settings: Settings, measures: int) -> int:
    """Return how many queries, or groups, it takes to show any loss, one-sided and corrected.

    The signs of all of them, all lost, have a p of 2⁻ⁿ. The t test of a mean goes beyond that where
    enough differ for a two-sided test, unless all lose the same.
    """
    first_step = 1 - (1 - settings.level) / measures
    by_signs = fewest_units(first_step, sides=1)
    by_signs_alone = match.averaged is None or (match.constant and drop_of(match) > 0)
    return by_signs if by_signs_alone else min(by_signs, fewest_units(settings.level))


def _is_blind(match: Match, needed: int, settings: Settings) -> bool:
    """Return whether so few queries, or groups, or so uneven ones, could show nothing."""
    return (match.by_trusted or match).units < needed or too_uneven(match, settings)


def _refuse_infinite(match: Match, numbers: Numbers) -> None:
    """A mean of infinite values drops by nothing that could be said."""
    if not match.infinite.any() or not averages(match):
        return
    where = some([numbers.queries[at] for at in match.ours.place[match.infinite]])
    measure = match.measure.measure
    median = "" if measure is None else f" ({measure(aggregate='median')})"
    raise MeasureError(
        f"{match.measure.name} is infinite for {where}, and a mean of infinite values says "
        f"nothing; let the gate look at its median{median}, or at RR."
    )


def drop_of(match: Match) -> float:
    """By how much a run is worse than its baseline; below 0 where it is better."""
    drop = -match.difference if match.measure.higher_is_better else match.difference
    size = max(abs(x) for x in (match.value, match.against_value, 0.0) if math.isfinite(x))
    return 0.0 if abs(drop) <= CLOSE * size else drop


def exceeds(drop: float, allowed: float) -> bool:
    """Whether a drop is larger than the allowed one, but for rounding."""
    return drop > allowed and not math.isclose(drop, allowed, rel_tol=1e-9)


def _one_sided(match: Match, outcome: Outcome | None, settings: Settings) -> float:
    """p of a loss: half of the two-sided one, on the side of the loss. NaN where no loss could be
    shown."""
    if outcome is None or too_few(match, settings, sides=1) or math.isnan(outcome.p):
        return 1.0 if outcome is not None and not match.differs.any() else math.nan
    return outcome.p / 2 if drop_of(match) > 0 else 1 - outcome.p / 2


def _loss(
    match: Match, outcome: Outcome | None, p: float, allowed: float, settings: Settings
) -> str:
    drop = drop_of(match)
    if not match.differs.any():
        return "identical"
    if drop <= 0:
        return "no drop"
    if too_few(match, settings, sides=1):
        return "too few"
    if not below(p, settings.level):
        return "not shown"
    return "regression" if exceeds(drop, allowed) else "allowed"


def _safe(
    match: Match, outcome: Outcome | None, p: float, allowed: float, settings: Settings
) -> str:
    assert outcome is not None
    if not match.differs.any():
        return "identical"
    return "safe" if _is_safe(match, outcome, allowed, settings) else "not shown to be safe"


def _is_safe(match: Match, outcome: Outcome, allowed: float, settings: Settings) -> bool:
    """Whether the drop is shown to be smaller than the allowed one, in one direction."""
    if too_few(match, settings):
        return is_inside(match, outcome, allowed, settings)
    worst = -outcome.inner_low if match.measure.higher_is_better else outcome.inner_high
    return is_smaller(worst, allowed)


def _point(
    match: Match, outcome: Outcome | None, p: float, allowed: float, settings: Settings
) -> str:
    if not match.differs.any():
        return "identical"
    drop = drop_of(match)
    if drop <= 0:
        return "no drop"
    return "dropped" if exceeds(drop, allowed) else "allowed"


RULE = {"loss": _loss, "safe": _safe, "point": _point}
"""How each rule is decided."""


def _row(
    match: Match,
    outcome: Outcome | None,
    word: str,
    p: tuple[float, float],
    rule: str,
    own: Sight,
) -> Ruled:
    allowed = own.allowed
    wins, ties, losses = match.record
    low, high = (math.nan, math.nan) if outcome is None else (outcome.inner_low, outcome.inner_high)
    return Ruled(
        measure=match.measure.name,
        word=word,
        queries=match.queries,
        groups=None if match.groups is None else match.units,
        baseline=match.against_value,
        value=match.value,
        difference=match.difference,
        drop=drop_of(match),
        low=low,
        high=high,
        allowed=allowed,
        p=p[0],
        corrected_p=math.nan if math.isnan(p[0]) else p[1],
        test=None if outcome is None else outcome.test,
        sight=own,
        says=_sentence(match, word, rule, allowed, low, high),
        sees=own.says(match, rule),
        wins=wins,
        ties=ties,
        losses=losses,
    )


def _sentence(match: Match, word: str, rule: str, allowed: float, low: float, high: float) -> str:
    """What the rule says of a measure, for somebody without statistics."""
    name, drop = match.measure.name, drop_of(match)
    if word == "identical":
        return f"{name}: the same value on all {counted(match.queries, 'query', 'queries')}."
    moved = f"from {amount(match.against_value)} to {amount(match.value)}"
    if drop == 0:
        change = f"unchanged at {amount(match.value)}"
    else:
        change = f"{moved}, a {'drop' if drop > 0 else 'gain'} of {amount(abs(drop))}"
    worst = high if not match.measure.higher_is_better else -low
    if word == "regression":
        return f"{name}: {change} that is shown; allowed is {_allowed(allowed)}."
    if word == "dropped":
        return f"{name}: {change}; allowed is {_allowed(allowed)}."
    if word == "not shown to be safe":
        if math.isnan(worst):
            why = "there is no spread to go by" if match.constant else f"only {differing(match)}"
            return f"{name}: {change}; not shown to be a drop below {allowed:g}: {why}."
        best = -high if match.measure.higher_is_better else low
        loss = "It is shown to be a loss" if best > 0 else "That does not show a loss"
        return (
            f"{name}: {change}; the true drop may be {amount(worst)}, and is not shown to be below "
            f"the allowed {allowed:g}. {loss}."
        )
    if word == "safe":
        return f"{name}: {change}; the true drop is shown to be below the allowed {allowed:g}."
    if word == "allowed":
        shown = "" if rule == "point" else "a loss is shown, and "
        return f"{name}: {change}; {shown}it is not larger than the allowed {allowed:g}."
    if word == "too few":
        return f"{name}: {change}; only {differing(match)}, too few to show a loss."
    if word == "not shown":
        return f"{name}: {change} that is not shown to be more than chance."
    return f"{name}: {change}."


def _too_small(
    match: Match, change: str, what: str, needed: int, measures: int, settings: Settings
) -> str:
    """What is said of a measure on which nothing could be shown, and how many queries would do."""
    one, many = ("query", "queries") if match.groups is None else ("group", "groups")
    units, level = counted(match.units, one, many), shown_level(settings.level)
    among = f" among {measures:,} measures" if measures > 1 else ""
    why = f"{units} cannot show {what} at {level}{among}; use at least {needed}"
    if too_uneven(match, settings):
        why = (
            f"{units} count as {match.effective_units:,.1f} of equal weight (Kish), which cannot "
            f"show {what} at {level}; use more {many}, or more even ones"
        )
    return f"{change.removesuffix('.')}; {why}."


def _allowed(allowed: float) -> str:
    return "none" if allowed == 0 else f"a drop of {allowed:g}"
