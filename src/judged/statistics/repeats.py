"""Repeats of a system: how far its mean moves from one run of it to the next."""

from __future__ import annotations

import math

import numpy as np

from judged.arrays import Floats
from judged.statistics.aggregates import CLOSE, effective_number


def repeat_variance(values: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """The variance of the mean over repeats that queries do not explain.

    A repeat's mean moves for two reasons: its queries come out a little differently, each on its
    own, and the repeat as a whole is better or worse. The first is in the spread of the queries'
    values already; this is the second. With R repeats of n queries the variance of the repeats'
    means holds both, and the residual mean square of the table (repeats and queries taken away),
    divided by n, is the first: max(0, var of the means - MS/n)/R.

    Its degrees of freedom are Satterthwaite's for a difference of two mean squares with R - 1 and
    (R - 1)(n - 1) of them, so that together with the variance of the queries they are those of the
    whole sum.

    Parameters
    ----------
    values : array of repeats and queries
        Of one system, all finite.
    weights : array, optional
        How much each query counts; n is then their effective number (Kish).

    Returns
    -------
    tuple of float
        The variance and its degrees of freedom; 0 and infinitely many for one repeat, and where
        queries explain it all.

    >>> variance, freedom = repeat_variance(np.array([[0.1, 0.5, 0.3], [0.2, 0.6, 0.4]]))
    >>> round(variance, 6), round(freedom, 6)
    (0.0025, 1.0)
    """
    repeats, queries = values.shape
    if repeats == 1:
        return 0.0, math.inf
    means = np.average(values, axis=1, weights=weights)
    between = float(means.var(ddof=1))
    freedoms = np.array([repeats - 1.0, (repeats - 1.0) * max(queries - 1, 1)])
    explained = 0.0
    if queries > 1:
        left = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
        size = queries if weights is None else effective_number(weights)
        explained = float((left**2).sum() / freedoms[1]) / size
    added = between - explained
    if added <= (CLOSE * float(np.abs(values).max())) ** 2:
        return 0.0, math.inf
    squares = np.array([between, explained]) ** 2
    return added / repeats, added**2 / float((squares / freedoms).sum())
