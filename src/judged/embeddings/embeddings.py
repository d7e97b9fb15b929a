"""From vectors to exact ranks: the vectors, how they are compared, what is relevant, and what
became of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.checks import size_in_bytes
from judged.embeddings.categories import UniqueProduct
from judged.embeddings.normalisation import Fitted, Normalisation
from judged.embeddings.normalise import as_normalisation
from judged.embeddings.product import MEMORY, Product, Scores, Turned
from judged.embeddings.ranks import Counted, TieOrder, count_ranks
from judged.embeddings.relevance import Bound, Judged, Relation, as_relation, turned_round
from judged.errors import InputError, PolicyError
from judged.inputs.vectors import Vectors, as_vectors
from judged.judging.categories import BASIS
from judged.judging.ties import favoured
from judged.policy import Policy
from judged.rankings.audit import Audit
from judged.rankings.rankings import Rankings, by_query_and_rank
from judged.segments import descending
from judged.similarity.similarity import Similarity, as_similarity

if TYPE_CHECKING:
    from judged.conventions import Convention
    from judged.embeddings.top_k import Results
    from judged.evaluation.evaluation import Evaluation
    from judged.types import MeasuresLike as Measures

Progress = Callable[[int], None]


class Embeddings:
    """Queries and items with all that says how they are compared, checked against each other."""

    def __init__(
        self,
        queries: Any,
        items: Any,
        *,
        similarity: Any = "cosine",
        exclude: Any = None,
        memory: str | int = MEMORY,
        query_ids: Sequence[Any] | None = None,
        item_ids: Sequence[Any] | None = None,
        dims: int | None = None,
        normalise: Any = None,
        unique: Any = None,
    ) -> None:
        size_in_bytes(memory)
        self.queries: Vectors = as_vectors(queries, ids=query_ids, dims=dims, source="the queries")
        self.items: Vectors = as_vectors(items, ids=item_ids, dims=dims, source="the items")
        self.similarity: Similarity = as_similarity(similarity)
        self.exclude: Relation | None = (
            None if exclude is None else as_relation(exclude, what="exclude")
        )
        self.memory, self.dims, self.categories = memory, dims, unique
        self.normalisation: Normalisation | None = (
            None if normalise is None else as_normalisation(normalise)
        )

    def scores(self) -> tuple[Scores, Fitted | None]:
        """The product to rank by, with categories for items where they were given; and the
        normalisation once fitted.

        A normalisation that leaves every ranking as it is does not touch the scores that are ranked
        by.
        """
        similarity = self.similarity.placed(self.items)
        bound = None if self.exclude is None else self.exclude.bind(self.queries, self.items)

        def product(queries: Vectors) -> Product | UniqueProduct:
            if self.categories is None:
                return Product(queries, self.items, similarity, exclude=bound, memory=self.memory)
            return UniqueProduct(
                queries, self.items, self.categories, similarity, exclude=bound, memory=self.memory
            )

        made = product(self.queries)
        if self.normalisation is None:
            return made, None
        inner = made if isinstance(made, Product) else made.product
        fitted = self.normalisation.fit(inner, dims=self.dims)
        if fitted.queries is not None:
            return product(fitted.queries), fitted
        if not self.normalisation.keeps_order:
            inner.normaliser = fitted
        return made, fitted

    def rank(
        self,
        relevance: Any,
        policy: Policy,
        *,
        name: str = "embeddings",
        top: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[Rankings, Results | None]:
        """The ranks of all relevant items, and from the same pass the first `top` items of every
        query."""
        relation = as_relation(relevance, what="relevance")
        bound = relation.bind(self.queries, self.items)
        scores, fitted = self.scores()
        return self._ranked(scores, fitted, relation, bound, policy, name, top, progress)

    def turned_round(self) -> Embeddings:
        """The items' search for queries."""
        return Embeddings(
            queries=self.items,
            items=self.queries,
            similarity=self.similarity.turned_round(),
            exclude=None if self.exclude is None else _Back(self.exclude),
            memory=self.memory,
            dims=self.dims,
            normalise=self.normalisation,
        )

    def rank_both_ways(
        self,
        relevance: Any,
        policy: Policy,
        *,
        name: str = "embeddings",
        progress: Progress | None = None,
    ) -> tuple[Rankings, Rankings]:
        """The queries' search for items and the items' search for queries.

        Both come from one product where it fits into half of the memory and its columns order the
        queries as its rows order the items; otherwise the product is computed once for each.
        """
        if self.categories is not None:
            raise InputError(
                "unique categories are those of items, so there is no search both ways; leave one "
                "of them out."
            )
        if getattr(self.normalisation, "bank", None) is not None:
            raise InputError(
                f"the bank of {self.normalisation} holds queries, and the items' search for "
                "queries would need one of items; "
                "evaluate each direction by itself, with its own bank."
            )
        relation = as_relation(relevance, what="relevance")
        bound = relation.bind(self.queries, self.items)
        back = self.turned_round()
        scores, fitted = self.scores()
        there_name, back_name = f"{name}: queries to items", f"{name}: items to queries"
        whole = len(self.queries) * len(self.items) * 4
        if (
            isinstance(scores, Product)
            and fitted is None
            and self.similarity.both_ways
            and whole <= size_in_bytes(self.memory) // 2
        ):
            scores.keep()
            there, _ = self._ranked(
                scores, None, relation, bound, policy, there_name, None, progress
            )
            turned: Scores = Turned(scores)
        else:
            there, _ = self._ranked(
                scores, fitted, relation, bound, policy, there_name, None, progress
            )
            turned, fitted = back.scores()
        reverse = turned_round(bound, self.queries, self.items)
        return there, back._ranked(
            turned, fitted, relation, reverse, policy, back_name, None, progress
        )[0]

    def _ranked(
        self,
        scores: Scores,
        fitted: Fitted | None,
        relation: Relation,
        bound: Bound,
        policy: Policy,
        name: str,
        top: int | None,
        progress: Progress | None,
    ) -> tuple[Rankings, Results | None]:
        from judged.embeddings.top_k import Best

        if policy.unjudged == "removed":
            raise PolicyError(
                "unjudged=removed has no meaning here: every item is ranked, and only relevant "
                "ones are known."
            )
        judged = bound if isinstance(bound, Judged) else None
        if isinstance(scores, UniqueProduct):
            bound = scores.relevance(bound)
        best = (
            None
            if top is None
            else Best(scores, top, ties="input" if policy.ties == "input" else "id", fitted=fitted)
        )
        order = TieOrder(
            scores.items, policy.ties
        )  # ranks by grade, and means over all orders, read only the ties' ends
        counted = list(count_ranks(scores, bound, ties=order, onlooker=best, progress=progress))
        rankings = _rankings(scores, counted, policy, name)
        if judged is not None:
            rankings = _of_judged_queries(rankings, judged, scores)
        notes = tuple(dict.fromkeys((*self.queries.notes, *self.items.notes)))
        audit = _audit(rankings, notes, complete=relation.complete, queries=len(self.queries))
        rankings = replace(
            rankings, complete=relation.complete, basis=self._basis(relation), audit=audit
        )
        return rankings, None if best is None else best.results()

    def _basis(self, relation: Relation) -> tuple[str, ...]:
        """What the ranks are of, in words: part of the definition of every number that comes from
        them."""
        what = "items"
        said = [f"{self.similarity.name}: {self.similarity.says}, {self.similarity.precision}"]
        if self.dims is not None:
            said.append(f"only the first {self.dims} dimensions of the vectors are used")
        if self.normalisation is not None:
            said.append(self.normalisation.note.rstrip("."))
        if self.categories is not None:
            what = "categories"
            said.extend(BASIS)
        said.append(f"all {what} are ranked")
        said.append(f"relevant: {relation.says}")
        if self.exclude is not None:
            said.append(f"excluded from the ranking: {self.exclude.says}")
        return tuple(said)


