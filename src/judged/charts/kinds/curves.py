"""Curves along rank or recall: precision and recall, measures at every cutoff, CMC and ROC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from judged.arrays import Floats, Ints, greatest_from_here, starts_of
from judged.charts.canvas import (
    HEIGHT,
    WIDTH,
    Canvas,
    Design,
    PlotArea,
    encode,
    keep_rows,
    labels,
    layer,
    mark,
    number_axis,
    rank_axis,
    share_axis,
    span_of,
    text_width,
)
from judged.charts.chart import Chart, Drawing, draws, rows_of
from judged.charts.kinds import takes_design
from judged.charts.lines import LINE, OWN_LOOKS, curves, end_labels
from judged.charts.sources import (
    Source,
    Systems,
    asked,
    checked_k,
    cutoffs,
    kept,
    unweighted,
    values_at_cutoffs,
)
from judged.charts.svg import DASHES
from judged.errors import InputError, MeasureError
from judged.evaluation.abstention import RIGHT, Answers
from judged.measures import parse_all, parse_measure
from judged.measures.registry import collection_size
from judged.rankings.rankings import Rankings
from judged.text import counted

if TYPE_CHECKING:
    from judged.measures import Measure
    from judged.options import MeasuresLike


# -- precision recall

RECALL_CELLS = 100  # recall is cut into so many parts for the mean of many curves
QUERIES_PER_BLOCK = 10_000  # a million at once would take gigabytes
INTERPOLATED = [5, 3]  # the dash of the interpolated curve
LABELLED = 12  # up to so many relevant items have their ranks written beside them


def _precision_recall_table(systems: Systems, r: Rankings, rel: float) -> pl.DataFrame:
    drawable = len(r) == 1 and r.relevant(rel)[0] > 0 and r.retrieved[0] > 0
    table = _saw_tooth(r, rel) if drawable else _mean_precision(systems, r, rel)
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


def _mean_precision(systems: Systems, r: Rankings, rel: float) -> pl.DataFrame:
    query, rank, ordinal = r.relevant_hits(None, rel)
    relevant, found = r.relevant(rel), np.bincount(query, minlength=len(r))
    precision = ordinal / rank
    best = greatest_from_here(precision, found)
    counted, perfect = kept(systems, r, rel)
    first = starts_of(found)
    edges = np.linspace(0, 1, RECALL_CELLS + 1)
    columns = {}
    for name, height in {"precision": precision, "interpolated": best}.items():
        before = np.concatenate([[0.0], np.cumsum(height)])
        padded = np.append(height, 0.0)
        total = np.zeros(RECALL_CELLS + 1)
        for start in range(0, len(r), QUERIES_PER_BLOCK):
            block = slice(start, start + QUERIES_PER_BLOCK)
            area = _areas_by_query(
                relevant[block], found[block], first[block], padded, before, edges
            )
            area[perfect[block]] = edges
            total += area[counted[block]].sum(axis=0)
        columns[name] = np.diff(total / max(int(counted.sum()), 1)) * RECALL_CELLS
    empty = pl.lit(None)
    return pl.DataFrame({"recall_from": edges[:-1], "recall": edges[1:], **columns}).select(
        empty.cast(pl.Int64).alias("rank"), empty.cast(pl.Boolean).alias("relevant"), pl.all()
    )


def _areas_by_query(
    relevant: Floats, found: Ints, first: Ints, height: Floats, before: Floats, edges: Floats
) -> Floats:
    """Return the area under each query's steps from recall 0 to each edge, one row per query."""
    steps = edges * relevant[:, None]
    whole = np.minimum(np.floor(steps + 1e-9), found[:, None]).astype(np.int64)
    part = np.where(whole < found[:, None], np.maximum(steps - whole, 0.0), 0.0)
    at = first[:, None] + whole
    area = before[at] - before[first][:, None] + part * height[np.minimum(at, len(height) - 1)]
    return np.divide(area, relevant[:, None], out=np.zeros_like(area), where=relevant[:, None] > 0)


def areas_under(table: pl.DataFrame) -> tuple[float, float]:
    """Return the area under the steps, which is AP, and that under the interpolated curve."""
    width = pl.col("recall") - pl.col("recall_from")
    step, interpolated = table.select((pl.col("precision", "interpolated") * width).sum()).row(0)
    return float(step), float(interpolated)


