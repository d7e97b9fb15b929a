"""A search of queries among items: vectors and how they are compared, and the ranks that follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints
from judged.embeddings.categories import AnyProduct, CategoryGrouping, CategoryProduct
from judged.embeddings.kernel import keys_of
from judged.embeddings.normalisation import Fitted, Normalisation
from judged.embeddings.product import TiledProduct, plan_tiles
from judged.embeddings.ranks import TieOrder, count_ranks, of_judged_queries, rankings_of
from judged.embeddings.relations import (
    Bound,
    BoundJudgements,
    Relation,
    all_pairs,
    reversed_pairs,
    reversed_relation,
)
from judged.embeddings.similarity import Similarity
from judged.embeddings.top_k import TopK, TopKSearch
from judged.errors import InputError, PolicyError
from judged.inputs.tables import CATEGORIES
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Vectors
from judged.matching.documents import BASIS
from judged.policy import Policy
from judged.rankings.audit import Findings
from judged.rankings.rankings import ENCODED, OTHER_WAY, Rankings
from judged.text import Warned, counted

if TYPE_CHECKING:
    from judged.options import Progress

NAME = "embeddings"
"""The name of a search without a name."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Search:
    """Vectors that were checked, and how they are compared."""

    queries: Vectors
    """The vectors that search."""
    items: Vectors
    """The vectors that are searched."""
    similarity: Similarity
    """The similarity of a query and an item."""
    exclude: Relation | None
    """Items that are not ranked for a query."""
    memory: str | int
    """The most memory that scores and prepared items take."""
    dims: int | None
    """The number of dimensions that vectors were cut to."""
    normalisation: Normalisation | None
    """The change of scores before items are ranked."""
    categories: Any
    """The categories of items, which are ranked instead of items."""

    def __repr__(self) -> str:
        sides = (self.queries, "query", "queries"), (self.items, "item", "items")
        dims = " and ".join(map(str, dict.fromkeys(side.dims for side, *_ in sides)))
        sizes = " and ".join(counted(len(side), *words) for side, *words in sides)
        return f"<{type(self).__name__}: {sizes} of {dims} dimensions, by {self.similarity.name}>"


def reversed_search(search: Search) -> Search:
    return Search(
        queries=search.items,
        items=search.queries,
        similarity=search.similarity.reversed(),
        exclude=None if search.exclude is None else reversed_relation(search.exclude),
        memory=search.memory,
        dims=search.dims,
        normalisation=search.normalisation,
        categories=None,
    )


# -- scores and ranks


def scores_of(search: Search) -> tuple[AnyProduct, Fitted | None]:
    """Return the scores to rank by, and the fitted normalisation.

    Categories take the place of items where they were given. A normalisation that changes no
    ranking does not change these scores.
    """
    queries, items = search.queries, search.items
    similarity = search.similarity.placed(items)
    exclude = None if search.exclude is None else search.exclude.bind(queries, items)
    # Normalised scores have no error bound, so all of them are in double precision.
    wide = search.normalisation is not None
    options: dict[str, Any] = {"exclude": exclude, "memory": search.memory}
    grouping = None
    if search.categories is not None:
        kept = np.float64 if wide or not similarity.certain else np.float32
        _, _, *shape = plan_tiles(queries, items, similarity, search.memory, kept)
        grouping = CategoryGrouping(search.categories, items, shape[1])
        items = grouping.items
        options |= {
            "exclude": grouping.moved(exclude),
            "cuts": grouping.cuts,
            "shape": shape,
        }
    product = TiledProduct(queries, items, similarity, wide=wide, **options)
    fitted = None
    if search.normalisation is not None:
        fitted = search.normalisation.fit(product, dims=search.dims)
        if fitted.queries is not None or search.normalisation.keeps_order:
            product = TiledProduct(fitted.queries or queries, items, similarity, **options)
        else:
            options["ready"] = product.ready
            product = TiledProduct(queries, items, similarity, normaliser=fitted.apply, **options)
    return product if grouping is None else CategoryProduct(product, grouping, exclude), fitted


