"""Rows of numbers with their intervals: names to the left, marks on an axis, words to the right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from judged.charts.axes import number_axis
from judged.charts.themes import Theme
from judged.errors import InputError

WIDTH = 340
ROW = 24
"""Pixels from a row to the next."""
LETTER = 6.4
"""Pixels of a digit, about."""
GAP = 12
"""Pixels between columns of text."""
MOST = 400
"""Rows that a chart has room for."""


@dataclass(frozen=True)
class Row:
    """A number with its interval."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    words: Callable[[float | None], str]
    """A number as text."""
    shade: str
    says: str = ""
    """What stands behind the numbers."""
    shape: str = "circle"
    margin: float | None = None
    """How far from 0 a difference does not matter."""


def room_for(rows: int, instead: str) -> None:
    """An error where a chart has no room for so many rows."""
    if rows > MOST:
        raise InputError(f"a chart has room for {MOST} rows; got {rows:,}: {instead}.")


def panels(
    given: Sequence[tuple[str, Sequence[Row]]], *, theme: Theme, zero: bool = False
) -> dict[str, Any]:
    """Panels under each other, each with the title of its axis and its rows; with `zero`, a line at
    0 that is always in sight."""
    every = [row for _, rows in given for row in rows]
    widths = [LETTER * max(len(row.words(row.value)) for row in every)]
    widths += [LETTER * max(len(_interval(row)) for row in every)]
    parts = [_panel(rows, title, widths, theme, zero) for title, rows in given]
    return {"vconcat": parts, "spacing": 26}


def _panel(
    rows: Sequence[Row], title: str, widths: Sequence[float], theme: Theme, zero: bool
) -> dict[str, Any]:
    """Rows under each other on one axis."""
    low, high = _bounds(rows, zero)
    signs = {"labelExpr": "(datum.value > 0 ? '+' : '') + datum.label"} if zero else {}
    x = number_axis(
        title,
        "value",
        scale={"domain": [low, high], "zero": False, "nice": False},
        axis={"tickCount": 6, **signs},
    )
    y = {
        "field": "at",
        "type": "ordinal",
        "axis": None,
        "sort": None,
        "scale": {"domain": list(range(len(rows))), "padding": 0},
    }
    drawn = [_drawn(at, row, low, high) for at, row in enumerate(rows)]
    band = {
        "transform": [
            {"filter": "isValid(datum.margin)"},
            {"calculate": "-datum.margin", "as": "m"},
        ],
        "mark": {"type": "rect", "color": theme.fill},
        "encoding": {"x": {**x, "field": "m"}, "x2": {"field": "margin"}, "y": y},
    }
    line = {
        "mark": {"type": "rule", "color": theme.ink, "strokeWidth": 1.2},
        "encoding": {"x": {"datum": 0, "type": "quantitative"}},
    }
    shade = {"field": "shade", "type": "nominal", "scale": None, "legend": None}
    reach = {
        "transform": [{"filter": "datum.known"}],
        "mark": {"type": "rule", "strokeWidth": 2.4},
        "encoding": {"x": {**x, "field": "left"}, "x2": {"field": "right"}, "y": y, "color": shade},
    }
    tooltip = [{"field": name} for name in ("name", "number", "interval", "says")]
    looks: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        (
            "datum.known",
            {"filled": True, "stroke": theme.background, "strokeWidth": 1},
            {"fill": shade},
        ),
        (
            "!datum.known",
            {"filled": True, "fill": theme.background, "strokeWidth": 1.8},
            {"stroke": shade},
        ),
    ]
    marks: list[dict[str, Any]] = [
        {
            "transform": [{"filter": f"isValid(datum.value) && {test}"}],
            "mark": dict(look, type="point", opacity=1, size=95),
            "encoding": {
                "x": x,
                "y": y,
                "shape": {"field": "shape", "type": "nominal", "scale": None, "legend": None},
                "tooltip": tooltip,
            }
            | colour,
        }
        for test, look, colour in looks
    ]
    parts = [band, *([line] if zero else []), reach, *marks, *_texts(y, *widths)]
    height = ROW * len(rows)
    return {"width": WIDTH, "height": height, "data": {"values": drawn}, "layer": parts}


def _bounds(rows: Sequence[Row], zero: bool) -> tuple[float, float]:
    """Where the axis begins and ends: all that is finite is in sight."""
    every = [each for row in rows for each in (row.value, row.low, row.high)]
    every += [0.0] if zero else []
    every += [sign * row.margin for row in rows if row.margin is not None for sign in (-1, 1)]
    finite = [each for each in every if each is not None and math.isfinite(each)] or [0.0]
    low, high = min(finite), max(finite)
    edge = (high - low) * 0.06 or abs(high) * 0.06 or 1.0
    return low - edge, high + edge


def _interval(row: Row) -> str:
    """The ends of an interval in words."""
    if row.low is None or row.high is None:
        return "no interval"
    return f"{row.words(row.low)} … {row.words(row.high)}"


def _drawn(at: int, row: Row, low: float, high: float) -> dict[str, Any]:
    """A row as it is drawn: what is infinite ends where the axis does."""
    known = row.low is not None and row.high is not None
    return {
        "at": at,
        "name": row.name,
        "value": row.value if row.value is not None and math.isfinite(row.value) else None,
        "known": known,
        "left": max(row.low, low) if row.low is not None else None,
        "right": min(row.high, high) if row.high is not None else None,
        "margin": row.margin,
        "shade": row.shade,
        "shape": row.shape,
        "number": row.words(row.value),
        "interval": _interval(row),
        "says": row.says,
    }


def _texts(y: dict[str, Any], number: float, interval: float) -> list[dict[str, Any]]:
    """Names to the left; to the right the number, its interval and what is said, in columns of
    these widths."""
    first = WIDTH + GAP + number
    columns = (
        ("name", -GAP, "right", "normal"),
        ("number", first, "right", "bold"),
        ("interval", first + GAP, "left", "normal"),
        ("says", first + 2 * GAP + interval, "left", "bold"),
    )
    return [
        {
            "mark": {
                "type": "text",
                "align": align,
                "baseline": "middle",
                "fontWeight": weight,
                "clip": False,
            },
            "encoding": {
                "x": {"value": across},
                "y": y,
                "text": {"field": name, "type": "nominal"},
            },
        }
        for name, across, align, weight in columns
    ]
