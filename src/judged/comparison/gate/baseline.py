"""A baseline as it was given: a file of its own kind, told by its content, or a run."""

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
from judged.inputs.formats import named_file, printable
from judged.inputs.tables import Judgements, Lookup
from judged.matching.join import distinct
from judged.policy import CHOICES
from judged.statistics.samples import Means, Median, Sample
from judged.text import plain

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.rankings.rankings import Rankings


@dataclass(frozen=True)
class Conditions:
    """How numbers came about; a baseline file keeps it beside them."""

    measures: Mapping[str, Mapping[str, Any]]
    """Of each measure, by our notation: what it is called, its parameters and its definition."""
    policy: Mapping[str, str]
    convention: str | None
    """The library whose numbers these are, with its version."""
    depth: int | None
    collection: int | Mapping[str, int] | None
    ranked: Sequence[str]
    """What was done to what is ranked, in words."""
    judgements: Mapping[str, str] = field(repr=False)
    """The fingerprint of each query's judgements."""

    @classmethod
    def of(
        cls,
        evaluation: Evaluation,
        judgements: Mapping[str, str],
        *,
        depth: int | None,
    ) -> Conditions:
        """Those of an evaluation."""
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
            evaluation.policy.to_dict(),
            None if convention is None else str(convention),
            depth,
            _collection_of(evaluation.runs[0].rankings),
            list(evaluation.runs[0].rankings.basis),
            judgements,
        )

    def unlike(self, then: Conditions) -> list[str]:
        """What is not as it was, each as a phrase; judgements are `Changes`' business."""
        return list(_unlike(self, then))


def _collection_of(r: Rankings) -> int | dict[str, int] | None:
    """How many items there were to retrieve: one number where it is the same for all queries."""
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
        yield f"what it ranks is otherwise ({before}, not {after})"


def _labels(conditions: Conditions) -> list[str]:
    return [str(each["label"]) for each in conditions.measures.values()]


def _or_none(depth: int | None) -> str:
    return "unlimited" if depth is None else str(depth)


