"""One system against another: one point per query, or one for many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from judged.charts.canvas import Canvas, Design, labels, share_axis
from judged.charts.chart import Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import Side, sided
from judged.charts.sources import NAMED, SAID, Paired, PairSource, number, paired, said_of
from judged.charts.svg import NUMBERED, ROWS, Theme
from judged.text import counted

if TYPE_CHECKING:
    from judged.measures import Measure

KIND = "scatter"
MOST = 1500  # more points than these are put into the cells of a grid
CELLS = 40
SIZE = 360
FACTS = ("measure", "run_a", "run_b")


def _table(pair: Paired) -> pl.DataFrame:
    queries = pair.queries.with_columns(named=_named(pair.queries["difference"].to_numpy()))
    points = _gathered(queries)
    binned = points.height > MOST
    if binned:
        low, high = _bounds(queries)
        step = (high - low) / CELLS or 1.0
        middle = [
            pl.when("named")
            .then(side)
            .otherwise(
                ((pl.col(side) - low) / step).floor().clip(0, CELLS - 1).add(0.5).mul(step).add(low)
            )
            .alias(side)
            for side in ("a", "b")
        ]
        points = _gathered(queries.with_columns(middle))
    return points.with_columns(pl.lit(binned).alias("binned"), *pair.columns()).select(
        *FACTS, pl.exclude(*FACTS)
    )


def _named(difference: Any) -> pl.Series:
    order = np.argsort(-difference, kind="stable")
    most = order[:NAMED][difference[order[:NAMED]] > 0]
    least = order[-NAMED:][difference[order[-NAMED:]] < 0]
    named = np.zeros(len(difference), bool)
    named[most] = named[least] = True
    return pl.Series(named)


def _gathered(queries: pl.DataFrame) -> pl.DataFrame:
    """Equal pairs of values in one row; a query is named where it is alone, or differs most."""
    alone = pl.col("query").filter("named")
    return queries.group_by("a", "b", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("queries"),
        pl.when(pl.len() == 1).then(pl.col("query").first()).alias("query"),
        pl.when(alone.len() > 0).then(alone.str.join(", ")).alias("named"),
    )


def _bounds(points: pl.DataFrame) -> tuple[float, float]:
    values = np.concatenate([points["a"].to_numpy(), points["b"].to_numpy()])
    return float(values.min()), float(values.max())


@takes_design()
def scatter(
    source: PairSource, *, measure: str | Measure | None = None, **design: Unpack[Design]
) -> Chart:
    """Each query's value in two systems: above the diagonal the second one is higher.

    >>> from judged import Rankings
    >>> a = Rankings.from_relevance([[1, 0], [0, 1]], name="a")
    >>> b = Rankings.from_relevance([[1, 0], [1, 0]], name="b")
    >>> scatter([a, b], measure="RR").data.select("a", "b", "queries").rows()
    [(1.0, 1.0, 1), (0.5, 1.0, 1)]
    """
    pair = paired(source, measure)
    return draw(_table(pair), **design, sentences=pair.notes)


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    chosen = canvas.theme
    measure, first, second = (table[name][0] for name in FACTS)
    low, high = _bounds(table)
    if table["is_share"][0]:
        low, high = 0.0, 1.0
    edge = (high - low) * 0.03 or 1.0
    short = labels([first, second])
    x = share_axis(f"{measure} of {short[first]}", "a", low=low - edge, top=high + edge)
    y = share_axis(f"{measure} of {short[second]}", "b", low=low - edge, top=high + edge)
    diagonal: dict[str, Any] = {
        "data": {"values": [{"a": low, "b": low}, {"a": high, "b": high}]},
        "mark": {"type": "line", "color": chosen.muted, "strokeDash": [4, 3]},
        "encoding": {"x": x, "y": y},
    }
    most = int(table["queries"].max())  # type: ignore[arg-type]
    size = {
        "field": "queries",
        "type": "quantitative",
        "scale": {"type": "sqrt", "domain": [1, max(most, 2)], "range": [36, 500]},
        "legend": None,
    }
    place = {"x": x, "y": y, "size": size if most > 1 else {"value": 40}}
    points: dict[str, Any] = {
        "name": ROWS,
        "transform": [NUMBERED],
        "mark": {
            "type": "point",
            "filled": True,
            "opacity": 0.6,
            "color": chosen.series[0],
            "stroke": chosen.background,
        },
        "encoding": {
            **place,
            "tooltip": [{"field": name} for name in ("query", "named", "queries", "a", "b")],
        },
    }
    rings: dict[str, Any] = {
        "transform": [{"filter": "isValid(datum.named)"}],
        "mark": {"type": "point", "filled": False, "color": chosen.ink, "strokeWidth": 1.5},
        "encoding": place,
    }
    upper, lower = _sides(table, chosen, short)
    frame = sided(canvas, SIZE, SIZE, first=upper, second=lower, square=True)
    wins, ties, losses = (int(table[name][0]) for name in ("wins", "ties", "losses"))
    named = table["named"].drop_nulls().len()
    notes = [
        *said_of(table),
        f"{counted(wins + ties + losses, 'query', 'queries')}; the two are equal in {ties:,}."
        + (f" A larger point stands for more queries, up to {most:,}." if most > 1 else "")
        + (
            " Rings: the queries that differ most, named with both values."
            if named and frame.lists
            else ""
        ),
        f"Queries are put together in a grid of {CELLS} × {CELLS}." if table["binned"][0] else "",
        *sentences,
    ]
    title = f"{measure}, query by query: {short[second]} against {short[first]}"
    shown = [diagonal, points, *([rings] if frame.lists else [])]
    parts = layers(*shown, *frame.parts, width=frame.width, height=frame.height)
    return chart(
        KIND, table, canvas, title, notes, parts, width=SIZE + 200, unseen=SAID, words=_words
    )


def _words(row: dict[str, Any]) -> str:
    who = row["query"] or counted(row["queries"], "query", "queries")
    about = "about " if row["binned"] and row["named"] is None else ""
    both = (f"{number(row[side])} in {row[f'run_{side}']}" for side in ("a", "b"))
    return f"{who}: {about}{', '.join(both)}"


def _sides(table: pl.DataFrame, theme: Theme, short: dict[str, str]) -> list[Side]:
    up, down = ("wins", "losses") if table["higher_is_better"][0] else ("losses", "wins")
    apart = pl.col("b") - pl.col("a")
    known = table.filter(pl.col("named").is_not_null()).sort(apart, descending=True)
    names = labels(known["named"])
    return [
        Side(
            f"{short[table[run][0]]} higher: {table[side][0]:,}",
            [
                f"{names[query]}: {number(a)}, {number(b)}"
                for query, a, b in part.select("named", "a", "b").rows()
            ],
            theme.ink,
        )
        for part, run, side in (
            (known.filter(apart > 0), "run_b", up),
            (known.filter(apart < 0), "run_a", down),
        )
    ]
