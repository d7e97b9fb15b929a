"""The ROC curve: what share of the irrelevant items one has to look at to see a share of the
relevant ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
import polars as pl

from judged.arrays import Floats, Ints
from judged.charts.canvas import Canvas, Design, share_axis
from judged.charts.chart import Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import curves
from judged.charts.sources import Source, Systems, asked, unweighted
from judged.errors import InputError
from judged.measures import parse_measure
from judged.measures.registry import collection_size
from judged.rankings.rankings import Rankings
from judged.text import counted

KIND = "roc"
POINTS = 101  # the mean of many curves is taken at so many points
SIZE = 340
AT_A_TIME = 10_000  # queries whose curves are held at once


@takes_design()
def roc(
    source: Source, *, query: str | None = None, rel: float = 1, **design: Unpack[Design]
) -> Chart:
    """The ROC curve of one or more systems; it needs the size of the collection.

    >>> from judged import Rankings
    >>> chart = roc(Rankings.from_relevance([[1, 0, 1, 0, 0]], collection=5))
    >>> round(chart.data["area"][0], 4)
    0.8333
    """
    systems = Systems.of(source)
    if query is not None:
        systems = systems.about(query)
    unweighted(systems)
    frames = []
    for r in systems.rankings:
        area = parse_measure("RankAUC")(rel=rel).compute(r)
        defined = np.flatnonzero(np.isfinite(area))
        if not len(defined):
            raise InputError(
                f"{r.name}: no query has both relevant items and others, so there is no ROC curve."
            )
        own = r.take(defined)
        false, true = _turns(own, rel) if len(own) == 1 else _mean(own, rel)
        frames.append(
            pl.DataFrame(
                {
                    "run": r.name,
                    "query": pl.Series(
                        [r.queries[0] if len(r) == 1 else None], dtype=pl.String
                    ).new_from_index(0, len(false)),
                    "queries": len(own),
                    "skipped": len(r) - len(own),
                    "false_positive_rate": false,
                    "true_positive_rate": true,
                    "area": float(area[defined].mean()),
                }
            )
        )
    return draw(pl.concat(frames), **design, sentences=Systems.of(source).sentences(query))


def _others(r: Rankings, rel: float) -> Floats:
    return collection_size(r, "ROC") - r.relevant(rel)


def _turns(r: Rankings, rel: float) -> tuple[Floats, Floats]:
    """One query's curve: up at each relevant item, to the right between them."""
    _, rank, ordinal = r.relevant_hits(None, rel)
    others, relevant = _others(r, rel)[0], r.relevant(rel)[0]
    at = (rank - ordinal) / others
    false = np.concatenate([[0.0], np.repeat(at, 2), [(r.retrieved[0] - len(rank)) / others, 1.0]])
    true = np.concatenate(
        [
            [0.0],
            np.column_stack([ordinal - 1, ordinal]).ravel() / relevant,
            [len(rank) / relevant, 1.0],
        ]
    )
    return false, true


def _mean(r: Rankings, rel: float) -> tuple[Floats, Floats]:
    grid = np.linspace(0, 1, POINTS)
    total = np.zeros(POINTS)
    for begin in range(0, len(r), AT_A_TIME):
        total += _summed(r.take(np.arange(begin, min(begin + AT_A_TIME, len(r)))), rel, grid)
    return np.append(0.0, grid), np.concatenate([[0.0], total[:-1] / len(r), [1.0]])


def _summed(r: Rankings, rel: float, grid: Floats) -> Floats:
    query, rank, ordinal = r.relevant_hits(None, rel)
    others, relevant = _others(r, rel), r.relevant(rel)
    at = (rank - ordinal) / others[query]
    column: Ints = np.ceil(at * (POINTS - 1) - 1e-9).astype(np.int64)
    found = np.cumsum(np.bincount(column, 1 / relevant[query], minlength=POINTS))
    count = r.total(query)
    end = ((r.retrieved - count) / others)[:, None]
    reached = np.divide(
        grid - end,
        1 - end,
        out=np.broadcast_to(grid >= end, (len(r), POINTS)).astype(float),
        where=end < 1,
    )
    tail = ((relevant - count) / relevant)[:, None] * np.clip(reached, 0, 1)
    return found + tail.sum(axis=0)


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    chosen = canvas.theme
    x = share_axis("share of irrelevant items seen (false positive rate)", "false_positive_rate")
    y = share_axis("share of relevant items found (true positive rate)", "true_positive_rate")
    chance = {
        "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
        "mark": {"type": "line", "color": chosen.muted, "strokeDash": [2, 3], "strokeWidth": 1},
        "encoding": {"x": {**x, "field": "x"}, "y": {**y, "field": "y"}},
    }
    areas = dict(table.group_by("run", maintain_order=True).agg(pl.col("area").first()).rows())
    behind = {run: f": AUC {area:.4f}" for run, area in areas.items()}
    frame = canvas.frame(SIZE, SIZE, areas, behind=behind)
    lines = curves(table, "run", x=x, y=y, canvas=canvas, frame=frame)
    lines[0]["encoding"]["order"] = {"field": "place", "type": "quantitative"}
    for line in lines[:-1]:
        line["transform"] = [{"window": [{"op": "row_number", "as": "place"}]}]
    query, (who, each) = table["query"][0], asked(table)
    skipped = int(table["skipped"].max())  # type: ignore[arg-type]
    notes = [
        "AUC is the chance that a relevant item stands above one that is not; the dotted line is "
        "chance.",
        "" if query else f"Mean over {who}, at {POINTS} points{each}.",
        f"{counted(skipped, 'query has', 'queries have')} nothing relevant, or nothing else, and "
        "no curve."
        if skipped
        else "",
        *sentences,
    ]
    title = "ROC curve" + (f", query {query}" if query else "")
    parts = layers(chance, *lines, width=frame.width, height=frame.height)
    return chart(KIND, table, canvas, title, notes, parts, width=SIZE + 60)
