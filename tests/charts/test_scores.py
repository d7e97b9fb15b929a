from __future__ import annotations

import pytest

from judged import InputError
from judged.charts.kinds.distributions import scores

JUDGEMENTS = {"q": {"a": 1, "b": 0, "c": 2}}
RUN = {"q": {"a": 4.0, "b": 3.0, "x": 1.0, "c": 0.0}, "ignored": {"a": 9.0}}


def counts(table) -> dict[str, list[int]]:
    return {
        name: part["count"].to_list()
        for (name,), part in table.partition_by("group", as_dict=True).items()
    }


def test_the_scores_of_a_run() -> None:
    # Bins 0–2 and 2–4: a (4) and c (0) are relevant, b (3) and x (1) are not; the other query is
    # not judged.
    table = scores(JUDGEMENTS, RUN, bins=2).data
    assert counts(table) == {"relevant": [1, 1], "other": [1, 1]}
    assert table["score_from"].to_list() == [0, 2, 0, 2]
    assert table["mean"].unique().to_list() == [2.0]
    assert scores(JUDGEMENTS, RUN).notes[-1] == "Results that nobody judged count as not relevant."


def test_unjudged_results_may_be_left_out() -> None:
    assert counts(scores(JUDGEMENTS, RUN, bins=2, unjudged="removed").data) == {
        "relevant": [1, 1],
        "other": [0, 1],
    }


def test_the_grade_that_counts_as_relevant() -> None:
    assert counts(scores(JUDGEMENTS, RUN, bins=2, rel=2).data) == {
        "relevant": [1, 0],
        "other": [1, 2],
    }


def test_grades_and_scores_side_by_side() -> None:
    table = scores([[1, 0], [0, 1]], [[0.9, 0.1], [0.3, 0.7]], bins=2).data
    assert counts(table) == {"relevant": [0, 2], "other": [2, 0]}
    assert table["share"].to_list() == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("grades", "numbers", "options", "message"),
    [
        ([1, 0], [0.5], {}, "there are 2 grades and 1 scores; they must be as many."),
        ([1, 0], [0.5, float("nan")], {}, "grades and scores must be finite numbers."),
        ([1], [0.5], {"bins": 0}, "bins must be a whole number from 1 to 10,000; got 0."),
        ([1], [0.5], {"unjudged": "gone"}, "unjudged must be nonrelevant or removed; got 'gone'."),
    ],
)
def test_what_is_refused(grades, numbers, options, message) -> None:
    with pytest.raises(InputError) as refused:
        scores(grades, numbers, **options)
    assert str(refused.value) == message
