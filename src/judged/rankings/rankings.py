"""Rankings: the one structure every measure reads, with the few vectorised helpers they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.rankings.grades import (
    by_subtopic,
    each_query,
    grades_of,
    query_names,
    refuse_infinite,
    whole_pool,
)
from judged.segments import Floats, Ints, freeze, ordinals, positions, starts_of

if TYPE_CHECKING:
    from judged.conventions import Convention
    from judged.evaluation.evaluation import Evaluation
    from judged.types import ConventionLike, MeasuresLike, PolicyLike, Ties, Unjudged
    from judged.policy import Policy
    from judged.rankings.audit import Audit

Cutoff = int | Literal["R"] | None
"""How deep a measure looks: a rank, the query's number of relevant items, or the whole list."""


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Judgements by subtopic, flat over all queries, in (query, item, subtopic) order.

    Items and subtopics are numbers within their query, from 0. Of items that are equally good as
    the next of an ideal list, the one with the lowest number is taken.
    """

    query: Ints
    item: Ints
    subtopic: Ints
    grade: Floats

    def __post_init__(self) -> None:
        freeze(self)

    def take(self, chosen: Ints, queries: int) -> Subtopics:
        """The judgements of some queries, in the given order."""
        rows, query = _gather(self.query, chosen, queries)
        return Subtopics(query, self.item[rows], self.subtopic[rows], self.grade[rows])


@dataclass(frozen=True, eq=False)
class Rankings:
    """The ranks of judged items, how many items were retrieved and the grades in the pool, flat
    over all queries.

    >>> r = Rankings.from_relevance([[0, 1, 0]], relevant=[4])
    >>> r.hit_rank.tolist(), r.retrieved.tolist(), r.pool_grade.tolist()
    ([1, 2, 3], [3], [1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    """

    queries: tuple[str, ...]
    retrieved: Ints
    """List lengths; 0 for a judged query that the run lacks."""
    hit_query: Ints
    """Index into `queries`, for each retrieved item that is judged; hits are in (query, rank)
    order."""
    hit_rank: Ints
    """From 1."""
    hit_grade: Floats
    pool_query: Ints
    pool_grade: Floats
    """Every judgement, retrieved or not, best grade first in each query."""
    hit_tie_first: Ints | None = None
    """The first rank of those that a hit's tied scores span; None where nothing is known of ties.
    """
    hit_tie_last: Ints | None = None
    hit_item: Ints | None = None
    """The item of each hit, as `subtopics` numbers it."""
    subtopics: Subtopics | None = None
    """What was judged by subtopic; None where judgements are of whole queries. `hit_grade` and
    `pool_grade` hold each item's best grade."""
    missing: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    """Judged queries that the run lacks: not the same as those whose list became empty later."""
    collection: Ints | None = None
    """How many items there were to retrieve, a query; None where unknown."""
    ties: Ties = "input"
    """How ties were broken; where it is "expected" they were not: `hit_rank` is one order of many,
    a tie that the depth cuts through has its hits below the cut too, and measures are means over
    all orders."""
    unjudged: Unjudged = "nonrelevant"
    """What became of unjudged items."""
    depth: int | None = None
    """Where the lists were cut; None where they are whole."""
    whole: Rankings | None = None
    """These rankings before a depth cut them and unjudged items were removed, for ties to be broken
    anew; None where they are whole themselves."""
    name: str = "run"
    complete: bool = False
    """Whether every item was judged and only the relevant ones are listed: all others are
    irrelevant, not unjudged."""
    basis: tuple[str, ...] = ()
    """What was ranked, how, and what counts as relevant, in words, where the run itself does not
    say: embeddings."""
    audit: Audit | None = None

    def __post_init__(self) -> None:
        if not len(self.missing):
            object.__setattr__(self, "missing", np.asarray(self.retrieved) == 0)
        freeze(self)

    # -- making
    # ------------------------------------------------------------------------------------------------

    @classmethod
    def from_relevance(
        cls,
        relevance: Iterable[Sequence[float | Mapping[str, float] | None]],
        *,
        relevant: Sequence[int] | int | None = None,
        pool: Iterable[Sequence[Any]] | None = None,
        collection: Sequence[int] | int | None = None,
        queries: Sequence[str] | None = None,
        name: str = "run",
    ) -> Rankings:
        """From lists of grades in rank order, one list a query; None in a list is an item nobody
        judged.

        `relevant` is the number of relevant items (grade above 0) in the whole collection: those
        not in the list count as relevant with grade 1 and not retrieved. For graded relevance give
        `pool`, all grades there are, instead. Without either, the list holds everything that is
        relevant. Items judged by subtopic have {subtopic: grade} in place of a grade, in the lists
        and in the pool.

        >>> Rankings.from_relevance([[0, 1, 0, 0, 1]], relevant=[4]).evaluate(["R@5"]).value("R@5")
        0.5
        """
        subtopics, lists, pool = by_subtopic(list(relevance), pool, relevant)
        rows = [grades_of(row) for row in lists]
        if not rows:
            raise InputError(
                "relevance holds no list; give one list of grades in rank order for each query."
            )
        names = query_names(queries, len(rows), "relevance has {count} lists")
        if relevant is not None and pool is not None:
            raise InputError("give relevant (a count) or pool (all grades), not both.")
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        flat = np.concatenate(rows)
        query = np.repeat(np.arange(len(rows)), lengths)
        rank = ordinals(query, len(rows))
        judged = ~np.isnan(flat)
        pool_query, pool_grade = whole_pool(query[judged], flat[judged], names, relevant, pool)
        refuse_infinite(pool_query, pool_grade, names)
        return cls(
            queries=names,
            retrieved=lengths,
            hit_query=query[judged],
            hit_rank=rank[judged],
            hit_grade=flat[judged],
            hit_item=None if subtopics is None else ordinals(query[judged], len(rows)) - 1,
            pool_query=pool_query,
            pool_grade=pool_grade,
            subtopics=None if subtopics is None else Subtopics(*subtopics),
            missing=np.zeros(len(rows), bool),
            collection=each_query(collection, names, "collection"),
            name=name,
        )

    @classmethod
    def from_scores(
        cls,
        y_true: Iterable[Sequence[float]],
        y_score: Iterable[Sequence[float]],
        *,
        ties: str = "input",
        queries: Sequence[str] | None = None,
        name: str = "run",
    ) -> Rankings:
        """From grades and scores side by side, one row of each a query; rows may differ in length.

        Each row is the whole collection of its query. Items have no ids here, so ties keep the
        order of the row unless `ties` is "best", "worst" or "expected".

        >>> r = Rankings.from_scores([[0, 1, 1]], [[0.9, 0.5, 0.7]])
        >>> r.hit_rank.tolist(), r.hit_grade.tolist()
        ([1, 2, 3], [0.0, 1.0, 1.0])
        """
        from judged.judging.scores import rankings_from_scores  # hands over downstream

        return rankings_from_scores(y_true, y_score, ties=ties, queries=queries, name=name)

    # -- reading
    # -----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return (
            f"<Rankings {self.name!r}: {len(self):,} queries, {int(self.retrieved.sum()):,} "
            "results, "
            f"{len(self.hit_rank):,} of {len(self.pool_grade):,} judged items retrieved, "
            f"ties={self.ties}>"
        )

    def evaluate(
        self,
        measures: MeasuresLike | None = None,
        *,
        policy: Policy | dict[str, Any] | None = None,
        convention: str | Convention | None = None,
        tie_range: bool = False,
        unjudged_range: bool = False,
    ) -> Evaluation:
        """Score these rankings; built once, they can be evaluated many times. See `judged.evaluate`
        for what else may be said.

        >>> r = Rankings.from_relevance([[1, 0, 1, 1, 0, 1, 0, 0]])
        >>> round(r.evaluate(["AP"]).value("AP"), 6)
        0.770833
        """
        from judged.evaluation.evaluation import evaluate_rankings  # hands over downstream

        return evaluate_rankings(
            [self],
            measures,
            policy=policy,
            convention=convention,
            tie_range=tie_range,
            unjudged_range=unjudged_range,
        )

    def total(self, query: Ints, weights: NDArray[Any] | None = None) -> Floats:
        """Sums of weights (or counts) per query; 0 for a query with none."""
        return np.bincount(query, weights, minlength=len(self)).astype(np.float64)

    def relevant(self, rel: float) -> Floats:
        """How many items of each query's pool have at least this grade."""
        if rel not in self._relevant:
            self._relevant[rel] = self.total(self.pool_query[self.pool_grade >= rel])
        return self._relevant[rel].copy()

    @cached_property
    def _relevant(self) -> dict[float, Floats]:
        return {}

    def cutoff(self, k: Cutoff, rel: float) -> Floats:
        """The last rank that counts in each query: k, its number of relevant items, or no limit."""
        if k == "R":
            return self.relevant(rel)
        return np.full(len(self), np.inf if k is None else float(k))

    def shown(self, k: Cutoff, rel: float) -> Floats:
        """How many results each query has down to the cutoff."""
        return np.minimum(self.retrieved, self.cutoff(k, rel))

    def within(self, k: Cutoff, rel: float) -> NDArray[np.bool_]:
        """Which hits are at or above the cutoff."""
        return self.hit_rank <= self.cutoff(k, rel)[self.hit_query]

    def relevant_hits(self, k: Cutoff, rel: float) -> tuple[Ints, Ints, Ints]:
        """Query, rank and ordinal (1 for a query's first, and so on) of the relevant items down to
        the cutoff."""
        chosen = np.flatnonzero((self.hit_grade >= rel) & self.within(k, rel))
        query = self.hit_query[chosen]
        return query, self.hit_rank[chosen], ordinals(query, len(self))

    def found(self, k: Cutoff, rel: float) -> Floats:
        """How many relevant items each query has down to the cutoff, or may be expected to have
        where ties are not broken."""
        return self.counted(self.hit_grade >= rel, self.cutoff(k, rel))

    def counted(self, which: NDArray[np.bool_], end: Floats) -> Floats:
        """How many of some hits each query has down to a rank of its own, or may be expected to
        have."""
        if self.ties == "expected":
            return self.total(self.hit_query[which], self.chance(end)[which])
        return self.total(self.hit_query[which & (self.hit_rank <= end[self.hit_query])])

    def chance(self, end: Floats) -> Floats:
        """How likely each hit is to stand at or above a rank of its query: the share of its tie's
        ranks that are."""
        first, last = self.spans
        above = np.minimum(last, np.minimum(end, self.retrieved)[self.hit_query]) - first + 1
        return np.maximum(above, 0) / (last - first + 1)

    @property
    def spans(self) -> tuple[Ints, Ints]:
        """The first and the last rank that each hit's tie spans."""
        if self.hit_tie_first is None or self.hit_tie_last is None:
            return self.hit_rank, self.hit_rank
        return self.hit_tie_first, self.hit_tie_last

    def first(self, k: Cutoff, rel: float) -> Floats:
        """Rank of each query's first relevant item down to the cutoff; infinite where there is
        none."""
        query, rank, ordinal = self.relevant_hits(k, rel)
        result = np.full(len(self), np.inf)
        result[query[ordinal == 1]] = rank[ordinal == 1]
        return result

    @cached_property
    def pool_place(self) -> Ints:
        """The rank each judgement would have in an ideal list."""
        return ordinals(self.pool_query, len(self))

    # -- deriving
    # ----------------------------------------------------------------------------------------------

    def take(self, chosen: Sequence[int] | NDArray[Any]) -> Rankings:
        """The rankings of some queries, in the given order."""
        index = np.asarray(chosen, dtype=np.int64)
        hits, hit_query = _gather(self.hit_query, index, len(self))
        pool, pool_query = _gather(self.pool_query, index, len(self))

        changes = {
            **self.hits(hits),
            "queries": tuple(self.queries[i] for i in index),
            "retrieved": self.retrieved[index],
            "missing": self.missing[index],
            "collection": None if self.collection is None else self.collection[index],
            "hit_query": hit_query,
            "pool_query": pool_query,
            "pool_grade": self.pool_grade[pool],
            "subtopics": None if self.subtopics is None else self.subtopics.take(index, len(self)),
            "whole": None if self.whole is None else self.whole.take(index),
        }
        return replace(self, **changes)

    def hits(self, chosen: NDArray[Any]) -> dict[str, Any]:
        """All that is known of some hits, by the names of the fields."""
        names = [each.name for each in fields(self) if each.name.startswith("hit_")]
        return {
            name: None if (values := getattr(self, name)) is None else values[chosen]
            for name in names
        }

    def arranged(self, hit_rank: Ints, **changes: Any) -> Rankings:
        """The same hits at other ranks, put into (query, rank) order."""
        order = by_query_and_rank(self.hit_query, hit_rank)
        return replace(self, **{**self.hits(order), "hit_rank": hit_rank[order], **changes})


def by_query_and_rank(query: Ints, rank: Ints) -> Ints:
    """The order that puts hits into (query, rank) order; one integer sort for all."""
    key = query * (int(rank.max(initial=0)) + 1) + rank
    return np.arange(len(key)) if np.all(key[1:] >= key[:-1]) else np.argsort(key, kind="stable")


def _gather(query: Ints, chosen: Ints, queries: int) -> tuple[Ints, Ints]:
    lengths = np.bincount(query, minlength=queries)
    starts = starts_of(lengths)
    return positions(starts[chosen], lengths[chosen]), np.repeat(
        np.arange(len(chosen)), lengths[chosen]
    )
