"""Training data: vectors, relevant and excluded pairs, the split of queries, and candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, positions, starts_of
from judged.embeddings.embeddings import Embeddings
from judged.embeddings.kernel import keys_of
from judged.embeddings.learned import groups_of, known, marks_of
from judged.embeddings.product import refuse_infinite
from judged.embeddings.relations import Bound, Pairs, Relation, all_pairs
from judged.embeddings.search import rank_bound
from judged.embeddings.similarity import Cosine, Similarity
from judged.errors import InputError, quoted
from judged.evaluation.evaluation import evaluate_rankings
from judged.evaluation.scores import Scored
from judged.evaluation.settings import EvaluationSettings
from judged.inputs.vectors.vectors import Vectors
from judged.measures import Measure
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.statistics.intervals import Interval, interval, mean_interval
from judged.statistics.samples import Means
from judged.text import counted


def checked_embeddings(given: object, who: str, *, learns: bool = False) -> Embeddings:
    """Raise an error for embeddings with options that have no meaning for a function."""
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
    """Return the pairs of some queries, in the given order."""
    lengths = pairs.lengths[rows]
    at = positions(starts_of(pairs.lengths)[rows], lengths)
    return Pairs(lengths, pairs.item[at], pairs.grade[at])


def vectors_of(vectors: Vectors, rows: Ints) -> Vectors:
    return Vectors(
        vectors.rows(rows),
        tuple(vectors.name(row) for row in rows.tolist()),
        vectors.source,
        vectors.notes,
    )


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """A relation of some queries whose pairs are known."""

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
class QueryPart:
    """Some of the queries, to be evaluated among all items."""

    queries: Vectors
    items: Vectors
    relevance: KnownPairs
    positives: KnownPairs  # relevant items with a vector that are not excluded, all of grade 1
    exclude: Relation | None
    memory: str | int
    groups: Ints | None = None
    """The group of each query, if the values of a group are not independent."""

    def interval(self, values: Floats, bounds: tuple[float, float] | None = None) -> Interval:
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
        """Return what identifies these queries; equal ones once."""
        _, first = np.unique(keys_of(self.queries.block(0, len(self.queries))), return_index=True)
        return marks_of(self.queries)[np.sort(first)]


@dataclass(frozen=True, eq=False)
class TrainingData:
    embeddings: Embeddings
    relevance: Relation
    judged: Pairs  # all grades of any item; -1 for an item without a vector
    positives: Pairs  # relevant items with a vector that are not excluded
    excluded: Pairs | None

    @classmethod
    def of(cls, embeddings: Embeddings, relevance: Relation, *, rel: float) -> TrainingData:
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

    def part(self, rows: Ints, columns: Ints | None = None) -> QueryPart:
        """Return some queries, to be ranked among some items, or among all."""

        def chosen(pairs: Pairs) -> Pairs:
            own = pairs_of(pairs, rows)
            if columns is None:
                return own
            own = own.where(np.isin(own.item, columns))
            return replace(own, item=np.searchsorted(columns, own.item))

        exclude = self.embeddings.exclude
        if exclude is not None and self.excluded is not None:
            exclude = KnownPairs(exclude, chosen(self.excluded))
        relevance = KnownPairs(self.relevance, chosen(self.judged))
        own = chosen(self.positives)
        positives = KnownPairs(self.relevance, replace(own, grade=np.ones(len(own.item))))
        return QueryPart(
            vectors_of(self.queries, rows),
            self.items if columns is None else vectors_of(self.items, columns),
            relevance,
            positives,
            exclude,
            self.embeddings.memory,
        )


def unit_vectors(vectors: Vectors) -> Floats:
    """Return vectors of length 1 in double precision; raise if one cannot be scored."""
    result = np.empty((len(vectors), vectors.dims))
    for begin, block in vectors.blocks():
        refuse_infinite(block, vectors, begin)
        Cosine().prepare(block, vectors, begin, items=False)  # refuses zeros
        part = result[begin : begin + len(block)]
        part[...] = block
        part /= np.sqrt(np.einsum("ij,ij->i", part, part))[:, None]
    return result


def basis_of(queries: Floats, items: Floats, size: int) -> Floats:
    """Return the directions that keep most of both sides' vectors, as columns."""
    dims = queries.shape[1]
    if size == dims:
        return np.eye(dims)
    moments = queries.T @ queries / len(queries) + items.T @ items / len(items)
    return np.ascontiguousarray(np.linalg.eigh(moments)[1][:, ::-1][:, :size])


