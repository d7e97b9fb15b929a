"""Compare two systems or more: whether the difference is significant, and on which queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from judged.comparison.export import method_line
from judged.comparison.outcomes import match_pair
from judged.rankings.strips import strips
from judged.web import commands
from judged.web.pages.boards import STRIP_RANKS, board
from judged.web.pages.pairs import leading, panel, scale_of, without_options
from judged.web.visit import Page, Visit
from judged.web.workspace import texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judged.comparison.comparison import Comparison
    from judged.inputs.texts import Text

PARAMS = ("system", "against", "by", "ranges")
FOREST_HEIGHT, MAX_FOREST_ROWS = 380, 14
"""The height of the chart of all measures, unless there are more rows."""
MAX_QUERIES = 6  # how many queries are shown on each side where two systems differ most


def page(visit: Visit) -> Page:
    systems, against = _chosen(visit)
    by = _measure(visit)
    if len(systems) == 2 and against is not None:
        return _two(visit, systems, against, by)
    return _several(visit, systems, against, by)


def _measure(visit: Visit) -> str:
    name = visit.params.one("by")
    if name is None:
        return visit.scoring.headline
    evaluation = visit.calculations.evaluation(visit.scoring)
    return evaluation.label(evaluation.measure(name))


def _chosen(visit: Visit) -> tuple[list[str], str | None]:
    """Return the systems, and the one that others are subtracted from: the lower one of two."""
    names = list(dict.fromkeys(visit.params.all("system")))
    against = visit.params.one("against")
    if against is not None and against not in names:
        names = [against, *names]
    for name in names:
        visit.workspace.system(name)
    if len(names) < 2:
        names = [*names, *(name for name in _best_first(visit) if name not in names)][:2]
    if visit.scoring.baseline in names:
        against = visit.scoring.baseline
    if against is None and len(names) == 2:
        against = max(names, key=_best_first(visit).index)
    return names, against


def _best_first(visit: Visit) -> list[str]:
    evaluation = visit.calculations.evaluation(visit.scoring)
    return [row["name"] for row in board(evaluation, by=_measure(visit))["rows"]]


def _context(visit: Visit, systems: list[str], by: str, *choices: str) -> dict[str, Any]:
    """Return the variables of both forms of the page; `choices` are further fields."""
    return {
        "systems": systems,
        "by": by,
        "all_systems": [system.name for system in visit.workspace.systems],
        "measures": visit.scoring.labels,
        "hidden": visit.params.filled_without(*PARAMS, *choices),
        "places": visit.places,
    }


def _two(visit: Visit, systems: list[str], against: str, by: str) -> Page:
    (run,) = (name for name in systems if name != against)
    names = [against, run]
    examined = visit.params.flag("ranges")
    compared = visit.calculations.pairs(visit.scoring, names, unjudged_range=examined)
    shown = panel(compared, measure=by, places=visit.places, unjudged=examined)
    height = FOREST_HEIGHT if len(compared.measures) <= MAX_FOREST_ROWS else None
    context = {
        **_context(visit, names, by),
        "run": run,
        "against": against,
        "panel": shown,
        "extremes": largest_differences(compared, measure=by, texts=texts_of(visit, "queries")[0]),
        "higher_is_better": compared.measure(by).higher_is_better,
        # Differences to a named baseline have one direction.
        "swapped": None if compared.baseline else visit.url(system=against, against=run),
        "look": {"href": visit.url(ranges=1), "text": "Examine it"},
        "open": lambda query: visit.url("/query", query=query, system=names, show=by),
        "every_query": visit.url("/queries", system=names, show=by),
        "charts": {
            kind: visit.url("/chart", kind=kind, system=run, against=against, of=by, height=tall)
            for kind, tall in (("differences", None), ("scatter", None), ("forest", height))
        },
        "remarks": [
            without_options(text) for text in compared.remarks() if text not in shown["notes"]
        ],
    }
    command = _command(visit, names, compared, unjudged_range=examined)
    return Page("compare.html", shown["heading"].title, context, command)


def _several(visit: Visit, systems: list[str], against: str | None, by: str) -> Page:
    # The last of two is the one that the other is subtracted from, so the winner comes first.
    systems = sorted(systems, key=_best_first(visit).index, reverse=True)
    if against is not None:
        systems = [against, *(name for name in systems if name != against)]
    compared = visit.calculations.pairs(visit.scoring, systems, measures=[by])
    assert compared.evaluation is not None
    heading = leading(compared.evaluation, compared, by)
    context = {
        **_context(visit, systems, by, "baseline"),
        "heading": heading,
        "baseline": compared.baseline,
        "rows": sorted(
            compared.rows, key=lambda row: (systems.index(row.run), systems.index(row.against))
        )[::-1],
        "scale": scale_of(compared.rows),
        "done": method_line(compared),
        "higher_is_better": compared.measure(by).higher_is_better,
        "open": lambda row: visit.url(system=[row.against, row.run], against=row.against),
        "charts": {
            kind: visit.url("/chart", kind=kind, system=systems, against=against, of=by)
            for kind in ("forest", "systems")
        },
        "notes": [without_options(text) for text in compared.warnings()],
    }
    command = _command(visit, systems, compared, measures=[by])
    return Page("compare_several.html", heading.title, context, command)


def _command(visit: Visit, systems: list[str], compared: Comparison, **more: Any) -> str:
    names = visit.calculations.order(systems)
    return commands.compare(visit, systems=names, baseline=compared.baseline, **more)


def largest_differences(
    comparison: Comparison,
    measure: str | None = None,
    most: int = MAX_QUERIES,
    *,
    texts: Mapping[str, Text] | None = None,
) -> dict[str, Any]:
    """Return the queries with the largest differences on both sides, with the strips of both."""
    assert comparison.evaluation is not None
    pair = comparison.pair(measure=measure)
    known = comparison.measure(pair.measure)
    match = match_pair(comparison.numbers, known, pair.run, pair.against)
    differences = match.differences
    order = np.argsort(-differences, kind="stable").tolist()
    above = [at for at in order[:most] if differences[at] > 0]
    below = [at for at in order[max(most, len(order) - most) :] if differences[at] < 0]
    if len(order) < 2 * most:  # each query once, on its own side
        below = [at for at in order if differences[at] < 0][-most:]
    sides = [comparison.evaluation.scored(name) for name in (pair.run, pair.against)]
    rel = 1.0 if known.measure is None else float(known.measure.params.get("rel", 1))
    relevant = sides[0].rankings.relevant(rel)
    drawn = [strips(side.rankings, STRIP_RANKS) for side in sides]
    places = [{query: at for at, query in enumerate(side.queries)} for side in sides]

    def row(at: int) -> dict[str, Any]:
        query = comparison.numbers.queries[match.ours.place[at]]
        return {
            "query": query,
            "text": texts[query].heading if texts and query in texts else "",
            "relevant": int(relevant[places[0][query]]),
            "value": float(match.ours.values[at]),
            "against_value": float(match.theirs.values[at]),
            "difference": float(differences[at]),
            "strip": drawn[0].cells(places[0][query]),
            "against_strip": drawn[1].cells(places[1][query]),
        }

    finite = np.abs(differences[np.isfinite(differences)])
    return {
        "first": list(map(row, above)),
        "between": len(order) - len(above) - len(below),
        "last": list(map(row, below)),
        "most": float(finite.max(initial=0.0)),
    }
