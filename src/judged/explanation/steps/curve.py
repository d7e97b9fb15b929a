"""Single points and areas of curves."""

from __future__ import annotations

from math import inf

from judged.explanation.arithmetic import Number, num, total
from judged.explanation.listing import Line, Listing, Steps, steps
from judged.explanation.steps.average import enough
from judged.explanation.steps.precision import along


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
    holding = [
        place for place, rank in enumerate(q.found(inf, rel), 1) if place / rank >= precision
    ]
    last = max(holding, default=0)
    divisor = Line("N", Number(q.relevant(rel)), "all relevant items of the query")
    if last:
        rank = q.found(inf, rel)[last - 1]
        says = (
            f"Precision is at least {precision:g} for the last time at rank {rank}, with {last} "
            "relevant items found."
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
