"""How sharp or smooth probabilities are: what the first ranks have of them at three temperatures,
and what all others have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from judged.charts.canvas import BELOW, Canvas, Design, share_axis
from judged.charts.chart import Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.svg import Theme
from judged.charts.sweep import read_sweep, softmax_said, temperature_of, three, written
from judged.errors import InputError

if TYPE_CHECKING:
    from judged.learning.temperature import Sweep

KIND = "temperature-probabilities"
WIDTH, HEIGHT = 240, 220
NARROW, GAP, HEADING = 210, 24, 40
"""Pixels that a panel needs at least, between two, and of the words above each."""


@takes_design()
def temperature_probabilities(
    sweep: Sweep | Mapping[str, Any],
    *,
    temperatures: Sequence[float] | None = None,
    **design: Unpack[Design],
) -> Chart:
    """The mean probability of the items at the first ranks, at three temperatures.

    >>> row = {"entropy": 0.5, "probabilities": [0.8, 0.2]}
    >>> sweep = {"what": "temperature sweep", "softmax": "corpus", "candidates": 2, "queries": 1}
    >>> sweep |= {"similarity": "cosine"}
    >>> sweep["temperatures"] = [{"temperature": at, **row} for at in (0.01, 0.1, 1.0)]
    >>> chart = temperature_probabilities(sweep, temperatures=[0.01, 0.1, 1])
    >>> chart.data["name"].unique(maintain_order=True).to_list()
    ['sharp', 'medium', 'smooth']
    """
    found = read_sweep(sweep)
    chosen = three(found, temperatures)
    candidates, softmax = found.count("candidates"), softmax_said(found)
    rows: list[dict[str, Any]] = []
    for name, row in chosen.rows.items():
        shares = row.numbers("probabilities")[:candidates]
        if not shares:
            raise InputError(f"{row.called} has no probabilities of ranks; make the sweep again.")
        constant = {
            "name": name,
            "temperature": temperature_of(row),
            "entropy": row.number("entropy"),
        }
        more = {"softmax": softmax, "said": chosen.note}
        rows += [
            {**constant, "rank_from": rank, "rank_to": rank, "probability": share, **more}
            for rank, share in enumerate(shares, 1)
        ]
        if candidates > len(shares):
            rest = {
                "rank_from": len(shares) + 1,
                "rank_to": candidates,
                "probability": max(0.0, 1 - sum(shares)),
            }
            rows.append({**constant, **rest, **more})
    return draw(pl.DataFrame(rows, infer_schema_length=None), **design)


def draw(table: pl.DataFrame, **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    shown = table.partition_by("name", maintain_order=True)
    columns = canvas.columns(len(shown), NARROW)
    rows = -(-len(shown) // columns)
    width = canvas.across(WIDTH, beside=50, panels=columns, gap=GAP)
    height = canvas.down(HEIGHT, below=BELOW + HEADING, panels=rows, gap=GAP)
    panels = [
        layers(*_layers(part, canvas.theme, first=place % columns == 0), width=width, height=height)
        | _heading(part)
        for place, part in enumerate(shown)
    ]
    rest = table.filter(pl.col("rank_to") > pl.col("rank_from"))
    others = [
        f"The last bars are all other items together, from rank {first:,} down."
        for first in rest["rank_from"][:1]
    ]
    notes = [table["softmax"][0], *others, table["said"][0]]
    parts = {"concat": panels, "columns": columns, "spacing": GAP}
    title = "Mean probability of the items at the first ranks"
    return chart(KIND, table, canvas, title, notes, parts, width=max(len(panels), 2) * WIDTH)


def _layers(part: pl.DataFrame, theme: Theme, *, first: bool) -> list[dict[str, Any]]:
    name = part["name"][0]
    place = {
        "calculate": "datum.rank_to > datum.rank_from ? 'rest' : '' + datum.rank_from",
        "as": "place",
    }
    only = [{"filter": {"field": "name", "equal": name}}, place]
    x = {
        "field": "place",
        "type": "ordinal",
        "title": "rank",
        "sort": None,
        "axis": {"labelAngle": 0},
    }
    # Above a bar that reaches 1 there is room for its number.
    y = share_axis("mean probability" if first else "", "probability", top=1.1)
    y["axis"] = {"values": [0, 0.2, 0.4, 0.6, 0.8, 1]}
    tooltip = [{"field": field} for field in ("rank_from", "rank_to")] + [
        {"field": "probability", "format": ".4f"}
    ]
    shade = {
        "condition": {"test": "datum.place == 'rest'", "value": theme.muted},
        "value": theme.series[0],
    }
    bars = {
        "transform": only,
        "mark": {"type": "bar"},
        "encoding": {"x": x, "y": y, "color": shade, "tooltip": tooltip},
    }
    # The first number begins, and the last one ends, with its bar: neither lies on an axis.
    numbers = [
        {
            "transform": [*only, {"filter": test}],
            "mark": {"type": "text", "baseline": "bottom", "align": align, "dx": dx, "dy": -3},
            "encoding": {"x": x, "y": y, "text": {"field": "probability", "format": ".2~g"}},
        }
        for test, align, dx in (
            ("datum.rank_from == 1", "left", -8),
            ("datum.place == 'rest'", "right", 10),
        )
    ]
    return [bars, *numbers]


def _heading(part: pl.DataFrame) -> dict[str, Any]:
    heading = {
        "text": f"{part['name'][0]}: {written(part['temperature'][0])}",
        "subtitle": f"entropy {part['entropy'][0]:.3g}",
    }
    look = {"fontSize": 13, "anchor": "start", "frame": "group", "offset": 2}
    return {"title": {**heading, **look}}
