"""What a policy makes of a measure's values: which queries count, and what is put where a value is
undefined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judged.errors import MeasureError, PolicyError
from judged.evaluation.ranges import TIE_ORDERS, UNJUDGED_ENDS
from judged.judging.variants import Variants
from judged.measures import Measure, Spec
from judged.measures.expected import Expected, expectations
from judged.measures.spec import Mask, Settled
from judged.policy import Policy
from judged.rankings.audit import Audit
from judged.rankings.rankings import Rankings
from judged.segments import Floats
from judged.text import plain


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
    errors: dict[Measure, Floats] = field(default_factory=dict)
    """Standard errors of the values, for measures whose expected value was estimated from random
    orders of ties."""
    summary_errors: dict[Measure, float] = field(default_factory=dict)
    """The same of the summaries."""
    others: dict[str, Scored] = field(default_factory=dict)
    """The same run under other assumptions, by their names: worst, expected, best; unjudged
    irrelevant, unjudged relevant."""

    @property
    def name(self) -> str:
        """The run's name."""
        return self.rankings.name

    @property
    def audit(self) -> Audit:
        """What was found in the run's data."""
        return self.rankings.audit or Audit(
            judged_queries=len(self.rankings), run_queries=len(self.rankings)
        )

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
        if self.rankings.basis:
            entry["basis"] = list(self.rankings.basis)
        return {**entry, "audit": self.audit.to_dict()}

    def _numbers(self, *, per_query: bool) -> dict[str, Any]:
        """The scores, those of the queries, and the standard errors of what is an estimate."""
        entry: dict[str, Any] = {"scores": {str(m): plain(at) for m, at in self.summary.items()}}
        if self.errors:
            entry["standard_errors"] = {
                str(m): plain(self.summary_errors.get(m)) for m in self.errors
            }
        if per_query:
            entry["per_query"] = self._by_query(self.values)
            if self.errors:
                entry["standard_errors_per_query"] = self._by_query(self.errors)
        return entry

    def _by_query(self, values: dict[Measure, Floats]) -> dict[str, dict[str, Any]]:
        names, columns = list(map(str, values)), [column.tolist() for column in values.values()]
        return {
            query: dict(zip(names, map(plain, row), strict=True))
            for query, *row in zip(self.rankings.queries, *columns, strict=True)
        }


def under(r: Rankings, policy: Policy) -> Rankings:
    """The rankings with ties and unjudged items as the policy wants them, and no query missing
    where it refuses that."""
    if policy.missing == "error" and r.missing.any():
        raise PolicyError(
            f"{r.name} lacks {_some(r, r.missing)}, and missing=error says to stop; "
            "missing=zero counts them as empty, missing=skip leaves them out."
        )
    return Variants(r).under(policy.ties, policy.unjudged)


def score(r: Rankings, measures: tuple[Measure, ...], policy: Policy) -> Scored:
    """The values of all measures, settled."""
    scored = Scored(r, {}, {})
    estimates = expectations(measures, r) if r.ties == "expected" else {}
    for measure in measures:
        if r.complete and measure.spec.tells_unjudged:
            raise MeasureError(
                f"{measure} tells irrelevant items from unjudged ones; in {r.name} every item is "
                "judged, and only relevant ones are listed. Leave it out."
            )
        estimate = estimates.get(measure) or Expected(measure.compute(r))
        values, scored.summary[measure] = _settled(measure, r, policy, estimate.values)
        scored.values[measure] = values
        if estimate.errors is not None:
            counted = ~np.isnan(values)
            scored.errors[measure] = np.where(counted, estimate.errors, np.nan)
            error = measure.summarise_error(values[counted], estimate.errors[counted])
            if error is not None:
                scored.summary_errors[measure] = error
    return scored


def _settled(measure: Measure, r: Rankings, policy: Policy, raw: Floats) -> tuple[Floats, float]:
    """A measure's values with the policy applied (NaN: does not count), and its summary."""
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
    settlement = Settlement(measure.spec, policy, nothing | without, r.missing)
    counted, values = settlement.counted, settlement.settle(raw)
    shown = np.full(len(r), np.nan)
    shown[counted] = values
    return shown, measure.summarise(r, Settled(values, counted, settlement.settle))


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

    @property
    def counted(self) -> Mask:
        """The queries that count."""
        counted = np.ones(len(self.missing), bool)
        if self.policy.missing == "skip":
            counted &= ~self.missing
        if self.policy.empty == "skip":
            counted &= ~self.nothing
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
