"""Rows of a table, by query: one key a row, the rows that say the same thing twice, and where each
query's rows lie."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.inputs.tables import Judgements, Run, Table
from judged.segments import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

AnyTable = TypeVar("AnyTable", Judgements, Run)


@dataclass(frozen=True, eq=False)
class Hashed(Generic[AnyTable]):
    """A table with a 64-bit hash of what each row is about, and the rows where another query
    begins."""

    table: AnyTable
    key: pl.Series
    starts: Ints


def identity(table: Table) -> list[str]:
    """The columns that no two rows may have in common."""
    return [name for name in ("query", "item", "subtopic") if name in table.frame.columns]


def hashed(table: AnyTable) -> Hashed[AnyTable]:
    import polars as pl

    if not table.frame.height:
        raise InputError(f"{table.source} holds no rows.")
    query = pl.col("query").hash(1)
    about = pl.col("item").hash(2) ^ query
    key = table.frame.lazy().select(
        key=about ^ pl.col("subtopic").hash(3) if "subtopic" in identity(table) else about
    )
    starts = table.frame.lazy().select(start=(query != query.shift()).fill_null(True).arg_true())
    keys, begins = pl.collect_all([key, starts])
    return Hashed(table, keys["key"], begins["start"].to_numpy().astype(np.int64))


_BLOCK = 1 << 17
"""Rows worked on at a time: what is made of them on the way stays in the processor's cache."""


def equal_pairs(*keys: pl.Series) -> tuple[Ints, Ints]:
    """All pairs of places whose keys agree, the smaller place on the left: a suspicion, for the
    strings to confirm.

    Places count on from one series to the next. One sort of integers does it, shared out among the
    processors by the keys' highest bits: the place is packed into the low bits of its key, so that
    it need not be sorted along.
    """
    count = sum(map(len, keys))
    low = max(count - 1, 1).bit_length()
    bits = min((os.cpu_count() or 1).bit_length() - 1, 3) if count > _BLOCK else 0
    chunks = [chunk.to_numpy() for key in keys for chunk in key.get_chunks()]
    with ThreadPoolExecutor(1 << bits) as pool:
        shares = list(
            pool.map(lambda share: _equal_pairs(chunks, low, share, bits), range(1 << bits))
        )
    return np.concatenate([left for left, _ in shares]), np.concatenate(
        [right for _, right in shares]
    )


def _equal_pairs(
    chunks: list[NDArray[np.uint64]], low: int, share: int, bits: int
) -> tuple[Ints, Ints]:
    """The pairs among the keys whose highest bits are this share's."""
    mask = np.uint64((1 << low) - 1)
    parts: list[NDArray[np.uint64]] = []
    at = 0
    for values in chunks:
        for begin in range(0, len(values), _BLOCK):
            block = values[begin : begin + _BLOCK]
            place = np.arange(at, at + len(block), dtype=np.uint64)
            at += len(block)
            if bits:
                own = block >> np.uint64(64 - bits) == share
                block, place = block[own], place[own]
            parts.append((block & ~mask) | place)
    packed = np.concatenate(parts)
    packed.sort()
    left: list[Ints] = []
    right: list[Ints] = []
    same, distance, found = _neighbours(packed, mask), 1, 0
    while len(same) and found < _PAIRS:
        left.append((packed[same] & mask).astype(np.int64))
        right.append((packed[same + distance] & mask).astype(np.int64))
        found += len(same)
        distance += 1
        same = same[same + distance < len(packed)]
        same = same[(packed[same + distance] ^ packed[same]) <= mask]
    none = np.zeros(0, np.int64)
    return np.concatenate([none, *left]), np.concatenate([none, *right])


_PAIRS = 10_000_000
"""Enough pairs: so many are rows that repeat, which is found out from any of them, and a row
repeated n times has n² pairs."""


