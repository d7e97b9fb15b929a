"""What judgements would change: one alone, and the difference of two runs at most."""

from __future__ import annotations

import math
import random
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.judgements import queue as module
from judged.judgements.bounds import DifferenceBounds
from judged.measures import REGISTRY, parse_measure

pytestmark = pytest.mark.filterwarnings("ignore")
Lists = dict[str, dict[str, float]]
BY_SUBTOPIC = {
    *("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA"),
    "StRecall",
}
NEED_A_CUTOFF = {"SDCG", "BPM", "NERR8", "NERR9"}
FEW = [
    *("nDCG@3", "nDCG(gain=exp)@5", "nDCG(ideal=shown)@5", "P(rel=2)@3", "AP", "P@R", "RR@2"),
    *("Bpref", "infAP", "Judged@5", "Rank", "Accuracy@3"),
]
MANY = [
    *(f"{name}@3" if name in NEED_A_CUTOFF else name for name in REGISTRY if name not in FEW),
    *("nDCG(ideal=retrieved)@5", "AP(rel=2)", "AP@2", "R@3", "GMAP", "Rank(of=all)"),
]
MEASURES = [*FEW, *(name for name in MANY if name not in BY_SUBTOPIC)]
CASES: list[tuple[dict[str, str], list[str], tuple[str, ...]]] = [
    ({}, MEASURES, ("one", "two", "three")),
    ({"ties": "expected"}, FEW, ("one", "two")),
    ({"ties": "best"}, FEW, ("one", "two", "three")),
    ({"ties": "worst", "unjudged": "removed"}, FEW, ("one", "two")),
    ({"ties": "input", "empty": "skip"}, FEW, ("two", "three")),
    ({"missing": "skip", "empty": "one", "unjudged": "removed"}, FEW, ("one", "two", "three")),
    ({"ties": "worst"}, FEW, ("two",)),
    ({"missing": "skip", "empty": "skip"}, FEW, ("two",)),
]
"""Policy, measures and runs."""


def collection(seed: int) -> tuple[Lists, dict[str, Lists]]:
    """Graded judgements, negative and fractional ones and a query with nothing relevant among them;
    runs with ties, without some of the queries, and with queries that nobody judged."""
    rng = random.Random(seed)
    items = [f"d{number}" for number in range(12)]
    grades = (-1, 0, 0, 0.5, 1, 2, 3)
    judgements = {
        f"q{query}": {item: rng.choice(grades) for item in rng.sample(items, 5)}
        for query in range(2)
    }
    judgements["q2"] = dict.fromkeys(items[:3], 0)
    judgements["q0"]["never retrieved"] = 3

    def run(*missing: int) -> Lists:
        return {
            f"q{query}": {
                item: float(rng.randint(1, 5)) for item in rng.sample(items, rng.randint(4, 9))
            }
            for query in range(4)
            if query not in missing
        }

    return judgements, {"one": run(), "two": run(1), "three": run(3)}


def gap(one: float, other: float) -> float:
    """How far one is above the other; nothing where one does not count."""
    return 0.0 if math.isnan(one) or math.isnan(other) or one == other else one - other


def values(found: judged.Evaluation, measure: str, query: str) -> list[float]:
    """What each run has for a query; NaN for one that is in no number."""
    wanted = found.measure(measure)
    return [
        dict(zip(run.rankings.queries, run.values[wanted].tolist(), strict=True)).get(
            query, math.nan
        )
        for run in found.runs
    ]


def change(before: list[float], after: list[float]) -> float:
    """The definition, read aloud."""
    if len(before) == 1:
        return abs(gap(*(0.0 if math.isnan(each) else each for each in (*after, *before))))
    return max(
        abs(gap(gap(after[one], after[other]), gap(before[one], before[other])))
        for one, other in combinations(range(len(before)), 2)
    )


