"""From data and a baseline to what a gate says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats
from judged.comparison.dependence import MOST_LACKING, in_no_run, says_missing
from judged.comparison.gate.baseline import (
    Baseline,
    Changes,
    Conditions,
    Given,
    Measured,
    NoBaselineError,
    fingerprints,
    measured,
)
from judged.comparison.gate.golden import (
    Reached,
    Wanted,
    golden_queries,
    of_query,
    of_whole,
    refuse_unknown,
)
from judged.comparison.gate.result import CHANGED, RULES, Gate, Worst
from judged.comparison.gate.rules import ruled
from judged.comparison.match import Match, matched
from judged.comparison.numbers import (
    Compared,
    Entry,
    Numbers,
    compared_by,
    own_interval,
    queries_of,
)
from judged.comparison.settings import Settings
from judged.comparison.wording import some
from judged.errors import InputError, PolicyError, quoted
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.runs import match_runs
from judged.evaluation.settings import EvaluationSettings
from judged.evaluation.trusted import at_level, correct_by_trusted
from judged.evaluation.warnings import announce_warnings
from judged.inputs.data import Data
from judged.inputs.formats import run_name
from judged.inputs.keyed import groups_of
from judged.inputs.repeated import Repeats
from judged.options import choice, flag, number
from judged.outputs import check_target
from judged.statistics.aggregates import relative
from judged.statistics.units import about_few_units
from judged.text import Warned, few, listed

if TYPE_CHECKING:
    from judged.evaluation.scores import Scored
    from judged.options import PolicyLike

Limits = Mapping[str, float] | float | None


@dataclass(frozen=True)
class Asked:
    """The options of a gate, checked."""

    rule: str
    max_drop: Limits
    minimum: Limits
    golden: Sequence[Wanted]
    changed: str
    update: bool
    force: bool
    settings: Settings

    @classmethod
    def of(
        cls,
        *,
        rule: Any,
        max_drop: Any,
        minimum: Any,
        golden: Any,
        changed: Any,
        update_baseline: Any,
        force: Any,
        level: Any,
    ) -> Asked:
        """What a caller gave, checked before anything is read."""
        settings = Settings.of(level=level)
        if settings.level <= 0.5:
            raise InputError(f"the level of a gate must be above 0.5, as 0.95; got {level!r}.")
        if flag("force", force) and not update_baseline:
            raise InputError(
                "force (--force) says to update the baseline though the gate fails; it goes with "
                "update_baseline (--update-baseline)."
            )
        return cls(
            choice("rule", rule, RULES),
            _limits("max_drop", max_drop, at_least=0),
            _limits("minimum", minimum),
            () if golden is None else golden_queries(golden),
            choice("changed", changed, CHANGED),
            flag("update_baseline", update_baseline),
            force,
            settings,
        )

    def allowed(self, evaluation: Evaluation) -> dict[str, float]:
        """The allowed drop of each measure, 0 where none is given; refused where the rule needs
        one."""
        given = of_measures(self.max_drop, evaluation, "max_drop")
        labels = [evaluation.label(measure) for measure in evaluation.measures]
        lacking = [label for label in labels if given.get(label, 0.0) <= 0]
        if self.rule == "safe" and lacking:
            raise InputError(
                f"the rule safe shows that a drop is smaller than the allowed one, so it needs an "
                f"allowed drop above 0 for {listed(lacking)}: max_drop={{{lacking[0]!r}: 0.01}} "
                f"(--max-drop {lacking[0]}=0.01)."
            )
        return {label: given.get(label, 0.0) for label in labels}

    def minima(self, evaluation: Evaluation) -> dict[str, float]:
        """What each measure has to reach, where it has to."""
        if isinstance(self.minimum, float) and len(evaluation.measures) > 1:
            labels = [evaluation.label(measure) for measure in evaluation.measures]
            raise InputError(
                f"minimum (--min) must say for which measure: {', '.join(labels)}, as "
                f"{{{labels[0]!r}: {self.minimum:g}}} (--min {labels[0]}={self.minimum:g})."
            )
        return of_measures(self.minimum, evaluation, "minimum")


def _limits(name: str, given: Any, at_least: float | None = None) -> Limits:
    if given is None:
        return None
    if isinstance(given, Mapping):
        for measure in given:
            if not isinstance(measure, str) and type(measure).__name__ != "Measure":
                raise InputError(f"{name} names measures by texts; got {quoted(measure)}.")
        return {
            measure: number(f"{name} of {measure}", own, at_least=at_least) + 0.0
            for measure, own in given.items()
        }
    return number(name, given, at_least=at_least) + 0.0


def of_measures(given: Limits, evaluation: Evaluation, name: str) -> dict[str, float]:
    """A number for all measures, or for some, by what tables call them."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return {evaluation.label(measure): given for measure in evaluation.measures}
    found: dict[str, float] = {}
    for text, own in given.items():
        label = evaluation.label(evaluation.measure(text))
        if label in found:
            raise InputError(f"{name} has {label} twice.")
        found[label] = own
    return found


