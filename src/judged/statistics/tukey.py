"""Tukey's honest differences of systems that all answered the same queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.statistics.aggregates import CLOSE
from judged.statistics.tested import SMALLEST_P, Tukey, below

FAR = 1e-9
"""scipy's studentised range has no more digits: smaller p come from pairs alone."""


def tukey(values: Floats, levels: Sequence[float] = (0.95,)) -> Tukey:
    """Tukey's test of all pairs, in the two-way layout: queries are blocks.

    With MS the residual mean square after systems and queries are taken away, the studentised range
    of m systems and (n - 1)(m - 1) degrees of freedom judges |difference|/√(MS/n). It supposes that
    all pairs spread alike. For two systems it is the paired t test.

    Parameters
    ----------
    values : array of queries and systems
        All finite.
    levels : sequence of float
        The levels of the intervals, which hold for all pairs together.

    Returns
    -------
    Tukey

    >>> found = tukey(np.array([[0.1, 0.2, 0.4], [0.3, 0.3, 0.6], [0.2, 0.4, 0.5]]))
    >>> found.p.round(3)
    array([[1.   , 0.201, 0.007],
           [0.201, 1.   , 0.029],
           [0.007, 0.029, 1.   ]])
    """
    from scipy.special import stdtr
    from scipy.stats import studentized_range

    n, m = values.shape
    order = np.lexsort(values[::-1])  # their own, so that no bit hangs on that of the systems
    values = values[:, order]
    nothing = Tukey(np.where(np.eye(m, dtype=bool), 1.0, np.nan), np.full(len(levels), np.nan))
    if n < 2 or m < 2:
        return nothing
    means = values.mean(axis=0)
    apart = np.abs(means[:, None] - means)
    left = values - means - values.mean(axis=1, keepdims=True) + values.mean()
    if np.abs(left).max() <= CLOSE * np.abs(values).max():
        return nothing
    freedom = (n - 1) * (m - 1)
    error = float(np.sqrt((left**2).sum() / freedom / n))
    rows, columns = np.triu_indices(m, 1)
    ranges = apart[rows, columns] / error
    # The largest range is a pair's own: no less likely than its t alone, and no more than any of
    # all pairs'.
    alone = np.maximum(2 * stdtr(freedom, -ranges / np.sqrt(2)), SMALLEST_P)
    any_pair = np.minimum(alone * len(rows), 1.0)
    found = np.clip(studentized_range.sf(ranges, m, freedom), alone, any_pair)
    found = np.where(found < FAR, any_pair, found)
    rising = np.argsort(ranges, kind="stable")
    found[rising] = np.minimum.accumulate(found[rising])
    p = np.ones((m, m))
    p[order[rows], order[columns]] = p[order[columns], order[rows]] = found
    apart = apart[np.ix_(np.argsort(order), np.argsort(order))]
    half = [
        _agreeing(float(studentized_range.ppf(level, m, freedom)) * error, apart, below(p, level))
        for level in levels
    ]
    return Tukey(p, np.array(half))


def _agreeing(half: float, apart: Floats, counts: NDArray[np.bool_]) -> float:
    """A half width that pairs pass exactly where their p counts, whatever was rounded."""
    least = np.nextafter(apart[counts].min(), 0) if counts.any() else np.inf
    return float(np.clip(half, apart[~counts].max(), least))
