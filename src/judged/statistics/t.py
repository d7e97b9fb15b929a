"""Student's t: means over queries, or over groups of queries, with confidence intervals and tests.

A unit is a group, or a query without groups. It has a sum of weight times value, and a sum of
weights; the mean is the quotient of both over all units. With w the share of a unit in all weight
and s = Σw², the variance of the mean is Σ(sum − mean·weight)²/(1 − 2w + s)/(Σ weights)², with
1/s − 1 degrees of freedom, where 1/s is the effective number of units (Kish). For equal weights
this is Student's s²/n with n − 1 degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.statistics.samples import (
    CLOSE,
    effective_number,
    effective_units,
    numbered,
    relative,
    unit_sums,
)

More = Sequence[tuple[Floats, Floats]]
"""Further variances of a mean, each with its degrees of freedom; infinite for a known variance."""


@dataclass(frozen=True, eq=False)
class Spread:
    """Means of columns with their standard errors."""

    mean: Floats  # one per column; NaN where values are not all finite
    error: Floats  # the standard errors; NaN where the units do not vary, or are fewer than two
    freedom: Floats  # the degrees of freedom; NaN without a standard error


def spread(
    columns: Floats, weights: Floats | None = None, groups: Ints | None = None, *, more: More = ()
) -> Spread:
    """Compute means of columns with their standard errors."""
    # `columns` has one row per query, `weights` are above 0, and `groups` numbers the group of each
    # query from 0. `more` holds variances of the means that queries do not show: they are added,
    # with Satterthwaite's degrees of freedom, but do not replace a missing spread.
    finite = np.isfinite(columns).all(axis=0)
    if not finite.all():
        columns = np.where(finite, columns, 0.0)
    if not len(columns):
        nothing = np.full(columns.shape[1], np.nan)
        return Spread(nothing, nothing, nothing)
    # Distances from the first value: equal values have none, whatever their mean rounds to. In
    # units of a power of two near the largest, so that no square is too large or too small.
    first = columns[0]
    with np.errstate(over="ignore"):
        apart = columns - first
    finite &= np.isfinite(apart).all(axis=0)
    apart[:, ~finite] = 0.0
    scale = _powers_of_two(np.abs(apart).max(axis=0))
    apart /= scale
    weights = relative(weights)
    unit_weights = np.ones(len(columns)) if weights is None else weights
    total = float(unit_weights.sum())
    shift = (apart if weights is None else apart * weights[:, None]).sum(axis=0) / total
    residual = (apart - shift) * unit_weights[:, None]
    if groups is not None:
        groups = numbered(groups)
        residual = unit_sums(residual, groups)
        unit_weights = unit_sums(unit_weights[:, None], groups)[:, 0]
    mean = np.where(finite, first + shift * scale, np.nan)
    largest = np.abs(columns).max(axis=0)
    spreads = (np.abs(residual) / unit_weights[:, None] * scale > CLOSE * largest).any(axis=0)
    effective = effective_number(unit_weights)
    known = finite & spreads & (effective > 1)
    per_unit = effective / (effective - 1) if effective > 1 else np.nan
    # (1 − 2w + s)·per_unit: 1 for units of equal weight.
    left = 1 - 2 * (unit_weights / total - 1 / effective) * per_unit
    squares = residual**2 / np.maximum(left, np.finfo(np.float64).eps)[:, None]
    error = scale * np.sqrt(per_unit * squares.sum(axis=0)) / total
    error = np.where(known, error, np.nan)
    freedom = np.where(known, effective - 1, np.nan)
    return Spread(mean, *_with_more(error, freedom, more))


def t_test(
    columns: Floats,
    weights: Floats | None = None,
    groups: Ints | None = None,
    *,
    levels: Sequence[float] = (0.95,),
    more: More = (),
) -> Tested:
    """Test means against 0: the paired t test, for columns of differences."""
    return against_zero(spread(columns, weights, groups, more=more), levels)


def against_zero(means: Spread, levels: Sequence[float]) -> Tested:
    """Test means with known standard errors against 0."""
    with np.errstate(over="ignore"):
        away = np.abs(means.mean) / means.error
    p = np.maximum(2 * t_tail(away, means.freedom), SMALLEST_P)
    ends = [_ends(means, p, level) for level in levels]
    return Tested(p, np.array([low for low, _ in ends]), np.array([high for _, high in ends]))


def half_widths(means: Spread, level: float) -> Floats:
    """Compute the half width of the confidence interval of each mean."""
    return t_quantile(means.freedom, (1 + level) / 2) * means.error


def _ends(means: Spread, p: Floats, level: float) -> tuple[Floats, Floats]:
    """Compute a confidence interval; p decides the side of an end that is 0 but for rounding."""
    half = half_widths(means, level)
    low, high = means.mean - half, means.mean + half
    counts = below(p, level)
    least = np.finfo(np.float64).tiny
    low = np.where(means.mean > 0, _on_side(low, counts, least), low)
    high = np.where(means.mean < 0, -_on_side(-high, counts, least), high)
    return low, high


def _on_side(end: Floats, counts: NDArray[np.bool_], least: float) -> Floats:
    return np.where(counts, np.maximum(end, least), np.minimum(end, 0.0))


def _with_more(error: Floats, freedom: Floats, more: More) -> tuple[Floats, Floats]:
    """Add further variances to errors and degrees of freedom (Satterthwaite)."""
    added = [(np.asarray(variance, np.float64), freedoms) for variance, freedoms in more]
    if not added:
        return error, freedom
    errors = np.array([error, *(np.broadcast_to(np.sqrt(v), error.shape) for v, _ in added)])
    freedoms = np.array([freedom, *(np.broadcast_to(f, error.shape) for _, f in added)])
    largest = errors.max(axis=0)
    shares = (errors / largest) ** 2
    whole = shares.sum(axis=0)
    return largest * np.sqrt(whole), 1 / ((shares / whole) ** 2 / freedoms).sum(axis=0)


def _powers_of_two(largest: Floats) -> Floats:
    return np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)


def between(
    columns: Floats, labels: Ints, weights: Floats | None = None, groups: Ints | None = None
) -> tuple[Floats, Floats]:
    """Test whether means of columns differ between parts of the queries, by Welch's F."""
    # `labels` numbers the part of each query from 0. Each part has its own standard error, from its
    # queries or from the sums of its groups, so parts of unequal size and spread raise no false
    # alarms. A part without spread gets that of the widest part. If no part spreads, p is the
    # chance that random labels make each part as even. Returns F and p of each column; both are NaN
    # without a spread to compare with.
    from scipy.special import fdtrc

    size = int(labels.max(initial=-1)) + 1
    if size < 2:
        nothing = np.full(columns.shape[1], np.nan)
        return nothing, nothing
    parts = [labels == part for part in range(size)]
    own_weights = [None if weights is None else weights[part] for part in parts]
    own_groups = [None if groups is None else groups[part] for part in parts]
    spreads = [
        spread(columns[part], *weights_and_groups)
        for part, *weights_and_groups in zip(parts, own_weights, own_groups, strict=True)
    ]
    effective = np.array(
        [
            effective_units(int(part.sum()), *weights_and_groups)
            for part, *weights_and_groups in zip(parts, own_weights, own_groups, strict=True)
        ]
    )
    means, errors, freedoms = (
        np.array([getattr(part_spread, name) for part_spread in spreads])
        for name in ("mean", "error", "freedom")
    )
    deviations = errors * np.sqrt(effective)[:, None]
    spreading = ~np.isnan(deviations)
    widest = np.argmax(np.where(spreading, deviations, -1.0), axis=0), np.arange(columns.shape[1])
    errors = np.where(spreading, errors, deviations[widest] / np.sqrt(effective)[:, None])
    freedoms = np.where(spreading, freedoms, freedoms[widest])
    # In units of the largest error, so that no square is too large or too small.
    scale = errors.max(axis=0)
    precisions = (scale / errors) ** 2
    shares = precisions / precisions.sum(axis=0)
    away = (means - means[0]) / scale
    away = away - (shares * away).sum(axis=0)
    uncertain = ((1 - shares) ** 2 / freedoms).sum(axis=0)
    more = 1 + 2 * (size - 2) / (size**2 - 1) * uncertain
    statistic = (precisions * away**2).sum(axis=0) / (size - 1) / more
    p = np.maximum(fdtrc(size - 1, (size**2 - 1) / (3 * uncertain), statistic), SMALLEST_P)
    even = ~spreading.any(axis=0) & np.isfinite(means).all(axis=0)
    same = np.ptp(means, axis=0) <= CLOSE * np.abs(means).max(axis=0)
    return statistic, np.where(even, np.where(same, 1.0, _even_p(effective)), p)


