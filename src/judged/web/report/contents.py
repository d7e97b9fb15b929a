"""The results of single queries, with their ids as far as these are known, and the sum behind a
number of theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from judged.comparison import compare_evaluation
from judged.comparison.dependence import check_evaluated_missing, check_missing
from judged.comparison.match import matched
from judged.errors import InputError, JudgedError, PolicyError, did_you_mean, quoted
from judged.evaluation.intervals import with_intervals
from judged.explanation import explain
from judged.inputs.tables import Judgements, Lookup, Run
from judged.options import LEVEL
from judged.options import level as checked_level
from judged.rankings.rankings import OTHER_WAY
from judged.web.pages.calculations import Calculation, calculation_of
from judged.web.pages.lists import RankedList, SideBySide, side_by_side

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.explanation import Explanation
    from judged.inputs.texts import Text
    from judged.measures import Measure
    from judged.options import GroupsLike, SlicesLike
    from judged.rankings.rankings import Rankings
    from judged.web.report.provenance import InputFile, ReportCall


RESULTS_SHOWN = 10
"""How many results of a list are shown."""
AnyTable = TypeVar("Table", bound=Judgements | Run | Lookup)


@dataclass(frozen=True, eq=False)
class QueryResults:
    """Where results of single queries are looked up."""

    evaluation: Evaluation
    judgements: Judgements | Lookup | None = None
    """As they were judged; None where there are rankings only, which know no ids."""
    tables: Mapping[str, Run | Lookup] = field(default_factory=dict)
    """The runs by name, as they were judged."""
    first: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    """The first items of each query by run, best first, where vectors were searched."""
    judging: Mapping[str, Any] = field(default_factory=dict)
    """`depth`, `duplicates` and `collection`, as the runs were judged."""

    def about(self, queries: Collection[str], runs: Collection[str]) -> QueryResults:
        """The same for some queries of some runs, which are then looked up at once."""
        if self.judgements is None:
            return self
        return replace(
            self,
            judgements=rows_of(self.judgements, queries),
            tables={name: rows_of(self.tables[name], queries) for name in runs},
        )

    def explanation(self, run: str, query: str, measure: Measure) -> Explanation:
        """How a measure comes to its value for a query; the items of the list are in it."""
        policy = self.evaluation.policy
        if self.judgements is not None:
            return explain(
                self.judgements,
                self.tables[run],
                measure,
                query=query,
                policy=policy,
                rows=RESULTS_SHOWN,
                collection=self.judging.get("collection"),
            )
        rankings = self.evaluation.scored(run).rankings
        alone = rankings.take([rankings.queries.index(query)])
        found = explain(alone, measure=measure, query=query, policy=policy, rows=RESULTS_SHOWN)
        items = self.first.get(run, {}).get(query, {})
        return replace(found, items=dict(enumerate(items, 1))) if items else found


def rows_of(table: AnyTable, queries: Collection[str]) -> AnyTable:
    """The rows of some queries.

    >>> from judged import read_run
    >>> list(rows_of(read_run({"a": ["x"], "b": ["y"]}), {"b"}).lists)
    ['b']
    """
    if isinstance(table, Lookup):
        own_lists = {query: own for query, own in table.lists.items() if query in queries}
        return replace(table, lists=own_lists)
    own = table.frame["query"].is_in(list(queries)).arg_true().to_numpy()
    return replace(
        table,
        frame=table.frame[own],
        rows=own if table.rows is None else table.rows[own],
        queries=tuple(query for query in table.names() if query in queries),
    )


QUERIES_LISTED = 5
"""How many wins, how many losses, and how many of the hardest queries are listed."""


@dataclass(frozen=True, eq=False)
class ListedRun:
    """A query's list in one system."""

    run: str
    value: float
    """What the query counts there; NaN where it does not."""
    explanation: Explanation | None
    """The list with its ids, and the sum behind its number."""
    why: str = ""
    """Why there is none, as the library says it."""