@dataclass(frozen=True)
class Changes:
    """The queries whose judgements are not as they were."""

    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @classmethod
    def between(cls, then: Mapping[str, str], now: Mapping[str, str]) -> Changes:
        """Those between two sets of fingerprints.

        >>> Changes.between({"a": "1", "b": "2"}, {"b": "3", "c": "4"})
        Changes(changed=('b',), new=('c',), removed=('a',))
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
        """As plain values for JSON."""
        return {
            "changed": list(self.changed),
            "new": list(self.new),
            "removed": list(self.removed),
        }


DIGITS = 16
"""How long the fingerprint of a query is."""


def fingerprints(judgements: Judgements | Lookup, *, duplicates: str = "error") -> dict[str, str]:
    """One fingerprint per query: of its items with their grades, and subtopics where there are.

    >>> one = fingerprints(Lookup({"q": {"a": 1, "b": 0}}))
    >>> one == fingerprints(Lookup({"q": {"b": 0.0, "a": 1.0}}))
    True
    """
    rows: dict[str, list[str]] = {}
    for query, items in _by_query(judgements, duplicates):
        rows.setdefault(query, []).extend(
            f"{len(item)}:{item}{len(subtopic)}:{subtopic}{float(grade) + 0.0!r}"
            for item, subtopic, grade in items
        )
    return {query: _digest(sorted(rows[query]))[:DIGITS] for query in sorted(rows)}


def combined(of_queries: Mapping[str, str]) -> str:
    """One fingerprint of those of all queries."""
    return _digest(f"{len(query)}:{query}{of_queries[query]}" for query in sorted(of_queries))


def _digest(texts: Iterable[str]) -> str:
    return sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


_Row = tuple[str, str, float]


def _by_query(
    judgements: Judgements | Lookup, duplicates: str
) -> Iterator[tuple[str, Iterable[_Row]]]:
    """The items of each query with subtopic and grade; a query may come in parts."""
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
    frame = distinct(judgements, duplicates).table.frame
    columns = [frame["query"].to_list(), frame["item"].to_list(), frame["grade"].to_list()]
    subtopics = frame["subtopic"].to_list() if judgements.by_subtopic else [""] * frame.height
    for query, item, grade, subtopic in zip(*columns, subtopics, strict=True):
        yield query, ((item, subtopic, grade),)


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


VERSION = 1
"""Of the format; a later one may not be understood."""
MARK = "judged_baseline"
"""What a file is known by: the name under which the version stands."""


@dataclass(frozen=True, eq=False)
class Kept:
    """What a baseline has on one measure: by query, with None for one that does not count."""

    values: Mapping[str, float | None]
    made_of: Mapping[str, Sequence[float]] | None = None
    """What the number is made of, where that is not one value per query."""
    repeats: Mapping[str, Sequence[float]] | None = None
    """What is averaged in each repeat, where there are several."""
    error: float = 0.0
    """The standard error of the mean, where values are estimates from random orders of ties."""


@dataclass(frozen=True, eq=False)
class Baseline:
    """What a baseline file holds."""

    name: str
    """What the run is called that it was made of."""
    conditions: Conditions
    kept: Mapping[str, Kept]
    """By measure, in our notation."""
    missing: frozenset[str] = frozenset()
    """The queries for which the run had no results."""
    repeats: int = 1
    weights: Mapping[str, float] | None = None
    groups: Mapping[str, str] | None = None
    judged: str = field(default=__version__)
    """The version of judged that made it."""

    @classmethod
    def of(
        cls,
        now: Measured,
        conditions: Conditions,
        queries: Sequence[str],
        *,
        weights: Mapping[str, float] | None = None,
        groups: Mapping[str, str] | None = None,
    ) -> Baseline:
        """A baseline of what was measured; `queries` are all that are judged, in the order of their
        ids."""
        kept = {name: _kept(entry, queries) for name, entry in now.entries.items()}
        return cls(
            now.name, conditions, kept, now.missing, now.repeats, weights=weights, groups=groups
        )

    def measured(
        self, like: Measured, queries: Sequence[str], weights: Floats | None = None
    ) -> Measured:
        """The same as what was measured today, with today's numbers of queries and weights."""
        entries = {
            name: _entry(self.kept[name], entry.sample, queries, weights)
            for name, entry in like.entries.items()
        }
        return Measured(self.name, entries, self.missing, self.repeats)

    def to_dict(self) -> dict[str, Any]:
        """As plain values for JSON."""
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
        """What stands in one line of the file."""
        line: dict[str, Any] = {"judgements": self.conditions.judgements[query], "values": {}}
        for name, kept in self.kept.items():
            line["values"][name] = plain(kept.values[query])
            for part in ("made_of", "repeats"):
                numbers = getattr(kept, part)
                if numbers is not None and query in numbers:
                    line.setdefault(part, {})[name] = [plain(each) for each in numbers[query]]
        return line

    def to_json(self) -> str:
        """The file's text: one line for each query, so that a version control shows which changed;
        nothing but ASCII."""
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


def _kept(entry: Entry, queries: Sequence[str]) -> Kept:
    ids = [queries[at] for at in entry.place]
    values: dict[str, float | None] = dict.fromkeys(queries)
    values.update(zip(ids, entry.values.tolist(), strict=True))
    made_of = repeats = None
    if not _is_of_values(entry.sample):
        made_of = dict(zip(ids, _rows(entry.sample), strict=True))
    if entry.repeats is not None:
        repeats = dict(zip(ids, entry.repeats.T.tolist(), strict=True))
    return Kept(values, made_of, repeats, entry.error)


def _is_of_values(sample: Sample) -> bool:
    """Whether a number is made of one value per query, the one that is shown."""
    return not sample.pooled if isinstance(sample, Median) else bool(sample.aggregate)


def _rows(sample: Sample) -> list[list[float]]:
    """What each query gives to the number."""
    if isinstance(sample, Means):
        rows: list[list[float]] = sample.columns.tolist()
        return rows
    order = np.argsort(sample.owner, kind="stable")
    ends = np.cumsum(np.bincount(sample.owner, minlength=sample.size))[:-1]
    return [each.tolist() for each in np.split(sample.values[order], ends)]


def _entry(kept: Kept, like: Sample, queries: Sequence[str], weights: Floats | None) -> Entry:
    """What a baseline has on a measure, for those of today's queries that count in it."""
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


RESTORE = "it is left as it is: restore it, or delete it and make a new one."


class NoBaselineError(InputError):
    """There is none yet."""


