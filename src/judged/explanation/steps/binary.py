"""Relevant or not: precision, recall, their balance, success, counts and shares of the retrieved
set."""

from __future__ import annotations

from math import inf, isinf

import numpy as np

from judged.explanation.arithmetic import Expression, Named, Number, least, num, total
from judged.explanation.listing import Column, Line, Listing, Steps
from judged.explanation.steps.registry import steps
from judged.rankings.rankings import Cutoff
from judged.segments import needed

NOTHING = "No relevant item is among the results that count."


def along(q: Listing, rel: float, end: float = inf, *, recall: bool = True) -> tuple[Column, ...]:
    """The columns of everything that counts relevant items: precision, and recall where it matters."""
    found, relevant = q.counter(rel), q.relevant(rel)
    columns = [q.column("precision", lambda rank: num(found(rank)) / rank, end)]
    if recall and relevant:
        columns.append(q.column("recall", lambda rank: num(found(rank)) / relevant, end))
    return tuple(columns)


def each_adds(ranks: list[int], divisor: Expression) -> dict[int, Expression]:
    return dict.fromkeys(ranks, 1 / divisor)


def _places(q: Listing, k: Cutoff, rel: float, short: str) -> Line:
    """What precision divides by."""
    shown, cutoff = q.shown(k, rel), q.cutoff(k, rel)
    if k is None or short == "shrink":
        says = "the length of the list, as there is no k" if k is None else q.words("short")
        return Line("results", Number(shown), f"{says}: {shown} results count")
    return Line(
        "k",
        Number(cutoff),
        "k, however long the list is" if k != "R" else "R, the number of relevant items",
    )


@steps("P")
def precision(q: Listing, *, k: Cutoff, rel: float, short: str) -> Steps:
    divisor = _places(q, k, rel, short)
    end = q.cutoff(k, rel)
    found = q.found(end, rel)
    return Steps(
        num(len(found)) / divisor.value,
        along(q, rel, end, recall=False),
        each_adds(found, divisor.value),
        divisor=divisor,
        end=end,
    )


@steps("Rprec")
def r_precision(q: Listing, *, rel: float, mult: float) -> Steps:
    relevant = q.relevant(rel)
    end = float(needed(mult, np.array([float(relevant)]))[0])
    found = q.found(end, rel)
    times = "" if mult == 1 else f", and {mult:g} times that, rounded up, is {end:.0f}"
    divisor = Line(
        "R", Number(end), f"the query has {relevant} relevant items{times}: as many results count"
    )
    return Steps(
        num(len(found)) / end,
        along(q, rel, end, recall=False),
        each_adds(found, divisor.value),
        divisor=divisor,
        end=end,
    )


