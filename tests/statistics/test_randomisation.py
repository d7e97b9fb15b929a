"""The randomisation test: p by hand, by brute force and by scipy; intervals that never contradict
it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judged.statistics import randomisation as module
from judged.statistics.randomisation import exact_p, randomisation
from judged.statistics.t import below
from support.errors import error_of
from support.resampling import check_agreement

DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]) / 8
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


def brute_force(sums: np.ndarray) -> float:
    """All sign patterns, one by one."""
    reached = abs(sums.sum()) - 1e-9 * np.abs(sums).sum()
    patterns = itertools.product((1, -1), repeat=len(sums))
    return float(np.mean([abs(np.dot(signs, sums)) >= reached for signs in patterns]))


def test_darwins_maize() -> None:
    """Fisher (1935): of 32,768 sign patterns 1,726 have a sum of at least 314 eighths, either
    way."""
    assert exact_p(DARWIN) == 1726 / 32768
    tested = randomisation(DARWIN[:, None], levels=(0.95, 0.9))
    assert tested.p.tolist() == [1726 / 32768]
    assert tested.low[0, 0] <= 0 < tested.low[1, 0]


def test_three_by_hand() -> None:
    """1, 2, -1: sums of sign patterns are ±2 (twice), ±4, ±0, so 6 of 8 reach 2."""
    assert exact_p(np.array([1.0, 2.0, -1.0])) == 0.75


def test_six_units_by_hand() -> None:
    """1…6: only the pattern as it is and its mirror image reach 21, so p is 2/64. At 95 % the first
    count whose p is not below 0.05 is 2 of 32, so the end is the least mean of any subset: 1."""
    tested = randomisation(np.arange(1.0, 7.0)[:, None], levels=(0.95, 0.99))
    assert tested.p.tolist() == [2 / 64]
    assert tested.low.tolist() == [[1.0], [-np.inf]]
    assert tested.high.tolist() == [[6.0], [np.inf]]


def test_p_of_exactly_alpha_is_not_below_it() -> None:
    """Nine random flips of 50 equal signs leave p at 1/10, and 0.9 is not 1 - 0.1 in floats."""
    columns = np.linspace(1, 2, 50)[:, None]
    tested = randomisation(columns, levels=(0.9, 0.89, 0.95), resamples=9)
    assert tested.p.tolist() == [0.1]
    assert tested.low[0] == tested.low[2] == -np.inf
    assert tested.low[1] > 0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("tied", [False, True])
def test_exact_p_by_brute_force(seed: int, tied: bool) -> None:
    generator = np.random.default_rng(seed)
    size = 5 + seed
    values = generator.choice([0.1, 0.2, -0.3, 1 / 3, -1 / 3, 0.0], size)
    column = values if tied else generator.normal(0.3, 1.0, size)
    assert exact_p(column) == brute_force(column)
    for resamples in (19, 9_999):
        assert randomisation(column[:, None], resamples=resamples).p[0] == brute_force(column)


def test_forty_units_are_exact_and_more_are_not() -> None:
    """Ties of ±1: the sum of signs is binomial."""
    column = np.where(np.arange(40) < 27, 1.0, -1.0)
    assert exact_p(column) == pytest.approx(stats.binomtest(27, 40).pvalue, rel=1e-12)
    assert randomisation(column[:, None]).p[0] == exact_p(column)
    padded = np.concatenate([column, np.zeros(60)])
    assert randomisation(padded[:, None]).p[0] == exact_p(padded) == exact_p(column)
    assert error_of(exact_p, np.append(column, 1.0)) == (
        "an exact p needs at most 40 units that differ, or all of one sign; 41 differ."
    )


def test_all_of_one_sign_have_an_exact_p_however_many() -> None:
    assert exact_p(np.full(100, -0.25)) == 2.0**-99
    assert 0 < exact_p(np.ones(5_000)) < 1e-300


def test_rounding_does_not_decide() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floats; of 3 units with a sum of 0 every flip reaches it."""
    assert exact_p(np.array([0.1, 0.2, -0.3])) == 1.0
    tested = randomisation(np.array([[0.1], [0.2], [-0.3]] * 30), resamples=999)
    assert tested.p.tolist() == [1.0]
    assert tested.low[0, 0] <= 0 <= tested.high[0, 0]
    thirds = np.array([1 / 3, 1 / 3, 1 / 3, -1.0, 0.7, 0.1])
    assert exact_p(thirds) == exact_p(np.array([10.0, 10, 10, -30, 21, 3]))


