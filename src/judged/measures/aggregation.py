"""How the values of the queries become one number, and its standard error; with weights, each value
counts as often as its weight says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judged.measures.params import Choice
from judged.segments import Floats, Ints

GEOMETRIC_FLOOR = 1e-5
"""trec_eval's floor: one query at zero must not make the geometric mean zero."""
CLOSE = 1e-12
"""Sums of weights that differ by so little, relatively, are the same but for rounding."""

Weighed = Floats | None
"""Weights above 0, the greatest of them 1; None where all values count the same."""


@dataclass(frozen=True)
class Aggregation:
    """How the queries' values become one number, and their standard errors that of the number."""

    value: Callable[[Floats, Weighed], float]
    error: Callable[[Floats, Floats, Weighed], float]
    says: str
    weighted: bool = True
    """Whether it has a meaning with weights that does not change when all of them are doubled."""

    def __call__(self, values: Floats, weights: Floats | None = None) -> float:
        return self.value(values, relative(weights))

    def standard_error(
        self, values: Floats, errors: Floats, weights: Floats | None = None
    ) -> float:
        """The standard error of the number, from those of the values."""
        return self.error(values, errors, relative(weights))


def relative(weights: Floats | None) -> Weighed:
    """Weights above 0 relative to the greatest; None for equal ones, so that they change no bit."""
    if weights is None or not len(weights) or (weights == weights[0]).all():
        return None
    return np.maximum(weights / weights.max(), np.finfo(np.float64).tiny)


def mean(values: Floats, weights: Floats | None = None) -> float:
    """The mean of values that count by their weights."""
    return _mean(values, relative(weights))


def _mean(values: Floats, weights: Weighed) -> float:
    if weights is None:
        return float(np.mean(values))
    return float(np.sum(weights * values) / np.sum(weights))


def _root(errors: Floats) -> float:
    """The standard error of a sum."""
    return float(np.sqrt(np.sum(errors**2)))


def _mean_error(values: Floats, errors: Floats, weights: Weighed) -> float:
    if weights is None:
        return _root(errors) / len(errors)
    return _root(weights * errors) / float(np.sum(weights))


def _geometric(values: Floats, weights: Weighed) -> float:
    return float(np.exp(_mean(np.log(np.maximum(values, GEOMETRIC_FLOOR)), weights)))


def _geometric_error(values: Floats, errors: Floats, weights: Weighed) -> float:
    shares = np.where(values > GEOMETRIC_FLOOR, errors, 0.0) / np.maximum(values, GEOMETRIC_FLOOR)
    return _geometric(values, weights) * _mean_error(values, shares, weights)


def _median(values: Floats, weights: Weighed) -> float:
    if weights is None:
        return float(np.median(values))
    return float(np.mean(values[_middle(values, weights)]))


def _median_error(values: Floats, errors: Floats, weights: Weighed) -> float:
    middle = _middle(values, np.ones(len(values)) if weights is None else weights)
    return _root(errors[middle]) / len(middle)


def _middle(values: Floats, weights: Floats) -> Ints:
    """The value with half of the weight below it and half above; two of them where the half falls
    between two."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    half = upto[-1] / 2
    low = int(np.searchsorted(upto, half * (1 - CLOSE)))
    high = min(int(np.searchsorted(upto, half * (1 + CLOSE), "right")), len(order) - 1)
    return np.unique(order[[low, high]])


def _sum(values: Floats, weights: Weighed) -> float:
    assert weights is None, "refused before anything is computed"
    return float(np.sum(values))


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": Aggregation(_mean, _mean_error, "the summary is the mean over the queries"),
    "geometric": Aggregation(
        _geometric,
        _geometric_error,
        "the summary is the geometric mean over the queries, each value at least "
        f"{GEOMETRIC_FLOOR:.5f}",
    ),
    "median": Aggregation(_median, _median_error, "the summary is the median over the queries"),
    "sum": Aggregation(
        _sum,
        lambda values, errors, weights: _root(errors),
        "the summary is the sum over the queries",
        weighted=False,
    ),
}


def aggregate_param(default: str, names: tuple[str, ...] = tuple(AGGREGATIONS)) -> Choice:
    """Every measure's last parameter: how its values become one number."""
    return Choice(
        "aggregate",
        default,
        "how the queries' values become one number",
        {name: AGGREGATIONS[name].says for name in names},
    )