def rank_bound(
    search: Search,
    bound: Bound,
    policy: Policy,
    *,
    name: str,
    top: int | None = None,
    progress: Progress | None = None,
) -> tuple[Rankings, TopK | None]:
    """Rank all relevant items, and find the first `top` items of every query in the same pass."""
    refuse_removal(policy)
    scores, fitted = scores_of(search)
    judged = bound if isinstance(bound, BoundJudgements) else None
    of_absent: Bound | None = None if judged is None else judged.of_absent
    if isinstance(scores, CategoryProduct):
        bound = scores.relevance(bound)
        of_absent = None if of_absent is None else scores.relevance_of_others(of_absent)
    best = None
    if top is not None:
        best = TopKSearch(
            scores, top, ties="input" if policy.ties == "input" else "id", fitted=fitted
        )
    order, onlooker = TieOrder(scores, policy.ties), None if best is None else best.add
    counts = list(count_ranks(scores, bound, ties=order, onlooker=onlooker, progress=progress))
    rankings = rankings_of(scores.queries.names(), counts, policy, name)
    if judged is not None:
        rankings = of_judged_queries(rankings, judged, of_absent, len(scores.items))
    return rankings, None if best is None else best.top_k()


def rank_both_ways(
    search: Search, relation: Relation, policy: Policy, *, name: str, progress: Progress | None
) -> tuple[Rankings, Rankings]:
    """Rank both searches, the queries' among the items and the items' among the queries."""
    if search.categories is not None:
        raise InputError(
            "unique ranks categories of items, so items cannot search queries. Leave out unique "
            "or both."
        )
    if getattr(search.normalisation, "bank", None) is not None:
        raise InputError(
            f"the bank of {search.normalisation} holds queries, but the items' search for queries "
            "would need one of items. Evaluate each direction alone, with its own bank."
        )
    bound = relation.bind(search.queries, search.items)
    names = _names_both_ways(name, search)
    there, _ = rank_bound(search, bound, policy, name=names[0], progress=progress)
    bound = reversed_pairs(bound, search.queries, search.items)
    other = reversed_search(search)
    back, _ = rank_bound(other, bound, policy, name=names[1], progress=progress)
    there = basis_of(search, relation).describe(there, len(search.queries))
    return there, basis_of(other, relation, back=True).describe(back, len(search.items))


def _names_both_ways(name: str, search: Search) -> tuple[str, str]:
    one, other = _file_of(search.queries), _file_of(search.items)
    if not one or not other or one == other:
        one, other = "queries", "items"
    before = "" if name == NAME else f"{name}: "
    return f"{before}{one} to {other}", f"{before}{other} to {one}"


def _file_of(side: Vectors) -> str:
    """Return the stem of the vectors' file, or the array's name in it; "" without a file."""
    file, _, part = side.source.partition("::")
    return part or (PurePath(file).stem if PurePath(file).suffix else "")


def refuse_changes(search: Search, what: str) -> None:
    """Raise an error if scores are not those of the items themselves."""
    for option, value in (("normalise", search.normalisation), ("unique", search.categories)):
        if value is not None:
            raise InputError(f"{option} is not supported for {what}; leave it out.")


def refuse_removal(policy: Policy) -> None:
    if policy.unjudged == "removed":
        raise PolicyError(
            "unjudged=removed is not supported for embeddings: every item is ranked, and only "
            "relevant ones are known."
        )


# -- definitions and findings


@dataclass(frozen=True)
class EmbeddingDoubts:
    """Warnings of judged items without a vector, and of queries that are ranked for themselves."""

    lost_items: int
    self_matches: tuple[str, ...]
    is_the_task: bool
    """True if nothing but itself is relevant to a query."""

    def plus(self, other: EmbeddingDoubts) -> EmbeddingDoubts:
        lost, is_the_task = self.lost_items + other.lost_items, self.is_the_task
        return EmbeddingDoubts(lost, self.self_matches, is_the_task and other.is_the_task)

    def sentences(self) -> Iterable[str]:
        if self.lost_items:
            items = counted(self.lost_items, "judged item has", "judged items have")
            yield Warned(f"{items} no vector, so they are never retrieved.")
        if not self.is_the_task:
            yield from self.self_matches


@dataclass(frozen=True)
class Basis:
    """The definition of rankings in words, and the assumptions made."""

    words: tuple[str, ...]
    notes: tuple[str, ...]
    complete: bool
    self_matches: tuple[str, ...]

    def describe(self, r: Rankings, queries: int) -> Rankings:
        """Add the definition and findings to rankings; `queries` are all of them, judged or not."""
        lost = int(np.count_nonzero(~r.missing[r.pool_query])) - len(r.hit_query)
        findings = Findings.of(
            r,
            run_queries=queries,
            notes=self.notes,
            complete=self.complete,
            doubts=(EmbeddingDoubts(lost, self.self_matches, finds_only_itself(r)),),
        )
        return replace(r, complete=self.complete, basis=self.words, findings=findings)


