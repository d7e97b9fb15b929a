"""The quality gate: fail if a run is worse than its baseline."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike, fspath
from typing import Any, ClassVar, Unpack
from xml.etree import ElementTree

import numpy as np

from judged import __version__
from judged.comparison.baseline import BaselineSource, baseline_source, make_baseline
from judged.comparison.dependence import names_missing, refuse_missing, warn_of_missing
from judged.comparison.export import Column, NumberFormat, trusted_columns
from judged.comparison.numbers import Compared, Numbers, with_repeats
from judged.comparison.outcomes import Match, match_pair
from judged.comparison.rules import (
    GOALS,
    TOO_FEW,
    GateOptions,
    Guarantee,
    Requirement,
    RuleResult,
    apply_rule,
    check_golden,
    check_limit,
    check_minima,
)
from judged.comparison.settings import GATE_SAVED_AS, RULES
from judged.comparison.slices import cut_slices, relevant_items
from judged.comparison.verdicts import TRUSTED_COLUMNS, trusted_cells
from judged.comparison.wording import list_queries, percent_of, shown_p, with_sign
from judged.errors import InputError
from judged.evaluation.abstention import RIGHT
from judged.evaluation.evaluate import evaluate
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.trusted import at_level, refuse_beside
from judged.evaluation.wording import about_trusted
from judged.inputs import as_runs
from judged.inputs.data import check_not_rankings
from judged.inputs.formats import is_rankings_file, run_name
from judged.inputs.keyed import groups_of
from judged.inputs.repeated import Repeats
from judged.measures import HEADLINE
from judged.options import (
    GroupsLike,
    JudgementsLike,
    MeasuresLike,
    Path,
    RunLike,
    RunsLike,
    Scoring,
    SlicesLike,
    checked,
    takes_scoring,
)
from judged.results import Display, Document, Frame, Result, Table, plain_value
from judged.runs.funnel import funnel_of
from judged.statistics.intervals import Interval
from judged.statistics.samples import about_few_units, relative
from judged.text import Bold, Warned, counted, few, listed, readable, shown

__all__ = ["Gate", "gate", "gate_evaluation"]

NOW, THEN = "the run", "the baseline"
"""Names of the two sides among the numbers."""
MAX_LOSSES = 10
"""Worst queries that are shown for each measure."""
WORDS = frozenset({"measure", "verdict", "query", "slice"})
FORMAT = NumberFormat(Compared(""))
"""Format of the values of all measures."""


@takes_scoring
@checked
def gate(
    judgements: JudgementsLike,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    baseline: Path | RunLike | None = None,
    rule: str = "loss",
    max_drop: Mapping[str, float] | float | None = None,
    minimum: Mapping[str, float] | float | None = None,
    golden: Any = None,
    update: bool | str = False,
    level: float = 0.95,
    groups: GroupsLike | None = None,
    slices: SlicesLike | None = None,
    **scoring: Unpack[Scoring],
) -> Gate:
    """Decide whether a run may replace a baseline.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunsLike, optional
        A run. Several, as {name: run}, a list of files or `repeats`, are repeats of the same
        system, and each query counts with their mean. None if `judgements` are rows that hold
        relevant and retrieved ids.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default those of the baseline file, with a run as baseline
        nDCG@10, and without one those that `minimum` names.
    baseline : path or run, optional
        A file that a gate wrote, or a run in any form that `evaluate` takes, which is scored with
        today's judgements. Without one, only `minimum` and `golden` with minima are checked.
    rule : {"loss", "safe", "point"}, optional
        "loss" fails if the drop is significant and larger than allowed. "safe" fails unless the
        drop is significantly smaller than allowed. "point" compares values without a test.
    max_drop : float or dict, optional
        Allowed drop, for all measures or {measure: drop}; 0 by default.
    minimum : float or dict, optional
        Value that a measure must reach, {measure: value}, or a maximum if lower is better. With
        "safe", the worse end of its confidence interval must reach it. Beside measures, it can
        name coverage(risk=0.1), the share of queries that the run answers if at most 10 % of the
        answers are wrong; risk(threshold=8), the largest share of wrong answers from a best score
        of 8 on; and lost(after=RUN)@10, the largest share of relevant items that the run loses
        after another stage. The first two hold with confidence, as by `Evaluation.abstention`.
    golden : file, dict or list, optional
        Queries that must reach their value in the baseline, or a minimum: {query: minimum},
        {query: {measure: minimum}}, a list of queries, or a file with lines of a query, a measure
        and a minimum, the last two optional.
    update : bool or "force", optional
        Write the baseline file if the gate passes, or if there is none. With "force", write it
        even if the gate fails or the file is not comparable.
    level : float, optional
        Confidence level. A drop is significant if its one-sided p, corrected, is below 1 - level.
    groups : GroupsLike, optional
        The group of each query, if queries of a group are not independent.
    slices : SlicesLike, optional
        Attributes of the queries, {query: {attribute: value}}, to apply the rule in each slice too,
        corrected over all slices of an attribute. Slices with too few queries do not fail.
    **scoring

    Returns
    -------
    Gate
        With `trusted`, the rule uses corrected differences, and the baseline must be a run.
        `passed` and `decided` are both False if nothing fails, but there are too few queries.

    >>> judgements = {str(q): {"a": 1} for q in range(8)}
    >>> good = {str(q): ["a", "b"] for q in range(8)}
    >>> bad = {str(q): ["b", "a"] if q < 7 else ["b", "c", "a"] for q in range(8)}
    >>> print(gate(judgements, bad, "RR", baseline=good).says())
    FAILED: RR fell from 1.000 to 0.479 (significant); allowed drop: 0.
    >>> gate(judgements, good, "RR", baseline=good).passed
    True
    """
    options = GateOptions(rule, max_drop, minimum, golden, update, level)
    if scoring.get("skip_bad"):
        raise InputError("skip_bad does not work with a gate, which needs its runs; leave it out.")
    trusted = scoring.get("trusted")
    refuse_beside(
        trusted,
        groups=groups is not None,
        golden=golden is not None,
        guarantees=options.guarantees,
        slices=slices is not None and slices is not False,
        update=update,
    )
    source = baseline_source(baseline)
    if trusted is not None and source.run is None and not source.absent:
        raise InputError(
            f"{source.source}: a baseline file holds values by one set of judgements, so "
            "trusted (--trusted) needs a run as the baseline."
        )
    options.check_source(source)
    if measures is None and source.file is not None:
        measures = source.file.labels
    if measures is None and source.absent:
        measures = [*options.minimum] if isinstance(options.minimum, Mapping) else None
        measures = HEADLINE if options.guarantees and not measures else measures
    if measures is None and source.run is not None and scoring.get("convention") is None:
        measures = HEADLINE
    missing = names_missing(scoring.get("policy"))
    evaluation, before = _evaluate(judgements, run, source, measures, **scoring)
    if evaluation.trusted is not None:
        evaluation = at_level(evaluation, level)
    return _decide(evaluation, before, source, options, groups, slices, missing=missing)


def _evaluate(
    judgements: Any, run: Any, source: BaselineSource, measures: Any, **scoring: Any
) -> tuple[Evaluation, list[str]]:
    """Evaluate today's runs and those of the baseline, and return the names of the latter."""
    if is_rankings_file(judgements):
        others = [run] if is_rankings_file(run) else list(run or ())
        named = source.run if source.name is None else f"{source.name}={source.run}"
        baselines = [] if source.run is None else [named]
        evaluation = evaluate(judgements, [*others, *baselines], measures, **scoring)
        return evaluation, [scored.name for scored in evaluation.runs[1 + len(others) :]]
    check_not_rankings(judgements, source.run)
    if isinstance(run, Repeats):
        run = {f"repeat {number}": repeat for number, repeat in enumerate(run.runs, 1)}
    runs = {} if run is None else as_runs(run)
    refuse_beside(scoring.get("trusted"), repeats=len(runs) > 1 or isinstance(source.run, Repeats))
    if source.run is None:
        return evaluate(judgements, run, measures, **scoring), []
    if None in runs:
        runs = {run_name(fspath(run)) if isinstance(run, str | PathLike) else "run": run}
    base = source.name or ("baseline" if source.path is None else run_name(source.path))
    before: dict[str | None, Any] = {}
    for before_run in source.run.runs if isinstance(source.run, Repeats) else (source.run,):
        name = base
        while name in runs or name in before:
            name = f"{name} (baseline)" if name in runs else f"{name} (again)"
        before[name] = before_run
    evaluation = evaluate(judgements, {**runs, **before}, measures, **scoring)
    names = [scored.name for scored in evaluation.runs]
    if len(names) == len(before):
        raise InputError(
            "a gate needs a run (run); only rows that hold relevant and retrieved ids need none."
        )
    return evaluation, names[len(names) - len(before) :]


