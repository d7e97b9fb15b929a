"""The values of a run: each measure for each query, the policy applied, and the summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints
from judged.errors import MeasureError, PolicyError
from judged.evaluation.settings import regraded
from judged.matching.pool import weighted
from judged.matching.ties import Variants, cut, judged_alike
from judged.measures import Measure, Spec
from judged.measures.registry import AGGREGATIONS, Mask, Settled
from judged.measures.tie_orders import Expected, expectations, in_order, tied_queries
from judged.policy import Policy
from judged.rankings.audit import audit_of, findings_of
from judged.rankings.rankings import ANY_GRADE, Rankings
from judged.statistics.samples import Means, Median, QueryRows, Sample, relative
from judged.text import few, plain

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.settings import Conventional, EvaluationSettings
    from judged.evaluation.trusted import Correction
    from judged.evaluation.unanswerable import Unanswerable
    from judged.inputs.weights import QueryWeights
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
"""Assumptions about unjudged results, with their explanations."""
TRUSTED = "trusted"
"""The name of a run scored by trusted judgements, among its own `others`."""


# Carriers that every evaluation loads are not frozen: the methods that this would generate take 5 %
# of the start-up of a small evaluation.
@dataclass(eq=False, repr=False)
class Scored:
    """One run's values: for each measure one number per query, and the summary."""

    rankings: Rankings
    """The ranks of its judged items, its queries and their judgements."""
    values: dict[Measure, Floats]
    """One number per query; NaN for a query that does not count."""
    summary: dict[Measure, float]
    """The mean over the queries that count, or what else the measure says; where there are trusted
    judgements, corrected by them."""
    samples: dict[Measure, Sample] = field(default_factory=dict)
    """The sample behind the summary, for measures whose sample is not the values."""
    nothing: dict[Measure, Mask] = field(default_factory=dict)
    """Queries in which nothing is relevant to the measure."""
    undefined: dict[Measure, Mask] = field(default_factory=dict)
    """Other queries for which the measure has no value, if there are any."""
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
    """The corrections of the summaries by trusted judgements."""
    unanswerable: Unanswerable | None = None
    """Results for queries without relevant items, if these are left out of means."""
    labels: Mapping[Measure, str] = field(default_factory=dict)
    """Names of measures that the caller wrote differently."""

    @property
    def name(self) -> str:
        """The run's name."""
        return self.rankings.name

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries' ids, in the order of the values."""
        return self.rankings.queries

    @cached_property
    def audit(self) -> Audit:
        """The audit of the run's data."""
        return audit_of(self.rankings)

    def label(self, measure: Measure) -> str:
        """Return the name of a measure in tables and files, as the caller wrote it."""
        label = self.labels.get(measure)
        return str(measure) if label is None else label

    def sample(self, measure: Measure) -> Sample:
        """Return what a measure's summary is made of: one row per query that counts."""
        if measure in self.samples:
            return self.samples[measure]
        counted = ~np.isnan(self.values[measure])
        values, known = self.values[measure][counted], self.rankings.weights
        weights = None if known is None else relative(known.values[counted])
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
        """Return everything as plain Python values that JSON can hold."""
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
        """Return the scores, those of the queries, and the standard errors of estimates."""
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
        """Return the source of the weights, the effective number of queries, and the weights."""
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


def score_run(
    rankings: Rankings, settings: EvaluationSettings, weights: QueryWeights | None = None
) -> Scored:
    """Compute the values of a run under the settings; `weights` say how much each query counts."""
    r = rankings if weights is None else weighted(rankings, weights)
    if r.weights is not None:
        _refuse_sums(settings.measures)
    policy = settings.policy
    _refuse_missing(r, policy)
    if policy.depth is not None and policy.depth != r.depth:
        r = _cut_again(r, policy.depth)
    if (policy.ties, policy.unjudged) != (r.ties, r.unjudged):
        r = Variants(r).under(policy.ties, policy.unjudged)
    if r.findings is None or r.findings.missing_queries:
        r = replace(r, findings=findings_of(r).in_order(r.queries))
    return score(r, settings)


def _cut_again(r: Rankings, depth: int) -> Rankings:
    if r.depth is not None and depth > r.depth:
        raise PolicyError(
            f"{r.name}: the lists were cut at rank {r.depth:,}, so depth={depth:,} cannot be "
            "evaluated; make the rankings again with longer lists."
        )
    return replace(cut(r.whole or r, depth), findings=r.findings)


