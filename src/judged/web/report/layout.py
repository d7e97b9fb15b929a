"""The layout of a report as one HTML file, and what a small file leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.charts.kinds import KINDS
from judged.charts.pictures import address
from judged.comparison.methods import method_line
from judged.comparison.tables import NumberFormat, slice_tables
from judged.errors import JudgedError, MissingExtraError
from judged.evaluation.export import Look
from judged.measures.reference import BIBLIOGRAPHY, bibtex
from judged.rankings.strips import strips
from judged.web.pages.boards import BoardContext, board
from judged.web.pages.numbers import ValueColumn, query_rows
from judged.web.pages.pairs import panel
from judged.web.pages.templating import document, figure
from judged.web.report.contents import ShownQuery, items_of, show_queries
from judged.web.report.provenance import versions

if TYPE_CHECKING:
    from judged.charts.chart import Chart
    from judged.evaluation.scores import Scored
    from judged.measures import Measure
    from judged.rankings.rankings import Rankings
    from judged.results import Table
    from judged.web.pages.boards import Board
    from judged.web.pages.pairs import PairPanel
    from judged.web.report.contents import ListedQuery, PairDifferences, ReportContents


WIDE_PIXELS, HALF_PIXELS = 940, 430
"""Widths of a chart that has a whole row, or half of it."""

MAX_RANK = 15
"""The end of curves along ranks; each rank costs an evaluation of all systems."""


@dataclass(frozen=True, eq=False)
class ReportChart:
    """A chart, or the error message in its place."""

    kind: str
    """The name for `judged plot`."""
    title: str
    chart: Chart | None
    why: str = ""
    """The error message if there is no chart."""
    wide: bool = False
    """Whether it has a whole row."""


def comparison_charts(contents: ReportContents) -> list[ReportChart]:
    """Draw all differences, and those of the pair that is shown by query."""
    if contents.comparison is None or contents.pair is None:
        return []
    pair = contents.comparison.among(*contents.pair)
    return [
        _drawn(contents, "forest", contents.comparison),
        _drawn(contents, "scatter", pair, measure=contents.by),
        _drawn(contents, "differences", pair, wide=True, measure=contents.by),
    ]


def system_charts(contents: ReportContents) -> list[ReportChart]:
    """Draw curves of all systems, and the ranges of ties and unjudged results."""
    one = len(contents.evaluation.runs) == 1
    own = ["precision-recall", "rank-histogram"] if one else ["eleven-point"]
    found = [_drawn(contents, kind, contents.evaluation) for kind in own]
    measure = contents.measure
    if measure.spec.at == "k":
        found.append(
            _drawn(contents, "measure-at-k", contents.evaluation, measures=[measure], k=MAX_RANK)
        )
    found.append(_drawn(contents, "cmc", contents.evaluation, k=MAX_RANK))
    found.append(_drawn(contents, "ranges", contents.evaluation, measures=[measure]))
    return found


def _drawn(
    contents: ReportContents, kind: str, source: Any, *, wide: bool = False, **options: Any
) -> ReportChart:
    known = KINDS[kind]
    try:
        chart = known.function(
            source,
            theme="page",
            width=WIDE_PIXELS if wide else HALF_PIXELS,
            looks=contents.looks,
            **options,
        )
    except JudgedError as refused:
        return ReportChart(kind, known.title, None, str(refused), wide)
    return ReportChart(kind, known.title, chart, wide=wide)


REPORT_STYLES = ("tokens", "base", "parts", "leaderboard", "compare", "query", "report", "print")
REPORT_SCRIPTS = ("theme", "report")
STRIP_RANKS = 10
MAX_VALUES = 60_000
"""How many values of further measures a file has at most."""
CHART_ROWS = 12
"""How many rows of a chart's data are shown."""
OPTIONAL = {
    "pictures": "the pictures",
    "texts": "the texts of items",
    "values": "every query's values of further measures",
    "lists": "the lists of the biggest wins and losses, and the calculations of their values",
    "charts": "the charts",
    "strips": "every query's strips",
    "rows": "the table of every query",
}
"""Parts that can be left out, in this order."""


