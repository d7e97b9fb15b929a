"""`Evaluation`: the values of runs, what they mean, and everything that can be asked of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from judged.errors import InputError, MeasureError, MissingExtraError, PolicyError, quoted
from judged.evaluation.intervals import ENDS, Groups, group_of_each, interval_of, with_intervals
from judged.evaluation.ranges import TieRange, UnjudgedRange
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
from judged.measures import Measure, parse_measure
from judged.options import (
    LEVEL,
    OPTIONS,
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
from judged.rankings.rankings import Rankings
from judged.results import EVALUATION_SAVED_AS, Display, Document, Frame, PandasFrame, Result
from judged.text import listed, visible

if TYPE_CHECKING:
    from judged.charts.chart import Chart
    from judged.comparison.comparison import Comparison
    from judged.comparison.gate import Gate
    from judged.comparison.slices import Slices
    from judged.conventions.disagreement import Disagreement
    from judged.conventions.identification import Identification
    from judged.evaluation.abstention import Abstention
    from judged.evaluation.advice import Advice
    from judged.evaluation.export import Latency
    from judged.evaluation.trusted import Correction
    from judged.evaluation.unanswerable import Unanswerable
    from judged.explanation.explanation import Explanation
    from judged.inputs.data import Data
    from judged.statistics.intervals import Interval
    from judged.web.report.report import Report
else:  # loaded by `typing.get_type_hints` only
    Abstention = later("judged.results:Abstention")
    Advice = later("judged.results:Advice")
    Chart = later("judged.charts.chart:Chart")
    Comparison = later("judged:Comparison")
    Correction = later("judged.evaluation.trusted:Correction")
    Disagreement = later("judged.results:Disagreement")
    Explanation = later("judged.results:Explanation")
    Gate = later("judged.results:Gate")
    Identification = later("judged.results:Identification")
    Interval = later("judged.statistics.intervals:Interval")
    Slices = later("judged.comparison.slices:Slices")
    Report = later("judged.results:Report")
    Unanswerable = later("judged.evaluation.unanswerable:Unanswerable")


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
    """The measures."""
    policy: Policy
    """The policy."""
    convention: Conventional | None = None
    """The library whose numbers these are, where one was named."""
    latency: Latency | None = None
    """The time of each query, if a retriever was called."""
    level: float | None = None
    """The level of the intervals beside the numbers; None where none were asked for."""
    groups: Groups | None = None
    """The number of each query's group, where queries that belong together were named."""
    trusted: Mapping[str, Any] | None = None
    """Source and number of queries of the judgements that corrected the numbers, if any did."""
    trusted_warnings: tuple[str, ...] = ()
    """Warnings about these judgements."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Runs that were skipped because they cannot be evaluated, and why."""
    slices: Slices | None = None
    """The values in slices of the queries, where they were asked for."""
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
        slices: SlicesLike | None = None,
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
        slices : SlicesLike, optional
            Attributes of the queries, {query: {attribute: value}}: show the value in each slice.

        >>> from judged import evaluate
        >>> tied = {"q": {"a": 0.5, "b": 0.5}}
        >>> shown = evaluate({"q": {"a": 1}}, tied, "RR").showing(tie_range=True)
        >>> print(shown.to_text(quiet=True))
        run  measure   value   worst  expected    best
        run  RR       0.5000  0.5000    0.7500  1.0000
        """
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
                slices=slices is not None and slices is not False,
            )
            return self if level == self.level else at_level(self, level)
        shown = self
        if unanswerable:
            from judged.evaluation.unanswerable import without_unanswerable

            shown = without_unanswerable(self, threshold)
        runs = []
        for run in shown.runs:
            others = score_ties(run, shown.settings) if tie_range else {}
            others |= score_unjudged(run, shown.settings) if unjudged_range else {}
            runs.append(replace(run, others=others))
        if tie_range or unjudged_range or intervals:
            shown = replace(shown, runs=tuple(runs))
        if slices is not None:
            from judged.comparison.slices import evaluate_slices

            shown = replace(shown, slices=evaluate_slices(shown, slices, level, groups))
        return with_intervals(shown, level, groups) if intervals else shown

    def value(self, measure: str | Measure | None = None, run: str | None = None) -> float:
        """Return one summary value, corrected by trusted judgements if there are some.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only if there are several.
        run : str, optional
            The name of a run; needed only if there are several.

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
        """Each measure by its name in tables and files.

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
        for other in others:
            _refuse_others(self, other)
        queries = self.runs[0].queries
        runs = [
            run if run.queries == queries else _in_order(run, queries, evaluation.settings)
            for evaluation in (self, *others)
            for run in evaluation.runs
        ]
        given = [run.name for run in runs] if names is None else names
        known = list(given) if isinstance(given, (list, tuple)) else []
        texts = all(isinstance(name, str) and name for name in known)
        if not texts or len(known) != len(runs) or len({*known}) < len(known):
            raise InputError(
                f"the {len(runs):,} runs need different names, and names has one for each; got "
                f"{quoted(given)}."
            )
        named = [
            replace(run, rankings=replace(run.rankings, name=name), intervals={})
            for run, name in zip(runs, known, strict=True)
        ]
        return replace(self, runs=tuple(named), latency=None, level=None, groups=None, sources=None)

    def interval(
        self,
        measure: str | Measure | None = None,
        run: str | None = None,
        *,
        level: float | None = None,
        method: str | None = None,
        groups: GroupsLike | None = None,
    ) -> Interval:
        """Return a value with its confidence interval.

        Parameters
        ----------
        measure, run
            As for `value`.
        level : float, optional
            The confidence level; by default that of the evaluation, which is 0.95.
        method : {"t", "bca", "percentile"}, optional
            By default the method that suits the summary: Student's t for means and sums, Wilson's
            for shares of queries, order statistics for medians, otherwise a bootstrap.
        groups : GroupsLike, optional
            Queries that belong together: {query: group}, a table or a file.

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
        return self._interval(scored, self.measure(measure), level, method, known)

    def intervals(
        self,
        *,
        level: float | None = None,
        method: str | None = None,
        groups: GroupsLike | None = None,
    ) -> Frame:
        """Return the confidence interval of every value, one row per run and measure.

        Parameters
        ----------
        level, method, groups
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
                interval = self._interval(run, measure, level, method, known)
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
    ) -> Interval:
        """Return the interval that was computed already, or compute another."""
        if method is not None:
            from judged.statistics.intervals import METHODS

            choice("method", method, METHODS)
        if run.corrections and (method is not None or groups is not None):
            raise InputError(
                "the interval of a corrected number has no other method and no groups; leave "
                "them out, or trusted."
            )
        if level is None and method is None and groups is None and measure in run.intervals:
            return run.intervals[measure]
        if run.corrections:
            from judged.evaluation.trusted import corrections

            return corrections(run, run.others[TRUSTED], level or LEVEL)[measure].corrected
        try:
            return interval_of(
                run,
                measure,
                level=level or self.level or LEVEL,
                method=method,
                groups=self.groups if groups is None else groups,
            )
        except InputError as error:
            raise InputError(f"{self.label(measure)}: {error}") from None

    def tie_range(self, measure: str | Measure | None = None, run: str | None = None) -> TieRange:
        """Return a value in the worst order of tied results, on average, and in the best.

        Each measure has its own worst and best order in each query. If a query has too many orders
        to try them all, a warning of `showing(tie_range=True)` names the measure.

        Parameters
        ----------
        measure, run
            As for `value`.

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
        measure, run
            As for `value`.

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
            if key not in self._computed:
                self._computed[key] = score(scored, self.settings)
            others = self._computed[key]
        return [others[name].summary[self.measure(measure)] for name in names]

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
        from judged.evaluation.unanswerable import inspect_unanswerable

        return inspect_unanswerable(scored.rankings, self.settings, threshold)[0]

    def abstention(
        self,
        measure: str | Measure = "Success@1",
        *,
        risk: float = 0.1,
        threshold: float | None = None,
        level: float = LEVEL,
        run: str | None = None,
    ) -> Abstention:
        """Find the best score from which on a run should answer, so that few answers are wrong.

        Parameters
        ----------
        measure : str or Measure, optional
            A measure that is 1 where an answer is right, and 0 elsewhere.
        risk : float, optional
            The largest share of answers that may be wrong.
        threshold : float, optional
            Test this threshold instead of choosing one.
        level : float, optional
            The confidence level of the bound, which is corrected for choosing a threshold.
        run : str, optional
            The name of a run; needed only if there are several.

        >>> from judged import evaluate
        >>> judgements = {str(q): {"a": 1} for q in range(100)}
        >>> run = {str(q): {"a": 1 + q} for q in range(100)}
        >>> evaluate(judgements, run, "RR").abstention().coverage
        1.0
        """
        from judged.evaluation.abstention import abstain

        r = self.scored(run).rankings
        return abstain(r, measure, risk=risk, threshold=threshold, level=level)

    def correction(
        self, measure: str | Measure | None = None, run: str | None = None
    ) -> Correction:
        """Return how a value was corrected by trusted judgements.

        Parameters
        ----------
        measure, run
            As for `value`.

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
        update: bool | str = False,
        level: float = LEVEL,
        groups: GroupsLike | None = None,
        slices: SlicesLike | None = None,
    ) -> Gate:
        """Decide whether the runs of this evaluation may replace a baseline.

        Parameters
        ----------
        baseline : str or os.PathLike, optional
            A file that a gate wrote, or the name of one of the runs. All other runs are repeats of
            one system.
        rule, max_drop, minimum, golden, update, level, groups, slices
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
            update=update,
            level=level,
            groups=groups,
            slices=slices,
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
        measure, run
            As for `value`.
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

    def document(self, display: Display) -> Document:
        from judged.evaluation.export import Look, in_order, tables
        from judged.evaluation.wording import brief, brief_trusted, details

        shown, look = in_order(self, display.sort), Look(display.decimals, display.percent)
        notes = [f"latency: {self.latency.sentence()}"] if self.latency else []
        notes += [brief_trusted(self)] if self.trusted else []
        notes += self.slices.notes if self.slices else ()
        return Document(
            tables=tables(shown, look, per_query=display.per_query),
            warnings=shown._warnings(look),
            notes=notes,
            details=lambda: details(self),
            hint=lambda: brief(self),
            methods=self.methods,
        )

    def _warnings(self, look: Any) -> list[str]:
        """Return all warnings, computed once: examining the ties of many runs takes long."""
        if look not in self._computed:
            from judged.evaluation.warnings import warnings

            self._computed[look] = warnings(self, look)
        return list(self._computed[look])

    def _grave(self) -> list[str]:
        if "grave" not in self._computed:
            from judged.evaluation.warnings import grave

            self._computed["grave"] = grave(self)
        return list(self._computed["grave"])

    @cached_property
    def _computed(self) -> dict[Any, Any]:
        """Ranges and warnings that were computed already."""
        return {}

    def to_dict(
        self, *, per_query: bool = False, sort: str | Measure | None = None
    ) -> dict[str, Any]:
        from judged import __version__
        from judged.evaluation.export import in_order

        latency, groups = self.latency, self.groups
        confidence: dict[str, Any] = {}
        if self.level is not None:
            number = None if groups is None else len(set(groups.values()))
            confidence = {"level": self.level, "groups": number}
        return {
            "runs": [run.to_dict(per_query=per_query) for run in in_order(self, sort).runs],
            **({"latency": latency.to_dict(per_query=per_query)} if latency else {}),
            **confidence,
            **({"trusted": dict(self.trusted)} if self.trusted else {}),
            **({"skipped": dict(self.skipped)} if self.skipped else {}),
            **(self.slices.to_dict() if self.slices else {}),
            "warnings": self.warnings(),
            "measures": {self.label(m): m.definition() for m in self.measures},
            "policy": self.policy.to_dict(),
            "convention": self.convention.to_dict() if self.convention else None,
            "definition": self.methods(),
            "judged": __version__,
        }

    def per_query(self) -> Frame:
        """Return the values of each query: `to_frame(per_query=True)`.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").per_query().rows()
        [('run', 'q', 0.5)]
        """
        return self.to_frame(per_query=True)

    def to_frame(self, *, per_query: bool = False, sort: str | Measure | None = None) -> Frame:
        """Return a row for each run, or for each run and query, with a column for each measure.

        The bounds and ranges that are shown follow each measure. A query that does not count has
        null. With trusted judgements, its values by both judgements are shown.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_frame(per_query=True).rows()
        [('run', 'q', 0.5)]
        """
        import polars as pl

        from judged.evaluation.export import in_order

        shown = in_order(self, sort)
        if not per_query:
            means = shown.summary_columns()
            return pl.DataFrame(means, dict.fromkeys(means, pl.Float64) | {"run": pl.String})
        frames = []
        for at, run in enumerate(shown.runs):
            weights = run.rankings.weights
            columns: dict[str, Any] = {
                "run": pl.Series([run.name]).new_from_index(0, len(run.rankings)),
                "query": pl.Series(run.rankings.queries, dtype=pl.String),
                **({} if weights is None else {"weight": weights.values}),
            }
            for name, measure, runs in shown._columns():
                cheap = f"{name} cheap" if shown.trusted and runs is shown.runs else name
                columns[cheap] = pl.Series(runs[at].values[measure]).fill_nan(None)
            frames.append(pl.DataFrame(columns))
        return pl.concat(frames)

    def to_pandas(
        self, *, per_query: bool = False, sort: str | Measure | None = None
    ) -> PandasFrame:
        """Return `to_frame` for pandas, with the definition and the warnings in its `attrs`.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_pandas()["RR"].tolist()
        [0.5]
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("to_pandas needs pandas: pip install pandas.") from error
        columns = self.to_frame(per_query=per_query, sort=sort).to_dict(as_series=False)
        frame = pd.DataFrame(columns)
        frame.attrs.update(definition=self.methods(), warnings=self.warnings())
        return frame

    def to_trec(
        self, *, per_query: bool = False, sort: str | Measure | None = None, quiet: bool = False
    ) -> str:
        """Return lines of measure, query and value at full precision, the summary as `all`.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_trec()
        'RR\\tall\\t0.5\\n'
        """
        from judged.evaluation.export import in_order

        if per_query and self.trusted:
            raise InputError(
                "TREC text has one value for each query, and there are two, by the cheap and by "
                "the trusted judgements; leave per_query (--per-query) out, or choose another "
                "format, such as CSV."
            )
        lines: list[str] = []
        for run in in_order(self, sort).runs:
            if len(self.runs) > 1:
                lines.append(f"runid\tall\t{run.name}")
            if per_query:
                columns = [run.values[measure].tolist() for measure in self.measures]
                for query, *values in zip(run.rankings.queries, *columns, strict=True):
                    lines += [
                        f"{label}\t{query}\t{value!r}"
                        for label, value in zip(self.labels, values, strict=True)
                        if value == value
                    ]
            lines += [f"{name}\tall\t{run.summary[m]!r}" for name, m in self.labels.items()]
        if not quiet:
            lines += [f"warning\tall\t{visible(text)}" for text in self._grave()]
        return "\n".join(lines) + "\n"

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
        {'RR': 0.5, 'P_rel_2_at_4': 0.25}
        """
        from judged.evaluation.export import METRIC_NAMES, plain_name

        flat = choice("names", names, METRIC_NAMES) == "mlflow"
        named = plain_name if flat else str
        metrics: dict[str, float] = {}
        for run in self.runs:
            before = f"{named(run.name)}/" if len(self.runs) > 1 else ""
            for label, measure in self.labels.items():
                name = before + named(str(measure) if flat else label)
                if name in metrics:
                    raise InputError(f"two values would be called {quoted(name)}; rename a run.")
                metrics[name] = float(run.summary[measure])
                for end in self.ends:
                    value = float(getattr(run.intervals[measure], end))
                    if value == value:
                        metrics[f"{name}{'_' if flat else ' '}{end}"] = value
        return metrics

    def to_rankings(self) -> bytes:
        """Return the rankings of all runs as the bytes of a rankings file.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").to_rankings()[:4]
        b'PAR1'
        """
        from judged.rankings.file import to_bytes

        return to_bytes(*(run.rankings for run in self.runs))

    def _metadata(self) -> dict[str, str]:
        return {"definition": self.methods(), **super()._metadata()}


def _in_order(run: Scored, queries: Sequence[str], settings: EvaluationSettings) -> Scored:
    places = {query: place for place, query in enumerate(run.queries)}
    return score_run(run.rankings.take([places[query] for query in queries]), settings)


def _refuse_others(first: Evaluation, other: Evaluation) -> None:
    if not isinstance(other, Evaluation):
        raise InputError(f"beside takes evaluations; got {quoted(other)}.")
    if first.trusted is not None or other.trusted is not None:
        raise InputError(
            "evaluations that trusted judgements correct cannot be joined; give all runs to one "
            "evaluate."
        )
    ours, theirs = ({str(measure) for measure in each.measures} for each in (first, other))
    if ours != theirs:
        raise InputError(
            f"the evaluations are by different measures: {listed(sorted(ours ^ theirs))} in one of "
            "them only."
        )
    one, two = (f"{each.policy}, {each.convention or 'judged'}" for each in (first, other))
    if one != two:
        raise InputError(f"the evaluations assume different things: {one} and {two}.")
    from judged.rankings.file import check_same_judgements

    r, s = first.runs[0].rankings, other.runs[0].rankings
    check_same_judgements(r, s, r.name, s.name)
