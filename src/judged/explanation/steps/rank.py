"""First and last ranks."""

from __future__ import annotations

from math import inf

from judged.explanation.arithmetic import Number, num, total
from judged.explanation.listing import Cell, Column, Equation, Listing, Steps, steps
from judged.explanation.steps.precision import NOTHING
from judged.rankings.rankings import Cutoff


def _mark(ranks: list[int], q: Listing, end: float, word: str) -> tuple[Column, ...]:
    marked: dict[int, Cell] = dict.fromkeys(ranks, word)
    return (q.column("", marked.get, end),) if ranks else ()


@steps("RR")
def reciprocal_rank(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    first = q.found(end, rel)[:1]
    if not first:
        return Steps(num(0), adds={}, says=NOTHING, end=end)
    value, says = num(1) / first[0], f"The first relevant item is at rank {first[0]}."
    return Steps(value, _mark(first, q, end, "first"), {first[0]: value}, says=says, end=end)


@steps("Rank")
def rank(q: Listing, *, rel: float, of: str, aggregate: str) -> Steps:
    ranks = q.found(inf, rel)
    if of == "first":
        says = "" if ranks else "No relevant item was retrieved: its rank is infinite."
        return Steps(num(ranks[0] if ranks else inf), _mark(ranks[:1], q, inf, "first"), says=says)
    lost = q.relevant(rel) - len(ranks)
    if of == "last":
        says = f"{lost} of {q.relevant(rel)} relevant items were not retrieved." if lost else ""
        last = () if lost else _mark(ranks[-1:], q, inf, "last")
        return Steps(num(inf if lost else ranks[-1]), last, says=says)
    every = [*map(float, ranks), *[inf] * lost]
    says = f"{lost} relevant items were not retrieved: their ranks are infinite." if lost else ""
    if aggregate == "mean":
        return Steps(total(every) / len(every), divisor=q.all_relevant(rel), says=says)
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
        says = f"{relevant - len(ranks)} of {relevant} relevant items were not retrieved."
        return Steps(num(0), says=says)
    divisor = Equation("last rank", Number(ranks[-1]), "the rank of the last relevant item")
    return Steps(num(relevant) / ranks[-1], _mark(ranks[-1:], q, inf, "last"), divisor=divisor)
