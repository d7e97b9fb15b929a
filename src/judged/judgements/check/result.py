"""What was found in a collection, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from judged.judgements.check.kinds import KINDS
from judged.options import checked_methods, choice
from judged.results import Part, Result, Table
from judged.text import counted, html, html_folded, listed, plain, shown

if TYPE_CHECKING:
    import polars as pl

NO_RUNS = "No runs were given: what it does to the numbers is not known."
SHOWN = 4
"""So many numbers stand in a sentence; the table has all."""
HEADER = ("finding", "run", "measure", "as it is", "otherwise", "difference")


@dataclass(frozen=True)
class Change:
    """One number as it is, and otherwise."""

    run: str
    measure: str
    as_is: float
    """NaN where there is none."""
    otherwise: float

    @property
    def difference(self) -> float:
        """The number otherwise minus the number as it is."""
        return self.otherwise - self.as_is

    def __str__(self) -> str:
        change = f"{shown(self.as_is)} → {shown(self.otherwise)}"
        return f"{self.measure} of {self.run} {change} ({_signed(self.difference)})"


@dataclass(frozen=True)
class Effect:
    """What a finding does to the numbers: the runs evaluated as it is, and otherwise."""

    otherwise: str
    """What is otherwise, in words."""
    changes: tuple[Change, ...] = ()
    """For each run and measure both numbers; empty where there are none."""
    reason: str = ""
    """Why there are no numbers."""

    def __str__(self) -> str:
        said = f"{self.otherwise[:1].upper()}{self.otherwise[1:]}"
        if not self.changes:
            return self.reason
        moved = [each for each in self.changes if each.difference != 0]
        if not moved:
            return f"{said}, all numbers stay the same."
        most = sorted(moved, key=lambda each: -_size(each.difference))[:SHOWN]
        rest = (
            "; other numbers move less"
            if len(moved) > len(most)
            else "; the others stay the same"
            if len(self.changes) > len(moved)
            else ""
        )
        return f"{said}: {', '.join(map(str, most))}{rest}."


@dataclass(frozen=True)
class Finding:
    """One kind of thing that was found."""

    name: str
    """Which kind: one of those that `judged check --help` lists."""
    count: int
    """How many there are."""
    says: str
    """What was found, in a sentence."""
    examples: tuple[str, ...]
    """The first three, in words."""
    about: tuple[Mapping[str, Any], ...]
    """The same for programs: ids, texts, grades."""
    effect: Effect
    """What it does to the numbers."""

    def sentences(self) -> list[str]:
        """The sentence, the examples and, where there are runs, the effect.

        Returns
        -------
        list of str

        >>> from judged import check
        >>> found = check({"q": {"a": 0, "b": 0}})
        >>> found.findings[0].sentences()[0]
        'nothing-relevant: 1 of 1 judged query has nothing relevant.'
        """
        more = self.count - len(self.examples)
        examples = [f"  {text}" for text in self.examples]
        return [
            f"{self.name}: {self.says}",
            *examples,
            *([f"  … and {more:,} more"] if more > 0 else []),
            *([f"  {self.effect}"] if self.effect.reason != NO_RUNS else []),
        ]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class CollectionCheck(Result):
    """What `check` returns: every finding with its count, examples and what it does to the numbers.

    >>> from judged import check
    >>> found = check({"q": {"a": 1, "b": 0}, "p": {"a": 0}}, {"q": ["b", "a"], "p": ["a"]})
    >>> found.sound, [(each.name, each.count) for each in found.findings]
    (False, [('nothing-relevant', 1)])
    """

    WORDS: ClassVar = frozenset(HEADER[:3])

    findings: tuple[Finding, ...]
    """What was found, each kind once; empty where the collection is sound."""
    unchecked: tuple[str, ...]
    """What could not be looked for, and why, a sentence each."""
    looked_at: Mapping[str, int]
    """How many queries, judgements and runs there are, and texts and vectors of either side."""
    how: tuple[str, ...] = ()
    """How it was looked for, a sentence each."""
    notes: tuple[str, ...] = ()
    """What could mislead about the data."""
    ignored: tuple[str, ...] = field(default=())
    """Findings that nobody wanted to know of."""

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def finding(self, name: str) -> Finding | None:
        """The finding of a kind; None where there is none.

        Parameters
        ----------
        name : str
            The kind, such as "query-twins".

        Returns
        -------
        Finding or None

        >>> from judged import check
        >>> check({"q": {"a": 1, "b": 0}}).finding("two-grades") is None
        True
        """
        choice("name", name, KINDS)
        return next((each for each in self.findings if each.name == name), None)

    def sentences(self) -> list[str]:
        """What was found, each with examples and what it does to the numbers; what could not be
        looked for; and how it was looked for.

        Returns
        -------
        list of str

        >>> from judged import check
        >>> check({"q": {"a": 1, "b": 0}}).sentences()[0]
        'Nothing was found in 1 query and 2 judgements.'
        """
        return [
            *self._warned(),
            *self._found(),
            *(f"not checked: {text}" for text in self.unchecked),
            *self.how,
        ]

    def _found(self) -> list[str]:
        return [self._verdict(), *(line for each in self.findings for line in each.sentences())]

    def _verdict(self) -> str:
        sizes = {
            name: counted(self.looked_at[name], one, many)
            for name, one, many in (
                ("queries", "query", "queries"),
                ("judgements", "judgement", "judgements"),
                ("runs", "run", "runs"),
            )
            if self.looked_at.get(name)
        }
        where = f"in {listed(list(sizes.values()))}"
        if self.sound:
            return f"Nothing was found {where}."
        return f"{counted(len(self.findings), 'finding')} {where}."

    def _brief(self) -> list[str]:
        return [line for line in self._said() if line not in self.how]

    def parts(self, *, verbose: bool = False, quiet: bool = False) -> list[Part]:
        """What people see: the sentences first, then the numbers.

        Parameters
        ----------
        verbose : bool, optional
            Whether it is said how things were looked for.
        quiet : bool, optional
            Whether the numbers stand alone.

        Returns
        -------
        list of str or (header, rows)

        >>> from judged import check
        >>> check({"q": {"a": 1, "b": 0}}).parts()[0]
        'Nothing was found in 1 query and 2 judgements.'
        """
        said = self._parts([], [] if quiet else self._warned(), verbose=verbose, quiet=quiet)
        return [*said, *self.tables()]

    def tables(self) -> list[Table]:
        """Every number as it is and otherwise.

        Returns
        -------
        list of (header, rows)

        >>> from judged import check
        >>> found = check({"q": {"a": 1, "b": 0}, "p": {"a": 0}}, {"q": ["a"], "p": ["a"]}, "RR")
        >>> found.tables()[0][1]
        [['nothing-relevant', 'run', 'RR', '0.5000', '1.0000', '+0.5000']]
        """
        rows = [
            [
                *(each.name, change.run, change.measure),
                *(shown(change.as_is), shown(change.otherwise), _signed(change.difference)),
            ]
            for each in self.findings
            for change in each.effect.changes
        ]
        return [(HEADER, rows)] if rows else []

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Returns
        -------
        dict

        >>> from judged import check
        >>> check({"q": {"a": 1, "b": 0}}).to_dict()["sound"]
        True
        """
        return {
            "sound": self.sound,
            "looked_at": dict(self.looked_at),
            "findings": [
                {
                    "finding": each.name,
                    "count": each.count,
                    "says": each.says,
                    "examples": [dict(example) for example in each.about],
                    "otherwise": each.effect.otherwise,
                    "no_numbers": each.effect.reason or None,
                    "numbers": [
                        {
                            "run": change.run,
                            "measure": change.measure,
                            "as_is": plain(change.as_is),
                            "otherwise": plain(change.otherwise),
                            "difference": plain(change.difference),
                        }
                        for change in each.effect.changes
                    ],
                }
                for each in self.findings
            ],
            "unchecked": list(self.unchecked),
            "ignored": list(self.ignored),
            "how": list(self.how),
            "warnings": self.warnings(),
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per finding, run and measure; without numbers, one row per finding.

        Returns
        -------
        polars.DataFrame

        >>> from judged import check
        >>> check({"q": {"a": 0}, "p": {"a": 1, "b": 0}}).to_frame().row(0)[:2]
        ('nothing-relevant', 1)
        """
        import polars as pl

        none = Change("", "", math.nan, math.nan)
        rows = [
            (
                *(each.name, each.count, change.run or None, change.measure or None),
                *(change.as_is, change.otherwise, change.difference),
            )
            for each in self.findings
            for change in each.effect.changes or (none,)
        ]
        text, number = pl.String, pl.Float64
        schema = {"finding": text, "count": pl.Int64, "run": text, "measure": text}
        schema |= dict.fromkeys(("as_is", "otherwise", "difference"), number)
        return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)

    def to_html(self) -> str:
        """What was found in sentences, the numbers, and folded under them how it was looked for.

        Returns
        -------
        str

        >>> from judged import check
        >>> check({"q": {"a": 1, "b": 0}}).to_html().partition("</p>")[0]
        '<p><b>Nothing was found in 1 query and 2 judgements.</b>'
        """
        listed = "".join(
            f"<li>{'<br>'.join(html(line.strip()) for line in each.sentences())}</li>"
            for each in self.findings
        )
        return (
            f"<p><b>{html(self._verdict())}</b></p>"
            + self._html_warnings()
            + (f"<ul>{listed}</ul>" if listed else "")
            + "".join(self._html(*table) for table in self.tables())
            + html_folded("not checked", self.unchecked)
            + html_folded("how it was looked for", self.how)
        )


def _size(difference: float) -> float:
    return math.inf if math.isnan(difference) else abs(difference)


def _signed(value: float) -> str:
    """A difference with its sign."""
    text = shown(value)
    return f"+{text}" if value > 0 else text.replace("-", "−")
