"""Axes: shares, numbers, ranks, temperatures and losses, and where their ticks stand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

FAR = 6
"""From this ratio to the least, or to 1, on, the greatest loss would flatten all others."""


def share_axis(title: str, field: str, *, low: float = 0.0, top: float = 1.0) -> dict[str, Any]:
    """An axis from 0 to 1, or between other bounds."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [low, top], "nice": False, "zero": False},
    }


def number_axis(title: str, field: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, **more}


def rank_axis(title: str, field: str, last: int) -> dict[str, Any]:
    """Whole numbers from 1; spread by their logarithm where there are many."""
    if last > 50:
        return number_axis(
            title,
            field,
            scale={"type": "log", "domain": [1, last], "nice": False},
            axis={"format": ",d"},
        )
    marked = range(1, last + 1) if last <= 20 else [1, *range(5, last + 1, 5)]
    axis = {"format": ",d", "values": list(marked)}
    return number_axis(title, field, scale={"domain": [1, max(last, 2)], "nice": False}, axis=axis)


def temperature_axis(
    low: float, high: float, *, title: str | None, most: int = 9
) -> dict[str, Any]:
    """Temperatures by their logarithm, with round numbers that have room; only lines where there is
    no title."""
    if high / low < 1.05:
        low, high = low / 2, high * 2
    axis = {"values": ticks(low, high, most), "format": ",~g"}
    return {
        "field": "temperature",
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": axis if title else {**axis, "labels": False, "ticks": False},
    }


def room_above(most: float) -> float:
    """Where an axis that begins at 0 ends; nothing but rounding is no reason to look at it through
    a microscope."""
    return most * 1.06 if most > 1e-9 else 1.0


@dataclass(frozen=True)
class Losses:
    """The axis of losses, which grow without end as temperature falls: far above 1 by their
    logarithm, where there are such.

    >>> Losses.of(0.5, 2.0).symlog, Losses.of(0.5, 90.0).symlog
    (False, True)
    """

    low: float
    high: float
    symlog: bool

    @classmethod
    def of(cls, least: float, most: float) -> Losses:
        if max(least, 1.0) * FAR < most:
            return cls(least / 1.1 if least > 1 else 0.0, most * 1.1, True)
        return cls(min(0.0, least), room_above(most), False)

    @property
    def axis(self) -> dict[str, Any]:
        scale = {"domain": [self.low, self.high], "nice": False}
        if not self.symlog:
            return number_axis("loss", "value", scale=scale, axis={"tickCount": 4})
        marked = ticks(max(self.low, 1.0), self.high, 4)
        axis = {"values": marked if self.low else [0, *marked], "format": ",.6~g"}
        return number_axis(
            "loss (symlog)", "value", scale={"type": "symlog", "constant": 1, **scale}, axis=axis
        )


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two, spread by their logarithm, as many as there is room for.

    >>> ticks(0.001, 1000, 9)
    [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
    >>> ticks(0.02, 0.3, 9), ticks(0.051, 0.069, 5)
    ([0.02, 0.05, 0.1, 0.2], [0.055, 0.06, 0.065])
    """
    reach = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    grids = [
        [float(f"{step}e{power}") for power in reach for step in steps]
        for steps in ((1, 2, 5), (1, 3), (1,))
    ]
    grids += [
        [float(f"1e{power}") for power in reach if power % each == 0]
        for each in range(2, len(reach) + 1)
    ]
    within = [
        [value for value in grid if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        for grid in grids
    ]
    found = next(values for values in within if len(values) <= most)
    return found if len(found) >= 3 else _even(low, high, most)


def _even(low: float, high: float, most: int) -> list[float]:
    """Multiples of the least round step that does not crowd: for a range so short that its
    logarithm hardly bends."""
    power = math.floor(math.log10((high - low) / most))
    steps = [float(f"{step}e{power + up}") for up in (0, 1, 2) for step in (1, 2, 5)]
    for step in steps:
        places = range(math.ceil(low / step), math.floor(high / step) + 1)
        if len(places) <= most:
            break
    return [round(place * step, 12 - power) for place in places]
