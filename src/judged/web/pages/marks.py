"""Whiskers and bars beside numbers, and the large reading of a difference."""

from __future__ import annotations

import math

from markupsafe import Markup

from judged.web.pages.numbers import plain_number, signed
from judged.web.pages.svg import box, drawing, length


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


NAME = 46.0
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
        names += _ends(low, high, together=at(high) - at(low) < NAME)
    if value is not None and math.isfinite(value):
        shapes.append(f'<circle class="dot" cx="{length(at(value))}" cy="18" r="6"/>')
    for x, text in names:
        if text == "0" and any(
            abs(at(y) - at(0)) < NAME * (0.5 + len(end) / 14) for y, end in names[1:]
        ):
            continue  # it would lie on the name of an end
        shapes.append(f'<text x="{length(at(x))}" y="47" text-anchor="middle">{text}</text>')
    words = f"{plain_number(value)}, from {signed(low, 3)} to {signed(high, 3)}"
    return drawing(width, 52, "".join(shapes), label=words, kind="reading")
