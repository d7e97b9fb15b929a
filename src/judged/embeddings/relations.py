"""Relations between queries and items: what is relevant, and what is excluded from rankings.

A relation is bound to vectors, and then gives the pairs of a block of queries at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, starts_of
from judged.errors import InputError, quoted
from judged.inputs.vectors.vectors import Vectors, refuse_other_ids

if TYPE_CHECKING:
    from judged.matching.pool import Pool


@dataclass(frozen=True, eq=False)
class Pairs:
    """Items of some queries with their grades, query after query, each item once.

    An item of -1 is judged but has no vector, so it is never ranked.
    """

    lengths: Ints
    item: Ints
    grade: Floats

    @property
    def row(self) -> Ints:
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def where(self, keep: NDArray[np.bool_]) -> Pairs:
        return Pairs(
            np.bincount(self.row[keep], minlength=len(self.lengths)),
            self.item[keep],
            self.grade[keep],
        )

    def without(self, others: Pairs) -> Pairs:
        """Return the pairs that `others` of the same queries do not hold; items of -1 stay."""
        beyond = 1 + max(self.item.max(initial=0), others.item.max(initial=0))
        gone = np.isin(self.row * beyond + self.item, others.row * beyond + others.item)
        return self.where(~gone | (self.item < 0))


class Bound(Protocol):
    """A relation bound to vectors, which gives the items of a block of queries.

    It may have a method `most(begin, end)`, which returns how many items each query has at most.
    """

    def block(self, begin: int, end: int) -> Pairs: ...


@dataclass(frozen=True, eq=False)
class ComputedPairs:
    """Pairs that a function computes for a block of queries."""

    block: Callable[[int, int], Pairs]
    most: Callable[[int, int], Ints] | None = None


_CELLS_PER_PAIR = 40
"""A matrix of this many grades is held for a short time, and takes about as much as one pair."""


def pair_counts(bound: Bound, begin: int, end: int, items: int) -> Ints:
    """Return about how many pairs of each query are in memory while they are counted."""
    most = getattr(bound, "most", None)
    return np.full(end - begin, items // _CELLS_PER_PAIR) if most is None else most(begin, end)


class Relation(Protocol):
    """Items that are relevant to queries, or excluded from their rankings.

    `judged.relevance` makes them. Any other object with these members is one too.
    """

    @property
    def says(self) -> str:
        """A description of these items."""
        ...

    @property
    def complete(self) -> bool:
        """True if items that it does not name are known not to belong to the query."""
        ...

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        """Bind the relation to vectors; raise an error if it does not fit them.

        Parameters
        ----------
        queries, items : Vectors
            Both sides.

        >>> from judged import Embeddings, relevance
        >>> both = Embeddings([[1.0], [2.0]], [[1.0], [2.0]])
        >>> relevance.pairs().bind(both.queries, both.items).block(0, 2).item.tolist()
        [0, 1]
        """
        ...


def _refuse_other_order(queries: Vectors, items: Vectors, by_id: str) -> None:
    """Raise an error if each query has the id of an item in another row."""
    if queries.ids is None or items.ids is None or queries.ids == items.ids[: len(queries)]:
        return
    if set(items.ids).issuperset(queries.ids):
        row = next(row for row, name in enumerate(queries.ids) if name != items.ids[row])
        raise InputError(
            f"{queries.source} and {items.source} have the same ids in another order: row {row} "
            f"(from 0) is {quoted(queries.ids[row])} and {quoted(items.ids[row])}, so rows or ids "
            f"could be meant. {by_id}; to go by row, put both sides in the "
            "same order, or give other ids (query_ids, --query-ids)."
        )


@dataclass(frozen=True, eq=False)
class DeclaredRelation:
    """A relation that is a function of the vectors of both sides."""

    says: str
    bind: Callable[[Vectors, Vectors], Bound]
    complete: bool = True
    is_by_id: bool = False
    """True for the items with the query's own id."""
    is_by_label: bool = False
    """True for the items with labels of the query."""
    parts: tuple[Relation, ...] = ()
    """The relations that it is the union of."""


def same_row(*, paired: bool = False) -> Relation:
    """Return the item in the query's own row; if `paired`, each query must have one."""

    def bind(queries: Vectors, items: Vectors) -> Bound:
        by_id = "To exclude by id, give judged.relevance.same_id() (--exclude-same-id)"
        if paired:
            by_id = "For pairs by id, give judged.relevance.same_id()"
        if paired and len(queries) != len(items):
            raise InputError(
                f"pairs need as many queries as items, but there are {len(queries)} queries and "
                f"{len(items)} items. For several queries per item, use labels (--labels)."
            )
        _refuse_other_order(queries, items, by_id)
        rows = np.arange(min(len(queries), len(items)))
        return ListedPairs.of(rows, rows, np.ones(len(rows)), queries)

    return DeclaredRelation("the item with the query's own row number", bind)


