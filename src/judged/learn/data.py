"""What is learned from: vectors, which pairs of them are relevant or excluded, and how queries of a
part of them fare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from judged.embeddings.embeddings import Embeddings
from judged.embeddings.product import refuse_infinite
from judged.embeddings.relations import Pairs, Relation, all_pairs
from judged.errors import InputError
from judged.evaluation.evaluation import Scored
from judged.inputs.vectors.vectors import Vectors
from judged.learn.subsets import OfSome, pairs_of, vectors_of
from judged.measures import Measure
from judged.segments import Floats, Ints
from judged.similarity.directions import marks_of
from judged.similarity.equal import keys_of
from judged.similarity.similarity import Cosine, Similarity


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the queries, to be evaluated among all items."""

    queries: Vectors
    items: Vectors
    relevance: Relation
    positives: Relation
    """What is learned from: relevant items with a vector that are not excluded, all of grade 1."""
    exclude: Relation | None
    memory: str | int

    def evaluate(self, similarity: Similarity, measures: Sequence[Measure]) -> Scored:
        compared = Embeddings(
            self.queries,
            self.items,
            similarity=similarity.allow_training_queries(),
            exclude=self.exclude,
            memory=self.memory,
        )
        return compared.rank(self.relevance).evaluate(measures).runs[0]

    def marks(self) -> Floats:
        """What tells these queries from others; equal ones once."""
        _, first = np.unique(keys_of(self.queries.block(0, len(self.queries))), return_index=True)
        return marks_of(self.queries)[np.sort(first)]


@dataclass(frozen=True, eq=False)
class Data:
    """All queries and items."""

    queries: Vectors
    items: Vectors
    relevance: Relation
    judged: Pairs
    """All that is said of any item; -1 for one without a vector."""
    positives: Pairs
    """Relevant items with a vector that are not excluded."""
    exclude: Relation | None
    excluded: Pairs | None
    memory: str | int

    @classmethod
    def of(
        cls,
        queries: Vectors,
        items: Vectors,
        relevance: Relation,
        exclude: Relation | None,
        *,
        rel: float,
        memory: str | int,
    ) -> Data:
        if len(items) < 2:
            raise InputError("there is one item only; learning needs others to tell it from.")
        judged = all_pairs(relevance.bind(queries, items), len(queries))
        positives = judged.where((judged.grade >= rel) & (judged.item >= 0))
        excluded = None
        if exclude is not None:
            excluded = all_pairs(exclude.bind(queries, items), len(queries))
            excluded = excluded.where(excluded.item >= 0)
            positives = positives.without(excluded)
        if not len(positives.item):
            raise InputError(
                f"no item with a vector is relevant to any query (grade {rel:g} or more, not "
                "excluded); "
                "check the relevance that was given."
            )
        return cls(queries, items, relevance, judged, positives, exclude, excluded, memory)

    def part(self, rows: Ints) -> Part:
        exclude = None
        if self.exclude is not None and self.excluded is not None:
            exclude = OfSome(self.exclude, pairs_of(self.excluded, rows))
        relevance = OfSome(self.relevance, pairs_of(self.judged, rows))
        own = pairs_of(self.positives, rows)
        positives = OfSome(self.relevance, replace(own, grade=np.ones(len(own.item))))
        return Part(
            vectors_of(self.queries, rows), self.items, relevance, positives, exclude, self.memory
        )


def unit_vectors(vectors: Vectors) -> Floats:
    """Vectors of length 1 in double precision; what cannot be scored is refused, in the words of
    every evaluation."""
    result = np.empty((len(vectors), vectors.dims))
    for begin, block in vectors.blocks():
        refuse_infinite(block, vectors, begin)
        Cosine().prepare(block, vectors, begin, items=False)  # refuses zeros
        part = result[begin : begin + len(block)]
        part[...] = block
        part /= np.sqrt(np.einsum("ij,ij->i", part, part))[:, None]
    return result


def basis_of(queries: Floats, items: Floats, size: int) -> Floats:
    """The directions that keep most of both sides' vectors, as the columns of a matrix; all of
    them: the identity."""
    dims = queries.shape[1]
    if size == dims:
        return np.eye(dims)
    moments = queries.T @ queries / len(queries) + items.T @ items / len(items)
    return np.ascontiguousarray(np.linalg.eigh(moments)[1][:, ::-1][:, :size])
