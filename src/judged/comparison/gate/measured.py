"""One system on all measures: what a gate compares, and what a baseline file keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judged.comparison.numbers import Compared, Entry, Places, entry_of
from judged.comparison.repeats import averaged
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.scores import Scored


@dataclass(frozen=True, eq=False)
class Measured:
    """What a system has on each measure, by our notation, and the queries that it lacks."""

    name: str
    entries: Mapping[str, Entry]
    missing: frozenset[str] = frozenset()
    repeats: int = 1
    """How many runs of the system there are."""


def measured(
    evaluation: Evaluation, runs: Sequence[Scored], name: str, queries: Sequence[str]
) -> Measured:
    """Some runs of an evaluation, which are repeats of one system."""
    places = Places(queries)
    entries = {}
    for measure in evaluation.measures:
        own = [entry_of(run, measure, places) for run in runs]
        label = Compared(evaluation.label(measure))
        entries[str(measure)] = averaged(own, label, name)
    lacking = (
        np.asarray(run.rankings.queries, object)[run.rankings.missing].tolist() for run in runs
    )
    return Measured(name, entries, frozenset().union(*lacking), len(runs))
