"""Wilcoxon's test, the sign test and corrections, by hand and against scipy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats

from judged.statistics.ranks import corrected, sign, wilcoxon


def p_of(*column: float) -> float:
    return float(wilcoxon(np.array(column)[:, None])[0])


def test_three_queries_by_hand() -> None:
    # Ranks 1, 3, 2, of which 1 and 3 are positive: 4 of 6. Of the eight patterns of signs the sums
    # of positive ranks are 0 1 2 3 3 4 5 6; three are 4 or more, so p = 2·3/8.
    assert p_of(0.1, 0.3, -0.2) == 0.75
    # All positive: one pattern of eight, 2·1/8.
    assert p_of(0.1, 0.3, 0.2) == 0.25
    # In the middle: 3 of 6, 2·5/8 is more than 1.
    assert p_of(0.1, -0.3, 0.2) == 1.0


def test_ties_by_hand() -> None:
    # Ranks 1.5 1.5 3 4, all positive: 10, middle 5, variance 4·5·9/24 − (8 − 2)/48 = 7.375;
    # z = 4.5/√7.375 = 1.657034, p = 0.097513.
    assert p_of(1, 1, 2, 3) == pytest.approx(0.097513, abs=1e-6)
    # A difference of 0 is left out, and p is no longer exact: 6 of 6, variance 3·4·7/24 = 3.5,
    # z = 2.5/√3.5 = 1.336306, p = 0.181449.
    assert p_of(0, 1, 2, 3) == pytest.approx(0.181449, abs=1e-6)


def test_rounding_ties() -> None:
    rounded = (0.3 - 0.2, 0.2 - 0.1, 0.4 - 0.3, 0.9)
    assert len(set(rounded)) > 2
    assert p_of(*rounded) == pytest.approx(p_of(0.1, 0.1, 0.1, 0.9), rel=1e-12)
    assert p_of(0.1 + 0.2 - 0.3, 1, 2, 3) == p_of(0, 1, 2, 3)


@pytest.mark.parametrize("size", [1, 2, 3, 12, 49])
def test_exact_as_scipy_has_it(size: int) -> None:
    columns = np.random.default_rng(size).normal(0.3, 1, (size, 10))
    expected = [stats.wilcoxon(column, mode="exact").pvalue for column in columns.T]
    assert wilcoxon(columns) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("size", [8, 49, 50, 400])
def test_normal_as_scipy_has_it(size: int) -> None:
    rng = np.random.default_rng(size)
    columns = rng.integers(-3, 6, (size, 10)) / 7
    columns[0], columns[1], columns[2] = 0, 2, 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that the sample is small
        expected = [
            stats.wilcoxon(column, correction=True, mode="approx").pvalue for column in columns.T
        ]
    assert wilcoxon(columns) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_sign_as_scipy_has_it(seed: int) -> None:
    columns = np.random.default_rng(seed).integers(-1, 3, (4 + 60 * seed, 6)) / 3.0
    wins, losses = (columns > 0).sum(axis=0), (columns < 0).sum(axis=0)
    expected = [
        stats.binomtest(int(won), int(won + lost)).pvalue if won + lost else 1.0
        for won, lost in zip(wins, losses, strict=True)
    ]
    assert sign(columns) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("test", [wilcoxon, sign])
def test_odd_columns(test: object) -> None:
    columns = np.array([[0, np.nan, np.inf], [0, 1, np.inf], [0, 2, 1], [1e-13, 3, -np.inf]])
    found = test(columns)  # type: ignore[operator]
    assert found[0] == 1
    assert np.isnan(found[1])
    assert found[2] > 0.1
    assert test(-columns).tolist()[2] == found[2]  # type: ignore[operator]
    assert test(np.empty((0, 2))).tolist() == [1, 1]  # type: ignore[operator]


def test_infinite_differences_are_the_largest_and_tie() -> None:
    infinite = np.array([[np.inf], [np.inf], [1.0], [-2.0], [-np.inf]])
    finite = np.array([[9.0], [9.0], [1.0], [-2.0], [-9.0]])
    assert wilcoxon(infinite) == pytest.approx(wilcoxon(finite), rel=1e-12)


def test_p_is_never_0() -> None:
    columns = np.arange(1.0, 9001)[:, None]
    assert 0 < wilcoxon(columns)[0] < 1e-300
    assert 0 < sign(columns)[0] < 1e-300


# -- corrections

P = np.array([0.01, 0.04, 0.03, 0.005])


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        # In order: 0.005·4 = 0.02, 0.01·3 = 0.03, 0.03·2 = 0.06, 0.04·1 = 0.04, which is not less
        # than the one before it: 0.06.
        ("holm", [0.03, 0.06, 0.06, 0.02]),
        ("bonferroni", [0.04, 0.16, 0.12, 0.02]),
        # 0.005·4/1 = 0.02, 0.01·4/2 = 0.02, 0.03·4/3 = 0.04, 0.04·4/4 = 0.04.
        ("bh", [0.02, 0.04, 0.04, 0.02]),
        ("none", [0.01, 0.04, 0.03, 0.005]),
    ],
)
def test_corrections_by_hand(correction: str, expected: list[float]) -> None:
    assert corrected(P, correction) == pytest.approx(expected, rel=1e-12)
    with_gaps = corrected(np.array([0.01, np.nan, 0.04, 0.03, np.nan, 0.005]), correction)
    assert with_gaps[[0, 2, 3, 5]] == pytest.approx(expected, rel=1e-12)
    assert np.isnan(with_gaps[[1, 4]]).all()


@pytest.mark.parametrize(
    ("correction", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")]
)
def test_corrections_as_statsmodels_has_them(correction: str, theirs: str) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    for size in (1, 2, 5, 136):
        rng = np.random.default_rng(size)
        for p in (rng.random(size), rng.random(size) ** 8, rng.integers(1, 5, size) / 20):
            expected = multitest.multipletests(p, method=theirs)[1]
            assert corrected(p, correction) == pytest.approx(expected, rel=1e-12)
