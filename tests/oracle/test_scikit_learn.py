"""Side by side with scikit-learn, row by row: what it calls samples and labels are queries and
items."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import metrics

from judged import Rankings

Matrix = NDArray[np.float64]


def matrices(
    seed: int, *, grades: int = 2, ties: bool = False, rows: int = 40, columns: int = 25
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


@pytest.mark.parametrize("seed", range(3))
def test_average_precision(seed: int) -> None:
    truth, scores = matrices(seed)
    expected = [metrics.average_precision_score(*row) for row in zip(truth, scores, strict=True)]
    assert values(Rankings.from_scores(truth, scores), "AP") == pytest.approx(expected, abs=1e-12)
    lrap = metrics.label_ranking_average_precision_score(truth, scores)
    assert Rankings.from_scores(truth, scores).evaluate(["AP"]).value() == pytest.approx(
        lrap, abs=1e-12
    )


def test_label_ranking_average_precision_where_nothing_is_relevant() -> None:
    # scikit-learn gives such a row 1: it is the policy empty=one.
    truth, scores = matrices(3)
    truth[::3] = 0
    expected = metrics.label_ranking_average_precision_score(truth, scores)
    assert Rankings.from_scores(truth, scores).evaluate(
        ["AP"], policy={"empty": "one"}
    ).value() == pytest.approx(expected)


@pytest.mark.parametrize("k", [None, 1, 3, 10, 100])
@pytest.mark.parametrize("log", [2, 10, 3.5])
def test_discounted_cumulative_gain(k: int | None, log: float) -> None:
    truth, scores = matrices(4, grades=5)
    at = f"@{k}" if k else ""
    rankings = Rankings.from_scores(truth, scores)
    # dcg_score and ndcg_score average over the rows; row by row they are asked one at a time.
    dcg = [metrics.dcg_score(truth[[i]], scores[[i]], k=k, log_base=log) for i in range(len(truth))]
    assert values(rankings, f"DCG(log={log}){at}") == pytest.approx(dcg, rel=1e-12)
    ndcg = [metrics.ndcg_score(truth[[i]], scores[[i]], k=k) for i in range(len(truth))]
    assert values(rankings, f"nDCG(log={log}){at}") == pytest.approx(ndcg, rel=1e-12)
    exponential = [
        metrics.ndcg_score(2 ** truth[[i]] - 1, scores[[i]], k=k) for i in range(len(truth))
    ]
    assert values(rankings, f"nDCG(gain=exp){at}") == pytest.approx(exponential, rel=1e-12)


@pytest.mark.parametrize("k", [None, 1, 3, 10, 24, 25])
@pytest.mark.parametrize("log", [2, 10, 3.5])
def test_ties_are_averaged_by_both_where_we_are_asked_to(k: int | None, log: float) -> None:
    truth, scores = matrices(6, grades=5, ties=True)
    at = f"@{k}" if k else ""
    rankings = Rankings.from_scores(truth, scores, ties="expected")
    dcg = [metrics.dcg_score(truth[[i]], scores[[i]], k=k, log_base=log) for i in range(len(truth))]
    assert values(rankings, f"DCG(log={log}){at}") == pytest.approx(dcg, rel=1e-12)
    ndcg = [metrics.ndcg_score(truth[[i]], scores[[i]], k=k) for i in range(len(truth))]
    assert values(rankings, f"nDCG(log={log}){at}") == pytest.approx(ndcg, rel=1e-12)
    exponential = [
        metrics.ndcg_score(2 ** truth[[i]] - 1, scores[[i]], k=k) for i in range(len(truth))
    ]
    assert values(rankings, f"nDCG(gain=exp){at}") == pytest.approx(exponential, rel=1e-12)


def test_area_under_the_curve_with_ties() -> None:
    truth, scores = matrices(7, ties=True)
    expected = [metrics.roc_auc_score(*row) for row in zip(truth, scores, strict=True)]
    assert values(Rankings.from_scores(truth, scores, ties="expected"), "RankAUC") == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize("k", [None, 3, 10])
def test_known_disagreement_ties_are_averaged(k: int | None) -> None:
    """scikit-learn averages over the orders of a tie, which lies between the best and the worst of
    them."""
    truth, scores = matrices(5, grades=4, ties=True)
    at = f"@{k}" if k else ""
    averaged = np.array(
        [metrics.ndcg_score(truth[[i]], scores[[i]], k=k) for i in range(len(truth))]
    )
    best = np.array(values(Rankings.from_scores(truth, scores, ties="best"), f"nDCG{at}"))
    worst = np.array(values(Rankings.from_scores(truth, scores, ties="worst"), f"nDCG{at}"))
    assert np.all((worst <= averaged + 1e-12) & (averaged <= best + 1e-12))
    assert np.any(worst < averaged - 0.01)
    assert np.any(averaged < best - 0.01)


def test_known_disagreement_average_precision_of_ties() -> None:
    """scikit-learn takes tied items as one step of the curve; here they stand in an order, the best
    or the worst one."""
    truth, scores = np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])
    assert metrics.average_precision_score(truth[0], scores[0]) == 0.5
    assert values(Rankings.from_scores(truth, scores, ties="best"), "AP") == [1.0]
    assert values(Rankings.from_scores(truth, scores, ties="worst"), "AP") == [0.5]


@pytest.mark.parametrize("k", [1, 4, 10, 25])
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


@pytest.mark.parametrize("k", [1, 2, 5, 24])
def test_top_k_accuracy(k: int) -> None:
    draw = np.random.default_rng(7)
    _, scores = matrices(7)
    label = draw.integers(0, 25, len(scores))
    expected = metrics.top_k_accuracy_score(label, scores, k=k, labels=np.arange(25))
    assert (
        Rankings.from_scores(np.eye(25)[label], scores).evaluate([f"TopKAccuracy@{k}"]).value()
        == expected
    )


def test_coverage_is_the_rank_of_the_last_relevant_item() -> None:
    truth, scores = matrices(8)
    # The last relevant item is the first one when the list is read from its end.
    from_the_end = np.array(values(Rankings.from_scores(truth, -scores), "Rank"))
    assert np.mean(25 + 1 - from_the_end) == pytest.approx(metrics.coverage_error(truth, scores))