@dataclass(frozen=True, eq=False)
class ReportLayout:
    """Everything that a report shows, as its template needs it."""

    contents: ReportContents
    title: str | None = None
    date: str | None = None

    def html(self, without: frozenset[str] = frozenset()) -> str:
        """Return the file, without some of OPTIONAL."""
        contents, evaluation = self.contents, self.contents.evaluation
        heading = self.board.heading
        return document(
            "report.html",
            title=self.title or heading.title,
            styles=REPORT_STYLES,
            scripts=REPORT_SCRIPTS,
            own_title=self.title,
            date=self.date,
            heading=heading,
            board=self.board,
            panel=self.panel,
            refused=contents.refused,
            comparison=contents.comparison,
            done=None if contents.comparison is None else method_line(contents.comparison),
            pair=contents.pair,
            by=contents.by,
            wins=self.shown(contents.listed[0], without),
            losses=self.shown(contents.listed[1], without),
            compared_figures=[] if "charts" in without else self.compared_figures,
            system_figures=[] if "charts" in without else self.system_figures,
            every=None if "rows" in without else self.every("strips" not in without),
            further=[] if "values" in without else self.further,
            systems=[run.name for run in evaluation.runs],
            levels=3 if self.top > 2 else 2,
            top=self.top,
            slices=self.slices,
            between_slices=self.between_slices,
            policy_sentences=list(evaluation.policy.sentences().values()),
            definitions=[self.definition(measure) for measure in evaluation.measures],
            said=dict(self.said()),
            methods=self.methods,
            references=self.references,
            versions=versions(),
            files=contents.files,
            call=contents.call,
            again=contents.again,
            explains=self.explains,
            query_count=len(self.query_ids),
            left_out=self.left_out(without),
        )

    def left_out(self, without: frozenset[str]) -> list[str]:
        """Return what is left out, in words."""
        chosen = {name for name in without if name in self.there}
        if not self.further and len(self.contents.evaluation.measures) > 1:
            chosen.add("values")
        return [words for name, words in OPTIONAL.items() if name in chosen]

    @cached_property
    def there(self) -> set[str]:
        """The parts of OPTIONAL that this report has."""
        contents = self.contents
        have = {
            "pictures": bool(contents.pictures),
            "texts": bool(contents.texts),
            "values": bool(self.further),
            "lists": any(contents.listed),
        }
        return {name for name in OPTIONAL if have.get(name, True)}

    # -- the parts, each made once

    @cached_property
    def board(self) -> Board:
        """The leaderboard."""
        contents = self.contents
        refused = (contents.refused,) if contents.refused else ()
        beside = BoardContext(contents.comparison, refused=refused)
        return board(contents.evaluation, beside)

    @cached_property
    def panel(self) -> PairPanel | None:
        """The panel of the pair that is shown by query."""
        contents = self.contents
        if contents.comparison is None or contents.pair is None:
            return None
        return panel(contents.comparison, *contents.pair, contents.by)

    @cached_property
    def compared_figures(self) -> list[tuple[ReportChart, str | None]]:
        """The charts of the comparison."""
        return list(map(_figure, comparison_charts(self.contents)))

    @cached_property
    def system_figures(self) -> list[tuple[ReportChart, str | None]]:
        """The charts of all systems."""
        return list(map(_figure, system_charts(self.contents)))

    @cached_property
    def query_ids(self) -> list[str]:
        """All queries, sorted."""
        runs = self.contents.evaluation.runs
        return sorted({query for run in runs for query in run.rankings.queries})

    def shown(self, listed: tuple[ListedQuery, ...], without: frozenset[str]) -> list[ShownQuery]:
        """Return queries with their lists and calculations."""
        contents = self.contents
        return show_queries(
            () if "lists" in without else listed,
            systems=[run.name for run in contents.evaluation.runs],
            top=self.top,
            queries=contents.queries,
            texts={} if "texts" in without else contents.texts,
            pictures={} if "pictures" in without else self.pictures,
        )

    @cached_property
    def pictures(self) -> dict[str, str]:
        """The pictures of listed queries and items, as data addresses."""
        contents = self.contents
        listed = [each for part in contents.listed for each in part]
        wanted = {*items_of(listed), *(each.query for each in listed)} & set(contents.pictures)
        return {name: address(contents.pictures[name], name)[0] for name in sorted(wanted)}

    @property
    def explains(self) -> tuple[str, str, str] | None:
        """The command that explains a number, in three parts: the second is the query."""
        call, run = self.contents.call, self.contents.evaluation.runs[0].name
        if call is None:
            return None
        first = self.query_ids[0]
        before, query, after = call.explain(run, first, self.contents.by)
        return before, query, after

    def every(self, with_strips: bool) -> QueryTable:
        """Return the table of every query for the first measure."""
        return self._table(self.contents.measure, with_strips, self.contents.differences)

    @cached_property
    def further(self) -> list[QueryTable]:
        """The same for the other measures, values only, unless there are too many."""
        others = self.contents.evaluation.measures[1:]
        runs = self.contents.evaluation.runs
        if len(others) * len(runs) * len(self.query_ids) > MAX_VALUES:
            return []
        return [self._table(measure, False, None) for measure in others]

    def _table(
        self, measure: Measure, with_strips: bool, differences: PairDifferences | None
    ) -> QueryTable:
        contents = self.contents
        systems = [
            _values(
                run,
                measure,
                self.query_ids,
                contents.evaluation.scored(run.name).rankings if with_strips else None,
            )
            for run in contents.evaluation.runs
        ]
        said = {query: text.heading for query, text in contents.queries.items()}
        rows = query_rows(
            self.query_ids,
            systems,
            differences=None if differences is None else differences.by_query,
            higher_is_better=measure.spec.higher_is_better,
            texts=said,
        )
        return QueryTable(contents.evaluation.label(measure), rows, with_strips)

    @cached_property
    def top(self) -> float:
        """The best grade."""
        runs = self.contents.evaluation.runs
        return max(float(run.rankings.grades.max(initial=1.0)) for run in runs)

    @property
    def slices(self) -> list[tuple[str, list[Table]]]:
        """The tables of slices by measure."""
        comparison = self.contents.comparison
        if comparison is None or not len(comparison.slices):
            return []
        return [
            (each.name, slice_tables(comparison, NumberFormat(each, Look())))
            for each in comparison.numbers.measures
        ]

    @property
    def between_slices(self) -> list[str]:
        """Sentences on differences between slices."""
        comparison = self.contents.comparison
        if comparison is None:
            return []
        own = (each.says for each in comparison.slices.differences)
        return [*own, *comparison.slices.notes]

    def definition(self, measure: Measure) -> tuple[str, str, list[tuple[str, str]]]:
        """Return label, definition and further facts of a measure."""
        evaluation = self.contents.evaluation
        first, *others = evaluation.definition(measure).splitlines()
        facts = [tuple(line.split(": ", 1)) for line in others]
        return (
            evaluation.label(measure),
            first.split(". ", 1)[1],
            [(name, text) for name, text in facts if name not in ("Policy", "Ranking")],
        )

    def said(self) -> Iterator[tuple[str, list[str]]]:
        """Yield warnings, notes and assumptions."""
        lines = [line.split(": ", 1) for line in self.contents.evaluation.sentences()]
        yield "warnings", [text for kind, text in lines if kind == "warning"]
        yield "notes", [text for kind, text in lines if kind == "note"]
        shown = ("warning", "note", "policy", "measure")
        yield "assumed", [f"{kind}: {text}" for kind, text in lines if kind not in shown]

    @property
    def methods(self) -> list[str]:
        """Paragraphs for a methods section."""
        comparison = self.contents.comparison
        return [(comparison or self.contents.evaluation).methods()]

    @property
    def references(self) -> str:
        """The BibTeX entries of the methods."""
        told = " ".join(self.methods)
        keys = [key for key, text in BIBLIOGRAPHY.items() if text in told]
        return "\n\n".join([bibtex(key) for key in keys] + [_own_entry()])


