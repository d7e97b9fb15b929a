"""What items and queries say: the title and the text of each id, to be read beside numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from judged.errors import InputError, quoted
from judged.inputs.columns import NAMES
from judged.inputs.csv import records
from judged.inputs.dicts import as_id, is_list
from judged.inputs.json import parse
from judged.inputs.objects import from_arrow
from judged.inputs.polars_errors import reading_parquet
from judged.inputs.source import Source, decoded, open_source
from judged.inputs.tables import Kind
from judged.text import counted, quote

if TYPE_CHECKING:
    from judged.options import TextsLike

Of = Literal["items", "queries"]
"""Whose texts they are: names of columns mean another thing beside another."""

TITLES = ("title", "headline", "heading", "name", "subject")
"""What the column of titles may be called, the surest name first."""
TEXTS = (
    *("text", "contents", "content", "body", "abstract", "description", "passage", "chunk"),
    *("document", "doc", "snippet", "caption", "summary"),
)
"""What the column of an item's texts may be called, the surest name first."""
QUERY_TEXTS = (
    *("text", "query_text", "question_text", "query", "question", "user_input", "topic"),
    *("utterance", "prompt", "content", "description"),
)
"""The same for what is asked."""
IDS: dict[Of, tuple[str, ...]] = {
    "items": ("_id", "id", *NAMES["item"]),
    "queries": ("_id", "id", *NAMES["query"]),
}
FORMS = "{id: text}, {id: {title, text}}, rows with an id and a text, a table, or a file"
_KINDS: dict[Of, Kind] = {
    "items": Kind("a table of texts", "text", "the columns id and text, perhaps title"),
    "queries": Kind("a table of queries", "text", "the columns id and text"),
}
_ONE: dict[Of, str] = {"items": "item", "queries": "query"}


@dataclass(frozen=True, slots=True)
class Text:
    """What one item or query says; either may be empty."""

    title: str = ""
    text: str = ""

    @property
    def heading(self) -> str:
        """What stands for the whole: the title, or the text where there is none."""
        return self.title or self.text

    @property
    def line(self) -> str:
        """What stands below the heading: the text, where a title stands above it."""
        return self.text if self.title else ""


