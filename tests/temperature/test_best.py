"""The best temperatures: as good as a fine grid finds them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import judged
from judged.learning._sweep import evaluations
from judged.learning.temperature import TemperaturePoint, sweep
from judged.policy import POSITIVES

PAIRS = judged.relevance.pairs()


@cache
def embeddings(seed: int, *, count: int = 150, noise: float = 1.5) -> judged.Embeddings:
    random = np.random.default_rng(seed)
    queries = random.normal(size=(count, 16))
    return judged.Embeddings(queries, queries + random.normal(size=queries.shape) * noise)


@cache
def fine(
    seed: int, low: float, high: float, steps: int, **options: float
) -> tuple[TemperaturePoint, ...]:
    """What a fine grid finds; several tests compare with the same one."""
    grid = np.geomspace(low, high, steps)
    return sweep(embeddings(seed, **options), PAIRS, grid, search=False).points  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", POSITIVES)
@pytest.mark.parametrize("both", [False, True])
def test_no_temperature_of_a_fine_grid_has_a_lower_loss(rule: str, both: bool) -> None:
    labels = np.arange(150) // 3
    relevance = judged.relevance.same_label(labels, labels)
    found = sweep(embeddings(1), relevance, positives=rule, both=both)
    assert found.best_loss is not None
    assert not found.best_loss.at_edge
    grid = np.append(
        np.geomspace(0.01, 10, 60), found.best_loss.temperature * np.geomspace(0.5, 2, 80)
    )
    tried = sweep(embeddings(1), relevance, grid, positives=rule, both=both, search=False)
    lowest = min(tried.points, key=lambda point: point.objective)
    assert found.best_loss.objective <= lowest.objective + 1e-7
    assert found.best_loss.temperature == pytest.approx(lowest.temperature, rel=0.02)
    assert abs(found.best_loss.slope) < 1e-3


@pytest.mark.parametrize(
    "temperatures", [(0.001, 1000.0), (0.001, 0.3, 1000.0), (0.001, 0.1, 10.0, 1000.0)]
)
@pytest.mark.parametrize("seed", [11, 12, 14])
def test_temperatures_far_apart_are_searched_as_well(
    seed: int, temperatures: tuple[float, ...]
) -> None:
    found = sweep(embeddings(seed, count=60, noise=4), PAIRS, temperatures)
    tried = fine(seed, 0.001, 1000, 700, count=60, noise=4)
    assert found.best_loss is not None
    assert found.best_calibrated is not None
    assert found.best_loss.objective <= min(point.objective for point in tried) + 1e-6
    assert (
        found.best_calibrated.calibration_error
        <= min(point.calibration_error for point in tried) + 0.03
    )
    assert len(found.points) == len(temperatures)


@pytest.mark.parametrize("seed", range(3))
def test_the_calibration_is_better_than_at_any_temperature_given(seed: int) -> None:
    found = sweep(embeddings(seed), PAIRS)
    assert found.best_calibrated is not None
    best = found.best_calibrated
    assert best.calibration_error < min(point.calibration_error for point in found.points)
    tried = fine(seed, 0.01, 10, 200)
    assert best.calibration_error <= min(point.calibration_error for point in tried) + 0.02


def test_a_best_temperature_at_the_edge_is_said() -> None:
    queries = embeddings(0).queries
    found = sweep(judged.Embeddings(queries, queries), PAIRS, [0.01, 0.1, 1.0])
    assert found.best_loss is not None
    assert (found.best_loss.temperature, found.best_loss.at_edge) == (0.01, True)
    assert found.sentences()[0] == (
        "lowest loss at temperature 0.01 (0.0000); it is the outermost that was given, and a "
        "better one may lie beyond."
    )


def test_between_one_temperature_there_is_nothing_to_search() -> None:
    found = sweep(embeddings(2), PAIRS, [0.1])
    assert (found.best_loss, found.best_calibrated) == (None, None)


def test_progress_ends_where_it_was_said_to() -> None:
    from judged.learning._sweep import steps

    for both in (False, True):
        for batch_size in (None, 20):
            told: list[int] = []
            sweep(
                embeddings(3),
                PAIRS,
                [0.1, 1.0],
                both=both,
                batch_size=batch_size,
                progress=told.append,
            )
            assert (
                sum(told)
                == 150 * steps([0.1, 1.0], both=both, search=True)
                == 150 * (2 + evaluations([0.1, 1.0])) * (1 + both)
            )
            assert min(told) >= 0
