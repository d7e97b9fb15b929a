"""Queries that search among items: the product to rank by, and the ranks of relevant items."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.embeddings.categories import Grouping, UniqueProduct
from judged.embeddings.counted import of_judged_queries, rankings_of
from judged.embeddings.normalisation import Fitted, Normalisation
from judged.embeddings.product import Product, Scores
from judged.embeddings.ranks import TieOrder, count_ranks
from judged.embeddings.ready import Plan
from judged.embeddings.relations import Bound, Judged, Relation, reversed_pairs
from judged.embeddings.reversed_product import ReversedProduct
from judged.embeddings.similarity.similarity import Similarity
from judged.embeddings.top_k import Best, TopK
from judged.errors import InputError, PolicyError
from judged.inputs.vectors.vectors import Vectors
from judged.options import size_in_bytes
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.text import counted

if TYPE_CHECKING:
    from judged.options import Precision, Progress


NAME = "embeddings"
"""What a search is called that nobody named."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Search:
    """Vectors that are validated, and all that says how they are compared."""

    queries: Vectors
    """Those that search."""
    items: Vectors
    """Those that are searched."""
    similarity: Similarity
    """How a query and an item are scored."""
    exclude: Relation | None
    """What is not ranked for a query."""
    memory: str | int
    """The cap on what scores and items made ready take."""
    dims: int | None
    """How many of their dimensions the vectors were cut to."""
    normalisation: Normalisation | None
    """What changes scores before items are ranked."""
    categories: Any
    """The items' categories, which are ranked in place of them."""
    precision: Precision = "double"
    """Of the scores that ranks are by."""

    def __repr__(self) -> str:
        sides = (self.queries, "query", "queries"), (self.items, "item", "items")
        dims = " and ".join(map(str, dict.fromkeys(side.dims for side, *_ in sides)))
        said = " and ".join(counted(len(side), *words) for side, *words in sides)
        return f"<{type(self).__name__}: {said} of {dims} dimensions, by {self.similarity.name}>"


def reversed_search(search: Search) -> Search:
    """The items' search for queries."""
    return Search(
        queries=search.items,
        items=search.queries,
        similarity=search.similarity.reversed(),
        exclude=None if search.exclude is None else _Reversed(search.exclude),
        memory=search.memory,
        dims=search.dims,
        normalisation=search.normalisation,
        categories=None,
        precision=search.precision,
    )


def scores_of(
    search: Search, *, keep: bool = False, precision: Precision | None = None
) -> tuple[Scores, Fitted | None]:
    """The product to rank by, with categories for items where they were given; and the
    normalisation once fitted.

    A normalisation that leaves every ranking as it is does not touch the scores that are ranked
    by.
    """
    queries, items = search.queries, search.items
    similarity = search.similarity.placed(items)
    exclude = None if search.exclude is None else search.exclude.bind(queries, items)
    precision = precision or search.precision
    # What a normalisation looks at, and what it makes of scores, are all in the precision that was
    # chosen: there is no bound of what they may be off by.
    fits = search.normalisation is not None
    options: dict[str, Any] = {
        "exclude": exclude,
        "memory": search.memory,
        "precision": precision,
        "keep": keep,
    }
    grouping = None
    if search.categories is not None:
        wide = precision == "double" and (fits or not similarity.certain)
        kept = np.float64 if wide else np.float32
        plan = Plan.of(queries, items, similarity, search.memory, kept)
        grouping = Grouping(search.categories, items, plan.width)
        items = grouping.items
        options |= {
            "exclude": grouping.moved(exclude),
            "cuts": grouping.cuts,
            "shape": (plan.height, plan.width),
        }
    product = Product(queries, items, similarity, wide=fits, **options)
    fitted = None
    if search.normalisation is not None:
        fitted = search.normalisation.fit(product, dims=search.dims)
        if fitted.queries is not None or search.normalisation.keeps_order:
            product = Product(fitted.queries or queries, items, similarity, **options)
        else:
            options["ready"] = product.ready
            product = Product(queries, items, similarity, normaliser=fitted, **options)
    return product if grouping is None else UniqueProduct(product, grouping, exclude), fitted


def counted_one(
    search: Search,
    relation: Relation,
    policy: Policy,
    *,
    name: str,
    top: int | None,
    progress: Progress | None,
) -> tuple[Rankings, TopK | None]:
    """The ranks of all relevant items, and from the same pass the first `top` items of every
    query."""
    bound = relation.bind(search.queries, search.items)
    return counted_bound(search, bound, policy, name=name, top=top, progress=progress)


