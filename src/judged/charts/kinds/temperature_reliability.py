"""At which temperature the probability of the top item can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from judged.charts.canvas import Canvas, Design
from judged.charts.chart import Chart, chart
from judged.charts.kinds import takes_design
from judged.charts.kinds.reliability import BELOW_MAIN, diagram
from judged.charts.sweep import read_sweep, softmax_said, temperature_of, three, written
from judged.errors import InputError

if TYPE_CHECKING:
    from judged.learning.temperature import Sweep

KIND = "temperature-reliability"
WIDTH, HEIGHT = 230, 220
NARROW, GAP, HEADING, BESIDE = 220, 24, 26, 60
"""Pixels that a panel needs at least, between two, of the words above each, and of its axis."""


@takes_design()
def temperature_reliability(
    sweep: Sweep | Mapping[str, Any],
    *,
    temperatures: Sequence[float] | None = None,
    **design: Unpack[Design],
) -> Chart:
    """The probability of the top item against how often it is relevant, at three temperatures.

    >>> bins = [{"from": 0.5, "to": 1.0, "count": 4.0, "confidence": 0.75, "accuracy": 0.5}]
    >>> row = {"calibration_error": 0.25, "bins": bins}
    >>> sweep = {"what": "temperature sweep", "softmax": "batch", "candidates": 4, "queries": 4}
    >>> sweep |= {"similarity": "cosine"}
    >>> sweep["temperatures"] = [{"temperature": at, **row} for at in (0.01, 0.1, 1.0)]
    >>> chart = temperature_reliability(sweep, temperatures=[0.01, 0.1, 1])
    >>> chart.data.select("name", "score", "share_relevant").row(0)
    ('sharp', 0.75, 0.5)
    """
    found = read_sweep(sweep)
    chosen = three(found, temperatures)
    softmax = softmax_said(found)
    rows = [
        {
            "name": name,
            "temperature": temperature_of(row),
            "calibration_error": row.number("calibration_error"),
            "score_from": each.number("from"),
            "score_to": each.number("to"),
            "score": each.number("confidence"),
            "share_relevant": each.number("accuracy"),
            "count": each.count("count"),
            "softmax": softmax,
            "said": chosen.note,
        }
        for name, row in chosen.rows.items()
        for each in row.records("bins")
        if each.count("count")
    ]
    if not rows:
        raise InputError(
            "the temperature sweep has no query in any bin of confidence; make it again."
        )
    return draw(pl.DataFrame(rows, infer_schema_length=None), **design)


def draw(table: pl.DataFrame, **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    most = int(table["count"].max())  # type: ignore[arg-type]
    shown = table.partition_by("name", maintain_order=True)
    columns = canvas.columns(len(shown), NARROW)
    rows = -(-len(shown) // columns)
    width = canvas.across(WIDTH, beside=BESIDE, panels=columns, gap=GAP)
    height = canvas.down(HEIGHT, below=BELOW_MAIN + HEADING, panels=rows, gap=GAP)
    panels = []
    for part in shown:
        name, at, error = (
            part[column][0] for column in ("name", "temperature", "calibration_error")
        )
        drawn = diagram(
            canvas.theme,
            score="confidence in the top item",
            share="top items that are relevant",
            results="queries",
            only={"filter": {"field": "name", "equal": name}},
            width=width,
            height=height,
            most=most,
        )
        text = f"{name}: {written(at)}, ECE {error:.3f}"
        heading = {"text": text, "fontSize": 13, "anchor": "start", "frame": "group", "offset": 8}
        panels.append({"title": heading, **drawn})
    notes = [
        "Points on the dashed line can be believed; above it confidence is too low, below it too "
        "high. ECE is the mean gap.",
        table["softmax"][0],
        table["said"][0],
    ]
    title = "Confidence in the top item, and how often it is relevant"
    parts = {"concat": panels, "columns": columns, "spacing": GAP}
    return chart(KIND, table, canvas, title, notes, parts, width=max(len(panels), 2) * (WIDTH + 40))
