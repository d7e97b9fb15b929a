"""Confusion counts, ranks of relevant items, scores and reliability, worked by hand."""

from __future__ import annotations

import json
from math import inf
from typing import get_args

import polars as pl
import pytest

import judged
from judged import Rankings
from judged.charts.kinds.distributions import (
    OF,
    Of,
    calibration_error,
    confusion,
    embedding_scores,
    funnel,
    rank_histogram,
    reliability,
    scores,
)
from judged.embeddings.relevance import same_label
from support.errors import error_of
from support.loops import for_each
from support.products import diagnose

EIGHT = [1, 0, 1, 1, 0, 1, 0, 0]


def test_confusion_counts() -> None:
    def counts(rankings: Rankings, **options: object) -> dict[str, int | None]:
        table = confusion(rankings, k=4, **options).data
        return dict(zip(table["name"], table["count"], strict=True))

    # Ranks 1 to 4 hold 1 0 1 1: three right, one wrong; the fourth relevant item is at rank 6.
    one = Rankings.from_relevance([EIGHT], collection=8)
    assert counts(one) == {"TP": 3, "FN": 1, "FP": 1, "TN": 3}
    # The second list is short: its two results are all that is shown.
    two = Rankings.from_relevance([EIGHT, [1, 1]], collection=8)
    assert counts(two) == {"TP": 5, "FN": 1, "FP": 1, "TN": 9}
    assert counts(two, query="2") == {"TP": 2, "FN": 0, "FP": 0, "TN": 6}
    # True negatives are unknown without the size of the collection.
    unknown = Rankings.from_relevance([EIGHT])
    assert counts(unknown) == {"TP": 3, "FN": 1, "FP": 1, "TN": None}
    assert confusion(unknown, k=4).notes == (
        "3 of 4 results shown are relevant; 3 of 4 relevant items are shown.",
        "True negatives need the size of the collection: collection.",
    )


# -- rank histogram


def test_ranks_and_their_median() -> None:
    # Relevant at 3, 5 and 8: the middle one is 5.
    table = rank_histogram(Rankings.from_relevance([[0, 0, 1, 0, 1, 0, 0, 1, 0, 0]])).data
    assert table["ranks"].to_list() == ["1", "2", "3", "4", "5", "6", "7", "8"]
    assert table["items"].to_list() == [0, 0, 1, 0, 1, 0, 0, 1]
    assert table["median"][0] == 5
    assert table.filter("holds_median")["ranks"].to_list() == ["5"]


def test_items_that_were_not_retrieved_are_behind_all() -> None:
    chart = rank_histogram(Rankings.from_relevance([[1, 0, 1]], relevant=[5]))
    counts = dict(chart.data.select("ranks", "items").rows())
    assert counts == {"1": 1, "2": 0, "3": 1, "not retrieved": 3}
    # 1, 3, ∞, ∞, ∞
    assert chart.data["median"][0] == inf
    assert chart.title == "Ranks of all relevant items in run: the median item was not retrieved"
    assert chart.notes[0] == (
        "5 items in 1 query; 3 were not retrieved and count as behind the last rank."
    )
    # 1 and not retrieved: the median lies behind the list.
    assert rank_histogram(Rankings.from_relevance([[1]], relevant=[2])).data["median"][0] == inf


def test_the_first_relevant_item_of_each_query() -> None:
    rankings = Rankings.from_relevance([[1, 1], [0, 1], [0, 0]], relevant=[2, 1, 0])
    table = rank_histogram(rankings, of="first").data
    assert table["items"].to_list() == [1, 1]
    assert table["median"][0] == 1.5
    assert tuple(OF) == get_args(Of)


# -- scores

JUDGEMENTS = {"q": {"a": 1, "b": 0, "c": 2}}
RUN = {"q": {"a": 4.0, "b": 3.0, "x": 1.0, "c": 0.0}, "ignored": {"a": 9.0}}


def counts(table: pl.DataFrame) -> dict[str, list[int]]:
    parts = table.partition_by("group", as_dict=True)
    return {name: part["count"].to_list() for (name,), part in parts.items()}


def test_the_scores_of_a_run() -> None:
    # Bins 0–2 and 2–4: a (4) and c (0) are relevant, b (3) and x (1) are not; the other query is
    # not judged.
    chart = scores(JUDGEMENTS, RUN, bins=2)
    assert counts(chart.data) == {"relevant": [1, 1], "other": [1, 1]}
    assert chart.data["score_from"].to_list() == [0, 2, 0, 2]
    assert chart.data["mean"].unique().to_list() == [2.0]
    assert chart.notes[-1] == "Unjudged results count as not relevant."
    removed = scores(JUDGEMENTS, RUN, bins=2, unjudged="removed").data
    assert counts(removed) == {"relevant": [1, 1], "other": [0, 1]}
    high = scores(JUDGEMENTS, RUN, bins=2, rel=2).data
    assert counts(high) == {"relevant": [1, 0], "other": [1, 2]}


