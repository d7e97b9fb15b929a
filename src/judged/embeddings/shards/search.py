"""A search that is prepared for shards: what each of them is counted with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from judged.arrays import Floats, Ints, ordinals
from judged.embeddings.basis import Basis
from judged.embeddings.counted import Counted, of_judged_queries, rankings_of
from judged.embeddings.relations import Judged
from judged.embeddings.scoring import with_best
from judged.embeddings.search import NAME, refuse_removal
from judged.embeddings.shards.counts import Counts, Firsts
from judged.embeddings.shards.ranks import AllPairs, count_shard, digest
from judged.embeddings.similarity.equal import Keys, keys_of
from judged.embeddings.similarity.similarity import Similarity
from judged.embeddings.top_k import TopK
from judged.errors import InputError, PolicyError
from judged.inputs.vectors import as_vectors
from judged.inputs.vectors.vectors import Vectors
from judged.options import checked_methods, whole
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.text import counted, few

if TYPE_CHECKING:
    from judged.options import Ids, PolicyLike, Progress, VectorsLike


class Excluded(NamedTuple):
    """Items that are not ranked for some queries: the queries' rows, and the items' ids."""

    row: Ints
    item: tuple[str, ...]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    """Queries, and the exact scores of their relevant items, to count the items of shards with.

    `judged.shards.prepare` makes it. It can be pickled, and sent to wherever shards are.

    >>> import judged, pickle
    >>> ready = judged.shards.prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"0": 1}})
    >>> pickle.loads(pickle.dumps(ready)).count(["b"], [[1.0, 0.1]]).above.tolist()
    [1]
    """

    queries: Vectors
    """Those that search."""
    similarity: Similarity
    """How a query and an item are scored."""
    memory: str | int
    """The cap on what scores and items made ready take."""
    dims: int | None
    """How many of their dimensions the vectors are cut to."""
    k: int | None
    """How many of the first items of each query are kept; None for none."""
    relevance: AllPairs
    """What is relevant, by the number of the judged item; -1 where that has no vector."""
    scores: Floats
    """The exact score of each of these pairs."""
    items: tuple[str, ...]
    """The ids of the judged items."""
    keys: Keys
    """A number for each of their vectors, by which it is known again."""
    start: Counts
    """What the judged items count among themselves."""
    basis: Basis
    """What rankings are of, in words."""
    judged: Judged | None
    """Which queries have judgements, where relevance comes from these."""
    lacking: frozenset[str] = frozenset()
    """Items that are judged, but have no vector here."""
    excluded: Excluded | None = None
    """What is not ranked, by id."""

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
        """Count, for each relevant item, the items of a shard that stand above it or tie with it.

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

        >>> import judged
        >>> ready = judged.shards.prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"0": 1}})
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
                "were prepared; give all judged items to judged.shards.prepare."
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
        """The counts of an empty shard, to begin a sum with.

        Returns
        -------
        Counts

        >>> import judged
        >>> judged.shards.prepare([[1.0]], [[1.0]], {"0": {"0": 1}}).nothing()
        <Counts: 0 items of 0 shards>
        """
        pairs, queries = (
            np.zeros(size, np.int64) for size in (len(self.scores), len(self.queries))
        )
        firsts = None if self.k is None else Firsts(queries, (), np.zeros(0))
        return Counts(self.start.of, pairs, pairs, pairs, queries, 0, firsts=firsts, k=self.k)

    def rankings(
        self,
        counts: Counts,
        *,
        policy: PolicyLike | None = None,
        name: str = NAME,
        collection: int | None = None,
    ) -> Rankings:
        """The exact ranks of all relevant items in the judged items and all shards together.

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

        >>> import judged
        >>> ready = judged.shards.prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"0": 1}})
        >>> counts = ready.count(["b"], [[1.0, 0.1]])
        >>> ready.rankings(counts, collection=2).evaluate("RR").value()
        0.5
        """
        chosen = Policy.of(policy)
        refuse_removal(chosen)
        if chosen.ties == "input":
            raise PolicyError(
                "ties=input has no meaning for shards: there is no order of the input in them."
            )
        total = self._total(counts)
        if collection is not None and whole("collection", collection) != total.items:
            raise InputError(
                f"{counted(total.items, 'item')} were counted, of {collection:,}; was a shard left "
                "out, or an item in two of them?"
            )
        pairs = self.relevance.pairs
        first = np.where(pairs.item >= 0, total.above + 1, 0)
        ranks = [Counted(0, pairs, first, total.level, total.before, total.ranked)]
        sides = _Sides(self.queries, range(total.items))
        r = rankings_of(self.queries.names(), ranks, chosen, name)
        if self.judged is not None:
            r = of_judged_queries(r, self.judged, sides)
        if self.k is not None:
            r = with_best(r, self.top_k(counts))
        return self.basis.of(r, len(self.queries))

    def top_k(self, counts: Counts) -> TopK:
        """The first k items of each query in the judged items and all shards together.

        Parameters
        ----------
        counts : Counts
            The sum of the counts of all shards.

        Returns
        -------
        TopK

        >>> import judged
        >>> ready = judged.shards.prepare([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"0": 1}}, k=2)
        >>> ready.top_k(ready.count(["b"], [[1.0, 0.1]])).to_frame()["item"].to_list()
        ['b', '0']
        """
        total = self._total(counts)
        if self.k is None or total.firsts is None:
            raise InputError("no first items were kept; give k to judged.shards.prepare.")
        firsts, k = total.firsts, min(self.k, total.items)
        names = tuple(dict.fromkeys(firsts.items))
        place = {name: number for number, name in enumerate(names)}
        at = firsts.row, ordinals(firsts.row, len(self.queries)) - 1
        items = np.full((len(self.queries), k), -1, np.int64)
        items[at] = [place[name] for name in firsts.items]
        scores = np.full(items.shape, -np.inf)
        scores[at] = firsts.scores
        found = Vectors(np.zeros((len(names), 0), np.float32), names, "the items found")
        return TopK(items, scores, firsts.lengths, self.queries, found, "id", total.items)

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
        """The queries that each excluded item is not ranked for."""
        found: dict[str, list[int]] = {}
        if self.excluded is not None:
            for row, name in zip(self.excluded.row.tolist(), self.excluded.item, strict=True):
                found.setdefault(name, []).append(row)
        return found

    @cached_property
    def _names(self) -> frozenset[str]:
        """Ids that a shard is looked through for."""
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
    """Whether there is nothing in a sequence or an array."""
    shape = getattr(given, "shape", None)
    return not shape[0] if shape else isinstance(given, (list, tuple)) and not given


@dataclass(frozen=True)
class _Sides:
    queries: Vectors
    items: range
