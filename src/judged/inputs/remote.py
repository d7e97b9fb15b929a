"""Runs that stay where they are, in a database or on a cluster, and are reduced there.

What a value is is told by the module of its type, so that nothing is imported to find out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from judged.inputs.columns import NamedColumns
    from judged.inputs.tables import Judgements, Lookup, Run
    from judged.matching.join import Matches
    from judged.matching.pool import Pool

_TABLES = {
    "duckdb": "DuckDBPyRelation",
    "_duckdb": "DuckDBPyRelation",
    "ibis": "Table",
    "narwhals": "LazyFrame",
    "sqlframe": "DataFrame",
    "dask": "DataFrame",
}
"""Tables that are computed elsewhere, by the library they are of."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RemoteRun:
    """A run of which only the judged results and the lengths of lists ever come here."""

    name: str = "run"
    """What tables call the run."""
    source: str
    """What messages call it."""
    notes: tuple[str, ...] = ()
    """What was assumed, a sentence each."""
    basis: tuple[str, ...] = ()
    """What was done to what is ranked, in words: part of the definition of every number."""

    def names(self) -> list[str]:
        """Some of its queries, for messages."""
        raise NotImplementedError

    def match(self, pool: Pool, duplicates: str) -> Matches:
        """The judged items that it holds."""
        raise NotImplementedError

    def without_own_ids(self) -> tuple[Any, int]:
        """The run without results that have the id of their query, and how many these are."""
        raise NotImplementedError

    def without_empty_lists(self) -> RemoteRun:
        """The run, to which a query with nothing in it is missing."""
        raise NotImplementedError

    def is_empty(self) -> bool:
        """Whether no list holds anything."""
        raise NotImplementedError

    def refuse_input_order(self) -> None:
        """Refuse ties in the order of the input, where there is no such order."""
        raise NotImplementedError


class RemoteTable:
    """A table that stays where it is, before anybody knows what it holds."""

    def run(self, name: str | None, columns: NamedColumns) -> RemoteRun:
        """The run that it is."""
        raise NotImplementedError

    def judgements(self, columns: NamedColumns) -> Judgements:
        """The judgements that it holds, which are all brought here."""
        raise NotImplementedError

    def whole(self) -> Any:
        """Return what a reader of whole tables takes."""
        raise NotImplementedError


AnyRun: TypeAlias = "Run | Lookup | RemoteRun"


def is_table(given: Any) -> bool:
    """Return whether this is a lazy table of a database library, or the address of one.

    >>> is_table("duckdb://runs.duckdb#bm25"), is_table("runs/bm25.parquet")
    (True, False)
    """
    if isinstance(given, str):
        return ADDRESS.fullmatch(given) is not None
    kind = type(given)
    return _TABLES.get(kind.__module__.partition(".")[0]) == kind.__name__


ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<place>[^#]*)#(?P<table>.+)", re.I)
"""The address of a table in a database, URL#TABLE."""


def is_spark(given: Any) -> bool:
    """Whether this is a data frame of Spark, classic or Connect, or a table that was read by it.

    >>> is_spark({"q": {"a": 1.0}})
    False
    """
    kind = type(given)
    if kind.__module__ == "judged.engines.spark.tables":
        return True
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql")


def stays_in_spark(data: Any) -> bool:
    """Whether judgements and all runs are tables of Spark."""
    every = (data.given, *data.given_runs.values())
    return all(type(each).__module__ == "judged.engines.spark" for each in every)
