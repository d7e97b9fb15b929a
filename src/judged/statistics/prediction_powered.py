"""Means of cheap values, corrected by trusted values of some queries: prediction-powered inference.

Of N queries, all have a cheap value f, and n, drawn at random, a trusted value y too. The mean of y
is estimated by

    λ·mean(f over all N) + mean(y − λ·f over the n).

λ = 1 adds the mean correction to the cheap mean, λ = 0 is the mean of the trusted values alone, and
λ = cov(y, f)/var(f) has the smallest variance: the tuned weight of PPI++ (Angelopoulos, Duchi and
Zrnic, 2023). Written with the N − n others, which are independent of the n, the estimate is

    λ'·mean(f over the others) + mean(y − λ'·f over the n)   with λ' = λ·(1 − n/N),

whose variance is λ'²·var(f)/(N − n) + var(y − λ'·f)/n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats
from judged.statistics.samples import CLOSE, relative, weighted_mean
from judged.statistics.t import Spread, spread, t_tail

FEWEST_TRUSTED = 20
"""With fewer trusted values, intervals do not keep their confidence level."""


@dataclass(frozen=True, eq=False)
class Powered:
    """Corrected means of columns with their standard errors."""

    spread: Spread  # the corrected means with their standard errors; n − 1 degrees of freedom
    weight: Floats  # λ of each column, from 0 to 1


def powered(
    trusted: Floats, cheap: Floats, judged: NDArray[np.bool_], weights: Floats | None = None
) -> Powered:
    """Correct means of columns of cheap values by trusted ones."""
    # `trusted` has the n queries that `judged` marks among the N of `cheap`, in the same order.
    # Errors are NaN where the trusted values do not vary.
    weights = relative(weights)
    weight = tuned_weight(trusted, cheap, judged, weights)
    ours, others = _both(weights, judged)
    share = weight * _others_share(weights, judged)
    people = spread(trusted - share * cheap[judged], ours)
    rest = spread(share * cheap[~judged], others)
    mean = corrected_means(trusted, cheap, judged, weights, weight=weight)
    error = np.hypot(people.error, np.nan_to_num(rest.error))
    return Powered(Spread(mean, error, people.freedom), weight)


def tuned_weight(
    trusted: Floats, cheap: Floats, judged: NDArray[np.bool_], weights: Floats | None = None
) -> Floats:
    """Compute λ of each column: cov(trusted, cheap)/var(cheap), clipped to 0 and 1."""
    # It is 0 where cheap values do not vary, or fewer than two have no trusted value.
    if (~judged).sum() < 2:
        return np.zeros(cheap.shape[1])
    ours, _ = _both(weights, judged)
    every = _apart(cheap, weights)
    variance = (every**2).sum(axis=0) / (len(cheap) - 1)
    spreads = (np.ptp(cheap, axis=0) > CLOSE * np.abs(cheap).max(axis=0)) & (variance > 0)
    covariance = (_apart(trusted, ours) * _apart(cheap[judged], ours)).mean(axis=0)
    return np.where(spreads, np.clip(covariance / np.where(spreads, variance, 1.0), 0.0, 1.0), 0.0)


def corrected_means(
    trusted: Floats,
    cheap: Floats,
    judged: NDArray[np.bool_],
    weights: Floats | None = None,
    *,
    weight: Floats,
) -> Floats:
    """Correct means of columns with this λ."""
    ours, _ = _both(weights, judged)
    return weight * _means(cheap, weights) + _means(trusted - weight * cheap[judged], ours)


def sampled_alike(
    cheap: Floats, judged: NDArray[np.bool_], weights: Floats | None = None
) -> Floats:
    """Test by Welch's test whether the cheap values of the sample differ from the others'."""
    ours, others = _both(relative(weights), judged)
    one, two = spread(cheap[judged], ours), spread(cheap[~judged], others)
    variances = np.array([one.error, two.error]) ** 2
    whole = variances.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = whole**2 / (variances**2 / np.array([one.freedom, two.freedom])).sum(axis=0)
        return 2 * t_tail(np.abs(one.mean - two.mean) / np.sqrt(whole), freedom)


def _both(weights: Floats | None, judged: NDArray[np.bool_]) -> tuple[Floats | None, Floats | None]:
    """Return the weights of the queries with a trusted value, and of the others."""
    return (None, None) if weights is None else (weights[judged], weights[~judged])


def _others_share(weights: Floats | None, judged: NDArray[np.bool_]) -> float:
    """Return the share of the others in all weight: 1 − n/N."""
    if weights is None:
        return float((~judged).mean())
    return float(weights[~judged].sum() / weights.sum())


def _means(columns: Floats, weights: Floats | None) -> Floats:
    return np.array([weighted_mean(column, weights) for column in columns.T])


def _apart(columns: Floats, weights: Floats | None) -> Floats:
    """Return the weighted distances of values from their mean."""
    apart = columns - _means(columns, weights)
    return apart if weights is None else apart * weights[:, None]
