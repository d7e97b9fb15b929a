"""The leaderboard: systems by measures, slices, findings, downloads and the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, JudgedError, did_you_mean, quoted
from judged.evaluation import warnings
from judged.evaluation.export import Look
from judged.evaluation.wording import notes
from judged.inputs.keyed import RELEVANT_ITEMS
from judged.measures import REGISTRY
from judged.measures.reference import ABOUT, TOPICS, readable
from judged.options import LEVEL
from judged.rankings.strips import mean_strip
from judged.web import commands
from judged.web.changes import evaluation_before
from judged.web.pages.boards import STRIP_RANKS, Shares, board
from judged.web.pages.numbers import share as show_share
from judged.web.pages.numbers import shorten
from judged.web.pages.pairs import without_options
from judged.web.visit import Page, RawContent, Visit
from judged.web.work import progress_of_this_work
from judged.web.workspace import has_pictures, pictures_of

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.web.files import DataFile
    from judged.web.workspace import Workspace

PARAMS = ("sort", "order", "ranges", "system", "about", "slices")
ORDERS = ("ascending", "descending")
MAX_CURVES = 8  # how many systems the charts below the table show: the first by rank
DOWNLOADS = {
    "csv": ("text/csv; charset=utf-8", "leaderboard.csv"),
    "json": ("application/json", "evaluation.json"),
    "md": ("text/markdown; charset=utf-8", "leaderboard.md"),
    "tex": ("application/x-tex", "leaderboard.tex"),
    "per-query": ("text/csv; charset=utf-8", "queries.csv"),
}
"""Media types and file names of downloads."""
_QUERY_COLUMNS = frozenset({"query", "query_id", "qid", "id", "topic"})


def page(visit: Visit) -> Page:
    scoring, params = visit.scoring, visit.params
    evaluation = visit.calculations.evaluation(scoring)
    shown = _board(visit, evaluation)
    about, ranges = params.one("about"), params.flag("ranges")
    context = {
        "board": shown,
        "sort": lambda column: _sort(visit, shown, column),
        "pick": params.all("system"),
        "chips": _chips(visit, evaluation),
        "refused": scoring.refused,
        "hidden": params.filled_without("measure", "about"),
        "kept": params.filled_without(*PARAMS),
        "known_measures": _known_measures(),
        "about": None if about is None else _about(evaluation, about),
        "found": visit.url("/found"),
        "order": {name: params.one(name) for name in ("sort", "order")},
        "with_ranges": ranges,
        "baselines": [row["name"] for row in sorted(shown["rows"], key=lambda row: row["place"])],
        "baseline": scoring.baseline or "",
        "baseline_hidden": params.filled_without("baseline"),
        "charts": _charts(visit, evaluation, shown),
        "attributes": _attributes(visit.workspace),
        "attribute": params.one("slices"),
        "slices_hidden": params.filled_without("slices"),
        "slices": _slices(visit, shown["by"]),
    }
    command = commands.evaluate(visit, tie_range=ranges, unjudged_range=ranges)
    return Page("leaderboard.html", shown["heading"].title, context, command)


def _board(visit: Visit, evaluation: Evaluation) -> dict[str, Any]:
    """Return the table; error messages explain what is missing."""
    scoring, calculations = visit.scoring, visit.calculations
    sort, order = visit.params.one("sort"), visit.params.one("order")
    if order is not None:
        visit.params.choice("order", ORDERS, "descending")
    by = sort if sort in evaluation.labels else scoring.headline
    comparison = ranges = None
    refused: list[str] = []
    if scoring.baseline is not None:
        visit.workspace.system(scoring.baseline)
    if len(evaluation.runs) > 1:
        # Differences to a baseline are shown on all measures, ranks on one.
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
    before = evaluation_before(visit)
    shown = board(
        evaluation,
        comparison,
        before=before,
        ranges=ranges,
        refused=list(dict.fromkeys(refused)),
        by=sort or by,
        headline=by,
        ascending=None if order is None else order == "ascending",
        places=visit.places,
        strips=_strips(visit),
    )
    shown["rival"] = None
    if comparison is not None:
        best_first = [place.run for place in comparison.leaderboard(by)]
        if rival := calculations.possible_winner(scoring, by, best_first):
            unjudged = show_share(1 - evaluation.scored(rival).audit.judged_at_10)
            more = f" {shorten(rival)} could still lead: {unjudged} of its top 10 is unjudged."
            shown["heading"] = replace(shown["heading"], parts=(*shown["heading"].parts, more))
            shown["rival"] = rival
    return shown


def _strips(visit: Visit) -> list[Shares]:
    """Return the mean strips, which do not depend on measures and order."""
    rankings = visit.calculations.rankings(visit.scoring)
    key = "mean strips", visit.workspace.identity, visit.scoring.assumed
    return visit.cache.get(key, lambda: [mean_strip(ranked, STRIP_RANKS) for ranked in rankings])


def _sort(visit: Visit, shown: Mapping[str, Any], column: str) -> dict[str, str | None]:
    """Return the link of a column head; a second click turns the order."""
    if column != shown["order"]:
        return {"href": visit.url(sort=column, order=None), "direction": None}
    now, turned = ORDERS[::-1] if shown["descending"] else ORDERS
    return {"href": visit.url(sort=column, order=turned), "direction": now}


def _chips(visit: Visit, evaluation: Evaluation) -> list[dict[str, Any]]:
    labels = list(evaluation.labels)
    opened, sort = visit.params.one("about"), visit.params.one("sort")
    return [
        {
            "name": label,
            "without": visit.url(
                measure=[other for other in labels if other != label] or None,
                sort=None if sort == label else sort,
                about=None if opened == label else opened,
            ),
            "about": visit.url(about=None if opened == label else label),
            "open": opened == label,
        }
        for label in labels
    ]


def _known_measures() -> list[tuple[str, str]]:
    """Return what can be added, and its title: names, presets, and words of the field."""
    known = {name: spec.title for spec in REGISTRY.values() for name in (spec.name, *spec.aliases)}
    known |= {name: f"preset: {preset.title}" for name, preset in ABOUT.items()}
    known |= {phrase: topic[0] for phrases, topic in TOPICS.items() for phrase in phrases}
    return sorted(known.items(), key=lambda pair: pair[0].lower())


def _about(evaluation: Evaluation, name: str) -> dict[str, Any]:
    measure = evaluation.measure(name)
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


def _charts(visit: Visit, evaluation: Evaluation, shown: Mapping[str, Any]) -> list[str]:
    best = [row["name"] for row in shown["rows"]][:MAX_CURVES]
    systems = {"system": best if len(best) < len(evaluation.runs) else None}
    measure = evaluation.labels[shown["by"]]
    charts = [visit.url("/chart", kind="eleven-point", **systems)]
    if measure.spec.at == "k" and visit.scoring.convention is None:
        of = str(measure(k=None))
        charts.insert(0, visit.url("/chart", kind="measure-at-k", of=of, **systems))
    return charts


# -- slices


def _attributes(workspace: Workspace) -> tuple[str, ...]:
    """Return the number of relevant items, and the attributes in tables of queries."""
    names = [RELEVANT_ITEMS]
    for file in workspace.of_kind("attributes"):
        names += [name for name in file.columns if name.lower() not in _QUERY_COLUMNS]
    return tuple(dict.fromkeys(names))


def _slices(visit: Visit, measure: str) -> dict[str, Any] | None:
    """Return the systems on one measure, in each slice of an attribute."""
    attribute = visit.params.one("slices")
    if attribute is None or len(visit.workspace.systems) < 2:
        return None
    source = _source_of(visit, attribute)
    shown = {"attribute": attribute, "measure": measure, "slices": [], "sentences": []}
    try:
        comparison = visit.calculations.comparison(
            visit.scoring, baseline=visit.scoring.baseline, measures=[measure], slices=source
        )
    except JudgedError as error:
        return {**shown, "refused": str(error)}
    slices = [part for part in comparison.slices if part.attribute == attribute]
    between = [d.says for d in comparison.slices.differences if d.attribute == attribute]
    significant = [
        row.says for part in slices for row in part.rows if row.verdict in ("better", "worse")
    ]
    return {**shown, "slices": slices, "sentences": [*significant, *between], "refused": ""}


def _source_of(visit: Visit, attribute: str) -> str:
    """Return the file that has an attribute of queries, or the name of a derived one."""
    known = _attributes(visit.workspace)
    if attribute not in known:
        raise InputError(
            f"unknown attribute {quoted(attribute)}{did_you_mean(attribute, known)} "
            f"The attributes are {', '.join(known)}."
        )
    tables = visit.workspace.of_kind("attributes")
    return next((str(file.path) for file in tables if attribute in file.columns), RELEVANT_ITEMS)


# -- findings


def findings_page(visit: Visit) -> Page:
    """Show what was found in the data; the leaderboard loads it after its numbers."""
    evaluation = visit.calculations.evaluation(visit.scoring)
    key = "findings", visit.workspace.identity, visit.scoring.key
    sentences = visit.cache.get(key, lambda: _find(evaluation))
    links = {
        "unjudged": {"href": visit.url("/", ranges=1), "text": "Show the range"},
        "ties": {"href": visit.url("/", ranges=1), "text": "Show the range"},
        "queries": {"href": visit.url("/queries"), "text": "Show the queries"},
    }
    nothing = [("info", "No missing queries, no duplicates, no ties, no unjudged results.", "")]
    findings = [
        {"kind": kind, "text": text, "link": links.get(about)}
        for kind, text, about in sentences or nothing
    ]
    return Page("found.html", "Findings", {"findings": findings}, commands.evaluate(visit))


def _find(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Return kind, text and subject of each sentence, warnings first."""
    short_lists = warnings.short_lists(evaluation)
    warned = [
        *(
            (text, "queries" if "judged quer" in text else "")
            for text in warnings.grave(evaluation)
        ),
        *((text, "queries") for text in short_lists[:1]),
        *((text, "unjudged") for text in warnings.unjudged(evaluation)),
        *((text, "ties") for text in warnings.tie_effects(evaluation, Look())),
    ]
    return [
        *(("warn", without_options(text), about) for text, about in warned),
        *(("info", without_options(text), "") for text in (*short_lists[1:], *notes(evaluation))),
    ]


