"""The values of systems with their intervals, the best first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from judged.charts.canvas import Canvas, Design, labels
from judged.charts.chart import Chart, chart
from judged.charts.kinds import takes_design
from judged.charts.lines import Row, panels, room_for
from judged.charts.sources import Systems, in_groups, number, terms
from judged.comparison.comparison import Comparison
from judged.comparison.wording import percent_of
from judged.errors import InputError
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.trusted import refuse_corrected
from judged.options import LEVEL
from judged.text import listed

if TYPE_CHECKING:
    from judged.statistics.intervals import Interval

KIND = "systems"
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
    """The values of systems with their intervals, one panel per measure, the best first.

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
        return draw(table, **design, sentences=terms(source))
    grouped = [in_groups(len(set(source.groups.values())))] if source.groups is not None else []
    notes = [*grouped, *Systems.of(source).sentences()]
    return draw(table, **design, sentences=notes)


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

        def place(at: int, measure: Any = measure, higher: bool = higher) -> tuple[bool, float]:
            value = given.runs[at].summary[measure]
            missing = math.isnan(value)
            return missing, 0.0 if missing else -value if higher else value

        for at in sorted(range(len(given.runs)), key=place):
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


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    names = labels([*table["run"], *table["measure"]])
    ranked = table["rank_low"].drop_nulls().len() > 0
    placed = table.sort("place")["run"].unique(maintain_order=True).to_list()
    looks = canvas.look(placed)
    shades = {run: colour for run, (colour, _) in zip(placed, looks, strict=True)}
    parts = []
    for part in table.with_row_index("number").partition_by("measure", maintain_order=True):
        rows = [
            Row(
                name=names[row["run"]],
                value=row["value"],
                low=row["low"],
                high=row["high"],
                words=number,
                shade=shades[row["run"]],
                says=_ranks(row["rank_low"], row["rank_high"]),
                number=row["number"],
            )
            for row in part.rows(named=True)
        ]
        lower = "" if part["higher_is_better"][0] else " (lower is better)"
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
        *sentences,
    ]
    by = listed(measures) if len(measures) < 5 else f"{len(measures)} measures"
    best = ", the best first" if table["run"].n_unique() > 1 else ""
    title = f"{names[table['run'][0]] if not best else 'Systems'} by {by}{best}"
    return chart(
        KIND,
        table,
        canvas,
        title,
        notes,
        panels(parts, canvas=canvas),
        width=560,
        unseen=("note",),
        words=_words,
    )


def _words(row: dict[str, Any]) -> str:
    known = row["low"] is not None and row["high"] is not None
    ends = f" ({number(row['low'])} … {number(row['high'])})" if known else ""
    return f"{row['run']}, {row['measure']}: {number(row['value'])}{ends}"


def _ranks(low: int | None, high: int | None) -> str:
    if low is None or high is None:
        return ""
    return f"rank {low:,}" if low == high else f"rank {low:,}–{high:,}"
