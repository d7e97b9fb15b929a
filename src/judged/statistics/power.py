"""What a t test can see: the smallest difference that it finds so often, and how many units it
takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from judged.arrays import Floats
from judged.errors import InputError
from judged.statistics.distributions import normal_quantile, t_power, t_quantile

POWER = 0.8
"""How often a difference is to be found, unless another power is asked for."""


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
    known = np.array([_distance(float(own), level, power, sides) for own in each])
    distance = known[place.reshape(freedom.shape)]
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
        critical = critical_value(units - 1.0, level, sides)
        return t_power(ratio * units**0.5, units - 1.0, critical, sides) >= power

    found = fewest(enough, guess=normal_units(ratio, level, power, sides))
    assert found is not None  # without a most there is no end
    return found


def fewest(
    enough: Callable[[int], bool], most: int | None = None, *, guess: float = 2
) -> int | None:
    """The smallest number of units, from 2, that is enough; None where more than the most are.

    Parameters
    ----------
    enough : function of a number of units
        False up to some number, and True from there on.
    most : int, optional
        Where the search ends.
    guess : float, optional
        Where it begins: the nearer, the sooner it is found.

    Returns
    -------
    int or None

    >>> fewest(lambda units: units >= 34), fewest(lambda units: units >= 34, most=30)
    (34, None)
    """
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
    """How many units it takes, about: by the normal distribution, with the usual correction for
    t. The ratio is that of the difference to the deviation.

    >>> round(normal_units(0.2, 0.95, 0.8, 2), 1)
    198.1
    """
    beyond = normal_quantile(1 - (1 - level) / sides)
    return ((beyond + normal_quantile(power)) / ratio) ** 2 + beyond * beyond / 2


def _check(power: float, level: float) -> None:
    if not 1 - level < power < 1:
        raise InputError(
            f"power must be a number between 1 − level and 1; got {power!r} for a level of "
            f"{level!r}."
        )


def critical_value(freedom: float, level: float, sides: int) -> float:
    """What t has to be beyond for p to be below 1 - level.

    >>> round(critical_value(49.0, 0.95, 2), 4)
    2.0096
    """
    return float(t_quantile(np.array([freedom]), 1 - (1 - level) / sides)[0])


@cache
def _distance(freedom: float, level: float, power: float, sides: int) -> float:
    """How many standard errors the true mean must be from 0."""
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
