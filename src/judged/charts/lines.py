"""Lines, sides and intervals: the marks that several kinds of chart share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from judged.charts.canvas import (
    BELOW,
    LEFT,
    Canvas,
    PlotArea,
    encode,
    fitted,
    layer,
    mark,
    number_axis,
    text_width,
    widest,
)
from judged.charts.svg import ROWS, Theme
from judged.errors import InputError

if TYPE_CHECKING:
    import polars as pl


LINE = 14  # pixels that a label needs from the next one
MOST = 100  # lines that a chart has room for
OWN_LOOKS = {"scale": {"color": "independent", "strokeDash": "independent"}}
"""Panels of one chart number their lines each for itself."""


def curves(
    table: pl.DataFrame,
    field: str,
    *,
    x: dict[str, Any],
    y: dict[str, Any],
    canvas: Canvas,
    frame: PlotArea,
    high: float = 1.0,
    low: float = 0.0,
    words: dict[str, str] | None = None,
    symlog: bool = False,
) -> list[dict[str, Any]]:
    """Draw a line per name in a column, with its name (or its `words`) at its end."""
    names = table[field].unique(maintain_order=True).to_list()
    every = list(words or names)
    by_name = dict(
        zip(every, canvas.look(names if field == "run" else [""] * len(every)), strict=True)
    )
    looks = [by_name[name] for name in names]
    look = series(field, names, looks)
    last = table.group_by(field, maintain_order=True).last()
    ends = []
    for name, value in last.select(field, y["field"]).rows():
        word = (words or {}).get(name, name)
        ends.append((frame.names.get(word, word), value))
    line = layer(
        mark("line", strokeWidth=2.2),
        encode(x=x, y=y, **look, order={"field": x["field"], "type": "quantitative"}),
    )
    tooltip = [{"field": field}, {"field": x["field"]}, {"field": y["field"], "format": ".4f"}]
    points = layer(
        mark("point", filled=True, size=30, opacity=1),
        encode(x=x, y=y, color=look["color"], tooltip=tooltip),
    )
    room = [points] if table.height / max(len(names), 1) <= 25 else []
    names_at_ends = end_labels(ends, looks, y=y, low=low, high=high, frame=frame, symlog=symlog)
    return [line, *room, names_at_ends]


def series(
    field: str, names: Sequence[str], looks: Sequence[tuple[str, list[int]]]
) -> dict[str, Any]:
    """Return colour and dash of each line, without a legend because lines have names."""
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
    frame: PlotArea,
    low: float = 0.0,
    high: float = 1.0,
    symlog: bool = False,
) -> dict[str, Any]:
    """Write names beside the last points, each after a piece of its line, without overlaps."""
    if frame.below:
        return _names_below([name for name, _ in ends], looks, frame)
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
        layer(
            mark("rule", strokeWidth=2.2, color=shade, strokeDash=dash),
            encode(x={"value": frame.width + 8}, x2={"value": frame.width + 30}, y=at),
            transform=[{"filter": f"datum.number == {number}"}],
        )
        for number, (shade, dash) in enumerate(looks)
    ]
    names = layer(
        mark("text", align="left", dx=35, baseline="middle", clip=False, fontWeight="bold"),
        encode(x={"value": frame.width}, y=at, text={"field": "label"}),
    )
    return {"data": {"values": rows}, "layer": [*pieces, names]}


def _names_below(
    names: Sequence[str], looks: Sequence[tuple[str, list[int]]], frame: PlotArea
) -> dict[str, Any]:
    """Write names under the area, each after a piece of its line, in as many rows as they need."""
    parts: list[dict[str, Any]] = []
    x, row = 0.0, 0
    for name, (shade, dash) in zip(names, looks, strict=True):
        wide = 28 + text_width(name, bold=True) + LINE
        if x and x + wide > frame.width:
            x, row = 0.0, row + 1
        y = {"value": frame.height + BELOW + LINE * (row + 0.5)}
        parts += [
            layer(
                mark("rule", strokeWidth=2.2, color=shade, strokeDash=dash, clip=False),
                encode(x={"value": x}, x2={"value": x + 22}, y=y),
                values=[{}],
            ),
            layer(
                mark("text", align="left", baseline="middle", clip=False, fontWeight="bold"),
                encode(x={"value": x + 28}, y=y, text={"field": "label"}),
                values=[{"label": name}],
            ),
        ]
        x += wide
    return {"layer": parts}


def beside(
    head: str, lines: Sequence[str], *, x: float, y: float, theme: Theme, shade: str
) -> list[dict[str, Any]]:
    """Write a bold line and others under it, outside of the frame of a chart."""
    return [
        layer(
            mark(
                "text",
                align="left",
                baseline="middle",
                clip=False,
                fontWeight="normal" if at else "bold",
                color=theme.ink if at else theme.ink_of(shade),
            ),
            encode(x={"value": x}, y={"value": y + at * LINE}, text={"field": "words"}),
            values=[{"words": words}],
        )
        for at, words in enumerate([head, *lines])
    ]


def spread(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places near the values, in their order, a gap apart, within bounds if they fit."""
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


