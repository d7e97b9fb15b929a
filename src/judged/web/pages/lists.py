"""Lists of one query side by side: what stands where, what moved, and the best order that there is.

The report and the explorer show the same; here is what they show, as plain values for templates."""

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
"""So many lists stand side by side."""
MAX_LINE = 240
"""So many characters of a text are shown; more do not fit into a line of any list."""

MoveKind = Literal["up", "down", "level", "new", "gone", "below"]
_SIGNS: dict[MoveKind, str] = {"up": "▲", "down": "▼", "level": "="}


@dataclass(frozen=True, eq=False)
class RankedList:
    """One list, as it comes from the library."""

    system: str
    rankings: Rankings
    """Of the one query."""
    items: Mapping[int, str] = field(default_factory=dict)
    """Ids by rank; none where they are not known."""
    place: int = 0
    """The place of the system among the files, from 0: its colour."""
    value: float | None = None
    """What a measure says of it, to stand beside its name."""


@dataclass(frozen=True)
class RankMove:
    """Where an item of a list stands in another list."""

    kind: MoveKind
    """Against the list to the left: up, down, level, or new. In the list to the right: gone, or
    below what is shown."""
    relevant: bool
    rank: int | None = None
    """Its rank in the other list, where it is there."""
    by: int = 0
    """How many ranks it moved."""
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
        """The same as a sentence."""
        if self.kind == "new":
            return f"not in the list of {self.other}"
        if self.kind == "gone":
            return f"no longer in the list of {self.other}"
        if self.kind == "below":
            return f"rank {self.rank:,} in the list of {self.other}"
        if self.kind == "level":
            return f"at the same rank in {self.other}"
        ranks = counted(self.by, "rank")
        way = "higher" if self.kind == "up" else "lower"
        return f"{ranks} {way} than in {self.other}, where it is at {self.rank:,}"

    @property
    def look(self) -> str:
        """The class of its colour: only what is relevant is a gain or a loss."""
        if not self.relevant:
            return "soft"
        return {"up": "better", "down": "worse"}.get(self.kind, "soft")


@dataclass(frozen=True)
class ListEntry:
    """One result of a list."""

    rank: int
    item: str | None
    """Its id, where it is known."""
    cell: Cell
    """Its grade, or that nobody judged it."""
    heading: str
    """Its title, its text where it has no title, or its id."""
    line: str = ""
    """Its text, below a title; its id, below a text that stands for a title."""
    has_text: bool = False
    picture: str = ""
    """The address of its picture; empty where it has none."""
    came: RankMove | None = None
    """Against the list to the left."""
    left: RankMove | None = None
    """In the list to the right, where it is gone or not in sight."""


@dataclass(frozen=True)
class MoveLine:
    """The way of one item from a list to the one on its right."""

    path: str
    """As SVG has it: ten units wide, one unit a rank high."""
    look: str
    """The class of its colour."""


@dataclass(frozen=True)
class ListColumn:
    """One of the lists."""

    system: str
    place: int
    value: float | None
    entries: tuple[ListEntry, ...]
    retrieved: int
    """How long the whole list is."""
    missing: bool
    """Whether the run lacks the query."""
    cells: tuple[Cell, ...]
    """The strip of the ranks shown."""
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
    """The best order of all judged items, as many ranks as are shown."""
    judged: int
    relevant: int
    top: float
    """The best grade that there is, by which colours are chosen."""

    @property
    def rows(self) -> int:
        """How long the longest of the lists is, as shown."""
        return max((len(each.entries) for each in self.lists), default=0)

    @property
    def sentence(self) -> str:
        """What is known of the query: 7 of 11 judged items are relevant."""
        if not self.judged:
            return "nothing is judged"
        items = counted(self.judged, "judged item")
        if self.judged == 1:
            return f"the one judged item is {'' if self.relevant else 'not '}relevant"
        return f"{self.relevant:,} of {items} {'is' if self.relevant == 1 else 'are'} relevant"


