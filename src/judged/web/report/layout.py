"""A report as one HTML file: what stands where, and what a small file is without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING

from judged import __version__
from judged.charts.pictures import address
from judged.comparison.methods import method_line
from judged.comparison.tables import NumberFormat, slice_tables
from judged.errors import MissingExtraError
from judged.evaluation.kept import rankings_of
from judged.evaluation.table import Look
from judged.measures.bibliography import BIBLIOGRAPHY, bibtex
from judged.rankings.strips import strips
from judged.web.pages.boards import Beside, board
from judged.web.pages.document import document
from judged.web.pages.figure import figure
from judged.web.pages.pairs import panel
from judged.web.pages.query_rows import Values, query_rows
from judged.web.report import figures
from judged.web.report.lists import Shown, items_of, shown
from judged.web.report.provenance import versions

if TYPE_CHECKING:
    from judged.evaluation.scored import Scored
    from judged.measures import Measure
    from judged.rankings.rankings import Rankings
    from judged.results import Table
    from judged.web.pages.boards import Board
    from judged.web.pages.pairs import Panel
    from judged.web.report.contents import Contents
    from judged.web.report.figures import Drawn
    from judged.web.report.queries import Differences, Listed

STYLES = ("tokens", "base", "parts", "leaderboard", "compare", "query", "report", "print")
SCRIPTS = ("theme", "report")
RANKS = 10
"""How many ranks a strip has."""
VALUES = 60_000
"""So many values of further measures stand in a file where nobody says how large it may be."""
CHART_ROWS = 12
"""So many rows of a chart's data stand under it."""
OPTIONAL = {
    "pictures": "the pictures",
    "texts": "the texts of items",
    "values": "every query's values of further measures",
    "lists": "the lists of the biggest wins and losses, and the sums behind their numbers",
    "charts": "the charts",
    "strips": "every query's strips",
    "rows": "the table of every query",
}
"""What a file may do without, in the order in which it is left out."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Everything that a report shows, in the form in which it stands there."""

    contents: Contents
    title: str | None = None
    date: str | None = None

    def html(self, without: frozenset[str] = frozenset()) -> str:
        """The file, without some of OPTIONAL."""
        contents, evaluation = self.contents, self.contents.evaluation
        heading = self.board.heading
        return document(
            "report.html",
            title=self.title or heading.title,
            styles=STYLES,
            scripts=SCRIPTS,
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
            terms=list(evaluation.policy.sentences().values()),
            definitions=[self.definition(measure) for measure in evaluation.measures],
            said=dict(self.said()),
            methods=self.methods,
            references=self.references,
            versions=versions(),
            files=contents.files,
            call=contents.call,
            again=contents.again,
            explains=self.explains,
            asked=len(self.query_ids),
            left_out=self.left_out(without),
        )

    def left_out(self, without: frozenset[str]) -> list[str]:
        """What is not in the file, in words."""
        chosen = {name for name in without if name in self.there}
        if not self.further and len(self.contents.evaluation.measures) > 1:
            chosen.add("values")
        return [words for name, words in OPTIONAL.items() if name in chosen]

    @cached_property
    def there(self) -> set[str]:
        """Those of OPTIONAL that this report has."""
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
        beside = Beside(contents.comparison, refused=refused)
        return board(contents.evaluation, beside)

    @cached_property
    def panel(self) -> Panel | None:
        """The two runs that are shown query by query."""
        contents = self.contents
        if contents.comparison is None or contents.pair is None:
            return None
        return panel(contents.comparison, *contents.pair, contents.by)

    @cached_property
    def compared_figures(self) -> list[tuple[Drawn, str | None]]:
        """The charts of the comparison."""
        return list(map(_figure, figures.of_comparison(self.contents)))

    @cached_property
    def system_figures(self) -> list[tuple[Drawn, str | None]]:
        """The charts of all systems."""
        return list(map(_figure, figures.of_systems(self.contents)))

    @cached_property
    def query_ids(self) -> list[str]:
        """All queries, in the order of their ids."""
        runs = self.contents.evaluation.runs
        return sorted({query for run in runs for query in run.about.queries})

    def shown(self, listed: tuple[Listed, ...], without: frozenset[str]) -> list[Shown]:
        """Queries with their lists and the sums behind their numbers."""
        contents = self.contents
        return shown(
            () if "lists" in without else listed,
            systems=[run.name for run in contents.evaluation.runs],
            top=self.top,
            queries=contents.queries,
            texts={} if "texts" in without else contents.texts,
            pictures={} if "pictures" in without else self.pictures,
        )

    @cached_property
    def pictures(self) -> dict[str, str]:
        """The pictures of what is shown whole, as addresses that hold them."""
        contents = self.contents
        listed = [each for part in contents.listed for each in part]
        wanted = {*items_of(listed), *(each.query for each in listed)} & set(contents.pictures)
        return {name: address(contents.pictures[name], name)[0] for name in sorted(wanted)}

    @property
    def explains(self) -> tuple[str, str, str] | None:
        """The command that explains a number, in three parts: the one in the middle is the query,
        the first of the table."""
        call, run = self.contents.call, self.contents.evaluation.runs[0].name
        if call is None:
            return None
        first = self.query_ids[0]
        before, query, after = call.explain(run, first, self.contents.by)
        return before, query, after

    def every(self, with_strips: bool) -> Every:
        """The table of every query: the first measure."""
        return self._table(self.contents.measure, with_strips, self.contents.differences)

    @cached_property
    def further(self) -> list[Every]:
        """The same of the other measures, values alone, where they are not too many."""
        others = self.contents.evaluation.measures[1:]
        runs = self.contents.evaluation.runs
        if len(others) * len(runs) * len(self.query_ids) > VALUES:
            return []
        return [self._table(measure, False, None) for measure in others]

    def _table(self, measure: Measure, with_strips: bool, differences: Differences | None) -> Every:
        contents = self.contents
        systems = [
            _values(
                run,
                measure,
                self.query_ids,
                rankings_of(contents.evaluation, run.name) if with_strips else None,
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
        return Every(contents.evaluation.label(measure), rows, with_strips)

    @cached_property
    def top(self) -> float:
        """The best grade that there is."""
        runs = self.contents.evaluation.runs
        return max(float(run.about.grades.max(initial=1.0)) for run in runs)

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
        """Whether differences differ between slices, and what was noticed about these."""
        comparison = self.contents.comparison
        if comparison is None:
            return []
        own = (each.says for each in comparison.slices.differences)
        return [*own, *comparison.slices.notes]

    def definition(self, measure: Measure) -> tuple[str, str, list[tuple[str, str]]]:
        """What a measure is called, what it means, and its formula, its source and so on."""
        evaluation = self.contents.evaluation
        first, *others = evaluation.definition(measure).splitlines()
        facts = [tuple(line.split(": ", 1)) for line in others]
        return (
            evaluation.label(measure),
            first.split(". ", 1)[1],
            [(name, text) for name, text in facts if name not in ("Policy", "Ranking")],
        )

    def said(self) -> Iterator[tuple[str, list[str]]]:
        """What was found and assumed, by kind: warnings, notes, and the rest."""
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
        """The sources of that paragraph, for BibTeX."""
        told = " ".join(self.methods)
        keys = [key for key, text in BIBLIOGRAPHY.items() if text in told]
        return "\n\n".join([bibtex(key) for key in keys] + [_own_entry()])


@dataclass(frozen=True, eq=False)
class Every:
    """A table of every query."""

    measure: str
    rows: str
    with_strips: bool


def _own_entry() -> str:
    return (
        "@software{judged,\n  title = {{judged: retrieval evaluation that says what every number "
        f"means}}}},\n  version = {{{__version__}}}\n}}"
    )


def _figure(drawn: Drawn) -> tuple[Drawn, str | None]:
    """A chart as it stands in the page; where pictures cannot be made, why not."""
    if drawn.chart is None:
        return drawn, None
    try:
        return drawn, figure(drawn.chart, rows=CHART_ROWS, heading=3)
    except MissingExtraError as missing:
        return replace(drawn, chart=None, why=str(missing)), None


def _values(run: Scored, measure: Measure, queries: list[str], rankings: Rankings | None) -> Values:
    """A run's values in the order of all queries, and the strips of its rankings where these are
    wanted; a query that it was not asked has none."""
    place = {query: at for at, query in enumerate(run.about.queries)}
    at = [place.get(query) for query in queries]
    values = run.values[measure].tolist()
    codes = None if rankings is None else strips(rankings, RANKS).codes()
    return Values(
        [nan if each is None else values[each] for each in at],
        None if codes is None else ["" if each is None else codes[each] for each in at],
    )
