"""The rows of whatever a reader of runs or judgements returned."""

from __future__ import annotations

from typing import Any

from judged.inputs import Lookup


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