NOW, THEN = "now", "baseline"
"""What the two sides are called among the numbers."""
WORST = 10
"""So many of the worst queries are shown."""
AGAIN = "--update-baseline --force (update_baseline=True, force=True)"


def refuse_early(given: Given, asked: Asked) -> None:
    """What can be refused before anything is read."""
    if given.absent:
        _refuse_without_baseline(asked)
        return
    if not given.exists and not asked.update:
        raise NoBaselineError(
            f"{given.source}: there is no baseline yet; make one with --update-baseline "
            "(update_baseline=True)."
        )
    if not asked.update:
        return
    if given.path is None or given.run is not None:
        raise InputError(
            f"{given.source}: is no baseline file, so it is never replaced by one; name another "
            "file to write the baseline to."
        )
    check_target(given.path)


def _refuse_without_baseline(asked: Asked) -> None:
    """Without a baseline only values that have to be reached can be checked."""
    if asked.minimum is None and not asked.golden:
        raise InputError(
            "a gate needs a baseline, a file that a gate wrote or a run (baseline, --baseline); or "
            "values to reach (minimum, --min)."
        )
    if asked.update or asked.max_drop is not None:
        option = "update_baseline (--update-baseline)" if asked.update else "max_drop (--max-drop)"
        raise InputError(f"{option} needs a baseline: name one by baseline (--baseline).")
    for each in asked.golden:
        if each.minimum is None:
            raise InputError(
                f"{each.place}: query {each.query!r} has no minimum, and there is no baseline "
                "whose value it could reach; give it a minimum, or a baseline (--baseline)."
            )


@dataclass(frozen=True, eq=False)
class Scores:
    """Today's run, and the baseline where that is a run too, scored with today's judgements."""

    evaluation: Evaluation
    conditions: Conditions
    now: Measured
    then: Measured | None
    queries: tuple[str, ...]


def scores(
    data: Data,
    given: Given,
    request: EvaluationSettings,
    *,
    level: float,
    weights: Any,
    trusted: Any = None,
    **ranked: Any,
) -> Scores:
    """Score everything that has to be scored; the level is that of corrected numbers."""
    before: dict[str | None, Any] = {}
    if given.run is not None:
        name = given.name or ("baseline" if given.path is None else run_name(given.path))
        parts = given.run.runs if isinstance(given.run, Repeats) else (given.run,)
        for each in parts:
            own = name
            while own in data.given_runs or own in before:
                own = f"{own} (baseline)" if own in data.given_runs else f"{own} (again)"
            before[own] = each
        data = replace(data, given_runs={**data.given_runs, **before})
    with data.reading_ahead() as reading:
        found = match_runs(reading, request, weights=weights, trusted=trusted, **ranked)
    evaluation = evaluate_rankings(found.rankings, request, weights=weights)
    if trusted is not None:
        evaluation = at_level(correct_by_trusted(evaluation, trusted, found.trusted), level)
    announce_warnings(evaluation)
    prints = fingerprints(found.judgements, duplicates=request.policy.duplicates)
    conditions = Conditions.of(evaluation, prints, depth=request.policy.depth)
    queries = queries_of(evaluation)
    size = len(evaluation.runs) - len(before)
    now, then = (
        measured(evaluation, runs, _name_of(runs), queries) if runs else None
        for runs in (evaluation.runs[:size], evaluation.runs[size:])
    )
    assert now is not None
    return Scores(evaluation, conditions, now, then, queries)


def _name_of(runs: Sequence[Scored]) -> str:
    """What repeats are called together."""
    return few([run.name for run in runs])


