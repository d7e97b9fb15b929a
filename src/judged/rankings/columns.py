"""The columns of rankings, and the few vectorised helpers that measures share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from judged.arrays import (
    Floats,
    Ints,
    borders,
    each_once,
    freeze,
    ordinals,
    positions,
    starts_of,
)

if TYPE_CHECKING:
    from judged.options import Ties, Unjudged
    from judged.rankings.audit import Audit
    from judged.rankings.findings import Findings
    from judged.rankings.rankings import Rankings
    from judged.rankings.weights import Weights

Cutoff = int | Literal["R"] | None
"""How deep a measure looks: a rank, the query's number of relevant items, or the whole list."""
ANY_GRADE = float(np.nextafter(0, 1))
"""The least grade above 0."""
OTHER_WAY = "all queries are ranked, for every item"
"""Part of what rankings are of, where items search for queries."""
ENCODED = {
    ("queries", "items"): "queries and items are encoded by",
    ("queries",): "queries are encoded by",
    ("items",): "items are encoded by",
}
"""How parts begin that say which encoder made the vectors, by the sides that it encoded."""


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Judgements by subtopic, flat over all queries, in (query, item, subtopic) order.

    Items and subtopics are numbers within their query, from 0. Of items that are equally good as
    the next of an ideal list, the one with the lowest number is taken.
    """

    query: Ints
    """Index into the queries of the rankings."""
    item: Ints
    """The item's number."""
    subtopic: Ints
    """The subtopic's number."""
    grade: Floats
    """How well the item serves the subtopic."""

    def __post_init__(self) -> None:
        freeze(self)

    def take(self, chosen: Ints, queries: int) -> Subtopics:
        """The judgements of some queries, in the given order."""
        rows, query = gathered(self.query, chosen, queries)
        return Subtopics(query, self.item[rows], self.subtopic[rows], self.grade[rows])


