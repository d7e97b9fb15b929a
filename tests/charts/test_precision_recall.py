"""The precision-recall curve: the saw-tooth of the worked examples, and means whose area is the
mean AP."""

from __future__ import annotations

from random import Random

import pytest

from judged import Rankings, evaluate
from judged.charts.kinds.curves import areas_under, precision_recall
from support.rankings import random_queries, rankings_of

TEN = [0, 1, 0, 0, 1, 0, 1, 0, 1, 0]
IMAGES = [0, 0, 1, 0, 1, 0, 0, 1, 0, 0]


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


def test_the_area_of_the_steps_is_ap_and_the_interpolated_area_is_not() -> None:
    # Steps: (1/3 + 2/5 + 3/8) / 3 = 133/360. Interpolated: (2/5 + 2/5 + 3/8) / 3 = 47/120.
    assert areas_under(precision_recall(Rankings.from_relevance([IMAGES])).data) == pytest.approx(
        (133 / 360, 47 / 120)
    )
    assert [
        round(area, 6)
        for area in areas_under(precision_recall(Rankings.from_relevance([IMAGES])).data)
    ] == [
        0.369444,
        0.391667,
    ]


def test_the_steps_of_ten_results_with_four_relevant() -> None:
    table = precision_recall(Rankings.from_relevance([TEN])).data.filter("relevant")
    assert table["rank"].to_list() == [2, 5, 7, 9]
    assert table["precision"].to_list() == pytest.approx([1 / 2, 2 / 5, 3 / 7, 4 / 9])
    assert table["recall_from"].to_list() == pytest.approx([0, 0.25, 0.5, 0.75])
    # 1/2 + 2/5 + 3/7 + 4/9 = 1117/630, divided by 4.
    assert areas_under(precision_recall(Rankings.from_relevance([TEN])).data)[0] == pytest.approx(
        1117 / 2520
    )


def test_relevant_items_outside_the_list_leave_the_rest_of_recall_empty() -> None:
    table = precision_recall(Rankings.from_relevance([[1, 0]], relevant=[4])).data
    assert table["recall"].to_list() == [0.25, 0.25]
    assert areas_under(table)[0] == 0.25


def test_the_mean_of_two_curves() -> None:
    # One relevant item at rank 1: height 1 all along. One of two at rank 2: height 1/2 down to
    # recall 1/2, then 0.
    table = precision_recall(Rankings.from_relevance([[1], [0, 1]], relevant=[1, 2])).data
    assert table.height == 100
    assert table["precision"].to_list() == pytest.approx([0.75] * 50 + [0.5] * 50)
    assert table["queries"][0] == 2


@pytest.mark.parametrize("empty", ["zero", "one", "skip"])
@pytest.mark.parametrize("missing", ["zero", "skip"])
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


def test_a_query_with_nothing_relevant_is_an_empty_curve() -> None:
    assert areas_under(precision_recall(Rankings.from_relevance([[0, 0]])).data) == (0, 0)
    assert areas_under(
        precision_recall(
            evaluate({"q": {"a": 0}}, {"q": ["a"]}, "AP", policy={"empty": "one"})
        ).data
    )[0] == pytest.approx(1)


def test_a_query_that_the_run_lacks_is_an_empty_curve_too() -> None:
    chart = precision_recall(
        evaluate({"p": {"a": 1}, "q": {"a": 1}}, {"p": ["a"]}, "AP"), query="q"
    )
    assert chart.title == "Precision and recall of run, query q: AP 0.0000"
    assert chart.to_svg()


def test_several_systems_have_a_curve_each_with_their_ap() -> None:
    runs = [
        Rankings.from_relevance([[1, 0], [0, 1]], name="a"),
        Rankings.from_relevance([[0, 1], [0, 1]], name="b"),
    ]
    chart = precision_recall(runs)
    assert chart.title == "Precision and recall"
    table = chart.data
    assert table["run"].unique(maintain_order=True).to_list() == ["a", "b"]
    # a: 1 and 1/2; b: 1/2 twice.
    assert [areas_under(part)[0] for part in table.partition_by("run", maintain_order=True)] == (
        pytest.approx([0.75, 0.5])
    )
    svg = chart.to_svg()
    assert ">a: mean AP 0.7500<" in svg
    assert ">b: mean AP 0.5000<" in svg
    one = precision_recall(runs, query="1")
    assert one.title == "Precision and recall, query 1"
    assert ">a: AP 1.0000<" in one.to_svg()
    assert "Not interpolated: the area of a curve's steps is its AP." in one.notes