def decide(
    scored: Scores, given: Given, asked: Asked, policy: PolicyLike | None, groups: Any
) -> tuple[Gate, Baseline]:
    """What the gate says, and the baseline that could be kept of today."""
    evaluation, queries = scored.evaluation, scored.queries
    measures = compared_by(evaluation)
    weights = _weights(evaluation, queries)
    numbered, names = (None, ()) if groups is None else groups_of(groups, queries)
    today = Baseline.of(
        scored.now,
        scored.conditions,
        queries,
        weights=None if weights is None else dict(zip(queries, weights.tolist(), strict=True)),
        groups=None
        if numbered is None
        else {query: names[at] for query, at in zip(queries, numbered.tolist(), strict=True)},
    )
    notes: list[str] = [*map(Warned, evaluation.warnings())]
    notes += in_no_run(_rankings(evaluation), evaluation.policy)
    then, changes, unlike = scored.then, Changes(), ""
    place = np.arange(len(queries))
    if given.file is not None:
        unlike, changes = _comparable(scored, given, asked)
        if not unlike:
            scale = None if weights is None else relative(weights)
            then = given.file.measured(scored.now, queries, scale)
            lost = {*changes.changed, *changes.new}
            place = np.array([at for at, q in enumerate(queries) if q not in lost], np.int64)
            notes += _about_file(given.file, today)
    if then is not None and not says_missing(policy):
        notes += _lacking(scored.now, then, [queries[at] for at in place])
    numbers = _numbers(scored, then, measures, numbered)
    allowed = {} if given.absent else asked.allowed(evaluation)
    minima = asked.minima(evaluation)
    refuse_unknown(asked.golden, queries)
    matches: list[Match] = []
    if then is not None:
        compared = numbers.only(place)
        matches = [matched(compared, measure, NOW, THEN) for measure in measures]
    if asked.rule != "point":
        few = about_few_units(
            (
                *(match.measure.name, match.queries),
                None if match.groups is None else match.units,
                match.effective_units,
            )
            for match in matches
            if match.differs.any()
        )
        notes += map(Warned, few)
    rows = ruled(matches, asked.rule, allowed, asked.settings, numbers) if matches else ()
    found = Gate(
        evaluation=evaluation,
        rule=asked.rule,
        level=asked.settings.level,
        run=scored.now.name,
        repeats=scored.now.repeats,
        source=given.source,
        against=None if then is None else then.name,
        kind="none" if given.absent else "file" if given.run is None else "run",
        rows=rows,
        minima=_minima(measures, minima, numbers, asked),
        golden=_golden(asked.golden, evaluation, measures, numbers, set(place.tolist())),
        worst={match.measure.name: _worst(match, queries) for match in matches},
        changes=changes,
        notes=tuple(dict.fromkeys(notes)),
        unlike=unlike,
    )
    return found, today


def _rankings(evaluation: Evaluation) -> list[Any]:
    return [run.rankings for run in evaluation.runs]


def _weights(evaluation: Evaluation, queries: Sequence[str]) -> Floats | None:
    """The weight of each query, in the order of ids."""
    r = evaluation.runs[0].rankings
    if r.weights is None:
        return None
    by_query = dict(zip(r.queries, r.weights.values.tolist(), strict=True))
    return np.array([by_query[query] for query in queries], np.float64)


def _comparable(scored: Scores, given: Given, asked: Asked) -> tuple[str, Changes]:
    """Why a baseline file cannot be compared with, where it is to be replaced all the same; and
    the queries that are left out. Anything else is refused."""
    assert given.file is not None
    now, then = scored.conditions, given.file.conditions
    if unlike := now.unlike(then):
        said = "; ".join(unlike)
        if asked.update and asked.force:
            return said, Changes()
        raise InputError(
            f"{given.source}: this baseline cannot be compared with: {said}. Ask for the same as "
            f"it did, or make a new one: {AGAIN}."
        )
    changes = Changes.between(then.judgements, now.judgements)
    if not changes:
        return "", changes
    if asked.changed == "error":
        said = f"its judgements are not today's; {changes}"
        if asked.update and asked.force:
            return said, Changes()
        raise InputError(
            f"{given.source}: this baseline cannot be compared with: {said}. Leave these queries "
            f"out: --changed drop (changed='drop'); or make a new one: {AGAIN}."
        )
    if not set(now.judgements) - {*changes.changed, *changes.new}:
        raise InputError(
            f"{given.source}: no query has the judgements that it had in this baseline; make a new "
            f"one: {AGAIN}."
        )
    return "", changes


def refuse_fewer(today: Baseline, given: Given, asked: Asked) -> None:
    """A baseline loses no measure by being updated."""
    if given.file is None or asked.force:
        return
    lost = [
        str(own["label"])
        for name, own in given.file.conditions.measures.items()
        if name not in today.kept
    ]
    if lost:
        raise InputError(
            f"{given.source}: this baseline has {', '.join(lost)} too, which an update would lose; "
            "ask for all of its measures, or add --force (force=True)."
        )


def _about_file(file: Baseline, today: Baseline) -> list[str]:
    """What is not as it was and does not stand in the way."""
    said: list[str] = []
    if file.judged != today.judged:
        said.append(f"The baseline was made by judged {file.judged}; this is {today.judged}.")
    if _other(file.weights, today.weights):
        said.append(Warned("The weights are not those of the baseline; today's weigh both sides."))
    if today.groups is None and file.groups is not None:
        said.append(Warned("The baseline was made with groups of queries; today there are none."))
    return said


