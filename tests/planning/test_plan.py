"""What `judged.plan` works out, and that it agrees with what `compare` and `gate` say."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import judged
from support.errors import error_of
from support.loops import for_each, told

QUARTERS = {str(at + 1): at // 4 for at in range(40)}
SPREAD = np.random.default_rng(5).normal(0.01, 0.1, 40)


def values(differences: Any) -> dict[str, dict[str, float]]:
    """Two runs that differ by so much."""
    return {
        "old": {f"q{at}": 0.5 for at in range(len(differences))},
        "new": {f"q{at}": 0.5 + each for at, each in enumerate(differences)},
    }


def test_each_of_three_from_the_others() -> None:
    queries = judged.plan(difference=0.02, sd=0.1)
    assert (queries.solved, queries.queries, queries.difference) == ("queries", 199, 0.02)
    assert queries.power == pytest.approx(0.8017, abs=5e-5)  # statsmodels: 198.15 for 0.8
    power = judged.plan(difference=0.02, queries=199, sd=0.1)
    assert (power.solved, power.power) == ("power", queries.power)
    difference = judged.plan(queries=199, sd=0.1)
    assert difference.solved == "difference"
    assert difference.difference == pytest.approx(0.01996, abs=5e-6)
    assert judged.plan(difference=-0.02, sd=0.1).queries == 199
    assert judged.plan(difference=0.02, sd=0.1, comparisons=6).queries == 307  # statsmodels: 306.22
    # Back again: as many queries as the detectable difference was worked out for.
    assert judged.plan(difference=difference.difference, sd=0.1).queries == 199


def test_a_margin_is_kept_by_a_system_that_is_as_good_unless_another_is_said() -> None:
    as_good = judged.plan(margin=0.01, sd=0.05)
    assert as_good.difference == 0.0
    assert as_good.queries == judged.plan(margin=0.01, difference=0, sd=0.05).queries
    better = judged.plan(margin=0.01, difference=0.005, sd=0.05)
    worse = judged.plan(margin=0.01, difference=-0.005, sd=0.05)
    assert better.queries < as_good.queries < worse.queries
    assert as_good.equivalence is not None
    assert as_good.equivalence.value > as_good.queries
    # One-sided: a true difference of 0.015 from the bound.
    assert better.queries == 71  # statsmodels: 70.07


def test_a_table_over_some_differences() -> None:
    found = judged.plan(difference=0.02, sd=0.1, queries=100)
    assert [row.difference for row in found.rows] == [0.01, 0.015, 0.02, 0.03, 0.04]
    for row in found.rows:
        alone = judged.plan(difference=row.difference, sd=0.1)
        assert row.queries.value == alone.queries
        again = judged.plan(difference=row.difference, sd=0.1, queries=100)
        assert row.power.value == again.power
    assert [row.asked for row in found.rows] == [False, False, True, False, False]


def test_a_pilot_makes_the_answer_a_range() -> None:
    found = judged.plan(difference=0.02, pilot=SPREAD)
    assert found.sd == pytest.approx(SPREAD.std(ddof=1), rel=1e-12)
    assert found.sd_interval is not None
    ends = [judged.plan(difference=0.02, sd=sd).queries for sd in found.sd_interval]
    assert [found.answer.low, found.answer.high] == ends
    assert ends[0] < found.queries < ends[1]
    # The higher the spread, the lower the power, and the larger what is detectable.
    power = judged.plan(difference=0.02, pilot=SPREAD, queries=100).answer
    assert power.low < power.value < power.high
    seen = judged.plan(pilot=SPREAD, queries=100).answer
    assert seen.low < seen.value < seen.high


def test_the_same_plan_by_every_way_in() -> None:
    ids = [f"q{at}" for at in range(40)]
    by_query = {query: at // 4 for at, query in enumerate(ids)}
    pilots: dict[str, tuple[Any, Any]] = {
        "list": (SPREAD.tolist(), QUARTERS),
        "dict": (dict(zip(ids, SPREAD, strict=True)), by_query),
        "comparison": (judged.compare_values(values(SPREAD)), by_query),
    }
    for grouped in (False, True):
        plans = [
            judged.plan(difference=0.02, pilot=pilot, groups=groups if grouped else None)
            for pilot, groups in pilots.values()
        ]
        assert len({plan.queries for plan in plans}) == 1
        assert [plan.sd for plan in plans] == pytest.approx([plans[0].sd] * 3, rel=1e-9)


def test_what_is_detectable_is_what_compare_says() -> None:
    uneven = {f"q{at}": 0 if at < 8 else at // 2 for at in range(40)}
    cases: tuple[dict[str, Any], ...] = (
        {},
        {"groups": {f"q{at}": at // 4 for at in range(40)}},
        {"weights": {f"q{at}": 1.0 + at % 3 for at in range(40)}},
        {"groups": uneven},
    )
    for options in cases:
        compared = judged.compare_values(values(SPREAD), **options)
        pair, found = compared.pair(), judged.plan(pilot=compared, queries=40)
        assert found.difference == pytest.approx(pair.detectable, rel=1e-9)
        half = (pair.interval.high - pair.interval.low) / 2
        assert found.half_width == pytest.approx(half, rel=1e-9)
    # Shares of 1/5 and 16 times 1/20: 1/(1/25 + 16/400) = 12.5 groups of equal size.
    assert found.units == pytest.approx(12.5)
    said = " ".join(found.sentences())
    assert "whose 17 count as 12.5 of equal size" in said


def test_as_many_queries_as_the_gate_asks_for() -> None:
    random = np.random.default_rng(2)
    judgements = {f"q{at}": {"x": 1} for at in range(60)}
    runs = {
        name: {q: [*"abc"[: random.integers(0, 4)], "x"] for q in judgements}
        for name in ("old", "new")
    }
    gate = judged.gate(
        judgements, runs["new"], "RR", baseline=runs["old"], rule="safe", max_drop=0.05
    )
    compared = judged.compare(judgements, runs, "RR")
    assert gate.rows[0].sight.units is not None
    assert judged.plan(margin=0.05, pilot=compared).queries == gate.rows[0].sight.units


def test_the_pair_that_spreads_most_counts() -> None:
    three = values(SPREAD) | {"wild": {f"q{at}": 0.5 + 3 * each for at, each in enumerate(SPREAD)}}
    found = judged.plan(difference=0.02, pilot=judged.compare_values(three))
    assert found.pilot is not None
    assert (found.pilot.run, found.pilot.against, found.pilot.pairs) == ("wild", "old", 3)
    against = judged.compare_values(three, baseline="new")
    named = judged.plan(difference=0.02, pilot=against).pilot
    assert named is not None
    assert (named.run, named.against, named.pairs) == ("wild", "new", 2)


def test_groups_count_as_one() -> None:
    # All queries of a group differ by the same: 10 groups of 4 are 10 differences.
    by_group = np.repeat(SPREAD[:10], 4)
    groups = QUARTERS
    found = judged.plan(difference=0.05, pilot=by_group, groups=groups)
    apart = judged.plan(difference=0.05, pilot=SPREAD[:10])
    assert found.queries == 4 * apart.queries


def test_a_plan_as_json_and_as_a_table() -> None:
    found = judged.plan(difference=0.02, pilot=SPREAD, margin=0.03)
    read = json.loads(found.to_json())
    assert read["what"] == "plan"
    assert read["queries"] == found.queries
    assert read["says"] == found.says()
    assert read["pilot"]["sd_high"] == found.sd_interval[1]  # type: ignore[index]
    frame = found.to_frame()
    assert frame["queries"].to_list() == [row.queries.value for row in found.rows]
    assert frame["equivalence"].null_count() == 1  # of a difference that is the margin
    far = judged.plan(difference=1e-5, sd=0.1)
    assert far.to_frame()["queries"].to_list()[0] is None
    assert json.loads(far.to_json())["differences"][0]["queries"]["value"] == "Infinity"
    assert far.rows[0].queries.value == math.inf


@for_each(
    "asked, message",
    told(
        """
        -
            a plan needs either the standard deviation of per-query differences (sd), or a
              pilot to estimate it from (pilot).
        sd=0.1
            give difference or margin to plan for, or queries.
        sd=0.1, difference=0
            difference must not be 0, which no number of queries detects; to show that a system
              is as good, give a margin.
        sd=0, difference=1
            sd must be a finite number above 0; got 0.
        sd=0.1, difference=0.02, queries=100, power=0.8
            difference, queries and power are all given; leave one of them out, and it is
              computed from the others.
        sd=0.1, difference=0.02, power=0.05
            power must be a number between 0.05, which chance alone gives, and 1; got 0.05.
        sd=0.1, queries=5
            5 queries are too few for any significant difference at the 95 % level; give at
              least 6.
        pilot=SPREAD, groups=QUARTERS, queries=20
            20 queries are too few for any significant difference at the 95 % level; give at
              least 24, which are 6 groups of 4 queries.
        sd=0.1, difference=1e-09
            a difference of 1e-09 needs more than 1,000,000,000 queries if the standard
              deviation is 0.1; use a larger one.
        sd=0.1, margin=0.001, difference=-0.0009999
            a margin of 0.001, with a true difference of -0.0009999, needs more than
              1,000,000,000 queries if the standard deviation is 0.1; use a larger one.
        sd=0.1, margin=0.02, difference=-0.02
            a system that is worse by 0.02 is not within a margin of 0.02; give a difference
              above −0.02.
        sd=0.1, margin=0
            margin must be a finite number above 0; got 0.
        sd=0.1, margin=0.02, level=0.4, power=0.9
            with a margin the level must be above 0.5, such as 0.95; got 0.4.
        sd=0.1, difference=0.1, level=1 - 1e-09, comparisons=10
            a level of 0.999999999 among 10 comparisons needs a p below 1e-10, which is too
              small to plan for; use a lower level.
        sd=0.1, difference=0.1, groups=[1]
            groups is for a pilot; leave it out with sd.
        pilot=SPREAD, difference=0.1, measure='AP'
            measure chooses one of a comparison's measures; leave it out with differences.
        """,
        {"SPREAD": SPREAD, "QUARTERS": QUARTERS},
    ),
)
def test_what_is_refused(asked: dict[str, Any], message: str) -> None:
    assert error_of(judged.plan, **asked) == (message)


def test_differences_that_cannot_be() -> None:
    judgements = {f"q{at}": {"x": 1} for at in range(12)}
    runs = {
        "up": {q: ["x"] for q in judgements},
        "down": {q: ["a"] * (at % 3 > 0) + ["x"] for at, q in enumerate(judgements)},
    }
    pilot = judged.compare(judgements, runs, "RR")
    assert error_of(judged.plan, difference=2, pilot=pilot) == (
        "difference must be smaller than 1, the largest possible of RR; got 2. It is "
        "in the measure's own unit, even if numbers are shown in percent."
    )