@dataclass(frozen=True, eq=False)
class _Back:
    """A relation seen from the items."""

    relation: Relation

    @property
    def says(self) -> str:
        return self.relation.says

    @property
    def complete(self) -> bool:
        return self.relation.complete

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        return turned_round(self.relation.bind(items, queries), items, queries)


def _rankings(scores: Scores, counted: list[Counted], policy: Policy, name: str) -> Rankings:
    lengths = np.concatenate([each.relevant.lengths for each in counted])
    if not lengths.any():
        raise InputError("no item is relevant to any query; check the relevance that was given.")
    query = np.repeat(np.arange(len(scores.queries)), lengths)
    grade = np.concatenate([each.relevant.grade for each in counted])
    first, last, place = (
        np.concatenate([getattr(each, part) for each in counted])
        for part in ("first", "last", "place")
    )
    ranked = np.concatenate([each.ranked for each in counted])
    found = first > 0
    hit_query, hit_grade = query[found], grade[found]
    rank = first[found] + place[found]
    if policy.ties in ("best", "worst"):
        rank = favoured(hit_query, first[found], last[found], hit_grade, best=policy.ties == "best")
    order = by_query_and_rank(hit_query, rank)
    return Rankings(
        queries=scores.queries.names(),
        retrieved=ranked,
        hit_query=hit_query[order],
        hit_rank=rank[order],
        hit_grade=hit_grade[order],
        hit_tie_first=first[found][order],
        hit_tie_last=last[found][order],
        pool_query=query,
        pool_grade=descending(grade, lengths),
        missing=np.zeros(len(scores.queries), bool),
        collection=ranked,
        ties=policy.ties,
        name=name,
    )


