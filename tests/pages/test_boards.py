"""The leaderboard as pages show it, held against what evaluation and comparison say."""

from __future__ import annotations

import math

import pytest

import judged
from judged.evaluation.evaluation import Evaluation
from judged.web.pages.boards import board
from support.errors import error_of

JUDGEMENTS = {str(q): {"a": 1, "b": 0, "c": 2} for q in range(12)}
GOOD = {str(q): ["a", "c", "b"] if q % 3 else ["c", "b", "a"] for q in range(12)}
POOR = {str(q): ["b", "x", "y", "a"] if q % 2 else ["x", "y", "c"] for q in range(12)}
COPY = dict(GOOD)


def evaluated(
    measures: str = "RR, P@2, Rank", policy: dict[str, str] | None = None, **shown: bool
) -> Evaluation:
    runs = {"poor": POOR, "good": GOOD, "copy": COPY}
    evaluation = judged.evaluate(JUDGEMENTS, runs, measures, policy=policy)
    return evaluation.showing(intervals=True, **shown)


def test_rows_have_the_numbers_of_the_evaluation_best_first() -> None:
    found = evaluated()
    shown = board(found, found.compare())
    assert [row["name"] for row in shown["rows"]] == ["good", "copy", "poor"]
    for row in shown["rows"]:
        for cell, measure in zip(row["cells"], found.measures, strict=True):
            interval = found.interval(measure, row["name"])
            assert cell["value"] == found.value(measure, row["name"])
            assert (cell["low"], cell["high"]) == pytest.approx(
                (interval.low, interval.high), nan_ok=True
            )
    assert [row["ranks"] for row in shown["rows"]] == ["1–2", "1–2", "3"]
    assert [row["place"] for row in shown["rows"]] == [1, 2, 0]


def test_a_lower_rank_is_the_better_one() -> None:
    found = evaluated()
    shown = board(found, found.compare(), by="Rank")
    assert [row["name"] for row in shown["rows"]] == ["good", "copy", "poor"]
    assert (shown["by"], shown["order"], shown["descending"]) == ("Rank", "Rank", False)
    turned = board(found, found.compare(), by="Rank", ascending=False)
    assert [row["name"] for row in turned["rows"]] == ["poor", "good", "copy"]
    assert [row["ranks"] for row in turned["rows"]] == ["3", "1–2", "1–2"]


def test_sorting_by_name_and_by_share_keeps_the_ranks_of_the_first_measure() -> None:
    found = evaluated()
    by_name = board(found, found.compare(), by="system")
    assert [row["name"] for row in by_name["rows"]] == ["copy", "good", "poor"]
    assert (by_name["by"], by_name["order"]) == ("RR", "system")
    by_share = board(found, found.compare(), by="judged@10")
    assert [row["judged"] for row in by_share["rows"]] == [1.0, 1.0, pytest.approx(5 / 12)]
    assert [row["few"] for row in by_share["rows"]] == [False, False, True]


def test_a_column_that_is_not_there_is_refused() -> None:
    assert error_of(board, evaluated(), by="P@3") == (
        "unknown column 'P@3' to sort by; did you mean 'P@2'? "
        "The columns are RR, P@2, Rank, system, judged@10."
    )


def test_differences_are_those_to_the_baseline() -> None:
    found = evaluated()
    against = found.compare(baseline="poor")
    shown = board(found, against)
    assert [row["is_baseline"] for row in shown["rows"]] == [False, False, True]
    assert shown["rows"][0]["cells"][0]["against"] == against.pair("good", "poor", "RR")
    assert shown["rows"][2]["cells"][0]["against"] is None


def test_numbers_that_moved_know_what_they_were() -> None:
    before, now = evaluated(), evaluated(policy={"unjudged": "removed"})
    shown = board(now, before=before)
    good, poor = shown["rows"][0], shown["rows"][2]
    assert good["cells"][0]["before"] is None
    assert poor["cells"][0]["before"] == before.value("RR", "poor")
    assert poor["cells"][0]["move"] == now.value("RR", "poor") - before.value("RR", "poor")
    assert shown["moved"]
    assert not board(now, before=now)["moved"]


def test_ranges_say_how_far_a_number_could_go() -> None:
    found = evaluated("RR, nDCG@2", tie_range=True, unjudged_range=True)
    shown = board(found, ranges=found)
    poor = next(row for row in shown["rows"] if row["name"] == "poor")
    ties, unjudged = poor["cells"][0]["ranges"]
    for cell, about, ends in (
        (ties, "ties", found.tie_range("RR", "poor")[::2]),
        (unjudged, "unjudged", found.unjudged_range("RR", "poor")),
    ):
        assert (cell["about"], cell["low"], cell["high"]) == (about, *ends)
    assert unjudged["sure"]
    # The ideal of nDCG grows with what is relevant.
    assert not poor["cells"][1]["ranges"][1]["sure"]


def test_scales_hold_everything_that_is_drawn_on_them() -> None:
    found = evaluated("RR", tie_range=True, unjudged_range=True)
    (column,) = board(found, ranges=found)["columns"]
    for row in board(found, ranges=found)["rows"]:
        (cell,) = row["cells"]
        ends = [*(cell[name] for name in ("value", "low", "high"))]
        ends += [reach["high"] for reach in cell["ranges"]]
        low, high = column["scale"]
        assert all(low < end < high for end in ends if math.isfinite(end))


def test_a_measure_without_values_stands_last() -> None:
    judgements = {"1": {"a": 0}}
    found = judged.evaluate(
        judgements, {"one": {"1": ["a"]}}, "RR", policy={"empty": "skip"}
    ).showing(intervals=True)
    shown = board(found)
    assert shown["heading"].title == "No system has a value on RR"
    assert shown["columns"][0]["scale"] == (0.0, 1.0)


def test_differences_on_fewer_queries_say_so() -> None:
    judgements = {str(q): {"a": 1} for q in range(6)}
    whole = {str(q): ["a"] for q in range(6)}
    part = {str(q): ["b", "a"] for q in range(4)}
    found = judged.evaluate(
        judgements, {"whole": whole, "part": part}, "RR", policy={"missing": "skip"}
    )
    against = found.compare(baseline="whole")
    assert board(found, against)["notes"] == [
        "part has other queries than whole. Values are of each system's queries, differences of "
        "the queries that count in both."
    ]
    same = judged.evaluate(judgements, {"one": whole, "two": whole}, "RR")
    assert board(same, same.compare(baseline="one"))["notes"] == []
