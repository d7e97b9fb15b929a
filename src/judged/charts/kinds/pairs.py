"""Two systems, query by query or item by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np
import polars as pl

from judged.charts.canvas import (
    HEIGHT,
    WIDTH,
    Canvas,
    Design,
    encode,
    fitted,
    labels,
    layer,
    layers,
    mark,
    number_axis,
    share_axis,
    when,
    widest,
)
from judged.charts.chart import Chart, chart
from judged.charts.kinds import takes_design
from judged.charts.lines import LINE, Side, sided, spread
from judged.charts.sources import (
    NAMED,
    SAID,
    Paired,
    PairSource,
    number,
    paired,
    place_of,
    said_of,
    signed,
)
from judged.charts.svg import NUMBERED, ROWS, Theme
from judged.errors import InputError
from judged.inputs import Lookup, as_runs, read_judgements
from judged.inputs.blocks import MEMORY, Room
from judged.inputs.large_runs import read_query
from judged.inputs.tables import Run
from judged.matching.join import match
from judged.matching.pool import pool_of
from judged.matching.variants import place
from judged.options import choice
from judged.text import counted

if TYPE_CHECKING:
    from judged.arrays import Ints
    from judged.matching.pool import Pool
    from judged.measures import Measure
    from judged.options import JudgementsLike, RunsLike


# -- differences

FACTS = ("measure", "run_a", "run_b")
MOST_BARS = 300  # so many bars can be told apart; more queries share them


def _difference_table(pair: Paired) -> pl.DataFrame:
    ordered = pair.queries.sort("difference", descending=True, maintain_order=True)
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
        .with_columns(pair.columns())
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
    pair = paired(source, measure)
    return draw_differences(_difference_table(pair), Canvas.of(design), pair.notes)


def draw_differences(table: pl.DataFrame, canvas: Canvas, sentences: Sequence[str]) -> Chart:
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
    first_side, second_side = _difference_sides(table, chosen)
    frame = sided(canvas, WIDTH, HEIGHT, first=first_side, second=second_side)
    band = _band(table, chosen, y, reach, frame.width)
    parts = [*band, bars, zero, *_mean(table, chosen)]
    each = total / table.height
    notes = [
        *said_of(table),
        f"The two are equal in {ties:,} of {counted(compared, 'query', 'queries')}."
        + (" Dashed: the mean difference" if table["is_mean"][0] else "")
        + ("; band: its interval." if len(parts) == 4 else "." if len(parts) == 3 else ""),
        f"A bar is the mean of about {each:.0f} neighbouring queries." if each > 1 else "",
        *sentences,
    ]
    short = labels([first, second])
    title = f"{measure}: {short[second]} minus {short[first]}, query by query"
    drawn = frame.layers(*parts)
    return chart(
        "differences",
        table,
        canvas,
        title,
        notes,
        drawn,
        width=WIDTH + 90,
        unseen=SAID,
        words=_difference_words,
    )


def _difference_words(row: dict[str, Any]) -> str:
    who = row["query"] or f"{row['queries']:,} queries, on average"
    return f"{who}: {signed(row['difference'])}"


def _shades(table: pl.DataFrame, theme: Theme) -> tuple[str, str]:
    """Return colours of differences above and below 0; swapped if lower is better."""
    shades = theme.right, theme.wrong
    return shades if table["higher_is_better"][0] else (theme.wrong, theme.right)


def _mean(table: pl.DataFrame, theme: Theme) -> list[dict[str, Any]]:
    if not table["is_mean"][0]:
        return []
    return [
        {
            "data": {"values": [{}]},  # once, not once for every row
            "mark": {"type": "rule", "color": theme.ink, "strokeDash": [4, 3]},
            "encoding": {"y": {"datum": table["overall"][0], "type": "quantitative"}},
        }
    ]


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


def _difference_sides(table: pl.DataFrame, theme: Theme) -> list[Side]:
    second = labels([table["run_b"][0]])[table["run_b"][0]]
    counts = ("better", table["wins"][0]), ("worse", table["losses"][0])
    up, down = counts if table["higher_is_better"][0] else reversed(counts)
    alone = table.filter(pl.col("query").is_not_null())
    most = alone.filter(pl.col("difference") > 0).head(NAMED)
    least = alone.filter(pl.col("difference") < 0).tail(NAMED)
    named = labels([*most["query"], *least["query"]])
    over, under = _shades(table, theme)
    return [
        Side(
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


def _scatter_table(pair: Paired) -> pl.DataFrame:
    queries = pair.queries.with_columns(named=_named(pair.queries["difference"].to_numpy()))
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
    pair = paired(source, measure)
    return draw_scatter(_scatter_table(pair), Canvas.of(design), pair.notes)


def draw_scatter(table: pl.DataFrame, canvas: Canvas, sentences: Sequence[str]) -> Chart:
    chosen = canvas.theme
    measure, first, second = (table[name][0] for name in FACTS)
    low, high = _bounds(table)
    if table["is_share"][0]:
        low, high = 0.0, 1.0
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
    upper, lower = _scatter_sides(table, chosen, short)
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
    parts = frame.layers(*shown)
    return chart(
        "scatter",
        table,
        canvas,
        title,
        notes,
        parts,
        width=SIZE + 200,
        unseen=SAID,
        words=_scatter_words,
    )


def _scatter_words(row: dict[str, Any]) -> str:
    who = row["query"] or counted(row["queries"], "query", "queries")
    about = "about " if row["binned"] and row["named"] is None else ""
    both = (f"{number(row[side])} in {row[f'run_{side}']}" for side in ("a", "b"))
    return f"{who}: {about}{', '.join(both)}"


def _scatter_sides(table: pl.DataFrame, theme: Theme, short: dict[str, str]) -> list[Side]:
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


# -- rank flow

MOST_ITEMS = (
    20  # so many items have room; relevant ones first, and of them those with the best ranks
)
FLOW_WIDTH = 300
LOST = "not retrieved"
TieOrder = Literal["id", "input", "best", "worst"]
"""Rules for ties that give every item one rank, as a line needs."""


@takes_design(
    query="The id of a query; by default the one in which relevant items move most.",
    ties="How ties are broken, by default by item id.",
)
def rank_flow(
    judgements: JudgementsLike,
    runs: RunsLike,
    *,
    query: str | None = None,
    rel: float = 1,
    ties: TieOrder = "id",
    **design: Unpack[Design],
) -> Chart:
    """Draw lines from each item's rank in one run to its rank in the other, for one query.

    >>> runs = {"old": {"q": ["x", "a", "b"]}, "new": {"q": ["a", "x"]}}
    >>> rank_flow({"q": {"a": 1, "b": 1}}, runs).data.select("item", "a", "b").rows()
    [('a', 2, 1), ('b', 3, None)]
    """
    pool = pool_of(read_judgements(judgements))
    names, tables = [], []
    for name, run in _two_runs(runs):
        read = read_query(run, query, Room.of(MEMORY), name=name)
        names.append(read.name if name is None else name)
        tables.append(_placed(pool, read, ties=ties))
    moved = (
        tables[0]
        .rename({"rank": "a"})
        .join(tables[1].rename({"rank": "b"}), on="judgement", how="full", coalesce=True)
    )
    number = moved["judgement"].to_numpy()
    moved = moved.with_columns(
        at=pl.Series(pool.query[number]), grade=pl.Series(pool.grades[number])
    )
    chosen = _most_moved(moved, rel) if query is None else place_of(query, pool.queries)
    own = moved.filter(pl.col("at") == chosen).sort(
        pl.col("grade") < rel, pl.min_horizontal("a", "b"), "judgement"
    )
    if own.is_empty():
        raise InputError(
            f"neither run holds a judged item of query {pool.queries[chosen]!r}; name another "
            "query."
        )
    table = own.select(
        pl.lit(names[0]).alias("run_a"),
        pl.lit(names[1]).alias("run_b"),
        pl.lit(pool.queries[chosen]).alias("query"),
        pl.lit(query is None and len(pool.queries) > 1).alias("chosen"),
        pl.Series("item", pool.items_at(own["judgement"].to_numpy()), dtype=pl.String),
        "grade",
        (pl.col("grade") >= rel).alias("relevant"),
        pl.col("a", "b").cast(pl.Int64),
    )
    return draw_rank_flow(table, Canvas.of(design))


def _placed(pool: Pool, run: Run | Lookup, *, ties: TieOrder) -> pl.DataFrame:
    """Return each judged item's rank in a run: its place in the pool (judgement) and rank."""
    choice("ties", ties, get_args(TieOrder))
    found = match(pool, run, duplicates="error")
    return pl.DataFrame({"judgement": found.hit_judgement, "rank": place(pool, found, ties).rank})


