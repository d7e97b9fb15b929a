"""Several runs of one system: their mean per query, and how far they are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judged.comparison.numbers import Compared, Entry, Numbers, in_common
from judged.comparison.sentences import amount
from judged.errors import InputError, MeasureError, quoted
from judged.inputs.repeated import Repeated
from judged.statistics.samples import Means
from judged.text import Warned, counted, listed, plain


@dataclass(frozen=True)
class Noise:
    """How far a run's number moves from repeat to repeat.

    >>> found = Noise("RR", "dense", (0.25, 0.5, 0.75))
    >>> found.deviation, found.low, found.high
    (0.25, 0.25, 0.75)
    """

    measure: str
    """What the measure is called."""
    run: str
    """The run that was repeated."""
    values: tuple[float, ...]
    """The number of each repeat, on the queries that count in all of them."""

    @property
    def deviation(self) -> float:
        """The standard deviation of the numbers of single repeats."""
        return float(np.std(self.values, ddof=1))

    @property
    def low(self) -> float:
        """The lowest of them."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The highest of them."""
        return max(self.values)

    @property
    def says(self) -> str:
        """The same as a sentence."""
        return (
            f"{self.measure}: from repeat to repeat {self.run} moves by {amount(self.deviation)} "
            f"(standard deviation of {counted(len(self.values), 'repeat')}, "
            f"{amount(self.low)} to {amount(self.high)})."
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON.

        Returns
        -------
        dict

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
    """The same numbers with the repeats of each run as one run."""
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
        verb = "are one run each" if len(single) > 1 else "is one run"
        notes.append(
            f"{listed(single)} {verb}, without repeats: that cannot tell the system from its run."
        )
    return replace(numbers, runs=runs, entries=entries, notes=tuple(notes), repeated=repeated)


def _checked(numbers: Numbers, given: Any) -> Repeated:
    """The repeats of each run; every one is a run, and each of one system."""
    seen: dict[str, str] = {}
    if not isinstance(given, Mapping):
        raise InputError(f"{_EXPECTED}; got {quoted(given)}.")
    for name, names in given.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"{_EXPECTED}; got {quoted(name)} for a name.")
        if isinstance(names, str) or not isinstance(names, Sequence) or not names:
            raise InputError(f"{_EXPECTED}; got {quoted(names)} for {name}.")
        if name in numbers.runs and name not in names:
            raise InputError(f"repeats are called {name}, and so is another run.")
        for each in names:
            if not isinstance(each, str) or each not in numbers.runs:
                raise InputError(
                    f"{quoted(each)} is named as a repeat of {name} and is none of the runs: "
                    f"{', '.join(numbers.runs)}."
                )
            if each in seen:
                twice = "twice" if seen[each] == name else f"and of {seen[each]}"
                raise InputError(f"{each} is named as a repeat of {name} {twice}.")
            seen[each] = name
    return {name: tuple(names) for name, names in given.items()}


_EXPECTED = "repeats must say which runs are of one system, as {'dense': ['seed 1', 'seed 2']}"


def averaged(entries: Sequence[Entry], measure: Compared, run: str) -> Entry:
    """What the repeats of a run have together, on the queries that count in all of them: of each
    query the mean of what is averaged over queries."""
    if len(entries) == 1:
        return entries[0]
    place = in_common(entries)
    own = [entry.at(place) for entry in entries]
    samples = [entry.sample for entry in own]
    first = samples[0]
    if not isinstance(first, Means) or not first.aggregate:
        raise MeasureError(
            f"{measure.name} is no mean over queries, so the repeats of {run} have no mean either; "
            "compare single runs of it, or another measure."
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
    """The mean over repeats, whatever their order, and exact where all are the same."""
    ordered = np.sort(repeats, axis=0)
    same = ordered[0] == ordered[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = ordered.sum(axis=0) / len(ordered)
    return np.where(same, ordered[0], mean)


def _apart(entries: Sequence[Entry], measure: Compared, run: str) -> str:
    """What is said where not the same queries count in all repeats."""
    place = in_common(entries)
    most = max(len(entry.place) for entry in entries)
    if all(len(entry.place) == len(place) for entry in entries):
        return ""
    return Warned(
        f"{measure.name}: not the same queries count in all repeats of {run}; it is compared on "
        f"the {len(place):,} that do, of up to {most:,}."
    )


def noises(numbers: Numbers) -> tuple[Noise, ...]:
    """How far each repeated run moves, measure by measure."""
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
