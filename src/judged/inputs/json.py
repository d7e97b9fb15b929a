"""NDJSON and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

import polars as pl

from judged.errors import InputError
from judged.inputs.columns import (
    Columns,
    as_columns,
    choose_columns,
    joined,
    joined_columns,
    may_be_grade,
)
from judged.inputs.dicts import holds_subtopics, ranks_beside_scores, results_of
from judged.inputs.documents import document_of
from judged.inputs.order import against_ranks
from judged.inputs.polars_errors import POLARS_ERRORS
from judged.inputs.source import LineNumbers, Source, has_lone_returns
from judged.inputs.tables import (
    JUDGEMENTS,
    RUN,
    SUBTOPIC_COLUMNS,
    RawTable,
    Row,
    as_score,
    from_rows,
    is_complete,
)
from judged.text import quote


def read_ndjson(source: Source) -> RawTable:
    """A row per line; the first row names the columns."""
    first = next(objects(source), None)
    if first is None:
        raise InputError(f"{source.label}: holds no rows.")
    header = list(first[1])
    columns = choose_columns(header, source.kind, source.label, source.columns)
    columns = columns.with_ranks(_sample(source, header))
    reading = _at_once(source, first[1], columns) or _one_by_one(
        source, objects(source), columns, list(first[1])
    )
    return RawTable(
        reading.frame,
        reading.notes + columns.notes,
        LineNumbers.of(source, line_numbers),
        may_be_run=columns.may_be_run,
    )


def _sample(source: Source, header: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the first rows, up to one that is wrong: it is named where all are read."""
    with suppress(InputError):
        for _, row in objects(source):
            yield list(map(row.get, header))


def read_json(source: Source) -> RawTable:
    """{query: {item: value}}, {query: [item, …]}, {query: {item: {subtopic: grade}}}, or a list of
    rows."""
    content = parse(source, source.read(), 1, _expected(source), whole=True)
    if isinstance(content, dict) and content:
        document = document_of(content, source.kind, source.label)
        if document is not None:
            reading = _from_dict(source, document.lists)
            return replace(reading, notes=(*document.notes, *reading.notes))
        return replace(_from_dict(source, content), may_be_run=source.kind is JUDGEMENTS)
    if not isinstance(content, list | dict):
        raise InputError(f"{source.label}: {_expected(source)}")
    if not content:
        raise InputError(f"{source.label}: holds no rows.")
    if not all(isinstance(row, dict) for row in content):
        raise InputError(f"{source.label}: {_expected(source)}")
    header = list(content[0])
    columns = choose_columns(header, source.kind, source.label, source.columns)
    columns = columns.with_ranks(list(map(row.get, header)) for row in content)
    rows = ((f"row {number}", row) for number, row in enumerate(content, 1))
    reading = _one_by_one(source, rows, columns, header)
    return RawTable(reading.frame, reading.notes + columns.notes, may_be_run=columns.may_be_run)


def _expected(source: Source) -> str:
    value = source.kind.value
    return (
        f"JSON should be {{query: {{item: {value}}}}}, {{query: [item, …]}} or "
        f"{{query: [[item, {value}], …]}}, or a list of rows with names."
    )


def _from_dict(source: Source, content: Mapping[str, Any]) -> RawTable:
    """A query with nothing in it becomes a row that only names it."""
    rows: list[Row] = []
    notes: dict[str, None] = {}
    if source.kind is RUN:
        notes.update(dict.fromkeys(against_ranks(ranks_beside_scores(content))))
    value = source.kind.value
    by_subtopic = source.kind is not RUN and holds_subtopics(content)
    lists = any(isinstance(each, list) for each in content.values())
    as_columns(source.columns).record(source.kind, source.label, "has no names of columns")
    for query, results in content.items():
        place = f"{source.label}, query {quote(query, 30)}"
        if not isinstance(results, list | dict) or isinstance(results, list) > lists:
            raise InputError(f"{place}: {_expected(source)}")
        if not query or "" in results:
            raise InputError(f"{place}: the {'item' if query else 'query'} is an empty text.")
        if not results:
            rows.append((query, None, None))
        elif isinstance(results, list):
            pairs, assumed = results_of(results, place, source.kind)
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
    return RawTable(from_rows(rows, source.kind, subtopic), tuple(notes))


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


