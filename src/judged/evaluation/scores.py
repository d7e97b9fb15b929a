"""The values of a run: what each measure gives for each query, what the policy makes of it, and the
summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import MeasureError, PolicyError
from judged.evaluation.settings import regraded
from judged.matching.pool import weighted
from judged.matching.variants import Variants, cut
from judged.measures import Measure, Spec
from judged.measures.registry import AGGREGATIONS, Mask, Settled
from judged.measures.ties import Expected, expectations, in_order, tied_queries
from judged.policy import Policy
from judged.rankings.audit import findings_of
from judged.rankings.rankings import ANY_GRADE, Rankings
from judged.statistics.samples import Means, Median, QueryRows, Sample, relative
from judged.text import few, plain

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.settings import Conventional, EvaluationSettings
    from judged.evaluation.trusted import Correction
    from judged.evaluation.unanswerable import Unanswerable
    from judged.inputs.tables import QueryWeights
    from judged.rankings.audit import Audit
    from judged.rankings.rankings import Weights
    from judged.statistics.intervals import Interval

TIE_ORDERS = ("worst", "expected", "best")
"""Tie rules whose values make a tie range, from the worst to the best."""
UNJUDGED_ENDS = {
    "unjudged irrelevant": "all unjudged results are taken for judged, of grade 0",
    "unjudged relevant": (
        "all unjudged results are taken for judged, of the top grade in the judgements"
    ),
}
"""What unjudged results may turn out to be."""
TRUSTED = "trusted"
"""The name of a run scored by trusted judgements, among its own `others`."""


@dataclass(frozen=True, eq=False)
class Scored:
    """One run's values: for each measure one number per query, and the summary.

    >>> from judged import evaluate
    >>> run = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").scored()
    >>> run.name, list(run.summary.values())
    ('run', [0.5])
    """

    rankings: Rankings
    """The ranks of its judged items, its queries and their judgements."""
    values: dict[Measure, Floats]
    """One number per query; NaN for a query that does not count."""
    summary: dict[Measure, float]
    """The mean over the queries that count, or what else the measure says; where there are trusted
    judgements, corrected by them."""
    samples: dict[Measure, Sample] = field(default_factory=dict)
    """What the summary is made of, for measures where that is not the values."""
    nothing: dict[Measure, Mask] = field(default_factory=dict)
    """Queries in which nothing is relevant to the measure."""
    errors: dict[Measure, Floats] = field(default_factory=dict)
    """Standard errors of the values, for measures whose expected value was estimated from random
    orders of ties."""
    summary_errors: dict[Measure, float] = field(default_factory=dict)
    """The same of the summaries."""
    unsure: dict[Measure, int] = field(default_factory=dict)
    """Measures whose values here, the worst or best over orders of ties, are of some orders only:
    others may go further. And in how many queries."""
    intervals: dict[Measure, Interval] = field(default_factory=dict)
    """The intervals of the summaries, where they were asked for."""
    others: dict[str, Scored] = field(default_factory=dict)
    """The same run under other assumptions, by their names: worst, expected, best; unjudged
    irrelevant, unjudged relevant; trusted, by the trusted judgements alone."""
    corrections: dict[Measure, Correction] = field(default_factory=dict)
    """How the summaries were corrected, where there are trusted judgements."""
    unanswerable: Unanswerable | None = None
    """What the run does with queries that have nothing relevant, where these are looked at apart.
    """
    labels: Mapping[Measure, str] = field(default_factory=dict)
    """What the measures are called, where that is not our notation."""

    @property
    def name(self) -> str:
        """The run's name."""
        return self.rankings.name

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries' ids, in the order of the values."""
        return self.rankings.queries

    @property
    def audit(self) -> Audit:
        """What was found in the run's data."""
        return (
            findings_of(self.rankings).audit()
            if self.rankings.audit is None
            else self.rankings.audit
        )

    def label(self, measure: Measure) -> str:
        """What a measure is called in tables and files: as it was asked for.

        Parameters
        ----------
        measure : Measure
            One that was computed.

        >>> from judged import AP, evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "MAP").scored().label(AP)
        'MAP'
        """
        label = self.labels.get(measure)
        return str(measure) if label is None else label

    def sample(self, measure: Measure) -> Sample:
        """What a measure's summary is made of: one row per query that counts, in the order of the
        queries.

        Parameters
        ----------
        measure : Measure
            One that was computed.

        >>> from judged import RR, evaluate
        >>> run = {"q1": ["b", "a"], "q2": ["c"]}
        >>> scored = evaluate({"q1": {"a": 1}, "q2": {"c": 1}}, run, "RR").scored()
        >>> scored.sample(RR).columns.tolist()
        [[0.5], [1.0]]
        """
        if measure in self.samples:
            return self.samples[measure]
        counted = ~np.isnan(self.values[measure])
        values, weights = self.values[measure][counted], relative(self.rankings.weights_of(counted))
        aggregate = measure.params["aggregate"]
        if aggregate == "median":
            return Median.of_values(values, weights)
        return Means.of_values(values, aggregate, weights)

    @cached_property
    def in_order(self) -> Ints:
        """The queries as numbers among all of them, in the order of their ids."""
        queries = self.rankings.queries
        return np.array(sorted(range(len(queries)), key=queries.__getitem__), np.int64)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are there too.

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").scored().to_dict()["scores"]
        {'RR': 0.5}
        """
        entry = {"name": self.name, **self._numbers(per_query=per_query)}
        if self.intervals:
            entry["intervals"] = {self.label(m): at.to_dict() for m, at in self.intervals.items()}
        if self.corrections:
            entry["trusted"] = {self.label(m): at.to_dict() for m, at in self.corrections.items()}
            if per_query:
                entry["cheap_per_query"] = entry.pop("per_query")
                entry["trusted_per_query"] = self._by_query(self.others[TRUSTED].values)
        for range_, names in {"tie_range": TIE_ORDERS, "unjudged_range": UNJUDGED_ENDS}.items():
            if set(names) <= set(self.others):
                entry[range_] = {
                    name.removeprefix("unjudged "): self.others[name]._numbers(per_query=per_query)
                    for name in names
                }
        for name in set(TIE_ORDERS) & set(self.others):
            if unsure := self.others[name].unsure:
                entry["tie_range"]["at_least"] = {
                    self.label(m): count for m, count in unsure.items()
                }
        if self.rankings.weights is not None:
            entry["weights"] = self._weights(self.rankings.weights, per_query=per_query)
        if self.unanswerable is not None:
            entry["unanswerable"] = self.unanswerable.to_dict(per_query=per_query)
        if self.rankings.basis:
            entry["basis"] = list(self.rankings.basis)
        return {**entry, "audit": self.audit.to_dict()}

    def _numbers(self, *, per_query: bool) -> dict[str, Any]:
        """The scores, those of the queries, and the standard errors of what is an estimate."""
        entry: dict[str, Any] = {
            "scores": {self.label(m): plain(at) for m, at in self.summary.items()}
        }
        if self.errors:
            entry["standard_errors"] = {
                self.label(m): plain(self.summary_errors.get(m)) for m in self.errors
            }
        if per_query:
            entry["per_query"] = self._by_query(self.values)
            if self.errors:
                entry["standard_errors_per_query"] = self._by_query(self.errors)
        return entry

    def _weights(self, weights: Weights, *, per_query: bool) -> dict[str, Any]:
        """Where the weights come from, what they are worth, and those of the queries."""
        from judged.evaluation.intervals import effective_queries

        found = {self.label(m): effective_queries(self, m) for m in self.values}
        entry: dict[str, Any] = {"source": weights.source, "effective_queries": found}
        if per_query:
            queries = self.rankings.queries
            entry["per_query"] = dict(zip(queries, weights.values.tolist(), strict=True))
        return entry

    def _by_query(self, values: dict[Measure, Floats]) -> dict[str, dict[str, Any]]:
        names = list(map(self.label, values))
        columns = [column.tolist() for column in values.values()]
        return {
            query: dict(zip(names, map(plain, row), strict=True))
            for query, *row in zip(self.rankings.queries, *columns, strict=True)
        }


@dataclass(frozen=True, eq=False)
class Values:
    """One number per query for each measure, and what settling them takes."""

    raw: dict[Measure, Floats] = field(default_factory=dict)
    """NaN where a measure is undefined."""
    nothing: dict[Measure, Mask] = field(default_factory=dict)
    """Queries in which nothing is relevant to the measure."""
    errors: dict[Measure, Floats] = field(default_factory=dict)
    """Standard errors, where values were estimated from random orders of ties."""
    rows: dict[Measure, QueryRows] = field(default_factory=dict)
    """What queries give to summaries that are not made of the values."""
    sure: dict[Measure, Mask] = field(default_factory=dict)
    """Queries in which no order of ties goes further, where values are the worst or the best."""


def score_run(
    rankings: Rankings, settings: EvaluationSettings, weights: QueryWeights | None = None
) -> Scored:
    """Compute the values of a run under the settings; `weights` say how much each query counts."""
    r = rankings if weights is None else weighted(rankings, weights)
    if r.weights is not None:
        refuse_sums(settings.measures)
    policy = settings.policy
    refuse_missing(r, policy)
    if policy.depth is not None and policy.depth != r.depth:
        r = _cut_again(r, policy.depth)
    if (policy.ties, policy.unjudged) != (r.ties, r.unjudged):
        r = Variants(r).under(policy.ties, policy.unjudged)
    if r.findings is None or r.findings.missing_queries:
        r = replace(r, findings=findings_of(r).in_order(r.queries))
    values = values_of(r, settings.measures, settings.convention)
    return replace(settled_values(values, r, policy), labels=settings.labels)


def _cut_again(r: Rankings, depth: int) -> Rankings:
    """Cut rankings that were made with longer lists."""
    if r.depth is not None and depth > r.depth:
        raise PolicyError(
            f"{r.name}: the lists were cut at rank {r.depth:,}, so depth={depth:,} cannot be "
            "evaluated; make the rankings again with longer lists."
        )
    return replace(cut(r.whole or r, depth), findings=r.findings)


def score_ties(run: Scored, settings: EvaluationSettings) -> dict[str, Scored]:
    """Score a run in the worst order of its tied results, on average over all orders, and in the
    best."""
    unbroken = Variants(run.rankings).under("expected")
    if not tied_queries(unbroken).any():
        return dict.fromkeys(TIE_ORDERS, run)
    values = tied_values_of(unbroken, settings.measures, settings.convention)
    scored = {name: _settle_tied(values[name], run, settings.policy) for name in TIE_ORDERS}
    if run.rankings is unbroken:
        scored["expected"] = run
    return scored


def _settle_tied(values: Values, run: Scored, policy: Policy) -> Scored:
    scored = settled_values(values, run.rankings, policy)
    for measure, sure in values.sure.items():
        if beyond := int((~sure & ~np.isnan(scored.values[measure])).sum()):
            scored.unsure[measure] = beyond
    return replace(scored, labels=run.labels)


def score_unjudged(run: Scored, settings: EvaluationSettings) -> dict[str, Scored]:
    """Score a run with all unjudged results judged: irrelevant, or of the top grade."""
    r = run.rankings
    if r.complete:
        raise PolicyError(
            f"an unjudged range has no meaning for {r.name}: every item is judged, and only "
            "relevant ones are listed. Leave it out."
        )
    scored = {}
    for name, grade in zip(UNJUDGED_ENDS, (0.0, r.top_grade), strict=True):
        values = values_of(Variants(r).filled(grade), settings.measures, settings.convention)
        scored[name] = replace(settled_values(values, r, settings.policy), labels=run.labels)
    return scored


def refuse_sums(measures: tuple[Measure, ...]) -> None:
    """Raise an error for weighted sums: their value changes when all weights are doubled."""
    for measure in measures:
        if not AGGREGATIONS[measure.params["aggregate"]].weighted:
            raise MeasureError(
                f"{measure} is a sum over the queries, for which weights have no one meaning; "
                f"leave it out, or ask for its mean, {measure(aggregate='mean')}."
            )


def is_bounded(run: Scored, measure: Measure, policy: Policy) -> bool:
    """Whether no other judgements of the unjudged results, up to the top grade, give a value
    outside the two of the unjudged range."""
    # A query that counts only where something is relevant, or counts as perfect where nothing is,
    # may be worth less with one more relevant item.
    settled = policy.empty in ("zero", "error") or (
        policy.empty == "one" and not measure.spec.rates_relevance
    )
    estimated = any(measure in run.others[name].errors for name in UNJUDGED_ENDS)
    return measure.monotone and settled and not estimated


def under(r: Rankings, policy: Policy) -> Rankings:
    """The rankings with ties and unjudged items as the policy wants them, and no query missing
    where it refuses that."""
    refuse_missing(r, policy)
    return Variants(r).under(policy.ties, policy.unjudged)


def refuse_missing(r: Rankings, policy: Policy) -> None:
    """An error where a query is missing and the policy refuses that."""
    if policy.missing == "error" and r.missing.any():
        raise PolicyError(
            f"{r.name} lacks {_some(r, r.missing)}, and missing=error says to stop; "
            "missing=zero counts them as empty, missing=skip leaves them out."
        )


def score(
    r: Rankings,
    measures: tuple[Measure, ...],
    policy: Policy,
    convention: Conventional | None = None,
) -> Scored:
    """The values of all measures, settled; under a convention, of the grades that it takes."""
    return settled_values(values_of(r, measures, convention), r, policy)


def values_of(
    r: Rankings, measures: tuple[Measure, ...], convention: Conventional | None = None
) -> Values:
    """The values of all measures before policy; under a convention, of the grades that it takes."""
    made = Values()
    graded = graded_for(r, measures, convention)
    estimates = _expected(graded) if r.ties == "expected" else {}
    for measure, own in graded.items():
        found = estimates.get(measure) or Expected(measure.compute(own))
        _put(made, measure, convention, found, own)
    return made


def tied_values_of(
    r: Rankings, measures: tuple[Measure, ...], convention: Conventional | None = None
) -> dict[str, Values]:
    """The values of all measures over the orders of ties that were left unbroken: the worst, the
    mean and the best."""
    worst, mean, best = (Values() for _ in TIE_ORDERS)
    graded = graded_for(r, measures, convention)
    estimates = _expected(graded, ends=True)
    for measure, own in graded.items():
        found = estimates[measure]
        _put(mean, measure, convention, found, own)
        assert found.low is not None
        assert found.high is not None
        assert found.sure is not None
        ends = found.low, found.high
        for side, values in zip(
            (worst, best), ends if measure.spec.higher_is_better else reversed(ends), strict=True
        ):
            # A summary that is not made of the queries' values is that of the order by worth.
            worth = measure.worth(own) if measure.spec.made_of is not None else None
            order = own if worth is None else in_order(own, worth.ranks(own, best=side is best))
            _put(side, measure, convention, Expected(values), order)
            side.sure[measure] = found.sure
    return dict(zip(TIE_ORDERS, (worst, mean, best), strict=True))


def graded_for(
    r: Rankings, measures: tuple[Measure, ...], convention: Conventional | None
) -> dict[Measure, Rankings]:
    """The rankings that each measure is computed of: those with the grades that the convention
    takes for it."""
    for measure in measures:
        if r.complete and measure.spec.tells_unjudged:
            raise MeasureError(
                f"{measure} tells irrelevant items from unjudged ones; in {r.name} every item is "
                "judged, and only relevant ones are listed. Leave it out."
            )
    rules = {each: convention.threshold(each) if convention else "" for each in measures}
    known = {rule: regraded(r, rule) if rule else r for rule in dict.fromkeys(rules.values())}
    return {measure: known[rule] for measure, rule in rules.items()}


def _expected(graded: dict[Measure, Rankings], *, ends: bool = False) -> dict[Measure, Expected]:
    """Means over the orders of ties, of all measures on the same rankings at once."""
    found: dict[Measure, Expected] = {}
    for r in {id(own): own for own in graded.values()}.values():
        some = tuple(measure for measure, own in graded.items() if own is r)
        found |= expectations(some, r, ends=ends)
    return found


def _put(
    made: Values, measure: Measure, convention: Conventional | None, found: Expected, r: Rankings
) -> None:
    """Enter a measure's values, with all that settling them takes."""
    made.raw[measure] = convention.filled(measure, found.values) if convention else found.values
    made.nothing[measure] = nothing_relevant(measure, r)
    if found.errors is not None:
        made.errors[measure] = found.errors
    if (rows := measure.gives(r)) is not None:
        made.rows[measure] = rows