@dataclass(frozen=True, eq=False)
class Columns:
    """What `Rankings` hold, and what measures read from them."""

    queries: tuple[str, ...]
    """Their ids."""
    retrieved: Ints
    """List lengths; 0 for a judged query that the run lacks."""
    hit_query: Ints
    """Index into `queries`, for each retrieved item that is judged; hits are in (query, rank)
    order."""
    hit_rank: Ints
    """From 1."""
    hit_grade: Floats
    """The grade of each hit."""
    pool_query: Ints
    """Index into `queries`, for each judgement."""
    pool_grade: Floats
    """Every judgement, retrieved or not, best grade first in each query."""
    hit_tie_first: Ints | None = None
    """The first rank of those that a hit's tied scores span; None where nothing is known of ties.
    """
    hit_tie_last: Ints | None = None
    """The last of these ranks."""
    hit_item: Ints | None = None
    """The item of each hit, as `subtopics` numbers it."""
    subtopics: Subtopics | None = None
    """What was judged by subtopic; None where judgements are of whole queries. `hit_grade` and
    `pool_grade` hold each item's best grade."""
    missing: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    """Judged queries that the run lacks: not the same as those whose list became empty later."""
    collection: Ints | None = None
    """How many items there were to retrieve, per query; None where unknown."""
    weights: Weights | None = None
    """How much each query counts in summaries; None where all count the same."""
    best_score: Floats | None = None
    """The greatest score among each query's results, NaN where it has none; None where nobody
    asked, or where there is only an order."""
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
    again; None where they are whole themselves."""
    name: str = "run"
    """What results call the run."""
    complete: bool = False
    """Whether every item was judged and only the relevant ones are listed: all others are
    irrelevant, not unjudged."""
    basis: tuple[str, ...] = ()
    """What was ranked, how, and what counts as relevant, in words, where the run itself does not
    say: embeddings."""
    findings: Findings | None = None
    """What was found in the data, as counts that add up; None where nobody looked."""

    def __post_init__(self) -> None:
        if not len(self.missing):
            object.__setattr__(self, "missing", np.asarray(self.retrieved) == 0)
        freeze(self)

    @cached_property
    def audit(self) -> Audit | None:
        """What was found in the data; None where nobody looked."""
        return None if self.findings is None else self.findings.audit()

    def weights_of(self, counted: NDArray[np.bool_]) -> Floats | None:
        """The weights of some queries; None where all count the same.

        Parameters
        ----------
        counted : array of bool
            Which queries.

        Returns
        -------
        numpy.ndarray or None

        >>> from judged import Rankings
        >>> Rankings.from_relevance([[1]]).weights_of(np.array([True])) is None
        True
        """
        return None if self.weights is None else self.weights.values[counted]

    @cached_property
    def grades(self) -> Floats:
        """The distinct grades in the judgements, ascending."""
        return each_once(self.pool_grade[borders(self.pool_grade)])

    @property
    def top_grade(self) -> float:
        """The best grade in the judgements; 1 if none is above 0."""
        best = float(self.pool_grade.max(initial=0))
        return best if best > 0 else 1.0

    @property
    def unretrieved_relevant(self) -> int:
        """The number of relevant items (grade 1 or above) that the run did not retrieve."""
        return int((self.pool_grade >= 1).sum()) - int((self.hit_grade >= 1).sum())

    @property
    def all_relevant(self) -> bool:
        """Whether some query has no judged item that is irrelevant."""
        irrelevant = (self.pool_grade >= 0) & (self.pool_grade < 1)
        return bool((np.bincount(self.pool_query[irrelevant], minlength=len(self)) == 0).any())

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return (
            f"<Rankings {self.name!r}: {len(self):,} queries, {int(self.retrieved.sum()):,} "
            f"results, {len(self.hit_rank):,} of {len(self.pool_grade):,} judged items retrieved, "
            f"ties={self.ties}>"
        )

    def total(self, query: Ints, weights: NDArray[Any] | None = None) -> Floats:
        """Sums of weights (or counts) per query; 0 for a query with none.

        Parameters
        ----------
        query : array of int
            Indices into `queries`.
        weights : array, optional
            What is summed; without it, elements are counted.

        Returns
        -------
        array

        >>> from judged import Rankings
        >>> r = Rankings.from_relevance([[0, 1, 1]], relevant=[4])
        >>> r.total(r.hit_query, r.hit_grade).tolist()
        [2.0]
        """
        return np.bincount(query, weights, minlength=len(self)).astype(np.float64)

    def relevant(self, rel: float) -> Floats:
        """How many items of each query's pool have at least this grade.

        Parameters
        ----------
        rel : float
            The lowest relevant grade.

        Returns
        -------
        array

        >>> from judged import Rankings
        >>> r = Rankings.from_relevance([[0, 1, 1]], relevant=[4])
        >>> r.relevant(1).tolist()
        [4.0]
        """
        if rel not in self._relevant:
            self._relevant[rel] = self.total(self.pool_query[self.pool_grade >= rel])
        return self._relevant[rel].copy()

    @cached_property
    def _relevant(self) -> dict[float, Floats]:
        return {}

    def cutoff(self, k: Cutoff, rel: float) -> Floats:
        """The last rank that counts in each query: k, its number of relevant items, or no limit.

        Parameters
        ----------
        k : int, "R" or None
            The last rank that counts; "R" is the query's number of relevant items, None no limit.
        rel : float
            The lowest relevant grade.

        Returns
        -------
        array

        >>> from judged import Rankings
        >>> r = Rankings.from_relevance([[0, 1, 1]], relevant=[4])
        >>> r.cutoff("R", 1).tolist(), r.cutoff(None, 1).tolist()
        ([4.0], [inf])
        """
        if k == "R":
            return self.relevant(rel)
        return np.full(len(self), np.inf if k is None else float(k))

    def shown(self, k: Cutoff, rel: float) -> Floats:
        """How many results each query has down to the cutoff.

        Parameters
        ----------
        k : int, "R" or None
            The last rank that counts; "R" is the query's number of relevant items, None no limit.
        rel : float
            The lowest relevant grade.

        Returns
        -------
        array

        >>> from judged import Rankings
        >>> r = Rankings.from_relevance([[0, 1, 1]], relevant=[4])
        >>> r.shown(10, 1).tolist()
        [3.0]
        """
        return np.minimum(self.retrieved, self.cutoff(k, rel))

    def within(self, k: Cutoff, rel: float) -> NDArray[np.bool_]:
        """Which hits are at or above the cutoff.

        Parameters
        ----------
        k : int, "R" or None
            The last rank that counts; "R" is the query's number of relevant items, None no limit.
        rel : float
            The lowest relevant grade.

        Returns
        -------
        array of bool

        >>> from judged import Rankings
        >>> r = Rankings.from_relevance([[0, 1, 1]], relevant=[4])
        >>> r.within(2, 1).tolist()
        [True, True, False]
        """
        return self.hit_rank <= self.cutoff(k, rel)[self.hit_query]

    def relevant_hits(self, k: Cutoff, rel: float) -> tuple[Ints, Ints, Ints]:
        """Query, rank and ordinal (from 1 in each query) of relevant items down to the cutoff.

        Parameters
        ----------
        k : int, "R" or None
            The last rank that counts; "R" is the query's number of relevant items, None no limit.
        rel : float
            The lowest relevant grade.

        Returns
        -------
        tuple of three arrays

        >>> from judged import Rankings
        >>> r = Rankings.from_relevance([[0, 1, 1]], relevant=[4])
        >>> [each.tolist() for each in r.relevant_hits(None, 1)]
        [[0, 0], [2, 3], [1, 2]]
        """
        chosen = np.flatnonzero((self.hit_grade >= rel) & self.within(k, rel))
        query = self.hit_query[chosen]
        return query, self.hit_rank[chosen], ordinals(query, len(self))

    def found(self, k: Cutoff, rel: float) -> Floats:
        """How many relevant items stand down to the cutoff, or may be expected to where ties stay.

        Parameters
        ----------
        k : int, "R" or None
            The last rank that counts; "R" is the query's number of relevant items, None no limit.
        rel : float
            The lowest relevant grade.

        Returns
        -------
        array

        >>> from judged import Rankings
        >>> r = Rankings.from_relevance([[0, 1, 1]], relevant=[4])
        >>> r.found(2, 1).tolist()
        [1.0]
        """
        return self.counted(self.hit_grade >= rel, self.cutoff(k, rel))

    def counted(self, which: NDArray[np.bool_], end: Floats) -> Floats:
        """How many of some hits each query has down to a rank of its own, or may be expected to.

        Parameters
        ----------
        which : array of bool
            A mask of the hits.
        end : array
            The last rank that counts, per query.

        Returns
        -------
        array

        >>> from judged import Rankings
        >>> r = Rankings.from_relevance([[0, 1, 1]], relevant=[4])
        >>> r.counted(r.hit_grade > 0, r.cutoff(2, 1)).tolist()
        [1.0]
        """
        if self.ties == "expected":
            return self.total(self.hit_query[which], self.chance(end)[which])
        return self.total(self.hit_query[which & (self.hit_rank <= end[self.hit_query])])

    def chance(self, end: Floats) -> Floats:
        """How likely each hit is to stand at or above a rank: the share of its tie's ranks that do.

        Parameters
        ----------
        end : array
            The last rank that counts, per query.

        Returns
        -------
        array

        >>> from judged import Rankings
        >>> r = Rankings.from_scores([[0, 1]], [[0.5, 0.5]])
        >>> r.chance(r.cutoff(1, 1)).tolist()
        [0.5, 0.5]
        """
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
        """Rank of each query's first relevant item down to the cutoff; infinite where none is.

        Parameters
        ----------
        k : int, "R" or None
            The last rank that counts; "R" is the query's number of relevant items, None no limit.
        rel : float
            The lowest relevant grade.

        Returns
        -------
        array

        >>> from judged import Rankings
        >>> r = Rankings.from_relevance([[0, 1, 1]], relevant=[4])
        >>> r.first(10, 1).tolist()
        [2.0]
        """
        query, rank, ordinal = self.relevant_hits(k, rel)
        result = np.full(len(self), np.inf)
        result[query[ordinal == 1]] = rank[ordinal == 1]
        return result

    @cached_property
    def pool_place(self) -> Ints:
        """The rank each judgement would have in an ideal list."""
        return ordinals(self.pool_query, len(self))


def by_query_and_rank(query: Ints, rank: Ints) -> Ints:
    """The order that puts hits into (query, rank) order; one integer sort for all."""
    key = query * (int(rank.max(initial=0)) + 1) + rank
    return np.arange(len(key)) if np.all(key[1:] >= key[:-1]) else np.argsort(key, kind="stable")


def gathered(query: Ints, chosen: Ints, queries: int) -> tuple[Ints, Ints]:
    """The rows of some queries, and the new number of the query of each."""
    lengths = np.bincount(query, minlength=queries)
    starts = starts_of(lengths)
    return positions(starts[chosen], lengths[chosen]), np.repeat(
        np.arange(len(chosen)), lengths[chosen]
    )
