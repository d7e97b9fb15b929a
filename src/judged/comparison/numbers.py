"""Per-query values of several runs, aligned by query id; repeats of a system as one run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.comparison.settings import ComparisonSettings
from judged.comparison.wording import list_queries
from judged.errors import InputError, JudgedError, MeasureError, quoted
from judged.evaluation.intervals import summary_range
from judged.evaluation.scores import TRUSTED
from judged.evaluation.trusted import columns_of, corrected_interval
from judged.measures import Measure, parse_measure
from judged.rankings.rankings import Rankings
from judged.statistics.intervals import Interval, interval
from judged.statistics.prediction_powered import Powered, corrected_means, powered
from judged.statistics.samples import Means, Median, Sample, numbered, relative
from judged.statistics.t import half_widths, repeat_variance, spread
from judged.text import Warned, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.options import WeightsLike


@dataclass(frozen=True)
class Compared:
    """A measure that runs are compared on; of another tool's measure only the name is needed."""

    name: str  # name in tables and files
    higher_is_better: bool = True
    range: tuple[float, float] = (-math.inf, math.inf)  # lowest and highest possible value
    measure: Measure | None = None  # the measure itself, if judged computed it


@dataclass(frozen=True, eq=False)
class Entry:
    """Values of one run on one measure, for the queries that count, in the order of their ids."""

    sample: Sample  # numbers that the run's summary value is computed from
    values: Floats  # one value per query, for wins and losses
    place: Ints  # position of each query among all queries, ascending
    repeats: Floats | None = None
    """Averaged values of each repeat of the run, one row each; None without repeats."""
    error: float = 0.0
    """Standard error of the averaged values if they are estimates from random orders of ties."""
    trusted: Entry | None = None  # values by trusted judgements, for the queries that have some
    summary: float | None = None  # summary value of all these queries, if it is known

    @cached_property
    def number(self) -> float:
        """Summary value on these queries, corrected by trusted judgements; NaN without queries."""
        if not len(self.place):
            return math.nan
        if self.trusted is not None and self.powered is not None:
            return self.corrected(self.powered.weight, self.trusted)
        if self.summary is not None:
            return self.summary
        with np.errstate(over="ignore", invalid="ignore"):
            return self.sample.value()

    @cached_property
    def powered(self) -> Powered | None:
        """Averaged values, corrected by trusted judgements."""
        if self.trusted is None:
            return None
        columns = columns_of([self.trusted.sample]), columns_of([self.sample])
        return powered(*columns, self.has(self.trusted), self.sample.weights)

    @cached_property
    def averaged(self) -> Floats | None:
        """Values that the summary is a mean of; None for any other summary."""
        sample = self.sample
        return sample.columns[:, 0] if isinstance(sample, Means) and sample.aggregate else None

    def has(self, other: Entry) -> NDArray[np.bool_]:
        """Return which queries are among those of another entry."""
        return np.isin(self.place, other.place)

    def corrected(self, weight: Floats, trusted: Entry) -> float:
        """Return the summary value, corrected with this λ by trusted judgements."""
        columns = columns_of([trusted.sample]), columns_of([self.sample])
        judged, weights = self.has(trusted), self.sample.weights
        assert isinstance(self.sample, Means)
        means = corrected_means(*columns, judged, weights, weight=weight)
        return float(self.sample.function(means))

    def at(self, place: Ints) -> Entry:
        """Return the entry for some of its queries."""
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
        """Return the entry for those of these queries that it has."""
        return self.at(self.place[np.isin(self.place, place)])


