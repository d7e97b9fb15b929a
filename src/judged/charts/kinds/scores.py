"""How the scores of relevant results and of others are spread: how well a score tells them
apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
import polars as pl

from judged.arrays import Floats, positions, starts_of
from judged.charts.canvas import BELOW, Canvas, Design, number_axis, text_width
from judged.charts.chart import HEIGHT, WIDTH, Chart, chart, layers
from judged.charts.kinds import takes_design
from judged.charts.lines import LINE
from judged.charts.svg import Theme
from judged.errors import InputError
from judged.inputs import Judgements, Lookup, read_judgements, read_run
from judged.inputs.tables import Run
from judged.matching.join import match
from judged.matching.pool import pool_of
from judged.options import choice, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from judged.options import JudgementsLike, RunLike, Unjudged

KIND = "scores"
BINS = 40
UNJUDGED = {
    "nonrelevant": "Results that nobody judged count as not relevant.",
    "removed": "Results that nobody judged are left out.",
}


@takes_design(bins="How many bins scores are put into, by default 40.")
def scores(
    judgements: JudgementsLike | ArrayLike,
    run: RunLike | ArrayLike,
    *,
    bins: int = BINS,
    rel: float = 1,
    unjudged: Unjudged = "nonrelevant",
    **design: Unpack[Design],
) -> Chart:
    """Histograms of the scores of relevant results and of all others.

    >>> scores([1, 0, 0, 1], [0.9, 0.2, 0.4, 0.8], bins=2).data["count"].to_list()
    [0, 2, 2, 0]
    """
    bins = whole("bins", bins, at_most=10_000)
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
    table = histogram(found.name, edges.tolist(), groups, means, found.unjudged)
    return draw(table, **design)


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a run's results: of those that are relevant, and of all that count."""

    relevant: Floats
    every: Floats
    name: str = "scores"
    unjudged: str = ""  # what became of unjudged results, in words; empty where all were judged

    @classmethod
    def of(
        cls,
        judgements: JudgementsLike | ArrayLike,
        run: RunLike | ArrayLike,
        *,
        rel: float,
        unjudged: Unjudged,
    ) -> Scores:
        """From judgements and a run, or from grades and scores side by side."""
        choice("unjudged", unjudged, UNJUDGED)
        if _side_by_side(judgements, run):
            return _of_numbers(judgements, run, rel)
        pool = pool_of(read_judgements(cast("JudgementsLike", judgements)))
        table = read_run(cast("RunLike", run))
        found = match(pool, table, duplicates="error")
        grade = pool.grades[found.hit_judgement]
        judged = found.hit_score[grade >= 0]
        if unjudged == "removed":
            every = judged
        else:
            lists = found.list_of[found.list_of >= 0]
            every = found.scores[positions(starts_of(found.lengths)[lists], found.lengths[lists])]
        said = UNJUDGED[unjudged] if unjudged == "removed" or len(judged) < len(every) else ""
        return cls(found.hit_score[grade >= rel], every, table.name, said)


def _side_by_side(judgements: JudgementsLike | ArrayLike, run: Any) -> bool:
    """Whether these are numbers in a row rather than something with ids."""
    if any(
        isinstance(each, (str, PathLike, Mapping, Judgements, Run, Lookup))
        for each in (judgements, run)
    ):
        return False
    return isinstance(judgements, (list, tuple, np.ndarray)) and isinstance(
        run, (list, tuple, np.ndarray)
    )


def _of_numbers(grades: Any, scores: Any, rel: float) -> Scores:
    flat = [_flat(each) for each in (grades, scores)]
    if len(flat[0]) != len(flat[1]):
        raise InputError(
            f"there are {len(flat[0]):,} grades and {len(flat[1]):,} scores; they must be as many."
        )
    if not all(np.isfinite(each).all() for each in flat):
        raise InputError("grades and scores must be finite numbers.")
    return Scores(flat[1][flat[0] >= rel], flat[1])


def _flat(values: Any) -> Floats:
    rows = [np.atleast_1d(np.asarray(row, dtype=np.float64)) for row in values]
    return np.concatenate([row.ravel() for row in rows]) if rows else np.zeros(0)


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


def draw(table: pl.DataFrame, *, kind: str = KIND, **design: Unpack[Design]) -> Chart:
    canvas = Canvas.of(design)
    chosen = canvas.theme
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
    width, height = canvas.across(WIDTH), canvas.down(HEIGHT, below=BELOW + 2 * LINE)
    parts += _names(table, x, shades, chosen, width)
    counts = dict(table.group_by("group").agg(pl.col("count").sum()).rows())
    means = dict(table.group_by("group").agg(pl.col("mean").first()).rows())
    averages = [
        f"{'relevant items' if group == 'relevant' else 'others'} {means[group]:.4g} on average "
        f"({counts[group]:,})"
        for group in shades
        if counts.get(group)
    ]
    notes = [f"{'; '.join(averages)[:1].upper()}{'; '.join(averages)[1:]}.", table["said"][0]]
    title = f"Scores of relevant items and of others: {table['run'][0]}"
    drawn = layers(*parts, width=width, height=height)
    return chart(kind, table, canvas, title, notes, drawn)


def _outline(table: pl.DataFrame, group: str) -> list[dict[str, float]]:
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
    table: pl.DataFrame, x: dict[str, Any], shades: dict[str, str], theme: Theme, width: int
) -> list[dict[str, Any]]:
    """Mark the mean of each group, with its name above the frame, on its own side."""
    low, end = float(table["score_from"].min()), float(table["score_to"].max())  # type: ignore[arg-type]
    known = [
        (float(own["mean"][0]), group, int(own["count"].sum()))
        for group in shades
        if (own := table.filter(group=group)).height and own["count"].sum()
    ]
    known = sorted(each for each in known if low <= each[0] <= end)
    words = [
        f"{'relevant' if group == 'relevant' else 'others'}: {count:,}, mean {mean:.4g}"
        for mean, group, count in known
    ]
    wide = [text_width(each, bold=True) for each in words]
    places = [(mean - low) / ((end - low) or 1.0) * width for mean, _, _ in known]
    lefts = [
        max(0.0, min(place - taken * lean, width - taken))
        for place, taken, lean in zip(
            places, wide, (1.0, 0.0) if len(known) > 1 else (0.5,), strict=True
        )
    ]
    meet = len(known) > 1 and lefts[0] + wide[0] + LINE > lefts[1]
    found: list[dict[str, Any]] = []
    for at, (mean, group, _) in enumerate(known):
        shade = shades[group]
        found += [
            {
                "data": {"values": [{"x": float(f"{mean:.7g}")}]},
                "mark": {
                    "type": "rule",
                    "color": shade,
                    "strokeWidth": 1.6,
                    "strokeDash": [1, 0] if group == "relevant" else [4, 3],
                },
                "encoding": {"x": {**x, "field": "x"}},
            },
            {
                "data": {"values": [{"words": words[at]}]},
                "mark": {
                    "type": "text",
                    "fontWeight": "bold",
                    "baseline": "bottom",
                    "align": "left",
                    "clip": False,
                    "color": theme.ink_of(shade),
                },
                "encoding": {
                    "x": {"value": round(lefts[at], 1)},
                    "y": {"value": -6 - (LINE if meet and at == 0 else 0)},
                    "text": {"field": "words"},
                },
            },
        ]
    return found
