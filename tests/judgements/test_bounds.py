"""How far judgements could still move the difference of two runs, held against all judgements."""

from __future__ import annotations

import math
import random
from itertools import product

import numpy as np
import polars as pl
import pytest

import judged
from judged.judgements.bounds import DifferenceBounds
from judged.measures import REGISTRY

JUDGEMENTS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
RUNS = {
    "old": {"q1": ["x", "a", "b", "y"], "q2": ["y", "c", "x"]},
    "new": {"q1": ["y", "b", "a", "z"], "q2": ["c", "z", "x"]},
}


def judgings(judgements, runs, top):
    """Every way to judge the unjudged results of some runs."""
    open_ = sorted(
        {
            (query, item)
            for run in runs.values()
            for query, items in run.items()
            for item in items
            if query in judgements and item not in judgements[query]
        }
    )
    for grades in product(range(top + 1), repeat=len(open_)):
        known = {query: dict(items) for query, items in judgements.items()}
        for (query, item), grade in zip(open_, grades, strict=True):
            known[query][item] = grade
        yield known


@pytest.mark.parametrize("measure", ["P@2", "DCG@3", "P(rel=2)@1"])
def test_no_judgement_goes_beyond_the_bounds(measure):
    judgements = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
    runs = {
        "old": {"q1": ["x", "a", "b"], "q2": ["y", "c"]},
        "new": {"q1": ["z", "b"], "q2": ["x"]},
    }
    (bound,) = judged.queue(judgements, runs, measure).bounds
    seen = []
    for known in judgings(judgements, runs, 2):
        found = judged.evaluate(known, runs, measure)
        seen.append(found.value(run="new") - found.value(run="old"))
    assert (bound.low, bound.high) == pytest.approx((min(seen), max(seen)), abs=1e-12)
    assert bound.bounded
    assert bound.unjudged == 4


def test_no_judgement_can_change_it():
    judgements = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}, "q3": {"a": 1, "b": 0}}
    runs = {
        "old": {"q1": ["b", "a"], "q2": ["x", "a"], "q3": ["b", "a"]},
        "new": {"q1": ["a", "b"], "q2": ["a", "x"], "q3": ["a", "b"]},
    }
    found = judged.queue(judgements, runs, "P@1")
    # Two of three queries have all that P@1 sees judged; x could make old 1/3, and new is at 1.
    (bound,) = found.bounds
    assert (bound.difference, bound.low, bound.high) == pytest.approx((1, 2 / 3, 1))
    assert (bound.unjudged, bound.can_turn, bound.better, bound.worse) == (1, False, "new", "old")
    assert bound.sentence == (
        "P@1: new - old is 1.0000. Judging the unjudged results of judged queries gives 0.6667 to "
        "1.0000: new stays better."
    )
    assert "Judging results of judged queries cannot change that new is better than old." in (
        found.to_text().splitlines()
    )


def test_scenarios_are_called_scenarios():
    found = judged.queue(JUDGEMENTS, RUNS, "AP")
    (bound,) = found.bounds
    assert not bound.bounded
    assert bound.sentence.startswith("AP: new - old is ")
    assert (
        "Lowest and highest are two scenarios: all unjudged results favour one run or the other. "
        "Other judgements may move AP further."
    ) in found.to_text().splitlines()


@pytest.mark.parametrize(
    ("bound", "can_turn", "says"),
    [
        (
            DifferenceBounds("n", "o", "AP", 0.1, 0.05, 0.2, unjudged=2, bounded=False),
            None,
            "AP: n - o is 0.1000. If all unjudged results of judged queries favour one run or the "
            "other, it becomes 0.0500 to 0.2000: n stays better in these two cases, but other "
            "judgements may change that.",
        ),
        (
            DifferenceBounds("n", "o", "AP", 0.1, -0.05, 0.2, unjudged=2, bounded=False),
            True,
            "AP: n - o is 0.1000. If all unjudged results of judged queries favour one run or the "
            "other, it becomes -0.0500 to 0.2000: the order of the two runs can change.",
        ),
        (
            DifferenceBounds("n", "o", "Rank", 1.0, 0.0, 2.0, unjudged=2, higher_is_better=False),
            True,
            "Rank: n - o is 1.0000. Judging the unjudged results of judged queries gives 0.0000 to "
            "2.0000: the order of the two runs can change.",
        ),
        (
            DifferenceBounds("n", "o", "P@1", 0.0, 0.0, 0.0, unjudged=2),
            False,
            "P@1: n - o is 0.0000. Judging the unjudged results of judged queries gives 0.0000 to "
            "0.0000: both stay equal.",
        ),
        (
            DifferenceBounds("n", "o", "P@1", math.nan, math.nan, math.nan, unjudged=2),
            None,
            "P@1: n - o is –, because no query counts.",
        ),
    ],
)
def test_what_a_bound_says(bound, can_turn, says):
    assert bound.can_turn is can_turn
    assert bound.sentence == says
    assert bound.to_dict()["can_turn"] is can_turn


