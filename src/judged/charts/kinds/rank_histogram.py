"""At which ranks relevant items stand, and their median."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
import polars as pl

from judged.arrays import Floats, Ints
from judged.charts.canvas import Canvas, Design
from judged.charts.chart import HEIGHT, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.sources import Source, Systems, unweighted
from judged.errors import InputError
from judged.options import choice
from judged.text import counted

KIND = "rank-histogram"
EACH = 20  # down to this rank, where no item stands further down, every rank has a bar of its own
LOST = "not retrieved"
Of = Literal["all", "first"]
OF: dict[Of, str] = {"all": "all relevant items", "first": "the first relevant item of each query"}


@takes_design(of="All relevant items, which is the default, or only the first of each query.")
def rank_histogram(
    source: Source, *, of: Of = "all", rel: float = 1, **design: Unpack[Design]
) -> Chart:
    """How many relevant items stand at which ranks, and their median.

    >>> from judged import Rankings
    >>> chart = rank_histogram(Rankings.from_relevance([[0, 0, 1, 0, 1, 0, 0, 1]]))
    >>> chart.title
    'Ranks of all relevant items in run: the median is 5'
    """
    choice("of", of, OF)
    systems = unweighted(Systems.of(source).one())
    r = systems.rankings[0]
    query, rank, ordinal = r.relevant_hits(None, rel)
    if of == "first":
        query, rank = query[ordinal == 1], rank[ordinal == 1]
    wanted = r.relevant(rel).sum() if of == "all" else (r.relevant(rel) > 0).sum()
    if not wanted:
        raise InputError(f"{r.name}: nothing is relevant, so there are no ranks to show.")
    lost = int(wanted) - len(rank)
    first, last = _bins(int(rank.max(initial=1)))
    counts = np.bincount(np.searchsorted(last, rank), minlength=len(last))
    ranks = np.concatenate([rank.astype(np.float64), np.full(lost, np.inf)])
    median = float(np.median(ranks))
    table = _table(r.name, len(r), of, first, last, counts, lost, median)
    return draw(table, **design, sentences=Systems.of(source).sentences())


def _bins(deepest: int) -> tuple[Ints, Ints]:
    """Return first and last ranks of bins: each rank, or 1 to 5, 6–10, 11–20, 21–50, 51–100, …"""
    if deepest <= EACH:
        return np.arange(1, deepest + 1), np.arange(1, deepest + 1)
    last = [1, 2, 3, 4, 5]
    while last[-1] < deepest:
        power = 10 ** int(np.floor(np.log10(last[-1])))
        last.append({1: 2, 2: 5, 5: 10}[last[-1] // power] * power)
    ends = np.array(last)
    return np.concatenate([[1], ends[:-1] + 1]), ends


def _table(
    run: str, queries: int, of: str, first: Ints, last: Ints, counts: Ints, lost: int, median: float
) -> pl.DataFrame:
    labels = [
        f"{a}" if a == b else f"{a}–{b}" for a, b in zip(first.tolist(), last.tolist(), strict=True)
    ]
    holds = [
        bool(a - 0.5 <= median < b + 0.5)
        for a, b in zip(first.tolist(), last.tolist(), strict=True)
    ]
    total = max(int(counts.sum()) + lost, 1)
    every: Floats = np.append(counts, lost) / total
    table = pl.DataFrame(
        {
            "run": run,
            "queries": queries,
            "of": of,
            "ranks": [*labels, LOST],
            "rank_from": pl.Series([*first.tolist(), None], dtype=pl.Int64),
            "rank_to": pl.Series([*last.tolist(), None], dtype=pl.Int64),
            "items": [*counts.tolist(), lost],
            "share": every,
            "holds_median": [*holds, bool(np.isinf(median))],
            "median": median,
        }
    )
    return table if lost else table.head(-1)


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    chosen = canvas.theme
    of, median, total = table["of"][0], float(table["median"][0]), int(table["items"].sum())
    lost = int(table.filter(ranks=LOST)["items"].sum())
    most = int(table["items"].max() or 1)  # type: ignore[arg-type]
    x = {
        "field": "ranks",
        "type": "nominal",
        "title": "rank",
        "sort": None,
        "axis": {"labelAngle": 0},
    }
    y: dict[str, Any] = {
        "field": "items",
        "type": "quantitative",
        "title": "relevant items",
        "axis": {"format": ",d"},
    }
    if most <= 10:
        y["axis"] = {"values": list(range(most + 1)), "format": "d"}
    tooltip = [{"field": "ranks"}, {"field": "items"}, {"field": "share", "format": ".1%"}]
    bars = {
        "mark": {"type": "bar"},
        "encoding": {
            "x": x,
            "y": y,
            "color": {
                "condition": {"test": "datum.holds_median", "value": chosen.wrong},
                "value": chosen.series[0],
            },
            "tooltip": tooltip,
        },
    }
    numbers = {
        "transform": [
            {"filter": "datum.items > 0"},
            {"calculate": "format(datum.items, ',')", "as": "label"},
        ],
        "mark": {"type": "text", "dy": -7},
        "encoding": {"x": x, "y": y, "text": {"field": "label"}},
    }
    word = {
        "transform": [{"filter": "datum.holds_median"}],
        "mark": {"type": "text", "dy": -21, "fontWeight": "bold", "color": chosen.wrong},
        "encoding": {"x": x, "y": y, "text": {"value": "median"}},
    }
    wide = table.filter(pl.col("rank_to") > pl.col("rank_from")).height > 0
    notes = [
        f"{counted(total, 'item')} in {counted(int(table['queries'][0]), 'query', 'queries')}"
        + (f"; {lost:,} were not retrieved and count as behind the last rank." if lost else "."),
        "Bars further down stand for several ranks." if wide else "",
        *sentences,
    ]
    middle = "item was not retrieved" if np.isinf(median) else f"is {median:g}"
    title = f"Ranks of {OF[of]} in {table['run'][0]}: the median {middle}"
    width = canvas.across(max(300, (58 if wide else 34) * table.height + 40))
    drawn = layers(bars, numbers, word, width=width, height=canvas.down(HEIGHT))
    return chart(KIND, table, canvas, title, notes, drawn, width=width)
