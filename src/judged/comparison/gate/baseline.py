"""Baseline files: the values that later runs are compared with, and how they came about."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from judged.policy import CHOICES
from judged.statistics.samples import Means, Median, Sample
from judged.text import few, plain

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.rankings.rankings import Rankings


@dataclass(frozen=True)
class Conditions:
    """What must be the same for two sets of values to be comparable."""

    measures: Mapping[str, Mapping[str, Any]]
    """Label, parameters and definition of each measure, by its notation."""
    policy: Mapping[str, str]
    convention: str | None
    """The library whose definitions are used, with its version."""
    depth: int | None
    collection: int | Mapping[str, int] | None
    ranked: Sequence[str]
    """What was done to the ranked items, in words."""
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

    def unlike(self, then: Conditions) -> list[str]:
        """Return what differs, each as a phrase; changed judgements are in `JudgementChanges`."""
        return list(_unlike(self, then))


def _collection_of(r: Rankings) -> int | dict[str, int] | None:
    """Return the collection size: one number if it is the same for all queries."""
    if r.collection is None:
        return None
    sizes = dict(zip(r.queries, r.collection.tolist(), strict=True))
    return sizes if len(set(sizes.values())) != 1 else int(r.collection[0])


def _unlike(now: Conditions, then: Conditions) -> Iterator[str]:
    for name, own in now.measures.items():
        if name not in then.measures:
            yield f"it has no {own['label']}, only {', '.join(_labels(then))}"
        elif then.measures[name]["parameters"] != own["parameters"]:
            before, after = then.measures[name]["parameters"], own["parameters"]
            odd = next(key for key in {**before, **after} if before.get(key) != after.get(key))
            yield f"its {own['label']} has {odd}={before.get(odd)}, not {after.get(odd)}"
    for choice in CHOICES:
        before, after = str(then.policy.get(choice)), str(now.policy.get(choice))
        if before != after:
            yield f"it was made with {choice}={before}, not {choice}={after}"
    if then.convention != now.convention:
        yield f"it follows {then.convention or 'no convention'}, not {now.convention or 'none'}"
    if then.depth != now.depth:
        yield f"its depth is {_or_none(then.depth)}, not {_or_none(now.depth)}"
    if then.collection != now.collection:
        yield "it was made with another collection"
    if list(then.ranked) != list(now.ranked):
        before, after = ("; ".join(each.ranked) or "items as they are" for each in (then, now))
        yield f"it ranks other items ({before}, not {after})"


def _labels(conditions: Conditions) -> list[str]:
    return [str(each["label"]) for each in conditions.measures.values()]


def _or_none(depth: int | None) -> str:
    return "unlimited" if depth is None else str(depth)


@dataclass(frozen=True)
class JudgementChanges:
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
        named = {"changed": self.changed, "new": self.new, "removed": self.removed}
        return ", ".join(f"{word}: {some(queries)}" for word, queries in named.items() if queries)

    def to_dict(self) -> dict[str, list[str]]:
        """Return plain values for JSON."""
        return {
            "changed": list(self.changed),
            "new": list(self.new),
            "removed": list(self.removed),
        }


DIGITS = 16
"""Length of a query's fingerprint."""


def fingerprints(judgements: Judgements | Lookup) -> dict[str, str]:
    """Return a fingerprint for each query: a hash of its items, grades and subtopics.

    >>> one = fingerprints(Lookup({"q": {"a": 1, "b": 0}}))
    >>> one == fingerprints(Lookup({"q": {"b": 0.0, "a": 1.0}}))
    True
    """
    rows: dict[str, list[str]] = {}
    for query, items in _by_query(judgements):
        rows.setdefault(query, []).extend(
            f"{len(item)}:{item}{len(subtopic)}:{subtopic}{float(grade) + 0.0!r}"
            for item, subtopic, grade in items
        )
    return {query: _digest(sorted(rows[query]))[:DIGITS] for query in sorted(rows)}


def combined(of_queries: Mapping[str, str]) -> str:
    """Return one fingerprint of all queries."""
    return _digest(f"{len(query)}:{query}{of_queries[query]}" for query in sorted(of_queries))


def _digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


_Row = tuple[str, str, float]


