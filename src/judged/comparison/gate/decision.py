"""From an evaluation and a baseline to the result of a gate."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.comparison.dependence import MAX_MISSING_SHARE, in_no_run
from judged.comparison.gate.baseline import (
    Baseline,
    BaselineSource,
    Conditions,
    JudgementChanges,
    NoBaselineError,
    SystemValues,
    fingerprints,
    system_values,
)
from judged.comparison.gate.result import Gate, QueryLoss
from judged.comparison.gate.rules import Requirement, apply_rule, check_minimum, falls_short
from judged.comparison.match import Match, matched
from judged.comparison.numbers import (
    Compared,
    Entry,
    Numbers,
    compared_by,
    own_interval,
    queries_of,
)
from judged.comparison.settings import CHANGED, RULES, ComparisonSettings
from judged.comparison.wording import amount, some
from judged.errors import InputError, PolicyError, did_you_mean, quoted
from judged.inputs.columns import candidates
from judged.inputs.dicts import as_id
from judged.inputs.keyed import groups_of
from judged.inputs.source import Source, decoded, not_a_table, open_source
from judged.inputs.tables import Kind
from judged.options import choice, number
from judged.outputs import check_target
from judged.statistics.samples import about_few_units, relative
from judged.text import Warned, listed, quote

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation

NOW, THEN = "now", "baseline"
"""Names of the two sides among the numbers."""
MAX_LOSSES = 10
"""Worst queries that are shown for each measure."""
MAKE_NEW = "--update-baseline --force (update='force')"
Limits = Mapping[str, float] | float | None


@dataclass(frozen=True)
class GateOptions:
    """The options of a gate, checked before anything is read."""

    rule: str
    max_drop: Limits
    minimum: Limits
    golden: Sequence[GoldenQuery]
    changed: str
    update: bool
    force: bool
    settings: ComparisonSettings

    @classmethod
    def of(
        cls,
        rule: str,
        max_drop: Any,
        minimum: Any,
        golden: Any,
        changed: str,
        update: bool | str,
        level: float,
    ) -> GateOptions:
        """Check the options that a caller gave."""
        settings = ComparisonSettings(level=level)
        if settings.level <= 0.5:
            raise InputError(f"the level of a gate must be above 0.5, such as 0.95; got {level!r}.")
        if not isinstance(update, bool) and not (isinstance(update, str) and update == "force"):
            raise InputError(f'update must be True, False or "force"; got {quoted(update)}.')
        return cls(
            choice("rule", rule, RULES),
            _limits("max_drop", max_drop, at_least=0),
            _limits("minimum", minimum),
            () if golden is None else golden_queries(golden),
            choice("changed", changed, CHANGED),
            bool(update),
            update == "force",
            settings,
        )

    def allowed_drops(self, evaluation: Evaluation) -> dict[str, float]:
        """Return the allowed drop of each measure, 0 by default; the rule safe needs more."""
        drops = _by_label(self.max_drop, evaluation, "max_drop")
        labels = [evaluation.label(measure) for measure in evaluation.measures]
        lacking = [label for label in labels if drops.get(label, 0.0) <= 0]
        if self.rule == "safe" and lacking:
            raise InputError(
                f"the rule safe needs an allowed drop above 0 for {listed(lacking)}: "
                f"max_drop={{{lacking[0]!r}: 0.01}} (--max-drop {lacking[0]}=0.01)."
            )
        return {label: drops.get(label, 0.0) for label in labels}

    def minima(self, evaluation: Evaluation) -> dict[str, float]:
        """Return the minimum of each measure that has one."""
        if isinstance(self.minimum, float) and len(evaluation.measures) > 1:
            labels = [evaluation.label(measure) for measure in evaluation.measures]
            raise InputError(
                f"minimum (--min) must name its measure ({', '.join(labels)}), such as "
                f"{{{labels[0]!r}: {self.minimum:g}}} (--min {labels[0]}={self.minimum:g})."
            )
        return _by_label(self.minimum, evaluation, "minimum")


def _limits(name: str, limits: Any, at_least: float | None = None) -> Limits:
    if limits is None:
        return None
    if isinstance(limits, Mapping):
        for measure in limits:
            if not isinstance(measure, str) and type(measure).__name__ != "Measure":
                raise InputError(f"{name} must name measures by texts; got {quoted(measure)}.")
        return {
            measure: number(f"{name} of {measure}", limit, at_least=at_least) + 0.0
            for measure, limit in limits.items()
        }
    return number(name, limits, at_least=at_least) + 0.0


def _by_label(limits: Limits, evaluation: Evaluation, name: str) -> dict[str, float]:
    """Return a limit for all measures, or for some, by their names in tables."""
    if limits is None:
        return {}
    if not isinstance(limits, Mapping):
        return {evaluation.label(measure): limits for measure in evaluation.measures}
    by_label: dict[str, float] = {}
    for text, limit in limits.items():
        label = evaluation.label(evaluation.measure(text))
        if label in by_label:
            raise InputError(f"{name} names {label} twice.")
        by_label[label] = limit
    return by_label


def check_before_reading(source: BaselineSource, options: GateOptions) -> None:
    """Check what can be checked before anything is read."""
    if source.absent:
        _check_without_baseline(options)
        return
    if not source.exists and not options.update:
        raise NoBaselineError(
            f"{source.source}: there is no baseline yet; make one with --update-baseline "
            "(update=True)."
        )
    if not options.update:
        return
    if source.path is None or source.run is not None:
        raise InputError(
            f"{source.source}: is not a baseline file, so it is not replaced by one; name another "
            "file to write the baseline to."
        )
    check_target(source.path)


def _check_without_baseline(options: GateOptions) -> None:
    if options.minimum is None and not options.golden:
        raise InputError(
            "a gate needs a baseline (baseline, --baseline), which is a file that a gate wrote or "
            "a run, or a minimum (minimum, --min)."
        )
    if options.update or options.max_drop is not None:
        option = "update (--update-baseline)" if options.update else "max_drop (--max-drop)"
        raise InputError(f"{option} needs a baseline (baseline, --baseline).")
    for golden in options.golden:
        if golden.minimum is None:
            raise InputError(
                f"{golden.place}: query {golden.query!r} has no minimum, and there is no baseline; "
                "give it a minimum, or a baseline (--baseline)."
            )


def decide(
    evaluation: Evaluation,
    before: Sequence[str],
    source: BaselineSource,
    options: GateOptions,
    groups: Any,
    *,
    missing: bool,
) -> Gate:
    """Decide, and write the baseline file if that is requested.

    `before` names the runs that are the baseline, and `missing` says whether a policy for missing
    queries was chosen.
    """
    queries = queries_of(evaluation)
    measures = compared_by(evaluation)
    runs = [run for run in evaluation.runs if run.name not in before]
    now = system_values(evaluation, runs, queries)
    then = None
    if before:
        then = system_values(evaluation, [evaluation.scored(name) for name in before], queries)
    rankings = evaluation.runs[0].rankings
    weights = None
    if rankings.weights is not None:
        weights = dict(zip(rankings.queries, rankings.weights.values.tolist(), strict=True))
    group_numbers, group_names = (None, ()) if groups is None else groups_of(groups, queries)
    notes: list[str] = [*map(Warned, evaluation.warnings())]
    notes += in_no_run([run.rankings for run in evaluation.runs], evaluation.policy)
    changes, unlike, today = JudgementChanges(), "", None
    place = np.arange(len(queries))
    if source.file is not None or options.update:
        by_query = None
        if group_numbers is not None:
            names = [group_names[at] for at in group_numbers]
            by_query = dict(zip(queries, names, strict=True))
        today = Baseline.of(
            now,
            Conditions.of(evaluation, _fingerprints(evaluation)),
            queries,
            weights=None if weights is None else {query: weights[query] for query in queries},
            groups=by_query,
        )
    if source.file is not None:
        assert today is not None
        unlike, changes = _comparable(today, source, options)
        if not unlike:
            scale = None
            if weights is not None:
                scale = relative(np.array([weights[query] for query in queries], np.float64))
            then = source.file.values_for(now, queries, scale)
            lost = {*changes.changed, *changes.new}
            place = np.array([at for at, q in enumerate(queries) if q not in lost], np.int64)
            notes += _about_file(source.file, today)
    if then is not None and not missing:
        notes += _check_missing(now, then, [queries[at] for at in place])
    sides = {NOW: now} if then is None else {NOW: now, THEN: then}
    entries = {
        (measure.name, side): values.entries[str(measure.measure)]
        for side, values in sides.items()
        for measure in measures
    }
    numbers = Numbers(tuple(sides), queries, measures, entries, group_numbers)
    allowed = {} if source.absent else options.allowed_drops(evaluation)
    minima = options.minima(evaluation)
    check_known(options.golden, queries)
    matches: list[Match] = []
    if then is not None:
        compared = numbers.only(place)
        matches = [matched(compared, measure, NOW, THEN) for measure in measures]
    if options.rule != "point":
        rows = (
            (
                *(match.measure.name, match.queries),
                None if match.groups is None else match.units,
                match.effective_units,
            )
            for match in matches
            if match.differs.any()
        )
        notes += map(Warned, about_few_units(rows))
    ruled = apply_rule(matches, options.rule, allowed, options.settings, numbers) if matches else ()
    gate = Gate(
        evaluation=evaluation,
        rule=options.rule,
        level=options.settings.level,
        run=now.name,
        repeats=now.repeats,
        source=source.source,
        against=None if then is None else then.name,
        kind="none" if source.absent else "file" if source.run is None else "run",
        rows=ruled,
        minima=_minima(measures, minima, numbers, options),
        golden=_golden(options.golden, evaluation, measures, numbers, set(place.tolist())),
        worst={match.measure.name: _losses(match, queries) for match in matches},
        changes=changes,
        notes=tuple(dict.fromkeys(notes)),
        unlike=unlike,
        to_update=options.update,
    )
    if today is None or not options.update or not (gate.passed or options.force):
        return gate
    _check_measures_kept(today, source, options)
    assert source.path is not None
    today.save(source.path)
    return replace(gate, updated=True)


def _fingerprints(evaluation: Evaluation) -> dict[str, str]:
    if evaluation.sources is None:
        raise InputError(
            "a baseline file needs the judgements, and rankings do not hold them. Give the "
            "judgements and the run, or compare with the rankings of another run."
        )
    return fingerprints(evaluation.sources.judgements())


def _comparable(
    today: Baseline, source: BaselineSource, options: GateOptions
) -> tuple[str, JudgementChanges]:
    """Return why a replaced baseline is not comparable, and the queries to leave out."""
    assert source.file is not None
    now, then = today.conditions, source.file.conditions
    changes = JudgementChanges.between(then.judgements, now.judgements)
    if unlike := [*now.unlike(then)]:
        why, fix = "; ".join(unlike), "Use the same options as it did"
    elif changes and options.changed == "error":
        why = f"its judgements are not today's; {changes}"
        fix = "Leave these queries out (--changed drop, changed='drop')"
    elif changes and not set(now.judgements) - {*changes.changed, *changes.new}:
        raise InputError(
            f"{source.source}: all queries have other judgements than in this baseline; make a new "
            f"one: {MAKE_NEW}."
        )
    else:
        return "", changes
    if options.force:
        return why, JudgementChanges()
    raise InputError(
        f"{source.source}: this baseline is not comparable: {why}. {fix}, or make a new one: "
        f"{MAKE_NEW}."
    )


def _check_measures_kept(today: Baseline, source: BaselineSource, options: GateOptions) -> None:
    if source.file is None or options.force:
        return
    before = source.file.conditions.measures
    lost = [str(of["label"]) for name, of in before.items() if name not in today.kept]
    if lost:
        raise InputError(
            f"{source.source}: an update would lose {', '.join(lost)}, which this baseline has "
            "too; name all of its measures, or add --force (update='force')."
        )


def _about_file(file: Baseline, today: Baseline) -> list[str]:
    notes: list[str] = []
    if file.judged != today.judged:
        notes.append(f"The baseline was made by judged {file.judged}; this is {today.judged}.")
    before, now = file.weights, today.weights
    differ = before is not now
    if before is not None and now is not None:
        differ = any(before[query] != now[query] for query in before.keys() & now.keys())
    if differ:
        notes.append(
            Warned("The weights are not those of the baseline. Both sides use today's weights.")
        )
    if today.groups is None and file.groups is not None:
        notes.append(Warned("The baseline was made with groups of queries; today's has no groups."))
    return notes


def _check_missing(now: SystemValues, then: SystemValues, queries: Sequence[str]) -> list[str]:
    """Check that neither side lacks many queries of the other; warn of a few."""
    notes: list[str] = []
    for ours, theirs, whose in ((now, then, "The run"), (then, now, "The baseline")):
        there = [query for query in queries if query not in theirs.missing]
        lost = [query for query in there if query in ours.missing]
        if len(lost) > MAX_MISSING_SHARE * len(there):
            raise PolicyError(
                f"{ours.name} has no results for {some(lost)} of the {len(there):,} judged queries "
                f"that {theirs.name} has. Did it run on all of them? To compare anyway, use "
                "policy={'missing': 'zero'} (--missing zero) to score these queries 0, or "
                "missing=skip to leave them out."
            )
        if lost:
            notes.append(Warned(f"{whose} has no results for {some(lost)} of the other side."))
    return notes


def _minima(
    measures: Sequence[Compared],
    minima: Mapping[str, float],
    numbers: Numbers,
    options: GateOptions,
) -> tuple[Requirement, ...]:
    """Check the minima on all queries; with the rule safe, by the one-sided confidence bound."""
    one_sided = replace(options.settings, level=options.settings.levels[1])
    checks = []
    for measure in measures:
        if measure.name in minima:
            interval = None
            if options.rule == "safe":
                interval = own_interval(numbers, measure, NOW, one_sided)
            value = numbers.entry(measure, NOW).number
            checks.append(check_minimum(measure, minima[measure.name], value, interval))
    return tuple(checks)


def _golden(
    golden: Sequence[GoldenQuery],
    evaluation: Evaluation,
    measures: Sequence[Compared],
    numbers: Numbers,
    compared: set[int],
) -> tuple[Requirement, ...]:
    by_label = {measure.name: measure for measure in measures}
    checks = []
    for query in golden:
        wanted = list(measures)
        if query.measure is not None:
            wanted = [by_label[evaluation.label(evaluation.measure(query.measure))]]
        elif query.minimum is not None and len(wanted) > 1:
            raise InputError(
                f"{query.place}: the minimum of query {query.query!r} must name its measure: "
                f"{', '.join(by_label)}."
            )
        at = numbers.queries.index(query.query)
        for measure in wanted:
            value = _value_at(numbers.entry(measure, NOW), at)
            if query.minimum is not None:
                checks.append(check_query(query, measure, value, query.minimum, minimum=True))
            elif THEN in numbers.runs:
                before = _value_at(numbers.entry(measure, THEN), at) if at in compared else None
                if before is None:
                    raise InputError(
                        f"{query.place}: query {query.query!r} has no comparable value of "
                        f"{measure.name} in the baseline; give it a minimum."
                    )
                checks.append(check_query(query, measure, value, before, minimum=False))
    return tuple(checks)


def _value_at(entry: Entry, query: int) -> float | None:
    at = int(np.searchsorted(entry.place, query))
    if at < len(entry.place) and entry.place[at] == query:
        return float(entry.values[at])
    return None


def _losses(match: Match, queries: Sequence[str]) -> tuple[QueryLoss, ...]:
    sign = -1.0 if match.measure.higher_is_better else 1.0
    lost = sign * match.differences
    order = np.argsort(-lost, kind="stable")[:MAX_LOSSES]
    losses = []
    for at in order[lost[order] > 0]:
        before, now = float(match.theirs.values[at]), float(match.ours.values[at])
        losses.append(QueryLoss(queries[match.ours.place[at]], before, now, now - before))
    return tuple(losses)


# -- golden queries

GOLDEN = Kind("golden queries", "minimum", "lines of a query, a measure and a minimum")
GIVEN = "the golden queries given"


@dataclass(frozen=True)
class GoldenQuery:
    """A query that must reach a value."""

    query: str
    measure: str | None
    """None for all measures of the gate."""
    minimum: float | None
    """None for the value in the baseline."""
    place: str
    """File and line, for messages."""


def check_query(
    golden: GoldenQuery, measure: Compared, value: float | None, needed: float, *, minimum: bool
) -> Requirement:
    """Check whether a golden query reaches its minimum, or its value in the baseline."""
    what = "its minimum" if minimum else "its value in the baseline"
    name = f"{measure.name}: golden query {golden.query}"
    if value is None:
        says = f"{name} does not count today, and must reach {what}, {amount(needed)}."
        return Requirement("golden", measure.name, False, None, needed, says, golden.query)
    short = falls_short(value, needed, measure.higher_is_better)
    verb = "does not reach" if short else "reaches"
    says = f"{name} has {amount(value)} and {verb} {what}, {amount(needed)}."
    return Requirement("golden", measure.name, not short, value, needed, says, golden.query)


def golden_queries(given: Any) -> list[GoldenQuery]:
    """Read golden queries: a file, {query: minimum}, {query: {measure: minimum}} or a list."""
    if isinstance(given, (str, PathLike)):
        source = open_source(fspath(given), GOLDEN)
        queries, place = list(_in_file(source)), source.label
    else:
        queries, place = list(_in_python(given, GIVEN)), GIVEN
    if not queries:
        raise InputError(f"{place}: no golden queries found.")
    seen: dict[tuple[str, str | None], GoldenQuery] = {}
    for golden in queries:
        if seen.setdefault((golden.query, golden.measure), golden) is not golden:
            raise InputError(f"{golden.place}: query {golden.query!r} occurs twice.")
    return queries


def _in_python(golden: Any, place: str) -> Iterator[GoldenQuery]:
    if not isinstance(golden, Mapping):
        if isinstance(golden, bytes) or not isinstance(golden, Iterable):
            is_list = False
        else:
            is_list = getattr(golden, "ndim", 1) == 1
        if not is_list:
            raise InputError(
                "golden must be a file, {query: minimum}, {query: {measure: minimum}} or a list of "
                f"queries; got {quoted(golden)}."
            )
    pairs = golden.items() if isinstance(golden, Mapping) else ((query, None) for query in golden)
    for key, minima in pairs:
        query = as_id(key, place)
        by_measure = minima if isinstance(minima, Mapping) else {None: minima}
        for measure, minimum in by_measure.items():
            if isinstance(minima, Mapping) and not isinstance(measure, str):
                raise InputError(
                    f"{place}: the name of a measure must be a text; got {quoted(measure)}."
                )
            if minimum is not None:
                minimum = number(f"{place}: the minimum of query {query!r}", minimum)
            yield GoldenQuery(query, measure, minimum, place)


def _in_file(source: Source) -> Iterator[GoldenQuery]:
    if source.head().lstrip()[:1] in (b"{", b"["):
        try:
            content = json.loads(source.read())
        except (ValueError, RecursionError) as error:
            raise InputError(f"{source.label}: invalid JSON ({error}).") from None
        yield from _in_python(content, source.label)
        return
    lines = [
        (at, decoded(source.label, at, line))
        for at, line in enumerate(source.lines(), 1)
        if line.strip() and not line.lstrip().startswith(b"#")
    ]
    if not lines:
        raise InputError(f"{source.label}: no golden queries found.")
    header = [cell.strip().lower() for cell in lines[0][1].replace("\t", ",").split(",")]
    headed = candidates("query", header[:1]) and set(header[1:]) <= {"measure", "minimum"}
    separator = "\t" if "\t" in lines[0][1] else ","
    for at, line in lines[bool(headed) :]:
        place = f"{source.label}, line {at}"
        if not headed:  # a query, and after white space a measure, a minimum or both
            fields = [cell.strip() for cell in line.split("\t" if "\t" in line else None)]
            rest = [field for field in fields[1:] if field]
            minimum = rest.pop() if rest and _is_number(rest[-1]) else ""
            yield _golden_query(fields[0], " ".join(rest), minimum, place)
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        except csv.Error as error:
            raise not_a_table(place, error) from None
        if len(cells) > len(header):
            raise InputError(
                f"{place}: expected at most {len(header)} fields, found {len(cells)}: "
                f"{quote(line)}."
            )
        named = dict(zip(header[1:], cells[1:], strict=False))
        query = cells[0] if cells else ""
        yield _golden_query(query, named.get("measure", ""), named.get("minimum", ""), place)


def _golden_query(query: str, measure: str, minimum: str, place: str) -> GoldenQuery:
    if not query:
        raise InputError(f"{place}: the query is missing.")
    if minimum and not (_is_number(minimum) and math.isfinite(float(minimum))):
        raise InputError(f"{place}: the minimum {quote(minimum)} is not a finite number.")
    return GoldenQuery(query, measure or None, float(minimum) if minimum else None, place)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def check_known(golden: Sequence[GoldenQuery], queries: Sequence[str]) -> None:
    """Check that all golden queries are judged."""
    known = set(queries)
    for wanted in golden:
        if wanted.query not in known:
            hint = did_you_mean(wanted.query, list(queries)[:10_000])
            raise InputError(f"{wanted.place}: query {wanted.query!r} is not judged{hint}")
