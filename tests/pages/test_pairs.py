"""The compare panel and the queries that differ most, held against the comparison."""

from __future__ import annotations

import judged
from judged.web.pages.pairs import panel
from judged.web.views.compare import largest_differences

JUDGEMENTS = {str(q): {"a": 1, "b": 0} for q in range(20)}
OLD = {str(q): ["b", "a"] if q % 2 else ["a"] for q in range(20)}
NEW = {str(q): ["a"] if q % 3 else ["x", "y", "a"] for q in range(20)}


def compared(**options: object) -> judged.Comparison:
    return judged.compare(JUDGEMENTS, {"old": OLD, "new": NEW}, "RR, P@1", **options)  # type: ignore[arg-type]


def test_the_panel_says_what_the_pair_says() -> None:
    found = compared()
    shown = panel(found, measure="RR", places={"old": 4, "new": 2})
    pair = found.pair(measure="RR")
    assert shown["pair"] == pair
    assert (shown["place"], shown["against_place"]) == (2, 4)
    assert [(name, text) for name, text, _ in shown["facts"]] == [
        ("effect size d_z", "0.04"),
        ("paired t, p", "0.8660"),
        ("corrected p", "0.8660"),
        ("detectable difference", "0.288"),
    ]
    assert shown["done"] == (
        "Test: paired t; correction: none needed for 1 comparison of each measure; "
        "confidence level: 95 %."
    )


def test_what_could_turn_a_verdict() -> None:
    open_ = panel(compared(), measure="RR")["risks"]
    assert [(cause, could) for cause, _, could in open_] == [("ties", False), ("unjudged", None)]
    assert open_[0][1] == "No judged result of either system is tied."
    looked = panel(compared(unjudged_range=True), measure="RR", unjudged=True)["risks"]
    assert looked[1][2] is True
    assert looked[1][1].startswith("With the unjudged results judged, the verdict could be ")
    assert looked[1][1].endswith("77 % and 100 % of the top-10 results are judged.")


def test_ties_that_could_turn_a_verdict() -> None:
    tied = {str(q): {"a": 1.0, "b": 1.0} for q in range(20)}
    found = judged.compare(JUDGEMENTS, {"old": OLD, "new": tied}, "RR")
    (ties,) = panel(found)["risks"]
    assert ties[2] is True
    assert ties[1] == "With ties broken the other way, the verdict could be better."


STRIPS = ("strip", "against_strip")


def test_the_queries_that_differ_most() -> None:
    found = compared()
    shown = largest_differences(found, measure="RR", most=3)
    assert [row["query"] for row in shown["first"]] == ["1", "11", "13"]
    assert [row["difference"] for row in shown["first"]] == [0.5, 0.5, 0.5]
    assert [row["difference"] for row in shown["last"]][-1] == 1 / 3 - 1
    assert shown["between"] == 20 - 6
    sides = [[cell.kind for cell in shown["first"][0][side][:3]] for side in STRIPS]
    assert sides == [["relevant", "nothing", "nothing"], ["irrelevant", "relevant", "nothing"]]
    assert {row["relevant"] for row in shown["first"]} == {1}


def test_few_queries_are_shown_once_each() -> None:
    runs = {"old": {"1": ["a"], "2": ["b", "a"]}, "new": {"1": ["b", "a"], "2": ["a"]}}
    found = judged.compare({"1": {"a": 1}, "2": {"a": 1}}, runs, "RR")
    shown = largest_differences(found)
    assert [row["query"] for row in (*shown["first"], *shown["last"])] == ["2", "1"]
    assert shown["between"] == 0


def test_a_lower_value_that_is_better() -> None:
    found = judged.compare(JUDGEMENTS, {"old": OLD, "new": NEW}, "Rank")
    shown = largest_differences(found, most=1)
    assert shown["first"][0]["difference"] > 0
