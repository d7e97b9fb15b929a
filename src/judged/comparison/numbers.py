"""Per-query values of several runs, aligned by query id; repeats of a system as one run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.comparison.settings import ComparisonSettings
from judged.comparison.wording import amount
from judged.errors import InputError, MeasureError, quoted
from judged.evaluation.intervals import summary_range
from judged.evaluation.scores import TRUSTED
from judged.evaluation.trusted import columns_of, corrected_interval
from judged.inputs.repeated import Repeated
from judged.statistics.intervals import Interval, interval
from judged.statistics.prediction_powered import Powered, corrected_means, powered
from judged.statistics.samples import Means, Sample, numbered
from judged.text import Warned, counted, listed, plain

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.measures import Measure


@dataclass(frozen=True)
class Compared:
    """A measure that runs are compared on; of another tool's measure only the name is needed.

    >>> Compared("nDCG@10").higher_is_better
    True
    """

    name: str
    """Name in tables and files."""
    higher_is_better: bool = True
    range: tuple[float, float] = (-math.inf, math.inf)
    """Lowest and highest possible value."""
    measure: Measure | None = None
    """The measure itself, if judged computed it."""


@dataclass(frozen=True, eq=False)
class Entry:
    """Values of one run on one measure, for the queries that count, in the order of their ids."""

    sample: Sample
    """What the run's summary value is computed from."""
    values: Floats
    """One value per query, for wins and losses."""
    place: Ints
    """Position of each query among all queries, ascending."""
    repeats: Floats | None = None
    """Averaged values of each repeat of the run, one row each; None without repeats."""
    error: float = 0.0
    """Standard error of the averaged values if they are estimates from random orders of ties."""
    trusted: Entry | None = None
    """Values by trusted judgements, for the queries that have some."""

    @cached_property
    def number(self) -> float:
        """Summary value on these queries, corrected by trusted judgements; NaN without queries."""
        if not len(self.place):
            return math.nan
        if self.trusted is not None and self.powered is not None:
            return self.corrected(self.powered.weight, self.trusted)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.sample.value()

    @cached_property
    def powered(self) -> Powered | None:
        """Averaged values, corrected by trusted judgements."""
        if self.trusted is None:
            return None
        columns = columns_of([self.trusted.sample]), columns_of([self.sample])
        return powered(*columns, self.has(self.trusted), self.sample.weights)

    def has(self, some: Entry) -> NDArray[np.bool_]:
        """Return which queries are among those of another entry."""
        return np.isin(self.place, some.place)

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
    queries: tuple[str, ...]
    """Ids of the queries, sorted."""
    measures: tuple[Compared, ...]
    entries: Mapping[tuple[str, str], Entry]
    """By measure and run."""
    groups: Ints | None = None
    """Number of each query's group; None if queries are independent."""
    notes: tuple[str, ...] = field(default=())
    repeated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of the repeats of each repeated run."""

    @classmethod
    def of(cls, evaluation: Evaluation) -> Numbers:
        """Return the values of an evaluation."""
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
        """Return the values of a run on a measure."""
        return self.entries[measure.name, run]

    @property
    def counting(self) -> Ints:
        """Positions of the queries that count in any run, on any measure."""
        counts = np.zeros(len(self.queries), bool)
        for entry in self.entries.values():
            counts[entry.place] = True
        return np.flatnonzero(counts)

    def in_groups(self, given: Any) -> Numbers:
        """Return the values with groups of queries; every counted query must have one."""
        if given is None:
            return self
        from judged.inputs.keyed import groups_of

        counting = self.counting
        found, _ = groups_of(given, [self.queries[at] for at in counting])
        groups = np.full(len(self.queries), -1)
        groups[counting] = found
        return replace(self, groups=groups)

    def grouped(self, place: Ints) -> Ints | None:
        """Return the groups of some queries, numbered from 0 without gaps."""
        if self.groups is None:
            return None
        return numbered(self.groups[place])

    def only(self, place: Ints) -> Numbers:
        """Return the values for some of the queries."""
        entries = {key: entry.among(place) for key, entry in self.entries.items()}
        return replace(self, entries=entries)


def queries_of(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the ids of all judged queries, sorted."""
    return tuple(sorted(evaluation.runs[0].rankings.queries))


def compared_by(evaluation: Evaluation) -> tuple[Compared, ...]:
    """Return the measures of an evaluation."""
    return tuple(
        Compared(evaluation.label(each), each.spec.higher_is_better, each.spec.range, each)
        for each in evaluation.measures
    )