@dataclass(frozen=True, eq=False)
class Texts(Mapping[str, Text]):
    """Texts by id; what `read_texts` returns."""

    titles: Mapping[str, str]
    texts: Mapping[str, str]
    """Each id is a key here."""
    source: str = field(default="the texts given")
    """What messages call it."""

    def __getitem__(self, name: str) -> Text:
        return Text(self.titles.get(name, ""), self.texts[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def __contains__(self, name: object) -> bool:
        return name in self.texts


def read_texts(
    given: TextsLike,
    *,
    of: Of = "items",
    only: Collection[str] | None = None,
    strip: bool = True,
) -> Texts:
    """The titles and texts of items or of queries.

    Parameters
    ----------
    given : TextsLike
        {id: text}, {id: {"title": …, "text": …}}, rows, a table, or a file: CSV, TSV, NDJSON, JSON
        or Parquet. Columns are known by their names (id, title, text and what others call them);
        a file of two columns without names holds an id and a text.
    of : {"items", "queries"}, optional
        Whose they are.
    only : collection of str, optional
        The ids that are wanted; others are read, and not kept.
    strip : bool, optional
        Whether white space around titles and texts is left out.

    Returns
    -------
    Texts

    >>> texts = read_texts({"d1": "Cold air from the north.", "d2": {"title": "Colds"}})
    >>> texts["d1"].heading, texts["d2"].heading, "d3" in texts
    ('Cold air from the north.', 'Colds', False)
    """
    if isinstance(given, Texts):
        return given
    if isinstance(given, (str, PathLike)):
        source = open_source(fspath(given), _KINDS[of])
        return _gathered(_in_file(source, of), source.label, of, only, strip)
    name = "the texts given" if of == "items" else "the queries given"
    if isinstance(given, Mapping):
        return _gathered(_in_dict(given, name), name, of, only, strip)
    rows = _in_rows(_numbered(_rows_of(given)), name, of)
    return _gathered(rows, name, of, only, strip)


def text_columns(header: Sequence[str], of: Of = "items") -> tuple[int, int | None, int | None]:
    """The positions of the id, the title and the text among the names of columns.

    The id, or both others, may be missing: then there is an error that says which names are
    understood.

    >>> text_columns(["_id", "title", "text"]), text_columns(["qid", "query"], "queries")
    ((0, 1, 2), (0, None, 1))
    """
    found = _columns(header, of)
    if found is None:
        named = ", ".join(quote(name, 30) for name in header[:20])
        texts = TEXTS if of == "items" else QUERY_TEXTS
        raise InputError(
            f"the columns are {named}; an id and a title or a text are needed. Names understood "
            f"for the id: {', '.join(IDS[of][:5])}, …; for the title: {', '.join(TITLES)}; for the "
            f"text: {', '.join(texts)}."
        )
    return found


def _columns(header: Sequence[str], of: Of) -> tuple[int, int | None, int | None] | None:
    plain = {_plain(name): at for at, name in reversed(list(enumerate(header)))}

    def first(names: Sequence[str], without: set[int | None]) -> int | None:
        places = (plain.get(_plain(name)) for name in names)
        return next((at for at in places if at is not None and at not in without), None)

    own = first(IDS[of], set())
    if own is None:
        return None
    text = first(TEXTS if of == "items" else QUERY_TEXTS, {own})
    title = first(TITLES, {own, text})
    return None if text is None and title is None else (own, title, text)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower() or name


_Said = tuple[str, Any, Any, Any]
"""Where it is, the id, the title and the text."""


def _gathered(
    rows: Iterable[_Said], source: str, of: Of, only: Collection[str] | None, strip: bool
) -> Texts:
    wanted = None if only is None else frozenset(only)
    titles: dict[str, str] = {}
    texts: dict[str, str] = {}
    empty = True
    for place, given, title, text in rows:
        empty = False
        name = as_id(given, place)
        if wanted is not None and name not in wanted:
            continue
        if name in texts:
            raise InputError(
                f"{place}: {_ONE[of]} {quote(name)} has a text already; give each one row."
            )
        texts[name] = _said(text, place, strip)
        if said := _said(title, place, strip):
            titles[name] = said
    if empty:
        raise InputError(f"{source}: holds no rows.")
    return Texts(titles, texts, source)


def _said(given: Any, place: str, strip: bool) -> str:
    """A cell as text; what is missing says nothing."""
    if given is None or (isinstance(given, float) and given != given):
        return ""
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise InputError(f"{place}: {quoted(given)} is no text.")
    return str(given).strip() if strip else str(given)


def _in_file(source: Source, of: Of) -> Iterator[_Said]:
    head = source.head().lstrip()
    if head.startswith(b"PAR1"):
        return _in_parquet(source, of)
    if head.startswith((b"{", b"[")):
        return _in_json(source, of)
    return _in_lines(source, of)


def _in_parquet(source: Source, of: Of) -> Iterator[_Said]:
    import polars as pl

    with reading_parquet(source.label):
        frame = pl.scan_parquet(source.for_polars(), glob=False)
        header = frame.collect_schema().names()
        own, title, text = _of_header(header, source.label, of)
        chosen = list(dict.fromkeys(header[at] for at in (own, title, text) if at is not None))
        rows = frame.select(chosen).collect()
    columns = [
        [None] * rows.height if at is None else rows[header[at]].to_list()
        for at in (own, title, text)
    ]
    places = (f"{source.label}, row {number}" for number in range(1, rows.height + 1))
    return iter(list(zip(places, *columns, strict=True)))


def _in_json(source: Source, of: Of) -> Iterator[_Said]:
    expected = f"JSON of texts is {FORMS.partition(', a table')[0]}."
    lines = (line for line in source.lines() if line.strip())
    first, second = next(lines, b""), next(lines, None)
    if first.lstrip().startswith(b"{") and first.rstrip().endswith(b"}") and second is not None:
        rows = (
            (f"line {number}", parse(source, line, number, expected))
            for number, line in enumerate(source.lines(), 1)
            if line.strip()
        )
        return _in_rows(rows, source.label, of)
    whole = parse(source, source.read(), 1, expected, whole=True)
    if isinstance(whole, Mapping):
        flat = all(isinstance(value, (str, int, float)) for value in whole.values())
        if flat and _columns(list(whole), of) is not None:  # NDJSON of one line
            return _in_rows([("line 1", whole)], source.label, of)
        return _in_dict(whole, source.label)
    if not isinstance(whole, list) or not whole:
        raise InputError(f"{source.label}: {expected}")
    return _in_rows(_numbered(whole), source.label, of)


def _in_lines(source: Source, of: Of) -> Iterator[_Said]:
    """CSV with a header, or lines of cells between tabs, where marks of quotation are letters."""
    rows = _separated(source)
    place, cells = next(rows, ("", []))
    found = _columns(cells, of)
    if found is None:
        if len(cells) != 2:
            _of_header(cells, source.label, of)
        yield f"{source.label}, {place}", cells[0], None, cells[1]
        found = 0, None, 1
    width = len(cells)
    own, title, text = found
    for place, cells in rows:
        if len(cells) != width:
            raise InputError(
                f"{source.label}, {place}: expected {counted(width, 'field')}, found {len(cells)}: "
                f"{quote(' '.join(cells))}."
            )
        yield (
            f"{source.label}, {place}",
            cells[own].strip(),
            None if title is None else cells[title],
            None if text is None else cells[text],
        )


def _separated(source: Source) -> Iterator[tuple[str, list[str]]]:
    first = next((line for line in source.lines() if line.strip()), b"")
    if b"\t" not in first:
        separator = ";" if b";" in first and b"," not in first else ","
        for number, cells in records(source, separator):
            yield f"line {number}", cells
        return
    for number, line in enumerate(source.lines(), 1):
        if line.strip():
            yield f"line {number}", decoded(source.label, number, line).split("\t")


def _of_header(header: Sequence[str], source: str, of: Of) -> tuple[int, int | None, int | None]:
    try:
        return text_columns(header, of)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _in_dict(given: Mapping[Any, Any], source: str) -> Iterator[_Said]:
    for name, said in given.items():
        place = f"{source}, {quote(str(name), 30)}"
        if isinstance(said, Mapping):
            title = next((said[each] for each in TITLES if each in said), None)
            text = next((said[each] for each in TEXTS if each in said), None)
            if title is None and text is None:
                raise InputError(f"{place}: {quoted(dict(said))} has neither title nor text.")
            yield place, name, title, text
        elif isinstance(said, Text):
            yield place, name, said.title, said.text
        else:
            yield place, name, None, said


def _numbered(rows: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"row {number}", row) for number, row in enumerate(rows, 1))


def _rows_of(given: Any) -> Iterable[Any]:
    """The rows of a table, or a list of them."""
    import polars as pl

    if isinstance(given, pl.LazyFrame):
        given = given.collect()
    if hasattr(given, "__arrow_c_stream__") and not isinstance(given, pl.DataFrame):
        given = from_arrow(given)
    if isinstance(given, pl.DataFrame):
        return given.iter_rows(named=True)
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        rows: list[Any] = given.to_dict("records")
        return rows
    if is_list(given):
        return list(given)
    raise InputError(f"texts are {FORMS}; got {quoted(given)}.")


def _in_rows(rows: Iterable[tuple[str, Any]], source: str, of: Of) -> Iterator[_Said]:
    """Mappings with an id and a text, or pairs of them."""
    known: dict[tuple[str, ...], tuple[str, str | None, str | None]] = {}
    for at, row in rows:
        place = f"{source}, {at}"
        if isinstance(row, Mapping):
            header = tuple(name for name in row if isinstance(name, str))
            if header not in known:
                own, title, text = _of_header(header, place, of)
                known[header] = (
                    header[own],
                    None if title is None else header[title],
                    None if text is None else header[text],
                )
            name, title_name, text_name = known[header]
            if row[name] is None:
                raise InputError(f"{place}: {quote(name)} is missing.")
            yield (
                place,
                row[name],
                None if title_name is None else row[title_name],
                None if text_name is None else row[text_name],
            )
        elif is_list(row) and len(row) == 2:
            yield place, row[0], None, row[1]
        else:
            raise InputError(f"{place}: {quoted(row)} is no row of texts; texts are {FORMS}.")
