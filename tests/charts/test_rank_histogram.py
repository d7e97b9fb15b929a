from __future__ import annotations

from math import inf
from typing import get_args

import pytest

from judged import InputError, Rankings
from judged.charts.kinds.distributions import OF, Of, rank_histogram


def test_the_ranks_and_their_median() -> None:
    # Relevant at 3, 5 and 8: the middle one is 5.
    table = rank_histogram(Rankings.from_relevance([[0, 0, 1, 0, 1, 0, 0, 1, 0, 0]])).data
    assert table["ranks"].to_list() == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert table["items"].to_list() == [0, 0, 1, 0, 1, 0, 0, 1]
    assert table["median"][0] == 5
    assert table.filter("holds_median")["ranks"].to_list() == ["5"]


def test_items_that_were_not_retrieved_stand_behind_all() -> None:
    table = rank_histogram(Rankings.from_relevance([[1, 0, 1]], relevant=[5])).data
    assert dict(table.select("ranks", "items").rows()) == {
        "1": 1,
        "2": 0,
        "3": 1,
        "not retrieved": 3,
    }
    # 1, 3, ∞, ∞, ∞
    assert table["median"][0] == inf
    chart = rank_histogram(Rankings.from_relevance([[1, 0, 1]], relevant=[5]))
    assert chart.title == "Ranks of all relevant items in run: the median item was not retrieved"
    assert (
        chart.notes[0]
        == "5 items in 1 query; 3 were not retrieved and count as behind the last rank."
    )


def test_the_first_of_each_query() -> None:
    table = rank_histogram(
        Rankings.from_relevance([[1, 1], [0, 1], [0, 0]], relevant=[2, 1, 0]), of="first"
    ).data
    assert table["items"].to_list() == [1, 1]
    assert table["median"][0] == 1.5


def test_deep_ranks_share_bars() -> None:
    far = [0] * 119 + [1]
    table = rank_histogram(Rankings.from_relevance([[1] * 12, far])).data
    assert table["ranks"].to_list() == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "6–10",
        "11–20",
        "21–50",
        "51–100",
        "101–200",
    ]
    assert table["items"].to_list() == [1, 1, 1, 1, 1, 5, 2, 0, 0, 1]
    assert table["share"].sum() == pytest.approx(1)


def test_a_choice_that_does_not_exist() -> None:
    with pytest.raises(InputError) as refused:
        rank_histogram(Rankings.from_relevance([[1]]), of="last")
    assert str(refused.value) == "of must be all or first; got 'last'."


def test_a_median_between_a_rank_and_none() -> None:
    # 1 and not retrieved: the median lies behind the list.
    assert rank_histogram(Rankings.from_relevance([[1]], relevant=[2])).data["median"][0] == inf


def test_nothing_relevant() -> None:
    with pytest.raises(InputError) as refused:
        rank_histogram(Rankings.from_relevance([[0]]))
    assert str(refused.value) == "run: nothing is relevant, so there are no ranks to show."


def test_what_it_is_of_is_what_editors_offer() -> None:
    assert tuple(OF) == get_args(Of)
