from __future__ import annotations

from judged import Rankings
from judged.charts.kinds.distributions import confusion

EIGHT = [1, 0, 1, 1, 0, 1, 0, 0]


def counts(table) -> dict[str, int | None]:
    return dict(zip(table["name"], table["count"], strict=True))


def test_the_counts_at_four_of_the_worked_walk() -> None:
    # Ranks 1 to 4 hold 1 0 1 1: three right, one wrong; the fourth relevant item stands at rank 6.
    rankings = Rankings.from_relevance([EIGHT], collection=8)
    assert counts(confusion(rankings, k=4).data) == {"TP": 3, "FN": 1, "FP": 1, "TN": 3}


def test_counts_are_summed_over_queries() -> None:
    rankings = Rankings.from_relevance([EIGHT, [1, 1]], collection=8)
    # The second list is short: its two results are all that is shown.
    assert counts(confusion(rankings, k=4).data) == {"TP": 5, "FN": 1, "FP": 1, "TN": 9}
    assert counts(confusion(rankings, k=4, query="2").data) == {"TP": 2, "FN": 0, "FP": 0, "TN": 6}


def test_true_negatives_are_unknown_without_the_size_of_the_collection() -> None:
    chart = confusion(Rankings.from_relevance([EIGHT]), k=4)
    assert counts(chart.data) == {"TP": 3, "FN": 1, "FP": 1, "TN": None}
    assert chart.notes == (
        "3 of 4 results shown are relevant; 3 of 4 relevant items are shown.",
        "True negatives need the size of the collection: collection=… (--collection).",
    )
