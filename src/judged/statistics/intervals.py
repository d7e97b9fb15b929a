"""Intervals of means over queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError

LEVEL = 0.95
"""In how many of all samples an interval holds the true mean, unless another level is asked for."""


@dataclass(frozen=True)
class Interval:
    """A mean and the bounds that would hold the true one in so many of all samples.

    >>> Interval(0.5, 0.25, 0.75).to_dict()
    {'mean': 0.5, 'low': 0.25, 'high': 0.75}
    """

    mean: float
    """The mean of the values."""
    low: float
    """The lower bound; NaN where it cannot be said."""
    high: float
    """The upper bound; NaN where it cannot be said."""

    def to_dict(self) -> dict[str, float | None]:
        """As plain values for JSON, which has no NaN.

        Returns
        -------
        dict

        >>> Interval(0.5, math.nan, math.nan).to_dict()
        {'mean': 0.5, 'low': None, 'high': None}
        """
        named = {"mean": self.mean, "low": self.low, "high": self.high}
        return {name: value if math.isfinite(value) else None for name, value in named.items()}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Interval:
        """The interval that `to_dict` gave.

        Parameters
        ----------
        given : Mapping
            What `to_dict` returned.

        Returns
        -------
        Interval

        >>> Interval.from_dict({"mean": 0.5, "low": None, "high": None})
        Interval(mean=0.5, low=nan, high=nan)
        """
        return cls(
            *(
                math.nan if given[name] is None else float(given[name])
                for name in ("mean", "low", "high")
            )
        )


def checked_level(level: Any) -> float:
    """A level as a float: a number between 0 and 1."""
    if (
        isinstance(level, bool)
        or not isinstance(level, (Real, np.number))
        or not 0 < float(level) < 1
    ):
        raise InputError(
            f"the level of an interval must be a number between 0 and 1, as 0.95; got {level!r}."
        )
    return float(level)


def mean_interval(values: Sequence[float] | NDArray[Any], *, level: float = LEVEL) -> Interval:
    """Student's interval of a mean: mean ± t·s/√n, with n - 1 degrees of freedom.

    Of differences of pairs it is the paired one. One value alone says nothing of how others would
    spread, so its bounds are NaN.

    Parameters
    ----------
    values : sequence of float
        One finite number per query.
    level : float, optional
        In how many of all samples the bounds hold the true mean.

    Returns
    -------
    Interval

    >>> mean_interval([1.0, 2.0, 3.0])
    Interval(mean=2.0, low=-0.484..., high=4.484...)
    """
    level = checked_level(level)
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise InputError(
            "an interval of a mean needs one finite number for each query, and at least one."
        )
    mean = float(numbers.mean())
    if len(numbers) == 1:
        return Interval(mean, math.nan, math.nan)
    from scipy.special import stdtrit

    half = float(
        stdtrit(len(numbers) - 1, (1 + level) / 2) * numbers.std(ddof=1) / np.sqrt(len(numbers))
    )
    return Interval(mean, mean - half, mean + half)
