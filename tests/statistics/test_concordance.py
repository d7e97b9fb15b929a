"""tau-b of many orders at once, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from judged.statistics.orders import taus


@pytest.mark.parametrize("kinds", [3, 12, 400])
def test_segments_are_those_of_scipy(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    segment = rng.permutation(np.repeat(np.arange(7), [0, 1, 2, 15, 16, 17, 150]))
    first, second = rng.integers(0, kinds, (2, len(segment)))
    found = taus(first, second, segment, 8)
    for at in range(8):
        own = segment == at
        expected = kendalltau(first[own], second[own]).statistic if own.sum() > 1 else np.nan
        assert found[at] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_ranks_too_large_for_one_number() -> None:
    first = np.array([0, 2**40, 2**41])
    assert taus(first, first[::-1].copy(), np.zeros(3, np.int64), 1)[0] == -1
