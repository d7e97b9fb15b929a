"""The ends of a tie range and the mean between them, against every order of the ties."""

from __future__ import annotations

import warnings
from functools import cache
from itertools import chain, permutations, product
from random import Random
from typing import Any

import numpy as np
import pytest

from judged import Rankings
from judged.errors import JudgedWarning
from judged.evaluation.scores import TIE_ORDERS
from judged.measures import REGISTRY, Measure, parse_measure
from judged.measures.tie_orders import expectations
from support.evaluating import evaluate, rank
from support.loops import for_each
from support.rankings import GRADES, PLAIN, random_measure

Judgements = dict[str, Any]
Run = dict[str, float]


def random_case(draw: Random, *, subtopics: bool) -> tuple[Judgements, Run]:
    """The judgements of one query and a short list with ties: judged items, unjudged ones, and
    judged ones that it lacks."""
    names = [f"d{at}" for at in range(draw.randint(1, 5))]
    draw.shuffle(names)
    run = {item: float(draw.choice([1, 1, 2])) for item in names}
    pool = [item for item in names if draw.random() < 0.7] + ["x", "y", "z"][: draw.randint(0, 3)]
    if not subtopics:
        return {item: draw.choice(GRADES) for item in pool or ["x"]}, run
    grades = (0, 1, 1, 2, -1)
    return {
        item: {name: draw.choice(grades) for name in "abc" if draw.random() < 0.6} or {"a": 0}
        for item in pool or ["x"]
    }, run


def all_orders(run: Run) -> list[list[str]]:
    """Every order of the list that the scores allow."""
    levels = sorted(set(run.values()), reverse=True)
    ties = [[item for item in run if run[item] == level] for level in levels]
    return [list(chain(*each)) for each in product(*map(permutations, ties))]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"depth": 1},
    {"depth": 3},
    {"policy": {"unjudged": "removed"}},
    {"policy": {"ties": "input"}},
    {"policy": {"ties": "best"}, "depth": 2},
]
CASES = 25


@cache
def cases(option: int, subtopics: bool) -> tuple[Rankings, Rankings, list[int]]:
    """Some queries with ties, all orders of each of them as queries of their own, and how many
    orders each has."""
    draw = Random(option)
    judgements, run, every, orders, counts = {}, {}, {}, {}, []
    for at in range(CASES):
        judgements[f"q{at}"], run[f"q{at}"] = random_case(draw, subtopics=subtopics)
        own = all_orders(run[f"q{at}"])
        counts.append(len(own))
        for number, items in enumerate(own):
            every[f"q{at}/{number}"] = judgements[f"q{at}"]
            orders[f"q{at}/{number}"] = items
    options = {"collection": 20, **OPTIONS[option]}
    return (rank(judgements, run, **options), rank(every, orders, **options), counts)


@for_each("name", REGISTRY)
def test_ends_and_mean_are_those_of_all_orders(name: str) -> None:
    draw = Random(name)
    for option in range(len(OPTIONS)):
        tied, orders, counts = cases(option, REGISTRY[name].family == "diversity")
        starts = np.cumsum(counts) - counts
        for _ in range(2):
            measure = random_measure(REGISTRY[name], draw)
            about = f"{measure} {OPTIONS[option]}"
            values = measure.compute_as_ranked(orders)
            low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
            mean = np.add.reduceat(values, starts) / counts
            found = tied.evaluate([measure]).showing(tie_range=True).scored()
            assert not found.others["worst"].unsure, about
            assert not found.others["expected"].errors, about
            worst, expected, best = (found.others[rule].values[measure] for rule in TIE_ORDERS)
            ends = (worst, best) if measure.spec.higher_is_better else (best, worst)
            known = ~np.isnan(low)
            close: Any = {"rtol": 1e-9, "atol": 1e-12, "err_msg": about}
            np.testing.assert_allclose(ends[0][known], low[known], **close)
            np.testing.assert_allclose(ends[1][known], high[known], **close)
            np.testing.assert_allclose(expected[known], mean[known], **close)
            assert np.all(ends[0] <= expected), about
            assert np.all(expected <= ends[1]), about
            np.testing.assert_array_equal(worst[~known], best[~known])


# -- more orders than can be gone through

PARAMETERS = {"AP": "AP(norm=retrieved)@5", "nDCG": "nDCG(ideal=retrieved)@5"}
WITHOUT_ENDS = ["AP", "nDCG", "INST", "BPM", "G", "infAP"]
"""Measures of which no order is known to be the worst or the best."""


def cut_at_five(name: str) -> Measure:
    measure = parse_measure(PARAMETERS.get(name, name))
    return measure(k=5) if measure.spec.at == "k" else measure


