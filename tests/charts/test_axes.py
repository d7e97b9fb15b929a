"""Axes of temperatures and losses: where they begin and end, and where their ticks are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged.charts.canvas import Losses, temperature_axis, ticks


@given(st.floats(-6, 6), st.floats(-6, 6), st.integers(4, 9))
def test_ticks_are_few_distinct_ascending_and_within(a: float, b: float, most: int) -> None:
    low, high = sorted((10**a, 10**b))
    if high / low < 1.05:
        low, high = low / 2, high * 2
    found = ticks(low, high, most)
    assert 1 <= len(found) <= most
    assert found == sorted(set(found))
    assert all(low * 0.999 <= each <= high * 1.001 for each in found)
    # Short to read: no more than three digits that matter.
    assert all(float(f"{each:.3g}") == each for each in found) or high / low < 1.2


def test_one_temperature_has_an_axis_around_it() -> None:
    assert temperature_axis(0.1, 0.1, title="temperature")["scale"]["domain"] == [0.05, 0.2]


def test_losses_far_apart_are_spread_by_their_logarithm() -> None:
    assert not Losses.of(1.0, 5.0).symlog
    assert Losses.of(1.0, 5.0).high == pytest.approx(5.3)
    assert Losses.of(5.5, 110.0) == Losses(pytest.approx(5), pytest.approx(121), True)
    assert Losses.of(5.5, 110.0).axis["axis"]["values"] == [10, 30, 100]
    # A loss of nearly nothing is nearly nothing, and rounding is not magnified.
    assert Losses.of(1e-18, 100.0) == Losses(0.0, pytest.approx(110), True)
    assert Losses.of(1e-18, 100.0).axis["axis"]["values"] == [0, 1, 10, 100]
    assert not Losses.of(1e-18, 1.5).symlog
    assert Losses.of(0.0, 1e-20) == Losses(0.0, 1.0, False)
