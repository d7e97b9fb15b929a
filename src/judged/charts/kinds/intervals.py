"""Values and differences with intervals, ranges of ties and unjudged results, and power."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from judged.charts.canvas import (
    HEIGHT,
    WIDTH,
    Canvas,
    Design,
    encode,
    keep_rows,
    labels,
    layer,
    layers,
    mark,
    name_axis,
    number_axis,
    share_axis,
    when,
    widest,
)
from judged.charts.chart import Chart, Drawing, draws
from judged.charts.kinds import takes_design
from judged.charts.lines import IntervalRow, curves, panels, room_for
from judged.charts.sources import (
    SAID,
    Source,
    Systems,
    asked,
    comparison_of,
    in_groups,
    number,
    signed,
    terms,
)
from judged.charts.svg import Theme
from judged.charts.sweep import Record
from judged.comparison.comparison import Comparison
from judged.comparison.export import method_line
from judged.comparison.power import PowerAnalysis
from judged.comparison.settings import MAX_QUERIES
from judged.comparison.wording import percent_of, share, shown_number, size
from judged.errors import InputError
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.scores import TIE_ORDERS, UNJUDGED_ENDS
from judged.evaluation.trusted import refuse_corrected
from judged.measures import parse_all
from judged.options import LEVEL
from judged.statistics.t import below
from judged.text import listed

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.comparison.plan import Plan
    from judged.options import MeasuresLike
    from judged.statistics.intervals import Interval


# -- forest

LOWER = " (lower is better)"
FLOATS = (
    *("value", "against_value", "difference", "low", "high"),
    *("p", "corrected_p", "level", "margin"),
)
TYPES: dict[str, Any] = {  # of columns that may hold nothing but nulls
    **dict.fromkeys(FLOATS, pl.Float64),
    **dict.fromkeys(("method", "note"), pl.String),
    "groups": pl.Int64,
}
FEW = 3  # so many verdicts are said above the chart; more are read from it


@takes_design()
def forest(comparison: Comparison, **design: Unpack[Design]) -> Chart:
    """Draw the difference of each pair of systems, with its confidence interval and verdict.

    >>> import judged
    >>> values = {"old": {str(q): q / 20 for q in range(9)}, "new": {str(q): 0.9 for q in range(9)}}
    >>> chart = forest(judged.compare_values(values, measure_name="quality"))
    >>> chart.data.select("run", "against", "verdict").rows()
    [('new', 'old', 'better')]
    """
    given = comparison_of(comparison)
    panels = _panels(given)
    rows = [
        {
            "panel": panels[row.measure],
            "measure": row.measure,
            "run": row.run,
            "against": row.against,
            "higher_is_better": given.measure(row.measure).higher_is_better,
            "queries": row.queries,
            "groups": row.groups,
            "value": row.value,
            "against_value": row.against_value,
            "difference": row.difference,
            "low": row.interval.low,
            "high": row.interval.high,
            "method": row.interval.method,
            "p": row.p,
            "corrected_p": row.corrected_p,
            "level": given.settings.level,
            "margin": given.settings.margin_of(row.measure),
            "verdict": row.verdict,
            "negligible": row.negligible,
            "depends_on": ", ".join(row.depends_on),
            "says": row.says,
            "note": row.interval.note,
        }
        for row in given.rows
    ]
    room_for(len(rows), "name a baseline, or compare fewer runs or measures")
    table = pl.DataFrame(rows, schema_overrides=TYPES, infer_schema_length=None)
    table = table.with_columns(pl.col(pl.Float64).fill_nan(None))
    notes = [method_line(comparison), *terms(comparison)]
    return draw_forest(table, Canvas.of(design), notes, baseline=comparison.reference)


def _panels(comparison: Comparison) -> dict[str, int]:
    """Return the number of each measure's panel: its own, or with one pair that of its range."""
    measures = comparison.numbers.measures
    if len(comparison.rows) > len(measures):
        return {each.name: at for at, each in enumerate(measures)}
    keys = [
        tuple(each.range) if math.isfinite(each.range[0] + each.range[1]) else each.name
        for each in measures
    ]
    order = list(dict.fromkeys(keys))
    return {each.name: order.index(key) for each, key in zip(measures, keys, strict=True)}


