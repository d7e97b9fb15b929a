"""The one division of the measures: undefined where the divisor is zero."""

from __future__ import annotations

import numpy as np

from judged.segments import Floats


def divide(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where whole is 0.

    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole != 0)
