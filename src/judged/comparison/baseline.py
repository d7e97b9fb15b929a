"""Baseline files and golden queries of a gate."""

from __future__ import annotations

import csv
import json
import math
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.arrays import Floats
from judged.comparison.numbers import Compared, Entry, average_repeats, entries_of, index_of
from judged.comparison.wording import list_queries
from judged.errors import InputError, quoted
from judged.inputs.columns import candidates
from judged.inputs.dicts import as_id
from judged.inputs.formats import is_rankings_file, named_file, printable
from judged.inputs.source import Source, decoded, not_a_table, open_source
from judged.inputs.tables import Judgements, Kind, Lookup
from judged.matching.join import distinct
from judged.options import number, real
from judged.outputs import write_text
from judged.policy import CHOICES
from judged.results import plain_value
from judged.statistics.samples import Means, Median, Sample
from judged.text import Warned, few, plain, quote

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.rankings.rankings import Rankings

VERSION = 1
"""Version of the file format."""
MARK = "judged_baseline"
"""Key that identifies a baseline file; its value is the version."""
FINGERPRINT_DIGITS = 16
MAKE_NEW = "--update-baseline --force (update='force')"

# -- fingerprints of judgements


def fingerprints(judgements: Judgements | Lookup) -> dict[str, str]:
    """Return a fingerprint for each query: a hash of its items, grades and subtopics.

    >>> one = fingerprints(Lookup({"q": {"a": 1, "b": 0}}))
    >>> one == fingerprints(Lookup({"q": {"b": 0.0, "a": 1.0}}))
    True
    """
    rows: dict[str, list[str]] = {query: [] for query in judgements.names()}
    for query, item, subtopic, grade in _rows_of(judgements):
        row = f"{len(item)}:{item}{len(subtopic)}:{subtopic}{float(grade) + 0.0!r}"
        rows[query].append(row)
    return {query: _digest(sorted(rows[query]))[:FINGERPRINT_DIGITS] for query in sorted(rows)}


def combine_fingerprints(of_queries: Mapping[str, str]) -> str:
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
    subtopics = frame["subtopic"].to_list() if judgements.by_subtopic else [""] * frame.height
    columns = (frame[name].to_list() for name in ("query", "item"))
    yield from zip(*columns, subtopics, frame["grade"].to_list(), strict=True)


