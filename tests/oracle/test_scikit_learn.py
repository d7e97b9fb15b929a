"""Side by side with scikit-learn, row by row: what it calls samples and labels are queries and
items. AP, DCG and nDCG are in conventions/test_scikit_learn.py."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import metrics

from judged import Rankings
from support.loops import for_each

Matrix = NDArray[np.float64]


def matrices(
    seed: int, *, grades: int = 2, ties: bool = False, rows: int = 12, columns: int = 25
) -> tuple[Matrix, Matrix]:
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, grades, (rows, columns)).astype(float)
    scores = (
        draw.integers(0, 6, (rows, columns)).astype(float)
        if ties
        else draw.permuted(np.tile(np.arange(columns), (rows, 1)), axis=1) / 7
    )
    return truth, scores


def values(rankings: Rankings, measure: str) -> list[float]:
    evaluation = rankings.evaluate([measure])
    return evaluation.scored().values[evaluation.measure()].tolist()


def test_area_under_the_curve_with_ties() -> None:
    truth, scores = matrices(7, ties=True)
    expected = [metrics.roc_auc_score(*row) for row in zip(truth, scores, strict=True)]
    assert values(Rankings.from_scores(truth, scores, ties="expected"), "RankAUC") == pytest.approx(
        expected, rel=1e-12
    )


@for_each("k", [1, 4, 10, 25])
def test_a_cut_at_k_is_a_classifier(k: int) -> None:
    truth, scores = matrices(6)
    truth[:, 0], truth[:, 1] = 1, 0  # both classes in every row
    rankings = Rankings.from_scores(truth, scores)
    chosen = np.argsort(np.argsort(-scores, axis=1), axis=1) < k
    labels = [0, 1]
    pairs = list(zip(truth, chosen.astype(int), strict=True))
    table = np.array(
        [metrics.confusion_matrix(*pair, labels=labels).ravel() for pair in pairs], dtype=float
    )
    for column, name in enumerate(("TN", "FP", "FN", "TP")):
        assert values(rankings, f"{name}@{k}") == table[:, column].tolist()
    expected = {
        f"P@{k}": [metrics.precision_score(*pair) for pair in pairs],
        f"R@{k}": [metrics.recall_score(*pair) for pair in pairs],
        f"F@{k}": [metrics.f1_score(*pair) for pair in pairs],
        f"F(beta=2)@{k}": [metrics.fbeta_score(*pair, beta=2) for pair in pairs],
        f"F(beta=0.5)@{k}": [metrics.fbeta_score(*pair, beta=0.5) for pair in pairs],
        f"Accuracy@{k}": [metrics.accuracy_score(*pair) for pair in pairs],
        f"Specificity@{k}": [metrics.recall_score(*pair, pos_label=0) for pair in pairs],
    }
    for measure, wanted in expected.items():
        assert values(rankings, measure) == pytest.approx(wanted, abs=1e-12), measure


def test_coverage_is_the_rank_of_the_last_relevant_item() -> None:
    truth, scores = matrices(8)
    # The last relevant item is the first one when the list is read from its end.
    from_the_end = np.array(values(Rankings.from_scores(truth, -scores), "Rank"))
    assert np.mean(25 + 1 - from_the_end) == pytest.approx(metrics.coverage_error(truth, scores))
