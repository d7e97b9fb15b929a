"""Baseline files: the values that later runs are compared with, and how they came about."""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.arrays import Floats
from judged.comparison.numbers import Compared, Entry, Places, averaged, entry_of
from judged.comparison.wording import some
from judged.errors import InputError, quoted
from judged.evaluation.evaluation import Evaluation
from judged.evaluation.scores import Scored
from judged.inputs.formats import is_rankings_file, named_file, printable
from judged.inputs.tables import Judgements, Lookup
from judged.matching.join import distinct
from judged.options import real
from judged.outputs import write_text
from judged.policy import CHOICES
from judged.results import ResultPart, plain_value
from judged.statistics.samples import Means, Median, Sample
from judged.text import few, plain

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.rankings.rankings import Rankings


@dataclass(frozen=True)
class Conditions:
    """Settings that must be the same for two sets of values to be comparable."""

    measures: Mapping[str, Mapping[str, Any]]
    """Label, parameters and definition of each measure, by its notation."""
    policy: Mapping[str, str]
    convention: str | None
    """The library whose definitions are used, with its version."""
    depth: int | None
    collection: int | Mapping[str, int] | None
    ranked: Sequence[str]
    """Changes of the ranked items, in words."""
    judgements: Mapping[str, str] = field(repr=False)
    """Fingerprint of each query's judgements."""

    @classmethod
    def of(cls, evaluation: Evaluation, judgements: Mapping[str, str]) -> Conditions:
        """Return the conditions of an evaluation."""
        measures = {}
        for measure in evaluation.measures:
            words = measure.definition()
            measures[str(measure)] = {
                "label": evaluation.label(measure),
                "parameters": {name: str(value) for name, value in words["parameters"].items()},
                "definition": words["definition"],
            }
        convention = evaluation.convention
        return cls(
            measures,
            {name: getattr(evaluation.policy, name) for name in CHOICES},
            None if convention is None else str(convention),
            evaluation.policy.depth,
            _collection_of(evaluation.runs[0].rankings),
            list(evaluation.runs[0].rankings.basis),
            judgements,
        )

    def unlike(self, then: Conditions) -> Iterator[str]:
        """Yield what differs, each as a phrase; changed judgements are in `JudgementChanges`."""
        for name, measure in self.measures.items():
            if name not in then.measures:
                known = ", ".join(then.labels)
                yield f"it has no {measure['label']}, only {known}"
                continue
            before, after = then.measures[name]["parameters"], measure["parameters"]
            for odd in [key for key in {**before, **after} if before.get(key) != after.get(key)][
                :1
            ]:
                yield f"its {measure['label']} has {odd}={before.get(odd)}, not {after.get(odd)}"
        for choice in CHOICES:
            before, after = str(then.policy.get(choice)), str(self.policy.get(choice))
            if before != after:
                yield f"it was made with {choice}={before}, not {choice}={after}"
        if then.convention != self.convention:
            yield (
                f"it follows {then.convention or 'no convention'}, not {self.convention or 'none'}"
            )
        if then.depth != self.depth:
            yield f"its depth is {then.depth or 'unlimited'}, not {self.depth or 'unlimited'}"
        if then.collection != self.collection:
            yield "it was made with another collection"
        if list(then.ranked) != list(self.ranked):
            before, after = ("; ".join(of.ranked) or "items as they are" for of in (then, self))
            yield f"it ranks other items ({before}, not {after})"

    @property
    def labels(self) -> list[str]:
        """Names of the measures in tables."""
        return [str(measure["label"]) for measure in self.measures.values()]


def _collection_of(r: Rankings) -> int | dict[str, int] | None:
    """Return the collection size: one number if it is the same for all queries."""
    if r.collection is None:
        return None
    sizes = dict(zip(r.queries, r.collection.tolist(), strict=True))
    return sizes if len(set(sizes.values())) != 1 else int(r.collection[0])


@dataclass(frozen=True)
class JudgementChanges(ResultPart):
    """Queries whose judgements are not those of the baseline."""

    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @classmethod
    def between(cls, then: Mapping[str, str], now: Mapping[str, str]) -> JudgementChanges:
        """Compare two sets of fingerprints.

        >>> JudgementChanges.between({"a": "1", "b": "2"}, {"b": "3", "c": "4"})
        JudgementChanges(changed=('b',), new=('c',), removed=('a',))
        """
        return cls(
            tuple(sorted(query for query in now if then.get(query, now[query]) != now[query])),
            tuple(sorted(query for query in now if query not in then)),
            tuple(sorted(query for query in then if query not in now)),
        )

    def __bool__(self) -> bool:
        return bool(self.changed or self.new or self.removed)

    def __str__(self) -> str:
        named = vars(self).items()
        return ", ".join(f"{word}: {some(queries)}" for word, queries in named if queries)


