"""Means, geometric means, medians and sums of values that may have weights, and their standard
errors from those of the values. Sums are rounded once: the order of values changes no bit."""

from __future__ import annotations

import numpy as np

from judged.arrays import Floats, Ints
from judged.statistics.exact_sums import exact_mean, exact_sum

GEOMETRIC_FLOOR = 1e-5
"""trec_eval's floor: one query at zero must not make the geometric mean zero."""
CLOSE = 1e-12
"""Numbers that differ by no more, relative to the largest, are the same but for rounding."""

Weighed = Floats | None
"""Weights above 0, the greatest of them 1; None where all values count the same."""


def relative(weights: Floats | None) -> Weighed:
    """Weights above 0 relative to the greatest; None for equal ones, so that they change no bit."""
    if weights is None or not len(weights) or (weights == weights[0]).all():
        return None
    return np.maximum(weights / weights.max(), np.finfo(np.float64).tiny)


def effective_number(weights: Floats) -> float:
    """How many equal weights would say as much (Kish): the square of their sum, divided by the sum
    of their squares.

    >>> effective_number(np.array([3.0, 3.0]))
    2.0
    """
    shares = weights / weights.max()
    if (shares == 1).all():  # ten times as fast for a million queries, and the same number
        return float(len(shares))
    return exact_sum(shares) ** 2 / exact_sum(shares**2)


def mean(values: Floats, weights: Floats | None = None) -> float:
    """The mean of values that count by their weights."""
    return weighted_mean(values, relative(weights))


def weighted_mean(values: Floats, weights: Weighed) -> float:
    if weights is None:
        return exact_mean(values)
    return exact_sum(weights * values) / exact_sum(weights)


def sum_error(errors: Floats) -> float:
    """The standard error of a sum."""
    return float(np.sqrt(exact_sum(errors**2)))


def mean_error(values: Floats, errors: Floats, weights: Weighed) -> float:
    if weights is None:
        return sum_error(errors) / len(errors)
    return sum_error(weights * errors) / exact_sum(weights)


def geometric(values: Floats, weights: Weighed) -> float:
    return float(np.exp(weighted_mean(np.log(np.maximum(values, GEOMETRIC_FLOOR)), weights)))


def geometric_error(values: Floats, errors: Floats, weights: Weighed) -> float:
    shares = np.where(values > GEOMETRIC_FLOOR, errors, 0.0) / np.maximum(values, GEOMETRIC_FLOOR)
    return geometric(values, weights) * mean_error(values, shares, weights)


def median(values: Floats, weights: Weighed) -> float:
    if weights is None:
        return float(np.median(values))
    return float(np.mean(values[_middle(values, weights)]))


def median_error(values: Floats, errors: Floats, weights: Weighed) -> float:
    weights = np.ones(len(values)) if weights is None else weights
    middle = _middle(values, weights, errors)
    return sum_error(errors[middle]) / len(middle)


def _middle(values: Floats, weights: Floats, *then: Floats) -> Ints:
    """The value with half of the weight below it and half above; two of them where the half falls
    between two. Equal values stand in the order of their weights and of `then`."""
    order = np.lexsort((*then, weights, values))
    upto = np.cumsum(weights[order])
    half = upto[-1] / 2
    low = int(np.searchsorted(upto, half * (1 - CLOSE)))
    high = min(int(np.searchsorted(upto, half * (1 + CLOSE), "right")), len(order) - 1)
    return np.unique(order[[low, high]])


def total(values: Floats, weights: Weighed) -> float:
    assert weights is None, "refused before anything is computed"
    return exact_sum(values)