def _two_runs(runs: RunsLike) -> list[tuple[str | None, Any]]:
    listed = list(as_runs(runs).items())
    if len(listed) != 2:
        raise InputError(
            "this chart compares two runs, given as {name: run, name: run} or two paths; got "
            f"{len(listed)}."
        )
    return listed


def _most_moved(moved: pl.DataFrame, rel: float) -> int:
    change = ((1 / pl.col("a")).fill_null(0) - (1 / pl.col("b")).fill_null(0)).abs().sum()
    relevant = moved.filter(pl.col("grade") >= rel)
    if relevant.is_empty():
        raise InputError(
            "neither run holds a relevant item; name a query to see its other judged items."
        )
    sums = (
        relevant.group_by("at")
        .agg(change.alias("change"))
        .sort("change", "at", descending=[True, False])
    )
    return int(sums["at"][0])


def draw_rank_flow(table: pl.DataFrame, canvas: Canvas) -> Chart:
    chosen = canvas.theme
    shown = table.head(MOST_ITEMS)
    first, second, query = (table[name][0] for name in ("run_a", "run_b", "query"))
    height = canvas.down(int(np.clip(LINE * 1.3 * shown.height, 160, 520)), below=64)
    ranked = widest(f"  {rank:,}" for side in ("a", "b") for rank in shown[side].drop_nulls())
    room = float("inf") if canvas.width is None else canvas.width * 0.3 - ranked
    items = fitted(shown["item"], room)
    heads = fitted([first, second], room, bold=True)
    side = max(widest(items.values()) + ranked, widest([*heads.values(), LOST], bold=True))
    width = canvas.across(FLOW_WIDTH, beside=2 * (side + 10))
    deepest = int(max(shown["a"].max() or 1, shown["b"].max() or 1))  # type: ignore[arg-type]
    up, down, lost = _moves(table.filter("relevant"))
    notes = [
        f"Of {counted(up + down + lost, 'relevant item')} with another rank, {up:,} rose and "
        f"{down + lost:,} fell" + (f", {lost:,} out of the list." if lost else "."),
        "Solid lines are relevant items, dotted ones are judged and not relevant."
        if not shown["relevant"].all()
        else "All items shown are relevant.",
        "Ranks are spread by their logarithm, and pushed apart where they would meet."
        if deepest > 20
        else "",
        _left_out(table, shown),
        "The query is the one in which relevant items move most." if table["chosen"][0] else "",
    ]
    title = f"From {first} to {second}, query {query}"
    named = shown.with_columns(pl.col("item").replace_strict(items, return_dtype=pl.String))
    drawn = _flow_layers(named, heads[first], heads[second], deepest, (width, height), chosen)
    parts = layers(*drawn, width=width, height=height)
    return chart("rank-flow", table, canvas, title, notes, parts, width=FLOW_WIDTH + 150)