SIDE_GAP = 10
MOST_SIDES = 400  # the height of a square frame stays below this
SideText = tuple[str, Sequence[str], str]
"""Words about one side of a chart of two systems: a head, queries that differ most, a colour."""


def sided(
    canvas: Canvas, width: int, height: int, *, sides: Sequence[SideText], square: bool = False
) -> PlotArea:
    """Return an area with words about its upper and lower side, beside or above it."""
    theme = canvas.theme
    (first, first_lines, _), (second, second_lines, _) = sides
    if not canvas.has_room_beside:
        wide = canvas.across(width, beside=LEFT + SIDE_GAP)
        taken = sum(text_width(head, bold=True) for head in (first, second)) + 2 * LINE
        stacked = taken >= wide
        parts = [
            _head(head, theme.ink_of(shade), align, across, -7 - LINE * row)
            for (head, _, shade), align, across, row in zip(
                sides, ("left", "right"), (0, wide), (int(stacked), 0), strict=True
            )
        ]
        below = BELOW + 10 + LINE * (1 + stacked)
        tall = canvas.down(min(wide, MOST_SIDES) if square else height, below=below)
        return PlotArea(wide, tall, on_top=tuple(parts))
    texts = [first, *first_lines, second, *second_lines]
    wide = canvas.across(width, beside=LEFT + SIDE_GAP + widest(texts, bold=True))
    tall = canvas.down(min(wide, MOST_SIDES) if square else height)
    tops = 6, tall - 6 - LINE * len(second_lines)
    parts = [
        part
        for (head, lines, shade), top in zip(sides, tops, strict=True)
        for part in beside(head, lines, x=wide + SIDE_GAP, y=top, theme=theme, shade=shade)
    ]
    return PlotArea(wide, tall, on_top=tuple(parts))


def _head(head: str, colour: str, align: str, x: float, y: float) -> dict[str, Any]:
    look = {"baseline": "bottom", "clip": False, "fontWeight": "bold"}
    return layer(
        mark("text", align=align, color=colour, **look),
        encode(x={"value": x}, y={"value": y}, text={"field": "words"}),
        values=[{"words": head}],
    )


WIDTH = 340
ROW = 24  # pixels from a row to the next
LOW_ROW = 16  # the least of them that can be read
SPACING = 26  # pixels between panels
NARROWEST = 150  # pixels that marks should have at least
ROW_GAP = 12  # pixels between columns of text
MOST_INTERVALS = 400  # rows that a chart has room for


IntervalRow = dict[str, Any]
"""A number with its interval.

Keys are name, value, low, high, words (a function that writes a number), shade, shape, says (what
stands behind the numbers), margin (how far from 0 a difference does not matter) and number (of the
row in the chart's table, from 0).
"""


def room_for(rows: int, instead: str) -> None:
    if rows > MOST_INTERVALS:
        raise InputError(f"a chart has room for {MOST_INTERVALS} rows; got {rows:,}: {instead}.")