def bind_same_id(queries: Vectors, items: Vectors) -> Bound:
    if queries.ids is None or items.ids is None:
        raise InputError(
            "same_id needs ids on both sides. Give query_ids and item_ids, or use same_row."
        )
    place = rows_of(queries.ids, items)
    pairs = [(row, place[name]) for row, name in enumerate(queries.ids) if name in place]
    row, item = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return ListedPairs.of(row, item, np.ones(len(row)), queries)


def rows_of(names: Iterable[str], vectors: Vectors) -> dict[str, int]:
    """Return the row of each name that occurs, without a table of all rows."""
    wanted = set(names)
    if vectors.ids is not None:
        return {name: row for row, name in enumerate(vectors.ids) if name in wanted}
    digits = (name for name in wanted if name.isascii() and name.isdigit() and len(name) < 19)
    return {
        name: int(name) for name in digits if int(name) < len(vectors) and str(int(name)) == name
    }


@dataclass(frozen=True, eq=False)
class ListedPairs(Pairs):
    """Pairs of all queries in memory, in the order of the queries."""

    @classmethod
    def of(cls, row: Ints, item: Ints, grade: Floats, queries: Vectors) -> ListedPairs:
        return cls(*_pairs_of(row, item, grade, len(queries)))

    @cached_property
    def starts(self) -> Ints:
        return starts_of(self.lengths)

    def at(self, begin: int, end: int) -> slice:
        start = int(self.starts[begin])
        return slice(start, start + int(self.lengths[begin:end].sum()))

    def block(self, begin: int, end: int) -> Pairs:
        at = self.at(begin, end)
        return Pairs(self.lengths[begin:end], self.item[at], self.grade[at])

    def most(self, begin: int, end: int) -> Ints:
        return self.lengths[begin:end]


def _pairs_of(row: Ints, item: Ints, grade: Floats, queries: int) -> tuple[Ints, Ints, Floats]:
    """Return the number of items of each query, and items and grades in the order of queries."""
    order = np.argsort(row, kind="stable")
    return np.bincount(row, minlength=queries), item[order], grade[order]


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundJudgements(ListedPairs):
    """Pairs from judgements, which may lack some queries and have others."""

    known: NDArray[np.bool_]
    """True for queries with judgements; the others are not evaluated."""
    absent: tuple[str, ...] = ()
    """Judged queries without a vector, and so without results."""
    of_absent: ListedPairs | None = None
    """The judgements of these."""


EXCLUSION_LIST = "exclusion list"


@dataclass(frozen=True, eq=False)
class JudgementRelation:
    """Judgements in any form that `judged.evaluate` reads, by ids or row numbers."""

    judgements: Any
    what: str = "judgements"
    complete: ClassVar[bool] = False

    @property
    def says(self) -> str:
        return f"the items of the {self.what}"

    @cached_property
    def pool(self) -> Pool:
        from judged.inputs import read_judgements
        from judged.matching.pool import pool_of

        return pool_of(read_judgements(self.judgements))

    @property
    def notes(self) -> tuple[str, ...]:
        """Assumptions made while reading, one sentence each."""
        return self.pool.notes

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        pool = self.pool
        names = [name for listed in pool.items for name in listed]
        refuse_other_ids(queries, pool.queries, self.what)
        refuse_other_ids(items, names, self.what)
        query_place = {name: row for row, name in enumerate(queries.names())}
        of_query = np.array([query_place.get(name, -1) for name in pool.queries], dtype=np.int64)
        if not (of_query >= 0).any():
            numbers = "" if queries.ids else ", row numbers; give query_ids (--query-ids)"
            raise InputError(
                f"the {self.what} and {queries.source} have no query in common: "
                f"the {self.what} {'have' if self.what.endswith('s') else 'has'} "
                f"{', '.join(map(repr, pool.queries[:3]))}, the vectors have "
                f"{', '.join(map(repr, queries.names()[:3]))}{numbers}."
            )
        item_place = rows_of(names, items)
        item = np.array([item_place.get(name, -1) for name in names], dtype=np.int64)
        row = of_query[pool.query]
        there = row >= 0
        known = np.zeros(len(queries), bool)
        known[of_query[of_query >= 0]] = True
        absent = np.flatnonzero(of_query < 0)
        number = np.cumsum(of_query < 0)[pool.query] - 1
        return BoundJudgements(
            *_pairs_of(row[there], item[there], pool.grades[there], len(queries)),
            known=known,
            absent=tuple(pool.queries[at] for at in absent),
            of_absent=ListedPairs(
                *_pairs_of(number[~there], item[~there], pool.grades[~there], len(absent))
            ),
        )


