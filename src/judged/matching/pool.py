"""The pool: judgements prepared for matching, with subtopics and weights."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Floats, Ints, descending, each_once, ordinals, positions, starts_of
from judged.errors import InputError
from judged.inputs.tables import Judgements, Lookup, texts
from judged.inputs.weights import QueryWeights
from judged.matching.checks import refuse_repeated
from judged.matching.join import Grouped, distinct, hashed, numbers
from judged.rankings.audit import findings_of
from judged.rankings.rankings import Rankings, Subtopics, Weights
from judged.text import counted, few, without_counts

if TYPE_CHECKING:
    import polars as pl

    from judged.options import WeightsLike


UNUSED = "The weights of queries are not used here: every query counts once."


def own_weights(judgements: Judgements | Lookup) -> QueryWeights | None:
    """Return the weights in a column of the judgements."""
    return judgements.weights if isinstance(judgements, Judgements) else None


def refuse_both(judgements: Judgements | Lookup, weights: WeightsLike | None) -> None:
    """Raise an error if weights come from the judgements and from elsewhere."""
    known = own_weights(judgements)
    if known is not None and weights is not None:
        raise InputError(
            f"the judgements have weights of queries ({known.source}), and weights were given too; "
            "give one of them."
        )


def weighted(r: Rankings, query_weights: QueryWeights) -> Rankings:
    """Set a weight for each query, with notes on weights without effect."""
    weights = Weights(query_weights.of(r.queries), query_weights.source)
    findings = findings_of(r)
    closing = (*findings.closing, *about_weights(query_weights, r.queries))
    return replace(weighed(r, weights), findings=replace(findings, closing=closing))


def about_weights(query_weights: QueryWeights, queries: Sequence[str]) -> tuple[str, ...]:
    """Return notes on weights without effect."""
    weights = query_weights.of(queries)
    idle, unknown = int((weights == 0).sum()), query_weights.unknown(queries)
    notes = [
        (idle, f"{counted(idle, 'judged query', 'judged queries')} of weight 0: not counted."),
        (
            unknown,
            f"{counted(len(unknown), 'weight')} of queries without judgements ignored "
            f"({few(unknown)}).",
        ),
    ]
    return tuple(sentence for number, sentence in notes if number)


def weighed(r: Rankings, weights: Weights) -> Rankings:
    whole = None if r.whole is None else replace(r.whole, weights=weights)
    return replace(r, weights=weights, whole=whole)


def table_by_item(grouped: Grouped[Judgements]) -> tuple[Judgements, Subtopics]:
    """Return the best grade of each query and item, and the judgements by subtopic."""
    table, notes = grouped.table, grouped.table.notes
    frame = table.frame if grouped.order is None else table.frame[grouped.order]
    query = np.repeat(np.arange(len(grouped.names)), grouped.lengths)
    items, subtopics = _by_item(frame, query)
    frame = items.select(grouped.names.gather(items["number"]).alias("query"), "item", "grade")
    if items.height < len(subtopics.grade):
        notes += (
            f"{len(subtopics.grade):,} judgements by subtopic are of {items.height:,} items: "
            "measures that know no subtopics take the best grade of each item.",
        )
    return replace(table, frame=frame, notes=notes, locate=None, rows=None), subtopics


def subtopic_table(lookup: Lookup, duplicates: str) -> Judgements:
    """Return a dict of dicts of dicts as a table of judgements by subtopic."""
    dropped = len(refuse_repeated(lookup, duplicates))
    rows = rows_of(lookup)
    frame = rows.select(texts("query", lookup.lists).gather(rows["number"]), *rows.columns[1:])
    names = tuple(lookup.lists)
    return Judgements(frame, lookup.source, lookup.notes, queries=names, dropped=dropped)


def rows_of(lookup: Lookup) -> pl.DataFrame:
    """Return query number, item, subtopic and grade of a dict of dicts of dicts."""
    import polars as pl

    rows = [
        (number, item, subtopic, _grade(query, item, subtopic, grade))
        for number, (query, items) in enumerate(lookup.lists.items())
        for item, grades in items.items()
        for subtopic, grade in grades.items()
    ]
    schema = {"number": pl.Int64, "item": pl.String, "subtopic": pl.String, "grade": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _grade(query: str, item: str, subtopic: str, grade: object) -> float:
    if isinstance(grade, str) or not hasattr(grade, "__float__"):
        raise InputError(
            f"item {item!r} of query {query!r} has {grade!r} where a grade for subtopic "
            f"{subtopic!r} should be; give a number."
        )
    return float(grade)


def _by_item(frame: pl.DataFrame, query: Ints) -> tuple[pl.DataFrame, Subtopics]:
    """Return items with their best grades, and every judgement, from rows grouped by query."""
    import polars as pl

    # Items are in descending order of their ids: of items that are equally good next, ndeval's
    # ideal list takes the one with the greatest id. Subtopics are numbered in the order of their
    # names, so that the order of rows does not matter.
    rows = (
        frame.select("item", "subtopic", "grade", number=pl.Series(query))
        .with_columns(subtopic=pl.col("subtopic").rank("dense").over("number").cast(pl.Int64) - 1)
        .sort("number", "item", "subtopic", descending=[False, True, False])
    )
    query = rows["number"].to_numpy()
    same = (rows["item"] == rows["item"].shift()) & (rows["number"] == rows["number"].shift())
    new = ~same.fill_null(False).to_numpy()
    grade = rows["grade"].to_numpy()
    first = np.flatnonzero(new)
    items = rows.select("number", "item")[first].with_columns(
        grade=np.maximum.reduceat(grade, first) if len(first) else grade
    )
    item_query = query[first]
    item = (ordinals(item_query, int(item_query.max(initial=-1)) + 1) - 1)[np.cumsum(new) - 1]
    return items, Subtopics(query, item, rows["subtopic"].to_numpy(), grade)


@dataclass(eq=False, repr=False)
class Pool:
    """All judgements, query after query, in the order of the queries' first judgements."""

    queries: tuple[str, ...]
    lengths: Ints
    grades: Floats
    source: Lookup | Grouped[Judgements]
    dropped: int = 0  # repeated rows
    subtopics: Subtopics | None = None  # of the same items, in the same order
    is_part: bool = False  # True if some queries are left out

    def take(self, queries: Ints) -> Pool:
        """Return the judgements of some queries; dropped rows and notes stay with the whole."""
        rows = positions(starts_of(self.lengths)[queries], self.lengths[queries])
        names = tuple(self.queries[number] for number in queries.tolist())
        source: Lookup | Grouped[Judgements]
        if isinstance(self.source, Lookup):
            lists = self.source.lists
            source = replace(self.source, lists={name: lists[name] for name in names})
        else:
            # Queries of a block are mostly together here too: then nothing is copied.
            together = bool(len(rows)) and bool((np.diff(queries) == 1).all())
            begin = int(rows[0]) if together else 0
            frame = self.frame.slice(begin, len(rows)) if together else self.frame[rows]
            key = self.key.slice(begin, len(rows)) if together else self.key.gather(rows)
            table = replace(self.source.table, frame=frame, rows=None, queries=names)
            lengths = self.lengths[queries]
            source = Grouped(table, key, starts_of(lengths)[lengths > 0])
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
        """The index of each query."""
        return {query: place for place, query in enumerate(self.queries)}

    @property
    def judgements(self) -> Judgements | Lookup:
        return self.source if isinstance(self.source, Lookup) else self.source.table

    @property
    def name(self) -> str:
        """The name of the judgements in messages."""
        return self.judgements.source

    @property
    def notes(self) -> tuple[str, ...]:
        # Notes that count come once, at the end of a run.
        notes = self.judgements.notes
        return without_counts(notes) if self.is_part else notes

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
            order = self.source.order
            return self.source.key if order is None else self.source.key.gather(order)
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
        flat = iter(self.frame["item"].to_list())
        return [list(islice(flat, length)) for length in self.lengths.tolist()]

    def items_at(self, rows: Ints) -> list[str]:
        """Return the items of some judgements."""
        if isinstance(self.source, Grouped):
            return self.frame["item"].gather(rows).to_list()
        query = self.query[rows]
        place = rows - starts_of(self.lengths)[query]
        lists = {number: list(self.items[number]) for number in each_once(query).tolist()}
        return [
            lists[number][position]
            for number, position in zip(query.tolist(), place.tolist(), strict=True)
        ]


