"""Whether means differ between parts of the queries."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from judged.statistics.resampling import between as module
from judged.statistics.resampling.between import between


def parts(seed: int, size: int = 30, parts: int = 3, columns: int = 4):
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(size) % parts)
    return random.normal(size=(size, columns)) + labels[:, None] * [0, 0.2, 1, -3], labels


@pytest.mark.parametrize("seed", range(3))
def test_f_is_that_of_scipy(seed):
    columns, labels = parts(seed)
    found = between(columns, labels, resamples=999)
    expected = stats.f_oneway(*(columns[labels == part] for part in range(3)))
    np.testing.assert_allclose(found.statistic, expected.statistic, rtol=1e-9)
    np.testing.assert_allclose(found.p, expected.pvalue, atol=0.05)


def test_p_is_that_of_all_permutations():
    columns, labels = parts(7, size=7, parts=2, columns=4)

    def f(order):
        with np.errstate(all="ignore"):
            return stats.f_oneway(*(columns[order == part] for part in (0, 1))).statistic

    every = np.array([f(np.array(order)) for order in {*permutations(labels.tolist())}])
    exact = (every >= f(labels) * (1 - 1e-9)).mean(axis=0)
    found = between(columns, labels, resamples=19_999)
    np.testing.assert_allclose(found.p, exact, atol=5 * 0.5 / np.sqrt(19_999))


def test_by_hand():
    # Means 2 and 8 of three each, 5 of all: 3·9 + 3·9 = 54 between, 2 + 2 within: (54/1)/(4/4).
    # Of the 20 ways to choose three of six, two are as far apart: p is about 0.1, and never 0.
    found = between(np.array([[1.0], [2], [3], [7], [8], [9]]), np.repeat([0, 1], 3))
    assert found.statistic.tolist() == [54.0]
    assert abs(found.p[0] - 0.1) < 0.02
    least = between(np.repeat([0.0, 1.0], 30)[:, None], np.repeat([0, 1], 30), resamples=999)
    assert np.isposinf(least.statistic[0])
    assert least.p[0] == 1 / 1000


def test_nothing_to_go_by():
    nothing = between(np.full((6, 1), 0.3), np.repeat([0, 1], 3), resamples=999)
    assert np.isnan(nothing.statistic[0])
    assert nothing.p[0] == 1
    one_each = between(np.arange(4.0)[:, None], np.arange(4), resamples=999)
    assert np.isnan(one_each.statistic[0])
    assert one_each.p[0] == 1
    infinite = between(
        np.array([[np.inf, 1.0], [0, 2], [1, 4]]), np.array([0, 0, 1]), resamples=999
    )
    assert np.isnan(infinite.p).tolist() == [True, False]


def test_no_scale_and_no_block_changes_anything(monkeypatch):
    columns, labels = parts(3)
    usual = between(columns, labels, resamples=999)
    for scale in (1e-200, 1e200):
        scaled = between(columns * scale, labels, resamples=999)
        np.testing.assert_allclose(scaled.statistic, usual.statistic)
        np.testing.assert_allclose(scaled.p, usual.p)
    np.testing.assert_array_equal(between(-columns, labels, resamples=999).p, usual.p)
    alone = between(columns[:, 2:3], labels, resamples=999)
    np.testing.assert_allclose(alone.p, usual.p[2:3])
    groups = np.arange(30) // 2
    for by in (None, groups):
        whole = between(columns, labels, None, by, resamples=999)
        with monkeypatch.context() as patch:
            patch.setattr(module, "BLOCK", 100)
            np.testing.assert_array_equal(
                between(columns, labels, None, by, resamples=999).p, whole.p
            )


def test_weights_are_repetitions():
    columns, labels = parts(5, size=12)
    weights = np.tile([1.0, 2.0, 3.0], 4)
    again = np.repeat(np.arange(12), weights.astype(int))
    expected = stats.f_oneway(*(columns[again][labels[again] == part] for part in range(3)))
    found = between(columns, labels, weights, resamples=999)
    freedom = (12 - 3) / (len(again) - 3)
    np.testing.assert_allclose(found.statistic, expected.statistic * freedom)
    np.testing.assert_allclose(
        between(columns, labels, np.full(12, 7.0), resamples=999).p,
        between(columns, labels, resamples=999).p,
    )


def test_groups_of_one_are_no_groups():
    columns, labels = parts(1)
    np.testing.assert_array_equal(
        between(columns, labels, None, np.arange(30), resamples=999).p,
        between(columns, labels, resamples=999).p,
    )


def false_alarms(mixed: bool, grouped: bool) -> float:
    """How often p is below 0.05 where parts do not differ and queries of a group are alike."""
    random = np.random.default_rng(11)
    groups = np.repeat(np.arange(16), 5)
    labels = np.arange(80) % 2 if mixed else groups % 2
    values = random.normal(size=(16, 400))[groups] + random.normal(size=(80, 400))
    p = between(values, labels, None, groups if grouped else None, resamples=999).p
    return float((p < 0.05).mean())


def test_groups_keep_their_false_alarms():
    error = 3 * np.sqrt(0.05 * 0.95 / 400)
    assert false_alarms(mixed=False, grouped=True) < 0.05 + error
    assert false_alarms(mixed=False, grouped=False) > 0.15  # queries of a group are not independent
    assert false_alarms(mixed=True, grouped=True) < 0.05 + error
