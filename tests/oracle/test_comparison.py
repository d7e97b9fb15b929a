"""Comparisons end to end against scipy, statsmodels, ranx, published examples and brute force."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import judged
from judged.arrays import Floats
from judged.comparison.verdicts import Pair
from support.loops import for_each

pytestmark = pytest.mark.usefixtures("few_resamples")

stats = pytest.importorskip("scipy.stats")
multitest = pytest.importorskip("statsmodels.stats.multitest")
weightstats = pytest.importorskip("statsmodels.stats.weightstats")
power = pytest.importorskip("statsmodels.stats.power")

CLOSE = {"rel": 1e-9, "abs": 1e-12}


def given(*columns: Any) -> dict[str, dict[str, float]]:
    return {
        f"run {at}": {f"q{query:03}": float(value) for query, value in enumerate(column)}
        for at, column in enumerate(columns)
    }


def values(seed: int, runs: int = 2, size: int = 30) -> list[Floats]:
    """Of continuous values with an even seed, of tied ones in steps with an odd one."""
    rng = np.random.default_rng(seed)
    base = rng.beta(0.7, 0.9, size)
    found = [np.clip(base + rng.normal(0.03 * at, 0.2, size), 0, 1) for at in range(runs)]
    return [np.round(each * 5) / 5 for each in found] if seed % 2 else found


def pair_of(a: Any, b: Any, **options: Any) -> Pair:
    return judged.compare_values(given(a, b), **options).pair()


@for_each("level", [0.9, 0.95, 0.99])
@for_each("seed", range(8))
def test_t_is_that_of_scipy(seed: int, level: float) -> None:
    a, b = values(seed)
    pair = pair_of(a, b, level=level)
    found = stats.ttest_rel(b, a)
    ends = found.confidence_interval(level)
    assert pair.p == pytest.approx(found.pvalue, **CLOSE)
    assert [pair.interval.low, pair.interval.high] == pytest.approx([*ends], **CLOSE)
    assert pair.difference == pytest.approx(np.mean(b - a), **CLOSE)
    assert pair.effect == pytest.approx(np.mean(b - a) / np.std(b - a, ddof=1), **CLOSE)
    size = np.abs(power.TTestPower().solve_power(nobs=len(a), alpha=1 - level, power=0.8))
    assert pair.detectable == pytest.approx(size * np.std(b - a, ddof=1), rel=1e-6)
    assert power.TTestPower().power(
        pair.detectable / np.std(b - a, ddof=1), len(a), 1 - level
    ) == pytest.approx(0.8, rel=1e-9)


@for_each("seed", range(4))
def test_geometric_means_are_t_of_logarithms(seed: int) -> None:
    a, b = (np.maximum(each, 0.01) for each in values(seed))
    name = "AP(aggregate=geometric)"
    runs = {run: {name: own} for run, own in given(a, b).items()}
    pair = judged.compare_values(runs).pair()
    assert pair.p == pytest.approx(stats.ttest_rel(np.log(b), np.log(a)).pvalue, **CLOSE)
    assert pair.value == pytest.approx(stats.gmean(b), **CLOSE)
    ratios = np.exp(stats.ttest_rel(np.log(b), np.log(a)).confidence_interval(0.95))
    middle = math.sqrt(stats.gmean(a) * stats.gmean(b))
    ends = [middle * (math.sqrt(ratio) - 1 / math.sqrt(ratio)) for ratio in ratios]
    assert [pair.interval.low, pair.interval.high] == pytest.approx(ends, **CLOSE)


@for_each("seed", range(8))
@for_each("margin", [0.05, 0.1, 0.3])
def test_equivalence_is_that_of_two_one_sided_tests(seed: int, margin: float) -> None:
    a, b = values(seed, size=60)
    pair = pair_of(a, b, margin=margin)
    p, _, _ = weightstats.ttost_paired(b, a, -margin, margin)
    assert (pair.verdict == "equivalent" or pair.negligible) == (p < 0.05)


def collection(seed: int, queries: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    items = [f"d{at}" for at in range(20)]
    qrels = {
        f"q{q:02}": {item: int(rng.integers(0, 2)) for item in rng.choice(items, 8, replace=False)}
        | {"d0": 1}
        for q in range(queries)
    }
    runs = {
        name: {
            query: {
                item: float(place + boost * grades.get(item, 0))
                for item, place in zip(items, rng.permutation(20), strict=True)
            }
            for query, grades in qrels.items()
        }
        for name, boost in (("one", 1.5), ("two", 4.25), ("three", 8.125))
    }
    return qrels, runs


def test_compare_is_that_of_ranx() -> None:
    ranx = pytest.importorskip("ranx")
    qrels, runs = collection(1)
    theirs = ranx.compare(
        ranx.Qrels(qrels),
        [ranx.Run(own, name=name) for name, own in runs.items()],
        ["map", "mrr", "ndcg@10"],
        stat_test="student",
        max_p=0.05,
    )
    names = {"AP": "map", "RR": "mrr", "nDCG@10": "ndcg@10"}
    ours = judged.compare(qrels, runs, list(names), correction="none")
    table = theirs.to_dict()
    for row in ours.rows:
        name = names[row.measure]
        assert row.value == pytest.approx(table[row.run]["scores"][name], rel=1e-9)
        assert row.against_value == pytest.approx(table[row.against]["scores"][name], rel=1e-9)
        theirs_p = theirs.comparisons[row.against, row.run][name]["p_value"]
        assert row.p == pytest.approx(theirs_p, rel=1e-6, abs=1e-15)
        wins = table[row.run]["win_tie_loss"][row.against][name]
        assert (row.wins, row.ties, row.losses) == (wins["W"], wins["T"], wins["L"])


def weighed(values: Floats, weights: Floats) -> tuple[float, float, float]:
    """The weighted mean, its standard error and its degrees of freedom, in a loop."""
    shares = weights / weights.sum()
    mean = float(shares @ values)
    square = sum(share**2 for share in shares)
    variance = sum(
        (share * (value - mean)) ** 2 / (1 - 2 * share + square)
        for share, value in zip(shares, values, strict=True)
    )
    return mean, math.sqrt(variance), 1 / square - 1


def test_weights_are_those_of_a_weighted_mean() -> None:
    qrels, runs = collection(2)
    two = {name: runs[name] for name in ("one", "two")}
    weights = {query: float(at % 5 + 1) for at, query in enumerate(sorted(qrels))}
    found = judged.compare(qrels, two, "AP", weights=weights)
    pair = found.pair()
    per_query = judged.evaluate(qrels, two, "AP").to_frame(per_query=True).sort("query")
    one, other = (per_query.filter(run=name)["AP"].to_numpy() for name in ("one", "two"))
    apart = other - one
    shares = np.array([weights[query] for query in sorted(qrels)])
    mean, error, freedom = weighed(apart, shares)
    assert pair.difference == pytest.approx(mean, rel=1e-9)
    assert pair.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, freedom), rel=1e-9)
    half = stats.t.ppf(0.975, freedom) * error
    ends = [mean - half, mean + half]
    assert [pair.interval.low, pair.interval.high] == pytest.approx(ends, rel=1e-7)
    # d_z: the weighted mean in weighted standard deviations, with n/(n-1).
    described = weightstats.DescrStatsW(apart, shares)
    size = len(apart)
    deviation = math.sqrt(described.var * size / (size - 1))
    assert pair.effect == pytest.approx(described.mean / deviation, rel=1e-9)


def test_equal_weights_are_no_weights() -> None:
    qrels, runs = collection(3)
    measures = ["AP", "F(average=means)@5", "Rank(aggregate=median)"]
    weights = dict.fromkeys(qrels, 3.0)
    one = judged.compare(qrels, runs, measures)
    two = judged.compare(qrels, runs, measures, weights=weights)
    for row, other in zip(one.rows, two.rows, strict=True):
        assert (row.verdict, row.wins, row.losses) == (other.verdict, other.wins, other.losses)
        assert row.p == pytest.approx(other.p, rel=1e-9)
        assert row.difference == pytest.approx(other.difference, rel=1e-9, abs=1e-12)
        assert row.interval.low == pytest.approx(other.interval.low, **CLOSE, nan_ok=True)
        assert (row.detectable or 0) == pytest.approx(other.detectable or 0, rel=1e-9)


def test_detectable_of_a_function_of_means_is_by_the_jackknife() -> None:
    qrels, runs = collection(4)
    two = {name: runs[name] for name in ("one", "two")}
    measure = "F(average=means)@5"
    pair = judged.compare(qrels, two, measure).pair()
    without = []
    for query in sorted(qrels):
        rest = {other: grades for other, grades in qrels.items() if other != query}
        scores = [
            judged.evaluate(rest, {name: {q: own[q] for q in rest}}, measure).value()
            for name, own in two.items()
        ]
        without.append(scores[1] - scores[0])
    size = len(qrels)
    error = math.sqrt((size - 1) / size * ((np.array(without) - np.mean(without)) ** 2).sum())
    away = power.TTestPower().solve_power(nobs=size, alpha=0.05, power=0.8) * math.sqrt(size)
    assert pair.detectable == pytest.approx(away * error, rel=1e-6)
    assert pair.effect is None
