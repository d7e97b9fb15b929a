"""The worked examples of the five documents this project grew from, each worked again by hand.

Where a document's arithmetic slips, the right value is the test (see the errata in the comments).
"""

from __future__ import annotations

from math import inf, log2
from typing import Any

import pytest

from judged import Rankings, evaluate
from support.loops import for_each

TEN = "0 1 0 0 1 0 1 0 1 0"
"""000 and 001: ten results, relevant at ranks 2, 5, 7 and 9."""
IMAGES = "0 0 1 0 1 0 0 1 0 0"
"""002: ten results, relevant at ranks 3, 5 and 8, three relevant in all."""
SONGS = "1 0 1 1 0 0"
"""003: twenty songs, five of them relevant; the list shows relevant ones at ranks 1, 3 and 4, and
the cutoff is 4. TP: relevant, in the top 4: 3. FP: irrelevant there: 1. FN: relevant below it or
not listed: 5 - 3 = 2. TN: the rest: 20 - 3 - 1 - 2 = 14."""
THREE = "0 1 0 1, 1 0 0 0, 0 0 0 1"
"""003: first relevant results at ranks 2, 1 and 4."""
LOST = f"{THREE}, 0 0 0 0"
"""A fourth query retrieves nothing relevant: ranks 1, 2, 4 and infinite."""
EIGHT = "1 0 1 1 0 1 0 0"
"""004: eight items by predicted score."""
PHONE, WATCH = "1 1 0 0 1 0 0", "0 1 1 0 0 1 1"

TWENTY = {"relevant": 5, "collection": 20}
VALUES: list[tuple[str, str, dict[str, Any], float]] = [
    # 1/2 + 2/5 + 3/7 + 4/9 = (315 + 252 + 270 + 280) / 630 = 1117/630; divided by N = 4: 1117/2520
    # = 0.443254
    ("AP", TEN, {}, 1117 / 2520),
    # The same sum divided by N = 6: 1117/3780 = 0.295503. The two that were not retrieved add
    # nothing.
    ("AP", TEN, {"relevant": 6}, 1117 / 3780),
    ("P@2", TEN, {}, 1 / 2),
    ("P@5", TEN, {}, 2 / 5),
    ("P@7", TEN, {}, 3 / 7),
    ("P@9", TEN, {}, 4 / 9),
    # (1/3 + 2/5 + 3/8) / 3 = (40 + 48 + 45) / 120 / 3 = 133/360 = 0.369444
    ("AP@10", IMAGES, {}, 133 / 360),
    # The article's AP@K divides by R, the relevant items in the retrieved list, whatever the
    # collection holds. With 10,000 relevant items in all: R = 3 as above, N = 10,000 in the
    # original AP.
    ("AP(norm=retrieved)@10", IMAGES, {"relevant": 10_000}, 133 / 360),
    ("AP@10", IMAGES, {"relevant": 10_000}, 133 / 120 / 10_000),
    # Precision 1/3, 2/5, 3/8 at recall 1/3, 2/3, 1; interpolated: 2/5, 2/5, 3/8. Area (2/5 + 2/5 +
    # 3/8) / 3 = 47/120 = 0.391667.
    ("AP(area=interpolated)", IMAGES, {}, 47 / 120),
    # Three of the six relevant items of the collection are in the first ten results.
    ("R@10", IMAGES, {"relevant": 6}, 3 / 6),
    # Any relevant image among the first k? Not in the first two, but in the first three.
    *((f"TopKAccuracy@{k}", IMAGES, {}, value) for k, value in {1: 0, 2: 0, 3: 1, 10: 1}.items()),
    *(
        (measure, IMAGES, {}, value)
        for k, found in enumerate((0, 0, 1, 1, 2, 2, 2, 3, 3, 3), 1)
        for measure, value in ((f"P@{k}", found / k), (f"R@{k}", found / 3))
    ),
    ("TP@4", SONGS, TWENTY, 3),
    ("FP@4", SONGS, TWENTY, 1),
    ("FN@4", SONGS, TWENTY, 2),
    ("TN@4", SONGS, TWENTY, 14),
    ("P@4", SONGS, TWENTY, 3 / (3 + 1)),
    ("R@4", SONGS, TWENTY, 3 / (3 + 2)),
    ("Accuracy@4", SONGS, TWENTY, (3 + 14) / 20),
    ("Specificity@4", SONGS, TWENTY, 14 / (14 + 1)),
    # (1/2 + 1/1 + 1/4) / 3 = 7/12
    ("MRR", THREE, {}, 7 / 12),
    # AP@2: (1/2) / 2 (two relevant, the one at rank 4 is cut off) = 1/4; 1; 0. Mean: (1/4 + 1 + 0)
    # / 3 = 5/12
    ("MAP@2", THREE, {}, 5 / 12),
    # AP@4: (1/2 + 2/4) / 2 = 1/2; 1; 1/4. Mean: 7/12
    ("MAP@4", THREE, {}, 7 / 12),
    # First relevant items at ranks 1, 2, 4: median 2, mean 7/3. All relevant items at 1, 2, 4, 4:
    # median 3, mean 11/4.
    ("MedianRank", THREE, {}, 2),
    ("MeanRank", THREE, {}, 7 / 3),
    ("MedianRank(of=all)", THREE, {}, 3),
    ("MeanRank(of=all)", THREE, {}, 11 / 4),
    # The median of 1, 2, 4 and infinity is 3, no mean exists.
    ("MedianRank", LOST, {"relevant": [2, 1, 1, 1]}, 3),
    ("MeanRank", LOST, {"relevant": [2, 1, 1, 1]}, inf),
    ("DCG", EIGHT, {}, 1 / log2(2) + 1 / log2(4) + 1 / log2(5) + 1 / log2(7)),
    # 2 · 0.75 · 0.75 / (0.75 + 0.75)
    ("F1@4", EIGHT, {}, 0.75),
    # Running sum 1, 1 + 2/3 = 5/3 (printed: 1.8), + 3/4 = 29/12 (printed: 2.55), + 4/6 = 37/12
    # (printed: 3.22); divided by 4: 37/48 = 0.770833 (printed: 0.8).
    ("AP@1", EIGHT, {}, 1 / 4),
    ("AP@3", EIGHT, {}, 5 / 12),
    ("AP@4", EIGHT, {}, 29 / 48),
    ("AP@6", EIGHT, {}, 37 / 48),
    ("AP", EIGHT, {}, 37 / 48),
    # (1 + 2/2 + 3/5) / 3 = 13/15
    ("AP", PHONE, {}, 13 / 15),
    # (1/2 + 2/3 + 3/6 + 4/7) / 4 = (21 + 28 + 21 + 24) / 42 / 4 = 94/168 = 47/84 (the document
    # leaves 3/6 out in print only)
    ("AP", WATCH, {}, 47 / 84),
    # (13/15 + 47/84) / 2 = (364 + 235) / 420 / 2 = 599/840 = 0.713095 (printed: 599/420, without
    # the division by 2)
    ("MAP", f"{PHONE}, {WATCH}", {}, 599 / 840),
]