def settled_values(made: Values, r: Rankings, policy: Policy) -> Scored:
    """What a policy makes of the values of all measures."""
    scored = Scored(r, {}, {})
    for measure, raw in made.raw.items():
        nothing = made.nothing[measure]
        values, sample, scored.summary[measure] = settled(
            measure, r, policy, raw, nothing, made.rows.get(measure)
        )
        scored.values[measure] = values
        scored.nothing[measure] = nothing
        if sample is not None:
            scored.samples[measure] = sample
        if (errors := made.errors.get(measure)) is not None:
            counted = ~np.isnan(values)
            scored.errors[measure] = np.where(counted, errors, np.nan)
            weights = r.weights_of(counted)
            error = measure.summarise_error(values[counted], errors[counted], weights)
            if error is not None:
                scored.summary_errors[measure] = error
    return scored


class Outcome(NamedTuple):
    """A measure's values with the policy applied, and its summary."""

    values: Floats
    """NaN for a query that does not count."""
    sample: Sample | None
    """What the summary is made of, where that is not these values."""
    summary: float


def settled(
    measure: Measure,
    r: Rankings,
    policy: Policy,
    raw: Floats,
    nothing: Mask,
    rows: QueryRows | None,
) -> Outcome:
    """What a policy makes of a measure's values; in the queries of `nothing`, nothing is relevant,
    and `rows` are what all give to a summary that is not made of the values."""
    idle = None if r.weights is None else r.weights.values == 0
    if policy.empty == "error" and nothing.any():
        raise PolicyError(
            f"nothing is relevant for {_some(r, nothing)}, and empty=error says to stop; "
            "empty=zero gives them the worst value, empty=skip leaves them out."
        )
    without = undefined(measure, raw)
    if policy.empty == "error" and without.any():
        raise PolicyError(
            f"{measure} is undefined for {_some(r, without)}: {measure.spec.undefined.text}; "
            "empty=error says to stop, empty=zero gives them the worst value, empty=skip leaves "
            "them out."
        )
    settlement = Settlement(measure.spec, policy, nothing | without, r.missing, idle)
    counted, values = settlement.counted, settlement.settle(raw)
    shown = np.full(len(r), np.nan)
    shown[counted] = values
    given = Settled(values, counted, settlement.settle, r.weights_of(counted))
    sample = measure.made_of(rows, given) if counted.any() else None
    summary = measure.summarise(rows, given) if sample is None else sample.value()
    return Outcome(shown, sample, summary)


