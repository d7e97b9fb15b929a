"""NDJSON, parsed by polars if that is safe, and JSON documents."""

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
    TableColumns,
    as_columns,
    choose_columns,
    joined,
    joined_columns,
    may_be_grade,
)
from judged.inputs.dicts import document_of, holds_subtopics, ranks_beside_scores, results_of
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

_BYTES_IN_CACHE = 1 << 18
_ESCAPED_NAME = re.compile(rb'\\[^"\\]*(?:\\.[^"\\]*)*"\s*:')
_SURROGATE = re.compile(rb"\\u[dD]")
_STRING_OR_END = re.compile(rb'"(?:[^"\\]|\\.)*"|\}')


def read_ndjson(source: Source, format: str = "ndjson") -> RawTable:
    """Read a row from each line; the first row names the columns."""
    first = next(objects(source), None)
    if first is None:
        raise InputError(f"{source.label}: holds no rows.")
    header = list(first[1])

    def sample() -> Iterator[list[Any]]:
        with suppress(InputError):  # a wrong row is reported later
            for _, row in objects(source):
                yield list(map(row.get, header))

    columns = choose_columns(header, source.kind, source.label, source.columns)
    columns = columns.with_ranks(sample())
    table = _parsed_by_polars(source, first[1], columns) or _careful_table(
        source, objects(source), columns, header
    )
    return replace(table, locate=LineNumbers.of(source, line_numbers))


def read_json(source: Source, format: str = "json") -> RawTable:
    """Read a dict of queries, a document of another tool, or a list of rows."""
    content = parse_document(source, _expected(source))
    if isinstance(content, dict) and content:
        document = document_of(content, source.kind, source.label)
        if document is None:
            return replace(_from_dict(source, content), may_be_run=source.kind is JUDGEMENTS)
        lists, notes = document
        table = _from_dict(source, lists)
        return replace(table, notes=(*notes, *table.notes))
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
    return _careful_table(source, rows, columns, header)


def _expected(source: Source) -> str:
    value = source.kind.value
    if source.kind not in (RUN, JUDGEMENTS):
        return "A line should be an object with names of columns."
    return (
        f"JSON should be {{query: {{item: {value}}}}}, {{query: [item, …]}} or "
        f"{{query: [[item, {value}], …]}}, or a list of rows with names."
    )


def _from_dict(source: Source, content: Mapping[str, Any]) -> RawTable:
    rows: list[Row] = []
    notes: dict[str, None] = {}
    if source.kind is RUN:
        notes.update(dict.fromkeys(against_ranks(ranks_beside_scores(content))))
    value = source.kind.value
    by_subtopic = source.kind is not RUN and holds_subtopics(content)
    has_lists = any(isinstance(results, list) for results in content.values())
    as_columns(source.columns).record(source.kind, source.label, "has no names of columns")
    for query, results in content.items():
        place = f"{source.label}, query {quote(query, 30)}"
        if not isinstance(results, list | dict):
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
        elif has_lists:
            raise InputError(f"{place}: other queries have lists. {_expected(source)}")
        else:
            for item, number in results.items():
                where = f"{place}, item {quote(item, 30)}"
                if by_subtopic:
                    rows += _by_subtopic(query, item, number, where)
                else:
                    rows.append((query, item, _number(number, value, where)))
    subtopic = "subtopic" if by_subtopic else None
    return RawTable(from_rows(rows, source.kind, subtopic), tuple(notes))


def _by_subtopic(query: str, item: str, grades: object, place: str) -> Iterator[Row]:
    if not isinstance(grades, dict) or not grades:
        raise InputError(
            f"{place}: expected {{subtopic: grade}}, as other items have; found "
            f"{quote(json.dumps(grades), 30)}."
        )
    for subtopic, grade in grades.items():
        number = _number(grade, "grade", f"{place}, subtopic {quote(subtopic, 30)}")
        yield query, item, number, subtopic


def _parsed_by_polars(
    source: Source, first: Mapping[str, Any], columns: TableColumns
) -> RawTable | None:
    """Return None if polars cannot read the rows, or might turn something else into an id."""
    if columns.value is None:
        return None  # other rows may have a grade that the first one lacks
    names = list(first)
    ids = {role: [names[at] for at in positions] for role, positions in columns.ids.items()}
    id_names = dict.fromkeys(name for parts in ids.values() for name in parts)
    integers = {name for name in id_names if isinstance(first[name], int)}
    numbers = {source.kind.value: names[columns.value]}
    if columns.weight is not None:
        numbers["weight"] = names[columns.weight]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        name: pl.Int64 if name in integers else pl.String for name in id_names
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
    only_texts = [name for name in id_names if name not in integers]
    rest = dict.fromkeys([*integers, *numbers.values()])
    if halves or not is_complete(frame) or not _is_plain(source, frame.height, only_texts, rest):
        return None
    noted = (name for role in ids if role not in SUBTOPIC_COLUMNS for name in ids[role])
    notes = [_integer_note(name) for name in dict.fromkeys(noted) if name in integers]
    return RawTable(frame, (*notes, *columns.notes), may_be_run=columns.may_be_run)


def _is_plain(source: Source, rows: int, texts: Iterable[str], others: Iterable[str]) -> bool:
    """Return whether each name occurs once in each row, those in `texts` before a text."""
    # polars takes the first of two, and makes the text "1" of the number 1.0.
    keys = {name: json.dumps(name, ensure_ascii=False).encode() for name in (*texts, *others)}
    counts = dict.fromkeys(keys.values(), 0)
    with source.open() as handle:
        while block := handle.read(_BYTES_IN_CACHE) + handle.readline():
            if has_lone_returns(block):
                return False
            gap = b": " if b'": "' in block else b":"
            if b"\\" in block and _ESCAPED_NAME.search(block):
                return False
            for name, key in keys.items():
                counts[key] += block.count(key)
                if name in texts:
                    start = key + gap + b'"'
                    counts[start] = counts.get(start, 0) + block.count(start)
    return set(counts.values()) == {rows}


