"""What an index finds of the exact lists against how long it takes, value by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from judged.charts.axes import number_axis, share_axis
from judged.charts.canvas import Canvas, Design
from judged.charts.chart import Chart
from judged.charts.lines import curves
from judged.charts.record import Record
from judged.charts.specification import HEIGHT, WIDTH, chart, layers
from judged.errors import InputError
from judged.options import checked

if TYPE_CHECKING:
    from judged.embeddings.index_sweep import IndexSweep

KIND = "index-sweep"
CURVES = {"mean": "recall", "p5": "p5"}
"""What each curve is called, and what it is in the sweep."""


def data(sweep: IndexSweep | Mapping[str, Any]) -> pl.DataFrame:
    """A row for each curve and value of the parameter, the quickest first."""
    found = Record.of(
        sweep,
        what="sweep of an index",
        how="Embeddings.sweep_index or `judged embeddings … --index FILE --sweep ef=16,32`",
    )
    rows = sorted(found.records("rows"), key=lambda row: row.number("seconds"))
    if not rows:
        raise InputError("the sweep of an index has no values to show; make it again.")
    listed = [
        {
            "curve": curve,
            "parameter": found.text("parameter"),
            "value": row.number("value"),
            "milliseconds": row.number("seconds") * 1000,
            "recall": row.number(name),
            "k": found.count("k"),
        }
        for curve, name in CURVES.items()
        for row in rows
    ]
    return pl.DataFrame(listed)


@checked
def index_sweep(sweep: IndexSweep | Mapping[str, Any], **design: Unpack[Design]) -> Chart:
    """What an index finds of the exact lists against how long a query takes, value by value.

    Parameters
    ----------
    sweep : IndexSweep or dict
        What `Embeddings.sweep_index` gives, or its JSON.
    **design : Design
        How it is drawn: `theme`, `width`, `height`, `title`, `notes`, `looks`.

    Returns
    -------
    Chart
        The data, the drawing and what there is to say; `save` writes it to a file.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.9, 0.1], [0.1, 0.9]])
    >>> def careless(block, k, ef):
    ...     return [[0 if ef > 1 else 1]] * len(block), [[0.0]] * len(block)
    >>> asked = {"parameter": "ef", "values": [1, 2], "k": 1}
    >>> swept = both.sweep_index(careless, {"0": {"0": 1}}, "RR", **asked)
    >>> sorted(index_sweep(swept).data.filter(curve="mean")["recall"].to_list())
    [0.0, 1.0]
    """
    return draw(data(sweep), **design)


def draw(table: pl.DataFrame, **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    frame = canvas.frame(WIDTH, HEIGHT, list(CURVES))
    x = number_axis("milliseconds of a query, median", "milliseconds")
    y = share_axis("share of the exact list found", "recall")
    name, k = table["parameter"][0], table["k"][0]
    labels = {
        "transform": [{"filter": "datum.curve === 'mean'"}],
        "mark": {"type": "text", "dy": -10, "color": canvas.theme.ink},
        "encoding": {"x": x, "y": y, "text": {"field": "value", "type": "quantitative"}},
    }
    return chart(
        KIND,
        table,
        title=f"What the index finds of the exact first {k:,}, by {name}",
        notes=[
            f"Numbers at the points are values of {name}.",
            "p5 is what the worst twentieth of the queries does not exceed.",
            "Times are of one query at a time, on one machine.",
        ],
        canvas=canvas,
        parts=layers(
            *curves(table, "curve", x=x, y=y, canvas=canvas, frame=frame),
            labels,
            width=frame.width,
            height=frame.height,
        ),
        words=_words,
    )


def _words(row: dict[str, Any]) -> str:
    """What a mark says."""
    return (
        f"{row['curve']}, {row['parameter']} {row['value']:g}: {row['recall']:.3f} in "
        f"{row['milliseconds']:.3g} ms"
    )
