"""Small drawings as inline SVG, with attributes only: the stylesheet gives the colours by class."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from judged.web.pages.numbers import plain_number, share, signed

if TYPE_CHECKING:
    from judged.rankings.strips import Cell, Kind


def length(value: float) -> str:
    """A length as SVG has it: at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def drawing(width: float, height: float, shapes: str, *, label: str | None, kind: str) -> Markup:
    """An element of a kind; without a label it is hidden from screen readers."""
    named = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    return Markup(
        f'<svg class="{kind}" width="{length(width)}" height="{length(height)}" '
        f'viewBox="0 0 {length(width)} {length(height)}" {named}>{shapes}</svg>'
    )


def box(x: float, y: float, width: float, height: float, kind: str, radius: float = 2) -> str:
    """A box with round corners."""
    return (
        f'<rect class="{kind}" x="{length(x)}" y="{length(y)}" width="{length(width)}" '
        f'height="{length(height)}" rx="{length(radius)}"/>'
    )


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


_KIND_WORDS = {"irrelevant": "not relevant", "unjudged": "not judged", "nothing": "no result"}


def strip_words(cells: Sequence[Cell]) -> str:
    """A strip in words, equal neighbours together.

    >>> from judged.rankings.strips import Cell
    >>> strip_words([Cell("relevant", 2.0, 3.0), Cell("unjudged"), Cell("unjudged")])
    'rank 1 grade 2; ranks 2–3 not judged'
    """

    def word(cell: Cell) -> str:
        if cell.kind != "relevant":
            return _KIND_WORDS[cell.kind]
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


def _scaled(value: float, scale: tuple[float, float], width: float, inset: float) -> float:
    low, high = scale
    part = (value - low) / (high - low) if high > low else 0.5
    if math.isnan(part):  # numbers so large that their difference overflows
        part = 0.5
    return inset + min(max(part, 0.0), 1.0) * (width - 2 * inset)


def whisker(
    value: float | None,
    low: float | None,
    high: float | None,
    scale: tuple[float, float],
    before: float | None = None,
    *,
    width: float = 104,
    label: str | None = None,
) -> Markup:
    """A mean and its interval on the scale of its column; hollow, where it was before.

    It is hidden from screen readers unless a label is given: the number stands beside it.

    Parameters
    ----------
    value, low, high : float or None
        The mean and its interval; what is missing is not drawn.
    scale : tuple of float
        The values at the left and the right end.
    before : float, optional
        Where the mean was before the last change.
    width : float, optional
        In pixels.
    label : str, optional
        Words for it, where no number stands beside it.

    Returns
    -------
    markupsafe.Markup

    >>> whisker(0.5, 0.4, 0.6, (0.0, 1.0)).count("<line")
    2
    """
    middle, inset = 5, 4.0
    shapes = [f'<line class="track" x1="0" y1="{middle}" x2="{length(width)}" y2="{middle}"/>']
    if low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
        a, b = (_scaled(each, scale, width, inset) for each in (low, high))
        shapes.append(
            f'<line class="reach" x1="{length(a)}" y1="{middle}" x2="{length(b)}" y2="{middle}"/>'
        )
    if before is not None and math.isfinite(before):
        x = length(_scaled(before, scale, width, inset))
        shapes.append(f'<circle class="before" cx="{x}" cy="{middle}" r="3"/>')
    if value is not None and math.isfinite(value):
        x = length(_scaled(value, scale, width, inset))
        shapes.append(f'<circle class="dot" cx="{x}" cy="{middle}" r="3.5"/>')
    return drawing(width, 10, "".join(shapes), label=label, kind="whisker")