TRAINING, VALIDATION, HELD_OUT = range(3)
MANY_GROUPS = 20  # fewest groups of queries without a common relevant item that are split whole
MANY_RELEVANT = 5
"""The fewest relevant items of a query that can be split, a fifth of them held out."""


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of queries, each part in ascending order."""

    training: Ints
    validation: Ints
    held_out: Ints
    items: tuple[Ints, Ints, Ints] | None = None
    """The items that the queries of each part are ranked among; None for all items."""
    groups: Ints | None = None
    """The group of each held-out query, whose values are not independent; None without groups."""
    notes: tuple[str, ...] = ()

    def validation_part(self, data: TrainingData) -> QueryPart:
        columns = None if self.items is None else self.items[VALIDATION]
        return data.part(self.validation, columns)

    def held_out_part(self, data: TrainingData) -> QueryPart:
        columns = None if self.items is None else self.items[HELD_OUT]
        return replace(data.part(self.held_out, columns), groups=self.groups)


def checked_shares(validation: Any, held_out: Any) -> tuple[float, float]:
    for name, share, none in (
        ("validation", validation, "above 0"),
        ("held_out", held_out, "from 0"),
    ):
        number = not isinstance(share, bool) and isinstance(share, (Real, np.number))
        if not number or not 0 <= share < 1 or (share == 0 and name == "validation"):
            raise InputError(
                f"{name} must be a share of the queries, a number {none} and below 1; got "
                f"{quoted(share)}."
            )
    if validation + held_out >= 1:
        raise InputError(
            f"validation ({validation:g}) and held_out ({held_out:g}) leave no queries for "
            "training; together they must be below 1."
        )
    return float(validation), float(held_out)


def split_data(data: TrainingData, *, validation: float, held_out: float, seed: int) -> Split:
    """Split the queries so that no item is relevant to queries of two parts.

    A similarity learns by heart which items are relevant to training queries, such as the clip of
    four captions. A fifth caption that is held out would then find its clip without anything
    learned that holds for other clips. So queries that share a relevant item stay together. Where
    these groups are few and large, as with ten labels, queries are split one by one, and the items
    as well: each part is ranked among its own items.
    """
    rows = np.flatnonzero(data.positives.lengths)
    directions, of_pairs = _directions(data, rows)
    groups = _sharing_items(data, rows, directions, of_pairs)
    sizes = np.bincount(groups)
    shares = held_out, validation
    together = _sizes(len(sizes), shares)[TRAINING] > 0 and 2 * sizes.max() <= len(rows)
    many = len(sizes) >= MANY_GROUPS
    splittable = np.median(data.positives.lengths[rows]) >= MANY_RELEVANT
    notes = []
    if together and (many or not splittable):
        alike = len(rows) - len(sizes)
        if alike:
            notes.append(
                f"{counted(len(rows), 'query', 'queries')} in {len(sizes):,} groups that share a "
                "relevant item or a direction: a group is in one part only."
            )
        parts = _dealt(rows, groups, shares, seed)
        own = _renumbered(groups[np.isin(rows, parts[HELD_OUT])])
        alone = len(own) == len(np.unique(own))
        return Split(*parts, groups=None if alone else own, notes=tuple(notes))
    again = len(rows) - len(np.unique(directions))
    if again:
        queries, were = counted(again, "query", "queries"), "was" if again == 1 else "were"
        notes.append(
            f"{queries} with the vector of another, or one that points the same way, {were} put "
            "into the same part as that one."
        )
    parts = _dealt(rows, directions, shares, seed)
    items = _split_items(data, rows, groups, parts, shares, seed)
    training, chosen, kept_out = (
        part[_found(data, part, own)] for part, own in zip(parts, items, strict=True)
    )
    kept = training, chosen, kept_out
    needed = [TRAINING, VALIDATION, *([HELD_OUT] if held_out else [])]
    if any(not len(kept[part]) for part in needed):
        raise InputError(
            f"there are too few queries to split: {counted(len(rows), 'query', 'queries')} "
            f"in {len(sizes):,} groups that share relevant items, and no split leaves each part "
            "queries with relevant items of its own. Give more queries or items."
        )
    ranked = f"held-out queries are ranked among {len(items[HELD_OUT]):,} items"
    notes.append(
        f"Queries share relevant items ({counted(len(sizes), 'group')}), so items were split too: "
        f"{ranked if held_out else 'validation queries are ranked among items'} that training "
        "never saw."
    )
    lost = sum(len(part) for part in parts) - sum(map(len, kept))
    if lost:
        notes.append(
            f"{counted(lost, 'query', 'queries')} without a relevant item in their own part "
            f"{'was' if lost == 1 else 'were'} left out."
        )
    return Split(training, chosen, kept_out, items=items, notes=tuple(notes))


def _directions(data: TrainingData, rows: Ints) -> tuple[Ints, Ints]:
    """Return numbers of the directions of queries and of their relevant items."""
    items, of_pairs = np.unique(pairs_of(data.positives, rows).item, return_inverse=True)
    queries, relevant = data.queries.rows(rows), data.items.rows(items)
    if data.queries.dims != data.items.dims:
        found = groups_of(queries)
        others = groups_of(relevant) + 1 + int(found.max(initial=-1))
        return found, others[of_pairs]
    found = groups_of(np.concatenate([queries, relevant]))
    return found[: len(rows)], found[len(rows) :][of_pairs]


def _renumbered(groups: Ints) -> Ints:
    return np.unique(groups, return_inverse=True)[1].astype(np.int64)


def _sharing_items(data: TrainingData, rows: Ints, directions: Ints, of_pairs: Ints) -> Ints:
    """Return equal numbers for queries that share a relevant item or a direction."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = pairs_of(data.positives, rows)
    count = len(rows)
    # Queries and directions are the nodes of a graph; a query is joined to its own direction and
    # to those of its relevant items.
    begins = np.concatenate([np.arange(count), pairs.row])
    ends = count + np.concatenate([directions, of_pairs])
    nodes = count + 1 + int(max(directions.max(initial=-1), of_pairs.max(initial=-1)))
    graph = coo_array((np.ones(len(begins), bool), (begins, ends)), shape=(nodes, nodes))
    return _renumbered(connected_components(graph, directed=False)[1][:count])


