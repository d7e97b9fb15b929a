"""Differences with their intervals, by verdict: what was shown, what was not, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from judged.charts.canvas import Canvas, Design, labels
from judged.charts.chart import Chart, chart
from judged.charts.kinds import takes_design
from judged.charts.lines import Row, panels, room_for
from judged.charts.sources import SAID, comparison_of, signed, terms
from judged.charts.svg import Theme
from judged.comparison.methods import method_line
from judged.statistics.t import below

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison

KIND = "forest"
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
    """Differences with their intervals, by verdict.

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
    return draw(table, **design, sentences=notes, baseline=comparison.reference)


def _panels(comparison: Comparison) -> dict[str, int]:
    """The number of each measure's panel: its own, or with one pair that of its range."""
    measures = comparison.numbers.measures
    if len(comparison.rows) > len(measures):
        return {each.name: at for at, each in enumerate(measures)}
    keys = [
        tuple(each.range) if math.isfinite(each.range[0] + each.range[1]) else each.name
        for each in measures
    ]
    order = list(dict.fromkeys(keys))
    return {each.name: order.index(key) for each, key in zip(measures, keys, strict=True)}


def draw(
    table: pl.DataFrame,
    *,
    sentences: Sequence[str] = (),
    baseline: str | None = None,
    **design: Unpack[Design],
) -> Chart:
    canvas = Canvas.of(design)
    chosen = canvas.theme
    names = labels([*table["run"], *table["against"], *table["measure"]])
    pairs = table.select("run", "against").unique(maintain_order=True).rows()
    numbered = table.with_row_index("number")
    parts = [
        (_axis(part, names, len(pairs), baseline), _rows(part, chosen, names, len(pairs), baseline))
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
        *sentences,
    ]
    return chart(
        KIND,
        table,
        canvas,
        title,
        notes,
        panels(parts, canvas=canvas, zero=True),
        width=560,
        unseen=SAID,
        words=_words,
    )


def _words(row: dict[str, Any]) -> str:
    known = row["low"] is not None and row["high"] is not None
    ends = f" ({signed(row['low'])} … {signed(row['high'])})" if known else ""
    pair = f"{row['run']} minus {row['against']}"
    return f"{row['measure']}, {pair}: {signed(row['difference'])}{ends}, {row['verdict']}"


def _axis(part: pl.DataFrame, names: dict[str, str], pairs: int, baseline: str | None) -> str:
    against = names[part["against"][0]]
    if pairs == 1:
        return f"{names[part['run'][0]]} minus {against}"
    lower = "" if part["higher_is_better"][0] else LOWER
    what = "first minus second" if baseline is None else f"run minus {against}"
    return f"{names[part['measure'][0]]}{lower}: {what}"


def _rows(
    part: pl.DataFrame, theme: Theme, names: dict[str, str], pairs: int, baseline: str | None
) -> list[Row]:
    looks = theme.verdicts
    rows = []
    for row in part.rows(named=True):
        look = looks[row["verdict"]]
        if pairs == 1:
            name = names[row["measure"]] + ("" if row["higher_is_better"] else LOWER)
        elif baseline is None:
            name = f"{names[row['run']]} − {names[row['against']]}"
        else:
            name = names[row["run"]]
        rows.append(
            Row(
                name=name,
                value=row["difference"],
                low=row["low"],
                high=row["high"],
                words=signed,
                shade=look.colour,
                shape=look.shape,
                says=f"{look.sign} {_verdict(row)}",
                margin=row["margin"],
                number=row["number"],
            )
        )
    return rows


def _verdict(row: dict[str, Any]) -> str:
    """The verdict of a row, and why it is more careful than the interval, or not sure."""
    said = row["verdict"]
    if row["negligible"]:
        said += ", negligible"
    alone = below(row["p"], row["level"]) and not below(row["corrected_p"], row["level"])
    if alone and said in ("not significant", "equivalent"):
        said += ", would count alone"
    if row["depends_on"]:
        said += f", depends on {row['depends_on']}"
    return str(said)