def test_the_scores_of_all_pairs_of_embeddings() -> None:
    queries, items = [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    found = diagnose(queries, items, same_label(["a", "b"], ["a", "b", "a"]))
    # Of six cosines, three are of the same label and 1, three are 0.
    chart = embedding_scores(found)
    table = chart.data.filter(pl.col("count") > 0)
    assert table.select("group", "count").rows() == [("relevant", 3), ("other", 3)]
    assert table["mean"].to_list() == [1.0, 0.0]
    assert embedding_scores(json.loads(json.dumps(found.to_dict()))).data.equals(chart.data)
    without_relevance = embedding_scores(diagnose(queries, items))
    assert without_relevance.data["group"].unique().to_list() == ["other"]
    assert without_relevance.to_png()[:4] == b"\x89PNG"


# -- reliability


def test_bins_of_probabilities() -> None:
    # 0.1 and 0.3 with none relevant; 0.5, on the edge, 0.9 and 1 with two of three relevant.
    table = reliability([0, 0, 0, 1, 1], [0.1, 0.3, 0.5, 0.9, 1.0], bins=2).data
    assert table["count"].to_list() == [2, 3]
    assert table["score"].to_list() == pytest.approx([0.2, 0.8])
    assert table["share_relevant"].to_list() == pytest.approx([0, 2 / 3])
    # (2 · 0.2 + 3 · (0.8 - 2/3)) / 5 = (0.4 + 0.4) / 5
    assert calibration_error(table) == pytest.approx(0.16)
    # Empty bins have no row.
    assert reliability([1], [0.95]).data["score_from"].to_list() == [0.9]


def test_the_reliability_of_a_run() -> None:
    judgements, run = {"q": {"a": 1}}, {"q": {"a": 0.75, "x": 0.75}}
    chart = reliability(judgements, run, bins=1)
    assert chart.data["share_relevant"].to_list() == [0.5]
    assert chart.notes[-1] == "Unjudged results count as not relevant."
    assert reliability(judgements, run, unjudged="removed").data["count"].to_list() == [1]


# -- errors


@for_each(
    "function, sources, options, message",
    [
        (
            rank_histogram,
            [Rankings.from_relevance([[1]])],
            {"of": "last"},
            "of must be all or first; got 'last'.",
        ),
        (
            rank_histogram,
            [Rankings.from_relevance([[0]])],
            {},
            "run has no relevant items, so no ranks can be shown.",
        ),
        (scores, [[1, 0], [0.5]], {}, "there are 2 grades but 1 scores; the lengths must match."),
        (scores, [[1, 0], [0.5, float("nan")]], {}, "grades and scores must be finite numbers."),
        (scores, [[1], [0.5]], {"bins": 0}, "bins must be a whole number from 1 to 10,000; got 0."),
        (
            scores,
            [[1], [0.5]],
            {"unjudged": "gone"},
            "unjudged must be nonrelevant or removed; got 'gone'.",
        ),
        (
            reliability,
            [{"q": {"a": 1}}, {"q": {"a": 7.5}}],
            {},
            "run: scores must be probabilities, from 0 to 1; they go from 0 to 7.5. Convert them "
            "first, for example with a sigmoid or softmax.",
        ),
        (reliability, [[], []], {}, "scores has no score to show."),
        (
            embedding_scores,
            [{"runs": []}],
            {},
            "embedding-scores needs a diagnosis of embeddings; make one with Embeddings.diagnose "
            "or `judged embeddings … --diagnose`.",
        ),
    ],
)
def test_errors(function, sources, options, message) -> None:
    assert error_of(function, *sources, **options) == message


def test_funnel() -> None:
    # In the top 2 at the end: b. The last stage dropped a, and the first did not find e; c was
    # never above rank 3, and d fell from rank 2 to 3.
    judgements = {"q": dict.fromkeys("abcde", 1)}
    stages = {"first": {"q": list("adcb")}, "last": {"q": list("bxdc")}}
    chart = funnel(judged.funnel(judgements, stages, k=2))
    assert chart.data.select("stage", "reason", "items", "left_from", "left_to").rows() == [
        ("first", "not retrieved", 1, 4, 5),
        ("last", "dropped", 1, 3, 4),
        ("last", "demoted", 1, 2, 3),
        ("last", "not promoted", 1, 1, 2),
        ("last", "kept", 1, 0, 1),
    ]
    assert chart.data["row"][-1] == "last: in the top 2"
    assert error_of(funnel, judgements) == (
        "this chart is made from the result of judged.funnel; got something else."
    )
