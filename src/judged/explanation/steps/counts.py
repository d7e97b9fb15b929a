"""Steps of counts, confusion counts and measures of retrieved sets."""

from __future__ import annotations

from math import inf, isinf
from typing import Any

from judged.explanation.arithmetic import Expression, Number, least, num, total
from judged.explanation.listing import Equation, Listing, Steps, named, steps
from judged.explanation.steps.precision import NOTHING, along
from judged.rankings.rankings import Cutoff


@steps("SetAP")
def set_average_precision(q: Listing, *, rel: float) -> Steps:
    found = len(q.found(inf, rel))
    if not q.retrieved:
        return Steps(Number(0), says="Nothing was retrieved.")
    precision = Equation("P", num(found) / q.retrieved, "precision of the whole list")
    recall = Equation("R", num(found) / q.relevant(rel), "its recall")
    p, r = named(precision, recall)
    return Steps(p * r, along(q, rel), before=(precision, recall))


@steps("Utility")
def utility(q: Listing, *, rel: float, a: float, b: float, c: float, d: float) -> Steps:
    found, wrong, lost = counts(q, None, rel)
    weighted = [(a, found, "TP"), (b, wrong, "FP"), (c, lost, "FN")]
    if d:
        weighted.append((d, q.collection - found - wrong - lost, "TN"))
    value = total(num(worth) * count for worth, count, _ in weighted)
    says = ", ".join(f"{name} = {count}" for _, count, name in weighted)
    return _counting(q, None, rel, value, says=f"Here {says}.")


@steps("FallOut")
def fall_out(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    divisor = others(q, rel)
    value = num(counts(q, k, rel)[1]) / divisor.value
    return _counting(q, k, rel, value, divisor=divisor)


def counts(q: Listing, k: Cutoff, rel: float) -> tuple[int, int, int]:
    """Count true positives, false positives and false negatives."""
    found = len(q.found(q.cutoff(k, rel), rel))
    return found, q.shown(k, rel) - found, q.relevant(rel) - found


def _counting(q: Listing, k: Cutoff, rel: float, value: Expression, **others: Any) -> Steps:
    """Return steps whose columns count relevant and other results."""
    end, found = q.cutoff(k, rel), q.counter(rel)
    columns = (
        q.column("relevant so far", lambda rank: num(found(rank)), end),
        q.column("others so far", lambda rank: num(rank - found(rank)), end),
    )
    return Steps(value, columns, end=end, **others)


@steps("TP", "NumRelRet")
def true_positives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    ranks = q.found(q.cutoff(k, rel), rel)
    listed = ", ".join(map(str, ranks[:10])) + (", …" if len(ranks) > 10 else "")
    says = f"Ranks of the relevant results: {listed}." if ranks else NOTHING
    adds = {rank: Number(1) for rank in ranks}
    return _counting(q, k, rel, Number(len(ranks)), adds=adds, says=says)


@steps("FP")
def false_positives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    found, wrong, _ = counts(q, k, rel)
    says = f"{found + wrong} results count, {found} of them relevant."
    return _counting(q, k, rel, num(found + wrong) - found, says=says)


@steps("FN")
def false_negatives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    found, _, lost = counts(q, k, rel)
    says = f"{found + lost} items are relevant, {found} of them among the results that count."
    return _counting(q, k, rel, num(found + lost) - found, says=says)


@steps("TN")
def true_negatives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    lines = _table(q, k, rel)
    c, tp, fp, fn = named(*lines)
    return _counting(q, k, rel, c - (tp + fp + fn), before=lines)


def _table(q: Listing, k: Cutoff, rel: float) -> tuple[Equation, ...]:
    found, wrong, lost = counts(q, k, rel)
    return (
        Equation("C", Number(q.collection), "all items of the collection"),
        Equation("TP", Number(found), "relevant, and among the results that count"),
        Equation("FP", Number(wrong), "not relevant, but among them"),
        Equation("FN", Number(lost), "relevant, but not among them"),
    )


@steps("Accuracy")
def accuracy(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    lines = _table(q, k, rel)
    c, _, fp, fn = named(*lines)
    return _counting(q, k, rel, (c - (fp + fn)) / c, before=lines, divisor=lines[0])


def others(q: Listing, rel: float) -> Equation:
    says = "all items of the collection that are not relevant"
    return Equation("C - N", num(q.collection) - q.relevant(rel), says)


@steps("Specificity")
def specificity(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    divisor = others(q, rel)
    says = "not relevant, but among the results that count"
    line = Equation("FP", Number(counts(q, k, rel)[1]), says)
    negatives, wrong = named(divisor, line)
    value = (negatives - wrong) / negatives
    return _counting(q, k, rel, value, before=(line,), divisor=divisor)


@steps("NumRet")
def retrieved(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    if isinf(end):
        return Steps(Number(q.retrieved), says="All results count.")
    return Steps(least(end, q.retrieved), says=f"The list has {q.retrieved} results.", end=end)


@steps("NumRel")
def relevant(q: Listing, *, rel: float) -> Steps:
    says = f"{len(q.found(inf, rel))} of them are in the list."
    return _counting(q, None, rel, Number(q.relevant(rel)), says=says)


@steps("NumNonrelRet")
def nonrelevant_retrieved(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    ranks = [rank for rank, grade in q.hits if 0 <= grade < rel and rank <= end]
    return Steps(Number(len(ranks)), adds={rank: Number(1) for rank in ranks}, end=end)


@steps("NumQ")
def queries(q: Listing) -> Steps:
    return Steps(Number(1), says="Every query counts as one.")
