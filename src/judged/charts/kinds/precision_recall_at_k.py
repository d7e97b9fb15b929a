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
from judged.charts.sources import Source, Systems, checked_k, cutoffs
from judged.measures import parse_measure
from judged.text import counted

KIND = "precision-recall-at-k"
DEEPEST = 100
MEASURES = {"P": "precision", "R": "recall", "F": "F1"}


def data(
    source: Source, *, query: str | None = None, k: int | None = None, rel: float = 1
) -> pl.DataFrame:
    """A row for each of P, R and F1 and each cutoff."""
    systems = Systems.of(source).one(query)
    depths = cutoffs(checked_k(k, systems.longest, DEEPEST))
    wanted = {
        (name, depth): parse_measure(name)(k=depth, rel=rel)
        for name in MEASURES
        for depth in depths
    }
    [run] = systems.evaluate(list(wanted.values())).runs
    about = run.rankings.queries[0] if len(run.rankings) == 1 else None
    rows = [
        (run.name, about, len(run.rankings), MEASURES[name], depth, run.summary[measure])
        for (name, depth), measure in wanted.items()
    ]
    schema = {
        "run": pl.String,
        "query": pl.String,
        "queries": pl.Int64,
        "measure": pl.String,
        "k": pl.Int64,
        "value": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


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
    return draw(
        data(source, query=query, k=k, rel=rel),
        **design,
        sentences=Systems.of(source).sentences(query),
    )


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    query, last, shown = table["query"][0], int(table["k"].max()), table["k"].n_unique()  # type: ignore[arg-type]
    x, y = rank_axis("k: results shown", "k", last), share_axis("value", "value")
    frame = canvas.frame(WIDTH, HEIGHT, MEASURES.values())
    lines = curves(table, "measure", x=x, y=y, canvas=canvas, frame=frame)
    said = [
        "" if query else f"Mean over {counted(int(table['queries'][0]), 'query', 'queries')}.",
        f"Computed at {shown} of the {last:,} cutoffs." if shown < last else "",
        *sentences,
    ]
    about = f", query {query}" if query else ""
    title = f"Precision, recall and F1 of {table['run'][0]} as k grows{about}"
    parts = layers(*lines, width=frame.width, height=frame.height)
    return chart(KIND, table, title=title, notes=said, canvas=canvas, parts=parts)
