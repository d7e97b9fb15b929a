"""Whatever definition computed a number, the search finds it again from its printed digits."""

from __future__ import annotations

import random
from math import isfinite
from typing import Any

import pytest

from judged import Policy, evaluate, identify
from judged.conventions.candidates import (
    COMMON,
    CUTOFFS,
    OPTIONS,
    all_rankings,
    compute,
    measures_in,
    spaces,
)
from judged.errors import MeasureError
from judged.inputs import read_judgements, read_run
from judged.matching.matcher import match_variants
from judged.matching.ties import Variants
from judged.measures import Measure, parse_measure
from judged.rankings.rankings import Rankings
from judged.results import Identification
from support.generated import Collection, generate
from support.loops import for_each

DATA = {
    "ties and gaps": generate(401, queries=9, items=24, longest=12),
    "no ties": generate(402, queries=7, items=24, longest=12, ties=False),
    "nothing relevant": generate(403, queries=8, items=16, longest=10, grades=(*[0] * 12, 1)),
    "complete": generate(404, queries=6, items=20, longest=12, gaps=False, grades=(0, 1, 2)),
}
NAMED = [
    *("AP@10", "AP(norm=capped)", "nDCG@10", "P", "R@5", "F@3", "RR", "Success@3", "Rprec"),
    *("Bpref", "RBP@10", "ERR@5", "DCG@5"),
]


def every_measure(given: Collection, name: str) -> list[Measure]:
    r = Rankings.from_run(given.judgements, given.run)
    return [measure for space in spaces(name, r) for measure in measures_in(space)]


def value_of(given: Collection, measure: Measure, policy: Policy) -> float | None:
    """The number by an evaluation; None where there is none, or only an estimate from random orders
    of ties."""
    try:
        evaluation = evaluate(given.judgements, given.run, measure, policy=policy)
    except MeasureError:
        return None
    return None if evaluation.scored().errors else evaluation.value()


def lists(found: Identification, value: float, name: str) -> bool:
    """Whether a number is among those that fit, as one of a measure."""
    return any(
        match.value == pytest.approx(value, abs=1e-10)
        and match.definition.measure.spec.name == name
        for match in found.matches
    )


@for_each("name", NAMED)
@for_each("data", DATA)
def test_a_random_definition_is_found_again(data: str, name: str) -> None:
    given, draw = DATA[data], random.Random(f"{data} {name}")
    value = None
    while value is None or value != value:
        measure = draw.choice(every_measure(given, name))
        policy = Policy(**{choice: draw.choice(options) for choice, options in OPTIONS.items()})
        value = value_of(given, measure, policy)
    found = identify(f"{value:.4f}", given.judgements, given.run, name)
    assert lists(found, value, measure.spec.name), (measure, policy, value)
    assert found.nearest == ()


@pytest.mark.parametrize("data", DATA)
def test_every_number_of_the_grid_is_that_of_an_evaluation(data: str) -> None:
    """The search settles and averages by itself; it must agree with `evaluate`, definition by
    definition."""
    given, draw = DATA[data], random.Random(data)
    known, run = read_judgements(given.judgements), read_run(given.run)
    rankings = all_rankings(match_variants(known, run, Policy()))
    tried = spaces(None, rankings["id", "nonrelevant"])
    grid = compute((measure for space in tried for measure in measures_in(space)), rankings)
    assert {measure.spec.name for measure in grid.measures} == set(COMMON)
    for row in draw.sample(range(len(grid.measures)), 60):
        place = tuple(draw.randrange(len(options)) for options in OPTIONS.values())
        policy = Policy(
            **{
                choice: options[at]
                for (choice, options), at in zip(OPTIONS.items(), place, strict=True)
            }
        )
        expected = value_of(given, grid.measures[row], policy)
        value = grid.values[(row, *place)]
        if value == value and expected is not None:
            assert value == pytest.approx(expected, abs=1e-12)
        elif value == value:
            assert policy.ties == "expected"
        elif expected is not None and isfinite(expected):
            # The mean over all orders is tried where it has a closed form.
            r = rankings[policy.ties, policy.unjudged]
            assert policy.ties == "expected"
            assert not grid.measures[row].closed(r).known.all()


@pytest.mark.parametrize("measure", ["AP(norm=capped)@10", "nDCG(gain=exp)@5", "P(rel=2)@3"])
def test_without_a_measure_it_is_found_too(measure: str) -> None:
    given = DATA["ties and gaps"]
    value = evaluate(given.judgements, given.run, measure, policy={"missing": "skip"}).value()
    assert lists(
        identify(f"{value:.6f}", given.judgements, given.run),
        value,
        parse_measure(measure).spec.name,
    )


def tried(name: str | None, judgements: Any, run: Any) -> dict[str, dict[str, tuple[Any, ...]]]:
    return {spec.name: values for spec, values in spaces(name, Rankings.from_run(judgements, run))}


def test_what_is_tried() -> None:
    judgements = {"q": {"a": 3, "b": 1, "c": 0, "d": -1}}
    run = {"q": ["a", "x", "y", "b"]}
    every = tried(None, judgements, run)
    assert every["AP"]["k"] == (None, *CUTOFFS, "R", 4)
    assert every["AP"]["rel"] == (1, 3)
    assert every["AP"]["aggregate"] == ("mean", "geometric")
    assert every["P"]["aggregate"] == ("mean",)
    assert every["Rank"]["aggregate"] == ("mean", "median")
    assert every["ERR"]["max_grade"] == (4, 3)
    assert every["nDCG"]["ideal"] == ("judged", "retrieved", "shown", "cutoff")
    assert every["RBP"]["p"] == (0.8, 0.5, 0.9, 0.95)


def test_what_is_given_is_not_searched() -> None:
    judgements, run = {"q": {"a": 1}}, {"q": ["a"]}
    values = tried("AP(norm=capped)@10", judgements, run)["AP"]
    assert (values["k"], values["norm"], values["area"]) == (
        (10,),
        ("capped",),
        ("step", "trapezoid", "interpolated"),
    )
    assert tried("GMAP", judgements, run)["AP"]["aggregate"] == ("geometric",)
    assert tried("MAP", judgements, run)["AP"]["aggregate"] == (
        "mean",
        "geometric",
        "median",
        "sum",
    )
    assert tried("map_cut_5", judgements, run)["AP"]["k"] == (5,)


def test_rankings_are_made_once_where_nothing_changes_them() -> None:
    def judge_again(ties: str) -> Any:
        raise AssertionError(f"judged again with ties={ties}")

    usual = Rankings.from_run({"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}})
    assert all(r is usual for r in all_rankings(Variants(usual, judge_again)).values())
