"""The retrieved items as a set."""

from __future__ import annotations

from math import inf

from judged.explanation.arithmetic import Named, Number, num, total
from judged.explanation.listing import Line, Listing, Steps, steps
from judged.explanation.steps.confusion import counted, counts, others
from judged.explanation.steps.precision import along
from judged.rankings.rankings import Cutoff


@steps("SetAP")
def set_average_precision(q: Listing, *, rel: float) -> Steps:
    found = len(q.found(inf, rel))
    if not q.retrieved:
        return Steps(Number(0), says="Nothing was retrieved.")
    before = (
        Line("P", num(found) / q.retrieved, "precision of the whole list"),
        Line("R", num(found) / q.relevant(rel), "its recall"),
    )
    p, r = (Named(line.symbol, line.value) for line in before)
    return Steps(p * r, along(q, rel), before=before)


@steps("Utility")
def utility(q: Listing, *, rel: float, a: float, b: float, c: float, d: float) -> Steps:
    found, wrong, lost = counts(q, None, rel)
    weighted = [(a, found, "TP"), (b, wrong, "FP"), (c, lost, "FN")]
    if d:
        weighted.append((d, q.collection - found - wrong - lost, "TN"))
    says = ", ".join(f"{name} = {count}" for _, count, name in weighted)
    return Steps(
        total(num(worth) * count for worth, count, _ in weighted),
        counted(q, None, rel),
        says=f"Here {says}.",
    )


@steps("FallOut")
def fall_out(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    divisor = others(q, rel)
    return Steps(
        num(counts(q, k, rel)[1]) / divisor.value,
        counted(q, k, rel),
        divisor=divisor,
        end=q.cutoff(k, rel),
    )
