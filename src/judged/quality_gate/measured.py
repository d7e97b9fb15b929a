"""One system on all measures: what a gate compares, and what a baseline file keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judged.comparison.numbers import Compared, Entry, entry_of, in_common
from judged.errors import MeasureError
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.scored import Scored
from judged.statistics.samples import Means


@dataclass(frozen=True, eq=False)
class Measured:
    """What a system has on each measure, by our notation, and the queries that it lacks."""

    name: str
    entries: Mapping[str, Entry]
    missing: frozenset[str] = frozenset()
    repeats: int = 1
    """How many runs of the system there are."""


def queries_of(evaluation: Evaluation) -> tuple[str, ...]:
    """All judged queries in the order of their ids, which entries number them by."""
    return tuple(sorted(evaluation.runs[0].rankings.queries))


def compared_by(evaluation: Evaluation) -> tuple[Compared, ...]:
    """The measures of an evaluation, to compare by."""
    return tuple(
        Compared(evaluation.label(each), each.spec.higher_is_better, each.spec.range, each)
        for each in evaluation.measures
    )


def measured(
    evaluation: Evaluation, runs: Sequence[Scored], name: str, queries: Sequence[str]
) -> Measured:
    """Some runs of an evaluation, which are repeats of one system."""
    place = {query: at for at, query in enumerate(queries)}
    entries = {}
    for measure in evaluation.measures:
        own = [entry_of(run, measure, place) for run in runs]
        entries[str(measure)] = _repeated(own, evaluation.label(measure))
    lacking = (
        np.asarray(run.rankings.queries, object)[run.rankings.missing].tolist() for run in runs
    )
    return Measured(name, entries, frozenset().union(*lacking), len(runs))


def _repeated(entries: Sequence[Entry], label: str) -> Entry:
    """The mean of repeats, query by query."""
    if len(entries) == 1:
        return entries[0]
    place = in_common(entries)
    entries = [entry.at(place) for entry in entries]
    first = entries[0].sample
    averaged = [entry.sample.averaged for entry in entries]
    if not isinstance(first, Means) or first.averaged is None:
        raise MeasureError(
            f"{label} is no mean over queries, and repeats of a run are averaged query by query; "
            "leave it out, or give one run."
        )
    repeats = np.stack([each for each in averaged if each is not None])
    columns = repeats.mean(axis=0)[:, None]
    values = np.exp(columns[:, 0]) if first.aggregate == "geometric" else columns[:, 0]
    error = float(np.sqrt(sum(entry.error**2 for entry in entries))) / len(entries)
    return Entry(replace(first, columns=columns), values, place, repeats, error)
