"""Student's t for queries, weights and groups, against scipy and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judged.arrays import Floats
from judged.statistics.intervals import interval, mean_intervals
from judged.statistics.samples import Means
from judged.statistics.t import SMALLEST_P, below, spread, t_test

LEVELS = (0.95, 0.9, 0.999)


def drawn(seed: int, size: int, columns: int = 4) -> Floats:
    """Columns of differences: spread evenly, tied, mostly zero, and of another size."""
    rng = np.random.default_rng(seed)
    even = rng.normal(0.02, 0.1, (size, columns))
    even[:, 1] = rng.integers(-2, 3, size) / 4
    even[:, 2] *= rng.random(size) < 0.3
    even[:, 3] *= 1e6
    even[0, 2] = 0.5
    return even


@pytest.mark.parametrize("size", [2, 3, 10, 300])
def test_as_scipy_has_it(size: int) -> None:
    columns = drawn(size, size)
    columns[0, 1], columns[1, 1] = 1.0, 0.25
    found = t_test(columns, levels=LEVELS)
    expected = stats.ttest_1samp(columns, 0)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    error = stats.sem(columns)
    for place, level in enumerate(LEVELS):
        # t.ppf of scipy 1.11 has nine digits; t.cdf has them all.
        for end, share in ((found.low, (1 - level) / 2), (found.high, (1 + level) / 2)):
            beyond = (end[place] - columns.mean(axis=0)) / error
            assert stats.t.cdf(beyond, size - 1) == pytest.approx(share, rel=1e-9)


@pytest.mark.parametrize("sizes", [(2, 2), (1, 1, 1, 1, 1), (10,) * 20])
def test_equal_groups_are_the_cluster_robust_fit_of_a_constant(sizes: tuple[int, ...]) -> None:
    linear = pytest.importorskip("statsmodels.api")
    n, units = sum(sizes), len(sizes)
    rng = np.random.default_rng(n)
    groups = rng.permutation(np.repeat(np.arange(units), sizes))
    column = rng.normal(0.1, 1, n) + rng.normal(0, 1, units)[groups]
    found = t_test(column[:, None], None, groups, levels=LEVELS)
    by = spread(column[:, None], None, groups)
    fit = linear.WLS(column, np.ones(n)).fit(
        cov_type="cluster",
        cov_kwds={"groups": groups, "use_correction": True, "df_correction": True},
        use_t=True,
    )
    # With one regressor the usual correction is G/(G-1)·(n-1)/(n-1): nothing to take away.
    assert by.mean[0] == pytest.approx(fit.params[0], rel=1e-9)
    assert by.error[0] == pytest.approx(fit.bse[0], rel=1e-9)
    assert by.freedom[0] == units - 1
    assert found.p[0] == pytest.approx(fit.pvalues[0], rel=1e-9)
    for place, level in enumerate(LEVELS):
        low, high = fit.conf_int(1 - level)[0].tolist()
        # Releases of scipy before 1.12 have fewer digits of the quantile.
        assert found.low[place, 0] == pytest.approx(low, rel=1e-7)
        assert found.high[place, 0] == pytest.approx(high, rel=1e-7)


def test_uneven_units_by_hand() -> None:
    # Values 0, 4, 8 with weights 2, 1, 1: mean 3, shares 1/2, 1/4, 1/4, s = 3/8. Residuals times
    # shares are −3/2, 1/4, 5/4; 1 − 2w + s is 3/8, 7/8, 7/8; so the variance of the mean is
    # 6 + 1/14 + 25/14 = 55/7, with 8/3 − 1 degrees of freedom.
    column, weights = np.array([[0.0], [4.0], [8.0]]), np.array([2.0, 1.0, 1.0])
    by_weight = spread(column, weights)
    assert by_weight.mean[0] == 3
    assert by_weight.error[0] == pytest.approx(math.sqrt(55 / 7), rel=1e-12)
    assert by_weight.freedom[0] == pytest.approx(5 / 3, rel=1e-12)
    # The same as groups: the first of two queries.
    by_group = spread(np.array([[-1.0], [1.0], [4.0], [8.0]]), groups=np.array([0, 0, 1, 2]))
    for one, other in zip(vars(by_weight).values(), vars(by_group).values(), strict=True):
        assert one == pytest.approx(other, rel=1e-12)


UNEVEN = {
    "groups of 200 and 10 × 10": (None, [200] + [10] * 10),
    "groups of 500 and 20 × 5": (None, [500] + [5] * 20),
    "weights 1/rank^1.5": (1 / np.arange(1, 101) ** 1.5, None),
    "one query of half the weight": (np.array([49.0] + [1.0] * 49), None),
    "thirty groups of 10 to 50": (None, [10, 20, 30, 40, 50] * 6),
}
"""Weights, or sizes of groups with an intraclass correlation of 0.3."""


def covered(
    weights: np.ndarray | None, sizes: list[int] | None, samples: int, seed: int
) -> tuple[float, float]:
    """How often the interval holds the true mean, and how often p is below 0.05."""
    rng = np.random.default_rng(seed)
    groups = None if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
    size = len(groups) if groups is not None else len(weights)  # type: ignore[arg-type]
    columns = rng.normal(size=(size, samples)) * math.sqrt(1 if groups is None else 0.7)
    if groups is not None:
        columns += math.sqrt(0.3) * rng.normal(size=(len(sizes or ()), samples))[groups]
    found = t_test(columns, weights, groups)
    holds = (found.low[0] <= 0) & (found.high[0] >= 0)
    return float(holds.mean()), float(below(found.p, 0.95).mean())


def test_uneven_units_have_the_coverage_that_they_claim() -> None:
    # Before, the first four covered 55, 13, 76 and 45–72 %.
    known = {name: covered(*case, samples=600, seed=1) for name, case in UNEVEN.items()}
    wrong = {name: own for name, own in known.items() if own[0] < 0.925 or own[1] > 0.075}
    assert not wrong


@pytest.mark.parametrize("weights", [[1, 1e-300], [1, 1e-9], [1, 1e-16, 1e-16]])
def test_one_unit_with_nearly_all_weight_shows_nothing(weights: list[float]) -> None:
    column = np.random.default_rng(3).normal(5, 1, (len(weights), 1))
    found = t_test(column, np.array(weights))
    assert not below(found.p, 0.95).any()
    assert not (found.low > 0).any()


def test_groups_by_hand() -> None:
    # d = 1, 3 | 2, 6: mean 3; sums of d − 3 are −2 and 2; se = √(2/1·8)/4 = 1; t = 3 with one
    # degree of freedom: p = 1 − 2·atan(3)/π = 0.204833.
    found = t_test(np.array([[1.0], [3.0], [2.0], [6.0]]), groups=np.array([0, 0, 1, 1]))
    assert found.p[0] == pytest.approx(0.2048327646991335, rel=1e-12)
    # 12.706205 is t of one degree of freedom at 0.975.
    assert (found.low[0, 0], found.high[0, 0]) == pytest.approx((-9.706205, 15.706205), abs=1e-6)


@given(st.integers(0, 10**6), st.integers(2, 30))
def test_groups_of_one_are_no_groups_and_their_numbers_may_have_gaps(seed: int, size: int) -> None:
    columns = drawn(seed, size)
    weights = np.random.default_rng(seed).uniform(0.5, 2, size)
    plain = spread(columns, weights)
    grouped = spread(columns, weights, 3 * np.random.default_rng(seed).permutation(size))
    for one, other in zip(vars(plain).values(), vars(grouped).values(), strict=True):
        assert one == pytest.approx(other, rel=1e-12, nan_ok=True)


@given(st.integers(0, 10**6), st.integers(2, 12), st.sampled_from(LEVELS))
def test_p_and_interval_agree(seed: int, size: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.integers(-3, 5, (size, 50)).astype(float)
    # Moved so that an end of the interval is at 0 but for rounding.
    half = (t_test(columns, levels=(level,)).high - columns.mean(axis=0))[0]
    columns = np.hstack([columns, columns - columns.mean(axis=0) + rng.choice([-1, 1], 50) * half])
    found = t_test(columns, levels=(level,))
    known = ~np.isnan(found.p)
    out = (found.low[0] > 0) | (found.high[0] < 0)
    assert known.any()
    assert (out == below(found.p, level))[known].all()
    assert np.isnan(found.low[0]).tolist() == (~known).tolist()


@pytest.mark.parametrize(
    "column",
    [[0.1] * 7, [0.0, 0.0], [1e300] * 3, [0.3 - 0.2, 0.2 - 0.1, 0.4 - 0.3], [5.0], [np.inf, 1, 2]],
)
def test_no_spread_no_answer(column: list[float]) -> None:
    found = t_test(np.array(column)[:, None])
    assert np.isnan([found.p[0], found.low[0, 0], found.high[0, 0]]).all()


def test_groups_that_do_not_spread_have_no_answer() -> None:
    columns = np.array([[1.0], [2.0], [2.0], [1.0]])
    assert np.isnan(t_test(columns, groups=np.array([0, 0, 1, 1])).p[0])
    assert np.isnan(t_test(columns, groups=np.zeros(4, int)).p[0])
    assert np.isfinite(t_test(columns, groups=np.array([0, 1, 1, 0])).p[0])


def test_nothing_stands_in_for_a_spread() -> None:
    found = spread(np.full((3, 1), 0.1), more=[(np.array([0.01]), np.array([np.inf]))])
    assert np.isnan(found.error[0])


def test_p_is_never_0() -> None:
    columns = np.linspace(1, 1 + 1e-9, 2000)[:, None]
    assert t_test(columns).p[0] == SMALLEST_P > 0


@pytest.mark.parametrize("scale", [1e-9, 1e200, 1e-3])
def test_size_of_the_values_does_not_matter(scale: float) -> None:
    columns = drawn(3, 20)[:, :1]
    assert t_test(columns * scale).p == pytest.approx(t_test(columns).p, rel=1e-9)
    by = np.arange(1.0, 21)
    assert t_test(columns, by * 1e250).p == pytest.approx(t_test(columns, by).p, rel=1e-9)


def test_further_variances_add_by_satterthwaite() -> None:
    # Variances 0.04 (4 degrees of freedom) and 0.12 (2): error √0.16 = 0.4 and
    # 0.16²/(0.04²/4 + 0.12²/2) = 0.0256/0.0076 = 3.368421.
    columns = np.array([-1.0, -1, 0, 1, 1])[:, None] * np.sqrt(0.2)  # s² = 0.2, so s²/n = 0.04
    # A known variance has infinitely many; nothing added changes nothing.
    for variance, freedom, expected in (
        (0.12, 2.0, (0.4, 3.3684210526)),
        (0.12, np.inf, (0.4, 64.0)),
        (0.0, np.inf, (0.2, 4.0)),
    ):
        found = spread(columns, more=[(np.array([variance]), np.array([freedom]))])
        assert (found.error[0], found.freedom[0]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9999])
def test_a_p_of_one_minus_level_is_not_below_it(level: float) -> None:
    exact = float(f"{1 - level:.10g}")
    assert not below(exact, level)
    assert not below(np.nextafter(exact, 1), level)
    assert not below(np.nan, level)
    assert below(exact * (1 - 1e-9), level)
    assert below(np.array([exact * 0.999, exact]), level).tolist() == [True, False]


def test_many_means_at_once_are_those_of_one_after_the_other() -> None:
    rng = np.random.default_rng(3)
    columns = [rng.random(size) for size in (5, 0, 1, 40, 5, 40, 2)] + [np.full(5, 0.3)]
    found = mean_intervals(columns, level=0.9, range=(0.4, 0.6))
    for column, many in zip(columns, found, strict=True):
        one = interval(Means.of_values(column), level=0.9, method="t", range=(0.4, 0.6))
        assert many.to_dict() == one.to_dict()