def _forest_words(row: dict[str, Any]) -> str:
    pair = f"{row['run']} minus {row['against']}"
    difference = f"{signed(row['difference'])}{_bounds(row, signed)}"
    return f"{row['measure']}, {pair}: {difference}, {row['verdict']}"


@draws("forest", width=560, unseen=SAID, words=_forest_words)
def draw_forest(table: pl.DataFrame, canvas: Canvas, baseline: str | None) -> Drawing:
    chosen = canvas.theme
    names = labels([*table["run"], *table["against"], *table["measure"]])
    pairs = table.select("run", "against").unique(maintain_order=True).rows()
    numbered = table.with_row_index("number")
    parts = [
        (
            _forest_axis(part, names, len(pairs), baseline),
            _forest_rows(part, chosen, names, len(pairs), baseline),
        )
        for part in numbered.partition_by("panel", maintain_order=True)
    ]
    several = table["measure"].n_unique() > 1
    measure = "" if several else f"{table['measure'][0]}: "
    if len(pairs) == 1:
        title = f"{measure}{names[pairs[0][0]]} against {names[pairs[0][1]]}"
        title += ", measure by measure" if several else ""
    else:
        title = f"{measure}{'differences' if measure else 'Differences'} "
        title += "of all pairs" if baseline is None else f"from {names[baseline]}"
    bare = table.filter(pl.col("low").is_null()).height
    notes = [
        *(table["says"] if table.height <= FEW else ()),
        "Each line is the interval of a difference; where it leaves out 0 and the difference "
        "counts among all comparisons, it is better or worse.",
        f"An open mark has no interval, for want of queries that differ or of spread ({bare})."
        if bare
        else "",
        "The shaded band is the margin: differences inside it do not matter."
        if table["margin"].drop_nulls().len()
        else "",
    ]
    return title, notes, panels(parts, canvas=canvas, zero=True)


def _forest_axis(
    part: pl.DataFrame, names: dict[str, str], pairs: int, baseline: str | None
) -> str:
    against = names[part["against"][0]]
    if pairs == 1:
        return f"{names[part['run'][0]]} minus {against}"
    lower = "" if part["higher_is_better"][0] else LOWER
    what = "first minus second" if baseline is None else f"run minus {against}"
    return f"{names[part['measure'][0]]}{lower}: {what}"


def _forest_rows(
    part: pl.DataFrame, theme: Theme, names: dict[str, str], pairs: int, baseline: str | None
) -> list[IntervalRow]:
    rows = []
    for row in part.rows(named=True):
        shade, shape, sign = theme.verdicts[row["verdict"]]
        if pairs == 1:
            name = names[row["measure"]] + ("" if row["higher_is_better"] else LOWER)
        elif baseline is None:
            name = f"{names[row['run']]} − {names[row['against']]}"
        else:
            name = names[row["run"]]
        rows.append(
            {
                "name": name,
                "value": row["difference"],
                "low": row["low"],
                "high": row["high"],
                "words": signed,
                "shade": shade,
                "shape": shape,
                "says": f"{sign} {_verdict(row)}",
                "margin": row["margin"],
                "number": row["number"],
            }
        )
    return rows


def _verdict(row: dict[str, Any]) -> str:
    said = row["verdict"]
    if row["negligible"]:
        said += ", negligible"
    alone = below(row["p"], row["level"]) and not below(row["corrected_p"], row["level"])
    if alone and said in ("not significant", "equivalent"):
        said += ", would count alone"
    if row["depends_on"]:
        said += f", depends on {row['depends_on']}"
    return str(said)


# -- systems

SCHEMA: dict[str, Any] = {
    "measure": pl.String,
    "higher_is_better": pl.Boolean,
    "run": pl.String,
    "place": pl.Int64,
    "queries": pl.Int64,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "level": pl.Float64,
    "method": pl.String,
    "note": pl.String,
    "rank_low": pl.Int64,
    "rank_high": pl.Int64,
}