@takes_design()
def precision_recall(
    source: Source, *, query: str | None = None, rel: float = 1, **design: Unpack[Design]
) -> Chart:
    """Draw the precision-recall curve of one query, or the mean of all; its steps have the area AP.

    Of one system with its interpolated curve; of several, one curve each.

    >>> from judged import Rankings
    >>> chart = precision_recall(Rankings.from_relevance([[0, 0, 1, 0, 1, 0, 0, 1, 0, 0]]))
    >>> chart.title
    'Precision and recall of run, query 1: AP 0.3694'
    """
    systems = Systems.of(source)
    sentences = systems.sentences(query)
    systems = unweighted(systems.about(query))
    table = pl.concat([_precision_recall_table(systems, r, rel) for r in systems.rankings])
    return draw_precision_recall(table, Canvas.of(design), sentences)


@draws("precision-recall")
def draw_precision_recall(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    if table["run"].n_unique() > 1:
        return _several(table, canvas)
    chosen = canvas.theme
    step, interpolated = areas_under(table)
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
    line = layer(
        mark(
            "line", color=blue, strokeWidth=2, **({} if single else {"interpolate": "step-before"})
        ),
        encode(x=x, y=y, order={"field": "rank" if single else "recall", "type": "quantitative"}),
    )
    # The interpolated curve begins at recall 0 and has a step at each relevant item.
    steady = (table.filter(pl.col("relevant")) if single else table).select(
        "recall", "interpolated"
    )
    levels = rows_of(pl.concat([steady.head(1).with_columns(recall=0.0), steady]))
    smooth = layer(
        mark(
            "line", color=orange, strokeWidth=2, strokeDash=INTERPOLATED, interpolate="step-before"
        ),
        encode(
            x=x, y={**y, "field": "interpolated"}, order={"field": "recall", "type": "quantitative"}
        ),
        values=levels,
    )
    parts = [steps, line, smooth]
    last = table.row(-1, named=True)
    ends = [
        ("saw-tooth" if single else "uninterpolated", last["precision"]),
        ("interpolated", float(steady["interpolated"][-1]) if steady.height else 0.0),
    ]
    frame = canvas.frame(WIDTH, HEIGHT, [name for name, _ in ends])
    if single:
        parts += _points(table, x, y, blue, frame)
    looks = ((blue, DASHES[0]), (orange, INTERPOLATED))
    parts.append(end_labels(ends, looks, y=y, frame=frame))
    mean = "" if single else "mean "
    notes = [
        f"Shaded: the steps whose area is {mean}AP, {step:.4f}. The area under the interpolated "
        f"curve is {interpolated:.4f}; it is not AP.",
        ""
        if single
        else f"Mean over {counted(queries, 'query', 'queries')}, in hundredths of recall.",
    ]
    run = table["run"][0]
    about = f", query {query}: AP" if query else ": mean AP"
    title = f"Precision and recall of {run}{about} {step:.4f}"
    return title, notes, frame.layers(*parts)


def _several(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    parts = table.partition_by("run", maintain_order=True)
    query = table["query"][0]
    mean = "" if query else "mean "
    behind = {part["run"][0]: f": {mean}AP {areas_under(part)[0]:.4f}" for part in parts}
    frame = canvas.frame(WIDTH, HEIGHT, behind, behind=behind)
    y = share_axis("precision", "precision")
    lines = curves(table, "run", x=share_axis("recall", "recall"), y=y, canvas=canvas, frame=frame)
    _in_order_of_rows(lines)
    if table["rank"].null_count():
        lines[0]["mark"]["interpolate"] = "step-before"
    who, each = asked(table)
    notes = [
        f"Not interpolated: the area of a curve's steps is its {mean}AP.",
        "" if query else f"Mean over {who}, in hundredths of recall{each}.",
    ]
    title = "Precision and recall" + (f", query {query}" if query else "")
    return title, notes, frame.layers(*lines)


def _in_order_of_rows(lines: list[dict[str, Any]]) -> None:
    for line in lines[:-1]:
        line["transform"] = [{"window": [{"op": "row_number", "as": "place"}]}]
    lines[0]["encoding"]["order"] = {"field": "place", "type": "quantitative"}


def _points(
    table: pl.DataFrame, x: dict[str, Any], y: dict[str, Any], colour: str, frame: PlotArea
) -> list[dict[str, Any]]:
    only: list[dict[str, Any]] = [{"filter": "datum.relevant"}]
    dots = layer(
        mark("point", filled=True, size=55, color=colour, opacity=1),
        encode(x=x, y=y, tooltip=[{"field": "rank"}, {"field": "recall"}, {"field": "precision"}]),
        transform=only,
    )
    if table["relevant"].sum() > LABELLED:
        return [dots]
    ranks = layer(
        mark("text", dx=-6, dy=-9, align="right"),
        encode(x=x, y=y, text={"field": "label"}),
        transform=[
            *only,
            {"filter": {"field": "rank", "oneOf": _ranks_with_room(table, frame)}},
            {"calculate": "'rank ' + datum.rank", "as": "label"},
        ],
    )
    return [dots, ranks]


def _ranks_with_room(table: pl.DataFrame, frame: PlotArea) -> list[int]:
    """Return the ranks whose labels meet neither the axis nor another label."""
    taken: list[tuple[float, float]] = []
    ranks = []
    for rank, recall, precision in (
        table.filter("relevant").select("rank", "recall", "precision").rows()
    ):
        x, y = recall * frame.width, (1 - precision) * frame.height
        wide = text_width(f"rank {rank}") + 8
        if x > wide and all(x - left > wide or abs(y - above) > LINE for left, above in taken):
            taken.append((x, y))
            ranks.append(rank)
    return ranks


# -- eleven point

RECALL_POINTS = [point / 10 for point in range(11)]


@takes_design()
def eleven_point(source: Source, *, rel: float = 1, **design: Unpack[Design]) -> Chart:
    """Draw the mean interpolated precision of systems at eleven recall points.

    >>> from judged import Rankings
    >>> eleven_point(Rankings.from_relevance([[1, 0, 1]])).data["precision"].round(3).to_list()[4:7]
    [1.0, 1.0, 0.667]
    """
    systems = Systems.of(source)
    measures = [parse_measure("IPrec")(recall=point, rel=rel) for point in RECALL_POINTS]
    table = _summaries(systems, dict(zip(RECALL_POINTS, measures, strict=True)))
    table = table.rename({"at": "recall", "value": "precision"})
    return draw_eleven_point(table, Canvas.of(design), systems.sentences())


def _summaries(systems: Systems, measures: Mapping[Any, Measure]) -> pl.DataFrame:
    """Return a row per system and point of a curve, with the value of its measure."""
    rows = [
        (run.name, len(run.rankings), point, run.summary[measure])
        for run in systems.evaluate(list(measures.values())).runs
        for point, measure in measures.items()
    ]
    names = ["run", "queries", "at", "value"]
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)


@draws("eleven-point")
def draw_eleven_point(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    x = share_axis("recall", "recall")
    x["axis"] = {"values": RECALL_POINTS, "format": ".1f"}
    frame = canvas.frame(WIDTH, HEIGHT, table["run"])
    low, high = span_of(table["precision"])
    y = share_axis("interpolated precision", "precision", low=low, top=high)
    lines = curves(table, "run", x=x, y=y, canvas=canvas, frame=frame, low=low, high=high)
    who, each = asked(table)
    notes = [
        "Interpolated: the best precision at this recall or any higher one. "
        f"Mean over {who}{each}.",
        "The area under such a curve is not AP.",
    ]
    title = _leading(table, "recall", "precision", "interpolated precision", "recall points")
    title = (canvas.in_page and title) or "Interpolated precision at eleven recall points"
    return title, notes, frame.layers(*lines)


def _leading(table: pl.DataFrame, field: str, value: str, what: str, points: str) -> str:
    """Say which system has the highest curve at most points; empty for one system."""
    if table["run"].n_unique() < 2:
        return ""
    best = table.filter(pl.col(value) == pl.col(value).max().over(field))
    counts = best.group_by("run", maintain_order=True).len().sort("len", descending=True).rows()
    run, count = counts[0]
    every = table[field].n_unique()
    where = "all" if count == every else f"{count} of"
    name = labels([run])[run]
    return f"{name} has the highest {what} at {where} {every} {points}"


# -- measure at k

NARROWEST_PANEL, PANEL_GAP = 300, 40  # pixels


@takes_design(measures="Measures that have a cutoff, by default nDCG.")
def measure_at_k(
    source: Source,
    *,
    measures: MeasuresLike | None = None,
    k: int | None = None,
    **design: Unpack[Design],
) -> Chart:
    """Draw measures at every cutoff down to k: one panel per measure, one curve per system.

    >>> from judged import Rankings
    >>> chart = measure_at_k(Rankings.from_relevance([[1, 0, 1, 1]]), measures="P")
    >>> chart.data["value"].to_list()[:2]
    [1.0, 0.5]
    """
    systems = Systems.of(source)
    wanted = parse_all(("nDCG",) if measures is None else measures)
    for measure in wanted:
        if measure.spec.at != "k":
            raise MeasureError(
                f"{measure} has no cutoff k to draw a curve along; use a measure such as P or nDCG."
            )
    depths = cutoffs(checked_k(k, systems.longest, 100))
    parts = [
        _summaries(systems, {depth: measure(k=depth) for depth in depths}).select(
            "run", "queries", pl.lit(str(measure(k=None))).alias("measure"), k="at", value="value"
        )
        for measure in wanted
    ]
    return draw_measure_at_k(pl.concat(parts), Canvas.of(design), systems.sentences())


@draws("measure-at-k")
def draw_measure_at_k(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    names = table["measure"].unique(maintain_order=True).to_list()
    columns = canvas.columns(len(names), NARROWEST_PANEL)
    rows = -(-len(names) // columns)
    frame = canvas.frame(
        WIDTH, HEIGHT, table["run"], panels=columns, gap=PANEL_GAP, rows=rows, row_gap=PANEL_GAP
    )
    panels = [
        _measure_panel(part, canvas, frame)
        for part in table.partition_by("measure", maintain_order=True)
    ]
    who, each = asked(table)
    notes = [f"Mean over {who}{each}.", _computed_at(table)]
    title = f"{', '.join(names)} of the first k results, as k grows"
    if canvas.in_page and len(names) == 1:
        title = _leading(table, "k", "value", names[0], "cutoffs") or title
    parts = (
        panels[0]
        if len(panels) == 1
        else {"concat": panels, "columns": columns, "spacing": PANEL_GAP}
    )
    return title, notes, parts


def _measure_panel(part: pl.DataFrame, canvas: Canvas, frame: PlotArea) -> dict[str, Any]:
    measure, last = part["measure"][0], int(part["k"].max())  # type: ignore[arg-type]
    greatest = float(part["value"].max())  # type: ignore[arg-type]
    share = parse_measure(measure).spec.range == (0, 1)
    low, high = span_of(part["value"]) if share else (0.0, greatest * 1.05 or 1.0)
    y = share_axis(f"{measure}@k", "value", low=low, top=high)
    x = rank_axis("k", "k", last)
    lines = curves(part, "run", x=x, y=y, canvas=canvas, frame=frame, low=low, high=high)
    for line in lines[:-1]:
        line["transform"] = [keep_rows("measure", measure)]
    return frame.layers(*lines)


# -- precision recall at k

SHARES_AT_K = {"P": "precision", "R": "recall", "F": "F1"}


@takes_design()
def precision_recall_at_k(
    source: Source,
    *,
    query: str | None = None,
    k: int | None = None,
    rel: float = 1,
    **design: Unpack[Design],
) -> Chart:
    """Draw P@k, R@k and F1@k together, over all queries or for one.

    >>> from judged import Rankings
    >>> chart = precision_recall_at_k(Rankings.from_relevance([[1, 0, 1, 1, 0, 1, 0, 0]]))
    >>> chart.data.filter(k=4)["value"].to_list()
    [0.75, 0.75, 0.75]
    """
    table = values_at_cutoffs(Systems.of(source).one(query), SHARES_AT_K, k, rel)
    table = table.with_columns(pl.col("name").replace_strict(SHARES_AT_K)).rename(
        {"name": "measure"}
    )
    return draw_precision_recall_at_k(table, Canvas.of(design), Systems.of(source).sentences(query))


@draws("precision-recall-at-k")
def draw_precision_recall_at_k(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    frame = canvas.frame(WIDTH, HEIGHT, SHARES_AT_K.values())
    x = rank_axis("k: results shown", "k", int(table["k"].max()))  # type: ignore[arg-type]
    y = share_axis("value", "value")
    lines = curves(table, "measure", x=x, y=y, canvas=canvas, frame=frame)
    title = f"Precision, recall and F1 of {table['run'][0]} as k grows"
    return *_over_queries(table, title, "Mean"), frame.layers(*lines)


def _over_queries(table: pl.DataFrame, title: str, over: str) -> tuple[str, list[str]]:
    """Return the title and the notes of a chart of one query, or of all."""
    query, queries = table["query"][0], counted(int(table["queries"][0]), "query", "queries")
    notes = ["" if query else f"{over} over {queries}.", _computed_at(table)]
    return title + (f", query {query}" if query else ""), notes


def _computed_at(table: pl.DataFrame, what: str = "cutoffs") -> str:
    last, shown = int(table["k"].max()), table["k"].n_unique()  # type: ignore[arg-type]
    return f"Computed at {shown} of the {last:,} {what}." if shown < last else ""


# -- confusion at k

COUNTS_AT_K = {"TP": "true positives", "FN": "false negatives", "FP": "false positives"}
COUNT_PANELS = {"relevant items": ["TP", "FN"], "other results": ["FP"]}
"""False positives have a panel of their own, because they may be a hundred times as many."""
COUNTS_WIDTH = 260


@takes_design()
def confusion_at_k(
    source: Source,
    *,
    query: str | None = None,
    k: int | None = None,
    rel: float = 1,
    **design: Unpack[Design],
) -> Chart:
    """Draw true positives, false positives and false negatives at every cutoff.

    >>> from judged import Rankings
    >>> chart = confusion_at_k(Rankings.from_relevance([[1, 0, 1]], relevant=[3]))
    >>> chart.data.filter(name="FN")["count"].to_list()
    [2, 2, 1]
    """
    table = values_at_cutoffs(unweighted(Systems.of(source).one(query)), COUNTS_AT_K, k, rel)
    table = table.with_columns(pl.col("value").round().cast(pl.Int64)).rename({"value": "count"})
    return draw_confusion_at_k(table, Canvas.of(design), Systems.of(source).sentences(query))


@draws("confusion-at-k")
def draw_confusion_at_k(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    columns = canvas.columns(len(COUNT_PANELS), NARROWEST_PANEL)
    rows = len(COUNT_PANELS) // columns
    gaps: dict[str, Any] = {"panels": columns, "gap": PANEL_GAP, "rows": rows, "row_gap": PANEL_GAP}
    frame = canvas.frame(COUNTS_WIDTH, HEIGHT, COUNTS_AT_K.values(), **gaps)
    x = rank_axis("k: results shown", "k", int(table["k"].max()))  # type: ignore[arg-type]
    panels = []
    for items, names in COUNT_PANELS.items():
        part = table.filter(pl.col("name").is_in(names))
        high = float(part["count"].max() or 1)  # type: ignore[arg-type]
        y = number_axis(items, "count", scale={"domain": [0, high], "nice": False})
        y["axis"] = {"format": ",d", "tickMinStep": 1}
        options: Any = {"frame": frame, "high": high, "words": COUNTS_AT_K}
        lines = curves(part, "name", x=x, y=y, canvas=canvas, **options)
        for line in lines[:-1]:
            line["transform"] = [{"filter": {"field": "name", "oneOf": names}}]
        panels.append(frame.layers(*lines))
    drawn = {"concat": panels, "columns": columns, "spacing": PANEL_GAP, "resolve": OWN_LOOKS}
    title = f"Items of {table['run'][0]} found, missed and shown for nothing, as k grows"
    return *_over_queries(table, title, "Summed"), drawn


# -- cmc

CMC_DEPTH = 50


@takes_design(k="Last rank of the curves; by default that of the longest list, at most 50.")
def cmc(source: Source, *, k: int | None = None, rel: float = 1, **design: Unpack[Design]) -> Chart:
    """Draw the share of queries with a relevant item among the first k, as k grows.

    >>> from judged import Rankings
    >>> cmc(Rankings.from_relevance([[1, 0, 0], [0, 0, 1]])).data["share"].to_list()
    [0.5, 0.5, 1.0]
    """
    systems = Systems.of(source)
    depths = cutoffs(checked_k(k, systems.longest, CMC_DEPTH), most=CMC_DEPTH)
    measures = {depth: parse_measure("Success")(k=depth, rel=rel) for depth in depths}
    table = _summaries(systems, measures).rename({"at": "k", "value": "share"})
    return draw_cmc(table, Canvas.of(design), systems.sentences())


@draws("cmc")
def draw_cmc(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    last = int(table["k"].max())  # type: ignore[arg-type]
    low = 0.8 if float(table["share"].min()) >= 0.8 else 0.0  # type: ignore[arg-type]
    y = share_axis("queries that found something relevant", "share", low=low)
    y["axis"] = {"format": ".0%"}
    frame = canvas.frame(WIDTH, HEIGHT, table["run"])
    x = rank_axis("k: results looked at", "k", last)
    lines = curves(table, "run", x=x, y=y, canvas=canvas, frame=frame, low=low)
    who, each = asked(table)
    notes = [
        f"Share of {who} with a relevant item among the first k{each}.",
        "The axis begins at 80%." if low else "",
        _computed_at(table, "ranks"),
    ]
    title = "Cumulative match characteristic"
    return title, notes, frame.layers(*lines)


# -- roc

ROC_POINTS = 101  # the mean of many curves is taken at so many points
ROC_SIZE = 340


@takes_design()
def roc(
    source: Source, *, query: str | None = None, rel: float = 1, **design: Unpack[Design]
) -> Chart:
    """Draw the ROC curve of one or more systems; it needs the size of the collection.

    >>> from judged import Rankings
    >>> chart = roc(Rankings.from_relevance([[1, 0, 1, 0, 0]], collection=5))
    >>> round(chart.data["area"][0], 4)
    0.8333
    """
    systems = unweighted(Systems.of(source).about(query))
    frames = []
    for r in systems.rankings:
        area = parse_measure("RankAUC")(rel=rel).compute(r)
        defined = np.flatnonzero(np.isfinite(area))
        if not len(defined):
            raise InputError(
                f"{r.name}: a ROC curve needs a query that has both relevant and other items."
            )
        kept = r.take(defined)
        false, true = _roc_of_one(kept, rel) if len(kept) == 1 else _mean_roc(kept, rel)
        points = pl.DataFrame({"false_positive_rate": false, "true_positive_rate": true})
        frames.append(
            points.select(
                pl.lit(r.name).alias("run"),
                pl.lit(r.queries[0] if len(r) == 1 else None, dtype=pl.String).alias("query"),
                pl.lit(len(kept)).alias("queries"),
                pl.lit(len(r) - len(kept)).alias("skipped"),
                pl.all(),
                pl.lit(float(area[defined].mean())).alias("area"),
            )
        )
    return draw_roc(pl.concat(frames), Canvas.of(design), Systems.of(source).sentences(query))


def _others(r: Rankings, rel: float) -> Floats:
    return collection_size(r, "ROC") - r.relevant(rel)


def _roc_of_one(r: Rankings, rel: float) -> tuple[Floats, Floats]:
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


def _mean_roc(r: Rankings, rel: float) -> tuple[Floats, Floats]:
    grid = np.linspace(0, 1, ROC_POINTS)
    total = np.zeros(ROC_POINTS)
    for begin in range(0, len(r), QUERIES_PER_BLOCK):
        total += _sum_roc(
            r.take(np.arange(begin, min(begin + QUERIES_PER_BLOCK, len(r)))), rel, grid
        )
    return np.append(0.0, grid), np.concatenate([[0.0], total[:-1] / len(r), [1.0]])


def _sum_roc(r: Rankings, rel: float, grid: Floats) -> Floats:
    query, rank, ordinal = r.relevant_hits(None, rel)
    others, relevant = _others(r, rel), r.relevant(rel)
    at = (rank - ordinal) / others[query]
    column: Ints = np.ceil(at * (ROC_POINTS - 1) - 1e-9).astype(np.int64)
    found = np.cumsum(np.bincount(column, 1 / relevant[query], minlength=ROC_POINTS))
    count = r.total(query)
    end = ((r.retrieved - count) / others)[:, None]
    reached = np.divide(
        grid - end,
        1 - end,
        out=np.broadcast_to(grid >= end, (len(r), ROC_POINTS)).astype(float),
        where=end < 1,
    )
    tail = ((relevant - count) / relevant)[:, None] * np.clip(reached, 0, 1)
    return found + tail.sum(axis=0)


@draws("roc", width=ROC_SIZE + 60)
def draw_roc(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    chosen = canvas.theme
    x = share_axis("share of irrelevant items seen (false positive rate)", "false_positive_rate")
    y = share_axis("share of relevant items found (true positive rate)", "true_positive_rate")
    chance = layer(
        mark("line", color=chosen.muted, strokeDash=[2, 3], strokeWidth=1),
        encode(x={**x, "field": "x"}, y={**y, "field": "y"}),
        values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}],
    )
    areas = dict(table.group_by("run", maintain_order=True).agg(pl.col("area").first()).rows())
    behind = {run: f": AUC {area:.4f}" for run, area in areas.items()}
    frame = canvas.frame(ROC_SIZE, ROC_SIZE, areas, behind=behind)
    lines = curves(table, "run", x=x, y=y, canvas=canvas, frame=frame)
    _in_order_of_rows(lines)
    query, (who, each) = table["query"][0], asked(table)
    skipped = int(table["skipped"].max())  # type: ignore[arg-type]
    notes = [
        "AUC is the chance that a relevant item stands above one that is not; the dotted line is "
        "chance.",
        "" if query else f"Mean over {who}, at {ROC_POINTS} points{each}.",
        f"{counted(skipped, 'query has', 'queries have')} nothing relevant, or nothing else, and "
        "no curve."
        if skipped
        else "",
    ]
    title = "ROC curve" + (f", query {query}" if query else "")
    return title, notes, frame.layers(chance, *lines)


# -- risk coverage

MAX_THRESHOLDS = 400  # more points cannot be told apart


@takes_design(measure='Measure that is 1 for a right answer and 0 for a wrong one, "Success@1".')
def risk_coverage(
    source: Source, *, measure: str | Measure | None = None, **design: Unpack[Design]
) -> Chart:
    """Draw the share of wrong answers as more queries are answered, the best scores first.

    >>> import judged
    >>> judgements = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> run = {"q1": {"a": 0.9}, "q2": {"b": 0.4}}
    >>> risk_coverage(judged.evaluate(judgements, run, "RR")).data["risk"].to_list()
    [0.0, 0.5]
    """
    systems = unweighted(Systems.of(source).one())
    r = systems.rankings[0]
    chosen = parse_measure(RIGHT if measure is None else measure)
    answers = Answers.of(r, chosen)
    if not len(answers.scores):
        raise InputError(f"{r.name} has no results for any query, so there is nothing to answer.")
    columns = dict(zip(("threshold", "coverage", "risk"), answers.curve(), strict=True))
    points = len(columns["risk"])
    kept_points = np.unique(np.linspace(0, points - 1, min(points, MAX_THRESHOLDS)).astype(int))
    facts = [pl.lit(r.name).alias("run"), pl.lit(str(chosen)).alias("measure")]
    facts += [pl.lit(answers.queries).alias("queries"), pl.lit(points).alias("thresholds")]
    table = pl.DataFrame(columns)[kept_points].select(*facts, pl.all())
    return draw_risk_coverage(table, Canvas.of(design), systems.sentences())


@draws("risk-coverage")
def draw_risk_coverage(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    _, top = span_of(table["risk"])
    x = share_axis("coverage: answered queries", "coverage")
    y = share_axis("risk: wrong answers among them", "risk", top=top)
    for axis in (x, y):
        axis["axis"] = {"format": ".0%"}
    frame = canvas.frame(WIDTH, HEIGHT, table["run"].unique())
    lines = curves(table, "run", x=x, y=y, canvas=canvas, frame=frame, high=top)
    measure, queries, thresholds = (table[name][0] for name in ("measure", "queries", "thresholds"))
    notes = [
        f"Queries are answered from the greatest best score down; an answer is right if {measure} "
        "is 1.",
        f"Shares of {counted(queries, 'query', 'queries')}, without bounds: judged abstain chooses "
        "a threshold with a guarantee.",
        f"{table.height:,} of {thresholds:,} thresholds are shown."
        if thresholds > table.height
        else "",
    ]
    return "Wrong answers as more queries are answered", notes, frame.layers(*lines)
