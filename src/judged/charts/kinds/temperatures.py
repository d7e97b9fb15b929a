"""Sweeps of a softmax temperature, and studies of training temperatures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from judged.charts.canvas import (
    BELOW,
    WIDTH,
    Canvas,
    Design,
    PlotArea,
    encode,
    keep_rows,
    layer,
    layers,
    loss_axis,
    mark,
    name_axis,
    room_above,
    share_axis,
    temperature_axis,
    when,
)
from judged.charts.chart import Chart, Drawing, draws
from judged.charts.kinds import takes_design
from judged.charts.kinds.distributions import BELOW_MAIN, diagram
from judged.charts.lines import LINE, OWN_LOOKS, curves
from judged.charts.svg import Theme
from judged.charts.sweep import Record, read_sweep, softmax_said, temperature_of, three, written
from judged.errors import InputError
from judged.text import counted, listed

if TYPE_CHECKING:
    from judged.learning.temperature import Study, Sweep


# -- temperature

SWEEP_CURVES = (
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
SWEEP_HEIGHT, APART = 120, 14  # pixels of a panel, and between two


@takes_design()
def temperature(sweep: Sweep | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """Draw a softmax of the scores at each temperature; the ranking is the same at all of them.

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
        "edges": f"The temperature {' and that '.join(edges)} is the outermost that was swept; a "
        "better one may lie beyond."
        if edges
        else "",
        "said": " ".join(found.texts("notes")),
    }
    points = [
        {"panel": panel, "curve": curve, "temperature": at, "value": value, **constant}
        for panel, curve, field in SWEEP_CURVES
        for at, row in sorted(rows.items())
        if (value := row.number_or_none(field)) is not None
    ]
    if not points:
        raise InputError("the temperature sweep holds no number to show; make it again.")
    table = pl.DataFrame(
        points, schema_overrides=dict.fromkeys(BEST, pl.Float64), infer_schema_length=None
    )
    return draw_temperature(table, Canvas.of(design))


def _ranking(sweep: Record) -> str:
    measures = sweep.record("ranking").record("measures")
    values = listed(
        [f"{name} {measures.number(name):.4f}" for name in measures.fields] or ["all measures"]
    )
    return f"The ranking is the same at every temperature, and with it {values}."


@draws("temperature", width=WIDTH + 60)
def draw_temperature(table: pl.DataFrame, canvas: Canvas) -> Drawing:
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
    several = table.filter(pl.col("curve").n_unique().over("panel") > 1)
    around = BELOW + LINE * len(best) + 4
    frame = canvas.frame(
        WIDTH,
        SWEEP_HEIGHT,
        several["curve"],
        below=around / len(shares),
        rows=len(shares),
        row_gap=APART,
    )
    panels = []
    for place, part in enumerate(shares):
        x = temperature_axis(low, high, title="temperature" if place == len(shares) - 1 else None)
        rules = [
            layer(
                mark("rule", color=shade, strokeDash=dash, strokeWidth=1.4),
                encode(x=x),
                values=[{"temperature": at}],
            )
            for _, _, at, shade, dash in best
        ]
        labels = [
            _label(f"{words}: {written(at)}", at, row, x, chosen.ink_of(shade))
            for row, (_, words, at, shade, _) in enumerate(best)
        ]
        most = 1.0 if part["panel"][0] == "of the top item" else room_above(part["value"].max())  # type: ignore[arg-type]
        _, lines = _curve_panel(part, (0.0, most), x, canvas, frame)
        panels.append(frame.layers(*rules, *lines, *(labels if place == 0 else ())))
    notes = [table[name][0] for name in ("softmax", "ranking", "edges", "said")]
    title = "What temperature does to probabilities"
    parts = {"vconcat": panels, "spacing": APART, "resolve": OWN_LOOKS}
    return title, notes, parts


