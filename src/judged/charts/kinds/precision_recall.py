"""Precision against recall: one query's saw-tooth with AP as the area of its steps, or the mean
curve of all queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
import polars as pl

from judged.arrays import Floats, Ints, greatest_from_here, starts_of
from judged.charts.canvas import Canvas, Design, share_axis
from judged.charts.chart import HEIGHT, WIDTH, Chart, chart, layers, rows_of
from judged.charts.kinds import takes_design
from judged.charts.lines import curves, end_labels
from judged.charts.sources import Source, Systems, asked, kept, unweighted
from judged.charts.svg import DASHES
from judged.rankings.rankings import Rankings
from judged.text import counted

KIND = "precision-recall"
CELLS = 100  # recall is cut into so many parts for the mean of many curves
BLOCK = 10_000  # so many queries are looked at together: a million at once would take gigabytes
INTERPOLATED = [5, 3]  # the dash of the interpolated curve
LABELLED = 12  # up to so many relevant items have their ranks written beside them


def _of_one(systems: Systems, r: Rankings, rel: float) -> pl.DataFrame:
    drawable = len(r) == 1 and r.relevant(rel)[0] > 0 and r.retrieved[0] > 0
    table = _saw_tooth(r, rel) if drawable else _mean(systems, r, rel)
    return table.select(
        pl.lit(r.name).alias("run"),
        pl.lit(r.queries[0] if len(r) == 1 else None, dtype=pl.String).alias("query"),
        pl.lit(len(r)).alias("queries"),
        pl.all(),
    )


def _saw_tooth(r: Rankings, rel: float) -> pl.DataFrame:
    _, rank, _ = r.relevant_hits(None, rel)
    before = rank[rank > 1] - 1
    ranks = np.unique(np.concatenate([rank, before, r.retrieved[r.retrieved > 0]]))
    is_relevant = np.isin(ranks, rank)
    found = np.searchsorted(rank, ranks, side="right")
    whole = r.relevant(rel)[0]
    precision = found / ranks
    return pl.DataFrame(
        {
            "rank": ranks,
            "relevant": is_relevant,
            "recall_from": (found - is_relevant) / whole,
            "recall": found / whole,
            "precision": precision,
            "interpolated": greatest_from_here(precision, np.array([len(ranks)])),
        }
    )


def _mean(systems: Systems, r: Rankings, rel: float) -> pl.DataFrame:
    query, rank, ordinal = r.relevant_hits(None, rel)
    relevant, found = r.relevant(rel), np.bincount(query, minlength=len(r))
    precision = ordinal / rank
    best = greatest_from_here(precision, found)
    counted, perfect = kept(systems, r, rel)
    first = starts_of(found)
    edges = np.linspace(0, 1, CELLS + 1)
    columns = {}
    for name, height in {"precision": precision, "interpolated": best}.items():
        before = np.concatenate([[0.0], np.cumsum(height)])
        padded = np.append(height, 0.0)
        total = np.zeros(CELLS + 1)
        for start in range(0, len(r), BLOCK):
            block = slice(start, start + BLOCK)
            area = _areas(relevant[block], found[block], first[block], padded, before, edges)
            area[perfect[block]] = edges
            total += area[counted[block]].sum(axis=0)
        columns[name] = np.diff(total / max(int(counted.sum()), 1)) * CELLS
    empty = pl.lit(None)
    return pl.DataFrame({"recall_from": edges[:-1], "recall": edges[1:], **columns}).select(
        empty.cast(pl.Int64).alias("rank"), empty.cast(pl.Boolean).alias("relevant"), pl.all()
    )


def _areas(
    relevant: Floats, found: Ints, first: Ints, height: Floats, before: Floats, edges: Floats
) -> Floats:
    """Return the area under each query's steps from recall 0 to each edge, one row per query."""
    steps = edges * relevant[:, None]
    whole = np.minimum(np.floor(steps + 1e-9), found[:, None]).astype(np.int64)
    part = np.where(whole < found[:, None], np.maximum(steps - whole, 0.0), 0.0)
    at = first[:, None] + whole
    area = before[at] - before[first][:, None] + part * height[np.minimum(at, len(height) - 1)]
    return np.divide(area, relevant[:, None], out=np.zeros_like(area), where=relevant[:, None] > 0)


def areas(table: pl.DataFrame) -> tuple[float, float]:
    """Return the area under the steps, which is AP, and that under the interpolated curve."""
    width = pl.col("recall") - pl.col("recall_from")
    step, interpolated = table.select((pl.col("precision", "interpolated") * width).sum()).row(0)
    return float(step), float(interpolated)


