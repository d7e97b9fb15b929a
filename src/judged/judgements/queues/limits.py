"""Between what the difference of two runs has to stay, whatever is judged, where a measure is a
quotient: of a sum of what results gain, by what the judgements alone say, as of nDCG.

With N the difference of the two sums and D what both are divided by, N is at most what it is where
all is judged in favour of the first run, and D is between what it is now and what it is where all
is of the top grade. So N / D is at most the greatest N by the least D, or where N cannot be above
0, by the greatest D.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Floats, Ints
from judged.evaluation.ranges import difference_is_bounded
from judged.measures import REGISTRY
from judged.measures.measure import bind

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.matching.joint import Pair
    from judged.measures import Measure
    from judged.rankings.rankings import Rankings

Limits = tuple[float, float]


def limits_of(
    evaluation: Evaluation, runs: Pair, ends: tuple[Pair, Pair], unjudged: Ints, top: float
) -> Limits | None:
    """The least and the greatest mean difference of two runs, whose `ends` are judged in favour of
    the first and of the second; so many `unjudged` results of each query, be they of other runs,
    may get up to the top grade. None where nothing is known."""
    parts = _parts(evaluation, runs)
    if parts is None:
        return None
    adds, divisor = parts
    high, low = (adds.compute(end.run) - adds.compute(end.against) for end in ends)
    least = divisor.compute(runs.run)
    most = divisor.compute(_with_tops(runs.run, unjudged, top))
    # Values are from 0 to 1, and so no difference is beyond -1 or 1.
    greatest, lowest = _quotient(high, least, most), -_quotient(-low, least, most)
    return float(lowest.mean()), float(greatest.mean())


def _parts(evaluation: Evaluation, runs: Pair) -> tuple[Measure, Measure] | None:
    """What is divided by what; None where that is not all there is to the mean difference."""
    (measure,), policy = evaluation.measures, evaluation.policy
    names = measure.spec.divides and measure.spec.divides(measure.params)
    missing = policy.missing == "skip" and any(each.missing.any() for each in runs)
    weighted = any(each.weights is not None for each in runs)
    if not names or missing or weighted or evaluation.convention is not None:
        return None
    specs = [REGISTRY[name] for name in names]
    own = [{each.name for each in spec.params} - {"aggregate"} for spec in specs]
    given = [{name: measure.params[name] for name in each} for each in own]
    adds, divisor = (bind(spec, each) for spec, each in zip(specs, given, strict=True))
    plain = measure.params["aggregate"] == "mean" and measure.spec.range == (0, 1)
    return (adds, divisor) if plain and difference_is_bounded(adds, policy) else None


def _with_tops(r: Rankings, more: Ints, top: float) -> Rankings:
    """The rankings with so many more items of the top grade judged for each query."""
    query = np.concatenate([np.repeat(np.arange(len(r)), more), r.pool_query])
    grade = np.concatenate([np.full(int(more.sum()), top), r.pool_grade])
    order = np.argsort(query, kind="stable")
    return replace(r, pool_query=query[order], pool_grade=grade[order])


def _quotient(greatest: Floats, least: Floats, most: Floats) -> Floats:
    """The greatest quotient of numbers up to the greatest, by numbers from the least to the most;
    at most 1."""
    by = np.where(greatest > 0, least, most)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(greatest == 0, 0.0, greatest / by), -1.0, 1.0)
