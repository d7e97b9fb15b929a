"""Per-query numbers of several runs, aligned by query id: what is compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.evaluation.scores import TRUSTED
from judged.evaluation.trusted import columns_of
from judged.statistics.prediction_powered import Powered, corrected_means, powered
from judged.statistics.samples import Means, Sample
from judged.statistics.units import numbered

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.measures import Measure


@dataclass(frozen=True)
class Compared:
    """A measure that runs are compared on; of another tool's only the name need be known.

    >>> Compared("nDCG@10").higher_is_better
    True
    """

    name: str
    """What it is called in tables and files."""
    higher_is_better: bool = True
    """False where a lower value is the better one."""
    range: tuple[float, float] = (-math.inf, math.inf)
    """The lowest and the highest value there can be."""
    measure: Measure | None = None
    """The measure itself, where judged computed it."""


@dataclass(frozen=True, eq=False)
class Entry:
    """What one run has on one measure, for the queries that count, in the order of their ids."""

    sample: Sample
    """What the run's number is made of."""
    values: Floats
    """One value per query, which queries are won and lost by."""
    place: Ints
    """The number of each query among all of them, ascending."""
    repeats: Floats | None = None
    """What is averaged in each repeat of the run, one row each; None where there is one run only.
    """
    error: float = 0.0
    """The standard error of what is averaged, where it is an estimate from random orders of ties.
    """
    trusted: Entry | None = None
    """The same by trusted judgements, of those queries that have some; None where there are none.
    """

    @cached_property
    def number(self) -> float:
        """The run's number on these queries, worked out once for all pairs that it is in; infinite
        where it is too large, NaN where there is no query. Trusted judgements correct it."""
        if not len(self.place):
            return math.nan
        if self.trusted is not None and self.powered is not None:
            return self.corrected(self.powered.weight, self.trusted)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.sample.value()

    @cached_property
    def powered(self) -> Powered | None:
        """What is averaged, corrected by trusted judgements, where there are some."""
        if self.trusted is None:
            return None
        columns = columns_of([self.trusted.sample]), columns_of([self.sample])
        return powered(*columns, self.has(self.trusted), self.sample.weights)

    def has(self, some: Entry) -> NDArray[np.bool_]:
        """Which of the queries are among those of another entry."""
        return np.isin(self.place, some.place)

    def corrected(self, weight: Floats, trusted: Entry) -> float:
        """The run's number, corrected with this λ by what trusted judgements have."""
        columns = columns_of([trusted.sample]), columns_of([self.sample])
        judged, weights = self.has(trusted), self.sample.weights
        assert isinstance(self.sample, Means)
        means = corrected_means(*columns, judged, weights, weight=weight)
        return float(self.sample.function(means))

    def at(self, place: Ints) -> Entry:
        """The same for some of its queries only."""
        if len(place) == len(self.place):
            return self
        which = np.searchsorted(self.place, place)
        return Entry(
            self.sample.take(which),
            self.values[which],
            place,
            None if self.repeats is None else self.repeats[:, which],
            self.error * math.sqrt(len(self.place) / max(len(place), 1)),
            None if self.trusted is None else self.trusted.among(place),
        )

    def among(self, place: Ints) -> Entry:
        """The same for those of these queries only that it has."""
        return self.at(self.place[np.isin(self.place, place)])


