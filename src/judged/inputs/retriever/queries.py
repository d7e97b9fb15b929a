"""Queries to ask: {id: query}, a list of texts, rows, a table or a file."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, quoted
from judged.inputs.dicts import as_id, is_list, with_texts
from judged.inputs.retriever.results import table_rows
from judged.inputs.tables import Kind
from judged.text import quote

if TYPE_CHECKING:
    from judged.inputs.source import Source

QUERIES = Kind("queries", "text", "2 columns: id, text")
TEXTS = (
    *("text", "query_text", "query", "question", "user_input", "input", "title", "topic"),
    *("content", "utterance", "prompt"),
)
"""What the column with what is asked may be called, the surest name first."""
IDS = (
    *("query_id", "qid", "topic_id", "question_id", "query_no", "_id", "id"),
    *("query", "question", "topic", "user_id", "user"),
)
"""What the column with the id may be called, the surest name first."""
FORMS = "{id: query}, a list of texts, rows with an id and a text, a table, or a file"


def read_queries(given: Any) -> dict[str, Any]:
    """What is asked for each id."""
    if isinstance(given, Mapping):
        if not given:
            raise InputError("there are no queries to ask; give at least one.")
        return with_texts(given, "the queries", "queries")
    if isinstance(given, (str, PathLike)):
        return _from_file(fspath(given))
    rows = table_rows(given)
    if rows is None and not is_list(given):
        raise InputError(f"queries are {FORMS}; got {quoted(given)}.")
    rows = list(given) if rows is None else rows
    if not rows:
        raise InputError("there are no queries to ask; give at least one.")
    return _from_rows(_numbered(rows))


def _from_rows(rows: Iterable[tuple[str, Any]], source: str = "the queries") -> dict[str, Any]:
    """Texts, which are their own ids; (id, query); or mappings with an id and a text."""
    found: dict[str, Any] = {}
    places: dict[str, str] = {}
    columns: tuple[str, str] | None = None
    for place, row in rows:
        where = f"{source}, {place}"
        if isinstance(row, str):
            query, asked = row, row
        elif isinstance(row, Mapping):
            columns = columns or columns_of([name for name in row if isinstance(name, str)], source)
            for name in dict.fromkeys(columns):
                if row.get(name) is None or row[name] == "":
                    raise InputError(f"{where}: {quote(name)} is missing.")
            query, asked = row[columns[0]], row[columns[1]]
        elif is_list(row) and len(row) == 2:
            query, asked = row
        else:
            raise InputError(f"{where}: {quoted(row)} is no query; queries are {FORMS}.")
        name = as_id(query, where)
        if name in found:
            raise InputError(
                f"{where}: the query {quote(name)} was in {places[name]} already; name each once."
            )
        found[name], places[name] = asked, place
    return found


def columns_of(header: Sequence[str], source: str) -> tuple[str, str]:
    """The names of the columns with the id and with what is asked: the same one, where texts are
    their own ids."""
    plain = {_plain(name): name for name in reversed(header)}
    texts = [plain[name] for name in map(_plain, TEXTS) if name in plain]
    if not texts:
        raise InputError(
            f"{source}: no column with the text of a query; the columns are "
            f"{', '.join(quote(name, 30) for name in header[:20])}. Names understood: "
            f"{', '.join(TEXTS)}; of the id: {', '.join(IDS)}."
        )
    ids = [plain[name] for name in map(_plain, IDS) if name in plain and plain[name] != texts[0]]
    return (ids or texts)[0], texts[0]


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def _from_file(path: str) -> dict[str, Any]:
    """JSON, NDJSON, Parquet, CSV with a header, or lines: a text, or an id, a tab and a text."""
    from judged.inputs.formats import promised
    from judged.inputs.source import open_source

    source = open_source(path, QUERIES)
    form = promised(source.path)
    head = source.head().lstrip()
    if head.startswith(b"PAR1"):
        return _from_rows(_numbered(_parquet(source)), source.label)
    if form == "ndjson" or head.startswith((b"{", b"[")):
        return _from_json(source, lines=form == "ndjson")
    return _from_rows(_separated(source, is_csv=form == "csv"), source.label)


def _numbered(rows: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"row {number}", row) for number, row in enumerate(rows, 1))


def _parquet(source: Source) -> list[dict[str, Any]]:
    from io import BytesIO

    import polars as pl

    from judged.inputs.polars_errors import reading_parquet

    with reading_parquet(source.label):
        return pl.read_parquet(BytesIO(source.read())).to_dicts()


def _from_json(source: Source, *, lines: bool) -> dict[str, Any]:
    from judged.inputs.json import parse

    expected = "JSON of queries is {id: query}, or a list of rows with an id and a text."
    first, *rest = (line for line in source.lines() if line.strip())
    if lines or (rest and first.rstrip().endswith(b"}")):
        rows = (
            (f"line {number}", parse(source, line, number, expected))
            for number, line in enumerate(source.lines(), 1)
            if line.strip()
        )
        return _from_rows(rows, source.label)
    content = parse(source, source.read(), 1, expected, whole=True)
    if not isinstance(content, list | dict) or not content:
        raise InputError(f"{source.label}: {expected}")
    if isinstance(content, list):
        return _from_rows(_numbered(content), source.label)
    return with_texts(content, source.label, "queries")


def _rows(reader: Any, label: str) -> Iterator[list[str]]:
    from judged.inputs.source import not_a_table

    try:
        yield from reader
    except csv.Error as error:
        raise not_a_table(f"{label}, line {reader.line_num}", error) from None


def _separated(source: Source, *, is_csv: bool) -> Iterator[tuple[str, Any]]:
    from judged.inputs.source import decoded

    numbered = enumerate(source.lines(ends=True), 1)
    texts = (decoded(source.label, number, line) for number, line in numbered)
    tabs = {} if is_csv else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    reader = csv.reader(texts, **tabs)  # type: ignore[arg-type]
    header: list[str] | None = None
    began = False
    for raw in _rows(reader, source.label):
        cells = [cell.strip() for cell in raw]
        place = f"line {reader.line_num}"
        if not any(cells):
            continue
        if not began:
            began = True
            if is_csv or _is_header(cells):
                columns_of(cells, source.label)
                header = cells
                continue
        if len(cells) not in ((1, 2) if header is None else (len(header),)):
            wanted = (
                "a text, or an id, a tab and a text" if header is None else f"{len(header)} fields"
            )
            raise InputError(
                f"{source.label}, {place}: expected {wanted}; found {len(cells)} fields: "
                f"{quote(', '.join(cells))}."
            )
        if header is not None:
            yield place, dict(zip(header, cells, strict=True))
        else:
            yield place, cells[0] if len(cells) == 1 else cells


def _is_header(cells: Sequence[str]) -> bool:
    """Whether the first line names a column of texts and, where there are more, one of ids."""
    plain = list(map(_plain, cells))
    texts = {_plain(name) for name in TEXTS} & set(plain)
    ids = {_plain(name) for name in IDS} & set(plain)
    return bool(texts) and (len(plain) == 1 or len(texts | ids) > 1)
