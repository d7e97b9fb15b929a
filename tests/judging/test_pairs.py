"""Pairs of equal keys: none across is lost, however many there are, and repeats cost no n²."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from judged.judging import pairs


@pytest.mark.parametrize("block", [1 << 17, 64])  # small blocks share the work out, too
@pytest.mark.parametrize("keys", [1, 3, 40, 2000])
@pytest.mark.parametrize("seed", range(4))
def test_against_brute_force(
    seed: int, keys: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "_BLOCK", block)
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 2**63, keys, dtype=np.uint64) & ~np.uint64(0xFFFF)
    one, two = (values[draw.integers(0, keys, size)] for size in draw.integers(0, 300, 2))
    left, right = pairs.equal_pairs(pl.Series(one), pl.Series(two, dtype=pl.UInt64))
    found = list(zip(left.tolist(), right.tolist(), strict=True))
    assert len(set(found)) == len(found)
    both = [*one.tolist(), *two.tolist()]
    assert all(both[a] == both[b] and a < b for a, b in found)
    wanted = {
        (a, len(one) + b)
        for a, here in enumerate(one.tolist())
        for b, there in enumerate(two.tolist())
        if here == there
    }
    assert {(a, b) for a, b in found if a < len(one) <= b} == wanted
    places = defaultdict(list)
    for place, key in enumerate(both):
        places[key].append(place)
    shared = {place for group in places.values() if len(group) > 1 for place in group}
    assert {place for pair in found for place in pair} == shared


@pytest.mark.parametrize("crowd", [0, 8, 60])
@pytest.mark.parametrize("size", [0, 1, 2, 300])
@pytest.mark.parametrize("repeats", [0, 1, 50])
@pytest.mark.parametrize("table", [1 << 20, 100])
def test_a_table_of_places_finds_the_same(
    table: int, repeats: int, size: int, crowd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that differ in their lowest bits alone share a slot, and are told apart."""
    monkeypatch.setattr(pairs, "_TABLE", table)
    draw = np.random.default_rng(size + repeats)
    every = draw.choice(1 << 24, 3 * size, replace=False).astype(np.uint64) << np.uint64(
        40 - crowd // 2
    )
    one = np.concatenate([every[: 2 * size], draw.choice(every, min(repeats, size))])
    one = draw.permutation(one)
    two, three = draw.permutation(every[size:]), every[:: max(1, size // 3)]
    keys = [pl.Series(each, dtype=pl.UInt64) for each in (one, two, three)]
    found = list(zip(*(each.tolist() for each in pairs.matching_pairs(*keys)), strict=True))
    assert len(set(found)) == len(found)
    both = np.concatenate([one, two, three]).tolist()
    wanted = {
        (a, b) for a in range(len(one)) for b in range(len(one), len(both)) if both[a] == both[b]
    }
    assert {(a, b) for a, b in found if a < len(one) <= b} == wanted
    inside = [(a, b) for a, b in found if b < len(one)]
    assert all(both[a] == both[b] and a < b for a, b in inside)
    counts = Counter(one.tolist())
    again = {place for place, key in enumerate(one.tolist()) if counts[key] > 1}
    assert {place for pair in inside for place in pair} == again


@pytest.mark.parametrize("pairs_of", [pairs.equal_pairs, pairs.matching_pairs])
def test_repeats_cost_no_square(pairs_of: Callable[..., tuple[Any, Any]]) -> None:
    many = pl.Series(np.zeros(1_000_000, np.uint64))
    left, _ = pairs_of(many, many[:1])
    assert len(left) < 3_000_000
    left, _ = pairs_of(many)
    assert len(left) == 999_999