def _left_out(table: pl.DataFrame, shown: pl.DataFrame) -> str:
    if shown.height == table.height:
        return ""
    relevant = int(table["relevant"].sum())
    if relevant > MOST_ITEMS:
        return f"The {MOST_ITEMS} relevant items with the best ranks are shown, of {relevant:,}."
    rest = table.height - relevant
    all_of = "All relevant items are shown, and " if relevant else "There are shown "
    shown_of = f"{MOST_ITEMS - relevant:,} of {rest:,}"
    return f"{all_of}{shown_of} that are judged and not relevant, by their ranks."


def _moves(relevant: pl.DataFrame) -> tuple[int, int, int]:
    """Count the items that rose, fell, and fell out of the list."""
    a, b = (relevant[side].fill_null(1 << 60) for side in ("a", "b"))
    gone = int((relevant["b"].is_null() & relevant["a"].is_not_null()).sum())
    return int((b < a).sum()), int((b > a).sum()) - gone, gone


def _flow_layers(
    table: pl.DataFrame, first: str, second: str, deepest: int, size: tuple[int, int], theme: Theme
) -> list[dict[str, Any]]:
    """Compute the places here, so that labels which would meet can be pushed apart."""

    width, height = size

    def depth(rank: int | None) -> float:
        if rank is None:
            return height + LINE * 1.6
        part = np.log(rank) / np.log(deepest) if deepest > 20 else (rank - 1) / max(deepest - 1, 1)
        return float(part) * height

    lines: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    sides = {"a": (0, "right", -7), "b": (width, "left", 7)}
    places = {side: [depth(rank) for rank in table[side]] for side in sides}
    for side in sides:
        there = [at for at, rank in enumerate(table[side]) if rank is not None]
        apart = spread([-places[side][at] for at in there], LINE, -height, 0)
        for at, depth_there in zip(there, apart, strict=True):
            places[side][at] = -depth_there
    for at, row in enumerate(table.iter_rows(named=True)):
        rose = (row["b"] or np.inf) < (row["a"] or np.inf)
        same = row["b"] == row["a"]
        colour = (
            theme.muted if same or not row["relevant"] else theme.right if rose else theme.wrong
        )
        for side, (x, _, _) in sides.items():
            lines.append(
                {
                    "item": row["item"],
                    "x": x,
                    "y": round(places[side][at], 2),
                    "shade": colour,
                    "relevant": row["relevant"],
                }
            )
    for side, (x, align, _) in sides.items():
        for at, (item, rank) in enumerate(table.select("item", side).rows()):
            if rank is not None:
                words = f"{item}  {rank:,}" if side == "a" else f"{rank:,}  {item}"
                labels.append(
                    {"x": x, "y": round(places[side][at], 2), "words": words, "align": align}
                )
        if table[side].null_count():
            labels.append({"x": x, "y": depth(None), "words": LOST, "align": align})
    across = {
        "field": "x",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [0, width], "nice": False},
    }
    down = {
        "field": "y",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [height, 0], "nice": False},
    }
    shade = {"field": "shade", "type": "nominal", "scale": None, "legend": None}
    flow = layer(
        mark("line", strokeWidth=2, point={"size": 35, "filled": True}),
        encode(
            x=across,
            y=down,
            detail={"field": "item"},
            color=shade,
            strokeDash=when("datum.relevant", [1, 0], [2, 3]),
            tooltip=[{"field": "item"}],
        ),
        values=lines,
    )
    texts = [
        layer(
            mark("text", align=align, dx=shift, baseline="middle"),
            encode(x=across, y=down, text={"field": "words"}),
            values=[each for each in labels if each["align"] == align],
        )
        for _, align, shift in sides.values()
    ]
    heads = [
        layer(
            mark("text", align=align, dx=shift, fontWeight="bold"),
            encode(x={"value": x_at}, y={"value": -24}, text={"field": "words"}),
            values=[{"words": name}],
        )
        for name, (x_at, align, shift) in zip((first, second), sides.values(), strict=True)
    ]
    return [flow, *texts, *heads]