def _neighbours(packed: NDArray[np.uint64], mask: np.uint64) -> Ints:
    """Where keys agree with the next one."""
    last = len(packed) - 1
    blocks = ((begin, min(begin + _BLOCK, last)) for begin in range(0, last, _BLOCK))
    found = [
        begin + np.flatnonzero((packed[begin + 1 : end + 1] ^ packed[begin:end]) <= mask)
        for begin, end in blocks
    ]
    return np.concatenate([np.zeros(0, np.int64), *found])


def repeated(table: Table, suspects: Ints) -> Ints:
    """Those of some rows that are really about the same as another of them."""
    import polars as pl

    rows = np.unique(suspects)
    same = (
        table.frame[rows].select(pl.struct(identity(table)).is_duplicated()).to_series().to_numpy()
    )
    return rows[same]


def without_repeats(table: AnyTable, rows: Ints, duplicates: str) -> AnyTable:
    """The table with only the best-ranked of the rows about the same, or an error that names the
    rows."""
    if duplicates == "error":
        raise InputError(_duplicate_message(table, rows))
    frame = table.frame.with_row_index("row")
    if isinstance(table, Run):
        frame = frame.sort("score", descending=True, maintain_order=True)
    kept = frame.unique(identity(table), keep="first", maintain_order=True).sort("row")
    numbers, locate = kept["row"].to_list(), table.locate
    return replace(
        table,
        frame=kept.drop("row"),
        locate=locate and (lambda wanted: locate([numbers[row] for row in wanted])),
    )


def _duplicate_message(table: Table, rows: Ints) -> str:
    import polars as pl

    same = table.frame[rows].select(identity(table))
    first = same.row(0, named=True)
    mates = rows[
        same.select(pl.all_horizontal(pl.col(name) == value for name, value in first.items()))
        .to_series()
        .to_numpy()
    ]
    about = f" for subtopic {first['subtopic']!r}" if "subtopic" in first else ""
    others = same.n_unique() - 1
    more = (
        f" (and {others:,} more such {'triple' if about else 'pair'}{'s' if others > 1 else ''})"
        if others
        else ""
    )
    return (
        f"{table.source}, {table.where(mates[:10].tolist())}: "
        f"query {first['query']!r} has item {first['item']!r} more than once{about}{more}. "
        "Remove the repetitions, or keep the best-ranked of each with duplicates='first' "
        "(--duplicates first)."
    )


@dataclass(frozen=True, eq=False)
class Grouped(Generic[AnyTable]):
    """A table seen query by query; rows stay where they are, `order` says where a query's rows lie."""

    table: AnyTable
    key: pl.Series
    """In the order of the table's rows."""
    names: pl.Series
    """The queries in the order of their first row."""
    lengths: Ints
    order: Ints | None
    """Row numbers, query after query; None where the table is grouped already."""

    def values(self, column: str) -> Floats:
        """The numbers of a column, query after query."""
        flat = self.table.frame[column].to_numpy()
        return flat if self.order is None else flat[self.order]

    def rows(self, positions: Ints) -> Ints:
        """The table's rows at some positions of the query-after-query order."""
        return positions if self.order is None else self.order[positions]

    def positions(self, rows: Ints) -> Ints:
        """The other way round."""
        if self.order is None:
            return rows
        back = np.empty(len(self.order), np.int64)
        back[self.order] = np.arange(len(back))
        return back[rows]


def group(rows: Hashed[AnyTable]) -> Grouped[AnyTable]:
    """Find each query's rows; a table that is grouped already is not sorted."""
    import polars as pl

    starts = rows.starts
    lengths = np.diff(np.append(starts, rows.table.frame.height))
    names = rows.table.frame["query"].gather(starts)
    if names.n_unique() == len(names):
        return Grouped(rows.table, rows.key, names, lengths, None)
    stretches = pl.DataFrame({"query": names, "length": lengths})
    whole = stretches.group_by("query", maintain_order=True).agg(pl.col("length").sum())
    number = stretches.join(
        whole.select("query").with_row_index("number"), on="query", maintain_order="left"
    )["number"]
    order = np.argsort(np.repeat(number.to_numpy(), lengths), kind="stable")
    return Grouped(
        rows.table, rows.key, whole["query"], whole["length"].to_numpy().astype(np.int64), order
    )