def _at_once(source: Source, first: Mapping[str, Any], columns: Columns) -> RawTable | None:
    """None where polars cannot read it, or might have made a text of something that is no id."""
    if columns.value is None:
        return None  # other rows may have a grade, where the first has none
    names = list(first)
    ids = {role: [names[at] for at in positions] for role, positions in columns.ids.items()}
    every = dict.fromkeys(name for parts in ids.values() for name in parts)
    integers = {name for name in every if isinstance(first[name], int)}
    numbers = {source.kind.value: names[columns.value]}
    if columns.weight is not None:
        numbers["weight"] = names[columns.weight]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        name: pl.Int64 if name in integers else pl.String for name in every
    }
    schema |= dict.fromkeys(numbers.values(), pl.Float64)
    texts = {
        role: joined_columns([pl.col(name).cast(pl.String) for name in parts]).alias(role)
        for role, parts in ids.items()
    }
    value = as_score(pl.col(names[columns.value]), columns.is_rank).alias(source.kind.value)
    others = [column for role, column in texts.items() if role not in ("query", "item")]
    weight = [pl.col(name).alias(role) for role, name in numbers.items() if role == "weight"]
    try:
        frame = (
            pl.scan_ndjson(source.for_polars(), schema=schema)
            .select(texts["query"], texts["item"], value, *others, *weight)
            .collect(engine="streaming")
        )
    except POLARS_ERRORS:
        return None
    # polars reads half a surrogate pair as NUL.
    halves = any(frame[role].str.contains("\0", literal=True).any() for role in ids)
    only_texts = [name for name in every if name not in integers]
    rest = dict.fromkeys([*integers, *numbers.values()])
    if halves or not is_complete(frame) or not _plain(source, frame.height, only_texts, rest):
        return None
    noted = dict.fromkeys(
        name for role in ids if role not in SUBTOPIC_COLUMNS for name in ids[role]
    )
    return RawTable(frame, tuple(_integer_note(name) for name in noted if name in integers))


_IN_CACHE = 1 << 18
_ESCAPED_NAME = re.compile(rb'\\[^"\\]*(?:\\.[^"\\]*)*"\s*:')


def _plain(source: Source, rows: int, texts: Iterable[str], others: Iterable[str]) -> bool:
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
) -> RawTable:
    """The second look: names the first bad row, or returns the rows."""
    value = source.kind.value
    ids = {role: [header[at] for at in positions] for role, positions in columns.ids.items()}
    numbers = {
        role: header[at]
        for role, at in ((value, columns.value), ("weight", columns.weight))
        if at is not None
    }
    integers: dict[str, None] = {}
    sign = -1 if columns.is_rank else 1
    said = as_columns(source.columns).constant
    found: list[Row] = []
    for where, row in rows:
        place = f"{source.label}, {where}"
        if columns.value is None and not said:
            _refuse_more(row, header, place)
        named_only = all(row.get(name) is None for name in _of(ids["item"], numbers.get(value)))
        for role in ("query", "item", value, "document", "weight"):
            if role == JUDGEMENTS.value or (named_only and role not in ("query", "weight")):
                continue  # without a grade, nobody judged it yet
            for name in _of(ids.get(role, []), numbers.get(role)):
                if row.get(name) is None or row[name] == "":
                    raise InputError(f"{place}: the {role} is missing (no {quote(name)}).")
        texts: dict[str, str] = {}
        for role, names in ids.items():
            parts = [_text(row.get(name), role, name, place, integers) for name in names]
            texts[role] = joined(parts)
        _refuse_halves("".join(texts.values()), place)
        weight = [_number(row[name], "weight", place) for name in _of([], numbers.get("weight"))]
        if named_only:
            found.append((texts["query"], *[None] * len(ids), *weight))
            continue
        grade: float | None = 1.0
        if columns.value is not None:
            given = row.get(numbers[value])
            unjudged = given is None or given == ""
            grade = None if unjudged else sign * _number(given, value, place)
        query, item, *others = texts.values()
        found.append((query, item, grade, *others, *weight))
    subtopic = None if columns.subtopic is None else columns.subtopic_role
    return RawTable(
        from_rows(found, source.kind, subtopic, columns.extra), tuple(map(_integer_note, integers))
    )


def _of(names: Sequence[str], number: str | None) -> list[str]:
    return [*names, *filter(None, [number])]


def _text(given: Any, role: str, name: str, place: str, integers: dict[str, None]) -> str:
    """A value as the text of an id; subtopics may be numbers of any kind."""
    if given is None:
        return ""
    of_subtopic = role in SUBTOPIC_COLUMNS
    allowed = str | int | float if of_subtopic else str | int
    if isinstance(given, bool) or not isinstance(given, allowed):
        raise InputError(
            f"{place}: the {role} is {quote(json.dumps(given), 30)}, but ids must be strings or "
            "integers."
        )
    if isinstance(given, int) and not of_subtopic:
        integers[name] = None
    return str(given)


def _refuse_more(row: Mapping[str, Any], header: Sequence[str], place: str) -> None:
    """Refuse a row that may have a grade, where the first row has none."""
    if more := [name for name in row if name not in header and may_be_grade(name)]:
        raise InputError(
            f"{place}: there is {quote(more[0], 30)}, which the first row does not have; give "
            "every row a grade, or none."
        )


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
