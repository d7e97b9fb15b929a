"""A slow twin of the sweep: one query at a time, in double precision, from the whole matrix of
scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def losses(
    scores: Array, positive: Array, candidate: Array, temperature: float, rule: str
) -> Array:
    """InfoNCE of every row that has a positive."""
    return np.array([_loss(*row, temperature, rule) for row in _rows(scores, positive, candidate)])


def _rows(scores: Array, positive: Array, candidate: Array) -> list[tuple[Array, Array]]:
    """The candidates' scores and which of them are positives, for rows that have one."""
    return [
        (s[c].astype(float), p[c])
        for s, p, c in zip(scores, positive, candidate, strict=True)
        if (p & c).any()
    ]


def log_sum(values: Array) -> float:
    top = values.max(initial=-np.inf)
    return float(top + np.log(np.exp(values - top).sum())) if len(values) else -np.inf


def _loss(scores: Array, positive: Array, temperature: float, rule: str) -> float:
    logits = scores / temperature
    if rule == "any":
        return log_sum(logits) - log_sum(logits[positive])
    against = logits if rule == "each" else None
    return float(
        np.mean(
            [
                log_sum(against if against is not None else np.append(logits[~positive], own)) - own
                for own in logits[positive]
            ]
        )
    )


def described(
    scores: Array, positive: Array, candidate: Array, temperature: float, rule: str, hardest: int
) -> dict[str, float]:
    """The means of all that a sweep says of one temperature."""
    found: dict[str, list[float]] = {
        name: []
        for name in ("confidence", "entropy", "accuracy", "hardest_share", "effective_negatives")
    }
    for row, relevant in _rows(scores, positive, candidate):
        logits = row / temperature
        probability = np.exp(logits - log_sum(logits))
        found["confidence"].append(probability.max())
        found["entropy"].append(-sum(p * np.log(p) for p in probability if p > 0))
        found["accuracy"].append(relevant[row == row.max()].mean())
        negative = logits[~relevant]
        if len(negative):
            share = np.sort(np.exp(negative - log_sum(negative)))[::-1]
            found["hardest_share"].append(share[:hardest].sum())
            found["effective_negatives"].append(np.exp(-sum(p * np.log(p) for p in share if p > 0)))
    means = {
        name: float(np.mean(values)) if values else float("nan") for name, values in found.items()
    }
    means["loss"] = float(losses(scores, positive, candidate, temperature, rule).mean())
    return means


def reliability(
    scores: Array, positive: Array, candidate: Array, temperature: float
) -> tuple[Array, Array]:
    """The confidence of each query's top item, and how right it is."""
    rows = _rows(scores, positive, candidate)
    confidence = [np.exp(row.max() / temperature - log_sum(row / temperature)) for row, _ in rows]
    return np.array(confidence), np.array(
        [relevant[row == row.max()].mean() for row, relevant in rows]
    )
