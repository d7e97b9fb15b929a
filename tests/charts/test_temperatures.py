"""Charts of temperature sweeps and of studies of training temperatures."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged.charts.canvas import loss_axis, temperature_axis, ticks
from judged.charts.kinds.distributions import calibration_error
from judged.charts.kinds.temperatures import (
    temperature,
    temperature_probabilities,
    temperature_reliability,
    temperature_study,
)
from judged.charts.sweep import Record, temperature_of, three
from support.errors import error_of
from support.loops import for_each
from support.temperatures import at, made_study, made_sweep, scores_from, sweep

# -- temperature


# Two queries with scores 1 and 0, the first right and the second wrong, at temperature 1 and as
# good as 0: p = e / (1 + e) = 0.7311 for the top item; losses are ln(1 + 1/e) = 0.3133 and ln(1 +
# e) = 1.3133, 0.8133 on average.
SCORES = np.array([[1.0, 0.0], [1.0, 0.0]])
RELEVANT = np.array([[True, False], [False, True]])
SMALL = sweep(SCORES, RELEVANT, [0.01, 1.0])


def value(table: pl.DataFrame, curve: str, place: float) -> float:
    [found] = table.filter(curve=curve, temperature=place)["value"].to_list()
    return float(found)


def test_the_numbers_of_two_queries_worked_by_hand() -> None:
    table = temperature(SMALL).data
    assert value(table, "queries to items", 1.0) == pytest.approx((0.31326169 + 1.31326169) / 2)
    assert value(table, "confidence", 1.0) == pytest.approx(0.73105858)
    assert value(table, "accuracy", 1.0) == 0.5
    # One bin holds both: |0.7311 - 0.5|. At 0.01 the confidence is 1.
    assert value(table, "calibration error", 1.0) == pytest.approx(0.23105858)
    assert value(table, "calibration error", 0.01) == pytest.approx(0.5)
    # -0.7311 ln 0.7311 - 0.2689 ln 0.2689
    assert value(table, "entropy", 1.0) == pytest.approx(0.58220311)
    # The wrong one loses by 1 / 0.01.
    assert value(table, "queries to items", 0.01) == pytest.approx(50.0)


def test_every_curve_is_the_twin_at_every_temperature() -> None:
    scores, relevant = scores_from(5, queries=12, items=30)
    table = temperature(sweep(scores, relevant, [0.01, 0.1, 1.0], both=True)).data
    fields = {
        "queries to items": "loss",
        "items to queries": "loss_back",
        "mean of both": "loss_both",
        "entropy": "entropy",
        "confidence": "confidence",
        "accuracy": "accuracy",
        "calibration error": "calibration_error",
    }
    assert table["curve"].unique(maintain_order=True).to_list() == list(fields)
    for each in (0.01, 0.1, 1.0):
        twin = at(scores, relevant, each, both=True)
        shown = {field: value(table, name, each) for name, field in fields.items()}
        assert shown == pytest.approx({field: twin[field] for field in shown}, rel=1e-4, abs=1e-9)


def test_the_subtitle_says_which_softmax_and_that_the_ranking_stays() -> None:
    chart = temperature(
        {
            **made_sweep(7, (0.001, 0.1, 1.0), queries=30, items=30),
            "ranking": {"measures": {"AP": 0.6123, "nDCG@10": 0.9045}},
            "notes": ["Two queries are left out."],
        }
    )
    assert chart.notes == (
        "Full-corpus softmax: each query against all 30 items. 30 queries, similarity cosine.",
        "The ranking is the same at every temperature, and with it AP 0.6123 and nDCG@10 0.9045.",
        "Two queries are left out.",
    )
    batch = temperature({**SMALL, "softmax": "batch"})
    assert batch.notes[0] == (
        "In-batch softmax: each query against the 2 items of its batch. 2 queries, "
        "similarity cosine."
    )


def test_a_best_temperature_at_the_edge_is_said() -> None:
    # One query that is right: the lower the temperature, the lower the loss and the calibration
    # error.
    chart = temperature(sweep(SCORES[:1], RELEVANT[:1], [0.1, 1.0]))
    assert chart.notes[2] == (
        "The temperature of the lowest loss and that of the best calibration is the outermost that "
        "was swept; a better one may lie beyond."
    )
    one = temperature({**sweep(SCORES[:1], RELEVANT[:1], [0.1, 1.0]), "best_calibrated": None})
    assert one.notes[2] == (
        "The temperature of the lowest loss is the outermost that was swept; a better one "
        "may lie beyond."
    )


@for_each(
    "changed, message",
    [
        (
            {"what": None},
            "this is no temperature sweep; make one with judged.temperature.sweep or `judged "
            "temperature … -o FILE.json`.",
        ),
        (
            {"what": "temperature study"},
            "this is a temperature study, not a temperature sweep; "
            "make one with judged.temperature.sweep or `judged temperature … -o FILE.json`.",
        ),
        (
            {"temperatures": SMALL["temperatures"][::-1]},
            "the temperature sweep must have temperatures, each above the one before; make it "
            "again.",
        ),
        (
            {"temperatures": [{**SMALL["temperatures"][0], "loss": "low"}]},
            "the temperature sweep, temperatures 1: 'loss' must be a number; got 'low'.",
        ),
        (
            {"temperatures": [{**SMALL["temperatures"][0], "temperature": -1.0}]},
            "a temperature must be a number above 0, from 1e-06 to 1e+06; got -1.0.",
        ),
    ],
)
def test_what_is_no_sweep(changed: dict[str, Any], message: str) -> None:
    assert error_of(temperature, {**SMALL, **changed}) == message


# -- temperature probabilities


# One query whose scores differ by ln 2 each: at temperature 1 the odds are 4 : 2 : 1, at 1/2 16 : 4
# : 1, at 1/4 256 : 16 : 1.
ODDS = np.log(2) * np.array([[1.0, 2.0, 0.0]])
THREE_ITEMS = sweep(ODDS, np.array([[False, True, False]]), [0.25, 0.5, 1.0])
THREE_ITEMS["best_loss"] = {"temperature": 0.5}


def test_probabilities_worked_by_hand() -> None:
    table = temperature_probabilities(THREE_ITEMS).data
    assert table["name"].unique(maintain_order=True).to_list() == ["sharp", "medium", "smooth"]
    for name, shares in (
        ("smooth", [4 / 7, 2 / 7, 1 / 7]),
        ("medium", [16 / 21, 4 / 21, 1 / 21]),
        ("sharp", [256 / 273, 16 / 273, 1 / 273]),
    ):
        part = table.filter(name=name)
        assert part["probability"].to_list() == pytest.approx(shares)
        # All three items are shown, so there is no rest.
        assert part.select("rank_from", "rank_to").rows() == [(1, 1), (2, 2), (3, 3)]


def test_further_ranks_are_one_row_and_all_add_up_to_one() -> None:
    found = made_sweep(7, (0.01, 0.05, 0.2, 1.0), queries=10, items=40)
    table = temperature_probabilities(found).data
    for name in ("sharp", "medium", "smooth"):
        own = table.filter(name=name)
        assert own.height == 11
        assert own.select("rank_from", "rank_to").row(-1) == (11, 40)
        assert own["probability"].sum() == pytest.approx(1)
    rows = {row["temperature"]: row["probabilities"] for row in found["temperatures"]}
    assert (
        table.filter(name="medium")["probability"].to_list()[:10]
        == rows[table.filter(name="medium")["temperature"][0]]
    )


# -- temperature reliability


# Four queries with scores 1 and 0, of which three are right: confidence is 1 / (1 + exp(-1/t)) for
# all of them.
FOUR_QUERIES = sweep(
    np.array([[1.0, 0.0]] * 4), np.array([[True, False]] * 3 + [[False, True]]), [0.2, 0.5, 1.0]
)
FOUR_QUERIES["best_loss"] = {"temperature": 0.5}


def test_bins_worked_by_hand() -> None:
    table = temperature_reliability(FOUR_QUERIES).data
    assert table["name"].to_list() == ["sharp", "medium", "smooth"]
    assert table["count"].to_list() == [4, 4, 4]
    assert table["share_relevant"].to_list() == [0.75, 0.75, 0.75]
    # 1 / (1 + e^-5), 1 / (1 + e^-2), 1 / (1 + e^-1)
    assert table["score"].to_list() == pytest.approx([0.99330715, 0.88079708, 0.73105858])
    assert table["calibration_error"].to_list() == pytest.approx(
        [0.24330715, 0.13079708, 0.01894142]
    )
    # 0.7311 is in the eleventh of fifteen bins.
    assert table.select("score_from", "score_to").row(2) == pytest.approx((10 / 15, 11 / 15))


def test_the_error_in_the_title_is_that_of_the_bins() -> None:
    table = temperature_reliability(
        made_sweep(7, (0.005, 0.02, 0.08, 0.3), queries=50, items=40)
    ).data
    assert table["name"].n_unique() == 3
    for part in table.partition_by("name"):
        assert calibration_error(part) == pytest.approx(part["calibration_error"][0])
        assert part["count"].sum() == 50
        assert part["count"].min() > 0


def test_every_diagram_has_its_error_and_the_same_axis_of_counts() -> None:
    chart = temperature_reliability(FOUR_QUERIES, theme="dark")
    svg = chart.to_svg()
    for words in (
        "sharp: 0.2, ECE 0.243",
        "medium: 0.5, ECE 0.131",
        "smooth: 1, ECE 0.019",
        "confidence in the top item",
        "queries",
    ):
        assert f">{words}<" in svg
    counts = [
        panel["vconcat"][1]["encoding"]["y"]["scale"]["domain"] for panel in chart.spec["concat"]
    ]
    assert counts == [[0, 4]] * 3


# -- temperature study


STUDY = made_study(7, (0.01, 0.1, 1.0))


def changed(**more: Any) -> dict[str, Any]:
    """The study with its first trained row changed."""
    found = json.loads(json.dumps(STUDY))
    found["rows"][1] |= more
    return found


def test_a_row_for_each_temperature_panel_and_curve() -> None:
    table = temperature_study(STUDY).data
    assert " | ".join(table["panel"].unique(maintain_order=True)) == (
        "AP | nDCG@10 | RR | loss | of the top item | alignment | uniformity | iterations"
    )
    expected = {"AP": (1, 1), "loss": (2, 0), "alignment": (1, 1), "iterations": (2, 0)}
    for panel, (curves, untrained) in expected.items():
        part = table.filter(panel=panel)
        assert part.height == curves * 3 + untrained
        assert part["temperature"].null_count() == untrained
    row, table = STUDY["rows"][2], table.filter(temperature=0.1)
    bounds = table.filter(panel="AP").select("value", "low", "high").row(0)
    assert bounds == tuple(row["measures"]["AP"].values())
    assert table.filter(curve="to the best")["value"].to_list() == [row["best_iteration"]]
    assert table.filter(curve="training")["value"].to_list() == [row["training_loss"]]


@for_each(
    "low, high, differs",
    [(0.01, 0.2, True), (-0.2, -0.01, True), (-0.01, 0.01, False), (0.0, 0.1, False), (None,) * 3],
)
def test_a_point_differs_where_the_interval_of_the_difference_leaves_out_zero(
    low: float | None, high: float | None, differs: bool | None
) -> None:
    ends = {"estimate": 0.1, "low": low, "high": high}
    table = temperature_study(changed(differences=dict.fromkeys(STUDY["measures"], ends))).data
    assert table.filter(panel="AP", temperature=0.01)["differs"].to_list() == [differs]


def test_without_bounds_there_is_no_bar_but_a_point() -> None:
    one = {"estimate": 0.7, "low": None, "high": float("nan")}
    study = changed(measures=dict.fromkeys(STUDY["measures"], one))
    row = temperature_study(study).data.filter(panel="AP", temperature=0.01)
    assert row.select("value", "low", "high").row(0) == (0.7, None, None)
    assert temperature_study(study).to_png()[:4] == b"\x89PNG"


def test_the_chart_has_its_words() -> None:
    chart = temperature_study(STUDY, theme="dark")
    assert chart.notes == (
        "Similarity two-tower-linear, trained with 180 queries and stopped by 60. "
        "All but training loss and iterations is of 60 held-out queries.",
        "Bars are 95% intervals of the mean; the band is that of the untrained similarity. "
        "Filled points differ from it, query by query.",
    )
    svg = chart.to_svg()
    assert svg.count(">untrained<") == 5
    words = "AP nDCG@10 RR held-out training confidence accuracy alignment uniformity"
    for word in (*words.split(), "to the best"):
        assert f">{word}<" in svg


@for_each(
    "study, message",
    [
        (
            {"what": "temperature sweep"},
            "this is a temperature sweep, not a temperature study; make one with "
            "judged.temperature.sweep(train=True) or `judged temperature --train … -o FILE.json`.",
        ),
        (
            {"rows": []},
            "this is no temperature study; make one with "
            "judged.temperature.sweep(train=True) or `judged temperature --train … -o FILE.json`.",
        ),
        (
            {**STUDY, "rows": STUDY["rows"][:1]},
            "the temperature study must have training temperatures, each above the one before; "
            "make it again.",
        ),
        (changed(loss="low"), "the temperature study, rows 2: 'loss' must be a number; got 'low'."),
    ],
)
def test_what_is_no_study(study: dict[str, Any], message: str) -> None:
    assert error_of(temperature_study, study) == message


# -- sweep


def swept(*temperatures: float, best: float) -> Record:
    rows = [{"temperature": temperature} for temperature in temperatures]
    return Record(
        "the temperature sweep", {"temperatures": rows, "best_loss": {"temperature": best}}
    )


def names(sweep: Record) -> dict[str, float]:
    return {name: temperature_of(row) for name, row in three(sweep)[0].items()}


def test_medium_is_nearest_to_the_lowest_loss_and_the_others_to_a_quarter_and_four_times() -> None:
    # A quarter of 0.09 is 0.0225, by ratio nearer to 0.02 than to 0.05; four times is 0.36.
    sweep = swept(0.001, 0.02, 0.05, 0.1, 0.2, 0.4, 5.0, best=0.09)
    assert names(sweep) == {"sharp": 0.02, "medium": 0.1, "smooth": 0.4}
    assert three(sweep)[1] == (
        "Medium is the temperature nearest to the lowest loss, at 0.09; the others to a quarter "
        "and to four times of it."
    )


def test_at_an_end_of_the_sweep_there_are_two_and_it_is_said() -> None:
    assert names(swept(0.01, 0.1, best=0.01)) == {"medium": 0.01, "smooth": 0.1}
    assert three(swept(0.01, 0.1, best=0.01))[1].endswith("at 0.01; no sharper one was swept.")
    assert three(swept(0.01, 0.1, best=0.1))[1].endswith("at 0.1; no smoother one was swept.")
    assert three(swept(0.1, best=0.1))[1].endswith("at 0.1; no sharper or smoother one was swept.")


# -- axes


@given(st.floats(-6, 6), st.floats(-6, 6), st.integers(4, 9))
def test_ticks_are_few_distinct_ascending_and_within(a: float, b: float, most: int) -> None:
    low, high = sorted((10**a, 10**b))
    if high / low < 1.05:
        low, high = low / 2, high * 2
    found = ticks(low, high, most)
    assert 1 <= len(found) <= most
    assert found == sorted(set(found))
    assert all(low * 0.999 <= each <= high * 1.001 for each in found)
    # Short to read: no more than three digits that matter.
    assert all(float(f"{each:.3g}") == each for each in found) or high / low < 1.2


def test_one_temperature_has_an_axis_around_it() -> None:
    assert temperature_axis(0.1, 0.1, title="temperature")["scale"]["domain"] == [0.05, 0.2]


def test_losses_far_apart_are_spread_by_their_logarithm() -> None:
    approx = pytest.approx
    assert loss_axis(1.0, 5.0)[1:] == (0.0, approx(5.3), False)
    axis, *ends = loss_axis(5.5, 110.0)
    assert (ends, axis["axis"]["values"]) == ([approx(5), approx(121), True], [10, 30, 100])
    # A loss of nearly nothing is nearly nothing, and rounding is not magnified.
    axis, *ends = loss_axis(1e-18, 100.0)
    assert (ends, axis["axis"]["values"]) == ([0.0, approx(110), True], [0, 1, 10, 100])
    assert not loss_axis(1e-18, 1.5)[3]
    assert loss_axis(0.0, 1e-20)[1:] == (0.0, 1.0, False)
