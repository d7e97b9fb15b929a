"""Sums that are rounded once: whatever the order of their terms, and however these were shared out,
the same bits.

Every floating-point number is a whole number of the smallest steps that there are. Sums are kept as
such a whole number, which Python holds however large it becomes, and are rounded when somebody asks
for their value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats

_BASE = 1074
"""A step is 2 to the power of minus this: the smallest number above 0."""
_HUGE = 2.0**900
"""Numbers from here on are not shared out, for that would overflow."""
_FEW = 50
"""Up to so many terms are handed to `math.fsum`, which rounds once too, as they are."""


@dataclass(frozen=True)
class ExactSum:
    """A sum of floating-point numbers without any rounding; such sums add up.

    >>> (ExactSum.of([0.1, 1e100]) + ExactSum.of([-1e100, 0.2])).value()
    0.30000000000000004
    """

    steps: int = 0
    """The sum of all finite terms, in steps of the smallest number above 0."""
    beyond: float = 0.0
    """The sum of the terms that are infinite or NaN; 0 where there are none."""
    count: int = 0
    """How many terms there are."""

    @classmethod
    def of(cls, terms: Iterable[float] | NDArray[np.floating]) -> ExactSum:
        """The sum of some numbers."""
        values = np.asarray(terms if isinstance(terms, np.ndarray) else list(terms), np.float64)
        finite = np.isfinite(values)
        beyond = 0.0
        if not finite.all():
            with np.errstate(invalid="ignore"):
                beyond = float(np.sum(values[~finite]))
            kept = values[finite]
        else:
            kept = values
        steps = sum(map(_steps, _partial_sums(kept)))
        return cls(steps, beyond, len(values))

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(
            self.steps + other.steps, self.beyond + other.beyond, self.count + other.count
        )

    def value(self) -> float:
        """The sum, rounded once."""
        if self.beyond:
            return self.beyond
        try:
            return self.steps / (1 << _BASE)
        except OverflowError:
            return math.inf if self.steps > 0 else -math.inf

    def mean(self) -> float:
        """The sum, divided by how many terms there are; NaN where there are none."""
        return self.value() / self.count if self.count else math.nan


def _steps(value: float) -> int:
    """A finite number, in steps."""
    upper, lower = value.as_integer_ratio()
    return upper * ((1 << _BASE) // lower)


def _partial_sums(values: Floats) -> list[float]:
    """A few numbers that have exactly the sum of many.

    Adding and taking away a power of two well above the sum of all leaves of each number the digits
    down to a common place, which add up without rounding in any order. What is left is far smaller,
    and treated in the same way until nothing is (Rump, Ogita and Oishi, 2008).
    """
    found: list[float] = []
    left = values
    while len(left) > _FEW:
        greatest = float(np.abs(left).max())
        if greatest == 0:
            return found
        if greatest >= _HUGE:
            break
        power = math.frexp(greatest)[1] + len(left).bit_length() + 1
        far = math.ldexp(1.0, power)
        upper = (left + far) - far
        found.append(float(upper.sum()))
        left = left - upper
        if len(found) > 2:  # few numbers have digits as far down
            left = left[left != 0]
    return [*found, *left.tolist()]


def exact_sum(values: Floats) -> float:
    """The sum of an array, rounded once, so that its order changes no bit; as numpy has it where
    terms are infinite or NaN.

    >>> exact_sum(np.array([1e100, 0.1, -1e100, 0.2])), exact_sum(np.array([1.0, np.inf]))
    (0.30000000000000004, inf)
    """
    if not np.isfinite(values).all():
        return float(np.sum(values))
    try:
        return math.fsum(_partial_sums(values)) + 0.0
    except OverflowError:  # on the way, or in the end
        return ExactSum.of(values).value()


def exact_mean(values: Floats) -> float:
    """The exact sum of an array, divided by its length; NaN where it is empty."""
    return exact_sum(values) / len(values) if len(values) else math.nan
