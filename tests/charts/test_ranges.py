from __future__ import annotations

import pytest

from judged import InputError, Rankings, evaluate
from judged.charts.kinds.intervals import ranges


def test_a_tie_and_an_unjudged_result() -> None:
    # a and b tie: RR is 1/2 or 1, 3/4 on average. The unjudged b may be relevant: then RR is 1.
    table = ranges(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR"), measures="RR").data
    assert table.select("reason", "low", "expected", "high").rows() == [
        ("ties", 0.5, 0.75, 1.0),
        ("unjudged", 0.5, None, 1.0),
    ]
    # ties=id: b comes before a.
    assert table["value"].to_list() == [0.5, 0.5]


def test_a_measure_that_is_better_when_lower_still_goes_from_low_to_high() -> None:
    table = ranges(
        evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR"), measures=["Rank"]
    ).data
    assert table.filter(reason="ties").select("low", "expected", "high").rows() == [(1, 1.5, 2)]


def test_results_that_are_all_judged_have_no_such_range() -> None:
    table = ranges(evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 0.5}}, "RR")).data
    assert table["reason"].unique().to_list() == ["ties"]


def test_removed_results_have_no_such_range() -> None:
    evaluation = evaluate(
        {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR", policy={"unjudged": "removed"}
    )
    assert ranges(evaluation).data["reason"].unique().to_list() == ["ties"]


def test_rankings_that_know_nothing_of_ties() -> None:
    assert ranges(Rankings.from_relevance([[0, None, 1]]), measures="RR").data[
        "reason"
    ].to_list() == ["unjudged"]
    with pytest.raises(InputError) as refused:
        ranges(Rankings.from_relevance([[0, 1]]), measures="RR")
    assert str(refused.value) == (
        "these rankings know nothing of ties, and all their results are judged: there is no range "
        "to show."
    )


def test_a_number_that_may_be_infinite() -> None:
    with pytest.raises(InputError) as refused:
        ranges(evaluate({"p": {"a": 1}, "q": {"a": 1}}, {"p": {"a": 1.0}}, "RR"), measures="Rank")
    assert str(refused.value) == (
        "Rank of run may be infinite, so there is no range to draw; take another measure or policy."
    )
