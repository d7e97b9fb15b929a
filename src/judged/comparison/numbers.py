"""Per-query values of several runs, aligned by query id; repeats of a system as one run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.comparison.settings import ComparisonSettings
from judged.comparison.wording import amount, some
from judged.errors import InputError, JudgedError, MeasureError, quoted
from judged.evaluation.intervals import summary_range
from judged.evaluation.scores import TRUSTED
from judged.evaluation.trusted import columns_of, corrected_interval
from judged.inputs.repeated import Repeated
from judged.measures import Measure, parse_measure
from judged.rankings.rankings import Rankings
from judged.results import plain_value
from judged.statistics.intervals import Interval, interval
from judged.statistics.prediction_powered import Powered, corrected_means, powered
from judged.statistics.samples import Means, Median, Sample, numbered, relative
from judged.text import Warned, counted, listed

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.options import WeightsLike


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
    """Numbers that the run's summary value is computed from."""
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
        runs = {run.name: run for run in evaluation.runs}
        entries = {
            (measure.name, name): entry_of(run, measure.measure, places)
            for name, run in runs.items()
            for measure in measures
            if measure.measure is not None
        }
        return cls(tuple(runs), queries, measures, entries)

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

    def in_groups(self, by_query: Any) -> Numbers:
        """Return the values with groups of queries; every counted query must have one."""
        if by_query is None:
            return self
        from judged.inputs.keyed import groups_of

        counting = self.counting
        groups = np.full(len(self.queries), -1)
        groups[counting], _ = groups_of(by_query, [self.queries[at] for at in counting])
        return replace(self, groups=groups)

    def grouped(self, place: Ints) -> Ints | None:
        """Return the groups of some queries, numbered from 0 without gaps."""
        return None if self.groups is None else numbered(self.groups[place])

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
        Compared(
            evaluation.label(measure), measure.spec.higher_is_better, measure.spec.range, measure
        )
        for measure in evaluation.measures
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
            places = np.fromiter(map(self._place.__getitem__, queries), np.int64, len(queries))
            self._known[id(queries)] = queries, places
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
    known = interval(
        sample,
        level=settings.level,
        groups=groups,
        range=(least, most),
        error=entry.error * scale,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    if entry.repeats is None or not isinstance(sample, Means) or math.isnan(known.low):
        return known
    if known.method not in ("t", "log t"):  # a share of queries on which all repeats are the same
        return known
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
        return known
    return replace(known, low=max(float(low), least), high=min(float(high), most))


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
        """Return plain values for JSON."""
        ends = {"deviation": self.deviation, "low": self.low, "high": self.high}
        values: dict[str, Any] = plain_value({**ends, "values": self.values})
        return values


def with_repeats(numbers: Numbers, repeats: Mapping[str, Sequence[str]] | None) -> Numbers:
    """Return the values with the repeats of each run as one run."""
    repeated = {} if repeats is None else _checked(numbers, repeats)
    if not repeated:
        return numbers
    owner = {run: name for name, names in repeated.items() for run in names}
    runs = tuple(dict.fromkeys(owner.get(run, run) for run in numbers.runs))
    entries, notes = {}, list(numbers.notes)
    for measure in numbers.measures:
        for run in runs:
            values = [numbers.entry(measure, name) for name in repeated.get(run, (run,))]
            entry = entries[measure.name, run] = averaged(values, measure, run)
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


def _checked(numbers: Numbers, repeats: Any) -> Repeated:
    """Check that every repeat is a run and belongs to one system only."""
    expected = "repeats must name the runs of each system, as {'dense': ['seed 1', 'seed 2']}"
    if not isinstance(repeats, Mapping):
        raise InputError(f"{expected}; got {quoted(repeats)}.")
    owner: dict[str, str] = {}
    for name, names in repeats.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"{expected}; got {quoted(name)} for a name.")
        if isinstance(names, str) or not isinstance(names, Sequence) or not names:
            raise InputError(f"{expected}; got {quoted(names)} for {name}.")
        if name in numbers.runs and name not in names:
            raise InputError(f"a system with repeats and another run are both called {name}.")
        for run in names:
            if not isinstance(run, str) or run not in numbers.runs:
                raise InputError(
                    f"{quoted(run)}, a repeat of {name}, is not one of the runs: "
                    f"{', '.join(numbers.runs)}."
                )
            if run in owner:
                twice = "twice" if owner[run] == name else f"and of {owner[run]}"
                raise InputError(f"{run} is named as a repeat of {name} {twice}.")
            owner[run] = name
    return {name: tuple(names) for name, names in repeats.items()}


def averaged(entries: Sequence[Entry], measure: Compared, run: str) -> Entry:
    """Average the repeats of a run by query, on the queries that count in all of them."""
    if len(entries) == 1:
        return entries[0]
    place = in_common(entries)
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
    if first.aggregate == "sum":
        sample = Means.of_values(mean, "sum", first.weights)
    error = float(np.sqrt(sum(entry.error**2 for entry in common))) / len(common)
    return Entry(sample, np.where(same, values[0], whole), place, repeats, error)