@dataclass(frozen=True, eq=False)
class Numbers:
    """All runs on all measures."""

    runs: tuple[str, ...]
    """The names of the runs, in the order in which they were given."""
    queries: tuple[str, ...]
    """The ids of the queries, in their own order."""
    measures: tuple[Compared, ...]
    """What the runs are compared on."""
    entries: Mapping[tuple[str, str], Entry]
    """By measure and run."""
    groups: Ints | None = None
    """The group of each query, as a number from 0; None where each stands for itself."""
    notes: tuple[str, ...] = field(default=())
    """What was noticed on the way in."""
    repeated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names of the repeats of each run that has some."""

    @classmethod
    def of(cls, evaluation: Evaluation) -> Numbers:
        """Those of an evaluation."""
        queries = queries_of(evaluation)
        places = Places(queries)
        measures = compared_by(evaluation)
        entries = {
            (each.name, run.name): entry_of(run, each.measure, places)
            for run in evaluation.runs
            for each in measures
            if each.measure is not None
        }
        return cls(tuple(run.name for run in evaluation.runs), queries, measures, entries)

    def entry(self, measure: Compared, run: str) -> Entry:
        """What a run has on a measure."""
        return self.entries[measure.name, run]

    @property
    def counting(self) -> Ints:
        """The queries that count in any run, on any measure."""
        counts = np.zeros(len(self.queries), bool)
        for entry in self.entries.values():
            counts[entry.place] = True
        return np.flatnonzero(counts)

    def in_groups(self, given: Any) -> Numbers:
        """The same with the groups that somebody gave; every query that counts must have one."""
        if given is None:
            return self
        from judged.inputs.groups import groups_of

        counting = self.counting
        found, _ = groups_of(given, [self.queries[at] for at in counting])
        groups = np.full(len(self.queries), -1)
        groups[counting] = found
        return replace(self, groups=groups)

    def grouped(self, place: Ints) -> Ints | None:
        """The groups of some queries, numbered from 0 without gaps."""
        if self.groups is None:
            return None
        return numbered(self.groups[place])

    def only(self, place: Ints) -> Numbers:
        """The same of some of the queries only."""
        entries = {key: entry.among(place) for key, entry in self.entries.items()}
        return replace(self, entries=entries)


def queries_of(evaluation: Evaluation) -> tuple[str, ...]:
    """All judged queries in the order of their ids, which entries number them by."""
    return tuple(sorted(evaluation.runs[0].rankings.queries))


def compared_by(evaluation: Evaluation) -> tuple[Compared, ...]:
    """The measures of an evaluation, to compare by."""
    return tuple(
        Compared(evaluation.label(each), each.spec.higher_is_better, each.spec.range, each)
        for each in evaluation.measures
    )


class Places:
    """The numbers of queries in the order of their ids; those of a run's queries are looked up
    once, whatever is asked of the run.

    >>> Places(["a", "b", "c"]).of(("c", "a")).tolist()
    [2, 0]
    """

    def __init__(self, queries: Sequence[str]) -> None:
        self._place = {query: at for at, query in enumerate(queries)}
        self._known: dict[int, tuple[tuple[str, ...], Ints]] = {}

    def __len__(self) -> int:
        return len(self._place)

    def of(self, queries: tuple[str, ...]) -> Ints:
        """The number of each of these queries."""
        if id(queries) not in self._known:  # which holds them, so that no other has this id
            found = np.fromiter(map(self._place.__getitem__, queries), np.int64, len(queries))
            self._known[id(queries)] = queries, found
        return self._known[id(queries)][1]


def entry_of(run: Scored, measure: Measure, places: Places) -> Entry:
    """What a run of an evaluation has on a measure, in the order of query ids."""
    values = run.values[measure]
    counted = np.flatnonzero(~np.isnan(values))
    place = places.of(run.rankings.queries)[counted]
    order = np.argsort(place)
    sample = run.sample(measure).take(order)
    error = run.summary_errors.get(measure, 0.0)
    if error and measure.params["aggregate"] == "geometric":
        error /= run.summary[measure]
    elif error and measure.params["aggregate"] == "sum":
        error /= len(counted)
    trusted = run.others.get(TRUSTED)
    return Entry(
        sample,
        values[counted][order],
        place[order],
        error=float(error or 0.0),
        trusted=None if trusted is None else entry_of(trusted, measure, places),
    )


def in_common(entries: Sequence[Entry]) -> Ints:
    """The queries that count in all of these."""
    common = entries[0].place
    for entry in entries[1:]:
        common = np.intersect1d(common, entry.place, assume_unique=True)
    return common
