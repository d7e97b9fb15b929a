"""Which column is which: the names people give to query, item, score, grade, rank and subtopic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, did_you_mean, quoted
from judged.inputs.tables import JUDGEMENTS, RUN, Kind, OrderOnly
from judged.text import quote

if TYPE_CHECKING:
    from judged.types import ColumnsLike

# The surest name first: where `qid` and `query` are both there, `query` is the text of the query;
# where `docno` and `docid` are, `docid` is a number inside an index.
NAMES: dict[str, tuple[str, ...]] = {
    "query": ("query_id", "qid", "topic_id", "query", "topic", "query_no", "user_id", "user"),
    "item": (
        *("item_id", "docno", "doc_id", "corpus_id", "document_id", "passage_id", "pid", "did"),
        *("item", "document", "doc", "passage"),
    ),
    "score": ("score", "sim", "similarity"),
    "grade": (
        "grade",
        "relevance",
        "rel",
        "label",
        "judgement",
        "judgment",
        "relevance_grade",
        "rating",
    ),
    "rank": ("rank", "position"),
    "subtopic": ("subtopic_id", "subtopic", "aspect", "nugget", "intent", "iteration"),
}
"""Case, spaces, hyphens and underscores do not matter: "Query-ID" is "query_id"."""


def as_columns(given: ColumnsLike | None) -> dict[str, tuple[str, ...]]:
    """What somebody said that columns are, from a dict or a text: the columns of each role, in the
    order in which they make one id.

    >>> as_columns("query=question_id, item=file+page")
    {'query': ('question_id',), 'item': ('file', 'page')}
    >>> as_columns({"item": ["file", "page"]})
    {'item': ('file', 'page')}
    """
    if given is None:
        return {}
    pairs: Any = given.items() if isinstance(given, Mapping) else _pairs(given)
    named: dict[str, tuple[str, ...]] = {}
    for role, columns in pairs:
        if role not in NAMES:
            near = did_you_mean(role, NAMES)
            raise InputError(
                f"columns: there is no {quoted(role)}{near} A column may be {', '.join(NAMES)}."
            )
        parts = tuple(columns.split("+")) if isinstance(columns, str) else tuple(columns)
        if role in named or not parts or not all(isinstance(each, str) and each for each in parts):
            raise InputError(
                f"columns: {role} must name one column, or several that make one id; got "
                f"{quoted(columns)}."
            )
        named[role] = parts
    return named


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


@dataclass(frozen=True)
class Columns:
    """Positions of the needed columns."""

    query: int
    item: int
    value: int
    """The score or grade, or a rank, of which the smallest is best."""
    is_rank: bool
    notes: tuple[str, ...]
    subtopic: int | None = None
    subtopic_role: str = "subtopic"
    """What the subtopic column becomes: `iteration`, TREC's name for it, may hold nothing but a
    filler."""


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def candidates(role: str, header: Sequence[str]) -> list[int]:
    """Positions of the columns that may play a role, the surest first."""
    plain = [_plain(name) for name in header]
    return [plain.index(name) for name in map(_plain, NAMES[role]) if name in plain]


def is_header(cells: Sequence[str]) -> bool:
    return bool(candidates("query", cells) and candidates("item", cells))


def choose_columns(
    header: Sequence[str],
    kind: Kind,
    source: str,
    named: Mapping[str, tuple[str, ...]] | None = None,
) -> Columns:
    """The columns that are needed, those that somebody named first; or a message with those found
    and all names understood."""
    found = {role: candidates(role, header) for role in NAMES}
    for role, (column, *_) in (named or {}).items():
        if column in header:
            found[role] = [header.index(column)]
    if kind is RUN:
        value_role = "score" if found["score"] else "rank"
        if found["grade"] and not found[value_role]:
            raise InputError(
                _mistaken(JUDGEMENTS, "grade", header[found["grade"][0]], kind, source)
            )
    else:
        # BEIR calls the grade "score"; a run has that too, but a rank beside it gives it away.
        value_role = "grade" if found["grade"] or not found["score"] else "score"
        if value_role == "score" and found["rank"]:
            raise InputError(_mistaken(RUN, "rank", header[found["rank"][0]], kind, source))
    roles = ("query", "item", value_role)
    for role in roles:
        if not found[role]:
            raise InputError(
                _missing(kind.value if role == value_role else role, header, kind, source)
            )
    notes = [
        f"Column {quote(header[found[role][0]])} was taken for the {role}, not "
        f"{quote(header[found[role][1]])}."
        for role in (roles if kind is RUN else (*roles, "subtopic"))
        if len(found[role]) > 1
    ]
    if value_role == "rank":
        notes.append(
            OrderOnly(
                f"There is no score: column {quote(header[found['rank'][0]])} gives the order."
            )
        )
    subtopic = found["subtopic"][0] if kind is JUDGEMENTS and found["subtopic"] else None
    return Columns(
        query=found["query"][0],
        item=found["item"][0],
        value=found[value_role][0],
        is_rank=value_role == "rank",
        notes=tuple(notes),
        subtopic=subtopic,
        subtopic_role="subtopic"
        if subtopic is None or _plain(header[subtopic]) != "iteration"
        else "iteration",
    )


def _missing(role: str, header: Sequence[str], kind: Kind, source: str) -> str:
    value = ("score", "rank") if kind is RUN else ("grade",)
    names = "; ".join(f"{name}: {', '.join(NAMES[name])}" for name in ("query", "item", *value))
    found = ", ".join(quote(name, 30) for name in header[:20])
    article = "an" if role == "item" else "a"
    instead = " or a rank" if role == "score" else ""
    return (
        f"{source}: no column with {article} {role}{instead}; the columns are {found}. Names "
        f"understood: {names}."
    )


def _mistaken(given: Kind, role: str, column: str, wanted: Kind, source: str) -> str:
    return (
        f"{source} looks like {given.phrase} (column {quote(column)} is a {role}), not "
        f"{wanted.phrase}. "
        "Were the two files given in the wrong order?"
    )