def score(r: Rankings, settings: EvaluationSettings, *, of: Rankings | None = None) -> Scored:
    """Compute all values and apply the policy; `of` are the rankings as they were, if changed."""
    scored = Scored(of or r, {}, {}, labels=settings.labels)
    graded = graded_for(r, settings.measures, settings.convention)
    estimates = _expected(graded) if r.ties == "expected" else {}
    for measure, used in graded.items():
        found = estimates.get(measure) or Expected(measure.compute(used))
        _enter(scored, measure, found, used, settings)
    return scored


def score_ties(run: Scored, settings: EvaluationSettings) -> dict[str, Scored]:
    """Score a run in the worst order of its tied results, on average, and in the best."""
    unbroken = Variants(run.rankings).under("expected")
    if not tied_queries(unbroken).any():
        return dict.fromkeys(TIE_ORDERS, run)
    worst, mean, best = (Scored(run.rankings, {}, {}, labels=run.labels) for _ in TIE_ORDERS)
    graded = graded_for(unbroken, settings.measures, settings.convention)
    for measure, found in _expected(graded, ends=True).items():
        used = graded[measure]
        _enter(mean, measure, found, used, settings)
        assert found.low is not None
        assert found.high is not None
        assert found.sure is not None
        ends = (found.low, found.high)
        for side, values in zip(
            (worst, best), ends if measure.spec.higher_is_better else ends[::-1], strict=True
        ):
            # A summary that is not made of the queries' values is that of the order by worth.
            worth = measure.worth(used) if measure.spec.made_of is not None else None
            order = used if worth is None else in_order(used, worth.ranks(used, best=side is best))
            _enter(side, measure, Expected(values), order, settings)
            if beyond := int((~found.sure & ~np.isnan(side.values[measure])).sum()):
                side.unsure[measure] = beyond
    return {"worst": worst, "expected": run if run.rankings is unbroken else mean, "best": best}


def score_unjudged(run: Scored, settings: EvaluationSettings) -> dict[str, Scored]:
    """Score a run with all unjudged results judged: irrelevant, or of the top grade."""
    r = run.rankings
    if r.complete:
        raise PolicyError(
            f"an unjudged range has no meaning for {r.name}: every item is judged, and only "
            "relevant ones are listed. Leave it out."
        )
    return {
        name: score(judged_alike(r, grade), settings, of=r)
        for name, grade in zip(UNJUDGED_ENDS, (0.0, r.top_grade), strict=True)
    }


def _refuse_sums(measures: tuple[Measure, ...]) -> None:
    """Raise an error for weighted sums: their value changes when all weights are doubled."""
    for measure in measures:
        if not AGGREGATIONS[measure.params["aggregate"]].weighted:
            raise MeasureError(
                f"{measure} is a sum over the queries, for which weights have no one meaning; "
                f"leave it out, or ask for its mean, {measure(aggregate='mean')}."
            )


def is_bounded(run: Scored, measure: Measure, policy: Policy) -> bool:
    """Return whether the unjudged range bounds the value for all judgements."""
    # A query that counts only where something is relevant, or counts as perfect where nothing is,
    # may be worth less with one more relevant item.
    settled = policy.empty in ("zero", "error") or (
        policy.empty == "one" and not measure.spec.rates_relevance
    )
    estimated = any(measure in run.others[name].errors for name in UNJUDGED_ENDS)
    return measure.monotone and settled and not estimated


_CHOOSE_EMPTY = (
    "empty=zero (--empty zero) gives them the worst value, empty=skip (--empty skip) leaves them "
    "out."
)


def _refuse_missing(r: Rankings, policy: Policy) -> None:
    if policy.missing == "error" and r.missing.any():
        raise PolicyError(
            f"{r.name} lacks {_some(r, r.missing)}, and missing=error says to stop; "
            "missing=zero (--missing zero) counts them as empty, missing=skip (--missing skip) "
            "leaves them out."
        )


def graded_for(
    r: Rankings, measures: tuple[Measure, ...], convention: Conventional | None
) -> dict[Measure, Rankings]:
    """Return the rankings that each measure uses, with the grades of the convention."""
    for measure in measures:
        if r.complete and measure.spec.tells_unjudged:
            raise MeasureError(
                f"{measure} tells irrelevant items from unjudged ones; in {r.name} every item is "
                "judged, and only relevant ones are listed. Leave it out."
            )
    if convention is None:
        return dict.fromkeys(measures, r)
    rules = {measure: convention.threshold(measure) for measure in measures}
    known = {rule: regraded(r, rule) if rule else r for rule in dict.fromkeys(rules.values())}
    return {measure: known[rule] for measure, rule in rules.items()}


