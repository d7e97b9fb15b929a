"""How large differences are, and how large one has to be to be found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from judged.comparison.match import Match, alike
from judged.comparison.outcomes import columns_of, further_variances
from judged.comparison.settings import Settings
from judged.segments import Floats
from judged.statistics.power import detectable
from judged.statistics.student import Spread, half_widths, spread


class Size(NamedTuple):
    """How large a difference is; None where there is no spread to go by."""

    effect: float | None = None
    """d_z: the mean in standard deviations of single queries, or groups."""
    detectable: float | None = None
    """The smallest difference that would have been found."""
    wider: float | None = None
    """How many times as wide the interval (of t) is by groups as by queries."""


def sizes(matches: Sequence[Match], settings: Settings) -> list[Size]:
    """How large the difference of each match is."""
    found = [Size()] * len(matches)
    for same in alike(matches):
        which = [at for at in same if _has_spread(matches[at])]
        if not which:
            continue
        together = [matches[at] for at in which]
        columns, first = columns_of(together), together[0]
        own = spread(columns, first.weights, first.groups)
        every = spread(columns, first.weights, first.groups, more=further_variances(together))
        least = detectable(every.error, every.freedom, level=settings.level, power=settings.power)
        effect = own.mean / (own.error * math.sqrt(first.units))
        wider = _wider(columns, together, every, settings)
        for at, match, size, small, by in zip(which, together, effect, least, wider, strict=True):
            shown = float(match.on_scale(np.asarray(small)))
            found[at] = Size(float(size), shown if math.isfinite(shown) else None, by)
    return found


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
        and match.units > 1
        and not match.constant
        and bool(np.isfinite(match.averaged).all())
    )
