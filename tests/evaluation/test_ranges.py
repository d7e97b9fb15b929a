"""Ranges: every number under other tie rules, and with unjudged results taken for judged."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest

from judged import Evaluation, Rankings
from judged.errors import PolicyError
from judged.evaluation.scores import UNJUDGED_ENDS
from judged.measures import parse_measure
from support.errors import error_of
from support.evaluating import evaluate
from support.generated import generate
from support.rankings import PLAIN, random_measure
from support.slow_judge import in_order

COLLECTION = generate(5, queries=12, items=40, longest=25)
MEASURES = [
    random_measure(spec, Random(name)) for name, spec in PLAIN.items() if spec.expected is not None
]
DRAWN = [parse_measure(name) for name in ("ERR", "Bpref", "infAP")]


def compute(**options: Any) -> Evaluation:
    return evaluate(
        COLLECTION.judgements, COLLECTION.run, [*MEASURES, *DRAWN], collection=2000, **options
    )


# -- unjudged


def judged_by_hand(grade: float, ties: str, depth: int | None) -> dict[str, dict[str, float]]:
    """The judgements, with this grade for every result down to the depth that has none, or a
    negative one."""
    result: dict[str, dict[str, float]] = {}
    for query, grades in COLLECTION.judgements.items():
        listed = in_order(list(COLLECTION.run.get(query, {}).items()), grades, ties)[:depth]
        result[query] = dict(grades) | {
            item: grade for item, _ in listed if grades.get(item, -1) < 0
        }
    return result


@pytest.mark.parametrize(
    ("ties", "depth"),
    [
        ("id", None),
        ("input", None),
        ("best", None),
        ("worst", None),
        ("expected", None),
        ("id", 3),
        ("id", 10),
        ("input", 5),
    ],
)
def test_an_unjudged_range_is_what_more_judgements_would_give(ties: str, depth: int | None) -> None:
    whole = compute(policy={"ties": ties}, depth=depth, unjudged_range=True)
    for name, grade in zip(UNJUDGED_ENDS, (0.0, 3.0), strict=True):
        judgements = judged_by_hand(grade, ties, depth)
        judged = evaluate(
            judgements,
            COLLECTION.run,
            whole.measures,
            collection=2000,
            policy={"ties": ties, "depth": depth},
        ).scored()
        other = whole.scored().others[name]
        for measure in whole.measures:
            if measure in other.errors:  # the same orders are drawn of other results
                off = np.abs(other.values[measure] - judged.values[measure])
                assert (
                    off <= 5 * np.hypot(other.errors[measure], judged.errors[measure]) + 1e-12
                ).all(), measure
                continue
            np.testing.assert_allclose(
                other.values[measure],
                judged.values[measure],
                rtol=1e-12,
                atol=1e-13,
                err_msg=f"{measure} {name}",
            )


@pytest.mark.parametrize("ties", ["best", "worst", "expected"])
def test_a_tie_across_the_depth_is_judged_to_its_end(ties: str) -> None:
    # x ties with a, and either may be the one result above the depth; y is below it in any order
    # and stays outside.
    judgements, run = {"q": {"a": 1}}, {"q": {"a": 2.0, "x": 2.0, "y": 1.0}}
    found = evaluate(judgements, run, "R", policy={"ties": ties, "depth": 1}).showing(
        unjudged_range=True
    )
    assert found.unjudged_range().relevant == 1 / 2
    assert (
        evaluate(judgements, run, "R", policy={"ties": "id", "depth": 1})
        .showing(unjudged_range=True)
        .unjudged_range()
        .relevant
        == 1 / 2
    )
    assert evaluate(judgements, run, "R", policy={"ties": "input", "depth": 1}).showing(
        unjudged_range=True
    ).unjudged_range() == (1, 1)


def test_the_top_grade_is_the_one_in_the_judgements() -> None:
    run = {"q": {"x": 2.0, "a": 1.0}}
    assert evaluate({"q": {"a": 3}}, run, "DCG@1").showing(
        unjudged_range=True
    ).unjudged_range() == (0.0, 3.0)
    assert evaluate({"q": {"a": 0}}, run, "DCG@1").showing(
        unjudged_range=True
    ).unjudged_range() == (0.0, 1.0)


def test_judgements_by_subtopic_have_no_unjudged_range() -> None:
    found = evaluate({"q": {"a": {"s": 1}}}, {"q": ["b", "a"]}, "alpha_DCG@2")
    assert error_of(found.unjudged_range, error=PolicyError) == (
        "run: judged by subtopic, where an unjudged result may serve one subtopic and not "
        "another, so an unjudged range has no meaning. Leave out unjudged_range."
    )


def test_lists_in_rank_order_have_an_unjudged_range_and_no_tie_range() -> None:
    rankings = Rankings.from_relevance([[1, None, 0]], relevant=[2])
    assert rankings.evaluate("R@2").showing(unjudged_range=True).unjudged_range() == pytest.approx(
        (1 / 2, 2 / 3)
    )
    assert error_of(rankings.evaluate("R@2").showing, tie_range=True, error=PolicyError) == (
        "these rankings were made with ties=input, which cannot be undone; make them again with "
        "ties=expected."
    )


# -- asking, and writing down

JUDGEMENTS = {"q1": {"a": 1, "c": 0}, "q2": {"d": 2}}
TIED = {"q1": {"b": 0.5, "a": 0.5, "c": 0.5}, "q2": {"d": 0.7, "e": 0.7}}
CLEAR = {"q1": {"a": 0.9, "b": 0.5}, "q2": {"d": 0.7, "e": 0.2}}


@pytest.fixture
def both() -> Evaluation:
    runs = {"tied": TIED, "clear": CLEAR}
    return evaluate(JUDGEMENTS, runs, ["RR", "ERR@2"]).showing(tie_range=True, unjudged_range=True)


def test_table_markdown_and_latex_have_a_row_a_measure(both: Evaluation) -> None:
    header, first = both.to_text().splitlines()[:2]
    assert header.split("  ")[-2:] == ["unjudged irrelevant", "unjudged relevant"]
    numbers = ["0.4167", "0.4167", "0.6806", "1.0000", "0.4167", "0.7500"]
    assert first.split() == ["tied", "RR", *numbers]
    assert both.to_markdown().splitlines()[0] == (
        "| run | measure | value | worst | expected | best | unjudged irrelevant | unjudged "
        "relevant |"
    )
    shown = "| tied | q1 | RR | 0.3333 | 0.3333 | 0.6111 | 1.0000 |"
    assert both.to_markdown(per_query=True).splitlines()[2].startswith(shown)
    assert f"tied & RR & {' & '.join(numbers)} \\\\" in both.to_latex().splitlines()


def test_json(both: Evaluation) -> None:
    run = json.loads(both.to_json(per_query=True))["runs"][0]
    assert list(run["tie_range"]) == ["worst", "expected", "best"]
    assert list(run["unjudged_range"]) == ["irrelevant", "relevant"]
    assert run["tie_range"]["expected"]["scores"]["RR"] == both.tie_range("RR", "tied").expected
    assert run["tie_range"]["best"]["per_query"]["q1"]["RR"] == 1
    assert run["unjudged_range"]["relevant"]["scores"]["RR"] == 0.75
    plain = evaluate(JUDGEMENTS, TIED, "RR").to_dict()["runs"][0]
    assert "tie_range" not in plain
    assert "unjudged_range" not in plain
