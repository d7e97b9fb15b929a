"""Tables in every form, and the rows of whatever a reader of runs or judgements returned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from judged.inputs import Lookup


def every_form(frame: pl.DataFrame, folder: Path = Path()) -> dict[str, Any]:
    """Return a table as files and as objects of Python, all of them with the same rows."""
    frame.write_parquet(folder / "a.parquet")
    rows = frame.to_dicts()
    texts = {
        "a.csv": frame.write_csv(quote_style="non_numeric"),
        "a.tsv": frame.write_csv(separator="\t"),
        "a.jsonl": "\n".join(map(json.dumps, rows)),
        "a.json": json.dumps(rows),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return {
        **{name: folder / name for name in (*texts, "a.parquet")},
        "polars": frame,
        "lazy": frame.lazy(),
        "pandas": frame.to_pandas(),
        "pyarrow": frame.to_arrow(),
        "rows": rows,
    }


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    """Return (query, item, value), and the subtopic if there are some."""
    if not isinstance(table, Lookup):
        return table.frame.rows()
    if table.by_subtopic:
        return [
            (query, item, float(grade), subtopic)
            for query, items in table.lists.items()
            for item, grades in items.items()
            for subtopic, grade in grades.items()
        ]
    return [
        (query, item, float(value))
        for query, items in table.lists.items()
        for item, value in items.items()
    ]


def queries_of(table: Any) -> list[str]:
    return list(table.lists) if isinstance(table, Lookup) else table.names()