def test_pairs_of_three_runs():
    found = judged.queue(JUDGEMENTS, {**RUNS, "third": RUNS["old"]})
    assert [(bound.run, bound.against) for bound in found.bounds] == [
        ("new", "old"),
        ("third", "old"),
        ("third", "new"),
    ]
    same = found.bounds[1]
    assert (same.difference, same.low, same.high) == (0, 0, 0)
    assert judged.queue(JUDGEMENTS, RUNS["old"]).bounds == ()


def test_random_data_never_go_beyond_what_is_bounded():
    rng = random.Random(7)
    for _ in range(6):
        judgements = {"q": {item: rng.randint(0, 1) for item in "abc"}, "r": {"a": 1}}
        lists = [{query: rng.sample("abcxyz", 4) for query in "qr"} for _ in range(2)]
        runs = dict(zip(("one", "two"), lists, strict=True))
        (bound,) = judged.queue(judgements, runs, "P@2").bounds
        seen = set()
        tops = {name: {query: run[query][:2] for query in run} for name, run in runs.items()}
        for known in judgings(judgements, tops, 1):
            found = judged.evaluate(known, runs, "P@2")
            seen.add(round(found.value(run="two") - found.value(run="one"), 12))
        assert (bound.low, bound.high) == pytest.approx((min(seen), max(seen)))
        assert bound.can_turn is (len({np.sign(each) for each in seen}) > 1)


def extremes(judgements, runs, measure, top):
    """The least and the greatest mean difference over all judgements, by halves of a grade."""
    ends = np.zeros(2)
    for query, known in judgements.items():
        own = {item for run in runs.values() for item in run[query]} - set(known)
        lists = {name: {query: runs[name][query]} for name in ("one", "two")}
        seen = []
        for grades in product([half / 2 for half in range(2 * top + 1)], repeat=len(own)):
            given = {query: {**known, **dict(zip(own, grades, strict=True))}}
            found = judged.evaluate(given, lists, measure)
            seen.append(found.value(run="two") - found.value(run="one"))
        ends += np.array([min(seen), max(seen)]) / len(judgements)
    return ends.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("measure", ["nDCG@2", "nDCG(gain=exp)@2", "nDCG"])
def test_ndcg_never_leaves_its_limits(measure):
    rng = random.Random(11)
    told = set()
    for number in range(12):
        grades = {query: rng.sample("abcdxyz", 5 + number % 2) for query in "qrs"}
        judgements = {
            query: {item: rng.randint(0, 2) for item in items} for query, items in grades.items()
        }
        judgements["q"][grades["q"][0]] = 2
        lists = [{query: rng.sample("abcdxyz", 3) for query in "qrs"} for _ in range(3)]
        runs = dict(zip(("one", "two", "three"), lists, strict=True))
        bound = judged.queue(judgements, runs, measure).bounds[0]
        low, high = extremes(judgements, runs, measure, 2)
        if bound.limits is None:
            assert bound.unjudged == 0
            assert bound.low == bound.high == bound.difference
            continue
        assert bound.limits[0] <= low + 1e-12
        assert bound.limits[1] >= high - 1e-12
        assert bound.low >= low - 1e-12
        assert bound.high <= high + 1e-12
        turns = len({np.sign(round(each, 12)) for each in (low, bound.difference, high)}) > 1
        assert bound.can_turn in (turns, None)
        told.add(bound.can_turn)
    assert {True, False} <= told


