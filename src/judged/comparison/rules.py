"""Options and rules of a gate: verdicts, and the smallest drop that could be detected."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.comparison.baseline import (
    BaselineSource,
    GoldenQuery,
    NoBaselineError,
    golden_queries,
)
from judged.comparison.numbers import Entry, Numbers, index_of, own_intervals
from judged.comparison.outcomes import (
    Match,
    MatchOutcome,
    columns_of,
    further_variances,
    infinite_error,
    is_infinite,
    outcomes,
    powered_spread,
    too_few,
    too_uneven,
)
from judged.comparison.power import PowerAnalysis
from judged.comparison.settings import RULES, ComparisonSettings
from judged.comparison.verdicts import corrections_of, is_inside, is_smaller
from judged.comparison.wording import QUERIES, amount, percent_of
from judged.errors import InputError, did_you_mean, quoted
from judged.evaluation.trusted import Correction
from judged.options import LEVEL, POWER, choice, number
from judged.outputs import check_target
from judged.results import plain_value
from judged.statistics.intervals import Interval
from judged.statistics.power import detectable
from judged.statistics.ranks import corrected
from judged.statistics.samples import CLOSE, counted_as
from judged.statistics.t import below, fewest_units, spread
from judged.text import counted, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation

TOO_FEW = "too few queries"
FAILS = ("regression", "inconclusive", "dropped")
"""Verdicts on which a rule fails. On "too few queries" it neither passes nor fails."""
PASSES = ("identical", "no drop", "not significant", "too few differ", "allowed", "safe")
"""Verdicts on which a rule passes."""
GOALS = {"loss": "a significant drop", "safe": "a drop that is significantly smaller than allowed"}
"""Goals of the tests, which too few queries cannot reach."""
Limits = Mapping[str, float] | float | None


@dataclass(frozen=True)
class GateOptions:
    """The options of a gate, checked before anything is read."""

    rule: str = "loss"
    max_drop: Any = None
    minimum: Any = None
    golden: Any = None  # after the check, a list of `GoldenQuery`
    guarantees: tuple[Guarantee, ...] = field(default=(), init=False)
    """Guarantees that `minimum` names beside measures."""
    update: bool | str = False
    level: float = LEVEL

    def __post_init__(self) -> None:
        if self.settings.level <= 0.5:
            raise InputError(
                f"the level of a gate must be above 0.5, such as 0.95; got {self.level!r}."
            )
        if not isinstance(self.update, bool | str) or self.update not in (True, False, "force"):
            raise InputError(f'update must be True, False or "force"; got {quoted(self.update)}.')
        choice("rule", self.rule, RULES)
        minimum = _limits("minimum", self.minimum)
        guarantees: list[Guarantee] = []
        if isinstance(minimum, Mapping):
            read = {name: Guarantee.read(name, limit) for name, limit in minimum.items()}
            guarantees = [guarantee for guarantee in read.values() if guarantee is not None]
            minimum = {name: limit for name, limit in minimum.items() if read[name] is None}
        for name, value in {
            "max_drop": _limits("max_drop", self.max_drop, at_least=0),
            "minimum": minimum or None if guarantees else minimum,
            "guarantees": tuple(guarantees),
            "golden": [] if self.golden is None else golden_queries(self.golden),
        }.items():
            object.__setattr__(self, name, value)

    @property
    def force(self) -> bool:
        return self.update == "force"

    @cached_property
    def settings(self) -> ComparisonSettings:
        return ComparisonSettings(level=self.level)

    def check_source(self, source: BaselineSource) -> None:
        if source.absent:
            self._check_without_baseline()
        elif not source.exists and not self.update:
            raise NoBaselineError(
                f"{source.source}: there is no baseline yet; make one with update=True "
                "(--update-baseline)."
            )
        elif self.update:
            if source.path is None or source.run is not None:
                raise InputError(
                    f"{source.source}: is not a baseline file, so it is not replaced by one; name "
                    "another file to write the baseline to."
                )
            check_target(source.path)

    def _check_without_baseline(self) -> None:
        if self.minimum is None and not self.golden and not self.guarantees:
            raise InputError(
                "a gate needs baseline (--baseline), which is a file that a gate wrote or a run, "
                "or minimum (--min)."
            )
        if self.update or self.max_drop is not None:
            option = "update (--update-baseline)" if self.update else "max_drop (--max-drop)"
            raise InputError(f"{option} needs baseline (--baseline).")
        for golden in self.golden:
            if golden.minimum is None:
                raise InputError(
                    f"{golden.place}: query {golden.query!r} has no minimum, and there is no "
                    "baseline; give it a minimum, or give baseline (--baseline)."
                )

    def allowed_drops(self, evaluation: Evaluation) -> dict[str, float]:
        """Return the allowed drop of each measure, 0 by default; the rule safe needs more."""
        drops = dict.fromkeys(evaluation.labels, 0.0)
        drops |= _by_label(self.max_drop, evaluation, "max_drop")
        lacking = [label for label, drop in drops.items() if drop <= 0]
        if self.rule == "safe" and lacking:
            raise InputError(
                f"the rule safe needs an allowed drop above 0 for {listed(lacking)}: "
                f"max_drop={{{lacking[0]!r}: 0.01}} (--max-drop {lacking[0]}=0.01)."
            )
        return drops

    def minima(self, evaluation: Evaluation) -> dict[str, float]:
        labels = [*evaluation.labels]
        if isinstance(self.minimum, float) and len(labels) > 1:
            raise InputError(
                f"minimum (--min) must name its measure ({', '.join(labels)}), such as "
                f"minimum={{{labels[0]!r}: {self.minimum:g}}} (--min {labels[0]}={self.minimum:g})."
            )
        return _by_label(self.minimum, evaluation, "minimum")


_NUMBER = r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)"
GUARANTEES = {
    "coverage": rf"\( *risk *= *{_NUMBER} *(?:, *measure *= *(.+))?\)",
    "risk": rf"\( *threshold *= *{_NUMBER} *(?:, *measure *= *(.+))?\)",
    "lost": r"\( *after *= *(.+)\)(?:@([1-9][0-9]*))?",
}
"""Values that a minimum can name beside measures, and their notation."""


@dataclass(frozen=True)
class Guarantee:
    """A limit for abstention, or for the loss of a stage, which are not measures."""

    name: str
    limit: float
    kind: str  # one of `GUARANTEES`
    of: str  # the wanted risk, the threshold, or the run before
    by: str | None  # the measure of a right answer, or the K of lost items

    @classmethod
    def read(cls, name: Any, limit: float) -> Guarantee | None:
        """Read the text of a guarantee; None if it is a measure."""
        text = str(name).strip()  # the path of a run may have spaces
        kind = text.partition("(")[0]
        if kind not in GUARANTEES:
            return None
        parts = re.fullmatch(GUARANTEES[kind], text.removeprefix(kind))
        if parts is None:
            raise InputError(
                f"minimum (--min) cannot read {quoted(name)}; write coverage(risk=0.1), "
                "risk(threshold=8) or lost(after=RUN)@10."
            )
        return cls(text, limit, kind, *parts.groups())


def _limits(name: str, limits: Any, at_least: float | None = None) -> Limits:
    if limits is None:
        return None
    if not isinstance(limits, Mapping):
        return number(name, limits, at_least=at_least) + 0.0
    for measure in limits:
        if not isinstance(measure, str) and type(measure).__name__ != "Measure":
            raise InputError(f"{name} must name measures by texts; got {quoted(measure)}.")
    return {
        measure: number(f"{name} of {measure}", limit, at_least=at_least) + 0.0
        for measure, limit in limits.items()
    }


def _by_label(limits: Limits, evaluation: Evaluation, name: str) -> dict[str, float]:
    """Return limits by the names of measures in tables."""
    if limits is None:
        return {}
    if not isinstance(limits, Mapping):
        return dict.fromkeys(evaluation.labels, limits)
    by_label: dict[str, float] = {}
    for text, limit in limits.items():
        label = evaluation.label(evaluation.measure(text))
        if label in by_label:
            raise InputError(f"{name} names {label} twice.")
        by_label[label] = limit
    return by_label


@dataclass(frozen=True)
class Sensitivity:
    """Smallest drop that is detected with 80 % power."""

    drop: float | None  # None if it is unknown
    allowed: float
    units: int | None = None
    """Number of queries, or groups, that the allowed drop needs; None if there are enough."""
    note: str = ""  # why the drop is unknown

    @property
    def enough(self) -> bool | None:
        return None if self.drop is None else self.drop <= self.allowed

    def says(self, match: Match, rule: str) -> str:
        """Return the sensitivity in words."""
        units, power = _units(match, match.units), f"{percent_of(POWER)} power"
        if self.drop is None:
            return f"the drop that {units} would detect is unknown: {self.note}."
        begin = f"with {units}, a true drop of {amount(self.drop)} is detected with {power}"
        if rule == "safe":
            begin = (
                f"with {units}, an unchanged system passes with {power} if a drop of "
                f"{amount(self.drop)} is allowed"
            )
        if self.enough:
            return f"{begin}; allowed drop: {self.allowed:g}."
        if self.allowed == 0:
            return f"{begin}. Smaller drops often pass."
        needed = "" if self.units is None else f" {_units(match, self.units)} would be enough."
        if rule == "safe":
            return f"{begin}. Only {self.allowed:g} is allowed, so it often fails.{needed}"
        return (
            f"{begin}. Smaller drops often pass, even above the allowed {self.allowed:g}.{needed}"
        )

    def to_dict(self) -> dict[str, float | int | bool | str | None]:
        return {
            "drop": self.drop,
            "power": POWER,
            "enough": self.enough,
            "queries_needed": self.units,
            "note": self.note or None,
        }


def _units(match: Match, number: int) -> str:
    units = counted(number, *(QUERIES if match.groups is None else ("group", "groups")))
    return f"{units} with {match.by_trusted.queries:,} trusted ones" if match.by_trusted else units


def _differing(match: Match) -> str:
    verb = "differs" if match.differing == 1 else "differ"
    if match.by_trusted:
        return f"{match.differing:,} of {match.by_trusted.queries:,} trusted queries {verb}"
    return f"{_units(match, match.differing)} {verb}"


def sensitivity(
    match: Match, allowed: float, level: float, settings: ComparisonSettings
) -> Sensitivity:
    """Return what a match could detect, one-sided, at a level, if enough queries differ."""
    note = ""
    if match.averaged is None:
        note = "it is not a mean over queries"
    elif not (match.by_trusted or match).differs.any():
        note = f"no {'trusted ' * bool(match.by_trusted)}query differs"
    elif match.constant and match.units > 1:
        note = "all differ by the same amount"
    elif too_uneven(match, settings):
        note = f"{counted_as(*match.sizes[1:])}, too few"
    elif too_few(match, settings):
        note = f"only {_differing(match)}"
    if note:
        return Sensitivity(None, allowed, note=note)
    more = further_variances([match])
    if match.powered is not None:
        every = powered_spread([match])
    else:
        every = spread(columns_of([match]), match.weights, match.groups, more=more)
    least = detectable(every.error, every.freedom, level=level, power=POWER, sides=1)
    drop = float(match.on_scale(np.asarray(least))[0])
    if not math.isfinite(drop):
        return Sensitivity(None, allowed, note="the differences vary too much")
    units, averaged = None, _averaged(match, allowed)
    if 0 < allowed < drop and averaged is not None and not more and match.powered is None:
        deviation = float(every.error[0]) * math.sqrt(match.effective_units)
        analysis = PowerAnalysis(level, margin=0.0)  # one-sided
        needed = analysis.units(deviation, averaged, POWER)
        if needed is not None:
            units = math.ceil(needed * (match.units / match.effective_units) * (1 - CLOSE))
    return Sensitivity(drop, allowed, units)


def _averaged(match: Match, allowed: float) -> float | None:
    """Return an allowed drop on the scale of averaged values; None for sums."""
    aggregate = match.ours.sample.aggregate
    if aggregate == "mean":
        return allowed
    if aggregate == "geometric":
        middle = math.sqrt(match.value) * math.sqrt(match.against_value)
        return 2 * math.asinh(allowed / (2 * middle)) if middle > 0 else None
    return None


@dataclass(frozen=True)
class RuleResult:
    """Verdict of a rule on one measure."""

    measure: str
    word: str  # one of `FAILS` or `PASSES`, or "too few queries"
    queries: int
    groups: int | None
    baseline: float  # the baseline's value on the queries that count in both
    value: float  # the run's value on the same queries
    difference: float  # the run's value minus the baseline's
    drop: float  # by how much the run is worse
    low: float
    """Confidence interval of the difference whose ends hold one-sided at the level, or NaN."""
    high: float
    allowed: float
    p: float  # one-sided p of a drop; NaN if the rule does not use it
    corrected_p: float  # p, corrected for the number of measures (Holm)
    test: str | None
    sight: Sensitivity
    says: str
    sees: str
    wins: int
    ties: int
    losses: int
    trusted: Correction | None = None
    slice: str | None = None
    """Attribute and value of the slice of the queries; None for all queries."""

    @property
    def holds(self) -> bool:
        """True if it does not fail the gate; a slice with too few queries does not."""
        return self.word in PASSES or (self.word == TOO_FEW and self.slice is not None)

    @property
    def fails(self) -> bool:
        return self.word in FAILS

    @property
    def failure(self) -> str:
        moved = "rose" if self.difference > 0 else "fell"
        change = f"{moved} from {amount(self.baseline)} to {amount(self.value)}"
        if self.difference == 0:
            change = f"is {amount(self.value)} as before"
        name = f"{self.measure} ({self.slice})" if self.slice else self.measure
        if self.word == "inconclusive":
            return f"{name} {change}; not proven to be within the allowed {self.allowed:g}"
        significant = " (significant)" if self.word == "regression" else ""
        return f"{name} {change}{significant}; allowed drop: {self.allowed:g}"

    def to_dict(self) -> dict[str, Any]:
        values = plain_value(vars(self))
        values["holds"] = self.holds
        values["verdict"] = values.pop("word")
        values["allowed_drop"] = values.pop("allowed")
        values["interval"] = {"low": values.pop("low"), "high": values.pop("high")}
        values["sees"] = values.pop("sight")
        for name in ("trusted", "slice"):
            if values[name] is None:
                del values[name]
        return values


def apply_rule(
    matches: Sequence[Match],
    rule: str,
    allowed: Mapping[str, float],
    settings: ComparisonSettings,
    numbers: Numbers,
    slices: Sequence[str] = (),
) -> tuple[RuleResult, ...]:
    """Return the verdict on each match, corrected over all; `slices` names the slice of each."""
    for match in matches:
        if is_infinite(match):
            raise infinite_error(match, numbers)
        if not match.queries:
            raise InputError(
                f"{match.measure.name}: no query counts both today and in the baseline."
            )
    tests = outcomes(matches, settings, numbers)
    trusted = corrections_of(matches, tests, settings, numbers, one_sided=True)
    tested = [None if rule == "point" else test for test in tests]
    alone = np.full(len(matches), np.nan)
    if rule == "loss":
        pairs = zip(matches, tested, strict=True)
        alone = np.array([_one_sided(*pair, settings) for pair in pairs])
    together = corrected(np.where(np.isnan(alone), 1.0, alone), "holm")
    # The first step of Holm's correction: what a loss on one measure alone has to reach.
    among = len(matches) if rule == "loss" else 1
    level = 1 - (1 - settings.level) / (1 if rule == "safe" else len(matches))
    rows = []
    for i, (match, outcome) in enumerate(zip(matches, tested, strict=True)):
        drop, p = allowed[match.measure.name], float(together[i])
        word = _verdict(rule, match, outcome, p, drop, settings)
        needed = units_needed(match, settings, among) if rule == "loss" else settings.fewest_units
        too_few_units = (match.by_trusted or match).units < needed or too_uneven(match, settings)
        if rule != "point" and word not in ("identical", "safe") and too_few_units:
            word = TOO_FEW
        sight = sensitivity(match, drop, level, settings)
        low, high = (math.nan,) * 2 if outcome is None else (outcome.inner_low, outcome.inner_high)
        name = f"{match.measure.name}, {slices[i]}" if slices else match.measure.name
        says = f"{name}: {_sentence(match, word, rule, drop, low, high)}"
        if word == TOO_FEW:
            says = f"{says} {_why_too_few(match, GOALS[rule], needed, among, settings)}"
        wins, ties, losses = match.record
        rows.append(
            RuleResult(
                measure=match.measure.name,
                word=word,
                queries=match.queries,
                groups=match.number_of_groups,
                baseline=match.against_value,
                value=match.value,
                difference=match.difference,
                drop=drop_of(match),
                low=low,
                high=high,
                allowed=drop,
                p=float(alone[i]),
                corrected_p=math.nan if math.isnan(alone[i]) else p,
                test=None if outcome is None else outcome.test,
                sight=sight,
                says=says,
                sees=f"{name}: {sight.says(match, rule)}",
                wins=wins,
                ties=ties,
                losses=losses,
                trusted=trusted[i],
                slice=slices[i] if slices else None,
            )
        )
    return tuple(rows)


def units_needed(match: Match, settings: ComparisonSettings, measures: int) -> int:
    """Return how many queries, or groups, it takes for a significant drop, one-sided, corrected."""
    # If all of n units lose, their signs have p = 2⁻ⁿ. The t test of a mean goes beyond that if
    # enough units differ for a two-sided test, unless all lose the same amount.
    first_step = 1 - (1 - settings.level) / measures
    by_signs = fewest_units(first_step, sides=1)
    by_signs_alone = match.averaged is None or (match.constant and drop_of(match) > 0)
    return by_signs if by_signs_alone else min(by_signs, settings.fewest_units)


def drop_of(match: Match) -> float:
    drop = -match.difference if match.measure.higher_is_better else match.difference
    size = max(abs(x) for x in (match.value, match.against_value, 0.0) if math.isfinite(x))
    return 0.0 if abs(drop) <= CLOSE * size else drop


def _one_sided(match: Match, outcome: MatchOutcome | None, settings: ComparisonSettings) -> float:
    """Return one-sided p of a drop; NaN if no drop could be significant."""
    if outcome is None or too_few(match, settings, sides=1) or math.isnan(outcome.p):
        return 1.0 if outcome is not None and not match.differs.any() else math.nan
    return outcome.p / 2 if drop_of(match) > 0 else 1 - outcome.p / 2


def _verdict(
    rule: str,
    match: Match,
    outcome: MatchOutcome | None,
    p: float,
    allowed: float,
    settings: ComparisonSettings,
) -> str:
    """Return the verdict of a rule; `p` is one-sided and corrected."""
    if not match.differs.any():
        return "identical"
    drop = drop_of(match)
    if rule == "safe":
        assert outcome is not None
        worst = -outcome.inner_low if match.measure.higher_is_better else outcome.inner_high
        if too_few(match, settings):
            is_safe = is_inside(match, outcome, allowed, settings)
        else:
            is_safe = is_smaller(worst, allowed)
        return "safe" if is_safe else "inconclusive"
    if drop <= 0:
        return "no drop"
    if rule == "loss" and too_few(match, settings, sides=1):
        return "too few differ"
    if rule == "loss" and not below(p, settings.level):
        return "not significant"
    if drop > allowed and not math.isclose(drop, allowed, rel_tol=1e-9):
        return "regression" if rule == "loss" else "dropped"
    return "allowed"


def _sentence(match: Match, word: str, rule: str, allowed: float, low: float, high: float) -> str:
    drop = drop_of(match)
    if word == "identical":
        return f"the same value on all {counted(match.queries, *QUERIES)}."
    begin = f"unchanged at {amount(match.value)}"
    if drop != 0:
        moved = "rose" if match.difference > 0 else "fell"
        kind = "drop" if drop > 0 else "gain"
        if word == "regression":
            kind = f"significant {kind}"
        moved = f"{moved} from {amount(match.against_value)} to {amount(match.value)}"
        begin = f"{moved}, a {kind} of {amount(abs(drop))}"
    if word in ("regression", "dropped"):
        return f"{begin}; allowed drop: {allowed:g}."
    if word == "inconclusive":
        up = match.measure.higher_is_better
        worst, best = (-low, -high) if up else (high, low)
        if math.isnan(worst):
            why = "all differ by the same amount" if match.constant else f"only {_differing(match)}"
            return f"{begin}. It is not proven to be below the allowed {allowed:g}: {why}."
        significant = "is" if best > 0 else "is not"
        return (
            f"{begin}. The true drop may be {amount(worst)}, so it is not proven to be below the "
            f"allowed {allowed:g}. The drop {significant} significant."
        )
    if word == "safe":
        return f"{begin}. The true drop is significantly smaller than the allowed {allowed:g}."
    if word == "allowed":
        but = "Not" if rule == "point" else "The drop is significant, but not"
        return f"{begin}. {but} larger than the allowed {allowed:g}."
    if word == "too few differ":
        return f"{begin}. Only {_differing(match)}, too few for a significant drop."
    if word == "not significant":
        return f"{begin}, which is not significant."
    return f"{begin}."


def _why_too_few(
    match: Match, goal: str, needed: int, tests: int, settings: ComparisonSettings
) -> str:
    one, many = QUERIES if match.groups is None else ("group", "groups")
    units, level = counted(match.units, one, many), percent_of(settings.level)
    among = f" among {tests:,} tests" if tests > 1 else ""
    if too_uneven(match, settings):
        return (
            f"{units} count as {match.effective_units:,.1f} of equal weight (Kish), too few for "
            f"{goal} at the {level} level. Use more {many}, or more even ones."
        )
    verb = "is" if match.units == 1 else "are"
    return f"{units} {verb} too few for {goal} at the {level} level{among}. Use at least {needed}."


# -- minima and golden queries


@dataclass(frozen=True)
class Requirement:
    """A value that must be reached, and whether it is."""

    kind: str  # minimum or golden
    measure: str
    holds: bool
    value: float | None  # the value; None if the query does not count
    needed: float
    says: str
    query: str | None = None  # id of a golden query
    bound: float | None = None
    """The end of the confidence interval that must reach it, with the rule safe."""

    @property
    def fails(self) -> bool:
        return not self.holds

    @property
    def failure(self) -> str:
        return self.says.removesuffix(".")

    def to_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = plain_value({**vars(self), "holds": self.holds})
        del values["kind"], values["query" if self.query is None else "bound"]
        return values


def _falls_short(value: float, needed: float, higher_is_better: bool) -> bool:
    """Return whether a value is worse than needed by more than rounding."""
    worse = value < needed if higher_is_better else value > needed
    return worse and not math.isclose(value, needed, rel_tol=1e-9, abs_tol=1e-12)


def check_minima(
    minima: Mapping[str, float], numbers: Numbers, rule: str, settings: ComparisonSettings
) -> tuple[Requirement, ...]:
    """Check the minima of a run; with the rule safe, by the one-sided confidence bound."""
    intervals: Mapping[tuple[str, str], Interval] = {}
    if minima and rule == "safe":
        intervals = own_intervals(numbers, replace(settings, level=settings.levels[1]))
    run = numbers.runs[0]
    return tuple(
        check_limit(
            measure.name,
            numbers.entry(measure, run).number,
            minima[measure.name],
            at_least=measure.higher_is_better,
            interval=intervals.get((measure.name, run)),
        )
        for measure in numbers.measures
        if measure.name in minima
    )


def check_limit(
    name: str, value: float, needed: float, *, at_least: bool, interval: Interval | None = None
) -> Requirement:
    """Check a minimum, or a maximum; with an interval, its worse end must reach it."""
    bound, limit = None, f"the {'minimum' if at_least else 'maximum'} {needed:g}"
    if interval is None:
        short = _falls_short(value, needed, at_least)
        side = ("below" if at_least else "above") if short else "within"
        says = f" is {side} {limit}."
    elif not interval.known:
        short = True
        says = (
            f" may not be within {limit}, because there is no confidence interval "
            f"({interval.note})."
        )
    else:
        bound = interval.low if at_least else interval.high
        short = _falls_short(bound, needed, at_least)
        within = "not within" if short else "within"
        says = f"; the true value may be {amount(bound)}, which is {within} {limit}."
    says = f"{name}: {amount(value)}{says}"
    return Requirement("minimum", name, not short, value, needed, says, bound=bound)


def check_golden(
    golden: Sequence[GoldenQuery], evaluation: Evaluation, numbers: Numbers, now: str, then: str
) -> tuple[Requirement, ...]:
    """Check golden queries of the run `now`, which reach their minimum or their value `then`."""
    by_label, checks = {measure.name: measure for measure in numbers.measures}, []
    index = index_of(numbers.queries)
    for query in golden:
        if query.query not in index:
            hint = did_you_mean(query.query, list(numbers.queries)[:10_000])
            raise InputError(f"{query.place}: query {query.query!r} is not judged{hint}")
        wanted = list(numbers.measures)
        if query.measure is not None:
            wanted = [by_label[evaluation.label(evaluation.measure(query.measure))]]
        elif query.minimum is not None and len(wanted) > 1:
            raise InputError(
                f"{query.place}: the minimum of query {query.query!r} must name its measure: "
                f"{', '.join(by_label)}."
            )
        i, needed = index[query.query], query.minimum
        what = "its value in the baseline" if needed is None else "its minimum"
        for measure in wanted:
            if query.minimum is None and then in numbers.runs:
                needed = _value_at(numbers.entry(measure, then), i)
                if needed is None:
                    raise InputError(
                        f"{query.place}: query {query.query!r} has no value of {measure.name} in "
                        "the baseline; give it a minimum."
                    )
            if needed is None:
                continue
            name, value = measure.name, _value_at(numbers.entry(measure, now), i)
            holds = value is not None and not _falls_short(value, needed, measure.higher_is_better)
            verb = "reaches" if holds else "does not reach"
            says = "does not count today, and must reach"
            if value is not None:
                says = f"has {amount(value)} and {verb}"
            says = f"{name}: golden query {query.query} {says} {what}, {amount(needed)}."
            checks.append(Requirement("golden", name, holds, value, needed, says, query.query))
    return tuple(checks)


def _value_at(entry: Entry, query: int) -> float | None:
    i = int(np.searchsorted(entry.place, query))
    if i < len(entry.place) and entry.place[i] == query:
        return float(entry.values[i])
    return None