@dataclass(frozen=True, eq=False)
class Numbers:
    """Values of all runs on all measures."""

    runs: tuple[str, ...]
    queries: tuple[str, ...]  # ids of the queries, sorted
    measures: tuple[Compared, ...]
    entries: Mapping[tuple[str, str], Entry]  # by measure and run
    groups: Ints | None = None  # number of each query's group; None if queries are independent
    notes: tuple[str, ...] = field(default=())
    repeated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the repeats of each repeated run."""

    @classmethod
    def of(cls, evaluation: Evaluation) -> Numbers:
        queries = tuple(sorted(evaluation.runs[0].rankings.queries))
        labels, index, entries = evaluation.labels, index_of(queries), {}
        runs = {run.rankings.name: run for run in evaluation.runs}
        for name, run in runs.items():
            by_measure = entries_of(run, evaluation.measures, index)
            for label, measure in labels.items():
                entries[label, name] = by_measure[measure]
        measures = tuple(
            Compared(label, measure.spec.higher_is_better, measure.spec.range, measure)
            for label, measure in labels.items()
        )
        return cls(tuple(runs), queries, measures, entries)

    def entry(self, measure: Compared, run: str) -> Entry:
        return self.entries[measure.name, run]

    @property
    def counting(self) -> Ints:
        """Positions of the queries that count in any run, on any measure."""
        return np.unique(np.concatenate([entry.place for entry in self.entries.values()]))

    def in_groups(self, by_query: Any) -> Numbers:
        """Return the values with groups of queries; every counted query must have one."""
        if by_query is None:
            return self
        from judged.inputs.keyed import groups_of

        counting = self.counting
        groups = np.full(len(self.queries), -1)
        groups[counting], _ = groups_of(by_query, [self.queries[i] for i in counting])
        return replace(self, groups=groups)

    def grouped(self, place: Ints) -> Ints | None:
        """Return the groups of some queries, numbered from 0 without gaps."""
        return None if self.groups is None else numbered(self.groups[place])

    def only(self, place: Ints) -> Numbers:
        """Return the values for some of the queries."""
        entries = {key: entry.among(place) for key, entry in self.entries.items()}
        return replace(self, entries=entries)


def index_of(queries: Sequence[str]) -> dict[str, int]:
    return {query: i for i, query in enumerate(queries)}


def positions(queries: Sequence[str], index: Mapping[str, int]) -> Ints:
    return np.fromiter(map(index.__getitem__, queries), np.int64, len(queries))


def entries_of(
    run: Scored, measures: Iterable[Measure], index: Mapping[str, int]
) -> dict[Measure, Entry]:
    """Return the values of a run of an evaluation by measure, in the order of query ids."""
    places = positions(run.rankings.queries, index)
    trusted = entries_of(run.others[TRUSTED], measures, index) if TRUSTED in run.others else {}
    entries = {}
    for measure in measures:
        values = run.values[measure]
        counted = np.flatnonzero(~np.isnan(values))
        order = np.argsort(places[counted])
        error = run.summary_errors.get(measure, 0.0)
        if error:  # of what is averaged
            size = {"geometric": run.summary[measure], "sum": len(counted)}
            error /= size.get(measure.params["aggregate"], 1)
        entries[measure] = Entry(
            run.sample(measure).take(order),
            values[counted][order],
            places[counted][order],
            error=float(error or 0.0),
            trusted=trusted.get(measure),
            summary=run.summary[measure] if len(counted) else None,
        )
    return entries


def intersect_queries(entries: Sequence[Entry]) -> Ints:
    common = entries[0].place
    for entry in entries[1:]:
        common = np.intersect1d(common, entry.place, assume_unique=True)
    return common


def own_intervals(
    numbers: Numbers, settings: ComparisonSettings
) -> dict[tuple[str, str], Interval]:
    """Return each run's value with its confidence interval, by measure and run."""
    intervals = {}
    for measure, run in product(numbers.measures, numbers.runs):
        entry = numbers.entry(measure, run)
        sample, error, groups = entry.sample, entry.error, numbers.grouped(entry.place)
        ends = summary_range(entry.values, measure.range, sample.aggregate)
        if entry.trusted is not None and entry.powered is not None:
            known = corrected_interval(sample, entry.powered, 0, settings.level, ends)
        else:
            if error:  # of what is averaged
                by_aggregate = {"sum": len(entry.place), "geometric": entry.number}
                error *= by_aggregate.get(sample.aggregate, 1)
            known = interval(
                sample,
                level=settings.level,
                groups=groups,
                range=ends,
                error=error,
                resamples=settings.resamples,
                seed=settings.seed,
            )
            if entry.repeats is not None:
                known = _with_repeats(known, entry, ends, groups, settings.level)
        intervals[measure.name, run] = known
    return intervals


def _with_repeats(
    known: Interval, entry: Entry, ends: tuple[float, float], groups: Ints | None, level: float
) -> Interval:
    """Widen an interval by the variance of repeats, unless it is one of a share or of a median."""
    sample = entry.sample
    if known.method not in ("t", "log t") or math.isnan(known.low) or entry.repeats is None:
        return known
    assert isinstance(sample, Means)
    more = [repeat_variance(entry.repeats, sample.weights), (entry.error**2, math.inf)]
    arrays = [(np.array([variance]), np.array([freedom])) for variance, freedom in more]
    every = spread(sample.columns, sample.weights, groups, more=arrays)
    away = half_widths(every, level) * np.array([-1.0, 1.0])
    low, high = sample.function((every.mean + away)[:, None])
    if math.isnan(low):
        return known
    return replace(known, low=max(float(low), ends[0]), high=min(float(high), ends[1]))


