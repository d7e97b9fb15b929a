"""Corrections for many comparisons, by hand and against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest

from judged.statistics.ranks import corrected

P = np.array([0.01, 0.04, 0.03, 0.005])


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        # In order: 0.005·4 = 0.02, 0.01·3 = 0.03, 0.03·2 = 0.06, 0.04·1 = 0.04, which is not less
        # than the one before it: 0.06.
        ("holm", [0.03, 0.06, 0.06, 0.02]),
        ("bonferroni", [0.04, 0.16, 0.12, 0.02]),
        # 0.005·4/1 = 0.02, 0.01·4/2 = 0.02, 0.03·4/3 = 0.04, 0.04·4/4 = 0.04.
        ("bh", [0.02, 0.04, 0.04, 0.02]),
        ("none", [0.01, 0.04, 0.03, 0.005]),
    ],
)
def test_by_hand(correction: str, expected: list[float]) -> None:
    assert corrected(P, correction) == pytest.approx(expected, rel=1e-12)
    with_gaps = corrected(np.array([0.01, np.nan, 0.04, 0.03, np.nan, 0.005]), correction)
    assert with_gaps[[0, 2, 3, 5]] == pytest.approx(expected, rel=1e-12)
    assert np.isnan(with_gaps[[1, 4]]).all()


METHODS = {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}


@pytest.mark.full
@pytest.mark.parametrize("correction", METHODS)
@pytest.mark.parametrize("size", [1, 2, 5, 136])
def test_as_statsmodels_has_them(correction: str, size: int) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    rng = np.random.default_rng(size)
    for p in (rng.random(size), rng.random(size) ** 8, rng.integers(1, 5, size) / 20):
        expected = multitest.multipletests(p, method=METHODS[correction])[1]
        assert corrected(p, correction) == pytest.approx(expected, rel=1e-12)