def gate_evaluation(
    evaluation: Evaluation,
    baseline: Path | None = None,
    *,
    groups: GroupsLike | None = None,
    slices: SlicesLike | None = None,
    **options: Any,
) -> Gate:
    """Decide whether the runs of an evaluation may replace a baseline."""
    # The baseline is a file that a gate wrote, or the name of one of the runs; the other runs are
    # repeats of one system. Other options are those of `gate`.
    rules = GateOptions(**options)
    names = [run.name for run in evaluation.runs]
    before = [baseline] if isinstance(baseline, str) and baseline in names else []
    if before and len(names) > 1:
        source = BaselineSource(str(baseline), run=baseline, name=str(baseline))
    else:
        before, source = [], baseline_source(baseline)
        if source.run is not None:
            raise InputError(
                f"{source.source}: is not a baseline file; evaluate this run together with the "
                "others, and give its name as the baseline."
            )
    rules.check_source(source)
    return _decide(evaluation, before, source, rules, groups, slices, missing=False)


# -- decision


def _decide(
    evaluation: Evaluation,
    before: Sequence[str],
    source: BaselineSource,
    options: GateOptions,
    groups: GroupsLike | None,
    slices: SlicesLike | None,
    *,
    missing: bool,
) -> Gate:
    """Decide, and write the baseline file if that is requested."""
    # `before` names the runs that are the baseline, and `missing` says whether a policy for missing
    # queries was chosen.
    if source.absent and slices is not None and slices is not False:
        raise InputError("slices (--slices) needs baseline (--baseline).")
    runs = [run.name for run in evaluation.runs if run.name not in before]
    numbers = with_repeats(Numbers.of(evaluation), {NOW: runs} | ({THEN: before} if before else {}))
    queries, measures = numbers.queries, numbers.measures
    today = {measure.name: numbers.entry(measure, NOW) for measure in measures}
    then = few(before)
    lacking, lacking_then = (_lacking(evaluation, names) for names in (runs, before))
    rankings, weights = evaluation.runs[0].rankings, None
    if rankings.weights is not None:
        by_query = dict(zip(rankings.queries, rankings.weights.values.tolist(), strict=True))
        weights = {query: by_query[query] for query in queries}
    group_numbers, group_of = None, None
    if groups is not None:
        group_numbers, names = groups_of(groups, queries)
        group_of = {query: names[i] for query, i in zip(queries, group_numbers, strict=True)}
    notes: list[str] = [*map(Warned, evaluation.warnings())]
    notes += warn_of_missing([run.rankings for run in evaluation.runs], evaluation.policy)
    unlike, new_file = "", None
    if source.file is not None or options.update:
        new_file = make_baseline(
            evaluation,
            today,
            queries,
            run=few(runs),
            repeats=len(runs),
            missing=sorted(lacking),
            weights=weights,
            groups=group_of,
        )
    entries = dict(numbers.entries)
    if source.file is not None:
        assert new_file is not None
        unlike = source.difference(new_file, force=options.force)
        if not unlike:
            scale = None if weights is None else relative(np.array([*weights.values()], float))
            of_file = source.file.entries(today, queries, scale)
            entries |= {(label, THEN): entry for label, entry in of_file.items()}
            then, lacking_then = source.file.content["run"], source.file.content["missing"]
            notes += source.notes(new_file)
    sides = (NOW, THEN) if then else (NOW,)
    numbers = replace(numbers, runs=sides, entries=entries, groups=group_numbers)
    if then and not missing:
        notes += _check_missing((few(runs), lacking), (then, lacking_then), queries)
    allowed = {} if source.absent else options.allowed_drops(evaluation)
    minima = options.minima(evaluation)
    settings = options.settings
    matches = [match_pair(numbers, measure, NOW, THEN) for measure in measures] if then else []
    rows = apply_rule(matches, options.rule, allowed, settings, numbers) if then else ()
    in_slices: list[RuleResult] = []
    if then:
        in_slices, about_slices = _gate_slices(evaluation, numbers, slices, options, allowed)
        notes += about_slices
    if options.rule != "point":
        differing = (match for match in matches if match.differs.any())
        notes += map(Warned, about_few_units(match.sizes for match in differing))
    result = Gate(
        evaluation=evaluation,
        rule=options.rule,
        level=settings.level,
        run=few(runs),
        repeats=len(runs),
        source=source.source,
        against=then or None,
        kind="none" if source.absent else "file" if source.run is None else "run",
        rows=rows,
        minima=(
            *check_minima(minima, replace(numbers, runs=(NOW,)), options.rule, settings),
            *(
                _check_guarantee(wanted, evaluation, run, settings.level, several=len(runs) > 1)
                for wanted in options.guarantees
                for run in runs
            ),
        ),
        golden=check_golden(options.golden, evaluation, numbers, NOW, THEN),
        worst={match.measure.name: _losses(match, queries) for match in matches},
        notes=tuple(dict.fromkeys(notes)),
        unlike=unlike,
        to_update=bool(options.update),
        slices=tuple(in_slices),
    )
    if new_file is None or not options.update or not (result.passed or options.force):
        return result
    if not options.force:
        source.check_measures_kept(new_file)
    assert source.path is not None
    new_file.save(source.path)
    return replace(result, updated=True)


