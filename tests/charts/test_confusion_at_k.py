from __future__ import annotations

from judged import Rankings
from judged.charts.kinds.curves import confusion_at_k


def test_the_counts_along_the_worked_walk() -> None:
    table = confusion_at_k(Rankings.from_relevance([[1, 0, 1, 1, 0, 1, 0, 0]])).data
    counts = {
        name: part["count"].to_list()
        for (name,), part in table.partition_by("name", as_dict=True).items()
    }
    assert counts == {
        "TP": [1, 1, 2, 3, 3, 4, 4, 4],
        "FP": [0, 1, 1, 1, 2, 2, 3, 4],
        "FN": [3, 3, 2, 1, 1, 0, 0, 0],
    }


def test_the_lines_are_named_in_words() -> None:
    chart = confusion_at_k(Rankings.from_relevance([[1, 0], [0, 1]]), k=1)
    assert [label["label"] for label in chart.spec["layer"][-1]["data"]["values"]] == [
        "true positives",
        "false positives",
        "false negatives",
    ]
    assert chart.notes == ("Summed over 2 queries.",)
