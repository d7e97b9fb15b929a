"""One query: its lists side by side, its values, and the sum behind any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError, quoted
from judged.inputs.texts import Text
from judged.rankings.strips import Cell, strips
from judged.web import commands
from judged.web.errors import GoneError, RefusedError
from judged.web.pages.calculations import calculation_of
from judged.web.pages.lists import RankedList, side_by_side
from judged.web.playground import link_of
from judged.web.selection import SELECTION_PARAMS as SELECTION
from judged.web.selection import Selection, difference_of, select_queries
from judged.web.views.queries import hidden_fields, number
from judged.web.visit import Page, Visit
from judged.web.workspace import pictures_of, queries_of, texts_of

if TYPE_CHECKING:
    from pathlib import Path

    from judged.explanation.explanation import Explanation
    from judged.explanation.question import Read


PARAMS = (*SELECTION, "query", "explain", "of", "item")
CURVE_HEIGHT = 230
"""How high the curve is, in pixels."""
MAX_SUGGESTIONS = 8
"""So many of what is there are offered in place of what is gone."""


@dataclass(frozen=True)
class MeasuredValue:
    """The value of one system, with the address of the sum behind it."""

    value: float | None
    href: str
    open: bool
    """Whether that sum is the one on the page."""


@dataclass(frozen=True)
class MeasureLine:
    """The values of one measure."""

    label: str
    values: tuple[MeasuredValue, ...]
    difference: float | None
    better: int
    """1 where more is better, -1 where less is."""


@dataclass(frozen=True)
class ItemDetail:
    """One item, looked at closely."""

    name: str
    text: Text
    picture: str
    cell: Cell
    places: tuple[tuple[str, int | None], ...]
    """Each system, and the rank of the item in its list."""
    close: str


def page(visit: Visit) -> Page:
    """The query that the address names, or the first in the order."""
    try:
        found = select_queries(visit)
    except GoneError as error:
        if error.where != "system":
            raise
        return _system_gone(visit, error)
    query = visit.params.one("query")
    if query is None:
        if not len(found.chosen):
            raise RefusedError(found.nothing, "query")
        query = found.queries[found.chosen[0]]
    if query not in set(found.queries):
        return _query_gone(visit, found, query)
    return _shown(visit, found, query)


def _shown(visit: Visit, found: Selection, query: str) -> Page:
    reads = [visit.calculations.listing(visit.scoring, name, query) for name in found.systems]
    texts, pictures = texts_of(visit), pictures_of(visit)
    at = found.queries.index(query)
    top = found.strips(found.systems[0]).top
    addresses = {
        item: visit.url("/picture", item=item)
        for read in reads
        for rank, item in read.items.items()
        if rank <= found.k and item in pictures
    }
    places = {system.name: system.place for system in visit.workspace.systems}
    lists = side_by_side(
        [
            RankedList(
                name, read.rankings, read.items, places[name], number(found.values(name)[at])
            )
            for name, read in zip(found.systems, reads, strict=True)
        ],
        k=found.k,
        texts=texts.texts,
        pictures=addresses,
        top=top,
    )
    place, before, after = found.around(query)
    said = queries_of(visit).texts.get(query)
    label, system = _asked_sum(visit, found)
    explained, why_not = _explained(visit, system, query, label)
    behind = None if explained is None else calculation_of(explained, top=top)
    context: dict[str, Any] = {
        "found": found,
        "query": query,
        "said": said,
        "lists": lists,
        "top": top,
        "number": place,
        "place": "Queries",
        "before": None if before is None else visit.url(query=before, item=None),
        "after": None if after is None else visit.url(query=after, item=None),
        "all": visit.url("/queries", **found.params()),
        "lines": _lines(visit, found, at, label, system),
        "labels": list(found.evaluation.labels),
        "names": [system.name for system in visit.workspace.systems],
        "sum": behind,
        "why_not": why_not,
        "label": label,
        "system": system,
        "playground": None if behind is None else _playground(visit, found, reads, system, label),
        "curve": visit.url(
            "/chart",
            kind="precision-recall",
            system=[system],
            query=query,
            height=CURVE_HEIGHT,
            **_nothing(found),
        ),
        "link": lambda item: visit.url(item=item) + "#item",
        "item": _item(visit, found, reads, texts.texts, pictures),
        "problems": (*found.problems, *texts.problems),
        "hidden": hidden_fields(visit, "sort", "order"),
        "hidden_lists": hidden_fields(visit, "system", "k"),
        "hidden_sum": hidden_fields(visit, "explain", "of"),
        "depths": sorted({10, 20, 50, 100, found.k}),
    }
    title = said.heading[:80] if said is not None and said.heading else f"Query {query}"
    if explained is None:
        command = commands.evaluate(visit, interval=False, per_query=True)
    else:
        command = commands.explain(visit, system, query, label)
    return Page("query.html", title, context, command)


def _nothing(found: Selection) -> dict[str, Any]:
    """Parameters that go with the selection and mean nothing to a chart."""
    return dict.fromkeys(name for name in found.params() if name != "system")


def _asked_sum(visit: Visit, found: Selection) -> tuple[str, str]:
    """The measure and the system whose sum is shown."""
    label = visit.params.text("explain", found.label)
    if label not in found.evaluation.labels:
        label = found.label  # its column was taken away
    system = visit.params.text("of", found.systems[-1])
    return label, system if system in found.systems else found.systems[-1]


def _explained(visit: Visit, system: str, query: str, label: str) -> tuple[Explanation | None, str]:
    """The explanation, or the library's sentence why there is none."""
    try:
        return visit.calculations.explanation(visit.scoring, system, query, label), ""
    except JudgedError as error:
        return None, str(error)


