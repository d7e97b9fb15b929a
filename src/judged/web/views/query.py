"""One query: its lists side by side, its values, and the calculation of any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError, quoted
from judged.inputs.texts import Text
from judged.rankings.strips import strips
from judged.web import commands
from judged.web.errors import GoneError, RefusedError
from judged.web.pages.calculations import calculation_of
from judged.web.pages.lists import RankedList, side_by_side
from judged.web.views.judge import scale_of
from judged.web.views.playground import link_of
from judged.web.views.queries import SELECTION_PARAMS, Selection, number
from judged.web.visit import Page, Visit
from judged.web.workspace import picture_address, texts_of

if TYPE_CHECKING:
    from judged.explanation.question import RankedQuery

PARAMS = (*SELECTION_PARAMS, "query", "explain", "of", "item")
CURVE_HEIGHT = 230
MAX_SUGGESTIONS = 8


def page(visit: Visit) -> Page:
    try:
        selection = Selection(visit)
    except GoneError as error:
        if error.where != "system":
            raise
        names = [system.name for system in visit.workspace.systems]
        gone = next((name for name in visit.params.all("system") if name not in names), "")
        return _gone(visit, "system", str(error), gone, names, visit.url("/queries"))
    query = visit.params.one("query")
    if query is None:
        if not len(selection.chosen):
            raise RefusedError(selection.nothing, "query")
        query = selection.queries[selection.chosen[0]]
    if query not in set(selection.queries):
        known = selection.queries
        message = f"Query {quoted(query)} is not one of the {len(known):,} judged queries."
        every = visit.url("/queries", **selection.params())
        return _gone(visit, "query", message, query, known, every)
    return _show(visit, selection, query)


def _show(visit: Visit, selection: Selection, query: str) -> Page:
    systems, k = selection.systems, selection.k
    reads = [visit.calculations.listing(visit.scoring, name, query) for name in systems]
    texts, unread = texts_of(visit)
    at = selection.queries.index(query)
    top = selection.strips(systems[0]).top
    items = [item for read in reads for rank, item in read.items.items() if rank <= k]
    addresses = {item: address for item in items if (address := picture_address(visit, item))}
    ranked = [
        RankedList(
            name, read.rankings, read.items, visit.places[name], number(selection.values(name)[at])
        )
        for name, read in zip(systems, reads, strict=True)
    ]
    lists = side_by_side(ranked, k=k, texts=texts, pictures=addresses, top=top)
    place, before, after = selection.around(query)
    text = selection.texts.get(query)
    label, system = _explained_value(visit, selection)
    calculation, why_not = None, ""
    try:
        told = visit.calculations.explanation(visit.scoring, system, query, label)
        calculation = calculation_of(told, top=top)
    except JudgedError as error:
        why_not = str(error)
    playground = None
    if calculation is not None:
        rankings = reads[systems.index(system)].rankings
        link = link_of(rankings, selection.evaluation.labels[label])
        playground = None if link is None else visit.url("/playground", **link)
    without_selection = dict.fromkeys(name for name in selection.params() if name != "system")
    context: dict[str, Any] = {
        "found": selection,
        "query": query,
        "said": text,
        "lists": lists,
        "top": top,
        "number": place,
        "place": "Queries",
        "before": None if before is None else visit.url(query=before, item=None),
        "after": None if after is None else visit.url(query=after, item=None),
        "all": visit.url("/queries", **selection.params()),
        "lines": _lines(visit, selection, at, label, system),
        "labels": list(selection.evaluation.labels),
        "names": [known.name for known in visit.workspace.systems],
        "sum": calculation,
        "why_not": why_not,
        "label": label,
        "system": system,
        "playground": playground,
        "curve": visit.url(
            "/chart",
            kind="precision-recall",
            system=[system],
            query=query,
            height=CURVE_HEIGHT,
            **without_selection,
        ),
        "link": lambda item: visit.url(item=item) + "#item",
        "item": _item(visit, selection, reads, texts),
        "problems": (*selection.problems, *unread),
        "hidden": visit.params.filled_without("sort", "order", "was"),
        "hidden_lists": visit.params.filled_without("system", "k", "was"),
        "hidden_sum": visit.params.filled_without("explain", "of", "was"),
        "depths": sorted({10, 20, 50, 100, k}),
    }
    title = text.heading[:80] if text is not None and text.heading else f"Query {query}"
    if calculation is None:
        command = commands.evaluate(visit, interval=False, per_query=True)
    else:
        command = commands.explain(visit, system, query, label)
    return Page("query.html", title, context, command)


def _explained_value(visit: Visit, selection: Selection) -> tuple[str, str]:
    label = visit.params.text("explain", selection.label)
    if label not in selection.evaluation.labels:
        label = selection.label  # its column was removed
    system = visit.params.text("of", selection.systems[-1])
    return label, system if system in selection.systems else selection.systems[-1]


def _lines(
    visit: Visit, selection: Selection, at: int, label: str, system: str
) -> list[dict[str, Any]]:
    lines = []
    for name, measure in selection.evaluation.labels.items():
        values = [
            {
                "value": number(selection.values(run, measure)[at]),
                "href": visit.url(explain=name, of=run) + "#sum",
                "open": (name, run) == (label, system),
            }
            for run in selection.systems
        ]
        differences = selection.difference(measure)
        lines.append(
            {
                "label": name,
                "cells": values,
                "difference": None if differences is None else number(differences[at]),
                "better": 1 if measure.spec.higher_is_better else -1,
            }
        )
    return lines


def _item(
    visit: Visit, selection: Selection, reads: Sequence[RankedQuery], texts: Mapping[str, Text]
) -> dict[str, Any] | None:
    name = visit.params.one("item")
    if name is None:
        return None
    ranks = [{item: rank for rank, item in read.items.items()} for read in reads]
    at = next((at for at, known in enumerate(ranks) if name in known), None)
    if at is None:
        raise GoneError(f"No list here has the item {quoted(name)}.", "item")
    rank = ranks[at][name]
    cell = strips(reads[at].rankings, rank).cells(0)[rank - 1]
    systems = selection.systems
    return {
        "name": name,
        "text": texts.get(name) or Text(),
        "picture": picture_address(visit, name),
        "cell": replace(cell, top=selection.strips(systems[0]).top),
        "places": [(system, known.get(name)) for system, known in zip(systems, ranks, strict=True)],
        "close": visit.url(item=None),
        **_grading(
            visit, reads[at].rankings.queries[0], name, rank if cell.kind == "unjudged" else 0
        ),
    }


def _grading(visit: Visit, query: str, item: str, rank: int) -> dict[str, Any]:
    """Return what grades an unjudged result in place; nothing where there is no folder for it."""
    annotator = visit.session.annotator or visit.settings.annotator
    if not rank or visit.library.home is None or visit.settings.queue is not None:
        return {"grades": [], "sent_to": "", "annotator": ""}
    systems = list(visit.params.all("system")) or None
    place = {"annotator": annotator or None, "query": query, "item": item}
    sent_to = visit.url(
        "/judge", **place, by="depth", k=rank, then="query", system=systems, grader=None
    )
    grades = list(scale_of(visit).meanings.items())
    return {"grades": grades, "sent_to": sent_to, "annotator": annotator}


def _gone(
    visit: Visit, what: str, message: str, gone: str, names: Sequence[str], all_queries: str
) -> Page:
    """Say that a query or a system does not exist, with the nearest that do."""
    close = get_close_matches(gone[:80], names, n=MAX_SUGGESTIONS, cutoff=0.5)
    near = list(dict.fromkeys([*close, *names[:MAX_SUGGESTIONS]]))[:MAX_SUGGESTIONS]
    links = [(name, visit.url(item=None, **{what: name})) for name in near]
    context = {"message": message, "near": links, "all": all_queries, "what": what}
    return Page("query_gone.html", f"No such {what}", context, status=404)
