"""Which column is which: those that somebody named first, then those whose names tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.inputs.named import CONSTANT, Named, as_columns
from judged.inputs.names import (
    NAMES,
    candidates,
    is_known,
    may_be_called_score,
    may_be_grade,
    plain,
    sure,
    surest,
)
from judged.inputs.order import AgainstRanks, Ranked, against_ranks
from judged.inputs.readings import NO_GRADES
from judged.inputs.tables import JUDGEMENTS, RUN, Kind
from judged.text import Warned, listed, quote

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "NAMES",
    "Columns",
    "as_columns",
    "candidates",
    "choose_columns",
    "is_known",
    "may_be_grade",
    "sure",
    "surest",
]

_NUMBERS = ("score", "grade", "rank", "weight")
_SMALLER_IS_BETTER = re.compile(r"dist|loss|error|perplexity", re.IGNORECASE)
JOINER = "#"


@dataclass(frozen=True)
class Columns:
    """Positions of the needed columns; several make one id."""

    query: tuple[int, ...]
    item: tuple[int, ...]
    value: int | None
    """The score or grade, or a rank, of which the smallest is best; None where every item of
    judgements is relevant."""
    is_rank: bool
    notes: tuple[str, ...]
    subtopic: int | None = None
    subtopic_role: str = "subtopic"
    """What the subtopic column becomes: `iteration`, TREC's name for it, may hold nothing but a
    filler."""
    rank: int | None = None
    """A rank beside the score, which is not used, but may contradict it; or the score, where it is
    called a rank."""
    rank_name: str = ""
    extra: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """`document` and `weight`, where somebody named them."""
    may_be_run: bool = False
    """Whether these are judgements whose grade is called a score."""

    @property
    def ids(self) -> dict[str, tuple[int, ...]]:
        """Where the texts are, by what they become."""
        subtopic = {} if self.subtopic is None else {self.subtopic_role: (self.subtopic,)}
        document = {role: at for role, at in self.extra.items() if role not in _NUMBERS}
        return {"query": self.query, "item": self.item, **subtopic, **document}

    def with_ranks(self, rows: Iterable[Sequence[Any]]) -> Columns:
        """Return the same, with a warning where ranks and scores contradict each other.

        Rows hold a value for each column, or are cut off.
        """
        if self.rank is None or self.value is None:
            return self
        query, rank, value = self.query, self.rank, self.value
        most = max(*query, rank, value)
        sample = (
            (tuple(row[at] for at in query), row[rank], row[value])
            for row in rows
            if len(row) > most
        )
        return replace(self, notes=(*self.notes, *self.notes_on_ranks(sample)))

    def notes_on_ranks(self, sample: Iterable[tuple[Any, Any, Any]]) -> tuple[str, ...]:
        """Return a warning where the (query, rank, score) of some rows contradict each other."""
        found = against_ranks(sample)
        if not found or self.rank != self.value:
            return found
        return (
            AgainstRanks(
                f"Column {quote(self.rank_name)} was given as the score, so the greatest rank is "
                "taken for the best. If 1 is the best, give it as the rank: "
                f"columns={{'rank': {self.rank_name!r}}} (--columns rank={self.rank_name})."
            ),
        )

    @property
    def weight(self) -> int | None:
        """Where the weight of the query is."""
        return self.extra["weight"][0] if "weight" in self.extra else None

    @property
    def needed(self) -> list[int]:
        """All positions, each once."""
        numbers = [at for at in (self.value, self.weight) if at is not None]
        return list(dict.fromkeys([*(at for each in self.ids.values() for at in each), *numbers]))


def joined(parts: Sequence[str]) -> str:
    """One id of several texts; two different rows of texts never make the same.

    >>> joined(["a.pdf", "3"]), joined(["a#b", "c"]), joined(["a", "b#c"])
    ('a.pdf#3', 'a\\\\#b#c', 'a#b\\\\#c')
    """
    if len(parts) == 1:
        return parts[0]
    return JOINER.join(part.replace("\\", "\\\\").replace(JOINER, f"\\{JOINER}") for part in parts)


def joined_columns(parts: Sequence[pl.Expr]) -> pl.Expr:
    """`joined` of columns: null where all parts are, and empty where only some are there."""
    import polars as pl

    if len(parts) == 1:
        return parts[0]
    escaped = [
        part.str.replace_all("\\", "\\\\", literal=True).str.replace_all(
            JOINER, f"\\{JOINER}", literal=True
        )
        for part in parts
    ]
    lost = pl.any_horizontal((part.is_null() | (part == "")) for part in parts)
    whole = pl.when(lost).then(pl.lit("")).otherwise(pl.concat_str(escaped, separator=JOINER))
    return pl.when(pl.any_horizontal(part.is_not_null() for part in parts)).then(whole)


def choose_columns(
    header: Sequence[str],
    kind: Kind,
    source: str,
    named: Mapping[str, tuple[str, ...]] | None = None,
) -> Columns:
    """The columns that are needed, those that somebody named first; or a message with those found
    and all names understood."""
    named = as_columns(named)
    chosen = _Choice(header, kind, source, named)
    value_role, constant = chosen.value_role()
    query, item = chosen.ids("query"), chosen.ids("item")
    value = None if constant else chosen.one(value_role)
    subtopic = chosen.one("subtopic") if kind is JUDGEMENTS and chosen.has("subtopic") else None
    extra = {role: at for role, at in chosen.said.items() if role in ("document", "weight")}
    if constant:
        chosen.notes.append(NO_GRADES)
    rank = chosen.rank_beside_score() if kind is RUN and value_role == "score" else None
    columns = Columns(
        query=query,
        item=item,
        value=value,
        is_rank=value_role == "rank",
        notes=tuple(chosen.notes),
        subtopic=subtopic,
        subtopic_role="subtopic"
        if subtopic is None or "subtopic" in chosen.said or plain(header[subtopic]) != "iteration"
        else "iteration",
        rank=rank,
        rank_name="" if rank is None else header[rank],
        extra=extra,
        may_be_run=kind is JUDGEMENTS
        and value is not None
        and (bool(candidates("score", [header[value]])) or chosen.said.get("score") == (value,)),
    )
    _refuse_two_roles(columns, header, source, value_role)
    named.record(kind, source, header)
    return columns


class _Choice:
    """The columns of one table that may play each role."""

    def __init__(self, header: Sequence[str], kind: Kind, source: str, named: Named) -> None:
        self.header, self.kind, self.source, self.named = header, kind, source, named
        # What is about judgements only is nothing in a run; a grade shows that it is none.
        skipped = ("subtopic", "weight") if kind is RUN else ()
        said = named.positions(header).items()
        self.said = {role: positions for role, positions in said if role not in skipped}
        names = [header[at] for positions in self.said.values() for at in positions]
        if twice := next((name for name in names if list(header).count(name) > 1), None):
            raise InputError(
                f"{source}: there are two columns {quote(twice)}; name each column once."
            )
        self.notes: list[str] = []
        self.found = {role: self._free(role) for role in NAMES}

    def _free(self, role: str) -> list[int]:
        """Candidates that nobody said to be something else; a score of a run may be a grade of
        judgements."""
        taken = {
            at
            for other, positions in self.said.items()
            if other != role and not (role in _NUMBERS and other in _NUMBERS and other != "weight")
            for at in positions
        }
        return [at for at in candidates(role, self.header) if at not in taken]

    def has(self, role: str) -> bool:
        return role in self.said or bool(self.found[role])

    def value_role(self) -> tuple[str, bool]:
        """What gives the value, and whether it is the same in all rows, as there are no grades."""
        if self.kind is RUN:
            return self._value_of_run(), False
        if "grade" in self.said:
            return "grade", False
        if self.named.constant:
            return "grade", True
        if self.found["grade"]:
            return "grade", False
        for role in ("rank", "score"):
            # BEIR calls the grade "score"; a run has that too, but a rank beside it gives it away.
            for at in self.said.get(role, self.found[role]):
                if role == "rank" or not may_be_called_score(self.header[at]):
                    raise InputError(_mistaken(RUN, role, self.header[at], self.kind, self.source))
        if self.has("score"):
            return "score", False
        self._need("query")
        self._need("item")
        if "grade" in self.named or self._may_hold_a_grade():
            self._need("grade")
        return "grade", True

    def _value_of_run(self) -> str:
        if role := next((role for role in ("score", "rank") if role in self.said), None):
            return role
        role = "score" if self.found["score"] else "rank"
        if not self.found[role] and self.has("grade"):
            self._need("query")
            self._need("item")
            grade = self.said.get("grade", self.found["grade"])[0]
            name = self.header[grade]
            raise InputError(
                f"{_mistaken(JUDGEMENTS, 'grade', name, self.kind, self.source)} If it is what "
                f"orders the run, say so: columns={{'score': {name!r}}} (--columns score={name})."
            )
        return role

    def rank_beside_score(self) -> int | None:
        """Return the column of ranks, where there is one beside the scores, or among them."""
        if "rank" in self.said:
            return self.said["rank"][0]
        score = self.said.get("score", ())
        if score and candidates("rank", [self.header[score[0]]]):
            return score[0]
        name = sure("rank", self.header)
        at = None if name is None else list(self.header).index(name)
        return at if at in self.found["rank"] else None

    def _may_hold_a_grade(self) -> bool:
        """Whether there are columns of which nobody knows what they are."""
        known = {at for positions in self.said.values() for at in positions}
        known.update(at for role in ("query", "item", "subtopic") for at in self.found[role])
        others = (name for at, name in enumerate(self.header) if at not in known)
        return any(map(may_be_grade, others))

    def ids(self, role: str) -> tuple[int, ...]:
        """The columns that make an id."""
        if role not in self.said:
            return (self.one(role),)
        positions = self.said[role]
        if len(positions) > 1:
            names = listed([quote(self.header[at]) for at in positions])
            self.notes.append(f"The {role} is made of columns {names}, joined by {quote(JOINER)}.")
        return positions

    def one(self, role: str) -> int:
        """The column of a role that has one."""
        if role in self.said:
            at = self.said[role][0]
            if role == "score" and _SMALLER_IS_BETTER.search(self.header[at]):
                self.notes.append(
                    Warned(
                        f"Column {quote(self.header[at])} was taken for the score, the greatest "
                        "the best; if the smallest is the best, give it another sign."
                    )
                )
        else:
            self._need(role)
            found = self.found[role]
            at = surest(role, self.header, self.source, found)
            self._note(role, at, found)
        if role == "rank":
            lacking = "" if self.found["score"] else "There is no score: "
            column = f"{'column' if lacking else 'Column'} {quote(self.header[at])}"
            self.notes.append(Ranked(f"{lacking}{column} gives the order."))
        return at

    def _note(self, role: str, at: int, found: Sequence[int]) -> None:
        taken = quote(self.header[at])
        asked = role if role in self.named else "score" if role == "rank" else role
        if asked in self.named:
            lacks = listed([quote(name) for name in self.named[asked] if name not in self.header])
            note = f"{self.source} has no column {lacks}: column {taken} was taken for the {role}."
            self.notes.append(Warned(note) if asked in ("score", "rank") else note)
        elif len(found) > 1:
            other = next(each for each in found if each != at)
            self.notes.append(
                f"Column {taken} was taken for the {role}, not {quote(self.header[other])}."
            )

    def _need(self, role: str) -> None:
        """Refuse a table that has no column for a role."""
        if self.has(role):
            return
        value = ("score", "rank") if self.kind is RUN else ("grade",)
        for asked in (*(value if role in value else ()), role):
            if asked in self.named:
                raise InputError(self.named.lacking(asked, [(self.source, self.header)]))
        raise InputError(_missing(role, self.header, self.kind, self.source))


def _refuse_two_roles(
    columns: Columns, header: Sequence[str], source: str, value_role: str
) -> None:
    """Refuse a column that somebody said to be a text and a number, or the query and the item."""
    numbers = {value_role: columns.value, "weight": columns.weight}
    for role, positions in columns.ids.items():
        for other, at in numbers.items():
            if at in positions:
                raise InputError(
                    f"{source}: column {quote(header[at])} cannot be the {role} and the {other}."
                )
    if columns.query == columns.item:
        names = listed([quote(header[at]) for at in columns.query])
        raise InputError(f"{source}: column {names} cannot be the query and the item.")


def _missing(role: str, header: Sequence[str], kind: Kind, source: str) -> str:
    roles = ("score", "rank") if role in ("score", "rank") else (role,)
    names = "; ".join(f"{name}: {', '.join(NAMES[name])}" for name in roles)
    found = ", ".join(quote(name, 30) for name in header[:20])
    article = "an" if role == "item" else "a"
    what = " or a ".join(roles)
    every = (
        f" Where every item that is listed is relevant, say so: --columns {CONSTANT}."
        if kind is JUDGEMENTS and role == "grade"
        else ""
    )
    return (
        f"{source}: no column with {article} {what}; the columns are {found}. Say which it is "
        f"(--columns {roles[0]}=COLUMN), or use a name that is understood: {names}.{every}"
    )


def _mistaken(given: Kind, role: str, column: str, wanted: Kind, source: str) -> str:
    return (
        f"{source} looks like {given.phrase} (column {quote(column)} is a {role}), not "
        f"{wanted.phrase}. "
        "Were the two files given in the wrong order?"
    )
