"""Which columns of rows hold the query, the relevant ids and the retrieved ones: the names people
give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from judged.errors import InputError
from judged.inputs.columns import LISTS, ROW_PATTERNS, matching
from judged.text import quote

if TYPE_CHECKING:
    from judged.inputs.columns import NamedColumns

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


def may_be_labels(name: str) -> bool:
    """Return whether a column may say of retrieved items, too, how relevant they are."""
    return bool(matching("grades", [name])[1])


def choose_columns(
    header: Sequence[str], source: str, named: NamedColumns, roles: Sequence[str] = LISTS
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


def _said(header: Sequence[str], source: str, named: NamedColumns) -> dict[str, str]:
    """The columns that somebody named; a score or grade is the list of them."""
    found: dict[str, str] = {}
    for role, places in named.positions(header).items():
        known = {"score": "scores", "grade": "grades"}.get(role, role)
        if known not in ROW_PATTERNS:
            raise InputError(
                f"{source}: a column of {role}s has no place beside lists of ids; roles are "
                f"{', '.join(ROW_PATTERNS)}."
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
