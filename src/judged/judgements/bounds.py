"""Bounds of the difference between two runs after judging the unjudged results."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Floats, Ints
from judged.evaluation.ranges import difference_is_bounded, last_rank
from judged.evaluation.scores import score
from judged.matching.ties import ONE_ORDER
from judged.measures import REGISTRY
from judged.measures.measure import bind
from judged.results import plain_value
from judged.text import shown

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.matching.listings import Listings
    from judged.measures import Measure
    from judged.rankings.rankings import Rankings

ROUNDING = 1e-12  # smaller differences are rounding errors
MAX_RUNS = 20  # number of runs whose pairs get bounds; a pair takes 3 ms


@dataclass(frozen=True)
class DifferenceBounds:
    """The difference of two runs on the judged queries, and how far judgements could move it."""

    run: str  # the later of the two runs
    against: str
    measure: str
    difference: float  # value of `run` minus value of `against`
    low: float
    """Lowest difference if all unjudged results that the measure uses are judged in favour of one
    run, or of the other."""
    high: float  # highest difference
    unjudged: int  # number of unjudged results that the measure uses, in one run or in both
    bounded: bool = True
    """True if all judgements stay within low and high. Otherwise these are two scenarios."""
    higher_is_better: bool = True  # True if higher values of the measure are better
    limits: tuple[float, float] | None = None
    """For scenarios: limits that the difference can never leave, if any are known."""

    @property
    def can_turn(self) -> bool | None:
        """True if judgements can change which run is better; None if that is unknown."""
        if math.isnan(self.difference + self.low + self.high):
            return None
        if _count_signs(self.low, self.difference, self.high) > 1:
            return True
        settled = self.limits is not None and _count_signs(self.difference, *self.limits) == 1
        return False if self.bounded or settled else None

    @property
    def better(self) -> str:
        """The run that is better now; `against` if both are equal."""
        ahead = self.difference > 0 if self.higher_is_better else self.difference < 0
        return self.run if ahead else self.against

    @property
    def worse(self) -> str:
        """The run that is not `better`."""
        return self.against if self.better == self.run else self.run

    @property
    def sentence(self) -> str:
        """The difference and its bounds in words."""
        start = f"{self.measure}: {self.run} - {self.against} is {shown(self.difference)}"
        stays = f"{self.better} stays better" if self.difference else "both stay equal"
        if math.isnan(self.difference):
            return f"{start}, because no query counts."
        if not self.unjudged:
            start += ". All results that it uses are judged"
            if self.can_turn is False:
                return f"{start}: {stays}."
            return f"{start}, but judging other items as relevant could change it."
        case = "If all unjudged results of judged queries favour one run or the other, it becomes"
        if self.bounded:
            case = "Judging the unjudged results of judged queries gives"
        start += f". {case} {shown(self.low)} to {shown(self.high)}"
        if self.can_turn:
            return f"{start}: the order of the two runs can change."
        if self.limits is not None:
            start += f", and it can never leave {' to '.join(map(shown, self.limits))}"
        if self.can_turn is None:
            return f"{start}: {stays} in these two cases, but other judgements may change that."
        return f"{start}: {stays}."

    def to_dict(self) -> dict[str, Any]:
        names = ("run", "against", "difference", "low", "high", "unjudged", "bounded", "can_turn")
        values = {name: plain_value(getattr(self, name)) for name in names}
        return {**values, "configuration": plain_value(self.limits)}


def best_ranks(listings: Listings, ties: str, runs: range | tuple[int, ...]) -> Ints:
    """Return the best possible rank of each item in any run; the largest integer if none has it."""
    best = np.full(len(listings.grades), np.iinfo(np.int64).max)
    for run in runs:
        listed = listings.runs[run]
        highest = listed.places.rank if ties in ONE_ORDER else listed.places.first
        best[listed.item] = np.minimum(best[listed.item], highest)
    return best


def bounds_of(
    listings: Listings, evaluation: Evaluation, *, top: float
) -> tuple[DifferenceBounds, ...]:
    """Return the bounds of each pair of the best runs, by the only measure of an evaluation."""
    (measure,) = evaluation.measures
    cutoff = last_rank(measure)
    bounded = difference_is_bounded(measure, evaluation.policy)
    # A negative grade is not a judgement. Queries without judgements are in no mean yet.
    judged_queries = len(listings.pool.queries)
    unjudged = ~(listings.grades >= 0) & (listings.query < judged_queries)
    per_query = np.bincount(listings.query[unjudged], minlength=judged_queries)
    last = np.iinfo(np.int64).max - 1 if cutoff is None else cutoff
    settings = replace(evaluation.settings, measures=(measure,))
    bounds = []
    sign = 1 if measure.spec.higher_is_better else -1
    values = [sign * run.summary[measure] for run in evaluation.runs]
    best = np.sort(np.argsort(-np.array(values), kind="stable")[:MAX_RUNS]).tolist()
    for against, run in combinations(best, 2):
        ours, theirs = evaluation.runs[run], evaluation.runs[against]
        reached = best_ranks(listings, evaluation.policy.ties, (run, against))
        count = int((unjudged & (reached <= last)).sum())
        first, second = (evaluation.scored(scored.name).rankings for scored in (ours, theirs))
        pair = first, second
        ends = [pair, pair]
        differences = [_difference(ours.summary[measure], theirs.summary[measure])]
        if count:
            ends = listings.judged((run, first), (against, second), top=top, cutoff=cutoff)
            for end in ends:
                one, other = (score(rankings, settings).summary[measure] for rankings in end)
                differences.append(_difference(one, other))
        bounds.append(
            DifferenceBounds(
                ours.name,
                theirs.name,
                evaluation.label(measure),
                differences[0],
                min(differences),
                max(differences),
                count,
                # Unjudged results elsewhere may change the ideal or the number of relevant items.
                bounded or not per_query.any(),
                measure.spec.higher_is_better,
                _limits_of(evaluation, pair, ends, per_query, top) if per_query.any() else None,
            )
        )
    return tuple(bounds)


def _limits_of(
    evaluation: Evaluation,
    runs: tuple[Rankings, Rankings],
    ends: list[tuple[Rankings, Rankings]],
    unjudged: Ints,
    top: float,
) -> tuple[float, float] | None:
    """Return limits of the mean difference of a measure that is a quotient, such as nDCG."""
    # Let N be the difference of the two numerators and D the common denominator. N is at most its
    # value in `ends[0]`, where all is judged in favour of the first run. D lies between its value
    # now and its value if all unjudged results have the top grade. So N / D is at most the largest
    # N divided by the smallest D or, if N cannot be positive, by the largest D.
    parts = _quotient_parts(evaluation, runs)
    if parts is None:
        return None
    numerator, denominator = parts
    high, low = (numerator.compute(run) - numerator.compute(against) for run, against in ends)
    smallest = denominator.compute(runs[0])
    largest = denominator.compute(_with_top_grades(runs[0], unjudged, top))
    highest = _largest_quotient(high, smallest, largest)
    lowest = -_largest_quotient(-low, smallest, largest)
    return float(lowest.mean()), float(highest.mean())


def _quotient_parts(
    evaluation: Evaluation, runs: tuple[Rankings, Rankings]
) -> tuple[Measure, Measure] | None:
    """Return numerator and denominator; None if the mean difference is not made of them alone."""
    (measure,), policy = evaluation.measures, evaluation.policy
    names = measure.spec.divides and measure.spec.divides(measure.params)
    missing = policy.missing == "skip" and any(rankings.missing.any() for rankings in runs)
    weighted = any(rankings.weights is not None for rankings in runs)
    if not names or missing or weighted or evaluation.convention is not None:
        return None
    parts = []
    for spec in (REGISTRY[name] for name in names):
        known = {param.name for param in spec.params} - {"aggregate"}
        parts.append(bind(spec, {name: measure.params[name] for name in known}))
    numerator, denominator = parts
    is_mean = measure.params["aggregate"] == "mean" and measure.spec.range == (0, 1)
    if not is_mean or not difference_is_bounded(numerator, policy):
        return None
    return numerator, denominator


def _with_top_grades(rankings: Rankings, more: Ints, top: float) -> Rankings:
    """Return the rankings with more judged items of the top grade for each query."""
    query = np.concatenate([np.repeat(np.arange(len(rankings)), more), rankings.pool_query])
    grade = np.concatenate([np.full(int(more.sum()), top), rankings.pool_grade])
    order = np.argsort(query, kind="stable")
    return replace(rankings, pool_query=query[order], pool_grade=grade[order])


def _largest_quotient(numerator: Floats, smallest: Floats, largest: Floats) -> Floats:
    """Return the largest quotient for denominators in a range; values are from 0 to 1."""
    denominator = np.where(numerator > 0, smallest, largest)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(numerator == 0, 0.0, numerator / denominator), -1.0, 1.0)


def _count_signs(*numbers: float) -> int:
    """Count the different signs of numbers, where rounding errors count as 0."""
    return len({0 if abs(number) <= ROUNDING else int(np.sign(number)) for number in numbers})


def _difference(one: float, other: float) -> float:
    """Return the difference of two values, 0 if it is only rounding."""
    if one == other:  # both may be infinite
        return 0.0
    gap = one - other
    return 0.0 if abs(gap) <= ROUNDING * max(1.0, min(abs(one), abs(other))) else gap
