"""Student's t: how far a mean over queries, or over groups of them, may be from the true one.

Weights and groups enter in one way. A unit is a group, or a query where there are no groups; it has
a sum of weight times value and a sum of weights. The mean is the quotient of both sums over all
units. With w the share of each unit in all weight and s = Σw², its variance is estimated by
Σ(sum − mean·weight)²/(1 − 2w + s)/(Σ weights)², with 1/s − 1 degrees of freedom; 1/s is the
effective number of units (Kish). Units that spread alike have residuals of 1 − 2w + s times their
variance, so a unit with much weight does not hide in the mean that it makes. For units of equal
weight that is Student's s²/n with n − 1 degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.statistics.aggregates import CLOSE, effective_number, relative
from judged.statistics.distributions import t_quantile, t_tail
from judged.statistics.tested import SMALLEST_P, Tested, below
from judged.statistics.units import effective_units, numbered, unit_sums

More = Sequence[tuple[Floats, Floats]]
"""Further variances of a mean, each with its degrees of freedom, infinite for a known variance."""


@dataclass(frozen=True, eq=False)
class Spread:
    """Means of columns and how far from the truth they may be."""

    mean: Floats
    """One per column; NaN where values are not all finite."""
    error: Floats
    """The standard error of each; NaN where the units do not spread, or are fewer than two."""
    freedom: Floats
    """The degrees of freedom of each: the effective number of units less one, unless further
    variances are added. NaN where there is no error."""


def spread(
    columns: Floats,
    weights: Floats | None = None,
    groups: Ints | None = None,
    *,
    more: More = (),
) -> Spread:
    """Means of columns with their standard errors.

    Parameters
    ----------
    columns : array of queries and columns
        One row per query.
    weights : array, optional
        How much each query counts, above 0.
    groups : array of int, optional
        The group of each query, numbered from 0.
    more : sequence of (variances, degrees of freedom)
        Variances of the means that queries do not show, one per column; they are added, and the
        degrees of freedom are Satterthwaite's. They add to a spread and never stand in for it.

    Returns
    -------
    Spread

    >>> found = spread(np.array([[1.0], [2.0], [3.0]]))
    >>> found.mean, found.error.round(6), found.freedom
    (array([2.]), array([0.57735]), array([2.]))
    """
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
    """The t test of means against 0: the paired t test, for columns of differences.

    Parameters
    ----------
    columns, weights, groups, more
        As for `spread`.
    levels : sequence of float
        The levels of the intervals.

    Returns
    -------
    Tested
        NaN where there is no spread.

    >>> t_test(np.array([[1.0], [2.0], [3.0]])).p.round(6)
    array([0.07418])
    """
    return against_zero(spread(columns, weights, groups, more=more), levels)


def against_zero(found: Spread, levels: Sequence[float]) -> Tested:
    """The t test of means whose spread is known already."""
    with np.errstate(over="ignore"):
        away = np.abs(found.mean) / found.error
    p = np.maximum(2 * t_tail(away, found.freedom), SMALLEST_P)
    ends = [_ends(found, p, level) for level in levels]
    return Tested(p, np.array([low for low, _ in ends]), np.array([high for _, high in ends]))


def half_widths(found: Spread, level: float) -> Floats:
    """How far the ends of an interval are from each mean."""
    return t_quantile(found.freedom, (1 + level) / 2) * found.error


def _ends(found: Spread, p: Floats, level: float) -> tuple[Floats, Floats]:
    """The interval of a level. Where an end is 0 but for rounding, p says on which side it is."""
    half = half_widths(found, level)
    low, high = found.mean - half, found.mean + half
    counts = below(p, level)
    least = np.finfo(np.float64).tiny
    low = np.where(found.mean > 0, _on_side(low, counts, least), low)
    high = np.where(found.mean < 0, -_on_side(-high, counts, least), high)
    return low, high


def _on_side(end: Floats, counts: NDArray[np.bool_], least: float) -> Floats:
    """The end next to 0 of an interval of a positive mean: above 0 where p counts, else not."""
    return np.where(counts, np.maximum(end, least), np.minimum(end, 0.0))


def _with_more(error: Floats, freedom: Floats, more: More) -> tuple[Floats, Floats]:
    """Error and degrees of freedom with further variances (Satterthwaite)."""
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
    """A power of two near each number; 1 for 0."""
    return np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)


@dataclass(frozen=True, eq=False)
class Between:
    """Of each column, how much its means differ between parts of the queries."""

    statistic: Floats
    """Welch's F; NaN where there is nothing to go by, and where no part spreads."""
    p: Floats
    """How often F is as large where the means of all parts are the same."""


def between(
    columns: Floats,
    labels: Ints,
    weights: Floats | None = None,
    groups: Ints | None = None,
) -> Between:
    """Test whether means of columns differ between parts of the queries, by Welch's F.

    Each part has its own standard error, from its queries or, with groups, from the sums of its
    groups; a group in two parts is a unit in each of them. So neither parts of other sizes and
    spreads nor queries of a group that are alike raise false alarms. A part that does not spread
    is taken to spread as widely as any other. Where none does, p is how often labels put at random
    would make each part as even.

    Parameters
    ----------
    columns : array of queries and columns
        One row per query.
    labels : array of int
        The part of each query, numbered from 0, each of them at least once.
    weights : array, optional
        How much each query counts, above 0.
    groups : array of int, optional
        The group of each query.

    Returns
    -------
    Between

    >>> found = between(np.array([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]]), np.repeat([0, 1], 3))
    >>> found.statistic.round(6), found.p.round(6)
    (array([54.]), array([0.001826]))
    """
    from scipy.special import fdtrc

    size = int(labels.max(initial=-1)) + 1
    if size < 2:
        nothing = np.full(columns.shape[1], np.nan)
        return Between(nothing, nothing)
    parts = [labels == part for part in range(size)]
    own_weights = [None if weights is None else weights[part] for part in parts]
    own_groups = [None if groups is None else groups[part] for part in parts]
    spreads = [
        spread(columns[part], *own)
        for part, *own in zip(parts, own_weights, own_groups, strict=True)
    ]
    effective = np.array(
        [
            effective_units(int(part.sum()), *own)
            for part, *own in zip(parts, own_weights, own_groups, strict=True)
        ]
    )
    means, errors, freedoms = (
        np.array([getattr(each, name) for each in spreads]) for name in ("mean", "error", "freedom")
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
    return Between(statistic, np.where(even, np.where(same, 1.0, _even_p(effective)), p))


def _even_p(effective: Floats) -> float:
    """How often labels put at random on so many units make each part even: at most in one of all
    ways to put them for each order of the parts."""
    counts = np.floor(effective)
    ways = math.lgamma(counts.sum() + 1) - sum(math.lgamma(count + 1) for count in counts)
    return max(min(1.0, math.exp(math.lgamma(len(counts) + 1) - ways)), SMALLEST_P)
