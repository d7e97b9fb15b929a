"""Baseline files and golden queries of a gate."""

from __future__ import annotations

import csv
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from judged import __version__
from judged.arrays import Floats
from judged.comparison.numbers import Entry
from judged.comparison.wording import list_queries
from judged.errors import InputError, quoted
from judged.inputs.columns import candidates
from judged.inputs.dicts import as_id
from judged.inputs.formats import is_rankings_file, named_file, printable
from judged.inputs.source import Source, decoded, not_a_table, open_source
from judged.inputs.tables import Judgements, Kind, Lookup
from judged.matching.join import distinct
from judged.options import number
from judged.outputs import write_text
from judged.policy import CHOICES
from judged.results import plain_value
from judged.statistics.samples import Means, Median, Sample
from judged.text import Warned, plain

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.rankings.rankings import Rankings

VERSION = 2
"""Version of the file format."""
MARK = "judged_baseline"
"""Key that identifies a baseline file; its value is the version."""
FINGERPRINT_DIGITS = 16
MAKE_NEW = "update='force' (--update-baseline --force)"

# -- fingerprints of judgements


def fingerprints(judgements: Judgements | Lookup) -> dict[str, str]:
    """Return a fingerprint for each query: a hash of its items, grades and subtopics."""
    rows: dict[str, list[str]] = {query: [] for query in judgements.names()}
    for query, item, subtopic, grade in _rows_of(judgements):
        row = f"{len(item)}:{item}{len(subtopic)}:{subtopic}{float(grade) + 0.0!r}"
        rows[query].append(row)
    return {query: _digest(sorted(rows[query]))[:FINGERPRINT_DIGITS] for query in sorted(rows)}


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


