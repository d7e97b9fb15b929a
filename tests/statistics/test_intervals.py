"""Intervals of means."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from judged.errors import InputError
from judged.statistics.intervals import Interval, mean_interval


def test_worked_by_hand() -> None:
    # mean 2, s = 1, n = 3: t of 2 degrees of freedom at 0.975 is 4.302653, so 2 ± 4.302653/√3 = 2 ±
    # 2.484138.
    found = mean_interval([1, 2, 3])
    assert (found.mean, found.low, found.high) == pytest.approx((2, -0.484138, 4.484138), abs=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("size", [2, 3, 40])
def test_as_scipy_has_it(level: float, size: int) -> None:
    values = np.random.default_rng(size).normal(3, 2, size)
    found = mean_interval(values, level=level)
    expected = stats.t.interval(level, size - 1, values.mean(), stats.sem(values))
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)


def test_one_value_has_a_mean_and_no_bounds() -> None:
    found = mean_interval([0.5])
    assert found.mean == 0.5
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert found.to_dict() == {"mean": 0.5, "low": None, "high": None}
    assert repr(Interval.from_dict(found.to_dict())) == repr(found)


def test_equal_values_are_sure() -> None:
    assert mean_interval([1.0, 1.0, 1.0]) == Interval(1.0, 1.0, 1.0)


@pytest.mark.parametrize("values", [[], [math.nan, 1.0], [[1.0, 2.0]], [math.inf, 0.0]])
def test_values_that_have_no_mean(values: list[float]) -> None:
    with pytest.raises(InputError) as refused:
        mean_interval(values)
    assert (
        str(refused.value)
        == "an interval of a mean needs one finite number for each query, and at least one."
    )


@pytest.mark.parametrize("level", [0, 1, 95, "0.95", True, math.nan])
def test_levels_that_are_none(level: object) -> None:
    with pytest.raises(InputError) as refused:
        mean_interval([1.0, 2.0], level=level)  # type: ignore[arg-type]
    assert (
        str(refused.value)
        == f"the level of an interval must be a number between 0 and 1, as 0.95; got {level!r}."
    )
