"""Steps of measures of graded gain."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from judged.explanation.arithmetic import Expression, Number, logarithm, num, total
from judged.explanation.listing import (
    ANY,
    Column,
    Cumulated,
    Equation,
    Listing,
    Steps,
    all_items,
    divided,
    named,
    steps,
)
from judged.measures.gain import gains_of
from judged.rankings.rankings import Cutoff

Table = Mapping[float, float] | None


def gain_of(grade: float, gain: str, gains: Table) -> Expression:
    """Return the calculation of the gain of a grade."""
    if gain == "exp" and grade > 0 and not (gains and grade in gains):
        return num(2) ** grade - 1
    return num(float(gains_of(np.array([grade]), gain=gain, gains=gains)[0]))


def gaining(q: Listing, end: float, gain: str, gains: Table) -> dict[int, Expression]:
    """Return the gains above 0 by rank."""
    found = {rank: gain_of(grade, gain, gains) for rank, grade in q.hits if rank <= end}
    return {rank: each for rank, each in found.items() if each.value > 0}


def best_gains(grades: list[float], gain: str, gains: Table) -> list[Expression]:
    """Return all gains above 0, greatest first."""
    every = [gain_of(grade, gain, gains) for grade in grades]
    return sorted((each for each in every if each.value > 0), key=lambda each: -each.value)


def discounted(gains: Mapping[int, Expression], log: float = 2) -> dict[int, Expression]:
    return {rank: each / logarithm(rank + 1, log) for rank, each in gains.items()}


def ideal_terms(best: list[Expression], end: float = inf, log: float = 2) -> tuple[Expression, ...]:
    """Return what each rank of the ideal list adds to its DCG."""
    placed = {place: each for place, each in enumerate(best, 1) if place <= end}
    return tuple(discounted(placed, log).values())


def ideal_list(best: list[Expression], end: float = inf, log: float = 2) -> Expression:
    """Return the DCG of the ideal list."""
    return total(ideal_terms(best, end, log))


def _columns(
    q: Listing, gains: Mapping[int, Expression], end: float, log: float
) -> tuple[Column, ...]:
    return (
        q.column("gain", lambda rank: num(gains[rank].value if rank in gains else 0), end),
        q.column("discount", lambda rank: logarithm(rank + 1, log), end),
    )


def _per_rank(
    q: Listing,
    terms: Mapping[int, Expression],
    perfect: tuple[Expression, ...],
    end: float,
) -> tuple[Column, ...]:
    """Return the columns DCG, IDCG and nDCG of the list down to each rank."""
    dcg, ideal = q.sum_to(terms), q.sum_to(dict(enumerate(perfect, 1)))

    def ndcg(rank: int) -> Expression:
        return num(dcg(rank).value / ideal(rank).value if perfect else 0)

    cells = {"DCG": dcg, "IDCG": ideal, "nDCG": ndcg}
    return tuple(q.column(name, cell, end) for name, cell in cells.items())


@steps("DCG")
def dcg(q: Listing, *, k: Cutoff, gain: str, gains: Table, log: float) -> Steps:
    end = q.cutoff(k, ANY)
    own = gaining(q, end, gain, gains)
    terms = discounted(own, log)
    cumulated = Cumulated("DCG", own, terms)
    columns = (*_columns(q, own, end, log), q.column("DCG", q.sum_to(terms), end))
    return Steps(total(terms.values()), columns, terms, end=end, cumulated=cumulated)


@steps("IdealDCG")
def ideal_dcg(q: Listing, *, k: Cutoff, gain: str, gains: Table, log: float) -> Steps:
    end = q.cutoff(k, ANY)
    best = best_gains(q.pool, gain, gains)
    return Steps(ideal_list(best, end, log), says=_best_order(best, end), end=end)


def _best_order(best: list[Expression], end: float) -> str:
    counted = best[: int(min(end, len(best)))]
    shown = [num(each.value).text() for each in counted[:12]]
    if not shown:
        return "No judged item gains anything."
    more = ", …" if len(counted) > len(shown) else ""
    return f"The best order of all judged items gains {', '.join(shown)}{more}."


def _ideal_gains(
    q: Listing, k: Cutoff, gain: str, gains: Table, ideal: str
) -> tuple[list[Expression], float]:
    end = q.cutoff(k, ANY)
    match ideal:
        case "retrieved":
            return best_gains([grade for rank, grade in q.hits if rank <= end], gain, gains), end
        case "shown":
            return best_gains(q.pool, gain, gains), q.shown(k, ANY)
        case "cutoff":
            return best_gains(q.pool, gain, gains)[:1] * int(end), end
    return best_gains(q.pool, gain, gains), end


def _ideal_says(q: Listing, best: list[Expression], end: float, ideal: str) -> str:
    if ideal != "judged":
        return q.describe("ideal")
    return f"{q.describe('ideal')}. {_best_order(best, end)}".removesuffix(".")


@steps("nDCG")
def ndcg(q: Listing, *, k: Cutoff, gain: str, gains: Table, ideal: str, log: float) -> Steps:
    end = q.cutoff(k, ANY)
    own = gaining(q, end, gain, gains)
    terms = discounted(own, log)
    at_k = "" if k is None else f"@{k}"
    summed = "each gain divided by its discount, summed"
    reached = Equation(f"DCG{at_k}", total(terms.values()), summed)
    best, until = _ideal_gains(q, k, gain, gains, ideal)
    perfect = ideal_terms(best, until, log)
    divisor = Equation(f"IDCG{at_k}", total(perfect), _ideal_says(q, best, until, ideal))
    columns = (*_columns(q, own, end, log), *_per_rank(q, terms, perfect, end))
    if divisor.value.value == 0:
        says = "The ideal list is empty: such a list scores 0."
        return Steps(num(0), columns, {}, divisor=divisor, says=says, end=end)
    dcg_here, whole = named(reached, divisor)
    perfect_values = tuple(term.value for term in perfect)
    return Steps(
        dcg_here / whole,
        columns,
        {rank: term / whole for rank, term in terms.items()},
        (reached,),
        divisor,
        end=end,
        cumulated=Cumulated(reached.symbol, own, terms, perfect_values, divisor.symbol),
    )


def _sums(values: list[float]) -> list[float]:
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
        terms[rank] = each / logarithm(lags[rank])
    divisor = Equation("ΣI", total(best), "all gain there is in the judgements")
    columns = (q.column("gain", own.get), q.column("2 + lag", lags.get))
    return divided(terms, divisor, columns, by_symbol=True)


@steps("binG")
def binary_gain(q: Listing, *, rel: float) -> Steps:
    ranks = q.found(inf, rel)
    terms = {rank: 1 / logarithm(2 + rank - place) for place, rank in enumerate(ranks, 1)}
    above = {rank: num(rank - place) for place, rank in enumerate(ranks, 1)}
    divisor = all_items(q.relevant(rel), len(ranks))
    return divided(terms, divisor, (q.column("others above", above.get),))


@steps("nDCGRel")
def ndcg_over_relevant(q: Listing, *, gains: Table) -> Steps:
    best, own = best_gains(q.pool, "linear", gains), gaining(q, inf, "linear", gains)
    at = {rank: _ndcg_at(own, best, rank) for rank in own}
    terms = list(at.values())
    lost = len(best) - len(own)
    if lost:
        terms.append(num(lost) * _ndcg_at(own, best, inf))
    divisor = all_items(len(best), len(own), "judged items that gain something")
    columns = (q.column("nDCG here", at.get),)
    says = f"{lost} of them were not retrieved: each counts with the nDCG of the whole list."
    value = total(terms) / divisor.value
    return Steps(value, columns, divisor=divisor, says=says if lost else "")


def _ndcg_at(own: Mapping[int, Expression], best: list[Expression], rank: float) -> Expression:
    """Return nDCG as a quotient of two numbers, without its long sums."""
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
    before = []
    for rank in ranks:
        says = "the end of the list"
        if rank <= len(values):
            says = f"the last place of gain {values[rank - 1]:g} in the ideal list"
        before.append(Equation(f"nDCG@{rank}", _ndcg_at(own, best, rank), says))
    divisor = Equation("levels", Number(len(ranks)), "the ranks at which nDCG is taken")
    value = total(named(*before)) / divisor.value
    return Steps(value, (q.column("gain", own.get),), before=tuple(before), divisor=divisor)


@steps("Q")
def q_measure(q: Listing, *, gain: str, gains: Table, beta: float) -> Steps:
    best, own = best_gains(q.pool, gain, gains), gaining(q, inf, gain, gains)
    sums = _sums([each.value for each in best])
    gained, terms = 0.0, {}
    for place, (rank, each) in enumerate(own.items(), 1):
        gained += each.value
        terms[rank] = (place + num(beta) * gained) / (rank + num(beta) * sums[min(rank, len(best))])
    divisor = all_items(len(best), len(own), "judged items that gain something")
    columns = (q.column("gain", own.get), q.column("blended precision", terms.get))
    return divided(terms, divisor, columns)
