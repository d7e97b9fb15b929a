"""Overlap against every order of ties, against scipy, and by every way in."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

import judged
import judged.runs.fusion as fusion
import judged.runs.overlap as overlap_module
from judged.errors import JudgedWarning
from support.errors import error_of

Scores = dict[str, float]


def all_orders(scores: Scores) -> Iterator[list[str]]:
    """The lists that ties leave open."""
    levels = sorted(set(scores.values()), reverse=True)
    ties = [[item for item, score in scores.items() if score == level] for level in levels]
    for order in product(*(permutations(tie) for tie in ties)):
        yield [item for tie in order for item in tie]


def by_hand(one: Sequence[str], other: Sequence[str], p: float) -> list[float]:
    """RBO (Webber, Moffat and Zobel 2010, equation 32), least, residual, Jaccard and shared items
    of two lists without ties; bounds by adding up 300 depths with what may follow."""
    short, long = sorted((one, other), key=len)
    s, k = len(short), len(long)
    x = [len(set(short[:d]) & set(long[:d])) for d in range(k + 1)]
    seen = sum(x[d] / d * p**d for d in range(1, k + 1))
    seen += sum(x[s] * (d - s) / (s * d) * p**d for d in range(s + 1, k + 1))
    rbo = (1 - p) / p * seen + ((x[k] - x[s]) / k + x[s] / s) * p**k

    def most(d: int) -> int:
        return x[d] + max(d - s, 0) if d <= k else min(d, x[k] + 2 * d - s - k)

    depths = range(1, 300)
    least = (1 - p) * sum(x[min(d, k)] / d * p ** (d - 1) for d in depths)
    highest = (1 - p) * sum(most(d) / d * p ** (d - 1) for d in depths) + p**299
    return [rbo, least, highest - least, x[k] / (s + k - x[k]), x[k]]


def random_list(rng: np.random.Generator, kinds: int) -> Scores:
    items = rng.permutation(list("abcdefgh"))[: rng.integers(1, 6)]
    return {str(item): float(rng.integers(0, kinds)) for item in items}


@pytest.mark.parametrize("kinds", [2, 3, 1000])
def test_it_is_the_mean_over_all_orders_of_ties(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    p = 0.8
    runs: dict[str, dict[str, Scores]] = {
        name: {f"q{at}": random_list(rng, kinds) for at in range(25)} for name in ("one", "two")
    }
    for depth in (None, 2):
        found = judged.overlap(runs, p=p, policy={"depth": depth}).pair().numbers
        for at in range(25):
            one, two = (runs[name][f"q{at}"] for name in ("one", "two"))
            lists = product(all_orders(one), all_orders(two))
            every = np.array([by_hand(a[:depth], b[:depth], p) for a, b in lists])
            rbo, least, residual, jaccard, shared = every.mean(axis=0)
            assert found["rbo"][at] == pytest.approx(rbo, abs=1e-12)
            assert found["least"][at] == pytest.approx(least, abs=1e-12)
            assert found["shared"][at] == pytest.approx(shared, abs=1e-12)
            if depth is None:
                assert found["residual"][at] == pytest.approx(residual, abs=1e-12)
                assert found["jaccard"][at] == pytest.approx(jaccard, abs=1e-12)
            else:  # those of the mean number of shared items, as the definition says
                sizes = min(len(one), depth) + min(len(two), depth)
                assert found["jaccard"][at] == pytest.approx(shared / (sizes - shared), abs=1e-12)
                assert found["residual"][at] >= residual - 1e-12
            assert least - 1e-12 <= found["rbo"][at] <= least + found["residual"][at] + 1e-12


@pytest.mark.parametrize("p", [0.5, 0.9, 0.99, 0.9999])
def test_long_lists_with_ties_lose_no_digits(p: float) -> None:
    """A slow twin: the expected overlap at every depth, added up exactly."""
    n = 400
    ranks = np.arange(n)
    scores = [-(ranks // 2), -((ranks + 1) // 2)]
    runs = {
        name: {"q": {f"d{at}": float(score) for at, score in enumerate(own)}}
        for name, own in zip(("one", "two"), scores, strict=True)
    }
    depth = np.arange(1, n + 1)[:, None]
    chance = []
    for own in scores:
        above = (own[None, :] > own[:, None]).sum(axis=1)
        size = (own[None, :] == own[:, None]).sum(axis=1)
        chance.append(np.clip((depth - above) / size, 0, 1))
    overlap = (chance[0] * chance[1]).sum(axis=1)
    terms = (1 - p) * overlap / depth[:, 0] * p ** (depth[:, 0] - 1.0)
    expected = math.fsum(terms) + overlap[-1] / n * p**n
    assert judged.overlap(runs, p=p).pair().rbo.estimate == pytest.approx(expected, abs=1e-12)


def test_worked_by_hand() -> None:
    # Overlaps 1, 1, 2 of "a b c" and "a c d": 0.1·(1 + 0.9/2 + 0.81·2/3) + 0.729·2/3 = 0.685.
    found = judged.overlap({"one": {"q": ["a", "b", "c"]}, "two": {"q": ["a", "c", "d"]}})
    assert found.pair().rbo.estimate == pytest.approx(0.685)
    assert found.pair().jaccard.estimate == pytest.approx(2 / 4)
    assert found.pair().tau.estimate == 1


def test_identical_and_disjoint_lists() -> None:
    same = {"q": list("abcdefg")}
    equal = judged.overlap({"one": same, "two": same}).pair()
    apart = judged.overlap({"one": same, "two": {"q": list("hijk")}}).pair()
    assert (equal.rbo.estimate, equal.jaccard.estimate, equal.tau.estimate) == (1, 1, 1)
    assert (apart.rbo.estimate, apart.least.estimate, apart.jaccard.estimate) == (0, 0, 0)
    assert math.isnan(apart.tau.estimate)
    assert apart.tau.note == "no query has two shared items that are not tied"
    # Nothing is known of the order within a tie, so a tied list does not agree with itself.
    tied = {"q": {"a": 1.0, "b": 1.0}}
    assert judged.overlap({"one": tied, "two": tied}).pair().rbo.estimate == pytest.approx(0.95)


def test_tau_is_that_of_scipy() -> None:
    rng = np.random.default_rng(11)
    runs = {
        name: {
            f"q{q}": {f"d{at}": float(rng.integers(0, 25)) for at in rng.permutation(60)[:45]}
            for q in range(6)
        }
        for name in ("one", "two")
    }
    found = judged.overlap(runs).pair()
    for at, query in enumerate(found.queries):
        one, two = (runs[name][query] for name in ("one", "two"))
        shared = sorted(set(one) & set(two))
        expected = kendalltau([one[item] for item in shared], [two[item] for item in shared])
        assert found.numbers["tau"][at] == pytest.approx(expected.statistic, abs=1e-12)


def test_queries_of_one_run_only_are_named_and_left_out() -> None:
    runs: dict[str, Any] = {
        "one": {"q1": ["a", "b"], "q2": ["a"], "q3": []},
        "two": {"q1": ["a", "c"], "q4": ["a"], "q3": ["x"]},
    }
    said = (
        "one and two are compared on the 1 query for which both have results. Left out: 1 query "
        "only in one (q2), 2 queries only in two (q4, q3)."
    )
    with pytest.warns(JudgedWarning, match="Left out") as caught:
        found = judged.overlap(runs)
    assert [str(each.message) for each in caught] == [said]
    assert found.warnings() == [said]
    assert found.pair().queries == ("q1",)
    assert (found.pair().only_in_run, found.pair().only_in_against) == (("q2",), ("q4", "q3"))
    assert found.pair().rbo.note  # one query has no interval
    assert not found.pair().rbo.known


def test_all_pairs_of_runs_have_intervals_by_t() -> None:
    rng = np.random.default_rng(9)
    runs = {name: {f"q{q}": random_list(rng, 9) for q in range(8)} for name in ("a", "b", "c")}
    found = judged.overlap(runs, level=0.9)
    assert [(each.run, each.against) for each in found.pairs] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    from scipy.stats import t

    values = found.pair("c", "a").numbers["shared"]
    half = t.ppf(0.95, 7) * values.std(ddof=1) / math.sqrt(8)
    of = found.pair("a", "c").shared
    assert (of.low, of.high) == pytest.approx((values.mean() - half, values.mean() + half))


def test_pairs_do_not_depend_on_other_runs_nor_on_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    runs = {name: {f"q{q}": random_list(rng, 3) for q in range(20)} for name in "abcd"}
    together = judged.overlap(runs, policy={"depth": 3}).to_dict(per_query=True)["pairs"]
    # All keys alike: every pair of items is compared by its text.
    monkeypatch.setattr(fusion, "equal_pairs", lambda key: (np.array([0]), np.array([1])))
    alone = [
        judged.overlap({one: runs[one], other: runs[other]}, policy={"depth": 3})
        for one, other in combinations(runs, 2)
    ]
    assert together == [found.to_dict(per_query=True)["pairs"][0] for found in alone]
    monkeypatch.setattr(overlap_module, "ROWS_PER_BLOCK", 1)
    monkeypatch.setattr(overlap_module, "MAX_SENTENCES", 2)
    found = judged.overlap(runs, policy={"depth": 3})
    assert found.to_dict(per_query=True)["pairs"] == together
    assert found.to_text().startswith("RBO of 6 pairs of runs: lowest ")


def test_exports(tmp_path: Path) -> None:
    runs = {"one": {"q1": ["a", "b"], "q2": ["a", "b"]}, "two": {"q1": ["b", "a"], "q2": ["a"]}}
    found = judged.overlap(runs, policy={"depth": 2})
    assert found.to_text().splitlines()[2] == (
        "run  against  queries     RBO  95 % CI          Jaccard@2  shared    tau-b"
    )
    assert "Jaccard@2" in found.to_markdown(per_query=True)
    assert found.to_csv(per_query=True).splitlines()[2].endswith(",0.5,1.0,")
    found.save(tmp_path / "o.json", per_query=True)
    told = json.loads((tmp_path / "o.json").read_text("utf-8"))
    assert told["pairs"][0]["per_query"]["q2"]["tau"] is None
    assert "cut at rank 2" in told["definition"]
    found.save(tmp_path / "o.parquet")
    assert pl.read_parquet(tmp_path / "o.parquet")["tau_queries"].to_list() == [1]


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        (
            {"one": {"q": ["a"]}},
            {},
            "overlap needs at least two runs, as {name: run} or a list of files; got one.",
        ),
        (
            {"one": {"q": ["a"]}, "two": {"r": ["a"]}},
            {},
            "one and two have no query in common. The first has 'q'; the second has 'r'. Are they "
            "runs of the same queries?",
        ),
        (None, {"p": 0}, "p must be a number between 0 and 1, such as 0.9; got 0."),
        (None, {"p": "x"}, "p must be a number between 0 and 1, such as 0.9; got 'x'."),
    ],
)
def test_what_is_refused(runs: Any, options: dict[str, Any], message: str) -> None:
    given = runs or {"one": {"q": ["a"]}, "two": {"q": ["a"]}}
    assert error_of(judged.overlap, given, **options) == message


def test_which_pair() -> None:
    found = judged.overlap({name: {"q": ["a", name]} for name in ("x", "y", "z")})
    for names in (("x",), ("x", "x")):
        assert error_of(found.pair, *names) == "name two of the runs: x and y, x and z, y and z."
    assert error_of(found.pair, "w", "x") == "unknown run 'w'; the runs are x, y and z."


def test_duplicates_first_and_infinite_scores() -> None:
    runs: dict[str, Any] = {
        "one": {"q": ["a", "b", "a"]},
        "two": {"q": {"a": math.inf, "b": -math.inf}},
    }
    assert judged.overlap(
        runs, policy={"duplicates": "first"}
    ).pair().rbo.estimate == pytest.approx(1)


@pytest.mark.parametrize("p", [1e-300, 0.001, 1 - 1e-9])
def test_extreme_persistence(p: float) -> None:
    runs = {"one": {"q": ["a", "b", "c"]}, "two": {"q": ["b", "a", "d"]}}
    found = judged.overlap(runs, p=p).pair()
    assert found.rbo.estimate == pytest.approx(0 if p < 0.01 else 2 / 3, abs=0.001)
    assert found.least.estimate <= found.rbo.estimate
    assert found.rbo.estimate <= found.least.estimate + found.residual.estimate + 1e-12
