"""`Evaluation`: the values of runs, what they mean, and everything that can be asked of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from judged.errors import InputError, MeasureError, PolicyError, quoted
from judged.evaluation.intervals import (
    ENDS,
    Groups,
    group_of_each,
    interval_of,
    with_intervals,
)
from judged.evaluation.ranges import TieRange, UnjudgedRange, with_judged_shares
from judged.evaluation.scores import (
    TIE_ORDERS,
    TRUSTED,
    UNJUDGED_ENDS,
    Scored,
    score_run,
    score_ties,
    score_unjudged,
)
from judged.evaluation.settings import Conventional, EvaluationSettings
from judged.evaluation.unanswerable import (
    Unanswerable,
    apart_policy,
    inspect_unanswerable,
    unanswerable_queries,
    without,
)
from judged.measures import Measure, parse_measure
from judged.options import (
    LEVEL,
    OPTIONS,
    RESAMPLES,
    GroupsLike,
    MeasuresLike,
    PolicyLike,
    SlicesLike,
    WeightsLike,
    checked_methods,
    choice,
    later,
)
from judged.policy import Policy
from judged.rankings.audit import Audit
from judged.rankings.rankings import ANY_GRADE, Rankings
from judged.results import EVALUATION_SAVED_AS, Display, Document, Frame, PandasFrame, Result
from judged.text import Dim, few, listed

if TYPE_CHECKING:
    import polars as pl

    from judged.charts.chart import Chart
    from judged.comparison.comparison import Comparison
    from judged.comparison.gate.result import Gate
    from judged.conventions.disagreement import Disagreement
    from judged.conventions.identification import Identification
    from judged.evaluation.advice import Advice
    from judged.evaluation.export import Latency
    from judged.evaluation.trusted import Correction, Trusted
    from judged.explanation.explanation import Explanation
    from judged.inputs.data import Data
    from judged.statistics.intervals import Interval
    from judged.web.report.report import Report
else:  # loaded by `typing.get_type_hints` only
    Advice = later("judged:Advice")
    Chart = later("judged.charts.chart:Chart")
    Comparison = later("judged:Comparison")
    Correction = later("judged.evaluation.trusted:Correction")
    Disagreement = later("judged:Disagreement")
    Explanation = later("judged:Explanation")
    Gate = later("judged:Gate")
    Identification = later("judged:Identification")
    Interval = later("judged.statistics.intervals:Interval")
    Report = later("judged:Report")


def evaluate_rankings(
    rankings: Sequence[Rankings],
    measures: MeasuresLike | EvaluationSettings | None,
    *,
    policy: PolicyLike | None = None,
    weights: WeightsLike | None = None,
    sources: Data | None = None,
    skipped: Mapping[str, str] | None = None,
) -> Evaluation:
    """Score rankings by measures, or under settings; `sources` are what they were made from."""
    if isinstance(measures, EvaluationSettings):
        settings = measures
    else:
        settings = EvaluationSettings.of_rankings(rankings, measures, policy)
    chosen = None
    if weights is not None:
        from judged.inputs.keyed import read_weights  # loads what reads files

        chosen = read_weights(weights)
    return Evaluation(
        tuple(score_run(r, settings, chosen) for r in rankings),
        settings.measures,
        settings.policy,
        settings.convention,
        skipped=skipped or {},
        sources=sources,
    )


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """The values of one or more runs by one or more measures.

    It keeps the rankings of every run, so that confidence intervals, ranges, comparisons,
    explanations and charts are computed on demand.

    >>> from judged import evaluate
    >>> evaluation = evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, ["RR", "nDCG@10"])
    >>> evaluation.value("RR")
    0.5
    """

    SAVED_AS: ClassVar[dict[str, str]] = EVALUATION_SAVED_AS
    DISPLAY: ClassVar[frozenset[str]] = frozenset({"per_query", "sort", "decimals", "percent"})

    runs: tuple[Scored, ...]
    """The values of each run."""
    measures: tuple[Measure, ...]
    """What was computed."""
    policy: Policy
    """What was assumed."""
    convention: Conventional | None = None
    """The library whose numbers these are, where one was named."""
    latency: Latency | None = None
    """How long each query took, where a retriever was asked."""
    level: float | None = None
    """The level of the intervals beside the numbers; None where none were asked for."""
    groups: Groups | None = None
    """The number of each query's group, where queries that belong together were named."""
    trusted: Trusted | None = None
    """The judgements that the numbers were corrected by, where some were."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Runs that were skipped because they cannot be evaluated, and why."""
    sources: Data | None = None
    """The judgements and runs as they were given, to look up items; None if only rankings are
    known."""

    @property
    def rankings(self) -> dict[str, Rankings]:
        """The rankings of each run by its name."""
        return {run.name: run.rankings for run in self.runs}

    @property
    def settings(self) -> EvaluationSettings:
        """The measures, policy and convention."""
        labels = self.runs[0].labels if self.runs else {}
        return EvaluationSettings(self.measures, self.policy, self.convention, labels)

    def __getitem__(self, key: str | Measure | tuple[str | Measure, str]) -> Any:
        """Return {run: value} of a measure, or one value of (measure, run).

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"bm25": {"q": ["b", "a"]}}, "RR")
        >>> evaluation["RR"], evaluation["RR", "bm25"]
        ({'bm25': 0.5}, 0.5)
        """
        if isinstance(key, tuple):
            return self.value(*key)
        measure = self.measure(key)
        return {run.name: run.summary[measure] for run in self.runs}

    def showing(
        self,
        *,
        intervals: bool = False,
        level: float = LEVEL,
        groups: GroupsLike | None = None,
        tie_range: bool = False,
        unjudged_range: bool = False,
        unanswerable: bool = False,
        threshold: float | None = None,
    ) -> Evaluation:
        """Return the evaluation with more beside each value in its tables, JSON and files.

        Parameters
        ----------
        intervals : bool, optional
            Show the confidence interval of each value.
        level : float, optional
            The confidence level.
        groups : GroupsLike, optional
            Queries that belong together, such as those of a session: {query: group}, a table or a
            file.
        tie_range : bool, optional
            Show the value in the worst order of tied results, on average over all orders, and in
            the best.
        unjudged_range : bool, optional
            Show the value if all unjudged results were irrelevant, or of the top grade.
        unanswerable : bool, optional
            Leave the queries without relevant items out of all means, and show how many of them
            the run answers.
        threshold : float, optional
            The score from which on a result counts as an answer to them.

        >>> from judged import evaluate
        >>> tied = {"q": {"a": 0.5, "b": 0.5}}
        >>> shown = evaluate({"q": {"a": 1}}, tied, "RR").showing(tie_range=True)
        >>> print(shown.to_text(quiet=True))
        run  measure   value   worst  expected    best
        run  RR       0.5000  0.5000    0.7500  1.0000
        """
        shown = self
        if not intervals and (groups is not None or level != LEVEL) and self.trusted is None:
            raise InputError(
                "level and groups are about confidence intervals; they need intervals=True "
                "(--interval)."
            )
        if not unanswerable and threshold is not None:
            raise InputError(
                "threshold is about queries without relevant items; it needs unanswerable=True "
                "(--unanswerable)."
            )
        if self.trusted is not None:
            from judged.evaluation.trusted import at_level, refuse_beside

            refuse_beside(
                self.trusted,
                interval=intervals,
                groups=groups is not None,
                tie_range=tie_range,
                unjudged_range=unjudged_range,
                unanswerable=unanswerable,
            )
            return self if level == self.level else at_level(self, level)
        if unanswerable:
            shown = _without_unanswerable(shown, threshold)
        if not (intervals or tie_range or unjudged_range):
            return shown
        others: list[dict[str, Scored]] = [{} for _ in shown.runs]
        for run, names in zip(shown.runs, others, strict=True):
            if tie_range:
                names.update(score_ties(run, shown.settings))
            if unjudged_range:
                names.update(score_unjudged(run, shown.settings))
        runs = [replace(run, others=names) for run, names in zip(shown.runs, others, strict=True)]
        if unjudged_range:
            runs = [
                replace(
                    run,
                    rankings=replace(
                        run.rankings, findings=with_judged_shares(run.rankings, shown.measures)
                    ),
                )
                for run in runs
            ]
        shown = replace(shown, runs=tuple(runs))
        if intervals:
            return with_intervals(shown, level, groups)
        return shown

    def value(self, measure: str | Measure | None = None, run: str | None = None) -> float:
        """Return one summary value, corrected by trusted judgements if there are some.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only where there are several.
        run : str, optional
            The name of a run; needed only where there are several.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.value("RR")
        0.5
        """
        return self.scored(run).summary[self.measure(measure)]

    def measure(self, measure: str | Measure | None = None) -> Measure:
        """Return one of this evaluation's measures.

        Parameters
        ----------
        measure : str or Measure, optional
            The measure, as it was asked for or by any of its names, those of the convention too;
            needed only where there are several.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.measure("MRR")
        RR
        """
        if measure is None:
            if len(self.measures) > 1:
                raise MeasureError(f"say which measure: {', '.join(self.labels)}.")
            return self.measures[0]
        if isinstance(measure, str) and (asked := " ".join(measure.split())) in self.labels:
            return self.labels[asked]
        wanted = self.convention.read(measure) if self.convention else parse_measure(measure)
        if wanted not in self.measures:
            raise MeasureError(f"{wanted} was not evaluated; there is {', '.join(self.labels)}.")
        return wanted

    def scored(self, run: str | None = None) -> Scored:
        """Return the values of one run.

        Parameters
        ----------
        run : str, optional
            The name of the run; needed only where there are several.

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> [values.tolist() for values in found.scored().values.values()]
        [[0.5]]
        """
        names = [each.name for each in self.runs]
        if run is None:
            if len(names) > 1:
                raise InputError(f"say which run: {', '.join(names)}.")
            return self.runs[0]
        if not isinstance(run, str) or run not in names:
            raise InputError(f"there is no run {quoted(run)}; there is {', '.join(names)}.")
        return self.runs[names.index(run)]

    def label(self, measure: str | Measure) -> str:
        """Return the name of a measure in tables and files, as the caller wrote it.

        Parameters
        ----------
        measure : str or Measure
            One of this evaluation's.

        >>> from judged import AP, evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "MAP").label(AP)
        'MAP'
        """
        known = measure if isinstance(measure, Measure) else self.measure(measure)
        return self.runs[0].label(known)

    @cached_property
    def labels(self) -> dict[str, Measure]:
        """What the measures are called in tables and files, and which measure each is.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "MAP, RR").labels
        {'MAP': AP, 'RR': RR}
        """
        return {self.label(measure): measure for measure in self.measures}

    def compare(
        self,
        *,
        baseline: str | None = None,
        test: str = "auto",
        correction: str = "holm",
        level: float = LEVEL,
        margin: Mapping[str, float] | float | None = None,
        groups: GroupsLike | None = None,
        slices: SlicesLike | None = None,
        repeats: Mapping[str, Sequence[str]] | None = None,
        missing: str | None = None,
        seed: int = 0,
    ) -> Comparison:
        """Compare the runs of this evaluation.

        Parameters
        ----------
        baseline, test, correction, level, margin, groups, slices, seed
            As for `judged.compare`.
        repeats : dict, optional
            The runs of each system that has several, as {"dense": ["seed 1", "seed 2"]}.
        missing : str, optional
            The policy of this evaluation for missing queries, such as "zero". It is needed if a run
            lacks more than a tenth of the queries of another run.

        >>> from judged import evaluate
        >>> runs = {"one": {"q": ["b", "a"]}, "other": {"q": ["a"]}}
        >>> evaluate({"q": {"a": 1}}, runs, "RR").compare().pair().verdict
        'too few'
        """
        from judged.comparison import compare_evaluation
        from judged.comparison.dependence import check_evaluated_missing

        check_evaluated_missing([run.rankings for run in self.runs], self.policy, missing)
        return compare_evaluation(
            self,
            baseline=baseline,
            test=test,
            correction=correction,
            level=level,
            margin=margin,
            groups=groups,
            slices=slices,
            repeats=repeats,
            seed=seed,
        )

    def beside(self, *others: Evaluation, names: Sequence[str] | None = None) -> Evaluation:
        """Join this evaluation and others of the same queries, to compare their runs.

        Parameters
        ----------
        *others : Evaluation
            Evaluations of the same queries by the same measures under the same policy.
        names : sequence of str, optional
            What all runs are called, in order; needed where two have one name.

        >>> from judged import evaluate
        >>> lists = (["a", "b"], ["b", "a"])
        >>> one, other = (evaluate({"q": {"a": 1}}, {"q": run}, "RR") for run in lists)
        >>> one.beside(other, names=["one", "other"]).to_dict()["runs"][1]["name"]
        'other'
        """
        return _join([self, *others], names)

    def interval(
        self,
        measure: str | Measure | None = None,
        run: str | None = None,
        *,
        level: float | None = None,
        method: str | None = None,
        groups: GroupsLike | None = None,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> Interval:
        """Return a value with its confidence interval.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only if there are several.
        run : str, optional
            The name of a run; needed only if there are several.
        level : float, optional
            The confidence level; by default that of the evaluation, which is 0.95.
        method : {"t", "bca", "percentile"}, optional
            By default the method that suits the summary: Student's t for means and sums, Wilson's
            for shares of queries, order statistics for medians, otherwise a bootstrap.
        groups : GroupsLike, optional
            Queries that belong together: {query: group}, a table or a file.
        resamples : int, optional
            The number of resamples of a bootstrap.
        seed : int, optional
            The seed of a bootstrap.

        Returns
        -------
        Interval
            Its bounds are NaN if there is none; its note then gives the reason.

        >>> from judged import Rankings
        >>> evaluation = Rankings.from_relevance([[1], [0, 1]] * 6).evaluate("RR")
        >>> interval = evaluation.interval()
        >>> round(interval.low, 4), round(interval.high, 4), interval.method
        (0.5841, 0.9159, 't')
        """
        scored = self.scored(run)
        known = None if groups is None else group_of_each(groups, [scored])
        return self._interval(scored, self.measure(measure), level, method, known, resamples, seed)

    def intervals(
        self,
        *,
        level: float | None = None,
        method: str | None = None,
        groups: GroupsLike | None = None,
        resamples: int = RESAMPLES,
        seed: int = 0,
    ) -> Frame:
        """Return the confidence interval of every value, one row per run and measure.

        Parameters
        ----------
        level, method, groups, resamples, seed
            As for `interval`.

        Returns
        -------
        polars.DataFrame
            With the columns run, measure, estimate, low, high, method and note.

        >>> from judged import Rankings
        >>> evaluation = Rankings.from_relevance([[1], [0, 1]]).evaluate("P@1, Rank")
        >>> evaluation.intervals()["method"].to_list()
        ['wilson', 't']
        """
        import polars as pl

        known = None if groups is None else group_of_each(groups, self.runs)
        rows = []
        for run in self.runs:
            for measure in self.measures:
                interval = self._interval(run, measure, level, method, known, resamples, seed)
                row = run.name, self.label(measure), interval.estimate, interval.low, interval.high
                rows.append((*row, interval.method, interval.note or None))
        numbers = dict.fromkeys(("estimate", "low", "high"), pl.Float64)
        words = dict.fromkeys(("method", "note"), pl.String)
        schema = {"run": pl.String, "measure": pl.String, **numbers, **words}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        return frame.with_columns(pl.col(*numbers).fill_nan(None))

    def _interval(
        self,
        run: Scored,
        measure: Measure,
        level: float | None,
        method: str | None,
        groups: Groups | None,
        resamples: int,
        seed: int,
    ) -> Interval:
        """Return the interval that was computed already, or compute another."""
        if method is not None:
            from judged.statistics.intervals import METHODS

            choice("method", method, METHODS)
        usual = (level, method, resamples, seed) == (None, None, RESAMPLES, 0)
        if run.corrections and not (usual and groups is None):
            if (method, groups, resamples, seed) != (None, None, RESAMPLES, 0):
                raise InputError(
                    "the interval of a corrected number has no other method and no groups; leave "
                    "them out, or trusted."
                )
            from judged.evaluation.trusted import corrections

            return corrections(run, run.others[TRUSTED], level or LEVEL)[measure].corrected
        if usual and groups is None and measure in run.intervals:
            return run.intervals[measure]
        try:
            return interval_of(
                run,
                measure,
                level=level or self.level or LEVEL,
                method=method,
                groups=self.groups if groups is None else groups,
                resamples=resamples,
                seed=seed,
            )
        except InputError as error:
            raise InputError(f"{self.label(measure)}: {error}") from None

    def tie_range(self, measure: str | Measure | None = None, run: str | None = None) -> TieRange:
        """Return a value in the worst order of tied results, on average, and in the best.

        Each measure has its own worst and best order in each query. If a query has too many orders
        to try them all, a warning of `showing(tie_range=True)` names the measure.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only if there are several.
        run : str, optional
            The name of a run; needed only if there are several.

        >>> from judged import evaluate
        >>> tied = {"q": {"a": 0.5, "b": 0.5}}
        >>> evaluate({"q": {"a": 1}}, tied, "RR").tie_range()
        TieRange(worst=0.5, expected=0.75, best=1.0)
        """
        return TieRange(*self._under_others(TIE_ORDERS, score_ties, measure, run))

    def unjudged_range(
        self, measure: str | Measure | None = None, run: str | None = None
    ) -> UnjudgedRange:
        """Return a value if all unjudged results were irrelevant, and if all had the top grade.

        These are bounds for measures to which each result adds its own part, such as P@10, and two
        scenarios for the others; a warning of `showing(unjudged_range=True)` names these.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only if there are several.
        run : str, optional
            The name of a run; needed only if there are several.

        >>> from judged import evaluate
        >>> run = {"q": ["b", "a"]}
        >>> evaluate({"q": {"a": 1}}, run, "RR").unjudged_range()
        UnjudgedRange(irrelevant=0.5, relevant=1.0)
        """
        return UnjudgedRange(*self._under_others(UNJUDGED_ENDS, score_unjudged, measure, run))

    def _under_others(
        self,
        names: Iterable[str],
        score: Callable[[Scored, EvaluationSettings], dict[str, Scored]],
        measure: str | Measure | None,
        run: str | None,
    ) -> list[float]:
        scored = self.scored(run)
        others = scored.others
        if not set(names) <= set(others):
            key = scored.name, score.__name__
            if key not in self._ranges:
                self._ranges[key] = score(scored, self.settings)
            others = self._ranges[key]
        return [others[name].summary[self.measure(measure)] for name in names]

    @cached_property
    def _ranges(self) -> dict[tuple[str, str], dict[str, Scored]]:
        return {}

    def unanswerable(
        self, threshold: float | None = None, *, run: str | None = None
    ) -> Unanswerable:
        """Return what a run does with the queries that have no relevant items.

        Parameters
        ----------
        threshold : float, optional
            The score from which on a result counts as an answer; by default every result does.
        run : str, optional
            The name of a run; needed only if there are several.

        >>> from judged import evaluate
        >>> judgements = {"q1": {"a": 1}, "q2": {}}
        >>> evaluate(judgements, {"q1": ["a"], "q2": ["b"]}, "RR").unanswerable().answered
        1.0
        """
        scored = self.scored(run)
        if threshold is not None:
            threshold = OPTIONS["threshold"]("threshold", threshold)
        if scored.unanswerable is not None:
            if threshold not in (None, scored.unanswerable.threshold):
                raise InputError(
                    "queries without relevant items are left out of this evaluation already; give "
                    "the threshold to showing()."
                )
            return scored.unanswerable
        r = scored.rankings
        nothing = unanswerable_queries(r, self.measures, self.convention)
        return inspect_unanswerable(
            r, nothing, threshold, skip_missing=self.policy.missing == "skip"
        )

    def correction(
        self, measure: str | Measure | None = None, run: str | None = None
    ) -> Correction:
        """Return how a value was corrected by trusted judgements.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only if there are several.
        run : str, optional
            The name of a run; needed only if there are several.

        >>> from judged import evaluate
        >>> cheap = {str(q): {"a": 1, "b": q % 2} for q in range(40)}
        >>> people = {str(q): {"a": 1, "b": q % 4 == 1} for q in range(20)}
        >>> lists = {str(q): ["b", "a"] for q in range(40)}
        >>> c = evaluate(cheap, lists, "P@2", trusted=people).correction()
        >>> c.cheap, c.trusted.estimate, round(c.corrected.estimate, 4), c.narrower
        (0.75, 0.625, 0.625, 'corrected')
        """
        known = self.scored(run).corrections
        if not known:
            raise PolicyError(
                "this evaluation was made without trusted judgements; evaluate again with trusted."
            )
        return known[self.measure(measure)]

    def gate(
        self,
        baseline: str | os.PathLike[str] | None = None,
        *,
        rule: str = "loss",
        max_drop: Mapping[str, float] | float | None = None,
        minimum: Mapping[str, float] | float | None = None,
        golden: Any = None,
        changed: str = "error",
        update: bool | str = False,
        level: float = LEVEL,
        groups: GroupsLike | None = None,
    ) -> Gate:
        """Decide whether the runs of this evaluation may replace a baseline.

        Parameters
        ----------
        baseline : str or os.PathLike, optional
            A file that a gate wrote, or the name of one of the runs. All other runs are repeats of
            one system.
        rule, max_drop, minimum, golden, changed, update, level, groups
            As for `judged.gate`.

        >>> from judged import evaluate
        >>> judgements = {str(q): {"a": 1} for q in range(8)}
        >>> runs = {name: {str(q): ["a", "b"] for q in range(8)} for name in ("old", "new")}
        >>> evaluate(judgements, runs, "RR").gate("old").says()
        'PASSED: no significant drop in RR.'
        """
        from judged.comparison.gate import gate_evaluation

        return gate_evaluation(
            self,
            baseline,
            rule=rule,
            max_drop=max_drop,
            minimum=minimum,
            golden=golden,
            changed=changed,
            update=update,
            level=level,
            groups=groups,
        )

    def advise(self, *, level: float = LEVEL) -> Advice:
        """Return which measures these data can support, and which to report.

        Parameters
        ----------
        level : float, optional
            The confidence level.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> len(evaluation.advise().rows) > 0
        True
        """
        from judged.evaluation.advice import advise

        return advise(self, level=level)

    def explain(
        self,
        query: str | None = None,
        measure: str | Measure | None = None,
        *,
        run: str | None = None,
        **options: Any,
    ) -> Explanation:
        """Return how one measure comes to its value for one query, step by step.

        Parameters
        ----------
        query : str, optional
            The query; needed only if there are several.
        measure : str or Measure, optional
            One of this evaluation's measures; needed only if there are several.
        run : str, optional
            The name of a run; needed only if there are several.
        **options : Any
            Those of `judged.explain`, such as `rows`.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> evaluation.explain("q", "RR").value
        0.5
        """
        from judged.explanation import explain

        return explain(self, run, self.measure(measure), query=query, **options)

    def conventions(self, measures: MeasuresLike | None = None) -> Disagreement:
        """Return these measures as every known library defines them.

        Parameters
        ----------
        measures : MeasuresLike, optional
            By default those of this evaluation.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> len(evaluation.conventions().rows()) > 0
        True
        """
        from judged.conventions.disagreement import compare_conventions

        return compare_conventions(
            self, measures=list(self.measures) if measures is None else measures
        )

    def identify(self, number: str | float, measures: MeasuresLike | None = None) -> Identification:
        """Return the definitions that give a number for the run.

        Parameters
        ----------
        number : str or float
            The number, as it was printed.
        measures : MeasuresLike, optional
            The measures to try; by default all that are usual.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> evaluation.identify("0.5", "RR").matches[0].definition.measure
        RR
        """
        from judged.conventions.identification import identify

        return identify(number, self, measures=measures)

    def plot(self, kind: str, **options: Any) -> Chart:
        """Return a chart.

        Parameters
        ----------
        kind : str
            A kind of chart, such as "precision-recall"; `judged.charts` lists them.
        **options : Any
            Those of the chart.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> type(evaluation.plot("precision-recall")).__name__
        'Chart'
        """
        from judged.charts import plot

        return plot(self, kind, **options)

    def report(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Report:
        """Return a report of this evaluation, and write it to one HTML file if a path is given.

        Parameters
        ----------
        path : str or os.PathLike, optional
            Where to write the report.
        **options : Any
            Those of `judged.report`, such as `baseline`, `title` and `texts`.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"bm25": {"q": ["b", "a"]}}, "RR")
        >>> evaluation.report(title="Search").to_html().count("<h1>")
        1
        """
        from judged.web.report.report import report_of

        report = report_of(self, **options)
        if path is not None:
            report.save(path)
        return report

    def definition(self, measure: str | Measure | None = None) -> str:
        """Return what a value means: its definition, formula, policy and source.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; without it, if there are several, the paragraph of
            `methods`.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> evaluation.definition().partition(". ")[0]
        'RR (Reciprocal rank)'
        """
        if measure is None and len(self.measures) > 1:
            return self.methods()
        from judged.evaluation.wording import definition

        return definition(self, self.measure(measure))

    def methods(self) -> str:
        """Return what all values mean, as a paragraph for the methods section of a paper.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> print(evaluation.methods().partition(". ")[0])
        Rankings were evaluated with judged 0.2.0
        """
        from judged.evaluation.wording import methods

        return methods(self)

    @property
    def audit(self) -> dict[str, Audit]:
        """The findings in each run's data."""
        return {run.name: run.audit for run in self.runs}

    @property
    def others(self) -> tuple[str, ...]:
        """The other assumptions under which every value is shown."""
        return tuple(self.runs[0].others)

    @property
    def ends(self) -> tuple[str, ...]:
        """The names of the ends of confidence intervals; empty if these are not shown."""
        return () if self.level is None else ENDS

    @property
    def columns_beside(self) -> tuple[str, ...]:
        """The columns beside the value of each measure in tables."""
        if self.trusted is None:
            return (*self.ends, *self.others)
        return (*ENDS, "trusted", *(f"trusted {end}" for end in ENDS), "cheap")

    @cached_property
    def summary(self) -> Frame:
        """One row per run, one column per measure, followed by its interval and ranges if shown."""
        import polars as pl

        columns = self.summary_columns()
        return pl.DataFrame(columns, dict.fromkeys(columns, pl.Float64) | {"run": pl.String})

    def summary_columns(self) -> dict[str, list[Any]]:
        """Return the summary column by column, without polars."""
        columns: dict[str, list[Any]] = {"run": [run.name for run in self.runs]}
        for name, measure, runs in self._columns():
            columns[name] = [run.summary[measure] for run in runs]
            for end in self.ends if runs is self.runs or self.trusted else ():
                bounds = [getattr(run.intervals[measure], end) for run in runs]
                columns[f"{name} {end}"] = [None if bound != bound else bound for bound in bounds]
            if self.trusted and runs is not self.runs:
                cheap = [run.corrections[measure].cheap for run in self.runs]
                columns[f"{self.label(measure)} cheap"] = cheap
        return columns

    def _columns(self) -> Iterator[tuple[str, Measure, tuple[Scored, ...]]]:
        """Yield the name of each column of numbers, its measure, and the values of all runs."""
        for measure in self.measures:
            label = self.label(measure)
            yield label, measure, self.runs
            for name in self.others:
                yield f"{label} {name}", measure, tuple(run.others[name] for run in self.runs)

    def per_query(self) -> Frame:
        """Return one row per run and query, with null for queries that do not count.

        The columns are those of the summary. With trusted judgements there are the values by both
        judgements.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").per_query().rows()
        [('run', 'q', 0.5)]
        """
        return self._per_query

    @cached_property
    def _per_query(self) -> pl.DataFrame:
        import polars as pl

        frames = [
            pl.DataFrame(
                {
                    "run": pl.Series([run.name]).new_from_index(0, len(run.rankings)),
                    "query": pl.Series(run.rankings.queries, dtype=pl.String),
                    **({} if (own := run.rankings.weights) is None else {"weight": own.values}),
                    **{
                        f"{name} cheap" if self.trusted and runs is self.runs else name: pl.Series(
                            runs[at].values[m]
                        ).fill_nan(None)
                        for name, m, runs in self._columns()
                    },
                }
            )
            for at, run in enumerate(self.runs)
        ]
        return pl.concat(frames)

    def document(self, display: Display) -> Document:
        """Return everything the evaluation shows.

        Parameters
        ----------
        display : Display
            How it is shown.
        """
        from judged.evaluation.export import Look, in_order, tables
        from judged.evaluation.wording import brief, brief_trusted, details, latency_lines

        shown, look = in_order(self, display.sort), Look(display.decimals, display.percent)
        return Document(
            tables=tables(shown, look, per_query=display.per_query),
            warnings=shown._warnings(look),
            notes=[*latency_lines(self), *brief_trusted(self), Dim(brief(self))],
            details=lambda: details(self),
            methods=self.methods,
        )

    def _warnings(self, look: Any) -> list[str]:
        if look not in self._warnings_by_look:
            from judged.evaluation.warnings import warnings

            self._warnings_by_look[look] = tuple(warnings(self, look))
        return list(self._warnings_by_look[look])

    @cached_property
    def _warnings_by_look(self) -> dict[Any, tuple[str, ...]]:
        """Warnings computed so far: looking into the ties of many runs takes long."""
        return {}

    def _grave(self) -> list[str]:
        return list(self._serious_warnings)

    @cached_property
    def _serious_warnings(self) -> list[str]:
        from judged.evaluation.warnings import grave

        return grave(self)

    def to_dict(
        self, *, per_query: bool = False, sort: str | Measure | None = None
    ) -> dict[str, Any]:
        """Return everything as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are included.
        sort : str or Measure, optional
            The measure that runs are ordered by, best first.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_dict()["runs"][0]["scores"]
        {'RR': 0.5}
        """
        from judged.evaluation.export import as_dict

        return as_dict(self, per_query=per_query, sort=sort)

    def to_frame(self, *, per_query: bool = False, sort: str | Measure | None = None) -> Frame:
        """Return the values as a polars table: one row per run, one column per measure.

        Parameters
        ----------
        per_query : bool, optional
            Whether there is one row per run and query instead.
        sort : str or Measure, optional
            The measure that runs are ordered by, best first.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_frame(per_query=True).rows()
        [('run', 'q', 0.5)]
        """
        from judged.evaluation.export import in_order

        shown = in_order(self, sort)
        return shown.per_query() if per_query else shown.summary

    def to_pandas(
        self, *, per_query: bool = False, sort: str | Measure | None = None
    ) -> PandasFrame:
        """Return `to_frame` for pandas, with the definition and the warnings in its `attrs`.

        Parameters
        ----------
        per_query : bool, optional
            Whether there is one row per run and query.
        sort : str or Measure, optional
            The measure that runs are ordered by, best first.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_pandas()["RR"].tolist()
        [0.5]
        """
        from judged.evaluation.export import as_pandas

        return as_pandas(self, per_query=per_query, sort=sort)

    def to_trec(
        self, *, per_query: bool = False, sort: str | Measure | None = None, quiet: bool = False
    ) -> str:
        """Return lines of measure, query and value at full precision, the summary as `all`.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are included.
        sort : str or Measure, optional
            The measure that runs are ordered by, best first.
        quiet : bool, optional
            Whether warnings are left out.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_trec()
        'RR\\tall\\t0.5\\n'
        """
        from judged.evaluation.export import as_trec

        return as_trec(self, per_query=per_query, sort=sort, quiet=quiet)

    def to_metrics(self, *, names: str = "judged") -> dict[str, float]:
        """Return one flat name for each value, as experiment trackers take them.

        With several runs the name of the run precedes the measure, such as `bm25/AP`. The ends of
        confidence intervals, if shown, follow it, such as `AP low` or `AP_low`.

        Parameters
        ----------
        names : {"judged", "mlflow"}, optional
            Names as in tables, or in the letters that MLflow and others allow.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 2}}, {"q": ["b", "a"]}, ["RR", "P(rel=2)@4"])
        >>> evaluation.to_metrics(names="mlflow")
        {'RR': 0.5, 'P.rel-2_at_4': 0.25}
        """
        from judged.evaluation.export import as_metrics

        return as_metrics(self, names)

    def to_huggingface(
        self, *, dataset: str = "unknown", dataset_name: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the rows of a Hugging Face model card, one model for each run.

        Parameters
        ----------
        dataset : str, optional
            The id of the data set.
        dataset_name : str, optional
            The name of the data set; by default its id.

        Returns
        -------
        list of dict
            The value of `model-index` in a card.

        >>> from judged import evaluate
        >>> evaluation = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR@10")
        >>> [model] = evaluation.to_huggingface(dataset="me/questions")
        >>> model["results"][0]["metrics"]
        [{'type': 'RR_at_10', 'value': 0.5, 'name': 'RR@10'}]
        """
        from judged.evaluation.export import as_huggingface

        return as_huggingface(self, dataset, dataset_name)

    def to_yaml(self, *, dataset: str | None = None) -> str:
        """Return the head of a Hugging Face model card in YAML.

        Parameters
        ----------
        dataset : str, optional
            The id of the data set.

        >>> from judged import evaluate
        >>> print(evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_yaml()[:37])
        model-index:
        - name: "run"
          results:
        """
        from judged.evaluation.export import as_yaml

        return as_yaml(self.to_huggingface(dataset=dataset or "unknown"))

    def to_rankings(self) -> bytes:
        """Return the rankings of the only run as the bytes of a rankings file.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_rankings()[:4]
        b'PAR1'
        """
        from judged.rankings.file import to_bytes

        if len(self.runs) > 1:
            raise InputError(
                "a rankings file holds one run, and there are "
                f"{len(self.runs)}; evaluate one run at a time, or save evaluation.rankings[name]."
            )
        return to_bytes(self.runs[0].rankings)

    def _metadata(self) -> dict[str, str]:
        return {"definition": self.methods(), **super()._metadata()}


def _without_unanswerable(evaluation: Evaluation, threshold: float | None) -> Evaluation:
    """Return the evaluation without the queries that have no relevant items."""
    policy = apart_policy(evaluation.policy)
    settings = replace(evaluation.settings, policy=policy)
    runs = []
    for run in evaluation.runs:
        r = run.rankings
        nothing = unanswerable_queries(r, settings.measures, settings.convention)
        apart = inspect_unanswerable(r, nothing, threshold, skip_missing=policy.missing == "skip")
        kept = without(r, nothing) if nothing.any() else r
        runs.append(replace(score_run(kept, settings), unanswerable=apart))
    return replace(evaluation, runs=tuple(runs), policy=policy)


def _join(evaluations: Sequence[Evaluation], names: Sequence[str] | None) -> Evaluation:
    """Join the runs of evaluations that were scored alike."""
    first = evaluations[0]
    for other in evaluations:
        if not isinstance(other, type(first)):
            raise InputError(f"beside takes evaluations; got {quoted(other)}.")
        _refuse_others(first, other)
        if other.trusted is not None:
            raise InputError(
                "evaluations that trusted judgements correct cannot be joined; give all runs to "
                "one evaluate."
            )
    runs = [run for each in evaluations for run in each.runs]
    known = _names([run.name for run in runs], names)
    named = [
        replace(run, rankings=replace(run.rankings, name=name), intervals={})
        for run, name in zip(runs, known, strict=True)
    ]
    return replace(first, runs=tuple(named), latency=None, level=None, groups=None, sources=None)


def _names(given: Sequence[str], names: Sequence[str] | None) -> Sequence[str]:
    """Return distinct names of the runs."""
    known = list(given if names is None else names if isinstance(names, (list, tuple)) else ())
    if len(known) != len(given) or any(not isinstance(each, str) or not each for each in known):
        raise InputError(
            f"names must be a list with a name for each of {len(given):,} runs; got "
            f"{quoted(names)}."
        )
    twice = [name for name in dict.fromkeys(known) if known.count(name) > 1]
    if twice:
        raise InputError(
            f"two runs are called {quoted(twice[0])}; say with names what each is called."
        )
    return known


def _refuse_others(first: Evaluation, other: Evaluation) -> None:
    """Raise an error if two evaluations cannot be joined."""
    ours, theirs = ({str(measure) for measure in each.measures} for each in (first, other))
    if ours != theirs:
        raise InputError(
            f"the evaluations are by different measures: {listed(sorted(ours ^ theirs))} in one of "
            "them only."
        )
    if first.policy != other.policy:
        raise InputError(
            f"the evaluations assume different things: {first.policy} and {other.policy}."
        )
    one, two = (str(each.convention or "judged") for each in (first, other))
    if one != two:
        raise InputError(f"the evaluations follow different conventions: {one} and {two}.")
    r, s = first.runs[0].rankings, other.runs[0].rankings
    if set(r.queries) != set(s.queries):
        lost = sorted(set(r.queries) ^ set(s.queries))
        raise InputError(
            f"the evaluations are of different queries: {len(lost):,} are in one of them only "
            f"({few(lost)})."
        )
    if not np.array_equal(_relevant(r), _relevant(s)):
        raise InputError(
            "the evaluations are by different judgements: some queries have other numbers of "
            "relevant items in one than in the other."
        )


def _relevant(r: Rankings) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the number of relevant items of each query, in the order of query ids."""
    return np.asarray(r.relevant(ANY_GRADE), float)[np.argsort(r.queries)]