def _expected(graded: dict[Measure, Rankings], *, ends: bool = False) -> dict[Measure, Expected]:
    """Compute means over the orders of ties, of all measures on the same rankings at once."""
    found: dict[Measure, Expected] = {}
    for r in {id(used): used for used in graded.values()}.values():
        found |= expectations([m for m, used in graded.items() if used is r], r, ends=ends)
    return {measure: found[measure] for measure in graded}


def _enter(
    scored: Scored, measure: Measure, found: Expected, r: Rankings, settings: EvaluationSettings
) -> None:
    """Apply the policy to a measure's values on rankings `r`, and enter them into `scored`."""
    nothing = nothing_relevant(measure, r)
    rows = measure.gives(r) if measure.spec.gives is not None else None
    raw = settings.convention.filled(measure, found.values) if settings.convention else found.values
    values, sample, summary = settled(measure, scored.rankings, settings.policy, raw, nothing, rows)
    scored.values[measure], scored.summary[measure] = values, summary
    scored.nothing[measure] = nothing
    if (without := undefined(measure, raw) & ~nothing).any():
        scored.undefined[measure] = without
    if sample is not None:
        scored.samples[measure] = sample
    if found.errors is not None:
        counted = ~np.isnan(values)
        scored.errors[measure] = np.where(counted, found.errors, np.nan)
        weights = scored.rankings.weights_of(counted)
        error = measure.summarise_error(values[counted], found.errors[counted], weights)
        if error is not None:
            scored.summary_errors[measure] = error


def settled(
    measure: Measure,
    r: Rankings,
    policy: Policy,
    raw: Floats,
    nothing: Mask,
    rows: QueryRows | None,
) -> tuple[Floats, Sample | None, float]:
    """Apply a policy to a measure's values; `nothing` marks queries without relevant items.

    Returns the values, NaN for a query that does not count; the sample behind the summary, if it is
    not these values; and the summary.
    """
    idle = None if r.weights is None else r.weights.values == 0
    if policy.empty == "error" and nothing.any():
        raise PolicyError(
            f"nothing is relevant for {_some(r, nothing)}, and empty=error says to stop; "
            f"{_CHOOSE_EMPTY}"
        )
    without = undefined(measure, raw)
    if policy.empty == "error" and without.any():
        raise PolicyError(
            f"{measure} is undefined for {_some(r, without)}: {measure.spec.undefined.text}; "
            f"empty=error says to stop; {_CHOOSE_EMPTY}"
        )
    counted, settle = applied(measure.spec, policy, nothing | without, r.missing, idle)
    values = settle(raw)
    shown = np.full(len(raw), np.nan)
    shown[counted] = values
    weights = None if r.weights is None else r.weights_of(counted)
    given = Settled(values, counted, settle, weights)
    summary, sample = measure.summarise(rows, given)
    return shown, sample, summary


def _some(r: Rankings, which: Mask) -> str:
    names = [r.queries[i] for i in np.flatnonzero(which)]
    return f"{len(names):,} of {len(r):,} judged queries ({few(names)})"


def nothing_relevant(measure: Measure, r: Rankings) -> Mask:
    """Return the queries without relevant items for a measure."""
    rel: float = measure.params.get("rel", ANY_GRADE)
    return r.relevant(rel) == 0


def undefined(measure: Measure, values: Floats) -> Mask:
    """Return the queries whose judgements leave the measure undefined."""
    if measure.spec.undefined.of_run:
        return np.zeros(len(values), bool)
    return np.isnan(values)


def applied(
    spec: Spec, policy: Policy, nothing: Mask, missing: Mask, idle: Mask | None = None
) -> tuple[Mask, Callable[[Floats], Floats]]:
    """Return the queries that count, and a function that makes their values by the policy.

    `nothing` marks queries without relevant items, or without a value for another reason, `missing`
    those that the run lacks, and `idle` those of no weight.
    """
    counted = np.ones(len(missing), bool)
    if policy.missing == "skip":
        counted &= ~missing
    if policy.empty == "skip":
        counted &= ~nothing
    if idle is not None:
        counted &= ~idle
    upwards = spec.higher_is_better or not spec.rates_relevance
    worst, best = (spec.range[0], 1.0) if upwards else (spec.range[1], spec.range[0])

    def settle(values: Floats) -> Floats:
        if spec.rates_relevance and policy.empty == "one":
            values = np.where(nothing, best, values)
        return np.where(np.isnan(values), worst, values)[..., counted]

    return counted, settle


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
