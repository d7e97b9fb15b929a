"""An evaluation that is fed with batches of queries, for those who make lists as they go."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.evaluation.evaluation import Evaluation, evaluate_runs
from judged.evaluation.parts import Asked, Kept, Part, Piles, as_asked, gathered, part_of
from judged.evaluation.request import Request
from judged.evaluation.warnings import announced
from judged.inputs import read_judgements, read_run
from judged.inputs.remote import AnyRun, RemoteRun
from judged.matching import judging
from judged.matching.join import names_of
from judged.matching.own_ids import judgements_of_others, run_of_others
from judged.matching.weights import refuse_both
from judged.options import LEVEL, checked, checked_methods

if TYPE_CHECKING:
    from judged.options import (
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        FileFormat,
        GroupsLike,
        JudgementsLike,
        MeasuresLike,
        PolicyLike,
        RunLike,
        WeightsLike,
    )


@checked_methods
class Evaluator:
    """One run, evaluated as its lists are made: added in batches of whole queries.

    Numbers are those of `judged.evaluate` on the whole run, to the last bit, whatever the batches
    and their order; of each batch only what its queries give to the numbers is kept.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    policy, depth, duplicates, collection, exclude_same_id, convention, tie_range, \
unjudged_range, weights, unanswerable, answer_threshold, interval, level, groups, columns, \
judgements_format
        As for `judged.evaluate`; `columns` are those of judgements and batches.
    name : str, optional
        What results call the run.

    >>> evaluator = Evaluator({"q1": {"a": 1}, "q2": {"b": 1}}, ["RR", "P@1"])
    >>> evaluator.add({"q1": {"a": 0.9, "c": 0.1}})
    >>> evaluator.add({"q2": ["c", "b"]})
    >>> evaluator.evaluation().to_dict()["runs"][0]["scores"]
    {'RR': 0.75, 'P@1': 0.5}
    """

    @checked
    def __init__(
        self,
        judgements: JudgementsLike,
        measures: MeasuresLike | None = None,
        *,
        policy: PolicyLike | None = None,
        depth: int | None = None,
        duplicates: Duplicates = "error",
        collection: CollectionLike | None = None,
        exclude_same_id: bool = False,
        convention: ConventionLike | None = None,
        tie_range: bool = False,
        unjudged_range: bool = False,
        weights: WeightsLike | None = None,
        unanswerable: bool = False,
        answer_threshold: float | None = None,
        interval: bool = False,
        level: float = LEVEL,
        groups: GroupsLike | None = None,
        columns: ColumnsLike | None = None,
        judgements_format: FileFormat | None = None,
        name: str = "run",
    ) -> None:
        request = Request.of(measures, policy, convention, prepares=True)
        asked = Asked.of(
            request,
            tie_range=tie_range,
            unjudged_range=unjudged_range,
            unanswerable=unanswerable,
            answer_threshold=answer_threshold,
            weights=weights,
        )
        known = read_judgements(judgements, columns=columns, format=judgements_format)
        refuse_both(known, weights)
        if exclude_same_id:
            known = judgements_of_others(known)
        self._judge = judging(
            known,
            policy=asked.request.policy,
            depth=depth,
            duplicates=duplicates,
            collection=collection,
            best_scores=unanswerable,
        )
        self._asked = replace(asked, top_grade=self._judge.top_grade)
        self._intervals: dict[str, Any] = {"interval": interval, "level": level, "groups": groups}
        self._columns = columns
        self._exclude = exclude_same_id
        self._feed = self._judge.feed(name, name)
        self._names: set[str] = set()
        self._parts: Piles[Part] = Piles(Part.concat)
        self._kept = Kept()

    def add(self, batch: RunLike) -> None:
        """Evaluate the lists of some more queries.

        Parameters
        ----------
        batch : RunLike
            Whatever `judged.evaluate` takes as a run: a dict {query: {item: score}} or
            {query: [items, best first]}, a table or a file; all results of each query in it. A
            query that was added before is refused, and then nothing of the batch is added.

        >>> evaluator = Evaluator({"q1": {"a": 1}}, "RR")
        >>> evaluator.add({"q1": ["b", "a"]})
        >>> evaluator.add({"q1": ["a"]})
        Traceback (most recent call last):
        judged.errors.InputError: query 'q1' was added before; give all results of a query at once.
        """
        feed = self._feed
        run: AnyRun = read_run(batch, name=feed.name, columns=self._columns)
        if self._exclude:
            run = run_of_others(run, whole=False)
        run = self._asked.request.prepare(run)
        assert not isinstance(run, RemoteRun)  # tables that live elsewhere were read
        names = names_of(run)
        again = next((name for name in names if name in self._names), None)
        if again is not None:
            raise InputError(
                f"query {again!r} was added before; give all results of a query at once."
            )
        before = feed.state()
        try:
            block = feed.add(run)
            if block is not None:
                self._parts.add(self._kept.part_of(block, self._asked))
        except BaseException:  # an interrupt too: what is asked for next must not lack the batch
            feed.restore(before)
            raise
        self._names.update(names)

    def evaluation(self) -> Evaluation:
        """The evaluation of all that was added; more can be added afterwards.

        Returns
        -------
        Evaluation
            As `judged.evaluate` returns it for the whole run: judged queries that no batch held are
            missing.

        >>> evaluator = Evaluator({"q1": {"a": 1}}, "RR")
        >>> evaluator.add({"q1": ["b", "a"]})
        >>> evaluator.evaluation().value()
        0.5
        """
        if not self._names:
            raise InputError("nothing was added yet; give the lists of some queries to add first.")
        rest = self._feed.end()
        parts = [*self._parts, part_of(rest, self._asked)]
        scored = gathered(parts, self._asked, self._judge.queries)
        kept = self._kept.rankings(scored, as_asked(rest, self._asked)[0])
        return announced(evaluate_runs([(scored, kept)], self._asked, **self._intervals))