def _even_p(effective: Floats) -> float:
    """Bound the chance that random labels make each part even."""
    counts = np.floor(effective)
    ways = math.lgamma(counts.sum() + 1) - sum(math.lgamma(count + 1) for count in counts)
    return max(min(1.0, math.exp(math.lgamma(len(counts) + 1) - ways)), SMALLEST_P)


def normal_quantile(share: float) -> float:
    """Compute the value of a standard normal distribution that this share stays below."""
    return NormalDist().inv_cdf(share)


def t_tail(away: Floats, freedom: Floats) -> Floats:
    """Compute how often Student's t is above a value from 0 on: half of the two-sided p."""
    from scipy.special import ndtr, stdtr

    away, freedom = np.asarray(away, float), np.asarray(freedom, float)
    return np.where(np.isinf(freedom), ndtr(-away), stdtr(freedom, -away))


def t_quantile(freedom: Floats, share: float) -> Floats:
    """Compute the value of Student's t that this share, above one half, stays below."""
    from scipy.special import stdtrit

    freedom = np.asarray(freedom, float)
    return np.where(np.isinf(freedom), normal_quantile(share), -stdtrit(freedom, 1 - share))


SMALLEST_P = float(np.finfo(np.float64).tiny)
"""No p value is smaller, so that none is 0."""


