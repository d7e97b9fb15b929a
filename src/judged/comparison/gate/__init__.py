"""The quality gate: fail if a run is worse than its baseline."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Unpack

from judged.errors import InputError
from judged.options import (
    GroupsLike,
    JudgementsLike,
    MeasuresLike,
    Path,
    RunLike,
    RunsLike,
    Scoring,
    checked,
    later,
    takes_scoring,
)

if TYPE_CHECKING:
    from judged.comparison.gate.baseline import BaselineSource
    from judged.comparison.gate.result import Gate
    from judged.evaluation.evaluation import Evaluation
else:  # loaded by `typing.get_type_hints` only
    Gate = later("judged:Gate")

__all__ = ["assert_no_regression", "gate", "gate_evaluation"]


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
    changed: str = "error",
    update: bool | str = False,
    level: float = 0.95,
    groups: GroupsLike | None = None,
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
        AP, nDCG@10, RR, P@10 and R@100, and without one those that `minimum` names.
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
        "safe", the worse end of its confidence interval must reach it.
    golden : file, dict or list, optional
        Queries that must reach their value in the baseline, or a minimum: {query: minimum},
        {query: {measure: minimum}}, a list of queries, or a file with lines of a query, a measure
        and a minimum, the last two optional.
    changed : {"error", "drop"}, optional
        What to do if judgements are not those of the baseline file: fail, or leave those queries
        out.
    update : bool or "force", optional
        Write the baseline file if the gate passes, or if there is none. With "force", write it
        even if the gate fails or the file is not comparable.
    level : float, optional
        Confidence level. A drop is significant if its one-sided p, corrected, is below 1 - level.
    groups : GroupsLike, optional
        The group of each query, if queries of a group are not independent.
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
    from judged.comparison.dependence import names_missing
    from judged.comparison.gate.baseline import baseline_source
    from judged.comparison.gate.decision import GateOptions, check_before_reading, decide
    from judged.evaluation.trusted import at_level, refuse_beside

    options = GateOptions.of(rule, max_drop, minimum, golden, changed, update, level)
    if scoring.get("skip_bad"):
        raise InputError("skip_bad does not work with a gate, which needs its runs; leave it out.")
    trusted = scoring.get("trusted")
    refuse_beside(
        trusted, groups=groups is not None, golden=golden is not None, update=options.update
    )
    source = baseline_source(baseline)
    if trusted is not None and source.run is None and not source.absent:
        raise InputError(
            f"{source.source}: a baseline file holds values by one set of judgements, so "
            "trusted (--trusted) needs a run as the baseline."
        )
    check_before_reading(source, options)
    if measures is None and source.file is not None:
        measures = source.file.conditions.labels
    if measures is None and source.absent and isinstance(minimum, Mapping):
        measures = [*minimum]
    missing = names_missing(scoring.get("policy"))
    evaluation, before = _evaluate(judgements, run, source, measures, **scoring)
    if evaluation.trusted is not None:
        evaluation = at_level(evaluation, level)
    return decide(evaluation, before, source, options, groups, missing=missing)


def _evaluate(
    judgements: Any, run: Any, source: BaselineSource, measures: Any, **scoring: Any
) -> tuple[Evaluation, list[str]]:
    """Evaluate today's runs and those of the baseline, and return the names of the latter."""
    from judged.evaluation.evaluate import evaluate
    from judged.evaluation.trusted import refuse_beside
    from judged.inputs import as_runs
    from judged.inputs.data import check_not_rankings
    from judged.inputs.formats import is_rankings_file, run_name
    from judged.inputs.repeated import Repeats

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
    rule: str = "loss",
    max_drop: Mapping[str, float] | float | None = None,
    minimum: Mapping[str, float] | float | None = None,
    golden: Any = None,
    changed: str = "error",
    update: bool | str = False,
    level: float = 0.95,
    groups: GroupsLike | None = None,
) -> Gate:
    """Decide whether the runs of an evaluation may replace a baseline.

    The baseline is a file that a gate wrote, or the name of one of the runs; the other runs are
    repeats of one system. Other options are those of `gate`.
    """
    from judged.comparison.gate.baseline import BaselineSource, baseline_source
    from judged.comparison.gate.decision import GateOptions, check_before_reading, decide

    options = GateOptions.of(rule, max_drop, minimum, golden, changed, update, level)
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
    check_before_reading(source, options)
    return decide(evaluation, before, source, options, groups, missing=False)


def assert_no_regression(
    judgements: JudgementsLike,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    baseline: Path | RunLike,
    **options: Any,
) -> Gate:
    """Fail a test if `gate` does, with its text.

    Parameters
    ----------
    judgements, run, measures, baseline
        As for `gate`.
    **options
        Other options of `gate`, such as `rule`, `max_drop`, `golden` and `policy`.

    Returns
    -------
    Gate
        If it passes.

    Raises
    ------
    AssertionError
        If it fails. If it cannot decide, that is a `JudgedError`.

    >>> judgements = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> run = {"q1": ["a"], "q2": ["c", "b"]}
    >>> assert_no_regression(judgements, run, "RR", baseline=run).passed
    True
    """
    result = gate(judgements, run, measures, baseline=baseline, **options)
    if not result.decided:
        raise InputError(f"the gate cannot decide:\n{result.to_text()}")
    if not result.passed:
        raise AssertionError(f"\n{result.to_text()}")
    return result