DIGITS = 16
"""Length of a query's fingerprint."""


def fingerprints(judgements: Judgements | Lookup) -> dict[str, str]:
    """Return a fingerprint for each query: a hash of its items, grades and subtopics.

    >>> one = fingerprints(Lookup({"q": {"a": 1, "b": 0}}))
    >>> one == fingerprints(Lookup({"q": {"b": 0.0, "a": 1.0}}))
    True
    """
    names = judgements.lists if isinstance(judgements, Lookup) else judgements.names()
    rows: dict[str, list[str]] = {query: [] for query in names}
    for query, item, subtopic, grade in _rows_of(judgements):
        row = f"{len(item)}:{item}{len(subtopic)}:{subtopic}{float(grade) + 0.0!r}"
        rows[query].append(row)
    return {query: _digest(sorted(rows[query]))[:DIGITS] for query in sorted(rows)}


def combined(of_queries: Mapping[str, str]) -> str:
    """Return one fingerprint of all queries."""
    return _digest(f"{len(query)}:{query}{of_queries[query]}" for query in sorted(of_queries))


def _digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _rows_of(judgements: Judgements | Lookup) -> Iterator[tuple[str, str, str, float]]:
    """Yield the query, item, subtopic and grade of each judgement."""
    if isinstance(judgements, Lookup):
        for query, items in judgements.lists.items():
            for item, grades in items.items():
                by_subtopic = grades if judgements.by_subtopic else {"": grades}
                for subtopic, grade in by_subtopic.items():
                    yield query, item, subtopic, grade
        return
    frame = distinct(judgements, "first").table.frame
    columns = [frame["query"].to_list(), frame["item"].to_list(), frame["grade"].to_list()]
    subtopics = frame["subtopic"].to_list() if judgements.by_subtopic else [""] * frame.height
    for query, item, grade, subtopic in zip(*columns, subtopics, strict=True):
        yield query, item, subtopic, grade


@dataclass(frozen=True, eq=False)
class SystemValues:
    """Values of a system on each measure, by its notation, and the queries that it lacks."""

    name: str
    entries: Mapping[str, Entry]
    missing: frozenset[str] = frozenset()
    repeats: int = 1
    """Number of runs of the system."""


def system_values(
    evaluation: Evaluation, runs: Sequence[Scored], queries: Sequence[str]
) -> SystemValues:
    """Return the values of runs of an evaluation that are repeats of one system."""
    name = few([run.name for run in runs])
    places = Places(queries)
    entries = {}
    for measure in evaluation.measures:
        repeats = [entry_of(run, measure, places) for run in runs]
        label = Compared(evaluation.label(measure))
        entries[str(measure)] = averaged(repeats, label, name)
    lacking = (
        np.asarray(run.rankings.queries, object)[run.rankings.missing].tolist() for run in runs
    )
    return SystemValues(name, entries, frozenset().union(*lacking), len(runs))


VERSION = 1
"""Version of the file format."""
MARK = "judged_baseline"
"""Key that identifies a baseline file; its value is the version."""


