"""Recall, and its balance with precision."""

from __future__ import annotations

from math import inf

from judged.explanation.arithmetic import Named, Number, least, num
from judged.explanation.listing import Line, Listing, Steps, steps
from judged.explanation.steps.precision import along, places, share_found
from judged.rankings.rankings import Cutoff


def _recall(q: Listing, k: Cutoff, rel: float, norm: str) -> Line:
    relevant = q.relevant(rel)
    found = len(q.found(inf, rel))
    lost = f"{relevant} items are relevant, {found} of them in the list"
    if norm == "relevant":
        return Line("N", Number(relevant), f"all relevant items of the query: {lost}")
    most = max(q.retrieved, 1) if k is None else q.cutoff(k, rel)
    return Line(
        "min(N, k)" if k else "min(N, results)",
        least(relevant, most),
        f"{q.describe('norm')}: {lost}",
    )


@steps("R")
def recall(q: Listing, *, k: Cutoff, rel: float, norm: str) -> Steps:
    end = q.cutoff(k, rel)
    divisor = _recall(q, k, rel, norm)
    counted = q.counter(rel)
    columns = (q.column("recall", lambda rank: num(counted(rank)) / divisor.value.value, end),)
    return share_found(q.found(end, rel), divisor, columns, end=end)


@steps("F")
def f_measure(q: Listing, *, k: Cutoff, rel: float, short: str, beta: float) -> Steps:
    end = q.cutoff(k, rel)
    found = q.found(end, rel)
    of_relevant = _recall(q, k, rel, "relevant")
    columns = along(q, rel, end)
    if not found:
        return Steps(
            Number(0), columns, says="Nothing relevant is among the results that count.", end=end
        )
    divisor = places(q, k, rel, short)
    before = (
        Line("P", num(len(found)) / divisor.value, f"precision; {divisor.says}"),
        Line("R", num(len(found)) / of_relevant.value, f"recall; {of_relevant.says}"),
    )
    p, r = (Named(line.symbol, line.value) for line in before)
    if beta == 1:
        return Steps(2 * p * r / (p + r), columns, before=before, end=end)
    weight = num(beta) ** 2
    return Steps((1 + weight) * p * r / (weight * p + r), columns, before=before, end=end)
