"""The worked examples of the five documents this project grew from, each worked again by hand.

Where a document's arithmetic slips, the right value is the test (see the errata in the comments).
"""

from __future__ import annotations

from math import inf, log2

import pytest

from judged import Rankings, evaluate

EXACT = 1e-15


def value(
    measure: str, *lists: str, relevant: list[int] | None = None, collection: int | None = None
) -> float:
    rows = [[float(grade) for grade in text.split()] for text in lists]
    return (
        Rankings.from_relevance(rows, relevant=relevant, collection=collection)
        .evaluate([measure])
        .value()
    )


# 000 and 001: ten results, relevant at ranks 2, 5, 7 and 9
# -----------------------------------------------------------

TEN = "0 1 0 0 1 0 1 0 1 0"


def test_average_precision_when_everything_relevant_is_listed() -> None:
    # 1/2 + 2/5 + 3/7 + 4/9 = (315 + 252 + 270 + 280) / 630 = 1117/630; divided by N = 4: 1117/2520
    # = 0.443254
    assert value("AP", TEN) == pytest.approx(1117 / 2520, abs=EXACT)
    assert round(value("AP", TEN), 6) == 0.443254


def test_average_precision_with_two_relevant_items_outside_the_list() -> None:
    # The same sum divided by N = 6: 1117/3780 = 0.295503. The two that were not retrieved add
    # nothing.
    assert value("AP", TEN, relevant=[6]) == pytest.approx(1117 / 3780, abs=EXACT)


@pytest.mark.parametrize(("rank", "precision"), [(2, 1 / 2), (5, 2 / 5), (7, 3 / 7), (9, 4 / 9)])
def test_precision_at_each_relevant_rank(rank: int, precision: float) -> None:
    assert value(f"P@{rank}", TEN) == precision


# 002: ten results, relevant at ranks 3, 5 and 8, three relevant in all
# ----------------------------------------------

IMAGES = "0 0 1 0 1 0 0 1 0 0"


def test_average_precision_at_ten() -> None:
    # (1/3 + 2/5 + 3/8) / 3 = (40 + 48 + 45) / 120 / 3 = 133/360 = 0.369444
    assert value("AP@10", IMAGES) == pytest.approx(133 / 360, abs=EXACT)
    assert round(value("AP@10", IMAGES), 6) == 0.369444


def test_average_precision_divided_by_what_was_retrieved() -> None:
    # The article's AP@K divides by R, the relevant items in the retrieved list, whatever the
    # collection holds. With 10,000 relevant items in all: R = 3 as above, N = 10,000 in the
    # original AP.
    assert value("AP(norm=retrieved)@10", IMAGES, relevant=[10_000]) == pytest.approx(
        133 / 360, abs=EXACT
    )
    assert value("AP@10", IMAGES, relevant=[10_000]) == pytest.approx(133 / 120 / 10_000, abs=EXACT)


def test_area_under_the_interpolated_curve() -> None:
    # Precision 1/3, 2/5, 3/8 at recall 1/3, 2/3, 1; interpolated: 2/5, 2/5, 3/8. Area (2/5 + 2/5 +
    # 3/8) / 3 = 47/120.
    assert value("AP(area=interpolated)", IMAGES) == pytest.approx(47 / 120, abs=EXACT)
    assert round(value("AP(area=interpolated)", IMAGES), 6) == 0.391667


@pytest.mark.parametrize(
    ("rank", "found"),
    [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2), (7, 2), (8, 3), (9, 3), (10, 3)],
)
def test_the_precision_and_recall_table(rank: int, found: int) -> None:
    assert value(f"P@{rank}", IMAGES) == found / rank
    assert value(f"R@{rank}", IMAGES) == found / 3


def test_recall_counts_what_the_list_lacks() -> None:
    # Three of the six relevant items of the collection are in the first ten results.
    assert value("R@10", IMAGES, relevant=[6]) == 3 / 6


def test_top_k_accuracy() -> None:
    # Any relevant image among the first k? Not in the first two, but in the first three.
    assert [value(f"TopKAccuracy@{k}", IMAGES) for k in (1, 2, 3, 10)] == [0, 0, 1, 1]


# 003: confusion counts, MAP@K, MRR, median rank
# ---------------------------------------------------------------------