# -- downloads


def download_page(visit: Visit) -> RawContent:
    """Return what `judged evaluate` writes: with intervals, or as the table of the page."""
    form = visit.params.choice("format", tuple(DOWNLOADS), "csv")
    evaluation = visit.calculations.evaluation(visit.scoring)
    rows = _board(visit, evaluation)["rows"]
    plain = visit.calculations.evaluation(visit.scoring, interval=False)
    table = replace(plain, runs=tuple(plain.scored(row["name"]) for row in rows))
    writers: dict[str, Callable[[], str]] = {
        "csv": evaluation.to_csv,
        "json": lambda: evaluation.to_json(per_query=True),
        "md": table.to_markdown,
        "tex": table.to_latex,
        "per-query": lambda: evaluation.to_csv(per_query=True),
    }
    media_type, name = DOWNLOADS[form]
    return RawContent(writers[form]().encode(), media_type, name)


# -- the report


def report_page(visit: Visit) -> Page | RawContent:
    """Write the report of the leaderboard that the address describes."""
    files = _report_tables(visit)
    options = _report_options(visit)
    measures = _report_measures(visit)
    key = (
        *("report", visit.workspace.identity, visit.scoring.key, *measures, options.get("slices")),
        *(file.identity for file in files.values()),
    )
    html = visit.cache.get(key, lambda: _write_report(visit, measures, options, files))
    if visit.params.flag("save"):
        return RawContent(html, "text/html; charset=utf-8", "report.html")
    context = {"size": len(html), "save": visit.url(save=1)}
    paths = {name: commands.path_of(file) for name, file in files.items()}
    workspace, scoring = visit.workspace, visit.scoring
    words = commands.words_of(
        "report", workspace, workspace.systems, scoring, measures, **options, **paths
    )
    command = commands.line_of([*words, "-o", "report.html"])
    return Page("report_ready.html", "The report is ready", context, command)