@takes_design()
def precision_recall(
    source: Source, *, query: str | None = None, rel: float = 1, **design: Unpack[Design]
) -> Chart:
    """The precision-recall curve of one query, or the mean of all; its steps have the area AP.

    Of one system with its interpolated curve; of several, one curve each.

    >>> from judged import Rankings
    >>> chart = precision_recall(Rankings.from_relevance([[0, 0, 1, 0, 1, 0, 0, 1, 0, 0]]))
    >>> chart.title
    'Precision and recall of run, query 1: AP 0.3694'
    """
    systems = Systems.of(source)
    sentences = systems.sentences(query)
    systems = unweighted(systems if query is None else systems.about(query))
    table = pl.concat([_of_one(systems, r, rel) for r in systems.rankings])
    return draw(table, **design, sentences=sentences)


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    if table["run"].n_unique() > 1:
        return _several(table, canvas, sentences)
    chosen = canvas.theme
    step, interpolated = areas(table)
    query, queries = table.row(0, named=True)["query"], int(table["queries"][0])
    single = table["rank"].null_count() < table.height
    y = share_axis("precision", "precision")
    x = share_axis("recall", "recall")
    blue, orange = chosen.series[0], chosen.wrong
    steps: dict[str, Any] = {
        # The stroke closes the hairlines between many narrow steps.
        "mark": {
            "type": "rect",
            "color": chosen.fill,
            **({} if single else {"stroke": chosen.fill, "strokeWidth": 1}),
        },
        "encoding": {
            "x": {**x, "field": "recall_from"},
            "x2": {"field": "recall"},
            "y": y,
            "y2": {"datum": 0},
            "tooltip": [{"field": "recall"}, {"field": "precision"}, {"field": "interpolated"}],
        },
    }
    if single:
        steps["transform"] = [{"filter": "datum.relevant"}]
    line = {
        "mark": {
            "type": "line",
            "color": blue,
            "strokeWidth": 2,
            **({} if single else {"interpolate": "step-before"}),
        },
        "encoding": {
            "x": x,
            "y": y,
            "order": {"field": "rank" if single else "recall", "type": "quantitative"},
        },
    }
    # The interpolated curve begins at recall 0 and has a step at each relevant item.
    steady = (table.filter(pl.col("relevant")) if single else table).select(
        "recall", "interpolated"
    )
    levels = rows_of(pl.concat([steady.head(1).with_columns(recall=0.0), steady]))
    smooth = {
        "data": {"values": levels},
        "mark": {
            "type": "line",
            "color": orange,
            "strokeWidth": 2,
            "strokeDash": INTERPOLATED,
            "interpolate": "step-before",
        },
        "encoding": {
            "x": x,
            "y": {**y, "field": "interpolated"},
            "order": {"field": "recall", "type": "quantitative"},
        },
    }
    parts = [steps, line, smooth]
    if single:
        parts += _points(table, x, y, blue)
    last = table.row(-1, named=True)
    ends = [
        ("saw-tooth" if single else "uninterpolated", last["precision"]),
        ("interpolated", float(steady["interpolated"][-1]) if steady.height else 0.0),
    ]
    frame = canvas.frame(WIDTH, HEIGHT, [name for name, _ in ends])
    looks = ((blue, DASHES[0]), (orange, INTERPOLATED))
    parts.append(end_labels(ends, looks, y=y, frame=frame))
    mean = "" if single else "mean "
    notes = [
        f"Shaded: the steps whose area is {mean}AP, {step:.4f}. The area under the interpolated "
        f"curve is {interpolated:.4f}; "
        "it is not AP.",
        ""
        if single
        else f"Mean over {counted(queries, 'query', 'queries')}, in hundredths of recall.",
        *sentences,
    ]
    run = table["run"][0]
    title = (
        f"Precision and recall of {run}, query {query}: AP {step:.4f}"
        if query
        else f"Precision and recall of {run}: mean AP {step:.4f}"
    )
    drawn = layers(*parts, width=frame.width, height=frame.height)
    return chart(KIND, table, canvas, title, notes, drawn)


def _several(table: pl.DataFrame, canvas: Canvas, sentences: Sequence[str]) -> Chart:
    parts = table.partition_by("run", maintain_order=True)
    query = table["query"][0]
    mean = "" if query else "mean "
    behind = {part["run"][0]: f": {mean}AP {areas(part)[0]:.4f}" for part in parts}
    frame = canvas.frame(WIDTH, HEIGHT, behind, behind=behind)
    y = share_axis("precision", "precision")
    lines = curves(table, "run", x=share_axis("recall", "recall"), y=y, canvas=canvas, frame=frame)
    for line in lines[:-1]:
        line["transform"] = [{"window": [{"op": "row_number", "as": "place"}]}]
    lines[0]["encoding"]["order"] = {"field": "place", "type": "quantitative"}
    if table["rank"].null_count():
        lines[0]["mark"]["interpolate"] = "step-before"
    who, each = asked(table)
    notes = [
        f"Not interpolated: the area of a curve's steps is its {mean}AP.",
        "" if query else f"Mean over {who}, in hundredths of recall{each}.",
        *sentences,
    ]
    title = "Precision and recall" + (f", query {query}" if query else "")
    drawn = layers(*lines, width=frame.width, height=frame.height)
    return chart(KIND, table, canvas, title, notes, drawn)


def _points(
    table: pl.DataFrame, x: dict[str, Any], y: dict[str, Any], colour: str
) -> list[dict[str, Any]]:
    only = [{"filter": "datum.relevant"}]
    dots = {
        "transform": only,
        "mark": {"type": "point", "filled": True, "size": 55, "color": colour, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "tooltip": [{"field": "rank"}, {"field": "recall"}, {"field": "precision"}],
        },
    }
    if table["relevant"].sum() > LABELLED:
        return [dots]
    ranks = {
        "transform": [*only, {"calculate": "'rank ' + datum.rank", "as": "label"}],
        "mark": {"type": "text", "dx": -6, "dy": -9, "align": "right"},
        "encoding": {"x": x, "y": y, "text": {"field": "label"}},
    }
    return [dots, ranks]
