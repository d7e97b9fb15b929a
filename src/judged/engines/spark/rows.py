"""What a partition holds, as the tables that judging takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judged.engines.spark.faults import Fault, FaultError
from judged.engines.spark.partitions import SIDE
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    Judgements,
    Kind,
    Passed,
    RawTable,
    Run,
    from_rows,
    to_judgements,
    to_run,
)
from judged.text import quote

if TYPE_CHECKING:
    import polars as pl

    from judged.engines.spark.tables import SparkTable


NOT_UTF8 = "\0"
"""What stands before a line that is no text, which is then as good as it can be shown."""


def not_utf8(line: str, more: str = "") -> str:
    """What is said of such a line."""
    return f"not UTF-8 text: {quote(line, 60)}{more}. Convert the file to UTF-8 first."


@dataclass(frozen=True)
class Described:
    """What a worker has to know of a table in Spark."""

    kind: Kind
    source: str
    name: str
    notes: tuple[str, ...]
    is_rank: bool
    columns: tuple[str, ...]
    one_iteration: bool | None = None
    """Whether all rows of all partitions name the same iteration, which is then no subtopic; None
    where the rows that are here tell."""

    @classmethod
    def of(cls, table: SparkTable) -> Described:
        """What is known of a table."""
        columns = tuple(table.frame.columns)
        return cls(table.kind, table.source, table.name, table.notes, table.is_rank, columns)

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of this table among those of a partition, with numbers for values."""
        import polars as pl

        own = frame.filter(pl.col(SIDE) == int(self.kind == JUDGEMENTS)).select(self.columns)
        for name in (self.kind.value, "weight"):
            if name in own.columns:
                own = own.with_columns(_number(own, name, self.source))
        if "line" in own.columns:
            own = self._with_lines(own)
        if "iteration" in own.columns and self.one_iteration is not None:
            named = {"iteration": "subtopic"}
            own = own.drop("iteration") if self.one_iteration else own.rename(named)
        return own.with_columns(score=-own["score"]) if self.is_rank else own

    def _with_lines(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with those in place of lines that have more fields than usual, or fewer."""
        import polars as pl

        from judged.inputs.trec import TREC_JUDGEMENTS, TREC_RUN, line_by_line

        lines = rows["line"].drop_nulls().sort().to_list()
        rows = rows.filter(pl.col("line").is_null()).drop("line")
        if not lines:
            return rows
        if lines[0].startswith(NOT_UTF8):
            odd = sum(line.startswith(NOT_UTF8) for line in lines)
            says = f"{self.source}: {not_utf8(lines[0].removeprefix(NOT_UTF8), '{more}')}"
            raise FaultError(Fault(2, lines[0], "", says, odd))
        layout = TREC_RUN if self.kind == RUN else TREC_JUDGEMENTS
        read = line_by_line((line.encode() for line in lines), layout, self.source)
        more = from_rows(read, self.kind, layout.subtopic).select(rows.columns)
        return pl.concat([rows, more])

    def run(self, rows: pl.DataFrame) -> Run:
        """The run that such rows are."""
        made = to_run(self._reading(rows), self.source, self.name)
        # There are others, in other partitions.
        return replace(made, passed=Passed(rows=1), part=True)

    def judgements(self, rows: pl.DataFrame) -> Judgements:
        """The judgements that such rows are."""
        return to_judgements(self._reading(rows), self.source)

    def _reading(self, rows: pl.DataFrame) -> RawTable:
        """Rows in which no id is missing."""
        from judged.inputs.frames import complete

        return RawTable(complete(rows, self.kind, self.source), self.notes)


def _number(rows: pl.DataFrame, name: str, source: str) -> pl.Series:
    """Numbers as in every table; of a text, what it says."""
    import polars as pl

    column = rows[name]
    if column.dtype != pl.String:
        return column.cast(pl.Float64)
    found = column.str.strip_chars(" ").cast(pl.Float64, strict=False)
    odd = rows.filter(found.is_null() & column.is_not_null() & (column != "")).sort("query", "item")
    if odd.height:
        query, item, text = odd.select("query", "item", name).row(0)
        says = f"{source}: the {name} of item {item!r} for query {query!r} is not a number: "
        raise FaultError(
            Fault(2, query, item or "", f"{says}{quote(text, 30)}{{more}}.", odd.height)
        )
    return found
