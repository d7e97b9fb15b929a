"""The file that annotators fill in: blind, and judgements once grades are in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judged.results import FORMULA, NUMBER

if TYPE_CHECKING:
    import polars as pl

    from judged.inputs.texts import Texts

TEXT_COLUMNS = ("query_text", "title", "text")
"""The columns that are read by people alone."""


def is_computed(name: str) -> bool:
    """Whether a spreadsheet takes an id for a formula."""
    return bool(re.match(FORMULA, name)) and not re.match(NUMBER, name)


def sheet_frame(
    queries: Sequence[str],
    items: Sequence[str],
    texts: Texts | None,
    query_texts: Texts | None,
) -> pl.DataFrame:
    """One row for each item that is to be judged, its grade empty."""
    import polars as pl

    columns: dict[str, pl.Series] = {"query": pl.Series(queries, dtype=pl.String)}
    if query_texts is not None:
        said = [query_texts[name].heading if name in query_texts else "" for name in queries]
        columns["query_text"] = pl.Series(said, dtype=pl.String)
    columns["item"] = pl.Series(items, dtype=pl.String)
    if texts is not None:
        if texts.titles:
            titles = [texts.titles.get(name, "") for name in items]
            columns["title"] = pl.Series(titles, dtype=pl.String)
        columns["text"] = pl.Series([texts.texts.get(name, "") for name in items], dtype=pl.String)
    columns["grade"] = pl.Series([None] * len(items), dtype=pl.Float64)
    return pl.DataFrame(columns)


def sheet_csv(frame: pl.DataFrame, separator: str) -> str:
    """The file as text; only what people read is made harmless to spreadsheets, for an id has to
    come back as it was."""
    import polars as pl

    text = pl.col([name for name in TEXT_COLUMNS if name in frame.columns])
    if len(frame.columns) > 3:
        harmless = ~text.str.contains(FORMULA) | text.str.contains(NUMBER)
        frame = frame.with_columns(pl.when(harmless).then(text).otherwise("'" + text))
    return frame.write_csv(separator=separator, quote_style="necessary")
