"""What a policy makes of a measure's values: which queries count, and what is put where a value is
undefined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from judged.errors import MeasureError, PolicyError
from judged.evaluation.preparation import regraded
from judged.evaluation.ranges import TIE_ORDERS, UNJUDGED_ENDS
from judged.judging.variants import Variants
from judged.measures import Measure, Spec
from judged.measures.expected import Expected, expectations
from judged.measures.orders import in_order
from judged.measures.spec import Mask, Settled
from judged.policy import Policy
from judged.rankings.audit import Audit, audit_of
from judged.rankings.rankings import Rankings
from judged.segments import Floats
from judged.statistics.aggregates import relative
from judged.statistics.samples import Means, Median, Sample
from judged.text import plain

if TYPE_CHECKING:
    from judged.evaluation.request import Conventional
    from judged.evaluation.unanswerable import Unanswerable
    from judged.rankings.weights import Weights


@dataclass(frozen=True, eq=False)
class Scored:
    """One run's values: for each measure one number per query, and the summary.

    >>> from judged import evaluate
    >>> run = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").scored()
    >>> run.name, list(run.summary.values())
    ('run', [0.5])
    """

    rankings: Rankings
    """What the values were computed from."""
    values: dict[Measure, Floats]
    """One number per query; NaN for a query that does not count."""
    summary: dict[Measure, float]
    """The mean over the queries that count, or what else the measure says."""
    samples: dict[Measure, Sample] = field(default_factory=dict)
    """What the summary is made of, for measures where that is not the values."""
    errors: dict[Measure, Floats] = field(default_factory=dict)
    """Standard errors of the values, for measures whose expected value was estimated from random
    orders of ties."""
    summary_errors: dict[Measure, float] = field(default_factory=dict)
    """The same of the summaries."""
    unsure: dict[Measure, int] = field(default_factory=dict)
    """Measures whose values here, the worst or best over orders of ties, are of some orders only:
    others may go further. And in how many queries."""
    others: dict[str, Scored] = field(default_factory=dict)
    """The same run under other assumptions, by their names: worst, expected, best; unjudged
    irrelevant, unjudged relevant."""
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
    def audit(self) -> Audit:
        """What was found in the run's data."""
        return audit_of(self.rankings)

    def label(self, measure: Measure) -> str:
        """What a measure is called in tables and files: as it was asked for.

        Parameters
        ----------
        measure : Measure
            One that was computed.

        Returns
        -------
        str

        >>> from judged import AP, evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "MAP").scored().label(AP)
        'MAP'
        """
        return self.labels.get(measure, str(measure))

    def sample(self, measure: Measure) -> Sample:
        """What a measure's summary is made of: one row per query that counts, in the order of the
        rankings.

        Parameters
        ----------
        measure : Measure
            One that was computed.

        Returns
        -------
        Sample

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

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Everything, as plain Python values that JSON can hold.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of every query are there too.

        Returns
        -------
        dict

        >>> from judged import evaluate
        >>> evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR").scored().to_dict()["scores"]
        {'RR': 0.5}
        """
        entry = {"name": self.name, **self._numbers(per_query=per_query)}
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
        from judged.evaluation.weighting import effective_queries

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
    if policy.missing == "error" and r.missing.any():
        raise PolicyError(
            f"{r.name} lacks {_some(r, r.missing)}, and missing=error says to stop; "
            "missing=zero counts them as empty, missing=skip leaves them out."
        )
    return Variants(r).under(policy.ties, policy.unjudged)


def score(
    r: Rankings,
    measures: tuple[Measure, ...],
    policy: Policy,
    convention: Conventional | None = None,
) -> Scored:
    """The values of all measures, settled; under a convention, of the grades that it takes."""
    scored = Scored(r, {}, {})
    graded = graded_for(r, measures, convention)
    estimates = _expected(graded) if r.ties == "expected" else {}
    for measure, own in graded.items():
        found = estimates.get(measure) or Expected(measure.compute(own))
        _put(scored, measure, policy, convention, found, own)
    return scored


def score_ties(
    r: Rankings,
    measures: tuple[Measure, ...],
    policy: Policy,
    convention: Conventional | None = None,
) -> dict[str, Scored]:
    """The values of all measures over the orders of ties that were left unbroken: the worst, the
    mean and the best."""
    worst, mean, best = (Scored(r, {}, {}) for _ in TIE_ORDERS)
    graded = graded_for(r, measures, convention)
    estimates = _expected(graded, ends=True)
    for measure, own in graded.items():
        found = estimates[measure]
        _put(mean, measure, policy, convention, found, own)
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
            _put(side, measure, policy, convention, Expected(values), order)
        if beyond := int((~found.sure & ~np.isnan(mean.values[measure])).sum()):
            worst.unsure[measure] = best.unsure[measure] = beyond
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
    scored: Scored,
    measure: Measure,
    policy: Policy,
    convention: Conventional | None,
    found: Expected,
    r: Rankings,
) -> None:
    """Settle a measure's values and enter them, with what is known of their errors."""
    raw = convention.filled(measure, found.values) if convention else found.values
    values, sample, scored.summary[measure] = settled(measure, r, policy, raw)
    scored.values[measure] = values
    if sample is not None:
        scored.samples[measure] = sample
    if found.errors is not None:
        counted = ~np.isnan(values)
        scored.errors[measure] = np.where(counted, found.errors, np.nan)
        weights = r.weights_of(counted)
        error = measure.summarise_error(values[counted], found.errors[counted], weights)
        if error is not None:
            scored.summary_errors[measure] = error


class Outcome(NamedTuple):
    """A measure's values with the policy applied, and its summary."""

    values: Floats
    """NaN for a query that does not count."""
    sample: Sample | None
    """What the summary is made of, where that is not these values."""
    summary: float


def settled(measure: Measure, r: Rankings, policy: Policy, raw: Floats) -> Outcome:
    """What a policy makes of a measure's values."""
    idle = None if r.weights is None else r.weights.values == 0
    nothing = nothing_relevant(measure, r)
    if policy.empty == "error" and nothing.any():
        raise PolicyError(
            f"nothing is relevant for {_some(r, nothing)}, and empty=error says to stop; "
            "empty=zero gives them the worst value, empty=skip leaves them out."
        )
    without = undefined(measure, r, raw)
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
    sample = measure.made_of(r, given) if counted.any() else None
    summary = measure.summarise(r, given) if sample is None else sample.value()
    return Outcome(shown, sample, summary)


def _some(r: Rankings, which: Mask) -> str:
    """How many of the judged queries, and the first few of them."""
    names = [r.queries[i] for i in np.flatnonzero(which)]
    return (
        f"{len(names):,} of {len(r):,} judged queries "
        f"({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
    )


def nothing_relevant(measure: Measure, r: Rankings) -> Mask:
    """The queries with nothing relevant, at the measure's own `rel` or, where it has none, with no
    grade above 0."""
    rel: float = measure.params.get("rel", float(np.nextafter(0, 1)))
    return r.relevant(rel) == 0


def undefined(measure: Measure, r: Rankings, values: Floats) -> Mask:
    """The queries whose judgements leave the measure without a value, whatever is retrieved."""
    if measure.spec.undefined.of_run:
        return np.zeros(len(r), bool)
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
