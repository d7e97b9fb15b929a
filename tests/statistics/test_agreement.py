"""Kappa and alpha: against scikit-learn and the krippendorff package, and worked by hand."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from judged.arrays import Floats
from judged.statistics.agreement import (
    ALPHAS,
    KAPPAS,
    alpha_sample,
    cohen_kappa,
    kappa_sample,
    krippendorff_alpha,
)
from judged.statistics.bootstrap import left_out, resampled


def grades(seed: int, judges: int = 2, gaps: float = 0.0) -> Floats:
    """Grades from 0 to 3 of some items, a column per judge, most of them alike."""
    generator = np.random.default_rng(seed)
    items = int(generator.integers(4, 60))
    found = generator.integers(0, 4, size=(items, judges)).astype(float)
    alike = generator.random((items, judges - 1)) < 0.6
    found[:, 1:] = np.where(alike, found[:, :1], found[:, 1:])
    found[generator.random(found.shape) < gaps] = np.nan
    return found


@pytest.mark.parametrize("weights", KAPPAS)
def test_kappa_is_that_of_scikit_learn(weights: str) -> None:
    """With all grades named as labels: otherwise its distances are of places among those that
    occur."""
    theirs = None if weights == "plain" else weights
    for seed in range(40):
        first, second = grades(seed).T
        wanted = cohen_kappa_score(first, second, weights=theirs, labels=[0, 1, 2, 3])
        assert cohen_kappa(first, second, weights=weights) == pytest.approx(wanted, abs=1e-12)


def test_distances_are_of_values_not_of_places() -> None:
    # Grades 0, 1 and 3: the one that scikit-learn has at place 2 is 3 away from 0.
    first, second = np.array([0, 1, 3, 3, 0]), np.array([0, 1, 3, 0, 1])
    by_place = cohen_kappa_score(first, second, weights="linear")
    with_labels = cohen_kappa_score(first, second, weights="linear", labels=[0, 1, 2, 3])
    assert cohen_kappa(first, second, weights="linear") == pytest.approx(with_labels)
    assert abs(by_place - with_labels) > 0.05
    # Observed (3 + 1)/5; expected, by hand: 2, 1, 2 times 0, 1, 3 and 2, 2, 1: (2·2·1 + 2·1·3 +
    # 1·2·1 + 1·1·2 + 2·2·3 + 2·2·2)/25 = 34/25.
    assert cohen_kappa(first, second, weights="linear") == pytest.approx(1 - (4 / 5) / (34 / 25))


@pytest.mark.parametrize("metric", ALPHAS)
@pytest.mark.parametrize("judges", [2, 3, 5])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_alpha_is_that_of_krippendorff(metric: str, judges: int, gaps: float) -> None:
    for seed in range(15):
        given = grades(seed, judges, gaps) * (1.0, 0.5, 1.7)[seed % 3]
        wanted = krippendorff.alpha(reliability_data=given.T, level_of_measurement=metric)
        assert krippendorff_alpha(given, metric=metric) == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize(("metric", "wanted"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_the_example_of_krippendorff(metric: str, wanted: float) -> None:
    """Four observers and twelve units, as in his paper on computing the reliability."""
    none = np.nan
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, none, none, none],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, none, 3],
        [none, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, none],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, none],
    ]
    assert krippendorff_alpha(np.array(rows).T, metric=metric) == pytest.approx(wanted, abs=5e-4)


@pytest.mark.parametrize("grade", [0, 1, 0.3, 7])
@pytest.mark.parametrize("items", [1, 3, 7])
def test_without_variation_there_is_neither(grade: float, items: int) -> None:
    same = np.full(items, grade)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(np.isnan(cohen_kappa(same, same, weights=name)) for name in KAPPAS)
        both = np.stack([same, same], axis=1)
        assert all(np.isnan(krippendorff_alpha(both, metric=name)) for name in ALPHAS)
        alone = np.stack([same, np.full(items, np.nan)], axis=1)
        assert all(np.isnan(krippendorff_alpha(alone, metric=name)) for name in ALPHAS)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_the_unit_of_grades_does_not_matter(scale: float) -> None:
    first, second = grades(5).T
    both = np.stack([first, second], axis=1)
    for name in KAPPAS:
        wanted = cohen_kappa(first, second, weights=name)
        found = cohen_kappa(first * scale, second * scale, weights=name)
        assert found == pytest.approx(wanted, rel=1e-9)
    for name in ALPHAS:
        wanted = krippendorff_alpha(both, metric=name)
        assert krippendorff_alpha(both * scale, metric=name) == pytest.approx(wanted, rel=1e-9)


def test_a_resample_is_the_number_of_the_queries_drawn() -> None:
    """What is resampled are sums by query; the number of a resample is that of its items."""
    generator = np.random.default_rng(8)
    both = grades(11, 3, 0.1)
    both = both[~np.isnan(both[:, :2]).any(axis=1)]
    query = np.sort(generator.integers(0, 5, len(both)))
    query = np.unique(query, return_inverse=True)[1]
    units = int(query.max()) + 1
    samples = [kappa_sample(both[:, 0], both[:, 1], query, weights=name) for name in KAPPAS]
    samples += [alpha_sample(both, query, metric=name) for name in ALPHAS]
    found = resampled(samples, None, 5, seed=2)
    draws = np.random.default_rng(2).integers(0, units, size=(5, units))
    for at, draw in enumerate(draws):
        drawn = np.concatenate([both[query == one] for one in draw])
        wanted = [cohen_kappa(drawn[:, 0], drawn[:, 1], weights=name) for name in KAPPAS]
        wanted += [krippendorff_alpha(drawn, metric=name) for name in ALPHAS]
        assert found[:, at] == pytest.approx(wanted, abs=1e-12)
    without = [cohen_kappa(*both[query != one, :2].T, weights="linear") for one in range(units)]
    assert left_out(samples[1], None) == pytest.approx(without)
