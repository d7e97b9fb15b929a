"""What the temperature of training does to what is learned: measures of held-out queries, loss,
confidence, spread, effort."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from judged.charts.canvas import (
    Canvas,
    Design,
    Frame,
    Losses,
    number_axis,
    share_axis,
    temperature_axis,
)
from judged.charts.chart import Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import OWN_LOOKS, curves
from judged.charts.svg import Theme
from judged.charts.sweep import Record, temperature_of
from judged.errors import InputError
from judged.text import counted

if TYPE_CHECKING:
    from judged.learning.temperature import Study

KIND = "temperature-study"
CURVES = (
    ("loss", "held-out", "loss"),
    ("loss", "training", "training_loss"),
    ("of the top item", "confidence", "confidence"),
    ("of the top item", "accuracy", "accuracy"),
    ("alignment", "alignment", "alignment"),
    ("uniformity", "uniformity", "uniformity"),
    ("iterations", "to the best", "best_iteration"),
    ("iterations", "to the end", "iterations"),
)
"""Panel, curve, and the name of its numbers in a study; panels of measures stand before them."""
OF_VECTORS = ("alignment", "uniformity")
"""Numbers that depend on vectors alone, so that the untrained similarity has them to compare
with."""
WIDTH, HEIGHT = 250, 130
COLUMNS = 2
NARROW, GAP, ROW_GAP = 280, 24, 18  # pixels that a panel needs at least, and between two
TICKS = 5


@takes_design()
def temperature_study(study: Study | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """What a similarity has learned at each of several training temperatures.

    >>> row = {"training_loss": 0.1, "loss": 0.5, "alignment": 0.3, "uniformity": -2.0}
    >>> row |= {"confidence": 0.9, "accuracy": 0.95, "iterations": 9, "best_iteration": 4}
    >>> row |= {"temperature": 0.05, "measures": {"AP": {"estimate": 0.8, "low": 0.7, "high": 0.9}}}
    >>> row |= {"differences": {"AP": {"estimate": 0.1, "low": 0.05, "high": 0.15}}}
    >>> queries = {"training": 60, "validation": 20, "held_out": 20}
    >>> study = {"what": "temperature study", "kind": "diagonal", "measures": ["AP"], "level": 0.95}
    >>> chart = temperature_study(study | {"notes": [], "queries": queries, "rows": [row]})
    >>> chart.data.filter(panel="AP").select("temperature", "value", "differs").rows()
    [(0.05, 0.8, True)]
    """
    found = Record.of(
        study,
        what="temperature study",
        how="judged.temperature.sweep(train=True) or `judged temperature --train … -o FILE.json`",
    )
    rows = found.records("rows")
    listed: list[dict[str, Any]] = []
    for measure in found.texts("measures"):
        listed += [_measured(row, measure) for row in rows]
    for panel, curve, field in CURVES:
        listed += [
            {
                "panel": panel,
                "curve": curve,
                "temperature": _trained(row),
                "value": row.number_or_none(field),
            }
            for row in rows
            if _trained(row) is not None or field in OF_VECTORS
        ]
    at = [trained for row in rows if (trained := _trained(row)) is not None]
    if not at or any(left >= right for left, right in pairwise(at)):
        raise InputError(
            "the temperature study must have training temperatures, each above the one before; "
            "make it again."
        )
    queries = found.record("queries")
    constant = {
        "similarity": found.text("kind"),
        "level": found.number("level"),
        **{name: queries.count(name) for name in ("training", "validation", "held_out")},
        "said": " ".join(found.texts("notes")),
    }
    columns = {
        "panel": pl.String,
        "curve": pl.String,
        "temperature": pl.Float64,
        "measure": pl.Boolean,
    }
    columns |= {"value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "differs": pl.Boolean}
    plain = {"measure": False, "low": None, "high": None, "differs": None}
    table = pl.DataFrame(
        [{**plain, **row} for row in listed if row["value"] is not None], schema=columns
    )
    table = table.with_columns(**{name: pl.lit(value) for name, value in constant.items()})
    return draw(table, **design)


def _trained(row: Record) -> float | None:
    return None if row.number_or_none("temperature") is None else temperature_of(row)


def _measured(row: Record, measure: str) -> dict[str, Any]:
    value = row.record("measures").record(measure)
    differs = None
    if (at := _trained(row)) is not None and (
        differences := row.record_or_none("differences")
    ) is not None:
        ends = [differences.record(measure).number_or_none(end) for end in ("low", "high")]
        differs = None if None in ends else bool(ends[0] > 0 or ends[1] < 0)  # type: ignore[operator]
    bounds = {end: value.number_or_none(end) for end in ("low", "high")}
    estimate = value.number("estimate")
    return {
        "panel": measure,
        "curve": measure,
        "temperature": at,
        "measure": True,
        "value": estimate,
        **bounds,
        "differs": differs,
    }


def draw(table: pl.DataFrame, **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    chosen = canvas.theme
    at = table["temperature"].drop_nulls()
    low, high = float(at.min()), float(at.max())  # type: ignore[arg-type]
    room = (high / low) ** 0.05
    x = temperature_axis(low / room, high * room, title="training temperature", most=TICKS)
    shown = table.partition_by("panel", maintain_order=True)
    columns = canvas.columns(COLUMNS, NARROW)
    rows = -(-len(shown) // columns)
    curved = table.filter(pl.col("curve").n_unique().over("panel") > 1)["curve"]
    frame = canvas.frame(WIDTH, HEIGHT, curved, panels=columns, gap=GAP, rows=rows, row_gap=ROW_GAP)
    panels = [
        _measure(part, x, chosen, frame) if part["measure"][0] else _others(part, x, canvas, frame)
        for part in shown
    ]
    percent = f"{table['level'][0] * 100:.4g}%"
    against = (
        "; the band is that of the untrained similarity. Filled points differ from it, query "
        "by query"
    )
    notes = [
        f"Similarity {table['similarity'][0]}, trained with "
        f"{counted(table['training'][0], 'query', 'queries')} and stopped by "
        f"{table['validation'][0]:,}. All but training loss and iterations is of "
        f"{table['held_out'][0]:,} held-out queries.",
        f"Bars are {percent} intervals of the "
        f"mean{against if table['temperature'].null_count() else ''}.",
        table["said"][0],
    ]
    title = "What the temperature of training does"
    parts = {
        "concat": panels,
        "columns": columns,
        "spacing": {"row": ROW_GAP, "column": GAP},
        "resolve": OWN_LOOKS,
    }
    return chart(KIND, table, canvas, title, notes, parts, width=2 * WIDTH + 260)


def _domain(part: pl.DataFrame) -> tuple[float, float]:
    """Return the range of the numbers with a margin, also around a single number."""
    numbers = pl.concat([part[name].drop_nulls() for name in ("value", "low", "high")])
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    margin = (high - low) * 0.08 or abs(high) * 0.1 or 0.1
    return low - margin, high + margin


def _measure(part: pl.DataFrame, x: dict[str, Any], theme: Theme, frame: Frame) -> dict[str, Any]:
    name = part["panel"][0]
    low, high = _domain(part)
    y = share_axis(name, "value", low=low, top=high)
    y["axis"] = {"tickCount": 4}
    only = [{"filter": {"field": "panel", "equal": name}}, {"filter": "isValid(datum.temperature)"}]
    shade = theme.series[0]
    bars = {
        "transform": [*only, {"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "color": shade, "strokeWidth": 2, "opacity": 0.6},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    line = {
        "transform": only,
        "mark": {"type": "line", "color": shade, "strokeWidth": 1.6},
        "encoding": {"x": x, "y": y},
    }
    tooltip = [{"field": field} for field in ("temperature", "value", "low", "high", "differs")]
    points = {
        "transform": only,
        "mark": {
            "type": "point",
            "filled": True,
            "size": 45,
            "stroke": shade,
            "strokeWidth": 1.6,
            "opacity": 1,
        },
        "encoding": {
            "x": x,
            "y": y,
            "fill": {
                "condition": {"test": "datum.differs", "value": shade},
                "value": theme.background,
            },
            "tooltip": tooltip,
        },
    }
    drawn = [*_untrained(part, y, theme, frame.width), bars, line, points]
    return layers(*drawn, width=frame.width, height=frame.height)


def _untrained(
    part: pl.DataFrame, y: dict[str, Any], theme: Theme, width: int
) -> list[dict[str, Any]]:
    rows = part.filter(pl.col("temperature").is_null()).select("value", "low", "high").to_dicts()
    if not rows:
        return []
    values = {"values": [{**rows[0], "words": "untrained"}]}
    line = {
        "data": values,
        "mark": {"type": "rule", "color": theme.muted, "strokeDash": [4, 3], "strokeWidth": 1.4},
        "encoding": {"y": y},
    }
    name = {
        "data": values,
        "mark": {
            "type": "text",
            "align": "left",
            "dx": 6,
            "color": theme.muted,
            "fontWeight": "bold",
        },
        "encoding": {"x": {"value": width}, "y": y, "text": {"field": "words"}},
    }
    band = {
        "data": values,
        "mark": {"type": "rect", "color": theme.muted, "opacity": 0.18},
        "encoding": {
            "x": {"value": 0},
            "x2": {"value": width},
            "y": {**y, "field": "low"},
            "y2": {"field": "high"},
        },
    }
    return [
        *([band] if rows[0]["low"] is not None and rows[0]["high"] is not None else []),
        line,
        name,
    ]


def _others(part: pl.DataFrame, x: dict[str, Any], canvas: Canvas, frame: Frame) -> dict[str, Any]:
    panel = part["panel"][0]
    low, high = _domain(part)
    symlog = False
    if panel == "loss":
        losses = Losses.of(float(part["value"].min()), float(part["value"].max()))  # type: ignore[arg-type]
        low, high, symlog, y = losses.low, losses.high, losses.symlog, losses.axis
    else:
        low, high = {"of the top item": (0.0, 1.0), "iterations": (0.0, high)}.get(
            panel, (low, high)
        )
        y = number_axis(
            panel,
            "value",
            scale={"domain": [low, high], "nice": False, "zero": False},
            axis={"tickCount": 4},
        )
    trained = part.filter(pl.col("temperature").is_not_null())
    lines = curves(
        trained, "curve", x=x, y=y, canvas=canvas, frame=frame, low=low, high=high, symlog=symlog
    )
    for line in lines[:-1]:
        line["transform"] = [
            {"filter": {"field": "panel", "equal": panel}},
            {"filter": "isValid(datum.temperature)"},
        ]
    named = lines if trained["curve"].n_unique() > 1 else lines[:-1]
    drawn = [*_untrained(part, y, canvas.theme, frame.width), *named]
    return layers(*drawn, width=frame.width, height=frame.height)
