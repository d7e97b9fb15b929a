from __future__ import annotations

import pytest

from judged import InputError
from judged.charts.kinds.distributions import calibration_error, reliability


def test_bins_of_scores_and_what_they_hold() -> None:
    # 0.1 and 0.3 with none relevant; 0.5, on the edge, 0.9 and 1 with two of three relevant.
    table = reliability([0, 0, 0, 1, 1], [0.1, 0.3, 0.5, 0.9, 1.0], bins=2).data
    assert table["count"].to_list() == [2, 3]
    assert table["score"].to_list() == pytest.approx([0.2, 0.8])
    assert table["share_relevant"].to_list() == pytest.approx([0, 2 / 3])
    # (2 · 0.2 + 3 · (0.8 - 2/3)) / 5 = (0.4 + 0.4) / 5
    assert calibration_error(table) == pytest.approx(0.16)


def test_empty_bins_have_no_row() -> None:
    assert reliability([1], [0.95]).data["score_from"].to_list() == [0.9]


def test_from_a_run() -> None:
    chart = reliability({"q": {"a": 1}}, {"q": {"a": 0.75, "x": 0.75}}, bins=1)
    assert chart.data["share_relevant"].to_list() == [0.5]
    assert chart.notes[-1] == "Results that nobody judged count as not relevant."
    assert reliability({"q": {"a": 1}}, {"q": {"a": 0.75, "x": 0.75}}, unjudged="removed").data[
        "count"
    ].to_list() == [1]


def test_scores_that_are_no_probabilities() -> None:
    with pytest.raises(InputError) as refused:
        reliability({"q": {"a": 1}}, {"q": {"a": 7.5}})
    assert str(refused.value) == (
        "run: scores must be probabilities, from 0 to 1; they go from 0 to 7.5. "
        "Bring them there first, with a sigmoid or softmax, say."
    )


def test_no_scores_at_all() -> None:
    with pytest.raises(InputError) as refused:
        reliability([], [])
    assert str(refused.value) == "scores: there is no score to show."
