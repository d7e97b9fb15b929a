"""The numbers of the runs, as it is and otherwise: by the same steps as `judged.evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from judged.errors import JudgedError
from judged.evaluation.evaluation import Evaluation, evaluate_rankings
from judged.evaluation.runs import match_runs
from judged.evaluation.settings import EvaluationSettings
from judged.inputs.data import Data
from judged.inputs.tables import Judgements, Lookup, Run
from judged.judgements.check.collection import Collection, query_ids
from judged.judgements.check.result import NO_RUNS, Change, Effect


@dataclass(frozen=True, eq=False)
class Numbers:
    """How numbers are computed, and those of the data as it is."""

    collection: Collection
    request: EvaluationSettings
    options: Mapping[str, Any]
    """depth, collection and weights, as `evaluate` has them."""

    @cached_property
    def as_is(self) -> Evaluation | str | None:
        """The evaluation; None where there are no runs; or why there is none, in words, where a
        run has no query of the judgements: how its ids are spelled may tell."""
        if not self.collection.runs:
            return None
        judged = self.collection.names.implode()
        data = self._data(self.collection.judgements, self.collection.runs)
        if all(query_ids(run).is_in(judged).any() for run in self.collection.runs):
            return self._evaluated(data)
        return self._tried(data)

    def effect(
        self,
        otherwise: str,
        judgements: Judgements | None = None,
        runs: Sequence[Run | Lookup] | None = None,
    ) -> Effect:
        """What other judgements or runs do to the numbers; `otherwise` says what is other."""
        if not self.collection.runs:
            return Effect(otherwise, reason=NO_RUNS)
        judgements = self.collection.judgements if judgements is None else judgements
        if judgements.frame.is_empty():
            reason = f"Nothing would be left to evaluate {otherwise}."
            return Effect(otherwise, reason=reason)
        return self._effect(otherwise, self._data(judgements, runs or self.collection.runs))

    def effect_of_raw(self, otherwise: str, judgements: Judgements) -> Effect:
        """The same for judgements as they are given, before documents take the place of items."""
        if not self.collection.runs:
            return Effect(otherwise, reason=NO_RUNS)
        return self._effect(otherwise, replace(self.collection.data, given=judgements, rows=None))

    def _effect(self, otherwise: str, data: Data) -> Effect:
        before, after = self.as_is, self._tried(data)
        if isinstance(after, str):
            return Effect(otherwise, reason=f"No numbers {otherwise}: {after}")
        none = dict.fromkeys(after.measures, float("nan"))
        known = before.runs if isinstance(before, Evaluation) else [None] * len(after.runs)
        changes = [
            Change(
                run.name,
                after.label(measure),
                (none if old is None else old.summary)[measure],
                run.summary[measure],
            )
            for old, run in zip(known, after.runs, strict=True)
            for measure in after.measures
        ]
        return Effect(otherwise, tuple(changes))

    def _data(self, judgements: Judgements, runs: Sequence[Run | Lookup]) -> Data:
        return Data.of(judgements, {run.name: run for run in runs})

    def _tried(self, data: Data) -> Evaluation | str:
        """The evaluation, or why there is none."""
        try:
            return self._evaluated(data)
        except JudgedError as error:
            return str(error)

    def _evaluated(self, data: Data) -> Evaluation:
        found = match_runs(data, self.request, **self.options)
        return evaluate_rankings(found.rankings, self.request, weights=self.options["weights"])
