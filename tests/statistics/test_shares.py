"""Intervals of shares, by hand and against statsmodels and the binomial."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judged.statistics.intervals import clopper_pearson, wilson


def test_wilson_10_of_10_by_hand() -> None:
    # z² = 3.841459; centre (1 + 3.841459/20)/(1 + 3.841459/10) = 1.192073/1.384146, half
    # √(3.841459²/400)/1.384146 = 0.192073/1.384146: from 1/1.384146 = 0.722467 to 1.
    low, high = wilson(10, 10, 0.95)
    assert float(low) == pytest.approx(0.722467, abs=1e-6)
    assert float(high) == 1.0
    assert float(wilson(0, 10, 0.95)[0]) == 0.0
    assert float(wilson(0, 10, 0.95)[1]) == pytest.approx(1 - float(low), rel=1e-12)


def test_clopper_pearson_by_hand() -> None:
    # 10 of 10: the share whose tenth power is 0.025, and 0.05 where the end stands alone.
    assert float(clopper_pearson(10, 10, 0.95)[0]) == pytest.approx(0.025**0.1, rel=1e-9)
    alone = clopper_pearson(10, 10, 0.95, one_sided=True)
    assert [float(end) for end in alone] == pytest.approx([0.05**0.1, 1.0], rel=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("size", [1, 2, 7, 300])
def test_as_statsmodels_has_them(size: int, level: float) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    successes = np.arange(size + 1)
    for ours, name in ((wilson, "wilson"), (clopper_pearson, "beta")):
        expected = proportion.proportion_confint(successes, size, 1 - level, method=name)
        for found, end in zip(ours(successes, size, level), expected, strict=True):
            assert found == pytest.approx(np.clip(end, 0, 1), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("size", [1, 8, 50])
def test_clopper_pearson_inverts_the_binomial(size: int) -> None:
    successes = np.arange(size + 1)
    low, high = clopper_pearson(successes, size, 0.9, one_sided=True)
    inner = successes[1:]
    assert stats.binom.sf(inner - 1, size, low[1:]) == pytest.approx(0.1, rel=1e-7)
    assert stats.binom.cdf(successes[:-1], size, high[:-1]) == pytest.approx(0.1, rel=1e-7)


@pytest.mark.parametrize("ends", [wilson, clopper_pearson])
def test_failures_mirror_successes_and_no_end_leaves_0_to_1(ends: object) -> None:
    successes, size = np.arange(41) / 2, np.full(41, 20.0)
    low, high = ends(successes, size, 0.95)  # type: ignore[operator]
    other_low, other_high = ends(size - successes, size, 0.95)  # type: ignore[operator]
    assert low == pytest.approx(1 - other_high, abs=1e-12)
    assert high == pytest.approx(1 - other_low, abs=1e-12)
    share = successes / size
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low <= share).all()
    assert (share <= high).all()
    assert (high - low > 0.1).all()
