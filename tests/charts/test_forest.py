"""Differences with intervals: the table is the comparison's, and nothing is told by colour only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import judged
from judged.charts.kinds.intervals import forest
from judged.charts.lines import MOST_INTERVALS as MOST
from judged.charts.svg import THEMES
from judged.comparison.verdicts import VERDICTS
from judged.errors import InputError


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
        assert len({look.colour for look in looks.values()}) == len(VERDICTS)
        assert len({look.sign for look in looks.values()}) == len(VERDICTS)
    drawn = _drawn(forest(comparison))
    for row, each in zip(comparison.rows, drawn, strict=True):
        assert each["shade"] == THEMES["light"].verdicts[row.verdict].colour
        assert each["says"].partition(" ")[2].startswith(row.verdict)
        assert each["known"] == (not math.isnan(row.interval.low))
        assert each["margin"] == 0.01


def test_a_row_without_interval_says_why_in_the_table() -> None:
    table = forest(every_verdict()).data
    bare = table.filter(table["low"].is_null()).select("run", "high", "note").rows()
    assert bare == [
        ("same", None, "no query differs"),
        ("few", None, "too few queries differ"),
    ]
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


def test_the_terms_are_said() -> None:
    notes = forest(judged.compare_values(values({"a": 0, "b": 1}), test="randomisation")).notes
    assert (
        "Test: paired randomisation; correction: none needed for 1 comparison of value; confidence "
        "level: 95 %; 9,999 resamples, seed 0." in notes
    )


def test_what_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        forest(judged.Rankings.from_relevance([[1]]))  # type: ignore[arg-type]
    assert str(refused.value) == (
        "this chart is made from a comparison, as judged.compare and Evaluation.compare make it; "
        "got something else."
    )
    many = values({f"run{at}": 0 for at in range(30)}, queries=8)
    with pytest.raises(InputError) as refused:
        forest(judged.compare_values(many))
    assert str(refused.value) == (
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
