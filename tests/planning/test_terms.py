"""Power, queries, difference and half-width, each from the others: against statsmodels and brute
force."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from judged.comparison.power import PowerAnalysis
from judged.comparison.settings import MAX_QUERIES

oracle: Any = pytest.importorskip("statsmodels.stats.power").TTestPower()

CASES = [
    (PowerAnalysis(), 0.1, 0.02, 0.8),
    (PowerAnalysis(level=0.99), 0.15, 0.05, 0.9),
    (PowerAnalysis(comparisons=6), 0.1, 0.03, 0.8),
    (PowerAnalysis(margin=0.01), 0.1, 0.0, 0.8),
    (PowerAnalysis(margin=0.03, comparisons=3), 0.1, -0.01, 0.95),
    (PowerAnalysis(level=0.9, margin=0.02), 0.08, 0.01, 0.5),
]


def known(terms: PowerAnalysis, sd: float, difference: float, units: float) -> float:
    return float(
        oracle.power(
            (difference + (terms.margin or 0)) / sd,
            units,
            (1 - terms.level) / terms.comparisons,
            alternative="two-sided" if terms.margin is None else "larger",
        )
    )


@pytest.mark.parametrize(("terms", "sd", "difference", "power"), CASES)
def test_power_is_that_of_statsmodels(
    terms: PowerAnalysis, sd: float, difference: float, power: float
) -> None:
    for units in (6, 20, 31.5, 200):
        found = terms.power(sd, difference, units)
        assert found == pytest.approx(known(terms, sd, difference, units), abs=1e-9)


@pytest.mark.parametrize(("terms", "sd", "difference", "power"), CASES)
def test_the_smallest_number_that_is_enough(
    terms: PowerAnalysis, sd: float, difference: float, power: float
) -> None:
    units = terms.units(sd, difference, power)
    assert units is not None
    assert known(terms, sd, difference, units - 1) < power <= known(terms, sd, difference, units)
    solved = oracle.solve_power(
        (difference + (terms.margin or 0)) / sd,
        alpha=(1 - terms.level) / terms.comparisons,
        power=power,
        alternative="two-sided" if terms.margin is None else "larger",
    )
    assert units == math.ceil(solved)


@pytest.mark.parametrize("difference", [0.0, 0.004, -0.004])
@pytest.mark.parametrize("level", [0.95, 0.9])
def test_equivalence_by_brute_force(difference: float, level: float) -> None:
    """Both one-sided tests, on drawn means and standard deviations."""
    terms, sd, units = PowerAnalysis(level=level, margin=0.01), 0.05, 150
    random = np.random.default_rng(3)
    means = difference + sd / math.sqrt(units) * random.normal(size=400_000)
    errors = sd * np.sqrt(random.chisquare(units - 1, 400_000) / (units - 1) / units)
    critical = stats.t.ppf(level, units - 1)
    both = (means - critical * errors > -0.01) & (means + critical * errors < 0.01)
    assert terms.equivalence_power(sd, difference, units) == pytest.approx(both.mean(), abs=0.004)


def test_the_smallest_number_to_be_equivalent() -> None:
    terms = PowerAnalysis(margin=0.01)
    for difference in (0.0, 0.003, -0.003):
        units = terms.equivalence_units(0.05, difference, 0.8)
        assert units is not None
        powers = [terms.equivalence_power(0.05, difference, units - less) for less in (0, 1)]
        assert powers[1] < 0.8 <= powers[0]
    assert terms.equivalence_units(0.05, 0.01, 0.8) is None


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_half_width_of_an_interval(level: float) -> None:
    terms = PowerAnalysis(level=level, comparisons=5)  # of which intervals know nothing
    by_hand = stats.t.ppf((1 + level) / 2, 29) * 0.1 / math.sqrt(30)
    assert terms.half_width(0.1, 30) == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize(("level", "fewest"), [(0.5, 3), (0.95, 6), (0.99, 8)])
def test_no_fewer_than_compare_says_anything_of(level: float, fewest: int) -> None:
    # Of n differences all have the same sign in two of 2ⁿ cases: 2^(1 - 6) = 0.031, 2^(1 - 5) is
    # above 0.05.
    assert PowerAnalysis(level=level).floor == fewest
    assert PowerAnalysis(level=level).units(0.1, 5.0, 0.96) == fewest


def test_what_takes_too_many_queries() -> None:
    assert PowerAnalysis().units(0.1, 1e-6, 0.8) is None
    assert PowerAnalysis().units(1e300, 1e-300, 0.8) is None
    assert PowerAnalysis(per_unit=1000.0).units(0.1, 1e-4, 0.8) is None
    found = PowerAnalysis().units(0.1, 9e-6, 0.8)
    assert found is not None
    assert found < MAX_QUERIES


def test_a_design_effect_makes_queries_of_units() -> None:
    assert PowerAnalysis(per_unit=2.5).queries(199) == 498
    assert (
        PowerAnalysis(per_unit=1.1).queries(10) == 11
    )  # 1.1·10 is a little more than 11 in floats