def describe_changes(then: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the queries whose fingerprints differ, by the kind of change."""
    kinds = {
        "changed": sorted(query for query in now if then.get(query, now[query]) != now[query]),
        "new": sorted(now.keys() - then.keys()),
        "removed": sorted(then.keys() - now.keys()),
    }
    return ", ".join(f"{kind}: {list_queries(names)}" for kind, names in kinds.items() if names)


# -- the file


@dataclass(frozen=True, eq=False)
class Baseline:
    """A baseline file."""

    content: Mapping[str, Any]  # content of the file; infinite values are the text "Infinity"

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
        for name, new in now["settings"].items():
            if (old := before["settings"].get(name)) != new:
                yield f"it was made with {name}={quoted(old)}, not {name}={quoted(new)}"

    def entries(
        self, today: Mapping[str, Entry], queries: Sequence[str], weights: Floats | None
    ) -> dict[str, Entry]:
        """Return the values on each measure, like those of `today`."""
        by_label = {of["label"]: name for name, of in self.content["measures"].items()}
        return {
            label: self._entry(by_label[label], entry.sample, queries, weights)
            for label, entry in today.items()
        }

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
        values = np.array([float(line["values"][name]) for line in counted], np.float64)
        rows, repeats = (
            [list(map(float, line[part][name])) for line in counted]
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
        whole = {"checksum": _checksum(self.content), **self.content}
        queries = whole.pop("queries")
        head = json.dumps(whole, indent=2, allow_nan=False).removesuffix("\n}")
        lines = ",\n".join(
            f"    {json.dumps(query)}: {json.dumps(line, allow_nan=False)}"
            for query, line in queries.items()
        )
        write_text(path, f'{head},\n  "queries": {{\n{lines}\n  }}\n}}\n')


def _checksum(content: Mapping[str, Any]) -> str:
    return _digest([json.dumps(content, sort_keys=True)])


def make_baseline(
    evaluation: Evaluation,
    entries: Mapping[str, Entry],
    queries: Sequence[str],
    *,
    weights: Mapping[str, float] | None,
    groups: Mapping[str, str] | None,
    **about: Any,
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
        label = evaluation.label(measure)
        entry = entries[label]
        measures[name] = {
            "label": label,
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
            **about,
            "measures": measures,
            "settings": {
                **{name: getattr(evaluation.policy, name) for name in CHOICES},
                "convention": None if convention is None else str(convention),
                "depth": evaluation.policy.depth,
                "collection": _collection_of(rankings),
                "ranked": list(rankings.basis),
            },
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

    source: str  # name in messages
    path: str | None = None  # path of the file, which may not exist yet
    file: Baseline | None = None
    run: Any = None  # the run, or the path of its file
    name: str | None = None  # name given to the run

    @property
    def absent(self) -> bool:
        """True if no baseline was named."""
        return self.path is None and not self.exists

    @property
    def exists(self) -> bool:
        return self.file is not None or self.run is not None

    def difference(self, today: Baseline, *, force: bool) -> str:
        """Return why the file is not comparable, which is an error unless it is replaced."""
        assert self.file is not None
        fix = "Use the same options as it did"
        why = "; ".join(today.unlike(self.file))
        if not why and (changes := describe_changes(self.file.judgements, today.judgements)):
            why = f"its judgements are not today's; {changes}"
            fix = "Compare with a run, which today's judgements score"
        if not why or force:
            return why
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
                "too; name all of its measures, or give update='force' (--update-baseline --force)."
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
        is_regular = stat.S_ISREG(os.stat(path).st_mode)
        text = _text_with_mark(path) if is_regular else None
    except FileNotFoundError:
        if is_rankings_file(path):
            raise InputError(f"{label}: no such file.") from None
        return BaselineSource(label, path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{label}: cannot be read ({reason}).") from None
    if not is_regular:
        raise InputError(f"{label}: the baseline must be a regular file.")
    file = None if text is None else read_baseline(text, label)
    if file is None:
        return BaselineSource(label, path, run=path, name=name)
    return BaselineSource(label, path, file)


def _text_with_mark(path: str) -> bytes | None:
    """Return the content of a JSON object that holds the mark of a baseline, even a damaged one."""
    with open(path, "rb") as handle:
        start = handle.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start.startswith(b"{"):
            return None
        handle.seek(0)
        whole = handle.read()
    return whole if f'"{MARK}"'.encode() in whole else None


def read_baseline(text: bytes, label: str) -> Baseline | None:
    """Read a baseline file; None for a run that has a query or an item of the mark's name."""
    try:
        content = json.loads(text)
        version, checksum = content.get(MARK, {}), content.pop("checksum", None)
        if isinstance(version, (dict, list)):
            return None
        if version == VERSION and checksum != _checksum(content):
            raise ValueError("its content is not what was written")
    except (ValueError, RecursionError) as error:
        what = str(error).partition("\n")[0]
        raise InputError(
            f"{label}: this baseline file is damaged ({what}); restore it, or delete it and make a "
            "new one. It was not changed."
        ) from None
    if version != VERSION:
        raise InputError(
            f"{label}: this baseline file has version {quoted(version)}, but this judged reads "
            f"version {VERSION}; use the judged that wrote it, or delete it and make a new one. It "
            "was not changed."
        )
    return Baseline(content)


# -- golden queries

GOLDEN = Kind("golden queries", "minimum", "lines of a query, a measure and a minimum")
GIVEN = "the golden queries given"


@dataclass(frozen=True)
class GoldenQuery:
    """A query that must reach a value."""

    query: str
    measure: str | None  # None for all measures of the gate
    minimum: float | None  # None for the value in the baseline
    place: str  # file and line, for messages


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
    several = isinstance(golden, Iterable) and bool(getattr(golden, "ndim", 1))
    if isinstance(golden, bytes) or not several:
        raise InputError(
            "golden must be a file, {query: minimum}, {query: {measure: minimum}} or a list of "
            f"queries; got {quoted(golden)}."
        )
    pairs = golden.items() if isinstance(golden, Mapping) else ((query, None) for query in golden)
    for key, minima in pairs:
        query = as_id(key, place)
        by_measure = minima if isinstance(minima, Mapping) else {None: minima}
        for measure, minimum in by_measure.items():
            if minimum is not None:
                minimum = number(f"{place}: the minimum of query {query!r}", minimum)
            yield GoldenQuery(query, None if measure is None else str(measure), minimum, place)


def _in_file(source: Source) -> Iterator[GoldenQuery]:
    """Read JSON, or lines of a query, a measure and a minimum; a header is optional."""
    if source.head().lstrip()[:1] in (b"{", b"["):
        try:
            content = json.loads(source.read())
        except (ValueError, RecursionError) as error:
            raise InputError(f"{source.label}: invalid JSON ({error}).") from None
        yield from _in_python(content, source.label)
        return
    lines = [
        (f"{source.label}, line {i}", decoded(source.label, i, line))
        for i, line in enumerate(source.lines(), 1)
        if line.strip() and not line.lstrip().startswith(b"#")
    ]
    header = re.split("[,\t]", lines[0][1].strip().lower()) if lines else []
    headed = bool(candidates("query", header[:1])) and {*header[1:]} <= {"measure", "minimum"}
    for place, line in lines[headed:]:
        separator = "\t" if "\t" in line else "," if headed else None
        try:
            cells = next(csv.reader([line], delimiter=separator)) if separator else line.split()
        except csv.Error as error:
            raise not_a_table(place, error) from None
        query, *rest = map(str.strip, cells)
        if not query:
            raise InputError(f"{place}: the query is missing.")
        rest = [cell for cell in rest if cell]
        try:
            minimum = float(rest[-1])
        except (IndexError, ValueError):
            yield GoldenQuery(query, " ".join(rest) or None, None, place)
        else:
            number(f"{place}: the minimum of query {query!r}", minimum)
            yield GoldenQuery(query, " ".join(rest[:-1]) or None, minimum, place)
