"""Unique categories: each category's best item stands for it, and the categories are ranked.

"Is a relevant category among the first five?" is then `Success@5` of rankings whose items are
categories, and every other measure works on them too. A category scores what its best item scores;
tied categories are ordered by the tie rule on the categories' own ids, or as the first of each
one's best items came; a category is as relevant as the best graded of its items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from os import PathLike
from threading import local
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, borders, positions, starts_of
from judged.embeddings.category_relations import ByCategory, Moved, WhollyExcluded
from judged.embeddings.pairs import Pairs
from judged.embeddings.product import Product
from judged.embeddings.relations import Bound
from judged.embeddings.similarity.rounding import Precision
from judged.embeddings.tiles import Tile
from judged.errors import InputError
from judged.inputs.keyed import Categories, is_frame, read_categories
from judged.inputs.vectors.label_tables import in_order_of
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Matrix, Vectors, casting


@dataclass(frozen=True, eq=False)
class Gathered(Vectors):
    """Vectors seen in another order; rows are gathered as blocks are read, so that files stay where
    they are."""

    order: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def block(self, begin: int, end: int, dtype: Precision = np.float32) -> Matrix:
        self.refuse_changed()
        rows = self.order[begin:end]
        if isinstance(self.values, np.ndarray):
            with casting():
                return np.ascontiguousarray(self.values[rows], dtype=dtype)
        result = np.empty((len(rows), self.dims), dtype)
        # What can only be read in stretches is gone through.
        for first in range(0, len(self), ROWS_AT_A_TIME):
            inside = (rows >= first) & (rows < first + ROWS_AT_A_TIME)
            if inside.any():
                some = super().block(first, first + ROWS_AT_A_TIME, dtype)
                result[inside] = some[rows[inside] - first]
        return result

    def rows(self, rows: Ints, dtype: Precision = np.float32) -> Matrix:
        return super().rows(self.order[rows], dtype)

    def name(self, row: int) -> str:
        return super().name(int(self.order[row]))


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the items of some categories lie, so that the greatest score of each comes from a few
    passes over a row.

    First one item of every category, then a second one of those that have two, and so on while many
    take part: each such round is one elementwise maximum. What is left of the largest categories
    follows end to end.
    """

    order: Ints
    """Items, by their place among those of all these categories."""
    rounds: tuple[int, ...]
    """How many categories take part in each round, the largest first."""
    rest: Ints
    """Where the remaining items of each of the largest categories begin."""
    place: Ints
    """Where each category stands among them by size."""

    @classmethod
    def of(cls, sizes: Ints) -> Layout:
        by_size = np.argsort(-sizes, kind="stable")
        ordered, begins = sizes[by_size], starts_of(sizes)[by_size]
        depth = int(ordered[_MANY - 1]) if len(ordered) >= _MANY else 0
        rounds = np.searchsorted(-ordered, -np.arange(depth), side="left")
        large = int(np.count_nonzero(ordered > depth))
        left = ordered[:large] - depth
        order = np.concatenate(
            [
                *(begins[:count] + number for number, count in enumerate(rounds)),
                positions(begins[:large] + depth, left),
            ]
        )
        place = np.empty(len(sizes), np.int64)
        place[by_size] = np.arange(len(sizes))
        return cls(order, tuple(rounds.tolist()), int(rounds.sum()) + starts_of(left), place)

    def greatest(self, scores: Matrix) -> Matrix:
        """The greatest score of each category, a row per query."""
        best = np.empty((len(scores), len(self.place)), scores.dtype)
        # A few rows at a time: what is read again in each round is then still in the processor's
        # cache.
        step = max(1, _CACHED // (4 * scores.shape[1]))

        for begin in range(0, len(scores), step):
            some = self._of_rows(scores[begin : begin + step])
            np.take(some, self.place, axis=1, out=best[begin : begin + step], mode="clip")
        return best

    def _of_rows(self, scores: Matrix) -> Matrix:
        largest = (
            np.maximum.reduceat(scores, self.rest, axis=1) if len(self.rest) else scores[:, :0]
        )
        if not self.rounds:
            return largest
        at = self.rounds[0]
        best = scores[:, :at].copy()
        for count in self.rounds[1:]:
            np.maximum(best[:, :count], scores[:, at : at + count], out=best[:, :count])
            at += count
        np.maximum(best[:, : len(self.rest)], largest, out=best[:, : len(self.rest)])
        return best


_MANY = 1024
"""Rounds go on while so many categories take part; fewer are faster one by one."""
_CACHED = 1 << 20


class Grouping:
    """Which item is of which category, and items in the order in which tiles of some width hold
    whole categories.

    Categories are numbered as they first occur among the items.
    """

    def __init__(self, categories: Any, items: Vectors, width: int) -> None:
        names, self.category = category_codes(categories, items)
        source = f"the categories of {items.source}"
        self.categories = Vectors(np.zeros((len(names), 0), np.float32), names, source, items.notes)
        self.sizes = np.bincount(self.category, minlength=len(names))
        self.begins = starts_of(self.sizes)
        self._together, self._width = np.argsort(self.category, kind="stable"), width
        self.layouts = {
            first: (end, Layout.of(self.sizes[first:end])) for first, end in self._cuts()
        }
        tiles = ((self.begins[first], layout) for first, (_, layout) in self.layouts.items())
        order = np.concatenate([self._together[begin + layout.order] for begin, layout in tiles])
        self.items = Gathered(
            items.values,
            items.ids,
            items.source,
            items.notes,
            order,
            origin=items.origin,
            beside=items.beside,
        )
        self._column_of = np.empty(len(order), np.int64)
        self._column_of[order] = np.arange(len(order))

    def _cuts(self) -> Iterator[tuple[int, int]]:
        """Categories whose items fit into one tile of the product together; one that does not fit
        stands alone."""
        ends = np.cumsum(self.sizes)
        first, count = 0, len(self.sizes)
        while first < count:
            room = self.begins[first] + self._width
            end = max(int(np.searchsorted(ends, room, side="right")), first + 1)
            yield first, end
            first = end

    def parts(self, first: int) -> Sequence[int]:
        """Where the product's tiles begin that hold the items of the categories from `first` to the
        end of their layout."""
        begin, end = int(self.begins[first]), self.layouts[first][0]
        return range(begin, begin + int(self.sizes[first:end].sum()), self._width)

    @property
    def cuts(self) -> Ints:
        """All columns at which tiles begin."""
        return np.concatenate([self.parts(first) for first in self.layouts])

    def members_of(self, categories: Ints) -> tuple[Ints, Ints]:
        """The items of some categories, one category after the other and in each as they came; and
        their columns."""
        member = self._together[positions(self.begins[categories], self.sizes[categories])]
        return member, self._column_of[member]

    def columns_of(self, category: int) -> Ints:
        """The columns of a category's items."""
        begin = self.begins[category]
        return self._column_of[self._together[begin : begin + self.sizes[category]]]

    def moved(self, exclude: Bound | None) -> Bound | None:
        """Excluded items by the column they have in the product."""
        return None if exclude is None else Moved(exclude, self._column_of)


class UniqueProduct:
    """As a `Product`, with categories for items: the score of a category is that of its best item.

    The product is one of the grouping's items; `exclude` are items as they came.
    """

    def __init__(self, product: Product, grouping: Grouping, exclude: Bound | None) -> None:
        self.product, self._grouping = product, grouping
        self.queries, self.items = product.queries, grouping.categories
        self._excluded_items = exclude
        self.exclude: Bound | None = (
            None if exclude is None else WhollyExcluded(exclude, grouping.category, grouping.sizes)
        )
        self.threads, self.listed = product.threads, product.listed
        self._last = local()
        self.comparable = product.comparable

    @property
    def columns(self) -> Sequence[int]:
        return tuple(self._grouping.layouts)

    def blocks(self) -> Iterator[tuple[int, int]]:
        return self.product.blocks()

    def query_block(self, begin: int, end: int) -> Matrix:
        return self.product.query_block(begin, end)

    def tile(self, prepared: Matrix, row: int, column: int, excluded: Pairs | None) -> Tile:
        """The scores of some categories; one whose items are all excluded is at minus infinity by
        that."""
        end, layout = self._grouping.layouts[column]
        begin = int(self._grouping.begins[column])
        size = int(self._grouping.sizes[column:end].sum())
        gone = (
            None
            if self.product.exclude is None
            else self.product.exclude.block(row, row + len(prepared))
        )

        slack: Floats | None = None

        def part(at: int) -> Matrix:
            nonlocal slack
            tile = self.product.tile(prepared, row, at, gone)
            scores, slack = tile.scores[:, : begin + size - at], tile.slack
            # A category that needs several tiles stands alone, so the order of its items means
            # nothing.
            return (
                layout.greatest(scores)
                if scores.shape[1] == size
                else scores.max(axis=1, keepdims=True)
            )

        best = reduce(np.maximum, map(part, self._grouping.parts(column)))
        return Tile(row, column, best, slack)

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        """The best of each category's items; `items` are categories here."""
        columns = [self._grouping.columns_of(category) for category in items.tolist()]
        lengths = np.array([len(each) for each in columns], np.int64)
        query, item = np.repeat(queries, lengths), np.concatenate([*columns, items[:0]])
        scores = self.product.exact_pairs(query, item)
        if (exclude := self.product.exclude) is not None:
            count = len(self.product.items)
            gone = [
                row * count + exclude.block(row, row + 1).item
                for row in np.unique(queries).tolist()
            ]
            scores[np.isin(query * count + item, np.concatenate([*gone, items[:0]]))] = -np.inf
        return np.maximum.reduceat(scores, starts_of(lengths)) if len(items) else scores

    def shifts(self, begin: int, end: int) -> Floats:
        return self.product.shifts(begin, end)

    def quick_pairs(self, queries: Ints, items: Ints) -> None:
        return None

    def doubled(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        columns = [self._grouping.columns_of(category) for category in items.tolist()]
        begins = starts_of(np.array([len(each) for each in columns], np.int64))
        item = np.concatenate(columns)
        scores, slack = self.product.doubled(queries, item)
        if (exclude := self.product.exclude) is not None:
            for place, row in enumerate(queries.tolist()):
                scores[place, np.isin(item, exclude.block(row, row + 1).item)] = -np.inf
        return np.maximum.reduceat(scores, begins, axis=1), slack

    def leaders(self, queries: Ints, categories: Ints) -> Ints:
        """For as many queries as categories, the item that stands for each: the first that came of
        its best."""
        count = len(self.items)
        asked, which = np.unique(queries * count + categories, return_inverse=True)
        sizes = self._grouping.sizes[asked % count]
        member, column = self._grouping.members_of(asked % count)
        score = self._of_items(np.repeat(asked // count, sizes), column)
        best = np.maximum.reduceat(score, starts_of(sizes)).repeat(sizes)
        level = np.flatnonzero(score == best)
        pair = np.repeat(np.arange(len(asked)), sizes)[level]
        return member[level[borders(pair)]][which]

    def _of_items(self, queries: Ints, columns: Ints) -> Floats:
        """The scores of single items, as they were when the best of each category was found."""
        found = np.empty(len(queries))
        height = self.product.height
        for begin in np.unique(queries // height * height).tolist():
            own = np.flatnonzero(queries // height * height == begin)
            scores, slack = self._block(begin, min(begin + height, len(self.queries)))
            found[own] = scores[queries[own] - begin, columns[own]]
            if slack is not None:
                there = own[found[own] > -np.inf]
                found[there] = self.product.exact_pairs(queries[there], columns[there])
        return found

    def _block(self, begin: int, end: int) -> tuple[Matrix, Floats | None]:
        """All items' scores for a block of queries; the last one of each thread is kept."""
        if getattr(self._last, "begin", None) != begin:
            prepared = self.query_block(begin, end)
            gone = None
            if self.product.exclude is not None:
                gone = self.product.exclude.block(begin, end)
            parts = []
            for first, (last, _) in self._grouping.layouts.items():
                stop = int(self._grouping.begins[first] + self._grouping.sizes[first:last].sum())
                for at in self._grouping.parts(first):
                    tile = self.product.tile(prepared, begin, at, gone)
                    parts.append(tile.scores[:, : stop - at].copy())
            self._last.scores, self._last.slack = np.hstack(parts), tile.slack
            self._last.begin = begin
        return self._last.scores, self._last.slack

    def relevance(self, relevant: Bound) -> Bound:
        """The categories that are relevant, from the items that are: each with the best grade of
        its items."""
        return ByCategory(relevant, self._excluded_items, self._grouping.category)

    def relevance_of_others(self, relevant: Bound) -> Bound:
        """The same for queries that are not among these, for which nothing is excluded."""
        return ByCategory(relevant, None, self._grouping.category)


def category_codes(categories: Any, items: Vectors) -> tuple[tuple[str, ...], Ints]:
    """The categories' ids in the order of their first item, and for each item the number of its
    category.

    Categories are one label for each item, or a table (dict, frame, file) from the items' ids to
    their categories.
    """
    if isinstance(categories, (str, PathLike, Mapping, Categories)) or is_frame(categories):
        table = read_categories(categories)
        labels: Any = table.of(items.names(), items.source)
    else:
        labels = _labels(in_order_of(items, categories), items)
    code: dict[Any, int] = {}
    numbers = np.fromiter(
        (code.setdefault(label, len(code)) for label in labels), np.int64, len(items)
    )
    return tuple(code), numbers


def _labels(given: Any, items: Vectors) -> list[str]:
    try:
        labels = np.asarray(given)
    except (TypeError, ValueError, RuntimeError):
        labels = np.zeros(())
    if labels.ndim != 1 or len(labels) != len(items):
        raise InputError(
            f"{items.source}: categories have shape {labels.shape}; one is needed for each of the "
            f"{len(items)} vectors."
        )
    missing = [
        row
        for row, label in enumerate(labels.tolist())
        if label is None or label == "" or label != label
    ]
    if missing:
        more = f" (and {len(missing) - 1:,} more)" if len(missing) > 1 else ""
        raise InputError(
            f"{items.source}: item {items.name(missing[0])} has no category{more}; give every item "
            "one."
        )
    if labels.dtype.kind == "f":
        if (labels != np.floor(labels)).any() or np.abs(labels).max(initial=0) >= 2**53:
            raise InputError(
                f"{items.source}: categories are floating-point numbers; give whole numbers or "
                "texts."
            )
        labels = labels.astype(np.int64)
    return [str(label) for label in labels.tolist()]
