"""From p to the ends of an interval, so that the two never contradict each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from judged.arrays import Floats, Ints
from judged.statistics.tested import below


def least_count(p_of: Callable[[Ints], Floats], counts: Ints, level: float) -> Ints:
    """The least count from 1 whose p is not below 1 - level, for each column; at most `counts`.

    p must not fall where the count grows.

    >>> int(least_count(lambda count: count / 10_000, np.array(10_000), 0.95))
    500
    """
    low, high = np.ones_like(counts), counts
    while (low < high).any():
        middle = (low + high) // 2
        less = below(p_of(middle), level) & (low < high)
        low, high = np.where(less, middle + 1, low), np.where(less, high, middle)
    return low
