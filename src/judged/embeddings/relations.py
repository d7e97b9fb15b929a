"""Which items are relevant to which query, and which are not to be looked at: asked for a block of
queries at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, starts_of
from judged.embeddings.pairs import Pairs
from judged.errors import InputError, quoted
from judged.inputs.vectors.vectors import Vectors, refuse_other_ids

if TYPE_CHECKING:
    from judged.matching.pool import Pool


class Bound(Protocol):
    """What knows the items of a block of queries; and, if it has a method `most`, how many there
    are at most for each of them, before it is asked which: not fewer where it is `exact`."""

    def block(self, begin: int, end: int) -> Pairs: ...


class Relation(Protocol):
    """Which items belong to a query: what is relevant, or what is excluded from the ranking.

    `judged.relevance` makes them; anything else with these members is one too.
    """

    @property
    def says(self) -> str:
        """Which items these are, in words."""
        ...

    @property
    def complete(self) -> bool:
        """Whether it speaks of all items: one that it does not name is known not to belong."""
        ...

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        """Ready for some vectors; refuses what does not fit them.

        Parameters
        ----------
        queries, items : Vectors
            Both sides.

        Returns
        -------
        Bound
            Its `block(begin, end)` gives the pairs of some queries.

        >>> from judged import Embeddings, relevance
        >>> both = Embeddings([[1.0], [2.0]], [[1.0], [2.0]])
        >>> relevance.pairs().bind(both.queries, both.items).block(0, 2).item.tolist()
        [0, 1]
        """
        ...


@dataclass(frozen=True)
class PairedRows:
    """The i-th item belongs to the i-th query, as with pairs of a caption and its clip."""

    says: ClassVar[str] = "the item with the query's own row number"
    complete: ClassVar[bool] = True

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        if len(queries) != len(items):
            raise InputError(
                f"pairs need as many queries as items; there are {len(queries)} queries and "
                f"{len(items)} items. For several queries per item use "
                "judged.relevance.same_label(…), or --labels."
            )
        _refuse_other_order(queries, items, "For pairs by id, give judged.relevance.same_id()")
        return self

    def block(self, begin: int, end: int) -> Pairs:
        return Pairs(self.most(begin, end), np.arange(begin, end), np.ones(end - begin))

    def most(self, begin: int, end: int) -> Ints:
        return np.ones(end - begin, np.int64)


def _refuse_other_order(queries: Vectors, items: Vectors, by_id: str) -> None:
    """Refuse to go by row where each query's id is that of an item in another row."""
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


@dataclass(frozen=True)
class SameRow:
    """The item with the query's own row number: the query itself, where queries and items are the
    same vectors."""

    says: ClassVar[str] = "the item with the query's own row number"
    complete: ClassVar[bool] = True

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        by_id = "To exclude by id, give judged.relevance.same_id() (--exclude-same-id)"
        _refuse_other_order(queries, items, by_id)
        rows = np.arange(min(len(queries), len(items)))
        return _Listed.of(rows, rows, np.ones(len(rows)), queries)


@dataclass(frozen=True)
class SameId:
    """The item with the query's own id."""

    says: ClassVar[str] = "the item with the query's own id"
    complete: ClassVar[bool] = True

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        if queries.ids is None or items.ids is None:
            raise InputError(
                "same_id needs ids on both sides; give query_ids and item_ids, or use same_row."
            )
        place = rows_of(queries.ids, items)
        pairs = [(row, place[name]) for row, name in enumerate(queries.ids) if name in place]
        row, item = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return _Listed.of(row, item, np.ones(len(row)), queries)


def rows_of(names: Iterable[str], vectors: Vectors) -> dict[str, int]:
    """The row of each name that there is; without a table of all rows, of which there may be many
    more."""
    wanted = set(names)
    if vectors.ids is not None:
        return {name: row for row, name in enumerate(vectors.ids) if name in wanted}
    digits = (name for name in wanted if name.isascii() and name.isdigit() and len(name) < 19)
    return {
        name: int(name) for name in digits if int(name) < len(vectors) and str(int(name)) == name
    }


@dataclass(frozen=True, eq=False)
class _Listed:
    """Pairs held as they are, in the order of the queries."""

    exact: ClassVar[bool] = True
    item: Ints
    grade: Floats
    lengths: Ints
    starts: Ints

    @classmethod
    def of(cls, row: Ints, item: Ints, grade: Floats, queries: Vectors) -> _Listed:
        return cls(*_pairs_of(row, item, grade, len(queries)))

    def block(self, begin: int, end: int) -> Pairs:
        lengths = self.lengths[begin:end]
        at = slice(int(self.starts[begin]), int(self.starts[begin]) + int(lengths.sum()))
        return Pairs(lengths, self.item[at], self.grade[at])

    def most(self, begin: int, end: int) -> Ints:
        return self.lengths[begin:end]


def _pairs_of(
    row: Ints, item: Ints, grade: Floats, queries: int
) -> tuple[Ints, Floats, Ints, Ints]:
    order = np.argsort(row, kind="stable")
    lengths = np.bincount(row, minlength=queries)
    return item[order], grade[order], lengths, starts_of(lengths)


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged(_Listed):
    """Pairs from judgements, which need not speak of all queries, nor of these alone."""

    known: NDArray[np.bool_]
    """The queries that have judgements; the others are not evaluated."""
    absent: tuple[str, ...] = ()
    """Judged queries that have no vector, and so no results."""
    of_absent: _Listed | None = None
    """What was judged of these."""


EXCLUSION_LIST = "exclusion list"