def _by_query(judgements: Judgements | Lookup) -> Iterator[tuple[str, Iterable[_Row]]]:
    """Yield the items of each query with subtopic and grade; a query may come in parts."""
    if isinstance(judgements, Lookup):
        for query, items in judgements.lists.items():
            if judgements.by_subtopic:
                yield (
                    query,
                    [
                        (item, subtopic, grade)
                        for item, own in items.items()
                        for subtopic, grade in own.items()
                    ],
                )
            else:
                yield query, [(item, "", grade) for item, grade in items.items()]
        return
    for query in judgements.names():
        yield query, ()
    frame = distinct(judgements, "first").table.frame
    columns = [frame["query"].to_list(), frame["item"].to_list(), frame["grade"].to_list()]
    subtopics = frame["subtopic"].to_list() if judgements.by_subtopic else [""] * frame.height
    for query, item, grade, subtopic in zip(*columns, subtopics, strict=True):
        yield query, ((item, subtopic, grade),)


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
        own = [entry_of(run, measure, places) for run in runs]
        label = Compared(evaluation.label(measure))
        entries[str(measure)] = averaged(own, label, name)
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
    """What the summary is computed from, if that is not one value per query."""
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
        own = self.conditions
        measures = {
            name: {**own.measures[name], **({"error": kept.error} if kept.error else {})}
            for name, kept in self.kept.items()
        }
        return {
            MARK: VERSION,
            "judged": self.judged,
            "run": self.name,
            "repeats": self.repeats,
            "measures": measures,
            "policy": dict(own.policy),
            "convention": own.convention,
            "depth": own.depth,
            "collection": own.collection,
            "ranked": list(own.ranked),
            "judgements": combined(own.judgements),
            "missing": sorted(self.missing),
            "weights": None if self.weights is None else dict(self.weights),
            "groups": None if self.groups is None else dict(self.groups),
            "queries": {query: self._query(query) for query in sorted(own.judgements)},
        }

    def _query(self, query: str) -> dict[str, Any]:
        """Return one line of the file."""
        line: dict[str, Any] = {"judgements": self.conditions.judgements[query], "values": {}}
        for name, kept in self.kept.items():
            line["values"][name] = plain(kept.values[query])
            for part in ("made_of", "repeats"):
                numbers = getattr(kept, part)
                if numbers is not None and query in numbers:
                    line.setdefault(part, {})[name] = [plain(each) for each in numbers[query]]
        return line

    def to_json(self) -> str:
        """Return the file's text: ASCII, with a line for each query so that diffs are readable."""
        import json

        whole = self.to_dict()
        queries = whole.pop("queries")
        head = json.dumps(whole, indent=2, allow_nan=False).removesuffix("\n}")
        lines = ",\n".join(
            f"    {json.dumps(query)}: {json.dumps(own, allow_nan=False)}"
            for query, own in queries.items()
        )
        return f'{head},\n  "queries": {{\n{lines}\n  }}\n}}\n'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all."""
        from judged.outputs import write_text

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
    return [each.tolist() for each in np.split(sample.values[order], ends)]


def _entry(
    kept: BaselineValues, like: Sample, queries: Sequence[str], weights: Floats | None
) -> Entry:
    """Return a baseline's values on a measure, for today's queries that count in it."""
    from dataclasses import replace

    pairs = [
        (at, query, value)
        for at, query in enumerate(queries)
        if (value := kept.values.get(query)) is not None
    ]
    place = np.array([at for at, _, _ in pairs], np.int64)
    values = np.array([value for _, _, value in pairs], np.float64)
    own = None if weights is None else weights[place]
    counted = np.ones(len(place), bool) if own is None else own > 0
    if not counted.all():
        pairs = [pair for pair, counts in zip(pairs, counted, strict=True) if counts]
        place, values = place[counted], values[counted]
        own = None if own is None else own[counted]
    rows = None if kept.made_of is None else [kept.made_of[query] for _, query, _ in pairs]
    sample: Sample
    if isinstance(like, Median):
        parts = [[value] for value in values] if rows is None else rows
        owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        flat = np.array([each for part in parts for each in part], np.float64)
        sample = Median(flat, owner, len(parts), own)
    elif rows is None:
        sample = Means.of_values(values, like.aggregate, own)
    else:
        columns = np.array(rows, np.float64).reshape(len(rows), like.columns.shape[1])
        sample = replace(like, columns=columns, weights=own)
    repeats = None
    if kept.repeats is not None:
        repeats = np.array([kept.repeats[query] for _, query, _ in pairs], np.float64).T
    error = kept.error if math.isfinite(kept.error) else 0.0
    return Entry(sample, values, place, repeats, error)


RESTORE = "restore it, or delete it and make a new one. It was not changed."


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
        """Whether no baseline was named."""
        return self.path is None and not self.exists

    @property
    def exists(self) -> bool:
        """Whether there is anything to compare with."""
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
            raise InputError(f"{label}: there is no such file.") from None
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
    """Return the content of a baseline file; None for any other file."""
    try:
        with open(path, "rb") as handle:
            start = handle.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
            if not start.startswith(b"{"):
                return None
            handle.seek(0)
            whole = handle.read()
    except OSError as error:
        raise InputError(f"{label}: cannot be read ({_reason(error)}).") from None
    return whole if f'"{MARK}"'.encode() in whole and _is_marked(whole) else None


def _is_marked(whole: bytes) -> bool:
    """Return whether JSON has the key of baselines; true for damaged files."""
    import json

    try:
        found = json.loads(whole)
    except (ValueError, RecursionError):
        return True
    return isinstance(found, dict) and MARK in found and not isinstance(found[MARK], (dict, list))


def read_baseline(text: bytes, label: str) -> Baseline:
    """Read a baseline file; anything that `Baseline.to_json` does not write is an error."""
    import json

    def damaged(what: str) -> InputError:
        return InputError(f"{label}: this baseline file is damaged ({what}); {RESTORE}")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a name occurs twice")
        return found

    def no_constant(name: str) -> float:
        raise ValueError(f"{name} is not a number")

    try:
        whole = json.loads(text, object_pairs_hook=once, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise damaged(str(error).partition("\n")[0]) from None
    if not isinstance(whole, dict):
        raise damaged("it is not an object")
    version = whole.get(MARK)
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"{label}: this baseline file has version {quoted(version)}, but this judged reads "
            f"version {VERSION}; use the judged that wrote it, or a later one. It was not changed."
        )
    try:
        return _baseline(whole)
    except _OddError as odd:
        raise damaged(str(odd)) from None


class _OddError(Exception):
    """Unexpected content of a baseline file."""


def _baseline(whole: dict[str, Any]) -> Baseline:
    measures = _field(whole, "measures", _objects)
    lines = _field(whole, "queries", _objects)
    if not measures or not lines:
        raise _OddError("it has no measures or no queries")
    judgements = {
        query: _field(own, "judgements", _text, f"query {query!r}") for query, own in lines.items()
    }
    if combined(judgements) != _field(whole, "judgements", _text):
        raise _OddError("queries are missing or were changed")
    repeats = _field(whole, "repeats", _count)
    kept = {}
    for name, own in measures.items():
        for part in ("label", "definition"):
            _field(own, part, _text, f"measure {name!r}")
        _field(own, "parameters", _texts, f"measure {name!r}")
        error = _number(own.get("error", 0.0))
        if not 0 <= error < math.inf:
            raise _OddError(f"the standard error of measure {name!r} is invalid")
        kept[name] = _values_of(name, lines, repeats, error)
    conditions = Conditions(
        {
            name: {key: own[key] for key in ("label", "parameters", "definition")}
            for name, own in measures.items()
        },
        _field(whole, "policy", _texts),
        _field(whole, "convention", _optional(_text)),
        _field(whole, "depth", _optional(_count)),
        _field(whole, "collection", _optional(_collection)),
        _field(whole, "ranked", _list_of(_text)),
        judgements,
    )
    return Baseline(
        _field(whole, "run", _text),
        conditions,
        kept,
        frozenset(_field(whole, "missing", _list_of(_text))),
        repeats,
        _field(whole, "weights", _optional(_numbers)),
        _field(whole, "groups", _optional(_texts)),
        _field(whole, "judged", _text),
    )


def _values_of(name: str, lines: Mapping[str, Any], repeats: int, error: float) -> BaselineValues:
    """Return the values of a measure."""
    values: dict[str, float | None] = {}
    parts: dict[str, dict[str, list[float]]] = {"made_of": {}, "repeats": {}}
    for query, own in lines.items():
        found = _field(own, "values", _object, f"query {query!r}")
        if name not in found:
            raise _OddError(f"query {query!r} has no value of {name}")
        values[query] = None if found[name] is None else _number(found[name])
        for part, by_query in parts.items():
            numbers = _object(own.get(part, {})).get(name)
            if numbers is not None:
                by_query[query] = [_number(each) for each in _list_of(_same)(numbers)]
    counted = {query for query, value in values.items() if value is not None}
    for part, by_query in parts.items():
        if by_query and set(by_query) != counted:
            raise _OddError(f"{part} of {name} is missing for some queries")
    if any(len(each) != repeats for each in parts["repeats"].values()) or (
        (repeats > 1) != bool(parts["repeats"]) and counted
    ):
        raise _OddError(f"it does not have {repeats} repeats of {name}")
    return BaselineValues(values, parts["made_of"] or None, parts["repeats"] or None, error)


def _field(own: Mapping[str, Any], name: str, check: Callable[[Any], Any], of: str = "it") -> Any:
    if name not in own:
        raise _OddError(f"{of} has no {name!r}")
    try:
        return check(own[name])
    except _OddError as odd:
        raise _OddError(f"{name!r} of {of}: {odd}" if of != "it" else f"{name!r}: {odd}") from None


def _same(given: Any) -> Any:
    return given


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise _OddError("not a text")
    return given


def _count(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 2**53:
        raise _OddError("not a whole number from 1")
    return given


def _number(given: Any) -> float:
    """Read a number as `text.plain` writes it."""
    if given in ("Infinity", "-Infinity"):
        return math.inf if given == "Infinity" else -math.inf
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise _OddError(f"{quoted(given)} is not a number")
    try:
        found = float(given)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise _OddError("a number is too large")
    return found


def _object(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _OddError("not an object")
    return given


def _objects(given: Any) -> dict[str, dict[str, Any]]:
    return {name: _object(own) for name, own in _object(given).items()}


def _texts(given: Any) -> dict[str, str]:
    return {name: _text(own) for name, own in _object(given).items()}


def _numbers(given: Any) -> dict[str, float]:
    return {name: _number(own) for name, own in _object(given).items()}


def _list_of(check: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    def all_of(given: Any) -> list[Any]:
        if not isinstance(given, list):
            raise _OddError("not a list")
        return [check(each) for each in given]

    return all_of


def _optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda given: None if given is None else check(given)


def _collection(given: Any) -> int | dict[str, int]:
    if isinstance(given, dict):
        return {query: int(_number(size)) for query, size in given.items()}
    found = _number(given)
    return int(found)