def _gate_slices(
    evaluation: Evaluation,
    numbers: Numbers,
    slices: Any,
    options: GateOptions,
    allowed: Mapping[str, float],
) -> tuple[list[RuleResult], list[str]]:
    """Apply the rule in each slice; the slices of an attribute are corrected as one family."""
    cuts, notes = cut_slices(numbers, slices, partial(relevant_items, evaluation, numbers.queries))
    rows: list[RuleResult] = []
    for attribute, parts in cuts.items():
        names, matches = [], []
        for name, place in parts.items():
            part = numbers.only(place)
            for measure in numbers.measures:
                match = match_pair(part, measure, NOW, THEN)
                if match.queries:
                    names.append(f"{attribute} {name}")
                    matches.append(match)
        rows += apply_rule(matches, options.rule, allowed, options.settings, numbers, names)
    return rows, notes


def _check_guarantee(
    wanted: Guarantee, evaluation: Evaluation, run: str, level: float, *, several: bool
) -> Requirement:
    """Check what abstention guarantees, or what a run lost after the one before."""
    interval = None
    if wanted.kind == "lost":
        value = _lost_share(wanted, evaluation, run)
    else:
        option = {"risk" if wanted.kind == "coverage" else "threshold": float(wanted.of)}
        found = evaluation.abstention(wanted.by or RIGHT, level=level, run=run, **option)
        value = found.coverage
        if wanted.kind == "risk":
            *_, value, bound = found.rows[0]
            interval = Interval(value, 0.0, bound)
    at_least = wanted.kind == "coverage"
    name = f"{wanted.name} of {run}" if several else wanted.name
    return check_limit(name, value, wanted.limit, at_least=at_least, interval=interval)