def basis_of(search: Search, relation: Relation, *, back: bool = False) -> Basis:
    """Return the basis of a search's rankings; `back` if items search for queries."""
    notes = (*getattr(relation, "notes", ()), *search.queries.notes, *search.items.notes)
    return Basis(
        _definition(search, relation, back),
        tuple(dict.fromkeys(notes)),
        relation.complete,
        warn_of_self_matches(search, relation, back=back),
    )


def _definition(search: Search, relation: Relation, back: bool) -> tuple[str, ...]:
    words = [f"{search.similarity.name}: {search.similarity.says}, {_precision(search)}"]
    words += _encoders(search, back)
    if search.dims is not None:
        words.append(f"only the first {search.dims} dimensions of the vectors are used")
    if search.normalisation is not None:
        words.append(search.normalisation.note.rstrip("."))
    ranked = "items"
    if search.categories is not None:
        ranked = "categories"
        words.append(BASIS[CATEGORIES])
    words.append(OTHER_WAY if back else f"all {ranked} are ranked")
    words.append(f"relevant: {relation.says}")
    if search.exclude is not None:
        words.append(f"excluded from the ranking: {search.exclude.says}")
    return tuple(words)


def _encoders(search: Search, back: bool) -> list[str]:
    queries, items = search.queries.made_by, search.items.made_by
    if back:
        queries, items = items, queries
    if queries is not None and queries == items:
        return [f"{ENCODED['queries', 'items']} {queries}"]
    words = []
    if queries is not None:
        words.append(f"{ENCODED['queries',]} {queries}")
    if items is not None:
        words.append(f"{ENCODED['items',]} {items}")
    return words


def _precision(search: Search) -> str:
    if not search.similarity.certain:
        return "given numbers in double precision; close scores may depend on the machine"
    if search.normalisation is not None and not search.normalisation.keeps_order:
        return "in double precision before and after it is normalised"
    return "in double precision"


# -- queries among the items


_SAMPLE = 32
"""Queries that are compared before all of them are."""
_BY_CHANCE = 8
"""Fewer queries may have the vectors of items by chance."""
_SHARE = 0.01
"""A smaller share of the queries hardly changes a number."""
_NUMBERS_PER_BATCH = 1 << 22
_BY_ROW = "as with exclude=judged.relevance.same_row() (--exclude-self)"
_BY_ID = "as with exclude=judged.relevance.same_id() (--exclude-same-id)"
_BY_LIST = (
    "with ids on both sides and exclude=judged.relevance.same_id() (--exclude-same-id), or with "
    "judged.relevance.listed(pairs) (--exclude-listed) of each query and its own item"
)


def warn_of_self_matches(
    search: Search,
    relation: Relation | None = None,
    r: Rankings | None = None,
    *,
    back: bool = False,
) -> tuple[str, ...]:
    """Return a warning if queries are among the items and are ranked for themselves.

    There is none if nothing but itself is relevant to a query. Where only some of the queries are
    items, those whose own item is judged or is their pair are left out. `back` is for items that
    search for queries.
    """
    matches = _own_items(search)
    if matches is None or (r is not None and finds_only_itself(r)):
        return ()
    itself, exclude = matches
    by_label = getattr(relation, "is_by_label", False)
    if (itself < 0).any() and relation is not None and not by_label:
        itself = _without(itself, relation, search, back)
    if search.exclude is not None:
        itself = _without(itself, search.exclude, search)
    ranked = int((itself >= 0).sum())
    if not ranked or ranked < _SHARE * len(itself):
        return ()
    who = "The queries" if ranked == len(itself) else f"{ranked:,} of {len(itself):,} queries"
    return (
        Warned(
            f"{who} are also items (equal vectors), so they find themselves first and the numbers "
            f"are too high. Leave each query out of its own ranking, {exclude}."
        ),
    )


def finds_only_itself(r: Rankings) -> bool:
    """Tell whether the only relevant item of each query is at the top, as the query itself is."""
    sizes = np.bincount(r.pool_query, minlength=len(r))
    first = r.hit_rank if r.hit_tie_first is None else r.hit_tie_first
    return bool(sizes.max(initial=0) <= 1 and (first == 1).all())


def same_vectors(queries: Vectors, items: Vectors) -> bool:
    if len(queries) != len(items) or queries.dims != items.dims:
        return False
    return bool((_equal_items(queries, items, np.arange(len(queries))) >= 0).all())


def _without(itself: Ints, relation: Relation, search: Search, back: bool = False) -> Ints:
    sides = (search.items, search.queries) if back else (search.queries, search.items)
    pairs = all_pairs(relation.bind(*sides), len(sides[0]))
    query, item = (pairs.item, pairs.row) if back else (pairs.row, pairs.item)
    named = (query * len(search.items) + item)[pairs.item >= 0]
    key = np.arange(len(itself)) * len(search.items) + itself
    return np.where(np.isin(key, named), -1, itself)


