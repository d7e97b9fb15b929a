"""Confidence intervals of summaries, and the effective number of weighted queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.statistics.samples import Means, effective_number, numbered
from judged.text import counted

if TYPE_CHECKING:
    from judged.arrays import Floats, Ints
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.measures import Measure
    from judged.options import GroupsLike
    from judged.statistics.intervals import Interval

ENDS = ("low", "high")
"""Names of the ends of an interval in tables."""

Groups = Mapping[str, int]
"""The number of each query's group."""


def group_of_each(given: GroupsLike, runs: Iterable[Scored]) -> Groups:
    """Return the groups of all queries of some runs, numbered in the order of query ids."""
    from judged.inputs.keyed import groups_of

    queries = sorted({query for run in runs for query in run.rankings.queries})
    return dict(zip(queries, groups_of(given, queries)[0].tolist(), strict=True))


def with_intervals(evaluation: Evaluation, level: float, groups: GroupsLike | None) -> Evaluation:
    """Return an evaluation with the confidence interval of every value."""
    known = None if groups is None else group_of_each(groups, evaluation.runs)
    runs = [
        replace(
            run,
            intervals={
                measure: interval_of(run, measure, level=level, groups=known)
                for measure in evaluation.measures
            },
        )
        for run in evaluation.runs
    ]
    return replace(evaluation, runs=tuple(runs), level=level, groups=known)


def interval_of(
    run: Scored,
    measure: Measure,
    *,
    level: float,
    method: str | None = None,
    groups: Groups | None = None,
) -> Interval:
    """Compute the interval of one value, cut at the measure's range."""
    from judged.statistics.intervals import Interval, interval

    estimate, counts = run.summary[measure], ~np.isnan(run.values[measure])
    order = run.in_order[counts[run.in_order]]
    if not len(order):
        return Interval(estimate, note="no query counts")
    row = np.cumsum(counts) - 1
    sample = run.sample(measure).take(row[order])
    if isinstance(sample, Means) and (why := _infinite(sample, measure)):
        return Interval(estimate, note=why)
    about = run.values[measure][order], measure.spec.range, measure.params["aggregate"]
    found = interval(
        sample,
        level=level,
        method=method,
        groups=_groups(run, order, groups),
        range=summary_range(*about),
        error=run.summary_errors.get(measure, 0.0),
    )
    return replace(found, estimate=estimate)


def _groups(run: Scored, order: Ints, groups: Groups | None) -> Ints | None:
    """Return the groups of these queries, numbered without gaps."""
    if groups is None:
        return None
    queries = run.rankings.queries
    return numbered(np.array([groups[queries[at]] for at in order.tolist()]))


def _infinite(sample: Means, measure: Measure) -> str:
    """Return why the mean of infinite values has no interval."""
    lost = int((~np.isfinite(sample.columns)).any(axis=1).sum())
    if not lost:
        return ""
    queries = f"{lost:,} of {counted(len(sample), 'query', 'queries')}"
    return f"infinite for {queries}; {measure(aggregate='median')} can have one"


def summary_range(values: Floats, ends: tuple[float, float], aggregate: str) -> tuple[float, float]:
    """Return the lowest and highest possible summary of values between two ends."""
    low, high = map(float, ends)
    low = low if values.min(initial=low) >= low else -math.inf
    high = high if values.max(initial=high) <= high else math.inf
    size = len(values) if aggregate == "sum" else 1
    return low * size, high * size


def effective_queries(run: Scored, measure: Measure) -> float:
    """Return the effective number of queries (Kish); 0 if no query counts."""
    assert run.rankings.weights is not None
    counted = ~np.isnan(run.values[measure])
    return effective_number(run.rankings.weights.values[counted]) if counted.any() else 0.0


def weights_line(evaluation: Evaluation) -> list[str]:
    """Return the source of the weights, and the effective number of queries."""
    weights = evaluation.runs[0].rankings.weights
    if weights is None:
        return []
    found = [effective_queries(run, m) for run in evaluation.runs for m in evaluation.measures]
    low, high = f"{min(found):,.1f}", f"{max(found):,.1f}"
    return [
        f"weights: queries are weighted by {weights.source}; effective number of queries (Kish) "
        f"{low if low == high else f'{low} to {high}'} of {len(weights.values):,}"
    ]