@dataclass(frozen=True, eq=False)
class Given:
    """What was given as the baseline."""

    source: str
    """What messages call it."""
    path: str | None = None
    """Where it is, or is to be, if it is a file."""
    file: Baseline | None = None
    """What the file holds, if it is a baseline file."""
    run: Any = None
    """The run, if it is one; a file of one, with its name."""
    name: str | None = None
    """What the run is called, where somebody said so."""

    @property
    def absent(self) -> bool:
        """Whether no baseline was named."""
        return self.path is None and not self.exists

    @property
    def exists(self) -> bool:
        """Whether there is anything to hold a run against."""
        return self.file is not None or self.run is not None


def given(baseline: Any) -> Given:
    """A baseline from what a caller may pass; a file that is not there yet has nothing in it."""
    if baseline is None:
        return Given("no baseline")
    if not isinstance(baseline, (str, os.PathLike)):
        return Given("the baseline", run=baseline)
    named = os.fspath(baseline)
    if not isinstance(named, str) or not named:
        raise InputError(f"a baseline is a file or a run; got {quoted(baseline)}.")
    name, path = named_file(named)
    if path == "-":
        return Given("standard input", run=path, name=name)
    label = printable(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return Given(label, path)
    except (OSError, ValueError) as error:
        raise InputError(f"{label}: cannot be read ({_reason(error)}).") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{label}: a baseline is a regular file, which this is not.")
    text = _text_of_baseline(path, label)
    if text is None:
        return Given(label, path, run=path, name=name)
    return Given(label, path, read(text, label))


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _text_of_baseline(path: str, label: str) -> bytes | None:
    """The content of a file that has the mark of baselines; None of any other file."""
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
    """Whether the mark stands where it belongs, with a number; in a damaged file, anywhere."""
    import json

    try:
        found = json.loads(whole)
    except (ValueError, RecursionError):
        return True
    return isinstance(found, dict) and MARK in found and not isinstance(found[MARK], (dict, list))


def read(text: bytes, label: str) -> Baseline:
    """What a baseline file holds; anything that is not as `Baseline.to_json` writes it is
    refused."""
    import json

    def damaged(what: str) -> InputError:
        return InputError(f"{label}: this baseline file is damaged ({what}); {RESTORE}")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a name is there twice")
        return found

    def no_constant(name: str) -> float:
        raise ValueError(f"{name} is no number")

    try:
        whole = json.loads(text, object_pairs_hook=once, parse_constant=no_constant)
    except (ValueError, RecursionError) as error:
        raise damaged(str(error).partition("\n")[0]) from None
    if not isinstance(whole, dict):
        raise damaged("it is no object")
    version = whole.get(MARK)
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            f"{label}: this baseline file has version {quoted(version)}, and this judged reads "
            f"version {VERSION}; use the judged that wrote it, or a later one. It is left as it is."
        )
    try:
        return _baseline(whole)
    except _OddError as odd:
        raise damaged(str(odd)) from None


class _OddError(Exception):
    """Something in a file that no baseline has."""


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
            raise _OddError(f"measure {name!r} has no error that could be one")
        kept[name] = _read_kept(name, lines, repeats, error)
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


def _read_kept(name: str, lines: Mapping[str, Any], repeats: int, error: float) -> Kept:
    """What the file has on a measure, of all queries."""
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
            raise _OddError(f"{part} of {name} is not there for all queries")
    if any(len(each) != repeats for each in parts["repeats"].values()) or (
        (repeats > 1) != bool(parts["repeats"]) and counted
    ):
        raise _OddError(f"it does not have {repeats} repeats of {name}")
    return Kept(values, parts["made_of"] or None, parts["repeats"] or None, error)


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
        raise _OddError("no text")
    return given


def _count(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 2**53:
        raise _OddError("no whole number from 1")
    return given


def _number(given: Any) -> float:
    """A number as `text.plain` writes it."""
    if given in ("Infinity", "-Infinity"):
        return math.inf if given == "Infinity" else -math.inf
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise _OddError(f"{quoted(given)} is no number")
    try:
        found = float(given)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise _OddError("a number is too large")
    return found


def _object(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _OddError("no object")
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
            raise _OddError("no list")
        return [check(each) for each in given]

    return all_of


def _optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda given: None if given is None else check(given)


def _collection(given: Any) -> int | dict[str, int]:
    if isinstance(given, dict):
        return {query: int(_number(size)) for query, size in given.items()}
    found = _number(given)
    return int(found)