@dataclass(frozen=True, eq=False)
class BaselineValues:
    """Values of a baseline on one measure by query; None for a query that does not count."""

    values: Mapping[str, float | None]
    made_of: Mapping[str, Sequence[float]] | None = None
    """Numbers that the summary is computed from, if that is not one value per query."""
    repeats: Mapping[str, Sequence[float]] | None = None
    """Averaged values of each repeat, if there are several."""
    error: float = 0.0
    """Standard error of the mean if values are estimates from random orders of ties."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """Content of a baseline file."""

    name: str
    """Name of the run that it was made from."""
    conditions: Conditions
    kept: Mapping[str, BaselineValues]
    """Values by the measure's notation."""
    missing: frozenset[str] = frozenset()
    """Queries for which the run had no results."""
    repeats: int = 1
    weights: Mapping[str, float] | None = None
    groups: Mapping[str, str] | None = None
    judged: str = field(default=__version__)
    """Version of judged that made it."""

    @classmethod
    def of(
        cls,
        now: SystemValues,
        conditions: Conditions,
        queries: Sequence[str],
        *,
        weights: Mapping[str, float] | None = None,
        groups: Mapping[str, str] | None = None,
    ) -> Baseline:
        """Return a baseline of a system; `queries` are all judged ones, sorted."""
        kept = {name: _kept(entry, queries) for name, entry in now.entries.items()}
        return cls(
            now.name, conditions, kept, now.missing, now.repeats, weights=weights, groups=groups
        )

    def values_for(
        self, like: SystemValues, queries: Sequence[str], weights: Floats | None = None
    ) -> SystemValues:
        """Return the values for today's queries and weights."""
        entries = {
            name: _entry(self.kept[name], entry.sample, queries, weights)
            for name, entry in like.entries.items()
        }
        return SystemValues(self.name, entries, self.missing, self.repeats)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        conditions = self.conditions
        measures = {
            name: {**conditions.measures[name], **({"error": kept.error} if kept.error else {})}
            for name, kept in self.kept.items()
        }
        return {
            MARK: VERSION,
            "judged": self.judged,
            "run": self.name,
            "repeats": self.repeats,
            "measures": measures,
            "policy": dict(conditions.policy),
            "convention": conditions.convention,
            "depth": conditions.depth,
            "collection": conditions.collection,
            "ranked": list(conditions.ranked),
            "judgements": combined(conditions.judgements),
            "missing": sorted(self.missing),
            "weights": None if self.weights is None else dict(self.weights),
            "groups": None if self.groups is None else dict(self.groups),
            "queries": {query: self._query(query) for query in sorted(conditions.judgements)},
        }

    def _query(self, query: str) -> dict[str, Any]:
        line: dict[str, Any] = {"judgements": self.conditions.judgements[query], "values": {}}
        for name, kept in self.kept.items():
            line["values"][name] = plain(kept.values[query])
            for part in ("made_of", "repeats"):
                numbers = getattr(kept, part)
                if numbers is not None and query in numbers:
                    line.setdefault(part, {})[name] = plain_value(list(numbers[query]))
        return line

    def to_json(self) -> str:
        """Return the file's text: ASCII, with a line for each query so that diffs are readable."""
        whole = self.to_dict()
        queries = whole.pop("queries")
        head = json.dumps(whole, indent=2, allow_nan=False).removesuffix("\n}")
        lines = ",\n".join(
            f"    {json.dumps(query)}: {json.dumps(line, allow_nan=False)}"
            for query, line in queries.items()
        )
        return f'{head},\n  "queries": {{\n{lines}\n  }}\n}}\n'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all."""
        write_text(path, self.to_json())


def _kept(entry: Entry, queries: Sequence[str]) -> BaselineValues:
    ids = [queries[at] for at in entry.place]
    values: dict[str, float | None] = dict.fromkeys(queries)
    values.update(zip(ids, entry.values.tolist(), strict=True))
    made_of = repeats = None
    if not _is_of_values(entry.sample):
        made_of = dict(zip(ids, _rows(entry.sample), strict=True))
    if entry.repeats is not None:
        repeats = dict(zip(ids, entry.repeats.T.tolist(), strict=True))
    return BaselineValues(values, made_of, repeats, entry.error)


def _is_of_values(sample: Sample) -> bool:
    """Return whether a summary is computed from the shown value of each query."""
    return not sample.pooled if isinstance(sample, Median) else bool(sample.aggregate)


def _rows(sample: Sample) -> list[list[float]]:
    """Return what each query contributes to the summary."""
    if isinstance(sample, Means):
        rows: list[list[float]] = sample.columns.tolist()
        return rows
    order = np.argsort(sample.owner, kind="stable")
    ends = np.cumsum(np.bincount(sample.owner, minlength=sample.size))[:-1]
    return [part.tolist() for part in np.split(sample.values[order], ends)]


def _entry(
    kept: BaselineValues, like: Sample, queries: Sequence[str], weights: Floats | None
) -> Entry:
    """Return a baseline's values on a measure, for today's queries that count in it."""
    place = np.array(
        [
            at
            for at, query in enumerate(queries)
            if kept.values.get(query) is not None and (weights is None or weights[at] > 0)
        ],
        np.int64,
    )
    counted = [queries[at] for at in place]
    values = np.array([kept.values[query] for query in counted], np.float64)
    weights = None if weights is None else weights[place]
    rows = None if kept.made_of is None else [kept.made_of[query] for query in counted]
    sample: Sample
    if isinstance(like, Median):
        parts = [[value] for value in values] if rows is None else rows
        owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        flat = np.array([value for part in parts for value in part], np.float64)
        sample = Median(flat, owner, len(parts), weights)
    elif rows is None:
        sample = Means.of_values(values, like.aggregate, weights)
    else:
        columns = np.array(rows, np.float64).reshape(len(rows), like.columns.shape[1])
        sample = replace(like, columns=columns, weights=weights)
    repeats = None
    if kept.repeats is not None:
        repeats = np.array([kept.repeats[query] for query in counted], np.float64).T
    error = kept.error if math.isfinite(kept.error) else 0.0
    return Entry(sample, values, place, repeats, error)


class NoBaselineError(InputError):
    """The baseline file does not exist yet."""


@dataclass(frozen=True, eq=False)
class BaselineSource:
    """The baseline of a gate: a file of its own format, a run, or none."""

    source: str
    """Name in messages."""
    path: str | None = None
    """Path of the file, which may not exist yet."""
    file: Baseline | None = None
    """Content of a baseline file."""
    run: Any = None
    """The run, or the path of its file."""
    name: str | None = None
    """Name given to the run."""

    @property
    def absent(self) -> bool:
        """True if no baseline was named."""
        return self.path is None and not self.exists

    @property
    def exists(self) -> bool:
        """True if there is anything to compare with."""
        return self.file is not None or self.run is not None


def baseline_source(baseline: Any) -> BaselineSource:
    """Read the baseline that a caller gave, if it is a baseline file."""
    if baseline is None:
        return BaselineSource("no baseline")
    if not isinstance(baseline, (str, os.PathLike)):
        return BaselineSource("the baseline", run=baseline)
    named = os.fspath(baseline)
    if not isinstance(named, str) or not named:
        raise InputError(f"baseline must be a file or a run; got {quoted(baseline)}.")
    name, path = named_file(named)
    if path == "-":
        return BaselineSource("standard input", run=path, name=name)
    label = printable(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if is_rankings_file(path):
            raise InputError(f"{label}: no such file.") from None
        return BaselineSource(label, path)
    except (OSError, ValueError) as error:
        raise InputError(f"{label}: cannot be read ({_reason(error)}).") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{label}: the baseline must be a regular file.")
    text = _text_of_baseline(path, label)
    if text is None:
        return BaselineSource(label, path, run=path, name=name)
    return BaselineSource(label, path, read_baseline(text, label))


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _text_of_baseline(path: str, label: str) -> bytes | None:
    """Return the content of a baseline file, even a damaged one; None for any other file."""
    try:
        with open(path, "rb") as handle:
            start = handle.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
            if not start.startswith(b"{"):
                return None
            handle.seek(0)
            whole = handle.read()
    except OSError as error:
        raise InputError(f"{label}: cannot be read ({_reason(error)}).") from None
    if f'"{MARK}"'.encode() not in whole:
        return None
    try:
        content = json.loads(whole)
    except (ValueError, RecursionError):
        return whole
    is_baseline = isinstance(content, dict) and not isinstance(content.get(MARK, {}), (dict, list))
    return whole if is_baseline else None


def read_baseline(text: bytes, label: str) -> Baseline:
    """Read a baseline file; anything that `Baseline.to_json` does not write is an error."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name occurs twice")
        return dict(pairs)

    def no_constant(name: str) -> float:
        raise ValueError(f"{name} is not a number")

    try:
        whole = json.loads(text, object_pairs_hook=once, parse_constant=no_constant)
        version = whole.get(MARK)
        if version != VERSION or isinstance(version, bool):
            raise InputError(
                f"{label}: this baseline file has version {quoted(version)}, but this judged reads "
                f"version {VERSION}; use the judged that wrote it, or a later one. It was not "
                "changed."
            )
        return _baseline(whole)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        what = str(error).partition("\n")[0]
        raise InputError(
            f"{label}: this baseline file is damaged ({what}); restore it, or delete it and make a "
            "new one. It was not changed."
        ) from None


