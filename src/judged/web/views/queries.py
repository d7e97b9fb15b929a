"""Queries: all of them with their strips and values, sorted and filtered."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.web import commands
from judged.web.asked import Asked, Page
from judged.web.contents import queries_of
from judged.web.selection import FILTERS, Selection, selection
from judged.web.selection import PARAMS as SELECTION

if TYPE_CHECKING:
    from judged.rankings.strips import Cell

PARAMS = (*SELECTION, "from")
NUMBERS = True
SIZE = 20
"""So many rows come at once."""
MOST_COLUMNS = 6
"""So many systems have a column; of more, those that are looked at."""


@dataclass(frozen=True)
class Row:
    """One query."""

    number: int
    """Its place in the order, from 1."""
    query: str
    text: str
    """What is asked; empty where nobody says."""
    href: str
    relevant: int
    strips: tuple[list[Cell], ...]
    values: tuple[float | None, ...]
    difference: float | None


def page(asked: Asked) -> Page:
    """The queries that the address asks for."""
    found = selection(asked)
    first = asked.params.whole("from", 0)
    columns = _columns(found)
    context: dict[str, Any] = {
        "found": found,
        "pair": _pair(found),
        "columns": columns,
        "rows": _rows(found, first, columns),
        "first": first,
        "size": SIZE,
        "sort": lambda name: _sort(found, name),
        "places": {system.name: system.place for system in asked.workspace.systems},
        "names": [system.name for system in asked.workspace.systems],
        "labels": list(found.evaluation.labels),
        "scale": _scale(found),
        "better": 1 if found.measure.spec.higher_is_better else -1,
        "hidden": hidden(asked, *PARAMS),
        "given": {name: asked.params.text(name) for name in FILTERS if name != "has"},
        "has": asked.params.all("has"),
        "clear": asked.url(**dict.fromkeys(FILTERS), from_=None),
        "rows_address": asked.url(from_=None),
        "before": asked.url(from_=max(first - SIZE, 0) or None) if first else None,
        "after": asked.url(from_=first + SIZE) if first + SIZE < len(found.chosen) else None,
    }
    command = commands.evaluate(asked, interval=False, per_query=True)
    return Page("queries.html", "Queries", context, command)


def hidden(asked: Asked, *own: str) -> list[tuple[str, str]]:
    """The parameters that a form sends beside its own."""
    return [pair for pair in asked.params.pairs if pair[0] not in (*own, "was")]


def _pair(found: Selection) -> tuple[str, ...]:
    """The systems whose strips are shown: the first and the last that are looked at."""
    return tuple(dict.fromkeys((found.systems[0], found.systems[-1])))


def _columns(found: Selection) -> list[str]:
    """The other systems that have a column of values."""
    pair = _pair(found)
    names = [run.name for run in found.evaluation.runs]
    others = [name for name in (*found.systems, *names) if name not in pair]
    others = list(dict.fromkeys(others))
    if len(names) > MOST_COLUMNS:
        sorted_by = found.sort.name.removeprefix("system:")
        others = [name for name in others if name in found.systems or name == sorted_by]
    return others


def _rows(found: Selection, first: int, columns: list[str]) -> list[Row]:
    """The rows from one on; nothing is done for those that are not shown."""
    chosen = found.chosen[first : first + SIZE]
    pair = _pair(found)
    texts = queries_of(found.asked).texts
    relevant, difference = found.relevant(), found.difference()
    strips = [found.strips(name) for name in pair]
    values = [found.values(name) for name in (*pair, *columns)]
    kept = found.params()
    rows = []
    for place, at in enumerate(chosen.tolist(), first + 1):
        query = found.queries[at]
        text = texts.get(query)
        rows.append(
            Row(
                place,
                query,
                text.heading[:200] if text is not None else "",
                found.asked.url("/query", **kept, query=query),
                int(relevant[at]),
                tuple(each.cells(at) for each in strips),
                tuple(number(each[at]) for each in values),
                None if difference is None else number(difference[at]),
            )
        )
    return rows


def number(value: np.floating[Any] | float) -> float | None:
    """A number, or None where there is none."""
    return None if isnan(value) else float(value)


def _scale(found: Selection) -> float:
    """The largest difference of all queries, to which bars are drawn."""
    difference = found.difference()
    if difference is None:
        return 1.0
    sizes = np.abs(difference[np.isfinite(difference)])
    return float(sizes.max(initial=0.0)) or 1.0


def _sort(found: Selection, name: str) -> dict[str, Any]:
    """The link of a head of a column: by it, and the other way round where it is sorted so."""
    mine = found.sort.name == name
    usual = "ascending" if name == "query" else "descending"
    now = "descending" if found.descending else "ascending"
    then = ("ascending" if found.descending else "descending") if mine else usual
    href = found.asked.url(sort=name, order=then, from_=None)
    return {"href": href, "direction": now if mine else None}
