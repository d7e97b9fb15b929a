"""Runs and judgements that live in Spark: evaluated there, in partitions of whole queries, by the
same code as everywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judged.engines.spark.lazy import per_query
from judged.engines.spark.session import check_installed
from judged.engines.spark.tables import SparkTable, table_of
from judged.errors import InputError
from judged.inputs.remote import RemoteTable
from judged.inputs.tables import JUDGEMENTS, RUN

if TYPE_CHECKING:
    from judged.engines.spark.run import SparkRun
    from judged.inputs.columns import NamedColumns
    from judged.inputs.tables import Judgements, Kind

__all__ = ["SparkFrame", "per_query"]


@dataclass(frozen=True, eq=False)
class SparkFrame(RemoteTable):
    """A frame of Spark, before anybody knows what it holds; or a table that was read by Spark."""

    given: Any

    def run(self, name: str | None, columns: NamedColumns) -> SparkRun:  # type: ignore[override]
        """The run that it is."""
        from judged.engines.spark.run import SparkRun

        check_installed()
        return SparkRun.of(self.table(RUN, columns, name))

    def judgements(self, columns: NamedColumns) -> Judgements:
        """The judgements that it holds, which are all brought here, by id."""
        from judged.engines.spark.collected import judgements_here

        check_installed()
        return judgements_here(self.table(JUDGEMENTS, columns))

    def whole(self) -> SparkFrame:
        """Raise an error: the rows of a frame do not come here."""
        raise InputError(
            "item_to, unique and the unjudged range of a comparison need every result, and the "
            "run is in Spark; collect it first (frame.toPandas())."
        )

    def table(self, kind: Kind, columns: NamedColumns, name: str | None = None) -> SparkTable:
        """The table that it is."""
        if isinstance(self.given, SparkTable):
            return replace(self.given, name=name or self.given.name)
        return table_of(self.given, kind, columns, name=name or "run")
