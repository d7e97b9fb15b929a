"""Titles and texts of items and queries by their ids.

Files are read line by line, because a collection may be larger than memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from judged.errors import InputError, quoted
from judged.inputs.columns import NAMES, shown_header
from judged.inputs.dicts import as_id, is_list, numbered
from judged.inputs.keyed import json_rows, separated_rows
from judged.inputs.objects import from_arrow
from judged.inputs.polars_errors import reading_parquet
from judged.inputs.source import Source, open_source
from judged.inputs.tables import Kind
from judged.text import counted, quote

if TYPE_CHECKING:
    from judged.options import TextsLike

Of = Literal["items", "queries"]
TITLES = ("title", "headline", "heading", "name", "subject")
TEXTS = (
    *("text", "contents", "content", "body", "abstract", "description", "passage", "chunk"),
    *("document", "doc", "snippet", "caption", "summary"),
)
QUERY_TEXTS = (
    *("text", "query_text", "question_text", "query", "question", "user_input", "topic"),
    *("utterance", "prompt", "input", "content", "description"),
)
IDS: dict[Of, tuple[str, ...]] = {
    "items": ("_id", "id", *NAMES["item"]),
    "queries": (*NAMES["query"][:5], "id", *NAMES["query"][5:]),
}
FORMS = "{id: text}, {id: {title, text}}, rows with an id and a text, a table, or a file"
_KINDS: dict[Of, Kind] = {
    "items": Kind("a table of texts", "text", "the columns id and text, perhaps title"),
    "queries": Kind("a table of queries", "text", "the columns id and text"),
}

_Entry = tuple[str, Any, Any, Any]
_Positions = tuple[int, "int | None", "int | None"]


@dataclass(frozen=True, slots=True)
class Text:
    title: str = ""
    text: str = ""

    @property
    def heading(self) -> str:
        return self.title or self.text

    @property
    def line(self) -> str:
        return self.text if self.title else ""


@dataclass(frozen=True, eq=False)
class Texts(Mapping[str, Text]):
    titles: Mapping[str, str]
    texts: Mapping[str, str]
    source: str = "the texts given"

    def __getitem__(self, name: str) -> Text:
        return Text(self.titles.get(name, ""), self.texts[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def __contains__(self, name: object) -> bool:
        return name in self.texts


def read_texts(
    given: TextsLike, *, of: Of = "items", only: Collection[str] | None = None, strip: bool = True
) -> Texts:
    """Read the titles and texts of items or of queries."""
    if isinstance(given, Texts):
        return given
    source = "the texts given" if of == "items" else "the queries given"
    if isinstance(given, (str, PathLike)):
        file = open_source(fspath(given), _KINDS[of])
        source, entries = file.label, _in_file(file, of)
    elif isinstance(given, Mapping):
        entries = _in_dict(given, source)
    else:
        entries = _in_rows(numbered(_rows_of(given)), source, of)
    wanted = None if only is None else frozenset(only)
    titles: dict[str, str] = {}
    texts: dict[str, str] = {}
    is_empty = True
    for place, key, title, text in entries:
        is_empty = False
        name = as_id(key, place)
        if wanted is not None and name not in wanted:
            continue
        if name in texts:
            owner = "item" if of == "items" else "query"
            raise InputError(
                f"{place}: {owner} {quote(name)} has a text already; give each one row."
            )
        texts[name] = _cell(text, place, strip)
        if heading := _cell(title, place, strip):
            titles[name] = heading
    if is_empty:
        raise InputError(f"{source}: holds no rows.")
    return Texts(titles, texts, source)


def _cell(given: Any, place: str, strip: bool) -> str:
    if given is None or (isinstance(given, float) and given != given):
        return ""
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise InputError(f"{place}: {quoted(given)} is not a text.")
    return str(given).strip() if strip else str(given)


def text_columns(header: Sequence[str], of: Of = "items", place: str = "") -> _Positions:
    """Return the positions of the id, the title and the text; none of them is an error."""
    columns = _columns(header, of)
    if columns is None:
        texts = TEXTS if of == "items" else QUERY_TEXTS
        raise InputError(
            f"{place}: the columns are {shown_header(header)}; an id and a title or a text are "
            f"needed. Names understood for the id: {', '.join(IDS[of][:5])}, …; for the title: "
            f"{', '.join(TITLES)}; for the text: {', '.join(texts)}."
        )
    return columns


def _columns(header: Sequence[str], of: Of) -> _Positions | None:
    def plain(name: str) -> str:
        return re.sub(r"[\s_-]", "", name).lower() or name

    places = {plain(name): at for at, name in reversed(list(enumerate(header)))}

    def first(names: Sequence[str], *taken: int | None) -> int | None:
        known = (places.get(plain(name)) for name in names)
        return next((at for at in known if at is not None and at not in taken), None)

    if of == "queries":  # a text without an id is its own
        text = first(QUERY_TEXTS)
        key = first(IDS[of], text)
        title = first(TITLES, key, text)
        if key is None:
            key, text = text, text if title is None else None
    else:
        key = first(IDS[of])
        text = first(TEXTS, key)
        title = first(TITLES, key, text)
    return None if key is None or (text is None and title is None) else (key, title, text)


def _in_file(source: Source, of: Of) -> Iterator[_Entry]:
    head = source.head().lstrip()
    if head.startswith(b"PAR1"):
        return _in_parquet(source, of)
    if head.startswith((b"{", b"[")):
        return _in_json(source, of)
    return _in_lines(source, of)


def _in_parquet(source: Source, of: Of) -> Iterator[_Entry]:
    import polars as pl

    with reading_parquet(source.label):
        frame = pl.scan_parquet(source.for_polars(), glob=False)
        header = frame.collect_schema().names()
        names = {header[at] for at in text_columns(header, of, source.label) if at is not None}
        rows = frame.select(name for name in header if name in names).collect()
    return _in_rows(numbered(rows.iter_rows(named=True)), source.label, of)


def _in_json(source: Source, of: Of) -> Iterator[_Entry]:
    expected = f"JSON of texts is {FORMS.partition(', a table')[0]}."
    content = json_rows(source, expected, lambda names: _columns(names, of) is not None)
    if isinstance(content, Mapping):
        return _in_dict(content, source.label)
    return _in_rows(content, source.label, of)


def _in_lines(source: Source, of: Of) -> Iterator[_Entry]:
    """Read CSV with a header, or lines between tabs, in which quotation marks are letters."""
    rows = separated_rows(source, verbatim=True)
    number, cells = next(rows, (0, []))
    columns = _columns(cells, of)
    if columns is None:
        if len(cells) != 2 and (len(cells) != 1 or of == "items"):
            text_columns(cells, of, source.label)
        yield f"{source.label}, line {number}", cells[0], None, cells[-1]
        columns = 0, None, len(cells) - 1
    width = len(cells)
    key, title, text = columns
    for number, cells in rows:
        place = f"{source.label}, line {number}"
        if len(cells) != width:
            raise InputError(
                f"{place}: expected {counted(width, 'field')}, found {len(cells)}: "
                f"{quote(' '.join(cells))}."
            )
        yield (
            place,
            cells[key].strip(),
            None if title is None else cells[title],
            None if text is None else cells[text],
        )


def _in_dict(given: Mapping[Any, Any], source: str) -> Iterator[_Entry]:
    for name, value in given.items():
        place = f"{source}, {quote(str(name), 30)}"
        if isinstance(value, Mapping):
            title = next((value[known] for known in TITLES if known in value), None)
            text = next((value[known] for known in TEXTS if known in value), None)
            if title is None and text is None:
                raise InputError(f"{place}: {quoted(dict(value))} has neither title nor text.")
            yield place, name, title, text
        elif isinstance(value, Text):
            yield place, name, value.title, value.text
        else:
            yield place, name, None, value


def _rows_of(given: Any) -> Iterable[Any]:
    import polars as pl

    if hasattr(given, "to_dict") and hasattr(given, "iloc"):
        rows: list[Any] = given.to_dict("records")
        return rows
    if hasattr(given, "__arrow_c_stream__") and not isinstance(given, pl.DataFrame):
        given = from_arrow(given)
    if isinstance(given, (pl.LazyFrame, pl.DataFrame)):
        return given.lazy().collect().iter_rows(named=True)
    if is_list(given):
        return list(given)
    raise InputError(f"texts are {FORMS}; got {quoted(given)}.")


def _in_rows(rows: Iterable[tuple[str, Any]], source: str, of: Of) -> Iterator[_Entry]:
    """Read mappings with an id and a text, or pairs of them."""
    known: dict[tuple[str, ...], _Positions] = {}
    for number, row in rows:
        place = f"{source}, {number}"
        if isinstance(row, Mapping):
            header = tuple(name for name in row if isinstance(name, str))
            if header not in known:
                known[header] = text_columns(header, of, place)
            key, title, text = (None if at is None else header[at] for at in known[header])
            assert key is not None
            if row[key] is None:
                raise InputError(f"{place}: {quote(key)} is missing.")
            yield place, row[key], title and row[title], text and row[text]
        elif is_list(row) and len(row) == 2:
            yield place, row[0], None, row[1]
        elif isinstance(row, str) and of == "queries":
            yield place, row, None, row
        else:
            raise InputError(f"{place}: {quoted(row)} is not a row of texts; texts are {FORMS}.")
