"""What was found, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from judged.conventions.identification.likelihood import Definition, Match
from judged.conventions.identification.practice import OWN, Practice
from judged.conventions.identification.printed import Asked
from judged.policy import Policy
from judged.results import Result, Table
from judged.text import counted, html, html_folded, markdown_table

if TYPE_CHECKING:
    import polars as pl

SHOWN = 10
"""So many explanations are shown unless more are asked for."""
NAMED = 4
"""So many libraries are named in a table."""
HEADER = ("value", "measure", "policy", "as in")


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Result):
    """What `identify` returns, always: the definitions that give a number, and how much that says.

    >>> from judged import identify
    >>> found = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
    >>> found.matches[0].definition.measure, found.matches[0].value
    (AP@3, 0.25)
    """

    WORDS: ClassVar = frozenset(HEADER)

    asked: Asked
    """The number as it was written, and how it was read."""
    matches: tuple[Match, ...]
    """Everything that fits, the likeliest explanation first."""
    tried: int
    """How many definitions were tried: measures with their parameters, under each policy."""
    distinct: int
    """How many distinct numbers these give."""
    chance: float
    """How many of the distinct numbers would fit by chance, judging by how dense they are around
    the number."""
    in_use: int
    """How many of the distinct numbers somebody computes: a library, or judged by default."""
    in_use_chance: float
    """How many of these would fit by chance."""
    nearest: tuple[Match, ...] = ()
    """Where nothing fits, what comes nearest, the nearest first."""
    idle: dict[str, str] = field(default_factory=dict)
    """The choices of a policy that change no number here, and why."""
    untried: str = ""
    """What could not be tried, and why; empty where everything was."""
    notes: tuple[str, ...] = ()
    """What could mislead about the data."""
    limit: int | None = SHOWN
    """How many explanations text and tables show; all are among `matches`, and in JSON."""

    @property
    def value(self) -> str:
        """The number that was asked for, as it was written."""
        return self.asked.text

    def sentences(self) -> list[str]:
        """What was found, in words: how the number was read, what fits, and how much that says.

        Returns
        -------
        list of str

        >>> from judged import identify
        >>> found = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
        >>> found.sentences()[0]
        '0.25 is any value that is rounded to it, or cut off to it, at 2 decimals.'
        """
        return [
            *self._warned(),
            *self.asked.sentences(),
            self._verdict(),
            self._weight(),
            f"Where no choice is named: {Policy()}.",
            *self._idle(),
            *([self.untried] if self.untried else []),
        ]

    def _verdict(self) -> str:
        if not self.matches:
            return f"Nothing that was tried gives {self.value}" + (
                "; this comes nearest." if self.nearest else "."
            )
        count = len(self.matches)
        if count == 1:
            return "One explanation fits."
        hidden = count - len(self.matches[: self.limit])
        return (
            f"{count:,} explanations fit, the likeliest "
            f"first{f'; {hidden:,} more are not shown' if hidden else ''}."
        )

    def _weight(self) -> str:
        few = (
            " So a fit says little: give more digits, or name the measure."
            if self.in_use_chance >= 1
            else ""
        )
        return (
            f"{self.tried:,} definitions were tried. They give "
            f"{counted(self.distinct, 'distinct number')}, of which "
            f"{_about(self.chance)} would fit by chance; {self.in_use:,} of them are in use "
            "somewhere, of which "
            f"{_about(self.in_use_chance)} would.{few}"
        )

    def _idle(self) -> list[str]:
        choices = [f"{choice} ({why})" for choice, why in self.idle.items()]
        return [f"Without effect here: {'; '.join(choices)}."] if choices else []

    def rows(self) -> list[tuple[str, ...]]:
        """Value, measure, the choices of a policy that matter, and who computes that, as text.

        Returns
        -------
        list of tuples of str

        >>> from judged import identify
        >>> found = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
        >>> found.rows()[0][:2]
        ('0.250000', 'AP@3')
        """
        return [
            row
            for match in (self.matches or self.nearest)[: self.limit]
            for row in self._rows(match)
        ]

    def _rows(self, match: Match) -> list[tuple[str, ...]]:
        decimals = min(max(self.asked.decimals + 2, 6), 12)
        value = (
            f"{match.value * 100:.{decimals - 2}f}%"
            if match.percent
            else f"{match.value:.{decimals}f}"
        )
        cells = [_cells(definition) for definition in (match.definition, *match.same)]
        first = f"{value} (cut off)" if match.cut else value
        return [(first if number == 0 else "", *each) for number, each in enumerate(cells)]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> from judged import identify
        >>> found = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
        >>> found.to_dict()["matches"][0]["measure"]
        'AP@3'
        """
        return {
            "value": self.value,
            "readings": [
                {"number": each.number, "percent": each.percent} for each in self.asked.readings
            ],
            "fits": len(self.matches),
            "tried": self.tried,
            "distinct": self.distinct,
            "chance": self.chance,
            "in_use": self.in_use,
            "in_use_chance": self.in_use_chance,
            "matches": [_match(match) for match in self.matches],
            "nearest": [_match(match) for match in self.nearest],
            "idle": dict(self.idle),
            "untried": self.untried,
            "warnings": self.warnings(),
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per explanation: the likeliest definition of each measure that fits, or is near.

        Returns
        -------
        polars.DataFrame

        >>> from judged import identify
        >>> found = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
        >>> found.to_frame().row(0)[:2]
        (0.25, 'AP@3')
        """
        import polars as pl

        rows = [
            {
                "value": match.value,
                "measure": str(match.definition.measure),
                **match.definition.policy.to_dict(),
                "as_in": _who(match.definition),
                "distance": match.definition.distance,
            }
            for match in self.matches or self.nearest
        ]
        return pl.DataFrame(rows)

    def tables(self) -> list[Table]:
        """The table that people see.

        Returns
        -------
        list of (header, rows)

        >>> from judged import identify
        >>> found = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
        >>> found.tables()[0][0]
        ('value', 'measure', 'policy', 'as in')
        """
        return [(HEADER, self.rows())]

    def to_markdown(self) -> str:
        """A table to paste, with what was found in words.

        Returns
        -------
        str

        >>> from judged import identify
        >>> found = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
        >>> print(found.to_markdown().splitlines()[0])
        | value | measure | policy | as in |
        """
        table = markdown_table(HEADER, self.rows(), right=[0])
        return "\n\n".join([table, *self.sentences()]) + "\n"

    def to_html(self) -> str:
        """What fits in a sentence, the table, and folded under it what that says, for notebooks.

        Returns
        -------
        str

        >>> from judged import identify
        >>> found = identify("0.25", {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}, "AP@3")
        >>> found.to_html().partition("</p>")[0]
        '<p><b>0.25</b>: One explanation fits.'
        """
        rows = self.rows()
        return (
            f"<p><b>{html(self.value)}</b>: {html(self._verdict())}</p>"
            + (self._html(HEADER, rows) if rows else "")
            + self._html_warnings()
            + f"<p><small>{html(self._weight())}</small></p>"
            + html_folded("how it was read and what was tried", self._read())
        )

    def _read(self) -> list[str]:
        """How the number was read, and what stays the same."""
        return [
            *self.asked.sentences(),
            f"Where no choice is named: {Policy()}.",
            *self._idle(),
            *([self.untried] if self.untried else []),
        ]


def _about(number: float) -> str:
    """An estimate, in words."""
    return (
        "hardly any"
        if number < 0.05
        else f"about {number:.1f}"
        if number < 10
        else f"about {number:,.0f}"
    )


def _cells(definition: Definition) -> tuple[str, str, str]:
    policy = ", ".join(
        f"{choice}={'|'.join(held)}" for choice, held in definition.unusual().items()
    )
    return str(definition.measure), policy, _who(definition)


def _who(definition: Definition) -> str:
    """Who computes this, or what it is nearest to."""
    users = definition.libraries
    if not users:
        but = ", ".join(definition.departures)
        nearest = (
            f"{OWN}'s default" if definition.nearest.library == OWN else definition.nearest.said
        )
        return f"{nearest}, but {but}" if but else nearest
    first = sorted(users, key=lambda each: each.far)
    said = [each.said for each in first[:NAMED]]
    more = len(first) - len(said)
    return f"{', '.join(said)} and {more} more" if more else ", ".join(said)


def _match(match: Match) -> dict[str, Any]:
    return {
        "value": match.value,
        "percent": match.percent,
        "cut": match.cut,
        "definitions": match.definitions,
        **_definition(match.definition),
        "same": [_definition(definition) for definition in match.same],
    }


def _definition(definition: Definition) -> dict[str, Any]:
    return {
        "measure": str(definition.measure),
        "policy": definition.policy.to_dict(),
        "holds": {choice: list(held) for choice, held in definition.holds.items()},
        "libraries": [_practice(practice) for practice in definition.libraries],
        "nearest": _practice(definition.nearest),
        "departures": list(definition.departures),
        "distance": definition.distance,
    }


def _practice(practice: Practice) -> dict[str, Any]:
    return {"library": practice.library, "name": practice.theirs, "options": list(practice.options)}
