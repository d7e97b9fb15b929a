"""A run's number with its own interval, which says nothing of differences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from judged.comparison.numbers import Compared, Numbers
from judged.comparison.settings import Settings
from judged.evaluation.intervals import summary_range
from judged.evaluation.trusted import corrected_interval
from judged.statistics.intervals import Interval, interval
from judged.statistics.samples import Means


def own_interval(numbers: Numbers, measure: Compared, run: str, settings: Settings) -> Interval:
    """The interval of a run's number on a measure; of a repeated run with how far its repeats are
    apart."""
    entry = numbers.entry(measure, run)
    sample, groups = entry.sample, numbers.grouped(entry.place)
    least, most = summary_range(entry.values, measure.range, sample.aggregate)
    if entry.powered is not None:
        return corrected_interval(sample, entry.powered, 0, settings.level, (least, most))
    # The error is that of what is averaged.
    size = len(sample) if sample.aggregate == "sum" else 1
    scale = sample.value() if entry.error and sample.aggregate == "geometric" else size
    found = interval(
        sample,
        level=settings.level,
        groups=groups,
        range=(least, most),
        error=entry.error * scale,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    if entry.repeats is None or not isinstance(sample, Means) or math.isnan(found.low):
        return found
    if found.method not in ("t", "log t"):  # a share of queries on which all repeats are the same
        return found
    from judged.statistics.repeats import repeat_variance
    from judged.statistics.student import half_widths, spread

    more = [repeat_variance(entry.repeats, sample.weights), (entry.error**2, math.inf)]
    every = spread(
        sample.columns,
        sample.weights,
        groups,
        more=[(np.array([variance]), np.array([freedom])) for variance, freedom in more],
    )
    ends = every.mean + half_widths(every, settings.level) * np.array([-1.0, 1.0])
    low, high = sample.function(ends[:, None])
    if math.isnan(low):
        return found
    return replace(found, low=max(float(low), least), high=min(float(high), most))
