"""What a policy makes of a measure's values: which queries count, and what is put where a value is
undefined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from judged.arrays import Floats
from judged.errors import MeasureError, PolicyError
from judged.evaluation.about import ANY, About
from judged.evaluation.preparation import regraded
from judged.evaluation.ranges import TIE_ORDERS, UNJUDGED_ENDS
from judged.evaluation.scored import Scored
from judged.evaluation.values import Values
from judged.matching.variants import Variants
from judged.measures import Measure, Spec
from judged.measures.expected import Expected, expectations
from judged.measures.orders import in_order
from judged.measures.spec import Mask, Settled
from judged.policy import Policy
from judged.rankings.rankings import Rankings
from judged.statistics.samples import Rows, Sample
from judged.text import few

if TYPE_CHECKING:
    from judged.evaluation.request import Conventional
    from judged.evaluation.unanswerable import Apart


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


def refuse_missing(r: Rankings | About | Apart, policy: Policy) -> None:
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
    return settled_values(values_of(r, measures, convention), About.of(r), policy)


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


def settled_values(made: Values, about: About, policy: Policy) -> Scored:
    """What a policy makes of the values of all measures."""
    scored = Scored(about, {}, {})
    for measure, raw in made.raw.items():
        nothing = made.nothing[measure]
        values, sample, scored.summary[measure] = settled(
            measure, about, policy, raw, nothing, made.rows.get(measure)
        )
        scored.values[measure] = values
        scored.nothing[measure] = nothing
        if sample is not None:
            scored.samples[measure] = sample
        if (errors := made.errors.get(measure)) is not None:
            counted = ~np.isnan(values)
            scored.errors[measure] = np.where(counted, errors, np.nan)
            weights = about.weights_of(counted)
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
    about: Rankings | About,
    policy: Policy,
    raw: Floats,
    nothing: Mask,
    rows: Rows | None,
) -> Outcome:
    """What a policy makes of a measure's values; in the queries of `nothing`, nothing is relevant,
    and `rows` are what all give to a summary that is not made of the values."""
    idle = None if about.weights is None else about.weights.values == 0
    if policy.empty == "error" and nothing.any():
        raise PolicyError(
            f"nothing is relevant for {_some(about, nothing)}, and empty=error says to stop; "
            "empty=zero gives them the worst value, empty=skip leaves them out."
        )
    without = undefined(measure, raw)
    if policy.empty == "error" and without.any():
        raise PolicyError(
            f"{measure} is undefined for {_some(about, without)}: {measure.spec.undefined.text}; "
            "empty=error says to stop, empty=zero gives them the worst value, empty=skip leaves "
            "them out."
        )
    settlement = Settlement(measure.spec, policy, nothing | without, about.missing, idle)
    counted, values = settlement.counted, settlement.settle(raw)
    shown = np.full(len(about), np.nan)
    shown[counted] = values
    given = Settled(values, counted, settlement.settle, about.weights_of(counted))
    sample = measure.made_of(rows, given) if counted.any() else None
    summary = measure.summarise(rows, given) if sample is None else sample.value()
    return Outcome(shown, sample, summary)


def _some(r: Rankings | About | Apart, which: Mask) -> str:
    """How many of the judged queries, and the first few of them."""
    names = [r.queries[i] for i in np.flatnonzero(which)]
    return f"{len(names):,} of {len(r):,} judged queries ({few(names)})"


def nothing_relevant(measure: Measure, r: Rankings) -> Mask:
    """The queries with nothing relevant, at the measure's own `rel` or, where it has none, with no
    grade above 0."""
    rel: float = measure.params.get("rel", ANY)
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
