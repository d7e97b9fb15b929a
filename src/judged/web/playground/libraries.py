"""The same list under the definition of every library, equal values together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import Any

from judged.conventions.disagreement import Disagreement, compare_conventions
from judged.conventions.disagreement.compare import CLOSE, Row
from judged.policy import Policy
from judged.web.playground.state import State

AS_ASKED = "as asked for"


@dataclass(frozen=True)
class User:
    """A library, and what it calls the measure."""

    name: str
    title: str
    theirs: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """Definitions that differ in nothing that matters to this list, and who has them."""

    notations: tuple[str, ...]
    reasons: tuple[str, ...]
    """What makes them differ from what was asked for, in words."""
    matters: bool
    """Whether that makes a difference to this list."""
    users: tuple[User, ...]


@dataclass(frozen=True)
class Group:
    """One number, and all definitions that give it."""

    value: float | None
    """None where libraries stop instead."""
    stops: str
    lines: tuple[Line, ...]
    own: bool
    """Whether it is the number of the card."""


@dataclass(frozen=True, eq=False)
class Libraries:
    """What libraries make of the list."""

    measure: str
    groups: tuple[Group, ...]
    found: Disagreement
    count: int
    """How many libraries there are."""
    numbers: int
    """How many different numbers they have, with judged's."""
    most: float
    """The greatest number, or 1: how long bars may be."""
    differs: bool
    """Whether the choices above are not judged's default and give another number."""

    def to_dict(self) -> dict[str, Any]:
        """What `judged conventions` says of the measure, as plain Python values."""
        told: dict[str, Any] = self.found.to_dict()["measures"][0]
        return told


def libraries_of(state: State, options: Mapping[str, Any], value: float) -> Libraries:
    """The chosen measure under every library's definition, each with its own policy."""
    measure = state.chosen
    found = compare_conventions(str(state.listed), measures=[measure], **options)
    compared = found.compared()
    groups = [_group(rows, value) for rows in compared.by_value]
    differs = not any(group.own for group in groups)
    if differs:
        groups.append(Group(value, "", (_chosen_here(state),), own=True))
        groups.sort(key=_order)
    known = {user.name for group in groups for line in group.lines for user in line.users}
    return Libraries(
        str(measure),
        tuple(groups),
        found,
        len(known - {"judged"}),
        sum(group.value is not None for group in groups),
        max(
            [
                1.0,
                *(
                    group.value
                    for group in groups
                    if group.value is not None and isfinite(group.value)
                ),
            ]
        ),
        differs,
    )


def _order(group: Group) -> tuple[bool, float]:
    return group.value is None or isnan(group.value), -(group.value or 0.0)


def _chosen_here(state: State) -> Line:
    """The card's own number, where the choices above are not the usual ones."""
    usual, said = Policy().to_dict(), state.policy.sentences()
    chosen = [name for name, value in state.policy.to_dict().items() if usual[name] != value]
    reasons = tuple(said[name] for name in chosen) or (AS_ASKED,)
    judged = User("judged", "judged, as chosen above", (str(state.chosen),))
    return Line((str(state.chosen),), reasons, True, (judged,))


def _group(rows: tuple[Row, ...], value: float) -> Group:
    alike: dict[tuple[tuple[str, ...], bool], list[tuple[str, Row]]] = {}
    for row in rows:
        notation, reasons, matters = _said(row)
        alike.setdefault((reasons, matters), []).append((notation, row))
    own = rows[0].value
    lines = (
        Line(
            tuple(dict.fromkeys(notation for notation, _ in some)),
            reasons,
            matters,
            _users([row for _, row in some]),
        )
        for (reasons, matters), some in alike.items()
    )
    return Group(
        own,
        rows[0].stops or "",
        tuple(line for line in lines if line.users),
        own=own is not None and (abs(own - value) <= CLOSE or (isnan(own) and isnan(value))),
    )


def _users(rows: list[Row]) -> tuple[User, ...]:
    """Who has these definitions, each library once."""
    users: dict[str, User] = {}
    for row in rows:
        if not row.differences:
            users["judged"] = User("judged", "judged, by default", (str(row.measure),))
        for each in row.users:
            title = f"{each.convention.title} {each.convention.version}".strip()
            known = users.setdefault(each.convention.name, User(each.convention.name, title, ()))
            note = each.named.name.note
            users[known.name] = replace(
                known,
                theirs=(*known.theirs, each.named.theirs),
                notes=(*known.notes, note) if note else known.notes,
            )
    return tuple(users.values())


def _said(row: Row) -> tuple[str, tuple[str, ...], bool]:
    """The notation with what matters to the list, and the reasons; of what does not matter only a
    parameter or another measure is said."""
    matter = [each for each in row.differences if each.touched]
    own = [each for each in row.differences if each.choice.partition("=")[0] in _named(row)]
    told = matter or own
    beside = [each.choice for each in matter if each not in own and each.choice != str(row.measure)]
    reasons = tuple(dict.fromkeys(each.says for each in told)) or (AS_ASKED,)
    return ", ".join([str(row.measure), *beside]), reasons, bool(matter)


def _named(row: Row) -> set[str]:
    """The names of differences that the notation of the measure shows."""
    return {*row.measure.params, str(row.measure)}