def judgement_changes(then: Mapping[str, str], now: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the queries whose fingerprints differ, by the kind of change.

    >>> judgement_changes({"a": "1", "b": "2"}, {"b": "3", "c": "4"})
    {'changed': ['b'], 'new': ['c'], 'removed': ['a']}
    """
    return {
        "changed": sorted(query for query in now if then.get(query, now[query]) != now[query]),
        "new": sorted(now.keys() - then.keys()),
        "removed": sorted(then.keys() - now.keys()),
    }


def changes_in_words(changes: Mapping[str, Sequence[str]]) -> str:
    """Return the changed queries by kind; nothing if there are none."""
    return ", ".join(
        f"{kind}: {list_queries(queries)}" for kind, queries in changes.items() if queries
    )


# -- values of a system, and the file that holds them


@dataclass(frozen=True, eq=False)
class SystemValues:
    """Values of a system on each measure, by its notation, and the queries that it lacks."""

    name: str
    entries: Mapping[str, Entry]
    missing: frozenset[str]
    repeats: int
    """Number of runs of the system."""


def system_values(
    evaluation: Evaluation, runs: Sequence[Scored], queries: Sequence[str]
) -> SystemValues:
    name, index = few([run.name for run in runs]), index_of(queries)
    repeats = [entries_of(run, evaluation.measures, index) for run in runs]
    entries = {
        str(measure): average_repeats(
            [entries[measure] for entries in repeats], Compared(evaluation.label(measure)), name
        )
        for measure in evaluation.measures
    }
    lacking = (
        np.asarray(run.rankings.queries, object)[run.rankings.missing].tolist() for run in runs
    )
    return SystemValues(name, entries, frozenset().union(*lacking), len(runs))


@dataclass(frozen=True, eq=False)
class Baseline:
    """A baseline file."""

    content: Mapping[str, Any]
    """Content of the file, with numbers as floats."""

    @property
    def labels(self) -> list[str]:
        return [str(measure["label"]) for measure in self.content["measures"].values()]

    @property
    def judgements(self) -> dict[str, str]:
        """Fingerprint of each query's judgements."""
        return {query: line["judgements"] for query, line in self.content["queries"].items()}

    def unlike(self, then: Baseline) -> Iterator[str]:
        """Yield the settings that make two baselines incomparable, each as a phrase."""
        now, before = self.content, then.content
        for name, measure in now["measures"].items():
            if name not in before["measures"]:
                yield f"it has no {measure['label']}, only {', '.join(then.labels)}"
                continue
            old, new = before["measures"][name]["parameters"], measure["parameters"]
            odd = next((key for key in {**old, **new} if old.get(key) != new.get(key)), None)
            if odd is not None:
                yield f"its {measure['label']} has {odd}={old.get(odd)}, not {new.get(odd)}"
        for choice in CHOICES:
            old, new = str(before["policy"].get(choice)), str(now["policy"].get(choice))
            if old != new:
                yield f"it was made with {choice}={old}, not {choice}={new}"
        if (old := before["convention"]) != (new := now["convention"]):
            yield f"it follows {old or 'no convention'}, not {new or 'none'}"
        if (old := before["depth"]) != (new := now["depth"]):
            yield f"its depth is {old or 'unlimited'}, not {new or 'unlimited'}"
        if before["collection"] != now["collection"]:
            yield "it was made with another collection"
        if before["ranked"] != now["ranked"]:
            old, new = ("; ".join(of["ranked"]) or "items as they are" for of in (before, now))
            yield f"it ranks other items ({old}, not {new})"

    def values_for(
        self, like: SystemValues, queries: Sequence[str], weights: Floats | None
    ) -> SystemValues:
        content = self.content
        entries = {
            name: self._entry(name, entry.sample, queries, weights)
            for name, entry in like.entries.items()
        }
        missing = frozenset(content["missing"])
        return SystemValues(content["run"], entries, missing, content["repeats"])

    def _entry(
        self, name: str, like: Sample, queries: Sequence[str], weights: Floats | None
    ) -> Entry:
        """Return the values on a measure, for today's queries that count in it."""
        lines = self.content["queries"]
        place = np.array(
            [
                i
                for i, query in enumerate(queries)
                if query in lines
                and lines[query]["values"][name] is not None
                and (weights is None or weights[i] > 0)
            ],
            np.int64,
        )
        counted = [lines[queries[i]] for i in place]
        values = np.array([line["values"][name] for line in counted], np.float64)
        rows, repeats = (
            [line[part][name] for line in counted]
            if any(name in line.get(part, {}) for line in lines.values())
            else None
            for part in ("made_of", "repeats")
        )
        weights = None if weights is None else weights[place]
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
        by_repeat = None if repeats is None else np.array(repeats, np.float64).T
        error = self.content["measures"][name].get("error", 0.0)
        return Entry(sample, values, place, by_repeat, error)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file as ASCII, with a line for each query so that diffs are readable."""
        whole = {name: value for name, value in self.content.items() if name != "queries"}
        head = json.dumps(whole, indent=2, allow_nan=False).removesuffix("\n}")
        lines = ",\n".join(
            f"    {json.dumps(query)}: {json.dumps(line, allow_nan=False)}"
            for query, line in self.content["queries"].items()
        )
        write_text(path, f'{head},\n  "queries": {{\n{lines}\n  }}\n}}\n')


def make_baseline(
    evaluation: Evaluation,
    now: SystemValues,
    queries: Sequence[str],
    *,
    weights: Mapping[str, float] | None,
    groups: Mapping[str, str] | None,
) -> Baseline:
    """Return a baseline of a system; `queries` are all judged ones, sorted."""
    if evaluation.sources is None:
        raise InputError(
            "a baseline file needs the judgements, and rankings do not hold them. Give the "
            "judgements and the run, or compare with the rankings of another run."
        )
    judgements = fingerprints(evaluation.sources.judgements())
    lines: dict[str, dict[str, Any]] = {
        query: {"judgements": judgements[query], "values": {}} for query in queries
    }
    measures = {}
    for measure in evaluation.measures:
        name, words = str(measure), measure.definition()
        entry = now.entries[name]
        measures[name] = {
            "label": evaluation.label(measure),
            "parameters": {key: str(value) for key, value in words["parameters"].items()},
            "definition": words["definition"],
            **({"error": entry.error} if entry.error else {}),
        }
        for line in lines.values():
            line["values"][name] = None
        parts = {"made_of": _rows(entry.sample)}
        if entry.repeats is not None:
            parts["repeats"] = entry.repeats.T.tolist()
        for i, (place, value) in enumerate(zip(entry.place, entry.values.tolist(), strict=True)):
            line = lines[queries[place]]
            line["values"][name] = plain(value)
            for part, rows in parts.items():
                if rows is not None:
                    line.setdefault(part, {})[name] = plain_value(rows[i])
    rankings, convention = evaluation.runs[0].rankings, evaluation.convention
    return Baseline(
        {
            MARK: VERSION,
            "judged": __version__,
            "run": now.name,
            "repeats": now.repeats,
            "measures": measures,
            "policy": {name: getattr(evaluation.policy, name) for name in CHOICES},
            "convention": None if convention is None else str(convention),
            "depth": evaluation.policy.depth,
            "collection": _collection_of(rankings),
            "ranked": list(rankings.basis),
            "judgements": combine_fingerprints(judgements),
            "missing": sorted(now.missing),
            "weights": weights,
            "groups": groups,
            "queries": lines,
        }
    )


def _collection_of(r: Rankings) -> int | dict[str, int] | None:
    """Return the collection size: one number if it is the same for all queries."""
    if r.collection is None:
        return None
    sizes = dict(zip(r.queries, r.collection.tolist(), strict=True))
    return sizes if len(set(sizes.values())) != 1 else int(r.collection[0])


def _rows(sample: Sample) -> list[list[float]] | None:
    """Return what each query contributes to the summary; None if that is its shown value."""
    if isinstance(sample, Means):
        rows: list[list[float]] = sample.columns.tolist()
        return None if sample.aggregate else rows
    if not sample.pooled:
        return None
    order = np.argsort(sample.owner, kind="stable")
    ends = np.cumsum(np.bincount(sample.owner, minlength=sample.size))[:-1]
    return [part.tolist() for part in np.split(sample.values[order], ends)]


# -- the baseline that a caller names


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
        return self.file is not None or self.run is not None

    def changes(
        self, today: Baseline, changed: str, *, force: bool
    ) -> tuple[str, dict[str, list[str]]]:
        """Return why a replaced file is not comparable, and the queries with other judgements."""
        assert self.file is not None
        changes = judgement_changes(self.file.judgements, today.judgements)
        words = changes_in_words(changes)
        if unlike := [*today.unlike(self.file)]:
            why, fix = "; ".join(unlike), "Use the same options as it did"
        elif words and changed == "error":
            why = f"its judgements are not today's; {words}"
            fix = "Leave these queries out (--changed drop, changed='drop')"
        elif words and not today.judgements.keys() - {*changes["changed"], *changes["new"]}:
            raise InputError(
                f"{self.source}: all queries have other judgements than in this baseline; make a "
                f"new one: {MAKE_NEW}."
            )
        else:
            return "", changes
        if force:
            return why, {kind: [] for kind in changes}
        raise InputError(
            f"{self.source}: this baseline is not comparable: {why}. {fix}, or make a new one: "
            f"{MAKE_NEW}."
        )

    def check_measures_kept(self, today: Baseline) -> None:
        """Check that an update loses no measure of the file."""
        before = {} if self.file is None else self.file.content["measures"]
        lost = [of["label"] for name, of in before.items() if name not in today.content["measures"]]
        if lost:
            raise InputError(
                f"{self.source}: an update would lose {', '.join(lost)}, which this baseline has "
                "too; name all of its measures, or add --force (update='force')."
            )

    def notes(self, today: Baseline) -> Iterator[str]:
        """Yield what differs from the file without making it incomparable."""
        assert self.file is not None
        file, now = self.file.content, today.content
        if file["judged"] != now["judged"]:
            yield f"The baseline was made by judged {file['judged']}; this is {now['judged']}."
        before, after = file["weights"], now["weights"]
        differ = before is not after
        if before is not None and after is not None:
            differ = any(before[query] != after[query] for query in before.keys() & after.keys())
        if differ:
            yield Warned(
                "The weights are not those of the baseline. Both sides use today's weights."
            )
        if now["groups"] is None and file["groups"] is not None:
            yield Warned("The baseline was made with groups of queries; today's has no groups.")


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
        text = _text_of_baseline(path) if stat.S_ISREG(mode) else None
    except FileNotFoundError:
        if is_rankings_file(path):
            raise InputError(f"{label}: no such file.") from None
        return BaselineSource(label, path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{label}: cannot be read ({reason}).") from None
    if not stat.S_ISREG(mode):
        raise InputError(f"{label}: the baseline must be a regular file.")
    if text is None:
        return BaselineSource(label, path, run=path, name=name)
    return BaselineSource(label, path, read_baseline(text, label))


def _text_of_baseline(path: str) -> bytes | None:
    """Return the content of a baseline file, even a damaged one; None for any other file."""
    with open(path, "rb") as handle:
        start = handle.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start.startswith(b"{"):
            return None
        handle.seek(0)
        whole = handle.read()
    if f'"{MARK}"'.encode() not in whole:
        return None
    try:
        content = json.loads(whole)
    except (ValueError, RecursionError):
        return whole
    is_baseline = isinstance(content, dict) and not isinstance(content.get(MARK, {}), (dict, list))
    return whole if is_baseline else None


# -- reading a file, which must be as `Baseline.save` writes it


def read_baseline(text: bytes, label: str) -> Baseline:
    """Read a baseline file; anything that `Baseline.save` does not write is an error."""

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
        _check(whole)
        return Baseline(whole)
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        what = str(error).partition("\n")[0]
        raise InputError(
            f"{label}: this baseline file is damaged ({what}); restore it, or delete it and make a "
            "new one. It was not changed."
        ) from None


def _check(whole: dict[str, Any]) -> None:
    """Check the content of a file, and make floats of its numbers."""
    _check_fields(whole, FIELDS, "it")
    _check_fields(whole, OPTIONAL_FIELDS, "it", may_be_null=True)
    measures, lines, weights = whole["measures"], whole["queries"], whole["weights"]
    if not measures or not lines:
        raise ValueError("it has no measures or no queries")
    for query, line in lines.items():
        _check_fields(line, QUERY_FIELDS, f"query {query!r}")
    if (
        combine_fingerprints({query: line["judgements"] for query, line in lines.items()})
        != (whole["judgements"])
    ):
        raise ValueError("queries are missing or were changed")
    for name, measure in measures.items():
        _check_fields(measure, MEASURE_FIELDS, f"measure {name!r}")
        if "error" in measure:
            measure["error"] = _number(measure["error"])
            if not 0 <= measure["error"] < math.inf:
                raise ValueError(f"the standard error of measure {name!r} is invalid")
        _check_values(name, lines, whole["repeats"])
    size = whole["collection"]
    if isinstance(size, dict):
        whole["collection"] = {query: int(_number(number)) for query, number in size.items()}
    elif size is not None:
        whole["collection"] = int(_number(size))
    if weights is not None:
        whole["weights"] = {query: _number(weight) for query, weight in weights.items()}


def _check_values(name: str, lines: Mapping[str, Any], repeats: int) -> None:
    counted: set[str] = set()
    holders: dict[str, set[str]] = {"made_of": set(), "repeats": set()}
    for query, line in lines.items():
        if name not in line["values"]:
            raise ValueError(f"query {query!r} has no value of {name}")
        if line["values"][name] is not None:
            line["values"][name] = _number(line["values"][name])
            counted.add(query)
        for part, queries in holders.items():
            by_measure = line.get(part, {})
            numbers = by_measure.get(name) if isinstance(by_measure, dict) else by_measure
            if numbers is None:
                continue
            if not isinstance(numbers, list):
                raise ValueError(f"{part!r} of query {query!r} is not a list")
            by_measure[name] = [_number(number) for number in numbers]
            queries.add(query)
            if part == "repeats" and len(numbers) != repeats:
                raise ValueError(f"it does not have {repeats} repeats of {name}")
    for part, queries in holders.items():
        if queries and queries != counted:
            raise ValueError(f"{part} of {name} is missing for some queries")
    if (repeats > 1) != bool(holders["repeats"]) and counted:
        raise ValueError(f"it does not have {repeats} repeats of {name}")


def _number(value: Any) -> float:
    if value in ("Infinity", "-Infinity"):
        return float(value)
    number = real(value)
    if number is None:
        raise ValueError(f"{quoted(value)} is not a number")
    return number


Types = type | tuple[type, ...]
Field = tuple[str, Types, Types]
"""Name of a field, its type, and the type of its elements."""
TEXT: Field = ("a text", str, object)
COUNT: Field = ("a whole number from 1", int, object)
OBJECT: Field = ("an object", dict, object)
OBJECTS: Field = ("an object of objects", dict, dict)
TEXTS: Field = ("an object of texts", dict, str)
TEXT_LIST: Field = ("a list of texts", list, str)
FIELDS = {
    **dict.fromkeys(("measures", "queries"), OBJECTS),
    **dict.fromkeys(("judgements", "run", "judged"), TEXT),
    **dict.fromkeys(("ranked", "missing"), TEXT_LIST),
    "policy": TEXTS,
    "repeats": COUNT,
}
"""Fields of a baseline file, and what each must be."""
OPTIONAL_FIELDS: dict[str, Field] = {
    "convention": TEXT,
    "depth": COUNT,
    "collection": ("a number or an object", (int, float, dict), object),
    "weights": ("an object of numbers", dict, (int, float)),
    "groups": TEXTS,
}
"""Fields that may be null."""
QUERY_FIELDS = {"judgements": TEXT, "values": OBJECT}
MEASURE_FIELDS = {"label": TEXT, "parameters": TEXTS, "definition": TEXT}


def _check_fields(
    values: Mapping[str, Any], wanted: Mapping[str, Field], where: str, *, may_be_null: bool = False
) -> None:
    for name, (words, kind, of_elements) in wanted.items():
        if name not in values:
            raise ValueError(f"{where} has no {name!r}")
        value = values[name]
        if may_be_null and value is None:
            continue
        elements = value.values() if isinstance(value, dict) else value
        is_valid = isinstance(value, kind)
        if kind is int:
            is_valid = type(value) is int and 1 <= value <= 2**53
        elif is_valid and of_elements is not object:
            is_valid = all(isinstance(element, of_elements) for element in elements)
        if not is_valid:
            raise ValueError(f"{name!r} of {where} is not {words}")


# -- golden queries

GOLDEN = Kind("golden queries", "minimum", "lines of a query, a measure and a minimum")
GIVEN = "the golden queries given"


@dataclass(frozen=True)
class GoldenQuery:
    """A query that must reach a value."""

    query: str
    measure: str | None
    """None for all measures of the gate."""
    minimum: float | None
    """None for the value in the baseline."""
    place: str
    """File and line, for messages."""


def golden_queries(golden: Any) -> list[GoldenQuery]:
    """Read golden queries: a file, {query: minimum}, {query: {measure: minimum}} or a list."""
    if isinstance(golden, (str, os.PathLike)):
        source = open_source(os.fspath(golden), GOLDEN)
        queries, place = list(_in_file(source)), source.label
    else:
        queries, place = list(_in_python(golden, GIVEN)), GIVEN
    if not queries:
        raise InputError(f"{place}: no golden queries found.")
    seen: dict[tuple[str, str | None], GoldenQuery] = {}
    for query in queries:
        if seen.setdefault((query.query, query.measure), query) is not query:
            raise InputError(f"{query.place}: query {query.query!r} occurs twice.")
    return queries


def _in_python(golden: Any, place: str) -> Iterator[GoldenQuery]:
    if not isinstance(golden, Mapping):
        if isinstance(golden, bytes) or not isinstance(golden, Iterable):
            is_list = False
        else:
            is_list = getattr(golden, "ndim", 1) == 1
        if not is_list:
            raise InputError(
                "golden must be a file, {query: minimum}, {query: {measure: minimum}} or a list of "
                f"queries; got {quoted(golden)}."
            )
    pairs = golden.items() if isinstance(golden, Mapping) else ((query, None) for query in golden)
    for key, minima in pairs:
        query = as_id(key, place)
        by_measure = minima if isinstance(minima, Mapping) else {None: minima}
        for measure, minimum in by_measure.items():
            if isinstance(minima, Mapping) and not isinstance(measure, str):
                raise InputError(
                    f"{place}: the name of a measure must be a text; got {quoted(measure)}."
                )
            if minimum is not None:
                minimum = number(f"{place}: the minimum of query {query!r}", minimum)
            yield GoldenQuery(query, measure, minimum, place)


def _in_file(source: Source) -> Iterator[GoldenQuery]:
    if source.head().lstrip()[:1] in (b"{", b"["):
        try:
            content = json.loads(source.read())
        except (ValueError, RecursionError) as error:
            raise InputError(f"{source.label}: invalid JSON ({error}).") from None
        yield from _in_python(content, source.label)
        return
    lines = [
        (i, decoded(source.label, i, line))
        for i, line in enumerate(source.lines(), 1)
        if line.strip() and not line.lstrip().startswith(b"#")
    ]
    if not lines:
        raise InputError(f"{source.label}: no golden queries found.")
    header = [cell.strip().lower() for cell in lines[0][1].replace("\t", ",").split(",")]
    headed = candidates("query", header[:1]) and set(header[1:]) <= {"measure", "minimum"}
    separator = "\t" if "\t" in lines[0][1] else ","
    for i, line in lines[bool(headed) :]:
        place = f"{source.label}, line {i}"
        if not headed:  # a query, and after white space a measure, a minimum or both
            fields = [cell.strip() for cell in line.split("\t" if "\t" in line else None)]
            rest = [field for field in fields[1:] if field]
            minimum = rest.pop() if rest and _is_number(rest[-1]) else ""
            yield _golden_query(fields[0], " ".join(rest), minimum, place)
            continue
        try:
            cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        except csv.Error as error:
            raise not_a_table(place, error) from None
        if len(cells) > len(header):
            raise InputError(
                f"{place}: expected at most {len(header)} fields, found {len(cells)}: "
                f"{quote(line)}."
            )
        named = dict(zip(header[1:], cells[1:], strict=False))
        query = cells[0] if cells else ""
        yield _golden_query(query, named.get("measure", ""), named.get("minimum", ""), place)


def _golden_query(query: str, measure: str, minimum: str, place: str) -> GoldenQuery:
    if not query:
        raise InputError(f"{place}: the query is missing.")
    if minimum and not (_is_number(minimum) and math.isfinite(float(minimum))):
        raise InputError(f"{place}: the minimum {quote(minimum)} is not a finite number.")
    return GoldenQuery(query, measure or None, float(minimum) if minimum else None, place)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text
