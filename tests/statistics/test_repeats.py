"""The variance of repeats that queries do not explain."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judged.arrays import Floats
from judged.statistics.t import repeat_variance, spread


def test_by_hand() -> None:
    # Means 0.2 and 0.5; their variance 0.045. Residuals of [0.1 0.3 | 0.5 0.5] are ±0.05, four
    # squares of 0.0025 over one degree of freedom: 0.01, half of it 0.005. (0.045 − 0.005)/2 =
    # 0.02, with 0.04²/(0.045²/1 + 0.005²/1) = 0.0016/0.00205 = 0.780488 degrees of freedom.
    found = repeat_variance(np.array([[0.1, 0.3], [0.5, 0.5]]))
    assert found == pytest.approx((0.02, 0.7804878049), rel=1e-9)


def test_as_a_loop_has_it() -> None:
    values = np.random.default_rng(0).normal(0, 1, (4, 7)) + 2 * np.arange(4)[:, None]
    grand = values.mean()
    squares = 0.0
    for row in range(4):
        for column in range(7):
            expected = values[row].mean() + values[:, column].mean() - grand
            squares += (values[row, column] - expected) ** 2
    within = squares / (3 * 6) / 7
    between = np.var([row.mean() for row in values], ddof=1)
    freedom = (between - within) ** 2 / (between**2 / 3 + within**2 / 18)
    assert repeat_variance(values) == pytest.approx(((between - within) / 4, freedom), rel=1e-12)


def test_degrees_of_freedom_are_those_of_the_whole_sum() -> None:
    # Three mean squares: of queries (9), of repeats (2) and the residual (18), each with its part.
    rng = np.random.default_rng(3)
    values = rng.normal(0, 0.2, (3, 10)) + rng.normal(0, 1, 10) + np.array([[0], [0.5], [1]])
    variance, freedom = repeat_variance(values)
    column = values.mean(axis=0)
    found = spread(column[:, None], more=[(np.array([variance]), np.array([freedom]))])
    left = values - column - values.mean(axis=1, keepdims=True) + values.mean()
    parts = np.array(
        [
            column.var(ddof=1) / 10,
            values.mean(axis=1).var(ddof=1) / 3,
            -(left**2).sum() / 18 / 10 / 3,
        ]
    )
    assert found.error[0] ** 2 == pytest.approx(parts.sum(), rel=1e-9)
    expected = parts.sum() ** 2 / (parts**2 / np.array([9, 2, 18])).sum()
    assert found.freedom[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).random((1, 9)),  # one repeat
        np.tile(np.random.default_rng(0).random(9), (3, 1)),  # repeats that are the same
        np.array([[0.0, 1.0], [1.0, 0.0]]),  # queries move, their mean does not
        np.tile([0.1, 0.2, 0.3], (3, 1)) + np.array([[1e-16], [0], [2e-16]]),  # rounding
    ],
)
def test_nothing_to_add(values: Floats) -> None:
    assert repeat_variance(values) == (0.0, math.inf)


def test_weights() -> None:
    values = np.random.default_rng(1).random((3, 6)) + np.arange(3)[:, None]
    assert repeat_variance(values, np.full(6, 2.0)) == pytest.approx(repeat_variance(values))
    # A query of nearly all the weight: its own values move the mean.
    heavy = repeat_variance(values, np.array([1e9, 1, 1, 1, 1, 1]))
    left = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    expected = values[:, 0].var(ddof=1) - (left**2).sum() / 10
    assert heavy[0] == pytest.approx(expected / 3, rel=1e-6)
