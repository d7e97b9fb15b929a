"""What a t test can see, against statsmodels and the noncentral t."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judged.statistics.power import detectable, t_power
from judged.statistics.t import t_quantile
from support.loops import for_each


def power_of(difference: float, error: float, freedom: float, level: float, sides: int) -> float:
    critical = stats.t.ppf(1 - (1 - level) / sides, freedom)
    beyond = stats.nct.sf(critical, freedom, difference / error)
    if sides == 1 or difference / error > 8:
        return float(beyond)
    return float(beyond + stats.nct.cdf(-critical, freedom, difference / error))


@for_each("sides", [1, 2])
@for_each("freedom", [1, 2, 9, 49, 299, 6999, 3.37])
@for_each(("level", "power"), [(0.95, 0.8), (0.9, 0.95), (0.99, 0.5), (0.999, 0.9)])
def test_found_with_that_power(sides: int, freedom: float, level: float, power: float) -> None:
    found = detectable(0.02, freedom, level=level, power=power, sides=sides)
    # scipy 1.11 knows the noncentral t of few degrees of freedom to five digits only.
    close = 5e-5 if freedom < 9 else 1e-7
    assert power_of(float(found), 0.02, freedom, level, sides) == pytest.approx(power, abs=close)


@pytest.mark.parametrize("size", [3, 10, 50, 300])
@pytest.mark.parametrize(("sides", "alternative"), [(2, "two-sided"), (1, "larger")])
def test_as_statsmodels_has_it(size: int, sides: int, alternative: str) -> None:
    oracle = pytest.importorskip("statsmodels.stats.power").TTestPower()
    effect = float(detectable(1 / np.sqrt(size), size - 1, sides=sides))
    # What it solves for is close to 1e-6 only, so what was found is put in.
    found = oracle.power(effect, size, 0.05, alternative=alternative)
    assert found == pytest.approx(0.8, abs=1e-7)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
@pytest.mark.parametrize("sides", [1, 2])
def test_power_is_known_everywhere_and_grows(level: float, sides: int) -> None:
    freedoms = np.array([1, 1.5, 2, 3, 5, 10, 50, 300, 1e4, 1e7, 1e12, np.inf])
    criticals = t_quantile(freedoms, 1 - (1 - level) / sides)
    distances = np.r_[np.linspace(0, 40, 41), np.geomspace(50, 1000, 10)].tolist()
    for freedom, critical in zip(freedoms.tolist(), criticals.tolist(), strict=True):
        found = np.array([t_power(each, freedom, critical, sides) for each in distances])
        assert found[0] == pytest.approx(1 - level, abs=1e-9)
        assert (np.diff(found) > -1e-9).all()
        assert (found <= 1 + 1e-9).all()


def test_with_infinitely_many_degrees_of_freedom_it_is_the_normal() -> None:
    # 1.959964 + 0.841621, and a little less for the other side
    assert float(detectable(1.0, np.inf)) == pytest.approx(2.8015, abs=1e-4)