def _own_items(search: Search) -> tuple[Ints, str] | None:
    """Return the item that each query is (-1 for none), and how to exclude it.

    It is None where too few queries are among the items.
    """
    queries, items = search.queries, search.items
    if queries.dims != items.dims:
        return None
    best: tuple[Ints, str] | None = None
    most = _BY_CHANCE - 1
    for candidates, exclude in _candidates(queries, items):
        itself = _equal_items(queries, items, candidates)
        if (itself >= 0).all():
            return itself, exclude
        if exclude is not _BY_ID:  # codes of a few bits meet by chance
            itself = _without_codes(queries, itself)
        if (count := int((itself >= 0).sum())) > most:
            # By row, items that have nothing to do with the other queries would go too.
            best, most = (itself, _BY_LIST if exclude is _BY_ROW else exclude), count
    return best


def _candidates(queries: Vectors, items: Vectors) -> Iterator[tuple[Ints, str]]:
    """Yield items that queries may be: of the same row, of the same id, and in memory any other."""
    by_chance = len(queries) < min(_BY_CHANCE, len(items))
    if not by_chance:
        rows = np.arange(len(queries))
        yield np.where(rows < len(items), rows, -1), _BY_ROW
    if queries.ids is not None and items.ids is not None:
        place = {name: row for row, name in enumerate(items.ids)}
        yield np.array([place.get(name, -1) for name in queries.ids]), _BY_ID
    left, right = queries.values, items.values
    if not by_chance and isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        kind = _common_precision(queries, items)
        with np.errstate(over="ignore"):
            first, other = (values[:, 0].astype(kind) for values in (left, right))
        if np.isin(first, other).sum() >= _BY_CHANCE:
            yield _look_up(queries, items, kind), _BY_LIST


def _common_precision(queries: Vectors, items: Vectors) -> type[np.floating[Any]]:
    """Return the precision that both sides have: the same numbers may be there in two."""
    both = queries.precise is np.float64 and items.precise is np.float64
    return np.float64 if both else np.float32


def _look_up(queries: Vectors, items: Vectors, kind: type[np.floating[Any]]) -> Ints:
    """Return the one item that may have a query's vector; -1 for none or several (coarse codes)."""
    of_queries, of_items = (
        np.concatenate([keys_of(block) for _, block in side.blocks(ROWS_AT_A_TIME, kind)])
        for side in (queries, items)
    )
    order = np.argsort(of_items, kind="stable")
    begin, end = (
        np.searchsorted(of_items[order], of_queries, side=side) for side in ("left", "right")
    )
    item = np.where(end - begin == 1, order[np.minimum(begin, len(order) - 1)], -1)
    # An item is one query: others of the same vector are no copies of it.
    alone = np.zeros(len(item), bool)
    alone[np.unique(item, return_index=True)[1]] = True
    return np.where(alone, item, -1)


def _equal_items(queries: Vectors, items: Vectors, candidates: Ints) -> Ints:
    """Return the candidates that have their query's vector, -1 for others; compare a few first."""
    in_order = np.array_equal(candidates, np.arange(len(candidates)))
    if queries.values is items.values and in_order and len(candidates) <= len(items):
        return candidates
    kind = _common_precision(queries, items)

    def same(rows: Ints) -> NDArray[np.bool_]:
        left, right = queries.rows(rows, kind), items.rows(candidates[rows], kind)
        return np.asarray((left == right).all(axis=1))

    rows, equal = np.flatnonzero(candidates >= 0), np.full(len(candidates), -1)
    few = rows[np.unique(np.linspace(0, len(rows) - 1, _SAMPLE).astype(np.int64))[: len(rows)]]
    if not len(few) or not same(few).any():
        return equal
    for part in _in_batches(rows, queries.dims):
        matching = part[same(part)]
        equal[matching] = candidates[matching]
    return equal


def _without_codes(queries: Vectors, itself: Ints) -> Ints:
    """Leave out queries that hold whole numbers only."""
    left = itself.copy()
    for part in _in_batches(np.flatnonzero(itself >= 0), queries.dims):
        block = queries.rows(part, np.float64)
        left[part[(block == np.rint(block)).all(axis=1)]] = -1
    return left


def _in_batches(rows: Ints, dims: int) -> Iterator[Ints]:
    step = max(1, _NUMBERS_PER_BATCH // dims)
    for begin in range(0, len(rows), step):
        yield rows[begin : begin + step]
