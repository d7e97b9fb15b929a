"""Interpolated precision at recall 0, 0.1, …, 1: the classical picture of several systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from judged.charts.canvas import Canvas, Design, share_axis
from judged.charts.chart import HEIGHT, WIDTH, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import curves
from judged.charts.sources import Source, Systems, asked
from judged.measures import parse_measure

KIND = "eleven-point"
POINTS = [point / 10 for point in range(11)]


@takes_design()
def eleven_point(source: Source, *, rel: float = 1, **design: Unpack[Design]) -> Chart:
    """The mean interpolated precision of one or more systems at eleven recall points.

    >>> from judged import Rankings
    >>> eleven_point(Rankings.from_relevance([[1, 0, 1]])).data["precision"].round(3).to_list()[4:7]
    [1.0, 1.0, 0.667]
    """
    systems = Systems.of(source)
    measures = [parse_measure("IPrec")(recall=point, rel=rel) for point in POINTS]
    evaluation = systems.evaluate(measures)
    rows = [
        (run.name, len(run.rankings), point, run.summary[measure])
        for run in evaluation.runs
        for point, measure in zip(POINTS, measures, strict=True)
    ]
    table = pl.DataFrame(rows, schema=["run", "queries", "recall", "precision"], orient="row")
    return draw(table, **design, sentences=systems.sentences())


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    x = share_axis("recall", "recall")
    x["axis"] = {"values": POINTS, "format": ".1f"}
    frame = canvas.frame(WIDTH, HEIGHT, table["run"])
    lines = curves(
        table,
        "run",
        x=x,
        y=share_axis("interpolated precision", "precision"),
        canvas=canvas,
        frame=frame,
    )
    who, each = asked(table)
    notes = [
        "Interpolated: the best precision at this recall or any higher one. "
        f"Mean over {who}{each}.",
        "The area under such a curve is not AP.",
        *sentences,
    ]
    title = "Interpolated precision at eleven recall points"
    parts = layers(*lines, width=frame.width, height=frame.height)
    return chart(KIND, table, canvas, title, notes, parts)