def _baseline(whole: dict[str, Any]) -> Baseline:
    _check_fields(whole, FIELDS, "it")
    measures, lines, repeats = whole["measures"], whole["queries"], whole["repeats"]
    if not measures or not lines:
        raise ValueError("it has no measures or no queries")
    for query, line in lines.items():
        _check_fields(line, QUERY_FIELDS, f"query {query!r}")
    judgements = {query: line["judgements"] for query, line in lines.items()}
    if combined(judgements) != whole["judgements"]:
        raise ValueError("queries are missing or were changed")
    kept = {}
    for name, measure in measures.items():
        _check_fields(measure, MEASURE_FIELDS, f"measure {name!r}")
        error = _number(measure.get("error", 0.0))
        if not 0 <= error < math.inf:
            raise ValueError(f"the standard error of measure {name!r} is invalid")
        kept[name] = _values_of(name, lines, repeats, error)
    size, weights = whole["collection"], whole["weights"]
    if size is not None:
        is_one = not isinstance(size, dict)
        size = int(_number(size)) if is_one else {q: int(_number(n)) for q, n in size.items()}
    conditions = Conditions(
        {name: {key: of[key] for key in MEASURE_FIELDS} for name, of in measures.items()},
        whole["policy"],
        whole["convention"],
        whole["depth"],
        size,
        whole["ranked"],
        judgements,
    )
    return Baseline(
        whole["run"],
        conditions,
        kept,
        frozenset(whole["missing"]),
        repeats,
        None if weights is None else {query: _number(weight) for query, weight in weights.items()},
        whole["groups"],
        whole["judged"],
    )


