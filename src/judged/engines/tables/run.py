"""A run in a table, matched with judgements where it lives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.engines.tables.backends import Backend
from judged.engines.tables.faults import (
    refuse_collation,
    refuse_lost,
    refuse_nan,
    refuse_odd_ranks,
    without_repeats,
)
from judged.engines.tables.hits import Hits, hits_of
from judged.engines.tables.lists import ALL, Filter, Lists, lists_of
from judged.errors import PolicyError
from judged.inputs.remote import RemoteRun
from judged.matching.join import Matches

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from numpy.typing import NDArray

    from judged.arrays import Ints
    from judged.matching.pool import Pool

_NAMES = 1000
"""So many queries are looked at where none is judged."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TableRun(RemoteRun):
    """A run in a table of another engine."""

    backend: Backend
    rows: nw.LazyFrame[Any]
    """Query, item and score of each row."""
    is_rank: bool = False
    """Whether the score is a rank, with a minus."""
    which: Filter = ALL
    """Which rows are results."""

    def match(self, pool: Pool, duplicates: str) -> Matches:
        with self.backend.failing():
            return self._match(pool, duplicates)

    def _match(self, pool: Pool, duplicates: str) -> Matches:
        queries = _numbered(pool.queries)
        judged = self.backend.uploaded(queries)
        lists = lists_of(self.backend, self.rows, judged, self.which)
        refuse_lost(lists, self.source)
        wanted = queries["query"].gather(lists.lines["number"])
        refuse_collation(lists.lines["text"], wanted, self.source)
        listed = self.rows.filter(self.which.results())
        every = listed.join(judged.select("query"), on="query", how="semi")
        rows, dropped = without_repeats(self.backend, every, duplicates, self.source)
        refuse_nan(lists, self.backend, rows, self.source)
        if self.is_rank:
            refuse_odd_ranks(self.backend, rows, self.source)
        if dropped:
            lists = lists.without_repeats(lists_of(self.backend, rows, judged, ALL))
        hits = hits_of(self.backend, rows, pool, self.source)
        return _matches(pool, lists, hits, dropped)

    def names(self) -> list[str]:
        import narwhals as nw

        named = self.rows.filter(~nw.col("query").is_null()).select("query").unique()
        return self.backend.fetched(named.sort("query").head(_NAMES))["query"].to_list()

    def without_own_ids(self) -> tuple[TableRun, int]:
        import narwhals as nw

        own = self.rows.filter(nw.col("item") == nw.col("query")).select(nw.len().alias("rows"))
        number = int(self.backend.fetched(own).item())
        kept = replace(self.which, keeps_own=False)
        return (replace(self, which=kept) if number else self), number

    def without_empty_lists(self) -> TableRun:
        shorter = replace(self.which, keeps_empty=False, own_counts=self.which.keeps_own)
        return replace(self, which=shorter)

    def is_empty(self) -> bool:
        import narwhals as nw

        results = self.rows.filter(self.which.results())
        return not self.backend.fetched(results.head(1).select(nw.len().alias("rows"))).item()

    def refuse_input_order(self) -> None:
        if not self.is_rank:
            raise PolicyError(
                f"ties=input cannot be had of {self.source}: a table has no order. Give a rank "
                "column in place of the score (columns={'rank': COLUMN}, --columns rank=COLUMN), "
                "or another rule: ties=id, expected, best or worst."
            )


def _numbered(texts: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    from judged.inputs.tables import texts as column_of

    return pl.DataFrame({"query": column_of("query", texts), "number": np.arange(len(texts))})


def _matches(pool: Pool, lists: Lists, hits: Hits, dropped: int) -> Matches:
    number = lists.column("number")
    list_of = np.full(len(pool.queries), -1)
    list_of[number] = np.arange(len(number))

    def no_items(lists: Ints, chosen: NDArray[np.bool_]) -> list[str]:
        raise NotImplementedError("lists that are elsewhere are not looked into")

    return Matches(
        scores=np.empty(0),
        lengths=lists.column("results"),
        list_of=list_of,
        hit_judgement=hits.judgement,
        hit_score=hits.score,
        hit_position=None,
        items=no_items,
        run_queries=lists.run_queries,
        own_query=hits.own_query,
        own_score=hits.own_score,
        infinite=int(lists.column("infinite").sum()),
        dropped=dropped,
        reduced=hits.reduced(lists.best),
    )
