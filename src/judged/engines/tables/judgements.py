"""Judgements in a table: all of them are needed here, so they are fetched, the needed columns
alone."""

from __future__ import annotations

from dataclasses import replace

from judged.engines.tables.backends import Backend
from judged.inputs.columns import choose_columns
from judged.inputs.frames import tidy
from judged.inputs.named import Named
from judged.inputs.tables import JUDGEMENTS, SUBTOPIC_COLUMNS, Judgements, to_judgements


def table_judgements(backend: Backend, columns: Named) -> Judgements:
    """Judgements in a table, by the ids of queries and items: a table has no order."""
    header = backend.table.collect_schema().names()
    chosen = choose_columns(header, JUDGEMENTS, backend.label, columns)
    names = [header[at] for at in chosen.needed]
    frame = backend.fetched(backend.table.select(*names))
    reading = tidy(frame.lazy(), JUDGEMENTS, backend.label, chosen, header)
    keys = [name for name in ("query", "item", *SUBTOPIC_COLUMNS) if name in reading.frame]
    # Of rows about the same the best grade comes first, so that it is always the same one.
    ordered = reading.frame.sort([*keys, "grade"], descending=[*[False] * len(keys), True])
    return to_judgements(replace(reading, frame=ordered), backend.label)