def pool_of(judgements: Judgements | Lookup, *, duplicates: str = "error") -> Pool:
    """Group judgements by query."""
    subtopics = None
    if isinstance(judgements, Lookup) and judgements.by_subtopic:
        judgements = subtopic_table(judgements, duplicates)
    if isinstance(judgements, Lookup):
        dropped = len(refuse_repeated(judgements, duplicates))
        lists = judgements.lists
        if not lists:
            raise InputError(
                f"{judgements.source}: the dict is empty; give {{query: {{item: grade}}}}."
            )
        lengths = np.fromiter(map(len, lists.values()), np.int64, len(lists))
        grades = numbers(lists, lengths, "a grade")
        pool = Pool(tuple(lists), lengths, grades, judgements, dropped)
    else:
        grouped = distinct(judgements, duplicates)
        dropped = grouped.table.dropped
        if judgements.by_subtopic:
            whole, subtopics = table_by_item(grouped)
            grouped = hashed(whole)
        names, grades = tuple(grouped.names.to_list()), grouped.values("grade")
        pool = Pool(names, grouped.lengths, grades, grouped, dropped, subtopics)
    if not np.isfinite(pool.grades).all():
        wrong = int(np.flatnonzero(~np.isfinite(pool.grades))[0])
        raise InputError(
            f"{pool.name}: the grade of item {pool.items_at(np.array([wrong]))[0]!r} for query "
            f"{pool.queries[pool.query[wrong]]!r} "
            f"is {pool.grades[wrong]}; grades must be finite numbers."
        )
    return pool
