"""Queries: all of them with their strips and values, sorted and filtered."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.web import commands
from judged.web.selection import FILTERS, SELECTION_PARAMS, Selection, select_queries
from judged.web.visit import Page, Visit
from judged.web.workspace import queries_of

if TYPE_CHECKING:
    from judged.rankings.strips import Cell

PARAMS = (*SELECTION_PARAMS, "from")
ROWS_PER_PAGE = 20
MAX_COLUMNS = 6
"""With more systems, only the selected ones have a column."""


@dataclass(frozen=True)
class QueryRow:
    """One query of the table."""

    number: int
    """Its place in the order, from 1."""
    query: str
    text: str
    href: str
    relevant: int
    strips: tuple[list[Cell], ...]
    values: tuple[float | None, ...]
    difference: float | None


def page(visit: Visit) -> Page:
    """Show the queries of the address."""
    selection = select_queries(visit)
    first = visit.params.whole("from", 0)
    pair = tuple(dict.fromkeys((selection.systems[0], selection.systems[-1])))
    columns = _columns(selection, pair)
    after = first + ROWS_PER_PAGE
    context: dict[str, Any] = {
        "found": selection,
        "pair": pair,
        "columns": columns,
        "rows": _rows(selection, first, pair, columns),
        "first": first,
        "size": ROWS_PER_PAGE,
        "sort": lambda name: _sort(selection, name),
        "places": visit.places,
        "names": [system.name for system in visit.workspace.systems],
        "labels": list(selection.evaluation.labels),
        "scale": _scale(selection),
        "better": 1 if selection.measure.spec.higher_is_better else -1,
        "hidden": hidden_fields(visit, *PARAMS),
        "given": {name: visit.params.text(name) for name in FILTERS if name != "has"},
        "has": visit.params.all("has"),
        "clear": visit.url(**dict.fromkeys(FILTERS), from_=None),
        "rows_address": visit.url(from_=None),
        "before": visit.url(from_=max(first - ROWS_PER_PAGE, 0) or None) if first else None,
        "after": visit.url(from_=after) if after < len(selection.chosen) else None,
    }
    command = commands.evaluate(visit, interval=False, per_query=True)
    return Page("queries.html", "Queries", context, command)


def hidden_fields(visit: Visit, *names: str) -> list[tuple[str, str]]:
    """Return the parameters that a form sends besides its own fields."""
    return list(visit.params.without(*names, "was").pairs)


def number(value: np.floating[Any] | float) -> float | None:
    """Return a number; None for NaN."""
    return None if isnan(value) else float(value)


def _columns(selection: Selection, pair: tuple[str, ...]) -> list[str]:
    """Return the other systems that have a column of values."""
    names = [run.name for run in selection.evaluation.runs]
    others = [name for name in (*selection.systems, *names) if name not in pair]
    if len(names) > MAX_COLUMNS:
        sorted_by = selection.sort.name.removeprefix("system:")
        others = [name for name in others if name in (*selection.systems, sorted_by)]
    return list(dict.fromkeys(others))


def _rows(
    selection: Selection, first: int, pair: tuple[str, ...], columns: list[str]
) -> list[QueryRow]:
    """Return the rows of one page; the others cost nothing."""
    texts = queries_of(selection.visit).texts
    relevant, difference = selection.relevant(), selection.difference()
    strips = [selection.strips(name) for name in pair]
    values = [selection.values(name) for name in (*pair, *columns)]
    kept = selection.params()
    rows = []
    chosen = selection.chosen[first : first + ROWS_PER_PAGE].tolist()
    for place, at in enumerate(chosen, first + 1):
        query = selection.queries[at]
        text = texts.get(query)
        rows.append(
            QueryRow(
                place,
                query,
                text.heading[:200] if text is not None else "",
                selection.visit.url("/query", **kept, query=query),
                int(relevant[at]),
                tuple(strip.cells(at) for strip in strips),
                tuple(number(column[at]) for column in values),
                None if difference is None else number(difference[at]),
            )
        )
    return rows


def _scale(selection: Selection) -> float:
    """Return the largest difference of all queries, the scale of bars."""
    difference = selection.difference()
    if difference is None:
        return 1.0
    sizes = np.abs(difference[np.isfinite(difference)])
    return float(sizes.max(initial=0.0)) or 1.0


def _sort(selection: Selection, name: str) -> dict[str, Any]:
    """Return the link of a column head; a second click turns the order."""
    mine = selection.sort.name == name
    orders = ("descending", "ascending")
    now, turned = orders if selection.descending else orders[::-1]
    then = turned if mine else "ascending" if name == "query" else "descending"
    href = selection.visit.url(sort=name, order=then, from_=None)
    return {"href": href, "direction": now if mine else None}