# Twenty songs, five of them relevant; the list shows relevant ones at ranks 1, 3 and 4, and K = 4
# is the cutoff: TP: relevant, ranked within the top 4: 3            FP: irrelevant within the top
# 4: 1 FN: relevant below it or not listed: 5 - 3 = 2       TN: the rest: 20 - 3 - 1 - 2 = 14
SONGS = "1 0 1 1 0 0"


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("TP@4", 3),
        ("FP@4", 1),
        ("FN@4", 2),
        ("TN@4", 14),
        ("P@4", 3 / (3 + 1)),
        ("R@4", 3 / (3 + 2)),
        ("Accuracy@4", (3 + 14) / 20),
        ("Specificity@4", 14 / (14 + 1)),
    ],
)
def test_confusion_counts(measure: str, expected: float) -> None:
    assert value(measure, SONGS, relevant=[5], collection=20) == expected


THREE = ("0 1 0 1", "1 0 0 0", "0 0 0 1")
"""First relevant results at ranks 2, 1 and 4."""


def test_mean_reciprocal_rank() -> None:
    # (1/2 + 1/1 + 1/4) / 3 = 7/12
    assert value("MRR", *THREE) == pytest.approx(7 / 12, abs=EXACT)


def test_mean_average_precision_at_k() -> None:
    # AP@2: (1/2) / 2 (two relevant, the one at rank 4 is cut off) = 1/4; 1; 0. Mean: (1/4 + 1 + 0)
    # / 3 = 5/12
    assert value("MAP@2", *THREE) == pytest.approx(5 / 12, abs=EXACT)
    # AP@4: (1/2 + 2/4) / 2 = 1/2; 1; 1/4. Mean: 7/12
    assert value("MAP@4", *THREE) == pytest.approx(7 / 12, abs=EXACT)


def test_median_and_mean_rank() -> None:
    # First relevant items at ranks 1, 2, 4: median 2, mean 7/3. All relevant items at 1, 2, 4, 4:
    # median 3, mean 11/4.
    assert value("MedianRank", *THREE) == 2
    assert value("MeanRank", *THREE) == pytest.approx(7 / 3, abs=EXACT)
    assert value("MedianRank(of=all)", *THREE) == 3
    assert value("MeanRank(of=all)", *THREE) == 11 / 4


def test_median_rank_takes_lost_items_in_its_stride() -> None:
    # A fourth query retrieves nothing relevant: ranks 1, 2, 4 and infinite. The median is 3, no
    # mean exists.
    lists = (*THREE, "0 0 0 0")
    assert value("MedianRank", *lists, relevant=[2, 1, 1, 1]) == 3
    assert value("MeanRank", *lists, relevant=[2, 1, 1, 1]) == inf


def test_from_similarities_to_the_ranking() -> None:
    # Similarity to a text query; songs sorted by it: c (relevant), a, d (relevant), b.
    run = {"calm piano": {"a": 0.5, "b": -0.2, "c": 0.9, "d": 0.1}}
    assert evaluate({"calm piano": {"c": 1, "d": 1}}, run, ["AP"]).value() == pytest.approx(
        (1 / 1 + 2 / 3) / 2, abs=EXACT
    )


# 004: eight items by predicted score
# --------------------------------------------------------------------------------

TABLE = {
    "judgements": {"query": {"0": 1, "1": 0, "2": 1, "3": 0, "4": 0, "5": 1, "6": 1, "7": 0}},
    "run": {
        "query": {
            **{"6": 0.9, "3": 0.85, "5": 0.71, "0": 0.63},
            **{"4": 0.47, "2": 0.36, "1": 0.24, "7": 0.16},
        }
    },
}
EIGHT = "1 0 1 1 0 1 0 0"


def test_the_order_of_the_predictions() -> None:
    rankings = Rankings.from_scores(
        [list(map(float, ["1", "0", "1", "0", "0", "1", "1", "0"]))],
        [[0.63, 0.24, 0.36, 0.85, 0.47, 0.71, 0.9, 0.16]],
    )
    assert " ".join(f"{grade:.0f}" for grade in rankings.hit_grade) == EIGHT


