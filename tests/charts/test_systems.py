"""Values of systems with intervals: those of the comparison or of the evaluation."""

from __future__ import annotations

from typing import Any

import pytest

import judged
from judged.charts.kinds.intervals import systems
from judged.charts.svg import THEMES
from judged.errors import InputError

QUERIES = [f"q{at}" for at in range(12)]
JUDGEMENTS = {query: {"x": 1, "y": 1} for query in QUERIES}
RUNS = {
    "low": {query: ["n", "m", "x"] for query in QUERIES},
    "high": {query: ["x", "y"] if at % 3 else ["n", "x"] for at, query in enumerate(QUERIES)},
    "middle": {query: ["n", "x", "y"][at % 2 :] for at, query in enumerate(QUERIES)},
}


def test_the_numbers_are_those_of_the_comparison_the_best_first() -> None:
    found = judged.compare(JUDGEMENTS, RUNS, ["AP", "Rank"], level=0.9)
    table = systems(found).data
    assert table["measure"].to_list() == ["AP"] * 3 + ["Rank"] * 3
    for name in ("AP", "Rank"):
        part = table.filter(table["measure"] == name)
        assert part["run"].to_list() == [place.run for place in found.leaderboard(name)]
        for place, row in zip(found.leaderboard(name), part.rows(named=True), strict=True):
            interval = found.interval(name, place.run)
            assert row["value"] == place.value == found.value(name, place.run)
            assert (row["rank_low"], row["rank_high"]) == (place.rank_low, place.rank_high)
            known = interval.known
            assert (row["low"], row["high"]) == (
                (interval.low, interval.high) if known else (None, None)
            )
            assert (row["method"], row["note"]) == (interval.method, interval.note)
            assert (row["queries"], row["level"]) == (12, 0.9)
            assert list(RUNS)[row["place"]] == place.run
    ap = table.filter(table["measure"] == "AP")
    rank = table.filter(table["measure"] == "Rank")
    assert ap["value"].is_sorted(descending=True)
    assert rank["value"].is_sorted()
    assert rank["higher_is_better"].to_list() == [False] * 3


def test_an_evaluation_has_the_same_values_and_no_ranks() -> None:
    evaluation = judged.evaluate(JUDGEMENTS, RUNS, ["AP", "Rank"])
    of_one, of_other = systems(evaluation).data, systems(evaluation.compare()).data
    ranks = ("rank_low", "rank_high")
    assert of_one.drop(ranks).equals(of_other.drop(ranks))
    assert of_one["rank_low"].null_count() == of_one.height
    for row in of_one.rows(named=True):
        interval = evaluation.interval(row["measure"], row["run"])
        assert row["value"] == evaluation.value(row["measure"], row["run"])
        assert row["low"] == (interval.low if interval.known else None)
    assert set(
        systems(judged.evaluate(JUDGEMENTS, RUNS, "AP").showing(intervals=True, level=0.8)).data[
            "level"
        ]
    ) == {0.8}


def test_a_system_keeps_its_colour_in_all_panels() -> None:
    chart = systems(judged.compare(JUDGEMENTS, RUNS, ["AP", "Rank"]))
    shades = dict(zip(RUNS, THEMES["light"].series, strict=False))
    for part in chart.spec["vconcat"]:
        for row in part["data"]["values"]:
            assert row["shade"] == shades[row["name"]]


def test_a_system_without_spread_has_an_open_mark_and_a_reason() -> None:
    # R-precision of "low" is 0 for every query, and AP the same everywhere.
    table = systems(judged.evaluate(JUDGEMENTS, RUNS, "AP")).data
    [low] = table.filter(table["run"] == "low").rows(named=True)
    assert (low["low"], low["high"]) == (None, None)
    assert low["note"]
    chart = systems(judged.evaluate(JUDGEMENTS, RUNS, "AP"))
    assert {row["name"]: row["known"] for row in _drawn(chart)} == {
        "high": True,
        "middle": True,
        "low": False,
    }


def test_what_is_said() -> None:
    chart = systems(judged.compare(JUDGEMENTS, RUNS, ["AP", "RR"], policy={"empty": "skip"}))
    assert chart.title == "Systems by AP and RR, the best first"
    assert chart.notes[:2] == (
        "Lines are 95 % intervals of each system alone; those of two may overlap where the "
        "difference is shown, so look at the differences.",
        "Ranks are those that the comparisons leave open.",
    )
    assert "Queries with nothing relevant are left out." in chart.notes
    words = {row["name"]: row["says"] for row in _drawn(chart)}
    assert words["low"] in ("rank 3", "rank 2–3")
    alone = systems(judged.evaluate(JUDGEMENTS, {"one": RUNS["high"]}, "AP"))
    assert alone.title == "one by AP"
    assert alone.notes[0] == "Lines are 95 % intervals of each system alone."


def test_infinite_values_are_said_and_not_drawn() -> None:
    runs = {"a": {query: ["x"] for query in QUERIES}, "b": {query: ["n"] for query in QUERIES}}
    chart = systems(judged.evaluate(JUDGEMENTS, runs, "Rank"))
    assert chart.data["run"].to_list() == ["a", "b"]
    assert [(row["value"], row["number"]) for row in _drawn(chart)] == [
        (1.0, "1.0000"),
        (None, "∞"),
    ]
    chart.to_svg()


def test_groups_are_said_and_counted() -> None:
    groups = {query: at // 3 for at, query in enumerate(QUERIES)}
    of_one = judged.evaluate(JUDGEMENTS, RUNS, "AP").showing(intervals=True, groups=groups)
    of_other = judged.compare(JUDGEMENTS, RUNS, "AP", groups=groups)
    for source in (of_one, of_other):
        chart = systems(source)
        assert "Queries of a group count together: 4 groups." in chart.notes
        [low] = chart.data.filter(chart.data["run"] == "middle")["low"]
        assert low == pytest.approx(of_other.interval("AP", "middle").low)


def test_repeats_are_one_system() -> None:
    runs = {"old": RUNS["low"], "new": judged.repeats(RUNS["high"], RUNS["middle"])}
    found = judged.compare(JUDGEMENTS, runs, "AP")
    table = systems(found).data
    assert table["run"].to_list() == ["new", "old"]
    assert table["value"][0] == found.value("AP", "new")


def test_what_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        systems(judged.Rankings.from_relevance([[1]]))  # type: ignore[arg-type]
    assert str(refused.value) == (
        "this chart is made from a comparison or an evaluation; got neither."
    )


def _drawn(chart: Any) -> list[dict[str, Any]]:
    return [row for part in chart.spec["vconcat"] for row in part["data"]["values"]]
