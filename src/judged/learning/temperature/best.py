"""The best temperatures: a one-dimensional search between those of a sweep, in the logarithm of the
temperature.

A temperature costs less beside others, for which the scores are there already. So both searches go
on side by side, round after round, and each round asks for a few temperatures at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil, exp, log

from judged.learning.temperature.sweep_result import Best, Point

ROUNDS = 4
FOR_LOSS, FOR_ERROR = 2, 4
_WIDE = log(2.2)
"""Temperatures further apart than this, in their logarithm, have others put between them before the
search."""
_NEAR = 1e-4
"""Temperatures this near, as a share of themselves, are not told apart."""


def search(points: Sequence[Point], at: Callable[[list[float]], list[Point]]) -> tuple[Best, Best]:
    """The temperature of the lowest loss and that of the lowest calibration error; `at` looks at
    some temperatures."""
    found = list(points)
    if between := filled([point.temperature for point in points]):
        found = sorted([*found, *at(between)], key=lambda point: point.temperature)
    for _ in range(ROUNDS):
        wanted = {exp(each) for each in (*_towards_no_slope(found), *_around_lowest_error(found))}
        if not wanted:
            break
        found = sorted([*found, *at(sorted(wanted))], key=lambda point: point.temperature)
    best = [
        min(found, key=lambda point: getattr(point, name))
        for name in ("objective", "calibration_error")
    ]
    loss, error = (Best(each, at_edge=each is points[0] or each is points[-1]) for each in best)
    return loss, error


def filled(temperatures: Sequence[float]) -> list[float]:
    """What is put between temperatures, ascending, that are so far apart that a valley might be
    missed.

    >>> [round(each, 3) for each in filled([0.1, 0.2, 0.8])]
    [0.4]
    """
    found = []
    for low, high in pairwise(map(log, temperatures)):
        parts = ceil((high - low) / _WIDE)
        found += [exp(low + (high - low) * number / parts) for number in range(1, parts)]
    return found


def evaluations(temperatures: Sequence[float]) -> int:
    """The most temperatures that a search between these looks at."""
    return len(filled(temperatures)) + ROUNDS * (FOR_LOSS + FOR_ERROR)


def _towards_no_slope(points: Sequence[Point]) -> list[float]:
    """Between two temperatures of opposite slope at the lowest loss: where the slope should vanish,
    and half-way."""
    place = min(range(len(points)), key=lambda number: points[number].objective)
    left, right = (place - 1, place) if points[place].slope > 0 else (place, place + 1)
    if left < 0 or right == len(points) or not points[left].slope < 0 < points[right].slope:
        return []
    low, high = (log(points[number].temperature) for number in (left, right))
    if high - low < _NEAR:
        return []
    share = points[left].slope / (points[left].slope - points[right].slope)
    return [low + share * (high - low), (low + high) / 2]


def _around_lowest_error(points: Sequence[Point]) -> list[float]:
    """At thirds between the lowest calibration error and its neighbours.

    Bins make it jump, so that it may have many small valleys: what is found is the lowest of all
    that was looked at.
    """
    place = min(range(len(points)), key=lambda number: points[number].calibration_error)
    middle, wanted = log(points[place].temperature), []
    for other in (place - 1, place + 1):
        if 0 <= other < len(points):
            step = (log(points[other].temperature) - middle) / 3
            wanted += [middle + step, middle + 2 * step] if abs(step) > _NEAR else []
    return wanted
