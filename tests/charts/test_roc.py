from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest

from judged import InputError, MeasureError, Rankings, parse_measure
from judged.charts.kinds.curves import roc
from support.rankings import random_queries, rankings_of


def _area_under(heights: pl.Series, places: pl.Series) -> float:
    """By trapezoids, which numpy has under one name before its second version and another since."""
    return float(((heights[1:] + heights[:-1]) / 2 * places.diff()[1:]).sum())


def test_the_corners_of_one_query() -> None:
    # 1 0 1 0 0: up to 1/2, a third to the right, up to 1, on to the end.
    table = roc(Rankings.from_relevance([[1, 0, 1, 0, 0]], collection=5)).data
    assert table["false_positive_rate"].to_list() == pytest.approx([0, 0, 0, 1 / 3, 1 / 3, 1, 1])
    assert table["true_positive_rate"].to_list() == pytest.approx([0, 0, 0.5, 0.5, 1, 1, 1])
    # 5 of the 6 pairs of a relevant item and another are in the right order.
    assert table["area"][0] == pytest.approx(5 / 6)
    drawn = _area_under(table["true_positive_rate"], table["false_positive_rate"])
    assert drawn == pytest.approx(5 / 6)


def test_what_was_not_retrieved_is_a_straight_line() -> None:
    # One of two relevant items at rank 1 of 1; 1 relevant and 3 others are left, in no order.
    table = roc(Rankings.from_relevance([[1]], relevant=[2], collection=5)).data
    assert table.select("false_positive_rate", "true_positive_rate").rows()[-2:] == [
        (0, 0.5),
        (1, 1),
    ]
    assert table["area"][0] == pytest.approx(0.75)


def test_the_mean_curve_has_nearly_the_mean_area() -> None:
    rankings = rankings_of(random_queries(Random(3), 60))
    area = parse_measure("RankAUC").compute(rankings)
    table = roc(rankings).data
    assert table["area"][0] == pytest.approx(np.nanmean(area))
    drawn = _area_under(table["true_positive_rate"], table["false_positive_rate"])
    assert drawn == pytest.approx(np.nanmean(area), abs=0.01)
    assert table["skipped"][0] == np.isnan(area).sum()
    assert table["true_positive_rate"].is_sorted()
    assert table["true_positive_rate"][-1] == pytest.approx(1)


def test_one_query_of_several() -> None:
    rankings = Rankings.from_relevance([[1, 0], [0, 1]], collection=2)
    assert roc(rankings, query="2").title == "ROC curve, query 2"
    assert roc(rankings, query="2").data["area"][0] == 0


def test_it_needs_the_size_of_the_collection() -> None:
    with pytest.raises(MeasureError, match="needs the size of the collection"):
        roc(Rankings.from_relevance([[1, 0]]))


def test_a_query_without_a_curve() -> None:
    with pytest.raises(InputError) as refused:
        roc(Rankings.from_relevance([[0, 0]], collection=2))
    assert (
        str(refused.value)
        == "run: no query has both relevant items and others, so there is no ROC curve."
    )
