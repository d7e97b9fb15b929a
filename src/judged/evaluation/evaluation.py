"""Evaluation: per-query values, summary, definition, audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, MeasureError, quoted
from judged.evaluation.intervals import ENDS, Groups, refuse_idle, with_intervals
from judged.evaluation.pages import Paged
from judged.evaluation.parts import Asked, evaluated
from judged.evaluation.request import Conventional, Request
from judged.evaluation.scored import Scored
from judged.measures import Measure, parse_measure
from judged.options import LEVEL
from judged.policy import Policy
from judged.rankings.audit import Audit
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    import polars as pl

    from judged.comparison.comparison import Comparison
    from judged.comparison.gate.result import Gate
    from judged.evaluation.latency import Latency
    from judged.evaluation.trusted import Trusted
    from judged.inputs.tables import Judgements, Lookup
    from judged.options import (
        ConventionLike,
        GroupsLike,
        MeasuresLike,
        Path,
        PolicyLike,
        SlicesLike,
        WeightsLike,
    )


def evaluate_rankings(
    rankings: Sequence[Rankings],
    measures: MeasuresLike | Request | None = None,
    *,
    policy: PolicyLike | None = None,
    convention: ConventionLike | None = None,
    tie_range: bool = False,
    unjudged_range: bool = False,
    weights: WeightsLike | None = None,
    unanswerable: bool = False,
    answer_threshold: float | None = None,
    interval: bool = False,
    level: float = LEVEL,
    groups: GroupsLike | None = None,
) -> Evaluation:
    """Score rankings that are made already; ties and unjudged items stay as they were then, unless
    the policy says."""
    if isinstance(measures, Request):
        request = measures
    else:
        request = Request.of(
            measures, policy, convention, ties=rankings[0].ties, unjudged=rankings[0].unjudged
        )
    asked = Asked.of(
        request,
        tie_range=tie_range,
        unjudged_range=unjudged_range,
        unanswerable=unanswerable,
        answer_threshold=answer_threshold,
        weights=weights,
    )
    runs = [evaluated(r, asked) for r in rankings]
    return evaluate_runs(runs, asked, interval=interval, level=level, groups=groups)


def evaluate_runs(
    runs: Sequence[tuple[Scored, Rankings | None]],
    asked: Asked,
    *,
    interval: bool = False,
    level: float = LEVEL,
    groups: GroupsLike | None = None,
) -> Evaluation:
    """The evaluation of runs whose values are gathered, with their rankings where these were
    kept."""
    if not interval:
        refuse_idle(level, groups)
    request = asked.request
    found = Evaluation(
        tuple(run for run, _ in runs),
        request.measures,
        request.policy,
        request.convention,
        rankings={run.name: r for run, r in runs if r is not None},
    )
    return with_intervals(found, level, groups) if interval else found


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
    rankings: Mapping[str, Rankings] = field(default_factory=dict)
    """The rankings of each run by its name, where they were kept: charts and comparisons look into
    them. Those of a run that was read in blocks are not, where they are large."""
    judgements: Judgements | Lookup | None = None
    """The judgements, if they were kept; baseline files of gates hold their fingerprints."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Runs that were left out, as they cannot be evaluated, and why."""

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

        Returns
        -------
        Comparison

        >>> from judged import evaluate
        >>> runs = {"one": {"q": ["b", "a"]}, "other": {"q": ["a"]}}
        >>> evaluate({"q": {"a": 1}}, runs, "RR").compare().pair().verdict
        'too few'
        """
        from judged.comparison import compare_evaluation
        from judged.comparison.dependence import check_evaluated_missing

        check_evaluated_missing([run.about for run in self.runs], self.policy, missing)
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

    def gate(
        self,
        baseline: Path | None = None,
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
        baseline : str or PathLike, optional
            A file that a gate wrote, or the name of one of the runs. All other runs are repeats of
            one system.
        rule, max_drop, minimum, golden, changed, update, level, groups
            As for `judged.gate`.

        Returns
        -------
        Gate

        >>> from judged import evaluate
        >>> runs = {"old": {"q": ["a", "b"]}, "new": {"q": ["a"]}}
        >>> evaluate({"q": {"a": 1}}, runs, "RR").gate("old").says()
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
        from judged.evaluation.joining import joined

        return joined([self, *others], names)

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

        for run in self.runs:
            run.refuse_unkept()
        frames = [
            pl.DataFrame(
                {
                    "run": pl.Series([run.name]).new_from_index(0, len(run.about)),
                    "query": pl.Series(run.about.queries, dtype=pl.String),
                    **({} if (given := run.about.weights) is None else {"weight": given.values}),
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
