from __future__ import annotations

from judged import Rankings
from judged.charts.kinds.curves import cmc


def test_the_share_of_queries_that_found_something() -> None:
    # First relevant items at ranks 1, 3, 3 and never.
    rankings = Rankings.from_relevance(
        [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]], relevant=[1, 1, 1, 1]
    )
    assert cmc(rankings).data["share"].to_list() == [0.25, 0.25, 0.75]


def test_an_axis_that_does_not_begin_at_nothing_says_so() -> None:
    chart = cmc(Rankings.from_relevance([[1, 0]] * 9 + [[0, 1]]))
    assert chart.data["share"].to_list() == [0.9, 1.0]
    assert "The axis begins at 80%." in chart.notes
