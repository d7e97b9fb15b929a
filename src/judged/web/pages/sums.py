"""The sum behind a number: what each rank adds, the arithmetic with its meaning, what would help
most, and what other definitions say.

Everything is taken from `Explanation.to_dict()`; here it is only put in the shape of a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.rankings.strips import Cell

if TYPE_CHECKING:
    from judged.explanation.explanation import Explanation

MOST_OTHERS = 8
"""So many other definitions are shown."""
MOST_USERS = 3
"""So many libraries are named with each."""
_OWN = ("rank", "item", "grade", "adds")
"""Columns of the table that pages draw themselves."""


@dataclass(frozen=True)
class SumRow:
    """One rank."""

    rank: int
    item: str | None
    cell: Cell
    cells: tuple[str, ...]
    """What the measure looks at, by the columns of the sum."""
    adds: float | None
    """What it adds to the value; None where nothing."""
    counts: bool
    """Whether it is above the cutoff."""
    skipped: int
    """How many ranks are left out before it."""


@dataclass(frozen=True)
class SumLine:
    """A line of the arithmetic."""

    before: str
    """The line down to its last equals sign."""
    value: str
    """What comes out."""
    says: str
    """Why it is so; empty for the last line."""


@dataclass(frozen=True)
class Other:
    """Another definition."""

    measure: str
    value: float
    says: str
    """What differs, and who has it."""


@dataclass(frozen=True)
class Step:
    """What is said at one step of the walk down the list."""

    rank: int
    caption: str
    score: str
    """The value so far; empty where it is no sum."""
    readings: tuple[str, ...]
    finished: bool


@dataclass(frozen=True)
class Sum:
    """How one number of one query comes about."""

    measure: str
    title: str
    system: str
    query: str
    value: float | None
    """What stands in tables: the value under the policy; None where the query does not count."""
    columns: tuple[str, ...]
    rows: tuple[SumRow, ...]
    adds: bool
    """Whether the value is a sum over ranks."""
    most: float
    """The most that any rank adds."""
    lines: tuple[SumLine, ...]
    sentences: tuple[str, ...]
    """What else there is to say, but for what would help most."""
    helps: str
    """What would help most; empty where nothing does."""
    others: tuple[Other, ...]
    readings: tuple[str, ...]
    """The names of what is read at each step."""
    steps: tuple[Step, ...]
    latex: str
    below: int
    """How many ranks are left out after the last row."""

    @property
    def frames(self) -> list[dict[str, Any]]:
        """The steps as plain values, for a script."""
        return [
            {
                "rank": step.rank,
                "caption": step.caption,
                "score": step.score,
                "readings": list(step.readings),
                "finished": step.finished,
            }
            for step in self.steps
        ]


def sum_behind(explanation: Explanation, *, top: float | None = None) -> Sum:
    """The sum behind a number, as a page shows it.

    Parameters
    ----------
    explanation : Explanation
        What `judged.explain` returned.
    top : float, optional
        The best grade of all queries, for colours that mean the same on all pages; by default that
        of this query.

    Returns
    -------
    Sum

    >>> from judged import explain
    >>> found = sum_behind(explain("0 1 0 1", measure="AP"))
    >>> [row.adds for row in found.rows], found.lines[-1].value
    ([0.0, 0.25, 0.0, 0.25], '0.5')
    """
    told = explanation.to_dict()
    best = float(explanation.rankings.pool_grade.max(initial=0.0)) if top is None else top
    best = best if best > 0 else 1.0
    header: Sequence[str] = told["table"]["header"]
    chosen = [at for at, name in enumerate(header) if name not in _OWN]
    rows = tuple(
        SumRow(
            row["rank"],
            row.get("item"),
            _cell(row, best),
            tuple(texts[at] for at in chosen),
            row["adds"] if "adds" in row and row["counts"] else None,
            row["counts"],
            skipped,
        )
        for row, texts, skipped in zip(
            told["ranks"], told["table"]["rows"], told["table"]["skipped"], strict=True
        )
    )
    change = told["best_change"]
    helps = change["says"] if change else ""
    walk = told["walk"]
    return Sum(
        measure=str(explanation.measure),
        title=explanation.measure.spec.title,
        system=told["run"],
        query=told["query"],
        value=_number(told["settled"]),
        columns=tuple(header[at] for at in chosen),
        rows=rows,
        adds="adds" in header,
        most=max((abs(row.adds) for row in rows if row.adds is not None), default=0.0),
        lines=tuple(map(_line, told["lines"])),
        sentences=tuple(text for text in told["sentences"] if text != helps),
        helps=helps,
        others=tuple(map(_other, told["variants"][:MOST_OTHERS])),
        readings=tuple(walk["readings"]),
        steps=tuple(
            Step(
                frame["rank"],
                frame["caption"],
                frame["score"],
                tuple(frame["readings"]),
                frame["finished"],
            )
            for frame in walk["frames"]
        ),
        latex=told["align"],
        below=told["retrieved"] - (rows[-1].rank if rows else 0),
    )


def _number(value: float | str | None) -> float | None:
    """A number that JSON would not hold, back from its word."""
    return value if value is None else float(value)


def _cell(row: Mapping[str, Any], top: float) -> Cell:
    grade = row["grade"]
    if not row["judged"]:
        return Cell("unjudged", None, top)
    return Cell("relevant" if grade > 0 else "irrelevant", grade, top)


def _line(line: Mapping[str, Any]) -> SumLine:
    stages: list[str] = line["stages"]
    # On the way to the value, the numbers and what comes out are enough.
    between = stages[:-1] if not line["says"] else stages[: min(1, len(stages) - 1)]
    return SumLine(" = ".join([line["symbol"], *between]), stages[-1], line["says"])


def _other(variant: Mapping[str, Any]) -> Other:
    users = [f"{title} ({theirs})" for title, theirs in variant["libraries"].items()]
    more = len(users) - MOST_USERS
    named = ", ".join(users[:MOST_USERS]) + (f" and {more} more" if more > 0 else "")
    value = _number(variant["value"])
    assert value is not None  # a variant without a value is none
    return Other(variant["measure"], value, ": ".join(filter(None, [variant["says"], named])))
