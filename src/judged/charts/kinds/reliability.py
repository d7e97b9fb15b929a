"""Whether a score of 0.8 means that eight of ten such results are relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from judged.charts.canvas import BELOW, Canvas, Design, number_axis, share_axis
from judged.charts.chart import Chart, chart
from judged.charts.kinds import takes_design
from judged.charts.kinds.scores import Scores
from judged.charts.svg import Theme
from judged.errors import InputError
from judged.options import whole
from judged.text import counted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from judged.options import JudgementsLike, RunLike, Unjudged

KIND = "reliability"
BINS = 10
COUNTS, APART = 70, 18  # pixels of the counts below a diagram, and between the two
BELOW_MAIN = 2 * BELOW + COUNTS + APART


@takes_design(bins="How many bins scores are put into, by default 10.")
def reliability(
    judgements: JudgementsLike | ArrayLike,
    run: RunLike | ArrayLike,
    *,
    bins: int = BINS,
    rel: float = 1,
    unjudged: Unjudged = "nonrelevant",
    **design: Unpack[Design],
) -> Chart:
    """Scores between 0 and 1 against the share of results that are relevant.

    >>> chart = reliability([1, 0, 0, 1], [1.0, 0.25, 0.25, 0.75], bins=2)
    >>> chart.data.select("score", "share_relevant").rows()
    [(0.25, 0.0), (0.875, 1.0)]
    """
    size = whole("bins", bins)
    found = Scores.of(judgements, run, rel=rel, unjudged=unjudged)
    if not len(found.every):
        raise InputError(f"{found.name}: there is no score to show.")
    low, high = float(found.every.min(initial=0)), float(found.every.max(initial=1))
    if low < 0 or high > 1:
        raise InputError(
            f"{found.name}: scores must be probabilities, from 0 to 1; they go from {low:g} to "
            f"{high:g}. "
            "Bring them there first, with a sigmoid or softmax, say."
        )
    place = [
        np.minimum((each * size).astype(np.int64), size - 1)
        for each in (found.relevant, found.every)
    ]
    relevant, count = (np.bincount(each, minlength=size) for each in place)
    summed = np.bincount(place[1], found.every, minlength=size)
    there = count > 0
    edges = np.arange(size + 1) / size
    table = pl.DataFrame(
        {
            "run": pl.Series([found.name]).new_from_index(0, int(there.sum())),
            "score_from": edges[:-1][there],
            "score_to": edges[1:][there],
            "score": (summed / np.maximum(count, 1))[there],
            "share_relevant": (relevant / np.maximum(count, 1))[there],
            "count": count[there],
            "said": pl.Series([found.unjudged]).new_from_index(0, int(there.sum())),
        }
    )
    return draw(table, **design)


def calibration_error(table: pl.DataFrame) -> float:
    """Return the mean gap between score and share of relevant results, weighted by their number."""
    count = table["count"].to_numpy()
    gap = np.abs(table["score"].to_numpy() - table["share_relevant"].to_numpy())
    return float((gap * count).sum() / count.sum())


def draw(table: pl.DataFrame, **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    notes = [
        "Points on the dashed line are right; the bars are the gaps. "
        f"Expected calibration error {calibration_error(table):.4f} over "
        f"{counted(int(table['count'].sum()), 'result')} in {counted(table.height, 'bin')}.",
        table["said"][0],
    ]
    title = f"Scores read as probabilities: {table['run'][0]}"
    width, height = canvas.across(340), canvas.down(300, below=BELOW_MAIN)
    return chart(
        KIND,
        table,
        canvas,
        title,
        notes,
        diagram(canvas.theme, width=width, height=height),
        width=360,
    )


def diagram(
    theme: Theme,
    *,
    score: str = "score",
    share: str = "share of relevant results",
    results: str = "results",
    only: dict[str, Any] | None = None,
    width: int = 340,
    height: int = 300,
    most: int | None = None,
) -> dict[str, Any]:
    """Return a reliability diagram above the counts of its bins, of rows that `only` selects."""
    x = share_axis(score, "score")
    y = share_axis(share, "share_relevant")
    perfect = {
        "data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]},
        "mark": {"type": "line", "color": theme.muted, "strokeDash": [4, 3]},
        "encoding": {"x": {**x, "field": "x"}, "y": {**y, "field": "y"}},
    }
    rows: dict[str, Any] = {"transform": [only]} if only else {}
    gaps = {
        **rows,
        "mark": {"type": "rule", "color": theme.wrong, "strokeWidth": 4, "opacity": 0.55},
        "encoding": {"x": x, "y": y, "y2": {"field": "score"}},
    }
    line = {
        **rows,
        "mark": {"type": "line", "color": theme.series[0], "strokeWidth": 2},
        "encoding": {"x": x, "y": y},
    }
    tooltip = [
        {"field": name} for name in ("score_from", "score_to", "score", "share_relevant", "count")
    ]
    points = {
        **rows,
        "mark": {
            "type": "point",
            "filled": True,
            "size": 60,
            "color": theme.series[0],
            "opacity": 1,
        },
        "encoding": {"x": x, "y": y, "tooltip": tooltip},
    }
    ticks: dict[str, Any] = {"format": "~s", "tickCount": 3} | ({"tickMinStep": 1} if most else {})
    scale: dict[str, Any] = {"scale": {"domain": [0, most], "nice": False}} if most else {}
    counts = {
        **rows,
        "width": width,
        "height": COUNTS,
        "mark": {"type": "rect", "color": theme.series[0], "stroke": theme.background},
        "encoding": {
            "x": {**share_axis(score, "score_from"), "axis": {"grid": False}},
            "x2": {"field": "score_to"},
            "y": number_axis(results, "count", axis=ticks, **scale),
            "y2": {"datum": 0},
            "tooltip": tooltip,
        },
    }
    main = {"width": width, "height": height, "layer": [perfect, gaps, line, points]}
    return {"vconcat": [main, counts], "spacing": APART}
