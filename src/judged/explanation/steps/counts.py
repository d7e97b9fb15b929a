"""Counts of items and queries."""

from __future__ import annotations

from math import inf, isinf

from judged.explanation.arithmetic import Number, least
from judged.explanation.listing import Listing, Steps, steps
from judged.explanation.steps.confusion import counted, true_positives
from judged.rankings.rankings import Cutoff


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
