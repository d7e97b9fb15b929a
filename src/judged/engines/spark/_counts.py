"""Ranks of items that are spread over the partitions of a Spark frame.

The rank of a relevant item is 1 plus the number of items with a greater score, and such counts add
up. Each partition counts among its own items, in any order. The sum gives the ranks of a search in
all items at once, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from judged.arrays import Floats, Ints, freeze, starts_of
from judged.embeddings.kernel import Keys, keys_of
from judged.embeddings.learned import Learned, as_similarity
from judged.embeddings.product import MEMORY, Product, over_blocks
from judged.embeddings.ranks import (
    RankCounts,
    Tally,
    TieOrder,
    count_ranks,
    of_judged_queries,
    rankings_of,
)
from judged.embeddings.relations import (
    Bound,
    BoundJudgements,
    JudgementRelation,
    Pairs,
    RelationUnion,
    SameId,
    all_pairs,
    as_relation,
)
from judged.embeddings.search import NAME, Basis, Search, basis_of, refuse_removal
from judged.embeddings.similarity import Similarity
from judged.errors import InputError, PolicyError
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.vectors import Vectors
from judged.options import checked, checked_methods, size_in_bytes, whole
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.text import counted, few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judged.options import (
        Ids,
        Memory,
        PolicyLike,
        Progress,
        RelevanceLike,
        SimilarityLike,
        VectorsLike,
    )


def twice(items: list[str]) -> str:
    """Return the message for items that were counted twice."""
    return (
        f"{counted(len(items), 'item is', 'items are')} in two shards ({few(items)}); every item "
        "is counted once, so it must be in one shard only."
    )


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """How many items of some shards are above each relevant item, or tie with it; `+` adds them.

    >>> ready = prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"a": 1}}, item_ids=["a"])
    >>> ready.count(["b"], [[1.0, 0.1]]) + ready.count(["c", "d"], [[0.0, 1.0], [1.0, 0.2]])
    <Counts: 3 items of 2 shards>
    """

    of: str
    """The fingerprint of the queries, items and options that were counted."""
    above: Ints
    """For each relevant pair, the number of items with a greater score."""
    level: Ints
    """The number of items with the same or a greater score."""
    before: Ints
    """The number of tied items that come before it, by id."""
    ranked: Ints
    """The number of items that each query ranks: all but the excluded ones."""
    items: int
    """The number of items, without those that `prepare` was given."""
    met: frozenset[str] = frozenset()
    """Items of `prepare` that are in the shards too; they are not counted again."""
    shards: frozenset[str] = frozenset()
    """A fingerprint of each shard's ids."""

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        return f"<Counts: {counted(self.items, 'item')} of {counted(len(self.shards), 'shard')}>"

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.of != other.of:
            raise InputError(
                "these counts are of different queries, judged items, relevance or options; only "
                "what was counted for one `prepare` adds up."
            )
        if self.shards & other.shards:
            raise InputError("one shard was counted twice: its ids are those of another shard.")
        if self.met & other.met:
            raise InputError(twice(sorted(self.met & other.met)))
        return replace(
            self,
            above=self.above + other.above,
            level=self.level + other.level,
            before=self.before + other.before,
            ranked=self.ranked + other.ranked,
            items=self.items + other.items,
            met=self.met | other.met,
            shards=self.shards | other.shards,
        )

    def __radd__(self, other: Any) -> Counts:
        return self if isinstance(other, int) and other == 0 else NotImplemented


@dataclass(frozen=True, eq=False)
class AllPairs:
    """The pairs of all queries."""

    pairs: Pairs
    starts: Ints

    @classmethod
    def of(cls, pairs: Pairs) -> AllPairs:
        return cls(pairs, starts_of(pairs.lengths))

    def at(self, begin: int, end: int) -> slice:
        """Return the positions of the pairs of some queries."""
        start = int(self.starts[begin])
        return slice(start, start + int(self.pairs.lengths[begin:end].sum()))

    def block(self, begin: int, end: int) -> Pairs:
        at = self.at(begin, end)
        return Pairs(self.pairs.lengths[begin:end], self.pairs.item[at], self.pairs.grade[at])

    def most(self, begin: int, end: int) -> Ints:
        return self.pairs.lengths[begin:end]


