"""Rankings under another policy, and two runs judged in favour of one of them."""

from __future__ import annotations

import random
from dataclasses import fields, is_dataclass
from itertools import product
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest

from judged import JudgedError, Policy, Rankings
from judged.errors import PolicyError
from judged.inputs import read_judgements, read_run
from judged.matching.listings import Listings
from judged.matching.ties import restated
from judged.measures import REGISTRY, Measure, parse_measure
from judged.policy import CHOICES
from support.errors import error_of
from support.evaluating import add_choices, rank
from support.joint import Lists, cases, judged_by_loops
from support.rankings import PLAIN, random_measure

GRADES = (-1, 0, 0.5, 1, 2)


def differing(one: Any, other: Any, where: str = "") -> list[str]:
    """The fields in which two rankings differ, arrays to the bit."""
    found = []
    for each in fields(one):
        a, b, name = getattr(one, each.name), getattr(other, each.name), where + each.name
        if isinstance(a, np.ndarray):
            same = a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            found += [] if same else [name]
        elif is_dataclass(a) and each.name in ("whole", "subtopics"):
            found += differing(a, b, f"{name}.")
        elif a != b:
            found.append(name)
    return found


def data(seed: int) -> tuple[Any, Any]:
    """Judgements, of every fourth seed by subtopic, and a run full of ties that lacks a query."""
    draw = random.Random(seed)

    def grade() -> Any:
        if seed % 4:
            return draw.choice(GRADES)
        return {f"s{number}": draw.choice((-1, 0, 1, 2)) for number in range(2)}

    judgements = {
        f"q{query}": {f"d{item}": grade() for item in draw.sample(range(30), 8)}
        for query in range(4)
    }
    run = {
        f"q{query}": {
            f"d{item}": draw.choice([1.0, 2.0, 3.0, float("inf")])
            for item in draw.sample(range(30), 12)
        }
        for query in range(3)
    }
    return judgements, run


@pytest.mark.parametrize("seed", range(12))
def test_as_judging_makes_them(seed: int) -> None:
    judgements, run = data(seed)
    base = {
        ties: Rankings.from_run(judgements, run, policy={"ties": ties}) for ties in ("id", "input")
    }
    for ties, unjudged, depth in product(CHOICES["ties"], CHOICES["unjudged"], (None, 1, 5, 99)):
        policy = Policy(ties=ties, unjudged=unjudged)
        given = base["input" if ties == "input" else "id"]
        calls = (
            lambda p=policy, d=depth: Rankings.from_run(
                judgements, run, policy=add_choices(p, depth=d)
            ),
            lambda p=policy, d=depth, r=given: restated(r, p, d),
        )
        expected, found = map(outcome, calls)
        if isinstance(expected, str):
            assert found == expected
        else:
            assert not differing(found, expected)


def outcome(call: Any) -> Any:
    """Rankings, or why there are none."""
    try:
        return call()
    except JudgedError as error:
        return str(error)


def test_what_was_cut_cannot_be_restated() -> None:
    cut = Rankings.from_run({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, policy={"depth": 1})
    assert error_of(restated, cut, Policy(), error=PolicyError) == (
        "these rankings were cut or condensed, which cannot be undone here."
    )


USUAL = ["P@3", "P(rel=2)@4", "DCG@3", "DCG(gain=exp)", "RBP@4", "RBP(p=0.5)", "NumRelRet@3"]


def adding() -> list[Measure]:
    """Measures that promise to add up, of all that do so."""
    draw = Random(15)
    found = list(map(parse_measure, USUAL))
    for spec in REGISTRY.values():
        if spec.adds is not None:
            some = [random_measure(spec, draw) for _ in range(12)]
            found += [measure for measure in some if spec.adds(measure.params)]
    assert {"P", "DCG", "RBP"} <= {measure.spec.name for measure in found[len(USUAL) :]}
    return found


def joint_rankings(
    judgements: Lists, runs: tuple[Lists, Lists], k: int | None, **options: Any
) -> list[tuple[Rankings, Rankings]]:
    rankings = [rank(judgements, run, **options) for run in runs]
    policy = Policy.of(options.get("policy"))
    joint = Listings.of(
        read_judgements(judgements), [read_run(run) for run in runs], ties=policy.ties
    )
    top = rankings[0].top_grade
    return [*joint.judged((0, rankings[0]), (1, rankings[1]), top=top, cutoff=k)]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"depth": 3},
    {"policy": {"ties": "input"}},
    {"policy": {"ties": "best"}, "depth": 4},
    {"policy": {"ties": "worst"}},
    {"policy": {"ties": "expected"}, "depth": 2},
    {"policy": {"ties": "expected"}},
    {"policy": {"unjudged": "removed"}, "depth": 4},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("k", [1, 3, None])