def with_repeats(numbers: Numbers, repeats: Mapping[str, Sequence[str]] | None) -> Numbers:
    """Return the values with the repeats of each run as one run."""
    if repeats is None or (isinstance(repeats, Mapping) and not repeats):
        return numbers
    repeated = _check_repeats(numbers, repeats)
    owner = {run: name for name, names in repeated.items() for run in names}
    runs = tuple(dict.fromkeys(owner.get(run, run) for run in numbers.runs))
    entries, notes = {}, list(numbers.notes)
    for measure in numbers.measures:
        for run in runs:
            values = [numbers.entry(measure, name) for name in repeated.get(run, (run,))]
            entry = entries[measure.name, run] = average_repeats(values, measure, run)
            most = max(len(repeat.place) for repeat in values)
            if any(len(repeat.place) != len(entry.place) for repeat in values):
                notes.append(
                    Warned(
                        f"{measure.name}: the repeats of {run} have values for different queries. "
                        f"The comparison uses the {len(entry.place):,} common ones of up to "
                        f"{most:,}."
                    )
                )
    single = [run for run in runs if len(repeated.get(run, (run,))) == 1]
    if single:
        verb = "have" if len(single) > 1 else "has"
        notes.append(
            f"{listed(single)} {verb} no repeats, so the variation between runs is unknown."
        )
    return replace(numbers, runs=runs, entries=entries, notes=tuple(notes), repeated=repeated)


def _check_repeats(numbers: Numbers, repeats: Any) -> dict[str, tuple[str, ...]]:
    """Check that every repeat is a run and belongs to one system only."""
    lists = [*repeats.values()] if isinstance(repeats, Mapping) else []
    named = all(isinstance(names, list | tuple) and names for names in lists)
    runs = [run for names in lists for run in names] if named else []
    runs = runs if all(isinstance(run, str) for run in runs) else []
    known = [run for run in numbers.runs if run in runs]
    taken = [run for run in numbers.runs if runs and run not in runs and run in repeats]
    if not runs or len(known) != len(runs) or taken:
        raise InputError(
            "repeats must name the runs of each system, as {'dense': ['seed 1', 'seed 2']}, and "
            f"each run once; got {quoted(repeats)}. The runs are {', '.join(numbers.runs)}."
        )
    return {name: tuple(names) for name, names in repeats.items()}