def _sizes(count: int, shares: tuple[float, float]) -> tuple[int, int, int]:
    """Return the sizes of the three parts; a share above 0 is at least one."""
    held_out, validation = (max(1, round(share * count)) if share else 0 for share in shares)
    return count - held_out - validation, validation, held_out


def _dealt(
    rows: Ints, groups: Ints, shares: tuple[float, float], seed: int
) -> tuple[Ints, Ints, Ints]:
    """Split rows by shares of their groups, which are numbers for rows that must not be parted."""
    _, group = np.unique(groups, return_inverse=True)
    count = int(group.max(initial=-1)) + 1
    training, chosen, kept_out = _sizes(count, shares)
    if training < 1:
        parts = (
            "training, validation and held-out queries"
            if kept_out
            else "training and validation queries"
        )
        raise InputError(
            f"there are too few queries to split: {count} with different vectors and something "
            f"relevant, and {parts} need at least one each "
            f"({kept_out + chosen + 1} with these shares)."
        )
    # Groups are numbered as they first occur, so that the split does not depend on what these
    # numbers happen to be.
    first = np.full(count, len(rows))
    np.minimum.at(first, group, np.arange(len(rows)))
    order = np.argsort(first)
    part = np.empty(count, np.int64)
    part[order[np.random.default_rng([seed, 0]).permutation(count)]] = np.repeat(
        [HELD_OUT, VALIDATION, TRAINING], [kept_out, chosen, training]
    )
    of_row = part[group]
    training_rows, validation_rows, held_out_rows = (rows[of_row == each] for each in range(3))
    return training_rows, validation_rows, held_out_rows


def _split_items(
    data: TrainingData,
    rows: Ints,
    groups: Ints,
    parts: tuple[Ints, Ints, Ints],
    shares: tuple[float, float],
    seed: int,
) -> tuple[Ints, Ints, Ints]:
    """Split the items of each group by the same shares; an item that is a query goes with it."""
    pairs = pairs_of(data.positives, rows)
    group = np.full(len(data.items), -1)
    group[pairs.item] = groups[pairs.row]
    part = np.full(len(data.items), TRAINING)
    random = np.random.default_rng([seed, 4])
    marks = marks_of(data.items)
    ordered = np.argsort(marks[:, 0], kind="stable")  # whatever the order of the items
    _, first = np.unique(group[ordered], return_index=True)
    for number in group[ordered][np.sort(first)]:
        own = random.permutation(ordered[group[ordered] == number])
        training, chosen, kept_out = _sizes(len(own), shares)
        if training > 0:
            part[own] = np.repeat([HELD_OUT, VALIDATION, TRAINING], [kept_out, chosen, training])
    if data.queries.dims == data.items.dims:
        for number, own in enumerate(parts):
            part[known(marks, marks_of(Vectors(data.queries.rows(own))))] = number
    training_items, validation_items, held_out_items = (
        np.flatnonzero(part == each) for each in range(3)
    )
    return training_items, validation_items, held_out_items


def _found(data: TrainingData, rows: Ints, items: Ints) -> np.ndarray[Any, np.dtype[np.bool_]]:
    pairs = pairs_of(data.positives, rows)
    return np.bincount(pairs.row[np.isin(pairs.item, items)], minlength=len(rows)) > 0


def candidates_of(data: TrainingData, split: Split) -> tuple[Ints, list[str]]:
    """Return the items that the loss looks at: all that are not queries of other parts."""
    if split.items is not None:
        return split.items[TRAINING], []
    every = np.arange(len(data.items))
    if data.queries.dims != data.items.dims:
        return every, []
    others = np.concatenate([split.validation, split.held_out])
    again = known(marks_of(data.items), marks_of(Vectors(data.queries.rows(others))))
    if not again.any():
        return every, []
    count = int(again.sum())
    are, were = ("is", "was") if count == 1 else ("are", "were")
    items = f"{counted(count, 'item')} that {are} validation or held-out queries {were}"
    if again[pairs_of(data.positives, split.training).item].all():
        return every, [
            f"{items} looked at in training, for nothing else is relevant to training queries: "
            "numbers of these queries are too high."
        ]
    return every[~again], [f"{items} left out of the loss."]
