"""Corrected means: against Student's t and by hand, and how often their intervals hold; against
ppi-python they are in `tests/oracle`."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from judged.arrays import Floats
from judged.statistics.prediction_powered import corrected_means, powered, sampled_alike
from judged.statistics.t import half_widths, spread


def drawn(
    n: int, size: int, seed: int, columns: int = 3
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Trusted values of n of the queries, the cheap ones of all, and which n they are."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(1, 1.2, (size, columns))
    cheap = np.clip(0.2 + 0.9 * truth + rng.normal(0, 0.2, truth.shape), 0, 1)
    judged = np.zeros(size, bool)
    judged[rng.choice(size, n, replace=False)] = True
    return truth[judged], cheap, judged


def test_cheap_values_of_no_use_leave_the_trusted_ones_alone() -> None:
    """They are the other way round, do not vary, or there are hardly any more of them."""
    trusted, cheap, judged = drawn(30, 90, seed=7)
    turned, constant = (trusted, -cheap, judged), (trusted, np.full_like(cheap, 0.1), judged)
    for case in (turned, constant, drawn(30, 30, seed=6), drawn(30, 31, seed=6)):
        found, alone = powered(*case), spread(case[0])
        assert found.weight.tolist() == [0.0, 0.0, 0.0]
        assert found.spread.mean == pytest.approx(alone.mean)
        assert half_widths(found.spread, 0.95) == pytest.approx(half_widths(alone, 0.95))


def test_trusted_values_without_spread_have_no_error() -> None:
    _, cheap, judged = drawn(30, 90, seed=8)
    found = powered(np.full((30, 3), 0.5), cheap, judged)
    assert np.isnan(found.spread.error).all()
    assert found.spread.mean == pytest.approx(np.full(3, 0.5))


def test_a_weight_counts_as_so_much_of_a_mean() -> None:
    trusted, cheap, judged = drawn(30, 90, seed=9)
    weights = np.random.default_rng(9).uniform(0.2, 2, 90)
    found = powered(trusted, cheap, judged, weights)
    for at in range(3):
        y, f, w = trusted[:, at], cheap[:, at], weights
        ours, others = w[judged], w[~judged]
        mean, middle = np.average(y, weights=ours), np.average(f[judged], weights=ours)
        every = np.average(f, weights=w)
        upper = (ours**2 * (y - mean) * (f[judged] - middle)).mean()
        weight = upper / ((w**2 * (f - every) ** 2).sum() / 89)
        assert found.weight[at] == pytest.approx(weight)
        assert found.spread.mean[at] == pytest.approx(mean - weight * (middle - every))
        share = weight * others.sum() / w.sum()
        parts = [
            (
                (own * (values - np.average(values, weights=own))) ** 2
                / (1 - 2 * own / own.sum() + (own**2).sum() / own.sum() ** 2)
            ).sum()
            / own.sum() ** 2
            for own, values in ((ours, y - share * f[judged]), (others, share * f[~judged]))
        ]
        assert found.spread.error[at] == pytest.approx(sum(parts) ** 0.5)
    same = powered(trusted, cheap, judged, np.full(90, 3.0))
    assert same.spread.mean.tolist() == powered(trusted, cheap, judged).spread.mean.tolist()


def test_the_difference_of_two_with_one_weight_is_that_of_the_differences() -> None:
    trusted, cheap, judged = drawn(30, 90, seed=11, columns=2)
    ours, theirs = trusted[:, :1] - trusted[:, 1:], cheap[:, :1] - cheap[:, 1:]
    found = powered(ours, theirs, judged)
    both = corrected_means(trusted, cheap, judged, weight=np.repeat(found.weight, 2))
    assert both[0] - both[1] == pytest.approx(found.spread.mean[0])


def test_whether_the_sample_looks_random_is_welchs_test() -> None:
    _, cheap, judged = drawn(30, 90, seed=12)
    cheap[judged, 1] += 0.3
    found = sampled_alike(cheap, judged)
    for at in range(3):
        expected = stats.ttest_ind(cheap[judged, at], cheap[~judged, at], equal_var=False).pvalue
        assert found[at] == pytest.approx(expected)
    assert found[1] < 0.01
    assert np.isnan(sampled_alike(np.ones((9, 1)), np.arange(9) < 4)).all()


JUDGES = {
    "good": lambda truth, rng: np.clip(truth + rng.normal(0, 0.1, truth.shape), 0, 1),
    "useless": lambda truth, rng: rng.beta(2, 1, truth.shape),
    "biased": lambda truth, rng: np.clip(0.4 + 0.6 * truth + rng.normal(0, 0.1, truth.shape), 0, 1),
}


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(("n", "size"), [(20, 60), (20, 400), (50, 300), (100, 400)])
def test_nineteen_of_twenty_intervals_hold_the_truth(judge: str, n: int, size: int) -> None:
    """Each column is a sample of its own; the truth is the mean of Beta(1, 1.2)."""
    rng = np.random.default_rng(n + size)
    truth = rng.beta(1, 1.2, (size, 3_000))
    cheap = JUDGES[judge](truth, rng)
    found = powered(truth[:n], cheap, np.arange(size) < n)
    half = half_widths(found.spread, 0.95)
    assert 0.93 <= (np.abs(found.spread.mean - 1 / 2.2) <= half).mean() <= 0.97
    alone = half_widths(spread(truth[:n]), 0.95)
    ratio = np.median(half / alone)
    assert 0.99 < ratio < 1.01 if judge == "useless" else ratio < 0.9
