"""The lists of one query side by side, with the moves between them and the ideal order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judged.rankings.strips import Cell, strips
from judged.text import counted

if TYPE_CHECKING:
    from judged.inputs.texts import Text
    from judged.rankings.rankings import Rankings

MAX_TEXT_LENGTH = 240
"""The number of characters of a text that fit into a line."""


@dataclass(frozen=True, eq=False)
class RankedList:
    """The list of one system for a query."""

    system: str
    rankings: Rankings  # of the one query
    items: Mapping[int, str] = field(default_factory=dict)  # ids by rank, as far as they are known
    place: int = 0  # the place of the system among the files, which gives its colour
    value: float | None = None  # the value of a measure, to show beside the name


def side_by_side(
    lists: Sequence[RankedList],
    *,
    k: int = 10,
    texts: Mapping[str, Text] | None = None,
    pictures: Mapping[str, str] | None = None,
    top: float | None = None,
) -> dict[str, Any]:
    """Show lists of one query, from left to right, and the moves between them.

    Each entry has its move against the list to the left (`came`) and, if the list to the right
    does not show it, its place there (`left`). `top` is the best grade of all queries.

    >>> from judged import Rankings
    >>> a = Rankings.from_relevance([[0, 2]], pool=[[2, 1, 0]])
    >>> b = Rankings.from_relevance([[2, None]], pool=[[2, 1, 0]])
    >>> lists = [RankedList("a", a, {1: "x", 2: "y"}), RankedList("b", b, {1: "y", 2: "z"})]
    >>> view = side_by_side(lists)
    >>> [entry["came"]["text"] for entry in view["lists"][1]["entries"]], view["sentence"]
    (['▲ 1', 'new'], '2 of 3 judged items are relevant')
    """
    pool = lists[0].rankings.pool_grade
    best = float(pool.max(initial=0.0)) if top is None else top
    best = best if best > 0 else 1.0
    cells = [
        tuple(replace(cell, top=best) for cell in strips(ranked.rankings, k).cells(0))
        for ranked in lists
    ]
    ranks = [{item: rank for rank, item in ranked.items.items()} for ranked in lists]
    shown = [[cell for cell in strip if cell.kind != "nothing"] for strip in cells]
    columns: list[dict[str, Any]] = []
    for number, (ranked, strip) in enumerate(zip(lists, shown, strict=True)):
        before = (lists[number - 1].system, ranks[number - 1]) if number else None
        after = None
        if number + 1 < len(lists):
            after = lists[number + 1].system, ranks[number + 1], len(shown[number + 1])
        entries = [
            _entry(rank, ranked.items.get(rank), cell, before, after, texts or {}, pictures or {})
            for rank, cell in enumerate(strip, 1)
        ]
        columns.append(
            {
                "system": ranked.system,
                "place": ranked.place,
                "value": ranked.value,
                "entries": entries,
                "more": max(int(ranked.rankings.retrieved[0]) - len(entries), 0),
                "missing": bool(ranked.rankings.missing[0]),
                "cells": cells[number],
                "lines": _lines(columns[-1]["entries"], entries) if number else [],
            }
        )
    judged = sorted((float(grade) for grade in pool if grade >= 0), reverse=True)
    return {
        "lists": columns,
        "rows": max(len(column["entries"]) for column in columns),
        "ideal": [Cell("relevant" if g > 0 else "irrelevant", g, best) for g in judged[:k]],
        "sentence": _sentence(len(judged), sum(grade > 0 for grade in judged)),
        "top": best,
    }


def _sentence(judged: int, relevant: int) -> str:
    if not judged:
        return "nothing is judged"
    if judged == 1:
        return f"the one judged item is {'' if relevant else 'not '}relevant"
    items = counted(judged, "judged item")
    return f"{relevant:,} of {items} {'is' if relevant == 1 else 'are'} relevant"


def _entry(
    rank: int,
    item: str | None,
    cell: Cell,
    before: tuple[str, Mapping[str, int]] | None,
    after: tuple[str, Mapping[str, int], int] | None,
    texts: Mapping[str, Text],
    pictures: Mapping[str, str],
) -> dict[str, Any]:
    entry: dict[str, Any] = {"rank": rank, "item": item, "cell": cell, "heading": item or ""}
    entry |= {"line": "", "has_text": False, "picture": "", "came": None, "left": None}
    if item is None:
        return entry
    text = texts.get(item)
    if text is not None and text.heading:
        entry["heading"], entry["has_text"] = text.heading[:MAX_TEXT_LENGTH], True
        entry["line"] = text.line[:MAX_TEXT_LENGTH] if text.line else item
    entry["picture"] = pictures.get(item, "")
    if before is not None:
        relevant = cell.kind == "relevant"
        entry["came"] = _came(rank, before[1].get(item), relevant, before[0])
    if after is not None:
        system, ranks, shown = after
        other = ranks.get(item)
        if other is None:
            entry["left"] = _move("gone", f"no longer in the list of {system}")
        elif other > shown:
            entry["left"] = _move(f"to {other:,}", f"rank {other:,} in the list of {system}")
    return entry


def _move(text: str, words: str, look: str = "soft") -> dict[str, str]:
    """Return a move as a few characters, as a phrase, and with its CSS class."""
    return {"text": text, "words": words, "look": look}


def _came(rank: int, other: int | None, relevant: bool, system: str) -> dict[str, str]:
    """Return the move from the list to the left; it is a gain or loss if the item is relevant."""
    if other is None:
        return _move("new", f"not in the list of {system}")
    if other == rank:
        return _move("=", f"at the same rank in {system}")
    sign, way, look = ("▲", "higher", "better") if rank < other else ("▼", "lower", "worse")
    ranks = counted(abs(other - rank), "rank")
    words = f"{ranks} {way} than in {system}, where it is at {other:,}"
    return _move(f"{sign} {abs(other - rank):,}", words, look if relevant else "soft")


def _lines(
    left: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Connect the items that both lists show; a line is 10 units wide, and a rank is 1 high."""
    lines = []
    ranks = {entry["item"]: entry["rank"] for entry in left if entry["item"] is not None}
    for entry in right:
        if entry["item"] not in ranks or entry["came"] is None:
            continue
        start, end = ranks[entry["item"]] - 0.5, entry["rank"] - 0.5
        look = entry["came"]["look"]
        look = f"{look} relevant" if entry["cell"].kind == "relevant" else look
        lines.append({"path": f"M0 {start:g}C5 {start:g} 5 {end:g} 10 {end:g}", "look": look})
    # Relevant ones come last, and so on top.
    return sorted(lines, key=lambda line: "relevant" in line["look"])