# 1/log2(2) = 1, 1/log2(4) = 0.5, 1/log2(5) = 0.430677, 1/log2(7) = 0.356207; the ideal list has its
# four relevant items on top: 1, + 1/log2(3) = 1.630930, + 0.5 = 2.130930, + 0.430677 = 2.561606.
DCG = [1, 1, 1.5, 1.930677, 1.930677, 2.286884, 2.286884, 2.286884]
IDEAL = [1, 1.630930, 2.130930, 2.561606, 2.561606, 2.561606, 2.561606, 2.561606]
FOUND = [1, 1, 2, 3, 3, 4, 4, 4]


@pytest.mark.parametrize("k", range(1, 9))
def test_the_columns_of_the_table(k: int) -> None:
    names = ("P", "R", "DCG(gain=exp)", "DCG", "nDCG(gain=exp)", "nDCG")
    measures = [f"{name}@{k}" for name in names]
    evaluation = evaluate(TABLE["judgements"], TABLE["run"], measures)
    # The document's recall table is headed "precision @k".
    assert evaluation.value(f"P@{k}") == FOUND[k - 1] / k
    assert evaluation.value(f"R@{k}") == FOUND[k - 1] / 4
    for gain in ("(gain=exp)", ""):  # 2^1 - 1 = 1: the same for binary relevance
        assert round(evaluation.value(f"DCG{gain}@{k}"), 6) == DCG[k - 1]
        assert evaluation.value(f"nDCG{gain}@{k}") == pytest.approx(
            DCG[k - 1] / IDEAL[k - 1], abs=1e-6
        )


def test_the_printed_columns_of_dcg_and_ndcg() -> None:
    # The document cuts 0.6131 to 0.61, 0.7039 to 0.7, 0.7537 to 0.75 and 0.8928 to 0.89.
    columns = evaluate(
        TABLE["judgements"],
        TABLE["run"],
        [f"{name}@{k}" for k in range(1, 9) for name in ("DCG", "nDCG")],
    )
    printed = {
        "DCG": "1.0 1.0 1.5 1.93 1.93 2.29 2.29 2.29",
        "nDCG": "1.0 0.61 0.7 0.75 0.75 0.89 0.89 0.89",
    }
    for name, column in printed.items():
        found = [str(round(columns.value(f"{name}@{k}"), 2)) for k in range(1, 9)]
        assert found == column.split()


def test_dcg_in_full() -> None:
    assert value("DCG", EIGHT) == pytest.approx(
        1 / log2(2) + 1 / log2(4) + 1 / log2(5) + 1 / log2(7), abs=1e-14
    )


def test_f1_at_four() -> None:
    # 2 · 0.75 · 0.75 / (0.75 + 0.75)
    assert value("F1@4", EIGHT) == 0.75


def test_average_precision_of_the_eight() -> None:
    # Running sum 1, 1 + 2/3 = 5/3 (printed: 1.8), + 3/4 = 29/12 (printed: 2.55), + 4/6 = 37/12
    # (printed: 3.22); divided by 4: 37/48 = 0.770833 (printed: 0.8).
    assert value("AP", EIGHT) == pytest.approx(37 / 48, abs=EXACT)
    assert [value(f"AP@{k}", EIGHT) * 4 for k in (1, 3, 4, 6)] == pytest.approx(
        [1, 5 / 3, 29 / 12, 37 / 12], abs=1e-14
    )


def test_mean_average_precision_of_two_searches() -> None:
    phone, watch = "1 1 0 0 1 0 0", "0 1 1 0 0 1 1"
    # (1 + 2/2 + 3/5) / 3 = 13/15
    assert value("AP", phone) == pytest.approx(13 / 15, abs=EXACT)
    # (1/2 + 2/3 + 3/6 + 4/7) / 4 = (21 + 28 + 21 + 24) / 42 / 4 = 94/168 = 47/84 (the document
    # leaves 3/6 out in print only)
    assert value("AP", watch) == pytest.approx(47 / 84, abs=EXACT)
    # (13/15 + 47/84) / 2 = (364 + 235) / 420 / 2 = 599/840 = 0.713095 (printed: 599/420, without
    # the division by 2)
    assert value("MAP", phone, watch) == pytest.approx(599 / 840, abs=EXACT)
