"""Is the difference real? Pairs of runs, each with an interval, a test and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs.blocks import MEMORY, Room
from judged.options import checked
from judged.policy import add_choices

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.matching.listings import Joint
    from judged.options import (
        CategoriesLike,
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        Engine,
        FileFormat,
        GroupsLike,
        ItemToLike,
        JudgementsLike,
        MeasuresLike,
        Memory,
        Path,
        PolicyLike,
        Progress,
        RunsLike,
        SlicesLike,
        WeightsLike,
    )

__all__ = ["compare", "compare_evaluation", "compare_values"]


@checked
def compare(
    judgements: JudgementsLike,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    baseline: str | None = None,
    test: str = "auto",
    correction: str = "holm",
    family: str = "measure",
    level: float = 0.95,
    power: float = 0.8,
    margin: Mapping[str, float] | float | None = None,
    groups: GroupsLike | None = None,
    slices: SlicesLike | None = None,
    unjudged_range: bool = False,
    resamples: int = 9_999,
    seed: int = 0,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    unique: CategoriesLike | None = None,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    convention: ConventionLike | None = None,
    weights: WeightsLike | None = None,
    unanswerable: bool = False,
    answer_threshold: float | None = None,
    trusted: JudgementsLike | None = None,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    engine: Engine | None = None,
    memory: Memory = MEMORY,
    temporary: Path | None = None,
    jobs: int | None = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Compare runs: by how much they differ, how sure that is, and what it means.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    runs : RunsLike, optional
        At least two, as {name: run} or as a list of files; several runs of one system, as of other
        seeds, as {name: judged.repeats(run, run, …)} or "NAME=FILE,FILE,…". None where
        `judgements` are rows that hold relevant and retrieved ids.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    baseline : str, optional
        The run that all others are compared with; by default the first of two, and all pairs of
        more.
    test : {"auto", "t", "randomisation", "bootstrap", "bca", "wilcoxon", "sign"}, optional
        Where p and interval come from; "auto" is t for means, sums and geometric means, and
        bootstrap for the rest.
    correction : {"holm", "bonferroni", "bh", "tukey", "randomised-tukey", "none"}, optional
        How p is corrected for the number of comparisons.
    family : {"measure", "all"}, optional
        Which comparisons are corrected together: those of a measure, or all.
    level : float, optional
        The level of intervals; a difference is shown where the corrected p is below 1 - level.
    power : float, optional
        How often the difference that is called detectable would have been found.
    margin : float or dict, optional
        The smallest difference that matters, for all measures or {measure: margin}.
    groups : GroupsLike, optional
        The group of each query, where queries of a group are not independent.
    slices : SlicesLike, optional
        Attributes of the queries, as {query: {attribute: value}}, to compare the runs in each slice
        too. The number of relevant items is there by itself: True, or "relevant", for it alone.
    unjudged_range : bool, optional
        Whether it is checked what unjudged results could do to each verdict, were they judged in
        favour of one run or of the other. All runs stay in memory for that.
    resamples : int, optional
        How many sign flips or resamples are drawn, where some are.
    seed : int, optional
        What they are drawn from.
    policy, depth, duplicates, collection, unique, item_to, exclude_same_id, convention, weights, \
unanswerable, answer_threshold, trusted, columns, judgements_format, run_format, engine, \
memory, temporary, jobs, skip_bad, progress
        As for `evaluate`; with `trusted`, differences are corrected, and verdicts are on these.
        With `skip_bad`, the baseline and repeats are never left out.

    Returns
    -------
    Comparison

    >>> judgements = {str(q): {"a": 1} for q in range(8)}
    >>> good = {str(q): ["a", "b"] for q in range(8)}
    >>> bad = {str(q): ["b", "a"] if q < 7 else ["b", "c", "a"] for q in range(8)}
    >>> print(compare(judgements, {"good": good, "bad": bad}, "RR").pair().says)
    RR: bad is worse than good by 0.521 (0.472 to 0.570).
    """
    from judged.evaluation.trusted import refuse_beside
    from judged.inputs.data import Data
    from judged.inputs.repeated import apart

    runs, repeats = apart(runs)
    if skip_bad and repeats:
        raise InputError(
            "skip_bad (--skip-bad) is not for repeats: with some left out, a system would be "
            "another; leave out the bad ones yourself."
        )
    refuse_beside(trusted, repeats=repeats, unanswerable=unanswerable)
    given = Data.of(
        judgements,
        runs,
        columns=columns,
        judgements_format=judgements_format,
        run_format=run_format,
        engine=engine,
    )
    # What nobody judged is looked into for a range, and then runs stay in memory.
    room = None if unjudged_range else Room.of(memory, temporary)
    with replace(given, room=room).reading_ahead() as data:
        from judged.comparison.dependence import refuse_lacking, says_missing
        from judged.evaluation.evaluation import evaluate_rankings
        from judged.evaluation.runs import match_runs
        from judged.evaluation.settings import EvaluationSettings
        from judged.evaluation.warnings import announce_warnings

        chosen = add_choices(policy, depth=depth, duplicates=duplicates)
        request = EvaluationSettings.of(measures, chosen, convention, prepares=True)
        judged = match_runs(
            data,
            request,
            collection=collection,
            weights=weights,
            progress=progress,
            keep=unjudged_range,
            item_to=item_to,
            unique=unique,
            exclude_same_id=exclude_same_id,
            trusted=trusted,
            skip_bad=skip_bad,
        )
    if isinstance(baseline, str) and baseline in judged.skipped:
        raise InputError(f"the baseline cannot be evaluated: {judged.skipped[baseline]}")
    if not says_missing(policy):
        refuse_lacking(judged.rankings)
    joint = None
    if unjudged_range:
        from judged.matching.listings import Joint

        known = judged.judgements, judged.tables
        joint = Joint.of(*known, policy=request.policy, duplicates=duplicates)
    found = evaluate_rankings(judged.rankings, request, weights=weights)
    if unanswerable or answer_threshold is not None:
        found = found.showing(unanswerable=unanswerable, threshold=answer_threshold)
    if trusted is not None:
        from judged.evaluation.trusted import at_level, correct_by_trusted

        found = at_level(correct_by_trusted(found, trusted, judged.trusted), level)
    return compare_evaluation(
        announce_warnings(replace(found, skipped=judged.skipped)),
        baseline=baseline,
        joint=joint,
        test=test,
        correction=correction,
        family=family,
        level=level,
        power=power,
        margin=margin,
        groups=groups,
        slices=slices,
        repeats=repeats,
        resamples=resamples,
        seed=seed,
    )


