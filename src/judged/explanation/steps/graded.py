"""Graded gain, measured in other ways than nDCG."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from judged.explanation.arithmetic import Expression, Logarithm, Named, Number, num, total
from judged.explanation.listing import Line, Listing, Steps, divided, steps
from judged.explanation.steps.gain import Table, best_gains, discounted, gaining, ideal_list


def _sums(values: list[float]) -> list[float]:
    return [0.0, *np.cumsum(values).tolist()]


@steps("G")
def normalised_gain(q: Listing, *, gains: Table) -> Steps:
    best = best_gains(q.pool, "linear", gains)
    own = gaining(q, inf, "linear", gains)
    steps_of_ideal = [max(each.value, 1.0) for each in best]
    sums = _sums(steps_of_ideal)
    gained, terms, lags = 0.0, {}, {}
    for rank, each in own.items():
        gained += each.value
        ideal = sums[min(rank, len(best))] + max(rank - len(best), 0)
        lags[rank] = 2 + num(ideal) - gained
        terms[rank] = each / Logarithm(lags[rank])
    divisor = Line("ΣI", total(best), "all gain there is in the judgements")
    columns = (q.column("gain", own.get), q.column("2 + lag", lags.get))
    return divided(terms, divisor, columns, named=True)


@steps("binG")
def binary_gain(q: Listing, *, rel: float) -> Steps:
    ranks = q.found(inf, rel)
    terms = {rank: 1 / Logarithm(num(2 + rank - place)) for place, rank in enumerate(ranks, 1)}
    above = {rank: num(rank - place) for place, rank in enumerate(ranks, 1)}
    divisor = Line(
        "R",
        Number(q.relevant(rel)),
        f"all relevant items of the query, {len(ranks)} of them in the list",
    )
    return divided(terms, divisor, (q.column("others above", above.get),))


@steps("nDCGRel")
def ndcg_over_relevant(q: Listing, *, gains: Table) -> Steps:
    best, own = best_gains(q.pool, "linear", gains), gaining(q, inf, "linear", gains)
    at = {rank: _ndcg_at(own, best, rank) for rank in own}
    terms = list(at.values())
    lost = len(best) - len(own)
    if lost:
        terms.append(num(lost) * _ndcg_at(own, best, inf))
    divisor = Line(
        "R",
        Number(len(best)),
        f"all judged items that gain something, {len(own)} of them in the list",
    )
    says = (
        f"{lost} of them were not retrieved: each counts with the nDCG of the whole list."
        if lost
        else ""
    )
    return Steps(
        total(terms) / divisor.value, (q.column("nDCG here", at.get),), divisor=divisor, says=says
    )


def _ndcg_at(own: Mapping[int, Expression], best: list[Expression], rank: float) -> Expression:
    """Return nDCG as a quotient of two numbers, without its long sums."""
    reached = total(discounted({at: each for at, each in own.items() if at <= rank}).values())
    return num(reached.value) / ideal_list(best, rank).value


@steps("RnDCG")
def ndcg_at_levels(q: Listing, *, rel: float, gains: Table) -> Steps:
    best, own = best_gains(q.pool, "linear", gains), gaining(q, inf, "linear", gains)
    values = [each.value for each in best]
    ranks = [
        place
        for place in range(1, len(best) + 1)
        if place == len(best) or values[place] != values[place - 1]
    ]
    if q.retrieved > len(best) + 1:
        ranks.append(q.retrieved)
    before = tuple(
        Line(f"nDCG@{rank}", _ndcg_at(own, best, rank), _level(rank, values)) for rank in ranks
    )
    divisor = Line("levels", Number(len(ranks)), "the ranks at which nDCG is taken")
    value = total(Named(line.symbol, line.value) for line in before) / divisor.value
    return Steps(value, (q.column("gain", own.get),), before=before, divisor=divisor)


def _level(rank: int, values: list[float]) -> str:
    return (
        f"the last place of gain {values[rank - 1]:g} in the ideal list"
        if rank <= len(values)
        else "the end of the list"
    )


@steps("Q")
def q_measure(q: Listing, *, gain: str, gains: Table, beta: float) -> Steps:
    best, own = best_gains(q.pool, gain, gains), gaining(q, inf, gain, gains)
    sums = _sums([each.value for each in best])
    gained, terms = 0.0, {}
    for place, (rank, each) in enumerate(own.items(), 1):
        gained += each.value
        terms[rank] = (place + num(beta) * gained) / (rank + num(beta) * sums[min(rank, len(best))])
    divisor = Line(
        "R",
        Number(len(best)),
        f"all judged items that gain something, {len(own)} of them in the list",
    )
    columns = (q.column("gain", own.get), q.column("blended precision", terms.get))
    return divided(terms, divisor, columns)
