"""How well a score tells two kinds apart: the area under the ROC curve, with an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.errors import InputError
from judged.options import LEVEL
from judged.statistics.aggregates import effective_number
from judged.statistics.distributions import normal_quantile
from judged.statistics.intervals import checked_level

METHOD = "Newcombe's score interval (2006, method 5)"
"""How the bounds are found; at an area of 1 they are as far apart as the numbers make them, where
those of DeLong have no width."""


@dataclass(frozen=True)
class Auroc:
    """An area under the ROC curve and the bounds that would hold the true one in so many of all
    samples.

    >>> Auroc(0.75, 0.5, 0.9).to_dict()
    {'value': 0.75, 'low': 0.5, 'high': 0.9}
    """

    value: float
    """How often a score of the first kind is greater than one of the second; ties count half."""
    low: float = math.nan
    """The lower bound; NaN where it cannot be said."""
    high: float = math.nan
    """The upper bound; NaN where it cannot be said."""

    def to_dict(self) -> dict[str, float | None]:
        """As plain values for JSON, which has no NaN.

        Returns
        -------
        dict

        >>> Auroc(0.5).to_dict()
        {'value': 0.5, 'low': None, 'high': None}
        """
        named = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if math.isnan(value) else value for name, value in named.items()}


Numbers = Sequence[float] | NDArray[Any]


def auroc(
    first: Numbers,
    second: Numbers,
    *,
    weights: tuple[Numbers, Numbers] | None = None,
    level: float = LEVEL,
) -> Auroc:
    """How often a score of the first kind is greater than one of the second, with an interval.

    The area is exact, the Mann-Whitney statistic as a share; equal scores count half. Its bounds
    are the two true areas at which what was found is just as far away as the level allows, by the
    variance that Hanley and McNeil give for that area (Newcombe 2006, method 5): never of no width.
    Where one kind has a single score there are none.

    Parameters
    ----------
    first, second : sequence of float
        The scores of each kind, infinite ones among them, but no NaN; at least one each.
    weights : tuple of two sequences, optional
        A weight above 0 for each score; the bounds then count each kind by its effective number
        (Kish).
    level : float, optional
        In how many of all samples the bounds hold the true area.

    Returns
    -------
    Auroc

    >>> auroc([3.0, 2.0], [1.0, 2.0])
    Auroc(value=0.875, low=0.299..., high=0.990...)
    """
    level = checked_level(level)
    above, below = (np.asarray(each, np.float64) for each in (first, second))
    if any(each.ndim != 1 or not len(each) or np.isnan(each).any() for each in (above, below)):
        raise InputError("an AUROC needs at least one score of each kind, and none that is NaN.")
    heavy, light = (
        (np.ones(len(above)), np.ones(len(below)))
        if weights is None
        else (np.asarray(each, np.float64) for each in weights)
    )
    value = _area(above, below, heavy, light)
    if min(len(above), len(below)) < 2:
        return Auroc(value)
    return Auroc(value, *_bounds(value, effective_number(heavy), effective_number(light), level))


def _area(above: Floats, below: Floats, heavy: Floats, light: Floats) -> float:
    """The weight of all pairs in the right order, those that tie half, as a share."""
    order = np.argsort(below, kind="stable")
    upto = np.concatenate([[0.0], np.cumsum(light[order])])
    less = upto[np.searchsorted(below[order], above, "left")]
    less_or_equal = upto[np.searchsorted(below[order], above, "right")]
    right = float((heavy * (less + less_or_equal)).sum() / 2)
    return right / (float(heavy.sum()) * float(upto[-1]))


def _bounds(value: float, m: float, n: float, level: float) -> tuple[float, float]:
    z = normal_quantile((1 + level) / 2)

    def too_far(area: float) -> bool:
        other = 1 - area
        spread = 1 + ((m + n) / 2 - 1) * (other / (2 - area) + area / (1 + area))
        return (value - area) ** 2 > z * z * area * other * spread / (m * n)

    def bound(outside: float) -> float:
        inside = value
        while abs(outside - inside) > 1e-15 and (middle := (outside + inside) / 2) not in (
            outside,
            inside,
        ):
            if too_far(middle):
                outside = middle
            else:
                inside = middle
        return inside

    return bound(0.0), bound(1.0)