def compare_evaluation(
    evaluation: Evaluation,
    *,
    baseline: str | None = None,
    groups: GroupsLike | None = None,
    slices: SlicesLike | None = None,
    repeats: Mapping[str, Sequence[str]] | None = None,
    joint: Joint | None = None,
    dependence: bool = True,
    **settings: Any,
) -> Comparison:
    """Compare the runs of an evaluation, those that are `repeats` of one system as one run; with a
    `joint`, unjudged results are looked into. Without `dependence`, as ranks of a leaderboard need
    none, it stays open what ties and missing queries could change."""
    from functools import partial

    from judged.comparison.comparison import Comparison
    from judged.comparison.dependence import Readings, about_readings, depends, in_no_run
    from judged.comparison.numbers import Numbers, with_repeats
    from judged.comparison.settings import Settings
    from judged.comparison.slices import relevant_items, sliced
    from judged.comparison.verdicts import about_descriptions, decided
    from judged.evaluation.trusted import refuse_beside

    refuse_beside(
        evaluation.trusted,
        groups=groups is not None,
        slices=slices is not None and slices is not False,
        repeats=repeats,
        unjudged_range=joint is not None,
    )
    if "unjudged_range" in settings:
        raise InputError(
            "unjudged_range needs the runs themselves, which an evaluation does not keep; give "
            "them to judged.compare."
        )
    dependence = dependence and evaluation.trusted is None
    chosen = Settings.of(**settings)
    numbers = with_repeats(Numbers.of(evaluation), repeats).in_groups(groups)
    names = {str(measure): label for label, measure in evaluation.labels.items()}
    chosen = chosen.checked_margin({**names, **{label: label for label in evaluation.labels}})
    readings = Readings(evaluation, numbers, joint)
    depending = partial(depends, readings=readings, settings=chosen)
    rows = decided(numbers, chosen, baseline, depending if dependence else None)
    parts = sliced(
        numbers,
        slices,
        chosen,
        baseline,
        relevant=lambda: relevant_items(evaluation, numbers.queries),
        within=(lambda place: partial(depending, within=place)) if dependence else None,
    )
    notes = [
        *in_no_run([run.rankings for run in evaluation.runs], evaluation.policy),
        *about_descriptions(evaluation),
        *about_readings(readings),
        *parts.notes,
    ]
    return Comparison(numbers, chosen, rows, baseline, evaluation, tuple(notes), parts)


