from __future__ import annotations

from typing import get_args

import pytest

from judged import InputError
from judged.charts.kinds.pairs import TieOrder, rank_flow
from judged.policy import CHOICES

JUDGEMENTS = {"q1": {"a": 1, "b": 0, "c": 1, "d": 1}, "q2": {"e": 1}}
OLD = {"q1": ["x", "a", "b"], "q2": ["e"]}
NEW = {"q1": ["a", "x", "y", "c", "b"], "q2": ["e"]}


def test_the_ranks_in_both_systems() -> None:
    table = rank_flow(JUDGEMENTS, {"old": OLD, "new": NEW}, query="q1").data
    # d is in neither list.
    assert table.select("item", "relevant", "a", "b").rows() == [
        ("a", True, 2, 1),
        ("c", True, None, 4),
        ("b", False, 3, 5),
    ]
    assert table.select("run_a", "run_b", "query").row(0) == ("old", "new", "q1")


def test_the_query_that_moves_most_is_chosen() -> None:
    # q1: 1 - 1/2 for a and 1/4 for c; q2 stays as it is.
    chart = rank_flow(JUDGEMENTS, {"old": OLD, "new": NEW})
    assert chart.title == "From old to new, query q1"
    assert chart.notes[0] == "Of 2 relevant items with another rank, 2 rose and 0 fell."
    assert chart.notes[-1] == "The query is the one in which relevant items move most."


def test_ties_are_broken_as_said() -> None:
    runs = {"old": {"q": {"a": 1.0, "b": 1.0}}, "new": {"q": {"a": 2.0, "b": 1.0}}}
    assert rank_flow({"q": {"a": 1}}, runs).data["a"].to_list() == [2]
    assert rank_flow({"q": {"a": 1}}, runs, ties="input").data["a"].to_list() == [1]
    with pytest.raises(InputError) as refused:
        rank_flow({"q": {"a": 1}}, runs, ties="expected")
    assert str(refused.value) == "ties must be one of id, input, best, worst; got 'expected'."


def test_many_items_are_cut_and_the_chart_says_so() -> None:
    items = [f"i{at:03}" for at in range(60)]
    judgements = {"q": dict.fromkeys(items, 1)}
    chart = rank_flow(judgements, {"old": {"q": items}, "new": {"q": items[::-1]}})
    assert chart.data.height == 60
    assert "The 20 relevant items with the best ranks are shown, of 60." in chart.notes


def test_relevant_items_are_shown_before_others() -> None:
    items = [f"i{at:03}" for at in range(60)]
    judgements = {"q": {item: int(at >= 57) for at, item in enumerate(items)}}
    chart = rank_flow(judgements, {"old": {"q": items}, "new": {"q": items[:5] + items[::-1][:40]}})
    assert chart.data["item"].to_list()[:4] == ["i059", "i058", "i057", "i000"]
    shown = {row["item"] for row in chart.spec["layer"][0]["data"]["values"]}
    assert {"i057", "i058", "i059"} < shown
    assert len(shown) == 20
    assert (
        "All relevant items are shown, and 17 of 57 that are judged and not relevant, by their "
        "ranks." in chart.notes
    )


@pytest.mark.parametrize(
    ("runs", "query", "message"),
    [
        (
            OLD,
            None,
            "this chart compares two runs, given as {name: run, name: run} or two paths; got 1.",
        ),
        (
            {"old": OLD, "new": NEW},
            "q3",
            "There is no query 'q3'. The queries are q1, q2.",
        ),
    ],
)
def test_what_is_refused(runs, query, message) -> None:
    with pytest.raises(InputError) as refused:
        rank_flow(JUDGEMENTS, runs, query=query)
    assert str(refused.value) == message


def test_every_rule_for_ties_that_gives_one_rank_is_offered() -> None:
    assert {*get_args(TieOrder), "expected"} == set(CHOICES["ties"])
