"""Tests of differences that look at ranks and signs only; not tests of means."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from judged.segments import Floats
from judged.statistics.student import SAME
from judged.statistics.tested import SMALLEST_P

EXACT_BELOW = 50
"""So many differences have too many signs for the exact distribution, as in R."""


def wilcoxon(columns: Floats) -> Floats:
    """Wilcoxon's signed-rank test of columns of differences, as R's `wilcox.test` has it.

    Differences of 0 (within 1e-12) are left out. p is exact for fewer than 50 differences where
    none is 0 and no two are equal in size; otherwise it comes from the normal distribution, with
    corrections for ties and continuity.

    Parameters
    ----------
    columns : array of queries and columns
        Differences; infinite ones are the largest and tie.

    Returns
    -------
    array
        Two-sided p of each column; 1 where nothing differs, NaN where a difference is undefined.

    >>> wilcoxon(np.array([[1.0], [2.0], [3.0]]))
    array([0.25])
    """
    return np.array([_signed_rank(column) for column in columns.T], np.float64)


def sign(columns: Floats) -> Floats:
    """The exact sign test of columns of differences; for values of 0 and 1, McNemar's exact test.

    Parameters
    ----------
    columns : array of queries and columns
        Differences; those of 0 (within 1e-12) are left out.

    Returns
    -------
    array
        Two-sided p of each column; 1 where nothing differs, NaN where a difference is undefined.

    >>> sign(np.array([[1.0], [2.0], [3.0], [0.0]]))
    array([0.25])
    """
    from scipy.special import bdtr

    wins, losses = (columns > SAME).sum(axis=0), (columns < -SAME).sum(axis=0)
    p = np.clip(2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5), SMALLEST_P, 1.0)
    return np.where(np.isnan(columns).any(axis=0), np.nan, p)


def _signed_rank(column: Floats) -> float:
    from scipy.special import ndtr

    if np.isnan(column).any():
        return np.nan
    found = column[np.abs(column) > SAME]
    size = len(found)
    if not size:
        return 1.0
    order = np.argsort(np.abs(found), kind="stable")
    ties = _tie_sizes(np.abs(found)[order])
    last = np.cumsum(ties)
    ranks = np.repeat(last - (ties - 1) / 2, ties.astype(np.int64))
    above = float(ranks[found[order] > 0].sum())
    middle = size * (size + 1) / 4
    if size == len(column) and size < EXACT_BELOW and (ties == 1).all():
        # The statistic is symmetric: what lies as far on the other side is as likely.
        upto = _patterns(size)[: int(min(above, 2 * middle - above)) + 1].sum()
        return float(min(1.0, 2 * upto / 2.0**size))
    variance = size * (size + 1) * (2 * size + 1) / 24 - float((ties**3 - ties).sum()) / 48
    away = max(abs(above - middle) - 0.5, 0.0) / variance**0.5
    return float(max(2 * ndtr(-away), SMALLEST_P))


def _tie_sizes(ordered: Floats) -> Floats:
    """How many of the ordered sizes are equal (within 1e-12), for each value in turn."""
    with np.errstate(invalid="ignore"):
        gaps = np.diff(ordered)
    new = gaps > SAME * np.maximum(1.0, ordered[:-1])  # two infinite ones have no gap
    starts = np.flatnonzero(np.r_[True, new])
    return np.diff(np.r_[starts, len(ordered)]).astype(np.float64)


@lru_cache(EXACT_BELOW)
def _patterns(size: int) -> Floats:
    """How many patterns of signs of the ranks 1 to size have each sum of positive ranks."""
    counts = np.ones(1)
    for rank in range(1, size + 1):
        longer = np.zeros(len(counts) + rank)
        longer[: len(counts)] = counts
        longer[rank:] += counts
        counts = longer
    return counts
