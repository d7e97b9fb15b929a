"""Strips for long tables: a few shapes each, so that a page of many rows stays light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from judged.web.pages.drawings import GAP, HEIGHT, STUB, WIDTH, strip_words

if TYPE_CHECKING:
    from judged.rankings.strips import Cell

RADIUS = 2


def compact_strip(cells: Sequence[Cell], label: str | None = None) -> Markup:
    """One cell a rank, as `strip` draws it, with all cells of a kind in one shape.

    Parameters
    ----------
    cells : sequence of Cell
        What stands at each rank, as `Strips.cells` has it.
    label : str, optional
        Words in front of those that say what stands at each rank.

    Returns
    -------
    markupsafe.Markup

    >>> from judged.rankings.strips import Cell
    >>> compact_strip([Cell("unjudged"), Cell("unjudged")]).count("<path")
    1
    """
    shapes: dict[str, list[str]] = {}
    for at, cell in enumerate(cells):
        kind, height = _look(cell)
        inside = 0.5 if kind in ("hatched", "absent") else 0.0
        x, y = at * (WIDTH + GAP) + inside, HEIGHT * (1 - height) + inside
        path = _box(x, y, WIDTH - 2 * inside, HEIGHT * height - 2 * inside)
        shapes.setdefault(kind, []).append(path)
    drawn = "".join(
        f'<path class="{kind}"{_FILL.get(kind, "")} d="{"".join(paths)}"/>'
        for kind, paths in shapes.items()
    )
    words = strip_words(cells)
    said = escape(f"{label}: {words}" if label else words)
    width = max(len(cells) * (WIDTH + GAP) - GAP, 0)
    return Markup(
        f'<svg class="strip" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}" '
        f'role="img" aria-label="{said}">{drawn}</svg>'
    )


_FILL = {"hatched": ' fill="url(#hatch)"'}


def _look(cell: Cell) -> tuple[str, float]:
    """The class of a cell, and how high it is."""
    if cell.kind == "unjudged":
        return "hatched", 1.0
    if cell.kind == "nothing":
        return "absent", 1.0
    if cell.kind == "irrelevant":
        return "none", STUB
    return f"g{cell.level}", 0.45 + 0.55 * min(cell.share, 1.0)


def _box(x: float, y: float, width: float, height: float) -> str:
    """A box with round corners, as the path of SVG has it."""
    r = min(RADIUS, height / 2)
    corner = f"a{r:g} {r:g} 0 0 1"
    across, down = f"{width - 2 * r:.4g}", f"{height - 2 * r:.4g}"
    return (
        f"M{x + r:.5g} {y:.4g}h{across}{corner} {r:g} {r:g}v{down}{corner} -{r:g} {r:g}"
        f"h-{across}{corner} -{r:g} -{r:g}v-{down}{corner} {r:g} -{r:g}z"
    )
