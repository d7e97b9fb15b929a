"""The best temperature: a one-dimensional search between those of a sweep, in the logarithm of the temperature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import exp, log

from judged.temperature.result import Best, Point

EVALUATIONS = 16
"""The most temperatures that both searches look at."""
_TOLERANCE = {"loss": 1e-4, "error": 1e-2}
"""How near two temperatures are when the search ends, as a share of themselves."""

At = Callable[[float], Point]


class _Watched:
    """What was found at temperatures that were looked at; no more than `most` of them."""

    def __init__(self, at: At, most: int) -> None:
        self._at, self._most = at, most
        self.points: list[Point] = []

    def __call__(self, logarithm: float) -> Point:
        if len(self.points) == self._most:
            raise _Enough
        self.points.append(self._at(exp(logarithm)))
        return self.points[-1]


class _Enough(Exception):  # noqa: N818
    pass


def lowest_loss(points: Sequence[Point], at: At) -> Best:
    """Where the loss has no slope: between two temperatures of opposite slope around the lowest."""
    from scipy.optimize import brentq

    watched = _Watched(at, EVALUATIONS // 2)
    place = min(range(len(points)), key=lambda number: points[number].objective)
    other = place - 1 if points[place].slope > 0 else place + 1
    if 0 <= other < len(points) and points[place].slope * points[other].slope < 0:
        known = {log(points[number].temperature): points[number] for number in (place, other)}
        ends = sorted(known)
        with suppress(_Enough):
            brentq(lambda each: (known.get(each) or watched(each)).slope, *ends, xtol=_TOLERANCE["loss"])
    return _best([*points, *watched.points], points, lambda point: point.objective)


def lowest_error(points: Sequence[Point], at: At) -> Best:
    """Where the calibration error is lowest, between the neighbours of the lowest.

    Bins make it jump, so that it may have many small valleys: what is found is the lowest of all that was looked at.
    """
    from scipy.optimize import minimize_scalar

    watched = _Watched(at, EVALUATIONS // 2)
    place = min(range(len(points)), key=lambda number: points[number].calibration_error)
    ends = [log(points[number].temperature) for number in (max(place - 1, 0), min(place + 1, len(points) - 1))]
    if ends[0] < ends[1]:
        options = {"xatol": _TOLERANCE["error"]}
        with suppress(_Enough):
            minimize_scalar(lambda each: watched(each).calibration_error, bounds=ends, method="bounded", options=options)
    return _best([*points, *watched.points], points, lambda point: point.calibration_error)


def _best(found: Sequence[Point], given: Sequence[Point], key: Callable[[Point], float]) -> Best:
    best = min(found, key=key)
    return Best(best, at_edge=best is given[0] or best is given[-1])