def panels(
    given: Sequence[tuple[str, Sequence[IntervalRow]]], *, canvas: Canvas, zero: bool = False
) -> dict[str, Any]:
    """Stack panels, each with an axis title and rows; `zero` adds a line at 0."""
    columns = _columns([row for _, rows in given for row in rows], canvas)
    free = canvas.down(0, below=BELOW, panels=len(given), gap=SPACING)
    most = max(len(rows) for _, rows in given)
    step = ROW if canvas.height is None else max(LOW_ROW, free // most)
    parts = [
        _panel(rows, title, columns, canvas.theme, zero, height=step * len(rows), place=place)
        for place, (title, rows) in enumerate(given)
    ]
    return {"vconcat": parts, "spacing": SPACING}


Columns = tuple[int, dict[str, str], float, float, Callable[[IntervalRow], str]]
"""The width of the area of marks, names as short as there is room for, the widths of numbers and of
intervals (0 where there is no room), and a function that returns what is said of a row."""


def _columns(rows: Sequence[IntervalRow], canvas: Canvas) -> Columns:
    """Fit columns beside the marks: drop ends of intervals, then shorten names, then words."""
    number = widest((row["words"](row["value"]) for row in rows), bold=True)
    interval = widest(_interval(row) for row in rows)
    every = [row["name"] for row in rows]
    long, short = fitted(every, float("inf")), fitted(every, (canvas.width or WIDTH) * 0.25)
    for names, ends, says in (
        (long, interval, _says),
        (long, 0.0, _says),
        (short, 0.0, _says),
        (short, 0.0, _first_word),
    ):
        words = widest(map(says, rows), bold=True)
        beside = widest(names.values()) + number + ends + words
        beside += ROW_GAP * (2 + bool(ends) + bool(words)) + 8
        frame = canvas.across(WIDTH, beside=beside)
        if frame >= NARROWEST:
            break
    return frame, names, number, ends, says


def _says(row: IntervalRow) -> str:
    return str(row["says"])


def _first_word(row: IntervalRow) -> str:
    return _says(row).removeprefix("rank ").partition(" ")[0]


def _panel(
    rows: Sequence[IntervalRow],
    title: str,
    columns: Columns,
    theme: Theme,
    zero: bool,
    *,
    height: int,
    place: int,
) -> dict[str, Any]:
    low, high = _bounds(rows, zero)
    signs = {"labelExpr": "(datum.value > 0 ? '+' : '') + datum.label"} if zero else {}
    x = number_axis(
        title,
        "value",
        scale={"domain": [low, high], "zero": False, "nice": False},
        axis={"tickCount": max(2, min(6, columns[0] // 55)), **signs},
    )
    y = {
        "field": "at",
        "type": "ordinal",
        "axis": None,
        "sort": None,
        "scale": {"domain": list(range(len(rows))), "padding": 0},
    }
    drawn = [_drawn(at, row, columns, low, high) for at, row in enumerate(rows)]
    band = layer(
        mark("rect", color=theme.fill),
        encode(x={**x, "field": "m"}, x2={"field": "margin"}, y=y),
        transform=[{"filter": "isValid(datum.margin)"}, {"calculate": "-datum.margin", "as": "m"}],
    )
    line = layer(
        mark("rule", color=theme.ink, strokeWidth=1.2),
        encode(x={"datum": 0, "type": "quantitative"}),
    )
    shade = {"field": "shade", "type": "nominal", "scale": None, "legend": None}
    reach = layer(
        mark("rule", strokeWidth=2.4),
        encode(x={**x, "field": "left"}, x2={"field": "right"}, y=y, color=shade),
        transform=[{"filter": "datum.known"}],
    )
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
        layer(
            dict(look, type="point", opacity=1, size=95),
            {
                "x": x,
                "y": y,
                "shape": {"field": "shape", "type": "nominal", "scale": None, "legend": None},
                "tooltip": tooltip,
            }
            | colour,
            name=f"{ROWS}_{place}_{number}",
            transform=[{"filter": f"isValid(datum.value) && {test}"}],
        )
        for number, (test, look, colour) in enumerate(looks)
    ]
    parts = [band, *([line] if zero else []), reach, *marks, *_texts(y, columns)]
    return {"width": columns[0], "height": height, "data": {"values": drawn}, "layer": parts}


def _bounds(rows: Sequence[IntervalRow], zero: bool) -> tuple[float, float]:
    every = [each for row in rows for each in (row["value"], row["low"], row["high"])]
    every += [0.0] if zero else []
    every += [
        sign * row["margin"] for row in rows if row.get("margin") is not None for sign in (-1, 1)
    ]
    finite = [each for each in every if each is not None and math.isfinite(each)] or [0.0]
    low, high = min(finite), max(finite)
    edge = (high - low) * 0.06 or abs(high) * 0.06 or 1.0
    return low - edge, high + edge


def _interval(row: IntervalRow) -> str:
    if row["low"] is None or row["high"] is None:
        return "no interval"
    return f"{row['words'](row['low'])} to {row['words'](row['high'])}"


def _drawn(at: int, row: IntervalRow, columns: Columns, low: float, high: float) -> dict[str, Any]:
    known = row["low"] is not None and row["high"] is not None
    return {
        "at": at,
        "row_number": row["number"] + 1,
        "name": columns[1][row["name"]],
        "value": row["value"] if row["value"] is not None and math.isfinite(row["value"]) else None,
        "known": known,
        "left": max(row["low"], low) if row["low"] is not None else None,
        "right": min(row["high"], high) if row["high"] is not None else None,
        "margin": row.get("margin"),
        "shade": row["shade"],
        "shape": row.get("shape", "circle"),
        "number": row["words"](row["value"]),
        "interval": _interval(row),
        "says": columns[4](row),
    }


def _texts(y: dict[str, Any], columns: Columns) -> list[dict[str, Any]]:
    frame, _, number, interval, _ = columns
    first = frame + ROW_GAP + number
    behind = first + ROW_GAP + (interval + ROW_GAP if interval else 0)
    texts: list[tuple[str, float, str, str]] = [
        ("name", -ROW_GAP, "right", "normal"),
        ("number", first, "right", "bold"),
        *([("interval", first + ROW_GAP, "left", "normal")] if interval else []),
        ("says", behind, "left", "bold"),
    ]
    return [
        layer(
            mark("text", align=align, baseline="middle", fontWeight=weight, clip=False),
            encode(x={"value": across}, y=y, text={"field": name, "type": "nominal"}),
        )
        for name, across, align, weight in texts
    ]
