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


@dataclass(frozen=True)
class Interval:
    """A mean and the bounds that would hold the true one in so many of all samples; NaN where a
    bound cannot be said."""

    mean: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """For JSON, which has no NaN."""
        named = {"mean": self.mean, "low": self.low, "high": self.high}
        return {name: value if math.isfinite(value) else None for name, value in named.items()}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Interval:
        return cls(
            *(
                math.nan if given[name] is None else float(given[name])
                for name in ("mean", "low", "high")
            )
        )


def mean_interval(values: Sequence[float] | NDArray[Any], *, level: float = LEVEL) -> Interval:
    """Student's interval of a mean: mean ± t·s/√n, t with n - 1 degrees of freedom and s with n - 1
    in its divisor.

    Of differences of pairs it is the paired one. One value alone says nothing of how others would
    spread, so its bounds are NaN; values that are NaN are not allowed.

    >>> mean_interval([1.0, 2.0, 3.0])
    Interval(mean=2.0, low=-0.484..., high=4.484...)
    """
    if (
        isinstance(level, bool)
        or not isinstance(level, (Real, np.number))
        or not 0 < float(level) < 1
    ):
        raise InputError(
            f"the level of an interval must be a number between 0 and 1, as 0.95; got {level!r}."
        )
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
        stdtrit(len(numbers) - 1, (1 + float(level)) / 2)
        * numbers.std(ddof=1)
        / np.sqrt(len(numbers))
    )
    return Interval(mean, mean - half, mean + half)