def grades_by(function: Callable[[int, int], Any]) -> Relation:
    """Return a relation from a function (first query, end) that returns grades with all items."""

    def block(begin: int, end: int, items: int) -> Pairs:
        try:
            grades = np.asarray(function(begin, end))
        except TypeError as error:
            raise InputError(
                "the relevance function must take two numbers, the first query and the one after "
                f"the last ({error})."
            ) from error
        if grades.dtype.kind not in "biuf" or grades.shape != (end - begin, items):
            raise InputError(
                f"the relevance function returned {grades.dtype} of shape {grades.shape} for "
                f"queries {begin} to {end - 1}; it must return numbers of shape "
                f"{(end - begin, items)}."
            )
        if not np.isfinite(grades).all():
            raise InputError(
                f"the relevance function returned NaN or infinite grades for queries {begin} to "
                f"{end - 1}."
            )
        row, item = np.nonzero(grades)
        lengths = np.bincount(row, minlength=end - begin)
        return Pairs(lengths, item, grades[row, item].astype(np.float64))

    return DeclaredRelation(
        "the items for which the given function returns a grade",
        lambda queries, items: ComputedPairs(lambda begin, end: block(begin, end, len(items))),
    )


def _bind_union(parts: Sequence[Relation], queries: Vectors, items: Vectors) -> Bound:
    bound, count = [part.bind(queries, items) for part in parts], len(items)

    def block(begin: int, end: int) -> Pairs:
        keys = [np.zeros(0, np.int64)]
        for part in bound:
            pairs = part.block(begin, end)
            pairs = pairs.where(pairs.item >= 0)
            keys.append(pairs.row * count + pairs.item)
        key = np.unique(np.concatenate(keys))
        lengths = np.bincount(key // count, minlength=end - begin)
        return Pairs(lengths, key % count, np.ones(len(key)))

    def most(begin: int, end: int) -> Ints:
        counts = [pair_counts(part, begin, end, count) for part in bound]
        return np.sum(counts, axis=0, dtype=np.int64)

    return ComputedPairs(block, most)


def row_lists(lists: Sequence[Sequence[int]], what: str) -> Relation:
    """Return a relation from the row numbers of items for each query."""

    def bind(queries: Vectors, items: Vectors) -> Bound:
        if len(lists) != len(queries):
            raise InputError(
                f"{what}: {len(lists)} lists for {len(queries)} queries; the numbers must match."
            )
        numbers = [number for listed in lists for number in listed]
        wrong = next((number for number in numbers if not 0 <= number < len(items)), None)
        if wrong is not None:
            raise InputError(
                f"{what}: item {wrong} does not exist; item numbers go from 0 to {len(items) - 1}."
            )
        row = np.repeat(np.arange(len(queries)), [len(listed) for listed in lists])
        item = np.array(numbers, dtype=np.int64)
        return ListedPairs.of(row, item, np.ones(len(item)), queries)

    return DeclaredRelation(f"the items listed as {what}", bind)


_QUERIES_PER_BLOCK = 512
"""A relation that is a function returns a whole matrix for a block of queries."""


def all_pairs(bound: Bound, queries: int) -> Pairs:
    begins = range(0, queries, _QUERIES_PER_BLOCK)
    blocks = [bound.block(begin, min(begin + _QUERIES_PER_BLOCK, queries)) for begin in begins]
    lengths, item, grade = (
        np.concatenate([getattr(block, part) for block in blocks])
        for part in ("lengths", "item", "grade")
    )
    return Pairs(lengths.astype(np.int64), item.astype(np.int64), grade)


def reversed_pairs(relation: Bound, queries: Vectors, items: Vectors) -> Bound:
    """Return the same pairs seen from the items: the queries of each item."""
    pairs = all_pairs(relation, len(queries))
    pairs = pairs.where(pairs.item >= 0)
    found = _pairs_of(pairs.item, pairs.row, pairs.grade, len(items))
    return (
        BoundJudgements(*found, known=found[0] > 0)
        if isinstance(relation, BoundJudgements)
        else ListedPairs(*found)
    )


def reversed_relation(relation: Relation) -> Relation:

    def bind(queries: Vectors, items: Vectors) -> Bound:
        return reversed_pairs(relation.bind(items, queries), items, queries)

    return DeclaredRelation(relation.says, bind, relation.complete)


def as_exclusion(exclude: Any) -> Relation | None:
    """Return a relation from one exclusion or a list of them; None for None and an empty list."""
    if exclude is None or (isinstance(exclude, (list, tuple)) and not exclude):
        return None
    if isinstance(exclude, (list, tuple)):
        parts = tuple(as_relation(part, what="exclude") for part in exclude)
        return DeclaredRelation(
            ", and ".join(part.says for part in parts),
            partial(_bind_union, parts),
            all(part.complete for part in parts),
            parts=parts,
        )
    return as_relation(exclude, what="exclude")


def as_relation(given: Any, *, what: Literal["relevance", "exclude"] = "relevance") -> Relation:
    if hasattr(given, "bind"):
        return given
    if callable(given):
        return grades_by(given)
    return JudgementRelation(given, "judgements" if what == "relevance" else EXCLUSION_LIST)