def among_judged(
    search: Search, bound: Bound, out: Bound | None
) -> tuple[AllPairs, Floats, Counts]:
    """Return the relevant pairs, their exact scores, and the counts among the judged items."""
    queries, items = search.queries, search.items
    similarity = search.similarity.placed(items)
    product = Product(queries, items, similarity, exclude=out, memory=search.memory)
    pairs = all_pairs(bound, len(queries))
    if out is not None:
        gone = all_pairs(out, len(queries))
        pairs = pairs.without(gone.where(gone.item >= 0))
    relevance = AllPairs.of(pairs)
    ranks = count_ranks(product, relevance, ties=TieOrder(product, "id"))
    first, last, before, ranked = _columns(list(ranks))
    there = np.flatnonzero(pairs.item >= 0)
    scores = np.full(len(pairs.item), np.nan)
    scores[there] = product.exact_pairs(pairs.row[there], pairs.item[there])
    start = Counts(
        of="",
        above=np.maximum(first - 1, 0),
        level=last,
        before=before,
        ranked=ranked,
        items=len(items),
    )
    return relevance, scores, start


def count_shard(
    ready: Prepared,
    shard: Vectors,
    met: Ints,
    gone: tuple[Ints, Ints] | None,
    mark: str,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Count the items of a shard, except judged items (`met`) and excluded pairs (`gone`)."""
    here = replace(
        ready.nothing(),
        met=frozenset(shard.name(column) for column in met.tolist()),
        shards=frozenset([mark]),
    )
    if len(met) == len(shard):
        return here
    out = _gone(gone, len(ready.queries))
    product = Product(
        ready.queries,
        shard,
        _allowed(ready.similarity).placed(shard),
        exclude=None if out is None else AllPairs.of(out),
        memory=ready.memory,
    )
    # Tiles of whole numbers would be compared as they are, without what they lack.
    product.whole_numbers = product.whole_numbers and product.comparable
    if workers is not None:
        product.threads = min(product.threads, workers)
    ties = TieOrder(product, "id", ready.items)
    left = len(shard) - len(met)

    def work(begin: int, end: int) -> RankCounts:
        relevant = ready.relevance.block(begin, end)
        # Relevant items are numbered after those of the shard.
        beyond = np.where(relevant.item >= 0, relevant.item + len(shard), -1)
        relevant = replace(relevant, item=beyond)
        tally = Tally(product, begin, relevant, ties)
        own = ready.scores[ready.relevance.at(begin, end)]
        excluded = None if product.exclude is None else product.exclude.block(begin, end)
        made = product.query_block(begin, end)
        for column in product.columns:
            tile = product.tile(made, begin, column, excluded)
            tile.scores[:, met[tile.holds(met)] - column] = -np.inf
            if not column:
                tally.begin_with(own, tile, product.exact_shifts(begin, end))
            tally.add(tile)
        return tally.counts(begin, excluded, left)

    first, last, before, ranked = _columns(list(over_blocks(product, work, progress)))
    return replace(
        here,
        above=np.maximum(first - 1, 0),
        level=last,
        before=before,
        ranked=ranked,
        items=left,
    )


def _allowed(similarity: Similarity) -> Similarity:
    """Return the similarity without the check of its training queries, which was done."""
    return similarity.allow_training_queries() if isinstance(similarity, Learned) else similarity


def _gone(gone: tuple[Ints, Ints] | None, queries: int) -> Pairs | None:
    if gone is None or not len(gone[0]):
        return None
    row, column = np.unique(np.stack(gone, axis=1), axis=0).T
    return Pairs(np.bincount(row, minlength=queries), column, np.ones(len(column)))


def _columns(ranks: list[RankCounts]) -> tuple[Ints, Ints, Ints, Ints]:
    first, last, before, ranked = (
        np.concatenate([getattr(each, name) for each in ranks])
        for name in ("first", "last", "place", "ranked")
    )
    return first, last, before, ranked


def digest(names: tuple[str, ...]) -> str:
    """Return a fingerprint of texts in their order."""
    lengths = np.array([len(name) for name in names], np.int64)
    text = "".join(names).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16, key=blake2b(lengths.tobytes()).digest()).hexdigest()


class Excluded(NamedTuple):
    """Items that are not ranked for some queries: the queries' rows, and the items' ids."""

    row: Ints
    item: tuple[str, ...]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """Queries and the exact scores of their relevant items, to count the items of shards.

    `prepare` makes it. It can be pickled and sent to workers.

    >>> import pickle
    >>> ready = prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"0": 1}})
    >>> pickle.loads(pickle.dumps(ready)).count(["b"], [[1.0, 0.1]]).above.tolist()
    [1]
    """

    queries: Vectors
    """The queries that search."""
    similarity: Similarity
    """The similarity of a query and an item."""
    memory: str | int
    """The cap on what scores and items made ready take."""
    dims: int | None
    """The number of dimensions that vectors are cut to."""
    relevance: AllPairs
    """The relevant pairs, by the number of the judged item; -1 if it has no vector."""
    scores: Floats
    """The exact score of each of these pairs."""
    items: tuple[str, ...]
    """The ids of the judged items."""
    keys: Keys
    """A hash of each of their vectors, to recognise it."""
    start: Counts
    """The counts among the judged items."""
    basis: Basis
    """What rankings are of, in words."""
    judged: BoundJudgements | None
    """The queries with judgements, if relevance comes from judgements."""
    lacking: frozenset[str] = frozenset()
    """Items that are judged, but have no vector here."""
    excluded: Excluded | None = None
    """Pairs that are not ranked, by id."""

    def __repr__(self) -> str:
        queries = counted(len(self.queries), "query", "queries")
        pairs = counted(len(self.scores), "relevant pair")
        items = counted(len(self.items), "judged item")
        return f"<Prepared: {queries}, {pairs} and {items}, by {self.similarity.name}>"

    def count(
        self,
        item_ids: Ids,
        vectors: VectorsLike,
        *,
        workers: int | None = None,
        progress: Progress | None = None,
    ) -> Counts:
        """Count the items of a shard that are above each relevant item, or tie with it.

        Parameters
        ----------
        item_ids : Ids
            One id per vector. Judged items may be among them: they are counted once in any case.
        vectors : VectorsLike
            A matrix with one row per item, or a file of vectors; a shard may be empty.
        workers : int, optional
            Threads that count side by side; by default one per core.
        progress : callable, optional
            Called with the number of queries done since the last call.

        Returns
        -------
        Counts

        >>> ready = prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"0": 1}})
        >>> ready.count(["b", "c"], [[1.0, 0.1], [0.0, 1.0]]).above.tolist()
        [1]
        """
        if _is_empty(item_ids) and _is_empty(vectors):
            return self.nothing()
        shard = as_vectors(vectors, ids=item_ids, dims=self.dims, source="the shard")
        if shard.ids is None:
            raise InputError("the shard: its items need ids, so that all shards can be told apart.")
        known = self._names
        named = [(column, name) for column, name in enumerate(shard.ids) if name in known]
        lacking = sorted(name for _, name in named if name in self.lacking)
        if lacking:
            items = counted(len(lacking), "item is", "items are")
            raise InputError(
                f"the shard: {items} judged ({few(lacking)}), but had no vector when the queries "
                "were prepared; give all judged items to prepare."
            )
        met = np.array([column for column, name in named if name in self._places], np.int64)
        self._refuse_changed(shard, met)
        gone = [
            (row, column)
            for column, name in named
            if name not in self._places
            for row in self._rows[name]
        ]
        rows, columns = np.array(gone, np.int64).reshape(-1, 2).T
        mark = digest(shard.ids)
        return count_shard(
            self, shard, met, (rows, columns), mark, workers=workers, progress=progress
        )

    def nothing(self) -> Counts:
        """Return the counts of an empty shard.

        Returns
        -------
        Counts

        >>> prepare([[1.0]], [[1.0]], {"0": {"0": 1}}).nothing()
        <Counts: 0 items of 0 shards>
        """
        pairs, queries = (
            np.zeros(size, np.int64) for size in (len(self.scores), len(self.queries))
        )
        return Counts(self.start.of, pairs, pairs, pairs, queries, 0)

    def rankings(
        self,
        counts: Counts,
        *,
        policy: PolicyLike | None = None,
        name: str = NAME,
        collection: int | None = None,
    ) -> Rankings:
        """Return the exact ranks of all relevant items among the judged items and all shards.

        Parameters
        ----------
        counts : Counts
            The sum of the counts of all shards.
        policy : PolicyLike, optional
            What is done about ties, missing queries and those with nothing relevant; a collection
            in many places has no order, so ties=input is refused.
        name : str, optional
            What results call it.
        collection : int, optional
            How many items there are in all; another number is refused, as when a shard was left
            out.

        Returns
        -------
        Rankings

        >>> ready = prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"0": 1}})
        >>> counts = ready.count(["b"], [[1.0, 0.1]])
        >>> ready.rankings(counts, collection=2).evaluate("RR").value()
        0.5
        """
        chosen = Policy.of(policy)
        refuse_removal(chosen)
        if chosen.ties == "input":
            raise PolicyError(
                "ties=input needs an order, which shards do not have; choose another rule."
            )
        total = self._total(counts)
        if collection is not None and whole("collection", collection) != total.items:
            raise InputError(
                f"{counted(total.items, 'item')} were counted, of {collection:,}; was a shard left "
                "out, or an item in two of them?"
            )
        pairs = self.relevance.pairs
        first = np.where(pairs.item >= 0, total.above + 1, 0)
        ranks = [RankCounts(0, pairs, first, total.level, total.before, total.ranked)]
        sides = _Sides(self.queries, range(total.items))
        r = rankings_of(self.queries.names(), ranks, chosen, name)
        if self.judged is not None:
            r = of_judged_queries(r, self.judged, sides)
        return self.basis.describe(r, len(self.queries))

    def _total(self, counts: Counts) -> Counts:
        if not isinstance(counts, Counts):
            raise InputError(
                f"counts must be what .count gave, added up; got {type(counts).__name__}."
            )
        return self.start + counts

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.items)}

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        """The queries for which each item is excluded."""
        found: dict[str, list[int]] = {}
        if self.excluded is not None:
            for row, name in zip(self.excluded.row.tolist(), self.excluded.item, strict=True):
                found.setdefault(name, []).append(row)
        return found

    @cached_property
    def _names(self) -> frozenset[str]:
        """Ids to look for in a shard."""
        return frozenset(self._places).union(self._rows, self.lacking)

    def _refuse_changed(self, shard: Vectors, met: Ints) -> None:
        numbers = np.array([self._places[shard.name(column)] for column in met.tolist()], np.int64)
        for begin in range(0, len(met), _ITEMS_AT_A_TIME):
            at = slice(begin, begin + _ITEMS_AT_A_TIME)
            keys = keys_of(shard.rows(met[at], np.float64))
            changed = np.flatnonzero(keys != self.keys[numbers[at]])
            if len(changed):
                raise InputError(
                    f"the shard: the vector of item {shard.name(int(met[at][changed[0]]))!r} is "
                    "not the one that the judged items have; an item has one vector."
                )


_ITEMS_AT_A_TIME = 1 << 14


def _is_empty(given: Any) -> bool:
    """Return whether a sequence or an array is empty."""
    shape = getattr(given, "shape", None)
    return not shape[0] if shape else isinstance(given, (list, tuple)) and not given


@dataclass(frozen=True)
class _Sides:
    queries: Vectors
    items: range


@checked
def prepare(
    queries: VectorsLike,
    judged_items: VectorsLike,
    relevance: RelevanceLike,
    *,
    similarity: SimilarityLike = "cosine",
    exclude: RelevanceLike | Sequence[RelevanceLike] | None = None,
    memory: Memory = MEMORY,
    query_ids: Ids | None = None,
    item_ids: Ids | None = None,
    dims: int | None = None,
) -> Prepared:
    """Prepare queries and relevant items for counting; the same for every shard.

    Parameters
    ----------
    queries : VectorsLike
        A matrix with one row per query, or a file of vectors.
    judged_items : VectorsLike
        The vectors of all items that are relevant to some query, or judged; others may be among
        them. They belong to the collection, whether a shard holds them or not.
    relevance : RelevanceLike
        Judgements by id, or another relation of the queries and the judged items, as for
        `judged.Embeddings.evaluate`.
    similarity : SimilarityLike, optional
        As for `judged.Embeddings`, but no function.
    exclude : RelevanceLike or list of them, optional
        What is not ranked for a query: `judged.relevance.same_id()`, `judged.relevance.listed(…)`.
    memory : Memory, optional
        A cap on what scores and items made ready take while a shard is counted.
    query_ids, item_ids : Ids, optional
        One id per vector; by default those of the file, or else row numbers from 0.
    dims : int, optional
        Use only the first dimensions of the vectors.

    Returns
    -------
    Prepared
        It can be pickled, and does not hold the judged items' vectors.

    >>> judgements = {"q": {"a": 1}}
    >>> ids = {"query_ids": ["q"], "item_ids": ["a"]}
    >>> ready = prepare([[1.0, 0.0]], [[1.0, 1.0]], judgements, **ids)
    >>> ready
    <Prepared: 1 query, 1 relevant pair and 1 judged item, by cosine>
    >>> counts = ready.count(["b"], [[1.0, 0.1]]) + ready.count(["c"], [[0.0, 1.0]])
    >>> ready.rankings(counts).hit_rank.tolist()
    [2]
    """
    size_in_bytes(memory)
    search = Search(
        queries=as_vectors(queries, ids=query_ids, dims=dims, source="the queries"),
        items=as_vectors(judged_items, ids=item_ids, dims=dims, source="the judged items"),
        similarity=as_similarity(similarity),
        exclude=None if exclude is None else as_relation(exclude, what="exclude"),
        memory=memory,
        dims=dims,
        normalisation=None,
        categories=None,
    )
    relation = as_relation(relevance, what="relevance")
    excluded = _excluded(search)
    bound = relation.bind(search.queries, search.items)
    out = None if search.exclude is None else search.exclude.bind(search.queries, search.items)
    found = prepared(search, bound, out, basis=basis_of(search, relation))
    lacking = _lacking(relation, search) if isinstance(relation, JudgementRelation) else frozenset()
    return signed(replace(found, excluded=excluded, lacking=lacking))


def _excluded(search: Search) -> Excluded | None:
    """Return the excluded pairs by id, because items in many places have no row numbers."""
    if search.exclude is None:
        return None
    rows: list[Ints] = [np.zeros(0, np.int64)]
    names: list[str] = []
    parts = search.exclude.parts if isinstance(search.exclude, RelationUnion) else (search.exclude,)
    for part in parts:
        if isinstance(part, SameId):
            rows.append(np.arange(len(search.queries)))
            names += search.queries.names()
        elif isinstance(part, JudgementRelation):
            place = {name: row for row, name in enumerate(search.queries.names())}
            own = np.array([place.get(each, -1) for each in part.pool.queries], np.int64)
            rows.append(own[part.pool.query])
            names += [name for each in part.pool.items for name in each]
        else:
            raise InputError(
                "items that are in many places are excluded by id; exclude may be "
                f"judged.relevance.same_id() or judged.relevance.listed(…), not: {part.says}."
            )
    row = np.concatenate(rows)
    there = np.flatnonzero(row >= 0)
    return Excluded(row[there], tuple(names[at] for at in there))


def _lacking(relation: JudgementRelation, search: Search) -> frozenset[str]:
    """Return the judged items whose vectors were not given."""
    judged = set(search.queries.names()).intersection(relation.pool.queries)
    names = zip(relation.pool.queries, relation.pool.items, strict=True)
    return frozenset(
        name for query, items in names if query in judged for name in items
    ).difference(search.items.names())


def prepared(search: Search, bound: Bound, out: Bound | None, *, basis: Basis) -> Prepared:
    """Search among the judged items, and prepare the counting of others."""
    queries, items = search.queries, search.items
    if not search.similarity.certain:
        raise InputError(
            "a similarity that is a function has no bound of its rounding, so that counts of "
            "shards would not add up; give a name, a matrix, or a learned similarity."
        )
    relevance, scores, start = among_judged(search, bound, out)
    return Prepared(
        # Workers do not have mapped or lazy queries.
        queries=replace(queries, values=np.array(queries.values)),
        similarity=search.similarity,
        memory=search.memory,
        dims=search.dims,
        relevance=relevance,
        scores=scores,
        items=items.names(),
        keys=np.concatenate([keys_of(block) for _, block in items.blocks(dtype=np.float64)]),
        start=start,
        basis=basis,
        judged=bound if isinstance(bound, BoundJudgements) else None,
    )


def signed(ready: Prepared, more: bytes = b"") -> Prepared:
    """Add a fingerprint of everything that counts depend on."""
    summed = blake2b(more, digest_size=16)
    pairs = ready.relevance.pairs
    arrays = (pairs.lengths, pairs.item, pairs.grade, ready.scores, ready.keys)
    for _, block in ready.queries.blocks(dtype=np.float64):
        summed.update(block.data)
    for array in arrays:
        summed.update(np.ascontiguousarray(array).data)
    gone = ready.excluded or Excluded(np.zeros(0, np.int64), ())
    summed.update(gone.row.data)
    absent = () if ready.judged is None else ready.judged.absent
    for names in (ready.queries.names(), ready.items, gone.item, absent, ready.basis.words):
        summed.update(digest(names).encode())
    return replace(ready, start=replace(ready.start, of=summed.hexdigest()))
