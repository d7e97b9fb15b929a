"""Sums that are rounded once: `math.fsum` is the oracle, and no order or sharing out matters."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged.statistics.samples import ExactSum, exact_mean, exact_sum, mean, median, median_error

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)


def rounded(values: list[float]) -> float:
    """The exact sum, rounded once; infinite where it is beyond all numbers."""
    total = sum(map(Fraction, values), Fraction())
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


@given(st.lists(FLOATS, max_size=80), st.integers(0, 80))
def test_any_numbers_in_any_parts(values: list[float], cut: int) -> None:
    expected = rounded(values)
    assert exact_sum(np.array(values)) == expected
    assert exact_sum(np.array(values[::-1])) == expected
    one, other = ExactSum.of(values[:cut]), ExactSum.of(values[cut:])
    assert pickle.loads(pickle.dumps(one + other)).value() == expected
    assert (one + other).count == len(values)


@pytest.mark.parametrize("size", [49, 51, 1000, 70_000])
@pytest.mark.parametrize("scale", [1.0, 1e300, 1e-310])
def test_many_numbers_are_those_of_fsum(size: int, scale: float) -> None:
    rng = np.random.default_rng(size)
    values = rng.normal(size=size) * scale * 10.0 ** rng.integers(-25, 2, size)
    assert exact_sum(values) == math.fsum(values)
    parts = [ExactSum.of(each) for each in np.array_split(values, 7)]
    assert sum(parts, ExactSum()).value() == math.fsum(values)


def test_what_is_no_finite_number() -> None:
    assert exact_sum(np.array([1.0, math.inf])) == math.inf
    assert math.isnan(exact_sum(np.array([1.0, math.nan])))
    assert ExactSum.of([math.inf, 1.0]).value() == math.inf
    assert math.isnan((ExactSum.of([math.nan]) + ExactSum.of([1.0])).value())
    assert exact_sum(np.zeros(0)) == 0.0
    assert math.isnan(exact_mean(np.zeros(0)))
    assert math.isnan(ExactSum().mean())
    assert math.copysign(1, exact_sum(np.array([-0.0]))) == 1


def test_means_and_medians_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 5, 999) / 7
    weights, errors = rng.random(999) + 0.1, rng.random(999)
    order = rng.permutation(999)
    for weighed in (None, weights):
        own = None if weighed is None else weighed[order]
        assert mean(values, weighed) == mean(values[order], own)
        assert median(values, weighed) == median(values[order], own)
        assert median_error(values, errors, weighed) == median_error(
            values[order], errors[order], own
        )
