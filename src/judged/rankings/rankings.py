"""Rankings: the one structure every measure reads, made from lists of grades or from scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints, ordinals
from judged.errors import InputError
from judged.options import checked
from judged.rankings.blocks import concatenated
from judged.rankings.columns import Columns, Cutoff, Subtopics, by_query_and_rank, gathered
from judged.rankings.grades import (
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
        WeightsLike,
    )

__all__ = ["Cutoff", "Rankings", "Subtopics", "by_query_and_rank"]


class Rankings(Columns):
    """The ranks of judged items, list lengths and the grades in the pool, flat over all queries.

    Make them with `from_run`, `from_relevance` or `from_scores`.

    >>> r = Rankings.from_relevance([[0, 1, 0]], relevant=[4])
    >>> r.hit_rank.tolist(), r.retrieved.tolist(), r.pool_grade.tolist()
    ([1, 2, 3], [3], [1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    """

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

        Returns
        -------
        Rankings

        >>> judgements = {"q1": {"a": 1, "b": 0, "c": 1}}
        >>> r = Rankings.from_run(judgements, {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}})
        >>> r.hit_rank.tolist(), r.hit_grade.tolist(), r.retrieved.tolist()
        ([2, 3], [1.0, 0.0], [3])
        """
        from judged.inputs.data import Data
        from judged.matching import match_with  # hands over downstream
        from judged.matching.items import with_items
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
        """From lists of grades in rank order, one list per query.

        Without `relevant` and `pool`, the list holds everything that is relevant.

        Parameters
        ----------
        relevance : iterable of sequences
            A list of grades per query; None is an item nobody judged. Items judged by subtopic have
            {subtopic: grade} in place of a grade.
        relevant : int or sequence of int, optional
            How many relevant items (grade above 0) there are in the whole collection: those not in
            the list count as relevant with grade 1 and not retrieved.
        pool : iterable of sequences, optional
            All grades there are, per query, in the list and outside it: for graded relevance.
            Those of the list that are not above 0 may be left out.
        collection : int or sequence of int, optional
            How many items there are to retrieve.
        tied : iterable of sequences, optional
            Per query, the first and the last rank of each stretch of results that share a score;
            without it nothing is known of ties, and no policy can break them otherwise.
        queries : sequence of str, optional
            The queries' ids; by default their numbers from 1.
        name : str, optional
            What results call the run.

        Returns
        -------
        Rankings

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
        """From grades and scores side by side; each row is the whole collection of its query.

        Parameters
        ----------
        y_true : iterable of sequences
            A row of grades per query; rows may differ in length.
        y_score : iterable of sequences
            A row of scores per query.
        ties : {"input", "best", "worst", "expected"}, optional
            In which order equal scores stand; items have no ids here, so by default that of the
            row.
        queries : sequence of str, optional
            The queries' ids; by default their numbers from 1.
        name : str, optional
            What results call the run.

        Returns
        -------
        Rankings

        >>> r = Rankings.from_scores([[0, 1, 1]], [[0.9, 0.5, 0.7]])
        >>> r.hit_rank.tolist(), r.hit_grade.tolist()
        ([1, 2, 3], [0.0, 1.0, 1.0])
        """
        from judged.matching.scores import rankings_from_scores  # hands over downstream

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

        Returns
        -------
        Evaluation

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
        """Rankings of different queries of one run as one.

        Parameters
        ----------
        blocks : iterable of Rankings
            As `judging` makes them from the blocks of a run; no query is in two of them.
        order : sequence of str, optional
            All queries, in the order that they shall have; by default they stay as they come.

        Returns
        -------
        Rankings

        >>> one = Rankings.from_relevance([[0, 1]], queries=["b"])
        >>> other = Rankings.from_relevance([[1]], queries=["a"])
        >>> both = Rankings.concat([one, other], ["a", "b"])
        >>> both.queries, both.hit_rank.tolist()
        (('a', 'b'), [1, 1, 2])
        """
        return concatenated(list(blocks), order)

    def save(self, path: Path) -> None:
        """Write the rankings to a file that `judged.read_rankings` reads, whole or not at all.

        Such a file can stand wherever a function or a command takes judgements and a run.

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
        from judged.outputs import check_target, checked_ending, replacing
        from judged.rankings.file import EXTENSION, to_bytes

        check_target(path)
        checked_ending(path, [EXTENSION])
        with replacing(path) as temporary:
            temporary.write_bytes(to_bytes(self))

    def take(self, chosen: Sequence[int] | NDArray[Any]) -> Rankings:
        """The rankings of some queries, in the given order.

        Parameters
        ----------
        chosen : sequence of int
            Indices into `queries`.

        Returns
        -------
        Rankings

        >>> Rankings.from_relevance([[1], [0]], queries=["a", "b"]).take([1]).queries
        ('b',)
        """
        index = checked_indices(chosen, len(self))
        hits, hit_query = gathered(self.hit_query, index, len(self))
        pool, pool_query = gathered(self.pool_query, index, len(self))

        changes = {
            **self.hits(hits),
            "queries": tuple(self.queries[i] for i in index),
            "retrieved": self.retrieved[index],
            "missing": self.missing[index],
            "collection": None if self.collection is None else self.collection[index],
            "weights": None if self.weights is None else self.weights.take(index),
            "best_score": None if self.best_score is None else self.best_score[index],
            "hit_query": hit_query,
            "pool_query": pool_query,
            "pool_grade": self.pool_grade[pool],
            "subtopics": None if self.subtopics is None else self.subtopics.take(index, len(self)),
            "whole": None if self.whole is None else self.whole.take(index),
        }
        return replace(self, **changes)

    def hits(self, chosen: NDArray[Any]) -> dict[str, Any]:
        """All that is known of some hits, by the names of the fields.

        Parameters
        ----------
        chosen : array
            Indices, or a mask, of the hits.

        Returns
        -------
        dict

        >>> Rankings.from_relevance([[0, 1]]).hits([1])["hit_rank"].tolist()
        [2]
        """
        names = [each.name for each in fields(self) if each.name.startswith("hit_")]
        return {
            name: None if (values := getattr(self, name)) is None else values[chosen]
            for name in names
        }

    def arranged(self, hit_rank: Ints, **changes: Any) -> Rankings:
        """The same hits at other ranks, put into (query, rank) order.

        Parameters
        ----------
        hit_rank : array of int
            The new rank of each hit.
        **changes : Any
            Other fields that change.

        Returns
        -------
        Rankings

        >>> r = Rankings.from_relevance([[0, 1]])
        >>> r.arranged(np.array([2, 1])).hit_grade.tolist()
        [1.0, 0.0]
        """
        order = by_query_and_rank(self.hit_query, hit_rank)
        return replace(self, **{**self.hits(order), "hit_rank": hit_rank[order], **changes})
