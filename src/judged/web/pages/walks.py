"""The walk down a ranking: tiles, the chart of what adds up, and what is read at each step.

Everything is taken from `Explanation.to_dict()["walk"]`; here it is only drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from judged.rankings.strips import Cell

WIDTH, HEIGHT = 460, 320
LEFT, TOP, RIGHT, BOTTOM = 52, 14, 12, 44
"""The chart and the room around its axes."""
_KINDS = {"relevant": "relevant", "not relevant": "irrelevant", "not judged": "unjudged"}


@dataclass(frozen=True)
class WalkTile:
    """One result."""

    rank: int
    title: str
    """Its id and what it is, in words."""
    cell: Cell
    mark: str
    label: str
    skipped: int
    """How many results before it are left out."""


@dataclass(frozen=True)
class Walk:
    """A walk, as a page shows it; it stands at its end where no script runs."""

    tiles: tuple[WalkTile, ...]
    rest: str
    """What follows the last tile, in words; empty where nothing does."""
    rest_rank: int
    """The step that it belongs to."""
    readings: tuple[tuple[str, str], ...]
    """Names and texts."""
    caption: str
    score: str
    rank: int
    drawing: Markup
    """The chart; empty where there is none."""
    says: str
    """What the chart shows."""
    legend: tuple[tuple[str, str], ...]
    last: int
    """The number of the last step."""
    frames: tuple[Mapping[str, Any], ...]
    """What is seen at each step, for the script."""


def walk_of(told: Mapping[str, Any], *, top: float = 1.0) -> Walk:
    """A walk for a page.

    Parameters
    ----------
    told : dict
        The `walk` of `Explanation.to_dict()`.
    top : float, optional
        The best grade there is, for the strength of colours.

    Returns
    -------
    Walk

    >>> from judged import explain
    >>> walk = walk_of(explain("0 1 0 1", measure="AP").to_dict()["walk"])
    >>> [tile.label for tile in walk.tiles], walk.score
    (['', '1/2', '', '2/4'], '0.5')
    """
    frames: Sequence[Mapping[str, Any]] = told["frames"]
    end, rest, chart = frames[-1], told["rest"], told["chart"]
    return Walk(
        tiles=tuple(_tile(tile, top) for tile in told["tiles"]),
        rest=f"{rest['results']:,} more" if rest and rest["results"] else "",
        rest_rank=rest["last"] if rest else 0,
        readings=tuple(zip(told["readings"], end["readings"], strict=True)),
        caption=end["caption"],
        score=end["score"],
        rank=end["rank"],
        drawing=Markup() if chart is None else draw(chart),
        says="" if chart is None else chart["says"],
        legend=() if chart is None else tuple(map(tuple, chart.get("legend", ()))),
        last=len(frames) - 1,
        frames=tuple(frames),
    )


def _tile(tile: Mapping[str, Any], top: float) -> WalkTile:
    name = f"{tile['item']}, " if tile["item"] else ""
    grade = tile["grade"]
    # What a measure counts from a grade of 0 or below has no strength of its own.
    shown = grade if grade is not None and grade > 0 else top
    kind = _KINDS[tile["kind"]]
    cell = Cell(kind, shown if kind == "relevant" else grade, top)  # type: ignore[arg-type]
    mark = "?" if kind == "unjudged" else tile["mark"]
    return WalkTile(
        tile["rank"], f"{name}{tile['kind']}", cell, mark, tile["label"], tile["skipped"]
    )


# -- drawings: attributes and classes only; what is seen from some rank on says so by data-rank


def draw(chart: Mapping[str, Any]) -> Markup:
    """The chart of a walk as SVG, at its end.

    Parameters
    ----------
    chart : dict
        The `chart` of a walk, of the kind "area" or "growth".

    Returns
    -------
    markupsafe.Markup

    >>> from judged import explain
    >>> "<svg" in draw(explain("0 1", measure="nDCG").to_dict()["walk"]["chart"])
    True
    """
    return _area(chart) if chart["kind"] == "area" else _growth(chart)


def _x(share: float) -> str:
    return f"{LEFT + share * (WIDTH - LEFT - RIGHT):.2f}"


def _y(share: float) -> str:
    return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.2f}"


def _framed(label: str, across: str, up: str, inside: Sequence[str]) -> Markup:
    """A drawing with its axes and their names."""
    return Markup(
        f'<svg class="walk-drawing" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(label)}">{"".join(inside)}'
        f'<line class="axis" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(0)}" y2="{_y(0)}"/>'
        f'<line class="axis" x1="{_x(0)}" x2="{_x(0)}" y1="{_y(0)}" y2="{_y(1)}"/>'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
        f'text-anchor="middle">{escape(across)}</text>'
        f'<text transform="translate(13 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(up)}</text></svg>'
    )


def _rule(share: float, text: str) -> str:
    """A line across, with its number."""
    return (
        f'<line class="rule" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(share)}" y2="{_y(share)}"/>'
        f'<text x="{LEFT - 8}" y="{float(_y(share)) + 4:.2f}" text-anchor="end">{text}</text>'
    )


def _below(share: float, text: str) -> str:
    """A number under the horizontal axis."""
    return f'<text x="{_x(share)}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{text}</text>'


def _box(kind: str, rank: int, left: float, right: float, height: float, says: str) -> str:
    return (
        f'<rect class="{kind}" data-rank="{rank}" x="{_x(left)}" y="{_y(height)}" '
        f'width="{float(_x(right)) - float(_x(left)):.2f}" '
        f'height="{float(_y(0)) - float(_y(height)):.2f}"><title>{escape(says)}</title></rect>'
    )


def _path(kind: str, rank: int, *points: tuple[float, float]) -> str:
    way = " ".join(f"{_x(x)},{_y(y)}" for x, y in points)
    return f'<polyline class="{kind}" data-rank="{rank}" points="{way}"/>'


def _area(chart: Mapping[str, Any]) -> Markup:
    """The precision-recall curve and the area under it."""
    drawn = [_rule(at, f"{at:g}") + _below(at, f"{at:g}") for at in (0, 0.25, 0.5, 0.75, 1)]
    for bar in chart["bars"]:
        one = bar["items"] == 1
        says = f"rank {bar['rank']}" if one else f"{bar['items']:,} relevant results as one"
        kind = "piece" if one else "piece rest"
        drawn.append(_box(kind, bar["rank"], bar["left"], bar["right"], bar["height"], says))
    last = None
    for point in chart["points"]:
        here = (point["recall"], point["precision"])
        drawn += [] if last is None else [_path("way", point["rank"], last, here)]
        last = here
    drawn += [
        f'<circle class="found" data-rank="{point["rank"]}" cx="{_x(point["recall"])}" '
        f'cy="{_y(point["precision"])}" r="4"/>'
        for point in chart["points"]
        if point["relevant"]
    ]
    return _framed(f"Precision-recall curve; {chart['says']}", chart["axis"], "precision", drawn)


def _growth(chart: Mapping[str, Any]) -> Markup:
    """What adds up down the list, beside what adds up down the ideal one."""
    stages, top = chart["stages"], chart["ticks"][-1]
    many = len(stages)
    every = -(-many // 12)
    drawn = [_rule(tick / top, f"{tick:g}") for tick in chart["ticks"]]
    ways = []
    reached = ideal = 0.0
    for at, stage in enumerate(stages):
        left, right, rank = at / many, (at + 1) / many, stage["rank"]
        inside = (left + 0.15 / many, right - 0.15 / many)
        name = f"{rank:,}" if stage["first"] == rank else f"to {rank:,}"
        if stage["gain"]:
            says = f"gain at rank {rank}"
            drawn.append(_box("whole", rank, *inside, stage["gain"] / top, says))
        if stage["added"]:
            says = f"rank {name}: adds {stage['added']:.4f}"
            drawn.append(_box("piece", rank, *inside, stage["added"] / top, says))
        if at % every == 0 or at == many - 1:
            drawn.append(_below((left + right) / 2, name))
        before, reached = reached, stage["reached"]
        ways.append(_path("way", rank, *_stair(left, right, before / top, reached / top)))
        if stage["ideal"] is not None:
            before, ideal = ideal, stage["ideal"]
            ways.append(_path("ideal", rank, *_stair(left, right, before / top, ideal / top)))
    against = f" against {ideal:.4f}" if chart["ideal_name"] else ""
    label = f"{chart['says'][:1].upper()}{chart['says'][1:]}: {reached:.4f}{against}"
    return _framed(label, "rank", chart["name"], [*drawn, *ways])


def _stair(
    left: float, right: float, before: float, after: float
) -> tuple[tuple[float, float], ...]:
    """Up to the new sum, and across."""
    return (left, before), (left, after), (right, after)
