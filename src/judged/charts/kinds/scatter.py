"""One system against another: one point per query, or one for many of them."""

from __future__ import annotations

import numpy as np
import polars as pl

from judged.charts.axes import share_axis
from judged.charts.chart import Chart
from judged.charts.sources import DEFAULT, Source, Systems, lower_note, paired
from judged.charts.specification import chart, layers
from judged.charts.themes import ThemeName, theme_named
from judged.checks import checked
from judged.measures import Measure, parse_measure
from judged.text import counted

KIND = "scatter"
MOST = 1500
"""More points than these are put into the cells of a grid."""
CELLS = 40
SIZE = 360


def data(source: Source, *, measure: str | Measure = DEFAULT) -> pl.DataFrame:
    """A row for each pair of values, with how many queries have it; where there are many pairs, for
    each cell of a grid."""
    pairs = paired(source, measure)
    better, worse, equal = _tally(pairs)
    points = _gathered(pairs)
    binned = points.height > MOST
    if binned:
        low, high = _bounds(pairs)
        step = (high - low) / CELLS or 1.0
        middle = [
            ((pl.col(side) - low) / step)
            .floor()
            .clip(0, CELLS - 1)
            .add(0.5)
            .mul(step)
            .add(low)
            .alias(side)
            for side in ("a", "b")
        ]
        points = _gathered(pairs.with_columns(middle))
    return points.select(
        pl.lit(pairs["measure"][0]).alias("measure"),
        pl.lit(pairs["run_a"][0]).alias("run_a"),
        pl.lit(pairs["run_b"][0]).alias("run_b"),
        pl.all(),
        pl.lit(better).alias("better"),
        pl.lit(worse).alias("worse"),
        pl.lit(equal).alias("equal"),
        pl.lit(binned).alias("binned"),
    )


def _tally(pairs: pl.DataFrame) -> tuple[int, int, int]:
    """In how many queries the second system is better, the first is, and neither."""
    sign = 1 if parse_measure(pairs["measure"][0]).spec.higher_is_better else -1
    apart = (pairs["b"] - pairs["a"]) * sign
    return int((apart > 0).sum()), int((apart < 0).sum()), int((apart == 0).sum())


def _gathered(pairs: pl.DataFrame) -> pl.DataFrame:
    """Equal pairs of values in one row; a query is named where it is alone."""
    return pairs.group_by("a", "b", maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("queries"),
        pl.when(pl.len() == 1).then(pl.col("query").first()).alias("query"),
    )


def _bounds(pairs: pl.DataFrame) -> tuple[float, float]:
    values = np.concatenate([pairs["a"].to_numpy(), pairs["b"].to_numpy()])
    return float(values.min()), float(values.max())


@checked
def scatter(
    source: Source, *, measure: str | Measure = DEFAULT, theme: ThemeName = "light"
) -> Chart:
    """Each query's value in two systems: above the diagonal the second one is higher.

    Parameters
    ----------
    source : Source
        An evaluation of two runs, two `Rankings`, or `Systems`: the second is compared with the
        first.
    measure : str or Measure, optional
        What is compared, by default nDCG@10.
    theme : {'light', 'dark'}, optional
        Colours for light pages, which is the default, or for dark ones.

    Returns
    -------
    Chart
        The data, the drawing and what there is to say; `save` writes it to a file.

    >>> from judged import Rankings
    >>> a = Rankings.from_relevance([[1, 0], [0, 1]], name="a")
    >>> b = Rankings.from_relevance([[1, 0], [1, 0]], name="b")
    >>> scatter([a, b], measure="RR").data.select("a", "b", "queries").rows()
    [(1.0, 1.0, 1), (0.5, 1.0, 1)]
    """
    return draw(data(source, measure=measure), theme=theme, notes=Systems.of(source).sentences())


def draw(
    table: pl.DataFrame, *, theme: ThemeName = "light", notes: list[str] | None = None
) -> Chart:
    chosen = theme_named(theme)
    measure, first, second = (table[name][0] for name in ("measure", "run_a", "run_b"))
    better, worse, equal = (int(table[name][0]) for name in ("better", "worse", "equal"))
    low, high = _bounds(table)
    if parse_measure(measure).spec.range == (0, 1):
        low, high = 0.0, 1.0
    edge = (high - low) * 0.03
    x = share_axis(f"{measure} of {first}", "a", low=low - edge, top=high + edge)
    y = share_axis(f"{measure} of {second}", "b", low=low - edge, top=high + edge)
    diagonal = {
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
    points = {
        "mark": {
            "type": "point",
            "filled": True,
            "opacity": 0.6,
            "color": chosen.series[0],
            "stroke": chosen.background,
        },
        "encoding": {
            "x": x,
            "y": y,
            "size": size if most > 1 else {"value": 40},
            "tooltip": [{"field": "query"}, {"field": "queries"}, {"field": "a"}, {"field": "b"}],
        },
    }
    upper, lower = (
        (better, worse) if parse_measure(measure).spec.higher_is_better else (worse, better)
    )
    # Outside the frame, where no point can lie.
    sides = [
        {
            "data": {"values": [{"words": words}]},
            "mark": {
                "type": "text",
                "align": "left",
                "fontWeight": "bold",
                "baseline": baseline,
                "color": chosen.ink,
            },
            "encoding": {"x": {"value": across}, "y": {"value": down}, "text": {"field": "words"}},
        }
        for words, across, down, baseline in (
            (f"{second} higher: {upper:,}", 0, -6, "bottom"),
            (f"{first} higher: {lower:,}", SIZE + 8, SIZE - 12, "middle"),
        )
    ]
    total = better + worse + equal
    said = [
        f"{counted(total, 'query', 'queries')}; the two are equal in {equal:,}."
        + (f" A larger point stands for more queries, up to {most:,}." if most > 1 else ""),
        f"Queries are put together in a grid of {CELLS} × {CELLS}." if table["binned"][0] else "",
        lower_note(measure),
        *(notes or ()),
    ]
    title = f"{measure}, query by query: {second} against {first}"
    parts = layers(diagonal, points, *sides, width=SIZE, height=SIZE)
    return chart(KIND, table, title=title, notes=said, theme=theme, parts=parts, width=SIZE + 100)
