"""The cumulative match characteristic: how many queries have found something relevant by rank k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from judged.charts.canvas import Canvas, Design, rank_axis, share_axis
from judged.charts.chart import HEIGHT, WIDTH, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import curves
from judged.charts.sources import Source, Systems, asked, checked_k, cutoffs
from judged.measures import parse_measure

KIND = "cmc"
DEEPEST = 50


@takes_design(k="Last rank of the curves; by default that of the longest list, at most 50.")
def cmc(source: Source, *, k: int | None = None, rel: float = 1, **design: Unpack[Design]) -> Chart:
    """The share of queries that have a relevant item among the first k, as k grows.

    >>> from judged import Rankings
    >>> cmc(Rankings.from_relevance([[1, 0, 0], [0, 0, 1]])).data["share"].to_list()
    [0.5, 0.5, 1.0]
    """
    systems = Systems.of(source)
    depths = cutoffs(checked_k(k, systems.longest, DEEPEST), most=DEEPEST)
    measures = {depth: parse_measure("Success")(k=depth, rel=rel) for depth in depths}
    evaluation = systems.evaluate(list(measures.values()))
    rows = [
        (run.name, len(run.rankings), depth, run.summary[measure])
        for run in evaluation.runs
        for depth, measure in measures.items()
    ]
    table = pl.DataFrame(
        rows, schema=["run", "queries", "k", "share"], orient="row", infer_schema_length=None
    )
    return draw(table, **design, sentences=systems.sentences())


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    last, shown = int(table["k"].max()), table["k"].n_unique()  # type: ignore[arg-type]
    lowest = float(table["share"].min())  # type: ignore[arg-type]
    low = 0.8 if lowest >= 0.8 else 0.0
    y = share_axis("queries that found something relevant", "share", low=low)
    y["axis"] = {"format": ".0%"}
    frame = canvas.frame(WIDTH, HEIGHT, table["run"])
    lines = curves(
        table,
        "run",
        x=rank_axis("k: results looked at", "k", last),
        y=y,
        canvas=canvas,
        frame=frame,
        low=low,
    )
    who, each = asked(table)
    notes = [
        f"Share of {who} with a relevant item among the first k{each}.",
        "The axis begins at 80%." if low else "",
        f"Computed at {shown} of the {last:,} ranks." if shown < last else "",
        *sentences,
    ]
    title = "Cumulative match characteristic"
    parts = layers(*lines, width=frame.width, height=frame.height)
    return chart(KIND, table, canvas, title, notes, parts)