def average_repeats(entries: Sequence[Entry], measure: Compared, run: str) -> Entry:
    """Average the repeats of a run by query, on the queries that count in all of them."""
    if len(entries) == 1:
        return entries[0]
    place = intersect_queries(entries)
    common = [entry.at(place) for entry in entries]
    samples = [entry.sample for entry in common]
    first = samples[0]
    if not isinstance(first, Means) or not first.aggregate:
        raise MeasureError(
            f"{measure.name} is not a mean over queries, so repeats of {run} cannot be averaged; "
            "compare single runs, or use another measure."
        )
    repeats = np.array([sample.averaged for sample in samples], np.float64)
    # Sorted, so that the mean is the same in any order, and exact if all are equal.
    ordered = np.sort(repeats, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = ordered.sum(axis=0) / len(ordered)
    mean = np.where(ordered[0] == ordered[-1], ordered[0], mean)
    values = np.array([entry.values for entry in common])
    same = (values == values[0]).all(axis=0)
    whole = np.exp(mean) if first.aggregate == "geometric" else mean
    sample = replace(first, columns=mean[:, None])
    error = float(np.sqrt(sum(entry.error**2 for entry in common))) / len(common)
    return Entry(sample, np.where(same, values[0], whole), place, repeats, error)


def measure_noise(numbers: Numbers) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the values of the repeats of each run, by measure and run, and their spread."""
    noise = {}
    for key, entry in numbers.entries.items():
        if entry.repeats is not None and len(entry.place):
            sample = entry.sample
            assert isinstance(sample, Means)
            values = [replace(sample, columns=row[:, None]).value() for row in entry.repeats]
            ends = {"low": min(values), "high": max(values), "values": values}
            noise[key] = {"deviation": float(np.std(values, ddof=1)), **ends}
    return noise


# -- values that another tool computed


def numbers_of_values(
    values: Any,
    *,
    lower_is_better: str | Iterable[str] = (),
    measure_name: str | None = None,
    weights: WeightsLike | None = None,
) -> Numbers:
    """Read values from a dict, a table or files; queries of weight 0 are left out."""
    from judged.inputs.values import UNWEIGHTED, values_of

    table_values = values_of(values, measure_name=measure_name)
    if isinstance(lower_is_better, np.ndarray):
        lower_is_better = lower_is_better.ravel().tolist()
    is_list = isinstance(lower_is_better, Iterable) and not isinstance(lower_is_better, str)
    lower: tuple[Any, ...] = tuple(lower_is_better) if is_list else (lower_is_better,)
    names = table_values.measures
    if unknown := [name for name in lower if not isinstance(name, str) or name not in names]:
        raise InputError(
            f"lower_is_better names {quoted(unknown[0])}, which is not one of the measures: "
            f"{', '.join(table_values.measures)}."
        )
    tables = {name: table_values.of(name) for name in table_values.measures}
    queries = tuple(sorted({query for ids, _ in tables.values() for query in ids}))
    index = index_of(queries)
    notes = list(table_values.notes)
    weighed = None
    if weights is not None:
        weighed, about_weights = _read_weights(weights, queries)
        notes = [note for note in notes if not note.endswith(UNWEIGHTED)] + about_weights
    measures, entries, assumed = [], {}, []
    for name, (known_queries, table) in tables.items():
        known = measure_of(table_values.in_full.get(name, name))
        if known is None and name not in (*lower, *table_values.higher_is_better):
            assumed.append(name)
        aggregate = "mean"
        if known is not None and _is_of_values(known):
            aggregate = known.params["aggregate"]
        if aggregate == "sum" and weighed is not None:
            raise MeasureError(
                f"{name} is a sum over the queries, for which weights are not defined; leave it "
                "out, or use its mean."
            )
        measures.append(
            _make_compared(name, known, lower, table_values.higher_is_better, table, notes)
        )
        i = positions(known_queries, index)
        order = np.argsort(i)
        if weighed is not None:
            order = order[weighed[i[order]] > 0]
        shares = None if weighed is None else relative(weighed[i[order]])
        for column, run in enumerate(table_values.runs):
            ordered = table[order, column]
            sample: Sample = (
                Median.of_values(ordered, shares)
                if aggregate == "median"
                else Means.of_values(ordered, aggregate, shares)
            )
            entries[name, run] = Entry(sample, ordered, i[order])
    if assumed:
        notes.append(
            f"Higher values of {listed(assumed)} are assumed to be better. If lower ones are, name "
            "them in lower_is_better (--lower-is-better)."
        )
    return Numbers(table_values.runs, queries, tuple(measures), entries, notes=tuple(notes))


def measure_of(name: str) -> Measure | None:
    """Return judged's measure of this name; None for an unknown one."""
    try:
        return parse_measure(name)
    except JudgedError:
        return None


def _read_weights(weights: WeightsLike, queries: Sequence[str]) -> tuple[Floats, list[str]]:
    """Return the weight of each query, and notes on weights without effect."""
    from judged.inputs.keyed import read_weights

    known = read_weights(weights)
    weighed, unknown = known.of(queries, "query", "queries"), known.unknown(queries)
    idle = [query for query, weight in zip(queries, weighed, strict=True) if not weight]
    notes = []
    if idle:
        notes.append(f"{list_queries(idle)} of weight 0 left out.")
    if unknown:
        notes.append(f"{known.source}: weights of {list_queries(unknown)} without values ignored.")
    return weighed, notes


def _make_compared(
    name: str,
    known: Measure | None,
    lower: Sequence[str],
    directions: Any,
    table: Floats,
    notes: list[str],
) -> Compared:
    """Return a measure with its direction and range, by its name, the file and the caller."""
    higher = directions.get(name)
    if higher is None and known is not None:
        higher = known.spec.higher_is_better
    if name in lower and higher:
        raise InputError(
            f"lower_is_better names {name}, of which higher values are better; leave it out, or "
            "rename the values."
        )
    compared = Compared(name, name not in lower and higher is not False)
    if known is None:
        return compared
    if not _is_of_values(known):
        notes.append(
            Warned(
                f"{name} is not a mean of per-query values. The comparison uses the mean of these "
                "values, which is another number."
            )
        )
    low, high = map(float, known.spec.range)
    inside = not table.size or (table.min() >= low and table.max() <= high)
    return replace(compared, range=(low, high)) if inside else compared


def _is_of_values(measure: Measure) -> bool:
    """Return whether a measure's value is computed from one value per query."""
    return measure.gives(Rankings.from_relevance([[1]])) is None