def noises(numbers: Numbers) -> tuple[Noise, ...]:
    """Return the variation of each repeated run, measure by measure."""
    variations = []
    for (measure, run), entry in numbers.entries.items():
        if entry.repeats is not None and len(entry.place):
            sample = entry.sample
            assert isinstance(sample, Means)
            values = (replace(sample, columns=row[:, None]).value() for row in entry.repeats)
            variations.append(Noise(measure, run, tuple(values)))
    return tuple(variations)


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
    lower = _lower(lower_is_better, table_values.measures)
    tables = {name: table_values.of(name) for name in table_values.measures}
    queries = tuple(sorted({query for ids, _ in tables.values() for query in ids}))
    place = {query: at for at, query in enumerate(queries)}
    notes = list(table_values.notes)
    weighed = None
    if weights is not None:
        weighed, about_weights = _weighed(weights, queries)
        notes = [note for note in notes if not note.endswith(UNWEIGHTED)] + about_weights
    knows = {name: measure_of(table_values.in_full.get(name, name)) for name in tables}
    measures, entries = [], {}
    for name, (known_queries, table) in tables.items():
        known = knows[name]
        aggregate = _aggregate(known)
        if aggregate == "sum" and weighed is not None:
            raise MeasureError(
                f"{name} is a sum over the queries, for which weights are not defined; leave it "
                "out, or use its mean."
            )
        measures.append(_compared(name, known, lower, table_values.higher_is_better, table, notes))
        at = np.fromiter((place[query] for query in known_queries), np.int64, len(known_queries))
        order = np.argsort(at)
        if weighed is not None:
            order = order[weighed[at[order]] > 0]
        shares = None if weighed is None else relative(weighed[at[order]])
        for column, run in enumerate(table_values.runs):
            ordered = table[order, column]
            entries[name, run] = Entry(_sample(ordered, aggregate, shares), ordered, at[order])
    assumed = [
        measure.name
        for measure in measures
        if not (measure.name in (*lower, *table_values.higher_is_better) or knows[measure.name])
    ]
    if assumed:
        notes.append(
            f"Higher values of {listed(assumed)} are assumed to be better. If lower ones are, name "
            "them in lower_is_better (--lower-is-better)."
        )
    return Numbers(table_values.runs, queries, tuple(measures), entries, notes=tuple(notes))


def measure_of(name: str) -> Measure | None:
    """Return judged's measure of this name; None for an unknown one.

    >>> measure_of("nDCG@10"), measure_of("GMAP"), measure_of("latency")
    (nDCG@10, AP(aggregate=geometric), None)
    """
    try:
        return parse_measure(name)
    except JudgedError:
        return None


def _aggregate(known: Measure | None) -> str:
    """Return the aggregate of a measure; the mean for unknown ones."""
    return known.params["aggregate"] if known is not None and _of_values(known) else "mean"


def _weighed(weights: WeightsLike, queries: Sequence[str]) -> tuple[Floats, list[str]]:
    """Return the weight of each query, and notes on weights without effect."""
    from judged.inputs.keyed import read_weights

    known = read_weights(weights)
    weighed, unknown = known.of(queries, "query", "queries"), known.unknown(queries)
    idle = [query for query, weight in zip(queries, weighed, strict=True) if not weight]
    notes = []
    if idle:
        notes.append(f"{some(idle)} of weight 0 left out.")
    if unknown:
        notes.append(f"{known.source}: weights of {some(unknown)} without values ignored.")
    return weighed, notes


def _lower(lower: str | Iterable[str], measures: Sequence[str]) -> tuple[str, ...]:
    wrong = InputError(f"lower_is_better must be names of measures; got {quoted(lower)}.")
    try:
        names = (lower,) if isinstance(lower, str) else tuple(lower)
    except TypeError:
        raise wrong from None
    for name in names:
        if not isinstance(name, str):
            raise wrong
        if name not in measures:
            raise InputError(
                f"lower_is_better names {quoted(name)}, which is not one of the measures: "
                f"{', '.join(measures)}."
            )
    return names


def _compared(
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
    if not _of_values(known):
        notes.append(
            Warned(
                f"{name} is not a mean of per-query values. The comparison uses the mean of these "
                "values, which is another number."
            )
        )
    low, high = map(float, known.spec.range)
    if table.size and (table.min() < low or table.max() > high):
        notes.append(
            Warned(
                f"Values of {name} go from {table.min():g} to {table.max():g}, those of judged's "
                f"{name} from {low:g} to {high:g}. They are compared unchanged."
            )
        )
        return compared
    return replace(compared, range=(low, high))


def _of_values(measure: Measure) -> bool:
    """Return whether a measure's value is computed from one value per query."""
    return measure.gives(Rankings.from_relevance([[1]])) is None


def _sample(values: Floats, aggregate: str, weights: Floats | None) -> Sample:
    if aggregate == "median":
        return Median.of_values(values, weights)
    return Means.of_values(values, aggregate, weights)
