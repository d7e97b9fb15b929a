"""Evaluation: per-query values, summary, definition, audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.errors import InputError, MeasureError, quoted
from judged.evaluation.intervals import ENDS, Groups, refuse_idle, with_intervals
from judged.evaluation.pages import Paged
from judged.evaluation.ranges import with_judged_shares
from judged.evaluation.scores import Scored, score_run, score_ties, score_unjudged
from judged.evaluation.settings import Conventional, EvaluationSettings
from judged.evaluation.unanswerable import (
    apart_policy,
    inspect_unanswerable,
    unanswerable_queries,
    without,
)
from judged.measures import Measure, parse_measure
from judged.options import LEVEL, checked_methods
from judged.policy import Policy
from judged.rankings.audit import Audit
from judged.rankings.columns import ANY_GRADE
from judged.rankings.rankings import Rankings
from judged.text import few, listed

if TYPE_CHECKING:
    import polars as pl

    from judged.comparison.comparison import Comparison
    from judged.evaluation.latency import Latency
    from judged.evaluation.trusted import Trusted
    from judged.inputs.data import Data
    from judged.options import GroupsLike, MeasuresLike, PolicyLike, WeightsLike


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
    settings = measures
    if not isinstance(settings, EvaluationSettings):
        settings = EvaluationSettings.of_rankings(rankings, measures, policy)
    chosen = None
    if weights is not None:
        from judged.inputs.weights import read_weights  # loads what reads files

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
class Evaluation(Paged):
    """What `evaluate` returns, always: numbers of runs and measures, and what these mean.

    >>> from judged import evaluate
    >>> evaluation = evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, ["RR", "nDCG@10"])
    >>> evaluation.value("RR")
    0.5
    """

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

        Returns
        -------
        Evaluation

        >>> from judged import evaluate
        >>> tied = {"q": {"a": 0.5, "b": 0.5}}
        >>> shown = evaluate({"q": {"a": 1}}, tied, "RR").showing(tie_range=True)
        >>> print(shown.to_text(quiet=True))
        run  measure   value   worst  expected    best
        run  RR       0.5000  0.5000    0.7500  1.0000
        """
        shown = self
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
        refuse_idle(level, groups)
        return shown

    def value(self, measure: str | Measure | None = None, run: str | None = None) -> float:
        """One summary number; where there are trusted judgements, corrected by them.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; needed only where there are several.
        run : str, optional
            The name of a run; needed only where there are several.

        Returns
        -------
        float

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.value("RR")
        0.5
        """
        return self.scored(run).summary[self.measure(measure)]

    def measure(self, measure: str | Measure | None = None) -> Measure:
        """One of this evaluation's measures, from its text.

        Parameters
        ----------
        measure : str or Measure, optional
            The measure, as it was asked for or by any of its names, those of the convention too;
            needed only where there are several.

        Returns
        -------
        Measure

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
        """One run's values.

        Parameters
        ----------
        run : str, optional
            The name of the run; needed only where there are several.

        Returns
        -------
        Scored

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

    def compare(
        self, *, baseline: str | None = None, missing: str | None = None, **settings: Any
    ) -> Comparison:
        """Compare the runs of this evaluation: is the difference real?

        Parameters
        ----------
        baseline : str, optional
            The run that all others are compared with.
        missing : str, optional
            Where a run lacks more than a tenth of the queries that another has, it is refused
            unless this says that they count as in this evaluation: "zero".
        **settings : Any
            `test`, `correction`, `family`, `level`, `power`, `margin`, `groups`, `slices`,
            `resamples` and `seed`, as `judged.compare` has them; `repeats` says which runs are of
            one system, as {"dense": ["seed 1", "seed 2"]}.

        Returns
        -------
        Comparison

        >>> from judged import evaluate
        >>> runs = {"one": {"q": ["b", "a"]}, "other": {"q": ["a"]}}
        >>> evaluate({"q": {"a": 1}}, runs, "RR").compare().pair().verdict
        'too few'
        """
        from judged.comparison import compare_evaluation
        from judged.comparison.dependence import refuse_unsaid

        refuse_unsaid([run.rankings for run in self.runs], self.policy, missing)
        return compare_evaluation(self, baseline=baseline, **settings)

    def beside(self, *others: Evaluation, names: Sequence[str] | None = None) -> Evaluation:
        """This evaluation and others of the same queries as one, to be compared.

        Parameters
        ----------
        *others : Evaluation
            Evaluations of the same queries by the same measures under the same policy.
        names : sequence of str, optional
            What all runs are called, in order; needed where two have one name.

        Returns
        -------
        Evaluation

        >>> from judged import evaluate
        >>> lists = (["a", "b"], ["b", "a"])
        >>> one, other = (evaluate({"q": {"a": 1}}, {"q": run}, "RR") for run in lists)
        >>> one.beside(other, names=["one", "other"]).to_dict()["runs"][1]["name"]
        'other'
        """
        return _join([self, *others], names)

    def label(self, measure: str | Measure) -> str:
        """What a measure is called in tables and files: as it was asked for.

        Parameters
        ----------
        measure : str or Measure
            One of this evaluation's.

        Returns
        -------
        str

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

    @property
    def others(self) -> tuple[str, ...]:
        """The other assumptions under which every number was computed too."""
        return tuple(self.runs[0].others)

    @property
    def ends(self) -> tuple[str, ...]:
        """What the ends of intervals are called; nothing where none were asked for."""
        return () if self.level is None else ENDS

    @property
    def columns_beside(self) -> tuple[str, ...]:
        """What stands beside the value of each measure in tables."""
        if self.trusted is None:
            return (*self.ends, *self.others)
        return (*ENDS, "trusted", *(f"trusted {end}" for end in ENDS), "cheap")

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per run, one column per measure; each measure's interval and ranges, where asked
        for, in columns after its own."""
        import polars as pl

        columns = self.summary_columns()
        return pl.DataFrame(columns, dict.fromkeys(columns, pl.Float64) | {"run": pl.String})

    def summary_columns(self) -> dict[str, list[Any]]:
        """The summary without polars, column by column."""
        columns: dict[str, list[Any]] = {"run": [run.name for run in self.runs]}
        for name, measure, runs in self._columns():
            columns[name] = [run.summary[measure] for run in runs]
            for end in self.ends if runs is self.runs or self.trusted else ():
                ends = [getattr(run.intervals[measure], end) for run in runs]
                columns[f"{name} {end}"] = [None if each != each else each for each in ends]
            if self.trusted and runs is not self.runs:
                cheap = [run.corrections[measure].cheap for run in self.runs]
                columns[f"{self.label(measure)} cheap"] = cheap
        return columns

    def _columns(self) -> Iterator[tuple[str, Measure, tuple[Scored, ...]]]:
        """The name of each column of numbers, its measure, and the values of all runs."""
        for measure in self.measures:
            label = self.label(measure)
            yield label, measure, self.runs
            for name in self.others:
                yield f"{label} {name}", measure, tuple(run.others[name] for run in self.runs)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row per run and query, columns as in the summary; null where a query does not
        count. Where there are trusted judgements, what each query has by the cheap ones and by
        them."""
        import polars as pl

        frames = [
            pl.DataFrame(
                {
                    "run": pl.Series([run.name]).new_from_index(0, len(run.rankings)),
                    "query": pl.Series(run.rankings.queries, dtype=pl.String),
                    **({} if (given := run.rankings.weights) is None else {"weight": given.values}),
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

    @property
    def audit(self) -> dict[str, Audit]:
        """What was found in each run's data."""
        return {run.name: run.audit for run in self.runs}

    def definition(self, measure: str | Measure | None = None) -> str:
        """What a number means: in plain words, with its formula, its policy and its source.

        Parameters
        ----------
        measure : str or Measure, optional
            One of this evaluation's measures; without it, where there are several, a paragraph
            about all of them: see `methods`.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> found.definition().partition(". ")[0]
        'RR (Reciprocal rank)'
        """
        if measure is None and len(self.measures) > 1:
            return self.methods()
        from judged.evaluation.definition import definition

        return definition(self, self.measure(measure))

    def methods(self) -> str:
        """What all numbers mean, as a paragraph for the methods section of a paper.

        Returns
        -------
        str

        >>> from judged import evaluate
        >>> found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR")
        >>> print(found.methods().partition(". ")[0])
        Rankings were evaluated with judged 0.2.0
        """
        from judged.evaluation.definition import methods

        return methods(self)


def _without_unanswerable(evaluation: Evaluation, threshold: float | None) -> Evaluation:
    """Return the evaluation without the queries that have no relevant items, which are looked at
    apart."""
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
    """All runs of some evaluations in one; refused where they were asked or scored otherwise."""
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
    """What the runs are called, each otherwise than the others."""
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
    """Evaluations that cannot stand beside each other."""
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
    """How many items are relevant for each query, in the order of query ids."""
    return np.asarray(r.relevant(ANY_GRADE), float)[np.argsort(r.queries)]
