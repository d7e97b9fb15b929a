"""What drawings share: the frame with its title and notes, lines with their names at the end,
labels that keep apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from judged.charts.chart import Chart
from judged.charts.themes import DASHES, Theme, theme_named

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH, HEIGHT = 460, 300
LINE = 14
"""Pixels that a label needs from the next one."""
LETTERS = 6.0
"""Pixels of a letter of a note, about."""


def chart(
    kind: str,
    table: pl.DataFrame,
    *,
    title: str,
    notes: Iterable[str],
    theme: str,
    parts: dict[str, Any],
    width: int = WIDTH,
) -> Chart:
    """A chart of a table; `parts` are the layers or panels, which read the rows under the name
    "table"."""
    said = tuple(note for note in notes if note)
    lines = [line for note in said for line in wrap(note, max(50, int((width + 90) / LETTERS)))]
    spec = {
        "$schema": SCHEMA,
        "title": {"text": title, "subtitle": lines},
        "config": theme_named(theme).config,
        "padding": 12,
        "data": {"name": "table"},
        **parts,
        "datasets": {"table": rows_of(table)},
    }
    return Chart(kind, table, spec, said)


def rows_of(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows for Vega-Lite: JSON has neither NaN nor infinity, and nobody sees an eighth digit."""

    def plain(value: Any) -> Any:
        if not isinstance(value, float):
            return value
        return float(f"{value:.7g}") if math.isfinite(value) else None

    return [{name: plain(value) for name, value in row.items()} for row in table.to_dicts()]


def layers(*parts: dict[str, Any], width: int = WIDTH, height: int = HEIGHT) -> dict[str, Any]:
    """Parts on top of each other."""
    return {"width": width, "height": height, "layer": list(parts)}


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


def look_of(at: int, theme: Theme) -> tuple[str, list[int]]:
    """Colour and dash of a line by its number; where colours begin anew, they have other dashes."""
    colours = len(theme.series)
    return theme.series[at % colours], DASHES[(at + at // colours) % len(DASHES)]


def series(field: str, names: Sequence[str], theme: Theme) -> dict[str, Any]:
    """Colour and dash of each named line; the names stand at the lines, so there is no legend."""
    looks = [look_of(at, theme) for at in range(len(names))]

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
    theme: Theme,
    *,
    y: dict[str, Any],
    low: float = 0.0,
    high: float = 1.0,
    width: int = WIDTH,
    height: int = HEIGHT,
    looks: Sequence[tuple[str, list[int]]] | None = None,
    symlog: bool = False,
) -> dict[str, Any]:
    """The names of lines beside their last points, pushed apart where they would cover each other.

    Before each name is a piece of its line: where several lines end in one point, that tells whose
    name it is. `symlog` says that y is spread as Vega-Lite's scale of that name has it: evenly near
    0, and by its logarithm far above 1.
    """
    chosen = looks or [look_of(at, theme) for at in range(len(ends))]
    bottom, top, *values = [
        math.log1p(value) if symlog else value
        for value in (low, high, *(value for _, value in ends))
    ]
    places = spread(values, (top - bottom) * LINE / height, bottom, top)
    if symlog:
        places = [math.expm1(place) for place in places]
    rows = [
        {"label": label, "at": place, "shade": shade, "number": number}
        for number, ((label, _), place, (shade, _)) in enumerate(
            zip(ends, places, chosen, strict=True)
        )
    ]
    at = {**y, "field": "at"}
    pieces = [
        {
            "transform": [{"filter": f"datum.number == {number}"}],
            "mark": {"type": "rule", "strokeWidth": 2.2, "color": shade, "strokeDash": dash},
            "encoding": {"x": {"value": width + 8}, "x2": {"value": width + 30}, "y": at},
        }
        for number, (shade, dash) in enumerate(chosen)
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
            "x": {"value": width},
            "y": at,
            "text": {"field": "label"},
            "color": {"field": "shade", "type": "nominal", "scale": None, "legend": None},
        },
    }
    return {"data": {"values": rows}, "layer": [*pieces, names]}


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


def plural(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def curves(
    table: pl.DataFrame,
    field: str,
    *,
    x: dict[str, Any],
    y: dict[str, Any],
    theme: Theme,
    high: float = 1.0,
    low: float = 0.0,
    said: dict[str, str] | None = None,
    width: int = WIDTH,
    height: int = HEIGHT,
    symlog: bool = False,
) -> list[dict[str, Any]]:
    """A line for each name in a column, with points where there is room for them, and its name at
    its end.

    `said` are words for names that the column has shorter; `symlog` is for `end_labels`.
    """
    names = table[field].unique(maintain_order=True).to_list()
    look = series(field, names, theme)
    last = table.group_by(field, maintain_order=True).last()
    ends = [
        ((said or {}).get(name, name), value)
        for name, value in last.select(field, y["field"]).rows()
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
    names_at_ends = end_labels(
        ends, theme, y=y, low=low, high=high, width=width, height=height, symlog=symlog
    )
    return [line, *room, names_at_ends]