def _curve_panel(
    part: pl.DataFrame,
    bounds: tuple[float, float],
    x: dict[str, Any],
    canvas: Canvas,
    frame: PlotArea,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the vertical axis of a panel and its lines, with names if there are several."""
    panel, (low, high), symlog = part["panel"][0], bounds, False
    y = share_axis(panel, "value", low=low, top=high)
    y["axis"] = {"tickCount": 4}
    if panel == "loss":
        ends = float(part["value"].min()), float(part["value"].max())  # type: ignore[arg-type]
        y, low, high, symlog = loss_axis(*ends)
    trained = part.filter(pl.col("temperature").is_not_null())
    lines = curves(
        trained, "curve", x=x, y=y, canvas=canvas, frame=frame, low=low, high=high, symlog=symlog
    )
    for line in lines[:-1]:
        line["transform"] = [keep_rows("panel", panel), {"filter": "isValid(datum.temperature)"}]
    return y, lines if trained["curve"].n_unique() > 1 else lines[:-1]


def _label(words: str, at: float, row: int, x: dict[str, Any], shade: str) -> dict[str, Any]:
    """Name a rule above the first panel, in a line of its own so that names do not overlap."""
    low, high = (math.log(end) for end in x["scale"]["domain"])
    across = (math.log(at) - low) / (high - low)
    align = "left" if across < 0.2 else "right" if across > 0.8 else "center"
    return layer(
        mark("text", align=align, baseline="bottom", color=shade, fontWeight="bold"),
        encode(x=x, y={"value": -3 - LINE * row}, text={"field": "words"}),
        values=[{"temperature": at, "words": words}],
    )


# -- temperature probabilities

PROBABILITIES_WIDTH, PANEL_GAP = 240, 24


@takes_design()
def temperature_probabilities(sweep: Sweep | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """Draw the mean probability of the items at the first ranks, at three temperatures.

    >>> row = {"entropy": 0.5, "probabilities": [0.8, 0.2]}
    >>> sweep = {"what": "temperature sweep", "softmax": "corpus", "candidates": 2, "queries": 1}
    >>> sweep |= {"similarity": "cosine"}
    >>> sweep["temperatures"] = [{"temperature": at, **row} for at in (0.01, 0.1, 1.0)]
    >>> chart = temperature_probabilities(sweep | {"best_loss": {"temperature": 0.1}})
    >>> chart.data["name"].unique(maintain_order=True).to_list()
    ['sharp', 'medium', 'smooth']
    """
    found = read_sweep(sweep)
    chosen, note = three(found)
    candidates, softmax = found.count("candidates"), softmax_said(found)
    rows: list[dict[str, Any]] = []
    for name, row in chosen.items():
        shares = row.numbers("probabilities")[:candidates]
        if not shares:
            raise InputError(f"{row.called} has no probabilities of ranks; make the sweep again.")
        bars = [(rank, rank, share) for rank, share in enumerate(shares, 1)]
        if candidates > len(shares):
            bars.append((len(shares) + 1, candidates, max(0.0, 1 - sum(shares))))
        rows += [
            {
                "name": name,
                "temperature": temperature_of(row),
                "entropy": row.number("entropy"),
                "rank_from": first,
                "rank_to": last,
                "probability": share,
                "softmax": softmax,
                "said": note,
            }
            for first, last, share in bars
        ]
    return draw_temperature_probabilities(
        pl.DataFrame(rows, infer_schema_length=None), Canvas.of(design)
    )


@draws("temperature-probabilities")
def draw_temperature_probabilities(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    shown = table.partition_by("name", maintain_order=True)
    columns = canvas.columns(len(shown), 210)
    rows = -(-len(shown) // columns)
    width = canvas.across(PROBABILITIES_WIDTH, beside=50, panels=columns, gap=PANEL_GAP)
    height = canvas.down(220, below=BELOW + 40, panels=rows, gap=PANEL_GAP)
    panels = []
    for place, part in enumerate(shown):
        bars = _probability_layers(part, canvas.theme, first=place % columns == 0)
        heading = _heading(part, "", offset=2)
        heading["subtitle"] = f"entropy {part['entropy'][0]:.3g}"
        panels.append({"title": heading, **layers(*bars, width=width, height=height)})
    rest = table.filter(pl.col("rank_to") > pl.col("rank_from"))
    others = [
        f"The last bars are all other items together, from rank {first:,} down."
        for first in rest["rank_from"][:1]
    ]
    notes = [table["softmax"][0], *others, table["said"][0]]
    parts = {"concat": panels, "columns": columns, "spacing": PANEL_GAP}
    title = "Mean probability of the items at the first ranks"
    return title, notes, parts


def _probability_layers(part: pl.DataFrame, theme: Theme, *, first: bool) -> list[dict[str, Any]]:
    name = part["name"][0]
    place = {
        "calculate": "datum.rank_to > datum.rank_from ? 'rest' : '' + datum.rank_from",
        "as": "place",
    }
    only = [keep_rows("name", name), place]
    x = name_axis("rank", "place", axis={"labelAngle": 0}) | {"type": "ordinal"}
    # Above a bar that reaches 1 there is room for its number.
    y = share_axis("mean probability" if first else "", "probability", top=1.1)
    y["axis"] = {"values": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    tooltip = [{"field": field} for field in ("rank_from", "rank_to")] + [
        {"field": "probability", "format": ".4f"}
    ]
    shade = when("datum.place == 'rest'", theme.muted, theme.series[0])
    bars = layer(mark("bar"), encode(x=x, y=y, color=shade, tooltip=tooltip), transform=only)
    # The first number begins, and the last one ends, with its bar: neither lies on an axis.
    numbers = [
        layer(
            mark("text", baseline="bottom", align=align, dx=dx, dy=-3),
            encode(x=x, y=y, text={"field": "probability", "format": ".2~g"}),
            transform=[*only, {"filter": test}],
        )
        for test, align, dx in (
            ("datum.rank_from == 1", "left", -8),
            ("datum.place == 'rest'", "right", 10),
        )
    ]
    return [bars, *numbers]


def _heading(part: pl.DataFrame, more: str, *, offset: int) -> dict[str, Any]:
    text = f"{part['name'][0]}: {written(part['temperature'][0])}{more}"
    return {"text": text, "fontSize": 13, "anchor": "start", "frame": "group", "offset": offset}


# -- temperature reliability

RELIABILITY_WIDTH = 230


@takes_design()
def temperature_reliability(sweep: Sweep | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """Draw the probability of the top item against how often it is relevant.

    >>> bins = [{"from": 0.5, "to": 1.0, "count": 4.0, "confidence": 0.75, "accuracy": 0.5}]
    >>> row = {"calibration_error": 0.25, "bins": bins}
    >>> sweep = {"what": "temperature sweep", "softmax": "batch", "candidates": 4, "queries": 4}
    >>> sweep |= {"similarity": "cosine"}
    >>> sweep["temperatures"] = [{"temperature": at, **row} for at in (0.01, 0.1, 1.0)]
    >>> chart = temperature_reliability(sweep | {"best_loss": {"temperature": 0.1}})
    >>> chart.data.select("name", "score", "share_relevant").row(0)
    ('sharp', 0.75, 0.5)
    """
    found = read_sweep(sweep)
    chosen, note = three(found)
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
            "said": note,
        }
        for name, row in chosen.items()
        for each in row.records("bins")
        if each.count("count")
    ]
    if not rows:
        raise InputError(
            "the temperature sweep has no query in any bin of confidence; make it again."
        )
    return draw_temperature_reliability(
        pl.DataFrame(rows, infer_schema_length=None), Canvas.of(design)
    )


@draws("temperature-reliability", width=3 * (RELIABILITY_WIDTH + 40))
def draw_temperature_reliability(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    most = int(table["count"].max())  # type: ignore[arg-type]
    shown = table.partition_by("name", maintain_order=True)
    columns = canvas.columns(len(shown), 220)
    rows = -(-len(shown) // columns)
    width = canvas.across(RELIABILITY_WIDTH, beside=60, panels=columns, gap=PANEL_GAP)
    height = canvas.down(220, below=BELOW_MAIN + 26, panels=rows, gap=PANEL_GAP)
    panels = []
    for part in shown:
        drawn = diagram(
            canvas.theme,
            score="confidence in the top item",
            share="top items that are relevant",
            results="queries",
            only=keep_rows("name", part["name"][0]),
            width=width,
            height=height,
            most=most,
        )
        error = f", ECE {part['calibration_error'][0]:.3f}"
        panels.append({"title": _heading(part, error, offset=8), **drawn})
    notes = [
        "Points on the dashed line can be believed; above it confidence is too low, below it too "
        "high. ECE is the mean gap.",
        table["softmax"][0],
        table["said"][0],
    ]
    title = "Confidence in the top item, and how often it is relevant"
    parts = {"concat": panels, "columns": columns, "spacing": PANEL_GAP}
    return title, notes, parts


# -- temperature study

STUDY_CURVES = (
    ("loss", "held-out", "loss"),
    ("loss", "training", "training_loss"),
    ("of the top item", "confidence", "confidence"),
    ("of the top item", "accuracy", "accuracy"),
    ("alignment", "alignment", "alignment"),
    ("uniformity", "uniformity", "uniformity"),
    ("iterations", "to the best", "best_iteration"),
    ("iterations", "to the end", "iterations"),
)
"""Panel, curve, and the name of its numbers in a study; panels of measures come first."""
OF_VECTORS = ("alignment", "uniformity")
"""Numbers that depend on vectors alone, so that the untrained similarity has them to compare
with."""
STUDY_WIDTH, ROW_GAP = 250, 18


@takes_design()
def temperature_study(study: Study | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """Draw what a similarity has learned at each of several training temperatures.

    >>> row = {"training_loss": 0.1, "loss": 0.5, "alignment": 0.3, "uniformity": -2.0}
    >>> row |= {"confidence": 0.9, "accuracy": 0.95, "iterations": 9, "best_iteration": 4}
    >>> row |= {"temperature": 0.05, "measures": {"AP": {"estimate": 0.8, "low": 0.7, "high": 0.9}}}
    >>> row |= {"differences": {"AP": {"estimate": 0.1, "low": 0.05, "high": 0.15}}}
    >>> queries = {"training": 60, "validation": 20, "held_out": 20}
    >>> study = {"what": "temperature study", "kind": "diagonal", "measures": ["AP"], "level": 0.95}
    >>> chart = temperature_study(study | {"notes": [], "queries": queries, "rows": [row]})
    >>> chart.data.filter(panel="AP").select("temperature", "value", "differs").rows()
    [(0.05, 0.8, True)]
    """
    found = Record.of(
        study,
        what="temperature study",
        how="judged.temperature.sweep(train=True) or `judged temperature --train … -o FILE.json`",
    )
    rows = found.records("rows")
    listed: list[dict[str, Any]] = []
    for measure in found.texts("measures"):
        listed += [_measured(row, measure) for row in rows]
    for panel, curve, field in STUDY_CURVES:
        listed += [
            {
                "panel": panel,
                "curve": curve,
                "temperature": _trained(row),
                "value": row.number_or_none(field),
            }
            for row in rows
            if _trained(row) is not None or field in OF_VECTORS
        ]
    at = [trained for row in rows if (trained := _trained(row)) is not None]
    if not at or any(left >= right for left, right in pairwise(at)):
        raise InputError(
            "the temperature study must have training temperatures, each above the one before; "
            "make it again."
        )
    queries = found.record("queries")
    constant = {
        "similarity": found.text("kind"),
        "level": found.number("level"),
        **{name: queries.count(name) for name in ("training", "validation", "held_out")},
        "said": " ".join(found.texts("notes")),
    }
    columns = {"panel": pl.String, "curve": pl.String, "temperature": pl.Float64}
    columns |= {"measure": pl.Boolean, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    columns |= {"differs": pl.Boolean}
    plain = {"measure": False, "low": None, "high": None, "differs": None}
    table = pl.DataFrame(
        [{**plain, **row} for row in listed if row["value"] is not None], schema=columns
    )
    table = table.with_columns(**{name: pl.lit(value) for name, value in constant.items()})
    return draw_temperature_study(table, Canvas.of(design))


def _trained(row: Record) -> float | None:
    return None if row.number_or_none("temperature") is None else temperature_of(row)


def _measured(row: Record, measure: str) -> dict[str, Any]:
    value = row.record("measures").record(measure)
    differs = None
    if (at := _trained(row)) is not None and (
        differences := row.record_or_none("differences")
    ) is not None:
        ends = [differences.record(measure).number_or_none(end) for end in ("low", "high")]
        differs = None if None in ends else bool(ends[0] > 0 or ends[1] < 0)  # type: ignore[operator]
    bounds = {end: value.number_or_none(end) for end in ("low", "high")}
    estimate = value.number("estimate")
    return {
        "panel": measure,
        "curve": measure,
        "temperature": at,
        "measure": True,
        "value": estimate,
        **bounds,
        "differs": differs,
    }


@draws("temperature-study", width=2 * STUDY_WIDTH + 260)
def draw_temperature_study(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    chosen = canvas.theme
    at = table["temperature"].drop_nulls()
    low, high = float(at.min()), float(at.max())  # type: ignore[arg-type]
    room = (high / low) ** 0.05
    x = temperature_axis(low / room, high * room, title="training temperature", most=5)
    shown = table.partition_by("panel", maintain_order=True)
    columns = canvas.columns(2, 280)
    rows = -(-len(shown) // columns)
    curved = table.filter(pl.col("curve").n_unique().over("panel") > 1)["curve"]
    frame = canvas.frame(
        STUDY_WIDTH, 130, curved, panels=columns, gap=PANEL_GAP, rows=rows, row_gap=ROW_GAP
    )
    panels = [
        _study_measure(part, x, chosen, frame)
        if part["measure"][0]
        else _study_curves(part, x, canvas, frame)
        for part in shown
    ]
    percent = f"{table['level'][0] * 100:.4g}%"
    against = (
        "; the band is that of the untrained similarity. Filled points differ from it, query "
        "by query"
    )
    notes = [
        f"Similarity {table['similarity'][0]}, trained with "
        f"{counted(table['training'][0], 'query', 'queries')} and stopped by "
        f"{table['validation'][0]:,}. All but training loss and iterations is of "
        f"{table['held_out'][0]:,} held-out queries.",
        f"Bars are {percent} intervals of the "
        f"mean{against if table['temperature'].null_count() else ''}.",
        table["said"][0],
    ]
    title = "What the temperature of training does"
    parts = {
        "concat": panels,
        "columns": columns,
        "spacing": {"row": ROW_GAP, "column": PANEL_GAP},
        "resolve": OWN_LOOKS,
    }
    return title, notes, parts


def _domain(part: pl.DataFrame) -> tuple[float, float]:
    numbers = pl.concat([part[name].drop_nulls() for name in ("value", "low", "high")])
    low, high = float(numbers.min()), float(numbers.max())  # type: ignore[arg-type]
    margin = (high - low) * 0.08 or abs(high) * 0.1 or 0.1
    return low - margin, high + margin


def _study_measure(
    part: pl.DataFrame, x: dict[str, Any], theme: Theme, frame: PlotArea
) -> dict[str, Any]:
    name = part["panel"][0]
    low, high = _domain(part)
    y = share_axis(name, "value", low=low, top=high)
    y["axis"] = {"tickCount": 4}
    only = [keep_rows("panel", name), {"filter": "isValid(datum.temperature)"}]
    shade = theme.series[0]
    bars = layer(
        mark("rule", color=shade, strokeWidth=2, opacity=0.6),
        encode(x=x, y={**y, "field": "low"}, y2={"field": "high"}),
        transform=[*only, {"filter": "isValid(datum.low)"}],
    )
    line = layer(mark("line", color=shade, strokeWidth=1.6), encode(x=x, y=y), transform=only)
    tooltip = [{"field": field} for field in ("temperature", "value", "low", "high", "differs")]
    points = layer(
        mark("point", filled=True, size=45, stroke=shade, strokeWidth=1.6, opacity=1),
        encode(x=x, y=y, fill=when("datum.differs", shade, theme.background), tooltip=tooltip),
        transform=only,
    )
    drawn = [*_untrained(part, y, theme, frame.width), bars, line, points]
    return frame.layers(*drawn)


def _untrained(
    part: pl.DataFrame, y: dict[str, Any], theme: Theme, width: int
) -> list[dict[str, Any]]:
    rows = part.filter(pl.col("temperature").is_null()).select("value", "low", "high").to_dicts()
    if not rows:
        return []
    values = [{**rows[0], "words": "untrained"}]
    dashed = mark("rule", color=theme.muted, strokeDash=[4, 3], strokeWidth=1.4)
    line = layer(dashed, encode(y=y), values=values)
    name = layer(
        mark("text", align="left", dx=6, color=theme.muted, fontWeight="bold"),
        encode(x={"value": width}, y=y, text={"field": "words"}),
        values=values,
    )
    band = layer(
        mark("rect", color=theme.muted, opacity=0.18),
        encode(x={"value": 0}, x2={"value": width}, y={**y, "field": "low"}, y2={"field": "high"}),
        values=values,
    )
    known = rows[0]["low"] is not None and rows[0]["high"] is not None
    return [band, line, name] if known else [line, name]


def _study_curves(
    part: pl.DataFrame, x: dict[str, Any], canvas: Canvas, frame: PlotArea
) -> dict[str, Any]:
    low, high = _domain(part)
    bounds = {"of the top item": (0.0, 1.0), "iterations": (0.0, high)}
    y, lines = _curve_panel(part, bounds.get(part["panel"][0], (low, high)), x, canvas, frame)
    return frame.layers(*_untrained(part, y, canvas.theme, frame.width), *lines)