@steps("Success")
def success(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    found = q.found(end, rel)
    counted = q.counter(rel)
    says = f"The first relevant item stands at rank {found[0]}." if found else NOTHING
    return Steps(
        least(len(found), 1),
        (q.column("relevant so far", lambda rank: num(counted(rank)), end),),
        says=says,
        end=end,
    )


def _recall(q: Listing, k: Cutoff, rel: float, norm: str) -> Line:
    relevant = q.relevant(rel)
    found = len(q.found(inf, rel))
    lost = f"{relevant} items are relevant, {found} of them in the list"
    if norm == "relevant":
        return Line("N", Number(relevant), f"all relevant items of the query: {lost}")
    most = max(q.retrieved, 1) if k is None else q.cutoff(k, rel)
    return Line(
        "min(N, k)" if k else "min(N, results)", least(relevant, most), f"{q.words('norm')}: {lost}"
    )


@steps("R")
def recall(q: Listing, *, k: Cutoff, rel: float, norm: str) -> Steps:
    end = q.cutoff(k, rel)
    found = q.found(end, rel)
    divisor = _recall(q, k, rel, norm)
    counted = q.counter(rel)
    columns = (q.column("recall", lambda rank: num(counted(rank)) / divisor.value.value, end),)
    return Steps(
        num(len(found)) / divisor.value,
        columns,
        each_adds(found, divisor.value),
        divisor=divisor,
        end=end,
    )


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
    divisor = _places(q, k, rel, short)
    before = (
        Line("P", num(len(found)) / divisor.value, f"precision; {divisor.says}"),
        Line("R", num(len(found)) / of_relevant.value, f"recall; {of_relevant.says}"),
    )
    p, r = (Named(line.symbol, line.value) for line in before)
    if beta == 1:
        return Steps(2 * p * r / (p + r), columns, before=before, end=end)
    weight = num(beta) ** 2
    return Steps((1 + weight) * p * r / (weight * p + r), columns, before=before, end=end)


# -- counts
# ------------------------------------------------------------------------------------------------------------


def _counts(q: Listing, k: Cutoff, rel: float) -> tuple[int, int, int]:
    """True and false positives, false negatives."""
    found = len(q.found(q.cutoff(k, rel), rel))
    return found, q.shown(k, rel) - found, q.relevant(rel) - found


def _counted(q: Listing, k: Cutoff, rel: float) -> tuple[Column, ...]:
    end = q.cutoff(k, rel)
    counted = q.counter(rel)
    return (
        q.column("relevant so far", lambda rank: num(counted(rank)), end),
        q.column("others so far", lambda rank: num(rank - counted(rank)), end),
    )


@steps("TP", "NumRelRet")
def true_positives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    ranks = q.found(end, rel)
    return Steps(
        Number(len(ranks)),
        _counted(q, k, rel),
        {rank: Number(1) for rank in ranks},
        says=_which(ranks),
        end=end,
    )


def _which(ranks: list[int]) -> str:
    if not ranks:
        return NOTHING
    told = ", ".join(map(str, ranks[:10])) + (", …" if len(ranks) > 10 else "")
    return f"The relevant results stand at rank{'s' if len(ranks) > 1 else ''} {told}."


@steps("FP")
def false_positives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    found, others, _ = _counts(q, k, rel)
    says = f"{found + others} results count, {found} of them relevant."
    return Steps(num(found + others) - found, _counted(q, k, rel), says=says, end=q.cutoff(k, rel))


@steps("FN")
def false_negatives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    found, _, lost = _counts(q, k, rel)
    says = f"{found + lost} items are relevant, {found} of them among the results that count."
    return Steps(num(found + lost) - found, _counted(q, k, rel), says=says, end=q.cutoff(k, rel))


@steps("TN")
def true_negatives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    lines = _table(q, k, rel)
    c, tp, fp, fn = (Named(line.symbol, line.value) for line in lines)
    return Steps(c - (tp + fp + fn), _counted(q, k, rel), before=lines, end=q.cutoff(k, rel))


def _table(q: Listing, k: Cutoff, rel: float) -> tuple[Line, ...]:
    found, others, lost = _counts(q, k, rel)
    return (
        Line("C", Number(q.collection), "all items of the collection"),
        Line("TP", Number(found), "relevant, and among the results that count"),
        Line("FP", Number(others), "not relevant, but among them"),
        Line("FN", Number(lost), "relevant, but not among them"),
    )


@steps("Accuracy")
def accuracy(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    lines = _table(q, k, rel)
    c, _, fp, fn = (Named(line.symbol, line.value) for line in lines)
    divisor = Line("C", lines[0].value, lines[0].says)
    return Steps(
        (c - (fp + fn)) / c,
        _counted(q, k, rel),
        before=lines,
        divisor=divisor,
        end=q.cutoff(k, rel),
    )


def _others(q: Listing, rel: float) -> Line:
    return Line(
        "C - N",
        num(q.collection) - q.relevant(rel),
        "all items of the collection that are not relevant",
    )


@steps("Specificity")
def specificity(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    divisor = _others(q, rel)
    line = Line(
        "FP", Number(_counts(q, k, rel)[1]), "not relevant, but among the results that count"
    )
    value = (Named(divisor.symbol, divisor.value) - Named("FP", line.value)) / Named(
        divisor.symbol, divisor.value
    )
    return Steps(value, _counted(q, k, rel), before=(line,), divisor=divisor, end=q.cutoff(k, rel))


@steps("FallOut")
def fall_out(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    divisor = _others(q, rel)
    return Steps(
        num(_counts(q, k, rel)[1]) / divisor.value,
        _counted(q, k, rel),
        divisor=divisor,
        end=q.cutoff(k, rel),
    )


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
    found, others, lost = _counts(q, None, rel)
    counts = [(a, found, "TP"), (b, others, "FP"), (c, lost, "FN")]
    if d:
        counts.append((d, q.collection - found - others - lost, "TN"))
    says = ", ".join(f"{name} = {count}" for _, count, name in counts)
    return Steps(
        total(num(worth) * count for worth, count, _ in counts),
        _counted(q, None, rel),
        says=f"Here {says}.",
    )


# -- sizes
# -------------------------------------------------------------------------------------------------------------


@steps("NumRet")
def retrieved(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    if isinf(end):
        return Steps(Number(q.retrieved), says="All results count.")
    return Steps(least(end, q.retrieved), says=f"The list has {q.retrieved} results.", end=end)


@steps("NumRel")
def relevant(q: Listing, *, rel: float) -> Steps:
    found = len(q.found(inf, rel))
    return Steps(
        Number(q.relevant(rel)), _counted(q, None, rel), says=f"{found} of them are in the list."
    )


@steps("NumNonrelRet")
def nonrelevant_retrieved(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    ranks = [rank for rank, grade in q.hits if 0 <= grade < rel and rank <= end]
    return Steps(Number(len(ranks)), adds={rank: Number(1) for rank in ranks}, end=end)


@steps("NumQ")
def queries(q: Listing) -> Steps:
    return Steps(Number(1), says="Every query counts as one.")


@steps("Judged")
def judged_share(q: Listing, *, k: Cutoff) -> Steps:
    end = q.cutoff(k, 1)
    shown = q.shown(k, 1)
    ranks = [rank for rank, grade in q.hits if grade >= 0 and rank <= end]
    divisor = Line(
        "results", Number(shown), "the results that count; empty places of a short list do not"
    )
    return Steps(
        num(len(ranks)) / shown, adds=each_adds(ranks, divisor.value), divisor=divisor, end=end
    )


@steps("Unjudged")
def unjudged_share(q: Listing, *, k: Cutoff) -> Steps:
    end, shown = q.cutoff(k, 1), q.shown(k, 1)
    judged = sum(grade >= 0 and rank <= end for rank, grade in q.hits)
    places = shown if k is None else end
    divisor = Line(
        "places",
        Number(places),
        "the places that count, those that a short list leaves empty included",
    )
    return Steps(
        (num(shown) - judged) / places,
        divisor=divisor,
        says=f"{shown} results count, {judged} judged.",
        end=end,
    )
