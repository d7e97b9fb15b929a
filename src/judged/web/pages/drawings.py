"""Strips, whiskers and bars as inline SVG, with attributes only: CSS classes give the colours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from judged.rankings.strips import LEVELS, Cell, Kind
from judged.web.pages.numbers import plain_number, share, signed

WIDTH, HEIGHT, GAP = 13, 18, 2  # pixels of a cell of a small strip, and between two cells
LOWEST, STUB = 0.45, 0.28
"""Heights of the lowest grade and of a judged result that is not relevant, as shares."""
LABEL_PIXELS = 46.0  # the approximate width of a number below a drawing
# In the element: a stylesheet would look up the address of the pattern beside itself.
_HATCH = ' fill="url(#hatch)"'
_KIND_WORDS = {"irrelevant": "not relevant", "unjudged": "not judged", "nothing": "no result"}


def length(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def drawing(width: float, height: float, shapes: str, *, label: str | None, kind: str) -> Markup:
    """Return an SVG element; without a label it is hidden from screen readers."""
    named = f'role="img" aria-label="{escape(label)}"' if label else 'aria-hidden="true"'
    return Markup(
        f'<svg class="{kind}" width="{length(width)}" height="{length(height)}" '
        f'viewBox="0 0 {length(width)} {length(height)}" {named}>{shapes}</svg>'
    )


def box(x: float, y: float, width: float, height: float, kind: str, radius: float = 2) -> str:
    return (
        f'<rect class="{kind}" x="{length(x)}" y="{length(y)}" width="{length(width)}" '
        f'height="{length(height)}" rx="{length(radius)}"/>'
    )


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    ends = f'x1="{length(x1)}" y1="{length(y1)}" x2="{length(x2)}" y2="{length(y2)}"'
    return f'<line class="{kind}" {ends}/>'


def _circle(kind: str, x: float, y: float, radius: float) -> str:
    return f'<circle class="{kind}" cx="{length(x)}" cy="{length(y)}" r="{length(radius)}"/>'


# -- strips


def _rounded(x: float, y: float, width: float, height: float, radius: float) -> str:
    """Return the path around a box; corners are round as far as there is space."""
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
    """Join the boxes of a kind in one element, because tables have thousands of cells."""
    by_kind: dict[str, str] = {}
    for kind, path in boxes:
        by_kind[kind] = by_kind.get(kind, "") + path
    return "".join(
        f'<path class="{kind}"{_HATCH if kind == "hatched" else ""} d="{path}"/>'
        for kind, path in by_kind.items()
    )


def _cell(cell: Cell, x: float, width: float, height: float) -> tuple[str, str]:
    """Return class and path of a cell; outlines are half a pixel inside to be sharp."""
    radius = 2 if height <= 20 else 3
    if cell.kind in ("unjudged", "nothing"):
        kind = "hatched" if cell.kind == "unjudged" else "absent"
        return kind, _rounded(x + 0.5, 0.5, width - 1, height - 1, radius - 0.5)
    part = STUB if cell.kind == "irrelevant" else LOWEST + (1 - LOWEST) * min(cell.share, 1.0)
    kind = "none" if cell.kind == "irrelevant" else f"g{cell.level}"
    return kind, _rounded(x, height * (1 - part), width, height * part, radius)


def _cell_words(cell: Cell) -> str:
    if cell.kind != "relevant":
        return _KIND_WORDS[cell.kind]
    return "relevant" if cell.top <= 1 and cell.grade == 1 else f"grade {cell.grade:g}"


def strip_words(cells: Sequence[Cell]) -> str:
    """Describe a strip in words, equal neighbours together.

    >>> strip_words([Cell("relevant", 2.0, 3.0), Cell("unjudged"), Cell("unjudged")])
    'rank 1 grade 2; ranks 2–3 not judged'
    """
    spans: list[tuple[int, int, str]] = []
    for rank, cell in enumerate(cells, 1):
        words = _cell_words(cell)
        if spans and spans[-1][2] == words:
            spans[-1] = (spans[-1][0], rank, words)
        else:
            spans.append((rank, rank, words))
    return "; ".join(
        f"rank {first} {words}" if first == last else f"ranks {first}–{last} {words}"
        for first, last, words in spans
    )


def strip(
    cells: Sequence[Cell],
    label: str | None = None,
    *,
    width: float = WIDTH,
    height: float = HEIGHT,
    hidden: bool = False,
) -> Markup:
    """Draw one cell per rank; `hidden` leaves out the words for screen readers."""
    step = width + GAP
    shapes = _paths(_cell(cell, at * step, width, height) for at, cell in enumerate(cells))
    words = strip_words(cells)
    described = None if hidden else f"{label}: {words}" if label else words
    total = max(len(cells) * step - GAP, 0)
    return drawing(total, height, shapes, label=described, kind="strip")


def mean_strip(
    shares: Sequence[tuple[float, float, float, float]],
    label: str | None = None,
    *,
    width: float = WIDTH,
    height: float = 26,
) -> Markup:
    """Draw a stacked column per rank, of the shares that `judged.rankings.strips` computes."""
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
    described = (f"{label}: " if label else "") + "; ".join(words)
    total = max(len(shares) * (width + GAP) - GAP, 0)
    return drawing(total, height, _paths(boxes), label=described, kind="strip mean")


def logo(height: float = 20) -> Markup:
    cells = [Cell("relevant", 3.0, 3.0), Cell("irrelevant"), Cell("relevant", 1.5, 3.0)]
    width = height / 2
    shapes = _paths(
        _cell(cell, at * (width + GAP), width, height)
        for at, cell in enumerate([*cells, Cell("unjudged")])
    )
    return drawing(4 * (width + GAP) - GAP, height, shapes, label=None, kind="strip logo")


def empty_strip() -> Markup:
    grades: tuple[float | None, ...] = (3, 0, 2, None, 1, 0, None, 2)
    cells = [
        Cell("unjudged") if g is None else Cell("relevant" if g else "irrelevant", g, 3.0)
        for g in grades
    ]
    return strip(cells, width=25, height=34, hidden=True)


def legend_cell(kind: Kind) -> Markup:
    return strip([Cell(kind)], hidden=True, height=14)


def legend_grades(top: float) -> Markup:
    steps = min(max(math.ceil(top), 1), LEVELS)
    cells = [Cell("relevant", top * at / steps, top) for at in range(1, steps + 1)]
    return strip(cells, hidden=True, height=14)


# -- whiskers and bars


def _scaled(value: float, scale: tuple[float, float], width: float, inset: float) -> float:
    low, high = scale
    part = (value - low) / (high - low) if high > low else 0.5
    if math.isnan(part):  # numbers so large that their difference overflows
        part = 0.5
    return inset + min(max(part, 0.0), 1.0) * (width - 2 * inset)


def _finite(*values: float | None) -> bool:
    return all(value is not None and math.isfinite(value) for value in values)


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
    """Draw a mean and its confidence interval on a scale; `before` is a hollow dot.

    Without a label it is hidden from screen readers, because the number is beside it.
    """

    def at(x: float | None) -> float:
        return _scaled(x or 0.0, scale, width, 4.0)

    shapes = [_line("track", 0, 5, width, 5)]
    if _finite(low, high):
        shapes.append(_line("reach", at(low), 5, at(high), 5))
    if _finite(before):
        shapes.append(_circle("before", at(before), 5, 3))
    if _finite(value):
        shapes.append(_circle("dot", at(value), 5, 3.5))
    return drawing(width, 10, "".join(shapes), label=label, kind="whisker")


def diverging(value: float | None, scale: float, *, width: float = 120) -> Markup:
    """Draw a bar from 0: to the right and blue for a gain, to the left and orange for a loss."""
    middle, reach = width / 2, width / 2 - 1
    shapes = ""
    if value is not None and math.isfinite(value) and value and scale > 0:
        size = min(abs(value) / scale, 1.0) * reach
        kind = "better-mark" if value > 0 else "worse-mark"
        shapes = box(middle if value > 0 else middle - size, 2, size, 8, kind, 1)
    shapes += _line("zero", middle, 0, middle, 12)
    return drawing(width, 12, shapes, label=None, kind="diverging")


def bar(value: float | None, most: float, *, width: float = 162, kind: str = "ink") -> Markup:
    """Draw a bar on a track of the value `most`; `kind` is ink, better or worse."""
    shapes = box(0, 0, width, 9, "none", 1.5)
    if value is not None and math.isfinite(value) and most > 0:
        size = min(max(value, 0.0) / most, 1.0) * width
        shapes += box(0, 0, size, 9, f"{kind}-mark", 1.5)
    return drawing(width, 9, shapes, label=None, kind="bar")


def reading(
    value: float | None, low: float | None, high: float | None, *, width: float = 360
) -> Markup:
    """Draw a difference and its confidence interval, large, with labels at 0 and both ends."""
    known = [0.0, *(x for x in (value, low, high) if x is not None and math.isfinite(x))]
    margin = (max(known) - min(known)) * 0.35 or 1.0
    scale = min(known) - margin, max(known) + margin

    def at(x: float | None) -> float:
        return _scaled(x or 0.0, scale, width, 6.0)

    shapes = [_line("track", 0, 18, width, 18), _line("zero", at(0), 2, at(0), 34)]
    labels: list[tuple[float, str]] = []
    if low is not None and high is not None and _finite(low, high):
        shapes.append(_line("reach", at(low), 18, at(high), 18))
        labels = [(low, signed(low, 3)), (high, signed(high, 3))]
        if at(high) - at(low) < LABEL_PIXELS:
            labels = [((low + high) / 2, f"{signed(low, 3)} to {signed(high, 3)}")]
    if _finite(value):
        shapes.append(_circle("dot", at(value), 18, 6))
    if not any(abs(at(x) - at(0)) < LABEL_PIXELS * (0.5 + len(text) / 14) for x, text in labels):
        labels.insert(0, (0.0, "0"))
    shapes += [
        f'<text x="{length(at(x))}" y="47" text-anchor="middle">{text}</text>' for x, text in labels
    ]
    words = f"{plain_number(value)}, from {signed(low, 3)} to {signed(high, 3)}"
    return drawing(width, 52, "".join(shapes), label=words, kind="reading")
