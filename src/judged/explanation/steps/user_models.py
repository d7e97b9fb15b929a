"""A user who reads down the list and stops."""

from __future__ import annotations

from judged.explanation.arithmetic import num, total
from judged.explanation.listing import ANY, Listing, Steps, steps
from judged.rankings.rankings import Cutoff


@steps("RBP")
def rank_biased_precision(
    q: Listing, *, k: Cutoff, rel: float, p: float, gain: str, max_grade: float
) -> Steps:
    end = q.cutoff(k, rel)
    if gain == "graded":
        own = {
            rank: num(max(grade, 0)) / max_grade
            for rank, grade in q.hits
            if rank <= end and grade > 0
        }
    else:
        own = {rank: num(1) for rank in q.found(end, rel)}
    weights = {rank: num(p) ** (rank - 1) for rank in own}
    terms = {
        rank: weights[rank] if each.value == 1 else each * weights[rank]
        for rank, each in own.items()
    }
    columns = (
        q.column("gain", lambda rank: own.get(rank, num(0)), end),
        q.column("weight", lambda rank: num(p) ** (rank - 1), end),
    )
    adds = {rank: (1 - num(p)) * term for rank, term in terms.items()}
    return Steps((1 - num(p)) * total(terms.values()), columns, adds, end=end)


@steps("ERR")
def expected_reciprocal_rank(q: Listing, *, k: Cutoff, max_grade: float) -> Steps:
    end = q.cutoff(k, ANY)
    reading, adds = 1.0, {}
    stops, here = {}, {}
    for rank, grade in q.hits:
        stop = (num(2) ** grade - 1) / num(2) ** max_grade if grade > 0 else num(0)
        stops[rank], here[rank] = num(stop.value), num(reading)
        if rank <= end and stop.value > 0:
            adds[rank] = num(1) / rank * stop.value * reading
        reading *= 1 - stop.value
    columns = (
        q.column("chance to stop here", lambda rank: stops.get(rank, num(0)), end),
        q.column("chance to get here", here.get, end),
    )
    return Steps(total(adds.values()), columns, adds, end=end)