def _lost_share(wanted: Guarantee, evaluation: Evaluation, run: str) -> float:
    """Return the share of relevant items that a run lost after the one before, as in a funnel."""
    data, policy = evaluation.sources, evaluation.policy
    if data is None:
        raise InputError(
            f"{wanted.name} needs the judgements and the runs, and rankings do not hold them."
        )
    runs = {name or "run": given for name, given in data.given_runs.items()}
    stages: dict[str | None, Any] = {wanted.of: runs.get(wanted.of, wanted.of), run: runs[run]}
    chosen = {name: getattr(policy, name) for name in ("ties", "duplicates", "unjudged", "depth")}
    whole = replace(data.whole(), given_runs=stages)
    found = funnel_of(whole, k=int(wanted.by or 10), policy=chosen)
    return sum(found.losses[run].values()) / found.relevant


def _lacking(evaluation: Evaluation, runs: Sequence[str]) -> set[str]:
    """Return the queries that one of some runs lacks."""
    rankings = [evaluation.scored(name).rankings for name in runs]
    return {r.queries[i] for r in rankings for i in np.flatnonzero(r.missing)}


def _check_missing(
    now: tuple[str, Collection[str]], then: tuple[str, Collection[str]], queries: Sequence[str]
) -> list[str]:
    """Check that neither side, by name, lacks many queries of the other; warn of a few."""
    notes: list[str] = []
    for ours, theirs, whose in ((now, then, "The run"), (then, now, "The baseline")):
        there = [query for query in queries if query not in theirs[1]]
        lost = [query for query in there if query in ours[1]]
        refuse_missing(ours[0], theirs[0], lost, len(there))
        if lost:
            notes.append(
                Warned(f"{whose} has no results for {list_queries(lost)} of the other side.")
            )
    return notes


