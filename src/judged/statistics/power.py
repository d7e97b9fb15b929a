"""The power of t tests: detectable differences, and how many queries they take."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from judged.arrays import Floats
from judged.options import POWER
from judged.statistics.t import normal_quantile, t_quantile


def detectable(
    error: ArrayLike,
    freedom: ArrayLike,
    *,
    level: float = 0.95,
    power: float = POWER,
    sides: int = 2,
) -> Floats:
    """Compute the smallest true difference that a t test detects with this power."""
    # `sides` is 2, or 1 for a one-sided test. NaN where there is no standard error.
    error, freedom = np.broadcast_arrays(np.asarray(error, float), np.asarray(freedom, float))
    freedoms, place = np.unique(freedom, return_inverse=True)
    known = np.array([_distance(float(value), level, power, sides) for value in freedoms])
    distance = known[place.reshape(freedom.shape)]
    return np.asarray(distance * error, np.float64)


def fewest(
    enough: Callable[[int], bool], most: int | None = None, *, guess: float = 2
) -> int | None:
    """Find the smallest number of units, from 2, that is enough; None if `most` is not."""
    # `enough` is False up to some number and True from there on. The search starts at `guess`.
    end = math.inf if most is None else most
    begin = int(min(max(guess, 2), end))
    step = 1
    if enough(begin):
        low, high = begin, begin
        while low > 1 and (low == high or enough(low)):
            high, low, step = low, max(low - step, 1), 2 * step
    else:
        low, high = begin, begin
        while low == high or not enough(high):
            if high >= end:
                return None
            low, high, step = high, int(min(high + step, end)), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def normal_units(ratio: float, level: float, power: float, sides: int) -> float:
    """Approximate the units for a ratio of difference to deviation, by the normal distribution."""
    beyond = normal_quantile(1 - (1 - level) / sides)
    return ((beyond + normal_quantile(power)) / ratio) ** 2 + beyond * beyond / 2


def critical_value(freedom: float, level: float, sides: int) -> float:
    """Return the t beyond which p is below 1 - level."""
    return float(t_quantile(np.array([freedom]), 1 - (1 - level) / sides)[0])


@cache
def _distance(freedom: float, level: float, power: float, sides: int) -> float:
    """Return how many standard errors the true mean must be from 0."""
    if not freedom > 0:
        return math.nan
    critical = critical_value(freedom, level, sides)
    low, high = 0.0, 1.0
    while t_power(high, freedom, critical, sides) < power:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if t_power(middle, freedom, critical, sides) < power:
            low = middle
        else:
            high = middle
    return high


def t_power(distance: float, freedom: float, critical: float, sides: int = 2) -> float:
    """Compute the power of a t test whose true mean is this number of standard errors from 0."""
    # This is the tail of the noncentral t. Given the estimated standard error relative to the true
    # one, the test is significant as often as a normal value exceeds their product with the
    # critical value. scipy's `nctdtr` is NaN for distances above 38, so the scale is integrated
    # here.
    from scipy.special import ndtr

    def beyond(scale: Floats) -> Floats:
        upper = ndtr(distance - critical * scale)
        return upper + ndtr(-critical * scale - distance) if sides == 2 else upper

    sharp = max(critical, 1e-9)
    return _mean_over_scales(beyond, freedom, (distance - 10) / sharp, (distance + 10) / sharp)


def t_power_within(above: float, under: float, freedom: float, critical: float) -> float:
    """Compute the power of two one-sided t tests, for equivalence within two bounds."""
    # The true mean is `above` standard errors above the lower bound, and `under` standard errors
    # under the upper one.
    from scipy.special import ndtr

    def within(scale: Floats) -> Floats:
        return ndtr(under - critical * scale) - ndtr(critical * scale - above)

    sharp = max(critical, 1e-9)
    crossing = (above + under) / 2 / sharp  # from this scale on, both cannot be significant
    if not crossing > 0 or (math.isinf(freedom) and crossing <= 1):
        return 0.0
    return _mean_over_scales(within, freedom, (min(above, under) - 10) / sharp, crossing)


def _mean_over_scales(
    power: Callable[[Floats], Floats], freedom: float, first: float, last: float
) -> float:
    """Average a power over the scales of the estimated standard error."""
    # The square of a scale times the degrees of freedom is a chi-square. The power changes between
    # the scales `first` and `last`, and is 0 above.
    if math.isinf(freedom):
        return float(power(np.ones(1))[0])
    apart = 2 * math.sqrt(40 / freedom)  # beyond these ends, less than exp(-40) is left
    low, high = math.sqrt(max(0.0, 1 - apart)), math.sqrt(1 + apart + 80 / freedom)
    first = min(max(first, low), high)
    last = min(max(last, first), high)
    total = 0.0
    for begin, end in ((low, first), (first, last)):
        if begin < end:
            scales, weights = _mesh(begin, end)
            total += float((weights * np.exp(_log_density(scales, freedom))) @ power(scales))
    return total / _whole(freedom, low, high)


def _mesh(low: float, high: float) -> tuple[Floats, Floats]:
    """Return nodes and weights of an integral between two scales, even in their roots."""
    # A density of few degrees of freedom is not smooth at 0, but that of the roots is.
    nodes, weights = np.polynomial.legendre.leggauss(5)
    edges = np.linspace(math.sqrt(low), math.sqrt(high), 49)
    half = np.diff(edges)[:, None] / 2
    roots = (edges[:-1, None] + half * (1 + nodes)).ravel()
    return roots * roots, (half * weights).ravel() * 2 * roots


def _log_density(scale: Floats, freedom: float) -> Floats:
    return (freedom - 1) * np.log(scale) - freedom * (scale * scale - 1) / 2


@cache
def _whole(freedom: float, low: float, high: float) -> float:
    scales, weights = _mesh(low, high)
    return float(weights @ np.exp(_log_density(scales, freedom)))
