"""Titles and texts of items and queries by their ids.

Files are read line by line, because a collection may be larger than memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from judged.errors import InputError, quoted
from judged.inputs.columns import NAMES, called, shown_header
from judged.inputs.dicts import as_id, numbered
from judged.inputs.keyed import Sheet, read_sheet
from judged.inputs.tables import Kind
from judged.text import quote

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
_FORMS = "{id: text}, {id: {title, text}}, rows with an id and a text, a table, or a file"
_KINDS: dict[Of, Kind] = {
    "items": Kind("texts", "text", _FORMS, key="item", given="the texts given"),
    "queries": Kind("texts of queries", "text", _FORMS, given="the queries given"),
}

_Entry = tuple[str, Any, Any, Any]  # the place, the id, the title and the text
_Columns = tuple[str, "str | None", "str | None"]


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
    kind, source = _KINDS[of], _KINDS[of].given
    entries: Iterator[_Entry]
    if of == "queries" and isinstance(given, (list, tuple)) and _are_texts(given):
        entries = ((f"{source}, {place}", text, None, text) for place, text in numbered(given))
    else:
        table = read_sheet(
            given, kind, source, lambda names: _columns(names, of) is not None, verbatim=True
        )
        source = table[1] if isinstance(table, tuple) else table.source
        entries = _in_dict(*table) if isinstance(table, tuple) else _in_rows(table, of)
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
            raise InputError(
                f"{place}: {kind.key} {quote(name)} has a text already; give each one row."
            )
        texts[name] = _cell(text, place, strip)
        if heading := _cell(title, place, strip):
            titles[name] = heading
    if is_empty:
        raise InputError(f"{source}: holds no rows.")
    return Texts(titles, texts, source)


def _are_texts(given: Sequence[Any]) -> bool:
    return bool(given) and all(isinstance(text, str) for text in given)


def _cell(given: Any, place: str, strip: bool) -> str:
    if given is None or (isinstance(given, float) and given != given):
        return ""
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise InputError(f"{place}: {quoted(given)} is not a text.")
    return str(given).strip() if strip else str(given)


def text_columns(header: Sequence[str], of: Of = "items", place: str = "") -> _Columns:
    """Return the columns of the id, the title and the text; none of them is an error."""
    columns = _columns(header, of)
    if columns is None:
        texts = TEXTS if of == "items" else QUERY_TEXTS
        raise InputError(
            f"{place}: the columns are {shown_header(header)}; an id and a title or a text are "
            f"needed. Names understood for the id: {', '.join(IDS[of][:5])}, …; for the title: "
            f"{', '.join(TITLES)}; for the text: {', '.join(texts)}."
        )
    return columns


def _columns(header: Sequence[str], of: Of) -> _Columns | None:
    def first(names: Sequence[str], *taken: str | None) -> str | None:
        return next((name for name in called(names, header) if name not in taken), None)

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


def _in_rows(table: Sheet, of: Of) -> Iterator[_Entry]:
    header = table.header
    columns: _Columns = (header[0], None, header[-1])  # id and text, or texts of queries alone
    if table.headed:
        columns = text_columns(header, of, table.source)
    elif len(header) != 2 and (len(header) != 1 or of == "items"):
        text_columns(list(next(table.rows)[1].values()), of, table.source)
    key, *others = columns
    for row_place, row in table.only(name for name in columns if name is not None).rows:
        place = f"{table.source}, {row_place}"
        if (id_cell := row.get(key)) is None:
            raise InputError(f"{place}: {quote(key)} is missing.")
        if table.is_text:
            id_cell = id_cell.strip()
        yield place, id_cell, *(None if name is None else row.get(name) for name in others)
