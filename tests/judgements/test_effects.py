"""What one judgement would change, held against evaluating again with that judgement."""

from __future__ import annotations

import math
import random
from itertools import combinations
from typing import Any

import pytest

import judged
from judged.judgements import queue as module
from judged.measures import REGISTRY

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


@pytest.mark.filterwarnings("ignore")
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


@pytest.mark.filterwarnings("ignore")
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


def test_what_moves_both_runs_alike_has_no_effect() -> None:
    # 0.1 more for both: the difference of sums of tenths is rounding, and counts as nothing.
    lists = [f"d{number}" for number in range(10)]
    runs = {"old": {"q": lists}, "new": {"q": lists[::-1]}}
    found = judged.queue({"q": {"d0": 1, "d3": 1, "d7": 1}}, runs, "P@10")
    assert found.effects.tolist() == [0.0] * 7
    assert "7 of 7 results alone would not change P@10, even with the top grade." in (
        found.sentences()
    )


def test_the_first_relevant_result_of_a_query_may_change_a_rank_without_end() -> None:
    # Rank is infinite where nothing relevant is found.
    found = judged.queue({"q": {"z": 1}}, {"q": ["a", "b"]}, "Rank")
    assert dict(zip(found.items, found.effects.tolist(), strict=True)) == {
        "a": math.inf,
        "b": math.inf,
    }
    assert found.to_dict()["queue"][0] == {
        "query": "q",
        "item": "a",
        "effect": "Infinity",
        "best_rank": 1,
    }


def test_a_query_of_no_weight_has_no_effect() -> None:
    import polars as pl

    table = pl.DataFrame(
        {"query": ["q", "r"], "item": ["a", "a"], "grade": [1, 1], "weight": [0.0, 1.0]}
    )
    run = {"q": ["b", "a"], "r": ["b", "a"]}
    found = judged.queue(table, run, "RR", columns={"weight": "weight"})
    assert dict(zip(found.queries, found.effects.tolist(), strict=True)) == {"q": 0.0, "r": 0.5}
