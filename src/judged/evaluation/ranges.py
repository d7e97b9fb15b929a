"""How far ties and unjudged results could move a number: the same rankings, otherwise assumed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from judged.matching.variants import Variants, uncondensed
from judged.measures import Measure, parse_measure
from judged.policy import Policy
from judged.rankings.findings import Findings, findings_of
from judged.rankings.rankings import Rankings
from judged.statistics.exact_sums import ExactSum

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
"""What a run is called that was scored by trusted judgements, among its own `others`."""


TIE_SENTENCES = {
    "worst": "the worst value that any order of the tied results gives",
    "expected": "the mean over all orders of the tied results",
    "best": "the best value that any order of the tied results gives",
}
"""What these values are; the policies `best` and `worst` are one order for all measures."""


class TieRange(NamedTuple):
    """A number in the worst order of tied results, on average over all orders, and in the best."""

    worst: float
    """No order of the tied results gives a worse value, unless a warning says that one may."""
    expected: float
    """The mean over all orders of the tied results."""
    best: float
    """No order of the tied results gives a better value, unless a warning says that one may."""


class UnjudgedRange(NamedTuple):
    """A number if all unjudged results had been judged: irrelevant, or of the top grade.

    For measures to which each result counts for itself, such as P@10, DCG@10 and RR, any other
    judgements give a number between these two. For others, such as AP and nDCG@10, they are two
    scenarios and no bounds; a warning names them.
    """

    irrelevant: float
    """All of grade 0."""
    relevant: float
    """All of the top grade in the judgements."""


def filled_readings(run: Variants) -> Iterator[tuple[str, Rankings]]:
    """The rankings with all unjudged results judged, by the names of both assumptions."""
    for name, grade in zip(UNJUDGED_ENDS, (0.0, top_grade(run.usual)), strict=True):
        yield name, run.filled(grade)


def top_grade(r: Rankings) -> float:
    """The best grade in the judgements; 1 where none is above 0."""
    best = float(r.pool_grade.max(initial=0))
    return best if best > 0 else 1.0


def last_rank(measure: Measure) -> int | None:
    """The last rank that a measure looks at; None where it is no fixed one."""
    k = measure.params.get("k") if measure.spec.at == "k" else None
    return k if isinstance(k, int) else None


def difference_is_bounded(measure: Measure, policy: Policy) -> bool:
    """Whether no other judgements of the unjudged results give a difference of two runs outside the
    two ends, each judged in favour of one: so it is where each result adds to the number what it
    gains at its own rank."""
    adds = measure.spec.adds is not None and measure.spec.adds(measure.params)
    straight = measure.params["aggregate"] in ("mean", "sum")
    ordered = policy.ties in ("id", "input") and policy.unjudged == "nonrelevant"
    return adds and straight and ordered and policy.empty in ("zero", "error")


def with_judged_shares(r: Rankings, measures: tuple[Measure, ...]) -> Findings:
    """What was found, with the share of judged results down to where the measures look."""
    cutoffs = dict.fromkeys(
        measure.params[str(measure.spec.at)] for measure in measures if measure.spec.at == "k"
    )
    seen = [parse_measure("Judged") if k is None else parse_measure("Judged")(k=k) for k in cutoffs]
    listed = uncondensed(r)
    shares = {str(share).lower(): share.compute(listed) for share in seen}
    seen_by = {name: ExactSum.of(each[~np.isnan(each)]) for name, each in shares.items()}
    return replace(findings_of(r), judged_at=seen_by)
