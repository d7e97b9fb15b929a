"""Precision, recall and F1 in one picture: what is won and what is lost when more results are
shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from judged.charts.canvas import Canvas, Design, rank_axis, share_axis
from judged.charts.chart import HEIGHT, WIDTH, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import curves
from judged.charts.sources import Source, Systems, values_at_cutoffs
from judged.text import counted

KIND = "precision-recall-at-k"
MEASURES = {"P": "precision", "R": "recall", "F": "F1"}


@takes_design()
def precision_recall_at_k(
    source: Source,
    *,
    query: str | None = None,
    k: int | None = None,
    rel: float = 1,
    **design: Unpack[Design],
) -> Chart:
    """P@k, R@k and F1@k together, over all queries or for one.

    >>> from judged import Rankings
    >>> chart = precision_recall_at_k(Rankings.from_relevance([[1, 0, 1, 1, 0, 1, 0, 0]]))
    >>> chart.data.filter(k=4)["value"].to_list()
    [0.75, 0.75, 0.75]
    """
    table = values_at_cutoffs(Systems.of(source).one(query), MEASURES, k, rel)
    table = table.with_columns(pl.col("name").replace_strict(MEASURES)).rename({"name": "measure"})
    return draw(table, **design, sentences=Systems.of(source).sentences(query))


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    query, last, shown = table["query"][0], int(table["k"].max()), table["k"].n_unique()  # type: ignore[arg-type]
    x, y = rank_axis("k: results shown", "k", last), share_axis("value", "value")
    frame = canvas.frame(WIDTH, HEIGHT, MEASURES.values())
    lines = curves(table, "measure", x=x, y=y, canvas=canvas, frame=frame)
    notes = [
        "" if query else f"Mean over {counted(int(table['queries'][0]), 'query', 'queries')}.",
        f"Computed at {shown} of the {last:,} cutoffs." if shown < last else "",
        *sentences,
    ]
    about = f", query {query}" if query else ""
    title = f"Precision, recall and F1 of {table['run'][0]} as k grows{about}"
    parts = layers(*lines, width=frame.width, height=frame.height)
    return chart(KIND, table, canvas, title, notes, parts)
