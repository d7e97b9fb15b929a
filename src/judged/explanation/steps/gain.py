"""Graded gain: DCG and its kin."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from judged.explanation.arithmetic import Expression, Logarithm, Named, Number, num, total
from judged.explanation.listing import ANY, Column, Line, Listing, Steps
from judged.explanation.steps.registry import steps
from judged.measures.gain import gains_of
from judged.rankings.rankings import Cutoff

Table = Mapping[float, float] | None


def gain_of(grade: float, gain: str, gains: Table) -> Expression:
    """What an item of some grade gains, as it is worked out."""
    if gain == "exp" and grade > 0 and not (gains and grade in gains):
        return num(2) ** grade - 1
    return num(float(gains_of(np.array([grade]), gain=gain, gains=gains)[0]))


def gaining(q: Listing, end: float, gain: str, gains: Table) -> dict[int, Expression]:
    """The gains of the results that gain something, by rank."""
    found = {rank: gain_of(grade, gain, gains) for rank, grade in q.hits if rank <= end}
    return {rank: each for rank, each in found.items() if each.value > 0}


def best_gains(grades: list[float], gain: str, gains: Table) -> list[Expression]:
    """All gains above 0 there are, the greatest first."""
    every = [gain_of(grade, gain, gains) for grade in grades]
    return sorted((each for each in every if each.value > 0), key=lambda each: -each.value)


def discounted(gains: Mapping[int, Expression], log: float = 2) -> dict[int, Expression]:
    return {rank: each / Logarithm(num(rank + 1), log) for rank, each in gains.items()}


def ideal_list(best: list[Expression], end: float = inf, log: float = 2) -> Expression:
    """The DCG of a list with the greatest gains first."""
    return total(
        discounted(
            {place: each for place, each in enumerate(best, 1) if place <= end}, log
        ).values()
    )


def _columns(
    q: Listing, gains: Mapping[int, Expression], end: float, log: float
) -> tuple[Column, ...]:
    return (
        q.column("gain", lambda rank: num(gains[rank].value if rank in gains else 0), end),
        q.column("discount", lambda rank: 1 / Logarithm(num(rank + 1), log), end),
    )


@steps("DCG")
def dcg(q: Listing, *, k: Cutoff, gain: str, gains: Table, log: float) -> Steps:
    end = q.cutoff(k, ANY)
    own = gaining(q, end, gain, gains)
    terms = discounted(own, log)
    return Steps(total(terms.values()), _columns(q, own, end, log), terms, end=end)


@steps("IdealDCG")
def ideal_dcg(q: Listing, *, k: Cutoff, gain: str, gains: Table, log: float) -> Steps:
    end = q.cutoff(k, ANY)
    best = best_gains(q.pool, gain, gains)
    return Steps(ideal_list(best, end, log), says=_best_order(best, end), end=end)


def _best_order(best: list[Expression], end: float) -> str:
    counted = best[: int(min(end, len(best)))]
    shown = [num(each.value).text() for each in counted[:12]]
    more = ", …" if len(counted) > len(shown) else ""
    return (
        f"The best order of all judged items gains {', '.join(shown)}{more}."
        if shown
        else "No judged item gains anything."
    )


def _ideal(q: Listing, k: Cutoff, gain: str, gains: Table, ideal: str, log: float) -> Line:
    end = q.cutoff(k, ANY)
    symbol = "IDCG" if k is None else f"IDCG@{k}"
    match ideal:
        case "retrieved":
            best = best_gains([grade for rank, grade in q.hits if rank <= end], gain, gains)
            return Line(symbol, ideal_list(best, end, log), q.words("ideal"))
        case "shown":
            return Line(
                symbol,
                ideal_list(best_gains(q.pool, gain, gains), q.shown(k, ANY), log),
                q.words("ideal"),
            )
        case "cutoff":
            best = best_gains(q.pool, gain, gains)[:1] * int(end)
            return Line(symbol, ideal_list(best, end, log), q.words("ideal"))
        case _:
            best = best_gains(q.pool, gain, gains)
            return Line(
                symbol,
                ideal_list(best, end, log),
                f"{q.words('ideal')}. {_best_order(best, end)}".removesuffix("."),
            )


@steps("nDCG")
def ndcg(q: Listing, *, k: Cutoff, gain: str, gains: Table, ideal: str, log: float) -> Steps:
    end = q.cutoff(k, ANY)
    own = gaining(q, end, gain, gains)
    terms = discounted(own, log)
    reached = Line(
        "DCG" if k is None else f"DCG@{k}",
        total(terms.values()),
        "each gain divided by its discount, summed",
    )
    divisor = _ideal(q, k, gain, gains, ideal, log)
    columns = _columns(q, own, end, log)
    if divisor.value.value == 0:
        return Steps(
            num(0),
            columns,
            {},
            divisor=divisor,
            says="The ideal list is empty: such a list scores 0.",
            end=end,
        )
    best = Named(divisor.symbol, divisor.value)
    adds = {rank: term / best for rank, term in terms.items()}
    return Steps(
        Named(reached.symbol, reached.value) / best, columns, adds, (reached,), divisor, end=end
    )


# -- gain measured in other ways
# ---------------------------------------------------------------------------------------


def _sums(values: list[float]) -> list[float]:
    """0, and the sums of the first one, two, … values."""
    return [0.0, *np.cumsum(values).tolist()]


@steps("G")
def normalised_gain(q: Listing, *, gains: Table) -> Steps:
    best = best_gains(q.pool, "linear", gains)
    own = gaining(q, inf, "linear", gains)
    steps_of_ideal = [max(each.value, 1.0) for each in best]
    sums = _sums(steps_of_ideal)
    gained, terms, lags = 0.0, {}, {}
    for rank, each in own.items():
        gained += each.value
        ideal = sums[min(rank, len(best))] + max(rank - len(best), 0)
        lags[rank] = 2 + num(ideal) - gained
        terms[rank] = each / Logarithm(lags[rank])
    divisor = Line("ΣI", total(best), "all gain there is in the judgements")
    columns = (q.column("gain", own.get), q.column("2 + lag", lags.get))
    adds = {rank: term / Named("ΣI", divisor.value) for rank, term in terms.items()}
    return Steps(total(terms.values()) / Named("ΣI", divisor.value), columns, adds, divisor=divisor)


@steps("binG")
def binary_gain(q: Listing, *, rel: float) -> Steps:
    ranks = q.found(inf, rel)
    terms = {rank: 1 / Logarithm(num(2 + rank - place)) for place, rank in enumerate(ranks, 1)}
    above = {rank: num(rank - place) for place, rank in enumerate(ranks, 1)}
    divisor = Line(
        "R",
        Number(q.relevant(rel)),
        f"all relevant items of the query, {len(ranks)} of them in the list",
    )
    adds = {rank: term / divisor.value for rank, term in terms.items()}
    return Steps(
        total(terms.values()) / divisor.value,
        (q.column("others above", above.get),),
        adds,
        divisor=divisor,
    )


@steps("nDCGRel")
def ndcg_over_relevant(q: Listing, *, gains: Table) -> Steps:
    best, own = best_gains(q.pool, "linear", gains), gaining(q, inf, "linear", gains)
    at = {rank: _ndcg_at(own, best, rank) for rank in own}
    terms = list(at.values())
    lost = len(best) - len(own)
    if lost:
        terms.append(num(lost) * _ndcg_at(own, best, inf))
    divisor = Line(
        "R",
        Number(len(best)),
        f"all judged items that gain something, {len(own)} of them in the list",
    )
    says = (
        f"{lost} of them were not retrieved: each counts with the nDCG of the whole list."
        if lost
        else ""
    )
    return Steps(
        total(terms) / divisor.value, (q.column("nDCG here", at.get),), divisor=divisor, says=says
    )


def _ndcg_at(own: Mapping[int, Expression], best: list[Expression], rank: float) -> Expression:
    """nDCG with two numbers: its sums are long, and stand in the table of nDCG itself."""
    reached = total(discounted({at: each for at, each in own.items() if at <= rank}).values())
    return num(reached.value) / ideal_list(best, rank).value


@steps("RnDCG")
def ndcg_at_levels(q: Listing, *, rel: float, gains: Table) -> Steps:
    best, own = best_gains(q.pool, "linear", gains), gaining(q, inf, "linear", gains)
    values = [each.value for each in best]
    ranks = [
        place
        for place in range(1, len(best) + 1)
        if place == len(best) or values[place] != values[place - 1]
    ]
    if q.retrieved > len(best) + 1:
        ranks.append(q.retrieved)
    before = tuple(
        Line(f"nDCG@{rank}", _ndcg_at(own, best, rank), _level(rank, values)) for rank in ranks
    )
    divisor = Line("levels", Number(len(ranks)), "the ranks at which nDCG is taken")
    value = total(Named(line.symbol, line.value) for line in before) / divisor.value
    return Steps(value, (q.column("gain", own.get),), before=before, divisor=divisor)


def _level(rank: int, values: list[float]) -> str:
    return (
        f"the last place of gain {values[rank - 1]:g} in the ideal list"
        if rank <= len(values)
        else "the end of the list"
    )


@steps("Q")
def q_measure(q: Listing, *, gain: str, gains: Table, beta: float) -> Steps:
    best, own = best_gains(q.pool, gain, gains), gaining(q, inf, gain, gains)
    sums = _sums([each.value for each in best])
    gained, terms = 0.0, {}
    for place, (rank, each) in enumerate(own.items(), 1):
        gained += each.value
        terms[rank] = (place + num(beta) * gained) / (rank + num(beta) * sums[min(rank, len(best))])
    divisor = Line(
        "R",
        Number(len(best)),
        f"all judged items that gain something, {len(own)} of them in the list",
    )
    columns = (q.column("gain", own.get), q.column("blended precision", terms.get))
    adds = {rank: term / divisor.value for rank, term in terms.items()}
    return Steps(total(terms.values()) / divisor.value, columns, adds, divisor=divisor)


# -- gain as a chance to stop
# ------------------------------------------------------------------------------------------


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


@steps("RBPResidual")
def rank_biased_residual(q: Listing, *, p: float) -> Steps:
    judged = {rank: num(p) ** (rank - 1) for rank, grade in q.hits if grade >= 0}
    columns = (q.column("weight", lambda rank: num(p) ** (rank - 1)),)
    says = (
        "The weights of judged results are taken off: any other rank, after the end of the "
        "list too, may hold a relevant item."
    )
    return Steps(1 - (1 - num(p)) * total(judged.values()), columns, says=says)


# -- incomplete judgements
# ---------------------------------------------------------------------------------------------


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
    divisor = Line(
        "R", Number(relevant), f"all relevant items of the query, {len(terms)} of them in the list"
    )
    line = Line(
        "min(N, R)",
        num(min(nonrelevant, relevant)),
        f"{nonrelevant} items were judged not relevant; no more count than R",
    )
    adds = {rank: term / divisor.value for rank, term in terms.items()}
    columns = (q.column("judged others above", counts.get),)
    return Steps(total(terms.values()) / divisor.value, columns, adds, (line,), divisor)


EPSILON = 1e-5
"""trec_eval's constant against a division by zero, as the measure has it."""


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
    divisor = Line(
        "R",
        Number(q.relevant(rel)),
        f"all relevant items of the query, {len(terms)} of them in the list",
    )
    columns = (
        q.column("relevant share of judged above", shares.get),
        q.column("precision inferred", terms.get),
    )
    adds = {rank: term / divisor.value for rank, term in terms.items()}
    return Steps(total(terms.values()) / divisor.value, columns, adds, divisor=divisor)
