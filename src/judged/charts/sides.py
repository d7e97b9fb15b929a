"""Words on the two sides of a chart of two systems: beside its frame with the queries that differ
most, or above it where there is less room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judged.charts.canvas import BELOW, LEFT, Canvas
from judged.charts.letters import text_width, widest
from judged.charts.lines import LINE, beside
from judged.charts.themes import Theme

ROOMY = 600
"""Pixels of a drawing that has room for words beside its frame."""
GAP = 10
MOST = 400
"""The height of a square frame stays below this."""


@dataclass(frozen=True)
class Side:
    """What is said of one side."""

    head: str
    lines: Sequence[str]
    """The queries that differ most, with their numbers."""
    shade: str


@dataclass(frozen=True)
class Sided:
    """A frame with words around it."""

    width: int
    height: int
    parts: list[dict[str, Any]]
    lists: bool
    """Whether queries are named."""


def sided(
    canvas: Canvas, width: int, height: int, *, first: Side, second: Side, square: bool = False
) -> Sided:
    """A frame and its words: the first side above the second, or to its left.

    A page has the queries in a table and links at the marks, so that there they are not named.
    """
    roomy = not canvas.in_page and (canvas.width is None or canvas.width >= ROOMY)
    if roomy:
        texts = [text for side in (first, second) for text in (side.head, *side.lines)]
        wide = canvas.across(width, beside=LEFT + GAP + widest(texts, bold=True))
        tall = canvas.down(min(wide, MOST) if square else height)
        last = tall - 6 - LINE * len(second.lines)
        parts = [
            part
            for side, top in ((first, 6), (second, last))
            for part in beside(
                side.head, side.lines, x=wide + GAP, y=top, theme=canvas.theme, shade=side.shade
            )
        ]
        return Sided(wide, tall, parts, True)
    wide = canvas.across(width, beside=LEFT + GAP)
    parts, above = _above(first, second, wide, canvas.theme)
    tall = canvas.down(min(wide, MOST) if square else height, below=BELOW + above)
    return Sided(wide, tall, parts, False)


def _above(first: Side, second: Side, width: int, theme: Theme) -> tuple[list[dict[str, Any]], int]:
    """Heads above a frame, where no mark and no grid can lie, side by side or, where that is too
    narrow, above each other; and the pixels that they take."""
    taken = sum(text_width(side.head, bold=True) for side in (first, second)) + 2 * LINE
    rows = (0, 0) if taken < width else (1, 0)
    parts = [
        {
            "data": {"values": [{"words": side.head}]},
            "mark": {
                "type": "text",
                "align": align,
                "baseline": "bottom",
                "clip": False,
                "fontWeight": "bold",
                "color": theme.ink_of(side.shade),
            },
            "encoding": {
                "x": {"value": across},
                "y": {"value": -7 - LINE * row},
                "text": {"field": "words"},
            },
        }
        for side, align, across, row in zip(
            (first, second), ("left", "right"), (0, width), rows, strict=True
        )
    ]
    return parts, 10 + LINE * (1 + rows[0])
