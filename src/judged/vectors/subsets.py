"""Some of the queries, with what is relevant to them: for whoever splits them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.segments import Ints, positions, starts_of
from judged.vectors.arrays import Vectors
from judged.vectors.relevance import Bound, Pairs, Relation

QUERIES_AT_A_TIME = 512
"""A relation that is a function answers with a whole matrix for the queries it is asked about."""


def all_pairs(bound: Bound, queries: int) -> Pairs:
    """The items of all queries, asked for in blocks."""
    begins = range(0, queries, QUERIES_AT_A_TIME)
    found = [bound.block(begin, min(begin + QUERIES_AT_A_TIME, queries)) for begin in begins]
    lengths, item, grade = (np.concatenate([getattr(each, part) for each in found]) for part in ("lengths", "item", "grade"))
    return Pairs(lengths.astype(np.int64), item.astype(np.int64), grade)


def pairs_of(pairs: Pairs, rows: Ints) -> Pairs:
    """Those of some queries, in the given order."""
    lengths = pairs.lengths[rows]
    at = positions(starts_of(pairs.lengths)[rows], lengths)
    return Pairs(lengths, pairs.item[at], pairs.grade[at])


def vectors_of(vectors: Vectors, rows: Ints) -> Vectors:
    """Some vectors in memory, which keep their names, row numbers too."""
    return Vectors(vectors.rows(rows), tuple(vectors.name(row) for row in rows.tolist()), vectors.source, vectors.notes)


@dataclass(frozen=True, eq=False)
class OfSome:
    """What a relation says of some queries, found already."""

    relation: Relation
    pairs: Pairs

    @property
    def says(self) -> str:
        return self.relation.says

    @property
    def complete(self) -> bool:
        return self.relation.complete

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        return self

    def block(self, begin: int, end: int) -> Pairs:
        return pairs_of(self.pairs, np.arange(begin, end))