def _some(r: Rankings, which: Mask) -> str:
    """How many of the judged queries, and the first few of them."""
    names = [r.queries[i] for i in np.flatnonzero(which)]
    return f"{len(names):,} of {len(r):,} judged queries ({few(names)})"


def nothing_relevant(measure: Measure, r: Rankings) -> Mask:
    """The queries with nothing relevant, at the measure's own `rel` or, where it has none, with no
    grade above 0."""
    rel: float = measure.params.get("rel", ANY_GRADE)
    return r.relevant(rel) == 0


def undefined(measure: Measure, values: Floats) -> Mask:
    """The queries whose judgements leave the measure without a value, whatever is retrieved."""
    if measure.spec.undefined.of_run:
        return np.zeros(len(values), bool)
    return np.isnan(values)


@dataclass(frozen=True, eq=False)
class Settlement:
    """A policy, made ready for the values of one measure."""

    spec: Spec
    policy: Policy
    nothing: Mask
    """Queries with nothing relevant, or judged so that the measure has no value for another
    reason."""
    missing: Mask
    """Queries that the run lacks."""
    idle: Mask | None = None
    """Queries of no weight."""

    @property
    def counted(self) -> Mask:
        """The queries that count."""
        counted = np.ones(len(self.missing), bool)
        if self.policy.missing == "skip":
            counted &= ~self.missing
        if self.policy.empty == "skip":
            counted &= ~self.nothing
        if self.idle is not None:
            counted &= ~self.idle
        return counted

    def settle(self, values: Floats) -> Floats:
        """The values of the queries that count, none of them undefined; queries are along the last
        axis."""
        spec = self.spec
        upwards = spec.higher_is_better or not spec.rates_relevance
        worst, best = (spec.range[0], 1.0) if upwards else (spec.range[1], spec.range[0])
        filled = values
        if spec.rates_relevance and self.policy.empty == "one":
            filled = np.where(self.nothing, best, filled)
        return np.where(np.isnan(filled), worst, filled)[..., self.counted]


def about_runs(evaluation: Evaluation, sentences: Sequence[Sequence[str]]) -> list[str]:
    """Return each sentence about runs once, with the names of the runs unless it is about all."""
    names: dict[str, list[str]] = {}
    for run, about_run in zip(evaluation.runs, sentences, strict=True):
        for sentence in about_run:
            names.setdefault(sentence, []).append(run.name)
    return [
        text if len(runs) == len(evaluation.runs) else f"{', '.join(runs)}: {text}"
        for text, runs in names.items()
    ]