@pytest.mark.parametrize(("policy", "measures", "names"), CASES)
def test_every_measure_under_every_policy(
    policy: dict[str, str], measures: list[str], names: tuple[str, ...]
) -> None:
    judgements, every = collection(len(policy))
    runs = {name: every[name] for name in names}
    options: dict[str, Any] = {"policy": policy, "collection": 100}
    before = judged.evaluate(judgements, runs, measures, **options)
    queues = {each: judged.queue(judgements, runs, each, depth=3, **options) for each in measures}
    first = queues[measures[0]]
    assert len(first) > 5
    assert {"q2", "q3"} <= set(first.queries)
    for query, item in zip(first.queries, first.items, strict=True):
        more = {**judgements, query: {**judgements.get(query, {}), item: 3}}
        after = judged.evaluate(more, runs, measures, **options)
        for name, queue in queues.items():
            own = list(zip(queue.queries, queue.items, strict=True))
            wanted = change(values(before, name, query), values(after, name, query))
            found = queue.effects[own.index((query, item))]
            assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12), (name, query, item)


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("ndcg@3", {"convention": "ranx"}),
        ("MAP@3", {"convention": "opensearch"}),  # what is relevant depends on all grades
        ("nDCG@3", {"item_to": "doc:#"}),
    ],
)
def test_a_convention_and_documents(measure: str, options: dict[str, Any]) -> None:
    judgements = {"q": {"a#1": 4, "b#1": 1, "c#1": 2}, "r": {"a#1": 1}}
    runs = {
        "one": {"q": ["d#1", "a#2", "d#2", "b#1"], "r": ["b#1", "a#1"]},
        "two": {"q": ["a#1", "e#1", "d#1"], "r": ["a#1", "q#3"]},
    }
    before = judged.evaluate(judgements, runs, measure, **options)
    queue = judged.queue(judgements, runs, measure, **options)
    assert len(queue) > 3
    for query, item, found in zip(queue.queries, queue.items, queue.effects, strict=True):
        more = {**judgements, query: {**judgements[query], item: 4}}
        after = judged.evaluate(more, runs, measure, **options)
        wanted = change(values(before, measure, query), values(after, measure, query))
        assert found == pytest.approx(wanted, abs=1e-12)


def test_copies_may_be_made_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    judgements, runs = collection(5)
    runs = {name: {query: run[query] for query in ("q0", "q2")} for name, run in runs.items()}
    judgements = {query: judgements[query] for query in ("q0", "q2")}
    whole = judged.queue(judgements, runs, "nDCG", policy={"missing": "zero"})
    monkeypatch.setattr(module, "ROWS_PER_BLOCK", 20)
    parts = judged.queue(judgements, runs, "nDCG", policy={"missing": "zero"})
    assert parts.items == whole.items
    assert parts.effects.tolist() == whole.effects.tolist()


def test_worked_by_hand() -> None:
    # P@2 of both is 1/2, for a. With b relevant, old has 2/2 and new, which lacks it, 1/2: the
    # difference changes by 1/2, and so with c. d stands below the cutoff.
    runs = {"old": {"q": ["a", "b", "d"]}, "new": {"q": ["c", "a", "d"]}}
    found = judged.queue({"q": {"a": 1, "z": 2}}, runs, "P@2")
    effects = dict(zip(found.items, found.effects.tolist(), strict=True))
    assert effects == {"b": 0.5, "c": 0.5, "d": 0.0}
    assert (found.top_grade, found.without_effect) == (2.0, 1)
    # Rank is infinite where nothing relevant is found.
    found = judged.queue({"q": {"z": 1}}, {"q": ["a", "b"]}, "Rank")
    assert found.effects.tolist() == [math.inf] * 2
    assert found.to_dict()["queue"][0]["effect"] == "Infinity"


def test_what_moves_both_runs_alike_has_no_effect() -> None:
    # 0.1 more for both: the difference of sums of tenths is rounding, and counts as nothing.
    lists = [f"d{number}" for number in range(10)]
    runs = {"old": {"q": lists}, "new": {"q": lists[::-1]}}
    found = judged.queue({"q": {"d0": 1, "d3": 1, "d7": 1}}, runs, "P@10")
    assert found.effects.tolist() == [0.0] * 7
    assert "7 of 7 results alone would not change P@10, even with the top grade." in (
        found.sentences()
    )


