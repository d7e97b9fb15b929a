"""What a test says of differences between pairs."""

from __future__ import annotations

from dataclasses import dataclass

from judged.segments import Floats


@dataclass(frozen=True, eq=False)
class Tested:
    """What a test says of some pairs at once: one column per pair.

    Intervals and p belong together: p is below 1 - level exactly where the interval of that level
    leaves out zero.
    """

    p: Floats
    """Two-sided; never 0."""
    low: Floats
    """Lower ends, one row per level that was asked for and one column per pair; NaN where there is
    none."""
    high: Floats
    """Upper ends."""
