"""How judged items move between two systems, in one query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np
import polars as pl

from judged.charts.canvas import Canvas, Design, fitted, widest
from judged.charts.chart import Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import LINE, spread
from judged.charts.sources import place_of
from judged.charts.svg import Theme
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
    from judged.matching.pool import Pool
    from judged.options import JudgementsLike, RunsLike

KIND = "rank-flow"
MOST = 20  # so many items have room; relevant ones first, and of them those with the best ranks
WIDTH = 300
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
    """Lines from an item's rank in one run to its rank in the other, in one query.

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
    return draw(table, **design)


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


def draw(table: pl.DataFrame, **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    chosen = canvas.theme
    shown = table.head(MOST)
    first, second, query = (table[name][0] for name in ("run_a", "run_b", "query"))
    height = canvas.down(int(np.clip(LINE * 1.3 * shown.height, 160, 520)), below=64)
    ranked = widest(f"  {rank:,}" for side in ("a", "b") for rank in shown[side].drop_nulls())
    room = float("inf") if canvas.width is None else canvas.width * 0.3 - ranked
    items = fitted(shown["item"], room)
    heads = fitted([first, second], room, bold=True)
    side = max(widest(items.values()) + ranked, widest([*heads.values(), LOST], bold=True))
    width = canvas.across(WIDTH, beside=2 * (side + 10))
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
    drawn = _layers(named, heads[first], heads[second], deepest, (width, height), chosen)
    parts = layers(*drawn, width=width, height=height)
    return chart(KIND, table, canvas, title, notes, parts, width=WIDTH + 150)


def _left_out(table: pl.DataFrame, shown: pl.DataFrame) -> str:
    if shown.height == table.height:
        return ""
    relevant = int(table["relevant"].sum())
    if relevant > MOST:
        return f"The {MOST} relevant items with the best ranks are shown, of {relevant:,}."
    rest = table.height - relevant
    all_of = "All relevant items are shown, and " if relevant else "There are shown "
    return (
        f"{all_of}{MOST - relevant:,} of {rest:,} that are judged and not relevant, by their ranks."
    )


def _moves(relevant: pl.DataFrame) -> tuple[int, int, int]:
    """How many items rose, fell, and fell out of the list."""
    a, b = (relevant[side].fill_null(1 << 60) for side in ("a", "b"))
    gone = int((relevant["b"].is_null() & relevant["a"].is_not_null()).sum())
    return int((b < a).sum()), int((b > a).sum()) - gone, gone


def _layers(
    table: pl.DataFrame, first: str, second: str, deepest: int, size: tuple[int, int], theme: Theme
) -> list[dict[str, Any]]:
    """Places are worked out here, so that labels which would meet can be pushed apart."""

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
    flow = {
        "data": {"values": lines},
        "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 35, "filled": True}},
        "encoding": {
            "x": across,
            "y": down,
            "detail": {"field": "item"},
            "color": shade,
            "strokeDash": {
                "condition": {"test": "datum.relevant", "value": [1, 0]},
                "value": [2, 3],
            },
            "tooltip": [{"field": "item"}],
        },
    }
    texts = [
        {
            "data": {"values": [each for each in labels if each["align"] == align]},
            "mark": {"type": "text", "align": align, "dx": shift, "baseline": "middle"},
            "encoding": {"x": across, "y": down, "text": {"field": "words"}},
        }
        for _, align, shift in sides.values()
    ]
    heads = [
        {
            "data": {"values": [{"words": name}]},
            "mark": {"type": "text", "align": align, "dx": shift, "fontWeight": "bold"},
            "encoding": {"x": {"value": x_at}, "y": {"value": -24}, "text": {"field": "words"}},
        }
        for name, (x_at, align, shift) in zip((first, second), sides.values(), strict=True)
    ]
    return [flow, *texts, *heads]
