"""The calculation of one number: what each rank adds, the arithmetic, other definitions, and the
walk down the list. Everything comes from `Explanation.to_dict()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from judged.rankings.strips import Cell

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

MAX_OTHERS = 8
"""How many other definitions are shown."""
MAX_LIBRARIES = 3
"""How many libraries are named with each."""
_DRAWN_COLUMNS = ("rank", "item", "grade", "adds")
"""Columns of the table that pages draw themselves."""


def calculation_of(explanation: Explanation, *, top: float | None = None) -> dict[str, Any]:
    """Return the calculation of an explanation; `top` is the best grade of all queries.

    `value` is None if the query does not count. Each row is what one rank adds, with the ranks
    `skipped` before it. `steps` are the frames of the walk down the list.

    >>> from judged import explain
    >>> view = calculation_of(explain("0 1 0 1", measure="AP"))
    >>> [row["adds"] for row in view["rows"]], view["lines"][-1]["value"]
    ([0.0, 0.25, 0.0, 0.25], '0.5')
    """
    told = explanation.to_dict()
    best = float(explanation.rankings.pool_grade.max(initial=0.0)) if top is None else top
    best = best if best > 0 else 1.0
    table, walk, change = told["table"], told["walk"], told["best_change"]
    header: Sequence[str] = table["header"]
    others = [at for at, name in enumerate(header) if name not in _DRAWN_COLUMNS]
    rows = [
        {
            "rank": row["rank"],
            "item": row.get("item"),
            "cell": _cell(row, best),
            "cells": [texts[at] for at in others],
            "adds": row["adds"] if "adds" in row and row["counts"] else None,
            "counts": row["counts"],
            "skipped": skipped,
        }
        for row, texts, skipped in zip(told["ranks"], table["rows"], table["skipped"], strict=True)
    ]
    helps = change["says"] if change else ""
    return {
        "measure": str(explanation.measure),
        "title": explanation.measure.spec.title,
        "system": told["run"],
        "query": told["query"],
        # JSON holds infinity as a word.
        "value": None if told["settled"] is None else float(told["settled"]),
        "columns": [header[at] for at in others],
        "rows": rows,
        "adds": "adds" in header,
        "most": max((abs(row["adds"]) for row in rows if row["adds"] is not None), default=0.0),
        "lines": [_line(line) for line in told["lines"]],
        "sentences": [text for text in told["sentences"] if text != helps],
        "helps": helps,
        "others": [_other(variant) for variant in told["variants"][:MAX_OTHERS]],
        "readings": walk["readings"],
        "steps": walk["frames"],
        "latex": told["align"],
        "below": told["retrieved"] - (rows[-1]["rank"] if rows else 0),
    }


def _cell(row: Mapping[str, Any], top: float) -> Cell:
    if not row["judged"]:
        return Cell("unjudged", None, top)
    return Cell("relevant" if row["grade"] > 0 else "irrelevant", row["grade"], top)


def _line(line: Mapping[str, Any]) -> dict[str, str]:
    """Return a line of the arithmetic, split at its last equals sign."""
    stages: list[str] = line["stages"]
    # Before the last line, the numbers and the result are enough.
    between = stages[:-1] if not line["says"] else stages[: min(1, len(stages) - 1)]
    before = " = ".join([line["symbol"], *between])
    return {"before": before, "value": stages[-1], "says": line["says"]}


def _other(variant: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of another definition, what differs, and who uses it."""
    users = [f"{title} ({theirs})" for title, theirs in variant["libraries"].items()]
    more = len(users) - MAX_LIBRARIES
    named = ", ".join(users[:MAX_LIBRARIES]) + (f" and {more} more" if more > 0 else "")
    says = ": ".join(filter(None, [variant["says"], named]))
    return {"measure": variant["measure"], "value": float(variant["value"]), "says": says}


# -- the walk down a list

WIDTH, HEIGHT = 460, 320
LEFT, TOP, RIGHT, BOTTOM = 52, 14, 12, 44
"""Pixels around the axes of the chart."""
_KINDS = {"relevant": "relevant", "not relevant": "irrelevant", "not judged": "unjudged"}


def walk_of(told: Mapping[str, Any], *, top: float = 1.0) -> dict[str, Any]:
    """Return the walk of `Explanation.to_dict()["walk"]`; `top` is the best grade.

    Without scripts the page shows its end. `rest` are the results after the last tile.

    >>> from judged import explain
    >>> walk = walk_of(explain("0 1 0 1", measure="AP").to_dict()["walk"])
    >>> [tile["label"] for tile in walk["tiles"]], walk["score"]
    (['', '1/2', '', '2/4'], '0.5')
    """
    frames: Sequence[Mapping[str, Any]] = told["frames"]
    end, rest, chart = frames[-1], told["rest"], told["chart"] or {}
    return {
        "tiles": [_tile(tile, top) for tile in told["tiles"]],
        "rest": f"{rest['results']:,} more" if rest and rest["results"] else "",
        "rest_rank": rest["last"] if rest else 0,
        "readings": list(zip(told["readings"], end["readings"], strict=True)),
        "caption": end["caption"],
        "score": end["score"],
        "rank": end["rank"],
        "drawing": draw_walk(chart) if chart else Markup(),
        "says": chart.get("says", ""),
        "legend": chart.get("legend", ()),
        "last": len(frames) - 1,
        "frames": frames,
    }


