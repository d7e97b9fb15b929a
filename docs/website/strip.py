"""Strips with labels under their cells: in pages of the site, and as a file."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from judged import Rankings
from judged.rankings.strips import Cell, strips
from judged.text import palette
from judged.web.pages.drawings import GAP, drawing, length, strip, strip_words

GRADES: tuple[float | None, ...] = (3, 0, 2, None, 1, 0, 0, None, 2, 0)
"""The list of the first page."""
FILE = "strip.svg"
_CLASSES = {
    ".g1": ("fill", "g1"),
    ".g2": ("fill", "g2"),
    ".g3": ("fill", "g3"),
    ".none": ("fill", "none"),
    ".hatched": ("stroke", "hatch"),
    ".hatching": ("stroke", "hatch"),
    ".hatch-ground": ("fill", "card"),
    ".absent": ("stroke", "line"),
    ".under": ("fill", "soft"),
}
"""Parts of a drawing, with the token of each attribute."""
_HATCH = (
    '<defs><pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect class="hatch-ground" width="4" height="4"/>'
    '<line class="hatching" x1="0.5" y1="0" x2="0.5" y2="4"/></pattern></defs>'
)


def labelled(
    cells: Sequence[Cell],
    under: Sequence[str],
    label: str,
    *,
    width: float = 34,
    height: float = 44,
) -> Markup:
    """Return a strip with a text under each cell."""
    texts = "".join(
        f'<text class="under" x="{length(at * (width + GAP) + width / 2)}" '
        f'y="{length(height + 18)}" text-anchor="middle">{escape(text)}</text>'
        for at, text in enumerate(under)
    )
    inside = strip(cells, width=width, height=height, hidden=True)
    words = f"{label}: {strip_words(cells)}"
    total = len(cells) * (width + GAP) - GAP
    return drawing(total, height + 24, f"{inside}{texts}", label=words, kind="labelled")


def figure(drawn: str) -> str:
    """Return a drawing as a part of a page."""
    return f'<figure class="drawn">{drawn}</figure>'


def landing(*, width: float = 52, height: float = 72) -> Markup:
    """Return the picture of the first page."""
    rankings = Rankings.from_relevance([list(GRADES)])
    cells = strips(rankings, len(GRADES)).cells(0)
    under = ["?" if grade is None else f"{grade:g}" for grade in GRADES]
    return labelled(cells, under, "Ten results", width=width, height=height)


def strip_file() -> str:
    """Return the picture of the first page as a file with light and dark colours."""

    def rules(which: int) -> str:
        return "".join(
            f"{part}{{{attribute}:{palette()[token][which]}}}"
            for part, (attribute, token) in _CLASSES.items()
        )

    style = (
        f"{rules(0)}.absent{{fill:none}}.under{{font:14px ui-monospace,Menlo,Consolas,monospace}}"
        f"@media (prefers-color-scheme:dark){{{rules(1)}}}"
    )
    opened = '<svg xmlns="http://www.w3.org/2000/svg" '
    whole = str(landing()).replace("<svg ", opened, 1)
    head, sign, rest = whole.partition(">")
    return f"{head}{sign}<style>{style}</style>{_HATCH}{rest}\n"
