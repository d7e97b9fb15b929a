"""Tukey's test in the two-way layout, against a fit of queries and systems, and the paired t."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from judged.arrays import Floats
from judged.statistics.randomisation import tukey
from judged.statistics.t import below


def drawn(n: int, m: int, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (n, 1)) + rng.normal(0, 0.3, (n, m)) + np.linspace(0, 0.3, m)


def residual_mean_square(values: Floats) -> float:
    """Of the fit of a constant, queries and systems, by least squares."""
    n, m = values.shape
    queries, systems = np.eye(n)[np.repeat(np.arange(n), m)], np.eye(m)[np.tile(np.arange(m), n)]
    design = np.hstack([queries, systems[:, 1:]])
    fit = design @ np.linalg.lstsq(design, values.ravel(), rcond=None)[0]
    return float(((values.ravel() - fit) ** 2).sum() / ((n - 1) * (m - 1)))


@pytest.mark.parametrize(("n", "m"), [(5, 3), (40, 4)])
def test_studentised_ranges_of_the_two_way_fit(n: int, m: int) -> None:
    values = drawn(n, m, n)
    found = tukey(values, (0.95, 0.9))
    error = np.sqrt(residual_mean_square(values) / n)
    freedom = (n - 1) * (m - 1)
    means = values.mean(axis=0)
    for a, b in combinations(range(m), 2):
        expected = stats.studentized_range.sf(abs(means[a] - means[b]) / error, m, freedom)
        assert found.p[a, b] == found.p[b, a] == pytest.approx(expected, rel=1e-6)
    assert (np.diag(found.p) == 1).all()
    for half, level in zip(found.half_width, (0.95, 0.9), strict=True):
        assert half == pytest.approx(stats.studentized_range.ppf(level, m, freedom) * error)


def test_by_hand() -> None:
    # Rows −1 0 1 | 2 2 5: means of systems 0.5 1 3, of queries 0 3, of all 1.5; residuals
    # ±0 ±0.5 ±0.5, their squares sum to 1 over 2 degrees of freedom; √(0.5/2) = 0.5. The range of
    # the first and the last is 2.5/0.5 = 5 of three systems and 2 degrees of freedom.
    found = tukey(np.array([[-1.0, 0, 1], [2, 2, 5]]))
    assert found.p[0, 2] == pytest.approx(stats.studentized_range.sf(5, 3, 2), rel=1e-9)
    # 8.330783 is the table's 95 % point (8.33).
    assert found.half_width[0] == pytest.approx(8.33 / 2, abs=0.005)


@pytest.mark.parametrize("n", [2, 9, 80])
def test_of_two_systems_it_is_the_paired_t(n: int) -> None:
    values = drawn(n, 2, n)
    expected = stats.ttest_rel(values[:, 0], values[:, 1])
    found = tukey(values)
    assert found.p[0, 1] == pytest.approx(expected.pvalue, rel=1e-6)
    ends = expected.confidence_interval(0.95)
    assert found.half_width[0] == pytest.approx((ends.high - ends.low) / 2, rel=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_p_and_half_width_agree(seed: int) -> None:
    values = drawn(15, 4, seed)
    level = 0.95
    # Systems are moved so that each is a half width from the first but for rounding.
    half = tukey(values, (level,)).half_width[0]
    values += -values.mean(axis=0) + half * np.array([0, 1, 1 - 1e-15, 1 + 1e-15])
    found = tukey(values, (level,))
    means = values.mean(axis=0)
    apart = np.abs(means[:, None] - means)
    assert (below(found.p, level) == (apart > found.half_width[0])).all()
    assert np.array_equal(found.p, found.p.T)


@pytest.mark.parametrize(
    "values", [np.ones((5, 3)), np.arange(5.0)[:, None] + np.arange(3) / 10, np.ones((1, 3))]
)
def test_no_spread_no_answer(values: Floats) -> None:
    found = tukey(values, (0.95, 0.9))
    assert np.isnan(found.half_width).tolist() == [True, True]
    assert np.isnan(found.p).tolist() == (~np.eye(3, dtype=bool)).tolist()
