"""Judgements that are incomplete."""

from __future__ import annotations

from judged.explanation.arithmetic import Number, num, total
from judged.explanation.listing import Equation, Listing, Steps, all_items, divided, steps
from judged.explanation.steps.precision import share_found
from judged.measures.incomplete import EPSILON
from judged.rankings.rankings import Cutoff


@steps("Bpref")
def binary_preference(q: Listing, *, rel: float) -> Steps:
    relevant = q.relevant(rel)
    nonrelevant = sum(0 <= grade < rel for grade in q.pool)
    above, counts, terms = 0, {}, {}
    for rank, grade in q.hits:
        if grade >= rel:
            wrong = min(above, relevant)
            terms[rank] = 1 - num(wrong) / min(nonrelevant, relevant) if wrong else num(1)
            counts[rank] = num(above)
        elif grade >= 0:
            above += 1
    divisor = all_items(relevant, len(terms))
    says = f"{nonrelevant} items were judged not relevant; no more count than R"
    line = Equation("min(N, R)", num(min(nonrelevant, relevant)), says)
    columns = (q.column("judged others above", counts.get),)
    return divided(terms, divisor, columns, before=(line,))


@steps("infAP")
def inferred_average_precision(q: Listing, *, rel: float) -> Steps:
    found, others, terms, shares = 0, 0, {}, {}
    for pooled, (rank, grade) in enumerate(q.hits):
        if grade >= rel:
            share = (found + num(EPSILON)) / (found + others + num(2 * EPSILON))
            terms[rank] = num(1) / rank + num(pooled) / rank * share
            shares[rank] = num(share.value)
            found += 1
        elif grade >= 0:
            others += 1
    divisor = all_items(q.relevant(rel), len(terms))
    columns = (
        q.column("relevant share of judged above", shares.get),
        q.column("precision inferred", terms.get),
    )
    return divided(terms, divisor, columns)


@steps("Judged")
def judged_share(q: Listing, *, k: Cutoff) -> Steps:
    end = q.cutoff(k, 1)
    ranks = [rank for rank, grade in q.hits if grade >= 0 and rank <= end]
    says = "the results that count; empty places of a short list do not"
    divisor = Equation("results", Number(q.shown(k, 1)), says)
    return share_found(ranks, divisor, end=end)


@steps("Unjudged")
def unjudged_share(q: Listing, *, k: Cutoff) -> Steps:
    end, shown = q.cutoff(k, 1), q.shown(k, 1)
    judged = sum(grade >= 0 and rank <= end for rank, grade in q.hits)
    places = shown if k is None else end
    included = "the places that count, those that a short list leaves empty included"
    divisor = Equation("places", Number(places), included)
    says = f"{shown} results count, {judged} judged."
    return Steps((num(shown) - judged) / places, divisor=divisor, says=says, end=end)


@steps("RBPResidual")
def rank_biased_residual(q: Listing, *, p: float) -> Steps:
    judged = {rank: num(p) ** (rank - 1) for rank, grade in q.hits if grade >= 0}
    columns = (q.column("weight", lambda rank: num(p) ** (rank - 1)),)
    says = (
        "The weights of judged results are taken off: any other rank, after the end of the list "
        "too, may hold a relevant item."
    )
    return Steps(1 - (1 - num(p)) * total(judged.values()), columns, says=says)
