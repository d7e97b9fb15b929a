"""The confusion counts along the ranking: what each further result adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from judged.charts.canvas import Canvas, Design, number_axis, rank_axis
from judged.charts.chart import HEIGHT, WIDTH, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import curves
from judged.charts.sources import Source, Systems, unweighted, values_at_cutoffs
from judged.text import counted

KIND = "confusion-at-k"
MEASURES = {"TP": "true positives", "FP": "false positives", "FN": "false negatives"}


@takes_design()
def confusion_at_k(
    source: Source,
    *,
    query: str | None = None,
    k: int | None = None,
    rel: float = 1,
    **design: Unpack[Design],
) -> Chart:
    """True positives, false positives and false negatives at every cutoff.

    >>> from judged import Rankings
    >>> chart = confusion_at_k(Rankings.from_relevance([[1, 0, 1]], relevant=[3]))
    >>> chart.data.filter(name="FN")["count"].to_list()
    [2, 2, 1]
    """
    table = values_at_cutoffs(unweighted(Systems.of(source).one(query)), MEASURES, k, rel)
    table = table.with_columns(pl.col("value").round().cast(pl.Int64)).rename({"value": "count"})
    return draw(table, **design, sentences=Systems.of(source).sentences(query))


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    query, last, shown = table["query"][0], int(table["k"].max()), table["k"].n_unique()  # type: ignore[arg-type]
    high = float(table["count"].max() or 1)  # type: ignore[arg-type]
    y = number_axis(
        "items",
        "count",
        scale={"domain": [0, high], "nice": False},
        axis={"format": ",d", "tickMinStep": 1},
    )
    x = rank_axis("k: results shown", "k", last)
    frame = canvas.frame(WIDTH, HEIGHT, MEASURES.values())
    lines = curves(table, "name", x=x, y=y, canvas=canvas, frame=frame, high=high, said=MEASURES)
    notes = [
        "" if query else f"Summed over {counted(int(table['queries'][0]), 'query', 'queries')}.",
        f"Computed at {shown} of the {last:,} cutoffs." if shown < last else "",
        *sentences,
    ]
    about = f", query {query}" if query else ""
    title = f"Items of {table['run'][0]} found, missed and shown for nothing, as k grows{about}"
    parts = layers(*lines, width=frame.width, height=frame.height)
    return chart(KIND, table, canvas, title, notes, parts)
