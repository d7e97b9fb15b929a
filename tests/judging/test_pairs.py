"""Pairs of equal keys: none across is lost, however many there are, and repeats cost no n²."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import polars as pl
import pytest

from judged.judging import pairs


@pytest.mark.parametrize("block", [1 << 17, 64])
@pytest.mark.parametrize("keys", [1, 3, 40, 2000])
@pytest.mark.parametrize("seed", range(4))
def test_against_brute_force(
    seed: int, keys: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "_BLOCK", block)  # small blocks share the work out, too
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


def test_repeats_cost_no_square() -> None:
    many = pl.Series(np.zeros(1_000_000, np.uint64))
    left, _ = pairs.equal_pairs(many, many[:1])
    assert len(left) < 3_000_000
    left, _ = pairs.equal_pairs(many)
    assert len(left) == 999_999