@dataclass(frozen=True, eq=False)
class Judgements:
    """Judgements in any form that `judged.evaluate` reads, by the ids of queries and items, or row
    numbers."""

    judgements: Any
    what: str = "judgements"
    complete: ClassVar[bool] = False

    @property
    def says(self) -> str:
        return f"the items of the {self.what}"

    @cached_property
    def pool(self) -> Pool:
        """The judgements, read once."""
        from judged.inputs import read_judgements
        from judged.matching import pool_of

        return pool_of(read_judgements(self.judgements))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed while reading, a sentence each."""
        return self.pool.notes

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        pool = self.pool
        names = [name for each in pool.items for name in each]
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
        return Judged(
            *_pairs_of(row[there], item[there], pool.grades[there], len(queries)),
            known=known,
            absent=tuple(pool.queries[at] for at in absent),
            of_absent=_Listed(
                *_pairs_of(number[~there], item[~there], pool.grades[~there], len(absent))
            ),
        )


@dataclass(frozen=True, eq=False)
class Computed:
    """A function (first query, end) -> grades, a matrix of these queries with all items."""

    function: Callable[[int, int], Any]
    says: ClassVar[str] = "the items that the given function names"
    complete: ClassVar[bool] = True

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        return _Computed(self.function, len(items))


@dataclass(frozen=True, eq=False)
class _Computed:
    function: Callable[[int, int], Any]
    items: int

    def block(self, begin: int, end: int) -> Pairs:
        try:
            grades = np.asarray(self.function(begin, end))
            numeric = grades.dtype.kind in "biuf"
        except TypeError as error:
            raise InputError(
                "the relevance function must take two numbers, the first query and the one after "
                f"the last ({error})."
            ) from error
        if not numeric:
            raise InputError(
                f"the relevance function must return numbers, grades; got {grades.dtype}."
            )
        if grades.shape != (end - begin, self.items):
            raise InputError(
                f"the relevance function returned shape {grades.shape} for queries {begin} to "
                f"{end - 1}; it must return {(end - begin, self.items)}."
            )
        if not np.isfinite(grades).all():
            raise InputError(
                f"the relevance function returned NaN or infinite grades for queries {begin} to "
                f"{end - 1}."
            )
        row, item = np.nonzero(grades)
        return Pairs(
            np.bincount(row, minlength=end - begin), item, grades[row, item].astype(np.float64)
        )


@dataclass(frozen=True, eq=False)
class Together:
    """All that any of several relations says."""

    parts: tuple[Relation, ...]

    @property
    def says(self) -> str:
        return ", and ".join(part.says for part in self.parts)

    @property
    def complete(self) -> bool:
        return all(part.complete for part in self.parts)

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        return _Together(tuple(part.bind(queries, items) for part in self.parts), len(items))


@dataclass(frozen=True, eq=False)
class _Together:
    parts: tuple[Bound, ...]
    items: int

    def block(self, begin: int, end: int) -> Pairs:
        found = [part.block(begin, end) for part in self.parts]
        known = [each.where(each.item >= 0) for each in found]
        key = np.unique(
            np.concatenate(
                [np.zeros(0, np.int64), *(each.row * self.items + each.item for each in known)]
            )
        )
        return Pairs(
            np.bincount(key // self.items, minlength=end - begin),
            key % self.items,
            np.ones(len(key)),
        )


@dataclass(frozen=True, eq=False)
class Lists:
    """Item numbers for each query, as they are."""

    lists: Sequence[Sequence[int]]
    what: str = "lists"
    complete: ClassVar[bool] = True

    @property
    def says(self) -> str:
        return f"the items listed as {self.what}"

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        if len(self.lists) != len(queries):
            raise InputError(
                f"{self.what}: {len(self.lists)} lists for {len(queries)} queries; there must be "
                "as many."
            )
        lengths = np.array([len(each) for each in self.lists], dtype=np.int64)
        numbers = [number for each in self.lists for number in each]
        wrong = next((number for number in numbers if not 0 <= number < len(items)), None)
        if wrong is not None:
            raise InputError(
                f"{self.what}: there is no item {wrong}; item numbers go from 0 to "
                f"{len(items) - 1}."
            )
        item = np.array(numbers, dtype=np.int64)
        return _Listed.of(
            np.repeat(np.arange(len(queries)), lengths), item, np.ones(len(item)), queries
        )


QUERIES_AT_A_TIME = 512
"""A relation that is a function answers with a whole matrix for the queries it is asked about."""


def all_pairs(bound: Bound, queries: int) -> Pairs:
    """The items of all queries, asked for in blocks."""
    begins = range(0, queries, QUERIES_AT_A_TIME)
    found = [bound.block(begin, min(begin + QUERIES_AT_A_TIME, queries)) for begin in begins]
    lengths, item, grade = (
        np.concatenate([getattr(each, part) for each in found])
        for part in ("lengths", "item", "grade")
    )
    return Pairs(lengths.astype(np.int64), item.astype(np.int64), grade)


def reversed_pairs(relation: Bound, queries: Vectors, items: Vectors) -> Bound:
    """The same pairs seen from the items: for each of them the queries it is relevant to."""
    pairs = all_pairs(relation, len(queries))
    pairs = pairs.where(pairs.item >= 0)
    found = _pairs_of(pairs.item, pairs.row, pairs.grade, len(items))
    return Judged(*found, known=found[2] > 0) if isinstance(relation, Judged) else _Listed(*found)


def as_relation(given: Any, *, what: Literal["relevance", "exclude"]) -> Relation:
    """Relevance or exclusion from what a caller may pass: a relation, a function, judgements, or
    several exclusions."""
    if isinstance(given, (list, tuple)) and what == "exclude":
        return Together(tuple(as_relation(each, what=what) for each in given))
    if hasattr(given, "bind"):
        return given
    if callable(given):
        return Computed(given)
    return Judgements(given, "judgements" if what == "relevance" else EXCLUSION_LIST)
