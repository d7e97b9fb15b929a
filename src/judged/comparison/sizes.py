"""How large differences are, and how large one has to be to be found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from judged.arrays import Floats
from judged.comparison.match import Match, alike
from judged.comparison.outcomes import columns_of, further_variances, powered_spread, too_few
from judged.comparison.settings import Settings
from judged.statistics.aggregates import CLOSE
from judged.statistics.power import detectable
from judged.statistics.samples import Means
from judged.statistics.student import Spread, half_widths, spread


class Size(NamedTuple):
    """How large a difference is; None where there is no spread to go by."""

    effect: float | None = None
    """d_z: the mean in standard deviations of single queries, or groups."""
    detectable: float | None = None
    """The smallest difference that would have been found; None where none would have been."""
    wider: float | None = None
    """How many times as wide the interval (of t) is by groups as by queries."""


def sizes(matches: Sequence[Match], settings: Settings, comparisons: Sequence[int]) -> list[Size]:
    """How large the difference of each match is, and would have to be to be found among so many
    comparisons in its family."""
    found = [Size()] * len(matches)
    own = [settings.among(number) for number in comparisons]
    for same in alike(matches):
        which = [at for at in same if _has_spread(matches[at])]
        if not which:
            continue
        together = [matches[at] for at in which]
        columns, first = columns_of(together), together[0]
        every = spread(columns, first.weights, first.groups, more=further_variances(together))
        wider = _wider(columns, together, every, settings)
        for column, (at, match, by) in enumerate(zip(which, together, wider, strict=True)):
            least = _least(every.error[column], every.freedom[column], match, own[at])
            found[at] = Size(effect(match), least, by)
    for at, match in enumerate(matches):
        if match.powered is not None:
            corrected = powered_spread([match])
            least = _least(corrected.error[0], corrected.freedom[0], match, own[at])
            found[at] = Size(detectable=least)
        elif (error := jackknife_error(match)) is not None:
            found[at] = Size(detectable=_least(error, match.effective_units - 1, match, own[at]))
    return found


def effect(match: Match) -> float:
    """The mean difference in standard deviations of units; each counts by its weight, a group by
    that of its queries."""
    sums, weights = match.unit_sums
    shares, means = weights / weights.sum(), sums / weights
    size = np.abs(means).max()
    mean = float(shares @ (means / size))
    units = len(means)
    variance = float(shares @ (means / size - mean) ** 2) * units / (units - 1)
    return mean / math.sqrt(variance)


def jackknife_error(match: Match) -> float | None:
    """The standard error of a difference of functions of means, from how it moves where one unit
    at a time is left out; None where it does not, and of anything else."""
    from judged.statistics.resampling.resamples import left_out

    ours, theirs = match.ours.sample, match.theirs.sample
    if not isinstance(ours, Means) or not isinstance(theirs, Means) or ours.aggregate:
        return None
    units = match.units
    if units < 2:
        return None
    numbers = left_out(ours, match.groups), left_out(theirs, match.groups)
    without = numbers[0] - numbers[1]
    away = without - without.mean()
    if not np.abs(away).max() > CLOSE * np.abs(numbers).max():
        return None
    return float(np.sqrt((away**2).sum() * (units - 1) / units))


def _least(error: float, freedom: float, match: Match, settings: Settings) -> float | None:
    """The smallest difference that is found, on the scale of the numbers; None where no difference
    would be: too few queries differ, or it is larger than any that there can be."""
    least = detectable(error, freedom, level=settings.tested_level, power=settings.power)
    shown = float(match.on_scale(least).item())
    seen = math.isfinite(shown) and shown <= _largest(match) and not too_few(match, settings)
    return shown if seen else None


def _largest(match: Match) -> float:
    """The largest difference that there can be; infinite where values lie beyond what is known."""
    low, high = match.measure.range
    values = np.concatenate((match.ours.values, match.theirs.values))
    if values.min() < low or values.max() > high:
        return math.inf
    return match.width


def _wider(
    columns: Floats, matches: Sequence[Match], by_group: Spread, settings: Settings
) -> list[float | None]:
    """How many times as wide as by queries the interval of each match is by groups."""
    if matches[0].groups is None:
        return [None] * len(matches)
    by_query = spread(columns, matches[0].weights, more=further_variances(matches))
    ratio = half_widths(by_group, settings.level) / half_widths(by_query, settings.level)
    return [float(each) if math.isfinite(each) else None for each in ratio]


def _has_spread(match: Match) -> bool:
    return (
        match.averaged is not None
        and match.powered is None
        and match.units > 1
        and not match.constant
        and not match.infinite.any()
    )
