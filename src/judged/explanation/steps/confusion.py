"""The confusion counts at k."""

from __future__ import annotations

from judged.explanation.arithmetic import Named, Number, num
from judged.explanation.listing import Column, Line, Listing, Steps, steps
from judged.explanation.steps.precision import NOTHING
from judged.rankings.rankings import Cutoff


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
