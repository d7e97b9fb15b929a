"""What a test says of differences between pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats

SMALLEST_P = float(np.finfo(np.float64).tiny)
"""No p is smaller: none is 0."""


@dataclass(frozen=True, eq=False)
class Tested:
    """What a test says of some pairs at once: one column per pair.

    Intervals and p belong together: p is below 1 - level exactly where the interval of that level
    leaves out zero.
    """

    p: Floats
    """Two-sided; never 0. NaN where the test has nothing to go by."""
    low: Floats
    """Lower ends, one row per level that was asked for and one column per pair; NaN where there is
    none."""
    high: Floats
    """Upper ends."""


def below(p: Floats | float, level: float) -> NDArray[np.bool_]:
    """Whether p is below 1 - level: the one comparison that decides what counts as shown.

    1 - 0.95 is a little more than 0.05 in floats, and a p that is 0.05 must not count as below it,
    however either of them was rounded. NaN is never below.

    >>> bool(below(0.05, 0.95)), bool(below(0.0499, 0.95))
    (False, True)
    """
    return np.asarray(p) < (1 - level) * (1 - 1e-12) - 2.0**-53


def fewest_units(level: float, sides: int = 2) -> int:
    """Return the smallest number of units whose signs, all alike, have a p below 1 - level.

    Of the 2ⁿ patterns of n signs, one has all of them on the side of a loss, and two on one side.
    A level too close to 1 to be reached has the number at which 2⁻ⁿ is no float any more.

    >>> fewest_units(0.95), fewest_units(0.95, sides=1)
    (6, 5)
    """
    enough = (units for units in range(2, 1075) if below(sides * 2.0**-units, level))
    return next(enough, 1075)


@dataclass(frozen=True, eq=False)
class Tukey:
    """All pairs of systems at once, corrected for their number.

    p of a pair is below 1 - level exactly where its difference is greater than the half width.
    """

    p: Floats
    """Of each pair of systems; 1 on the diagonal, NaN where there is nothing to go by."""
    half_width: Floats
    """How far the ends of every interval are from its difference, one per level; NaN where there is
    none."""
