"""Corrected means against ppi-python, which is loaded by these tests alone: that takes seconds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from judged.arrays import Floats
from judged.statistics.prediction_powered import powered, tuned_weight


def drawn(n: int, size: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Trusted values of n of the queries, the cheap ones of all, and which n they are."""
    rng = np.random.default_rng(n)
    truth = rng.beta(1, 1.2, (size, 3))
    cheap = np.clip(0.2 + 0.9 * truth + rng.normal(0, 0.2, truth.shape), 0, 1)
    judged = np.zeros(size, bool)
    judged[rng.choice(size, n, replace=False)] = True
    return truth[judged], cheap, judged


@pytest.mark.parametrize(("n", "size"), [(20, 60), (35, 400), (50, 75)])
def test_as_ppi_python_with_the_others_as_its_unlabelled_data(n: int, size: int) -> None:
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    trusted, cheap, judged = drawn(n, size)
    found = powered(trusted, cheap, judged)
    assert ((found.weight > 0) & (found.weight < 1)).all()
    for at in range(trusted.shape[1]):
        theirs = trusted[:, at], cheap[judged, at], cheap[~judged, at]
        tuned = float(np.ravel(ppi_mean_pointestimate(*theirs))[0])
        assert found.spread.mean[at] == pytest.approx(tuned, abs=1e-12)
        # Its λ is about the others alone; its variances divide by n and by N − n, its quantile is
        # the normal one.
        own = float(found.weight[at]) * (1 - n / size)
        low, high = (float(np.ravel(end)[0]) for end in ppi_mean_ci(*theirs, alpha=0.05))
        parts = (np.var(theirs[0] - own * theirs[1]) / n, own**2 * np.var(theirs[2]) / (size - n))
        assert (high - low) / 2 / stats.norm.ppf(0.975) == pytest.approx(sum(parts) ** 0.5)
        ours = parts[0] * n / (n - 1) + parts[1] * (size - n) / (size - n - 1)
        assert found.spread.error[at] == pytest.approx(ours**0.5)
        assert found.spread.freedom[at] == n - 1


def test_a_weight_above_one_is_cut_where_the_cheap_mean_counts_in_full() -> None:
    from ppi_py import ppi_mean_pointestimate

    rng = np.random.default_rng(3)
    cheap = rng.random((200, 1))
    judged = np.arange(200) < 40
    trusted = 3 * cheap[judged]
    assert tuned_weight(trusted, cheap, judged).tolist() == [1.0]
    found = powered(trusted, cheap, judged)
    plain = cheap.mean() + (trusted - cheap[judged]).mean()
    assert found.spread.mean[0] == pytest.approx(plain)
    theirs = trusted[:, 0], cheap[judged, 0], cheap[~judged, 0]
    there = float(np.ravel(ppi_mean_pointestimate(*theirs, lam=1 - 40 / 200))[0])
    assert found.spread.mean[0] == pytest.approx(there)