def test_what_neither_run_shows_can_change_a_difference_in_ndcg():
    # All that nDCG@1 looks at is judged; x at rank 2 is not, and changes what is ideal.
    judgements = {"q": {"a": 1, "b": 0}, "r": {"a": 2, "b": 0}}
    runs = {"old": {"q": ["a", "x"], "r": ["b", "x"]}, "new": {"q": ["b", "x"], "r": ["a", "x"]}}
    found = judged.queue(judgements, runs, "nDCG@1")
    (bound,) = found.bounds
    assert (bound.unjudged, bound.difference, bound.bounded, bound.can_turn) == (0, 0, False, None)
    assert bound.limits == pytest.approx((0, 0.25))
    assert bound.sentence == (
        "nDCG@1: new - old is 0.0000. All results that it uses are judged, but judging other items "
        "as relevant could change it."
    )
    judgements["q"]["x"] = 2
    assert judged.evaluate(judgements, runs, "nDCG@1").compare().pair().difference == 0.25
    assert judged.queue(judgements, runs, "P@1").bounds[0].can_turn is False


def test_limits_can_settle_what_two_scenarios_cannot():
    judgements = {query: {"a": 1, "b": 0} for query in "qrs"}
    runs = {
        "old": {"q": ["b", "a"], "r": ["b", "a"], "s": ["x", "a"]},
        "new": {"q": ["a", "b"], "r": ["a", "b"], "s": ["a", "x"]},
    }
    (bound,) = judged.queue(judgements, runs, "nDCG@2").bounds
    # Each query has 1 for new and d = 1/log2(3) for old now. With x relevant, both have 1 in s; the
    # numerator is then 1 + d - 1 - d = 0, and without x 1 - d, by 1 at least.
    d = 1 / math.log2(3)
    assert (bound.difference, bound.low) == pytest.approx((1 - d, 2 * (1 - d) / 3))
    assert bound.limits == pytest.approx((2 * (1 - d) / 3, 1 - d))
    assert (bound.bounded, bound.can_turn) == (False, False)
    assert bound.sentence == (
        "nDCG@2: new - old is 0.3691. If all unjudged results of judged queries favour one run or "
        "the other, it becomes 0.2460 to 0.3691, and it can never leave 0.2460 to 0.3691: new "
        "stays better."
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("nDCG@2", {"policy": {"ties": "best"}}),
        ("nDCG@2", {"policy": {"unjudged": "removed"}}),
        ("nDCG@2", {"policy": {"empty": "skip"}}),
        ("nDCG@2", {"policy": {"missing": "skip"}}),
        ("nDCG@2", {"convention": "ranx", "policy": {"missing": "zero"}}),
        ("nDCG(ideal=shown)@2", {}),
        ("nDCG(aggregate=median)@2", {}),
        ("AP", {}),
    ],
)
def test_nothing_is_said_where_nothing_is_known(measure, options):
    runs = {**RUNS, "new": {"q1": RUNS["new"]["q1"]}}
    (bound,) = judged.queue(JUDGEMENTS, runs, measure, **options).bounds
    assert (bound.limits, bound.bounded) == (None, False)


def test_weights_have_no_limits():
    table = pl.DataFrame(
        {"query": ["q1", "q2"], "item": ["a", "c"], "grade": [1, 1], "weight": [3.0, 1.0]}
    )
    found = judged.queue(table, RUNS, "nDCG@2", columns={"weight": "weight"})
    assert found.bounds[0].limits is None


@pytest.mark.parametrize("name", [name for name, spec in REGISTRY.items() if spec.divides])
def test_what_is_declared_a_quotient_is_one(name):
    measure = judged.parse_measure(name)(k=3)
    adds, divisor = (
        judged.parse_measure(each)(k=3) for each in measure.spec.divides(measure.params)
    )
    r = judged.Rankings.from_relevance(
        [[0, 2, 1, 3], [1, 0], [2, None, 1]], pool=[[3, 2, 1, 0, 2], [1, 0, 3], [2, 1, -1]]
    )
    assert measure.compute(r).tolist() == (adds.compute(r) / divisor.compute(r)).tolist()
    assert adds.spec.adds(adds.params)
    alone = judged.Rankings.from_relevance(
        [[], [], []], pool=[[3, 2, 1, 0, 2], [1, 0, 3], [2, 1, -1]]
    )
    assert divisor.compute(alone).tolist() == divisor.compute(r).tolist()
