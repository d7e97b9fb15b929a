"""Slices of the queries: by attributes that lie in the folder, and by how many items are
relevant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, JudgedError, did_you_mean, quoted
from judged.evaluation import warnings
from judged.evaluation.export import Look
from judged.evaluation.scores import about_runs
from judged.evaluation.warnings import grave
from judged.evaluation.wording import notes
from judged.inputs.keyed import RELEVANT_ITEMS
from judged.measures.reference import readable
from judged.measures.registry import names as measure_names
from judged.rankings.strips import mean_strip
from judged.web import commands
from judged.web.changes import evaluation_before
from judged.web.pages.boards import STRIP_RANKS, Board, BoardContext, Shares, board
from judged.web.visit import Page, RawContent, Visit

if TYPE_CHECKING:
    from judged.comparison.slices import Slice
    from judged.evaluation.evaluation import Evaluation
    from judged.web.workspace import Workspace


@dataclass(frozen=True)
class SliceResults:
    """The systems on one measure, in each slice of an attribute."""

    attribute: str
    measure: str
    slices: tuple[Slice, ...]
    sentences: tuple[str, ...]
    """What is shown in slices, and whether differences differ between them."""
    refused: str = ""


def attributes(workspace: Workspace) -> tuple[str, ...]:
    """The attributes that queries can be told apart by: the number of relevant items, and the
    columns of tables that have a query column."""
    names = [RELEVANT_ITEMS]
    for file in workspace.of_kind("attributes"):
        names += [name for name in file.columns if name.lower() not in _QUERY_COLUMNS]
    return tuple(dict.fromkeys(names))


_QUERY_COLUMNS = frozenset({"query", "query_id", "qid", "id", "topic"})


def slices_of(visit: Visit, measure: str) -> SliceResults | None:
    """The systems compared in each slice; None where nobody asked."""
    attribute = visit.params.one("slices")
    if attribute is None or len(visit.workspace.systems) < 2:
        return None
    known = attributes(visit.workspace)
    if attribute not in known:
        raise InputError(
            f"there is no attribute {quoted(attribute)}{did_you_mean(attribute, known)} "
            f"There is {', '.join(known)}."
        )
    baseline = visit.scoring.baseline
    try:
        found = visit.calculations.comparison(
            visit.scoring,
            baseline=baseline,
            measures=[measure],
            slices=_slices_source(visit, attribute),
        )
    except JudgedError as error:
        return SliceResults(attribute, measure, (), (), str(error))
    own = tuple(each for each in found.slices if each.attribute == attribute)
    differ = [each.says for each in found.slices.differences if each.attribute == attribute]
    shown = [row.says for each in own for row in each.rows if row.verdict in ("better", "worse")]
    return SliceResults(attribute, measure, own, (*shown, *differ))


def _slices_source(visit: Visit, attribute: str) -> str:
    """What `judged.compare` takes for an attribute: its file, or the word for relevant items."""
    for file in visit.workspace.of_kind("attributes"):
        if attribute in file.columns:
            return str(file.path)
    return RELEVANT_ITEMS


OPTIONS_IN_SENTENCES = {": see --tie-range.": ".", ": see --unanswerable.": "."}
"""What a sentence says of the command line; a page has links in its place."""


@dataclass(frozen=True)
class DataFinding:
    """A sentence, and where what it speaks of can be seen."""

    kind: str
    """warn or info."""
    text: str
    link: dict[str, str] | None = None


def findings_of(visit: Visit, evaluation: Evaluation) -> tuple[DataFinding, ...]:
    """What could mislead whoever reads the numbers alone, then what was noticed."""
    key = "findings", visit.workspace.identity, visit.scoring.key
    found = visit.cache.get(key, lambda: _find(evaluation))
    links = {
        "unjudged": {"href": visit.url("/", ranges=1), "text": "How far could it go?"},
        "ties": {"href": visit.url("/", ranges=1), "text": "Show the range"},
        "queries": {"href": visit.url("/queries"), "text": "Show the queries"},
    }
    return tuple(DataFinding(kind, text, links.get(about)) for kind, text, about in found) or (
        DataFinding("info", "No missing queries, no duplicates, no ties, nothing unjudged."),
    )


def _find(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Each sentence, whether it warns, and what it speaks of."""
    warned = [(text, "queries" if "judged quer" in text else "") for text in grave(evaluation)]
    short = about_runs(evaluation, warnings.short_lists(evaluation))
    warned += [(text, "queries") for text in short]
    warned += [(text, "unjudged") for text in warnings.unjudged(evaluation)]
    warned += [(text, "ties") for text in warnings.ties(evaluation, Look())]
    noticed = [("info", _without_options(text), "") for text in notes(evaluation)]
    return [*(("warn", _without_options(text), about) for text, about in warned), *noticed]


