from __future__ import annotations

import pytest

from judged import InputError, Rankings
from judged.charts.kinds.differences import MOST, data, differences


def pair(first: list[list[int]], second: list[list[int]]) -> list[Rankings]:
    return [Rankings.from_relevance(first, name="old"), Rankings.from_relevance(second, name="new")]


def test_the_differences_the_greatest_first() -> None:
    # RR old: 1, 1/2, 1/3; new: 1/2, 1, 1/3.
    rankings = pair([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    table = data(rankings, measure="RR")
    assert table.select("query", "difference", "place_from").rows() == [
        ("2", 0.5, 1),
        ("3", 0.0, 2),
        ("1", -0.5, 3),
    ]
    chart = differences(rankings, measure="RR")
    assert chart.title == "RR: new minus old, query by query"
    assert chart.notes[0] == "The mean is +0.0000 (dashed). The two are equal in 1 of 3 queries."


def test_thousands_of_queries_share_bars_and_the_mean_stays() -> None:
    lists = [[1, 0] if at % 3 else [0, 1] for at in range(3000)]
    chart = differences(pair(lists, [[1, 0]] * 3000), measure="RR")
    assert chart.data.height == MOST
    assert chart.data["queries"].sum() == 3000
    # A third of the queries gains 1/2.
    assert (chart.data["difference"] * chart.data["queries"]).sum() / 3000 == pytest.approx(1 / 6)
    assert "A bar is the mean of about 10 neighbouring queries." in chart.notes


def test_a_measure_that_is_better_when_lower() -> None:
    chart = differences(pair([[0, 1]], [[1, 0]]), measure="Rank")
    assert chart.data["difference"].to_list() == [-1]
    assert "Lower values of Rank are better." in chart.notes
    assert "new better: 1 query" in chart.to_json()


def test_what_cannot_be_compared() -> None:
    with pytest.raises(InputError) as refused:
        data(pair([[1]], [[1]])[:1])
    assert str(refused.value) == "this chart compares two systems; got 1: old."
    with pytest.raises(InputError) as refused:
        data(pair([[1]], [[1], [0]]))
    assert (
        str(refused.value)
        == "the two systems have different queries; judge both with the same judgements."
    )