def diverging(value: float | None, scale: float, *, width: float = 120) -> Markup:
    """A bar from a line at 0: to the right and blue for a gain, to the left and orange for a loss.

    Parameters
    ----------
    value : float or None
        What is drawn; without it, only the line.
    scale : float
        The value at either end.
    width : float, optional
        In pixels.

    Returns
    -------
    markupsafe.Markup

    >>> 'class="worse-mark"' in diverging(-0.5, 1.0)
    True
    """
    middle, reach = width / 2, width / 2 - 1
    shapes = []
    if value is not None and math.isfinite(value) and value and scale > 0:
        size = min(abs(value) / scale, 1.0) * reach
        kind = "better-mark" if value > 0 else "worse-mark"
        shapes.append(box(middle if value > 0 else middle - size, 2, size, 8, kind, 1))
    shapes.append(
        f'<line class="zero" x1="{length(middle)}" y1="0" x2="{length(middle)}" y2="12"/>'
    )
    return drawing(width, 12, "".join(shapes), label=None, kind="diverging")


def bar(value: float | None, most: float, *, width: float = 162, kind: str = "ink") -> Markup:
    """A bar on a track.

    Parameters
    ----------
    value : float or None
        What is drawn; without it, only the track.
    most : float
        The value of the whole track.
    width : float, optional
        In pixels.
    kind : {"ink", "better", "worse"}, optional
        How it is coloured.

    Returns
    -------
    markupsafe.Markup

    >>> bar(0.5, 1.0).count("<rect")
    2
    """
    shapes = box(0, 0, width, 9, "none", 1.5)
    if value is not None and math.isfinite(value) and most > 0:
        size = min(max(value, 0.0) / most, 1.0) * width
        shapes += box(0, 0, size, 9, f"{kind}-mark", 1.5)
    return drawing(width, 9, shapes, label=None, kind="bar")


LABEL_PIXELS = 46.0
"""Pixels that the name of a number takes, about."""


def _ends(low: float, high: float, *, together: bool) -> list[tuple[float, str]]:
    """The names of both ends of an interval, and where they stand; as one where two overlap."""
    names = signed(low, 3), signed(high, 3)
    if not together:
        return list(zip((low, high), names, strict=True))
    return [((low + high) / 2, f"{names[0]} to {names[1]}")]


def reading(
    value: float | None, low: float | None, high: float | None, *, width: float = 360
) -> Markup:
    """A difference and its interval, large, with 0 and both ends named.

    Parameters
    ----------
    value, low, high : float or None
        The difference and its interval.
    width : float, optional
        In pixels.

    Returns
    -------
    markupsafe.Markup

    >>> ">−0.018<" in reading(0.0195, -0.018, 0.057)
    True
    """
    ends = [each for each in (value, low, high) if each is not None and math.isfinite(each)]
    known = [0.0, *ends]
    room = (max(known) - min(known)) * 0.35 or 1.0
    scale, inset = (min(known) - room, max(known) + room), 6.0

    def at(x: float) -> float:
        return _scaled(x, scale, width, inset)

    shapes = [
        f'<line class="track" x1="0" y1="18" x2="{length(width)}" y2="18"/>',
        f'<line class="zero" x1="{length(at(0))}" y1="2" x2="{length(at(0))}" y2="34"/>',
    ]
    names = [(0.0, "0")]
    if low is not None and high is not None and math.isfinite(low) and math.isfinite(high):
        shapes.append(
            f'<line class="reach" x1="{length(at(low))}" y1="18" x2="{length(at(high))}" y2="18"/>'
        )
        names += _ends(low, high, together=at(high) - at(low) < LABEL_PIXELS)
    if value is not None and math.isfinite(value):
        shapes.append(f'<circle class="dot" cx="{length(at(value))}" cy="18" r="6"/>')
    for x, text in names:
        if text == "0" and any(
            abs(at(y) - at(0)) < LABEL_PIXELS * (0.5 + len(end) / 14) for y, end in names[1:]
        ):
            continue  # it would lie on the name of an end
        shapes.append(f'<text x="{length(at(x))}" y="47" text-anchor="middle">{text}</text>')
    words = f"{plain_number(value)}, from {signed(low, 3)} to {signed(high, 3)}"
    return drawing(width, 52, "".join(shapes), label=words, kind="reading")
