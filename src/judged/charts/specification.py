"""The Vega-Lite of a chart: its frame with title and notes, the rows, the parts in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from judged.charts.canvas import Canvas
from judged.charts.chart import VERSIONS, Chart, rows_of, schema
from judged.charts.names import LONGEST, drawable

if TYPE_CHECKING:
    import polars as pl

WIDTH, HEIGHT = 460, 300
LETTERS = 6.0
"""Pixels of a letter of a note, about."""
TITLE_LETTERS = 8.0
"""Of a letter of the title."""


def chart(
    kind: str,
    table: pl.DataFrame,
    *,
    title: str,
    notes: Iterable[str],
    canvas: Canvas,
    parts: dict[str, Any],
    width: int = WIDTH,
    unseen: Sequence[str] = (),
    words: Callable[[dict[str, Any]], str] | None = None,
) -> Chart:
    """A chart of a table; `parts` are the layers or panels, which read the rows under the name
    "table", without the columns that are `unseen`. `width` is that of the frame, which notes are
    broken for, and `words` what the mark of a row says."""
    said = tuple(note for note in notes if note)
    shown = title if canvas.title is None else canvas.title
    heading = {} if canvas.in_page else {"title": _heading(shown, said, canvas, width)}
    spec = {
        "$schema": schema(VERSIONS[-1]),
        **heading,
        "config": canvas.theme.config,
        "padding": canvas.padding,
        "data": {"name": "table"},
        **parts,
        "datasets": {"table": rows_of(table.drop(unseen))},
    }
    return Chart(kind, table, shown or title, said, drawable(spec), canvas, words)


def _heading(title: str, notes: Sequence[str], canvas: Canvas, width: int) -> dict[str, Any]:
    """Title and notes, in lines that are no longer than the drawing."""
    room = width + 90 if canvas.width is None else canvas.width - 2 * canvas.padding
    letters = min(max(50 if canvas.width is None else 20, int(room / LETTERS)), LONGEST)
    lines = [line for note in notes if canvas.notes for line in wrap(note, letters)]
    long = int(room / TITLE_LETTERS)
    broken = canvas.width is not None and len(title) > long
    return {"text": wrap(title, long) if broken else title, "subtitle": lines}


def layers(*parts: dict[str, Any], width: int = WIDTH, height: int = HEIGHT) -> dict[str, Any]:
    """Parts on top of each other."""
    return {"width": width, "height": height, "layer": list(parts)}
