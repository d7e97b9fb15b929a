"""Shares: the one division of the measures, undefined where the divisor is zero, and how many items
a share asks for."""

from __future__ import annotations

import numpy as np

from judged.segments import Floats


def divide(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where whole is 0.

    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole != 0)


def needed(share: float, whole: Floats) -> Floats:
    """How many items make up at least this share of a whole.

    >>> needed(0.28, np.array([25.0, 26.0])).tolist()
    [7.0, 8.0]
    """
    # 0.28 * 25 is 7.000000000000001 in binary: a whole number must not be rounded up.
    return np.ceil(np.round(share * whole, 9))
