"""What workers find wrong with rows: named by query and item, for rows of Spark have no numbers.

All partitions tell what they found, and the smallest query and item are named: the message is the
same each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judged.errors import InputError, JudgedError
from judged.matching.checks import ADVICE, NAN_ADVICE
from judged.text import counted

if TYPE_CHECKING:
    import polars as pl

    from judged.engines.spark.rows import Described


@dataclass(frozen=True)
class Fault:
    """Something wrong with the rows of a partition."""

    order: int
    """What is said first where several things are wrong."""
    query: str
    item: str
    says: str
    """The message; {more} stands for how many others there are."""
    number: int = 1
    """How many rows, or pairs, have it."""
    others: str = "more"
    error: type[JudgedError] = InputError

    def __reduce__(self) -> tuple[type[Fault], tuple[object, ...]]:
        return Fault, tuple(getattr(self, name) for name in self.__dataclass_fields__)


class FaultError(InputError):
    """Raised where rows are found that hold a fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.says)
        self.fault = fault


def raised(faults: Sequence[Fault]) -> JudgedError:
    """The error for what partitions found."""
    first = min(fault.order for fault in faults)
    same = [fault for fault in faults if fault.order == first]
    least = min(same, key=lambda fault: (fault.query.encode(), fault.item.encode()))
    number = sum(fault.number for fault in same) - 1
    more = f" (and {number:,} more)" if least.others == "more" else f" (and {_some(number, least)})"
    return least.error(least.says.replace("{more}", more if number else ""))


def _some(number: int, fault: Fault) -> str:
    return counted(number, fault.others)


def fault_in(
    error: JudgedError,
    tables: Sequence[tuple[Described, pl.DataFrame]],
    *,
    duplicates: str = "error",
) -> Fault:
    """What is wrong with the rows for which judging failed; what cannot be told from the rows is
    said as it was."""
    if isinstance(error, FaultError):
        return error.fault
    found = [fault for described, rows in tables for fault in _faults(described, rows, duplicates)]
    if found:
        return min(found, key=lambda fault: fault.order)
    query = min((str(rows["query"].min()) for _, rows in tables if rows.height), default="")
    # Rows of a partition have numbers that mean nothing.
    text = re.sub(r", (?:row|line)s? [\d, and]+:", ":", str(error))
    return Fault(9, query, "", text, error=type(error))


def item_missing(source: str, query: str, number: int, order: int = 3) -> Fault:
    """Rows of a query without an item, where they do not just name a query without any."""
    says = f"{source}: the item is missing, of query {query!r}{{more}}."
    return Fault(order, query, "", says, number)


def _faults(described: Described, rows: pl.DataFrame, duplicates: str) -> Iterator[Fault]:
    import polars as pl

    source, value = described.source, described.kind.value
    order = 0 if value == "grade" else 3
    empty = pl.col("item").is_null() & pl.col(value).is_null()
    listed = rows.filter(~empty)["query"].unique().implode()
    named = empty & pl.col("query").is_in(listed)  # such a row only names a query without rows
    lost = rows.filter((~empty | named) & (pl.col("item").is_null() | (pl.col("item") == "")))
    if lost.height:
        yield item_missing(source, str(lost["query"].min()), lost.height, order)
    lost = rows.filter(~empty & pl.col(value).is_null()).sort("query", "item")
    if lost.height and value == "score":
        query, item = lost.select("query", "item").row(0)
        says = f"{source}: the score of item {item!r} for query {query!r} is missing{{more}}."
        yield Fault(order, query, item, says, lost.height)
    about = [name for name in ("query", "item", "subtopic") if name in rows.columns]
    again = rows.filter(~empty).group_by(about).len().filter(pl.col("len") > 1).sort(about)
    if again.height and duplicates == "error":
        query, item, *subtopic = again.select(about).row(0)
        of = f" for subtopic {subtopic[0]!r}" if subtopic else ""
        says = f"{source}: query {query!r} has item {item!r} more than once{of}{{more}}. {ADVICE}"
        others = "more such triple" if of else "more such pair"
        yield Fault(order + 1, query, item, says, again.height, others)
    nan = rows.filter(pl.col(value).is_nan()).sort("query", "item")
    if nan.height:
        query, item = nan.select("query", "item").row(0)
        says = f"{source}: the {value} of item {item!r} for query {query!r} is NaN{{more}}. "
        yield Fault(order + 2, query, item, says + NAN_ADVICE, nan.height)