def _tile(tile: Mapping[str, Any], top: float) -> dict[str, Any]:
    name = f"{tile['item']}, " if tile["item"] else ""
    grade, kind = tile["grade"], _KINDS[tile["kind"]]
    if kind == "relevant" and (grade is None or grade <= 0):
        grade = top  # a measure may count a grade of 0 or below, which has no strength
    cell = Cell(kind, grade, top)  # type: ignore[arg-type]
    mark = "?" if kind == "unjudged" else tile["mark"]
    return {**tile, "title": f"{name}{tile['kind']}", "cell": cell, "mark": mark}


def draw_walk(chart: Mapping[str, Any]) -> Markup:
    """Draw the chart of a walk at its end; `data-rank` is the rank from which a part is visible.

    >>> from judged import explain
    >>> "<svg" in draw_walk(explain("0 1", measure="nDCG").to_dict()["walk"]["chart"])
    True
    """
    return _draw_area(chart) if chart["kind"] == "area" else _draw_growth(chart)


def _x(share: float) -> str:
    return f"{LEFT + share * (WIDTH - LEFT - RIGHT):.2f}"


def _y(share: float) -> str:
    return f"{TOP + (1 - share) * (HEIGHT - TOP - BOTTOM):.2f}"


def _with_axes(label: str, across: str, up: str, shapes: Sequence[str]) -> Markup:
    return Markup(
        f'<svg class="walk-drawing" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(label)}">{"".join(shapes)}'
        f'<line class="axis" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(0)}" y2="{_y(0)}"/>'
        f'<line class="axis" x1="{_x(0)}" x2="{_x(0)}" y1="{_y(0)}" y2="{_y(1)}"/>'
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" '
        f'text-anchor="middle">{escape(across)}</text>'
        f'<text transform="translate(13 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
        f'text-anchor="middle">{escape(up)}</text></svg>'
    )


def _rule(share: float, text: str) -> str:
    return (
        f'<line class="rule" x1="{_x(0)}" x2="{_x(1)}" y1="{_y(share)}" y2="{_y(share)}"/>'
        f'<text x="{LEFT - 8}" y="{float(_y(share)) + 4:.2f}" text-anchor="end">{text}</text>'
    )


def _below_axis(share: float, text: str) -> str:
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


def _draw_area(chart: Mapping[str, Any]) -> Markup:
    """Draw the precision-recall curve and the area under it."""
    ticks = (0, 0.25, 0.5, 0.75, 1)
    shapes = [_rule(at, f"{at:g}") + _below_axis(at, f"{at:g}") for at in ticks]
    for bar in chart["bars"]:
        single = bar["items"] == 1
        says = f"rank {bar['rank']}" if single else f"{bar['items']:,} relevant results as one"
        kind = "piece" if single else "piece rest"
        shapes.append(_box(kind, bar["rank"], bar["left"], bar["right"], bar["height"], says))
    last = None
    for point in chart["points"]:
        here = (point["recall"], point["precision"])
        shapes += [] if last is None else [_path("way", point["rank"], last, here)]
        last = here
    shapes += [
        f'<circle class="found" data-rank="{point["rank"]}" cx="{_x(point["recall"])}" '
        f'cy="{_y(point["precision"])}" r="4"/>'
        for point in chart["points"]
        if point["relevant"]
    ]
    label = f"Precision-recall curve; {chart['says']}"
    return _with_axes(label, chart["axis"], "precision", shapes)


def _draw_growth(chart: Mapping[str, Any]) -> Markup:
    """Draw the sum down the list, beside the sum down the ideal list."""
    stages, top = chart["stages"], chart["ticks"][-1]
    number = len(stages)
    shapes = [_rule(tick / top, f"{tick:g}") for tick in chart["ticks"]]
    ways = []
    reached = ideal = 0.0
    for at, stage in enumerate(stages):
        left, right, rank = at / number, (at + 1) / number, stage["rank"]
        inside = (left + 0.15 / number, right - 0.15 / number)
        name = f"{rank:,}" if stage["first"] == rank else f"to {rank:,}"
        if stage["gain"]:
            shapes.append(_box("whole", rank, *inside, stage["gain"] / top, f"gain at rank {rank}"))
        if stage["added"]:
            says = f"rank {name}: adds {stage['added']:.4f}"
            shapes.append(_box("piece", rank, *inside, stage["added"] / top, says))
        if at % -(-number // 12) == 0 or at == number - 1:
            shapes.append(_below_axis((left + right) / 2, name))
        before, reached = reached, stage["reached"]
        ways.append(_stair("way", rank, left, right, before / top, reached / top))
        if stage["ideal"] is not None:
            before, ideal = ideal, stage["ideal"]
            ways.append(_stair("ideal", rank, left, right, before / top, ideal / top))
    against = f" against {ideal:.4f}" if chart["ideal_name"] else ""
    label = f"{chart['says'][:1].upper()}{chart['says'][1:]}: {reached:.4f}{against}"
    return _with_axes(label, "rank", chart["name"], [*shapes, *ways])


def _stair(kind: str, rank: int, left: float, right: float, before: float, after: float) -> str:
    return _path(kind, rank, (left, before), (left, after), (right, after))