class Places:
    """Positions of queries among all sorted ids, looked up once for each tuple of queries.

    >>> Places(["a", "b", "c"]).of(("c", "a")).tolist()
    [2, 0]
    """

    def __init__(self, queries: Sequence[str]) -> None:
        self._place = {query: at for at, query in enumerate(queries)}
        self._known: dict[int, tuple[tuple[str, ...], Ints]] = {}

    def __len__(self) -> int:
        return len(self._place)

    def of(self, queries: tuple[str, ...]) -> Ints:
        """Return the position of each of these queries."""
        if id(queries) not in self._known:  # which holds them, so that no other has this id
            found = np.fromiter(map(self._place.__getitem__, queries), np.int64, len(queries))
            self._known[id(queries)] = queries, found
        return self._known[id(queries)][1]


def entry_of(run: Scored, measure: Measure, places: Places) -> Entry:
    """Return the values of a run of an evaluation on a measure, in the order of query ids."""
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
    """Return the queries that count in all entries."""
    common = entries[0].place
    for entry in entries[1:]:
        common = np.intersect1d(common, entry.place, assume_unique=True)
    return common


def own_interval(
    numbers: Numbers, measure: Compared, run: str, settings: ComparisonSettings
) -> Interval:
    """Return a run's value with its confidence interval, which includes repeats."""
    entry = numbers.entry(measure, run)
    sample, groups = entry.sample, numbers.grouped(entry.place)
    least, most = summary_range(entry.values, measure.range, sample.aggregate)
    if entry.powered is not None:
        return corrected_interval(sample, entry.powered, 0, settings.level, (least, most))
    # The error is that of what is averaged.
    size = len(sample) if sample.aggregate == "sum" else 1
    scale = sample.value() if entry.error and sample.aggregate == "geometric" else size
    found = interval(
        sample,
        level=settings.level,
        groups=groups,
        range=(least, most),
        error=entry.error * scale,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    if entry.repeats is None or not isinstance(sample, Means) or math.isnan(found.low):
        return found
    if found.method not in ("t", "log t"):  # a share of queries on which all repeats are the same
        return found
    from judged.statistics.t import half_widths, repeat_variance, spread

    more = [repeat_variance(entry.repeats, sample.weights), (entry.error**2, math.inf)]
    every = spread(
        sample.columns,
        sample.weights,
        groups,
        more=[(np.array([variance]), np.array([freedom])) for variance, freedom in more],
    )
    ends = every.mean + half_widths(every, settings.level) * np.array([-1.0, 1.0])
    low, high = sample.function(ends[:, None])
    if math.isnan(low):
        return found
    return replace(found, low=max(float(low), least), high=min(float(high), most))


def own_intervals(
    numbers: Numbers, settings: ComparisonSettings
) -> dict[tuple[str, str], Interval]:
    """Return each run's value with its confidence interval, by measure and run."""
    return {
        (measure.name, run): own_interval(numbers, measure, run, settings)
        for measure in numbers.measures
        for run in numbers.runs
    }


@dataclass(frozen=True)
class Noise:
    """Variation of a run's value between repeats.

    >>> found = Noise("RR", "dense", (0.25, 0.5, 0.75))
    >>> found.deviation, found.low, found.high
    (0.25, 0.25, 0.75)
    """

    measure: str
    run: str
    values: tuple[float, ...]
    """Value of each repeat, on the queries that count in all of them."""

    @property
    def deviation(self) -> float:
        """Standard deviation of the values of single repeats."""
        return float(np.std(self.values, ddof=1))

    @property
    def low(self) -> float:
        """Lowest value."""
        return min(self.values)

    @property
    def high(self) -> float:
        """Highest value."""
        return max(self.values)

    @property
    def says(self) -> str:
        """The variation in words."""
        return (
            f"{self.measure}: the standard deviation of {counted(len(self.values), 'repeat')} of "
            f"{self.run} is {amount(self.deviation)} (values from {amount(self.low)} to "
            f"{amount(self.high)})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON.

        >>> Noise("RR", "dense", (0.5, 0.5)).to_dict()
        {'deviation': 0.0, 'low': 0.5, 'high': 0.5, 'values': [0.5, 0.5]}
        """
        return {
            "deviation": plain(self.deviation),
            "low": plain(self.low),
            "high": plain(self.high),
            "values": [plain(value) for value in self.values],
        }


def with_repeats(numbers: Numbers, given: Mapping[str, Sequence[str]] | None) -> Numbers:
    """Return the values with the repeats of each run as one run."""
    repeated = {} if given is None else _checked(numbers, given)
    if not repeated:
        return numbers
    owner = {each: name for name, names in repeated.items() for each in names}
    runs = tuple(dict.fromkeys(owner.get(run, run) for run in numbers.runs))
    entries, notes = {}, list(numbers.notes)
    for measure in numbers.measures:
        for run in runs:
            own = [numbers.entry(measure, each) for each in repeated.get(run, (run,))]
            entries[measure.name, run] = averaged(own, measure, run)
            if note := _apart(own, measure, run):
                notes.append(note)
    single = [run for run in runs if len(repeated.get(run, (run,))) == 1]
    if single:
        verb = "have" if len(single) > 1 else "has"
        notes.append(
            f"{listed(single)} {verb} no repeats, so the variation between runs is unknown."
        )
    return replace(numbers, runs=runs, entries=entries, notes=tuple(notes), repeated=repeated)


def _checked(numbers: Numbers, given: Any) -> Repeated:
    """Check that every repeat is a run and belongs to one system only."""
    seen: dict[str, str] = {}
    if not isinstance(given, Mapping):
        raise InputError(f"{_EXPECTED}; got {quoted(given)}.")
    for name, names in given.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"{_EXPECTED}; got {quoted(name)} for a name.")
        if isinstance(names, str) or not isinstance(names, Sequence) or not names:
            raise InputError(f"{_EXPECTED}; got {quoted(names)} for {name}.")
        if name in numbers.runs and name not in names:
            raise InputError(f"a system with repeats and another run are both called {name}.")
        for each in names:
            if not isinstance(each, str) or each not in numbers.runs:
                raise InputError(
                    f"{quoted(each)}, a repeat of {name}, is not one of the runs: "
                    f"{', '.join(numbers.runs)}."
                )
            if each in seen:
                twice = "twice" if seen[each] == name else f"and of {seen[each]}"
                raise InputError(f"{each} is named as a repeat of {name} {twice}.")
            seen[each] = name
    return {name: tuple(names) for name, names in given.items()}


_EXPECTED = "repeats must name the runs of each system, as {'dense': ['seed 1', 'seed 2']}"


def averaged(entries: Sequence[Entry], measure: Compared, run: str) -> Entry:
    """Average the repeats of a run by query, on the queries that count in all of them."""
    if len(entries) == 1:
        return entries[0]
    place = in_common(entries)
    own = [entry.at(place) for entry in entries]
    samples = [entry.sample for entry in own]
    first = samples[0]
    if not isinstance(first, Means) or not first.aggregate:
        raise MeasureError(
            f"{measure.name} is not a mean over queries, so repeats of {run} cannot be averaged; "
            "compare single runs, or use another measure."
        )
    repeats = np.array([sample.averaged for sample in samples], np.float64)
    mean = _mean(repeats)
    values = np.array([entry.values for entry in own])
    same = (values == values[0]).all(axis=0)
    whole = np.exp(mean) if first.aggregate == "geometric" else mean
    sample = replace(first, columns=mean[:, None])
    if first.aggregate == "sum":
        sample = Means.of_values(mean, "sum", first.weights)
    error = float(np.sqrt(sum(entry.error**2 for entry in own))) / len(own)
    return Entry(sample, np.where(same, values[0], whole), place, repeats, error)


def _mean(repeats: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Return the mean over repeats: the same in any order, and exact if all are equal."""
    ordered = np.sort(repeats, axis=0)
    same = ordered[0] == ordered[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = ordered.sum(axis=0) / len(ordered)
    return np.where(same, ordered[0], mean)


def _apart(entries: Sequence[Entry], measure: Compared, run: str) -> str:
    """Warn if the repeats have values for different queries."""
    place = in_common(entries)
    most = max(len(entry.place) for entry in entries)
    if all(len(entry.place) == len(place) for entry in entries):
        return ""
    return Warned(
        f"{measure.name}: the repeats of {run} have values for different queries. The comparison "
        f"uses the {len(place):,} common ones of up to {most:,}."
    )


def noises(numbers: Numbers) -> tuple[Noise, ...]:
    """Return the variation of each repeated run, measure by measure."""
    found = []
    for measure in numbers.measures:
        for run in numbers.runs:
            entry = numbers.entry(measure, run)
            if entry.repeats is not None and len(entry.place):
                sample = entry.sample
                assert isinstance(sample, Means)
                each = (replace(sample, columns=row[:, None]).value() for row in entry.repeats)
                found.append(Noise(measure.name, run, tuple(each)))
    return tuple(found)
