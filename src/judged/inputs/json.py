"""NDJSON and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import Columns, choose_columns
from judged.inputs.dicts import holds_subtopics, results_of
from judged.inputs.documents import document_of
from judged.inputs.source import POLARS_ERRORS, LineNumbers, Source
from judged.inputs.tables import RUN, Reading, Row, as_score, from_rows, is_complete
from judged.inputs.whitespace import has_lone_returns
from judged.text import quote


def read_ndjson(source: Source) -> Reading:
    """A row per line; the first row names the columns."""
    first = next(objects(source), None)
    if first is None:
        raise InputError(f"{source.label}: holds no rows.")
    columns = choose_columns(list(first[1]), source.kind, source.label, source.columns)
    reading = _at_once(source, first[1], columns) or _one_by_one(
        source, objects(source), columns, list(first[1])
    )
    return Reading(
        reading.frame, reading.notes + columns.notes, LineNumbers.of(source, line_numbers)
    )


def read_json(source: Source) -> Reading:
    """{query: {item: value}}, {query: [item, …]} for a run, {query: {item: {subtopic: grade}}}, or
    a list of rows."""
    content = parse(source, source.read(), 1, _expected(source), whole=True)
    if isinstance(content, dict) and content:
        document = document_of(content, source.kind, source.label)
        if document is not None:
            reading = _from_dict(source, document.lists)
            return replace(reading, notes=(*document.notes, *reading.notes))
        return _from_dict(source, content)
    if not isinstance(content, list | dict):
        raise InputError(f"{source.label}: {_expected(source)}")
    if not content:
        raise InputError(f"{source.label}: holds no rows.")
    if not all(isinstance(row, dict) for row in content):
        raise InputError(f"{source.label}: {_expected(source)}")
    header = list(content[0])
    columns = choose_columns(header, source.kind, source.label, source.columns)
    rows = ((f"row {number}", row) for number, row in enumerate(content, 1))
    reading = _one_by_one(source, rows, columns, header)
    return Reading(reading.frame, reading.notes + columns.notes)


def _expected(source: Source) -> str:
    lists = ", {query: [item, …]} or {query: [[item, score], …]}" if source.kind is RUN else ""
    return (
        f"JSON should be {{query: {{item: {source.kind.value}}}}}{lists}, or a list of rows "
        "with names."
    )


def _from_dict(source: Source, content: Mapping[str, Any]) -> Reading:
    """A query with nothing in it becomes a row that only names it."""
    rows: list[Row] = []
    notes: dict[str, None] = {}
    value = source.kind.value
    by_subtopic = source.kind is not RUN and holds_subtopics(content)
    lists = source.kind is RUN and any(isinstance(each, list) for each in content.values())
    for query, results in content.items():
        place = f"{source.label}, query {quote(query, 30)}"
        if not isinstance(results, list | dict) or isinstance(results, list) > lists:
            raise InputError(f"{place}: {_expected(source)}")
        if not query or "" in results:
            raise InputError(f"{place}: the {'item' if query else 'query'} is an empty text.")
        if not results:
            rows.append((query, None, None))
        elif isinstance(results, list):
            pairs, assumed = results_of(results, place)
            notes.update(assumed)
            for at, (item, score) in enumerate(pairs, 1):
                rows.append((query, item, _number(score, value, f"{place}, result {at}")))
        elif lists:
            raise InputError(f"{place}: other queries have lists. {_expected(source)}")
        else:
            for item, given in results.items():
                where = f"{place}, item {quote(item, 30)}"
                if by_subtopic:
                    rows += _by_subtopic(query, item, given, where)
                else:
                    rows.append((query, item, _number(given, value, where)))
    subtopic = "subtopic" if by_subtopic else None
    return Reading(from_rows(rows, source.kind, subtopic), tuple(notes))


def _by_subtopic(query: str, item: str, value: object, place: str) -> Iterator[Row]:
    if not isinstance(value, dict) or not value:
        raise InputError(
            f"{place}: expected {{subtopic: grade}}, as other items have; found "
            f"{quote(json.dumps(value), 30)}."
        )
    for subtopic, grade in value.items():
        yield (
            query,
            item,
            _number(grade, "grade", f"{place}, subtopic {quote(subtopic, 30)}"),
            subtopic,
        )


def _at_once(source: Source, first: Mapping[str, Any], columns: Columns) -> Reading | None:
    """None where polars cannot read it, or might have made a text of something that is no id."""
    names = list(first)
    ids = {role: names[position] for role, position in _ids(columns).items()}
    integers = {name for name in ids.values() if isinstance(first[name], int)}
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        name: pl.Int64 if name in integers else pl.String for name in ids.values()
    }
    schema[names[columns.value]] = pl.Float64
    value = as_score(pl.col(names[columns.value]), columns.is_rank)
    try:
        frame = (
            pl.scan_ndjson(source.for_polars(), schema=schema)
            .select(
                *(pl.col(name).cast(pl.String).alias(role) for role, name in ids.items()),
                value.alias(source.kind.value),
            )
            .collect(engine="streaming")
        )
    except POLARS_ERRORS:
        return None
    texts = [name for name in ids.values() if name not in integers]
    others = [*integers, names[columns.value]]
    # polars reads half a surrogate pair as NUL.
    halves = any(frame[role].str.contains("\0", literal=True).any() for role in ids)
    if halves or not is_complete(frame) or not _plain(source, frame.height, texts, others):
        return None
    return Reading(
        frame,
        tuple(_integer_note(ids[role]) for role in ("query", "item") if ids[role] in integers),
    )


_IN_CACHE = 1 << 18
_ESCAPED_NAME = re.compile(rb'\\[^"\\]*(?:\\.[^"\\]*)*"\s*:')


def _plain(source: Source, rows: int, texts: Sequence[str], others: Sequence[str]) -> bool:
    """Whether each name stands once for each row, those in `texts` before a text: polars takes the
    first of two, and makes the text "1" of the number 1.0."""
    keys = {name: json.dumps(name, ensure_ascii=False).encode() for name in (*texts, *others)}
    found = dict.fromkeys(keys.values(), 0)
    with source.open() as handle:
        while block := handle.read(_IN_CACHE) + handle.readline():
            if has_lone_returns(block):
                return False
            gap = b": " if b'": "' in block else b":"
            if b"\\" in block and _ESCAPED_NAME.search(block):
                return False
            for name, key in keys.items():
                found[key] += block.count(key)
                if name in texts:
                    start = key + gap + b'"'
                    found[start] = found.get(start, 0) + block.count(start)
    return set(found.values()) == {rows}


def _one_by_one(
    source: Source,
    rows: Iterable[tuple[str, Mapping[str, Any]]],
    columns: Columns,
    header: Sequence[str],
) -> Reading:
    """The second look: names the first bad row, or returns the rows."""
    names = {
        "query": header[columns.query],
        "item": header[columns.item],
        source.kind.value: header[columns.value],
    }
    ids = {role: header[position] for role, position in _ids(columns).items()}
    integers: dict[str, None] = {}
    sign = -1 if columns.is_rank else 1
    found: list[Row] = []
    for where, row in rows:
        place = f"{source.label}, {where}"
        value = row.get(names[source.kind.value])
        named_only = value is None and row.get(names["item"]) is None
        for role, name in names.items():
            if named_only and role != "query":
                continue
            if row.get(name) is None or row[name] == "":
                raise InputError(f"{place}: the {role} is missing (no {quote(name)}).")
        texts: list[str] = []
        for role, name in ids.items():
            identity = "" if row.get(name) is None else row[name]
            allowed = str | int if role in names else str | int | float
            if isinstance(identity, bool) or not isinstance(identity, allowed):
                given = quote(json.dumps(identity), 30)
                raise InputError(
                    f"{place}: the {role} is {given}, but ids must be strings or integers."
                )
            if isinstance(identity, int) and role in names:
                integers[name] = None
            texts.append(str(identity))
        _refuse_halves("".join(texts), place)
        if named_only:
            found.append((texts[0], None, None))
            continue
        number = sign * _number(value, source.kind.value, place)
        found.append(
            (texts[0], texts[1], number)
            if columns.subtopic is None
            else (texts[0], texts[1], number, texts[2])
        )
    subtopic_role = None if columns.subtopic is None else columns.subtopic_role
    return Reading(
        from_rows(found, source.kind, subtopic_role), tuple(map(_integer_note, integers))
    )


def _ids(columns: Columns) -> dict[str, int]:
    """Where the ids are, by what they become."""
    subtopic = {} if columns.subtopic is None else {columns.subtopic_role: columns.subtopic}
    return {"query": columns.query, "item": columns.item, **subtopic}


def _integer_note(name: str) -> str:
    return f"The integer ids of column {quote(name)} were turned into strings."


def _number(value: object, role: str, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{place}: the {role} is not a number: {quote(json.dumps(value), 30)}.")
    return float(
        str(value)
    )  # by way of text, an integer too large for a float is infinite, as in the other formats


def objects(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    """The object of each line of NDJSON, with the number of the line."""
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            content = parse(source, line, number, _expected(source))
            if not isinstance(content, dict):
                raise InputError(
                    f"{source.label}, line {number}: expected a JSON object, found {quote(line)}."
                )
            yield f"line {number}", content


def parse(source: Source, text: bytes, line: int, expected: str, *, whole: bool = False) -> Any:
    """JSON that begins in a line of a source, its `whole` text or a part."""
    objects = 0

    def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal objects
        objects += 1  # in the order in which they end
        content = dict(pairs)
        if len(content) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            number = line + text.count(b"\n", 0, _end_of_object(text, objects))
            ends = ", which ends here" if whole else ""
            raise InputError(
                f"{source.label}, line {number}: {quote(twice, 30)} occurs twice in one "
                f"object{ends}."
            )
        return content

    try:
        content = json.loads(text.decode(), object_pairs_hook=without_repetition)
        if whole and isinstance(content, dict) and _SURROGATE.search(text):
            _refuse_halves(json.dumps(content, ensure_ascii=False), source.label)
        return content
    except InputError:
        raise
    except UnicodeDecodeError as error:
        number = line + text.count(b"\n", 0, error.start)
        raise InputError(
            f"{source.label}, line {number}: not UTF-8 text. Convert the file to UTF-8 first."
        ) from None
    except json.JSONDecodeError as error:
        lines = error.doc.split("\n")[: error.lineno]
        bad = next((each for each in reversed(lines) if each.strip()), "")
        cut = "" if error.doc[error.pos :].strip() else " The text may be cut off here."
        place = f"{source.label}, line {line + error.lineno - 1}"
        raise InputError(
            f"{place}: not valid JSON ({error.msg}, column {error.colno}): {quote(bad)}.{cut}"
        ) from None
    except ValueError as error:  # an integer with thousands of digits
        raise InputError(f"{source.label}: the JSON cannot be read ({error}).") from None
    except RecursionError:
        raise InputError(f"{source.label}: the JSON is nested too deeply. {expected}") from None


_SURROGATE = re.compile(rb"\\u[dD]")
_STRING_OR_END = re.compile(rb'"(?:[^"\\]|\\.)*"|\}')


def _end_of_object(text: bytes, number: int) -> int:
    """Where the object ends that is the `number`-th to end."""
    ends = (found.start() for found in _STRING_OR_END.finditer(text) if found[0] == b"}")
    return next(islice(ends, number - 1, None))


def _refuse_halves(text: str, place: str) -> None:
    """Refuse half a surrogate pair, which no text in UTF-8 can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = quote(error.object[error.start : error.end])
        raise InputError(
            f"{place}: {half} is half of a pair and no character; write the other half, too."
        ) from None


def line_numbers(source: Source) -> Iterator[int]:
    """The line of each row."""
    return (number for number, line in enumerate(source.lines(), 1) if line.strip())
