"""Whether means differ between parts of the queries: Welch's F."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judged.arrays import Floats, Ints
from judged.statistics.t import below, between


def parts(seed: int, size: int = 30, parts: int = 3) -> tuple[Floats, Ints]:
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(size) % parts)
    columns = random.normal(size=(size, 4)) * (1 + labels[:, None])
    return columns + labels[:, None] * [0, 0.2, 1, -3], labels


@pytest.mark.parametrize("seed", range(3))
def test_as_statsmodels_has_it(seed: int) -> None:
    oneway = pytest.importorskip("statsmodels.stats.oneway")
    columns, labels = parts(seed)
    statistic, p = between(columns, labels)
    for at, column in enumerate(columns.T):
        own = [column[labels == part] for part in range(3)]
        expected = oneway.anova_oneway(own, use_var="unequal", welch_correction=True)
        assert statistic[at] == pytest.approx(expected.statistic, rel=1e-9)
        assert p[at] == pytest.approx(expected.pvalue, rel=1e-9)


def test_by_hand() -> None:
    # Means 2 and 8 with standard errors √(1/3): t² = 36/(2/3) = 54 with four degrees of freedom.
    # Their two-sided p is 1 − 3/2·(x − x³/3) with x = t/√(4 + t²).
    x = math.sqrt(54 / 58)
    statistic, p = between(np.array([[1.0], [2], [3], [7], [8], [9]]), np.repeat([0, 1], 3))
    assert statistic[0] == pytest.approx(54)
    assert p[0] == pytest.approx(1 - 1.5 * (x - x**3 / 3), rel=1e-9)


def test_parts_that_do_not_spread() -> None:
    labels = np.repeat([0, 1], 6)
    # One that does not is taken to spread as the other one does: 3.5 away, variances of 3.5/6 each.
    one = np.r_[np.zeros(6), np.arange(1.0, 7)][:, None]
    assert between(one, labels)[0][0] == pytest.approx(3.5**2 / (2 * 3.5 / 6))
    # Where none does, two of the 924 ways to choose six of twelve part them so.
    with np.errstate(all="ignore"):
        none = between(np.repeat([0.0, 1.0], 6)[:, None], labels)
        same = between(np.full((12, 1), 0.3), labels)
        infinite = between(
            np.array([[np.inf, 1.0], [0, 2], [1, 4], [2, 4.5]]), np.repeat([0, 1], 2)
        )
    assert none[1][0] == pytest.approx(2 / math.comb(12, 6))
    assert same[1][0] == 1
    assert np.isnan(infinite[1]).tolist() == [True, False]
    assert np.isnan(between(one, np.zeros(12, int))[1]).all()


def test_no_scale_changes_anything() -> None:
    columns, labels = parts(3)
    usual = between(columns, labels)
    for scale in (1e-200, -1.0, 1e200):
        scaled = between(columns * scale, labels)
        assert scaled[0] == pytest.approx(usual[0])
        assert scaled[1] == pytest.approx(usual[1])
    assert between(columns, labels, np.full(30, 7.0))[1] == pytest.approx(usual[1])
    assert between(columns, labels, None, np.arange(30))[1] == pytest.approx(usual[1])


def test_groups_are_the_units_and_one_in_two_parts_does_not_blind() -> None:
    random = np.random.default_rng(12)
    groups = np.repeat(np.arange(16), 5)
    values = random.normal(size=(16, 1_000))[groups] + random.normal(size=(80, 1_000))
    spanning = np.where(np.arange(80) < 2, 1 - groups % 2, groups % 2)
    error = 3 * math.sqrt(0.05 * 0.95 / 1_000)

    def shown(labels: Ints, by: Ints | None, apart: float = 0.0) -> float:
        found = between(values + apart * labels[:, None], labels, None, by)
        return float(below(found[1], 0.95).mean())

    assert shown(groups % 2, None) > 0.15  # queries of a group are not independent
    assert shown(groups % 2, groups) < 0.05 + error
    assert shown(spanning, groups) < 0.05 + error
    assert shown(np.arange(80) % 2, groups) < 0.05 + error
    assert shown(spanning, groups, apart=2.0) > 0.85