@dataclass(frozen=True, eq=False)
class ListedQuery:
    """A query that is shown whole."""

    query: str
    difference: float | None
    """The second system's value minus the first's; None of one system alone."""
    better: bool
    """Whether the second system is the better one here."""
    sides: tuple[ListedRun, ...] = field(default=())


@dataclass(frozen=True, eq=False)
class PairDifferences:
    """Two systems on one measure, query by query."""

    run: str
    against: str
    by_query: dict[str, float]
    """The run's value minus the other's, of the queries that count in both."""
    higher_is_better: bool

    @classmethod
    def of(cls, comparison: Comparison, measure: str, run: str, against: str) -> PairDifferences:
        """Those of a comparison."""
        numbers, known = comparison.numbers, comparison.measure(measure)
        match = matched(numbers, known, run, against)
        queries = [numbers.queries[at] for at in match.ours.place.tolist()]
        by_query = dict(zip(queries, match.differences.tolist(), strict=True))
        return cls(run, against, by_query, known.higher_is_better)

    def biggest(self, most: int = QUERIES_LISTED) -> tuple[list[str], list[str]]:
        """The queries with the biggest wins, and with the biggest losses; first the biggest, and
        equal ones in the order of their ids."""
        sign = 1 if self.higher_is_better else -1
        gains = {query: sign * by for query, by in self.by_query.items() if by and by == by}
        wins = sorted((q for q in gains if gains[q] > 0), key=lambda q: (-gains[q], q))
        losses = sorted((q for q in gains if gains[q] < 0), key=lambda q: (gains[q], q))
        return wins[:most], losses[:most]


def of_pair(
    differences: PairDifferences, results: QueryResults, measure: Measure
) -> tuple[tuple[ListedQuery, ...], tuple[ListedQuery, ...]]:
    """The biggest wins and the biggest losses, with both lists."""
    wins, losses = differences.biggest()
    runs = (differences.against, differences.run)
    looked = results.about({*wins, *losses}, runs)
    found = (
        tuple(
            ListedQuery(
                query,
                differences.by_query[query],
                better,
                tuple(_side(looked, run, query, measure) for run in runs),
            )
            for query in queries
        )
        for queries, better in ((wins, True), (losses, False))
    )
    return next(found), next(found)


def hardest(
    evaluation: Evaluation, results: QueryResults, measure: Measure, most: int = QUERIES_LISTED
) -> tuple[ListedQuery, ...]:
    """The queries of one run with the worst values."""
    run = evaluation.runs[0]
    values = run.values[measure]
    sign = 1 if measure.spec.higher_is_better else -1
    counting = np.flatnonzero(~np.isnan(values)).tolist()
    names = run.rankings.queries
    worst = sorted(counting, key=lambda at: (sign * values[at], names[at]))[:most]
    queries = [names[at] for at in worst]
    looked = results.about(set(queries), [run.name])
    return tuple(
        ListedQuery(query, None, False, (_side(looked, run.name, query, measure),))
        for query in queries
    )


def _side(results: QueryResults, run: str, query: str, measure: Measure) -> ListedRun:
    scored = results.evaluation.scored(run)
    value = float(scored.values[measure][scored.rankings.queries.index(query)])
    try:
        return ListedRun(run, value, results.explanation(run, query, measure))
    except JudgedError as refused:
        return ListedRun(run, value, None, str(refused))


@dataclass(frozen=True, eq=False)
class ShownQuery:
    """A query with its lists and the sums behind its numbers."""

    query: str
    text: str
    """What it says; empty where nobody knows."""
    picture: str
    """The address of its picture; empty where it has none."""
    difference: float | None
    better: bool
    view: SideBySide | None
    """The lists side by side; None where there is no single order to show."""
    sums: tuple[Calculation, ...]
    why: tuple[str, ...]
    """Why something is not there, as the library says it."""