def _lines(visit: Visit, found: Selection, at: int, label: str, system: str) -> list[MeasureLine]:
    lines = []
    for own, measure in found.evaluation.labels.items():
        values = tuple(
            MeasuredValue(
                number(found.evaluation.scored(name).values[measure][at]),
                visit.url(explain=own, of=name) + "#sum",
                own == label and name == system,
            )
            for name in found.systems
        )
        differences = difference_of(found.evaluation, measure, found.systems)
        lines.append(
            MeasureLine(
                own,
                values,
                None if differences is None else number(differences[at]),
                1 if measure.spec.higher_is_better else -1,
            )
        )
    return lines


def _playground(
    visit: Visit, found: Selection, reads: Sequence[Read], system: str, label: str
) -> str | None:
    """The address of the playground with this list."""
    rankings = reads[found.systems.index(system)].rankings
    link = link_of(rankings, found.evaluation.labels[label])
    return None if link is None else visit.url("/playground", **link)


def _item(
    visit: Visit,
    found: Selection,
    reads: Sequence[Read],
    texts: Mapping[str, Text],
    pictures: Mapping[str, Path],
) -> ItemDetail | None:
    """The item that the address names; None where it names none."""
    name = visit.params.one("item")
    if name is None:
        return None
    ranks = [{item: rank for rank, item in read.items.items()} for read in reads]
    found_at = next((at for at, each in enumerate(ranks) if name in each), None)
    if found_at is None:
        raise GoneError(f"No list here has the item {quoted(name)}.", "item")
    rank = ranks[found_at][name]
    cell = strips(reads[found_at].rankings, rank).cells(0)[rank - 1]
    return ItemDetail(
        name,
        texts.get(name) or Text(),
        visit.url("/picture", item=name) if name in pictures else "",
        replace(cell, top=found.strips(found.systems[0]).top),
        tuple((system, each.get(name)) for system, each in zip(found.systems, ranks, strict=True)),
        visit.url(item=None),
    )


def _query_gone(visit: Visit, found: Selection, query: str) -> Page:
    """What is there in place of a query that is not, the nearest first."""
    near = _nearest(query, found.queries)
    context = {
        "message": f"There is no judged query {quoted(query)} among {found.total:,}.",
        "what": "Queries that are there, the nearest first",
        "near": [(name, visit.url(query=name, item=None)) for name in near],
        "all": visit.url("/queries", **found.params()),
    }
    return Page("query_gone.html", "No such query", context, status=404)


def _system_gone(visit: Visit, error: GoneError) -> Page:
    names = [system.name for system in visit.workspace.systems]
    gone = [name for name in visit.params.all("system") if name not in names]
    context = {
        "message": str(error),
        "what": "Systems that are there, the nearest first",
        "near": [(name, visit.url(system=name)) for name in _nearest("".join(gone[:1]), names)],
        "all": visit.url("/queries"),
    }
    return Page("query_gone.html", "No such system", context, status=404)


def _nearest(word: str, names: Sequence[str]) -> list[str]:
    near = get_close_matches(word[:80], names, n=MAX_SUGGESTIONS, cutoff=0.5)
    return list(dict.fromkeys([*near, *names[:MAX_SUGGESTIONS]]))[:MAX_SUGGESTIONS]
