"""The calculation of one number and the walk down its list, from `Explanation.to_dict()`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from judged.rankings.strips import Cell
from judged.web.pages.templating import render

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

MAX_OTHERS = 8  # how many other definitions are shown
MAX_LIBRARIES = 3  # how many libraries are named with each
_DRAWN_COLUMNS = ("rank", "item", "grade", "adds")
"""Columns of the table that pages draw themselves."""


def calculation_of(explanation: Explanation, *, top: float | None = None) -> dict[str, Any]:
    """Return the calculation of an explanation; `top` is the best grade of all queries.

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

_KINDS = {"relevant": "relevant", "not relevant": "irrelevant", "not judged": "unjudged"}


def walk_of(told: Mapping[str, Any], *, top: float = 1.0) -> dict[str, Any]:
    """Return the walk of `Explanation.to_dict()["walk"]`; `top` is the best grade.

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
    label = f"Precision-recall curve; {chart['says']}"
    if chart["kind"] != "area":
        ideals = [stage["ideal"] for stage in chart["stages"] if stage["ideal"] is not None]
        against = f" against {(ideals or [0.0])[-1]:.4f}" if chart["ideal_name"] else ""
        says, reached = chart["says"], chart["stages"][-1]["reached"] if chart["stages"] else 0.0
        label = f"{says[:1].upper()}{says[1:]}: {reached:.4f}{against}"
    return Markup(render("parts/walk_drawing.html", chart=chart, label=label))