def show_queries(
    listed: Iterable[ListedQuery],
    *,
    systems: Sequence[str],
    top: float,
    queries: Mapping[str, Text],
    texts: Mapping[str, Text],
    pictures: Mapping[str, str],
) -> list[ShownQuery]:
    """Queries as a page shows them; systems have their colours by their places."""
    found = []
    for each in listed:
        explained = [side for side in each.sides if side.explanation is not None]
        given = [
            RankedList(
                side.run,
                side.explanation.rankings,
                side.explanation.items,
                systems.index(side.run),
                side.value,
            )
            for side in explained
            if side.explanation is not None
        ]
        view = None
        if given:
            view = side_by_side(given, k=RESULTS_SHOWN, texts=texts, pictures=pictures, top=top)
        text = queries.get(each.query)
        found.append(
            ShownQuery(
                each.query,
                "" if text is None else text.heading,
                pictures.get(each.query, ""),
                each.difference,
                each.better,
                view,
                tuple(
                    calculation_of(side.explanation, top=top)
                    for side in explained
                    if side.explanation is not None
                ),
                tuple(dict.fromkeys(side.why for side in each.sides if side.why)),
            )
        )
    return found


def items_of(listed: Iterable[ListedQuery]) -> set[str]:
    """The ids of all items that these lists show."""
    return {
        item
        for each in listed
        for side in each.sides
        if side.explanation is not None
        for rank, item in side.explanation.items.items()
        if rank <= RESULTS_SHOWN
    }


@dataclass(frozen=True, eq=False)
class ReportContents:
    """Everything that a report shows, before it is laid out."""

    evaluation: Evaluation
    """With intervals; its first measure is the one that systems are ranked by."""
    results: QueryResults
    """The lists of single queries."""
    comparison: Comparison | None = None
    """All pairs, or all runs with the baseline if one is named; None for one run, or if the runs
    are not compared."""
    refused: str = ""
    """Why the runs are not compared, as the library says it."""
    files: tuple[InputFile, ...] = ()
    """What was read."""
    call: ReportCall | None = None
    """What was given, where a command line can hold it."""
    again: str | None = None
    """The command that makes the report again, where there is one."""
    texts: Mapping[str, Any] = field(default_factory=dict)
    """Of items, by id."""
    queries: Mapping[str, Any] = field(default_factory=dict)
    """Of queries, by id."""
    pictures: Mapping[str, Any] = field(default_factory=dict)
    """Where the picture of an item or a query lies, by id."""

    @property
    def measure(self) -> Measure:
        """The measure that systems are ranked by."""
        return self.evaluation.measures[0]

    @cached_property
    def looks(self) -> tuple[str, ...]:
        """The systems in their order, which gives each its colour in all charts."""
        return tuple(run.name for run in self.evaluation.runs)

    @property
    def by(self) -> str:
        """What it is called."""
        return self.evaluation.label(self.measure)

    @cached_property
    def pair(self) -> tuple[str, str] | None:
        """The two runs that are shown query by query: the best beside the baseline and the
        baseline, or the two best, the later one against the earlier one."""
        if self.comparison is None:
            return None
        order = [place.run for place in self.comparison.leaderboard(self.by)]
        baseline = self.comparison.baseline
        if baseline is not None:
            return next(run for run in order if run != baseline), baseline
        row = self.comparison.among(*order[:2]).rows[0]
        return row.run, row.against

    @cached_property
    def differences(self) -> PairDifferences | None:
        """That pair, query by query."""
        if self.comparison is None or self.pair is None:
            return None
        return PairDifferences.of(self.comparison, self.by, *self.pair)

    @cached_property
    def listed(self) -> tuple[tuple[ListedQuery, ...], tuple[ListedQuery, ...]]:
        """The biggest wins and losses of that pair; of one run alone, nothing and its hardest
        queries."""
        if self.differences is not None:
            return of_pair(self.differences, self.results, self.measure)
        if len(self.evaluation.runs) == 1:
            return (), hardest(self.evaluation, self.results, self.measure)
        return (), ()


