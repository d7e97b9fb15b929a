"""Agreement of orders: against scipy, and against every order of ties."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau, weightedtau

from judged.arrays import Floats
from judged.statistics import order_agreement
from judged.statistics.orders import taus

CASES = 120


def tau_ap(estimate: Floats, truth: Floats) -> float:
    """Yilmaz, Aslam and Robertson (2008), of two orders without ties (ranks)."""
    order = np.argsort(estimate)
    right = [
        sum(truth[order[above]] < truth[order[at]] for above in range(at)) / at
        for at in range(1, len(order))
    ]
    return 2 * sum(right) / (len(order) - 1) - 1


def all_orders(values: Floats) -> Iterator[Floats]:
    """The ranks of each order that ties leave open."""
    for order in permutations(range(len(values))):
        if all(values[high] >= values[low] for high, low in pairwise(order)):
            ranks = np.empty(len(values))
            ranks[list(order)] = range(len(values))
            yield ranks


@pytest.mark.parametrize("kinds", [2, 3, 50])
def test_taus_are_those_of_scipy_and_of_every_order_of_ties(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    compared = 0
    for _ in range(CASES):
        x, y = rng.integers(0, kinds, (2, int(rng.integers(3, 6)))) / 7
        found = order_agreement(x, y)
        if found.note:
            assert min(len(set(x)), len(set(y))) == 1
            continue
        compared += 1
        pairs = [(one, other) for one in all_orders(x) for other in all_orders(y)]
        assert found.tau == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
        assert found.weighted_tau == pytest.approx(weightedtau(x, y).statistic, abs=1e-12)
        assert found.tau_ap == pytest.approx(
            np.mean([tau_ap(other, truth) for truth, other in pairs]), abs=1e-12
        )
        assert found.tau_ap_reversed == pytest.approx(
            np.mean([tau_ap(other, truth) for other, truth in pairs]), abs=1e-12
        )
    assert compared > CASES // 2


def test_many_systems_with_ties_are_those_of_scipy() -> None:
    x, y = np.random.default_rng(7).integers(0, 40, (2, 90)).astype(float)
    found = order_agreement(x, y)
    assert found.tau == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
    assert found.weighted_tau == pytest.approx(weightedtau(x, y).statistic, abs=1e-12)


def test_worked_by_hand() -> None:
    # y has b above a. With x as the truth, the ranks of y are b 1, a 2, c 3: a has none of 1 above
    # it rightly, c both of 2; 2/2 · (0 + 1) − 1 = 0. The other way it is the same.
    found = order_agreement({"a": 3, "b": 2, "c": 1}, {"c": 1, "a": 2, "b": 3})
    assert found.systems == ("a", "b", "c")
    assert found.swaps == (("a", "b"),)
    assert found.tau == pytest.approx(1 / 3)
    assert (found.tau_ap, found.tau_ap_reversed, found.tau_ap_symmetric) == (0, 0, 0)
    assert not found.same
    # A swap at the end costs less: b and c each have 1 right of 1 and of 2 but one.
    late = order_agreement([3, 2, 1], [3, 1, 2])
    assert late.tau_ap == pytest.approx(2 / 2 * (1 + 1 / 2) - 1)
    assert late.weighted_tau > found.weighted_tau


def test_the_same_order_is_1_and_the_reversed_minus_1() -> None:
    values = [0.1, 0.7, 0.3, 0.9, math.inf]
    same, turned = order_agreement(values, values), order_agreement(values, np.negative(values))
    for found, expected in ((same, 1.0), (turned, -1.0)):
        numbers = (found.tau, found.tau_ap, found.tau_ap_reversed, found.weighted_tau)
        assert numbers == pytest.approx((expected,) * 4)
    assert same.same
    assert len(turned.swaps) == turned.pairs == 10


def test_values_equal_but_for_rounding_are_ties() -> None:
    found = order_agreement({"a": 0.1 + 0.2, "b": 0.3, "c": 0.1}, {"a": 0.2, "b": 0.3, "c": 0.1})
    assert found.tied_in_x == (("b", "a"),)
    assert found.tied_in_y == found.swaps == ()
    assert order_agreement([1e-15, 2e-15, 3e-15], [1, 2, 3]).tau == 1  # any unit will do
    assert order_agreement([math.inf, math.inf, 1], [2, 1, 0]).tied_in_x == ((0, 1),)


@pytest.mark.parametrize(
    ("x", "y", "note"),
    [
        ([1, 1, 1], [1, 2, 3], "all systems are tied in x"),
        ([1, 2, 3], [0, 0, 0], "all systems are tied in y"),
        ([1, 1, 1], [0, 0, 0], "all systems are tied in x and in y"),
    ],
)
def test_without_any_order_on_one_side(x: Any, y: Any, note: str) -> None:
    found = order_agreement(x, y)
    assert math.isnan(found.tau)
    assert math.isnan(found.tau_ap_symmetric)
    assert found.note == note
    assert found.to_dict()["weighted_tau"] is None


def test_a_series_is_aligned_by_its_names() -> None:
    x = pd.Series([3.0, 2.0, 1.0], index=["a", "b", "c"])
    assert order_agreement(x, x.sort_values()).same


# -- tau-b of many orders at once


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
