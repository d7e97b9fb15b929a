"""Tables that live elsewhere (DuckDB, ibis, Spark, …), reduced there to the ranks of judged items.

Everything is said in expressions of narwhals, which makes the engine's own of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from judged.engines.tables.backends import Backend
from judged.engines.tables.columns import run_columns
from judged.engines.tables.judgements import table_judgements
from judged.engines.tables.run import TableRun
from judged.inputs.columns import LISTS, has_lists
from judged.inputs.remote import RemoteTable
from judged.inputs.tables import JUDGEMENTS, Judgements, Kind

if TYPE_CHECKING:
    from judged.inputs.columns import NamedColumns
    from judged.options import Engine

__all__ = ["Table", "remote_table"]


@dataclass(frozen=True, eq=False)
class Table(RemoteTable):
    """A table and its engine; nothing is computed before somebody asks."""

    backend: Backend

    def run(self, name: str | None, columns: NamedColumns) -> TableRun:
        label = self.backend.label
        source = label if name in (None, "run") else f"{label.partition(' ')[2]} {name!r}"
        with self.backend.failing():
            rows, is_rank, notes = run_columns(self.backend, source, columns)
        return TableRun(
            name=name or "run",
            source=source,
            notes=notes,
            backend=self.backend,
            rows=rows,
            is_rank=is_rank,
        )

    def judgements(self, columns: NamedColumns) -> Judgements:
        with self.backend.failing():
            return table_judgements(self.backend, columns)


def remote_table(
    given: Any, kind: Kind, engine: Engine | None, columns: NamedColumns
) -> Table | None:
    """A table that stays where it is; None for what is read here: files of judgements and, unless
    the engine was asked for, tables with lists of ids in them, and all where narwhals is missing.
    """
    if isinstance(given, (str, PathLike)):
        from judged.engines.tables.addresses import is_address, opened

        address = fspath(given)
        if kind is JUDGEMENTS and not is_address(address):
            return None
        given = opened(address)
    elif engine is None and find_spec("narwhals") is None:
        return None
    backend = Backend.of(given)
    header = backend.schema.names()
    role = LISTS[kind is not JUDGEMENTS]
    if engine is None and has_lists(header, (role,), columns):
        return None
    return Table(backend)