def contents_of_evaluation(
    evaluation: Evaluation,
    *,
    measure: str | Measure | None = None,
    baseline: str | None = None,
    missing: str | None = None,
    refused: str | None = None,
    slices: SlicesLike | None = None,
    level: float | None = None,
    groups: GroupsLike | None = None,
    **more: Any,
) -> ReportContents:
    """What a report of an evaluation shows, ranked by `measure`.

    `missing` says that queries which runs lack count as in the evaluation; where that was looked
    into before, `refused` says why runs are not compared, or nothing. `more` is what `Contents` has
    besides."""
    names = [run.name for run in evaluation.runs]
    _check(names, baseline, slices)
    found = _uncompared(evaluation, measure, level, groups, **more)
    if len(names) == 1:
        return found
    if refused is None:
        refused = _why_not(evaluation, missing)
    if refused:
        return replace(found, refused=refused)
    settings: dict[str, Any] = {"level": found.evaluation.level, "groups": groups}
    comparison = compare_evaluation(found.evaluation, baseline=baseline, slices=slices, **settings)
    return replace(found, comparison=comparison)


def contents_of_comparison(
    comparison: Comparison, *, measure: str | Measure | None = None, **more: Any
) -> ReportContents:
    """What a report of a comparison shows: the same, compared as it is there."""
    evaluation = comparison.evaluation
    if evaluation is None or comparison.numbers.repeated:
        what = "values of another tool" if evaluation is None else "systems with repeats"
        raise InputError(
            f"a report shows rankings, and this comparison is of {what}; save it as .html instead."
        )
    level = comparison.settings.level
    found = _uncompared(evaluation, measure, level, _groups(comparison), **more)
    return replace(found, comparison=comparison)


def why_lacking(rankings: Sequence[Rankings]) -> str:
    """Why runs that lack queries are not compared where nobody said what these count; nothing where
    they can be."""
    try:
        check_missing(rankings)
    except PolicyError as refused:
        return str(refused)
    return ""


def _uncompared(
    evaluation: Evaluation,
    measure: str | Measure | None,
    level: float | None,
    groups: GroupsLike | None,
    results: QueryResults | None = None,
    **more: Any,
) -> ReportContents:
    """An evaluation with intervals, its first measure the one that was named."""
    if measure is not None:
        first = evaluation.measure(measure)
        others = (each for each in evaluation.measures if each != first)
        evaluation = replace(evaluation, measures=(first, *others))
    level = evaluation.level or LEVEL if level is None else checked_level("level", level)
    if evaluation.level != level or (groups is not None and evaluation.groups is None):
        evaluation = with_intervals(evaluation, level, groups)
    results = replace(results, evaluation=evaluation) if results else QueryResults(evaluation)
    return ReportContents(evaluation, results, **more)


def _groups(comparison: Comparison) -> dict[str, str] | None:
    """The group of each query, where queries are in groups."""
    numbers = comparison.numbers
    if numbers.groups is None:
        return None
    return {numbers.queries[at]: str(numbers.groups[at]) for at in numbers.counting.tolist()}


def _check(names: list[str], baseline: str | None, slices: SlicesLike | None) -> None:
    if baseline is not None and not (isinstance(baseline, str) and baseline in names):
        raise InputError(
            f"there is no run {quoted(baseline)} to compare with{did_you_mean(baseline, names)} "
            f"There is {', '.join(names)}."
        )
    if len(names) == 1 and (baseline is not None or slices is not None):
        what = "a baseline" if baseline is not None else "slices"
        raise InputError(f"a report of one run has no use for {what}; give two runs or more.")


def _why_not(evaluation: Evaluation, missing: str | None) -> str:
    """Why the runs of an evaluation are not compared; nothing where they can be."""
    rankings = [run.rankings for run in evaluation.runs]
    query_sets = {(OTHER_WAY in each.basis, frozenset(each.queries)) for each in rankings}
    if len(query_sets) > 1:
        return "The runs are about different queries, and are not compared."
    try:
        check_evaluated_missing(rankings, evaluation.policy, missing)
    except PolicyError as refused:
        return str(refused)
    return ""
