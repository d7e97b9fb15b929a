"""What is learned from: vectors, which pairs of them are relevant or excluded, and how well the
queries of a part of them do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from judged.arrays import Floats, Ints, positions, starts_of
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.kernel import keys_of
from judged.embeddings.learned import marks_of
from judged.embeddings.product import refuse_infinite
from judged.embeddings.relations import Bound, Pairs, Relation, all_pairs
from judged.embeddings.search import rank_bound
from judged.embeddings.similarity import Cosine, Similarity
from judged.errors import InputError
from judged.evaluation.evaluation import evaluate_rankings
from judged.evaluation.scores import Scored
from judged.evaluation.settings import EvaluationSettings
from judged.inputs.vectors.vectors import Vectors
from judged.measures import Measure
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.statistics.intervals import Interval, interval, mean_interval
from judged.statistics.samples import Means


def checked_embeddings(given: object, who: str, *, learns: bool = False) -> Embeddings:
    """Embeddings without options that have no meaning for whom they were given to."""
    if not isinstance(given, Embeddings):
        raise InputError(
            f"{who} takes judged.Embeddings(queries, items) first, then what is relevant; got "
            f"{type(given).__name__}."
        )
    if given.normalisation is not None:
        raise InputError(
            f"{who} takes scores as they are; leave normalise out of the Embeddings, which have "
            f"{str(given.normalisation)!r}."
        )
    if given.categories is not None:
        raise InputError(
            f"{who} looks at single items, not at their categories; leave unique out of the "
            "Embeddings."
        )
    if learns and not isinstance(given.similarity, Cosine):
        raise InputError(
            f"{who} learns the similarity, beginning at the cosine; leave similarity out of the "
            f"Embeddings, which have {given.similarity.name!r}."
        )
    return given


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


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the queries, to be evaluated among all items."""

    queries: Vectors
    items: Vectors
    relevance: OfSome
    positives: OfSome
    """What is learned from: relevant items with a vector that are not excluded, all of grade 1."""
    exclude: Relation | None
    memory: str | int
    groups: Ints | None = None
    """The group of each query, if the values of a group are not independent."""

    def interval(self, values: Floats, bounds: tuple[float, float] | None = None) -> Interval:
        """Return the mean of the queries' values with its confidence interval."""
        if self.groups is None:
            return mean_interval(values, range=bounds)
        return interval(
            Means.of_values(values),
            groups=self.groups,
            **({"method": "t"} if bounds is None else {"range": bounds}),
        )

    def embeddings(self, similarity: Similarity) -> Embeddings:
        return Embeddings(
            self.queries,
            self.items,
            similarity=similarity,
            exclude=self.exclude,
            memory=self.memory,
        )

    def evaluate(self, similarity: Similarity, measures: Sequence[Measure]) -> Scored:
        return self.scored(self.ranked(similarity), measures)

    def scored(self, rankings: Rankings, measures: Sequence[Measure]) -> Scored:
        return evaluate_rankings([rankings], EvaluationSettings.of(measures, None)).runs[0]

    def ranked(self, similarity: Similarity) -> Rankings:
        # What is to be said of the vectors is said once, not at every iteration.
        search = self.embeddings(similarity.allow_training_queries())
        bound = self.relevance.bind(search.queries, search.items)
        ranked, _ = rank_bound(search, bound, Policy(), name="embeddings")
        return replace(ranked, complete=self.relevance.complete)

    def marks(self) -> Floats:
        """What tells these queries from others; equal ones once."""
        _, first = np.unique(keys_of(self.queries.block(0, len(self.queries))), return_index=True)
        return marks_of(self.queries)[np.sort(first)]


@dataclass(frozen=True, eq=False)
class Data:
    """All queries and items."""

    embeddings: Embeddings
    relevance: Relation
    judged: Pairs
    """All grades of any item; -1 for an item without a vector."""
    positives: Pairs
    """Relevant items with a vector that are not excluded."""
    excluded: Pairs | None

    @classmethod
    def of(cls, embeddings: Embeddings, relevance: Relation, *, rel: float) -> Data:
        queries, items, exclude = embeddings.queries, embeddings.items, embeddings.exclude
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
                "excluded); check the relevance that was given."
            )
        return cls(embeddings, relevance, judged, positives, excluded)

    @property
    def queries(self) -> Vectors:
        return self.embeddings.queries

    @property
    def items(self) -> Vectors:
        return self.embeddings.items

    def part(self, rows: Ints, columns: Ints | None = None) -> Part:
        """Return some queries, to be ranked among some items, or among all."""

        def chosen(pairs: Pairs) -> Pairs:
            own = pairs_of(pairs, rows)
            if columns is None:
                return own
            own = own.where(np.isin(own.item, columns))
            return replace(own, item=np.searchsorted(columns, own.item))

        exclude = self.embeddings.exclude
        if exclude is not None and self.excluded is not None:
            exclude = OfSome(exclude, chosen(self.excluded))
        relevance = OfSome(self.relevance, chosen(self.judged))
        own = chosen(self.positives)
        positives = OfSome(self.relevance, replace(own, grade=np.ones(len(own.item))))
        return Part(
            vectors_of(self.queries, rows),
            self.items if columns is None else vectors_of(self.items, columns),
            relevance,
            positives,
            exclude,
            self.embeddings.memory,
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
