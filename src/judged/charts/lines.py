"""Lines, sides and intervals: the marks that several kinds of chart share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.charts.canvas import (
    BELOW,
    LEFT,
    Canvas,
    Frame,
    encode,
    fitted,
    layer,
    layers,
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
    frame: Frame,
    high: float = 1.0,
    low: float = 0.0,
    said: dict[str, str] | None = None,
    symlog: bool = False,
) -> list[dict[str, Any]]:
    """Draw a line per name in a column, with its name (or its words in `said`) at its end."""
    names = table[field].unique(maintain_order=True).to_list()
    looks = canvas.look(names if field == "run" else [""] * len(names))
    look = series(field, names, looks)
    last = table.group_by(field, maintain_order=True).last()
    words = [(said or {}).get(name, name) for name in last[field]]
    ends = [
        (frame.names.get(word, word), value)
        for word, value in zip(words, last[y["field"]], strict=True)
    ]
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
    """Return colour and dash of each line; names are written at lines, so there is no legend."""
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
    """Write names beside the last points, each after a piece of its line, without overlaps."""
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
    """Return places near the values, in their order, a gap apart, within bounds if they fit.

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


ROOMY = 600  # pixels of a drawing that has room for words beside its frame
SIDE_GAP = 10
MOST_SIDES = 400  # the height of a square frame stays below this


@dataclass(frozen=True)
class Side:
    """What is said of one side."""

    head: str
    lines: Sequence[str]  # the queries that differ most, with their numbers
    shade: str


@dataclass(frozen=True)
class Sided:
    """A frame with words around it."""

    width: int
    height: int
    parts: list[dict[str, Any]]
    lists: bool  # whether queries are named

    def layers(self, *others: dict[str, Any]) -> dict[str, Any]:
        """Return other parts, and the words on top of them."""
        return layers(*others, *self.parts, width=self.width, height=self.height)


def sided(
    canvas: Canvas, width: int, height: int, *, first: Side, second: Side, square: bool = False
) -> Sided:
    """Return a frame and words about both sides; a page lists the queries itself."""
    roomy = not canvas.in_page and (canvas.width is None or canvas.width >= ROOMY)
    if roomy:
        texts = [text for side in (first, second) for text in (side.head, *side.lines)]
        wide = canvas.across(width, beside=LEFT + SIDE_GAP + widest(texts, bold=True))
        tall = canvas.down(min(wide, MOST_SIDES) if square else height)
        last = tall - 6 - LINE * len(second.lines)
        parts = [
            part
            for side, top in ((first, 6), (second, last))
            for part in beside(
                side.head,
                side.lines,
                x=wide + SIDE_GAP,
                y=top,
                theme=canvas.theme,
                shade=side.shade,
            )
        ]
        return Sided(wide, tall, parts, True)
    wide = canvas.across(width, beside=LEFT + SIDE_GAP)
    parts, above = _above(first, second, wide, canvas.theme)
    tall = canvas.down(min(wide, MOST_SIDES) if square else height, below=BELOW + above)
    return Sided(wide, tall, parts, False)


def _above(first: Side, second: Side, width: int, theme: Theme) -> tuple[list[dict[str, Any]], int]:
    """Write heads above a frame, side by side or stacked; also return the pixels they take."""
    taken = sum(text_width(side.head, bold=True) for side in (first, second)) + 2 * LINE
    rows = (0, 0) if taken < width else (1, 0)
    parts = [
        layer(
            mark(
                "text",
                align=align,
                baseline="bottom",
                clip=False,
                fontWeight="bold",
                color=theme.ink_of(side.shade),
            ),
            encode(x={"value": across}, y={"value": -7 - LINE * row}, text={"field": "words"}),
            values=[{"words": side.head}],
        )
        for side, align, across, row in zip(
            (first, second), ("left", "right"), (0, width), rows, strict=True
        )
    ]
    return parts, 10 + LINE * (1 + rows[0])


WIDTH = 340
ROW = 24  # pixels from a row to the next
LOW_ROW = 16  # the least of them that can be read
SPACING = 26  # pixels between panels
NARROWEST = 150  # pixels that marks should have at least
ROW_GAP = 12  # pixels between columns of text
MOST_INTERVALS = 400  # rows that a chart has room for


@dataclass(frozen=True)
class Row:
    """A number with its interval."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    words: Callable[[float | None], str]  # a number as text
    shade: str
    says: str = ""  # what stands behind the numbers
    shape: str = "circle"
    margin: float | None = None  # how far from 0 a difference does not matter
    number: int = 0  # of the row in the chart's table, from 0


def room_for(rows: int, instead: str) -> None:
    """Fail if there are more rows than a chart has room for."""
    if rows > MOST_INTERVALS:
        raise InputError(f"a chart has room for {MOST_INTERVALS} rows; got {rows:,}: {instead}.")


def panels(
    given: Sequence[tuple[str, Sequence[Row]]], *, canvas: Canvas, zero: bool = False
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


@dataclass(frozen=True)
class Columns:
    """What stands beside the marks, and what is left for them."""

    frame: int
    names: dict[str, str]  # names as short as there is room for
    number: float
    interval: float  # pixels of the texts of intervals; 0 where there is no room for them
    signs: bool  # whether of what is said only the first word has room

    def says(self, row: Row) -> str:
        return row.says.partition(" ")[0] if self.signs else row.says


def _columns(rows: Sequence[Row], canvas: Canvas) -> Columns:
    """Fit columns beside the marks: drop ends of intervals, then shorten names, then words."""
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
        beside += ROW_GAP * (2 + bool(ends) + bool(words)) + 8
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
    return {"width": columns.frame, "height": height, "data": {"values": drawn}, "layer": parts}


def _bounds(rows: Sequence[Row], zero: bool) -> tuple[float, float]:
    """Return the ends of the axis, with all finite numbers in sight."""
    every = [each for row in rows for each in (row.value, row.low, row.high)]
    every += [0.0] if zero else []
    every += [sign * row.margin for row in rows if row.margin is not None for sign in (-1, 1)]
    finite = [each for each in every if each is not None and math.isfinite(each)] or [0.0]
    low, high = min(finite), max(finite)
    edge = (high - low) * 0.06 or abs(high) * 0.06 or 1.0
    return low - edge, high + edge


def _interval(row: Row) -> str:
    if row.low is None or row.high is None:
        return "no interval"
    return f"{row.words(row.low)} … {row.words(row.high)}"


def _drawn(at: int, row: Row, columns: Columns, low: float, high: float) -> dict[str, Any]:
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
    first = columns.frame + ROW_GAP + columns.number
    behind = first + ROW_GAP + (columns.interval + ROW_GAP if columns.interval else 0)
    texts: list[tuple[str, float, str, str]] = [
        ("name", -ROW_GAP, "right", "normal"),
        ("number", first, "right", "bold"),
        *([("interval", first + ROW_GAP, "left", "normal")] if columns.interval else []),
        ("says", behind, "left", "bold"),
    ]
    return [
        layer(
            mark("text", align=align, baseline="middle", fontWeight=weight, clip=False),
            encode(x={"value": across}, y=y, text={"field": name, "type": "nominal"}),
        )
        for name, across, align, weight in texts
    ]
