"""Sums of series in closed form."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats

_LARGE = 12.0
"""From here on, both expansions below are exact to the last digit or two."""
_BLOCK = 1 << 14
"""So many numbers at a time stay in the processor's cache, and what is needed on the way stays
small."""


def inverse_squares(x: Floats) -> Floats:
    """1/x² + 1/(x + 1)² + 1/(x + 2)² + … without end (the trigamma function), for x above 0; 0 for
    infinity.

    >>> round(float(inverse_squares(np.array([1.0]))[0]) * 6 / np.pi**2, 12)
    1.0
    """
    value = np.empty(len(x))
    for begin in range(0, len(x), _BLOCK):
        at = x[begin : begin + _BLOCK].copy()
        first = np.zeros(len(at))
        while len(small := np.flatnonzero(at < _LARGE)):
            first[small] += 1 / at[small] ** 2
            at[small] += 1
        step = 1 / at
        square = step * step
        series = 1 / 6 - square * (
            1 / 30
            - square * (1 / 42 - square * (1 / 30 - square * (5 / 66 - square * (691 / 2730))))
        )
        value[begin : begin + _BLOCK] = first + step * (1 + step * (0.5 + step * series))
    return value


_FIRST_HARMONIC = np.append(0.0, np.cumsum(1 / np.arange(1, _LARGE)))


def harmonic(n: Floats) -> Floats:
    """1 + 1/2 + … + 1/n, for whole n from 0.

    >>> harmonic(np.array([0.0, 1.0, 2.0])).tolist()
    [0.0, 1.0, 1.5]
    """
    at = np.maximum(n, _LARGE)
    square = 1 / (at * at)
    series = 1 / 12 - square * (
        1 / 120
        - square * (1 / 252 - square * (1 / 240 - square * (1 / 132 - square * 691 / 32760)))
    )
    table = _FIRST_HARMONIC[np.minimum(n, _LARGE - 1).astype(np.int64)]
    return np.where(n < _LARGE, table, np.log(at) + np.euler_gamma + 0.5 / at - square * series)
