"""Baseline files: the numbers that later runs are held against, and how they came about."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judged import __version__
from judged.arrays import Floats
from judged.comparison.gate.conditions import Conditions
from judged.comparison.gate.fingerprints import combined
from judged.comparison.gate.measured import Measured
from judged.comparison.numbers import Entry
from judged.statistics.samples import Means, Median, Sample
from judged.text import plain

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
