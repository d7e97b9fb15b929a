"""Two systems, query by query or item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from judged.charts.canvas import (
    HEIGHT,
    WIDTH,
    Canvas,
    Design,
    encode,
    labels,
    layer,
    mark,
    number_axis,
    share_axis,
    span_of,
    when,
)
from judged.charts.chart import Chart, Drawing, draws
from judged.charts.kinds import takes_design
from judged.charts.lines import SideText, sided
from judged.charts.sources import NAMED, SAID, PairSource, number, paired, said_of, signed
from judged.charts.svg import NUMBERED, ROWS, Theme
from judged.text import counted

if TYPE_CHECKING:
    from judged.arrays import Ints
    from judged.measures import Measure


# -- differences

FACTS = ("measure", "run_a", "run_b")
MOST_BARS = 300  # so many bars can be told apart; more queries share them


def _difference_table(queries: pl.DataFrame, facts: list[pl.Expr]) -> pl.DataFrame:
    ordered = queries.sort("difference", descending=True, maintain_order=True)
    count = ordered.height
    return (
        ordered.with_columns(place=pl.int_range(1, count + 1), bar=pl.Series(_bars(count)))
        .group_by("bar", maintain_order=True)
        .agg(
            pl.when(pl.len() == 1).then(pl.col("query").first()).alias("query"),
            pl.len().cast(pl.Int64).alias("queries"),
            pl.col("place").min().alias("place_from"),
            pl.col("place").max().alias("place_to"),
            pl.col("difference").mean(),
        )
        .drop("bar")
        .with_columns(facts)
        .select(*FACTS, pl.exclude(*FACTS))
    )


def _bars(count: int) -> Ints:
    """Return the bar of each query; many queries share bars, except the first and last few."""
    each = np.arange(count)
    if count <= MOST_BARS:
        return each
    between = NAMED + (each - NAMED) * (MOST_BARS - 2 * NAMED) // (count - 2 * NAMED)
    ends = np.where(each < NAMED, each, MOST_BARS - count + each)
    return np.where((each < NAMED) | (each >= count - NAMED), ends, between)


@takes_design()
def differences(
    source: PairSource, *, measure: str | Measure | None = None, **design: Unpack[Design]
) -> Chart:
    """Draw sorted per-query differences of two systems, and the interval of their mean.

    >>> from judged import Rankings
    >>> a = Rankings.from_relevance([[1, 0], [0, 1]], name="a")
    >>> b = Rankings.from_relevance([[1, 0], [1, 0]], name="b")
    >>> differences([a, b], measure="RR").data.select("query", "difference").rows()
    [('2', 0.5), ('1', 0.0)]
    """
    queries, facts, notes = paired(source, measure)
    return draw_differences(_difference_table(queries, facts), Canvas.of(design), notes)


def _difference_words(row: dict[str, Any]) -> str:
    who = row["query"] or f"{row['queries']:,} queries, on average"
    return f"{who}: {signed(row['difference'])}"


@draws("differences", width=WIDTH + 90, unseen=SAID, words=_difference_words)
def draw_differences(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    chosen = canvas.theme
    measure, first, second = (table[name][0] for name in FACTS)
    total = int(table["queries"].sum())
    ties, compared = table["ties"][0], sum(table[name][0] for name in ("wins", "ties", "losses"))
    reach = float(table["difference"].abs().max() or 1)  # type: ignore[arg-type]
    y = number_axis(f"difference of {measure}", "difference", scale={"domain": [-reach, reach]})
    x = number_axis(
        "queries, by difference",
        "left",
        scale={"domain": [0, total], "nice": False},
        axis={"format": ",d", "tickCount": min(total, 10)},
    )
    over, under = _shades(table, chosen)
    gap = 0.15 if total <= 60 else 0
    bars = layer(
        mark("rect"),
        encode(
            x=x,
            x2={"field": "right"},
            y={**y, "field": "difference"},
            y2={"datum": 0},
            color=when("datum.difference < 0", under, over),
            stroke=when("datum.difference < 0", under, over),
            strokeWidth=when(f"datum.queries == 1 && {total} > {MOST_BARS}", 1, 0),
            tooltip=[
                {"field": "query"},
                {"field": "queries"},
                {"field": "difference", "format": ".4f"},
            ],
        ),
        transform=[
            NUMBERED,
            {"calculate": f"datum.place_from - 1 + {gap}", "as": "left"},
            {"calculate": f"datum.place_to - {gap}", "as": "right"},
        ],
        name=ROWS,
    )
    zero = layer(
        mark("rule", color=chosen.muted),
        encode(y={"datum": 0, "type": "quantitative"}),
        values=[{}],
    )
    frame = sided(canvas, WIDTH, HEIGHT, sides=_difference_sides(table, chosen))
    band = _band(table, chosen, y, reach, frame.width)
    # Once, not once for every row.
    mean = layer(
        mark("rule", color=chosen.ink, strokeDash=[4, 3]),
        encode(y={"datum": table["overall"][0], "type": "quantitative"}),
        values=[{}],
    )
    parts = [*band, bars, zero, *([mean] if table["is_mean"][0] else [])]
    each = total / table.height
    notes = [
        *said_of(table),
        f"The two are equal in {ties:,} of {counted(compared, 'query', 'queries')}."
        + (" Dashed: the mean difference" if table["is_mean"][0] else "")
        + ("; band: its interval." if len(parts) == 4 else "." if len(parts) == 3 else ""),
        f"A bar is the mean of about {each:.0f} neighbouring queries." if each > 1 else "",
    ]
    short = labels([first, second])
    title = f"{measure}: {short[second]} minus {short[first]}, query by query"
    if canvas.in_page:
        better, worse = table["wins"][0], table["losses"][0]
        title = (
            f"{short[second]} is better on {better:,} of {compared:,} queries, worse on {worse:,}"
        )
    return title, notes, frame.layers(*parts)


def _shades(table: pl.DataFrame, theme: Theme) -> tuple[str, str]:
    """Return colours of differences above and below 0; swapped if lower is better."""
    shades = theme.right, theme.wrong
    return shades if table["higher_is_better"][0] else (theme.wrong, theme.right)


def _band(
    table: pl.DataFrame, theme: Theme, y: dict[str, Any], reach: float, width: int
) -> list[dict[str, Any]]:
    low, high = table["low"][0], table["high"][0]
    if not table["is_mean"][0] or low is None or high is None:
        return []
    ends = [{"low": max(low, -reach), "high": min(high, reach)}]
    return [
        layer(
            mark("rect", color=theme.fill),
            encode(
                x={"value": 0}, x2={"value": width}, y={**y, "field": "low"}, y2={"field": "high"}
            ),
            values=ends,
        )
    ]


def _difference_sides(table: pl.DataFrame, theme: Theme) -> list[SideText]:
    second = labels([table["run_b"][0]])[table["run_b"][0]]
    counts = ("better", table["wins"][0]), ("worse", table["losses"][0])
    up, down = counts if table["higher_is_better"][0] else reversed(counts)
    alone = table.filter(pl.col("query").is_not_null())
    most = alone.filter(pl.col("difference") > 0).head(NAMED)
    least = alone.filter(pl.col("difference") < 0).tail(NAMED)
    named = labels([*most["query"], *least["query"]])
    over, under = _shades(table, theme)
    return [
        (
            f"{second} {word}: {counted(count, 'query', 'queries')}",
            [
                f"{named[query]}: {signed(by)}"
                for query, by in part.select("query", "difference").rows()
            ],
            shade,
        )
        for part, (word, count), shade in ((most, up, over), (least, down, under))
    ]


# -- scatter

MOST_POINTS = 1500  # more points than these are put into the cells of a grid
CELLS = 40
SIZE = 360


def _scatter_table(queries: pl.DataFrame, facts: list[pl.Expr]) -> pl.DataFrame:
    queries = queries.with_columns(named=_named(queries["difference"].to_numpy()))
    points = _gathered(queries)
    binned = points.height > MOST_POINTS
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
    return points.with_columns(pl.lit(binned).alias("binned"), *facts).select(
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
    """Put equal pairs of values into one row; name a query that is alone, or differs most."""
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
    """Draw each query's value in two systems: above the diagonal the second one is higher.

    >>> from judged import Rankings
    >>> a = Rankings.from_relevance([[1, 0], [0, 1]], name="a")
    >>> b = Rankings.from_relevance([[1, 0], [1, 0]], name="b")
    >>> scatter([a, b], measure="RR").data.select("a", "b", "queries").rows()
    [(1.0, 1.0, 1), (0.5, 1.0, 1)]
    """
    queries, facts, notes = paired(source, measure)
    return draw_scatter(_scatter_table(queries, facts), Canvas.of(design), notes)


def _scatter_words(row: dict[str, Any]) -> str:
    who = row["query"] or counted(row["queries"], "query", "queries")
    about = "about " if row["binned"] and row["named"] is None else ""
    both = (f"{number(row[side])} in {row[f'run_{side}']}" for side in ("a", "b"))
    return f"{who}: {about}{', '.join(both)}"


@draws("scatter", width=SIZE + 200, unseen=SAID, words=_scatter_words)
def draw_scatter(table: pl.DataFrame, canvas: Canvas) -> Drawing:
    chosen = canvas.theme
    measure, first, second = (table[name][0] for name in FACTS)
    low, high = _bounds(table)
    if table["is_share"][0]:
        low, high = span_of((low, high))
    edge = (high - low) * 0.03 or 1.0
    short = labels([first, second])
    x = share_axis(f"{measure} of {short[first]}", "a", low=low - edge, top=high + edge)
    y = share_axis(f"{measure} of {short[second]}", "b", low=low - edge, top=high + edge)
    diagonal: dict[str, Any] = layer(
        mark("line", color=chosen.muted, strokeDash=[4, 3]),
        encode(x=x, y=y),
        values=[{"a": low, "b": low}, {"a": high, "b": high}],
    )
    most = int(table["queries"].max())  # type: ignore[arg-type]
    size = {
        "field": "queries",
        "type": "quantitative",
        "scale": {"type": "sqrt", "domain": [1, max(most, 2)], "range": [36, 500]},
        "legend": None,
    }
    place = {"x": x, "y": y, "size": size if most > 1 else {"value": 40}}
    points: dict[str, Any] = layer(
        mark("point", filled=True, opacity=0.6, color=chosen.series[0], stroke=chosen.background),
        encode(
            **place, tooltip=[{"field": name} for name in ("query", "named", "queries", "a", "b")]
        ),
        name=ROWS,
        transform=[NUMBERED],
    )
    rings: dict[str, Any] = layer(
        mark("point", filled=False, color=chosen.ink, strokeWidth=1.5),
        place,
        transform=[{"filter": "isValid(datum.named)"}],
    )
    sides = _scatter_sides(table, chosen, short)
    frame = sided(canvas, SIZE, SIZE, sides=sides, square=True)
    wins, ties, losses = (int(table[name][0]) for name in ("wins", "ties", "losses"))
    named = table["named"].drop_nulls().len()
    notes = [
        *said_of(table),
        f"{counted(wins + ties + losses, 'query', 'queries')}; the two are equal in {ties:,}."
        + (f" A larger point stands for more queries, up to {most:,}." if most > 1 else "")
        + (
            " Rings: the queries that differ most, named with both values."
            if named and canvas.has_room_beside
            else ""
        ),
        f"Queries are put together in a grid of {CELLS} × {CELLS}." if table["binned"][0] else "",
    ]
    title = f"{measure}, query by query: {short[second]} against {short[first]}"
    if canvas.in_page:
        title = f"{measure} of each query: {short[second]} above the line is higher"
    return (
        title,
        notes,
        frame.layers(diagonal, points, *([rings] if canvas.has_room_beside else [])),
    )


def _scatter_sides(table: pl.DataFrame, theme: Theme, short: dict[str, str]) -> list[SideText]:
    up, down = ("wins", "losses") if table["higher_is_better"][0] else ("losses", "wins")
    apart = pl.col("b") - pl.col("a")
    known = table.filter(pl.col("named").is_not_null()).sort(apart, descending=True)
    names = labels(known["named"])
    return [
        (
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
