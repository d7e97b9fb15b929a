"""The ends of a tie range and the mean between them, against every order of the ties."""

from __future__ import annotations

from functools import cache
from itertools import chain, permutations, product
from random import Random
from typing import Any

import numpy as np
import pytest

from judged import Rankings, judge
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
    return judge(judgements, run, **options), judge(every, orders, **options), counts


@pytest.mark.parametrize("name", REGISTRY)
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
            found = tied.evaluate([measure], tie_range=True).scored()
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