def _other(then: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> bool:
    """Whether queries that are in both have something else."""
    if then is None or now is None:
        return then is not now
    return any(then[query] != now[query] for query in then.keys() & now.keys())


def _lacking(now: Measured, then: Measured, queries: Sequence[str]) -> list[str]:
    """Refuse where one side lacks many of the queries that the other has; note a few."""
    said: list[str] = []
    for ours, theirs, whose in ((now, then, "The run"), (then, now, "The baseline")):
        there = [query for query in queries if query not in theirs.missing]
        lost = [query for query in there if query in ours.missing]
        if len(lost) > MOST_LACKING * len(there):
            raise PolicyError(
                f"{ours.name} lacks {some(lost)} of the {len(there):,} judged queries that "
                f"{theirs.name} has: did it run on all of them? To compare the two all the same, "
                "say what these queries count: policy={'missing': 'zero'} (--missing zero) takes "
                "them for empty lists, missing=skip leaves them out."
            )
        if lost:
            said.append(Warned(f"{whose} lacks {some(lost)} that the other side has."))
    return said


def _numbers(
    scored: Scores, then: Measured | None, measures: Sequence[Compared], groups: Any
) -> Numbers:
    sides = {NOW: scored.now} if then is None else {NOW: scored.now, THEN: then}
    entries = {
        (measure.name, side): own.entries[str(measure.measure)]
        for side, own in sides.items()
        for measure in measures
    }
    return Numbers(tuple(sides), scored.queries, tuple(measures), entries, groups)


def _minima(
    measures: Sequence[Compared], minima: Mapping[str, float], numbers: Numbers, asked: Asked
) -> tuple[Reached, ...]:
    """What has to be reached on all queries, as `evaluate` has them; under the rule safe by the
    interval whose ends hold one by one at the level."""
    one_sided = replace(asked.settings, level=asked.settings.levels[1])
    found = []
    for measure in measures:
        if measure.name not in minima:
            continue
        entry = numbers.entry(measure, NOW)
        value = entry.number
        own = own_interval(numbers, measure, NOW, one_sided) if asked.rule == "safe" else None
        found.append(of_whole(measure, minima[measure.name], value, own))
    return tuple(found)


def _golden(
    wanted: Sequence[Wanted],
    evaluation: Evaluation,
    measures: Sequence[Compared],
    numbers: Numbers,
    compared: set[int],
) -> tuple[Reached, ...]:
    """What each golden query has to reach."""
    by_label = {measure.name: measure for measure in measures}
    found = []
    for each in wanted:
        own = list(measures)
        if each.measure is not None:
            own = [by_label[evaluation.label(evaluation.measure(each.measure))]]
        elif each.minimum is not None and len(own) > 1:
            raise InputError(
                f"{each.place}: the minimum of query {each.query!r} must say for which measure: "
                f"{', '.join(by_label)}."
            )
        at = numbers.queries.index(each.query)
        for measure in own:
            value = _value_at(numbers.entry(measure, NOW), at)
            if each.minimum is not None:
                found.append(of_query(each, measure, value, each.minimum, own=True))
            elif THEN in numbers.runs:
                before = _value_at(numbers.entry(measure, THEN), at) if at in compared else None
                if before is None:
                    raise InputError(
                        f"{each.place}: query {each.query!r} has no value of {measure.name} in the "
                        "baseline that could be compared with; give it a minimum."
                    )
                found.append(of_query(each, measure, value, before, own=False))
    return tuple(found)


def _value_at(entry: Entry, query: int) -> float | None:
    at = int(np.searchsorted(entry.place, query))
    if at < len(entry.place) and entry.place[at] == query:
        return float(entry.values[at])
    return None


def _worst(match: Match, queries: Sequence[str]) -> tuple[Worst, ...]:
    """The queries that lost most, the first by id among equals."""
    sign = -1.0 if match.measure.higher_is_better else 1.0
    lost = sign * match.differences
    order = np.argsort(-lost, kind="stable")[:WORST]
    return tuple(
        Worst(
            queries[match.ours.place[at]],
            float(match.theirs.values[at]),
            float(match.ours.values[at]),
        )
        for at in order
        if lost[at] > 0
    )


def settled(gate: Gate, today: Baseline, given: Given, asked: Asked) -> Gate:
    """The gate, after the baseline was written where it is to be."""
    if not asked.update:
        return gate
    assert given.path is not None
    if not gate.passed and not asked.force:
        return replace(gate, to_update=True)
    refuse_fewer(today, given, asked)
    today.save(given.path)
    return replace(gate, updated=True, to_update=True)
