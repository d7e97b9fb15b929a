"""The confusion counts at one cutoff, as a matrix: what is relevant against what is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from judged.charts.canvas import Canvas, Design
from judged.charts.chart import Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.sources import Source, Systems, checked_k, unweighted
from judged.measures import parse_measure
from judged.text import counted

KIND = "confusion"
DEFAULT_K = 10
CELLS = {
    "TP": ("relevant", "among the first k", "true positives"),
    "FN": ("relevant", "not among them", "false negatives"),
    "FP": ("not relevant", "among the first k", "false positives"),
    "TN": ("not relevant", "not among them", "true negatives"),
}


@takes_design(k="How many results count, by default 10.")
def confusion(
    source: Source,
    *,
    query: str | None = None,
    k: int | None = None,
    rel: float = 1,
    **design: Unpack[Design],
) -> Chart:
    """The confusion matrix at k: what is relevant against what is shown, summed over queries.

    >>> from judged import Rankings
    >>> ranked = Rankings.from_relevance([[1, 0, 1, 1]], relevant=[5], collection=100)
    >>> confusion(ranked, k=3).data["count"].to_list()
    [2, 3, 1, 94]
    """
    systems = unweighted(Systems.of(source).one(query))
    r = systems.rankings[0]
    depth = checked_k(k, DEFAULT_K, DEFAULT_K)
    # TN is null where the size of the collection is unknown.
    known = [name for name in CELLS if name != "TN" or r.collection is not None]
    measures = {name: parse_measure(name)(k=depth, rel=rel) for name in known}
    [run] = systems.evaluate(list(measures.values())).runs
    counts = {name: round(run.summary[measure]) for name, measure in measures.items()}
    about = r.queries[0] if len(r) == 1 else None
    rows = [
        (r.name, about, len(r), depth, name, words, actual, shown, counts.get(name))
        for name, (actual, shown, words) in CELLS.items()
    ]
    names = ("run", "query", "queries", "k", "name", "words", "actual", "shown", "count")
    types = {"queries": pl.Int64, "k": pl.Int64, "count": pl.Int64}
    table = pl.DataFrame(
        rows, schema={name: types.get(name, pl.String) for name in names}, orient="row"
    )
    return draw(table, **design, sentences=Systems.of(source).sentences(query))


def draw(table: pl.DataFrame, *, sentences: Sequence[str] = (), **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    chosen = canvas.theme
    k, queries, query = int(table["k"][0]), int(table["queries"][0]), table["query"][0]
    unknown = table["count"].null_count() > 0
    x = {
        "field": "shown",
        "type": "nominal",
        "title": None,
        "sort": None,
        "axis": {"labelAngle": 0, "orient": "top"},
    }
    y = {"field": "actual", "type": "nominal", "title": None, "sort": None}
    # Right decisions are dark and framed, wrong ones light: the difference is there in grey too.
    good = "indexof(['TP', 'TN'], datum.name) >= 0"
    cells = {
        "mark": {"type": "rect", "stroke": chosen.background, "strokeWidth": 3},
        "encoding": {
            "x": x,
            "y": y,
            "color": {"condition": {"test": good, "value": chosen.fill}, "value": chosen.grid},
        },
    }
    place = {"x": x, "y": y}
    number = {
        "transform": [
            {"calculate": "isValid(datum.count) ? format(datum.count, ',') : '?'", "as": "label"}
        ],
        "mark": {"type": "text", "fontSize": 24, "dy": -8, "fontWeight": "bold"},
        "encoding": {**place, "text": {"field": "label"}},
    }
    words = {
        "transform": [{"calculate": "datum.words + ' (' + datum.name + ')'", "as": "label"}],
        "mark": {"type": "text", "dy": 16, "fontSize": 12},
        "encoding": {**place, "text": {"field": "label"}},
    }
    notes = [
        "" if query else f"Summed over {counted(queries, 'query', 'queries')}.",
        _shares(table),
        "True negatives need the size of the collection: collection=… (--collection)."
        if unknown
        else "",
        *sentences,
    ]
    about = f", query {query}" if query else ""
    title = f"Relevant or not, shown or not, at k = {k}: {table['run'][0]}{about}"
    width, height = canvas.across(380, beside=90), canvas.down(190, below=30)
    parts = layers(cells, number, words, width=width, height=height)
    return chart(KIND, table, canvas, title, notes, parts, width=width)


def _shares(table: pl.DataFrame) -> str:
    count = dict(zip(table["name"], table["count"], strict=True))
    shown, relevant = count["TP"] + count["FP"], count["TP"] + count["FN"]
    right = (
        f"{count['TP']:,} of {shown:,} results shown are relevant" if shown else "nothing is shown"
    )
    return (
        f"{right[0].upper()}{right[1:]}; {count['TP']:,} of "
        f"{counted(relevant, 'relevant item')} are shown."
    )
