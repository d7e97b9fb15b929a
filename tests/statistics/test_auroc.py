"""The area under the ROC curve and its interval."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from judged.statistics.intervals import auroc

RNG = np.random.default_rng(20)


def by_pairs(first: np.ndarray, second: np.ndarray, heavy: np.ndarray, light: np.ndarray) -> float:
    """Every pair looked at."""
    right = sum(
        a * b * ((x > y) + 0.5 * (x == y))
        for (x, a), (y, b) in product(
            zip(first, heavy, strict=True), zip(second, light, strict=True)
        )
    )
    return float(right / (heavy.sum() * light.sum()))


@pytest.mark.parametrize("levels", [2, 5, 1000])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 7), (5, 3), (40, 25)])
def test_the_area_is_that_of_all_pairs_and_of_mann_and_whitney(m: int, n: int, levels: int) -> None:
    for _ in range(20):
        first, second = (RNG.integers(0, levels, size).astype(float) for size in (m, n))
        found = auroc(first, second).estimate
        assert found == pytest.approx(by_pairs(first, second, np.ones(m), np.ones(n)), rel=1e-12)
        u = stats.mannwhitneyu(first, second, method="asymptotic").statistic
        assert found == pytest.approx(u / (m * n), rel=1e-12)
        heavy, light = RNG.uniform(0.1, 3, m), RNG.uniform(0.1, 3, n)
        weighed = auroc(first, second, weights=(heavy, light)).estimate
        assert weighed == pytest.approx(by_pairs(first, second, heavy, light), rel=1e-12)


def test_equal_weights_change_nothing_and_their_scale_does_not_matter() -> None:
    first, second = RNG.normal(1, 1, 9), RNG.normal(0, 1, 7)
    plain = auroc(first, second)
    assert auroc(first, second, weights=(np.ones(9), np.ones(7))) == plain
    heavy, light = RNG.uniform(1, 9, 9), RNG.uniform(1, 9, 7)
    once = auroc(first, second, weights=(heavy, light))
    thrice = auroc(first, second, weights=(heavy * 3, light * 1e200))
    for part in ("estimate", "low", "high"):
        assert getattr(once, part) == pytest.approx(getattr(thrice, part), rel=1e-9)
    assert once.high - once.low > plain.high - plain.low  # fewer effective queries, less is known


def test_infinite_scores_have_a_place() -> None:
    assert auroc([math.inf, 0.0], [-math.inf, 0.0]).estimate == 0.875


@pytest.mark.parametrize("size", [2, 10, 1000])
def test_a_perfect_area_has_an_interval_of_some_width(size: int) -> None:
    found = auroc(np.arange(size) + 10 * size, np.arange(size))
    assert (found.estimate, found.high) == (1.0, 1.0)
    # The lower bound is the area θ at which 1 - θ is z standard deviations of Hanley and McNeil.
    low, z = found.low, stats.norm.ppf(0.975)
    spread = 1 + (size - 1) * ((1 - low) / (2 - low) + low / (1 + low))
    assert 1 - low == pytest.approx(z * math.sqrt(low * (1 - low) * spread) / size, rel=1e-6)
    other = auroc(np.arange(size), np.arange(size) + 10 * size)
    assert other.estimate == 0.0
    assert other.low == 0.0
    assert other.high == pytest.approx(1 - low, abs=1e-9)


@pytest.mark.parametrize(("m", "n"), [(1, 5), (5, 1), (1, 1)])
def test_one_score_of_a_kind_gives_no_interval(m: int, n: int) -> None:
    found = auroc(np.ones(m), np.zeros(n))
    assert (found.estimate, found.known) == (1.0, False)
