"""What a temperature does to the probabilities that are made from scores, and to nothing else: the
ranking stays as it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from judged.charts.canvas import (
    BELOW,
    Canvas,
    Design,
    Frame,
    Losses,
    room_above,
    share_axis,
    temperature_axis,
)
from judged.charts.chart import WIDTH, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import LINE, OWN_LOOKS, curves
from judged.charts.sweep import Record, read_sweep, softmax_said, temperature_of, written
from judged.errors import InputError
from judged.text import listed

if TYPE_CHECKING:
    from judged.learning.temperature import Sweep

KIND = "temperature"
CURVES = (
    ("loss", "queries to items", "loss"),
    ("loss", "items to queries", "loss_back"),
    ("loss", "mean of both", "loss_both"),
    ("entropy", "entropy", "entropy"),
    ("of the top item", "confidence", "confidence"),
    ("of the top item", "accuracy", "accuracy"),
    ("calibration error", "calibration error", "calibration_error"),
)
"""Panel, curve, and the name of its numbers in a sweep."""
BEST = {"best_loss": "lowest loss", "best_calibrated": "best calibrated"}
"""The temperatures that a sweep searches for."""
SAID = {"best_loss": "of the lowest loss", "best_calibrated": "of the best calibration"}
"""The same in a sentence."""
HEIGHT, APART = 120, 14  # pixels of a panel, and between two


@takes_design()
def temperature(sweep: Sweep | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """Loss, entropy, confidence and calibration along temperature; the ranking is always the same.

    >>> row = {"temperature": 1.0, "loss": 0.7, "loss_back": None, "loss_both": None}
    >>> row |= {"entropy": 0.69, "confidence": 0.5, "accuracy": 1.0, "calibration_error": 0.5}
    >>> ranking = {"measures": {"AP": 1.0}}
    >>> sweep = {"what": "temperature sweep", "softmax": "corpus", "candidates": 2, "queries": 1}
    >>> sweep |= {"similarity": "dot", "notes": [], "ranking": ranking, "temperatures": [row]}
    >>> sweep |= dict.fromkeys(["best_loss", "best_calibrated"], row | {"at_edge": True})
    >>> temperature(sweep).data.filter(panel="of the top item").select("curve", "value").rows()
    [('confidence', 0.5), ('accuracy', 1.0)]
    """
    found = read_sweep(sweep)
    best = {name: row for name in BEST if (row := found.record_or_none(name))}
    rows = {temperature_of(row): row for row in (*found.records("temperatures"), *best.values())}
    edges = [SAID[name] for name, row in best.items() if row.flag("at_edge")]
    constant = {
        **{name: temperature_of(best[name]) if name in best else None for name in BEST},
        "softmax": softmax_said(found),
        "ranking": _ranking(found),
        "edges": _outermost(edges),
        "said": " ".join(found.texts("notes")),
    }
    points = [
        {"panel": panel, "curve": curve, "temperature": at, "value": value, **constant}
        for panel, curve, field in CURVES
        for at, row in sorted(rows.items())
        if (value := row.number_or_none(field)) is not None
    ]
    if not points:
        raise InputError("the temperature sweep holds no number to show; make it again.")
    table = pl.DataFrame(
        points, schema_overrides=dict.fromkeys(BEST, pl.Float64), infer_schema_length=None
    )
    return draw(table, **design)


def _outermost(edges: list[str]) -> str:
    if len(edges) > 1:
        return (
            f"The temperatures {' and '.join(edges)} are the outermost that were swept; better "
            "ones may lie beyond."
        )
    return (
        f"The temperature {edges[0]} is the outermost that was swept; a better one may lie beyond."
        if edges
        else ""
    )


def _ranking(sweep: Record) -> str:
    measures = sweep.record("ranking").record("measures")
    values = listed(
        [f"{name} {measures.number(name):.4f}" for name in measures.fields] or ["all measures"]
    )
    return f"The ranking is the same at every temperature, and with it {values}."


def draw(table: pl.DataFrame, **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    chosen = canvas.theme
    low, high = float(table["temperature"].min()), float(table["temperature"].max())  # type: ignore[arg-type]
    shares = table.partition_by("panel", maintain_order=True)
    best = [
        (name, words, float(table[name][0]), shade, dash)
        for (name, words), shade, dash in zip(
            BEST.items(), (chosen.ink, chosen.wrong), ([4, 3], [2, 2]), strict=True
        )
        if table[name][0] is not None
    ]
    frame = _frame(table, canvas, len(shares), len(best))
    panels = []
    for place, part in enumerate(shares):
        x = temperature_axis(low, high, title="temperature" if place == len(shares) - 1 else None)
        rules = [
            {
                "data": {"values": [{"temperature": at}]},
                "mark": {"type": "rule", "color": shade, "strokeDash": dash, "strokeWidth": 1.4},
                "encoding": {"x": x},
            }
            for _, _, at, shade, dash in best
        ]
        labels = [
            _label(f"{words}: {written(at)}", at, row, x, chosen.ink_of(shade))
            for row, (_, words, at, shade, _) in enumerate(best)
        ]
        panels.append(
            layers(
                *rules,
                *_lines(part, x, canvas, frame),
                *(labels if place == 0 else ()),
                width=frame.width,
                height=frame.height,
            )
        )
    notes = [table[name][0] for name in ("softmax", "ranking", "edges", "said")]
    title = "What temperature does to probabilities"
    parts = {"vconcat": panels, "spacing": APART, "resolve": OWN_LOOKS}
    return chart(KIND, table, canvas, title, notes, parts, width=WIDTH + 60)


def _frame(table: pl.DataFrame, canvas: Canvas, panels: int, heads: int) -> Frame:
    several = table.filter(pl.col("curve").n_unique().over("panel") > 1)
    around = BELOW + LINE * heads + 4
    return canvas.frame(
        WIDTH, HEIGHT, several["curve"], below=around / panels, rows=panels, row_gap=APART
    )


def _lines(
    part: pl.DataFrame, x: dict[str, Any], canvas: Canvas, frame: Frame
) -> list[dict[str, Any]]:
    panel = part["panel"][0]
    least, most = float(part["value"].min()), float(part["value"].max())  # type: ignore[arg-type]
    losses = Losses.of(least, most)
    low, high, symlog = (
        (losses.low, losses.high, losses.symlog)
        if panel == "loss"
        else (0.0, room_above(most), False)
    )
    if panel == "of the top item":
        high = 1.0
    y = (
        losses.axis
        if panel == "loss"
        else {**share_axis(panel, "value", low=low, top=high), "axis": {"tickCount": 4}}
    )
    lines = curves(
        part, "curve", x=x, y=y, canvas=canvas, frame=frame, low=low, high=high, symlog=symlog
    )
    for line in lines[:-1]:
        line["transform"] = [{"filter": {"field": "panel", "equal": panel}}]
    return lines if part["curve"].n_unique() > 1 else lines[:-1]


def _label(words: str, at: float, row: int, x: dict[str, Any], shade: str) -> dict[str, Any]:
    """Name a rule above the first panel, in a line of its own so that names do not overlap."""
    low, high = (math.log(end) for end in x["scale"]["domain"])
    across = (math.log(at) - low) / (high - low)
    align = "left" if across < 0.2 else "right" if across > 0.8 else "center"
    return {
        "data": {"values": [{"temperature": at, "words": words}]},
        "mark": {
            "type": "text",
            "align": align,
            "baseline": "bottom",
            "color": shade,
            "fontWeight": "bold",
        },
        "encoding": {"x": x, "y": {"value": -3 - LINE * row}, "text": {"field": "words"}},
    }
