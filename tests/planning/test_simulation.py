"""Samples of a pilot's differences show what t says where t is right, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import judged
from judged.comparison import power as simulation
from judged.comparison.power import PowerAnalysis, simulate_power

NORMAL = stats.norm.ppf((np.arange(200) + 0.5) / 200) * 0.1
SKEWED = np.r_[np.zeros(180), np.full(20, 1.0)]
"""Most queries do not differ, and those that do differ in one direction."""


@pytest.mark.parametrize("units", [20, 500])  # fewer than the pilot has, and more
def test_normal_differences_bear_out_what_t_says(units: int) -> None:
    terms = PowerAnalysis()
    difference = terms.detectable(float(NORMAL.std(ddof=1)), units, 0.8)
    found = simulate_power(NORMAL, terms, difference=difference, units=units, seed=1)
    assert found.power.value == pytest.approx(0.8, abs=0.02)
    assert found.false_alarms.value == pytest.approx(0.05, abs=0.01)
    assert found.power.low < found.power.value < found.power.high


def test_as_scipy_would_test_each_sample() -> None:
    """The same draws, tested one by one."""
    found = simulate_power(NORMAL, PowerAnalysis(), difference=0.05, units=25, seed=7)
    random = np.random.default_rng(7)
    away = NORMAL - NORMAL.mean()
    away *= NORMAL.std(ddof=1) / away.std()
    samples = away[random.integers(200, size=(found.draws, 25))]
    p = stats.ttest_1samp(samples + 0.05, 0, axis=1).pvalue
    assert found.power.value == pytest.approx((p < 0.05).mean(), abs=2 / found.draws)
    p = stats.ttest_1samp(samples, 0, axis=1).pvalue
    assert found.false_alarms.value == pytest.approx((p < 0.05).mean(), abs=2 / found.draws)


def test_a_margin_is_tested_on_one_side() -> None:
    terms = PowerAnalysis(margin=0.02)
    units = terms.units(float(NORMAL.std(ddof=1)), 0.0, 0.8)
    assert units is not None
    found = simulate_power(NORMAL, terms, difference=0.0, units=units, seed=1)
    assert found.power.value == pytest.approx(0.8, abs=0.02)
    assert found.false_alarms.value == pytest.approx(0.05, abs=0.01)


def test_differences_far_from_normal_are_a_warning() -> None:
    found = judged.plan(difference=0.08, pilot=SKEWED, queries=40, simulate=True)
    alarms = found.simulation.false_alarms.value  # type: ignore[union-attr]
    assert found.warnings() == [
        "Samples of the pilot's differences have less power than t predicts, because "
        "these differences are far from normal. Use the power of the samples.",
        f"{100 * alarms:.1f} % of samples are false alarms, more than the 5.0 % that the level "
        "allows. Take more queries.",
    ]
    quiet = judged.plan(difference=0.05, pilot=NORMAL, simulate=True)
    assert quiet.warnings() == []


def test_a_loss_is_drawn_as_a_loss() -> None:
    """Of skewed differences, gains and losses are shown with another power."""
    gain, loss, mirrored = (
        judged.plan(difference=by, pilot=pilot, queries=40, simulate=True).simulation
        for by, pilot in ((0.08, SKEWED), (-0.08, SKEWED), (0.08, -SKEWED))
    )
    assert gain is not None
    assert loss is not None
    assert mirrored is not None
    assert loss.power.value == pytest.approx(mirrored.power.value, abs=0.02)
    assert loss.power.value > gain.power.value + 0.2


def test_lower_may_be_better() -> None:
    took = {
        "old": {str(at): 20.0 for at in range(200)},
        "new": {str(at): 20.0 - 10 * each for at, each in enumerate(SKEWED)},
    }
    faster = judged.compare_values(took, measure_name="ms", lower_is_better="ms")
    one = judged.plan(difference=0.8, pilot=faster, queries=40, simulate=True)
    other = judged.plan(difference=0.08, pilot=SKEWED, queries=40, simulate=True)
    assert one.simulation is not None
    assert other.simulation is not None
    assert one.simulation.power.value == pytest.approx(other.simulation.power.value, abs=0.02)
    assert one.power == pytest.approx(other.power)


def test_large_samples_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = simulate_power(NORMAL, PowerAnalysis(), difference=0.02, units=300, seed=0)
    monkeypatch.setattr(simulation, "NUMBERS_AT_ONCE", 3_000)  # 15 samples of 200 differences
    assert simulate_power(NORMAL, PowerAnalysis(), difference=0.02, units=300, seed=0) == whole
    monkeypatch.setattr(simulation, "MAX_NUMBERS", 400_000)
    assert (
        simulate_power(NORMAL, PowerAnalysis(), difference=0.02, units=300, seed=0).draws == 2_000
    )
    monkeypatch.setattr(simulation, "MAX_NUMBERS", 1)
    assert (
        simulate_power(NORMAL, PowerAnalysis(), difference=0.02, units=300, seed=0).draws == 1_000
    )
