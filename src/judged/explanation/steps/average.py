"""Steps of average precision, and of points and areas of curves."""

from __future__ import annotations

from math import inf

import numpy as np

from judged.explanation.arithmetic import Expression, Number, least, logarithm, num, total
from judged.explanation.listing import Column, Equation, Listing, Steps, divided, named, steps
from judged.explanation.steps.precision import along
from judged.measures.average import enough_for, recall_points
from judged.rankings.rankings import Cutoff


def _precisions(ranks: list[int]) -> list[Expression]:
    return [num(place) / rank for place, rank in enumerate(ranks, 1)]


def _best_from_here(precisions: list[Expression]) -> list[Expression]:
    best: list[Expression] = []
    for precision in reversed(precisions):
        best.append(best[-1] if best and best[-1].value > precision.value else precision)
    return best[::-1]


def _heights(ranks: list[int], area: str) -> list[Expression]:
    precisions = _precisions(ranks)
    if area == "interpolated":
        return _best_from_here(precisions)
    if area == "trapezoid":
        before = [
            num(place) / (rank - 1) if rank > 1 else num(1) for place, rank in enumerate(ranks)
        ]
        return [(above + at) / 2 for above, at in zip(before, precisions, strict=True)]
    return precisions


_HEIGHT = {
    "step": "",
    "trapezoid": "mean of precision before and at",
    "interpolated": "best precision from here",
}


def _average_divisor(q: Listing, k: Cutoff, rel: float, norm: str, found: int) -> Equation:
    relevant, end = q.relevant(rel), q.cutoff(k, rel)
    said = (
        f"{q.describe('norm').removeprefix('divided by ')}: {relevant} relevant in all, {found} "
        "among the results that count"
    )
    match norm:
        case "capped":
            capped = Number(relevant) if k is None else least(relevant, end)
            return Equation("min(N, k)", capped, said)
        case "retrieved":
            return Equation("found", Number(max(found, 1)), said)
        case "cutoff":
            return Equation("k", Number(end), said)
    return Equation("N", Number(relevant), said)


@steps("AP")
def average_precision(q: Listing, *, k: Cutoff, rel: float, norm: str, area: str) -> Steps:
    end = q.cutoff(k, rel)
    ranks = q.found(end, rel)
    heights = dict(zip(ranks, _heights(ranks, area), strict=True))
    divisor = _average_divisor(q, k, rel, norm, len(ranks))
    columns = along(q, rel, end)
    if area != "step":
        columns += (q.column(_HEIGHT[area], heights.get, end),)
    columns += (q.column("sum", q.sum_to(heights), end),)
    bars = tuple((rank, height.value) for rank, height in heights.items())
    return divided(heights, divisor, columns, end=end, bars=bars)


def enough(q: Listing, point: float, rel: float, rounding: str = "exact") -> tuple[int, str]:
    """Return how many relevant items a recall point needs, and a sentence about it."""
    relevant = q.relevant(rel)
    number = int(enough_for(point, np.array([float(relevant)]), rounding)[0])
    return number, f"Recall {point:g} asks for {number} of {relevant} relevant items"


def _interpolated(q: Listing, rel: float) -> tuple[list[Expression], tuple[Column, ...]]:
    ranks = q.found(inf, rel)
    best = _best_from_here(_precisions(ranks))
    at: dict[int, Expression] = dict(zip(ranks, best, strict=True))
    return best, (*along(q, rel), q.column("best precision from here", at.get))


@steps("IPrec")
def interpolated_precision(q: Listing, *, recall: float, rel: float, rounding: str) -> Steps:
    best, columns = _interpolated(q, rel)
    number, asked = enough(q, recall, rel, rounding)
    if number > len(best):
        return Steps(num(0), columns, says=f"{asked}; the list has {len(best)}.")
    rank = q.found(inf, rel)[number - 1]
    says = f"{asked}, reached at rank {rank}; the best precision there or below counts."
    return Steps(best[number - 1], columns, says=says)


@steps("IAP")
def interpolated_average(
    q: Listing, *, points: int | tuple[float, ...], rel: float, rounding: str
) -> Steps:
    best, columns = _interpolated(q, rel)
    relevant = q.relevant(rel)
    before = []
    for point in recall_points(points):
        number, _ = enough(q, point, rel, rounding)
        height = best[number - 1] if number <= len(best) else num(0)
        says = f"{number} of {relevant} relevant items"
        before.append(Equation(f"recall {point:g}", height, says))
    divisor = Equation("points", Number(len(before)), "the number of recall points")
    value = total(line.value for line in before) / len(before)
    return Steps(value, columns, before=tuple(before), divisor=divisor)


@steps("YAAP")
def yet_another_average_precision(q: Listing, *, rel: float) -> Steps:
    ranks = q.found(inf, rel)
    line = Equation("s", total(_precisions(ranks)), "precision at each relevant item, summed")
    relevant = q.all_relevant(rel)
    s, n = named(line, relevant)
    value = logarithm((1 + s) / (1 + n - s), None)
    return Steps(value, along(q, rel), before=(line, relevant))


@steps("PrecAtRecall")
def precision_at_recall(q: Listing, *, recall: float, rel: float) -> Steps:
    ranks = q.found(inf, rel)
    if recall == 0:
        says = "Recall 0 is reached at rank 1."
        return Steps(num(int(1 in ranks)) / 1, along(q, rel), says=says)
    number, asked = enough(q, recall, rel)
    if number > len(ranks):
        return Steps(num(0), along(q, rel), says=f"{asked}; the list has {len(ranks)}.")
    rank = ranks[number - 1]
    return Steps(num(number) / rank, along(q, rel), says=f"{asked}, reached at rank {rank}.")


@steps("RecallAtPrec")
def recall_at_precision(q: Listing, *, precision: float, rel: float) -> Steps:
    ranks = q.found(inf, rel)
    reached = (place for place, rank in enumerate(ranks, 1) if place / rank >= precision)
    last = max(reached, default=0)
    divisor = q.all_relevant(rel)
    says = (
        f"Precision is at least {precision:g} for the last time at rank {ranks[last - 1]}, with "
        f"{last} relevant items found."
        if last
        else f"Precision is nowhere as high as {precision:g}."
    )
    return Steps(num(last) / divisor.value, along(q, rel), divisor=divisor, says=says)


@steps("RankAUC")
def rank_auc(q: Listing, *, rel: float) -> Steps:
    relevant, ranks = q.relevant(rel), q.found(inf, rel)
    others = q.collection - relevant
    below = {rank: num(others) - (rank - place) for place, rank in enumerate(ranks, 1)}
    lost = relevant - len(ranks)
    tail = others - (q.retrieved - len(ranks))
    terms, says = list(below.values()), ""
    if lost:
        terms.append(num(lost) * (num(tail) / 2))
        says = f"{lost} relevant items were not retrieved: of the {tail} others in the same place, "
        says += "half count as below."
    pairs = f"the pairs of {relevant} relevant items and {others} others"
    divisor = Equation("N × (C - N)", num(relevant) * others, pairs)
    columns = (q.column("others below", below.get),)
    return Steps(total(terms) / divisor.value, columns, divisor=divisor, says=says)
