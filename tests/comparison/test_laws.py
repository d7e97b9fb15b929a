"""What holds for every comparison, whatever the values: nothing contradicts anything."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import judged
from judged.comparison.verdicts import Pair
from judged.statistics.t import below
from support.loops import for_each

pytestmark = pytest.mark.usefixtures("few_resamples")

OF_MEANS = ("t", "randomisation", "bootstrap", "bca")
TESTS = (*OF_MEANS, "wilcoxon", "sign")
MEASURES = ("x", "AP(aggregate=geometric)", "NumRet(aggregate=sum)", "Rank")
"""A mean of anything, a geometric mean, a sum, and one of which lower is better."""
MIRRORED = {"better": "worse", "worse": "better"}

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=4, deadline=None)


def drawn(
    seed: int, runs: int = 2, measure: str = "x", most: int = 30
) -> dict[str, dict[str, dict[str, float]]]:
    """Values as measures have them: in steps, tied, skewed, often equal in all runs."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, most))
    steps = int(rng.choice([2, 5, 100]))
    base = rng.beta(0.6, 0.9, size)
    values = np.clip(
        base + rng.normal(0.05, 0.2, (runs, size)) * (rng.random((runs, size)) < 0.7), 0, 1
    )
    values = np.round(values * steps) / steps
    if measure == "Rank":
        values = 1 + np.round(values * 20)
    ids = [f"q{at}" for at in range(size)]
    return {
        f"run {at}": {measure: dict(zip(ids, map(float, row), strict=True))}
        for at, row in enumerate(values)
    }


def pair_of(values: Any, **options: Any) -> Pair:
    """The one row of two runs."""
    return judged.compare_values(values, **options).pair()


def numbers(pair: Pair) -> tuple[Any, ...]:
    """Everything in a row but names and the sentence."""
    found = pair.to_dict()
    return tuple(str(found[key]) for key in sorted(found) if key not in ("run", "against", "says"))


def ends(pair: Pair) -> tuple[str, str]:
    return f"{pair.interval.low:.17g}", f"{pair.interval.high:.17g}"


def mirrored(pair: Pair) -> tuple[str, str]:
    """The ends of its interval with the runs swapped."""
    return f"{0 - pair.interval.high:.17g}", f"{0 - pair.interval.low:.17g}"


def shown_by_interval(pair: Pair) -> bool:
    return pair.interval.low > 0 or pair.interval.high < 0


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("test", TESTS)
@few
@given(seeds)
def test_swapped_runs_mirror_a_row(test: str, measure: str, seed: int) -> None:
    values = drawn(seed, measure=measure)
    one = pair_of(values, test=test, margin=0.05)
    two = pair_of(dict(reversed(values.items())), test=test, margin=0.05)
    assert two.difference == -one.difference
    assert mirrored(one) == ends(two)
    assert (two.wins, two.ties, two.losses) == (one.losses, one.ties, one.wins)
    assert (two.value, two.against_value) == (one.against_value, one.value)
    assert two.effect == (None if one.effect is None else -one.effect)
    assert (two.p, two.corrected_p, two.smallest_p) == (one.p, one.corrected_p, one.smallest_p)
    assert two.detectable == one.detectable
    assert two.verdict == MIRRORED.get(one.verdict, one.verdict)
    assert two.negligible == one.negligible


@pytest.mark.parametrize(
    ("test", "correction"),
    [*((test, "holm") for test in TESTS), ("auto", "tukey"), ("auto", "randomised-tukey")],
)
@settings(max_examples=2, deadline=None)
@given(seeds)
def test_the_order_of_queries_and_runs_changes_no_bit(
    test: str, correction: str, seed: int
) -> None:
    values = drawn(seed, runs=4)
    rng = np.random.default_rng(seed)
    names = list(values)
    shuffled = {}
    for name in rng.permutation(names):
        items = list(values[name]["x"].items())
        shuffled[str(name)] = {"x": dict(items[at] for at in rng.permutation(len(items)))}
    options: dict[str, Any] = {"test": test, "correction": correction}
    one = judged.compare_values(values, baseline=names[0], **options)
    two = judged.compare_values(shuffled, baseline=names[0], **options)
    rows = {(row.run, row.against): numbers(row) for row in two.rows}
    assert {(row.run, row.against): numbers(row) for row in one.rows} == rows


