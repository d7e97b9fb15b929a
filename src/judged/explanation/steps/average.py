"""Precision along the ranking: averages, points of curves, first and last ranks."""

from __future__ import annotations

from math import floor, inf

import numpy as np

from judged.explanation.arithmetic import Expression, Logarithm, Named, Number, least, num, total
from judged.explanation.listing import Cell, Column, Line, Listing, Steps
from judged.explanation.steps.binary import along
from judged.explanation.steps.registry import steps
from judged.rankings.rankings import Cutoff
from judged.segments import needed


def _precisions(ranks: list[int]) -> list[Expression]:
    """Precision at the rank of each relevant item."""
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


def _average_divisor(q: Listing, k: Cutoff, rel: float, norm: str, found: int) -> Line:
    relevant, end = q.relevant(rel), q.cutoff(k, rel)
    said = (
        f"{q.words('norm').removeprefix('divided by ')}: {relevant} relevant in all, {found} "
        "among the results that count"
    )
    match norm:
        case "capped":
            return Line("min(N, k)", Number(relevant) if k is None else least(relevant, end), said)
        case "retrieved":
            return Line("found", Number(max(found, 1)), said)
        case "cutoff":
            return Line("k", Number(end), said)
        case _:
            return Line("N", Number(relevant), said)


@steps("AP")
def average_precision(q: Listing, *, k: Cutoff, rel: float, norm: str, area: str) -> Steps:
    end = q.cutoff(k, rel)
    ranks = q.found(end, rel)
    heights = _heights(ranks, area)
    divisor = _average_divisor(q, k, rel, norm, len(ranks))
    columns = along(q, rel, end)
    if area != "step":
        at = dict(zip(ranks, heights, strict=True))
        columns += (q.column(_HEIGHT[area], at.get, end),)
    adds = {rank: height / divisor.value for rank, height in zip(ranks, heights, strict=True)}
    bars = tuple((rank, height.value) for rank, height in zip(ranks, heights, strict=True))
    return Steps(total(heights) / divisor.value, columns, adds, divisor=divisor, end=end, bars=bars)


@steps("YAAP")
def yet_another_average_precision(q: Listing, *, rel: float) -> Steps:
    ranks = q.found(inf, rel)
    line = Line("s", total(_precisions(ranks)), "precision at each relevant item, summed")
    s, relevant = (
        Named("s", line.value),
        Line("N", Number(q.relevant(rel)), "all relevant items of the query"),
    )
    value = Logarithm((1 + s) / (1 + Named("N", relevant.value) - s), None)
    return Steps(value, along(q, rel), before=(line, relevant))


# -- the precision-recall curve
# ----------------------------------------------------------------------------------------

_ROUNDED = {"trec_eval": 0.5, "trec_eval9": 0.9}


def _enough(relevant: int, point: float, rounding: str) -> int:
    """How many relevant items a recall point asks for."""
    if rounding == "exact":
        return max(int(needed(point, np.array([float(relevant)]))[0]), 1)
    return max(floor(point * relevant + _ROUNDED[rounding]), 1)


def _at_point(best: list[Expression], enough: int) -> Expression:
    return best[enough - 1] if enough <= len(best) else num(0)


def _interpolated(q: Listing, rel: float) -> tuple[list[Expression], tuple[Column, ...]]:
    ranks = q.found(inf, rel)
    best = _best_from_here(_precisions(ranks))
    at: dict[int, Expression] = dict(zip(ranks, best, strict=True))
    return best, (*along(q, rel), q.column("best precision from here", at.get))


@steps("IPrec")
def interpolated_precision(q: Listing, *, recall: float, rel: float, rounding: str) -> Steps:
    best, columns = _interpolated(q, rel)
    relevant = q.relevant(rel)
    enough = _enough(relevant, recall, rounding)
    asked = f"Recall {recall:g} asks for {enough} of {relevant} relevant items"
    if enough > len(best):
        return Steps(num(0), columns, says=f"{asked}; the list has {len(best)}.")
    rank = q.found(inf, rel)[enough - 1]
    return Steps(
        best[enough - 1],
        columns,
        says=f"{asked}, reached at rank {rank}; the best precision there or below counts.",
    )


@steps("IAP")
def interpolated_average(
    q: Listing, *, points: int | tuple[float, ...], rel: float, rounding: str
) -> Steps:
    best, columns = _interpolated(q, rel)
    relevant = q.relevant(rel)
    wanted = points if isinstance(points, tuple) else tuple(i / (points - 1) for i in range(points))
    heights = [_at_point(best, _enough(relevant, point, rounding)) for point in wanted]
    before = tuple(
        Line(
            f"recall {point:g}",
            height,
            f"{_enough(relevant, point, rounding)} of {relevant} relevant items",
        )
        for point, height in zip(wanted, heights, strict=True)
    )
    divisor = Line("points", Number(len(wanted)), "the number of recall points")
    return Steps(total(heights) / len(wanted), columns, before=before, divisor=divisor)