def test_nothing_to_go_by() -> None:
    """No interval where all units differ by the same: p is that of equal signs."""
    columns = np.stack([np.zeros(7), np.full(7, 0.1), np.full(7, -2.0)], axis=1)
    tested = randomisation(columns)
    assert tested.p.tolist() == [1.0, 2.0**-6, 2.0**-6]
    assert np.isnan(tested.low).all()
    assert np.isnan(tested.high).all()
    many = randomisation(np.full((50, 1), 0.1))
    assert many.p.tolist() == [1 / 10_000]
    assert np.isnan(many.low).all()
    one = randomisation(np.array([[0.3, 0.0]]))
    assert one.p.tolist() == [1.0, 1.0]
    assert np.isnan(one.low).all()
    none = randomisation(np.empty((0, 2)))
    assert np.isnan(none.p).all()
    assert none.low.shape == (1, 2)


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None, int]:
    """Columns with ties and zeros, weights, groups and a number of resamples."""
    size = draw(st.integers(1, 60))
    values = st.one_of(
        st.sampled_from([0.0, 0.1, 0.2, 0.3, -0.1, 1 / 3, -1 / 3, 1.0]),
        st.floats(-1e3, 1e3, allow_subnormal=False),
    )
    column = draw(st.lists(values, min_size=size, max_size=size))
    weights = groups = None
    if draw(st.booleans()):
        weights = np.array(draw(st.lists(st.floats(0.01, 9), min_size=size, max_size=size)))
    if draw(st.booleans()):
        given = draw(st.lists(st.integers(0, 20), min_size=size, max_size=size))
        groups = np.unique(given, return_inverse=True)[1]
    return np.array(column)[:, None], weights, groups, draw(st.sampled_from([9, 19, 99, 199]))


@given(problems())
def test_p_and_interval_agree(problem: Any) -> None:
    columns, weights, groups, resamples = problem
    tested = randomisation(columns, weights, groups, levels=LEVELS, resamples=resamples)
    check_agreement(tested, LEVELS)
    assert (tested.p > 0).all()
    assert (tested.p <= 1).all()
    mirrored = randomisation(-columns, weights, groups, levels=LEVELS, resamples=resamples)
    np.testing.assert_array_equal(mirrored.p, tested.p)
    np.testing.assert_array_equal(mirrored.low, -tested.high)


def test_p_and_interval_agree_where_p_is_exact_and_subsets_are_random() -> None:
    """With 9 subsets of 16 to 40 units the two would often contradict each other."""
    generator = np.random.default_rng(5)
    some = 0
    for size in range(16, 41):
        tested = randomisation(
            generator.normal(0.4, 1.0, (size, 4)).round(1), levels=LEVELS, resamples=9
        )
        some += check_agreement(tested, LEVELS)
    assert some == 25 * 4 * len(LEVELS)


def test_interval_is_the_set_of_differences_that_are_not_rejected() -> None:
    """Just inside an end the shifted data are not rejected, just outside they are; the same flips
    serve every shift."""
    generator = np.random.default_rng(2)
    for size in (12, 70):
        column = generator.normal(0.3, 1.0, size)
        weights = generator.uniform(0.5, 2.0, size)
        tested = randomisation(column[:, None], weights, levels=(0.9,), resamples=4_999)
        for end, inwards in ((tested.low[0, 0], 1), (tested.high[0, 0], -1)):
            for away, rejected in ((1e-6 * inwards, False), (-1e-6 * inwards, True)):
                shifted = column[:, None] - (end + away)
                p = randomisation(shifted, weights, resamples=4_999).p[0]
                assert below(p, 0.9) == rejected


def test_groups_are_flipped_as_a_whole() -> None:
    """Ten queries in four groups: p is that of the groups' sums."""
    column = np.random.default_rng(1).normal(0.5, 1.0, 10)
    groups = np.array([0, 1, 2, 3, 0, 1, 2, 3, 0, 0])
    sums = np.bincount(groups, column)
    assert exact_p(column, groups=groups) == brute_force(sums)
    assert exact_p(column, groups=5 * groups + 2) == brute_force(sums)
    gaps, plain = (randomisation(column[:, None], groups=each) for each in (5 * groups, groups))
    np.testing.assert_array_equal(gaps.low, plain.low)
    weights = np.arange(1.0, 11.0)
    assert exact_p(column, weights, groups) == brute_force(np.bincount(groups, column * weights))


def test_columns_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone, among others and in portions a column has the same numbers, to the last bit."""
    columns = np.random.default_rng(6).normal(0.05, 1.0, (3_000, 9))
    together = randomisation(columns, resamples=999)
    alone = [randomisation(columns[:, [at]], resamples=999) for at in range(9)]
    monkeypatch.setattr(module, "BYTES_AT_ONCE", 2 * 8 * 3_000)
    monkeypatch.setattr(module, "FEWEST_COLUMNS", 0)
    portions = randomisation(columns, resamples=999)
    for found in (portions, *alone):
        assert set(found.p) <= set(together.p)
    np.testing.assert_array_equal(np.concatenate([each.low[0] for each in alone]), together.low[0])
    np.testing.assert_array_equal(portions.low, together.low)


def test_the_seed_decides_and_means_the_same_everywhere() -> None:
    columns = np.sin(np.arange(100.0))[:, None] + 0.2
    assert randomisation(columns, seed=0).p != randomisation(columns, seed=1).p
    flips = next(module.Subsets(100, 999, 0)._tiles())[2]
    assert flips[:2, :16].tolist() == [
        [1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 1],
    ]
