"""How far ties and unjudged results could move each number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from judged.charts.canvas import Canvas, Design, number_axis, widest
from judged.charts.chart import Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.sources import Source, Systems, asked
from judged.errors import InputError
from judged.evaluation.scores import TIE_ORDERS, UNJUDGED_ENDS
from judged.measures import parse_all
from judged.rankings.audit import Audit

if TYPE_CHECKING:
    from judged.options import MeasuresLike

KIND = "ranges"
DEFAULT = ("AP", "nDCG@10")
SPACING = 30  # pixels between panels
RANGE = 164  # pixels of a range in words


@takes_design(measures="By default AP and nDCG@10.")
def ranges(
    source: Source, *, measures: MeasuresLike | None = None, **design: Unpack[Design]
) -> Chart:
    """Each number with its range over the orders of ties, and over what unjudged results may be.

    >>> import judged
    >>> evaluation = judged.evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR")
    >>> ranges(evaluation, measures="RR").data.select("reason", "low", "high").rows()
    [('ties', 0.5, 1.0), ('unjudged', 0.5, 1.0)]
    """
    systems = Systems.of(source)
    open_ended = all(each.unjudged != "removed" for each in systems.rankings)
    ties_known = all(each.hit_tie_first is not None for each in systems.rankings)
    evaluation = systems.evaluate(
        parse_all(DEFAULT if measures is None else measures),
        tie_range=ties_known,
        unjudged_range=open_ended,
    )
    rows: list[tuple[Any, ...]] = []
    for measure in evaluation.measures:
        for run in evaluation.runs:
            facts = (evaluation.label(measure), run.name, len(run.rankings), run.summary[measure])
            if ties_known:
                worst, expected, best = (run.others[name].summary[measure] for name in TIE_ORDERS)
                rows.append((*facts, "ties", min(worst, best), expected, max(worst, best)))
            hits = len(evaluation.rankings[run.name].hit_rank)
            complete = hits >= run.rankings.retrieved.sum() or _complete(run.audit)
            if open_ended and not complete:
                ends = [run.others[name].summary[measure] for name in UNJUDGED_ENDS]
                rows.append((*facts, "unjudged", min(ends), None, max(ends)))
    if endless := [
        f"{row[0]} of {row[1]}" for row in rows if not np.isfinite([row[5], row[7]]).all()
    ]:
        raise InputError(
            f"{endless[0]} may be infinite, so there is no range to draw; take another measure or "
            "policy."
        )
    if not rows:
        raise InputError(
            "these rankings know nothing of ties, and all their results are judged: there is no "
            "range to show."
        )
    names = ("measure", "run", "queries", "value", "reason", "low", "expected", "high")
    types: dict[str, Any] = {
        "measure": pl.String,
        "run": pl.String,
        "reason": pl.String,
        "queries": pl.Int64,
    }
    table = pl.DataFrame(
        rows, schema={name: types.get(name, pl.Float64) for name in names}, orient="row"
    )
    return draw(table, **design, sentences=systems.sentences())


def _complete(audit: Audit) -> bool:
    """Whether every result is known to be relevant or not, as with labels of embeddings."""
    return audit.judged_results >= audit.results > 0


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    measures = table.partition_by("measure", maintain_order=True)
    panels = [_panel(part, canvas, len(measures)) for part in measures]
    reasons = table["reason"].unique(maintain_order=True).to_list()
    who, each = asked(table)
    notes = [
        f"The line is the value that is reported, over {who}{each}.",
        "Bars of ties: from the worst order of tied results to the best, or at least so far where "
        "there are too many orders to try; the dot is the mean over all of them."
        if "ties" in reasons
        else "",
        "Bars of unjudged: if all unjudged results were irrelevant, or of the top grade; for AP, "
        "nDCG and others that depend on how much there is to find, two scenarios and no bounds."
        if "unjudged" in reasons
        else "",
        *sentences,
    ]
    names = " and ".join(table["measure"].unique(maintain_order=True).to_list())
    title = f"How far ties and unjudged results could move {names}"
    return chart(KIND, table, canvas, title, notes, {"vconcat": panels, "spacing": SPACING})


def _panel(part: pl.DataFrame, canvas: Canvas, panels: int) -> dict[str, Any]:
    chosen = canvas.theme
    measure = part["measure"][0]
    most = 180 if canvas.width is None else max(60, int(canvas.width * 0.3))
    names = min(most, widest(part["run"], size=11))
    y = {
        "field": "run",
        "type": "nominal",
        "title": None,
        "sort": None,
        "axis": {"labelLimit": most, "labelPadding": 6},
    }
    offset = {"field": "reason", "type": "nominal", "sort": None}
    low, high = float(part["low"].min()), float(part["high"].max())  # type: ignore[arg-type]
    margin = (high - low) * 0.05 or 0.05
    x = number_axis(
        measure,
        "low",
        scale={"domain": [low - margin, high + margin], "zero": False, "nice": False},
    )
    only = {"filter": {"field": "measure", "equal": measure}}
    colour = {
        "condition": {"test": "datum.reason == 'ties'", "value": chosen.series[0]},
        "value": chosen.series[1],
    }
    tooltip = [{"field": name} for name in ("run", "reason", "low", "value", "expected", "high")]
    bars = {
        "transform": [only],
        "mark": {"type": "bar", "height": 9, "cornerRadius": 2},
        "encoding": {
            "y": y,
            "yOffset": offset,
            "x": x,
            "x2": {"field": "high"},
            "color": colour,
            "tooltip": tooltip,
        },
    }
    # A range of no width would not be seen.
    ends = {
        "transform": [only],
        "mark": {"type": "tick", "thickness": 2, "height": 9},
        "encoding": {"y": y, "yOffset": offset, "x": x, "color": colour},
    }
    expected = {
        "transform": [only, {"filter": "isValid(datum.expected)"}],
        "mark": {
            "type": "point",
            "filled": True,
            "size": 40,
            "color": chosen.background,
            "stroke": chosen.ink,
            "opacity": 1,
        },
        "encoding": {"y": y, "yOffset": offset, "x": {**x, "field": "expected"}},
    }
    values = {
        "transform": [only],
        "mark": {"type": "tick", "thickness": 2.5, "height": 20, "color": chosen.ink},
        "encoding": {"y": y, "yOffset": offset, "x": {**x, "field": "value"}},
    }
    labels = {
        "transform": [
            only,
            {
                "calculate": (
                    "datum.reason + ': ' + format(datum.low, '.4f') + ' to ' + "
                    "format(datum.high, '.4f')"
                ),
                "as": "words",
            },
        ],
        "mark": {"type": "text", "align": "left", "dx": 8, "baseline": "middle"},
        "encoding": {
            "y": y,
            "yOffset": offset,
            "x": {"value": "width"},
            "text": {"field": "words"},
        },
    }
    low_row = canvas.down(27 * part.height, panels=panels, gap=SPACING)
    return layers(
        *(bars, ends, expected, values, labels),
        width=canvas.across(340, beside=names + 24 + RANGE),
        height=max(60, low_row),
    )
