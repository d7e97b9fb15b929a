"""What charts of temperature share: the sweep they read, three of its temperatures, and the axis
along them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from judged.charts.drawing import number_axis, plural
from judged.charts.records import Record
from judged.checks import temperature as checked_temperature
from judged.errors import InputError

NAMES = ("sharp", "medium", "smooth")
"""Of three temperatures, the lowest first."""
APART = 4.0
"""The sharp and the smooth temperature lie by this factor from the medium one, unless they are
told."""
FAR = 6
"""From this ratio to the least, or to 1, on, the greatest loss would flatten all others."""
OWN_LOOKS = {"scale": {"color": "independent", "strokeDash": "independent"}}
"""Panels of one chart number their lines each for itself."""


def read_sweep(given: Any) -> Record:
    """A sweep of `judged.temperature.sweep`, or its JSON, with at least one temperature, ascending."""
    found = Record.of(
        given,
        what="temperature sweep",
        how="judged.temperature.sweep or `judged temperature … -o FILE.json`",
    )
    at = [temperature_of(row) for row in found.records("temperatures")]
    if not at or any(left >= right for left, right in pairwise(at)):
        raise InputError(
            "the temperature sweep must have temperatures, each above the one before; make it anew."
        )
    return found


def temperature_of(row: Record) -> float:
    return checked_temperature(row.number("temperature"))


def softmax_said(sweep: Record) -> str:
    """Over what the probabilities are: a loss means nothing without it."""
    kind, candidates = sweep.text("softmax"), sweep.count("candidates")
    queries = plural(sweep.count("queries"), "query", "queries")
    among = {
        "corpus": f"Full-corpus softmax: each query against all {plural(candidates, 'item')}",
        "batch": (
            f"In-batch softmax: each query against the {plural(candidates, 'item')} of its batch"
        ),
    }
    if kind not in among:
        raise InputError(
            f"the temperature sweep: 'softmax' must be {' or '.join(among)}; got {kind!r}."
        )
    return f"{among[kind]}. {queries}, similarity {sweep.text('similarity')}."


def written(temperature: float) -> str:
    """A temperature with three digits, written out.

    >>> written(0.0021544), written(1000.0)
    ('0.00215', '1,000')
    """
    return f"{float(f'{temperature:.3g}'):,.12g}"


@dataclass(frozen=True)
class Chosen:
    """Three rows of a sweep, or two where it ends at the medium one, and what there is to say about
    the choice."""

    rows: dict[str, Record]
    """By name: sharp, medium, smooth."""
    note: str


def three(sweep: Record, temperatures: Sequence[float] | None) -> Chosen:
    """The rows nearest to the lowest loss, to a quarter and to four times of it; or those nearest
    to three temperatures."""
    rows = sweep.records("temperatures")
    if temperatures is not None:
        return _asked(rows, temperatures)
    searched = sweep.record_or_none("best_loss")
    best = temperature_of(searched or min(rows, key=_objective))
    medium = _nearest(rows, best)
    found = {"medium": rows[medium]}
    for name, side, target in (
        ("sharp", rows[:medium], best / APART),
        ("smooth", rows[medium + 1 :], best * APART),
    ):
        if side:
            found[name] = side[_nearest(side, target)]
    lost = [f"{name}er" for name in NAMES if name not in found]
    others = (
        f"no {' or '.join(lost)} one was swept"
        if lost
        else "the others to a quarter and to four times of it"
    )
    note = f"Medium is the temperature nearest to the lowest loss, at {written(best)}; {others}."
    return Chosen({name: found[name] for name in NAMES if name in found}, note)


def _asked(rows: list[Record], temperatures: Sequence[float]) -> Chosen:
    listed = [temperatures] if isinstance(temperatures, (str, float, int)) else list(temperatures)
    if len(listed) != len(NAMES):
        raise InputError(
            f"temperatures must be three numbers, as in 0.01, 0.1, 1; got {len(listed)}."
        )
    wanted = sorted(checked_temperature(each) for each in listed)
    places = [_nearest(rows, each) for each in wanted]
    for (place, other), (left, right) in zip(pairwise(places), pairwise(wanted), strict=True):
        if place == other:
            raise InputError(
                f"temperatures {written(left)} and {written(right)} are both nearest to "
                f"{written(temperature_of(rows[place]))} "
                "in the sweep; name others, or sweep these."
            )
    found = [rows[place] for place in places]
    taken = [temperature_of(row) for row in found]
    exact = all(
        math.isclose(left, right, rel_tol=1e-9) for left, right in zip(wanted, taken, strict=True)
    )
    note = (
        "" if exact else f"Asked for {_and(wanted)}; the nearest that were swept are {_and(taken)}."
    )
    return Chosen(dict(zip(NAMES, found, strict=True)), note)


def _objective(row: Record) -> float:
    """The loss whose lowest is searched: the mean of both directions, where there are both."""
    both = row.number_or_none("loss_both")
    return row.number("loss") if both is None else both


def _and(temperatures: Sequence[float]) -> str:
    *most, last = map(written, temperatures)
    return f"{', '.join(most)} and {last}"


def _nearest(rows: Sequence[Record], target: float) -> int:
    """The place of the row whose temperature is nearest, by ratio."""
    return min(range(len(rows)), key=lambda at: abs(math.log(temperature_of(rows[at]) / target)))


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
