"""What somebody said that columns are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.tables import JUDGEMENTS, RUN, Kind
from judged.text import listed, quote

if TYPE_CHECKING:
    from judged.options import ColumnsLike

LISTS = ("relevant", "retrieved", "scores", "grades")
"""What columns of lists are, in rows that hold everything."""
ROLES = ("query", "item", "score", "grade", "rank", "subtopic", "document", "weight", *LISTS)
_SEVERAL = ("query", "item", "document")
"""The roles that several columns may make up."""
_OWN = {
    **dict.fromkeys(("score", "rank", "retrieved", "scores"), RUN),
    **dict.fromkeys(("grade", "subtopic", "weight", "relevant", "grades"), JUDGEMENTS),
}
"""What only tables of one kind have."""
CONSTANT = "grade=1"
"""Says that there are no grades, as every item that is listed is relevant."""


class Named(dict[str, tuple[str, ...]]):
    """The columns of each role, in the order in which they make one id.

    Judgements and runs share them. A table that lacks a column falls back to names that are
    understood, with a note; a column that none of the tables has is refused.
    """

    def __init__(
        self, columns: Mapping[str, tuple[str, ...]], texts: Mapping[str, str], alone: bool
    ) -> None:
        super().__init__(columns)
        self.texts = texts
        """What was given as one text, which may itself be the name of a column."""
        self.alone = alone
        """Whether they are about one table, not about judgements and runs."""
        self.seen: dict[Kind, tuple[str, Sequence[str] | str]] = {}
        """The first table of each kind: what messages call it, and its columns or why it has
        none."""

    def with_document(self, column: str) -> Named:
        """The same, with the column, or several, of the document that each item belongs to."""
        also = as_columns({"document": column})
        return Named({**self, **also}, {**self.texts, **also.texts}, self.alone)

    @property
    def constant(self) -> bool:
        """Whether it was said that every item that is listed is relevant."""
        return self.texts.get("grade") == "1"

    def positions(self, header: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """Where the columns are that this header has; a role of which it lacks a part is left
        out."""
        found: dict[str, tuple[int, ...]] = {}
        for role, parts in self.items():
            text = self.texts.get(role)
            whole = () if text is None else _places((text,), header)
            if places := whole or _places(parts, header):
                found[role] = places
        return found

    def record(self, kind: Kind, source: str, columns: Sequence[str] | str) -> None:
        """Refuse what is in none of the tables, once there are judgements and a run; `columns` are
        those of a table, or why there are none."""
        if not self:
            return
        self.seen.setdefault(kind, (source, columns))
        if len(self.seen) < 2 and not self.alone:
            return
        tables = {each: self.seen[each] for each in (JUDGEMENTS, RUN) if each in self.seen}
        for role in self:
            own = [table for each, table in tables.items() if _OWN.get(role, each) == each]
            headers = [columns for _, columns in own if not isinstance(columns, str)]
            if not own or (role == "grade" and self.constant and headers):
                continue
            if not any(role in self.positions(header) for header in headers):
                raise InputError(self.lacking(role, own))

    def lacking(self, role: str, tables: Iterable[tuple[str, Sequence[str] | str]]) -> str:
        """The message on a role that no table has."""
        tables = list(tables)
        names = [name for _, columns in tables if not isinstance(columns, str) for name in columns]
        lost = [name for name in self[role] if not _places((name,), names)]
        if lost:
            near = did_you_mean(lost[0], names)
            what = f"there is no column {quote(lost[0])}{near}"
        else:
            what = f"no table has columns {listed(list(map(quote, self[role])))} together."
        said = (
            f"{source} {columns}"
            if isinstance(columns, str)
            else f"{source} has the columns {', '.join(quote(name, 30) for name in columns[:20])}"
            for source, columns in tables
        )
        return f"columns, {role}={'+'.join(self[role])}: {what} {'; '.join(said)}."


def _places(names: Sequence[str], header: Sequence[str]) -> tuple[int, ...]:
    """Where all of these are, with or without spaces around them; nothing where one is not."""
    header = list(header)
    bare = [name.strip() for name in header]
    found = [
        header.index(name) if name in header else bare.index(name) if name in bare else -1
        for name in names
    ]
    return () if -1 in found else tuple(found)


def as_columns(given: ColumnsLike | None, *, alone: bool = True) -> Named:
    """What somebody said that columns are, from a dict or a text: the columns of each role, in the
    order in which they make one id; `alone` where they are about one table.

    >>> as_columns("query=question_id, item=file+page")
    {'query': ('question_id',), 'item': ('file', 'page')}
    >>> as_columns({"item": ["file", "page"]})
    {'item': ('file', 'page')}
    """
    if isinstance(given, Named):
        return given if alone else Named(given, given.texts, alone)
    if given is None:
        return Named({}, {}, alone)
    pairs: Any = given.items() if isinstance(given, Mapping) else _pairs(given)
    named: dict[str, tuple[str, ...]] = {}
    texts: dict[str, str] = {}
    for role, columns in pairs:
        if role not in ROLES:
            near = did_you_mean(role, ROLES)
            raise InputError(
                f"columns: there is no {quoted(role)}{near} A column may be {', '.join(ROLES)}."
            )
        if role in named:
            raise InputError(f"columns: {role} is there twice; name its column once.")
        if role == "grade" and type(columns) is int and columns == 1:
            columns = "1"
        if isinstance(columns, str):
            texts[role] = columns
            parts = tuple(part.strip() for part in columns.split("+"))
            parts = parts if role in _SEVERAL and all(parts) else (columns,)
        else:
            parts = tuple(columns) if isinstance(columns, Sequence) else ()
        if not parts or not all(isinstance(each, str) and each for each in parts):
            several = ", or several that make one id" if role in _SEVERAL else ""
            raise InputError(
                f"columns: {role} must name one column{several}; got {quoted(columns)}."
            )
        if len(parts) > 1 and role not in _SEVERAL:
            raise InputError(
                f"columns: {role} must name one column; got {quoted(columns)}. Several columns "
                f"make one id only: {listed(_SEVERAL, 'or')}."
            )
        if len(set(parts)) < len(parts):
            raise InputError(f"columns: {role} names a column twice; got {quoted(columns)}.")
        named[role] = parts
    return Named(named, texts, alone)


def _pairs(given: Any) -> list[tuple[str, str]]:
    """ "query=question_id,item=chunk_id" in pairs."""
    parts = given.split(",") if isinstance(given, str) else [""]
    split = (part.partition("=") for part in parts)
    pairs = [(role.strip(), column.strip()) for role, _, column in split]
    if not all(role and column for role, column in pairs):
        raise InputError(
            "columns must be a dict such as {'query': 'question_id', 'item': 'chunk_id'}, or a "
            f"text such as 'query=question_id,item=chunk_id'; got {quoted(given)}."
        )
    return pairs
