"""What a t test can see: the smallest difference that it finds so often, and how many units it
takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judged.errors import InputError
from judged.segments import Floats
from judged.statistics.student import quantile

POWER = 0.8
"""How often a difference is to be found, unless another power is asked for."""
FAR = 1e4
"""Standard errors beyond which nobody looks: nctdtr of scipy 1.11 would take for ever."""


def detectable(
    error: ArrayLike,
    freedom: ArrayLike,
    *,
    level: float = 0.95,
    power: float = POWER,
    sides: int = 2,
) -> Floats:
    """The smallest true difference that a t test finds with this power.

    Parameters
    ----------
    error, freedom : array
        The standard error of each difference and its degrees of freedom.
    level : float
        A difference is found where p is below 1 - level.
    power : float
        In how many of all samples it is found; more than 1 - level.
    sides : int
        2, or 1 for a test that looks in one direction only.

    Returns
    -------
    array
        NaN where there is no error to go by.

    >>> detectable([0.01, 0.02], 49).round(6)
    array([0.02858, 0.05716])
    """
    _check(power, level)
    error, freedom = np.broadcast_arrays(np.asarray(error, float), np.asarray(freedom, float))
    each, place = np.unique(freedom, return_inverse=True)
    distance = _distance(each, level, power, sides)[place.reshape(freedom.shape)]
    return np.asarray(distance * error, np.float64)


def needed_units(
    deviation: float,
    difference: float,
    *,
    level: float = 0.95,
    power: float = POWER,
    sides: int = 2,
) -> int:
    """How many queries (or groups) a t test needs to find a true difference with this power.

    Parameters
    ----------
    deviation : float
        The standard deviation of the differences of queries, above 0; for groups, the standard
        error of the mean times the root of the number of groups.
    difference : float
        What is to be found, above 0.
    level, power, sides
        As for `detectable`.

    Returns
    -------
    int
        At least 2.

    >>> needed_units(0.1, 0.05)
    34
    """
    _check(power, level)
    ratio = difference / deviation if deviation > 0 and np.isfinite(deviation) else np.nan
    if not 1e-150 < ratio < np.inf:  # less takes more queries than a float can count
        raise InputError(
            "a number of queries needs a deviation and a difference above 0; got "
            f"{deviation!r} and {difference!r}."
        )

    def enough(units: int) -> bool:
        freedom = np.array([units - 1.0])
        found = _power(np.array([ratio * units**0.5]), freedom, level, sides)
        return float(found[0]) >= power

    high = 2
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _check(power: float, level: float) -> None:
    if not 1 - level < power < 1:
        raise InputError(
            f"power must be a number between 1 − level and 1; got {power!r} for a level of "
            f"{level!r}."
        )


def _distance(freedom: Floats, level: float, power: float, sides: int) -> Floats:
    """How many standard errors the true mean must be from 0; NaN where nctdtr cannot say."""

    def reaches(distance: Floats) -> NDArray[np.bool_]:
        return _power(distance, at, level, sides) >= power

    known = (freedom > 0) & (quantile(freedom, 1 - (1 - level) / sides) < FAR)
    at = np.where(known, freedom, 1.0)
    low, high = np.zeros(len(at)), np.ones(len(at))
    while not (reached := reaches(high)).all() and high.max(initial=1.0) < FAR:
        low, high = np.where(reached, low, high), np.where(reached, high, 2 * high)
    known &= reached
    while ((high - low) > 1e-14 * high).any():
        middle = (low + high) / 2
        if ((middle == low) | (middle == high)).all():
            break
        reached = reaches(middle)
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.where(known, high, np.nan)


def _power(distance: Floats, freedom: Floats, level: float, sides: int) -> Floats:
    """How often t is beyond its critical value, the true mean being so many errors from 0."""
    from scipy.special import nctdtr

    critical = quantile(freedom, 1 - (1 - level) / sides)
    missed = _nothing_far_out(nctdtr(freedom, distance, critical), distance, critical + 30)
    if sides == 2:
        missed = missed - _nothing_far_out(nctdtr(freedom, distance, -critical), distance, 2)
    return 1 - missed


def _nothing_far_out(share: Floats, distance: Floats, far: Floats | float) -> Floats:
    """nctdtr gives NaN in place of shares that are too small for it."""
    return np.where(np.isnan(share) & (distance > far), 0.0, share)
