"""Curves: precision and recall, measures at every cutoff, CMC and ROC, worked by hand."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest

from judged import Rankings, evaluate
from judged.charts.kinds.curves import (
    areas_under,
    cmc,
    confusion_at_k,
    eleven_point,
    measure_at_k,
    precision_recall,
    precision_recall_at_k,
    risk_coverage,
    roc,
)
from judged.errors import JudgedWarning, MeasureError
from judged.measures import parse_measure
from support.errors import error_of
from support.loops import for_each
from support.rankings import random_queries, rankings_of

EIGHT = Rankings.from_relevance([[1, 0, 1, 1, 0, 1, 0, 0]])
TEN = [0, 1, 0, 0, 1, 0, 1, 0, 1, 0]
IMAGES = [0, 0, 1, 0, 1, 0, 0, 1, 0, 0]
PRECISION_OF_EIGHT = [1, 1 / 2, 2 / 3, 3 / 4, 3 / 5, 4 / 6, 4 / 7, 4 / 8]


def labels(chart) -> list[str]:
    """The names at the ends of lines."""
    spec = chart if isinstance(chart, dict) else chart.spec
    return [label["label"] for label in spec["layer"][-1]["data"]["values"]]


def by_curve(table: pl.DataFrame, curve: str, value: str) -> dict[str, list[float]]:
    parts = table.partition_by(curve, as_dict=True)
    return {name: part[value].to_list() for (name,), part in parts.items()}


# -- precision and recall


def test_the_saw_tooth_of_the_article_on_image_search() -> None:
    table = precision_recall(Rankings.from_relevance([IMAGES])).data
    # Relevant at 3, 5 and 8; the curve turns there and just before, at 2, 4 and 7, and ends at 10.
    assert table["rank"].to_list() == [2, 3, 4, 5, 7, 8, 10]
    assert table["relevant"].to_list() == [False, True, False, True, False, True, False]
    assert table["recall"].to_list() == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 1, 1])
    assert table["precision"].to_list() == pytest.approx(
        [0, 1 / 3, 1 / 4, 2 / 5, 2 / 7, 3 / 8, 3 / 10]
    )
    # The best precision from here on: 2/5 down to rank 5, then 3/8 at rank 8.
    assert table["interpolated"].to_list() == pytest.approx([0.4, 0.4, 0.4, 0.4, 0.375, 0.375, 0.3])
    # Steps: (1/3 + 2/5 + 3/8) / 3 = 133/360. Interpolated: (2/5 + 2/5 + 3/8) / 3 = 47/120.
    assert areas_under(table) == pytest.approx((133 / 360, 47 / 120))


def test_the_steps_of_ten_results_with_four_relevant() -> None:
    table = precision_recall(Rankings.from_relevance([TEN])).data
    # 1/2 + 2/5 + 3/7 + 4/9 = 1117/630, divided by 4.
    assert areas_under(table)[0] == pytest.approx(1117 / 2520)
    table = table.filter("relevant")
    assert table["rank"].to_list() == [2, 5, 7, 9]
    assert table["precision"].to_list() == pytest.approx([1 / 2, 2 / 5, 3 / 7, 4 / 9])
    assert table["recall_from"].to_list() == pytest.approx([0, 0.25, 0.5, 0.75])


def test_relevant_items_outside_the_list_leave_the_rest_of_recall_empty() -> None:
    table = precision_recall(Rankings.from_relevance([[1, 0]], relevant=[4])).data
    assert table["recall"].to_list() == [0.25, 0.25]
    assert areas_under(table)[0] == 0.25


def test_the_mean_of_two_curves() -> None:
    # One relevant item at rank 1: height 1 all along. One of two at rank 2: height 1/2 down to
    # recall 1/2, then 0.
    table = precision_recall(Rankings.from_relevance([[1], [0, 1]], relevant=[1, 2])).data
    assert table["precision"].to_list() == pytest.approx([0.75] * 50 + [0.5] * 50)
    assert table["queries"][0] == 2


@for_each("missing", ["zero", "skip"])
@for_each("empty", ["zero", "one", "skip"])
def test_the_area_of_the_mean_is_the_mean_ap_whatever_the_policy(empty: str, missing: str) -> None:
    for seed in range(5):
        rankings = rankings_of(random_queries(Random(seed), 20))
        evaluation = rankings.evaluate(
            ["AP", "AP(area=interpolated)"], policy={"empty": empty, "missing": missing}
        )
        expected = [evaluation.value(measure) for measure in evaluation.measures]
        assert areas_under(precision_recall(evaluation).data) == pytest.approx(expected, abs=1e-9)


def test_one_query_of_several() -> None:
    rankings = Rankings.from_relevance([TEN, IMAGES], queries=["phone", "watch"])
    chart = precision_recall(rankings, query="watch")
    assert chart.title == "Precision and recall of run, query watch: AP 0.3694"
    assert "The area under the interpolated curve is 0.3917; it is not AP." in chart.notes[0]


def test_queries_without_relevant_items_or_results_are_empty_curves() -> None:
    assert areas_under(precision_recall(Rankings.from_relevance([[0, 0]])).data) == (0, 0)
    perfect = evaluate({"q": {"a": 0}}, {"q": ["a"]}, "AP", policy={"empty": "one"})
    assert areas_under(precision_recall(perfect).data)[0] == pytest.approx(1)
    missing = evaluate({"p": {"a": 1}, "q": {"a": 1}}, {"p": ["a"]}, "AP")
    chart = precision_recall(missing, query="q")
    assert chart.title == "Precision and recall of run, query q: AP 0.0000"
    assert chart.to_svg()


def test_several_systems_have_a_curve_each_with_their_ap() -> None:
    runs = [
        Rankings.from_relevance([[1, 0], [0, 1]], name="a"),
        Rankings.from_relevance([[0, 1], [0, 1]], name="b"),
    ]
    chart = precision_recall(runs)
    assert chart.title == "Precision and recall"
    # a: 1 and 1/2; b: 1/2 twice.
    parts = chart.data.partition_by("run", maintain_order=True)
    assert [(part["run"][0], areas_under(part)[0]) for part in parts] == [
        ("a", pytest.approx(0.75)),
        ("b", pytest.approx(0.5)),
    ]
    svg = chart.to_svg()
    assert ">a: mean AP 0.7500<" in svg
    assert ">b: mean AP 0.5000<" in svg
    one = precision_recall(runs, query="1")
    assert one.title == "Precision and recall, query 1"
    assert ">a: AP 1.0000<" in one.to_svg()
    assert "Not interpolated: the area of a curve's steps is its AP." in one.notes


def test_eleven_points_of_the_article_on_image_search() -> None:
    # Relevant at 3, 5 and 8: precision 1/3, 2/5, 3/8. Down to recall 2/3 the best from there on is
    # 2/5, then 3/8.
    table = eleven_point(Rankings.from_relevance([IMAGES])).data
    assert table["recall"].to_list() == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert table["precision"].to_list() == pytest.approx([0.4] * 7 + [0.375] * 4)


# -- along k


def test_precision_at_every_cutoff() -> None:
    table = measure_at_k(EIGHT, measures="P").data
    assert table["k"].to_list() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert table["value"].to_list() == pytest.approx(PRECISION_OF_EIGHT)


def test_ndcg_is_the_default_and_parameters_are_kept() -> None:
    assert measure_at_k(EIGHT).data["measure"].unique().to_list() == ["nDCG"]
    chart = measure_at_k(EIGHT, measures=["P(rel=2)@5", parse_measure("R")], k=2)
    assert chart.data["measure"].to_list() == ["P(rel=2)", "P(rel=2)", "R", "R"]
    assert chart.data["value"].to_list() == [0, 0, 0.25, 0.25]
    titles = [panel["layer"][0]["encoding"]["y"]["title"] for panel in chart.spec["concat"]]
    assert titles == ["P(rel=2)@k", "R@k"]


def test_precision_recall_and_f1_along_k() -> None:
    values = by_curve(precision_recall_at_k(EIGHT).data, "measure", "value")
    assert values["precision"] == pytest.approx(PRECISION_OF_EIGHT)
    assert values["recall"] == pytest.approx([1 / 4, 1 / 4, 2 / 4, 3 / 4, 3 / 4, 1, 1, 1])
    # 2PR/(P+R) = 2 found / (k + 4)
    assert values["F1"] == pytest.approx(
        [2 / 5, 2 / 6, 4 / 7, 6 / 8, 6 / 9, 8 / 10, 8 / 11, 8 / 12]
    )
    rankings = Rankings.from_relevance([[1, 0], [0, 0]], relevant=[1, 1], queries=["a", "b"])
    mean = by_curve(precision_recall_at_k(rankings).data, "measure", "value")
    assert mean["precision"] == [0.5, 0.25]
    one = precision_recall_at_k(rankings, query="b")
    assert one.data["value"].to_list() == [0] * 6
    assert one.title == "Precision, recall and F1 of run as k grows, query b"


def test_confusion_counts_along_k() -> None:
    assert by_curve(confusion_at_k(EIGHT).data, "name", "count") == {
        "TP": [1, 1, 2, 3, 3, 4, 4, 4],
        "FP": [0, 1, 1, 1, 2, 2, 3, 4],
        "FN": [3, 3, 2, 1, 1, 0, 0, 0],
    }
    chart = confusion_at_k(Rankings.from_relevance([[1, 0], [0, 1]]), k=1)
    relevant, others = chart.spec["concat"]  # many false positives would flatten the other curves
    assert [*labels(relevant), *labels(others)] == [
        *("true positives", "false negatives"),
        "false positives",
    ]
    assert others["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 1]
    assert chart.notes == ("Summed over 2 queries.",)


def test_the_share_of_queries_with_a_relevant_item() -> None:
    # First relevant items at ranks 1, 3, 3 and never.
    lists = [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
    table = cmc(Rankings.from_relevance(lists, relevant=[1, 1, 1, 1])).data
    assert table["share"].to_list() == [0.25, 0.25, 0.75]
    chart = cmc(Rankings.from_relevance([[1, 0]] * 9 + [[0, 1]]))
    assert chart.data["share"].to_list() == [0.9, 1.0]
    assert "The axis begins at 80%." in chart.notes


# -- ROC


def _area_under(table: pl.DataFrame) -> float:
    heights, places = table["true_positive_rate"], table["false_positive_rate"]
    return float(((heights[1:] + heights[:-1]) / 2 * places.diff()[1:]).sum())


def test_the_roc_corners_of_one_query() -> None:
    # 1 0 1 0 0: up to 1/2, a third to the right, up to 1, on to the end.
    table = roc(Rankings.from_relevance([[1, 0, 1, 0, 0]], collection=5)).data
    assert table["false_positive_rate"].to_list() == pytest.approx([0, 0, 0, 1 / 3, 1 / 3, 1, 1])
    assert table["true_positive_rate"].to_list() == pytest.approx([0, 0, 0.5, 0.5, 1, 1, 1])
    # 5 of the 6 pairs of a relevant item and another are in the right order.
    assert table["area"][0] == pytest.approx(5 / 6)
    assert _area_under(table) == pytest.approx(5 / 6)


def test_items_that_were_not_retrieved_are_a_straight_line() -> None:
    # One of two relevant items at rank 1 of 1; 1 relevant and 3 others are left, in no order.
    table = roc(Rankings.from_relevance([[1]], relevant=[2], collection=5)).data
    corners = table.select("false_positive_rate", "true_positive_rate").rows()
    assert corners[-2:] == [(0, 0.5), (1, 1)]
    assert table["area"][0] == pytest.approx(0.75)


def test_the_mean_roc_curve_has_nearly_the_mean_area() -> None:
    rankings = rankings_of(random_queries(Random(3), 60))
    area = parse_measure("RankAUC").compute(rankings)
    table = roc(rankings).data
    assert table["area"][0] == pytest.approx(np.nanmean(area))
    assert _area_under(table) == pytest.approx(np.nanmean(area), abs=0.01)
    assert table["skipped"][0] == np.isnan(area).sum()
    assert table["true_positive_rate"].is_sorted()
    assert table["true_positive_rate"][-1] == pytest.approx(1)


# -- errors

TWO = Rankings.from_relevance([[1], [1]], queries=["a", "b"])


@for_each(
    "function, source, options, message",
    [
        (
            roc,
            Rankings.from_relevance([[0, 0]], collection=2),
            {},
            "run: a ROC curve needs a query that has both relevant and other items.",
        ),
        (
            precision_recall_at_k,
            TWO,
            {"query": "c"},
            "query 'c' does not exist. The queries are a, b.",
        ),
        (
            precision_recall_at_k,
            [TWO, TWO],
            {},
            "this chart shows one system; got 2: run, run (2).",
        ),
        *(
            (measure_at_k, EIGHT, {"k": k}, f"k must be a whole number from 1; got {k!r}.")
            for k in (0, -1, 2.5, True)
        ),
    ],
)
def test_errors(function, source, options, message) -> None:
    assert error_of(function, source, **options) == message


def test_errors_of_measures() -> None:
    with pytest.raises(MeasureError, match="needs the size of the collection"):
        roc(Rankings.from_relevance([[1, 0]]))
    with pytest.raises(MeasureError) as error:
        measure_at_k(EIGHT, measures="Bpref")
    assert str(error.value) == (
        "Bpref has no cutoff k to draw a curve along; use a measure such as P or nDCG."
    )


def test_risk_coverage() -> None:
    # Scores 0.9 (right), 0.8 (wrong), 0.8 (right), 0.1 (wrong); a fifth query has no results.
    judgements = {query: {"a": 1} for query in "vwxyz"}
    run = {"v": {"a": 0.9}, "w": {"b": 0.8}, "x": {"a": 0.8}, "y": {"b": 0.1, "a": 0.05}}
    with pytest.warns(JudgedWarning, match="no results"):
        evaluation = evaluate(judgements, run, "RR")
    found = risk_coverage(evaluation).data
    assert found.select("threshold", "coverage", "risk").rows() == [
        (0.9, 0.2, 0.0),
        (0.8, 0.6, 1 / 3),
        (0.1, 0.8, 0.5),
    ]
    assert risk_coverage(evaluation, measure="Success@2").data["risk"][-1] == 0.25
    message = "run: abstention compares the best scores of queries, and this run has no scores. "
    assert error_of(risk_coverage, EIGHT).startswith(message)