@takes_design()
def systems(source: Comparison | Evaluation, **design: Unpack[Design]) -> Chart:
    """Draw the values of systems with their intervals, one panel per measure, the best first.

    >>> import judged
    >>> values = {"old": {str(q): q / 32 for q in range(9)}, "new": {str(q): 0.5 for q in range(9)}}
    >>> systems(judged.compare_values(values)).data.select("run", "value", "rank_low").rows()
    [('new', 0.5, 1), ('old', 0.125, 2)]
    """
    if isinstance(source, Comparison):
        rows = _of_comparison(source)
    elif isinstance(source, Evaluation):
        refuse_corrected(source, "charts")
        rows = _of_evaluation(source)
    else:
        raise InputError("this chart is made from a comparison or an evaluation; got neither.")
    room_for(len(rows), "show fewer systems or measures")
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    table = table.with_columns(pl.col("value", "low", "high").fill_nan(None))
    if isinstance(source, Comparison):
        return draw_systems(table, Canvas.of(design), terms(source))
    grouped = [in_groups(len(set(source.groups.values())))] if source.groups is not None else []
    notes = [*grouped, *Systems.of(source).sentences()]
    return draw_systems(table, Canvas.of(design), notes)


def _of_comparison(given: Comparison) -> list[tuple[Any, ...]]:
    rows = []
    for measure in given.numbers.measures:
        for place in given.leaderboard(measure.name):
            queries = len(given.numbers.entry(measure, place.run).place)
            rows.append(
                (
                    *(measure.name, measure.higher_is_better, place.run),
                    *(given.runs.index(place.run), queries, place.value),
                    *_ends(given.interval(measure.name, place.run), given.settings.level),
                    *(place.rank_low, place.rank_high),
                )
            )
    return rows


def _of_evaluation(given: Evaluation) -> list[tuple[Any, ...]]:
    rows = []
    level = given.level or LEVEL
    for measure in given.measures:
        higher = measure.spec.higher_is_better
        values = np.array([run.summary[measure] for run in given.runs])
        # The best first; NaN comes last in both orders.
        for at in np.argsort(-values if higher else values, kind="stable").tolist():
            run = given.runs[at]
            queries = int((run.values[measure] == run.values[measure]).sum())
            rows.append(
                (
                    *(given.label(measure), higher, run.name, at, queries, run.summary[measure]),
                    *_ends(given.interval(measure, run.name), level),
                    *(None, None),
                )
            )
    return rows


def _ends(found: Interval, level: float) -> tuple[Any, ...]:
    return found.low, found.high, level, found.method, found.note


def _system_words(row: dict[str, Any]) -> str:
    return f"{row['run']}, {row['measure']}: {number(row['value'])}{_bounds(row, number)}"


def _bounds(row: dict[str, Any], words: Callable[[float | None], str]) -> str:
    known = row["low"] is not None and row["high"] is not None
    return f" ({words(row['low'])} to {words(row['high'])})" if known else ""


