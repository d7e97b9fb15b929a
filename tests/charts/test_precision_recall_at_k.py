from __future__ import annotations

import pytest

from judged import InputError, Rankings
from judged.charts.kinds.curves import precision_recall_at_k


def test_the_tables_of_the_worked_walk() -> None:
    table = precision_recall_at_k(Rankings.from_relevance([[1, 0, 1, 1, 0, 1, 0, 0]])).data
    values = {
        name: part["value"].to_list()
        for (name,), part in table.partition_by("measure", as_dict=True).items()
    }
    assert values["precision"] == pytest.approx(
        [1, 1 / 2, 2 / 3, 3 / 4, 3 / 5, 4 / 6, 4 / 7, 4 / 8]
    )
    assert values["recall"] == pytest.approx([1 / 4, 1 / 4, 2 / 4, 3 / 4, 3 / 4, 1, 1, 1])
    # 2PR/(P+R) = 2 found / (k + 4): 2/5, 2/6, 4/7, 6/8, 6/9, 8/10, 8/11, 8/12
    assert values["F1"] == pytest.approx(
        [2 / 5, 2 / 6, 4 / 7, 6 / 8, 6 / 9, 8 / 10, 8 / 11, 8 / 12]
    )


def test_the_mean_of_two_queries_and_one_of_them() -> None:
    rankings = Rankings.from_relevance([[1, 0], [0, 0]], relevant=[1, 1], queries=["a", "b"])
    assert precision_recall_at_k(rankings).data.filter(measure="precision")["value"].to_list() == [
        0.5,
        0.25,
    ]
    assert precision_recall_at_k(rankings, query="b").data["value"].to_list() == [0] * 6
    assert (
        precision_recall_at_k(rankings, query="b").title
        == "Precision, recall and F1 of run as k grows, query b"
    )


def test_a_query_that_is_not_there() -> None:
    with pytest.raises(InputError) as refused:
        precision_recall_at_k(Rankings.from_relevance([[1], [1]], queries=["a", "b"]), query="c")
    assert str(refused.value) == "There is no query 'c'. The queries are a, b."


def test_two_systems_are_one_too_many() -> None:
    with pytest.raises(InputError) as refused:
        precision_recall_at_k(
            [Rankings.from_relevance([[1]], name="a"), Rankings.from_relevance([[1]], name="b")]
        )
    assert str(refused.value) == "this chart shows one system; got 2: a, b."
