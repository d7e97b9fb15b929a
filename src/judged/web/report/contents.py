"""The contents of a report: the evaluation, its comparison, and queries that are shown whole."""

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
AnyTable = TypeVar("AnyTable", bound=Judgements | Run | Lookup)


@dataclass(frozen=True, eq=False)
class QueryResults:
    """The results of single queries, with ids as far as they are known."""

    evaluation: Evaluation
    judgements: Judgements | Lookup | None = None
    """None for rankings, which have no ids."""
    tables: Mapping[str, Run | Lookup] = field(default_factory=dict)
    """The runs by name."""
    first: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    """The first items of each query by run, of a search among vectors."""
    judging: Mapping[str, Any] = field(default_factory=dict)
    """`depth`, `duplicates` and `collection` of the evaluation."""

    def about(self, queries: Collection[str], runs: Collection[str]) -> QueryResults:
        """Return the same for some queries of some runs."""
        if self.judgements is None:
            return self
        return replace(
            self,
            judgements=rows_of(self.judgements, queries),
            tables={name: rows_of(self.tables[name], queries) for name in runs},
        )

    def explanation(self, run: str, query: str, measure: Measure) -> Explanation:
        """Return the explanation of a value, with the items of the list."""
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
    """Return the rows of some queries.

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
"""How many wins, losses and hardest queries are listed."""


@dataclass(frozen=True, eq=False)
class ListedRun:
    """A query's list in one system."""

    run: str
    value: float
    """NaN if the query does not count."""
    explanation: Explanation | None
    why: str = ""
    """The error message if there is no explanation."""


@dataclass(frozen=True, eq=False)
class ListedQuery:
    """A query that is shown whole."""

    query: str
    difference: float | None
    """The second system's value minus the first one's; None for one system."""
    better: bool
    """Whether the second system is better."""
    sides: tuple[ListedRun, ...] = field(default=())


@dataclass(frozen=True, eq=False)
class PairDifferences:
    """The differences of two systems by query."""

    run: str
    against: str
    by_query: dict[str, float]
    """The run's value minus the other's, for queries that count in both."""
    higher_is_better: bool

    @classmethod
    def of(cls, comparison: Comparison, measure: str, run: str, against: str) -> PairDifferences:
        """Return the differences of a comparison."""
        numbers, known = comparison.numbers, comparison.measure(measure)
        match = matched(numbers, known, run, against)
        queries = [numbers.queries[at] for at in match.ours.place.tolist()]
        by_query = dict(zip(queries, match.differences.tolist(), strict=True))
        return cls(run, against, by_query, known.higher_is_better)

    def biggest(self, most: int = QUERIES_LISTED) -> tuple[list[str], list[str]]:
        """Return the queries with the biggest wins and losses, the biggest first."""
        sign = 1 if self.higher_is_better else -1
        gains = {query: sign * by for query, by in self.by_query.items() if by and by == by}
        wins = sorted((q for q in gains if gains[q] > 0), key=lambda q: (-gains[q], q))
        losses = sorted((q for q in gains if gains[q] < 0), key=lambda q: (gains[q], q))
        return wins[:most], losses[:most]


def of_pair(
    differences: PairDifferences, results: QueryResults, measure: Measure
) -> tuple[tuple[ListedQuery, ...], tuple[ListedQuery, ...]]:
    """Return the biggest wins and losses, with both lists."""
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
    """Return the queries of one run with the worst values."""
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
    """A query with its lists and calculations."""

    query: str
    text: str
    picture: str
    difference: float | None
    better: bool
    view: SideBySide | None
    """The lists side by side; None without a single order."""
    sums: tuple[Calculation, ...]
    why: tuple[str, ...]
    """Error messages."""


def show_queries(
    listed: Iterable[ListedQuery],
    *,
    systems: Sequence[str],
    top: float,
    queries: Mapping[str, Text],
    texts: Mapping[str, Text],
    pictures: Mapping[str, str],
) -> list[ShownQuery]:
    """Return queries as a page shows them."""
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
    """Return the ids of all items in these lists."""
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
    """Everything that a report shows, before layout."""

    evaluation: Evaluation
    """With confidence intervals; systems are ranked by its first measure."""
    results: QueryResults
    comparison: Comparison | None = None
    """All pairs, or all runs with the baseline; None if nothing is compared."""
    refused: str = ""
    """Why the runs are not compared."""
    files: tuple[InputFile, ...] = ()
    call: ReportCall | None = None
    """The call, if a command line can hold it."""
    again: str | None = None
    """The command that makes the report again."""
    texts: Mapping[str, Any] = field(default_factory=dict)
    queries: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def measure(self) -> Measure:
        """The measure that systems are ranked by."""
        return self.evaluation.measures[0]

    @cached_property
    def looks(self) -> tuple[str, ...]:
        """The systems in order, which gives their colours."""
        return tuple(run.name for run in self.evaluation.runs)

    @property
    def by(self) -> str:
        """The label of that measure."""
        return self.evaluation.label(self.measure)

    @cached_property
    def pair(self) -> tuple[str, str] | None:
        """The best run and the baseline, or the two best runs."""
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
        """The differences of that pair by query."""
        if self.comparison is None or self.pair is None:
            return None
        return PairDifferences.of(self.comparison, self.by, *self.pair)

    @cached_property
    def listed(self) -> tuple[tuple[ListedQuery, ...], tuple[ListedQuery, ...]]:
        """The biggest wins and losses of that pair; for one run, its hardest queries."""
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
    """Return the contents of a report of an evaluation. `missing` allows comparing runs that
    lack queries; `refused` is the reason not to compare, if already known."""
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
    """Return the contents of a report of a comparison."""
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
    """Return why runs with missing queries are not compared; empty if they can be."""
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
    """Return the contents with confidence intervals, ranked by a measure."""
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
    """Return why the runs of an evaluation are not compared; empty if they can be."""
    rankings = [run.rankings for run in evaluation.runs]
    query_sets = {(OTHER_WAY in each.basis, frozenset(each.queries)) for each in rankings}
    if len(query_sets) > 1:
        return "The runs are about different queries, and are not compared."
    try:
        check_evaluated_missing(rankings, evaluation.policy, missing)
    except PolicyError as refused:
        return str(refused)
    return ""