def test_weights_of_queries() -> None:
    table = pl.DataFrame(
        {"query": ["q", "r"], "item": ["a", "a"], "grade": [1, 1], "weight": [0.0, 1.0]}
    )
    run = {"q": ["b", "a"], "r": ["b", "a"]}
    by_column = judged.queue(table, run, "RR", columns={"weight": "weight"})
    judgements = {"q": {"a": 1}, "r": {"a": 1}}
    by_option = judged.queue(judgements, run, "RR", weights={"q": 0, "r": 1})
    for found in (by_column, by_option):
        assert dict(zip(found.queries, found.effects.tolist(), strict=True)) == {"q": 0.0, "r": 0.5}
    # RR of new is 1 and 1/2, of old 1/2 and 1: with weights 3 and 1, (3 - 1) · 1/2 / 4.
    runs = {"old": {"q": ["b", "a"], "r": ["a"]}, "new": {"q": ["a"], "r": ["b", "a"]}}
    (bound,) = judged.queue(judgements, runs, "RR", weights={"q": 3, "r": 1}).bounds
    assert bound.difference == pytest.approx(0.25)
    with pytest.raises(judged.errors.InputError, match="queue does not use trusted; leave"):
        judged.queue(judgements, runs, "RR", trusted=judgements)


JUDGEMENTS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
RUNS = {
    "old": {"q1": ["x", "a", "b", "y"], "q2": ["y", "c", "x"]},
    "new": {"q1": ["y", "b", "a", "z"], "q2": ["c", "z", "x"]},
}


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


@pytest.mark.parametrize("measure", ["P@2", "DCG@3", "P(rel=2)@1"])
def test_no_judgement_goes_beyond_the_bounds(measure):
    runs = {
        "one": {"q1": ["x", "a", "b"], "q2": ["y", "c"]},
        "two": {"q1": ["z", "b"], "q2": ["x"]},
    }
    (bound,) = judged.queue(JUDGEMENTS, runs, measure).bounds
    expected = extremes(JUDGEMENTS, runs, measure, 2)
    assert (bound.low, bound.high) == pytest.approx(expected, abs=1e-12)
    assert (bound.bounded, bound.unjudged) == (True, 4)


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


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("nDCG@2", {"policy": {"ties": "best"}}),
        ("nDCG@2", {"policy": {"unjudged": "removed"}}),
        ("nDCG@2", {"policy": {"empty": "skip"}}),
        ("nDCG@2", {"policy": {"missing": "skip"}}),
        ("nDCG@2", {"convention": "ranx", "policy": {"missing": "zero"}}),
        ("nDCG@2", {"weights": {"q1": 3, "q2": 1}}),
        ("nDCG(ideal=shown)@2", {}),
        ("nDCG(aggregate=median)@2", {}),
        ("AP", {}),
    ],
)
def test_nothing_is_said_where_nothing_is_known(measure, options):
    runs = {**RUNS, "new": {"q1": RUNS["new"]["q1"]}}
    (bound,) = judged.queue(JUDGEMENTS, runs, measure, **options).bounds
    assert (bound.limits, bound.bounded) == (None, False)


@pytest.mark.parametrize("name", [name for name, spec in REGISTRY.items() if spec.divides])
def test_what_is_declared_a_quotient_is_one(name):
    measure = parse_measure(name)(k=3)
    adds, divisor = (parse_measure(each)(k=3) for each in measure.spec.divides(measure.params))
    r = judged.Rankings.from_relevance(
        [[0, 2, 1, 3], [1, 0], [2, None, 1]], pool=[[3, 2, 1, 0, 2], [1, 0, 3], [2, 1, -1]]
    )
    assert measure.compute(r).tolist() == (adds.compute(r) / divisor.compute(r)).tolist()
    assert adds.spec.adds(adds.params)
    alone = judged.Rankings.from_relevance(
        [[], [], []], pool=[[3, 2, 1, 0, 2], [1, 0, 3], [2, 1, -1]]
    )
    assert divisor.compute(alone).tolist() == divisor.compute(r).tolist()
