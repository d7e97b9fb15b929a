"""The sweep against its slow twin, and what must hold of it whatever the data."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import judged
from judged.learning.temperature import TEMPERATURES, sweep
from judged.policy import POSITIVES
from support import softmaxes
from support.loops import for_each

EXTREME = (0.001, 0.05, 1.0, 20.0, 1000.0)


class Data:
    """Vectors of small whole numbers, whose dot products are exact, with labels; divided so that
    scores lie near 1."""

    def __init__(
        self, seed: int, queries: int = 23, items: int = 57, labels: int = 6, dims: int = 5
    ) -> None:
        random = np.random.default_rng(seed)
        self.queries, self.items = (
            random.integers(-4, 5, (count, dims)) / 4.0 for count in (queries, items)
        )
        self.labels = random.integers(0, labels, queries), random.integers(0, labels, items)
        self.scores = self.queries @ self.items.T
        self.positive = self.labels[0][:, None] == self.labels[1]
        self.candidate = np.ones(self.scores.shape, bool)
        self.relevance = judged.relevance.same_label(*self.labels)

    def swept(
        self,
        temperatures: Any = EXTREME,
        *,
        exclude: Any = None,
        memory: str = "1GB",
        **options: Any,
    ) -> Any:
        embeddings = judged.Embeddings(
            self.queries, self.items, similarity="dot", exclude=exclude, memory=memory
        )
        return sweep(embeddings, self.relevance, temperatures, search=False, **options)


def assert_described(data: Data, found: Any, rule: str = "each") -> None:
    for point in found.points:
        expected = softmaxes.described(
            data.scores, data.positive, data.candidate, point.temperature, rule, 10
        )
        assert {name: getattr(point, name) for name in expected} == pytest.approx(
            expected, rel=2e-5, abs=1e-9
        ), point


@for_each("rule", POSITIVES)
@for_each("seed", range(6))
def test_every_number_is_that_of_the_slow_twin(seed: int, rule: str) -> None:
    data = Data(seed, labels=2 + 3 * seed)
    assert_described(data, data.swept(positives=rule), rule)


def test_excluded_items_are_no_candidates() -> None:
    data = Data(1, queries=30, items=30)
    data.candidate = ~np.eye(30, dtype=bool)
    assert_described(data, data.swept(exclude=judged.relevance.same_row()))


@pytest.mark.parametrize("rule", POSITIVES)
def test_both_directions(rule: str) -> None:
    data = Data(3)
    for point in data.swept(both=True, positives=rule).points:
        there = softmaxes.losses(
            data.scores, data.positive, data.candidate, point.temperature, rule
        ).mean()
        back = softmaxes.losses(
            data.scores.T, data.positive.T, data.candidate.T, point.temperature, rule
        ).mean()
        assert point.loss == pytest.approx(there, rel=1e-5)
        assert point.loss_back == pytest.approx(back, rel=1e-5)
        assert point.loss_both == point.objective == pytest.approx((there + back) / 2, rel=1e-5)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("rule", POSITIVES)
def test_the_slope_is_the_losss_own(rule: str, both: bool) -> None:
    data = Data(4)
    step = 1e-3
    for temperature in (0.1, 0.7, 5.0):
        low, middle, high = data.swept(
            temperature * np.exp([-step, 0, step]), positives=rule, both=both
        ).points
        assert middle.slope == pytest.approx(
            (high.objective - low.objective) / (2 * step), rel=1e-2, abs=1e-4
        )


def test_the_gradient_is_the_losss_own() -> None:
    """The sum of the derivatives by the negatives: all of them raised a little, and what the loss
    gains."""
    data, step = Data(5), 1e-6
    for rule in POSITIVES:
        for point in data.swept((0.2, 1.0, 30.0), positives=rule).points:
            higher, lower = (
                softmaxes.losses(
                    data.scores + sign * step * ~data.positive,
                    data.positive,
                    data.candidate,
                    point.temperature,
                    rule,
                )
                for sign in (1, -1)
            )
            assert point.gradient == pytest.approx(
                float((higher - lower).mean()) / (2 * step), rel=1e-4
            )


def by_dot(queries: Any, items: Any, relevance: Any, **options: Any) -> Any:
    options = {"temperatures": [1.0], "search": False} | options
    return sweep(judged.Embeddings(queries, items, similarity="dot"), relevance, **options)


@pytest.mark.parametrize("memory", ["1MB", "20MB", "1GB"])
def test_numbers_do_not_depend_on_how_scores_are_cut(
    memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Data(6, queries=40, items=4_000)
    expected = data.swept().to_dict()
    if memory == "1MB":  # many tiles per row
        monkeypatch.setattr("judged.embeddings.product._shape", lambda *given: (7, 1_000))
    found = data.swept(memory=memory).to_dict()
    for one, other in zip(found["temperatures"], expected["temperatures"], strict=True):
        for name, value in one.items():
            if isinstance(value, float):
                assert value == pytest.approx(other[name], rel=1e-5), name
            elif name == "probabilities":
                assert value == pytest.approx(other[name], rel=1e-5)
        assert [each["count"] for each in one["bins"]] == [each["count"] for each in other["bins"]]


def test_probabilities_by_rank() -> None:
    data = Data(7)
    for point in data.swept().points:
        rows = []
        for row, relevant in zip(data.scores, data.positive, strict=True):
            if relevant.any():
                logits = np.sort(row / point.temperature)[::-1]
                rows.append(np.exp(logits[:10] - softmaxes.log_sum(logits)))
        assert point.probabilities == pytest.approx(
            np.mean(rows, axis=0).tolist(), rel=1e-5, abs=1e-12
        )


def test_equal_vectors_share_the_top() -> None:
    """Of two items that tie for the top one is relevant: right half of the time, and each has half
    of the probability."""
    items = [[0.7, 0.1], [0.7, 0.1], [-1.0, 0.0]]
    found = by_dot([[1.0, 0.3]], items, {"0": {"0": 1}}, temperatures=[0.001])
    assert (found.points[0].accuracy, found.points[0].confidence) == (0.5, pytest.approx(0.5))


def test_a_query_without_negatives() -> None:
    found = by_dot([[1.0], [1.0]], [[1.0], [2.0]], {"0": {"0": 1, "1": 1}, "1": {"0": 1}})
    assert found.notes == (
        "1 query has no negative among the candidates: the share of the hardest and the effective "
        "number are means over "
        "the others.",
    )
    assert found.points[0].effective_negatives == 1.0


def test_queries_without_positives_are_left_out_and_said() -> None:
    found = by_dot([[1.0], [1.0], [2.0]], [[1.0], [2.0]], {"0": {"0": 1}, "1": {"0": 0}})
    assert found.queries == 1
    assert found.notes == ("2 of 3 queries without a positive are left out.",)


def test_the_ranking_is_measured_with_the_same_positives() -> None:
    """Of grade 2 there is item 0 alone, at rank 2; of grade 1 also item 1, at rank 1."""
    grades = {"0": {"0": 2, "1": 1}}
    found = [by_dot([[1.0]], [[1.0], [2.0], [0.0]], grades, rel=rel) for rel in (1, 2)]
    assert [each.points[0].accuracy for each in found] == [1.0, 0.0]
    assert [dict(each.ranking) for each in found] == [
        {"AP": 1.0, "nDCG@10": pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)))},
        {"AP(rel=2)": 0.5, "nDCG@10": pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3)))},
    ]
    assert "AP(rel=2)" in found[1].to_frame().columns


def test_no_temperature_changes_the_ranking() -> None:
    data = Data(8)
    found = data.swept(TEMPERATURES)
    evaluation = judged.evaluate_embeddings(
        data.queries, data.items, data.relevance, similarity="dot", measures=["AP", "nDCG@10"]
    )
    assert found.ranking == {name: evaluation.value(name) for name in ("AP", "nDCG@10")}
    assert len({point.accuracy for point in found.points}) == 1
    assert found.to_frame()["AP"].unique().to_list() == [evaluation.value("AP")]


@given(st.integers(0, 10_000), st.sampled_from(sorted(POSITIVES)))
@settings(max_examples=2 * settings.default.max_examples)
def test_laws(seed: int, rule: str) -> None:
    random = np.random.default_rng(seed)
    data = Data(
        seed,
        queries=int(random.integers(1, 12)),
        items=int(random.integers(2, 40)),
        labels=int(random.integers(1, 4)),
    )
    if not data.positive.any():
        return
    points = data.swept(np.geomspace(0.01, 100, 9), positives=rule).points
    for cool, warm in pairwise(points):
        assert warm.confidence <= cool.confidence + 1e-6
        assert warm.entropy >= cool.entropy - 1e-5
    for point in points:
        assert sum(each["count"] for each in point.bins) == len(
            data.positive[data.positive.any(axis=1)]
        )
        assert 0 <= point.entropy <= np.log(len(data.items)) + 1e-5
        assert 0 <= point.calibration_error <= 1
        assert (
            np.isnan(point.effective_negatives)
            or 1 - 1e-5 <= point.effective_negatives <= len(data.items) + 1e-3
        )
        assert sum(point.probabilities) <= 1 + 1e-6
    moved = sweep(
        judged.Embeddings(data.queries, data.items[::-1], similarity="dot"),
        judged.relevance.same_label(data.labels[0], data.labels[1][::-1]),
        [0.1],
        search=False,
    )
    assert moved.points[0].loss == pytest.approx(
        data.swept([0.1], positives="each").points[0].loss, rel=1e-5, abs=1e-7
    )


def test_what_a_sweep_says() -> None:
    captions, clips = (
        np.array([[1.0, 0.1], [0.2, 1.0], [0.3, 0.9]]),
        np.array([[0.9, 0.0], [0.0, 0.8], [0.9, 0.6]]),
    )
    found = sweep(judged.Embeddings(captions, clips), judged.relevance.pairs(), [0.01, 0.1, 1.0])
    heads, *lines = found.to_text().split("\n\n")[1].splitlines()
    assert heads == (
        "temperature    loss  confidence  entropy  accuracy     ECE  hardest 10  effective "
        " gradient"
    )
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (captions, clips)]
    twin = softmaxes.described(
        unit[0] @ unit[1].T, np.eye(3, dtype=bool), np.ones((3, 3), bool), 0.1, "each", 10
    )
    cells = dict(
        zip(heads.replace("hardest 10", "hardest_10").split(), lines[1].split(), strict=True)
    )
    assert {
        name: f"{twin[name]:.4f}" for name in ("loss", "confidence", "entropy", "accuracy")
    }.items() <= cells.items()
    assert found.best_loss is not None
    assert found.best_calibrated is not None
    best = found.best_calibrated
    assert found.sentences() == [
        f"lowest loss at temperature {found.best_loss.temperature:.4g} "
        f"({found.best_loss.loss:.4f}).",
        f"best calibrated at temperature {best.temperature:.4g} (ECE {best.calibration_error:.4f}, "
        "confidence "
        f"{best.confidence:.4f}, accuracy 0.6667).",
        # Two of three pairs are right, the third at rank 2: AP = (1 + 1 + 1/2) / 3, nDCG = (1 + 1 +
        # 1/log2(3)) / 3.
        "AP 0.8333 and nDCG@10 0.8770 at every temperature: dividing all scores by one number "
        "leaves their order as it is.",
        "cosine: the score is the cosine of the angle between the vectors, in double precision; "
        "relevant: the item with the "
        "query's own row number; full-corpus softmax: a query's probabilities go over all 3 items, "
        "from scores in single precision.",
    ]


def test_bins_and_frames() -> None:
    found = Data(2).swept()
    for point in found.points:
        assert len(point.bins) == 15
        assert all(
            each["from"] <= each["confidence"] <= each["to"] for each in point.bins if each["count"]
        )
    assert found.to_frame()["temperature"].to_list() == list(EXTREME)
    assert "loss_back" not in found.to_frame().columns
    assert (
        json.loads(json.dumps(found.to_dict(), allow_nan=False))["temperatures"][0]["temperature"]
        == 0.001
    )


@pytest.mark.parametrize("seed", range(3))
def test_one_query_alone_is_a_sweep_of_that_query(seed: int) -> None:
    data = Data(seed, queries=9, labels=3)
    relevant = data.positive.any(axis=1)
    for row in np.flatnonzero(relevant).tolist():
        found = data.swept(query=str(row))
        assert found.queries == 1
        for point in found.points:
            expected = softmaxes.described(
                *(each[row : row + 1] for each in (data.scores, data.positive, data.candidate)),
                point.temperature,
                "each",
                10,
            )
            assert point.loss == pytest.approx(expected["loss"], rel=1e-5, abs=1e-6)
            scores = data.scores[row] / point.temperature
            shares = np.exp(scores - scores.max())
            ordered = np.sort(shares / shares.sum())[::-1][: len(point.probabilities)]
            assert point.probabilities == pytest.approx(ordered.tolist(), rel=1e-4, abs=1e-7)
