"""An evaluation that takes its run in batches of queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

from judged.errors import InputError
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.scores import score_run
from judged.evaluation.settings import EvaluationSettings
from judged.evaluation.warnings import announce_warnings
from judged.inputs import read_judgements, read_run
from judged.inputs.tables import AnyRun
from judged.matching.checks import judgements_of_others, run_of_others
from judged.matching.join import names_of
from judged.matching.matcher import match_with
from judged.matching.pool import refuse_both
from judged.options import JudgementsLike, MeasuresLike, RunLike, Scoring, formats_of, takes_scoring
from judged.rankings.rankings import Rankings

BLOCKS_PER_PILE = 200


class Evaluator:
    """One run, evaluated while its lists are made: batches of whole queries are added.

    Numbers are those of `judged.evaluate` on the whole run, to the last bit, whatever the batches
    and their order.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    name : str, optional
        The name of the run in results.
    **scoring
        As for `judged.evaluate`, except item_to, unique, trusted, skip_bad and progress.

    >>> evaluator = Evaluator({"q1": {"a": 1}, "q2": {"b": 1}}, ["RR", "P@1"])
    >>> evaluator.add({"q1": {"a": 0.9, "c": 0.1}})
    >>> evaluator.add({"q2": ["c", "b"]})
    >>> evaluator.evaluation().to_dict()["runs"][0]["scores"]
    {'RR': 0.75, 'P@1': 0.5}
    """

    @takes_scoring
    def __init__(
        self,
        judgements: JudgementsLike,
        measures: MeasuresLike | None = None,
        *,
        name: str = "run",
        **scoring: Unpack[Scoring],
    ) -> None:
        for option in ("item_to", "unique", "trusted", "skip_bad", "progress"):
            if scoring.get(option):
                raise InputError(f"Evaluator does not support {option}; use judged.evaluate.")
        self._settings = EvaluationSettings.of(
            measures, scoring.get("policy"), scoring.get("convention"), prepares=True
        )
        self._columns, self._weights = scoring.get("columns"), scoring.get("weights")
        self._exclude = bool(scoring.get("exclude_same_id"))
        known = read_judgements(
            judgements, columns=self._columns, format=formats_of(scoring.get("format"))[0]
        )
        refuse_both(known, self._weights)
        if self._exclude:
            known = judgements_of_others(known)
        self._matcher = match_with(known, self._settings.policy, scoring.get("collection"))
        self._feed = self._matcher.feed(name, name)
        self._names: set[str] = set()
        self._blocks = _Blocks()

    def add(self, batch: RunLike) -> None:
        """Add the lists of more queries.

        Parameters
        ----------
        batch : RunLike
            What `judged.evaluate` takes as a run, with all results of each query. A query that was
            added before is an error, and then nothing of the batch is added.

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
        run = self._settings.prepare(run)
        names = names_of(run)
        again = next((name for name in names if name in self._names), None)
        if again is not None:
            raise InputError(
                f"query {again!r} was added before; give all results of a query at once."
            )
        before: dict[str, Any] = feed.state()
        try:
            block = feed.add(run)
            if block is not None:  # an error of a measure must not come at the end
                score_run(block, self._settings)
        except BaseException:  # also an interrupt: a later evaluation must not lack the batch
            feed.restore(before)
            raise
        if block is not None:
            self._blocks.add(block)
        self._names.update(names)

    def evaluation(self) -> Evaluation:
        """Return the evaluation of what was added so far; more can be added afterwards.

        Returns
        -------
        Evaluation
            Judged queries that no batch held are missing queries.

        >>> evaluator = Evaluator({"q1": {"a": 1}}, "RR")
        >>> evaluator.add({"q1": ["b", "a"]})
        >>> evaluator.evaluation().value()
        0.5
        """
        if not self._names:
            raise InputError("nothing was added yet; give the lists of some queries to add first.")
        blocks = [*self._blocks, self._feed.end()]
        rankings = Rankings.concat(blocks, self._matcher.queries)
        return announce_warnings(
            evaluate_rankings([rankings], self._settings, weights=self._weights)
        )


class _Blocks:
    """Blocks joined by the hundred, so that many small ones take no more memory than few."""

    def __init__(self) -> None:
        self._piles: list[list[Rankings]] = [[]]

    def add(self, block: Rankings) -> None:
        for pile in self._piles:
            pile.append(block)
            if len(pile) < BLOCKS_PER_PILE:
                return
            block = Rankings.concat(pile)
            pile.clear()
        self._piles.append([block])

    def __iter__(self) -> Iterator[Rankings]:
        return (block for pile in reversed(self._piles) for block in pile)
