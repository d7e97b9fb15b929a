"""Values of queries out of dicts, of Python or of JSON; judged's own JSON among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
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

Leaf = tuple[str | None, str | None, Any, Any]
"""Run, measure, query and value."""


def part_of_dict(given: Nested) -> Part:
    content, source = given.content, given.source
    if not content:
        raise InputError(f"{source}: holds no values.")
    if isinstance(content.get("runs"), list) and "judged" in content:
        return _of_judged(content, source)
    inner = list(content.values())
    if not any(isinstance(each, Mapping) for each in inner):
        return _leaves([(None, None, query, value) for query, value in content.items()], source)
    _refuse_other(content, source)
    deep = [any(isinstance(value, Mapping) for value in each.values()) for each in inner]
    if not any(deep):
        part = _leaves(_two_levels(content, source), source)
        runs = part.frame["run"].drop_nulls().unique(maintain_order=True)
        return replace(part, wide=tuple(runs))
    found: list[Leaf] = []
    for run, each in content.items():
        name = as_id(run, source)
        found += _two_levels(each, f"{source}, run {name!r}", name)
    return _leaves(found, source, _many_measures(found))


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


def _two_levels(content: Mapping[Any, Any], source: str, run: str | None = None) -> list[Leaf]:
    """{measure: {query: value}} of a run, {query: {measure: value}} where the names tell, or
    {run: {query: value}}, where the runs may yet prove to be measures."""
    _refuse_other(content, source)
    outer = [as_id(key, source) for key in content]
    inner = dict.fromkeys(as_id(key, source) for each in content.values() for key in each)
    pairs = [
        (key, each, value) for key, inside in content.items() for each, value in inside.items()
    ]
    if all_measures(inner) and not any(map(is_measure, outer)):
        if len(inner) > len(outer):
            raise InputError(
                f"{source}: what stands where queries do has names of measures "
                f"({few(list(inner))}); give {{run: {{measure: {{query: value}}}}}}."
            )
        return [(run, as_id(each, source), key, value) for key, each, value in pairs]
    if run is not None:
        return [(run, as_id(key, source), each, value) for key, each, value in pairs]
    return [(as_id(key, source), None, each, value) for key, each, value in pairs]


def _many_measures(found: Sequence[Leaf]) -> tuple[str, ...]:
    """A warning where dicts of queries may have been taken for dicts of measures."""
    measures = dict.fromkeys(str(measure) for _, measure, _, _ in found)
    queries = {query for _, _, query, _ in found}
    if len(measures) <= max(len(queries), 1) or any(map(is_measure, measures)):
        return ()
    return (
        Warned(
            f"There are more measures ({len(measures):,}) than queries ({len(queries):,}): were "
            "they given as {run: {query: {measure: value}}}? The order is run, measure, query."
        ),
    )


def _leaves(found: Iterable[Leaf], source: str, notes: Sequence[str] = ()) -> Part:
    rows = []
    for at, (run, measure, key, given) in enumerate(found):
        query = as_id(key, source)
        value = None if given is None else number_of(given)
        if given is not None and (value is None or value != value):
            where = "" if run is None else f" in run {run!r}"
            raise InputError(f"{source}: {no_number(query, given, where)}")
        rows.append((run, measure, query, value, at))
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return Part(frame, partial(_somewhere, source), source, tuple(notes))


def _somewhere(source: str, row: int) -> str:
    return source


def _of_judged(content: Mapping[Any, Any], source: str) -> Part:
    """The JSON of `judged evaluate --per-query`."""
    found: list[Leaf] = []
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
            found += [(run["name"], name, query, value) for name, value in values.items()]
    if not found:
        raise InputError(f"{source}: holds no values.")
    part = _leaves(found, source, tuple(dict.fromkeys(notes)))
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