def _without_options(text: str) -> str:
    for ending, instead in OPTIONS_IN_SENTENCES.items():
        if text.endswith(ending):
            text = text.removesuffix(ending) + instead
    return text


PARAMS = ("sort", "order", "ranges", "system", "about", "slices")
ORDERS = ("ascending", "descending")
MAX_CURVES = 8
"""So many systems have a curve each in the charts under the table: the first by rank."""


def page(visit: Visit) -> Page:
    """Systems by measures."""
    scoring, calculations = visit.scoring, visit.calculations
    evaluation = calculations.evaluation(scoring)
    shown = _board(visit, evaluation)
    about = visit.params.one("about")
    context = {
        "board": shown,
        "sort": lambda column: _sort(visit, shown, column),
        "pick": visit.params.all("system"),
        "chips": _chips(visit, evaluation),
        "refused": scoring.refused,
        "hidden": _hidden(visit, "measure", "about"),
        "kept": _hidden(visit, "system", *(name for name in PARAMS)),
        "known_measures": sorted(set(measure_names()), key=str.lower),
        "about": None if about is None else _about(evaluation, about),
        "found": visit.url("/found"),
        "with_ranges": visit.params.flag("ranges"),
        "baselines": [row.name for row in sorted(shown.rows, key=lambda row: row.place)],
        "baseline": scoring.baseline or "",
        "baseline_hidden": _hidden(visit, "baseline"),
        "charts": _charts(visit, evaluation, shown),
        "attributes": attributes(visit.workspace),
        "attribute": visit.params.one("slices"),
        "slices_hidden": _hidden(visit, "slices"),
        "slices": slices_of(visit, shown.by),
    }
    ranges = visit.params.flag("ranges")
    command = commands.evaluate(visit, tie_range=ranges, unjudged_range=ranges)
    return Page("leaderboard.html", shown.heading.title, context, command)


def _board(visit: Visit, evaluation: Evaluation) -> Board:
    """The table with everything beside its numbers; what cannot be had says why."""
    scoring, calculations = visit.scoring, visit.calculations
    sort, order = visit.params.one("sort"), visit.params.one("order")
    if order is not None:
        visit.params.choice("order", ORDERS, "descending")
    several = len(evaluation.runs) > 1
    by = sort if sort in evaluation.labels else next(iter(evaluation.labels))
    comparison = ranges = None
    refused: list[str] = []
    if scoring.baseline is not None:
        visit.workspace.system(scoring.baseline)
    if several:
        # Differences to a baseline are shown on all measures, ranks alone on one.
        measures = [by] if scoring.baseline is None else None
        try:
            comparison = calculations.comparison(
                scoring, baseline=scoring.baseline, measures=measures, dependence=False
            )
        except JudgedError as error:
            refused.append(str(error))
    if visit.params.flag("ranges"):
        try:
            ranges = calculations.ranges(scoring)
        except JudgedError as error:
            refused.append(str(error))
    beside = BoardContext(
        comparison, evaluation_before(visit), ranges, tuple(dict.fromkeys(refused))
    )
    return board(
        evaluation,
        beside,
        by=sort,
        ascending=None if order is None else order == "ascending",
        places={system.name: system.place for system in visit.workspace.systems},
        strips=_strips(visit),
    )


