"""Comparison of runs: confidence intervals, tests, corrections and verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from judged.errors import InputError
from judged.options import (
    GroupsLike,
    JudgementsLike,
    MeasuresLike,
    RunsLike,
    Scoring,
    SlicesLike,
    WeightsLike,
    checked,
    later,
    takes_scoring,
)

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.matching.listings import Listings
else:  # loaded by `typing.get_type_hints` only
    Comparison = later("judged:Comparison")

__all__ = ["compare", "compare_evaluation", "compare_values"]


@takes_scoring
@checked
def compare(
    judgements: JudgementsLike,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    baseline: str | None = None,
    test: str = "auto",
    correction: str = "holm",
    level: float = 0.95,
    margin: Mapping[str, float] | float | None = None,
    groups: GroupsLike | None = None,
    slices: SlicesLike | None = None,
    unjudged_range: bool = False,
    seed: int = 0,
    **scoring: Unpack[Scoring],
) -> Comparison:
    """Compare runs: how they differ, how certain that is, and what it means.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunsLike, optional
        At least two runs, as {name: run} or a list of files. Several runs of one system, such as
        those of other seeds, are {name: judged.repeats(run, run, …)} or "NAME=FILE,FILE,…". None
        if `judgements` are rows that hold relevant and retrieved ids.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    baseline : str, optional
        The run that all others are compared with; by default the first of two, and all pairs of
        more.
    test : {"auto", "t", "randomisation", "bootstrap", "bca", "wilcoxon", "sign"}, optional
        The test that gives p and the confidence interval. "auto" is t for means, sums and geometric
        means, and bootstrap for other summaries.
    correction : {"holm", "bonferroni", "bh", "tukey", "randomised-tukey", "none"}, optional
        Correction for the number of comparisons on each measure.
    level : float, optional
        Confidence level. A difference is significant if its corrected p is below 1 - level.
    margin : float or dict, optional
        Smallest difference that matters, for all measures or {measure: margin}. Runs that differ
        by less are equivalent.
    groups : GroupsLike, optional
        The group of each query, if queries of a group are not independent.
    slices : SlicesLike, optional
        Attributes of the queries, {query: {attribute: value}}, to compare the runs in each slice
        too. True or "relevant" slices by the number of relevant items alone.
    unjudged_range : bool, optional
        Check whether unjudged results could change a verdict. All runs then stay in memory.
    seed : int, optional
        Seed of sign flips and resamples.
    **scoring

    Returns
    -------
    Comparison
        With `trusted`, verdicts are about corrected differences. With `skip_bad`, the baseline and
        repeats are never skipped.

    >>> judgements = {str(q): {"a": 1} for q in range(8)}
    >>> good = {str(q): ["a", "b"] for q in range(8)}
    >>> bad = {str(q): ["b", "a"] if q < 7 else ["b", "c", "a"] for q in range(8)}
    >>> print(compare(judgements, {"good": good, "bad": bad}, "RR").pair().says)
    RR: bad is significantly worse than good by 0.521 (95 % CI 0.472 to 0.570).
    """
    from judged.comparison.dependence import check_missing, names_missing
    from judged.evaluation.evaluate import evaluate_and_match, evaluation_of
    from judged.evaluation.trusted import at_level, refuse_beside
    from judged.evaluation.warnings import announce_warnings
    from judged.inputs.repeated import apart
    from judged.matching.listings import Listings

    runs, repeats = apart(run)
    if scoring.get("skip_bad") and repeats:
        raise InputError(
            "skip_bad (--skip-bad) does not work with repeats, because a system would lose some of "
            "its runs; leave out the bad runs yourself."
        )
    if scoring.get("trusted") is not None:
        refuse_beside(scoring["trusted"], repeats=repeats, unjudged_range=unjudged_range)
    joint = None
    if unjudged_range:
        evaluation, matched = evaluate_and_match(judgements, runs, measures, keep=True, **scoring)
        announce_warnings(evaluation)
        policy = evaluation.policy
        joint = Listings.of(
            matched.judgements, matched.tables, ties=policy.ties, duplicates=policy.duplicates
        )
    else:
        evaluation = evaluation_of(judgements, runs, measures, **scoring)
    if evaluation.trusted is not None:
        evaluation = at_level(evaluation, level)
    if isinstance(baseline, str) and baseline in evaluation.skipped:
        raise InputError(f"the baseline cannot be evaluated: {evaluation.skipped[baseline]}")
    if not names_missing(scoring.get("policy")):
        check_missing([scored.rankings for scored in evaluation.runs])
    return compare_evaluation(
        evaluation,
        baseline=baseline,
        test=test,
        correction=correction,
        level=level,
        margin=margin,
        groups=groups,
        slices=slices,
        repeats=repeats,
        seed=seed,
        joint=joint,
    )


def compare_evaluation(
    evaluation: Evaluation,
    *,
    baseline: str | None = None,
    groups: GroupsLike | None = None,
    slices: SlicesLike | None = None,
    repeats: Mapping[str, Sequence[str]] | None = None,
    joint: Listings | None = None,
    dependence: bool = True,
    **tests: Any,
) -> Comparison:
    """Compare the runs of an evaluation; `tests` are those of `ComparisonSettings`."""
    # Runs that are `repeats` of one system count as one run. A `joint` serves to check whether
    # unjudged results could change a verdict. Without `dependence`, ties and missing queries are
    # not checked either, which leaderboards do not need.
    from functools import partial

    from judged.comparison.comparison import Comparison
    from judged.comparison.dependence import (
        Alternatives,
        about_alternatives,
        depends,
        warn_of_missing,
    )
    from judged.comparison.numbers import Numbers, with_repeats
    from judged.comparison.settings import ComparisonSettings
    from judged.comparison.slices import compare_slices, relevant_items
    from judged.comparison.verdicts import decide_pairs
    from judged.text import Warned, listed

    if evaluation.trusted is not None:
        from judged.evaluation.trusted import refuse_beside

        refuse_beside(
            evaluation.trusted,
            groups=groups is not None,
            slices=slices is not None and slices is not False,
            repeats=repeats,
            unjudged_range=joint is not None,
        )
        dependence = False
    names = {measure.label: label for label, measure in evaluation.labels.items()}
    names |= {label: label for label in evaluation.labels}
    settings = ComparisonSettings(**tests).with_margins(names)
    numbers = with_repeats(Numbers.of(evaluation), repeats).in_groups(groups)
    alternatives = Alternatives(evaluation, numbers, joint)
    search = partial(depends, alternatives=alternatives, settings=settings) if dependence else None
    rows = decide_pairs(numbers, settings, baseline, search)
    relevant = partial(relevant_items, evaluation, numbers.queries)
    parts = compare_slices(numbers, slices, settings, baseline, relevant, search)
    notes = warn_of_missing([run.rankings for run in evaluation.runs], evaluation.policy)
    described = [evaluation.label(m) for m in evaluation.measures if not m.spec.rates_relevance]
    if described:
        verb = "counts or describes" if len(described) == 1 else "count or describe"
        notes.append(
            Warned(
                f"{listed(described)} {verb} results, which is neither good nor bad. Here, better "
                "means higher and worse means lower."
            )
        )
    notes += [*about_alternatives(alternatives), *parts.notes]
    return Comparison(numbers, settings, rows, baseline, evaluation, tuple(notes), parts)


@checked
def compare_values(
    values: Any,
    *,
    lower_is_better: str | Iterable[str] = (),
    measure_name: str | None = None,
    baseline: str | None = None,
    test: str = "auto",
    correction: str = "holm",
    level: float = 0.95,
    margin: Mapping[str, float] | float | None = None,
    groups: GroupsLike | None = None,
    slices: SlicesLike | None = None,
    weights: WeightsLike | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare per-query values that any tool computed.

    Parameters
    ----------
    values : dict, table or file
        {run: {query: value}}, {run: {measure: {query: value}}}, a table (long: run, query, measure
        and value; wide: query and a column per run), a file of one of these, of judged's per-query
        values or of the output of trec_eval -q, or a list of files, as "NAME=FILE".
    lower_is_better : str or iterable of str, optional
        Measures of which lower values are better. For judged's own measures this is known.
    measure_name : str, optional
        Name of the measure, if the values do not say it.
    baseline, test, correction, level, margin, groups, slices, weights, seed
        As for `compare`.

    >>> compare_values({"a": {"1": 0.5, "2": 0.25}, "b": {"1": 0.5, "2": 0.25}}).pair().verdict
    'identical'
    >>> took = {"old": {str(q): 20 + q for q in range(9)}, "new": {str(q): 9.0 for q in range(9)}}
    >>> compare_values(took, measure_name="ms", lower_is_better="ms").pair().says
    'ms: new is significantly better than old by 15.00 (95 % CI 12.89 to 17.11).'
    """
    from judged.comparison.comparison import Comparison
    from judged.comparison.numbers import numbers_of_values, with_repeats
    from judged.comparison.settings import ComparisonSettings
    from judged.comparison.slices import compare_slices
    from judged.comparison.verdicts import decide_pairs
    from judged.inputs.repeated import apart

    settings = ComparisonSettings(test, correction, level, margin, seed)
    values, repeats = apart(values)
    numbers = numbers_of_values(
        values, lower_is_better=lower_is_better, measure_name=measure_name, weights=weights
    )
    numbers = with_repeats(numbers, repeats).in_groups(groups)
    settings = settings.with_margins({measure.name: measure.name for measure in numbers.measures})
    rows = decide_pairs(numbers, settings, baseline)
    parts = compare_slices(numbers, slices, settings, baseline)
    return Comparison(numbers, settings, rows, baseline, notes=parts.notes, slices=parts)
