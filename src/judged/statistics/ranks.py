"""Tests of differences that look at ranks and signs only; not tests of means."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from judged.arrays import Floats
from judged.statistics.aggregates import CLOSE
from judged.statistics.tested import SMALLEST_P

EXACT_BELOW = 50
"""So many differences have too many signs for the exact distribution, as in R."""


def wilcoxon(columns: Floats, rounding: Floats | None = None) -> Floats:
    """Wilcoxon's signed-rank test of columns of differences, as R's `wilcox.test` has it.

    Differences of 0 are left out. p is exact for fewer than 50 differences where none is 0 and no
    two are equal in size; otherwise it comes from the normal distribution, with corrections for
    ties and continuity.

    Parameters
    ----------
    columns : array of queries and columns
        Differences; infinite ones are the largest and tie.
    rounding : array of queries and columns, optional
        By how much each may be off: what is no further apart is equal. By default 1e-12, of
        differences above 1 relatively.

    Returns
    -------
    array
        Two-sided p of each column; 1 where nothing differs, NaN where a difference is undefined.

    >>> wilcoxon(np.array([[1.0], [2.0], [3.0]]))
    array([0.25])
    """
    off = _off(columns, rounding)
    return np.array([_signed_rank(*each) for each in zip(columns.T, off.T, strict=True)], float)


def sign(columns: Floats, rounding: Floats | None = None) -> Floats:
    """The exact sign test of columns of differences; for values of 0 and 1, McNemar's exact test.

    Parameters
    ----------
    columns, rounding
        As for `wilcoxon`; differences of 0 are left out.

    Returns
    -------
    array
        Two-sided p of each column; 1 where nothing differs, NaN where a difference is undefined.

    >>> sign(np.array([[1.0], [2.0], [3.0], [0.0]]))
    array([0.25])
    """
    from scipy.special import bdtr

    off = _off(columns, rounding)
    wins, losses = (columns > off).sum(axis=0), (columns < -off).sum(axis=0)
    p = np.clip(2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5), SMALLEST_P, 1.0)
    return np.where(np.isnan(columns).any(axis=0), np.nan, p)


def leaning(column: Floats, rounding: Floats | None = None) -> float:
    """By how much the ranks of differences above 0 outweigh: what Wilcoxon's test looks at.

    >>> leaning(np.array([1.0, -2.0, 4.0]))
    1.0
    """
    above, ties = _above(column, _off(column, rounding))
    return above - float(ties.sum() * (ties.sum() + 1) / 4)


def _off(columns: Floats, rounding: Floats | None) -> Floats:
    if rounding is not None:
        return rounding
    return CLOSE * np.maximum(1.0, np.where(np.isfinite(columns), np.abs(columns), 0.0))


def _above(column: Floats, off: Floats) -> tuple[float, Floats]:
    """The sum of the ranks of differences above 0, and how many share each rank."""
    differs = np.abs(column) > off
    found, off = column[differs], off[differs]
    order = np.argsort(np.abs(found), kind="stable")
    ties = _tie_sizes(np.abs(found)[order], off[order])
    ranks = np.repeat(np.cumsum(ties) - (ties - 1) / 2, ties.astype(np.int64))
    return float(ranks[found[order] > 0].sum()), ties


def _signed_rank(column: Floats, off: Floats) -> float:
    from scipy.special import ndtr

    if np.isnan(column).any():
        return np.nan
    above, ties = _above(column, off)
    size = int(ties.sum())
    if not size:
        return 1.0
    middle = size * (size + 1) / 4
    if size == len(column) and size < EXACT_BELOW and (ties == 1).all():
        # The statistic is symmetric: what lies as far on the other side is as likely.
        upto = _patterns(size)[: int(min(above, 2 * middle - above)) + 1].sum()
        return float(min(1.0, 2 * upto / 2.0**size))
    variance = size * (size + 1) * (2 * size + 1) / 24 - float((ties**3 - ties).sum()) / 48
    away = max(abs(above - middle) - 0.5, 0.0) / variance**0.5
    return float(max(2 * ndtr(-away), SMALLEST_P))


def _tie_sizes(ordered: Floats, off: Floats) -> Floats:
    """How many of the ordered sizes are equal, each off by so much, for each value in turn."""
    with np.errstate(invalid="ignore"):
        gaps = np.diff(ordered)
    new = gaps > off[1:] + off[:-1]  # two infinite ones have no gap
    starts = np.flatnonzero(np.r_[len(ordered) > 0, new])
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
