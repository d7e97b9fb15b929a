"""The sweep beside torch, scikit-learn and pytorch-metric-learning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import judged
from judged.learning._softmax import BINS
from judged.learning._sweep import sweep_scores
from judged.learning.temperature import sweep
from support import softmaxes
from support.parts import Later, Needs

torch: Any = Later("torch")
losses: Any = Later("pytorch_metric_learning.losses")

TEMPERATURES = (0.001, 0.05, 1.0, 1000.0)


def vectors(seed: int, count: int = 60) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    queries = random.normal(size=(count, 8)).astype(np.float32)
    return queries, (queries + random.normal(size=queries.shape)).astype(np.float32)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_torch_cross_entropy(needs: Needs, seed: int) -> None:
    needs("torch")
    queries, items = vectors(seed)
    unit = [
        torch.nn.functional.normalize(torch.from_numpy(each).double(), dim=1)
        for each in (queries, items)
    ]
    target = torch.arange(len(queries))
    for point in sweep(
        judged.Embeddings(queries, items),
        judged.relevance.pairs(),
        TEMPERATURES,
        both=True,
        search=False,
    ).points:
        logits = unit[0] @ unit[1].T / point.temperature
        there, back = (
            float(torch.nn.functional.cross_entropy(each, target)) for each in (logits, logits.T)
        )
        # Scores are single-precision numbers: what they are off by is divided by the temperature
        # too.
        assert point.loss == pytest.approx(there, rel=1e-5, abs=2e-7 / point.temperature)
        assert point.loss_both == pytest.approx(
            (there + back) / 2, rel=1e-5, abs=2e-7 / point.temperature
        )


@pytest.mark.full
def test_torch_autograd_of_temperature_and_negatives(needs: Needs) -> None:
    needs("torch")
    queries, items = vectors(3)
    unit = [
        torch.nn.functional.normalize(torch.from_numpy(each).double(), dim=1)
        for each in (queries, items)
    ]
    for point in sweep(
        judged.Embeddings(queries, items), judged.relevance.pairs(), (0.05, 0.5, 5.0), search=False
    ).points:
        scores = (unit[0] @ unit[1].T).requires_grad_()
        logarithm = torch.tensor(np.log(point.temperature), dtype=torch.float64, requires_grad=True)
        torch.nn.functional.cross_entropy(
            scores / torch.exp(logarithm), torch.arange(len(queries))
        ).backward()
        gradient = scores.grad * len(queries)
        assert point.slope == pytest.approx(float(logarithm.grad), rel=1e-4)
        assert point.gradient == pytest.approx(
            float((gradient.sum() - gradient.diagonal().sum()) / len(queries)), rel=1e-5
        )
        off = gradient[~torch.eye(len(queries), dtype=torch.bool)].reshape(len(queries), -1)
        share = (off.sort(dim=1, descending=True).values[:, :10].sum(dim=1) / off.sum(dim=1)).mean()
        assert point.hardest_share == pytest.approx(float(share), rel=1e-4)


def test_scikit_learn_calibration() -> None:
    from sklearn.calibration import calibration_curve

    queries, items = vectors(4, 300)
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (queries, items)]
    scores, pairs = unit[0] @ unit[1].T, np.eye(300, dtype=bool)
    for point in sweep_scores(
        judged.Embeddings(queries, items),
        judged.relevance.pairs(),
        (0.02, 0.1, 0.5),
        search=False,
    ).points:
        confidence, right = softmaxes.reliability(
            scores, pairs, np.ones(scores.shape, bool), point.temperature
        )
        accuracies, confidences = calibration_curve(
            right, confidence, n_bins=BINS, strategy="uniform"
        )
        filled = [each for each in point.bins if each["count"]]
        assert [each["accuracy"] for each in filled] == pytest.approx(accuracies.tolist())
        assert [each["confidence"] for each in filled] == pytest.approx(
            confidences.tolist(), rel=1e-4
        )
        counts = np.histogram(confidence, BINS, (0, 1))[0]
        expected = np.abs(accuracies - confidences) @ counts[counts > 0] / 300
        assert point.calibration_error == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.full
@pytest.mark.parametrize("temperature", [0.07, 0.5])
@pytest.mark.parametrize(("name", "rule"), [("NTXentLoss", "apart"), ("SupConLoss", "each")])
def test_metric_learning(needs: Needs, name: str, rule: str, temperature: float) -> None:
    """Among themselves, the query itself excluded; every label as often, for it takes the mean over
    pairs."""
    needs("metric_learning")
    embeddings, _ = vectors(5)
    labels = np.repeat(np.arange(12), 5)
    theirs = getattr(losses, name)(temperature=temperature)(
        torch.from_numpy(embeddings), torch.from_numpy(labels)
    )
    relevance = judged.relevance.same_label(labels, labels)
    options: dict[str, Any] = {"positives": rule, "search": False}
    among = judged.Embeddings(embeddings, embeddings, exclude=judged.relevance.same_row())
    ours = sweep(among, relevance, [temperature], **options).points[0].loss
    assert ours == pytest.approx(float(theirs), rel=1e-5)
