"""Compare two systems or more: whether the difference is real, and on which queries it lies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.web import commands
from judged.web.pages.pairs import largest_differences, leading, panel, scale_of
from judged.web.visit import CommandText, Page, Visit

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison

PARAMS = ("system", "against", "by", "ranges")
FOREST, MOST_ROWS = 380, 14
"""How high the differences on all measures are drawn beside the points, unless they are many."""


def page(visit: Visit) -> Page:
    """Two systems, or all pairs of several."""
    systems, against = chosen(visit)
    by = measure_of(visit)
    if len(systems) == 2 and against is not None:
        return _two(visit, systems, against, by)
    return _several(visit, systems, against, by)


def measure_of(visit: Visit) -> str:
    """What the measure is called that systems are compared by: the first, unless one is named."""
    labels = visit.scoring.labels
    given = visit.params.one("by")
    if given is None:
        return labels[0]
    evaluation = visit.calculations.evaluation(visit.scoring)
    return evaluation.label(evaluation.measure(given))


def chosen(visit: Visit) -> tuple[list[str], str | None]:
    """Return the systems that are compared, and the one that others are subtracted from: the
    baseline, the one that the address names, or the lower one of two."""
    names = list(dict.fromkeys(visit.params.all("system")))
    against = visit.params.one("against")
    if against is not None and against not in names:
        names = [against, *names]
    for name in names:
        visit.workspace.system(name)
    if len(names) < 2:
        order = _by_value(visit)
        names = [*names, *(name for name in order if name not in names)][:2]
    if visit.scoring.baseline in names:
        against = visit.scoring.baseline
    if against is None and len(names) == 2:
        order = _by_value(visit)
        against = max(names, key=order.index)
    return names, against


def _by_value(visit: Visit) -> list[str]:
    """All systems by the measure they are compared by, the best first."""
    from judged.web.pages.boards import board

    evaluation = visit.calculations.evaluation(visit.scoring)
    return [row.name for row in board(evaluation, by=measure_of(visit)).rows]


def _context(visit: Visit, systems: list[str], by: str, *choices: str) -> dict[str, Any]:
    """Return what both forms of the page need; `choices` are further fields of the form."""
    own = {"system", "against", "by", "ranges", *choices}
    return {
        "systems": systems,
        "by": by,
        "all_systems": [system.name for system in visit.workspace.systems],
        "measures": visit.scoring.labels,
        "hidden": [pair for pair in visit.params.pairs if pair[0] not in own and pair[1] != ""],
        "places": {system.name: system.place for system in visit.workspace.systems},
    }


def _two(visit: Visit, systems: list[str], against: str, by: str) -> Page:
    (run,) = (name for name in systems if name != against)
    names = [against, run]
    looked = visit.params.flag("ranges")
    compared = visit.calculations.pairs(visit.scoring, names, unjudged_range=looked)
    shown = panel(
        compared,
        measure=by,
        places={system.name: system.place for system in visit.workspace.systems},
        unjudged=looked,
    )
    known = compared.measure(by)
    tall = FOREST if len(compared.measures) <= MOST_ROWS else None
    context = {
        **_context(visit, names, by),
        "run": run,
        "against": against,
        "panel": shown,
        "extremes": largest_differences(compared, measure=by),
        "higher_is_better": known.higher_is_better,
        # Differences to a baseline that the address names have one direction.
        "swapped": None if compared.baseline else visit.url(system=against, against=run),
        "look": {"href": visit.url(ranges=1), "text": "Look into it"},
        "open": lambda query: visit.url("/query", query=query, system=names, show=by),
        "every_query": visit.url("/queries", system=names, show=by),
        "charts": {
            kind: visit.url("/chart", kind=kind, system=run, against=against, of=by, height=height)
            for kind, height in (("differences", None), ("scatter", None), ("forest", tall))
        },
        "remarks": [text for text in compared.remarks() if text not in shown.notes],
    }
    looking: dict[str, Any] = {"unjudged_range": True} if looked else {}
    command = _command(visit, names, compared, **looking)
    return Page("compare.html", shown.heading.title, context, command)


def _several(visit: Visit, systems: list[str], against: str | None, by: str) -> Page:
    if against is not None:
        systems = [against, *(name for name in systems if name != against)]
    compared = visit.calculations.pairs(visit.scoring, systems, measures=[by])
    evaluation = compared.evaluation
    assert evaluation is not None
    heading = leading(evaluation, compared, by)
    charts = {
        kind: visit.url("/chart", kind=kind, system=systems, against=against, of=by)
        for kind in ("forest", "systems")
    }
    context = {
        **_context(visit, systems, by, "baseline"),
        "heading": heading,
        "baseline": compared.baseline,
        "rows": compared.rows,
        "scale": scale_of(compared.rows),
        "done": _done(compared),
        "higher_is_better": compared.measure(by).higher_is_better,
        "open": lambda row: visit.url(system=[row.against, row.run], against=row.against),
        "charts": charts,
        "notes": compared.warnings(),
    }
    command = _command(visit, systems, compared, measures=[by])
    return Page("compare_several.html", heading.title, context, command)


def _command(visit: Visit, systems: list[str], compared: Comparison, **more: Any) -> CommandText:
    """Return what compares these systems among all of them."""
    names = visit.calculations.order(systems)
    found = commands.compare(visit, systems=names, baseline=compared.baseline, **more)
    if not compared.corrected_among:
        return found
    shown = f"print(found.among({', '.join(map(repr, systems))}))"
    return replace(found, python=found.python.replace("print(found)", shown))


def _done(compared: Comparison) -> str:
    from judged.comparison.methods import method_line

    return method_line(compared)