def side_by_side(
    given: Sequence[RankedList],
    *,
    k: int = 10,
    texts: Mapping[str, Text] | None = None,
    pictures: Mapping[str, str] | None = None,
    top: float | None = None,
) -> SideBySide:
    """What stands where in up to four lists of one query, and what moved from each to the next.

    Parameters
    ----------
    given : sequence of Given
        The lists, from left to right: from one to four, of the same query.
    k : int, optional
        How many ranks are shown.
    texts : mapping, optional
        Titles and texts of items, as `judged.inputs.texts.read_texts` has them; some may be
        missing.
    pictures : mapping, optional
        The addresses of pictures by item.
    top : float, optional
        The best grade of all queries, for colours that mean the same on all pages; by default that
        of this query.

    Returns
    -------
    SideBySide

    >>> from judged import Rankings
    >>> a = Rankings.from_relevance([[0, 2]], pool=[[2, 1, 0]])
    >>> b = Rankings.from_relevance([[2, None]], pool=[[2, 1, 0]])
    >>> given = [RankedList("a", a, {1: "x", 2: "y"}), RankedList("b", b, {1: "y", 2: "z"})]
    >>> found = side_by_side(given)
    >>> [entry.came.text for entry in found.lists[1].entries], found.sentence
    (['▲ 1', 'new'], '2 of 3 judged items are relevant')
    """
    if not 1 <= len(given) <= MAX_LISTS:
        raise InputError(f"one to {MAX_LISTS} lists can stand side by side; got {len(given)}.")
    queries = {each.rankings.queries for each in given}
    if len(queries) > 1 or len(given[0].rankings.queries) != 1:
        raise InputError("lists side by side must be of one query, the same in all of them.")
    pool = given[0].rankings.pool_grade
    best = float(pool.max(initial=0.0)) if top is None else top
    best = best if best > 0 else 1.0
    cells = [
        tuple(replace(cell, top=best) for cell in strips(each.rankings, k).cells(0))
        for each in given
    ]
    at = [{item: rank for rank, item in each.items.items()} for each in given]
    shown = [[cell for cell in own if cell.kind != "nothing"] for own in cells]
    lists: list[ListColumn] = []
    for number, (each, own) in enumerate(zip(given, shown, strict=True)):
        before = (given[number - 1].system, at[number - 1]) if number else None
        after = None
        if number + 1 < len(given):
            after = given[number + 1].system, at[number + 1], len(shown[number + 1])
        entries = tuple(
            _entry(rank, each.items.get(rank), cell, before, after, texts or {}, pictures or {})
            for rank, cell in enumerate(own, 1)
        )
        lines = () if not number else tuple(_lines(lists[-1].entries, entries))
        r = each.rankings
        lists.append(
            ListColumn(
                each.system,
                each.place,
                each.value,
                entries,
                int(r.retrieved[0]),
                bool(r.missing[0]),
                cells[number],
                lines,
            )
        )
    judged = [float(grade) for grade in pool if grade >= 0]
    ideal = tuple(
        Cell("relevant" if grade > 0 else "irrelevant", grade, best)
        for grade in sorted(judged, reverse=True)[:k]
    )
    relevant = sum(grade > 0 for grade in judged)
    return SideBySide(tuple(lists), ideal, len(judged), relevant, best)


def _entry(
    rank: int,
    item: str | None,
    cell: Cell,
    before: tuple[str, Mapping[str, int]] | None,
    after: tuple[str, Mapping[str, int], int] | None,
    texts: Mapping[str, Text],
    pictures: Mapping[str, str],
) -> ListEntry:
    relevant = cell.kind == "relevant"
    came = left = None
    if item is not None and before is not None:
        came = _came(rank, item, relevant, *before)
    if item is not None and after is not None:
        system, places, shown = after
        other = places.get(item)
        if other is None:
            left = RankMove("gone", relevant, other=system)
        elif other > shown:
            left = RankMove("below", relevant, other, other=system)
    text = texts.get(item) if item is not None else None
    name = item or ""
    heading, line = name, ""
    if text is not None and text.heading:
        heading = text.heading[:MAX_LINE]
        line = text.line[:MAX_LINE] if text.line else name
    return ListEntry(
        rank,
        item,
        cell,
        heading,
        line,
        heading is not name,
        pictures.get(name, "") if item is not None else "",
        came,
        left,
    )


def _came(rank: int, item: str, relevant: bool, system: str, places: Mapping[str, int]) -> RankMove:
    other = places.get(item)
    if other is None:
        return RankMove("new", relevant, other=system)
    kind: MoveKind = "up" if rank < other else "down" if rank > other else "level"
    return RankMove(kind, relevant, other, abs(other - rank), system)


def _lines(left: Sequence[ListEntry], right: Sequence[ListEntry]) -> list[MoveLine]:
    """The ways of the items that both lists show; those of relevant items last, so that they lie
    above the others."""
    found = []
    places = {entry.item: entry.rank for entry in left if entry.item is not None}
    for entry in right:
        if entry.item not in places or entry.came is None:
            continue
        start, end = places[entry.item] - 0.5, entry.rank - 0.5
        look = entry.came.look if entry.came.kind != "level" else "soft"
        strength = f"{look} relevant" if entry.cell.kind == "relevant" else look
        found.append(MoveLine(f"M0 {start:g}C5 {start:g} 5 {end:g} 10 {end:g}", strength))
    return sorted(found, key=lambda line: "relevant" in line.look)
