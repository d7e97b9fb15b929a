"""What a report is about: an evaluation, what its runs are like beside each other, and where all of
it comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judged.comparison import compare_evaluation
from judged.comparison.dependence import check_evaluated_missing, check_missing
from judged.errors import InputError, PolicyError, did_you_mean, quoted
from judged.evaluation.intervals import with_intervals
from judged.options import LEVEL
from judged.options import level as checked_level
from judged.rankings.columns import OTHER_WAY
from judged.web.report.queries import Differences, Listed, hardest, of_pair
from judged.web.report.results import Results

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure
    from judged.options import GroupsLike, SlicesLike
    from judged.rankings.rankings import Rankings
    from judged.web.report.commands import Call
    from judged.web.report.provenance import File


@dataclass(frozen=True, eq=False)
class Contents:
    """Everything that a report shows, before it is laid out."""

    evaluation: Evaluation
    """With intervals; its first measure is the one that systems are ranked by."""
    results: Results
    """The lists of single queries."""
    comparison: Comparison | None = None
    """All pairs, or all runs with the baseline if one is named; None for one run, or if the runs
    are not compared."""
    refused: str = ""
    """Why the runs are not compared, as the library says it."""
    files: tuple[File, ...] = ()
    """What was read."""
    call: Call | None = None
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
    def differences(self) -> Differences | None:
        """That pair, query by query."""
        if self.comparison is None or self.pair is None:
            return None
        return Differences.of(self.comparison, self.by, *self.pair)

    @cached_property
    def listed(self) -> tuple[tuple[Listed, ...], tuple[Listed, ...]]:
        """The biggest wins and losses of that pair; of one run alone, nothing and its hardest
        queries."""
        if self.differences is not None:
            return of_pair(self.differences, self.results, self.measure)
        if len(self.evaluation.runs) == 1:
            return (), hardest(self.evaluation, self.results, self.measure)
        return (), ()


def contents(
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
) -> Contents:
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


def of_comparison(
    comparison: Comparison, *, measure: str | Measure | None = None, **more: Any
) -> Contents:
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
    results: Results | None = None,
    **more: Any,
) -> Contents:
    """An evaluation with intervals, its first measure the one that was named."""
    if measure is not None:
        first = evaluation.measure(measure)
        others = (each for each in evaluation.measures if each != first)
        evaluation = replace(evaluation, measures=(first, *others))
    level = evaluation.level or LEVEL if level is None else checked_level("level", level)
    if evaluation.level != level or (groups is not None and evaluation.groups is None):
        evaluation = with_intervals(evaluation, level, groups)
    results = replace(results, evaluation=evaluation) if results else Results(evaluation)
    return Contents(evaluation, results, **more)


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
    rankings = [run.about for run in evaluation.runs]
    asked = {(OTHER_WAY in each.basis, frozenset(each.queries)) for each in rankings}
    if len(asked) > 1:
        return "The runs are about different queries, and are not compared."
    try:
        check_evaluated_missing(rankings, evaluation.policy, missing)
    except PolicyError as refused:
        return str(refused)
    return ""