def _careful_table(
    source: Source,
    rows: Iterable[tuple[str, Mapping[str, Any]]],
    columns: TableColumns,
    header: Sequence[str],
) -> RawTable:
    value = source.kind.value
    ids = {role: [header[at] for at in positions] for role, positions in columns.ids.items()}
    numbers = {
        role: header[at]
        for role, at in ((value, columns.value), ("weight", columns.weight))
        if at is not None
    }
    fields = {**ids, **{role: [name] for role, name in numbers.items()}}
    item_and_value = [*ids["item"], *fields.get(value, [])]
    integers: dict[str, None] = {}
    sign = -1 if columns.is_rank else 1
    is_constant = as_columns(source.columns).constant
    table: list[Row] = []
    for where, row in rows:
        place = f"{source.label}, {where}"
        if columns.value is None and not is_constant:
            _refuse_more(row, header, place)
        only_query = all(row.get(name) is None for name in item_and_value)
        for role in ("query", "item", value, "document", "weight"):
            if role == JUDGEMENTS.value or (only_query and role not in ("query", "weight")):
                continue  # an item without a grade is not judged yet
            for name in fields.get(role, []):
                if row.get(name) is None or row[name] == "":
                    raise InputError(f"{place}: the {role} is missing (no {quote(name)}).")
        texts = {
            role: joined([_text(row.get(name), role, name, place, integers) for name in names])
            for role, names in ids.items()
        }
        _refuse_halves("".join(texts.values()), place)
        weight = [_number(row[name], "weight", place) for name in fields.get("weight", [])]
        if only_query:
            table.append((texts["query"], *[None] * len(ids), *weight))
            continue
        grade: float | None = 1.0
        if columns.value is not None:
            number = row.get(numbers[value])
            unjudged = number is None or number == ""
            grade = None if unjudged else sign * _number(number, value, place)
        query, item, *others = texts.values()
        table.append((query, item, grade, *others, *weight))
    subtopic = None if columns.subtopic is None else columns.subtopic_role
    return RawTable(
        from_rows(table, source.kind, subtopic, columns.extra),
        (*map(_integer_note, integers), *columns.notes),
        may_be_run=columns.may_be_run,
    )


def _text(given: Any, role: str, name: str, place: str, integers: dict[str, None]) -> str:
    """Return a value as the text of an id; subtopics may be numbers of any kind."""
    if given is None:
        return ""
    is_subtopic = role in SUBTOPIC_COLUMNS
    allowed = str | int | float if is_subtopic else str | int
    if isinstance(given, bool) or not isinstance(given, allowed):
        raise InputError(
            f"{place}: the {role} is {quote(json.dumps(given), 30)}, but ids must be strings or "
            "integers."
        )
    if isinstance(given, int) and not is_subtopic:
        integers[name] = None
    return str(given)


def _refuse_more(row: Mapping[str, Any], header: Sequence[str], place: str) -> None:
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
    # By way of text, an integer too large for a float is infinite, as in the other formats.
    return float(str(value))


def objects(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            content = parse(source, line, number, _expected(source))
            if not isinstance(content, dict):
                raise InputError(
                    f"{source.label}, line {number}: expected a JSON object, found {quote(line)}."
                )
            yield f"line {number}", content


def parse(source: Source, text: bytes, line: int, expected: str, *, whole: bool = False) -> Any:
    """Parse JSON that begins in a line of a source, its `whole` text or a part."""
    ended_objects = 0

    def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal ended_objects
        ended_objects += 1
        content = dict(pairs)
        if len(content) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            number = line + text.count(b"\n", 0, _end_of_object(text, ended_objects))
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
        bad = next((text for text in reversed(lines) if text.strip()), "")
        cut = "" if error.doc[error.pos :].strip() else " The text may be cut off here."
        place = f"{source.label}, line {line + error.lineno - 1}"
        raise InputError(
            f"{place}: not valid JSON ({error.msg}, column {error.colno}): {quote(bad)}.{cut}"
        ) from None
    except ValueError as error:  # an integer with thousands of digits
        raise InputError(f"{source.label}: the JSON cannot be read ({error}).") from None
    except RecursionError:
        raise InputError(f"{source.label}: the JSON is nested too deeply. {expected}") from None


def parse_document(source: Source, expected: str) -> Any:
    return parse(source, source.read(), 1, expected, whole=True)


def parsed_lines(source: Source, expected: str) -> Iterator[tuple[int, Any]]:
    """Yield the JSON of each line that is not blank, with the number of the line."""
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            yield number, parse(source, line, number, expected)


def _end_of_object(text: bytes, number: int) -> int:
    """Return the place where the `number`-th object to end does so."""
    ends = (match.start() for match in _STRING_OR_END.finditer(text) if match[0] == b"}")
    return next(islice(ends, number - 1, None))


def _refuse_halves(text: str, place: str) -> None:
    """Raise an error for half a surrogate pair, which no UTF-8 text can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = quote(error.object[error.start : error.end])
        raise InputError(
            f"{place}: {half} is half of a pair and no character; write the other half, too."
        ) from None


def line_numbers(source: Source) -> Iterator[int]:
    return (number for number, line in enumerate(source.lines(), 1) if line.strip())
