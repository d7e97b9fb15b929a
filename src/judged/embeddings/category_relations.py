"""What is relevant or excluded, by category in place of item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.arrays import Ints, borders
from judged.embeddings.pairs import Pairs
from judged.embeddings.relations import Bound


@dataclass(frozen=True, eq=False)
class Moved:
    """Excluded items by the column they have in the product."""

    exclude: Bound
    column_of: Ints

    def block(self, begin: int, end: int) -> Pairs:
        found = self.exclude.block(begin, end)
        known = found.where(found.item >= 0)
        return Pairs(known.lengths, self.column_of[known.item], known.grade)


@dataclass(frozen=True, eq=False)
class WhollyExcluded:
    """Categories of which no item is left."""

    exclude: Bound
    category: Ints
    sizes: Ints

    def block(self, begin: int, end: int) -> Pairs:
        gone = self.exclude.block(begin, end)
        known = gone.item >= 0
        key = gone.row[known] * len(self.sizes) + self.category[gone.item[known]]
        found, count = np.unique(key, return_counts=True)
        whole = found[count == self.sizes[found % len(self.sizes)]]
        lengths = np.bincount(whole // len(self.sizes), minlength=end - begin)
        return Pairs(lengths, whole % len(self.sizes), np.ones(len(whole)))


@dataclass(frozen=True, eq=False)
class ByCategory:
    """Relevant items as relevant categories. An item without a vector stays what it is, one that
    can only be missed."""

    relevant: Bound
    exclude: Bound | None
    category: Ints

    def block(self, begin: int, end: int) -> Pairs:
        pairs = self.relevant.block(begin, end)
        known = pairs.item >= 0
        keep = known.copy()
        if self.exclude is not None:
            gone = self.exclude.block(begin, end)
            count = len(self.category)
            real = gone.item >= 0
            keep &= ~np.isin(
                pairs.row * count + pairs.item, gone.row[real] * count + gone.item[real]
            )
        row = np.concatenate([pairs.row[keep], pairs.row[~known]])
        item = np.concatenate([self.category[pairs.item[keep]], np.full(int((~known).sum()), -1)])
        grade = np.concatenate([pairs.grade[keep], pairs.grade[~known]])
        order = np.lexsort((-grade, item, row))
        row, item, grade = row[order], item[order], grade[order]
        first = borders(row, item) | (item < 0)
        return Pairs(np.bincount(row[first], minlength=end - begin), item[first], grade[first])