def changed(values: Any, function: Any) -> Any:
    return {
        run: {
            name: {query: function(value) for query, value in own.items()}
            for name, own in of.items()
        }
        for run, of in values.items()
    }


def assert_scaled(one: Pair, two: Pair, by: float) -> None:
    """Two rows that say the same, in units that differ by a factor."""
    assert (two.verdict, two.wins, two.ties, two.losses, two.interval.note) == (
        one.verdict,
        one.wins,
        one.ties,
        one.losses,
        one.interval.note,
    )
    close: Any = {"rel": 1e-6, "abs": 1e-9 * by, "nan_ok": True}
    assert two.difference == pytest.approx(one.difference * by, **close)
    assert two.interval.low == pytest.approx(one.interval.low * by, **close)
    assert two.interval.high == pytest.approx(one.interval.high * by, **close)
    assert two.p == pytest.approx(one.p, rel=1e-6)
    assert (two.detectable is None) == (one.detectable is None)
    if one.detectable is not None and two.detectable is not None:
        assert two.detectable == pytest.approx(one.detectable * by, **close)
    if one.effect is not None:
        assert two.effect == pytest.approx(one.effect, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("constant", [-3.0, 0.1, 1000.0, 1e6])
@settings(max_examples=2, deadline=None)
@given(seeds)
def test_a_constant_added_to_both_changes_nothing(test: str, constant: float, seed: int) -> None:
    values = drawn(seed)
    moved = changed(values, lambda value: value + constant)
    assert_scaled(pair_of(values, test=test), pair_of(moved, test=test), 1.0)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("factor", [1000.0, 1e-30, 1e100])
@settings(max_examples=2, deadline=None)
@given(seeds)
def test_the_unit_of_values_does_not_matter(test: str, factor: float, seed: int) -> None:
    values = drawn(seed)
    scaled = changed(values, lambda value: value * factor)
    assert_scaled(pair_of(values, test=test), pair_of(scaled, test=test), factor)


@for_each("level", [0.9, 0.95, 0.99])
@for_each("measure", MEASURES)
@for_each("test", OF_MEANS)
@few
@given(seeds)
def test_p_and_interval_and_verdict_agree(test: str, measure: str, level: float, seed: int) -> None:
    pair = pair_of(drawn(seed, measure=measure), test=test, level=level)
    assert 0 < pair.p <= 1
    if pair.interval.method is None:
        assert math.isnan(pair.interval.low)
        assert math.isnan(pair.interval.high)
        assert pair.interval.note
    else:
        assert bool(below(pair.p, level)) == shown_by_interval(pair)
        assert pair.interval.low <= pair.difference <= pair.interval.high or test in (
            "bootstrap",
            "bca",
        )
    assert (pair.verdict in ("better", "worse")) == bool(below(pair.corrected_p, level))
    if pair.verdict in ("better", "worse"):
        up = pair.difference > 0
        assert (pair.verdict == "better") == (up if measure != "Rank" else not up)
        if shown_by_interval(pair):
            assert up == (pair.interval.low > 0)


@for_each(("level", "needed"), [(0.9, 5), (0.95, 6), (0.99, 8), (0.5, 3)])
@for_each("test", TESTS)
@for_each("differing", range(1, 10))
def test_too_few_is_where_no_sign_could_be_shown(
    test: str, level: float, needed: int, differing: int
) -> None:
    ids = [f"q{at}" for at in range(12)]
    other = [0.5 + 0.01 * (at + 1) if at < differing else 0.5 for at in range(12)]
    values = {"a": dict.fromkeys(ids, 0.5), "b": dict(zip(ids, other, strict=True))}
    pair = pair_of(values, test=test, level=level)
    assert (pair.verdict == "too few") == (differing < needed)
    if differing < needed:
        assert pair.detectable is None
        assert pair.interval.method is None
        assert pair.p == 2.0 ** (1 - differing)
        differ = f"only {differing} of 12 queries differ"
        differ = "at most 1 of 12 queries differs" if differing == 1 else differ
        assert pair.says == f"value: {differ} between b and a: too few to test."


@few
@given(seeds)
def test_a_run_against_itself_is_identical(seed: int) -> None:
    values = drawn(seed)
    same = {"a": values["run 0"], "b": values["run 0"]}
    for test in TESTS:
        pair = pair_of(same, test=test, margin=0.01)
        assert (pair.verdict, pair.p, pair.corrected_p, pair.smallest_p) == ("identical", 1, 1, 1)
        assert (pair.difference, pair.wins, pair.losses, pair.effect) == (0, 0, 0, None)
        assert (pair.interval.method, pair.detectable) == (None, None)


@few
@given(seeds)
def test_ranks_never_contradict_pairs(seed: int) -> None:
    found = judged.compare_values(drawn(seed, runs=5, most=60))
    places = {place.run: place for place in found.leaderboard()}
    for row in found.rows:
        run, against = places[row.run], places[row.against]
        if row.verdict == "better":
            assert against.rank_low > 1
            assert run.rank_high < len(places)
        if row.verdict == "worse":
            assert run.rank_low > 1
    for place in places.values():
        assert 1 <= place.rank_low <= place.rank_high <= len(places)
    assert [place.value for place in places.values()] == sorted(
        (place.value for place in places.values()), reverse=True
    )


@pytest.mark.parametrize("test", OF_MEANS)
@few
@given(seeds)
def test_groups_of_one_are_no_groups(test: str, seed: int) -> None:
    values = drawn(seed)
    groups = {query: f"g{query}" for query in values["run 0"]["x"]}
    one, two = pair_of(values, test=test), pair_of(values, test=test, groups=groups)
    assert two.groups == two.queries
    note = two.interval.note.replace("groups", "queries")
    assert (one.verdict, one.interval.note) == (two.verdict, note)
    close: Any = {"rel": 1e-9, "abs": 1e-12, "nan_ok": True}
    assert one.p == pytest.approx(two.p, rel=1e-9)
    assert one.interval.low == pytest.approx(two.interval.low, **close)
    assert one.interval.high == pytest.approx(two.interval.high, **close)
    assert (one.effect or 0) == pytest.approx(two.effect or 0, **close)
    assert (one.detectable or 0) == pytest.approx(two.detectable or 0, **close)


@few
@given(seeds)
def test_one_repeat_is_no_repeat(seed: int) -> None:
    values = drawn(seed)
    alone = {run: judged.repeats(own) for run, own in values.items()}
    assert numbers(pair_of(values)) == numbers(pair_of(alone))


@few
@given(seeds, st.floats(0.001, 0.5), st.sampled_from([0.9, 0.95]))
def test_equivalent_exactly_where_the_inner_interval_is_inside(
    seed: int, margin: float, level: float
) -> None:
    values = drawn(seed)
    for test in OF_MEANS:
        pair = pair_of(values, test=test, margin=margin, level=level)
        inner = pair_of(values, test=test, level=2 * level - 1).interval
        if pair.interval.method is None:
            assert pair.verdict != "equivalent"  # of values of any range nothing is known
            continue
        inside = -margin < inner.low and inner.high < margin
        assert (pair.verdict == "equivalent" or pair.negligible) == inside
        assert pair.verdict in ("equivalent", "not significant", "better", "worse")
