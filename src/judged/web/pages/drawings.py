"""Strips: one cell a rank, small in tables and large on an empty page; the logo is one too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from judged.web.pages.numbers import share
from judged.web.pages.svg import drawing, length

if TYPE_CHECKING:
    from judged.rankings.strips import Cell, Kind

WIDTH, HEIGHT, GAP = 13, 18, 2
"""Of a cell of a small strip, and between two."""
LOWEST, STUB = 0.45, 0.28
"""How high the lowest grade would stand, and a result that was judged and is not relevant."""
_HATCH = ' fill="url(#hatch)"'
"""In the element, as a stylesheet's own addresses would be looked up beside it."""


def _rounded(x: float, y: float, width: float, height: float, radius: float) -> str:
    """The path around a box, whose corners are as round as there is room for."""
    radius = max(min(radius, width / 2, height / 2), 0.0)
    if not radius:
        return f"M{length(x)} {length(y)}h{length(width)}v{length(height)}h{length(-width)}z"
    across, down, r = length(width - 2 * radius), length(height - 2 * radius), length(radius)
    corner = f"a{r} {r} 0 0 1"
    return (
        f"M{length(x + radius)} {length(y)}h{across}{corner} {r} {r}v{down}{corner}-{r} {r}"
        f"h-{across}{corner}-{r}-{r}v-{down}{corner} {r}-{r}z"
    )


def _paths(boxes: Iterable[tuple[str, str]]) -> str:
    """Paths of some kinds, those of one kind as one element: tables have thousands of cells."""
    by_kind: dict[str, str] = {}
    for kind, path in boxes:
        by_kind[kind] = by_kind.get(kind, "") + path
    return "".join(
        f'<path class="{kind}"{_HATCH if kind == "hatched" else ""} d="{path}"/>'
        for kind, path in by_kind.items()
    )


def _cell(cell: Cell, x: float, width: float, height: float) -> tuple[str, str]:
    """Kind and path of one cell; outlines lie half a pixel inside, so that they are sharp."""
    radius = 2 if height <= 20 else 3
    if cell.kind in ("unjudged", "nothing"):
        kind = "hatched" if cell.kind == "unjudged" else "absent"
        return kind, _rounded(x + 0.5, 0.5, width - 1, height - 1, radius - 0.5)
    part = STUB if cell.kind == "irrelevant" else LOWEST + (1 - LOWEST) * min(cell.share, 1.0)
    kind = "none" if cell.kind == "irrelevant" else f"g{cell.level}"
    return kind, _rounded(x, height * (1 - part), width, height * part, radius)


_WORDS = {"irrelevant": "not relevant", "unjudged": "not judged", "nothing": "no result"}


def strip_words(cells: Sequence[Cell]) -> str:
    """A strip in words, equal neighbours together.

    >>> from judged.rankings.strips import Cell
    >>> strip_words([Cell("relevant", 2.0, 3.0), Cell("unjudged"), Cell("unjudged")])
    'rank 1 grade 2; ranks 2–3 not judged'
    """

    def word(cell: Cell) -> str:
        if cell.kind != "relevant":
            return _WORDS[cell.kind]
        return "relevant" if cell.top <= 1 and cell.grade == 1 else f"grade {cell.grade:g}"

    spans: list[tuple[int, int, str]] = []
    for rank, cell in enumerate(cells, 1):
        said = word(cell)
        if spans and spans[-1][2] == said:
            spans[-1] = (spans[-1][0], rank, said)
        else:
            spans.append((rank, rank, said))
    return "; ".join(
        f"rank {a} {said}" if a == b else f"ranks {a}–{b} {said}" for a, b, said in spans
    )


def strip(
    cells: Sequence[Cell],
    label: str | None = None,
    *,
    width: float = WIDTH,
    height: float = HEIGHT,
    hidden: bool = False,
) -> Markup:
    """One cell a rank.

    Parameters
    ----------
    cells : sequence of Cell
        What stands at each rank, as `Strips.cells` has it.
    label : str, optional
        Words in front of those that say what stands at each rank.
    width, height : float, optional
        Of a cell, in pixels.
    hidden : bool, optional
        Whether the words are left out, where they stand beside it already.

    Returns
    -------
    markupsafe.Markup

    >>> from judged.rankings.strips import Cell
    >>> "aria-label=\\"bm25: rank 1 not judged\\"" in strip([Cell("unjudged")], "bm25")
    True
    """
    step = width + GAP
    shapes = _paths(_cell(cell, at * step, width, height) for at, cell in enumerate(cells))
    words = strip_words(cells)
    said = None if hidden else f"{label}: {words}" if label else words
    total = max(len(cells) * step - GAP, 0)
    return drawing(total, height, shapes, label=said, kind="strip")


