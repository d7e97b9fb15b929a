"""The ends of a tie range and the mean between them, against every order of the ties."""

from __future__ import annotations

from itertools import permutations, product
from random import Random
from typing import Any

import numpy as np
import pytest

from judged import Measure, PolicyError, Rankings, judge, parse_measure
from judged.evaluation.ranges import TIE_ORDERS
from judged.measures import REGISTRY
from support.rankings import GRADES, random_measure

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
    return [sum(map(list, each), []) for each in product(*map(permutations, ties))]


def by_hand(
    measure: Measure, judgements: Judgements, run: Run, **options: Any
) -> tuple[float, float, float]:
    """The least value, the mean and the greatest over all orders, each judged as a run without
    ties."""
    orders = all_orders(run)
    names = [f"q{at}" for at in range(len(orders))]
    ranked = judge(
        dict.fromkeys(names, judgements), dict(zip(names, orders, strict=True)), **options
    )
    values = measure.compute_as_ranked(ranked)
    return float(values.min()), float(values.mean()), float(values.max())


def check(measure: Measure, judgements: Judgements, run: Run, **options: Any) -> None:
    low, mean, high = by_hand(measure, judgements, run, **options)
    rankings = judge({"q": judgements}, {"q": run}, **options)
    try:
        found = rankings.evaluate([measure], tie_range=True).scored()
    except PolicyError as error:
        assert "cuts through a tie" in str(error)
        return
    worst, expected, best = (float(found.others[rule].values[measure][0]) for rule in TIE_ORDERS)
    assert not found.others["worst"].unsure
    assert not found.others["expected"].errors
    if np.isnan(low):
        assert worst == expected == best
        return
    ends = (worst, best) if measure.spec.higher_is_better else (best, worst)
    about = f"{measure} {judgements} {run} {options}"
    np.testing.assert_allclose(ends, (low, high), rtol=1e-9, atol=1e-12, err_msg=about)
    assert ends[0] <= expected <= ends[1], about
    # The rank of an item is infinite on average where it is cut off in some order.
    np.testing.assert_allclose(expected, mean, rtol=1e-9, atol=1e-12, err_msg=about)


OPTIONS: list[dict[str, Any]] = [
    {},
    {},
    {"depth": 1},
    {"depth": 3},
    {"policy": {"unjudged": "removed"}},
    {"policy": {"ties": "input"}},
    {"policy": {"ties": "best"}, "depth": 2},
]


@pytest.mark.parametrize("name", REGISTRY)
def test_ends_and_mean_are_those_of_all_orders(name: str) -> None:
    draw = Random(name)
    subtopics = REGISTRY[name].family == "diversity"
    for _ in range(40):
        measure = random_measure(REGISTRY[name], draw)
        judgements, run = random_case(draw, subtopics=subtopics)
        check(measure, judgements, run, collection=20, **draw.choice(OPTIONS))
