"""The contents of a report: the evaluation, its comparison, and queries that are shown whole."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from judged.comparison import compare_evaluation
from judged.comparison.dependence import check_evaluated_missing, check_missing
from judged.comparison.outcomes import match_pair
from judged.errors import InputError, JudgedError, PolicyError, did_you_mean, quoted
from judged.evaluation.intervals import with_intervals
from judged.explanation import explain
from judged.inputs.tables import Judgements, Lookup, Run
from judged.options import LEVEL
from judged.options import level as checked_level
from judged.rankings.rankings import OTHER_WAY

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.scores import Scored
    from judged.explanation import Explanation
    from judged.measures import Measure
    from judged.options import GroupsLike, SlicesLike
    from judged.rankings.rankings import Rankings


RESULTS_SHOWN = 10
QUERIES_LISTED = 5  # how many wins, losses and hardest queries are listed
AnyTable = TypeVar("AnyTable", bound=Judgements | Run | Lookup)


def rows_of(table: AnyTable, queries: Collection[str]) -> AnyTable:
    if isinstance(table, Lookup):
        return replace(table, lists={q: some for q, some in table.lists.items() if q in queries})
    rows = table.frame["query"].is_in(list(queries)).arg_true().to_numpy()
    return replace(
        table,
        frame=table.frame[rows],
        rows=rows if table.rows is None else table.rows[rows],
        queries=tuple(query for query in table.names() if query in queries),
    )


Side = tuple[str, float, "Explanation | str"]
"""A run, its value (NaN if the query does not count), and the explanation or the error."""
ListedQuery = tuple[str, float | None, bool, list[Side]]
"""A query that is shown whole: its id, the second system's value minus the first one's (None for
one system), whether the second system is better, and the sides."""


def explained_sides(listed: ListedQuery) -> list[tuple[str, float, Explanation]]:
    return [(run, value, told) for run, value, told in listed[3] if not isinstance(told, str)]


def biggest_differences(
    differences: Mapping[str, float], higher_is_better: bool
) -> list[list[str]]:
    sign = 1 if higher_is_better else -1
    gains = {query: sign * by for query, by in differences.items() if by and by == by}
    wins = sorted((q for q in gains if gains[q] > 0), key=lambda q: (-gains[q], q))
    losses = sorted((q for q in gains if gains[q] < 0), key=lambda q: (gains[q], q))
    return [wins[:QUERIES_LISTED], losses[:QUERIES_LISTED]]


def hardest_queries(run: Scored, measure: Measure) -> list[str]:
    values, names = run.values[measure], run.rankings.queries
    sign = 1 if measure.spec.higher_is_better else -1
    counting = np.flatnonzero(~np.isnan(values)).tolist()
    worst = sorted(counting, key=lambda at: (sign * values[at], names[at]))
    return [names[at] for at in worst[:QUERIES_LISTED]]


def items_of(listed: Iterable[ListedQuery]) -> set[str]:
    return {
        item
        for query in listed
        for _, _, told in explained_sides(query)
        for rank, item in told.items.items()
        if rank <= RESULTS_SHOWN
    }


@dataclass(frozen=True, eq=False)
class ReportContents:
    """Everything that a report shows, before layout."""

    evaluation: Evaluation  # with confidence intervals; systems are ranked by its first measure
    judgements: Judgements | Lookup | None = None  # None for rankings, which have no ids
    tables: Mapping[str, Run | Lookup] = field(default_factory=dict)  # the runs by name
    first: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    """The first items of each query by run, of a search among vectors."""
    collection: int | None = None  # the number of items, if the evaluation was given it
    comparison: Comparison | None = None
    """All pairs, or all runs with the baseline; None if nothing is compared."""
    refused: str = ""  # why the runs are not compared
    files: tuple[Mapping[str, Any], ...] = ()
    explains: tuple[str, str] | None = None  # the command that explains a number, but its query
    again: str | None = None  # the command that makes the report again
    texts: Mapping[str, Any] = field(default_factory=dict)
    queries: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def measure(self) -> Measure:
        return self.evaluation.measures[0]

    @cached_property
    def systems(self) -> tuple[str, ...]:
        return tuple(run.name for run in self.evaluation.runs)

    @property
    def by(self) -> str:
        return self.evaluation.label(self.measure)

    @cached_property
    def query_ids(self) -> list[str]:
        return sorted({query for run in self.evaluation.runs for query in run.rankings.queries})

    @cached_property
    def top(self) -> float:
        """The best grade."""
        runs = self.evaluation.runs
        return max(float(run.rankings.grades.max(initial=1.0)) for run in runs)

    @cached_property
    def pair(self) -> tuple[str, str] | None:
        if self.comparison is None:
            return None
        order = [place.run for place in self.comparison.leaderboard(self.by)]
        baseline = self.comparison.baseline
        if baseline is not None:
            return next(run for run in order if run != baseline), baseline
        row = self.comparison.among(*order[:2]).rows[0]
        return row.run, row.against

    @cached_property
    def differences(self) -> dict[str, float] | None:
        """The differences of that pair, for queries that count in both."""
        if self.comparison is None or self.pair is None:
            return None
        numbers = self.comparison.numbers
        match = match_pair(numbers, self.comparison.measure(self.by), *self.pair)
        queries = [numbers.queries[at] for at in match.ours.place.tolist()]
        return dict(zip(queries, match.differences.tolist(), strict=True))

    @cached_property
    def listed(self) -> tuple[list[ListedQuery], list[ListedQuery]]:
        """The biggest wins and losses of that pair; for one run, its hardest queries."""
        runs = self.evaluation.runs
        names: tuple[str, ...]
        if self.differences is not None and self.pair is not None:
            names = self.pair[::-1]
            higher = self.measure.spec.higher_is_better
            wins, losses = biggest_differences(self.differences, higher)
        elif len(runs) == 1:
            names, wins, losses = (runs[0].name,), [], hardest_queries(runs[0], self.measure)
        else:
            return [], []
        narrowed = self
        if self.judgements is not None:
            wanted = {*wins, *losses}
            tables = {name: rows_of(self.tables[name], wanted) for name in names}
            judgements = rows_of(self.judgements, wanted)
            narrowed = replace(self, judgements=judgements, tables=tables)
        return (
            [narrowed._list(query, names, better=True) for query in wins],
            [narrowed._list(query, names, better=False) for query in losses],
        )

    def _list(self, query: str, runs: Sequence[str], *, better: bool) -> ListedQuery:
        sides: list[Side] = []
        for run in runs:
            scored = self.evaluation.scored(run)
            value = float(scored.values[self.measure][scored.rankings.queries.index(query)])
            sides.append((run, value, self._explain(run, query)))
        difference = None if self.differences is None else self.differences[query]
        return query, difference, better, sides

    def _explain(self, run: str, query: str) -> Explanation | str:
        """Return the explanation of a value with the items of the list, or the error message."""
        options: Any = {"query": query, "policy": self.evaluation.policy, "rows": RESULTS_SHOWN}
        try:
            if self.judgements is not None:
                tables = self.judgements, self.tables[run]
                return explain(*tables, self.measure, collection=self.collection, **options)
            rankings = self.evaluation.scored(run).rankings
            alone = rankings.take([rankings.queries.index(query)])
            explanation = explain(alone, measure=self.measure, **options)
        except JudgedError as refused:
            return str(refused)
        items = self.first.get(run, {}).get(query, {})
        return replace(explanation, items=dict(enumerate(items, 1))) if items else explanation


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
    """Return the contents of a report; `missing` allows comparing runs that lack queries."""
    names = [run.name for run in evaluation.runs]
    if baseline is not None and not (isinstance(baseline, str) and baseline in names):
        raise InputError(
            f"unknown run {quoted(baseline)} to compare with{did_you_mean(baseline, names)} "
            f"The runs are {', '.join(names)}."
        )
    if len(names) == 1 and (baseline is not None or slices is not None):
        what = "a baseline" if baseline is not None else "slices"
        raise InputError(f"a report of one run has no use for {what}; give two runs or more.")
    contents = _uncompared(evaluation, measure, level, groups, **more)
    if len(names) == 1:
        return contents
    if refused is None:
        refused = _why_not(evaluation, missing)
    if refused:
        return replace(contents, refused=refused)
    settings: dict[str, Any] = {"level": contents.evaluation.level, "groups": groups}
    # From the last to the first, so that each system is compared with those below it.
    known = contents.measure
    way = 1 if known.spec.higher_is_better else -1
    runs = sorted(
        contents.evaluation.runs,
        key=lambda run: np.nan_to_num(way * run.summary[known], nan=-np.inf),
    )
    ordered = replace(contents.evaluation, runs=tuple(runs))
    comparison = compare_evaluation(ordered, baseline=baseline, slices=slices, **settings)
    places = {name: -at for at, name in enumerate(comparison.runs)}
    rows = sorted(comparison.rows, key=lambda row: (places[row.run], places[row.against]))
    rows.sort(key=lambda row: comparison.measures.index(row.measure))
    return replace(contents, comparison=replace(comparison, rows=tuple(rows)))


def contents_of_comparison(
    comparison: Comparison, *, measure: str | Measure | None = None, **more: Any
) -> ReportContents:
    evaluation = comparison.evaluation
    if evaluation is None or comparison.numbers.repeated:
        what = "values of another tool" if evaluation is None else "systems with repeats"
        raise InputError(
            f"a report shows rankings, and this comparison is of {what}; save it as .html instead."
        )
    numbers, groups = comparison.numbers, None
    if numbers.groups is not None:
        groups = {numbers.queries[at]: str(numbers.groups[at]) for at in numbers.counting.tolist()}
    contents = _uncompared(evaluation, measure, comparison.settings.level, groups, **more)
    return replace(contents, comparison=comparison)


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
    **more: Any,
) -> ReportContents:
    """Return the contents with confidence intervals, ranked by a measure."""
    if measure is not None:
        first = evaluation.measure(measure)
        others = (other for other in evaluation.measures if other != first)
        evaluation = replace(evaluation, measures=(first, *others))
    level = evaluation.level or LEVEL if level is None else checked_level("level", level)
    if evaluation.level != level or (groups is not None and evaluation.groups is None):
        evaluation = with_intervals(evaluation, level, groups)
    return ReportContents(evaluation, **more)


def _why_not(evaluation: Evaluation, missing: str | None) -> str:
    """Return why the runs of an evaluation are not compared; empty if they can be."""
    rankings = [run.rankings for run in evaluation.runs]
    query_sets = {(OTHER_WAY in ranked.basis, frozenset(ranked.queries)) for ranked in rankings}
    if len(query_sets) > 1:
        return "The runs are about different queries, and are not compared."
    try:
        check_evaluated_missing(rankings, evaluation.policy, missing)
    except PolicyError as refused:
        return str(refused)
    return ""