@checked
def compare_values(
    values: Any,
    *,
    lower_is_better: str | Iterable[str] = (),
    measure_name: str | None = None,
    baseline: str | None = None,
    test: str = "auto",
    correction: str = "holm",
    family: str = "measure",
    level: float = 0.95,
    power: float = 0.8,
    margin: Mapping[str, float] | float | None = None,
    groups: GroupsLike | None = None,
    slices: SlicesLike | None = None,
    weights: WeightsLike | None = None,
    resamples: int = 9_999,
    seed: int = 0,
) -> Comparison:
    """Compare per-query numbers of any other tool.

    Parameters
    ----------
    values : dict, table or file
        {run: {query: value}}, {run: {measure: {query: value}}}, a table (long: run, query, measure
        and value; wide: query and a column per run), a file of one of these, of judged's per-query
        values or of what trec_eval -q prints, or a list of files, as "NAME=FILE".
    lower_is_better : str or iterable of str, optional
        The measures of which lower values are better. Of judged's own measures that is known, and
        between what their values lie; of others higher values are better unless it is said here.
    measure_name : str, optional
        What the values are of, where nothing says it.
    baseline, test, correction, family, level, power, margin, groups, slices, weights, \
resamples, seed
        As for `compare`.

    Returns
    -------
    Comparison

    >>> compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}}).pair().verdict
    'identical'
    >>> took = {"old": {str(q): 20 + q for q in range(9)}, "new": {str(q): 9.0 for q in range(9)}}
    >>> compare_values(took, measure_name="ms", lower_is_better="ms").pair().says
    'ms: new is better than old by 15.00 (12.89 to 17.11).'
    """
    from judged.comparison.comparison import Comparison
    from judged.comparison.numbers import with_repeats
    from judged.comparison.settings import Settings
    from judged.comparison.slices import sliced
    from judged.comparison.values import numbers_of_values
    from judged.comparison.verdicts import decided
    from judged.inputs.repeated import apart

    chosen = Settings.of(
        test=test,
        correction=correction,
        family=family,
        level=level,
        power=power,
        margin=margin,
        resamples=resamples,
        seed=seed,
    )
    values, repeats = apart(values)
    found = numbers_of_values(
        values, lower_is_better=lower_is_better, measure_name=measure_name, weights=weights
    )
    found = with_repeats(found, repeats).in_groups(groups)
    chosen = chosen.checked_margin({each.name: each.name for each in found.measures})
    rows, parts = decided(found, chosen, baseline), sliced(found, slices, chosen, baseline)
    return Comparison(found, chosen, rows, baseline, notes=parts.notes, slices=parts)