def large(seed: int, size: int = 30, subtopics: bool = False) -> tuple[Judgements, Run]:
    draw = Random(seed)
    items = [f"d{at}" for at in range(size)]
    draw.shuffle(items)
    grades: Any = [0, 0, 1, 2, 3, -1]
    return {
        item: {name: draw.choice(grades) for name in "stuv"} if subtopics else draw.choice(grades)
        for item in items[: size // 2]
    }, {item: float(draw.choice([1, 1, 1, 2])) for item in items}


@pytest.mark.parametrize("subtopics", [False, True])
def test_ends_that_may_be_further_out_are_named(subtopics: bool) -> None:
    judgements, run = large(1, subtopics=subtopics)
    names = [name for name, spec in REGISTRY.items() if subtopics or spec.family != "diversity"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgedWarning)
        found = evaluate(
            {"q": judgements}, {"q": run}, [cut_at_five(name) for name in names], collection=50
        ).showing(tie_range=True)
    unsure = found.scored().others["best"].unsure
    named = {measure.spec.name for measure in unsure}
    diverse = {n for n in names if REGISTRY[n].family == "diversity" and n != "P_IA"}
    assert named == {*WITHOUT_ENDS, *diverse}
    [said] = [text for text in found.warnings() if text.startswith("The tie range")]
    assert said.startswith(
        "The tie range of AP(norm=retrieved)@5, nDCG(ideal=retrieved)@5, G, INST@5"
    )
    assert said.endswith(
        "may be wider than shown: 1 query has more than 720 orders of tied results, and only some "
        "were tried."
    )
    [entry] = found.to_dict()["runs"]
    assert entry["tie_range"]["at_least"] == {str(measure): 1 for measure in unsure}
    # Random orders of the same ties do not go beyond ends that are known.
    draw = Random(2)
    orders = [sorted(run, key=lambda item: (-run[item], draw.random())) for _ in range(200)]
    ids = list(map(str, range(len(orders))))
    ranked = Rankings.from_run(
        dict.fromkeys(ids, judgements), dict(zip(ids, orders, strict=True)), collection=50
    )
    for measure in found.measures:
        worst, expected, best = found.tie_range(measure)
        low, high = sorted((worst, best))
        assert low <= expected <= high, measure
        assert low <= found.value(measure) <= high, measure
        if measure not in unsure:
            values = measure.compute_as_ranked(ranked)
            assert low <= values.min() + 1e-12, measure
            assert values.max() <= high + 1e-12, measure


def test_nothing_is_said_where_all_orders_were_gone_through() -> None:
    found = evaluate(
        {"q": {"a": 1, "b": 2, "c": 0, "d": -1}},
        {"q": dict.fromkeys("abcdef", 1.0)},
        ["BPM@2", "infAP", "AP(norm=retrieved)@2", "nDCG(ideal=retrieved)@2"],
    ).showing(tie_range=True)
    assert not [text for text in found.warnings() if "tie" in text.lower()]
    assert "at_least" not in found.to_dict()["runs"][0]["tie_range"]


def test_the_ends_of_average_precision_over_the_retrieved() -> None:
    # Relevant: a at rank 1, one of b and c at rank 2 or 3. Both above the cutoff: 1 or (1 + 2/3)/2.
    # One below it: 1 at rank 2 and 1 without.
    run = {"q": {"a": 2.0, "b": 1.0, "x": 1.0, "y": 1.0}}
    found = evaluate({"q": {"a": 1, "b": 1}}, run, "AP(norm=retrieved)@3").showing(tie_range=True)
    assert found.tie_range() == pytest.approx((5 / 6, (1 + 5 / 6 + 1) / 3, 1))


# -- company, order and kind of input

DRAWN = ["ERR@10", "infAP", "Bpref", "BPM@10", "IAP"]


def test_a_querys_estimate_is_its_own() -> None:
    queries = {f"q{seed}": large(seed, size=20 + seed) for seed in range(9)}
    judgements = {query: each[0] for query, each in queries.items()}
    runs = {query: each[1] for query, each in queries.items()}
    together = Rankings.from_run(judgements, runs, policy={"ties": "expected"})
    for measure in map(parse_measure, DRAWN):
        found = expectations([measure], together, ends=True)[measure]
        for some in ([3], [8, 0, 4], [1, 2, 3, 5]):
            alone = expectations([measure], together.take(some), ends=True)[measure]
            for part in ("values", "errors", "low", "high", "sure"):
                np.testing.assert_array_equal(
                    getattr(alone, part), getattr(found, part)[some], err_msg=f"{measure} {part}"
                )


# -- extremes


@pytest.mark.parametrize(
    ("judgements", "run"),
    [
        ({"a": 1}, {"a": 1.0}),
        ({"a": 1}, {"x": 1.0, "y": 1.0}),
        ({"a": 0}, {"a": 1.0, "b": 1.0}),
        ({"a": -1, "b": -2}, {"a": 1.0, "b": 1.0, "c": 1.0}),
        ({f"d{at}": 1 for at in range(300)}, {f"d{at}": 1.0 for at in range(300)}),
        ({"d7": 1}, {f"d{at}": 1.0 for at in range(300)}),
        ({f"d{at}": at % 3 for at in range(300)}, {f"d{at}": 1.0 for at in range(300)}),
    ],
    ids=["one item", "lost", "irrelevant", "negative", "all relevant", "one of 300", "300 mixed"],
)
@pytest.mark.filterwarnings("ignore::judged.errors.JudgedWarning")
def test_extremes(judgements: Judgements, run: Run) -> None:
    measures = [cut_at_five(name) for name in PLAIN]
    for options in ({}, {"depth": 3}):
        found = evaluate(
            {"q": judgements}, {"q": run}, measures, collection=500, **options
        ).showing(tie_range=True)
        for measure in measures:
            worst, expected, best = found.tie_range(measure)
            low, high = (worst, best) if measure.spec.higher_is_better else (best, worst)
            assert low <= expected <= high, measure
            assert low <= found.value(measure) <= high, measure