def _of_judged_queries(r: Rankings, judged: Judged, scores: Scores) -> Rankings:
    """As with any run: queries that nobody judged are ignored, and judged queries without a vector
    are missing."""
    r = r.take(np.flatnonzero(judged.known))
    if judged.of_absent is None or not judged.absent:
        return r
    count = len(judged.absent)
    of_absent = (
        scores.relevance_of_others(judged.of_absent)
        if isinstance(scores, UniqueProduct)
        else judged.of_absent
    )
    pairs = of_absent.block(0, count)
    return replace(
        r,
        queries=(*r.queries, *judged.absent),
        retrieved=np.append(r.retrieved, np.zeros(count, np.int64)),
        missing=np.append(r.missing, np.ones(count, bool)),
        collection=np.append(r.collection, np.full(count, len(scores.items))),  # type: ignore[arg-type]
        pool_query=np.append(r.pool_query, len(r) + pairs.row),
        pool_grade=np.append(r.pool_grade, descending(pairs.grade, pairs.lengths)),
    )


def _audit(r: Rankings, notes: tuple[str, ...], *, complete: bool, queries: int) -> Audit:
    lost = np.count_nonzero(~r.missing[r.pool_query]) - len(r.hit_query)
    if lost:
        notes = (
            f"{lost:,} judged {'items have' if lost > 1 else 'item has'} no vector, and can only "
            "be missed.",
            *notes,
        )
    return Audit.of(r, run_queries=queries, notes=notes, complete=complete)


def rank_embeddings(
    queries: Any,
    items: Any,
    relevance: Any,
    *,
    similarity: Any = "cosine",
    exclude: Any = None,
    policy: Policy | dict[str, Any] | None = None,
    memory: str | int = MEMORY,
    query_ids: Sequence[Any] | None = None,
    item_ids: Sequence[Any] | None = None,
    dims: int | None = None,
    normalise: Any = None,
    unique: Any = None,
    name: str = "embeddings",
    progress: Progress | None = None,
) -> Rankings:
    """The exact ranks of all relevant items, as Rankings: every measure, convention and statistic
    works on them.

    >>> import judged
    >>> r = judged.rank_embeddings([[1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0], [2.0, 0.1]], judged.groups(["a"], ["a", "a", "b"]))
    >>> r.hit_rank.tolist()
    [2, 3]
    """
    compared = Embeddings(
        queries,
        items,
        similarity=similarity,
        exclude=exclude,
        memory=memory,
        query_ids=query_ids,
        item_ids=item_ids,
        dims=dims,
        normalise=normalise,
        unique=unique,
    )
    return compared.rank(relevance, Policy.of(policy), name=name, progress=progress)[0]


def evaluate_embeddings(
    queries: Any,
    items: Any,
    relevance: Any,
    *,
    similarity: Any = "cosine",
    measures: Measures | None = None,
    exclude: Any = None,
    policy: Policy | dict[str, Any] | None = None,
    memory: str | int = MEMORY,
    query_ids: Sequence[Any] | None = None,
    item_ids: Sequence[Any] | None = None,
    dims: int | None = None,
    normalise: Any = None,
    unique: Any = None,
    both: bool = False,
    convention: str | Convention | None = None,
    tie_range: bool = False,
    name: str = "embeddings",
    progress: Progress | None = None,
) -> Evaluation:
    """Score embeddings by the exact rank of every relevant item in the full ranking of all items.

    With `both`, the items' search for queries is a second row. With `unique`, one label for each
    item or a table from item to category, each category's best item stands for it and categories
    are ranked. Where relevance is judgements, it is as with any run: queries without any are
    ignored, and judged queries without a vector are missing. `convention` names the library whose
    numbers are wanted. `tie_range` adds the value of every number when ties fall against the
    system, on average and in its favour.

    >>> import judged
    >>> vectors = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    >>> labels = ["a", "a", "b"]
    >>> judged.evaluate_embeddings([[1.0, 0.2]], vectors, judged.same_label(["a"], labels), measures=["AP"]).value()
    1.0
    """
    from judged.evaluation.evaluation import evaluate_rankings  # hands over downstream
    from judged.evaluation.request import Request

    request = Request.of(measures, policy, convention)
    compared = Embeddings(
        queries,
        items,
        similarity=similarity,
        exclude=exclude,
        memory=memory,
        query_ids=query_ids,
        item_ids=item_ids,
        dims=dims,
        normalise=normalise,
        unique=unique,
    )
    if both:
        rankings: tuple[Rankings, ...] = compared.rank_both_ways(
            relevance, request.policy, name=name, progress=progress
        )
    else:
        rankings = (compared.rank(relevance, request.policy, name=name, progress=progress)[0],)
    return evaluate_rankings(rankings, request, tie_range=tie_range)