@dataclass(frozen=True, eq=False)
class QueryTable:
    """A table of every query."""

    measure: str
    rows: str
    with_strips: bool


def _own_entry() -> str:
    return (
        "@software{judged,\n  title = {{judged: retrieval evaluation that says what every number "
        f"means}}}},\n  version = {{{__version__}}}\n}}"
    )


def _figure(drawn: ReportChart) -> tuple[ReportChart, str | None]:
    """Return a chart as a figure; without the extra for charts, the error message."""
    if drawn.chart is None:
        return drawn, None
    try:
        return drawn, figure(drawn.chart, rows=CHART_ROWS, heading=3)
    except MissingExtraError as missing:
        return replace(drawn, chart=None, why=str(missing)), None


def _values(
    run: Scored, measure: Measure, queries: list[str], rankings: Rankings | None
) -> ValueColumn:
    """Return a run's values and strips in the order of all queries."""
    place = {query: at for at, query in enumerate(run.rankings.queries)}
    at = [place.get(query) for query in queries]
    values = run.values[measure].tolist()
    codes = None if rankings is None else strips(rankings, STRIP_RANKS).codes()
    return ValueColumn(
        [nan if each is None else values[each] for each in at],
        None if codes is None else ["" if each is None else codes[each] for each in at],
    )
