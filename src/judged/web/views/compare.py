"""Compare two systems or more: whether the difference is real, and on which queries it lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.pages.headings import leading
from judged.pages.pairs import extremes, panel, scale_of
from judged.web import commands
from judged.web.asked import Asked, Page

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison

PARAMS = ("system", "against", "by", "ranges")
NUMBERS = True
FOREST, MOST_ROWS = 380, 14
"""How high the differences on all measures are drawn beside the points, unless they are many."""


def page(asked: Asked) -> Page:
    """Two systems, or all pairs of several."""
    systems, against = chosen(asked)
    by = measure_of(asked)
    if len(systems) == 2 and against is not None:
        return _two(asked, systems, against, by)
    return _several(asked, systems, against, by)


def measure_of(asked: Asked) -> str:
    """What the measure is called that systems are compared by: the first, unless one is named."""
    labels = asked.terms.labels
    given = asked.params.one("by")
    if given is None:
        return labels[0]
    evaluation = asked.calculations.evaluation(asked.terms)
    return evaluation.label(evaluation.measure(given))


def chosen(asked: Asked) -> tuple[list[str], str | None]:
    """The systems that are compared, and the one that all others are compared with: the one that
    was named, the baseline, or the lower one of two; None for all pairs."""
    names = list(dict.fromkeys(asked.params.all("system")))
    against = asked.params.one("against")
    if against is not None and against not in names:
        names = [against, *names]
    for name in names:
        asked.workspace.system(name)
    if len(names) < 2:
        order = _by_value(asked)
        names = [*names, *(name for name in order if name not in names)][:2]
    if against is None and asked.terms.baseline in names:
        against = asked.terms.baseline
    if against is None and len(names) == 2:
        order = _by_value(asked)
        against = max(names, key=order.index)
    return names, against


def _by_value(asked: Asked) -> list[str]:
    """All systems by the measure they are compared by, the best first."""
    from judged.pages.boards import board

    evaluation = asked.calculations.evaluation(asked.terms)
    return [row.name for row in board(evaluation, by=measure_of(asked)).rows]


def _context(asked: Asked, systems: list[str], by: str) -> dict[str, Any]:
    """What both forms of the page need."""
    own = {"system", "against", "by", "ranges"}
    return {
        "systems": systems,
        "by": by,
        "all_systems": [system.name for system in asked.workspace.systems],
        "measures": asked.terms.labels,
        "hidden": [pair for pair in asked.params.pairs if pair[0] not in own and pair[1] != ""],
        "places": {system.name: system.place for system in asked.workspace.systems},
    }


def _two(asked: Asked, systems: list[str], against: str, by: str) -> Page:
    (run,) = (name for name in systems if name != against)
    names = [against, run]
    looked = asked.params.flag("ranges")
    compared = asked.calculations.comparison(
        asked.terms, baseline=against, systems=names, unjudged_range=looked
    )
    shown = panel(
        compared,
        measure=by,
        places={system.name: system.place for system in asked.workspace.systems},
        unjudged=looked,
    )
    known = compared.measure(by)
    tall = FOREST if len(compared.measures) <= MOST_ROWS else None
    context = {
        **_context(asked, names, by),
        "run": run,
        "against": against,
        "panel": shown,
        "extremes": extremes(compared, measure=by),
        "higher_is_better": known.higher_is_better,
        "swapped": asked.url(system=against, against=run),
        "look": {"href": asked.url(ranges=1), "text": "Look into it"},
        "open": lambda query: asked.url("/query", query=query, system=names, show=by),
        "every_query": asked.url("/queries", system=names, show=by),
        "charts": {
            kind: asked.url("/chart", kind=kind, system=run, against=against, of=by, height=height)
            for kind, height in (("differences", None), ("scatter", None), ("forest", tall))
        },
        "remarks": [text for text in compared.remarks() if text not in shown.notes],
    }
    looking: dict[str, Any] = {"unjudged_range": True} if looked else {}
    command = commands.compare(asked, systems=names, baseline=against, **looking)
    return Page("compare.html", shown.heading.title, context, command)


def _several(asked: Asked, systems: list[str], against: str | None, by: str) -> Page:
    compared = asked.calculations.comparison(
        asked.terms, baseline=against, systems=systems, measures=[by]
    )
    evaluation = compared.evaluation
    assert evaluation is not None
    ranked = None if against is not None else compared
    heading = leading(evaluation, ranked or _all_pairs(asked, systems, by), by)
    charts = {
        kind: asked.url("/chart", kind=kind, system=systems, against=against, of=by)
        for kind in ("forest", "systems")
    }
    context = {
        **_context(asked, systems, by),
        "heading": heading,
        "against": against,
        "rows": compared.rows,
        "scale": scale_of(compared.rows),
        "done": _done(compared),
        "higher_is_better": compared.measure(by).higher_is_better,
        "open": lambda row: asked.url(system=[row.against, row.run], against=row.against),
        "charts": charts,
        "notes": compared.warnings(),
    }
    command = commands.compare(asked, systems=systems, baseline=against, measures=[by])
    return Page("compare_several.html", heading.title, context, command)


def _all_pairs(asked: Asked, systems: list[str], by: str) -> Comparison:
    """All pairs, for the ranks that they leave open."""
    return asked.calculations.comparison(asked.terms, systems=systems, measures=[by])


def _done(compared: Comparison) -> str:
    from judged.comparison.exports.definition import done

    return done(compared)