def _values_of(name: str, lines: Mapping[str, Any], repeats: int, error: float) -> BaselineValues:
    values: dict[str, float | None] = {}
    parts: dict[str, dict[str, list[float]]] = {"made_of": {}, "repeats": {}}
    for query, line in lines.items():
        if name not in line["values"]:
            raise ValueError(f"query {query!r} has no value of {name}")
        value = line["values"][name]
        values[query] = None if value is None else _number(value)
        for part, by_query in parts.items():
            by_measure = line.get(part, {})
            numbers = by_measure.get(name) if isinstance(by_measure, dict) else by_measure
            if numbers is not None:
                if not isinstance(numbers, list):
                    raise ValueError(f"{part!r} of query {query!r} is not a list")
                by_query[query] = [_number(number) for number in numbers]
    counted = {query for query, value in values.items() if value is not None}
    for part, by_query in parts.items():
        if by_query and set(by_query) != counted:
            raise ValueError(f"{part} of {name} is missing for some queries")
    if any(len(numbers) != repeats for numbers in parts["repeats"].values()) or (
        (repeats > 1) != bool(parts["repeats"]) and counted
    ):
        raise ValueError(f"it does not have {repeats} repeats of {name}")
    return BaselineValues(values, parts["made_of"] or None, parts["repeats"] or None, error)


def _number(value: Any) -> float:
    if value in ("Infinity", "-Infinity"):
        return float(value)
    number = real(value)
    if number is None:
        raise ValueError(f"{quoted(value)} is not a number")
    return number


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value <= 2**53


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _is_object(value: Any, of: type | tuple[type, ...] = str) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, of) for inner in value.values())


Field = tuple[str, Callable[[Any], bool]]
OBJECTS: Field = ("an object of objects", lambda value: _is_object(value, dict))
TEXT: Field = ("a text", lambda value: isinstance(value, str))
TEXTS: Field = ("an object of texts", _is_object)
TEXT_LIST: Field = ("a list of texts", _is_list)
COUNT: Field = ("a whole number from 1", _is_count)
NUMBERS: Field = ("an object of numbers", lambda value: _is_object(value, (int, float)))
FIELDS = {
    "measures": OBJECTS,
    "queries": OBJECTS,
    "judgements": TEXT,
    "repeats": COUNT,
    "policy": TEXTS,
    "convention": TEXT,
    "depth": COUNT,
    "collection": ("a number or an object", lambda value: not isinstance(value, str | list)),
    "ranked": TEXT_LIST,
    "run": TEXT,
    "missing": TEXT_LIST,
    "weights": NUMBERS,
    "groups": TEXTS,
    "judged": TEXT,
}
"""Fields of a baseline file, and what each must be."""
OPTIONAL_FIELDS = ("convention", "depth", "collection", "weights", "groups")
"""Fields that may be null."""
QUERY_FIELDS = {"judgements": TEXT, "values": ("an object", lambda value: isinstance(value, dict))}
MEASURE_FIELDS = {"label": TEXT, "parameters": TEXTS, "definition": TEXT}


def _check_fields(values: Mapping[str, Any], wanted: Mapping[str, Field], where: str) -> None:
    for name, (kind, is_valid) in wanted.items():
        if name not in values:
            raise ValueError(f"{where} has no {name!r}")
        is_null = name in OPTIONAL_FIELDS and values[name] is None
        if not is_null and not is_valid(values[name]):
            raise ValueError(f"{name!r} of {where} is not {kind}")
