"""Rankings: the one structure that every measure reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, borders, each_once, ordinals, positions, starts_of
from judged.errors import InputError
from judged.options import (
    CollectionLike,
    ColumnsLike,
    ConventionLike,
    ItemToLike,
    JudgementsLike,
    MeasuresLike,
    Path,
    PolicyLike,
    RunLike,
    Ties,
    Unjudged,
    WeightsLike,
    checked,
    later,
)
from judged.rankings.lists import (
    by_subtopic,
    checked_indices,
    each_query,
    listed,
    query_names,
    refuse_infinite,
    rows_of,
    tie_spans,
    whole_pool,
)

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.rankings.audit import Audit, Findings
else:  # loaded by `typing.get_type_hints` only
    Evaluation = later("judged:Evaluation")

Cutoff = int | Literal["R"] | None
"""The cutoff of a measure: a rank, the query's number of relevant items, or the whole list."""
ANY_GRADE = float(np.nextafter(0, 1))  # the least grade above 0
OTHER_WAY = "all queries are ranked, for every item"
"""Part of what rankings are of, where items search for queries."""
ENCODED = {
    ("queries", "items"): "queries and items are encoded by",
    ("queries",): "queries are encoded by",
    ("items",): "items are encoded by",
}
"""Beginnings of parts of `basis` that name the encoder, by the sides that it encoded."""


