"""Tests of ranks and signs, and corrections for multiple comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from judged.arrays import Floats
from judged.statistics.samples import CLOSE
from judged.statistics.t import SMALLEST_P

EXACT_BELOW = 50
"""Fewer differences have the exact distribution, as in R."""


def wilcoxon(columns: Floats, rounding: Floats | None = None) -> Floats:
    """Test columns of differences by Wilcoxon's signed ranks, like R's `wilcox.test`."""
    # Differences of 0 are left out. p is exact for fewer than 50 differences without zeros and
    # ties; otherwise normal, with corrections for ties and continuity. `rounding` holds the
    # possible rounding error of each difference. Returns the two-sided p of each column: 1 if
    # nothing differs, NaN if a difference is undefined.
    off = _off(columns, rounding)
    return np.array([_signed_rank(*column) for column in zip(columns.T, off.T, strict=True)], float)


def sign(columns: Floats, rounding: Floats | None = None) -> Floats:
    """Test columns of differences by the exact sign test (McNemar's test for values of 0 and 1)."""
    from scipy.special import bdtr

    off = _off(columns, rounding)
    wins, losses = (columns > off).sum(axis=0), (columns < -off).sum(axis=0)
    p = np.clip(2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5), SMALLEST_P, 1.0)
    return np.where(np.isnan(columns).any(axis=0), np.nan, p)


def leaning(column: Floats, rounding: Floats | None = None) -> float:
    """Compute by how much the ranks of positive differences outweigh, as in Wilcoxon's test.

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
    """Return the sum of the ranks of positive differences, and how many share each rank."""
    differs = np.abs(column) > off
    differences, off = column[differs], off[differs]
    order = np.argsort(np.abs(differences), kind="stable")
    ties = _tie_sizes(np.abs(differences)[order], off[order])
    ranks = np.repeat(np.cumsum(ties) - (ties - 1) / 2, ties.astype(np.int64))
    return float(ranks[differences[order] > 0].sum()), ties


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
    """Count equal values in an ordered list, given the rounding error of each."""
    with np.errstate(invalid="ignore"):
        gaps = np.diff(ordered)
    new = gaps > off[1:] + off[:-1]  # two infinite ones have no gap
    starts = np.flatnonzero(np.r_[len(ordered) > 0, new])
    return np.diff(np.r_[starts, len(ordered)]).astype(np.float64)


@lru_cache(EXACT_BELOW)
def _patterns(size: int) -> Floats:
    """Count the patterns of signs of the ranks 1 to size by their sum of positive ranks."""
    counts = np.ones(1)
    for rank in range(1, size + 1):
        without, nothing = counts, np.zeros(rank)
        counts = np.r_[without, nothing] + np.r_[nothing, without]
    return counts


def holm(p: Floats) -> Floats:
    """Correct by Holm's step-down: the k-th smallest of m times m + 1 - k, never falling."""
    return _step(p, lambda ordered: np.maximum.accumulate(ordered * np.arange(len(p), 0, -1)))


def benjamini_hochberg(p: Floats) -> Floats:
    """Correct by false discoveries: the k-th smallest of m times m/k, never above a later one."""
    size = len(p)
    shares = size / np.arange(1, size + 1)
    return _step(p, lambda ordered: np.minimum.accumulate((ordered * shares)[::-1])[::-1])


CORRECTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bonferroni": lambda p: np.minimum(p * len(p), 1.0),
    "bh": benjamini_hochberg,
    "none": lambda p: p,
}
"""Corrections that need nothing but p values."""


def corrected(p: Floats, correction: str) -> Floats:
    """Correct p values for their number; NaN stays NaN and does not count."""
    p_values = np.array(p, np.float64)
    counts = ~np.isnan(p_values)
    p_values[counts] = CORRECTIONS[correction](p_values[counts])
    return p_values


def _step(p: Floats, step: Callable[[Floats], Floats]) -> Floats:
    """Apply a step to ordered p values and restore their order; at most 1."""
    order = np.argsort(p, kind="stable")
    stepped = np.empty_like(p)
    stepped[order] = np.minimum(step(p[order]), 1.0)
    return stepped
