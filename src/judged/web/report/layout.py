"""The layout of a report as one HTML file, and what a small file leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

from judged import __version__
from judged.charts.kinds import KINDS
from judged.charts.pictures import address
from judged.comparison.methods import method_line
from judged.comparison.tables import NumberFormat, slice_tables
from judged.errors import JudgedError
from judged.evaluation.export import Look
from judged.measures.reference import BIBLIOGRAPHY, bibtex
from judged.rankings.strips import strips
from judged.web.pages.boards import board
from judged.web.pages.numbers import query_rows
from judged.web.pages.pairs import panel
from judged.web.pages.templating import document, figure
from judged.web.report.contents import items_of
from judged.web.report.provenance import versions

if TYPE_CHECKING:
    from judged.evaluation.scores import Scored
    from judged.measures import Measure
    from judged.results import Table
    from judged.web.report.contents import ListedQuery, ReportContents


WIDE_PIXELS, HALF_PIXELS = 940, 430  # widths of a chart that has a whole row, or half of it
MAX_RANK = 15  # the end of curves along ranks; each rank costs an evaluation of all systems
REPORT_STYLES = ("tokens", "base", "parts", "leaderboard", "compare", "query", "report", "print")
REPORT_SCRIPTS = ("theme", "report")
STRIP_RANKS = 10
MAX_VALUES = 60_000  # how many values of further measures a file has at most
CHART_ROWS = 12  # how many rows of a chart's data are shown
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
        contents, evaluation = self.contents, self.contents.evaluation
        heading = self.board["heading"]
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
            systems=contents.systems,
            levels=3 if self.top > 2 else 2,
            top=self.top,
            slices=self.slices,
            between_slices=self.between_slices,
            policy_sentences=list(evaluation.policy.sentences().values()),
            definitions=[self.definition(measure) for measure in evaluation.measures],
            said=self.said(),
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
    def board(self) -> dict[str, Any]:
        contents = self.contents
        refused = (contents.refused,) if contents.refused else ()
        return board(contents.evaluation, contents.comparison, refused=refused)

    @cached_property
    def panel(self) -> dict[str, Any] | None:
        contents = self.contents
        if contents.comparison is None or contents.pair is None:
            return None
        return panel(contents.comparison, *contents.pair, contents.by)

    @cached_property
    def compared_figures(self) -> list[dict[str, Any]]:
        """The charts of all differences, and of those of the pair by query."""
        comparison, pair, by = self.contents.comparison, self.contents.pair, self.contents.by
        if comparison is None or pair is None:
            return []
        two = comparison.among(*pair)
        return [
            self._figure("forest", comparison),
            self._figure("scatter", two, measure=by),
            self._figure("differences", two, wide=True, measure=by),
        ]

    @cached_property
    def system_figures(self) -> list[dict[str, Any]]:
        """The charts of all systems, and of the ranges of ties and unjudged results."""
        evaluation, measure = self.contents.evaluation, self.contents.measure
        one = len(evaluation.runs) == 1
        charts: list[tuple[str, dict[str, Any]]] = [
            (kind, {})
            for kind in (["precision-recall", "rank-histogram"] if one else ["eleven-point"])
        ]
        if measure.spec.at == "k":
            charts.append(("measure-at-k", {"measures": [measure], "k": MAX_RANK}))
        charts += [("cmc", {"k": MAX_RANK}), ("ranges", {"measures": [measure]})]
        return [self._figure(kind, evaluation, **options) for kind, options in charts]

    def _figure(
        self, kind: str, source: Any, *, wide: bool = False, **options: Any
    ) -> dict[str, Any]:
        """Draw a chart; if that is impossible, `why` is the error message."""
        known = KINDS[kind]
        width = WIDE_PIXELS if wide else HALF_PIXELS
        shown = {"kind": kind, "title": known.title, "wide": wide, "figure": None, "why": ""}
        try:
            design = {"theme": "page", "width": width, "looks": self.contents.systems}
            chart = known.function(source, **design, **options)
            return {**shown, "figure": figure(chart, rows=CHART_ROWS, heading=3)}
        except JudgedError as refused:
            return {**shown, "why": str(refused)}

    @cached_property
    def query_ids(self) -> list[str]:
        runs = self.contents.evaluation.runs
        return sorted({query for run in runs for query in run.rankings.queries})

    def shown(self, listed: list[ListedQuery], without: frozenset[str]) -> list[dict[str, Any]]:
        contents = self.contents
        texts = {} if "texts" in without else contents.texts
        pictures = {} if "pictures" in without else self.pictures
        return [
            query.to_view(contents.systems, self.top, contents.queries, texts, pictures)
            for query in (() if "lists" in without else listed)
        ]

    @cached_property
    def pictures(self) -> dict[str, str]:
        contents = self.contents
        listed = [query for part in contents.listed for query in part]
        wanted = {*items_of(listed), *(shown.query for shown in listed)} & set(contents.pictures)
        return {name: address(contents.pictures[name], name)[0] for name in sorted(wanted)}

    @property
    def explains(self) -> tuple[str, str, str] | None:
        """The command that explains a number, in three parts: the second is the query."""
        contents = self.contents
        if contents.call is None:
            return None
        return contents.call.explain(contents.systems[0], self.query_ids[0], contents.by)

    def every(self, with_strips: bool) -> dict[str, Any]:
        return self._table(self.contents.measure, with_strips, self.contents.differences)

    @cached_property
    def further(self) -> list[dict[str, Any]]:
        """The same for the other measures, values only, unless there are too many."""
        others = self.contents.evaluation.measures[1:]
        if len(others) * len(self.contents.systems) * len(self.query_ids) > MAX_VALUES:
            return []
        return [self._table(measure, False, None) for measure in others]

    def _table(
        self, measure: Measure, with_strips: bool, differences: Mapping[str, float] | None
    ) -> dict[str, Any]:
        evaluation = self.contents.evaluation
        rows = query_rows(
            self.query_ids,
            [_column(run, measure, self.query_ids, with_strips) for run in evaluation.runs],
            differences=differences,
            higher_is_better=measure.spec.higher_is_better,
            texts={query: text.heading for query, text in self.contents.queries.items()},
        )
        return {"measure": evaluation.label(measure), "rows": rows, "with_strips": with_strips}

    @cached_property
    def top(self) -> float:
        runs = self.contents.evaluation.runs
        return max(float(run.rankings.grades.max(initial=1.0)) for run in runs)

    @property
    def slices(self) -> list[tuple[str, list[Table]]]:
        comparison = self.contents.comparison
        if comparison is None or not len(comparison.slices):
            return []
        return [
            (measure.name, slice_tables(comparison, NumberFormat(measure, Look())))
            for measure in comparison.numbers.measures
        ]

    @property
    def between_slices(self) -> list[str]:
        comparison = self.contents.comparison
        if comparison is None:
            return []
        slices = comparison.slices
        return [*(difference.says for difference in slices.differences), *slices.notes]

    def definition(self, measure: Measure) -> tuple[str, str, list[tuple[str, str]]]:
        evaluation = self.contents.evaluation
        first, *others = evaluation.definition(measure).splitlines()
        facts = [tuple(line.split(": ", 1)) for line in others]
        return (
            evaluation.label(measure),
            first.split(". ", 1)[1],
            [(name, text) for name, text in facts if name not in ("Policy", "Ranking")],
        )

    def said(self) -> dict[str, list[str]]:
        lines = [line.split(": ", 1) for line in self.contents.evaluation.sentences()]
        others = ("warning", "note", "policy", "measure")
        return {
            "warnings": [text for kind, text in lines if kind == "warning"],
            "notes": [text for kind, text in lines if kind == "note"],
            "assumed": [f"{kind}: {text}" for kind, text in lines if kind not in others],
        }

    @property
    def methods(self) -> list[str]:
        comparison = self.contents.comparison
        return [(comparison or self.contents.evaluation).methods()]

    @property
    def references(self) -> str:
        told = " ".join(self.methods)
        keys = [key for key, text in BIBLIOGRAPHY.items() if text in told]
        return "\n\n".join([bibtex(key) for key in keys] + [_own_entry()])


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
