"""Which values of an unjudged range are bounds: against all judgements that the results could have
got."""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from judged import Evaluation, Rankings
from judged.evaluation.scores import UNJUDGED_ENDS
from judged.measures import REGISTRY, parse_measure
from support.evaluating import evaluate, rank
from support.rankings import PLAIN, random_measure

LEVELS = (0, 1, 2, 4)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"depth": 3},
    {"policy": {"unjudged": "removed"}},
    {"policy": {"ties": "best"}},
    {"policy": {"ties": "worst"}},
]


@cache
def cases(option: int) -> tuple[Rankings, Rankings, list[int]]:
    """Some queries with unjudged results, every way to judge these as queries of their own, and how
    many there are of each."""
    draw = Random(option)
    judgements, run, ways, runs, counts = {}, {}, {}, {}, []
    # The top grade of all judgements, with nothing to retrieve.
    judgements["top"] = {"x": 4}
    ways["top"] = {"x": 4}
    for at in range(12):
        items = [f"d{number}" for number in range(draw.randint(1, 5))]
        run[f"q{at}"] = {item: float(draw.choice([1, 2, 3])) for item in items}
        shown = sorted(items, key=lambda item, own=run[f"q{at}"]: (own[item], item), reverse=True)
        shown = shown[: OPTIONS[option].get("depth")]
        unjudged = draw.sample(shown, min(len(shown), 3))
        known = {item: draw.choice(LEVELS) for item in items if item not in unjudged}
        known |= {item: draw.choice(LEVELS) for item in ("x", "y")[: draw.randint(0, 2)]}
        # A negative grade is no judgement.
        pooled = {item: -1 for item in unjudged if draw.random() < 0.3}
        judgements[f"q{at}"] = known | pooled or {"x": 0}
        every = list(product(LEVELS, repeat=len(unjudged)))
        counts.append(len(every))
        for number, grades in enumerate(every):
            given = judgements[f"q{at}"] | dict(zip(unjudged, grades, strict=True))
            ways[f"q{at}/{number}"], runs[f"q{at}/{number}"] = given, run[f"q{at}"]
    options = {"collection": 20, **OPTIONS[option]}
    return (rank(judgements, run, **options), rank(ways, runs, **options), counts)


@pytest.mark.parametrize("name", [name for name in PLAIN if PLAIN[name].monotone is not None])
def test_no_judgements_give_a_value_outside_the_bounds(name: str) -> None:
    draw = Random(name)
    for option in range(len(OPTIONS)):
        few, every, counts = cases(option)
        starts = np.cumsum(counts) - counts
        for _ in range(3):
            measure = random_measure(REGISTRY[name], draw)
            if not measure.monotone:
                loose = measure.params.get("k") == "R" or measure.params.get("of") == "all"
                assert loose or "gains" in measure.params or name == "Rank"
                continue
            found = few.evaluate([measure]).showing(unjudged_range=True)
            assert "scenarios" not in repr(found)
            ends = [found.scored().others[end].values[measure][1:] for end in UNJUDGED_ENDS]
            values = every.evaluate([measure]).scored().values[measure][1:]
            about = f"{measure} {OPTIONS[option]}"
            low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
            close: Any = {"rtol": 1e-9, "atol": 1e-12, "err_msg": about}
            np.testing.assert_allclose(np.minimum(*ends), low, **close)
            np.testing.assert_allclose(np.maximum(*ends), high, **close)


def scenarios(evaluation: Evaluation) -> list[str]:
    return [text for text in evaluation.sentences() if "two scenarios" in text]


def test_a_value_outside_the_two_of_average_precision() -> None:
    # a was not found: x at rank 1 and y at rank 5 give (1 + 2/5) / 3, and x alone 1/2.
    judgements = {"q": {"a": 1, "b": 0, "c": 0, "d": 0}}
    run = {"q": ["x", "b", "c", "d", "y"]}
    found = evaluate(judgements, run, ["AP", "P@2"]).showing(unjudged_range=True)
    assert found.unjudged_range("AP") == pytest.approx((0, 7 / 15))
    judged = {"q": {**judgements["q"], "x": 1, "y": 0}}
    assert evaluate(judged, run, "AP").value() == 0.5
    [said] = scenarios(found)
    assert said == (
        "warning: The unjudged range of AP shows two scenarios, not bounds. If only some unjudged "
        "results are relevant, a value may lie outside."
    )


@pytest.mark.parametrize("name", [name for name in PLAIN if PLAIN[name].monotone is None])
def test_other_measures_say_that_theirs_are_scenarios(name: str) -> None:
    measure = parse_measure(name)
    measure = measure(k=3) if measure.spec.at == "k" else measure
    found = evaluate({"q": {"a": 1, "z": 0}}, {"q": ["x", "a"]}, measure, collection=9).showing(
        unjudged_range=True
    )
    assert len(scenarios(found)) == 1


def test_no_bounds_where_a_query_counts_only_with_something_relevant() -> None:
    # In q2 nothing is relevant and it is left out; were one of its two results relevant, it would
    # count with 1/2 and the mean would be 3/4, below both.
    judgements, run = {"q1": {"a": 1, "b": 1}, "q2": {"c": 0}}, {"q1": ["a", "b"], "q2": ["x", "y"]}
    policy = {"empty": "skip"}
    found = evaluate(judgements, run, "P@2", policy=policy).showing(unjudged_range=True)
    assert found.unjudged_range() == (1, 1)
    judged = {**judgements, "q2": {"x": 1, "y": 0}}
    assert evaluate(judged, run, "P@2", policy=policy).value() == 0.75
    assert len(scenarios(found)) == 1
    assert not scenarios(evaluate(judgements, run, "P@2").showing(unjudged_range=True))


def test_an_estimate_is_no_bound() -> None:
    items = [f"d{number}" for number in range(12)]
    judgements = {"q": {item: at % 4 for at, item in enumerate(items[:9])}}
    run = {"q": dict.fromkeys(items, 1.0)}
    found = evaluate(judgements, run, "ERR", policy={"ties": "expected"}).showing(
        unjudged_range=True
    )
    assert len(scenarios(found)) == 1
