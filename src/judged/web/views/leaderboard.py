"""The leaderboard: systems by measures, who leads, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.errors import JudgedError
from judged.measures.formula import readable
from judged.measures.spec import names as measure_names
from judged.rankings.strips import mean_strip
from judged.web import commands
from judged.web.asked import Asked, Page
from judged.web.changes import before
from judged.web.pages.boards import STRIP, Beside, Board, Shares, board
from judged.web.slicing import attributes, slices_of

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation

PARAMS = ("sort", "order", "ranges", "system", "about", "slices")
NUMBERS = True
ORDERS = ("ascending", "descending")
MOST_CURVES = 8
"""So many systems have a curve each in the charts under the table: the first by rank."""


def page(asked: Asked) -> Page:
    """Systems by measures."""
    terms, calculations = asked.terms, asked.calculations
    evaluation = calculations.evaluation(terms)
    shown = _board(asked, evaluation)
    about = asked.params.one("about")
    context = {
        "board": shown,
        "sort": lambda column: _sort(asked, shown, column),
        "pick": asked.params.all("system"),
        "chips": _chips(asked, evaluation),
        "refused": terms.refused,
        "hidden": _hidden(asked, "measure", "about"),
        "kept": _hidden(asked, "system", *(name for name in PARAMS)),
        "known_measures": sorted(set(measure_names()), key=str.lower),
        "about": None if about is None else _about(evaluation, about),
        "found": asked.url("/found"),
        "with_ranges": asked.params.flag("ranges"),
        "baselines": [row.name for row in sorted(shown.rows, key=lambda row: row.place)],
        "baseline": terms.baseline or "",
        "baseline_hidden": _hidden(asked, "baseline"),
        "charts": _charts(asked, evaluation, shown),
        "attributes": attributes(asked.workspace),
        "attribute": asked.params.one("slices"),
        "slices_hidden": _hidden(asked, "slices"),
        "slices": slices_of(asked, shown.by),
    }
    ranges = asked.params.flag("ranges")
    command = commands.evaluate(asked, tie_range=ranges, unjudged_range=ranges)
    return Page("leaderboard.html", shown.heading.title, context, command)


def _board(asked: Asked, evaluation: Evaluation) -> Board:
    """The table with everything beside its numbers; what cannot be had says why."""
    terms, calculations = asked.terms, asked.calculations
    sort, order = asked.params.one("sort"), asked.params.one("order")
    if order is not None:
        asked.params.choice("order", ORDERS, "descending")
    several = len(evaluation.runs) > 1
    by = sort if sort in evaluation.labels else next(iter(evaluation.labels))
    comparison = ranges = None
    refused: list[str] = []
    if terms.baseline is not None:
        asked.workspace.system(terms.baseline)
    if several:
        # Differences to a baseline are shown on all measures, ranks alone on one.
        measures = [by] if terms.baseline is None else None
        try:
            comparison = calculations.comparison(
                terms, baseline=terms.baseline, measures=measures, dependence=False
            )
        except JudgedError as error:
            refused.append(str(error))
    if asked.params.flag("ranges"):
        try:
            ranges = calculations.ranges(terms)
        except JudgedError as error:
            refused.append(str(error))
    beside = Beside(comparison, before(asked), ranges, tuple(dict.fromkeys(refused)))
    return board(
        evaluation,
        beside,
        by=sort,
        ascending=None if order is None else order == "ascending",
        places={system.name: system.place for system in asked.workspace.systems},
        strips=_strips(asked),
    )


def _strips(asked: Asked) -> list[Shares]:
    """The mean strip of every system, which no measure and no sorting changes."""
    terms, policy = asked.terms, asked.terms.policy
    made_by = policy.ties, policy.unjudged, terms.convention, terms.depth, terms.duplicates
    key = "mean strips", asked.workspace.identity, made_by
    rankings = asked.calculations.rankings(terms)
    return asked.cache.get(key, lambda: [mean_strip(each, STRIP) for each in rankings])


def _sort(asked: Asked, shown: Board, column: str) -> dict[str, str | None]:
    """Where the head of a column leads, and how it is sorted now: a second click turns it."""
    if column != shown.order:
        return {"href": asked.url(sort=column, order=None), "direction": None}
    now = "descending" if shown.descending else "ascending"
    other = "ascending" if shown.descending else "descending"
    return {"href": asked.url(sort=column, order=other), "direction": now}


def _hidden(asked: Asked, *without: str) -> list[tuple[str, str]]:
    """The parameters of this address that a form keeps."""
    return [pair for pair in asked.params.pairs if pair[0] not in without and pair[1] != ""]


def _chips(asked: Asked, evaluation: Evaluation) -> list[dict[str, Any]]:
    """The measures, each with the address without it and the one that explains it."""
    labels = list(evaluation.labels)
    open_now = asked.params.one("about")
    sort = asked.params.one("sort")
    return [
        {
            "name": label,
            "without": asked.url(
                measure=[each for each in labels if each != label] or None,
                sort=None if sort == label else sort,
                about=None if open_now == label else open_now,
            ),
            "about": asked.url(about=None if open_now == label else label),
            "open": open_now == label,
        }
        for label in labels
    ]


def _about(evaluation: Evaluation, given: str) -> dict[str, Any]:
    """What a measure means, its formula and its source."""
    measure = evaluation.measure(given)
    known = measure.definition()
    return {
        "name": evaluation.label(measure),
        "ours": str(measure),
        "title": known["title"],
        "says": known["definition"],
        "formula": readable(known["formula"]),
        "undefined": known["undefined_when"],
        "better": "higher" if known["higher_is_better"] else "lower",
        "rates": measure.spec.rates_relevance,
        "source": known["reference"],
        "policy": list(evaluation.policy.sentences().values()),
    }


def _charts(asked: Asked, evaluation: Evaluation, shown: Board) -> list[str]:
    """The addresses of the charts under the table."""
    best = [row.name for row in shown.rows][:MOST_CURVES]
    systems = {"system": best if len(best) < len(evaluation.runs) else None}
    measure = evaluation.labels[shown.by]
    found = []
    if measure.spec.at == "k" and asked.terms.convention is None:
        found.append(asked.url("/chart", kind="measure-at-k", of=str(measure(k=None)), **systems))
    found.append(asked.url("/chart", kind="eleven-point", **systems))
    return found
