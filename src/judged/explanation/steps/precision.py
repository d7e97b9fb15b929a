"""Steps of precision, recall and F at a cutoff, R-precision and success."""

from __future__ import annotations

from math import inf

import numpy as np

from judged.arrays import needed
from judged.explanation.arithmetic import Number, least, num
from judged.explanation.listing import Column, Equation, Listing, Steps, named, steps
from judged.rankings.rankings import Cutoff
from judged.text import counted

NOTHING = "No relevant item is among the results that count."


def along(q: Listing, rel: float, end: float = inf, *, recall: bool = True) -> tuple[Column, ...]:
    """Return the columns precision and, if relevant items exist, recall."""
    found, relevant = q.counter(rel), q.relevant(rel)
    columns = [q.column("precision", lambda rank: num(found(rank)) / rank, end)]
    if recall and relevant:
        columns.append(q.column("recall", lambda rank: num(found(rank)) / relevant, end))
    return tuple(columns)


def labels(q: Listing, rel: float, end: float) -> tuple[Column, ...]:
    """Return the columns with the predicted and the actual label of each result that counts."""
    relevant = set(q.found(end, rel))
    return (
        q.column("predicted", lambda rank: "yes", end),
        q.column("actual", lambda rank: "yes" if rank in relevant else "no", end),
    )


def confusion(q: Listing, rel: float, end: float) -> str:
    """Return the confusion counts of the results that count, in a sentence."""
    found, shown = len(q.found(end, rel)), int(min(q.retrieved, end))
    lost = q.relevant(rel) - found
    return (
        f"Of {counted(shown, 'result')} predicted to be relevant, {found} {_are(found)} (TP) and "
        f"{shown - found} {_are(shown - found)} not (FP); {counted(lost, 'relevant item')} "
        f"{_are(lost)} missed (FN)."
    )


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def share_found(
    ranks: list[int],
    divisor: Equation,
    columns: tuple[Column, ...] = (),
    *,
    end: float,
    says: str = "",
) -> Steps:
    """Return the number of some results, divided."""
    adds = dict.fromkeys(ranks, 1 / divisor.value)
    value = num(len(ranks)) / divisor.value
    return Steps(value, columns, adds, divisor=divisor, end=end, says=says)


def places(q: Listing, k: Cutoff, rel: float, short: str) -> Equation:
    """Return the divisor of precision."""
    shown, cutoff = q.shown(k, rel), q.cutoff(k, rel)
    if k is None or short == "shrink":
        says = "the length of the list, as there is no k" if k is None else q.describe("short")
        return Equation("results", Number(shown), f"{says}: {shown} results count")
    says = "k, however long the list is" if k != "R" else "R, the number of relevant items"
    return Equation("k", Number(cutoff), says)


@steps("P")
def precision(q: Listing, *, k: Cutoff, rel: float, short: str) -> Steps:
    end = q.cutoff(k, rel)
    columns = (*labels(q, rel, end), *along(q, rel, end, recall=False))
    divisor = places(q, k, rel, short)
    says = confusion(q, rel, end)
    return share_found(q.found(end, rel), divisor, columns, end=end, says=says)


@steps("Rprec")
def r_precision(q: Listing, *, rel: float, mult: float) -> Steps:
    relevant = q.relevant(rel)
    end = float(needed(mult, np.array([float(relevant)]))[0])
    times = "" if mult == 1 else f", and {mult:g} times that, rounded up, is {end:.0f}"
    says = f"the query has {relevant} relevant items{times}: as many results count"
    divisor = Equation("R", Number(end), says)
    columns = along(q, rel, end, recall=False)
    return share_found(q.found(end, rel), divisor, columns, end=end)


@steps("Success")
def success(q: Listing, *, k: Cutoff, rel: float, of: str) -> Steps:
    end = q.cutoff(k, rel)
    found, relevant = q.found(end, rel), q.relevant(rel)
    found_at = q.counter(rel)
    columns = (q.column("relevant so far", lambda rank: num(found_at(rank)), end),)
    if of == "any":
        says = f"The first relevant item is at rank {found[0]}." if found else NOTHING
        return Steps(least(len(found), 1), columns, says=says, end=end)
    if len(found) < relevant:
        lost = relevant - len(q.found(inf, rel))
        number = f"{len(found)} {'is' if len(found) == 1 else 'are'}"
        says = f"Of {relevant} relevant items, {number} among the results that count" + (
            f"; {lost} {'was' if lost == 1 else 'were'} not retrieved." if lost else "."
        )
        return Steps(num(0), columns, says=says, end=end)
    says = f"All {relevant} relevant items are there, the last at rank {found[-1]}."
    return Steps(num(1), columns, says=says, end=end)


def _recall(q: Listing, k: Cutoff, rel: float, norm: str) -> Equation:
    relevant = q.relevant(rel)
    found = len(q.found(inf, rel))
    lost = f"{relevant} items are relevant, {found} of them in the list"
    if norm == "relevant":
        return Equation("N", Number(relevant), f"all relevant items of the query: {lost}")
    most = max(q.retrieved, 1) if k is None else q.cutoff(k, rel)
    symbol = "min(N, k)" if k else "min(N, results)"
    return Equation(symbol, least(relevant, most), f"{q.describe('norm')}: {lost}")


@steps("R")
def recall(q: Listing, *, k: Cutoff, rel: float, norm: str) -> Steps:
    end = q.cutoff(k, rel)
    divisor = _recall(q, k, rel, norm)
    found_at = q.counter(rel)
    recalls = q.column("recall", lambda rank: num(found_at(rank)) / divisor.value.value, end)
    columns, says = (*labels(q, rel, end), recalls), confusion(q, rel, end)
    return share_found(q.found(end, rel), divisor, columns, end=end, says=says)


@steps("F")
def f_measure(q: Listing, *, k: Cutoff, rel: float, short: str, beta: float) -> Steps:
    end = q.cutoff(k, rel)
    found = q.found(end, rel)
    of_relevant = _recall(q, k, rel, "relevant")
    columns = (*labels(q, rel, end), *along(q, rel, end))
    if not found:
        return Steps(Number(0), columns, says=NOTHING, end=end)
    divisor = places(q, k, rel, short)
    before = (
        Equation("P", num(len(found)) / divisor.value, f"precision; {divisor.says}"),
        Equation("R", num(len(found)) / of_relevant.value, f"recall; {of_relevant.says}"),
    )
    p, r = named(*before)
    weight = num(beta) ** 2
    value = 2 * p * r / (p + r) if beta == 1 else (1 + weight) * p * r / (weight * p + r)
    return Steps(value, columns, before=before, end=end, says=confusion(q, rel, end))
