"""Rows of numbers with their intervals: names to the left, marks on an axis, words to the right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from judged.charts.axes import number_axis
from judged.charts.canvas import BELOW, Canvas
from judged.charts.letters import fitted, widest
from judged.charts.svg import ROWS
from judged.charts.themes import Theme
from judged.errors import InputError

WIDTH = 340
ROW = 24
"""Pixels from a row to the next."""
LOW_ROW = 16
"""The least of them that can be read."""
SPACING = 26
"""Pixels between panels."""
NARROWEST = 150
"""Pixels that marks should have at least."""
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
    number: int = 0
    """Of the row in the chart's table, from 0."""


def room_for(rows: int, instead: str) -> None:
    """An error where a chart has no room for so many rows."""
    if rows > MOST:
        raise InputError(f"a chart has room for {MOST} rows; got {rows:,}: {instead}.")


def panels(
    given: Sequence[tuple[str, Sequence[Row]]], *, canvas: Canvas, zero: bool = False
) -> dict[str, Any]:
    """Panels under each other, each with the title of its axis and its rows; with `zero`, a line at
    0 that is always in sight."""
    columns = _columns([row for _, rows in given for row in rows], canvas)
    free = canvas.down(0, below=BELOW, panels=len(given), gap=SPACING)
    most = max(len(rows) for _, rows in given)
    step = ROW if canvas.height is None else max(LOW_ROW, free // most)
    parts = [
        _panel(rows, title, columns, canvas.theme, zero, height=step * len(rows), place=place)
        for place, (title, rows) in enumerate(given)
    ]
    return {"vconcat": parts, "spacing": SPACING}


@dataclass(frozen=True)
class Columns:
    """What stands beside the marks, and what is left for them."""

    frame: int
    names: dict[str, str]
    """Names as short as there is room for."""
    number: float
    interval: float
    """Pixels of the texts of intervals; 0 where there is no room for them."""
    signs: bool
    """Whether of what is said only the first word has room."""

    def says(self, row: Row) -> str:
        """What stands behind the numbers of a row."""
        return row.says.partition(" ")[0] if self.signs else row.says


def _columns(rows: Sequence[Row], canvas: Canvas) -> Columns:
    """All that there is to say beside the marks; where the width has no room for it, first the ends
    of intervals go, which the marks show, then the middle of names, then words behind signs."""
    number = widest((row.words(row.value) for row in rows), bold=True)
    interval = widest(_interval(row) for row in rows)
    every = [row.name for row in rows]
    long, short = fitted(every, float("inf")), fitted(every, (canvas.width or WIDTH) * 0.25)
    for names, ends, signs in (
        (long, interval, False),
        (long, 0.0, False),
        (short, 0.0, False),
        (short, 0.0, True),
    ):
        words = widest((Columns(0, names, 0, 0, signs).says(row) for row in rows), bold=True)
        beside = widest(names.values()) + number + ends + words
        beside += GAP * (2 + bool(ends) + bool(words)) + 8
        found = Columns(canvas.across(WIDTH, beside=beside), names, number, ends, signs)
        if found.frame >= NARROWEST:
            break
    return found


def _panel(
    rows: Sequence[Row],
    title: str,
    columns: Columns,
    theme: Theme,
    zero: bool,
    *,
    height: int,
    place: int,
) -> dict[str, Any]:
    """Rows under each other on one axis."""
    low, high = _bounds(rows, zero)
    signs = {"labelExpr": "(datum.value > 0 ? '+' : '') + datum.label"} if zero else {}
    x = number_axis(
        title,
        "value",
        scale={"domain": [low, high], "zero": False, "nice": False},
        axis={"tickCount": max(2, min(6, columns.frame // 55)), **signs},
    )
    y = {
        "field": "at",
        "type": "ordinal",
        "axis": None,
        "sort": None,
        "scale": {"domain": list(range(len(rows))), "padding": 0},
    }
    drawn = [_drawn(at, row, columns, low, high) for at, row in enumerate(rows)]
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
            "name": f"{ROWS}_{place}_{number}",
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
        for number, (test, look, colour) in enumerate(looks)
    ]
    parts = [band, *([line] if zero else []), reach, *marks, *_texts(y, columns)]
    return {"width": columns.frame, "height": height, "data": {"values": drawn}, "layer": parts}


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


def _drawn(at: int, row: Row, columns: Columns, low: float, high: float) -> dict[str, Any]:
    """A row as it is drawn: what is infinite ends where the axis does."""
    known = row.low is not None and row.high is not None
    return {
        "at": at,
        "row_number": row.number + 1,
        "name": columns.names[row.name],
        "value": row.value if row.value is not None and math.isfinite(row.value) else None,
        "known": known,
        "left": max(row.low, low) if row.low is not None else None,
        "right": min(row.high, high) if row.high is not None else None,
        "margin": row.margin,
        "shade": row.shade,
        "shape": row.shape,
        "number": row.words(row.value),
        "interval": _interval(row),
        "says": columns.says(row),
    }


def _texts(y: dict[str, Any], columns: Columns) -> list[dict[str, Any]]:
    """Names to the left; to the right the number, its interval and what is said."""
    first = columns.frame + GAP + columns.number
    behind = first + GAP + (columns.interval + GAP if columns.interval else 0)
    texts: list[tuple[str, float, str, str]] = [
        ("name", -GAP, "right", "normal"),
        ("number", first, "right", "bold"),
        *([("interval", first + GAP, "left", "normal")] if columns.interval else []),
        ("says", behind, "left", "bold"),
    ]
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
        for name, across, align, weight in texts
    ]
