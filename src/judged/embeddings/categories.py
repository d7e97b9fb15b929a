"""Unique categories: each category is ranked by its best item.

`Success@5` then says whether a relevant category is among the first five, and all other measures
work too. A category has the score of its best item, and the grade of its best graded item. Tied
categories are ordered by their ids, or by the first of their best items in the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from os import PathLike
from threading import local
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, borders, positions, starts_of
from judged.embeddings.product import ScoreTile, TiledProduct
from judged.embeddings.relations import Bound, ComputedPairs, Pairs
from judged.embeddings.relevance import labels_of
from judged.inputs.keyed import read_categories
from judged.inputs.tables import Categories, is_frame
from judged.inputs.vectors.vectors import Lazy, Matrix, Vectors


def reordered(vectors: Vectors, order: Ints) -> Vectors:
    """Return vectors in another order; rows are gathered as they are read."""
    values = vectors.values
    read = Lazy(values.shape, values.dtype, lambda rows, columns: values[order[rows]][:, columns])
    return replace(vectors, values=read, ids=tuple(map(vectors.name, order.tolist())))


class CategoryGrouping:
    """The categories of items, and an order of items in which tiles hold whole categories.

    Categories are numbered as they first occur among the items.
    """

    def __init__(self, categories: Any, items: Vectors, width: int) -> None:
        names, self.category = category_codes(categories, items)
        source = f"the categories of {items.source}"
        self.categories = Vectors(np.zeros((len(names), 0), np.float32), names, source, items.notes)
        self.sizes = np.bincount(self.category, minlength=len(names))
        self.begins = starts_of(self.sizes)
        self.order = np.argsort(self.category, kind="stable")
        self.ends = dict(self._cuts(width))
        """The end of the categories that each tile begins with."""
        self._width = width
        self.items = reordered(items, self.order)
        self._column_of = np.empty(len(self.order), np.int64)
        self._column_of[self.order] = np.arange(len(self.order))

    def _cuts(self, width: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of categories whose items fit into one tile; a larger one is alone."""
        ends = np.cumsum(self.sizes)
        first, count = 0, len(self.sizes)
        while first < count:
            room = self.begins[first] + width
            end = max(int(np.searchsorted(ends, room, side="right")), first + 1)
            yield first, end
            first = end

    def parts(self, first: int) -> Iterator[tuple[int, int]]:
        """Yield begin and end of the tiles with the items of the cut at category `first`."""
        begin, last = int(self.begins[first]), self.ends[first] - 1
        end = int(self.begins[last] + self.sizes[last])
        for column in range(begin, end, self._width):
            yield column, min(column + self._width, end)

    @property
    def cuts(self) -> Ints:
        """All columns at which tiles begin."""
        return np.array([begin for first in self.ends for begin, _ in self.parts(first)])

    def columns_of(self, categories: Ints) -> tuple[Ints, Ints]:
        """Return the columns of the items of some categories, and how many each has."""
        sizes = self.sizes[categories]
        return positions(self.begins[categories], sizes), sizes

    def moved(self, exclude: Bound | None) -> Bound | None:
        if exclude is None:
            return None

        def block(begin: int, end: int) -> Pairs:
            found = exclude.block(begin, end)
            known = found.where(found.item >= 0)
            return Pairs(known.lengths, self._column_of[known.item], known.grade)

        return ComputedPairs(block)

    def excluded(self, exclude: Bound) -> Bound:
        """Return the categories whose items are all excluded."""
        sizes = self.sizes

        def block(begin: int, end: int) -> Pairs:
            gone = exclude.block(begin, end)
            known = gone.item >= 0
            key = gone.row[known] * len(sizes) + self.category[gone.item[known]]
            found, count = np.unique(key, return_counts=True)
            whole = found[count == sizes[found % len(sizes)]]
            lengths = np.bincount(whole // len(sizes), minlength=end - begin)
            return Pairs(lengths, whole % len(sizes), np.ones(len(whole)))

        return ComputedPairs(block)

    def relevant(self, relevant: Bound, exclude: Bound | None = None) -> Bound:
        """Return relevant categories, each with its items' best grade; -1 stays for lost items."""

        def block(begin: int, end: int) -> Pairs:
            pairs = relevant.block(begin, end)
            if exclude is not None:
                gone = exclude.block(begin, end)
                pairs = pairs.without(gone.where(gone.item >= 0))
            item = np.where(pairs.item >= 0, self.category[pairs.item], -1)
            order = np.lexsort((-pairs.grade, item, pairs.row))
            row, item, grade = pairs.row[order], item[order], pairs.grade[order]
            first = borders(row, item) | (item < 0)
            return Pairs(np.bincount(row[first], minlength=end - begin), item[first], grade[first])

        return ComputedPairs(block)


class CategoryProduct:
    """A product with categories as items, each with the score of its best item.

    `product` is one of the grouping's items, and `exclude` holds items in the input's order.
    """

    def __init__(
        self, product: TiledProduct, grouping: CategoryGrouping, exclude: Bound | None
    ) -> None:
        self.product, self._grouping = product, grouping
        self.queries, self.items = product.queries, grouping.categories
        self._excluded_items = exclude
        self.exclude = None if exclude is None else grouping.excluded(exclude)
        self.threads, self.listed = product.threads, product.listed
        self._last = local()
        self.comparable = product.comparable
        self.rescores = False  # a category has many items

    @property
    def columns(self) -> Sequence[int]:
        return tuple(self._grouping.ends)

    def blocks(self) -> Iterator[tuple[int, int]]:
        return self.product.blocks()

    def query_block(self, begin: int, end: int) -> Matrix:
        return self.product.query_block(begin, end)

    def tile(self, prepared: Matrix, row: int, column: int, excluded: Pairs | None) -> ScoreTile:
        """Return the scores of some categories; wholly excluded ones are at minus infinity."""
        begins = self._grouping.begins[column : self._grouping.ends[column]]
        best: list[Matrix] = []
        slack = None
        for scores, slack in self._item_tiles(prepared, row, column):  # noqa: B007
            # A category that needs several tiles is alone.
            starts = begins - begins[0] if len(begins) > 1 else [0]
            best.append(np.maximum.reduceat(scores, starts, axis=1))
        return ScoreTile(row, column, reduce(np.maximum, best), slack)

    def _item_tiles(
        self, prepared: Matrix, row: int, column: int
    ) -> Iterator[tuple[Matrix, Floats | None]]:
        exclude = self.product.exclude
        gone = None if exclude is None else exclude.block(row, row + len(prepared))
        for begin, end in self._grouping.parts(column):
            tile = self.product.tile(prepared, row, begin, gone)
            yield tile.scores[:, : end - begin], tile.slack

    def exact_pairs(self, queries: Ints, items: Ints) -> Floats:
        """Return the score of each category's best item; `items` are categories here."""
        item, lengths = self._grouping.columns_of(items)
        query = np.repeat(queries, lengths)
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

    def exact_shifts(self, begin: int, end: int) -> Floats | None:
        return self.product.exact_shifts(begin, end)

    def rescored_pairs(self, queries: Ints, items: Ints) -> tuple[Floats, Floats]:
        """Return unknown scores: rescoring all items of categories would save no time."""
        return np.zeros(len(items)), np.full(len(items), np.inf)

    def leaders(self, queries: Ints, categories: Ints) -> Ints:
        """Return, for as many queries as categories, the first of each category's best items."""
        count = len(self.items)
        key, which = np.unique(queries * count + categories, return_inverse=True)
        column, sizes = self._grouping.columns_of(key % count)
        score = self._of_items(np.repeat(key // count, sizes), column)
        best = np.maximum.reduceat(score, starts_of(sizes)).repeat(sizes)
        level = np.flatnonzero(score == best)
        pair = np.repeat(np.arange(len(key)), sizes)[level]
        return self._grouping.order[column[level[borders(pair)]]][which]

    def _of_items(self, queries: Ints, columns: Ints) -> Floats:
        """Return the scores of single items, as they were when the best were found."""
        result = np.empty(len(queries))
        height = self.product.height
        for begin in np.unique(queries // height * height).tolist():
            rows = np.flatnonzero(queries // height * height == begin)
            scores, slack = self._block(begin, min(begin + height, len(self.queries)))
            result[rows] = scores[queries[rows] - begin, columns[rows]]
            if slack is not None:
                there = rows[result[rows] > -np.inf]
                result[there] = self.product.exact_pairs(queries[there], columns[there])
        return result

    def _block(self, begin: int, end: int) -> tuple[Matrix, Floats | None]:
        """Return all items' scores for a block of queries; each thread keeps its last one."""
        if getattr(self._last, "begin", None) != begin:
            prepared = self.query_block(begin, end)
            parts = [
                (scores.copy(), slack)
                for column in self.columns
                for scores, slack in self._item_tiles(prepared, begin, column)
            ]
            self._last.scores = np.hstack([scores for scores, _ in parts])
            self._last.slack = parts[-1][1]
            self._last.begin = begin
        return self._last.scores, self._last.slack

    def relevance(self, relevant: Bound) -> Bound:
        return self._grouping.relevant(relevant, self._excluded_items)

    def relevance_of_others(self, relevant: Bound) -> Bound:
        """Return the same for queries that are not among these, without exclusions."""
        return self._grouping.relevant(relevant)


AnyProduct = TiledProduct | CategoryProduct
"""Scores of queries with items, or with categories; the same tile has the same bits again."""


def category_codes(categories: Any, items: Vectors) -> tuple[tuple[str, ...], Ints]:
    """Return the ids of categories in the order of the input, and the category of each item.

    Categories are one label for each item, or a table (dict, frame, file) from ids to categories.
    """
    if isinstance(categories, (str, PathLike, Mapping, Categories)) or is_frame(categories):
        table = read_categories(categories)
        labels: Any = table.of(items.names(), items.source)
    else:
        labels = map(str, labels_of(categories, items, "category", "categories").tolist())
    code: dict[Any, int] = {}
    numbers = np.fromiter(
        (code.setdefault(label, len(code)) for label in labels), np.int64, len(items)
    )
    return tuple(code), numbers
