"""Some of the queries, with what is relevant to them: for whoever splits them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judged.embeddings.relations import Bound, Pairs, Relation
from judged.inputs.vectors.vectors import Vectors
from judged.segments import Ints, positions, starts_of


def pairs_of(pairs: Pairs, rows: Ints) -> Pairs:
    """Those of some queries, in the given order."""
    lengths = pairs.lengths[rows]
    at = positions(starts_of(pairs.lengths)[rows], lengths)
    return Pairs(lengths, pairs.item[at], pairs.grade[at])


def vectors_of(vectors: Vectors, rows: Ints) -> Vectors:
    """Some vectors in memory, which keep their names, row numbers too."""
    return Vectors(
        vectors.rows(rows),
        tuple(vectors.name(row) for row in rows.tolist()),
        vectors.source,
        vectors.notes,
    )


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
