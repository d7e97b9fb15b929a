"""A run's number with its own interval, which says nothing of differences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from judged.comparison.numbers import Compared, Numbers
from judged.comparison.settings import Settings
from judged.statistics.intervals import Interval, interval
from judged.statistics.samples import Means


def own_interval(numbers: Numbers, measure: Compared, run: str, settings: Settings) -> Interval:
    """The interval of a run's number on a measure; of a repeated run with how far its repeats are
    apart."""
    entry = numbers.entry(measure, run)
    groups = numbers.grouped(entry.place)
    found = interval(
        entry.sample,
        level=settings.level,
        groups=groups,
        range=measure.range,
        error=entry.error,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    sample = entry.sample
    if entry.repeats is None or not isinstance(sample, Means) or math.isnan(found.low):
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
    least, most = measure.range
    if math.isnan(low):
        return found
    return replace(found, low=max(float(low), least), high=min(float(high), most))
