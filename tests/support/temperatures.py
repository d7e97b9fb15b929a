"""Sweeps of any matrix of scores, their slow twin, and studies from a seed, for charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import judged
from support.softmaxes import described, log_sum, losses, reliability

Array = NDArray[Any]
BINS = 15
DEEPEST = 10
TEMPERATURES = tuple(np.geomspace(0.002, 20, 25).tolist())


def at(scores: Array, relevant: Array, temperature: float, *, both: bool = False) -> dict[str, Any]:
    """The twin of a row of a sweep over all items."""
    everything = np.ones_like(relevant)
    means = described(scores, relevant, everything, temperature, "each", DEEPEST)
    back = (
        float(losses(scores.T, relevant.T, everything.T, temperature, "each").mean())
        if both
        else None
    )
    bins = _bins(*reliability(scores, relevant, everything, temperature))
    gaps = [
        each["count"] * abs(each["confidence"] - each["accuracy"]) for each in bins if each["count"]
    ]
    probabilities = [np.exp(row / temperature - log_sum(row / temperature)) for row in scores]
    pull = [
        float(chance[~mark].sum()) / temperature
        for chance, mark in zip(probabilities, relevant, strict=True)
    ]
    return {
        "temperature": temperature,
        "loss": means["loss"],
        "loss_back": back,
        "loss_both": None if back is None else (means["loss"] + back) / 2,
        **{
            name: means[name]
            for name in (
                "confidence",
                "entropy",
                "accuracy",
                "hardest_share",
                "effective_negatives",
            )
        },
        "calibration_error": sum(gaps) / len(scores),
        "gradient": float(np.mean(pull)),
        "bins": bins,
        "probabilities": np.mean(
            [np.sort(chance)[::-1][:DEEPEST] for chance in probabilities], axis=0
        ).tolist(),
    }


def _bins(confidence: Array, right: Array) -> list[dict[str, Any]]:
    made = []
    for number in range(BINS):
        own = [
            at for at, value in enumerate(confidence) if min(int(value * BINS), BINS - 1) == number
        ]
        means = [
            float(np.mean([values[at] for at in own])) if own else None
            for values in (confidence, right)
        ]
        place = {"from": number / BINS, "to": (number + 1) / BINS}
        made.append({**place, "count": len(own), "confidence": means[0], "accuracy": means[1]})
    return made


def sweep(
    scores: Array,
    relevant: Array,
    temperatures: Sequence[float] = TEMPERATURES,
    *,
    both: bool = False,
) -> dict[str, Any]:
    """Return what `judged.temperature.sweep` finds in any matrix of scores."""
    items = np.eye(scores.shape[1])  # with these, a query's dot products are its vector
    judgements = {
        str(query): dict.fromkeys(map(str, np.flatnonzero(row)), 1)
        for query, row in enumerate(relevant)
    }
    found: dict[str, Any] = judged.temperature.sweep(
        judged.Embeddings(scores, items, similarity="dot"), judgements, temperatures, both=both
    ).to_dict()
    return {**found, "similarity": "cosine"}


def scores_from(
    seed: int, *, queries: int = 60, items: int = 200, positives: int = 3, gap: float = 0.3
) -> tuple[Array, Array]:
    """Scores like cosines, those of relevant items higher by a gap, and what is relevant."""
    draw = np.random.default_rng(seed)
    relevant = np.zeros((queries, items), bool)
    for query in range(queries):
        relevant[query, draw.choice(items, positives, replace=False)] = True
    return np.clip(draw.normal(0.2, 0.12, (queries, items)) + gap * relevant, -1, 1), relevant


def made_sweep(
    seed: int = 7, temperatures: Sequence[float] = TEMPERATURES, *, both: bool = False, **shape: Any
) -> dict[str, Any]:
    return sweep(*scores_from(seed, **shape), temperatures, both=both)


def made_study(
    seed: int = 7,
    temperatures: Sequence[float] = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    measures: Sequence[str] = ("AP", "nDCG@10", "RR"),
) -> dict[str, Any]:
    """A study without any training, with numbers of the size and shape that training gives."""
    draw = np.random.default_rng(seed)
    rows = []
    for temperature in (None, *temperatures):
        apart = 0.0 if temperature is None else math.exp(-(math.log10(temperature / 0.05) ** 2))
        half = 0.03 + 0.01 * draw.random()
        means = {
            name: 0.62 + 0.1 * at + 0.12 * apart + 0.01 * draw.random()
            for at, name in enumerate(measures)
        }
        gains = {name: 0.12 * apart + 0.01 * draw.normal() for name in measures}
        best = None if temperature is None else int(5 + 40 * apart)
        rows.append(
            {
                "temperature": temperature,
                "training_loss": None if temperature is None else 0.2 + 3 * temperature,
                "loss": 0.9 if temperature is None else 0.8 - 0.3 * apart + 3 * temperature,
                "alignment": 0.6 - 0.3 * apart,
                "uniformity": -1.5 - apart,
                "confidence": 0.5 if temperature is None else 1 / (1 + 8 * temperature),
                "accuracy": 0.85 + 0.1 * apart,
                "entropy": 1.0,
                "calibration_error": 0.1,
                "iterations": None if best is None else best + 10,
                "best_iteration": best,
                "stopped": None if best is None else "The measure did not rise for 10 iterations.",
                "history": [] if best is None else [{"iteration": 0, "loss": 2.0, "value": 0.6}],
                "measures": {
                    name: {"estimate": mean, "low": mean - half, "high": mean + half}
                    for name, mean in means.items()
                },
                "differences": None
                if temperature is None
                else {
                    name: {"estimate": gain, "low": gain - 0.02, "high": gain + 0.02}
                    for name, gain in gains.items()
                },
            }
        )
    return {
        "what": "temperature study",
        "kind": "two-tower-linear",
        "queries": {"training": 180, "validation": 60, "held_out": 60},
        "measures": list(measures),
        "level": 0.95,
        "notes": [],
        "rows": rows,
        "sentences": ["Trained at each temperature from the same start."],
    }