def _strips(visit: Visit) -> list[Shares]:
    """The mean strip of every system, which no measure and no sorting changes."""
    scoring, policy = visit.scoring, visit.scoring.policy
    made_by = policy.ties, policy.unjudged, scoring.convention, scoring.depth, scoring.duplicates
    key = "mean strips", visit.workspace.identity, made_by
    rankings = visit.calculations.rankings(scoring)
    return visit.cache.get(key, lambda: [mean_strip(each, STRIP_RANKS) for each in rankings])


def _sort(visit: Visit, shown: Board, column: str) -> dict[str, str | None]:
    """Where the head of a column leads, and how it is sorted now: a second click turns it."""
    if column != shown.order:
        return {"href": visit.url(sort=column, order=None), "direction": None}
    now = "descending" if shown.descending else "ascending"
    other = "ascending" if shown.descending else "descending"
    return {"href": visit.url(sort=column, order=other), "direction": now}


def _hidden(visit: Visit, *without: str) -> list[tuple[str, str]]:
    """The parameters of this address that a form keeps."""
    return [pair for pair in visit.params.pairs if pair[0] not in without and pair[1] != ""]


def _chips(visit: Visit, evaluation: Evaluation) -> list[dict[str, Any]]:
    """The measures, each with the address without it and the one that explains it."""
    labels = list(evaluation.labels)
    open_now = visit.params.one("about")
    sort = visit.params.one("sort")
    return [
        {
            "name": label,
            "without": visit.url(
                measure=[each for each in labels if each != label] or None,
                sort=None if sort == label else sort,
                about=None if open_now == label else open_now,
            ),
            "about": visit.url(about=None if open_now == label else label),
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


def _charts(visit: Visit, evaluation: Evaluation, shown: Board) -> list[str]:
    """The addresses of the charts under the table."""
    best = [row.name for row in shown.rows][:MAX_CURVES]
    systems = {"system": best if len(best) < len(evaluation.runs) else None}
    measure = evaluation.labels[shown.by]
    found = []
    if measure.spec.at == "k" and visit.scoring.convention is None:
        found.append(visit.url("/chart", kind="measure-at-k", of=str(measure(k=None)), **systems))
    found.append(visit.url("/chart", kind="eleven-point", **systems))
    return found


def findings_page(visit: Visit) -> Page:
    """Sentences, each with a link to what it speaks of."""
    context = {"findings": findings_of(visit, visit.calculations.evaluation(visit.scoring))}
    return Page("found.html", "What was found", context, commands.evaluate(visit))


DOWNLOADS = {
    "csv": ("text/csv; charset=utf-8", "leaderboard.csv"),
    "json": ("application/json", "evaluation.json"),
    "md": ("text/markdown; charset=utf-8", "leaderboard.md"),
    "tex": ("application/x-tex", "leaderboard.tex"),
    "per-query": ("text/csv; charset=utf-8", "queries.csv"),
}
"""What can be saved, what it is and what a browser calls it."""


def download_page(visit: Visit) -> RawContent:
    """What `judged evaluate --interval` writes with the same terms."""
    form = visit.params.choice("format", tuple(DOWNLOADS), "csv")
    found = visit.calculations.evaluation(visit.scoring)
    made: dict[str, Callable[[], str]] = {
        "csv": found.to_csv,
        "json": lambda: found.to_json(per_query=True),
        "md": found.to_markdown,
        "tex": found.to_latex,
        "per-query": lambda: found.to_csv(per_query=True),
    }
    kind, name = DOWNLOADS[form]
    return RawContent(made[form]().encode(), kind, name)
