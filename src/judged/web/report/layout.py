"""The layout of a report as one HTML file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.charts.kinds import KINDS
from judged.charts.pictures import address
from judged.comparison.export import NumberFormat, method_line, slice_tables
from judged.errors import InputError, JudgedError
from judged.evaluation.export import Look
from judged.evaluation.warnings import short_lists
from judged.measures.reference import BIBLIOGRAPHY, bibtex, readable
from judged.rankings.strips import strips
from judged.text import few as few_names
from judged.web.pages.boards import board
from judged.web.pages.calculations import calculation_of
from judged.web.pages.lists import RankedList, side_by_side
from judged.web.pages.numbers import query_rows
from judged.web.pages.pairs import panel, without_options
from judged.web.pages.templating import document, figure
from judged.web.report.contents import RESULTS_SHOWN, explained_sides, items_of
from judged.web.report.provenance import versions

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.measures import Measure
    from judged.results import Table
    from judged.web.report.contents import ListedQuery, ReportContents


WIDE_PIXELS, HALF_PIXELS = 620, 460  # widths of a chart that has a whole row, or half of it
MAX_RANK = 15  # the end of curves along ranks; each rank costs an evaluation of all systems
REPORT_STYLES = ("tokens", "base", "parts", "leaderboard", "compare", "query", "report", "print")
REPORT_SCRIPTS = ("theme", "report")
STRIP_RANKS = 10
FIRST_SAID = 3  # how many sentences about the data are on the first page
MAX_VALUES = 60_000  # how many values of further measures a file has at most
OF_PAIR = ("differences", "scatter")  # kinds that state the difference, as their pages do already
CHART_ROWS = 12  # how many rows of a chart's data are shown


def render_report(contents: ReportContents, title: str | None, date: str | None) -> str:
    """Return the whole file; `date` is shown, so that the same input gives the same bytes."""
    evaluation, comparison = contents.evaluation, contents.comparison
    shown = board_of(contents)
    places = {name: at for at, name in enumerate(contents.systems)}
    heading = shown["heading"]
    pictures, unread = _pictures(contents)
    wins, losses = (
        [_listed_query(contents, listed, pictures) for listed in part] for part in contents.listed
    )
    further = _further(contents)
    few = further or len(evaluation.measures) == 1
    told = [line.split(": ", 1) for line in evaluation.sentences()]
    named = ("warning", "note", "policy", "measure")
    warned, noted = (
        [without_options(text) for kind, text in told if kind == each] for each in named[:2]
    )
    short = short_lists(evaluation)  # a warning for each system, of which the first page has one
    first = [*(text for text in warned if text not in short), *short[:1], *noted][:FIRST_SAID]
    methods = (comparison or evaluation).methods()
    keys = [key for key, text in BIBLIOGRAPHY.items() if text in methods]
    compared_figures, system_figures = _compared_figures(contents), _system_figures(contents)
    return document(
        "report.html",
        title=title or heading.title,
        styles=REPORT_STYLES,
        scripts=REPORT_SCRIPTS,
        own_title=title,
        date=date,
        heading=heading,
        board=shown,
        panel=None
        if comparison is None or contents.pair is None
        else panel(comparison, *contents.pair, contents.by, places=places),
        refused=contents.refused,
        comparison=comparison,
        done=None if comparison is None else method_line(comparison),
        pair=contents.pair,
        by=contents.by,
        wins=wins,
        losses=losses,
        compared_figures=compared_figures,
        system_figures=system_figures,
        first_figures=compared_figures[-1:] or system_figures[:1],
        every=_table(contents, contents.measure, True, contents.differences),
        further=further,
        systems=contents.systems,
        levels=3 if contents.top > 2 else 2,
        top=contents.top,
        slices=_slices(comparison),
        between_slices=_between_slices(contents),
        policy_sentences=list(evaluation.policy.sentences().values()),
        definitions=[_definition(evaluation, measure) for measure in evaluation.measures],
        said={
            "warnings": warned,
            "notes": noted,
            "first": first,
            "assumed": [f"{kind}: {text}" for kind, text in told if kind not in named],
        },
        methods=[methods],
        references="\n\n".join([*map(bibtex, keys), _own_entry()]),
        versions=versions(),
        files=contents.files,
        again=contents.again,
        explains=_explains(contents),
        query_count=len(contents.query_ids),
        left_out=[
            *([] if few else ["every query's values of further measures, to keep this file small"]),
            *([f"pictures that cannot be read ({few_names(unread)})"] if unread else []),
        ],
    )


def board_of(contents: ReportContents) -> dict[str, Any]:
    refused = (contents.refused,) if contents.refused else ()
    return board(contents.evaluation, contents.comparison, refused=refused)


def _compared_figures(contents: ReportContents) -> list[dict[str, Any]]:
    """Draw all differences, and those of the pair by query."""
    comparison, pair, by = contents.comparison, contents.pair, contents.by
    if comparison is None or pair is None:
        return []
    two = comparison.among(*pair)
    drawn = comparison
    if len(comparison.runs) > 2:  # the table has the other measures
        on_measure = tuple(row for row in comparison.rows if row.measure == by)
        drawn = replace(comparison, rows=on_measure)
    return [
        _figure(contents, "forest", drawn, wide=True),
        _figure(contents, "scatter", two, measure=by),
        _figure(contents, "differences", two, wide=True, measure=by),
    ]


def _system_figures(contents: ReportContents) -> list[dict[str, Any]]:
    """Draw all systems, and the ranges of ties and unjudged results."""
    evaluation, measure = contents.evaluation, contents.measure
    one = len(evaluation.runs) == 1
    charts: list[tuple[str, dict[str, Any]]] = [
        (kind, {}) for kind in (["precision-recall", "rank-histogram"] if one else ["eleven-point"])
    ]
    if measure.spec.at == "k":
        charts.append(("measure-at-k", {"measures": [measure], "k": MAX_RANK}))
    charts += [("cmc", {"k": MAX_RANK}), ("ranges", {"measures": [measure]})]
    return [_figure(contents, kind, evaluation, **options) for kind, options in charts]


def _figure(
    contents: ReportContents, kind: str, source: Any, *, wide: bool = False, **options: Any
) -> dict[str, Any]:
    """Draw a chart; if that is impossible, `why` is the error message."""
    known = KINDS[kind]
    width = WIDE_PIXELS if wide else HALF_PIXELS
    shown = {"kind": kind, "title": known.title, "wide": wide, "figure": None, "why": ""}
    try:
        design = {"theme": "page", "width": width, "looks": contents.systems}
        chart = known.function(source, **design, **options)
        if kind in OF_PAIR:  # the heading states the difference and the verdict
            chart = replace(chart, notes=chart.notes[2:])
        return {**shown, "figure": figure(chart, rows=CHART_ROWS, heading=3)}
    except JudgedError as refused:
        return {**shown, "why": str(refused)}


def _listed_query(
    contents: ReportContents, listed: ListedQuery, pictures: Mapping[str, str]
) -> dict[str, Any]:
    query, difference, better, sides = listed
    explained = explained_sides(listed)
    ranked = [
        RankedList(run, told.rankings, told.items, contents.systems.index(run), value)
        for run, value, told in explained
    ]
    shown: Any = {"texts": contents.texts, "pictures": pictures, "top": contents.top}
    return {
        "query": query,
        "text": contents.queries[query].heading if query in contents.queries else "",
        "picture": pictures.get(query, ""),
        "difference": difference,
        "better": better,
        "view": side_by_side(ranked, k=RESULTS_SHOWN, **shown) if ranked else None,
        "sums": [calculation_of(told, top=contents.top) for _, _, told in explained],
        "why": list(dict.fromkeys(told for _, _, told in sides if isinstance(told, str))),
    }


def _pictures(contents: ReportContents) -> tuple[dict[str, str], list[str]]:
    """Return the addresses of pictures, and the names of those that cannot be read."""
    listed = [query for part in contents.listed for query in part]
    wanted = {*items_of(listed), *(query for query, *_ in listed)} & set(contents.pictures)
    addresses: dict[str, str] = {}
    unread: list[str] = []
    for name in sorted(wanted):
        try:
            addresses[name] = address(contents.pictures[name], name)[0]
        except InputError:
            unread.append(name)
    return addresses, unread


def _explains(contents: ReportContents) -> tuple[str, str, str] | None:
    """Return the command that explains a number, in three parts: the second is the query."""
    if contents.explains is None:
        return None
    before, after = contents.explains
    measure = shlex.quote(contents.by)
    named = f" -m={measure}" if contents.by.startswith("-") else f" -m {measure}"
    return f"{before} --query=", shlex.quote(contents.query_ids[0]), f"{named} {after}".rstrip()


def _further(contents: ReportContents) -> list[dict[str, Any]]:
    """Return the tables of the other measures, values only, unless there are too many."""
    others = contents.evaluation.measures[1:]
    if len(others) * len(contents.systems) * len(contents.query_ids) > MAX_VALUES:
        return []
    return [_table(contents, measure, False, None) for measure in others]


def _table(
    contents: ReportContents,
    measure: Measure,
    with_strips: bool,
    differences: Mapping[str, float] | None,
) -> dict[str, Any]:
    evaluation, ids = contents.evaluation, contents.query_ids
    rows = query_rows(
        ids,
        [_column(run, measure, ids, with_strips) for run in evaluation.runs],
        differences=differences,
        higher_is_better=measure.spec.higher_is_better,
        texts={query: text.heading for query, text in contents.queries.items()},
    )
    return {"measure": evaluation.label(measure), "rows": rows, "with_strips": with_strips}


def _slices(comparison: Comparison | None) -> list[tuple[str, list[Table]]]:
    if comparison is None or not len(comparison.slices):
        return []
    return [
        (measure.name, slice_tables(comparison, NumberFormat(measure, Look())))
        for measure in comparison.numbers.measures
    ]


def _between_slices(contents: ReportContents) -> list[str]:
    """Return what differs between slices: on the measure that ranks systems, surest first."""
    if contents.comparison is None:
        return []
    slices = contents.comparison.slices
    tests = sorted(slices.differences, key=lambda test: (test.measure != contents.by, test.p))
    return [*slices.notes, *(test.says for test in tests)]


def _definition(evaluation: Evaluation, measure: Measure) -> tuple[str, str, list[tuple[str, str]]]:
    first, *others = evaluation.definition(measure).splitlines()
    facts = [tuple(line.split(": ", 1)) for line in others]
    return (
        evaluation.label(measure),
        first.split(". ", 1)[1],
        [
            (name, readable(text) if name == "Formula" else text)
            for name, text in facts
            if name not in ("Policy", "Ranking")
        ],
    )


def _own_entry() -> str:
    return (
        "@software{judged,\n  title = {{judged: retrieval evaluation that says what every number "
        f"means}}}},\n  version = {{{__version__}}}\n}}"
    )


def _column(
    run: Scored, measure: Measure, queries: list[str], with_strips: bool
) -> tuple[list[float], list[str] | None]:
    """Return a run's values, and the codes of its strips, in the order of all queries."""
    places = {query: at for at, query in enumerate(run.rankings.queries)}
    values = dict(zip(places, run.values[measure].tolist(), strict=True))
    shown = [values.get(query, nan) for query in queries]
    if not with_strips:
        return shown, None
    codes = strips(run.rankings, STRIP_RANKS).codes()
    return shown, [codes[places[query]] if query in places else "" for query in queries]
