"""Tails and quantiles of Student's t."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from judged.statistics.power import t_power
from judged.statistics.t import normal_quantile, t_quantile, t_tail

FREEDOMS = [0.7, 1, 1.5, 2, 3, 5.5, 10, 29, 49, 61, 299, 999, 6999, 50_000, 1e6, np.inf]


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_tails(freedom: float) -> None:
    away = np.concatenate([[0.0], np.logspace(-8, 2.5, 200), [1e10, 1e200]])
    found = t_tail(away, np.full(len(away), freedom))
    expected = special.ndtr(-away) if math.isinf(freedom) else special.stdtr(freedom, -away)
    seen = expected > 1e-290
    # Near the middle scipy has fewer digits: there it is 1/2 - t times the density at 0.
    far = seen & (away > 0.01)
    assert found[far] == pytest.approx(expected[far], rel=1e-10)
    assert found[seen] == pytest.approx(expected[seen], rel=1e-8)
    assert (np.diff(found) <= 0).all()


@pytest.mark.parametrize("share", [0.5001, 0.75, 0.9, 0.975, 0.995, 1 - 1e-9])
def test_quantiles(share: float) -> None:
    found = t_quantile(np.array(FREEDOMS), share)
    back = t_tail(found, np.array(FREEDOMS))
    assert back == pytest.approx(1 - share, rel=1e-7)
    # Releases of scipy before 1.12 find it to some eight digits only.
    assert found == pytest.approx(stats.t.isf(1 - share, FREEDOMS), rel=1e-7)
    assert normal_quantile(share) == pytest.approx(special.ndtri(share), rel=1e-12)


def test_power_without_an_effect_is_the_share_of_false_alarms() -> None:
    for freedom in (1.0, 3.3, 20.0, 1e4, np.inf):
        critical = float(t_quantile(np.array([freedom]), 0.975)[0])
        assert t_power(0.0, freedom, critical) == pytest.approx(0.05, abs=1e-11)
        assert t_power(0.0, freedom, critical, sides=1) == pytest.approx(0.025, abs=1e-11)