@steps("PrecAtRecall")
def precision_at_recall(q: Listing, *, recall: float, rel: float) -> Steps:
    relevant, ranks = q.relevant(rel), q.found(inf, rel)
    enough = _enough(relevant, recall, "exact")
    asked = f"Recall {recall:g} asks for {enough} of {relevant} relevant items"
    if enough > len(ranks):
        return Steps(num(0), along(q, rel), says=f"{asked}; the list has {len(ranks)}.")
    rank = ranks[enough - 1]
    return Steps(num(enough) / rank, along(q, rel), says=f"{asked}, reached at rank {rank}.")


@steps("RecallAtPrec")
def recall_at_precision(q: Listing, *, precision: float, rel: float) -> Steps:
    holding = [
        place for place, rank in enumerate(q.found(inf, rel), 1) if place / rank >= precision
    ]
    last = max(holding, default=0)
    divisor = Line("N", Number(q.relevant(rel)), "all relevant items of the query")
    if last:
        rank = q.found(inf, rel)[last - 1]
        says = (
            f"Precision is at least {precision:g} for the last time at rank {rank}, with "
            f"{last} relevant items found."
        )
    else:
        says = f"Precision is nowhere as high as {precision:g}."
    return Steps(num(last) / divisor.value, along(q, rel), divisor=divisor, says=says)


@steps("RankAUC")
def rank_auc(q: Listing, *, rel: float) -> Steps:
    relevant, ranks = q.relevant(rel), q.found(inf, rel)
    others = q.collection - relevant
    below = {rank: num(others) - (rank - place) for place, rank in enumerate(ranks, 1)}
    lost = relevant - len(ranks)
    tail = others - (q.retrieved - len(ranks))
    terms = list(below.values())
    if lost:
        terms.append(num(lost) * (num(tail) / 2))
    divisor = Line(
        "N × (C - N)",
        num(relevant) * others,
        f"the pairs of {relevant} relevant items and {others} others",
    )
    says = (
        f"{lost} relevant items were not retrieved: of the {tail} others in the same place, half "
        "count as below."
        if lost
        else ""
    )
    return Steps(
        total(terms) / divisor.value,
        (q.column("others below", below.get),),
        divisor=divisor,
        says=says,
    )


# -- first and last ranks
# ----------------------------------------------------------------------------------------------


def _mark(ranks: list[int], q: Listing, end: float, word: str) -> tuple[Column, ...]:
    marked: dict[int, Cell] = dict.fromkeys(ranks, word)
    return (q.column("", marked.get, end),) if ranks else ()


@steps("RR")
def reciprocal_rank(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    first = q.found(end, rel)[:1]
    if not first:
        return Steps(
            num(0), adds={}, says="No relevant item is among the results that count.", end=end
        )
    says = f"The first relevant item stands at rank {first[0]}."
    return Steps(
        num(1) / first[0],
        _mark(first, q, end, "first"),
        {first[0]: num(1) / first[0]},
        says=says,
        end=end,
    )


@steps("Rank")
def rank(q: Listing, *, rel: float, of: str, aggregate: str) -> Steps:
    ranks = q.found(inf, rel)
    if of == "first":
        says = "" if ranks else "No relevant item was retrieved: its rank is infinite."
        return Steps(num(ranks[0] if ranks else inf), _mark(ranks[:1], q, inf, "first"), says=says)
    lost = q.relevant(rel) - len(ranks)
    every = [*map(float, ranks), *[inf] * lost]
    says = f"{lost} relevant items were not retrieved: their ranks are infinite." if lost else ""
    if aggregate == "mean":
        divisor = Line("N", Number(len(every)), "all relevant items of the query")
        return Steps(total(every) / len(every), divisor=divisor, says=says)
    low, high = every[(len(every) - 1) // 2], every[len(every) // 2]
    middle = (
        f"The ranks in the middle are {low:g} and {high:g}. "
        if low != high
        else f"The rank in the middle is {low:g}. "
    )
    return Steps(num(low) if low == high else (num(low) + high) / 2, says=(middle + says).strip())


@steps("INP")
def inverse_negative_penalty(q: Listing, *, rel: float) -> Steps:
    ranks, relevant = q.found(inf, rel), q.relevant(rel)
    if len(ranks) < relevant:
        return Steps(
            num(0), says=f"{relevant - len(ranks)} of {relevant} relevant items were not retrieved."
        )
    divisor = Line("last rank", Number(ranks[-1]), "the rank of the last relevant item")
    return Steps(num(relevant) / ranks[-1], _mark(ranks[-1:], q, inf, "last"), divisor=divisor)
