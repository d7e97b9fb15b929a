"""Lists that should serve many subtopics."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf

from judged.explanation.arithmetic import Expression, Number, logarithm, num, total
from judged.explanation.listing import (
    Column,
    Cumulated,
    Equation,
    Listing,
    Steps,
    divided,
    named,
    steps,
)
from judged.measures.diversity import SAME
from judged.rankings.rankings import Cutoff

Weight = Callable[[int], Expression]


class Serving:
    """Subtopics, by numbers from 1, that the results and all judged items serve."""

    def __init__(self, q: Listing, rel: float) -> None:
        judged, items = q.rankings.subtopics, q.rankings.hit_item
        assert judged is not None  # the measure itself has asked for them before
        assert items is not None
        self.of_item: dict[int, list[int]] = {}
        for item, subtopic, grade in zip(
            judged.item.tolist(), judged.subtopic.tolist(), judged.grade.tolist(), strict=True
        ):
            if grade >= rel:
                self.of_item.setdefault(item, []).append(subtopic + 1)
        ranked = zip(q.rankings.hit_rank.tolist(), items.tolist(), strict=True)
        self.at_rank = {rank: self.of_item[item] for rank, item in ranked if item in self.of_item}
        self.subtopics = sorted({each for served in self.of_item.values() for each in served})

    @property
    def all_subtopics(self) -> Equation:
        says = "the subtopics that some judged item serves"
        return Equation("S", Number(len(self.subtopics)), says)

    def column(self, q: Listing, end: float) -> Column:
        return q.column(
            "serves", lambda rank: ", ".join(map(str, self.at_rank.get(rank, []))) or None, end
        )


def _gains(order: list[tuple[int, list[int]]], alpha: float) -> dict[int, Expression]:
    """Return the gain of each rank: 1 per subtopic, times 1 - alpha per earlier time served."""
    times: dict[int, int] = {}
    gains = {}
    for rank, served in order:
        gains[rank] = total(
            (num(1 - alpha) ** times[each]) if times.get(each) else num(1) for each in served
        )
        for each in served:
            times[each] = times.get(each, 0) + 1
    return gains


def _greedy(serving: Serving, alpha: float, end: float) -> list[tuple[int, list[int]]]:
    """Return the ideal list: at each rank the first item with the greatest gain."""
    left = dict(sorted(serving.of_item.items()))
    times: dict[int, int] = {}
    order: list[tuple[int, list[int]]] = []
    while left and len(order) < end:
        gains = {
            item: sum((1 - alpha) ** times.get(each, 0) for each in served)
            for item, served in left.items()
        }
        best = max(gains.values())
        item = next(item for item, gain in gains.items() if gain >= best * (1 - SAME))
        order.append((len(order) + 1, left.pop(item)))
        for each in order[-1][1]:
            times[each] = times.get(each, 0) + 1
    return order


def _logarithmic(rank: int) -> Expression:
    return 1 / logarithm(rank + 1)


def _reciprocal(rank: int) -> Expression:
    return num(1) / rank


def _geometric(beta: float) -> Weight:
    return lambda rank: num(beta) ** (rank - 1)


def _weighted(gains: dict[int, Expression], weight: Weight, end: float) -> dict[int, Expression]:
    return {rank: gain * weight(rank) for rank, gain in gains.items() if rank <= end}


def _over(
    q: Listing,
    serving: Serving,
    weight: Weight,
    divisor: Equation,
    *,
    alpha: float,
    end: float,
    ideal: tuple[float, ...] = (),
) -> Steps:
    gains = _gains(sorted(serving.at_rank.items()), alpha)
    terms = _weighted(gains, weight, end)
    columns = (
        serving.column(q, end),
        q.column("gain", lambda rank: num(gains[rank].value if rank in gains else 0), end),
        q.column("weight", weight, end),
    )
    cumulated = Cumulated("weighted gain", gains, terms, ideal, "ideal list" if ideal else "")
    return divided(terms, divisor, columns, by_symbol=True, end=end, cumulated=cumulated)


def _thinkable(q: Listing, *, weight: Weight, k: Cutoff, rel: float, alpha: float) -> Steps:
    serving = Serving(q, rel)
    length = q.relevant(rel) if k is None else int(q.cutoff(k, rel))
    each = total((num(1 - alpha) ** (rank - 1)) * weight(rank) for rank in range(1, length + 1))
    many = len(serving.subtopics)
    says = f"a list of {length} items that all serve each of the {many} subtopics"
    divisor = Equation("most", many * each, says)
    return _over(q, serving, weight, divisor, alpha=alpha, end=q.cutoff(k, rel))


def _ideal(q: Listing, *, weight: Weight, k: Cutoff, rel: float, alpha: float) -> Steps:
    serving = Serving(q, rel)
    end = q.cutoff(k, rel)
    best = _weighted(_gains(_greedy(serving, alpha, end), alpha), weight, end)
    says = "the ideal list, which takes at each rank the item that gains most there"
    divisor = Equation("ideal", total(best.values()), says)
    ideal = tuple(each.value for each in best.values())
    return _over(q, serving, weight, divisor, alpha=alpha, end=end, ideal=ideal)


for _name, _over_all, _weight in (
    ("alpha_DCG", _thinkable, _logarithmic),
    ("ERR_IA", _thinkable, _reciprocal),
    ("alpha_nDCG", _ideal, _logarithmic),
    ("nERR_IA", _ideal, _reciprocal),
):
    steps(_name)(partial(_over_all, weight=_weight))


@steps("nNRBP")
def nnrbp(q: Listing, *, rel: float, alpha: float, beta: float) -> Steps:
    return _ideal(q, weight=_geometric(beta), k=None, rel=rel, alpha=alpha)


@steps("NRBP")
def nrbp(q: Listing, *, rel: float, alpha: float, beta: float) -> Steps:
    serving = Serving(q, rel)
    many = len(serving.subtopics)
    endless = num(many) / (1 - num(1 - alpha) * beta)
    says = f"an endless list whose items all serve each of the {many} subtopics"
    divisor = Equation("most", endless, says)
    return _over(q, serving, _geometric(beta), divisor, alpha=alpha, end=inf)


@steps("AP_IA")
def ap_ia(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    serving = Serving(q, rel)
    end = q.cutoff(k, rel)
    lines = []
    for subtopic in serving.subtopics:
        ranks = [
            rank
            for rank, served in sorted(serving.at_rank.items())
            if subtopic in served and rank <= end
        ]
        items = sum(subtopic in served for served in serving.of_item.values())
        heights = total(num(place) / rank for place, rank in enumerate(ranks, 1))
        says = f"divided by {items}, all items that serve subtopic {subtopic}"
        lines.append(Equation(f"AP of {subtopic}", heights / items, says))
    divisor = serving.all_subtopics
    value = total(named(*lines)) / divisor.value
    return Steps(value, (serving.column(q, end),), before=tuple(lines), divisor=divisor, end=end)


@steps("P_IA")
def p_ia(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    serving = Serving(q, rel)
    end = q.cutoff(k, rel)
    served = {rank: num(len(each)) for rank, each in serving.at_rank.items() if rank <= end}
    many, places = len(serving.subtopics), q.retrieved if k is None else end
    divisor = Equation(
        "S × k", num(many) * places, f"{many} subtopics, each with {places:g} places"
    )
    return divided(served, divisor, (serving.column(q, end),), by_symbol=True, end=end)


@steps("StRecall")
def subtopic_recall(q: Listing, *, k: Cutoff, rel: float) -> Steps:
    serving = Serving(q, rel)
    end = q.cutoff(k, rel)
    new: dict[int, int] = {}
    seen: set[int] = set()
    for rank, served in sorted(serving.at_rank.items()):
        if rank <= end and set(served) - seen:
            new[rank] = len(set(served) - seen)
            seen |= set(served)
    divisor = serving.all_subtopics
    columns = (serving.column(q, end), q.column("new", lambda rank: num(new.get(rank, 0)), end))
    adds = {rank: num(count) / divisor.value for rank, count in new.items()}
    return Steps(num(len(seen)) / divisor.value, columns, adds, divisor=divisor, end=end)