def test_rankings_are_those_of_judgements_made_by_loops(
    options: dict[str, Any], k: int | None
) -> None:
    options = {"collection": 20, **options}
    policy = Policy.of(options.get("policy"))
    draw = Random(f"{options} {k}")
    for seed in range(6):
        judgements, *two = cases(seed)
        runs = two[0], two[1]
        made = joint_rankings(judgements, runs, k, **options)
        end = inf if k is None else k
        for found, (run, against) in zip(made, (runs, runs[::-1]), strict=True):
            depth = options.get("depth")
            by_loops = judged_by_loops(judgements, run, against, policy, depth, end)
            for own, listed in zip(found, runs, strict=True):
                wanted = rank(by_loops, listed, **options)
                for name in (
                    *("hit_query", "hit_rank", "hit_grade", "pool_query", "pool_grade"),
                    *("retrieved", "missing", "hit_tie_first", "hit_tie_last"),
                ):
                    known = getattr(wanted, name)
                    assert getattr(own, name).tolist() == known.tolist(), (seed, name)
                for spec in draw.sample(list(PLAIN.values()), 3):
                    measure = random_measure(REGISTRY[spec.name], draw)
                    values = measure.compute(own), measure.compute(wanted)
                    np.testing.assert_array_equal(*values, err_msg=str(measure))


def difference(
    measure: Measure, judgements: Lists, runs: tuple[Lists, Lists], **options: Any
) -> np.ndarray:
    one, other = (rank(judgements, run, **options).evaluate([measure]) for run in runs)
    return one.scored().values[measure] - other.scored().values[measure]


@pytest.mark.parametrize("options", [{}, {"depth": 3}, {"policy": {"ties": "input"}}], ids=str)
def test_of_measures_that_add_up_no_judging_goes_further(options: dict[str, Any]) -> None:
    measures = adding()
    moved = 0
    for seed in range(3):
        judgements, *two = cases(seed, items=4)
        runs = two[0], two[1]
        ways: Lists = {}
        copies: tuple[Lists, Lists] = ({}, {})
        starts = []
        for query, own in judgements.items():
            listed = {item: None for run in runs for item in run.get(query, {})}
            unjudged = [item for item in listed if own.get(item, -1) < 0]
            starts.append(len(ways))
            for number, grades in enumerate(product((0, 1, 2), repeat=len(unjudged))):
                name = f"{query}/{number}"
                ways[name] = {**own, **dict(zip(unjudged, grades, strict=True))}
                for copy, run in zip(copies, runs, strict=True):
                    if query in run:
                        copy[name] = run[query]
        for measure in measures:
            every = difference(measure, ways, copies, **options)
            low, high = (f.reduceat(every, starts) for f in (np.minimum, np.maximum))
            k = measure.params.get("k")
            best, worst = (
                measure.compute(run) - measure.compute(against)
                for run, against in joint_rankings(judgements, runs, k, **options)
            )
            best, worst = np.nan_to_num(best), np.nan_to_num(worst)
            np.testing.assert_allclose(best, high, atol=1e-12, err_msg=str(measure))
            np.testing.assert_allclose(worst, low, atol=1e-12, err_msg=str(measure))
            moved += int((high > low).sum())
    assert moved > 50


def test_worked_by_hand() -> None:
    # Run: a u v, against: w u a; a is judged 1, grades go to 3. In favour of the run v and nothing
    # else: u stands second in both, and w only in the other.
    judgements = {"q": {"a": 1}, "other": {"b": 3}}
    runs = {"q": {"a": 3.0, "u": 2.0, "v": 1.0}}, {"q": {"w": 3.0, "u": 2.0, "a": 1.0}}
    best, worst = joint_rankings(judgements, runs, None)
    assert best[0].hit_grade.tolist() == [1, 0, 3]
    assert best[1].hit_grade.tolist() == [0, 0, 1]
    assert best[0].pool_grade.tolist() == [3, 1, 0, 0, 3]
    assert worst[0].hit_grade.tolist() == [1, 0, 0]
    assert worst[1].hit_grade.tolist() == [3, 0, 1]
    # Down to rank 2 nobody looks at v.
    best, _ = joint_rankings(judgements, runs, 2)
    assert best[0].hit_grade.tolist() == [1, 0]
    assert best[0].pool_grade.tolist() == [1, 0, 0, 3]


def test_queries_that_are_looked_at_apart_stay_out() -> None:
    judgements, *two = cases(4)
    whole = joint_rankings(judgements, (two[0], two[1]), None)
    some = np.array([5, 1, 7])
    rankings = [rank(judgements, run).take(some) for run in two]
    joint = Listings.of(read_judgements(judgements), [read_run(run) for run in two])
    ends = joint.judged((0, rankings[0]), (1, rankings[1]), top=2.0)
    for pair, wanted in zip(ends, whole, strict=True):
        for own, known in zip(pair, wanted, strict=True):
            assert own.queries == known.take(some).queries
            assert own.hit_grade.tolist() == known.take(some).hit_grade.tolist()
            assert own.pool_grade.tolist() == known.take(some).pool_grade.tolist()


def test_judgements_by_subtopic_are_refused() -> None:
    judgements = read_judgements({"q": {"a": {"1": 1, "2": 0}}})
    rankings = rank(judgements, run := read_run({"q": ["a", "b"]}))
    runs = (0, rankings), (0, rankings)
    judged = Listings.of(judgements, [run]).judged
    assert error_of(judged, *runs, top=1, error=PolicyError) == (
        "the judgements: judged by subtopic, where an unjudged result may serve one subtopic and "
        "not another, so an unjudged range has no meaning. Leave out unjudged_range."
    )
