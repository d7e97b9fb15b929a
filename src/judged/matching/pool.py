"""Judgements made ready: grouped by query once, then matched with any number of runs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Floats, Ints, descending, each_once, positions, starts_of
from judged.errors import InputError
from judged.inputs.tables import Judgements, Lookup, texts
from judged.matching.faults import refuse_repeated
from judged.matching.join import Grouped, distinct, group, hashed, numbers
from judged.matching.subtopics import lists_by_item, table_by_item
from judged.rankings.rankings import Subtopics
from judged.text import without_counts

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Pool:
    """All judgements, query after query, in the order of the queries' first judgements."""

    queries: tuple[str, ...]
    lengths: Ints
    grades: Floats
    source: Lookup | Grouped[Judgements]
    dropped: int = 0
    """How many repeated rows were dropped."""
    subtopics: Subtopics | None = None
    """What was judged by subtopic; its items are this pool's, in the same order."""
    is_part: bool = False
    """Whether these are the judgements of some of the queries only."""

    def take(self, queries: Ints) -> Pool:
        """The judgements of some queries, in this order; what was dropped and noted is that of
        the whole."""
        rows = positions(starts_of(self.lengths)[queries], self.lengths[queries])
        names = tuple(self.queries[at] for at in queries.tolist())
        source: Lookup | Grouped[Judgements]
        if isinstance(self.source, Lookup):
            lists = self.source.lists
            source = replace(self.source, lists={name: lists[name] for name in names})
        else:
            # Queries of a block mostly stand together here too: then nothing is copied.
            together = bool(len(rows)) and bool((np.diff(queries) == 1).all())
            begin = int(rows[0]) if together else 0
            frame = self.frame.slice(begin, len(rows)) if together else self.frame[rows]
            source = Grouped(
                replace(self.source.table, frame=frame, rows=None, queries=()),
                self.key.slice(begin, len(rows)) if together else self.key.gather(rows),
                texts("query", names),
                self.lengths[queries],
                None,
            )
        subtopics = self.subtopics
        return Pool(
            names,
            self.lengths[queries],
            self.grades[rows],
            source,
            subtopics=None if subtopics is None else subtopics.take(queries, len(self.queries)),
            is_part=True,
        )

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each query is among all of them."""
        return {query: at for at, query in enumerate(self.queries)}

    @property
    def name(self) -> str:
        """What messages call the judgements."""
        return self.source.source if isinstance(self.source, Lookup) else self.source.table.source

    @property
    def notes(self) -> tuple[str, ...]:
        known = self.source if isinstance(self.source, Lookup) else self.source.table
        # The end of a run brings what is counted in all judgements, once.
        return without_counts(known.notes) if self.is_part else known.notes

    @cached_property
    def query(self) -> Ints:
        """The query of each judgement, as an index into `queries`."""
        return np.repeat(np.arange(len(self.queries)), self.lengths)

    @cached_property
    def best_first(self) -> Floats:
        """The grades alone, the best first in each query."""
        return descending(self.grades, self.lengths)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """Query and item of each judgement, for matching with tables."""
        import polars as pl

        if isinstance(self.source, Grouped):
            frame = self.source.table.frame.select("query", "item")
            return frame if self.source.order is None else frame[self.source.order]
        query = texts("query", self.queries).gather(self.query)
        item = texts("item", chain.from_iterable(self.source.lists.values()))
        return pl.DataFrame([query, item])

    @cached_property
    def key(self) -> pl.Series:
        """The hash of each judgement's query and item."""
        if isinstance(self.source, Grouped):
            return (
                self.source.key
                if self.source.order is None
                else self.source.key.gather(self.source.order)
            )
        return hashed(Judgements(self.frame, self.name, queries=self.queries)).key

    @cached_property
    def own_key(self) -> pl.Series:
        """The hash of each query as if it were its own item."""
        import polars as pl

        query = texts("query", self.queries)
        frame = pl.DataFrame([query, query.alias("item")])
        return hashed(Judgements(frame, self.name, queries=self.queries)).key

    @cached_property
    def items(self) -> list[Collection[str]]:
        """The judged items of each query, for looking them up in dicts."""
        if isinstance(self.source, Lookup):
            return list(self.source.lists.values())
        flat = self.frame["item"].to_list()
        starts = starts_of(self.lengths)
        return [
            flat[begin : begin + length]
            for begin, length in zip(starts.tolist(), self.lengths.tolist(), strict=True)
        ]

    def items_at(self, rows: Ints) -> list[str]:
        """The items of some judgements."""
        if isinstance(self.source, Grouped):
            return self.frame["item"].gather(rows).to_list()
        query = self.query[rows]
        place = rows - starts_of(self.lengths)[query]
        lists = {number: list(self.items[number]) for number in each_once(query).tolist()}
        return [
            lists[number][at] for number, at in zip(query.tolist(), place.tolist(), strict=True)
        ]


def pool_of(judgements: Judgements | Lookup, *, duplicates: str = "error") -> Pool:
    """Group judgements by query."""
    subtopics = None
    if isinstance(judgements, Lookup):
        dropped = len(refuse_repeated(judgements, duplicates))
        if judgements.by_subtopic:
            judgements, subtopics = lists_by_item(judgements)
        lists = judgements.lists
        if not lists:
            raise InputError(
                f"{judgements.source}: the dict is empty; give {{query: {{item: grade}}}}."
            )
        lengths = np.fromiter(map(len, lists.values()), np.int64, len(lists))
        grades = numbers(lists, lengths, "a grade")
        pool = Pool(tuple(lists), lengths, grades, judgements, dropped, subtopics)
    else:
        rows = distinct(judgements, duplicates)
        dropped = rows.table.dropped
        if judgements.by_subtopic:
            whole, subtopics = table_by_item(rows)
            rows = hashed(whole)
        grouped = group(rows)
        pool = Pool(
            tuple(grouped.names.to_list()),
            grouped.lengths,
            grouped.values("grade"),
            grouped,
            dropped,
            subtopics,
        )
    if not np.isfinite(pool.grades).all():
        at = int(np.flatnonzero(~np.isfinite(pool.grades))[0])
        raise InputError(
            f"{pool.name}: the grade of item {pool.items_at(np.array([at]))[0]!r} for query "
            f"{pool.queries[pool.query[at]]!r} "
            f"is {pool.grades[at]}; grades must be finite numbers."
        )
    return pool
