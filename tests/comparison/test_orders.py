"""Orders of measures: what swaps, what the verdicts say of it, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import judged
from judged.comparison.comparison import Comparison
from judged.statistics import order_agreement
from support.errors import error_of

pytestmark = pytest.mark.usefixtures("few_resamples")

QUERIES = [f"q{at}" for at in range(12)]


def values_of(**means: tuple[float, float]) -> dict[str, dict[str, dict[str, float]]]:
    """Runs by name with two measures, around these means; differences have a little spread."""
    wave = np.tile([0.01, -0.01, 0.02], 4)
    return {
        run: {
            name: {query: mean + off * at for query, off in zip(QUERIES, wave, strict=True)}
            for name, mean in (("one", pair[0]), ("two", pair[1]))
        }
        for at, (run, pair) in enumerate(means.items())
    }


@pytest.fixture
def compared() -> Comparison:
    """By "one" a > b > c > d, by "two" c > b > a > d; a and c far apart, and b beside each."""
    return judged.compare_values(
        values_of(a=(0.9, 0.3), b=(0.6, 0.301), c=(0.3, 0.9), d=(0.1, 0.1)), correction="none"
    )


def ranks_of(found: Any) -> list[list[int]]:
    """The first and last rank of each run by the first measure."""
    return list(found.to_dict()["measures"][0]["ranks"].values())


def test_swaps_have_the_verdicts_on_them(compared: Comparison) -> None:
    [pair] = compared.orders().pairs
    assert [swap.to_dict() for swap in pair.swaps] == [
        {"above": "a", "below": "b", "verdict": "better", "against_verdict": "not significant"},
        {"above": "a", "below": "c", "verdict": "better", "against_verdict": "worse"},
        {"above": "b", "below": "c", "verdict": "better", "against_verdict": "worse"},
    ]
    for swap in pair.swaps:
        row = compared.pair(swap.below, swap.above, "one")
        assert row.verdict == "worse"
    assert pair.says() == (
        "one and two swap 3 of 6 pairs of runs (the difference is significant on "
        "both measures for 2, on one for 1, on neither for 0, which may be chance)."
    )


def test_the_numbers_are_those_of_order_agreement(compared: Comparison) -> None:
    [pair] = compared.orders().pairs
    x, y = ({run: compared.value(name, run) for run in compared.runs} for name in ("one", "two"))
    assert pair.agreement == order_agreement(x, y)
    row = compared.orders().to_frame().row(0, named=True)
    assert row["tau"] == pytest.approx(pair.agreement.tau)
    assert (row["swapped"], row["shown_on_both"], row["shown_on_one"]) == (3, 2, 1)
    assert row["note"] == ""


def test_lower_is_better_is_turned() -> None:
    given = values_of(a=(0.1, 0.9), b=(0.2, 0.8), c=(0.3, 0.7))
    found = judged.compare_values(given, lower_is_better="one").orders()
    assert found.pairs[0].agreement.tau == 1
    assert found.sentences()[0] == "one and two: the same order of all 3 runs."
    assert ranks_of(found) == [[1, 1], [2, 2], [3, 3]]


def test_a_baseline_leaves_pairs_without_a_verdict() -> None:
    given = values_of(a=(0.9, 0.3), b=(0.6, 0.6), c=(0.3, 0.9))
    [pair] = judged.compare_values(given, baseline="a").orders().pairs
    assert [swap.verdict for swap in pair.swaps] == ["better", "better", "not compared"]
    assert pair.says() == (
        "one and two swap 3 of 3 pairs of runs (the difference is significant on "
        "both measures for 2, on one for 0, on neither for 0, which may be chance; 1 "
        "not compared with each other)."
    )


def test_ties_and_undefined() -> None:
    given: dict[str, Any] = {
        run: {"one": {"q": x}, "two": {"q": 0.5}} for run, x in (("a", 1), ("b", 2), ("c", 2))
    }
    found = judged.compare_values(given).orders()
    assert found.pairs[0].says() == (
        "one and two: the agreement of orders is undefined, because all runs are "
        "tied on two; 2 pairs tied on two alone."
    )
    assert found.to_dict()["pairs"][0]["tau"] is None
    assert ranks_of(found) == [[3, 3], [1, 2], [1, 2]]
    given["c"]["two"]["q"] = 0.6
    assert judged.compare_values(given).orders().pairs[0].says() == (
        "one and two swap none of 3 pairs of runs; 1 pair tied on one alone and 1 pair tied on two "
        "alone."
    )


def test_a_run_without_a_number_is_left_out_with_a_warning() -> None:
    judgements = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 0}}
    both = {"q1": ["a"], "q2": ["x", "b"]}
    runs = {
        "one": both,
        "two": both,
        "three": {"q1": ["x", "a"], "q2": ["b"]},
        "none": {"q3": ["c"]},
    }
    policy = {"missing": "skip", "empty": "skip"}
    found = judged.compare(judgements, runs, ["RR", "AP"], policy=policy).orders()
    assert found.runs == ("one", "two", "three")
    assert "none has no value on AP, so it is left out of all orders." in found.warnings()
    assert all(math.isfinite(each) for each in found.values["RR"].values())


def test_what_is_refused() -> None:
    two = judged.compare_values(values_of(a=(0.9, 0.3), b=(0.6, 0.301)))
    alone = judged.compare_values({run: {"q": at} for at, run in enumerate("abc")})
    refusals: tuple[tuple[Any, str], ...] = (
        (
            two.orders,
            "orders need at least three runs with a value on every measure; there are 2. For two "
            "runs, compare their values.",
        ),
        (
            alone.orders,
            "orders need at least two measures; this comparison has only value. Name another one.",
        ),
    )
    for call, message in refusals:
        assert error_of(call) == (message)


def test_many_swaps_are_cut_and_said() -> None:
    runs = {f"r{at}": (at / 10, 1 - at / 10) for at in range(8)}
    found = judged.compare_values(values_of(**runs)).orders()
    assert len(found.tables()[2].rows) == 20
    assert found.sentences()[0] == (
        "one and two swap 28 of 28 pairs of runs (the "
        "difference is significant on both measures for "
        "28, on one for 0, on neither for 0, which may be "
        "chance)."
    )
    assert len(found.to_dict()["pairs"][0]["swaps"]) == 28


def test_means_over_different_queries_are_warned_of() -> None:
    judgements = {query: {"d": 1} for query in QUERIES}
    runs = {name: {query: ["d"] for query in QUERIES} for name in ("a", "b", "c")}
    del runs["b"]["q0"]
    said = (
        "Runs are ordered by means over different queries, such as RR over 11 for b and 12 for "
        "a. The order depends on the queries too."
    )
    for missing in ("skip", "zero"):
        found = judged.compare(judgements, runs, "RR, P@1", policy={"missing": missing})
        assert (said in found.orders().warnings()) == (missing == "skip")
        judges = {"ann": judgements, "bob": judgements}
        under = judged.agreement(judges, runs=runs, measures="RR", policy={"missing": missing})
        assert (said in under.warnings()) == (missing == "skip")
