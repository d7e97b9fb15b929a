"""How the scores of relevant results and of others are spread: how well a score tells them apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from judged.charts.chart import Chart
from judged.charts.drawing import HEIGHT, LINE, chart, layers, number_axis, spread
from judged.charts.results import Scores
from judged.charts.themes import theme_named
from judged.checks import whole
from judged.errors import InputError

KIND = "scores"
BINS = 40


def data(
    judgements: Any, run: Any, *, bins: int = BINS, rel: float = 1, unjudged: str = "nonrelevant"
) -> pl.DataFrame:
    """A row for each bin and group (relevant, other): how many results have such a score, and what
    share of their group."""
    bins = whole("bins", bins)
    found = Scores.of(judgements, run, rel=rel, unjudged=unjudged)
    finite = [each[np.isfinite(each)] for each in (found.relevant, found.every)]
    if not len(finite[1]):
        raise InputError(f"{found.name}: there is no finite score to show.")
    edges = np.histogram_bin_edges(finite[1], bins=int(bins))
    relevant, every = (np.histogram(each, bins=edges)[0] for each in finite)
    total, other = (float(each.sum()) for each in (finite[0], finite[1]))
    rest = len(finite[1]) - len(finite[0])
    means = {
        "relevant": total / len(finite[0]) if len(finite[0]) else np.nan,
        "other": (other - total) / rest if rest else np.nan,
    }
    groups = {"relevant": relevant.tolist(), "other": (every - relevant).tolist()}
    return histogram(found.name, edges.tolist(), groups, means, found.unjudged)


def histogram(
    run: str,
    edges: list[float],
    groups: dict[str, list[int]],
    means: dict[str, float],
    said: str = "",
) -> pl.DataFrame:
    """The table of a histogram of groups over the same bins."""
    frames = [
        pl.DataFrame(
            {
                "run": run,
                "group": name,
                "score_from": edges[:-1],
                "score_to": edges[1:],
                "count": pl.Series(counts, dtype=pl.Int64),
                "share": np.array(counts) / max(sum(counts), 1),
                "mean": float(means[name]),
                "said": said,
            }
        )
        for name, counts in groups.items()
    ]
    return pl.concat(frames)


def scores(
    judgements: Any,
    run: Any,
    *,
    bins: int = BINS,
    rel: float = 1,
    unjudged: str = "nonrelevant",
    theme: str = "light",
) -> Chart:
    """Histograms of the scores of relevant results and of all others; from judgements and a run, or
    y_true and y_score.

    >>> scores([1, 0, 0, 1], [0.9, 0.2, 0.4, 0.8], bins=2).data["count"].to_list()
    [0, 2, 2, 0]
    """
    return draw(data(judgements, run, bins=bins, rel=rel, unjudged=unjudged), theme=theme)


def draw(table: pl.DataFrame, *, theme: str = "light", kind: str = KIND) -> Chart:
    chosen = theme_named(theme)
    shades = {"relevant": chosen.right, "other": chosen.wrong}
    high = float(table["share"].max()) * 1.15 or 1.0  # type: ignore[arg-type]
    x = number_axis("score", "score_from", scale={"zero": False, "nice": False})
    y = number_axis(
        "share of the group",
        "share",
        scale={"domain": [0, high], "nice": False},
        axis={"format": "%"},
    )
    parts: list[dict[str, Any]] = []
    # Others lie behind, filled; relevant results in front, with a heavy outline: in grey they
    # differ by that.
    there = set(table["group"])
    for group, shade in (
        (name, shade) for name, shade in reversed(shades.items()) if name in there
    ):
        only = [{"filter": {"field": "group", "equal": group}}]
        tooltip = [{"field": name} for name in ("group", "score_from", "score_to", "count")]
        fill = {
            "transform": only,
            "mark": {"type": "rect", "color": shade, "opacity": 0.4 if group == "other" else 0.25},
            "encoding": {
                "x": x,
                "x2": {"field": "score_to"},
                "y": y,
                "y2": {"datum": 0},
                "tooltip": tooltip,
            },
        }
        outline = {
            "data": {"values": _outline(table, group)},
            "mark": {
                "type": "line",
                "color": shade,
                "strokeWidth": 2.4 if group == "relevant" else 1,
            },
            "encoding": {
                "x": {**x, "field": "x"},
                "y": {**y, "field": "y"},
                "order": {"field": "order", "type": "quantitative"},
            },
        }
        parts += [fill, outline]
    parts += _names(table, x, y, shades, high)
    counts = dict(table.group_by("group").agg(pl.col("count").sum()).rows())
    means = dict(table.group_by("group").agg(pl.col("mean").first()).rows())
    averages = [
        f"{'relevant items' if group == 'relevant' else 'others'} {means[group]:.4g} on average "
        f"({counts[group]:,})"
        for group in shades
        if counts.get(group)
    ]
    said = [f"{'; '.join(averages)[:1].upper()}{'; '.join(averages)[1:]}.", table["said"][0]]
    title = f"Scores of relevant items and of others: {table['run'][0]}"
    return chart(kind, table, title=title, notes=said, theme=theme, parts=layers(*parts))


def _outline(table: pl.DataFrame, group: str) -> list[dict[str, float]]:
    """The corners of a histogram's outline."""
    corners = []
    for left, right, share in (
        table.filter(group=group).select("score_from", "score_to", "share").rows()
    ):
        corners += [(left, share), (right, share)]
    first, last = corners[0][0], corners[-1][0]
    every = [(first, 0.0), *corners, (last, 0.0)]
    return [
        {"x": float(f"{x:.7g}"), "y": float(f"{y:.7g}"), "order": at}
        for at, (x, y) in enumerate(every)
    ]


def _names(
    table: pl.DataFrame, x: dict[str, Any], y: dict[str, Any], shades: dict[str, str], high: float
) -> list[dict[str, Any]]:
    """The name of each group at its peak, two that are near above each other."""
    tops = []
    for group, shade in shades.items():
        own = table.filter(group=group)
        if own.height and own["count"].sum():
            left, right, share = (
                own.sort("share", descending=True).select("score_from", "score_to", "share").row(0)
            )
            tops.append(((left + right) / 2, share, f"{group}: {int(own['count'].sum()):,}", shade))
    low, end = float(table["score_from"].min()), float(table["score_to"].max())  # type: ignore[arg-type]
    gap = high * LINE / HEIGHT
    heights = [top[1] + gap * 0.7 for top in tops]
    if len(tops) == 2 and abs(tops[0][0] - tops[1][0]) < 0.4 * (end - low):
        heights = spread(heights, gap * 1.1, 0, high)
    # Names lean away from each other, and stay within the frame.
    room = 0.24 * (end - low)
    labels = []
    for (at, _, words, shade), height in zip(tops, heights, strict=True):
        left = at == max(top[0] for top in tops)
        value = {"x": min(at, end - room) if left else max(at, low + room), "y": height}
        labels.append(
            {
                "data": {
                    "values": [
                        {
                            **{name: float(f"{each:.7g}") for name, each in value.items()},
                            "words": words,
                        }
                    ]
                },
                "mark": {
                    "type": "text",
                    "fontWeight": "bold",
                    "align": "left" if left else "right",
                    "color": shade,
                },
                "encoding": {
                    "x": {**x, "field": "x"},
                    "y": {**y, "field": "y"},
                    "text": {"field": "words"},
                },
            }
        )
    return labels
