"""The calculation of a value, as pages show it: every number is the explanation's own."""

from __future__ import annotations

import math
from typing import Any

from judged import explain
from judged.measures import REGISTRY
from judged.web.pages.calculations import calculation_of
from judged.web.pages.templating import environment
from support.loops import for_each

GRADES = {"q": {"a": 3, "b": 2, "c": 0, "d": 1, "e": -1, "z": 2}}
RUN = {"q": {item: float(-at) for at, item in enumerate(["c", "a", "x", "b", "e", "d"])}}


def shown(view: dict[str, Any]) -> str:
    template = environment().from_string(
        '{% from "parts/sums.html" import sum %}{{ sum(view, "/playground") }}'
    )
    return template.render(view=view)


def test_ranks_with_what_each_adds() -> None:
    explanation = explain(GRADES, RUN, "nDCG@5")
    view = calculation_of(explanation)
    assert view["value"] == explanation.value
    assert [row["item"] for row in view["rows"]] == ["c", "a", "x", "b", "e", "d"]
    assert [row["cell"].kind for row in view["rows"]] == [
        *("irrelevant", "relevant", "unjudged", "relevant", "unjudged", "relevant")
    ]
    assert [row["counts"] for row in view["rows"]] == [True] * 5 + [False]
    assert view["rows"][5]["adds"] is None
    assert math.isclose(sum(row["adds"] or 0 for row in view["rows"]), explanation.value)
    assert view["most"] == max(row["adds"] or 0 for row in view["rows"])


def test_lines_with_their_meaning() -> None:
    view = calculation_of(explain("0 1 0 0 1 0 1 0 1 0", measure="AP", relevant=6))
    assert [(line["before"], line["value"], bool(line["says"])) for line in view["lines"]] == [
        ("N", "6", True),
        (
            "AP = (1/2 + 2/5 + 3/7 + 4/9) / 6 = (0.5 + 0.4 + 0.4286 + 0.4444) / 6 = 1.773 / 6",
            "0.2955",
            False,
        ),
    ]


def test_what_would_help_stands_apart() -> None:
    explanation = explain(GRADES, RUN, "AP")
    view = calculation_of(explanation)
    assert view["helps"] == explanation.improvement
    assert view["helps"].startswith("What would help most: ")
    assert view["helps"] not in view["sentences"]
    assert {*view["sentences"], view["helps"]} == set(explanation.to_dict()["sentences"])


def test_other_definitions() -> None:
    explanation = explain(GRADES, RUN, "nDCG@5")
    view = calculation_of(explanation)
    told = {str(each.measure): each.value for each in explanation.variants}
    assert view["others"]
    assert all(told[other["measure"]] == other["value"] for other in view["others"])
    assert "and 3 more" in view["others"][0]["says"]


def test_a_measure_without_a_value() -> None:
    view = calculation_of(
        explain({"q": {"a": 0}}, {"q": {"a": 1.0}}, "AP", policy={"empty": "skip"})
    )
    assert view["value"] is None
    assert view["lines"] == []
    assert "has no value here" in view["sentences"][0]
    assert "has no value here" in shown(view)


def test_steps_are_the_walk() -> None:
    explanation = explain("0 1 0 1", measure="AP")
    view = calculation_of(explanation)
    frames = explanation.animation.frames
    assert [(step["rank"], step["caption"], step["score"]) for step in view["steps"]] == [
        (frame.rank, frame.caption, frame.score) for frame in frames
    ]
    assert view["steps"][-1]["finished"]


def test_ranks_that_are_left_out_are_said() -> None:
    view = calculation_of(explain([0] * 60 + [1] + [0] * 20, measure="AP", rows=5))
    html = shown(view)
    assert "… 56 ranks not shown" in html
    assert "… 20 ranks not shown" in html


@for_each("name", sorted(REGISTRY))
def test_every_measure_can_be_shown(name: str) -> None:
    example = REGISTRY[name].example
    explanation = explain(example.rankings(), measure=example.measure)
    view = calculation_of(explanation)
    assert view["value"] is not None
    assert math.isclose(view["value"], example.value, abs_tol=1e-12)
    assert shown(view)