def _losses(match: Match, queries: Sequence[str]) -> list[dict[str, Any]]:
    lost = match.differences * (-1.0 if match.measure.higher_is_better else 1.0)
    order = np.argsort(-lost, kind="stable")[:MAX_LOSSES]
    order = order[lost[order] > 0]
    sides = match.theirs.values[order].tolist(), match.ours.values[order].tolist()
    return [
        {"query": queries[place], "baseline": before, "value": now, "difference": now - before}
        for place, before, now in zip(match.ours.place[order], *sides, strict=True)
    ]


# -- result


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """Result of `gate`: whether the run passes, the verdict on each measure, and the sensitivity.

    >>> judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> run = {"q1": ["a"], "q2": ["c", "b"]}
    >>> gate(judgements, run, "RR", baseline=run).passed
    True
    """

    SAVED_AS: ClassVar[dict[str, str]] = GATE_SAVED_AS

    evaluation: Evaluation
    """Evaluation of today's run, and of the baseline if that is a run."""
    rule: str
    """loss, safe or point."""
    level: float
    run: str
    repeats: int
    """Number of runs of the system."""
    source: str
    """Name of the baseline in messages."""
    against: str | None
    """Name of the run that the baseline was made from; None if nothing was compared."""
    kind: str
    """Kind of baseline: file, run or none."""
    rows: tuple[RuleResult, ...]
    """Verdict of the rule on each measure."""
    minima: tuple[Requirement, ...]
    golden: tuple[Requirement, ...]
    worst: Mapping[str, Sequence[Mapping[str, Any]]]
    """The ten queries that lost most on each measure: query, baseline, value and difference."""
    notes: tuple[str, ...]
    unlike: str
    """Why nothing could be compared with a baseline that was replaced."""
    to_update: bool
    """True if an update was requested."""
    updated: bool = False
    """True if the baseline file was written."""
    slices: tuple[RuleResult, ...] = ()
    """Verdict of the rule on each measure in each slice."""

    @property
    def checks(self) -> tuple[RuleResult | Requirement, ...]:
        return (*self.rows, *self.minima, *self.golden, *self.slices)

    @property
    def passed(self) -> bool:
        """True if every check passes; slices with too few queries are not counted."""
        return all(check.holds for check in self.checks)

    @property
    def decided(self) -> bool:
        """True if the gate passed or failed.

        It does neither if nothing fails and there are too few queries for the rule.
        """
        return self.passed or any(check.fails for check in self.checks)

    @property
    def interval_level(self) -> float:
        """Confidence level of an interval each end of which holds at the gate's level."""
        return round(2 * self.level - 1, 15)

    def to_dict(self) -> dict[str, Any]:
        evaluation = self.evaluation
        return {
            "passed": self.passed,
            "decided": self.decided,
            "rule": self.rule,
            "level": self.level,
            "run": self.run,
            "repeats": self.repeats,
            "baseline": {"source": self.source, "kind": self.kind, "run": self.against},
            "updated": self.updated,
            **({"trusted": dict(trusted)} if (trusted := evaluation.trusted) else {}),
            "measures": plain_value(self.rows),
            "minimum": plain_value(self.minima),
            "golden": plain_value(self.golden),
            "worst": plain_value(self.worst),
            **({"slices": plain_value(self.slices)} if self.slices else {}),
            "says": self.says(),
            "notes": [str(note) for note in self.notes],
            "definitions": {evaluation.label(m): m.definition() for m in evaluation.measures},
            "policy": evaluation.policy.to_dict(),
            "judged": __version__,
        }

    def to_frame(self) -> Frame:
        """Return the verdict on each measure as a polars table.

        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.to_frame()["verdict"].to_list()
        ['identical']
        """
        import polars as pl

        trusted = TRUSTED_COLUMNS if self.evaluation.trusted else {}
        numbers = ("baseline", "value", "difference", "drop", "low", "high", "allowed_drop")
        words = {"measure": pl.String, "holds": pl.Boolean, "verdict": pl.String}
        schema: dict[str, Any] = {
            **words,
            "queries": pl.Int64,
            **dict.fromkeys((*numbers, "p", "corrected_p", "sees"), pl.Float64),
            "says": pl.String,
            **{name: getattr(pl, kind) for name, kind in trusted.items()},
        }
        rows = []
        for row in self.rows:
            cells = vars(row) | {"holds": row.holds, "verdict": row.word, "sees": row.sight.drop}
            cells |= {"allowed_drop": row.allowed, **trusted_cells(row.trusted)}
            rows.append([cells[name] for name in schema])
        return pl.DataFrame(rows, schema=schema, orient="row")

    def says(self) -> str:
        """Return the result in one line.

        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run).says()
        'PASSED: no significant drop in RR.'
        """
        failures = [check.failure for check in self.checks if check.fails]
        if failures:
            return f"FAILED: {'. '.join(failures)}."
        if not self.passed:
            names = listed([row.measure for row in self.rows if not row.holds])
            return f"UNDECIDED: too few queries for {GOALS[self.rule]} in {names}."
        reached = [
            f"{counted(len(checks), word)} reached"
            for checks, word in ((self.minima, "minimum value"), (self.golden, "golden value"))
            if checks
        ]
        if self.rows:
            names = listed([row.measure for row in self.rows])
            passed = {
                "loss": f"no significant drop in {names}",
                "safe": f"the drop in {names} is significantly smaller than allowed",
                "point": f"no drop in {names} beyond what is allowed",
            }[self.rule]
            if self.rule == "loss" and any(row.word == "allowed" for row in self.rows):
                passed += " beyond what is allowed"
            reached.insert(0, passed)
        elif self.kind != "none":
            why = f"the baseline is not comparable ({self.unlike})"
            why = why if self.unlike else "there was no baseline"
            reached.insert(0, f"nothing was compared, because {why}")
        if self.slices:
            few = sum(row.word == TOO_FEW for row in self.slices)
            undecided = f" ({few:,} undecided: too few queries)" if few else ""
            reached.append(
                f"none of {counted(len(self.slices), 'value')} in slices fails{undecided}"
            )
        return f"PASSED: {'; '.join(reached)}."

    def document(self, display: Display) -> Document:
        return Document(
            answer=[self.says()],
            tables=self._tables(),
            notes=[
                *(row.says for row in sorted(self.rows, key=lambda row: row.holds)),
                *(row.says for row in self.slices if row.fails),
                *(
                    f"{row.measure}: the change is {row.trusted.says()}."
                    for row in self.rows
                    if row.trusted is not None
                ),
                *(check.says for check in (*self.minima, *self.golden) if check.fails),
                *(row.sees for row in self.rows),
                *self._method(),
                *self.notes,
            ],
        )

    def _method(self) -> list[str]:
        sentences = []
        if self.rows:
            where = f" ({self.source})" if self.kind == "file" else ""
            test = "" if self.rule == "point" else f"; one-sided test at {percent_of(self.level)}"
            if self.rule == "loss":
                sliced = "; in slices, over all of an attribute" if self.slices else ""
                test += f", Holm over {counted(len(self.rows), 'measure')}{sliced}"
            elif self.rule == "safe":
                test += ", uncorrected because every measure must pass"
            sentences.append(
                f"Rule {self.rule}: {RULES[self.rule]}; {self.run} against {self.against}{where}"
                f"{test}."
            )
            if self.evaluation.trusted is not None:
                queries = len(self.evaluation.runs[0].rankings)
                sentences.append(
                    f"{about_trusted(self.evaluation.trusted, queries)}: they correct values and "
                    "changes (PPI++), baseline and now with the λ of their change. Single queries "
                    "are not corrected."
                )
        if self.updated:
            sentences.append(f"Wrote the baseline {self.source}.")
        elif self.to_update:
            sentences.append(f"The baseline {self.source} was not updated: the gate did not pass.")
        return sentences

    def _tables(self) -> list[Table]:
        made = [self._rule_table(rows) for rows in (self.rows, self.slices) if rows]
        if any(row.trusted is not None for row in self.rows):
            made.append(self._trusted_table())
        made += [_requirement_table(checks) for checks in (self.minima, self.golden) if checks]
        rows = [
            [
                *(loss["query"], name, shown(loss["baseline"]), shown(loss["value"])),
                with_sign(shown(loss["difference"]).replace("-", "−"), loss["difference"]),
            ]
            for name, losses in self.worst.items()
            for loss in losses
        ]
        if rows and not self.passed:
            header = ["query", "measure", "baseline", "now", "change"]
            made.append(Table(header, rows, WORDS, title="Queries that lost most", folded=True))
        return made

    def _rule_table(self, rows: Sequence[RuleResult]) -> Table:
        within = [Interval(row.difference, row.low, row.high) for row in rows]
        changes, ends = FORMAT.with_intervals([row.difference for row in rows], within, signed=True)
        columns: list[Column] = [
            ("measure", [row.measure for row in rows]),
            ("verdict", [row.word if row.holds else Bold(row.word) for row in rows]),
            ("baseline", FORMAT.values([row.baseline for row in rows])),
            ("now", FORMAT.values([row.value for row in rows])),
            ("change", changes),
        ]
        if self.rule != "point":
            columns.append((f"{percent_of(self.interval_level)} CI", ends))
        columns.append(("allowed", [f"{row.allowed:g}" for row in rows]))
        if self.rule == "loss":
            columns.append(("p", [shown_p(row.corrected_p) for row in rows]))
        if rows[0].slice is None:
            columns.append(("detectable", FORMAT.values([row.sight.drop for row in rows])))
        else:
            slices = [row.slice or "" for row in rows]
            columns = [("slice", slices), ("queries", [f"{r.queries:,}" for r in rows]), *columns]
        return _table(columns)

    def _trusted_table(self) -> Table:
        rows = [(row.measure, row.trusted) for row in self.rows if row.trusted is not None]
        columns = trusted_columns(FORMAT, [fix for _, fix in rows], self.interval_level)
        measures = ("measure", [measure for measure, _ in rows])
        return _table([measures, *columns], title="Change by trusted judgements")

    def to_junit(self) -> str:
        """Return a JUnit XML report for continuous integration, with a test case per check.

        >>> run = {"q1": ["a"], "q2": ["c", "b"]}
        >>> found = gate({"q1": {"a": 1}, "q2": {"b": 1}}, run, "RR", baseline=run)
        >>> found.to_junit().splitlines()[1]
        '<testsuites name="judged gate" tests="1" failures="0" errors="0">'
        """
        failed = sum(check.fails for check in self.checks)
        errors = sum(not check.holds and not check.fails for check in self.checks)
        counts = {"tests": len(self.checks), "failures": failed, "errors": errors}
        numbers = {name: str(number) for name, number in counts.items()}
        root = ElementTree.Element("testsuites", {"name": "judged gate", **numbers})
        names = {"name": readable(f"judged gate {self.run}"), **numbers}
        suite = ElementTree.SubElement(root, "testsuite", names)
        for check in self.checks:
            self._add_junit_case(suite, check)
        lines = (readable(line) for line in self.sentences())
        ElementTree.SubElement(suite, "system-out").text = "\n".join(lines)
        ElementTree.indent(root)
        text = ElementTree.tostring(root, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'

    def _add_junit_case(self, suite: ElementTree.Element, check: RuleResult | Requirement) -> None:
        text, name = [check.says], check.measure
        if isinstance(check, RuleResult):
            kind, word = self.rule, check.word
            if check.slice is not None:
                name = f"{name}, {check.slice}"
            else:
                text += [
                    f"{loss['query']}: {loss['baseline']:.4f} to {loss['value']:.4f}"
                    for loss in self.worst[name]
                ]
        else:
            kind, word = check.kind, "not reached"
            name = name if check.query is None else f"{check.query} {name}"
        names = {"classname": f"judged.gate.{kind}", "name": readable(name)}
        case = ElementTree.SubElement(suite, "testcase", names)
        if not check.holds:
            tag, message = "failure" if check.fails else "error", readable(check.says)
            failure = ElementTree.SubElement(case, tag, type=word, message=message)
            failure.text = "\n".join(map(readable, text))


def _requirement_table(checks: Sequence[Requirement]) -> Table:
    columns: list[Column] = [
        ("measure", [check.measure for check in checks]),
        ("verdict", ["reached" if check.holds else Bold("not reached") for check in checks]),
        ("value", [shown(check.value) for check in checks]),
        ("needed", [shown(check.needed) for check in checks]),
    ]
    if checks[0].query is None:
        columns.insert(3, ("bound", [shown(check.bound) for check in checks]))
    else:
        columns.insert(0, ("query", [check.query or "" for check in checks]))
    return _table(columns)


def _table(columns: Sequence[Column], **options: Any) -> Table:
    rows = [list(row) for row in zip(*(cells for _, cells in columns), strict=True)]
    return Table([head for head, _ in columns], rows, WORDS, **options)
