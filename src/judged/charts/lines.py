"""Lines with their colours, dashes and points, and their names at the ends, which keep apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judged.charts.canvas import Canvas, Frame
from judged.charts.themes import Theme
from judged.errors import InputError

if TYPE_CHECKING:
    import polars as pl

LINE = 14
"""Pixels that a label needs from the next one."""
MOST = 100
"""Lines that a chart has room for."""
OWN_LOOKS = {"scale": {"color": "independent", "strokeDash": "independent"}}
"""Panels of one chart number their lines each for itself."""


def curves(
    table: pl.DataFrame,
    field: str,
    *,
    x: dict[str, Any],
    y: dict[str, Any],
    canvas: Canvas,
    frame: Frame,
    high: float = 1.0,
    low: float = 0.0,
    said: dict[str, str] | None = None,
    symlog: bool = False,
) -> list[dict[str, Any]]:
    """A line for each name in a column, with points where there is room for them, and its name at
    its end, as the frame has it.

    `said` are words for names that the column has shorter; `symlog` is for `end_labels`.
    """
    names = table[field].unique(maintain_order=True).to_list()
    looks = canvas.look(names if field == "run" else [""] * len(names))
    look = series(field, names, looks)
    last = table.group_by(field, maintain_order=True).last()
    words = [(said or {}).get(name, name) for name in last[field]]
    ends = [
        (frame.names.get(word, word), value)
        for word, value in zip(words, last[y["field"]], strict=True)
    ]
    line = {
        "mark": {"type": "line", "strokeWidth": 2.2},
        "encoding": {
            "x": x,
            "y": y,
            **look,
            "order": {"field": x["field"], "type": "quantitative"},
        },
    }
    tooltip = [{"field": field}, {"field": x["field"]}, {"field": y["field"], "format": ".4f"}]
    points = {
        "mark": {"type": "point", "filled": True, "size": 30, "opacity": 1},
        "encoding": {"x": x, "y": y, "color": look["color"], "tooltip": tooltip},
    }
    room = [points] if table.height / max(len(names), 1) <= 25 else []
    names_at_ends = end_labels(ends, looks, y=y, low=low, high=high, frame=frame, symlog=symlog)
    return [line, *room, names_at_ends]


def series(
    field: str, names: Sequence[str], looks: Sequence[tuple[str, list[int]]]
) -> dict[str, Any]:
    """Colour and dash of each named line; the names stand at the lines, so there is no legend."""
    if len(names) > MOST:
        raise InputError(f"a chart has room for {MOST} lines; got {len(names):,}. Show fewer.")

    def scale(values: list[Any]) -> dict[str, Any]:
        return {
            "field": field,
            "type": "nominal",
            "legend": None,
            "scale": {"domain": list(names), "range": values},
        }

    return {
        "color": scale([colour for colour, _ in looks]),
        "strokeDash": scale([dash for _, dash in looks]),
    }


def end_labels(
    ends: Sequence[tuple[str, float]],
    looks: Sequence[tuple[str, list[int]]],
    *,
    y: dict[str, Any],
    frame: Frame,
    low: float = 0.0,
    high: float = 1.0,
    symlog: bool = False,
) -> dict[str, Any]:
    """The names of lines beside their last points, pushed apart where they would cover each other.

    Before each name is a piece of its line, which tells whose name it is: text in the colours of
    lines could not be read on every ground. `symlog` says that y is spread as Vega-Lite's scale of
    that name has it: evenly near 0, and by its logarithm far above 1.
    """
    bottom, top, *values = [
        math.log1p(value) if symlog else value
        for value in (low, high, *(value for _, value in ends))
    ]
    places = spread(values, (top - bottom) * LINE / frame.height, bottom, top)
    if symlog:
        places = [math.expm1(place) for place in places]
    rows = [
        {"label": label, "at": place, "number": number}
        for number, ((label, _), place) in enumerate(zip(ends, places, strict=True))
    ]
    at = {**y, "field": "at"}
    pieces = [
        {
            "transform": [{"filter": f"datum.number == {number}"}],
            "mark": {"type": "rule", "strokeWidth": 2.2, "color": shade, "strokeDash": dash},
            "encoding": {
                "x": {"value": frame.width + 8},
                "x2": {"value": frame.width + 30},
                "y": at,
            },
        }
        for number, (shade, dash) in enumerate(looks)
    ]
    names = {
        "mark": {
            "type": "text",
            "align": "left",
            "dx": 35,
            "baseline": "middle",
            "clip": False,
            "fontWeight": "bold",
        },
        "encoding": {
            "x": {"value": frame.width},
            "y": at,
            "text": {"field": "label"},
        },
    }
    return {"data": {"values": rows}, "layer": [*pieces, names]}


def beside(
    head: str, lines: Sequence[str], *, x: float, y: float, theme: Theme, shade: str
) -> list[dict[str, Any]]:
    """A bold line and others under it, outside of the frame of a chart, where no mark and no grid
    can lie."""
    return [
        {
            "data": {"values": [{"words": words}]},
            "mark": {
                "type": "text",
                "align": "left",
                "baseline": "middle",
                "clip": False,
                "fontWeight": "normal" if at else "bold",
                "color": theme.ink if at else theme.ink_of(shade),
            },
            "encoding": {
                "x": {"value": x},
                "y": {"value": y + at * LINE},
                "text": {"field": "words"},
            },
        }
        for at, words in enumerate([head, *lines])
    ]


def spread(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near to the values as can be, in their order, at least a gap apart and within the
    bounds where they fit.

    >>> spread([0.5, 0.5, 0.9], 0.1, 0, 1)
    [0.5, 0.4, 0.9]
    """
    order = sorted(range(len(values)), key=lambda at: (-values[at], at))
    places = list(values)
    top = max(high, low + gap * (len(values) - 1))
    above = top + gap
    for at in order:
        places[at] = above = min(places[at], above - gap)
    below = low - gap
    for at in reversed(order):
        places[at] = below = max(places[at], below + gap)
    return [round(place, 9) for place in places]
