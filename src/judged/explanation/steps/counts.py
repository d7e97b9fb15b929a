"""Steps of counts, confusion counts and measures of retrieved sets."""

from __future__ import annotations

from math import inf, isinf

from judged.explanation.arithmetic import Named, Number, least, num, total
from judged.explanation.listing import Column, Line, Listing, Steps, steps
from judged.explanation.steps.precision import NOTHING, along
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


def counts(q: Listing, k: Cutoff, rel: float) -> tuple[int, int, int]:
    """Count true positives, false positives and false negatives."""
    found = len(q.found(q.cutoff(k, rel), rel))
    return found, q.shown(k, rel) - found, q.relevant(rel) - found


def counted(q: Listing, k: Cutoff, rel: float) -> tuple[Column, ...]:
    end = q.cutoff(k, rel)
    found = q.counter(rel)
    return (
        q.column("relevant so far", lambda rank: num(found(rank)), end),
        q.column("others so far", lambda rank: num(rank - found(rank)), end),
    )


@steps("TP")
def true_positives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    ranks = q.found(end, rel)
    return Steps(
        Number(len(ranks)),
        counted(q, k, rel),
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
    found, wrong, _ = counts(q, k, rel)
    says = f"{found + wrong} results count, {found} of them relevant."
    return Steps(num(found + wrong) - found, counted(q, k, rel), says=says, end=q.cutoff(k, rel))


@steps("FN")
def false_negatives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    found, _, lost = counts(q, k, rel)
    says = f"{found + lost} items are relevant, {found} of them among the results that count."
    return Steps(num(found + lost) - found, counted(q, k, rel), says=says, end=q.cutoff(k, rel))


@steps("TN")
def true_negatives(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    lines = _table(q, k, rel)
    c, tp, fp, fn = (Named(line.symbol, line.value) for line in lines)
    return Steps(c - (tp + fp + fn), counted(q, k, rel), before=lines, end=q.cutoff(k, rel))


def _table(q: Listing, k: Cutoff, rel: float) -> tuple[Line, ...]:
    found, wrong, lost = counts(q, k, rel)
    return (
        Line("C", Number(q.collection), "all items of the collection"),
        Line("TP", Number(found), "relevant, and among the results that count"),
        Line("FP", Number(wrong), "not relevant, but among them"),
        Line("FN", Number(lost), "relevant, but not among them"),
    )


@steps("Accuracy")
def accuracy(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    lines = _table(q, k, rel)
    c, _, fp, fn = (Named(line.symbol, line.value) for line in lines)
    divisor = Line("C", lines[0].value, lines[0].says)
    return Steps(
        (c - (fp + fn)) / c, counted(q, k, rel), before=lines, divisor=divisor, end=q.cutoff(k, rel)
    )


def others(q: Listing, rel: float) -> Line:
    return Line(
        "C - N",
        num(q.collection) - q.relevant(rel),
        "all items of the collection that are not relevant",
    )


@steps("Specificity")
def specificity(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    divisor = others(q, rel)
    line = Line(
        "FP", Number(counts(q, k, rel)[1]), "not relevant, but among the results that count"
    )
    value = (Named(divisor.symbol, divisor.value) - Named("FP", line.value)) / Named(
        divisor.symbol, divisor.value
    )
    return Steps(value, counted(q, k, rel), before=(line,), divisor=divisor, end=q.cutoff(k, rel))


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
        Number(q.relevant(rel)), counted(q, None, rel), says=f"{found} of them are in the list."
    )


@steps("NumRelRet")
def relevant_retrieved(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    return true_positives(q, k=k, rel=rel)


@steps("NumNonrelRet")
def nonrelevant_retrieved(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    end = q.cutoff(k, rel)
    ranks = [rank for rank, grade in q.hits if 0 <= grade < rel and rank <= end]
    return Steps(Number(len(ranks)), adds={rank: Number(1) for rank in ranks}, end=end)


@steps("NumQ")
def queries(q: Listing) -> Steps:
    return Steps(Number(1), says="Every query counts as one.")