def counted_bound(
    search: Search,
    bound: Bound,
    policy: Policy,
    *,
    name: str,
    top: int | None,
    progress: Progress | None,
) -> tuple[Rankings, TopK | None]:
    """The same, of relevance that is bound to the vectors."""
    scores, fitted = scores_of(search)
    return _counted(scores, fitted, bound, policy, name=name, top=top, progress=progress)


def _counted(
    scores: Scores,
    fitted: Fitted | None,
    bound: Bound,
    policy: Policy,
    *,
    name: str,
    top: int | None = None,
    progress: Progress | None = None,
) -> tuple[Rankings, TopK | None]:
    refuse_removal(policy)
    judged = bound if isinstance(bound, Judged) else None
    if isinstance(scores, UniqueProduct):
        bound = scores.relevance(bound)
    best = None if top is None else best_of(scores, top, policy, fitted)
    # Ranks by grade, and means over all orders, read only the ties' ends.
    order = TieOrder(scores, policy.ties)
    ranks = list(count_ranks(scores, bound, ties=order, onlooker=best, progress=progress))
    rankings = rankings_of(scores.queries.names(), ranks, policy, name)
    if judged is not None:
        rankings = of_judged_queries(rankings, judged, scores)
    return rankings, None if best is None else best.top_k()


def best_of(scores: Scores, top: int, policy: Policy, fitted: Fitted | None) -> Best:
    """What looks for the first items of every query while ranks are counted."""
    return Best(scores, top, ties="input" if policy.ties == "input" else "id", fitted=fitted)


def counted_both(
    search: Search, relation: Relation, policy: Policy, *, name: str, progress: Progress | None
) -> tuple[Rankings, Rankings]:
    """The ranks of both searches.

    They come from one product where it fits into half of the memory and its columns order the
    queries as its rows order the items; otherwise the product is computed once for each.
    """
    if search.categories is not None:
        raise InputError(
            "unique categories are those of items, so there is no search both ways; leave one "
            "of them out."
        )
    if getattr(search.normalisation, "bank", None) is not None:
        raise InputError(
            f"the bank of {search.normalisation} holds queries, and the items' search for "
            "queries would need one of items; evaluate each direction by itself, with its own "
            "bank."
        )
    bound = relation.bind(search.queries, search.items)
    back = reversed_search(search)
    size = 4 if search.precision == "single" or search.similarity.certain else 8
    whole = len(search.queries) * len(search.items) * size
    keep = (
        search.normalisation is None
        and search.similarity.both_ways
        and whole <= size_in_bytes(search.memory) // 2
    )
    scores, fitted = scores_of(search, keep=keep)
    names = _names_both(name, search)
    there, _ = _counted(scores, fitted, bound, policy, name=names[0], progress=progress)
    if keep:
        assert isinstance(scores, Product)
        scores = ReversedProduct(scores)
    else:
        scores, fitted = scores_of(back)
    bound = reversed_pairs(bound, search.queries, search.items)
    back_again, _ = _counted(scores, fitted, bound, policy, name=names[1], progress=progress)
    return there, back_again


def _names_both(name: str, search: Search) -> tuple[str, str]:
    """What the two searches are called: by their files, where these tell the sides apart."""
    one, other = _file_of(search.queries), _file_of(search.items)
    if not one or not other or one == other:
        one, other = "queries", "items"
    before = "" if name == NAME else f"{name}: "
    return f"{before}{one} to {other}", f"{before}{other} to {one}"


def _file_of(side: Vectors) -> str:
    """The bare name of the file that vectors come from, or of their part of it; nothing where they
    come from none."""
    file, _, part = side.source.partition("::")
    return part or (PurePath(file).stem if PurePath(file).suffix else "")


def refuse_changes(search: Search, what: str) -> None:
    """Refuse what makes scores others than those of items as they are."""
    for option, given in (("normalise", search.normalisation), ("unique", search.categories)):
        if given is not None:
            raise InputError(f"{option} has no meaning for {what}; leave it out.")


def refuse_removal(policy: Policy) -> None:
    if policy.unjudged == "removed":
        raise PolicyError(
            "unjudged=removed has no meaning here: every item is ranked, and only relevant ones "
            "are known."
        )


@dataclass(frozen=True, eq=False)
class _Reversed:
    """A relation seen from the items."""

    relation: Relation

    @property
    def says(self) -> str:
        return self.relation.says

    @property
    def complete(self) -> bool:
        return self.relation.complete

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        return reversed_pairs(self.relation.bind(items, queries), items, queries)
