"""Tables in databases and in Spark, recognised by the module of their type.

Nothing is imported to find out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from judged.inputs.blocks import RunBlocks
    from judged.inputs.columns import NamedColumns
    from judged.inputs.tables import Judgements, Lookup, Run

_TABLES = {
    "duckdb": "DuckDBPyRelation",
    "_duckdb": "DuckDBPyRelation",
    "ibis": "Table",
    "narwhals": "LazyFrame",
    "sqlframe": "DataFrame",
    "dask": "DataFrame",
}


class RemoteTable:
    """A table in a database or in Spark that may hold a run or judgements."""

    def run(self, name: str | None, columns: NamedColumns) -> RunBlocks:
        raise NotImplementedError

    def judgements(self, columns: NamedColumns) -> Judgements:
        raise NotImplementedError

    def whole(self) -> Any:
        """Return what a reader of whole tables takes."""
        raise NotImplementedError


AnyRun: TypeAlias = "Run | Lookup"


def is_table(given: Any) -> bool:
    """Return whether this is a lazy table of a database library, or the address of one."""
    if isinstance(given, str):
        return ADDRESS.fullmatch(given) is not None
    kind = type(given)
    return _TABLES.get(kind.__module__.partition(".")[0]) == kind.__name__


ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<place>[^#]*)#(?P<table>.+)", re.I)


def is_spark(given: Any) -> bool:
    """Return whether this is a data frame of Spark, classic or Connect, or a table read by it."""
    kind = type(given)
    if kind.__name__ == "SparkTable":
        return kind.__module__ == "judged.engines.spark.tables"
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql")
