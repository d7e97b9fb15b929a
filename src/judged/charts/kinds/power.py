"""How often a difference is shown as the number of queries grows, for some differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from judged.charts.canvas import Canvas, Design, number_axis, share_axis
from judged.charts.chart import HEIGHT, WIDTH, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import curves
from judged.charts.svg import Theme
from judged.charts.sweep import Record
from judged.comparison.plan.power import MAX_QUERIES, PowerAnalysis
from judged.comparison.plan.result import share, shown_number, size
from judged.errors import InputError

if TYPE_CHECKING:
    from judged.comparison.plan.result import Plan

KIND = "power"
POINTS = 60  # numbers of queries at which power is worked out
BEYOND = 2  # how many times as far as the plan's own number of queries the curves go


@takes_design()
def power(plan: Plan | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """How often a difference is shown as queries grow, for some differences, with the plan's point.

    >>> import judged
    >>> table = power(judged.plan(difference=0.02, sd=0.1)).data
    >>> table.filter(curve="0.02", queries=199)["power"].round(4).to_list()
    [0.8017]
    """
    found = Record.of(plan, what="plan", how="judged.plan or `judged plan … -o FILE.json`")
    terms = PowerAnalysis(
        level=_within(found, "level", 1e-9, 1 - 1e-9),
        comparisons=int(_within(found, "comparisons", 1, 1e6)),
        margin=found.number_or_none("margin"),
        per_unit=_within(found, "per_unit", 1, 1e6),
    )
    _within(found, "tested_level", 1e-9, 1 - 1e-9)
    planned = int(_within(found, "queries", terms.queries(terms.floor), MAX_QUERIES))
    sds = [found.number("sd"), *map(found.number_or_none, ("sd_low", "sd_high"))]
    known = [sd for sd in sds if sd is not None]
    if min(known) <= 0:
        raise InputError(f"the plan: 'sd' must be above 0; got {min(known):g}.")
    rows = found.records("differences")
    marked = [at for at, row in enumerate(rows) if row.flag("asked")] or [len(rows) // 2]
    listed: list[dict[str, Any]] = []
    for at, row in enumerate(rows):
        difference = row.number("difference")
        for queries in _along(terms, planned):
            power, *ends = (terms.power(sd, difference, queries / terms.per_unit) for sd in known)
            low, high = sorted(ends) if len(ends) == 2 else (None, None)
            listed.append(
                {
                    "curve": _name(difference, terms),
                    "difference": difference,
                    "queries": queries,
                    "power": power,
                    "power_low": low,
                    "power_high": high,
                    "asked": at == marked[0],
                }
            )
    if not listed:
        raise InputError("the plan has no differences to show; make it again.")
    pilot = found.record_or_none("pilot")
    named = pilot is not None and pilot.fields.get("measure") is not None
    constant = {
        "planned": planned,
        "margin": terms.margin,
        "level": terms.level,
        "measure": pilot.text("measure") if pilot is not None and named else None,
        "said": "\n".join(found.texts("says")),
    }
    types = {"margin": pl.Float64, "measure": pl.String}
    table = pl.DataFrame(
        listed,
        schema_overrides={"power_low": pl.Float64, "power_high": pl.Float64},
        infer_schema_length=None,
    )
    table = table.with_columns(
        **{name: pl.lit(value, dtype=types.get(name)) for name, value in constant.items()}
    )
    return draw(table, **design)


def _within(found: Record, name: str, low: float, high: float) -> float:
    value = found.number(name)
    if not low <= value <= high:
        raise InputError(f"the plan: {name!r} must be from {low:g} to {high:.10g}; got {value:g}.")
    return value


def _along(terms: PowerAnalysis, planned: int) -> list[int]:
    """Numbers of queries, evenly from the fewest that say anything, with the plan's own."""
    first, last = terms.queries(terms.floor), max(BEYOND * planned, 4 * terms.queries(terms.floor))
    return sorted({*np.linspace(first, last, POINTS).round().astype(int).tolist(), planned})


def _name(difference: float, terms: PowerAnalysis) -> str:
    """What a curve is called: a difference; with a margin, how good the system truly is."""
    if terms.margin is None:
        return size(difference)
    return "as good" if difference == 0 else f"{'+' if difference > 0 else ''}{size(difference)}"


def draw(table: pl.DataFrame, **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    names = table["curve"].unique(maintain_order=True).to_list()
    frame = canvas.frame(WIDTH, HEIGHT, names)
    x = number_axis(
        "queries",
        "queries",
        scale={"domain": [0, int(table["queries"].max())], "nice": False},  # type: ignore[arg-type]
        axis={"format": ",d", "tickCount": 6},
    )
    y = share_axis("power", "power")
    own = table.filter(pl.col("asked") & (pl.col("queries") == pl.col("planned")))
    lines = curves(table, "curve", x=x, y=y, canvas=canvas, frame=frame)
    banded = bool(own["power_low"].is_not_null().all())
    theme = canvas.theme
    band = {
        "transform": [{"filter": "datum.asked"}],
        "mark": {"type": "area", "color": theme.fill, "opacity": 0.8},
        "encoding": {"x": x, "y": {**y, "field": "power_low"}, "y2": {"field": "power_high"}},
    }
    parts = [*([band] if banded else []), *lines, *_marked(own, x, y, theme)]
    margin, measure = table["margin"][0], table["measure"][0]
    of = "" if measure is None else f"{measure}: "
    what = (
        "how often a difference is shown"
        if margin is None
        else f"how often a system is shown to be no worse by {size(margin)} or more"
    )
    notes = [
        "Each curve is a true difference."
        if margin is None
        else "Each curve is a system that truly differs by so much.",
        f"The band is where the curve of {own['curve'][0]} may lie, as the standard deviation is "
        "known from the pilot only."
        if banded
        else "",
        *table["said"][0].split("\n"),
    ]
    title = f"{of}{what}"
    return chart(
        KIND,
        table,
        canvas,
        title[0].upper() + title[1:] if measure is None else title,
        notes,
        layers(*parts, width=frame.width, height=frame.height),
        unseen=("said",),
        words=_words,
    )


def _words(row: dict[str, Any]) -> str:
    return f"{row['curve']}, {shown_number(row['queries'])} queries: power {share(row['power'])}"


def _marked(
    own: pl.DataFrame, x: dict[str, Any], y: dict[str, Any], theme: Theme
) -> list[dict[str, Any]]:
    at = {"queries": int(own["queries"][0]), "power": float(own["power"][0])}
    values = {"data": {"values": [{**at, "words": f"{at['queries']:,} queries"}]}}
    rule = {"type": "rule", "color": theme.ink, "strokeDash": [4, 3], "strokeWidth": 1.2}
    low = at["power"] < 0.2
    return [
        {**values, "mark": rule, "encoding": {"x": x, "y": y, "y2": {"datum": 0}}},
        {**values, "mark": rule, "encoding": {"y": y, "x": x, "x2": {"datum": 0}}},
        {
            **values,
            "mark": {"type": "point", "filled": True, "size": 80, "color": theme.ink, "opacity": 1},
            "encoding": {"x": x, "y": y},
        },
        {
            **values,
            "mark": {
                "type": "text",
                "align": "left",
                "dx": 8,
                "dy": -40 if low else 14,
                "fontWeight": "bold",
                "color": theme.ink,
            },
            "encoding": {"x": x, "y": y, "text": {"field": "words"}},
        },
    ]
