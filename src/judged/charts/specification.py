"""The Vega-Lite of a chart: its frame with title and notes, the rows, the parts in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from judged.charts.chart import Chart, rows_of
from judged.charts.names import LONGEST, drawable
from judged.charts.themes import ThemeName, theme_named

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH, HEIGHT = 460, 300
LETTERS = 6.0
"""Pixels of a letter of a note, about."""


def chart(
    kind: str,
    table: pl.DataFrame,
    *,
    title: str,
    notes: Iterable[str],
    theme: ThemeName,
    parts: dict[str, Any],
    width: int = WIDTH,
    unseen: Sequence[str] = (),
) -> Chart:
    """A chart of a table; `parts` are the layers or panels, which read the rows under the name
    "table", without the columns that are `unseen`."""
    said = tuple(note for note in notes if note)
    letters = min(max(50, int((width + 90) / LETTERS)), LONGEST)
    lines = [line for note in said for line in wrap(note, letters)]
    spec = {
        "$schema": SCHEMA,
        "title": {"text": title, "subtitle": lines},
        "config": theme_named(theme).config,
        "padding": 12,
        "data": {"name": "table"},
        **parts,
        "datasets": {"table": rows_of(table.drop(unseen))},
    }
    return Chart(kind, table, title, said, drawable(spec))


def layers(*parts: dict[str, Any], width: int = WIDTH, height: int = HEIGHT) -> dict[str, Any]:
    """Parts on top of each other."""
    return {"width": width, "height": height, "layer": list(parts)}