@dataclass(frozen=True, eq=False)
class Tested:
    """The results of a test: one column per pair of systems."""

    # p is below 1 - level exactly where the confidence interval of that level excludes 0.

    p: Floats  # two-sided p values above 0; NaN where the test has no result
    low: Floats  # lower ends: one row per level and one column per pair; NaN if unknown
    high: Floats  # upper ends


def below(p: Floats | float, level: float) -> NDArray[np.bool_]:
    """Return whether p is below 1 - level: the one comparison that decides about significance."""
    # 1 - 0.95 is a little more than 0.05 in floats, and a p of 0.05 must not count as below it.
    return np.asarray(p) < (1 - level) * (1 - 1e-12) - 2.0**-53


def fewest_units(level: float, sides: int = 2) -> int:
    """Return the smallest number of units whose signs, all alike, have a p below 1 - level."""
    enough = (units for units in range(2, 1075) if below(sides * 2.0**-units, level))
    return next(enough, 1075)


@dataclass(frozen=True, eq=False)
class Tukey:
    """Tests of all pairs of systems at once, corrected for their number."""

    # p of a pair is below 1 - level exactly where its difference exceeds the half width.

    p: Floats  # the p value of each pair of systems; 1 on the diagonal, NaN if unknown
    half_width: Floats  # the half width of every confidence interval, one per level; NaN if unknown


def repeat_variance(values: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """Estimate the variance of a system's mean over repeats that queries do not explain."""
    # A repeat's mean moves because each query varies, which the spread of queries shows already,
    # and because the whole repeat is better or worse. With R repeats of n queries, the second part
    # is max(0, variance of the means - MS/n)/R, where MS is the residual mean square of the table.
    # Returns the variance and its degrees of freedom (Satterthwaite); 0 and infinity for a single
    # repeat.
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
