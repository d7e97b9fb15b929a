"""Intervals of numbers over queries: by hand, against scipy, and where there is none."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judged.arrays import Floats
from judged.statistics.bootstrap import bootstrap
from judged.statistics.intervals import Interval, interval, mean_interval, wilson
from judged.statistics.samples import Means, Median, Sample
from judged.statistics.t import half_widths, spread

ALL_SAME = "all queries have the same value, which says nothing of how others would spread"


def ends(found: Interval) -> tuple[float, float]:
    return found.low, found.high


def ratio(columns: Floats, weights: Floats | None = None) -> Means:
    return Means(columns, lambda m: m[..., 0] / m[..., 1], weights=weights)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("size", [2, 3, 40])
def test_means_sums_and_geometric_means_as_scipy_has_them(level: float, size: int) -> None:
    values = np.random.default_rng(size).uniform(0.1, 2, size)

    def student(numbers: Floats) -> Floats:
        return np.array(stats.t.interval(level, size - 1, numbers.mean(), stats.sem(numbers)))

    found = {
        each: interval(Means.of_values(values, each), level=level)
        for each in ("mean", "sum", "geometric")
    }
    assert ends(found["mean"]) == pytest.approx(student(values), rel=1e-7)
    assert ends(found["sum"]) == pytest.approx(size * student(values), rel=1e-7)
    assert ends(found["geometric"]) == pytest.approx(np.exp(student(np.log(values))), rel=1e-7)
    assert {each: one.method for each, one in found.items()} == {
        "mean": "t",
        "sum": "t",
        "geometric": "log t",
    }
    assert found["geometric"].estimate == pytest.approx(stats.gmean(values))
    assert ends(mean_interval(values, level=level)) == ends(found["mean"])
    assert (
        interval(Means.of_values(values, "geometric"), level=level, method="t")
        == (found["geometric"])
    )


def test_a_mean_of_weights_and_groups_is_that_of_its_spread() -> None:
    rng = np.random.default_rng(1)
    values, weights, groups = rng.random(30), rng.uniform(0.5, 2, 30), rng.integers(0, 7, 30)
    by = spread(values[:, None], weights, groups)
    half = half_widths(by, 0.9)[0]
    found = interval(Means.of_values(values, weights=weights), level=0.9, groups=groups)
    assert found.estimate == pytest.approx(np.average(values, weights=weights))
    assert ends(found) == pytest.approx((by.mean[0] - half, by.mean[0] + half))


def test_a_share_has_wilsons_interval() -> None:
    found = interval(Means.of_values(np.ones(10)), range=(0, 1))
    # By hand in test_shares.py.
    assert (found.estimate, found.low, found.high) == pytest.approx((1, 0.722467, 1), abs=1e-6)
    assert (found.method, found.high) == ("wilson", 1.0)
    some = np.array([1.0, 0, 0, 1, 1, 0, 1])
    assert ends(interval(Means.of_values(some))) == pytest.approx(
        tuple(float(end) for end in wilson(4, 7, 0.95))
    )
    none = interval(Means.of_values(np.zeros(4)))
    assert (none.low, none.high) == (0, pytest.approx(1 / (1 + 4 / 1.959963984540054**2), rel=1e-9))


def test_what_is_no_share() -> None:
    some = np.array([1.0, 0, 0, 1, 1, 0, 1])
    # Counts may be more than 1, differences less than 0.
    for range in ((0, math.inf), (-1, 1)):
        assert interval(Means.of_values(some), range=range).method == "t"
    assert interval(Means.of_values(some), method="t").method == "t"
    assert interval(Means.of_values(some, "sum")).method == "t"
    assert interval(Means.of_values(np.array([0.0, 1, 0.5]))).method == "t"
    assert mean_interval(some).method == "t"
    assert mean_interval(some, range=(0, 1)).method == "wilson"


def test_a_share_with_groups() -> None:
    groups = np.repeat(np.arange(5), 4)
    values = np.array([1.0] * 11 + [0] * 9)
    found = interval(Means.of_values(values), groups=groups)
    half = half_widths(spread(values[:, None], groups=groups), 0.95)[0]
    assert found.method == "t"
    assert ends(found) == pytest.approx((values.mean() - half, values.mean() + half))
    # No group differs: five groups are five successes of five.
    alike = interval(Means.of_values(np.ones(20)), groups=groups)
    assert alike.method == "wilson"
    assert ends(alike) == pytest.approx(tuple(float(end) for end in wilson(5, 5, 0.95)))
    halves = interval(Means.of_values(np.tile([0.0, 1], 10)), groups=groups)
    assert ends(halves) == pytest.approx(tuple(float(end) for end in wilson(2.5, 5, 0.95)))


def covered(size: int, k: int) -> float:
    """How often the median lies between the k-th smallest and the k-th largest of so many."""
    return 1 - sum(math.comb(size, below) for below in range(k)) / 2 ** (size - 1)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.9375, 0.95, 0.999])
def test_medians_have_the_narrowest_order_statistics_that_keep_the_level(level: float) -> None:
    for size in range(1, 60):
        values = np.random.default_rng(size).permutation(np.arange(1.0, size + 1))
        found = interval(Median.of_values(values), level=level)
        kept = [k for k in range(1, (size + 1) // 2 + 1) if covered(size, k) >= level]
        if size == 1:
            assert found.note == "one query alone says nothing of how others would spread"
        elif kept:
            assert ends(found) == (max(kept), size + 1 - max(kept))
            assert (found.method, found.note) == ("order", "")
        else:
            assert math.isnan(found.low)
            needed = next(n for n in range(size, 99) if covered(n, 1) >= level)
            assert found.note == (
                f"{size} queries are too few for a {100 * level:g} % interval of a median, which "
                f"takes {needed}"
            )


def test_infinite_medians() -> None:
    values = np.array([1.0, 2, 2, 3, 9, math.inf, math.inf, math.inf])
    # Of 8 the least and the greatest: 1 − 2/2⁸·1 = 0.992; one further in: 1 − 2·9/2⁸ = 0.93.
    found = interval(Median.of_values(values), range=(1, math.inf))
    assert (found.estimate, found.low, found.high) == (6.0, 1.0, math.inf)
    assert found.said() == "6.0000 [1.0000, ∞]"
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain == {"estimate": 6.0, "low": 1.0, "high": "Infinity", "method": "order"}
    assert Interval.from_dict(plain) == found
    everything = interval(Median.of_values(np.full(9, math.inf)))
    assert (everything.low, everything.high) == (math.inf, math.inf)


@pytest.mark.parametrize(
    ("sample", "note"),
    [
        (Means.of_values(np.full(5, 0.1)), ALL_SAME),
        (Means.of_values(np.full(5, 0.1), "sum"), ALL_SAME),
        (Means.of_values(np.zeros(5), "geometric"), ALL_SAME),
        (Means.of_values(np.array([0.3 - 0.2, 0.2 - 0.1])), ALL_SAME),
        (Means.of_values(np.full(3, 2.0), weights=np.array([0.1, 0.1, 0.1])), ALL_SAME),
        (
            Means.of_values(np.array([0.5])),
            "one query alone says nothing of how others would spread",
        ),
        (
            Means.of_values(np.array([1.0])),
            "one query alone says nothing of how others would spread",
        ),
        (
            Means.of_values(np.array([0.5, math.inf])),
            "values that are not finite have no mean to make an interval of",
        ),
        (Means.of_values(np.empty(0)), "no query counts"),
        (Median.of_values(np.empty(0)), "no query counts"),
    ],
)
def test_nothing_to_go_by(sample: Sample, note: str) -> None:
    found = interval(sample, range=(0, math.inf))
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert not found.known
    assert found.note == note
    assert found.to_dict()["note"] == note
    assert repr(Interval.from_dict(found.to_dict())) == repr(found)


def test_groups_without_spread() -> None:
    values = Means.of_values(np.array([0.1, 0.3, 0.3, 0.1]))
    found = interval(values, groups=np.array([0, 0, 1, 1]))
    assert found.note == (
        "all groups have the same value, which says nothing of how others would spread"
    )
    one = interval(values, groups=np.array([3, 3, 3, 3]))
    assert one.note == "one group alone says nothing of how others would spread"


def test_an_error_of_the_number_itself_is_added() -> None:
    values = np.random.default_rng(2).uniform(0.2, 1, 20)
    own = stats.sem(values)
    plain = interval(Means.of_values(values))
    # Equal variances: 19 degrees of freedom become 4·19 = 76, and the error √2 times as much.
    half = stats.t.ppf(0.975, 76) * own * math.sqrt(2)
    assert interval(Means.of_values(values), error=own).high == pytest.approx(
        plain.estimate + half, rel=1e-7
    )
    assert interval(Means.of_values(values, "sum"), error=20 * own).high == pytest.approx(
        20 * (plain.estimate + half), rel=1e-7
    )
    logs = stats.sem(np.log(values))
    geometric = Means.of_values(values, "geometric")
    log_half = stats.t.ppf(0.975, 76) * logs * math.sqrt(2)
    assert interval(geometric, error=logs * geometric.value()).high == pytest.approx(
        geometric.value() * math.exp(log_half), rel=1e-7
    )
    # Other methods: 3 and 4 make 5.
    share = Means.of_values(np.array([1.0, 0, 0, 1, 1, 0]))
    without = interval(share)
    added = (without.high - 0.5) * 4 / 3 / 1.959963984540054
    assert interval(share, error=added).high == pytest.approx(0.5 + (without.high - 0.5) * 5 / 3)
    infinite = Median.of_values(np.r_[np.arange(9.0), np.full(8, math.inf)])
    assert interval(infinite, error=0.1).high == math.inf


PAIRS = np.random.default_rng(4).uniform(0.2, 1, (12, 2))
POOLED = Median(np.arange(20.0), np.repeat(np.arange(10), 2), 10)
RANKS = np.array([1.0, 2, 2, 3, 5, 9, 9, 20, 31, 50])


@pytest.mark.parametrize(
    ("sample", "grouped", "asked", "method"),
    [
        (ratio(PAIRS), False, None, "bca"),
        (ratio(PAIRS, np.arange(1.0, 13)), False, "percentile", "percentile"),
        (ratio(PAIRS), True, None, "bca"),
        (POOLED, False, None, "percentile"),
        (Median.of_values(RANKS), False, "percentile", "percentile"),
        (Median.of_values(RANKS), True, None, "percentile"),
        (Median.of_values(RANKS, np.arange(1.0, 11)), False, None, "percentile"),
        (Means.of_values(PAIRS[:, 0]), False, "bca", "bca"),
        (Means.of_values(PAIRS[:, 0], "sum"), False, "percentile", "percentile"),
        (Means.of_values(PAIRS[:, 0], "geometric"), True, "bca", "bca"),
    ],
)
def test_the_bootstrap(sample: Sample, grouped: bool, asked: str | None, method: str) -> None:
    groups = np.arange(len(sample)) // 2 if grouped else None
    given: dict[str, Any] = {"resamples": 999, "seed": 7}
    found = interval(sample, level=0.9, method=asked, groups=groups, **given)
    tested = bootstrap([(sample,)], groups, levels=(0.9,), method=method, **given)
    low, high = tested.low, tested.high
    assert (found.method, found.estimate) == (method, sample.value())
    assert ends(found) == (low[0, 0], high[0, 0])
    assert found.low < found.estimate < found.high
    middle = (found.low + found.estimate) / 2
    cut = interval(sample, level=0.9, method=asked, groups=groups, range=(middle, 99), **given)
    assert ends(cut) == (middle, found.high)
    wide = interval(sample, level=0.9, method=asked, groups=groups, error=0.1, **given)
    away = found.high - found.estimate
    assert wide.high - found.estimate == pytest.approx(math.hypot(away, 0.1 * 1.6448536269514722))


def test_resamples_that_are_all_the_same() -> None:
    note = "all resamples give the same value, which says nothing of how others would spread"
    same = ratio(np.full((9, 2), 0.1))
    assert interval(same).note == note
    assert interval(Means.of_values(np.full(9, 0.1)), method="bca").note == note
    # Values differ, and the number that is made of them does not.
    assert interval(ratio(np.repeat(PAIRS[:, :1], 2, axis=1)), resamples=999).note == note


@given(st.integers(0, 10**6), st.integers(6, 40))
def test_laws(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, size) / 4
    values[:2] = 0.25, 0.75
    samples = [Means.of_values(values, each) for each in ("mean", "sum", "geometric")]
    for sample in (*samples, Median.of_values(values)):
        nested = [interval(sample, level=level) for level in (0.5, 0.8, 0.9, 0.95)]
        assert all(each.low <= each.estimate <= each.high for each in nested)
        assert all(one.low >= other.low for one, other in pairwise(nested))
        assert all(one.high <= other.high for one, other in pairwise(nested))
        shuffled = interval(sample.take(rng.permutation(size)), level=0.95)
        assert ends(shuffled) == pytest.approx(ends(nested[-1]))
        if isinstance(sample, Means):
            ungrouped = interval(sample, level=0.95, groups=rng.permutation(size))
            assert ends(ungrouped) == pytest.approx(ends(nested[-1]))


def test_uneven_units_have_no_bca() -> None:
    """Of weights and of groups; where all weigh the same, BCa stays."""
    columns = np.random.default_rng(2).random((60, 2))
    weights = 1 / np.arange(1.0, 61)
    uneven = np.repeat(np.arange(21), [20] + [2] * 20)
    even = np.repeat(np.arange(20), 3)

    def method(weights: Any = None, groups: Any = None, asked: str | None = None) -> str | None:
        sample = Means(columns, lambda means: means[..., 0] / means[..., 1], weights=weights)
        return interval(sample, groups=groups, method=asked, resamples=199).method

    assert method(weights) == method(groups=uneven) == method(weights, asked="bca") == "percentile"
    assert method() == method(groups=even) == method(np.full(60, 2.0)) == "bca"


def test_a_constant_median_has_a_point_for_interval() -> None:
    """Of six units or more, as the exact interval needs them."""
    weights = np.linspace(1.0, 2.0, 8)
    groups = np.repeat(np.arange(8), 2)
    for size, own, units in ((8, None, None), (8, weights, None), (16, None, groups)):
        sample = Median.of_values(np.full(size, 3.0), weights=own)
        found = interval(sample, groups=units, resamples=199)
        assert (found.low, found.high, found.note) == (3.0, 3.0, "")
    pairs = np.repeat(np.arange(2), 4)
    assert not interval(Median.of_values(np.full(5, 3.0))).known
    assert not interval(Median.of_values(np.full(8, 3.0)), groups=pairs, resamples=199).known


def test_too_uneven_weights_leave_no_interval_of_a_mean() -> None:
    values = np.random.default_rng(9).random(40)
    weights = np.r_[1000.0, np.ones(39)]
    for aggregate in ("mean", "geometric"):
        found = interval(Means.of_values(values, aggregate, weights))
        assert not found.known
        # (1000 + 39)² / (1000² + 39)
        assert found.note == (
            "40 queries count as 1.1 of equal weight (Kish), too few for a 95 % interval, which "
            "takes 6"
        )
    assert interval(Means.of_values(values[:3])).known
