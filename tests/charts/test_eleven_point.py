from __future__ import annotations

import pytest

from judged import InputError, Rankings
from judged.charts.kinds.curves import eleven_point


def test_the_interpolated_precision_of_the_article_on_image_search() -> None:
    # Relevant at 3, 5 and 8: precision 1/3, 2/5, 3/8. Down to recall 2/3 the best from there on is
    # 2/5, then 3/8.
    table = eleven_point(Rankings.from_relevance([[0, 0, 1, 0, 1, 0, 0, 1, 0, 0]])).data
    assert table["recall"].to_list() == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert table["precision"].to_list() == pytest.approx([0.4] * 7 + [0.375] * 4)


def test_several_systems_with_the_same_name_are_told_apart() -> None:
    good, bad = Rankings.from_relevance([[1, 0]]), Rankings.from_relevance([[0, 1]])
    table = eleven_point([good, bad]).data
    assert table["run"].unique(maintain_order=True).to_list() == ["run", "run (2)"]
    assert table["precision"].to_list() == [1.0] * 11 + [0.5] * 11


def test_the_names_stand_at_the_lines() -> None:
    chart = eleven_point(
        [Rankings.from_relevance([[1]], name="one"), Rankings.from_relevance([[0, 1]], name="two")]
    )
    assert [label["label"] for label in chart.spec["layer"][-1]["data"]["values"]] == ["one", "two"]


def test_what_is_no_evaluation() -> None:
    with pytest.raises(InputError) as refused:
        eleven_point([])
    assert str(refused.value) == (
        "a chart is made from an evaluation, from rankings or from a list of rankings; got "
        "something else."
    )
