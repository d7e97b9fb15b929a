"""The hash join: pairs against brute force, and texts that decide where hashes collide."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from judged.errors import InputError
from judged.matching import join, pool
from judged.rankings.rankings import Rankings
from support.generated import Collection, generate
from support.loops import for_each
from support.slow_judge import as_judged, judge_slowly


@for_each("keys", [1, 3, 40, 2000])
@for_each("seed", range(4))
def test_against_brute_force(seed: int, keys: int) -> None:
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 2**63, keys, dtype=np.uint64) & ~np.uint64(0xFFFF)
    one, two = (values[draw.integers(0, keys, size)] for size in draw.integers(0, 300, 2))
    left, right = join.equal_pairs(pl.Series(one), pl.Series(two, dtype=pl.UInt64))
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


@for_each("crowd", [0, 8, 60])
@for_each("size", [0, 1, 2, 300])
@for_each("repeats", [0, 1, 50])
@for_each("table", [1 << 20, 100])
def test_a_table_of_places_finds_the_same(
    table: int, repeats: int, size: int, crowd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that differ in their lowest bits alone share a slot, and are told apart."""
    monkeypatch.setattr(join, "_MAX_TABLE_ROWS", table)
    draw = np.random.default_rng(size + repeats)
    every = draw.choice(1 << 24, 3 * size, replace=False).astype(np.uint64) << np.uint64(
        40 - crowd // 2
    )
    one = np.concatenate([every[: 2 * size], draw.choice(every, min(repeats, size))])
    one = draw.permutation(one)
    two, three = draw.permutation(every[size:]), every[:: max(1, size // 3)]
    keys = [pl.Series(each, dtype=pl.UInt64) for each in (one, two, three)]
    found = list(zip(*(each.tolist() for each in join.matching_pairs(*keys)), strict=True))
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


@pytest.mark.parametrize("crowd", [0, 30])
@pytest.mark.parametrize("region", [1, 20, 1 << 14])
@pytest.mark.parametrize("seed", range(4))
def test_regions_of_lists(
    seed: int, region: int, crowd: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists in another order than the keys looked for, empty ones, and keys without a list."""
    monkeypatch.setattr(join, "_ROWS_PER_REGION", region)
    draw = np.random.default_rng(seed)
    lengths = draw.integers(0, 15, 30)
    if not seed:
        lengths[:3] = lengths[-3:] = 0
    home = np.repeat(np.arange(30), lengths)
    every = draw.choice(1 << 20, 2000, replace=False).astype(np.uint64) << np.uint64(44 - crowd)
    one, unseen = every[: len(home)], every[len(home) :]
    chosen = draw.permutation(len(one))[: len(one) // 2]
    two = np.concatenate([one[chosen], unseen[:50]])
    two_home = np.concatenate([home[chosen], draw.integers(-1, 30, 50)])
    three, three_home = one[:5], home[:5]
    keys = [pl.Series(each, dtype=pl.UInt64) for each in (one, two, three)]
    left, right = join.matching_pairs(*keys, lengths=lengths, lists=[two_home, three_home])
    found = sorted(zip(left.tolist(), right.tolist(), strict=True))
    across = [(at, len(one) + number) for number, at in enumerate(chosen.tolist())]
    own = [(at, len(one) + len(two) + at) for at in range(5)]
    assert found == sorted(across + own)
    again = np.append(one, one[-1])  # in the last list, twice
    last = int(home[-1])
    lengths[last] += 1
    left, right = join.matching_pairs(pl.Series(again), keys[1], lengths=lengths, lists=[two_home])
    assert (len(one) - 1, len(one)) in zip(left.tolist(), right.tolist(), strict=True)


@pytest.mark.parametrize("pairs_of", [join.equal_pairs, join.matching_pairs])
def test_repeats_cost_no_square(pairs_of: Callable[..., tuple[Any, Any]]) -> None:
    many = pl.Series(np.zeros(1_000_000, np.uint64))
    left, _ = pairs_of(many, many[:1])
    assert len(left) < 3_000_000
    left, _ = pairs_of(many)
    assert len(left) == 999_999


GENERATED = generate(41, queries=12, items=20, longest=20)
# The same items for all queries, so that a clash can have the item right and the query wrong.
GIVEN = Collection(
    {
        query: {item.rpartition("-")[2]: grade for item, grade in grades.items()}
        for query, grades in GENERATED.judgements.items()
    },
    [(query, item.rpartition("-")[2], score) for query, item, score in GENERATED.rows],
)


def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    judgements = [
        (query, item, float(grade))
        for query, grades in GIVEN.judgements.items()
        for item, grade in grades.items()
    ]
    return (
        pl.DataFrame(judgements, schema=["query", "item", "grade"], orient="row"),
        pl.DataFrame(GIVEN.rows, schema=["query", "item", "score"], orient="row"),
    )


@pytest.fixture
def few_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only sixteen different keys for all rows of both tables."""

    def clash(hashed: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def clashing(table: Any) -> Any:
            rows = hashed(table)
            return replace(rows, key=(rows.key & 0xF) * (1 << 59))

        return clashing

    colliding = clash(join.hashed)
    for module in (join, pool):
        monkeypatch.setattr(module, "hashed", colliding)


@pytest.mark.usefixtures("few_keys")
@pytest.mark.parametrize("route", ["frame", "dict"])
def test_the_texts_decide(route: str) -> None:
    judgements, run = frames()
    rankings = Rankings.from_run(judgements if route == "frame" else GIVEN.judgements, run)
    assert as_judged(rankings) == judge_slowly(GIVEN.judgements, GIVEN.rows)


@pytest.mark.usefixtures("few_keys")
def test_a_clash_is_no_duplicate_and_a_duplicate_is_found_in_a_clash() -> None:
    judgements, run = frames()
    with pytest.raises(
        InputError, match=r"^a data frame, rows 1 and \d+: query .* has item .* more than once\. "
    ):
        Rankings.from_run(judgements, pl.concat([run, run[:1]]))
    rankings = Rankings.from_run(
        judgements, pl.concat([run, run[:1]]), policy={"duplicates": "first"}
    )
    assert as_judged(rankings) == judge_slowly(GIVEN.judgements, GIVEN.rows)
