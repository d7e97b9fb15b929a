"""What people who compare their own runs and files run into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from support.errors import error_of
from support.loops import for_each

pytestmark = pytest.mark.usefixtures("few_resamples")

SIZE = 12
QUERIES = [f"q{at}" for at in range(SIZE)]
JUDGEMENTS = {query: {"a": 1, "b": 1} for query in QUERIES}
FILLED = [f"x{at}" for at in range(9)]


def _run(seed: int) -> dict[str, list[str]]:
    draw = np.random.default_rng(seed)
    return {query: draw.permutation(["a", "b", *FILLED]).tolist() for query in QUERIES}


RUNS = {"old": _run(1), "new": _run(2)}
PAIR = {"a": {"1": 0.0, "2": 1.0}, "b": {"1": 1.0, "2": 1.0}}
WEIGHTS = {query: 1 + at % 4 for at, query in enumerate(QUERIES)}


def _told(comparison: Any) -> Any:
    """The numbers of all pairs and runs, without what only runs have."""
    found = json.loads(comparison.to_json())
    pairs = [
        {k: v for k, v in each.items() if k not in ("depends_on", "says")}
        for each in found["pairs"]
    ]
    values = [{k: v for k, v in each.items() if k != "scores"} for each in found["runs"]]
    return pairs, values, found["leaderboard"]


def _close(ours: Any, theirs: Any) -> None:
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys()
        for key in ours:
            _close(ours[key], theirs[key])
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs)
        for each, other in zip(ours, theirs, strict=True):
            _close(each, other)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=1e-9)
    else:
        assert ours == theirs


@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize("name", ["GMAP", "MedR", "MeanR", "AP(aggregate=sum)", "mrr@5", "AP"])
def test_exported_values_give_the_numbers_that_runs_give(
    name: str, ending: str, tmp_path: Path
) -> None:
    """A geometric mean stays one, and a rank is better where it is lower, by any name."""
    evaluation = judged.evaluate(JUDGEMENTS, RUNS, name)
    path = tmp_path / f"values.{ending}"
    path.write_text(getattr(evaluation, f"to_{ending}")(per_query=True), "utf-8")
    found = judged.compare_values(path)
    _close(_told(found), _told(evaluation.compare()))
    assert ("GMAP is the geometric mean of its values." in found.methods()) == (name == "GMAP")


@pytest.mark.parametrize("name", ["AP", "GMAP", "MedR"])
def test_weights_of_values_count_as_weights_of_runs(name: str, tmp_path: Path) -> None:
    weights = {**WEIGHTS, "q3": 0}
    evaluation = judged.evaluate(JUDGEMENTS, RUNS, name, weights=weights)
    path = tmp_path / "values.csv"
    path.write_text(evaluation.to_csv(per_query=True), "utf-8")
    found = judged.compare_values(path, weights=weights)
    _close(_told(found), _told(evaluation.compare()))
    (few,) = found.warnings()
    assert few.startswith(f"{name}: 11 queries count as 9.1 queries of equal weight (Kish)")
    assert "Queries are weighted." in found.methods()
    plain = judged.compare_values(path)
    assert plain.warnings() == [
        f"{path}: The weights of queries are not read from here: every query counts once, unless "
        "weights are given."
    ]
    assert "Queries are weighted." not in plain.methods()


def test_a_weighted_mean_by_hand() -> None:
    values = {"a": {"1": 0.0, "2": 1.0, "3": 0.5}, "b": {"1": 1.0, "2": 1.0, "3": 0.0}}
    weights = {"1": 1, "2": 2, "3": 5, "4": 9}
    found = judged.compare_values(values, weights=weights)
    assert found.value(run="a") == pytest.approx((2 + 2.5) / 8)
    assert found.pair().difference == pytest.approx((1 - 2.5) / 8)
    assert "the weights given: weights of 1 query (4) without values ignored." in found.remarks()
    without = judged.compare_values(values, weights={**weights, "3": 0})
    assert without.value(run="a") == pytest.approx(2 / 3)
    assert without.pair().queries == 2
    assert "1 query (3) of weight 0 left out." in without.remarks()


@for_each("test", ["t", "randomisation", "bootstrap", "bca", "wilcoxon", "sign"])
@for_each("size", [7, 30, 60])
@for_each("constant", [True, False])
def test_the_smallest_p_is_never_above_p(test: str, size: int, constant: bool) -> None:
    differences = np.full(size, 0.25) if constant else 0.25 + np.arange(size) / 1e4
    values = {"a": dict.fromkeys(map(str, range(size)), 0.0)}
    values["b"] = dict(zip(values["a"], differences.tolist(), strict=True))
    pair = judged.compare_values(values, test=test).pair()
    assert 0 < pair.smallest_p <= pair.p
    if test == "randomisation" and size <= 40:
        assert pair.smallest_p == pair.p == 2.0 ** (1 - size)
    if test in ("bootstrap", "bca") and not constant:
        assert pair.smallest_p == max((1 if test == "bca" else 2) / 1000, 2.0 ** (1 - size))


def test_a_difference_that_cannot_be_seen_is_not_named() -> None:
    """Values from 0 to 1 never differ by more than 1, whatever the formula says."""
    one = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    values = {
        "a": {str(at): each for at, each in enumerate(one.tolist())},
        "b": {str(at): each for at, each in enumerate((1 - one).tolist())},
    }
    known = judged.compare_values(values, measure_name="RR").pair()
    unknown = judged.compare_values(values, measure_name="points").pair()
    assert unknown.detectable is not None
    assert unknown.detectable > 1
    assert known.detectable is None
    assert known.p == unknown.p
    assert known.says == (
        "RR: no significant difference between b and a. With 9 queries, no true "
        "difference would be detected with 80 % power."
    )


def test_a_run_that_is_not_there() -> None:
    found = judged.compare(JUDGEMENTS, RUNS, ["AP", "RR"])
    assert error_of(found.pair, "AP") == "there is no run 'AP'; the runs are old, new."


@for_each(
    ("call", "message"),
    [
        (
            lambda: judged.compare_values(PAIR, weights={"1": 1}),
            "the weights given: 1 query has no weight ('2'); give every query one, 0 for one that "
            "is not to count.",
        ),
        (
            lambda: judged.compare_values(PAIR, weights={"1": 0, "2": 0}),
            "the weights given: all queries have the weight 0, so that none counts; give some of "
            "them a weight above 0.",
        ),
        (
            lambda: judged.compare_values(
                PAIR, measure_name="AP(aggregate=sum)", weights=PAIR["b"]
            ),
            "AP(aggregate=sum) is a sum over the queries, for which weights are not defined; leave "
            "it out, or use its mean.",
        ),
    ],
)
def test_values_and_weights_that_cannot_be_used(call: Any, message: str) -> None:
    assert error_of(call, error=judged.JudgedError) == (message)


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        (
            "test",
            "wilcoxn",
            "test must be one of auto, t, randomisation, bootstrap, bca, wilcoxon, sign; got "
            "'wilcoxn'; did you mean 'wilcoxon'?",
        ),
        (
            "correction",
            "hom",
            "correction must be one of holm, bonferroni, bh, tukey, randomised-tukey, none; got "
            "'hom'; did you mean 'holm'?",
        ),
        (
            "lower_is_better",
            "PA",
            "lower_is_better names 'PA', which is not one of the measures: AP.",
        ),
        (
            "lower_is_better",
            ["AP"],
            "lower_is_better names AP, of which higher values are better; leave it "
            "out, or rename the values.",
        ),
        (
            "lower_is_better",
            True,
            "lower_is_better names True, which is not one of the measures: AP.",
        ),
    ],
)
def test_unknown_words_have_the_nearest_known(option: str, given: Any, message: str) -> None:
    values = {"a": {"AP": {"1": 0.5}}, "b": {"AP": {"1": 0.25}}}
    assert error_of(judged.compare_values, values, **{option: given}) == (message)


def test_values_beyond_the_range_of_their_name_are_said() -> None:
    percent = {"a": {"P@10": {"1": 50, "2": 20}}, "b": {"P@10": {"1": 40, "2": 30}}}
    assert judged.compare_values(percent, margin=5).pair().difference == 0
    pooled = {"F(average=means)": {"1": 0.5, "2": 0.2}}
    assert judged.compare_values({"a": pooled, "b": pooled}).warnings() == [
        "F(average=means) is not a mean of per-query values. The comparison uses the mean of "
        "these values, which is another number."
    ]
