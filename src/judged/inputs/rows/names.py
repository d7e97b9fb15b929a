"""Which columns of rows hold the query, the relevant ids and the retrieved ones: the names people
give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from judged.errors import InputError
from judged.inputs.names import candidates
from judged.text import quote

if TYPE_CHECKING:
    from judged.inputs.named import Named

_RELEVANT = "relevant|gold|golden|expected|reference|ground_?truth|positive|target|correct|true"
_RETRIEVED = "retrieved|predicted|prediction|recommended|returned|ranked|search_?result|result"
_ITEM = "doc|document|item|chunk|passage|context|node|corpus|evidence|source|page|product|article"
_TEXT = "context|text"

NAMES: dict[str, tuple[str, ...]] = {
    "query": (
        "(query|question|topic|user|sample)_?(id|no)|qid",
        "query|question|user_?input|input|prompt|topic|user",
        "_?id",
    ),
    "relevant": (
        f"({_RELEVANT})_?(({_ITEM})_?)?ids?",
        f"relevants?|gold|golden|ground_?truths?|positives|({_RELEVANT})_?(?!{_TEXT})({_ITEM})s?",
        f"({_RELEVANT})_?({_TEXT})s?|expected_?retrieved_?contexts?",
    ),
    "retrieved": (
        f"({_RETRIEVED})_?(({_ITEM})_?)?ids?",
        "retrieved|predicted|predictions|recommended|recommendations|ranked|ranking|ranked_?list"
        f"|results|search_?results|hits|({_RETRIEVED})_?(?!{_TEXT})({_ITEM})s?",
        f"contexts|({_RETRIEVED})_?({_TEXT})s?",
    ),
    "scores": (
        f"(({_RETRIEVED})_?)?(({_ITEM})_?)?"
        "(((similarity|relevance|retrieval|rerank(er|ing)?)_?)?scores?|similarit(y|ies))",
    ),
    "grades": (
        f"(({_RELEVANT})_?)?(({_ITEM})_?)?(relevance_?)?(grades?|ratings?|gains?)"
        f"|({_RELEVANT})_?(({_ITEM})_?)?scores?",
        f"(({_RELEVANT})_?)?(({_ITEM})_?)?(relevances?|(relevance_?)?labels?)",
    ),
}
"""Patterns of names for each role, the surest first; case, spaces and hyphens do not matter."""
LISTS = ("relevant", "retrieved")
"""The roles of the columns without which there are no rows that hold everything."""
_BESIDE = {"relevant": "grades", "retrieved": "scores"}
"""What may stand beside ids."""
EXAMPLES = {
    "query": "query_id, question_id, query, question, user_input",
    "relevant": "relevant, relevant_ids, expected_ids, reference_context_ids, gold, ground_truth",
    "retrieved": "retrieved, retrieved_ids, retrieved_context_ids, predictions, results",
}
"""What messages say of them."""


@dataclass(frozen=True)
class RowColumns:
    """The column of each role; None where there is none."""

    query: str | None
    relevant: str | None
    retrieved: str | None
    scores: tuple[str, ...]
    """Every column that may hold the scores of retrieved items, if it holds lists of numbers."""
    grades: tuple[str, ...]
    """The same of the grades of relevant items."""
    named: frozenset[str]
    """The columns that somebody named: nothing about them is a guess."""
    notes: tuple[str, ...] = ()

    def needed(self) -> list[str]:
        """Every column that is read."""
        given = (self.query, self.relevant, self.retrieved, *self.scores, *self.grades)
        return list(dict.fromkeys(name for name in given if name is not None))


def matching(role: str, header: Sequence[str]) -> list[list[str]]:
    """The columns that may play a role, the surest names first; those that are as sure together."""
    plain = {name: re.sub(r"[\s-]", "_", name.strip()).lower() for name in header}
    return [
        [name for name in header if re.fullmatch(pattern, plain[name])] for pattern in NAMES[role]
    ]


def may_be_labels(name: str) -> bool:
    """Return whether a column may say of retrieved items, too, how relevant they are."""
    return bool(matching("grades", [name])[1])


def has_lists(
    header: Sequence[str], roles: Sequence[str], named: Named | None = None, alone: bool = False
) -> bool:
    """Whether a table has lists of ids in these roles, not one item per row; one that stands
    `alone` must."""
    said = {} if named is None else named.positions(header)
    sure = alone or any(role in said for role in LISTS)
    if not sure and ("item" in said or candidates("item", header)):
        return False
    return all(role in said or any(matching(role, header)) for role in roles)


def choose_columns(
    header: Sequence[str], source: str, named: Named, roles: Sequence[str] = LISTS
) -> RowColumns:
    """The column of each role, those that somebody named first; two that could be meant are
    refused. Only what `roles` need is read."""
    said = _said(header, source, named)
    taken: dict[str, str | None] = dict.fromkeys(("query", *LISTS))
    notes: list[str] = []
    for role in ("query", *roles):
        if role in said:
            taken[role] = said[role]
            continue
        free = [name for name in header if name not in {*taken.values(), *said.values()}]
        tiers = [tier for tier in matching(role, free) if tier]
        if tiers and len(tiers[0]) > 1:
            raise InputError(two_columns(role, tiers[0], source))
        taken[role] = tiers[0][0] if tiers else None
        if len(tiers) > 1 and role in LISTS:
            others = " or ".join(quote(name) for tier in tiers[1:] for name in tier)
            notes.append(f"Column {quote(tiers[0][0])} was taken for the {role} ids, not {others}.")
        if role in named and tiers:
            lost = quote("+".join(named[role]))
            notes.append(
                f"{source} has no column {lost}: column {quote(tiers[0][0])} was taken for the "
                f"{role}."
            )
    beside: dict[str, tuple[str, ...]] = dict.fromkeys(_BESIDE.values(), ())
    for role in (_BESIDE[role] for role in roles):
        free = [name for name in header if name not in {*taken.values(), *said.values()}]
        beside[role] = (
            (said[role],) if role in said else tuple(chain.from_iterable(matching(role, free)))
        )
    return RowColumns(
        taken["query"],
        taken["relevant"],
        taken["retrieved"],
        beside["scores"],
        beside["grades"],
        named=frozenset(said.values()),
        notes=tuple(notes),
    )


def _said(header: Sequence[str], source: str, named: Named) -> dict[str, str]:
    """The columns that somebody named; a score or grade is the list of them."""
    found: dict[str, str] = {}
    for role, places in named.positions(header).items():
        known = {"score": "scores", "grade": "grades"}.get(role, role)
        if known not in NAMES:
            raise InputError(
                f"{source}: a column of {role}s has no place beside lists of ids; roles are "
                f"{', '.join(NAMES)}."
            )
        if len(places) > 1 or known in found:
            raise InputError(
                f"{source}: {known} must be one column where ids are in lists; got "
                f"{' and '.join(quote(header[at]) for at in places)}."
            )
        found[known] = header[places[0]]
    return found


def two_columns(role: str, found: Sequence[str], source: str) -> str:
    """Return the message about columns of which each may play a role."""
    both = " and ".join(map(quote, found))
    return (
        f"{source}: {both} could both be {_PHRASES[role]}; say which, with "
        f"columns={{{role!r}: {found[0]!r}}} (--columns {role}={found[0]})."
    )


_PHRASES = {
    "query": "the query",
    "relevant": "the relevant ids",
    "retrieved": "the retrieved ids",
    "scores": "the scores of retrieved items",
    "grades": "the grades of relevant items",
}


def shown(header: Sequence[str]) -> str:
    """The columns there are, for a message."""
    return ", ".join(quote(name, 30) for name in header[:20]) or "none"