@draws("systems", width=560, unseen=("note",), words=_system_words)
def draw_systems(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    names = labels([*table["run"], *table["measure"]])
    ranked = table["rank_low"].drop_nulls().len() > 0
    placed = table.sort("place")["run"].unique(maintain_order=True).to_list()
    looks = canvas.look(placed)
    shades = {run: colour for run, (colour, _) in zip(placed, looks, strict=True)}
    parts = []
    for part in table.with_row_index("number").partition_by("measure", maintain_order=True):
        rows = [
            {
                "name": names[row["run"]],
                "value": row["value"],
                "low": row["low"],
                "high": row["high"],
                "words": number,
                "shade": shades[row["run"]],
                "says": _ranks(row["rank_low"], row["rank_high"]),
                "number": row["number"],
            }
            for row in part.rows(named=True)
        ]
        lower = "" if part["higher_is_better"][0] else LOWER
        title = f"{names[part['measure'][0]]}{lower}"
        parts.append((title, rows))
    measures = table["measure"].unique(maintain_order=True).to_list()
    bare = table.filter(pl.col("low").is_null()).height
    notes = [
        f"Lines are {percent_of(table['level'][0])} intervals of each system alone"
        + (
            "; those of two may overlap where the difference is shown, so look at the differences."
            if table["run"].n_unique() > 1
            else "."
        ),
        "Ranks are those that the comparisons leave open." if ranked else "",
        f"An open mark has no interval: too few queries, no spread, or infinite values ({bare})."
        if bare
        else "",
    ]
    by = listed(measures) if len(measures) < 5 else f"{len(measures)} measures"
    best = ", the best first" if table["run"].n_unique() > 1 else ""
    title = f"{names[table['run'][0]] if not best else 'Systems'} by {by}{best}"
    return title, notes, panels(parts, canvas=canvas)


def _ranks(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return ""
    return f"rank {low:,}" if low == high else f"rank {low:,}–{high:,}"


# -- ranges

SPACING = 30  # pixels between panels
RANGE = 164  # pixels of a range in words


@takes_design(measures="By default AP and nDCG@10.")
def ranges(
    source: Source, *, measures: MeasuresLike | None = None, **design: Unpack[Design]
) -> Chart:
    """Draw each value with its range over orders of ties, and over grades of unjudged results.

    >>> import judged
    >>> evaluation = judged.evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, "RR")
    >>> ranges(evaluation, measures="RR").data.select("reason", "low", "high").rows()
    [('ties', 0.5, 1.0), ('unjudged', 0.5, 1.0)]
    """
    systems = Systems.of(source)
    open_ended = all(
        each.unjudged != "removed" and each.subtopics is None for each in systems.rankings
    )
    ties_known = all(each.hit_tie_first is not None for each in systems.rankings)
    evaluation = systems.evaluate(
        parse_all(("AP", "nDCG@10") if measures is None else measures)
    ).showing(tie_range=ties_known, unjudged_range=open_ended)
    rows: list[tuple[Any, ...]] = []
    for measure in evaluation.measures:
        for run in evaluation.runs:
            facts = (evaluation.label(measure), run.name, len(run.rankings), run.summary[measure])
            if ties_known:
                worst, expected, best = (run.others[name].summary[measure] for name in TIE_ORDERS)
                rows.append((*facts, "ties", min(worst, best), expected, max(worst, best)))
            hits = len(evaluation.rankings[run.name].hit_rank)
            # With labels, every result is known to be relevant or not.
            known = run.audit.judged_results >= run.audit.results > 0
            complete = hits >= run.rankings.retrieved.sum() or known
            if open_ended and not complete:
                ends = [run.others[name].summary[measure] for name in UNJUDGED_ENDS]
                rows.append((*facts, "unjudged", min(ends), None, max(ends)))
    if endless := [
        f"{row[0]} of {row[1]}" for row in rows if not np.isfinite([row[5], row[7]]).all()
    ]:
        raise InputError(
            f"{endless[0]} may be infinite, so its range cannot be drawn; use another measure or "
            "policy."
        )
    if not rows:
        raise InputError(
            "these rankings have no ranges to show: their ties are unknown, and all their results "
            "are judged."
        )
    schema: dict[str, Any] = {"measure": pl.String, "run": pl.String, "queries": pl.Int64}
    schema |= {"value": pl.Float64, "reason": pl.String}
    schema |= dict.fromkeys(("low", "expected", "high"), pl.Float64)
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return draw_ranges(table, Canvas.of(design), systems.sentences())


@draws("ranges")
def draw_ranges(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    measures = table.partition_by("measure", maintain_order=True)
    panels = [_range_panel(part, canvas, len(measures)) for part in measures]
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
    ]
    names = " and ".join(table["measure"].unique(maintain_order=True).to_list())
    title = f"How far ties and unjudged results could move {names}"
    return title, notes, {"vconcat": panels, "spacing": SPACING}


def _range_panel(part: pl.DataFrame, canvas: Canvas, panels: int) -> dict[str, Any]:
    chosen = canvas.theme
    measure = part["measure"][0]
    most = 180 if canvas.width is None else max(60, int(canvas.width * 0.3))
    names = min(most, widest(part["run"], size=11))
    y = name_axis(None, "run", axis={"labelLimit": most, "labelPadding": 6})
    offset = {"field": "reason", "type": "nominal", "sort": None}
    low, high = float(part["low"].min()), float(part["high"].max())  # type: ignore[arg-type]
    margin = (high - low) * 0.05 or 0.05
    x = number_axis(
        measure,
        "low",
        scale={"domain": [low - margin, high + margin], "zero": False, "nice": False},
    )
    only = keep_rows("measure", measure)
    colour = when("datum.reason == 'ties'", chosen.series[0], chosen.series[1])
    tooltip = [{"field": name} for name in ("run", "reason", "low", "value", "expected", "high")]
    bars = layer(
        mark("bar", height=9, cornerRadius=2),
        encode(y=y, yOffset=offset, x=x, x2={"field": "high"}, color=colour, tooltip=tooltip),
        transform=[only],
    )
    # A range of no width would not be seen.
    ends = layer(
        mark("tick", thickness=2, height=9),
        encode(y=y, yOffset=offset, x=x, color=colour),
        transform=[only],
    )
    expected = layer(
        mark("point", filled=True, size=40, color=chosen.background, stroke=chosen.ink, opacity=1),
        encode(y=y, yOffset=offset, x={**x, "field": "expected"}),
        transform=[only, {"filter": "isValid(datum.expected)"}],
    )
    values = layer(
        mark("tick", thickness=2.5, height=20, color=chosen.ink),
        encode(y=y, yOffset=offset, x={**x, "field": "value"}),
        transform=[only],
    )
    labels = layer(
        mark("text", align="left", dx=8, baseline="middle"),
        encode(y=y, yOffset=offset, x={"value": "width"}, text={"field": "words"}),
        transform=[
            only,
            {
                "calculate": (
                    "datum.reason + ': ' + format(datum.low, '.4f') + ' to ' + "
                    "format(datum.high, '.4f')"
                ),
                "as": "words",
            },
        ],
    )
    low_row = canvas.down(27 * part.height, panels=panels, gap=SPACING)
    return layers(
        *(bars, ends, expected, values, labels),
        width=canvas.across(340, beside=names + 24 + RANGE),
        height=max(60, low_row),
    )


# -- power

POWER_POINTS = 60  # numbers of queries at which power is worked out
BEYOND = 2  # how many times as far as the plan's own number of queries the curves go


@takes_design()
def power(plan: Plan | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """Draw the power as queries grow, for some differences, with the plan's point.

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
                    "curve": _curve_name(difference, terms),
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
    types = dict.fromkeys(("power_low", "power_high"), pl.Float64)
    table = pl.DataFrame(listed, schema_overrides=types, infer_schema_length=None).with_columns(
        planned=pl.lit(planned),
        margin=pl.lit(terms.margin, dtype=pl.Float64),
        level=pl.lit(terms.level),
        measure=pl.lit(pilot.text("measure") if pilot and named else None, dtype=pl.String),
        said=pl.lit("\n".join(found.texts("says"))),
    )
    return draw_power(table, Canvas.of(design))


def _within(found: Record, name: str, low: float, high: float) -> float:
    value = found.number(name)
    if not low <= value <= high:
        raise InputError(f"the plan: {name!r} must be from {low:g} to {high:.10g}; got {value:g}.")
    return value


def _along(terms: PowerAnalysis, planned: int) -> list[int]:
    first, last = terms.queries(terms.floor), max(BEYOND * planned, 4 * terms.queries(terms.floor))
    return sorted({*np.linspace(first, last, POWER_POINTS).round().astype(int).tolist(), planned})


def _curve_name(difference: float, terms: PowerAnalysis) -> str:
    if terms.margin is None:
        return size(difference)
    return "as good" if difference == 0 else f"{'+' if difference > 0 else ''}{size(difference)}"


def _power_words(row: dict[str, Any]) -> str:
    return f"{row['curve']}, {shown_number(row['queries'])} queries: power {share(row['power'])}"


@draws("power", unseen=("said",), words=_power_words)
def draw_power(table: pl.DataFrame, canvas: Canvas) -> Drawing:
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
    band = layer(
        mark("area", color=theme.fill, opacity=0.8),
        encode(x=x, y={**y, "field": "power_low"}, y2={"field": "power_high"}),
        transform=[{"filter": "datum.asked"}],
    )
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
    return title[0].upper() + title[1:] if measure is None else title, notes, frame.layers(*parts)


def _marked(
    own: pl.DataFrame, x: dict[str, Any], y: dict[str, Any], theme: Theme
) -> list[dict[str, Any]]:
    at = {"queries": int(own["queries"][0]), "power": float(own["power"][0])}
    values = [{**at, "words": f"{at['queries']:,} queries"}]
    rule = mark("rule", color=theme.ink, strokeDash=[4, 3], strokeWidth=1.2)
    point = mark("point", filled=True, size=80, color=theme.ink, opacity=1)
    below = 14 if at["power"] >= 0.2 else -40
    words = mark("text", align="left", dx=8, dy=below, fontWeight="bold", color=theme.ink)
    return [
        layer(rule, encode(x=x, y=y, y2={"datum": 0}), values=values),
        layer(rule, encode(y=y, x=x, x2={"datum": 0}), values=values),
        layer(point, encode(x=x, y=y), values=values),
        layer(words, encode(x=x, y=y, text={"field": "words"}), values=values),
    ]
