"""Medians of many resamples, beside those of one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from judged.statistics import bootstrap as module
from judged.statistics.bootstrap import median_of
from judged.statistics.samples import CLOSE, Median


def resampled(sample: Median, counts: NDArray[np.float64]) -> float:
    """The weighted median if each query is taken as often as it is counted."""
    weights = counts if sample.weights is None else counts * sample.weights
    order = np.argsort(sample.values, kind="stable")
    values = sample.values[order]
    upto = np.cumsum(weights[sample.owner[order]])
    half = upto[-1] / 2
    low = np.argmax(upto >= half * (1 - CLOSE))
    high = np.argmax(upto > half * (1 + CLOSE))
    return float((values[low] + values[high]) / 2) if half > 0 else np.nan


@pytest.mark.parametrize("numbers", [1, 2**20])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_as_one_by_one(
    numbers: int, weighted: bool, grouped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of values with ties, infinite ones, and queries that have none or several."""
    monkeypatch.setattr(module, "NUMBERS_PER_BLOCK", numbers)
    generator = np.random.default_rng(numbers)
    for _ in range(40):
        size = int(generator.integers(1, 30))
        owner = generator.integers(0, size, generator.integers(1, 150))
        values = generator.choice([1.0, 2.0, 3.0, 5.0, np.inf], len(owner))
        weights = generator.uniform(0.1, 3.0, size) if weighted else None
        sample = Median(values, owner, size, weights)
        groups = np.unique(generator.integers(0, size, size), return_inverse=True)[1]
        units = groups.max() + 1 if grouped else size
        draws = generator.integers(0, units, (20, units))
        counts = np.stack([np.bincount(row, minlength=units) for row in draws]).astype(float)
        found = median_of(sample, groups if grouped else None)(counts)
        for row, median in zip(counts[:, groups] if grouped else counts, found, strict=True):
            times = row[owner].astype(int)
            taken = values.repeat(times)
            if weights is None:
                expected = np.median(taken) if len(taken) else np.nan
            else:
                expected = resampled(sample, row)
            np.testing.assert_equal(median, expected)