def _report_measures(visit: Visit) -> list[str]:
    """Return the measures of the page, first the one that its systems are ranked by."""
    labels, sort = visit.scoring.labels, visit.params.one("sort")
    by = sort if sort in labels else visit.scoring.headline
    return sorted(labels, key=lambda label: label != by)


def _report_options(visit: Visit) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if visit.scoring.baseline is not None:
        options["baseline"] = visit.workspace.system(visit.scoring.baseline).name
    if visit.scoring.level != LEVEL:
        options["level"] = visit.scoring.level
    attribute = visit.params.one("slices")
    if attribute is not None and len(visit.workspace.systems) > 1:
        options["slices"] = _source_of(visit, attribute)
    return options


def _write_report(
    visit: Visit, measures: list[str], options: dict[str, Any], files: dict[str, DataFile]
) -> bytes:
    from judged.web.report.report import report

    progress_of_this_work().say("Writing the report")
    workspace = visit.workspace
    workspace.refuse_undecided()
    judgements = workspace.judgements
    assert judgements is not None
    runs: Any = {
        system.name: str(system.file.path)
        for system in workspace.systems
        if system.file is not judgements
    }
    beside: dict[str, Any] = {option: str(file.path) for option, file in files.items()}
    if "pictures" in beside:  # only those inside the folder, as on all pages
        beside["pictures"] = pictures_of(visit)
    scoring = visit.scoring.scoring()
    graded = workspace.grades is not None
    source: Any = visit.calculations.judgements() if graded else str(judgements.path)
    made = report(source, runs or None, measures, **options, **scoring, **beside)
    return made.to_html().encode()


def _report_tables(visit: Visit) -> dict[str, DataFile]:
    """Return the tables of texts, queries and pictures, if there is one of each."""
    files = visit.workspace.files
    tables = {
        kind: [file for file in visit.workspace.of_kind(kind) if not has_pictures(file)]
        for kind in ("texts", "queries")
    }
    tables["pictures"] = [file for file in files if has_pictures(file) and not file.uploaded]
    return {option: known[0] for option, known in tables.items() if len(known) == 1}