def mean_strip(
    shares: Sequence[tuple[float, float, float, float]],
    label: str | None = None,
    *,
    width: float = WIDTH,
    height: float = 26,
) -> Markup:
    """Each rank a stacked column: the share of queries with a relevant result there, with one
    judged not relevant, with one that nobody judged.

    Parameters
    ----------
    shares : sequence of tuple
        As `judged.rankings.strips.mean_strip` has them.
    label : str, optional
        Words in front of those that say what stands there.
    width, height : float, optional
        Of a column, in pixels.

    Returns
    -------
    markupsafe.Markup

    >>> "rank 1: 50\\xa0% relevant" in mean_strip([(0.5, 0.5, 0.0, 0.0)])
    True
    """
    boxes: list[tuple[str, str]] = []
    words = []
    for at, (relevant, irrelevant, unjudged, _) in enumerate(shares):
        x, y = at * (width + GAP), float(height)
        for part, kind in ((relevant, "g2"), (irrelevant, "none"), (unjudged, "hatched")):
            y -= part * height
            if part > 0:
                inside = 0.5 if kind == "hatched" and part * height > 1 else 0.0
                size = (width - 2 * inside, part * height - 2 * inside)
                boxes.append((kind, _rounded(x + inside, y + inside, *size, 0)))
        words.append(f"rank {at + 1}: {share(relevant)} relevant, {share(unjudged)} not judged")
    said = (f"{label}: " if label else "") + "; ".join(words)
    total = max(len(shares) * (width + GAP) - GAP, 0)
    return drawing(total, height, _paths(boxes), label=said, kind="strip mean")


def logo(height: float = 20) -> Markup:
    """The sign of judged: four cells of a strip."""
    from judged.rankings.strips import Cell

    cells = [Cell("relevant", 3.0, 3.0), Cell("irrelevant"), Cell("relevant", 1.5, 3.0)]
    width = height / 2
    shapes = _paths(
        _cell(cell, at * (width + GAP), width, height)
        for at, cell in enumerate([*cells, Cell("unjudged")])
    )
    return drawing(4 * (width + GAP) - GAP, height, shapes, label=None, kind="strip logo")


def empty_strip() -> Markup:
    """The picture of a page that has nothing to show yet."""
    from judged.rankings.strips import Cell

    grades: tuple[float | None, ...] = (3, 0, 2, None, 1, 0, None, 2)
    cells = [
        Cell("unjudged") if g is None else Cell("relevant" if g else "irrelevant", g, 3.0)
        for g in grades
    ]
    return strip(cells, width=25, height=34, hidden=True)


def legend_cell(kind: Kind) -> Markup:
    """One cell as a key of a legend, for what is not relevant, not judged or not there."""
    from judged.rankings.strips import Cell

    return strip([Cell(kind)], hidden=True, height=14)


def legend_grades(top: float) -> Markup:
    """The cells of all strengths of colour that grades up to the best one have."""
    from judged.rankings.strips import LEVELS, Cell

    steps = min(max(math.ceil(top), 1), LEVELS)
    cells = [Cell("relevant", top * at / steps, top) for at in range(1, steps + 1)]
    return strip(cells, hidden=True, height=14)


def favicon() -> str:
    """The sign of judged as an address of data, in the light colours.

    Returns
    -------
    str

    >>> favicon()[:19]
    'data:image/svg+xml,'
    """
    from urllib.parse import quote

    from judged.web.pages.assets import palette

    boxes = ((1, 2, 28, "g3"), (9, 22, 8, "none"), (17, 10, 20, "g2"), (25, 2, 28, "hatch"))
    shapes = "".join(
        f'<rect x="{x}" y="{y}" width="6" height="{height}" rx="1" fill="{palette()[name][0]}"/>'
        for x, y, height, name in boxes
    )
    return "data:image/svg+xml," + quote(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{shapes}</svg>'
    )
