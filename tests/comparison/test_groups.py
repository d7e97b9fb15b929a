"""Queries that come in groups: sessions, templates, passages."""

import numpy as np
import pytest

from judged import compare, compare_values, evaluate
from support.errors import error_of

QUERIES = [f"q{number:02}" for number in range(24)]
GROUPS = {query: f"g{number // 3}" for number, query in enumerate(QUERIES)}


def values(seed: int = 0, runs: int = 3) -> dict[str, dict[str, float]]:
    """Values of which those of a group are alike."""
    random = np.random.default_rng(seed)
    shared = random.normal(size=(8, runs)).repeat(3, axis=0)
    table = shared + random.normal(size=(24, runs)) + np.arange(runs)
    return {
        f"r{run}": dict(zip(QUERIES, table[:, run].tolist(), strict=True)) for run in range(runs)
    }


def judgements_and_runs():
    random = np.random.default_rng(3)
    judgements = {query: {"a": 1, "b": 1} for query in QUERIES}
    lists = [["a", "x", "b"], ["x", "a", "b"], ["x", "y", "a"], ["x", "y", "z"]]
    runs = {
        name: {query: lists[random.integers(4)] for query in QUERIES} for name in ("one", "other")
    }
    return judgements, runs


def test_the_output_says_how_many_groups():
    found = compare_values(values(), groups=GROUPS, baseline="r0")
    assert "groups" in found.tables()[0].header
    assert found.to_dict()["pairs"][0]["groups"] == 8
    assert "group sums" in found.methods()


def test_every_way_in_is_the_same(tmp_path):
    judgements, runs = judgements_and_runs()
    file = tmp_path / "groups.csv"
    file.write_text("query,group\n" + "".join(f"{q},{g}\n" for q, g in GROUPS.items()))
    found = compare(judgements, runs, "AP", groups=GROUPS)
    for other in (
        compare(judgements, runs, "AP", groups=str(file)),
        evaluate(judgements, runs, "AP").compare(groups=GROUPS),
    ):
        assert other.rows == found.rows
    assert found.pair().groups == 8


def test_names_and_order_of_groups_change_nothing():
    renamed = {query: f"x{-int(GROUPS[query][1:])}" for query in reversed(QUERIES)}
    shuffled = {run: dict(reversed(own.items())) for run, own in values().items()}
    for test in ("t", "randomisation", "bootstrap"):
        one = compare_values(values(), groups=GROUPS, test=test).rows
        other = compare_values(shuffled, groups=renamed, test=test).rows
        assert one == other


def test_too_few_counts_groups():
    few = {query: f"g{number // 5}" for number, query in enumerate(QUERIES)}
    found = compare_values(values(runs=2), groups=few).pair()
    assert found.verdict == "too few"
    assert found.says == "value: only 5 of 5 groups differ between r1 and r0: too few to test."
    assert np.isnan(found.interval.low)
    one = compare_values(values(runs=2), groups=dict.fromkeys(QUERIES, "all")).pair()
    assert one.verdict == "too few"
    assert one.p >= 0.05


def test_a_few_heavy_units_have_no_verdict():
    random = np.random.default_rng(4)
    queries = [f"q{number:03}" for number in range(300)]
    base = dict(zip(queries, random.random(300).tolist(), strict=True))
    given = {"a": base, "b": {query: value + 0.3 for query, value in base.items()}}
    given["b"]["q000"] += 0.1
    # Shares of 2/3 and ten times 1/30: 1/(4/9 + 10/900) = 2.2 groups.
    groups = {query: max(number - 190, 0) // 10 for number, query in enumerate(queries)}
    found = compare_values(given, groups=groups).pair()
    assert found.verdict == "too few"
    assert found.says == (
        "value: 300 queries in 11 groups count as 2.2 groups of equal weight (Kish): too few to "
        "compare b with a."
    )
    assert found.interval.note == (
        "300 queries in 11 groups count as 2.2 groups of equal weight (Kish), too "
        "few for a confidence interval"
    )
    assert compare_values(given, groups=groups, margin=0.9).pair().verdict == "too few"
    # 1/rank^1.5 of 300 queries: ζ(1.5)²/ζ(3) is 5.7 at most, below 6.
    weights = {query: (number + 1) ** -1.5 for number, query in enumerate(queries)}
    for test in ("t", "randomisation", "bootstrap"):
        row = compare_values(given, weights=weights, test=test).pair()
        assert (row.verdict, row.effective_units < 6) == ("too few", True)
    # 1/rank: 22 of equal weight for 300 queries, 16 for 100.
    weights = {query: 1 / (number + 1) for number, query in enumerate(queries)}
    more = compare_values(given, weights=weights)
    assert (more.pair().verdict, more.warnings()) == ("better", [])
    fewer = {run: {query: own[query] for query in queries[:100]} for run, own in given.items()}
    fewer = compare_values(fewer, weights={query: weights[query] for query in queries[:100]})
    assert fewer.pair().verdict == "better"
    assert fewer.warnings() == [
        "value: 100 queries count as 16.5 queries of equal weight (Kish), which are few (below "
        "20), so intervals are wide and approximate. Use more queries."
    ]


def test_only_queries_that_count_need_a_group():
    judgements, runs = judgements_and_runs()
    judgements["q00"] = {"a": 0}
    groups = {query: group for query, group in GROUPS.items() if query != "q00"}
    found = compare(judgements, runs, "AP", groups=groups, policy={"empty": "skip"})
    assert (found.pair().queries, found.pair().groups) == (23, 8)
    assert error_of(compare, judgements, runs, "AP", groups=groups) == (
        "the groups given: 1 query has no group ('q00'); give every query one, if need be one of "
        "its own."
    )


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_tests_that_count_every_query_are_refused(test):
    words = {"wilcoxon": "Wilcoxon signed ranks", "sign": "sign test"}
    assert error_of(compare_values, values(), groups=GROUPS, test=test) == (
        f"{words[test]} supports neither weights nor groups; use the test t, randomisation or "
        "bootstrap."
    )
