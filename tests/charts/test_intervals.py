"""Values and differences with intervals, ranges, and power."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged import Rankings, evaluate
from judged.charts.kinds.intervals import forest, power, ranges, systems
from judged.charts.lines import MOST_INTERVALS as MOST
from judged.charts.svg import THEMES
from judged.comparison.verdicts import VERDICTS
from support.errors import error_of
from support.loops import for_each

# -- forest


def values(runs: dict[str, float], queries: int = 40, seed: int = 0) -> dict[str, dict[str, float]]:
    """Runs that are a shift apart on the same queries, each with noise of its own."""
    draw = np.random.default_rng(seed)
    hard = draw.normal(size=queries)
    return {
        run: {
            f"q{at}": float(value)
            for at, value in enumerate(hard + shift + 0.1 * draw.normal(size=queries))
        }
        for run, shift in runs.items()
    }


def every_verdict() -> judged.Comparison:
    """A baseline, and one run for each verdict against it."""
    known = values({"base": 0.0, "up": 0.2, "down": -0.2, "noisy": 0.0, "near": 0.0})
    base = known["base"]
    known["near"] = {q: v + 1e-4 * (-1) ** at for at, (q, v) in enumerate(base.items())}
    draw = np.random.default_rng(2)
    known["noisy"] = {q: v + float(draw.normal()) for q, v in base.items()}
    known["same"] = dict(base)
    known["few"] = {q: v + (5.0 if q in ("q1", "q2") else 0) for q, v in base.items()}
    return judged.compare_values(known, baseline="base", margin=0.01)


def test_the_numbers_are_those_of_the_comparison_in_its_order() -> None:
    comparison = judged.compare_values(values({"a": 0, "b": 0.2, "c": 0.25}), margin=0.3)
    table = forest(comparison).data
    assert len(comparison.rows) == table.height == 3
    for row, drawn in zip(comparison.rows, table.rows(named=True), strict=True):
        for name in ("measure", "run", "against", "queries", "groups", "value", "against_value"):
            assert drawn[name] == getattr(row, name)
        for name in ("difference", "p", "corrected_p", "verdict", "negligible", "says"):
            assert drawn[name] == getattr(row, name)
        assert (drawn["low"], drawn["high"]) == (row.interval.low, row.interval.high)
        assert (drawn["method"], drawn["note"]) == (row.interval.method, row.interval.note)
        assert (drawn["margin"], drawn["level"]) == (0.3, 0.95)
    assert forest(comparison).data.equals(table)


def test_every_verdict_has_a_colour_a_mark_and_a_word_of_its_own() -> None:
    comparison = every_verdict()
    assert {row.verdict for row in comparison.rows} == set(VERDICTS)
    for theme in THEMES.values():
        looks = theme.verdicts
        assert set(looks) == set(VERDICTS)
        assert len({colour for colour, _, _ in looks.values()}) == len(VERDICTS)
        assert len({sign for _, _, sign in looks.values()}) == len(VERDICTS)
    drawn = _drawn(forest(comparison))
    for row, each in zip(comparison.rows, drawn, strict=True):
        assert each["shade"] == THEMES["light"].verdicts[row.verdict][0]
        assert each["says"].partition(" ")[2].startswith(row.verdict)
        assert each["known"] == (not math.isnan(row.interval.low))
        assert each["margin"] == 0.01


def test_a_row_without_interval_says_why_in_the_table() -> None:
    table = forest(every_verdict()).data
    bare = table.filter(table["low"].is_null()).select("run", "high", "note").rows()
    assert bare == [("same", None, "no query differs"), ("few", None, "too few queries differ")]
    chart = forest(every_verdict())
    assert (
        "An open mark has no interval, for want of queries that differ or of spread (2)."
        in chart.notes
    )
    assert [each["interval"] for each in _drawn(chart)].count("no interval") == 2


def test_a_correction_that_is_more_careful_than_the_interval_is_said() -> None:
    for seed in range(200):
        comparison = judged.compare_values(
            values({"base": 0, "b": 0.04, "c": 0.0, "d": 0.0}, seed=seed), baseline="base"
        )
        careful = [
            row
            for row in comparison.rows
            if row.p < 0.05 and row.corrected_p >= 0.05 and row.verdict == "not significant"
        ]
        if careful:
            break
    drawn = {each["name"]: each["says"] for each in _drawn(forest(comparison))}
    assert drawn[careful[0].run] == "● not significant, would count alone"


def test_what_a_verdict_depends_on_is_said() -> None:
    # Ties decide: a ties the relevant item with another in every query, b has it first.
    queries = [f"q{at}" for at in range(12)]
    judgements = {query: {"x": 1} for query in queries}
    runs = {
        "a": {query: {"x": 1.0, "y": 1.0} for query in queries},
        "b": {query: {"x": 2.0, "y": 1.0} for query in queries[:-1]}
        | {queries[-1]: {"x": 1.0, "y": 2.0}},
    }
    chart = forest(judged.compare(judgements, runs, "RR"))
    [row] = chart.data.rows(named=True)
    assert row["depends_on"] == "ties"
    assert _drawn(chart)[0]["says"].endswith(", depends on ties")


def test_one_pair_has_its_measures_under_each_other_where_they_share_a_range() -> None:
    queries = [f"q{at}" for at in range(9)]
    judgements = {query: {"x": 1, "y": 1} for query in queries}
    runs = {
        "old": {query: ["n", "x", "y"] for query in queries},
        "new": {query: ["x", "n", "y"][at % 2 :] for at, query in enumerate(queries)},
    }
    two = judged.compare(judgements, runs, ["AP", "Rank", "RR"])
    assert forest(two).data.select("measure", "panel").rows() == [("AP", 0), ("Rank", 1), ("RR", 0)]
    chart = forest(two)
    assert chart.title == "new against old, measure by measure"
    assert [row.says in chart.notes for row in two.rows] == [True, True, True]
    assert [each["name"] for each in _drawn(chart)] == ["AP", "RR", "Rank (lower is better)"]
    assert [_title(part) for part in chart.spec["vconcat"]] == ["new minus old"] * 2
    three = judged.compare(judgements, runs | {"other": runs["old"]}, ["AP", "Rank"])
    chart = forest(three)
    assert chart.title == "Differences of all pairs"
    assert chart.data["panel"].to_list() == [0, 0, 0, 1, 1, 1]
    assert [_title(part) for part in chart.spec["vconcat"]] == [
        "AP: first minus second",
        "Rank (lower is better): first minus second",
    ]
    chart = forest(judged.compare(judgements, runs | {"other": runs["old"]}, "AP", baseline="old"))
    assert chart.title == "AP: differences from old"
    assert _title(chart.spec["vconcat"][0]) == "AP: run minus old"


def test_what_is_infinite_is_said_and_ends_with_the_axis() -> None:
    queries = [f"q{at}" for at in range(12)]
    judgements = {query: {"x": 1} for query in queries}
    runs = {
        "old": {query: ["x"] for query in queries},
        "new": {query: ["y"] if at % 2 else ["y", "x"] for at, query in enumerate(queries)},
    }
    chart = forest(judged.compare(judgements, runs, "Rank", test="sign"))
    [row] = _drawn(chart)
    assert (row["value"], row["number"]) == (None, "+∞")
    assert chart.data["difference"].to_list() == [math.inf]
    assert any(note.startswith("The sign test counts the queries") for note in chart.notes)
    chart.to_svg()


def test_what_is_refused() -> None:
    assert error_of(forest, judged.Rankings.from_relevance([[1]])) == (
        "this chart is made from a comparison, as judged.compare and Evaluation.compare make it; "
        "got something else."
    )
    many = values({f"run{at}": 0 for at in range(30)}, queries=8)
    assert error_of(forest, judged.compare_values(many)) == (
        f"a chart has room for {MOST} rows; got 435: name a baseline, or compare fewer runs or "
        "measures."
    )


def _drawn(chart: Any) -> list[dict[str, Any]]:
    return [row for part in chart.spec["vconcat"] for row in part["data"]["values"]]


def _title(part: dict[str, Any]) -> str:
    titles = {
        layer["encoding"]["x"]["title"]
        for layer in part["layer"]
        if "title" in layer["encoding"].get("x", {})
    }
    [title] = titles
    return str(title)


# -- systems


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
    assert "Queries without relevant items are left out." in chart.notes
    words = {row["name"]: row["says"] for row in _drawn(chart)}
    assert words["low"] in ("rank 3", "rank 2–3")
    alone = systems(judged.evaluate(JUDGEMENTS, {"one": RUNS["high"]}, "AP"))
    assert alone.title == "one by AP"
    assert alone.notes[0] == "Lines are 95 % intervals of each system alone."


def test_other_sources_of_systems_are_errors() -> None:
    assert (
        error_of(systems, judged.Rankings.from_relevance([[1]]))
        == "this chart is made from a comparison or an evaluation; got neither."
    )


# -- ranges


def test_a_tie_and_an_unjudged_result() -> None:
    # a and b tie: RR is 1/2 or 1, 3/4 on average. The unjudged b may be relevant: then RR is 1.
    table = ranges(evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR"), measures="RR").data
    assert table.select("reason", "low", "expected", "high").rows() == [
        ("ties", 0.5, 0.75, 1.0),
        ("unjudged", 0.5, None, 1.0),
    ]
    # ties=id: b comes before a.
    assert table["value"].to_list() == [0.5, 0.5]


def test_rankings_that_know_nothing_of_ties() -> None:
    assert ranges(Rankings.from_relevance([[0, None, 1]]), measures="RR").data[
        "reason"
    ].to_list() == ["unjudged"]
    assert error_of(ranges, Rankings.from_relevance([[0, 1]]), measures="RR") == (
        "these rankings have no ranges to show: their ties are unknown, and all their results are "
        "judged."
    )


def test_a_number_that_may_be_infinite() -> None:
    missing = evaluate({"p": {"a": 1}, "q": {"a": 1}}, {"p": {"a": 1.0}}, "RR")
    assert error_of(ranges, missing, measures="Rank") == (
        "Rank of run may be infinite, so its range cannot be drawn; use another measure or policy."
    )


# -- power


PLAN = judged.plan(difference=0.02, sd=0.1)
PILOT = judged.plan(difference=0.05, pilot=np.linspace(-0.2, 0.2, 41))


def test_every_point_is_the_power_of_a_plan() -> None:
    table = power(PLAN).data
    assert table["curve"].unique(maintain_order=True).to_list() == [
        *("0.01", "0.015", "0.02", "0.03", "0.04")
    ]
    for row in table.sample(8, seed=1).rows(named=True):
        again = judged.plan(difference=row["difference"], sd=0.1, queries=row["queries"])
        assert row["power"] == again.power
        assert row["power_low"] is row["power_high"] is None
    assert (table["queries"].min(), table["queries"].max()) == (6, 398)


def test_the_point_of_the_plan_is_among_them() -> None:
    [own] = power(PLAN).data.filter(pl.col("asked") & (pl.col("queries") == 199)).rows(named=True)
    assert (own["curve"], own["planned"], own["power"]) == ("0.02", 199, PLAN.power)


def test_a_pilot_has_a_band() -> None:
    table = power(PILOT).data
    row = table.filter(curve="0.05", queries=PILOT.queries).row(0, named=True)
    for end, sd in zip(("power_high", "power_low"), PILOT.sd_interval or (), strict=True):
        again = judged.plan(difference=0.05, sd=sd, queries=PILOT.queries)
        assert row[end] == pytest.approx(again.power)
    assert row["power_low"] < row["power"] < row["power_high"]
    assert "area" in json.dumps(power(PILOT).spec)
    assert "area" not in json.dumps(power(PLAN).spec["layer"])


@for_each(
    "change, message",
    [
        (
            {"what": "temperature sweep"},
            "this is a temperature sweep, not a plan; make one with judged.plan or `judged plan … "
            "-o FILE.json`.",
        ),
        ({"sd": 0}, "the plan: 'sd' must be above 0; got 0."),
        ({"queries": 2}, "the plan: 'queries' must be from 6 to 1000000000; got 2."),
        ({"differences": []}, "the plan has no differences to show; make it again."),
    ],
)
def test_what_is_no_plan(change: dict[str, Any], message: str) -> None:
    assert error_of(power, PLAN.to_dict() | change) == message