def freeze(record: Any) -> None:
    """Make the arrays of a frozen dataclass read-only, through views of them."""
    for column in fields(record):
        value = getattr(record, column.name)
        if isinstance(value, np.ndarray):
            frozen = value.view()
            frozen.flags.writeable = False
            object.__setattr__(record, column.name, frozen)


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Judgements by subtopic, flat over all queries, in (query, item, subtopic) order.

    Items and subtopics are numbers within their query, from 0. Of items that are equally good as
    the next of an ideal list, the one with the lowest number is taken.
    """

    query: Ints  # index into the queries of the rankings
    item: Ints
    subtopic: Ints
    grade: Floats

    def __post_init__(self) -> None:
        freeze(self)

    def take(self, chosen: Ints, queries: int) -> Subtopics:
        """Return the judgements of some queries, in the given order."""
        rows, query = gathered(self.query, chosen, queries)
        return Subtopics(query, self.item[rows], self.subtopic[rows], self.grade[rows])


@dataclass(frozen=True, eq=False)
class Weights:
    """One weight per query: finite, not negative, and not 0 for all of them."""

    values: Floats  # a query of weight 0 does not count
    source: str  # their name in sentences: a file or a column

    def __post_init__(self) -> None:
        freeze(self)

    def take(self, chosen: Ints) -> Weights:
        """Return the weights of some queries, in the given order."""
        return Weights(self.values[chosen], self.source)


@dataclass(frozen=True, eq=False, repr=False)
class Rankings:
    """The ranks of judged items, list lengths and the grades in the pool, flat over all queries.

    Make them with `from_run`, `from_relevance` or `from_scores`.

    >>> r = Rankings.from_relevance([[0, 1, 0]], relevant=[4])
    >>> r.hit_rank.tolist(), r.retrieved.tolist(), r.pool_grade.tolist()
    ([1, 2, 3], [3], [1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    """

    queries: tuple[str, ...]
    """Their ids."""
    retrieved: Ints
    """List lengths; 0 for a judged query that the run lacks."""
    hit_query: Ints
    """Index into `queries` of each retrieved judged item (hit), in (query, rank) order."""
    hit_rank: Ints
    """From 1."""
    hit_grade: Floats
    """The grade of each hit."""
    pool_query: Ints
    """Index into `queries`, for each judgement."""
    pool_grade: Floats
    """Every judgement, retrieved or not, best grade first in each query."""
    hit_tie_first: Ints | None = None
    """The first rank of the results that tie with a hit; None if ties are unknown."""
    hit_tie_last: Ints | None = None
    """The last of these ranks."""
    hit_item: Ints | None = None
    """The item of each hit, as `subtopics` numbers it."""
    subtopics: Subtopics | None = None
    """Judgements by subtopic; `hit_grade` and `pool_grade` have each item's best grade."""
    missing: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    """Judged queries that the run lacks; a list that became empty later is not missing."""
    collection: Ints | None = None
    """The number of items to retrieve, per query; None if unknown."""
    weights: Weights | None = None
    """The weights of queries in summaries; None if all are equal."""
    best_score: Floats | None = None
    """The greatest score of each query's results, NaN without results; None without scores."""
    ties: Ties = "input"
    """The tie rule. With "expected", ties are unbroken: `hit_rank` is one order of many, a tie that
    the depth cuts through keeps its hits below the cut, and measures are means over all orders."""
    unjudged: Unjudged = "nonrelevant"
    """The rule for unjudged items."""
    depth: int | None = None
    """The depth of the lists; None if they are whole."""
    whole: Rankings | None = None
    """These rankings before a depth cut them and unjudged items were removed, for ties to be broken
    again; None where they are whole themselves."""
    name: str = "run"
    """The name of the run in results."""
    complete: bool = False
    """True if all items were judged and only relevant ones are listed: others are irrelevant."""
    basis: tuple[str, ...] = ()
    """Sentences on what was ranked, how, and what counts as relevant, for embeddings."""
    findings: Findings | None = None
    """Findings in the data, as counts that add up; None if the data were not checked."""

    def __post_init__(self) -> None:
        if not len(self.missing):
            object.__setattr__(self, "missing", np.asarray(self.retrieved) == 0)
        freeze(self)

    @cached_property
    def audit(self) -> Audit | None:
        """Findings in the data; None if the data were not checked."""
        return None if self.findings is None else self.findings.audit()

    def weights_of(self, counted: NDArray[Any]) -> Floats | None:
        """Return the weights of some queries; None if all count the same."""
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
        """True if some query has no judged item that is irrelevant."""
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
        """Sum weights, or count elements, per query."""
        return np.bincount(query, weights, minlength=len(self)).astype(np.float64)

    def relevant(self, rel: float) -> Floats:
        """Count the items of each query's pool that have at least this grade."""
        if rel not in self._relevant:
            self._relevant[rel] = self.total(self.pool_query[self.pool_grade >= rel])
        return self._relevant[rel].copy()

    @cached_property
    def _relevant(self) -> dict[float, Floats]:
        return {}

    def cutoff(self, k: Cutoff, rel: float) -> Floats:
        """Return the last rank that counts in each query; infinite without a cutoff."""
        if k == "R":
            return self.relevant(rel)
        return np.full(len(self), np.inf if k is None else float(k))

    def shown(self, k: Cutoff, rel: float) -> Floats:
        """Count the results of each query down to the cutoff."""
        return np.minimum(self.retrieved, self.cutoff(k, rel))

    def within(self, k: Cutoff, rel: float) -> NDArray[np.bool_]:
        """Return a mask of the hits at or above the cutoff."""
        return self.hit_rank <= self.cutoff(k, rel)[self.hit_query]

    def relevant_hits(self, k: Cutoff, rel: float) -> tuple[Ints, Ints, Ints]:
        """Return query, rank and ordinal (from 1) of relevant items down to the cutoff."""
        chosen = np.flatnonzero((self.hit_grade >= rel) & self.within(k, rel))
        query = self.hit_query[chosen]
        return query, self.hit_rank[chosen], ordinals(query, len(self))

    def found(self, k: Cutoff, rel: float) -> Floats:
        """Count the relevant items down to the cutoff; expected counts if ties stay unbroken."""
        return self.counted(self.hit_grade >= rel, self.cutoff(k, rel))

    def counted(self, which: NDArray[np.bool_], end: Floats) -> Floats:
        """Count some hits of each query down to a rank; expected counts if ties stay unbroken."""
        if self.ties == "expected":
            return self.total(self.hit_query[which], self.chance(end)[which])
        return self.total(self.hit_query[which & (self.hit_rank <= end[self.hit_query])])

    def chance(self, end: Floats) -> Floats:
        """Return the probability of each hit, by the ranks its tie spans, to be above `end`."""
        first, last = self.spans
        above = np.minimum(last, np.minimum(end, self.retrieved)[self.hit_query]) - first + 1
        return np.maximum(above, 0) / (last - first + 1)

    @property
    def spans(self) -> tuple[Ints, Ints]:
        """The first and the last rank that each hit's tie spans."""
        if self.hit_tie_first is None or self.hit_tie_last is None:
            return self.hit_rank, self.hit_rank
        return self.hit_tie_first, self.hit_tie_last

    @property
    def may_be_tied(self) -> bool:
        """True if the tie rule could make a difference."""
        # A depth may cut through a tie and leave one item of it, so whole lists are looked at.
        listed = self.whole or self
        is_cut = self.depth is not None and self.whole is None
        if listed.hit_tie_first is None or is_cut:
            return True
        first, last = listed.spans
        return bool((last > first).any())

    def first(self, k: Cutoff, rel: float) -> Floats:
        """Return the rank of each query's first relevant item down to k; infinite if none."""
        query, rank, ordinal = self.relevant_hits(k, rel)
        result = np.full(len(self), np.inf)
        result[query[ordinal == 1]] = rank[ordinal == 1]
        return result

    @cached_property
    def pool_place(self) -> Ints:
        """The rank each judgement would have in an ideal list."""
        return ordinals(self.pool_query, len(self))

    @classmethod
    @checked
    def from_run(
        cls,
        judgements: JudgementsLike,
        run: RunLike | None = None,
        *,
        policy: PolicyLike | None = None,
        collection: CollectionLike | None = None,
        item_to: ItemToLike | None = None,
        exclude_same_id: bool = False,
        columns: ColumnsLike | None = None,
    ) -> Rankings:
        """Match a run with judgements.

        Parameters
        ----------
        judgements : JudgementsLike
            A file, a dict {query: {item: grade}}, or a table.
        run : RunLike, optional
            A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table; None
            if `judgements` are rows that hold relevant and retrieved ids.
        policy, collection, item_to, exclude_same_id, columns
            As for `judged.evaluate`.

        >>> judgements = {"q1": {"a": 1, "b": 0, "c": 1}}
        >>> r = Rankings.from_run(judgements, {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}})
        >>> r.hit_rank.tolist(), r.hit_grade.tolist(), r.retrieved.tolist()
        ([2, 3], [1.0, 0.0], [3])
        """
        from judged.inputs.data import Data
        from judged.matching.documents import with_items
        from judged.matching.matcher import match_with  # hands over downstream
        from judged.policy import Policy

        chosen = Policy.of(policy)
        data = with_items(
            Data.of(judgements, run, columns=columns, engine=None),
            item_to=item_to,
            exclude_same_id=exclude_same_id,
            duplicates=chosen.duplicates,
        )
        known = data.judgements()
        listed = data.run(
            "from_run takes one run; judged.evaluate takes several, as {name: run} or a list of "
            "paths."
        )
        return match_with(known, chosen, collection)(listed)

    @classmethod
    @checked
    def from_relevance(
        cls,
        relevance: Iterable[Sequence[float | Mapping[str, float] | None]],
        *,
        relevant: Sequence[int] | int | None = None,
        pool: Iterable[Sequence[Any]] | None = None,
        collection: Sequence[int] | int | None = None,
        tied: Iterable[Sequence[tuple[int, int]]] | None = None,
        queries: Sequence[str] | None = None,
        name: str = "run",
    ) -> Rankings:
        """Make rankings from lists of grades in rank order, one list per query.

        Without `relevant` and `pool`, the list holds everything that is relevant.

        Parameters
        ----------
        relevance : iterable of sequences
            A list of grades per query; None is an unjudged item. Items judged by subtopic have
            {subtopic: grade} instead of a grade.
        relevant : int or sequence of int, optional
            How many relevant items (grade above 0) the whole collection has. Those not in the list
            count as relevant with grade 1 and not retrieved.
        pool : iterable of sequences, optional
            All grades per query, in the list and outside it, for graded relevance. Grades of the
            list that are not above 0 may be left out.
        collection : int or sequence of int, optional
            How many items there are to retrieve.
        tied : iterable of sequences, optional
            Per query, the first and the last rank of each stretch of results that share a score.
            Without it ties are unknown, and no policy can break them in another way.
        queries : sequence of str, optional
            The ids of the queries; by default their numbers from 1.
        name : str, optional
            The name of the run in results.

        >>> Rankings.from_relevance([[0, 1, 0, 0, 1]], relevant=[4]).evaluate(["R@5"]).value("R@5")
        0.5
        """
        subtopics, lists, pool = by_subtopic(listed(relevance, "relevance"), pool, relevant)
        rows = rows_of(lists, "relevance", none=True)
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
        first, last = (None, None) if tied is None else tie_spans(tied, names, lengths)
        return cls(
            queries=names,
            retrieved=lengths,
            hit_query=query[judged],
            hit_rank=rank[judged],
            hit_grade=flat[judged],
            hit_tie_first=None if first is None else first[judged],
            hit_tie_last=None if last is None else last[judged],
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
        ties: Ties = "input",
        queries: Sequence[str] | None = None,
        name: str = "run",
    ) -> Rankings:
        """Make rankings from grades and scores; each row is the whole collection of its query.

        Parameters
        ----------
        y_true, y_score : iterable of sequences
            A row of grades and a row of scores per query; rows may differ in length.
        ties : {"input", "best", "worst", "expected"}, optional
            The order of equal scores. Items have no ids here, so by default that of the row.
        queries : sequence of str, optional
            The ids of the queries; by default their numbers from 1.
        name : str, optional
            The name of the run in results.

        >>> r = Rankings.from_scores([[0, 1, 1]], [[0.9, 0.5, 0.7]])
        >>> r.hit_rank.tolist(), r.hit_grade.tolist()
        ([1, 2, 3], [0.0, 1.0, 1.0])
        """
        from judged.matching.ties import rankings_from_scores  # hands over downstream

        return rankings_from_scores(y_true, y_score, ties=ties, queries=queries, name=name)

    def evaluate(
        self,
        measures: MeasuresLike | None = None,
        *,
        policy: PolicyLike | None = None,
        convention: ConventionLike | None = None,
        weights: WeightsLike | None = None,
    ) -> Evaluation:
        """Evaluate these rankings; made once, they can be evaluated many times.

        Parameters
        ----------
        measures : MeasuresLike, optional
            Such as "nDCG@10", or a list; by default those of `judged.evaluate`.
        policy : PolicyLike, optional
            Ties and unjudged items stay as they are, unless it says otherwise.
        convention : ConventionLike, optional
            Another library whose definitions are used, such as "ranx".
        weights : WeightsLike, optional
            How much each query counts: {query: weight}, a table or a file.

        >>> r = Rankings.from_relevance([[1, 0, 1, 1, 0, 1, 0, 0]])
        >>> round(r.evaluate(["AP"]).value("AP"), 6)
        0.770833
        """
        from judged.evaluation.evaluation import evaluate_rankings  # hands over downstream
        from judged.evaluation.settings import EvaluationSettings
        from judged.evaluation.warnings import announce_warnings

        settings = EvaluationSettings.of_rankings([self], measures, policy, convention)
        return announce_warnings(evaluate_rankings([self], settings, weights=weights))

    @classmethod
    def concat(cls, blocks: Iterable[Rankings], order: Sequence[str] | None = None) -> Rankings:
        """Join the rankings of different queries of one run.

        Parameters
        ----------
        blocks : iterable of Rankings
            Rankings of blocks of the run; no query is in two of them.
        order : sequence of str, optional
            All queries in the order to return them; by default they stay as they come.

        >>> one = Rankings.from_relevance([[0, 1]], queries=["b"])
        >>> other = Rankings.from_relevance([[1]], queries=["a"])
        >>> Rankings.concat([one, other], ["a", "b"]).hit_rank.tolist()
        [1, 1, 2]
        """
        from judged.rankings.audit import findings_of, total

        parts = list(blocks)
        if not parts:
            raise InputError("nothing to join; give at least one Rankings.")
        filled = [r for r in parts if len(r)] or [parts[0]]
        _refuse_unlike(filled)
        findings = total(map(findings_of, parts)) if any(r.findings for r in parts) else None
        whole = filled[0] if len(filled) == 1 else _joined(filled)
        if order is not None and whole.queries != tuple(order):
            whole = _in_order(whole, order)
        return replace(
            whole, findings=None if findings is None else findings.in_order(whole.queries)
        )

    def save(self, path: Path) -> None:
        """Write the rankings to a file that `judged.read_rankings` reads, whole or not at all.

        Such a file can be used wherever a function or a command takes judgements and a run.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the file extension must be .rankings.

        >>> import tempfile, pathlib
        >>> from judged import read_rankings
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "mine.rankings"
        >>> Rankings.from_relevance([[0, 1]], name="mine").save(path)
        >>> read_rankings(path).name
        'mine'
        """
        from judged.inputs.formats import RANKINGS_EXTENSION
        from judged.outputs import check_target, checked_ending, replacing
        from judged.rankings.file import to_bytes

        check_target(path)
        checked_ending(path, [RANKINGS_EXTENSION])
        with replacing(path) as temporary:
            temporary.write_bytes(to_bytes(self))

    def take(self, chosen: Sequence[int] | NDArray[Any]) -> Rankings:
        """Return the rankings of some queries, in the given order.

        Parameters
        ----------
        chosen : sequence of int
            Indices into `queries`.

        >>> Rankings.from_relevance([[1], [0]], queries=["a", "b"]).take([1]).queries
        ('b',)
        """
        index = checked_indices(chosen, len(self))
        hits, hit_query = gathered(self.hit_query, index, len(self))
        pool, pool_query = gathered(self.pool_query, index, len(self))

        columns = {name: getattr(self, name) for name in _BY_QUERY}
        changes = {
            **self.hits(hits),
            **{name: None if each is None else each[index] for name, each in columns.items()},
            "queries": tuple(self.queries[i] for i in index),
            "weights": None if self.weights is None else self.weights.take(index),
            "hit_query": hit_query,
            "pool_query": pool_query,
            "pool_grade": self.pool_grade[pool],
            "subtopics": None if self.subtopics is None else self.subtopics.take(index, len(self)),
            "whole": None if self.whole is None else self.whole.take(index),
        }
        return replace(self, **changes)

    def hits(self, chosen: NDArray[Any]) -> dict[str, Any]:
        """Return all columns of some hits by the names of the fields."""
        names = [column.name for column in fields(self) if column.name.startswith("hit_")]
        return {
            name: None if (values := getattr(self, name)) is None else values[chosen]
            for name in names
        }

    def arranged(self, hit_rank: Ints, **changes: Any) -> Rankings:
        """Return the same hits at other ranks, put into (query, rank) order."""
        order = by_query_and_rank(self.hit_query, hit_rank)
        return replace(self, **{**self.hits(order), "hit_rank": hit_rank[order], **changes})


def by_query_and_rank(query: Ints, rank: Ints) -> Ints:
    """Return the order that puts hits into (query, rank) order, by one integer sort."""
    key = query * (int(rank.max(initial=0)) + 1) + rank
    return np.arange(len(key)) if np.all(key[1:] >= key[:-1]) else np.argsort(key, kind="stable")


def gathered(query: Ints, chosen: Ints, queries: int) -> tuple[Ints, Ints]:
    """Return the rows of some queries, and the new number of the query of each."""
    lengths = np.bincount(query, minlength=queries)
    starts = starts_of(lengths)
    rows = positions(starts[chosen], lengths[chosen])
    return rows, np.repeat(np.arange(len(chosen)), lengths[chosen])


_BY_QUERY = ("retrieved", "missing", "collection", "best_score")
_BY_HIT = ("hit_rank", "hit_grade", "hit_tie_first", "hit_tie_last", "hit_item", "pool_grade")


def _refuse_unlike(blocks: Sequence[Rankings]) -> None:
    """Raise an error if rankings are not blocks of one run, made by the same rules."""
    for name in ("ties", "unjudged", "depth", "complete"):
        values = list(dict.fromkeys(getattr(block, name) for block in blocks))
        if len(values) > 1:
            raise InputError(
                f"rankings of {name}={values[0]} and {name}={values[1]} cannot be joined; make "
                "them by the same rules."
            )
    for name in ("weights", "subtopics"):
        if len({getattr(block, name) is None for block in blocks}) > 1:
            raise InputError(f"only some of the rankings to join have {name}; give all or none.")
    known: set[str] = set()
    for block in blocks:
        if twice := known.intersection(block.queries):
            raise InputError(
                f"query {min(twice)!r} is in two of the rankings; join those of different queries."
            )
        known.update(block.queries)


def _joined(blocks: Sequence[Rankings]) -> Rankings:
    first = blocks[0]
    before = None
    if any(block.whole is not None for block in blocks):
        before = _joined([replace(block.whole or block, findings=None) for block in blocks])
    starts = np.cumsum([0, *(len(block) for block in blocks)])[:-1]

    def numbered(parts: Sequence[Any], name: str) -> NDArray[Any]:
        numbers = [getattr(part, name) + start for part, start in zip(parts, starts, strict=True)]
        return np.concatenate(numbers)

    subtopics = None
    if first.subtopics is not None:
        parts = [block.subtopics for block in blocks]
        others = [_column(parts, name) for name in ("item", "subtopic", "grade")]
        subtopics = Subtopics(numbered(parts, "query"), *others)
    weights = [block.weights for block in blocks if block.weights is not None]
    columns: dict[str, Any] = {name: _column(blocks, name) for name in (*_BY_QUERY, *_BY_HIT)}
    return replace(
        first,
        queries=tuple(query for block in blocks for query in block.queries),
        hit_query=numbered(blocks, "hit_query"),
        pool_query=numbered(blocks, "pool_query"),
        **columns,
        subtopics=subtopics,
        weights=Weights(_column(weights, "values"), weights[0].source) if weights else None,
        whole=before,
    )


def _column(blocks: Sequence[Any], name: str) -> Any:
    """Join a column of all blocks; None if a block lacks it."""
    parts = [getattr(block, name) for block in blocks]
    return None if any(part is None for part in parts) else np.concatenate(parts)


def _in_order(whole: Rankings, order: Sequence[str]) -> Rankings:
    places = {query: number for number, query in enumerate(whole.queries)}
    if len(places) != len(whole) or set(places) != set(order):
        twice = sorted(query for query in places if whole.queries.count(query) > 1)
        lost = sorted(set(places) ^ set(order))
        problem = f"{twice[0]!r} is there twice" if twice else f"{lost[0]!r} is on one side only"
        raise InputError(f"rankings to join must have each query once: {problem}.")
    return whole.take(np.array([places[query] for query in order], np.int64))
