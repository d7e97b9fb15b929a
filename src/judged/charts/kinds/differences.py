"""The differences of two systems, query by query, the greatest first: who wins where, and by how
much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from judged.charts.canvas import Canvas, Design, labels, number_axis
from judged.charts.chart import HEIGHT, WIDTH, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import Side, sided
from judged.charts.sources import NAMED, SAID, Paired, PairSource, paired, said_of, signed
from judged.charts.svg import NUMBERED, ROWS, Theme
from judged.text import counted

if TYPE_CHECKING:
    from judged.arrays import Ints
    from judged.measures import Measure

KIND = "differences"
MOST = 300  # so many bars can be told apart; more queries share them


def _table(pair: Paired) -> pl.DataFrame:
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


FACTS = ("measure", "run_a", "run_b")


def _bars(count: int) -> Ints:
    """Return the bar of each query; many queries share bars, except the first and last few."""
    each = np.arange(count)
    if count <= MOST:
        return each
    between = NAMED + (each - NAMED) * (MOST - 2 * NAMED) // (count - 2 * NAMED)
    ends = np.where(each < NAMED, each, MOST - count + each)
    return np.where((each < NAMED) | (each >= count - NAMED), ends, between)


@takes_design()
def differences(
    source: PairSource, *, measure: str | Measure | None = None, **design: Unpack[Design]
) -> Chart:
    """Sorted per-query differences of two systems on one measure, and how sure their mean is.

    >>> from judged import Rankings
    >>> a = Rankings.from_relevance([[1, 0], [0, 1]], name="a")
    >>> b = Rankings.from_relevance([[1, 0], [1, 0]], name="b")
    >>> differences([a, b], measure="RR").data.select("query", "difference").rows()
    [('2', 0.5), ('1', 0.0)]
    """
    pair = paired(source, measure)
    return draw(_table(pair), **design, sentences=pair.notes)


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
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
    bars = {
        "transform": [
            NUMBERED,
            {"calculate": f"datum.place_from - 1 + {gap}", "as": "left"},
            {"calculate": f"datum.place_to - {gap}", "as": "right"},
        ],
        "name": ROWS,
        "mark": {"type": "rect"},
        "encoding": {
            "x": x,
            "x2": {"field": "right"},
            "y": {**y, "field": "difference"},
            "y2": {"datum": 0},
            "color": {"condition": {"test": "datum.difference < 0", "value": under}, "value": over},
            "stroke": {
                "condition": {"test": "datum.difference < 0", "value": under},
                "value": over,
            },
            "strokeWidth": {
                "condition": {"test": f"datum.queries == 1 && {total} > {MOST}", "value": 1},
                "value": 0,
            },
            "tooltip": [
                {"field": "query"},
                {"field": "queries"},
                {"field": "difference", "format": ".4f"},
            ],
        },
    }
    zero = {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "color": chosen.muted},
        "encoding": {"y": {"datum": 0, "type": "quantitative"}},
    }
    first_side, second_side = _sides(table, chosen)
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
    drawn = layers(*parts, *frame.parts, width=frame.width, height=frame.height)
    return chart(
        KIND, table, canvas, title, notes, drawn, width=WIDTH + 90, unseen=SAID, words=_words
    )


def _words(row: dict[str, Any]) -> str:
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
        {
            "data": {"values": ends},
            "mark": {"type": "rect", "color": theme.fill},
            "encoding": {
                "x": {"value": 0},
                "x2": {"value": width},
                "y": {**y, "field": "low"},
                "y2": {"field": "high"},
            },
        }
    ]


def _sides(table: pl.DataFrame, theme: Theme) -> list[Side]:
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
