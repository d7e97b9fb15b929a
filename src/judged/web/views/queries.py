"""Queries: all of them with their strips and values, sorted and filtered."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.web import commands
from judged.web.selection import FILTERS, Selection, select_queries
from judged.web.selection import SELECTION_PARAMS as SELECTION
from judged.web.visit import Page, Visit
from judged.web.workspace import queries_of

if TYPE_CHECKING:
    from judged.rankings.strips import Cell


PARAMS = (*SELECTION, "from")
ROWS_PER_PAGE = 20
"""So many rows come at once."""
MAX_COLUMNS = 6
"""So many systems have a column; of more, those that are looked at."""


@dataclass(frozen=True)
class QueryRow:
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


def page(visit: Visit) -> Page:
    """The queries that the address asks for."""
    found = select_queries(visit)
    first = visit.params.whole("from", 0)
    columns = _columns(found)
    context: dict[str, Any] = {
        "found": found,
        "pair": _pair(found),
        "columns": columns,
        "rows": _rows(found, first, columns),
        "first": first,
        "size": ROWS_PER_PAGE,
        "sort": lambda name: _sort(found, name),
        "places": {system.name: system.place for system in visit.workspace.systems},
        "names": [system.name for system in visit.workspace.systems],
        "labels": list(found.evaluation.labels),
        "scale": _scale(found),
        "better": 1 if found.measure.spec.higher_is_better else -1,
        "hidden": hidden_fields(visit, *PARAMS),
        "given": {name: visit.params.text(name) for name in FILTERS if name != "has"},
        "has": visit.params.all("has"),
        "clear": visit.url(**dict.fromkeys(FILTERS), from_=None),
        "rows_address": visit.url(from_=None),
        "before": visit.url(from_=max(first - ROWS_PER_PAGE, 0) or None) if first else None,
        "after": visit.url(from_=first + ROWS_PER_PAGE)
        if first + ROWS_PER_PAGE < len(found.chosen)
        else None,
    }
    command = commands.evaluate(visit, interval=False, per_query=True)
    return Page("queries.html", "Queries", context, command)


def hidden_fields(visit: Visit, *own: str) -> list[tuple[str, str]]:
    """The parameters that a form sends beside its own."""
    return [pair for pair in visit.params.pairs if pair[0] not in (*own, "was")]


def _pair(found: Selection) -> tuple[str, ...]:
    """The systems whose strips are shown: the first and the last that are looked at."""
    return tuple(dict.fromkeys((found.systems[0], found.systems[-1])))


def _columns(found: Selection) -> list[str]:
    """The other systems that have a column of values."""
    pair = _pair(found)
    names = [run.name for run in found.evaluation.runs]
    others = [name for name in (*found.systems, *names) if name not in pair]
    others = list(dict.fromkeys(others))
    if len(names) > MAX_COLUMNS:
        sorted_by = found.sort.name.removeprefix("system:")
        others = [name for name in others if name in found.systems or name == sorted_by]
    return others


def _rows(found: Selection, first: int, columns: list[str]) -> list[QueryRow]:
    """The rows from one on; nothing is done for those that are not shown."""
    chosen = found.chosen[first : first + ROWS_PER_PAGE]
    pair = _pair(found)
    texts = queries_of(found.visit).texts
    relevant, difference = found.relevant(), found.difference()
    strips = [found.strips(name) for name in pair]
    values = [found.values(name) for name in (*pair, *columns)]
    kept = found.params()
    rows = []
    for place, at in enumerate(chosen.tolist(), first + 1):
        query = found.queries[at]
        text = texts.get(query)
        rows.append(
            QueryRow(
                place,
                query,
                text.heading[:200] if text is not None else "",
                found.visit.url("/query", **kept, query=query),
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
    href = found.visit.url(sort=name, order=then, from_=None)
    return {"href": href, "direction": now if mine else None}
