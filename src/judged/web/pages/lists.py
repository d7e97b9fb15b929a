"""The lists of one query side by side, with the moves between them and the ideal order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from judged.errors import InputError
from judged.rankings.strips import Cell, strips
from judged.text import counted

if TYPE_CHECKING:
    from judged.inputs.texts import Text
    from judged.rankings.rankings import Rankings

MAX_LISTS = 4
MAX_TEXT_LENGTH = 240
"""How many characters of a text are kept; no list has space for more in a line."""

MoveKind = Literal["up", "down", "level", "new", "gone", "below"]
_SIGNS: dict[MoveKind, str] = {"up": "▲", "down": "▼", "level": "="}


@dataclass(frozen=True, eq=False)
class RankedList:
    """The list of one system for a query."""

    system: str
    rankings: Rankings
    """Of the one query."""
    items: Mapping[int, str] = field(default_factory=dict)
    """Ids by rank, as far as they are known."""
    place: int = 0
    """The place of the system among the files, which gives its colour."""
    value: float | None = None
    """The value of a measure, to show beside the name."""


@dataclass(frozen=True)
class RankMove:
    """The place of an item in a neighbouring list.

    Against the list to the left it is up, down, level or new. In the list to the right it is gone,
    or below the results that are shown.
    """

    kind: MoveKind
    relevant: bool
    rank: int | None = None
    """The rank in the other list."""
    by: int = 0
    other: str = ""
    """The system of the other list."""

    @property
    def text(self) -> str:
        """A few characters: ▲ 3, new, gone, to 25."""
        if self.kind == "below":
            return f"to {self.rank:,}"
        if self.kind in ("new", "gone"):
            return self.kind
        sign = _SIGNS[self.kind]
        return f"{sign} {self.by:,}" if self.by else sign

    @property
    def words(self) -> str:
        """The same as a phrase."""
        if self.kind in ("up", "down"):
            way = "higher" if self.kind == "up" else "lower"
            ranks = counted(self.by, "rank")
            return f"{ranks} {way} than in {self.other}, where it is at {self.rank:,}"
        return {
            "new": f"not in the list of {self.other}",
            "gone": f"no longer in the list of {self.other}",
            "below": f"rank {self.rank or 0:,} in the list of {self.other}",
            "level": f"at the same rank in {self.other}",
        }[self.kind]

    @property
    def look(self) -> str:
        """The CSS class: only moves of relevant items are gains or losses."""
        if not self.relevant:
            return "soft"
        return {"up": "better", "down": "worse"}.get(self.kind, "soft")


@dataclass(frozen=True)
class ListEntry:
    """One result of a list."""

    rank: int
    item: str | None
    cell: Cell
    heading: str
    """The title of the item, its text, or its id."""
    line: str = ""
    """The text below a title, or the id below a text."""
    has_text: bool = False
    picture: str = ""
    came: RankMove | None = None
    """Against the list to the left."""
    left: RankMove | None = None
    """In the list to the right, if it is not shown there."""


@dataclass(frozen=True)
class MoveLine:
    """The line of an item from a list to the one on its right: 10 units wide, a rank is 1 high."""

    path: str
    look: str


@dataclass(frozen=True)
class ListColumn:
    """One of the lists, as a page shows it."""

    system: str
    place: int
    value: float | None
    entries: tuple[ListEntry, ...]
    retrieved: int
    """The length of the whole list."""
    missing: bool
    """Whether the run has no results for the query."""
    cells: tuple[Cell, ...]
    lines: tuple[MoveLine, ...] = ()
    """From the list on the left to this one."""

    @property
    def more(self) -> int:
        """How many results are not shown."""
        return max(self.retrieved - len(self.entries), 0)


@dataclass(frozen=True)
class SideBySide:
    """Up to four lists of one query."""

    lists: tuple[ListColumn, ...]
    ideal: tuple[Cell, ...]
    """The best order of all judged items."""
    judged: int
    relevant: int
    top: float
    """The best grade, which gives the strength of colours."""

    @property
    def rows(self) -> int:
        """The length of the longest list, as shown."""
        return max((len(column.entries) for column in self.lists), default=0)

    @property
    def sentence(self) -> str:
        """How many judged items are relevant."""
        if not self.judged:
            return "nothing is judged"
        if self.judged == 1:
            return f"the one judged item is {'' if self.relevant else 'not '}relevant"
        items = counted(self.judged, "judged item")
        return f"{self.relevant:,} of {items} {'is' if self.relevant == 1 else 'are'} relevant"


def side_by_side(
    lists: Sequence[RankedList],
    *,
    k: int = 10,
    texts: Mapping[str, Text] | None = None,
    pictures: Mapping[str, str] | None = None,
    top: float | None = None,
) -> SideBySide:
    """Show up to four lists of one query, from left to right, and the moves between them.

    `pictures` are addresses by item. `top` is the best grade of all queries, so that colours mean
    the same on all pages.

    >>> from judged import Rankings
    >>> a = Rankings.from_relevance([[0, 2]], pool=[[2, 1, 0]])
    >>> b = Rankings.from_relevance([[2, None]], pool=[[2, 1, 0]])
    >>> lists = [RankedList("a", a, {1: "x", 2: "y"}), RankedList("b", b, {1: "y", 2: "z"})]
    >>> view = side_by_side(lists)
    >>> [entry.came.text for entry in view.lists[1].entries], view.sentence
    (['▲ 1', 'new'], '2 of 3 judged items are relevant')
    """
    if not 1 <= len(lists) <= MAX_LISTS:
        raise InputError(f"one to {MAX_LISTS} lists can be shown side by side; got {len(lists)}.")
    queries = {ranked.rankings.queries for ranked in lists}
    if len(queries) > 1 or len(lists[0].rankings.queries) != 1:
        raise InputError("lists side by side must be of one query, the same in all of them.")
    pool = lists[0].rankings.pool_grade
    best = float(pool.max(initial=0.0)) if top is None else top
    best = best if best > 0 else 1.0
    cells = [
        tuple(replace(cell, top=best) for cell in strips(ranked.rankings, k).cells(0))
        for ranked in lists
    ]
    ranks = [{item: rank for rank, item in ranked.items.items()} for ranked in lists]
    shown = [[cell for cell in strip if cell.kind != "nothing"] for strip in cells]
    columns: list[ListColumn] = []
    for number, (ranked, strip) in enumerate(zip(lists, shown, strict=True)):
        before = (lists[number - 1].system, ranks[number - 1]) if number else None
        after = None
        if number + 1 < len(lists):
            after = lists[number + 1].system, ranks[number + 1], len(shown[number + 1])
        entries = tuple(
            _entry(rank, ranked.items.get(rank), cell, before, after, texts or {}, pictures or {})
            for rank, cell in enumerate(strip, 1)
        )
        columns.append(
            ListColumn(
                ranked.system,
                ranked.place,
                ranked.value,
                entries,
                int(ranked.rankings.retrieved[0]),
                bool(ranked.rankings.missing[0]),
                cells[number],
                tuple(_lines(columns[-1].entries, entries)) if number else (),
            )
        )
    judged = sorted((float(grade) for grade in pool if grade >= 0), reverse=True)
    ideal = tuple(
        Cell("relevant" if grade > 0 else "irrelevant", grade, best) for grade in judged[:k]
    )
    relevant = sum(grade > 0 for grade in judged)
    return SideBySide(tuple(columns), ideal, len(judged), relevant, best)


def _entry(
    rank: int,
    item: str | None,
    cell: Cell,
    before: tuple[str, Mapping[str, int]] | None,
    after: tuple[str, Mapping[str, int], int] | None,
    texts: Mapping[str, Text],
    pictures: Mapping[str, str],
) -> ListEntry:
    if item is None:
        return ListEntry(rank, item, cell, "")
    relevant = cell.kind == "relevant"
    came = left = None
    if before is not None:
        came = _came(rank, before[1].get(item), relevant, before[0])
    if after is not None:
        system, ranks, shown = after
        other = ranks.get(item)
        if other is None:
            left = RankMove("gone", relevant, other=system)
        elif other > shown:
            left = RankMove("below", relevant, other, other=system)
    text = texts.get(item)
    heading, line = item, ""
    if text is not None and text.heading:
        heading = text.heading[:MAX_TEXT_LENGTH]
        line = text.line[:MAX_TEXT_LENGTH] if text.line else item
    picture = pictures.get(item, "")
    return ListEntry(rank, item, cell, heading, line, heading is not item, picture, came, left)


def _came(rank: int, other: int | None, relevant: bool, system: str) -> RankMove:
    if other is None:
        return RankMove("new", relevant, other=system)
    kind: MoveKind = "up" if rank < other else "down" if rank > other else "level"
    return RankMove(kind, relevant, other, abs(other - rank), system)


def _lines(left: Sequence[ListEntry], right: Sequence[ListEntry]) -> list[MoveLine]:
    """Connect the items that both lists show, relevant ones last and so on top."""
    lines = []
    ranks = {entry.item: entry.rank for entry in left if entry.item is not None}
    for entry in right:
        if entry.item not in ranks or entry.came is None:
            continue
        start, end = ranks[entry.item] - 0.5, entry.rank - 0.5
        look = entry.came.look
        strength = f"{look} relevant" if entry.cell.kind == "relevant" else look
        lines.append(MoveLine(f"M0 {start:g}C5 {start:g} 5 {end:g} 10 {end:g}", strength))
    return sorted(lines, key=lambda line: "relevant" in line.look)
