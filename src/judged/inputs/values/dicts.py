"""Values of queries out of dicts, of Python or of JSON; judged's own JSON among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import polars as pl

from judged.errors import InputError, quoted
from judged.inputs.agreement import few
from judged.inputs.dicts import as_id
from judged.inputs.sheets import Nested
from judged.inputs.values.names import all_measures, is_measure
from judged.inputs.values.parts import (
    NOT_ZERO,
    SCHEMA,
    UNWEIGHTED,
    VALUES,
    Part,
    no_number,
    number_of,
)
from judged.text import Warned

_PLAIN = {float, int, type(None)}
"""The types of values that need no look at each."""


@dataclass(frozen=True, eq=False)
class _Leaves:
    """All values of a dict: a list of runs, one of measures, one of queries and one of values."""

    runs: list[str | None] = field(default_factory=list)
    measures: list[str | None] = field(default_factory=list)
    queries: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, run: str | None, measure: str | None, values: Mapping[Any, Any]) -> None:
        """Those of {query: value}."""
        self.runs.extend([run] * len(values))
        self.measures.extend([measure] * len(values))
        self.queries.extend(values)
        self.values.extend(values.values())

    def add_query(self, run: str | None, query: Any, values: Mapping[str, Any]) -> None:
        """Those of {measure: value}."""
        self.runs.extend([run] * len(values))
        self.measures.extend(values)
        self.queries.extend([query] * len(values))
        self.values.extend(values.values())


def part_of_dict(given: Nested) -> Part:
    content, source = given.content, given.source
    if not content:
        raise InputError(f"{source}: holds no values.")
    if isinstance(content.get("runs"), list) and "judged" in content:
        return _of_judged(content, source)
    inner = list(content.values())
    if not any(isinstance(each, Mapping) for each in inner):
        alone = _Leaves()
        alone.add(None, None, content)
        return _part(alone, source)
    _refuse_other(content, source)
    deep = [any(isinstance(value, Mapping) for value in each.values()) for each in inner]
    found = _Leaves()
    if not any(deep):
        _two_levels(found, content, source)
        part = _part(found, source)
        runs = part.frame["run"].drop_nulls().unique(maintain_order=True)
        return replace(part, wide=tuple(runs))
    for run, each in content.items():
        name = as_id(run, source)
        _two_levels(found, each, f"{source}, run {name!r}", name)
    return _part(found, source, _many_measures(found))


def _refuse_other(content: Mapping[Any, Any], source: str) -> None:
    """Refuse what is no dict, where others are, and empty ones."""
    for key, each in content.items():
        if not isinstance(each, Mapping):
            raise InputError(
                f"{source}: {key!r} is {quoted(each)}, where others are dicts. {_forms()}"
            )
        if not each:
            raise InputError(f"{source}: {key!r} has no values. {NOT_ZERO}")


def _forms() -> str:
    return f"{VALUES.phrase.capitalize()} are {VALUES.columns}."


def _two_levels(
    found: _Leaves, content: Mapping[Any, Any], source: str, run: str | None = None
) -> None:
    """Add {measure: {query: value}} of a run, {query: {measure: value}} where the names tell, or
    {run: {query: value}}, where the runs may yet prove to be measures."""
    _refuse_other(content, source)
    outer = [as_id(key, source) for key in content]
    keys = dict.fromkeys(chain.from_iterable(content.values()))
    inner = dict.fromkeys(as_id(key, source) for key in keys)
    if all_measures(inner) and not any(map(is_measure, outer)):
        if len(inner) > len(outer):
            raise InputError(
                f"{source}: what stands where queries do has names of measures "
                f"({few(list(inner))}); give {{run: {{measure: {{query: value}}}}}}."
            )
        for query, values in content.items():
            found.add_query(run, query, {as_id(key, source): each for key, each in values.items()})
        return
    for key, values in content.items():
        name = as_id(key, source)
        found.add(name if run is None else run, None if run is None else name, values)


def _many_measures(found: _Leaves) -> tuple[str, ...]:
    """A warning where dicts of queries may have been taken for dicts of measures."""
    measures = dict.fromkeys(map(str, found.measures))
    queries = set(found.queries)
    if len(measures) <= max(len(queries), 1) or any(map(is_measure, measures)):
        return ()
    return (
        Warned(
            f"There are more measures ({len(measures):,}) than queries ({len(queries):,}): were "
            "they given as {run: {query: {measure: value}}}? The order is run, measure, query."
        ),
    )


def _part(found: _Leaves, source: str, notes: Sequence[str] = ()) -> Part:
    queries, values = _at_once(found) or _one_by_one(found, source)
    columns = (found.runs, found.measures, queries, values, range(len(queries)))
    frame = pl.DataFrame(
        [
            pl.Series(name, column, dtype=kind)
            for (name, kind), column in zip(SCHEMA.items(), columns, strict=True)
        ]
    )
    return Part(frame, partial(_somewhere, source), source, tuple(notes))


def _at_once(found: _Leaves) -> tuple[Sequence[str], Sequence[float | None]] | None:
    """Queries and values where these are plain texts and numbers; None where some are not."""
    plain = set(map(type, found.queries)) <= {str} and set(map(type, found.values)) <= _PLAIN
    if not plain or not all(found.queries):
        return None
    try:
        values = [None if each is None else float(each) for each in found.values]
    except OverflowError:
        return None
    return None if any(each != each for each in values) else (found.queries, values)


def _one_by_one(found: _Leaves, source: str) -> tuple[Sequence[str], Sequence[float | None]]:
    """Queries and values; refused where one is none."""
    queries, values = [], []
    for run, key, given in zip(found.runs, found.queries, found.values, strict=True):
        query = as_id(key, source)
        value = None if given is None else number_of(given)
        if given is not None and (value is None or value != value):
            where = "" if run is None else f" in run {run!r}"
            raise InputError(f"{source}: {no_number(query, given, where)}")
        queries.append(query)
        values.append(value)
    return queries, values


def _somewhere(source: str, row: int) -> str:
    return source


def _of_judged(content: Mapping[Any, Any], source: str) -> Part:
    """The JSON of `judged evaluate --per-query`."""
    found = _Leaves()
    said = content.get("warnings")
    notes = [Warned(f"{source}: {each}") for each in said] if isinstance(said, list) else []
    for run in content["runs"]:
        if isinstance(run, Mapping) and "name" in run and "per_query" not in run:
            raise InputError(
                f"{source}: holds no values of queries, only their summary; write it with "
                "--per-query."
            )
        if not _is_of_judged(run):
            raise InputError(
                f"{source}: looks like JSON of judged, but a run is not as judged writes it: "
                f"{quoted(run)}."
            )
        if run.get("weights"):
            notes.append(Warned(f"{source}: {UNWEIGHTED}"))
        for query, values in run["per_query"].items():
            found.add_query(run["name"], query, values)
    if not found.values:
        raise InputError(f"{source}: holds no values.")
    part = _part(found, source, tuple(dict.fromkeys(notes)))
    measures = content.get("measures")
    known = {} if not isinstance(measures, Mapping) else measures
    settings = {
        "policy": content.get("policy"),
        "measures": {name: each for name, each in known.items() if isinstance(each, Mapping)},
    }
    return replace(part, settings=settings)


def _is_of_judged(run: Any) -> bool:
    if not isinstance(run, Mapping) or not isinstance(run.get("name"), str):
        return False
    queries = run.get("per_query")
    return isinstance(queries, Mapping) and all(isinstance(x, Mapping) for x in queries.values())
