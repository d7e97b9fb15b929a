"""Randomised Tukey: by all permutations, beside the randomisation test, and its laws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from judged.statistics.randomisation import exact_p, randomised_tukey
from judged.statistics.t import below

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


def by_all_permutations(values: np.ndarray) -> np.ndarray:
    """p with every way to permute each query's values in place of random ones."""
    orders = [list(itertools.permutations(row)) for row in values]
    sums = np.array([np.sum(rows, axis=0) for rows in itertools.product(*orders)])
    ranges = np.ptp(sums, axis=1)
    found = np.abs(np.subtract.outer(values.sum(axis=0), values.sum(axis=0)))
    return (ranges[:, None, None] >= found - 1e-9).mean(axis=0)


@pytest.mark.parametrize("seed", range(3))
def test_as_all_permutations(seed: int) -> None:
    values = np.random.default_rng(seed).uniform(size=(5, 3)) + np.array([0.0, 0.2, 0.7])
    expected = by_all_permutations(values)
    found = randomised_tukey(values, seed=seed).p
    np.testing.assert_allclose(found, expected, atol=4.5 * np.sqrt(0.25 / 9_999))


def test_two_systems_are_flipped_signs() -> None:
    values = np.random.default_rng(4).normal(size=(20, 2)) + np.array([0.0, 0.5])
    exact = exact_p(values[:, 0] - values[:, 1])
    found = randomised_tukey(values).p[0, 1]
    assert found == pytest.approx(exact, abs=4.5 * np.sqrt(exact / 9_999))


def test_all_orders_of_a_row_are_equally_frequent() -> None:
    """One query of values 0, 1, 3 has a range of 3 in any order, so every p is 1."""
    assert randomised_tukey(np.array([[0.0, 1.0, 3.0]])).p.tolist() == [[1.0] * 3] * 3
    # 9 falls on 3, 1 or 0, a third each: ranges 12, 10 and 9. The means as they are have 12, 11
    # and 1 between them.
    p = randomised_tukey(np.array([[0.0, 1.0, 3.0], [0.0, 0.0, 9.0]])).p
    assert p[0, 2] == pytest.approx(1 / 3, abs=4.5 * np.sqrt(2 / 9 / 9_999))
    assert p[1, 2] == p[0, 2]
    assert p[0, 1] == 1


@pytest.mark.parametrize("resamples", [19, 199, 999])
def test_p_and_half_width_agree(resamples: int) -> None:
    generator = np.random.default_rng(resamples)
    shown = 0
    for _ in range(30):
        size = (generator.integers(1, 12), generator.integers(2, 7))
        values = generator.choice([0.0, 0.1, 0.2, 0.3, 1 / 3, 0.5], size)
        values[:, 0] += generator.choice([0.0, 0.1, 0.4])
        found = randomised_tukey(values, LEVELS, resamples)
        assert (found.p > 0).all()
        assert (found.p <= 1).all()
        for level, half in zip(LEVELS, found.half_width, strict=True):
            if np.isnan(half):
                continue
            for i, j in itertools.combinations(range(size[1]), 2):
                difference = np.mean(values[:, i] - values[:, j])
                assert (abs(difference) > half) == below(found.p[i, j], level)
                shown += bool(below(found.p[i, j], level))
    assert shown


def test_nothing_to_tell_apart() -> None:
    found = randomised_tukey(np.repeat(np.arange(5.0), 3).reshape(5, 3))
    assert (found.p == 1).all()
    assert np.isnan(found.half_width).all()


def test_too_few_resamples_for_a_level() -> None:
    found = randomised_tukey(np.random.default_rng(0).uniform(size=(9, 3)), (0.95,), 9)
    assert found.half_width.tolist() == [np.inf]
