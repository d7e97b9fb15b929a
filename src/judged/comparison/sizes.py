"""How large differences are, and how large one has to be to be found."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from judged.comparison.match import Match, alike
from judged.comparison.outcomes import columns_of, further_variances
from judged.comparison.settings import Settings
from judged.statistics.power import detectable
from judged.statistics.student import spread


def sizes(matches: Sequence[Match], settings: Settings) -> list[tuple[float | None, float | None]]:
    """Of each match the effect size d_z, and the smallest difference that would have been found;
    None where there is no spread to go by."""
    found: list[tuple[float | None, float | None]] = [(None, None)] * len(matches)
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
        for at, match, size, small in zip(which, together, effect, least, strict=True):
            shown = float(match.on_scale(np.asarray(small)))
            found[at] = float(size), shown if math.isfinite(shown) else None
    return found


def _has_spread(match: Match) -> bool:
    return (
        match.averaged is not None
        and match.units > 1
        and not match.constant
        and bool(np.isfinite(match.averaged).all())
    )
