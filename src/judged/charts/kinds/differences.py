"""The differences of two systems, query by query, the greatest first: who wins where, and by how
much."""

from __future__ import annotations

import numpy as np
import polars as pl

from judged.charts.axes import number_axis
from judged.charts.chart import Chart
from judged.charts.sources import DEFAULT, Source, Systems, lower_note, paired
from judged.charts.specification import WIDTH, chart, layers
from judged.charts.themes import ThemeName, theme_named
from judged.checks import checked
from judged.measures import Measure, parse_measure
from judged.text import counted

KIND = "differences"
MOST = 300
"""So many bars can be told apart; more queries share them."""


def data(source: Source, *, measure: str | Measure = DEFAULT) -> pl.DataFrame:
    """A row for each query, or for each few that are neighbours: the second system's value minus
    the first's.

    `place_from` and `place_to` are the queries' places in descending order of that difference.
    """
    pairs = paired(source, measure)
    ordered = pairs.with_columns(difference=pl.col("b") - pl.col("a")).sort(
        "difference", descending=True, maintain_order=True
    )
    count = ordered.height
    bar = np.arange(count) if count <= MOST else np.arange(count) * MOST // count
    return (
        ordered.with_columns(place=pl.int_range(1, count + 1), bar=pl.Series(bar))
        .group_by("bar", maintain_order=True)
        .agg(
            pl.col("measure", "run_a", "run_b").first(),
            pl.when(pl.len() == 1).then(pl.col("query").first()).alias("query"),
            pl.len().cast(pl.Int64).alias("queries"),
            pl.col("place").min().alias("place_from"),
            pl.col("place").max().alias("place_to"),
            pl.col("difference").mean(),
            (pl.col("difference") > 0).sum().cast(pl.Int64).alias("above"),
            (pl.col("difference") < 0).sum().cast(pl.Int64).alias("below"),
        )
        .drop("bar")
    )


@checked
def differences(
    source: Source, *, measure: str | Measure = DEFAULT, theme: ThemeName = "light"
) -> Chart:
    """Sorted per-query differences of two systems on one measure.

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
    >>> differences([a, b], measure="RR").data.select("query", "difference").rows()
    [('2', 0.5), ('1', 0.0)]
    """
    return draw(data(source, measure=measure), theme=theme, notes=Systems.of(source).sentences())


def draw(
    table: pl.DataFrame, *, theme: ThemeName = "light", notes: list[str] | None = None
) -> Chart:
    chosen = theme_named(theme)
    measure, first, second = (table[name][0] for name in ("measure", "run_a", "run_b"))
    total, above, below = (int(table[name].sum()) for name in ("queries", "above", "below"))
    mean = float((table["difference"] * table["queries"]).sum()) / total
    up, down = (
        ("better", "worse") if parse_measure(measure).spec.higher_is_better else ("worse", "better")
    )
    reach = float(table["difference"].abs().max() or 1)  # type: ignore[arg-type]
    y = number_axis(f"difference of {measure}", "difference", scale={"domain": [-reach, reach]})
    x = number_axis(
        "queries, by difference",
        "left",
        scale={"domain": [0, total], "nice": False},
        axis={"format": ",d"},
    )
    gap = 0.15 if total <= 60 else 0
    bars = {
        "transform": [
            {"calculate": f"datum.place_from - 1 + {gap}", "as": "left"},
            {"calculate": f"datum.place_to - {gap}", "as": "right"},
        ],
        "mark": {"type": "rect"},
        "encoding": {
            "x": x,
            "x2": {"field": "right"},
            "y": {**y, "field": "difference"},
            "y2": {"datum": 0},
            "color": {
                "condition": {"test": "datum.difference < 0", "value": chosen.wrong},
                "value": chosen.right,
            },
            "tooltip": [
                {"field": "query"},
                {"field": "queries"},
                {"field": "difference", "format": ".4f"},
            ],
        },
    }
    zero = {
        "mark": {"type": "rule", "color": chosen.muted},
        "encoding": {"y": {"datum": 0, "type": "quantitative"}},
    }
    average = {
        "mark": {"type": "rule", "color": chosen.ink, "strokeDash": [4, 3]},
        "encoding": {"y": {"datum": mean, "type": "quantitative"}},
    }
    # Where the bars are not: they fall from the upper left to the lower right.
    named = [
        {
            "data": {
                "values": [
                    {"at": at, "words": f"{second} {word}: {counted(count, 'query', 'queries')}"}
                ]
            },
            "mark": {
                "type": "text",
                "align": align,
                "fontWeight": "bold",
                "baseline": "middle",
                "color": shade,
            },
            "encoding": {
                "x": {"value": across},
                "y": {**y, "field": "at"},
                "text": {"field": "words"},
            },
        }
        for at, word, count, shade, align, across in (
            (reach, up, above, chosen.right, "right", WIDTH - 4),
            (-reach, down, below, chosen.wrong, "left", 6),
        )
    ]
    each = total / table.height
    said = [
        f"The mean is {mean:+.4f} (dashed). "
        f"The two are equal in {total - above - below:,} of {counted(total, 'query', 'queries')}.",
        f"A bar is the mean of about {each:.0f} neighbouring queries." if each > 1 else "",
        lower_note(measure),
        *(notes or ()),
    ]
    title = f"{measure}: {second} minus {first}, query by query"
    return chart(
        KIND, table, title=title, notes=said, theme=theme, parts=layers(bars, zero, average, *named)
    )
