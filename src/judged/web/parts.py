"""Some systems and measures of an evaluation, as if nothing else had been asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from judged.evaluation.evaluation import Evaluation

if TYPE_CHECKING:
    from judged.evaluation.scores import Scored
    from judged.evaluation.settings import Settings
    from judged.measures import Measure

Kept = TypeVar("Kept")


def part_of(evaluation: Evaluation, request: Settings, places: Sequence[int]) -> Evaluation | None:
    """The numbers of some systems, by their places, on the measures of a request, without
    intervals; None where one of the measures is not there, or is called otherwise."""
    wanted = request.measures
    if not all(each in evaluation.measures for each in wanted):
        return None
    labels = {each: request.labels.get(each, str(each)) for each in wanted}
    if any(evaluation.label(each) != label for each, label in labels.items()):
        return None
    runs = tuple(_run(evaluation.runs[at], wanted) for at in places)
    return Evaluation(
        runs, wanted, evaluation.policy, request.convention, rankings=evaluation.rankings
    )


def _run(run: Scored, wanted: Sequence[Measure]) -> Scored:
    def some(known: Mapping[Measure, Kept]) -> dict[Measure, Kept]:
        return {each: known[each] for each in wanted if each in known}

    return replace(
        run,
        values=some(run.values),
        summary=some(run.summary),
        samples=some(run.samples),
        nothing=some(run.nothing),
        errors=some(run.errors),
        summary_errors=some(run.summary_errors),
        unsure=some(run.unsure),
        intervals={},
        labels=some(run.labels),
    )
