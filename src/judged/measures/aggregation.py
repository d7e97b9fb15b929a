"""How the values of the queries become one number, and its standard error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judged.measures.params import Choice
from judged.segments import Floats

GEOMETRIC_FLOOR = 1e-5
"""trec_eval's floor: one query at zero must not make the geometric mean zero."""


@dataclass(frozen=True)
class Aggregation:
    """How the queries' values become one number, and their standard errors that of the number."""

    value: Callable[[Floats], float]
    error: Callable[[Floats, Floats], float]
    says: str

    def __call__(self, values: Floats) -> float:
        return self.value(values)


def _root(errors: Floats) -> float:
    """The standard error of a sum."""
    return float(np.sqrt(np.sum(errors**2)))


def _geometric(values: Floats) -> float:
    return float(np.exp(np.mean(np.log(np.maximum(values, GEOMETRIC_FLOOR)))))


def _geometric_error(values: Floats, errors: Floats) -> float:
    relative = np.where(values > GEOMETRIC_FLOOR, errors, 0.0) / np.maximum(values, GEOMETRIC_FLOOR)
    return _geometric(values) * _root(relative) / len(values)


def _median_error(values: Floats, errors: Floats) -> float:
    half = len(values) // 2
    middle = np.argsort(values, kind="stable")[half - (1 - len(values) % 2) : half + 1]
    return _root(errors[middle]) / len(middle)


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": Aggregation(
        lambda values: float(np.mean(values)),
        lambda values, errors: _root(errors) / len(errors),
        "the summary is the mean over the queries",
    ),
    "geometric": Aggregation(
        _geometric,
        _geometric_error,
        "the summary is the geometric mean over the queries, each value at least "
        f"{GEOMETRIC_FLOOR:.5f}",
    ),
    "median": Aggregation(
        lambda values: float(np.median(values)),
        _median_error,
        "the summary is the median over the queries",
    ),
    "sum": Aggregation(
        lambda values: float(np.sum(values)),
        lambda values, errors: _root(errors),
        "the summary is the sum over the queries",
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
