"""Judgements in a table: all of them are needed here, so they are fetched, the needed columns
alone."""

from __future__ import annotations

from dataclasses import replace

from judged.engines.tables.backends import Backend
from judged.inputs.columns import NamedColumns, choose_columns
from judged.inputs.frames import tidy
from judged.inputs.tables import JUDGEMENTS, SUBTOPIC_COLUMNS, Judgements, to_judgements


def table_judgements(backend: Backend, columns: NamedColumns) -> Judgements:
    """Judgements in a table, by the ids of queries and items: a table has no order."""
    schema, label = backend.schema, backend.label
    header = schema.names()
    chosen = choose_columns(header, JUDGEMENTS, label, columns)
    numbers = {
        header[at]: backend.number(header[at], label, what)
        for at, what in ((chosen.value, JUDGEMENTS.value), (chosen.weight, "weight"))
        if at is not None and schema[header[at]].is_numeric()
    }
    others = [header[at] for at in chosen.needed if header[at] not in numbers]
    frame = backend.fetched(backend.table.select(*others, **numbers))
    reading = tidy(frame.lazy(), JUDGEMENTS, label, chosen, header)
    keys = [name for name in ("query", "item", *SUBTOPIC_COLUMNS) if name in reading.frame]
    # Of rows about the same the best grade comes first, so that it is always the same one.
    ordered = reading.frame.sort([*keys, "grade"], descending=[*[False] * len(keys), True])
    return to_judgements(replace(reading, frame=ordered), label)