@for_each(("measure", "lists", "options", "expected"), VALUES)
def test_values(measure: str, lists: str, options: dict[str, Any], expected: float) -> None:
    rows = [[float(grade) for grade in text.split()] for text in lists.split(",")]
    found = Rankings.from_relevance(rows, **options).evaluate([measure]).value()
    assert found == pytest.approx(expected, abs=1e-15)


def test_from_similarities_to_the_ranking() -> None:
    # Similarity to a text query; songs sorted by it: c (relevant), a, d (relevant), b.
    run = {"calm piano": {"a": 0.5, "b": -0.2, "c": 0.9, "d": 0.1}}
    assert evaluate({"calm piano": {"c": 1, "d": 1}}, run, ["AP"]).value() == pytest.approx(
        (1 / 1 + 2 / 3) / 2, abs=1e-15
    )


RELEVANT = [1, 0, 1, 0, 0, 1, 1, 0]
PREDICTED = [0.63, 0.24, 0.36, 0.85, 0.47, 0.71, 0.9, 0.16]


def test_the_order_of_the_predictions() -> None:
    rankings = Rankings.from_scores([RELEVANT], [PREDICTED])
    assert " ".join(f"{grade:.0f}" for grade in rankings.hit_grade) == EIGHT


# 1/log2(2) = 1, 1/log2(4) = 0.5, 1/log2(5) = 0.430677, 1/log2(7) = 0.356207; the ideal list has its
# four relevant items on top: 1, + 1/log2(3) = 1.630930, + 0.5 = 2.130930, + 0.430677 = 2.561606.
DCG = [1, 1, 1.5, 1.930677, 1.930677, 2.286884, 2.286884, 2.286884]
IDEAL = [1, 1.630930, 2.130930, 2.561606, 2.561606, 2.561606, 2.561606, 2.561606]
FOUND = [1, 1, 2, 3, 3, 4, 4, 4]
# The document cuts 0.6131 to 0.61, 0.7039 to 0.7, 0.7537 to 0.75 and 0.8928 to 0.89.
PRINTED = {
    "DCG": "1.0 1.0 1.5 1.93 1.93 2.29 2.29 2.29",
    "nDCG": "1.0 0.61 0.7 0.75 0.75 0.89 0.89 0.89",
}


@for_each("k", range(1, 9))
def test_the_columns_of_the_table(k: int) -> None:
    items = list(map(str, range(8)))
    judgements = {"query": dict(zip(items, RELEVANT, strict=True))}
    run = {"query": dict(zip(items, PREDICTED, strict=True))}
    names = ("P", "R", "DCG(gain=exp)", "DCG", "nDCG(gain=exp)", "nDCG")
    evaluation = evaluate(judgements, run, [f"{name}@{k}" for name in names])
    # The document's recall table is headed "precision @k".
    assert evaluation.value(f"P@{k}") == FOUND[k - 1] / k
    assert evaluation.value(f"R@{k}") == FOUND[k - 1] / 4
    for gain in ("(gain=exp)", ""):  # 2^1 - 1 = 1: the same for binary relevance
        assert round(evaluation.value(f"DCG{gain}@{k}"), 6) == DCG[k - 1]
        assert evaluation.value(f"nDCG{gain}@{k}") == pytest.approx(
            DCG[k - 1] / IDEAL[k - 1], abs=1e-6
        )
    for name, column in PRINTED.items():
        assert str(round(evaluation.value(f"{name}@{k}"), 2)) == column.split()[k - 1]
