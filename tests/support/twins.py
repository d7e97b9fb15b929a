"""A slow twin of every measure: the definition read aloud, one query at a time, in plain loops.

A twin takes a `Query` and the measure's parameters and returns a float, NaN where the measure has
no value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, exp, floor, inf, log, nan
from statistics import median
from typing import Any

from support.rankings import Query

TWINS: dict[str, Callable[..., float]] = {}
"""By the measure's name."""


def twin(function: Callable[..., float]) -> Callable[..., float]:
    TWINS[function.__name__.removeprefix("twin_")] = function
    return function


def is_relevant(grade: float | None, rel: float) -> bool:
    return grade is not None and grade >= rel


def count_relevant(query: Query, rel: float) -> int:
    return sum(is_relevant(grade, rel) for grade in query.pool)


def count_positive(query: Query) -> int:
    return sum(grade > 0 for grade in query.pool)


def top(query: Query, k: int | str | None, relevant: int) -> list[float | None]:
    """The results down to the cutoff; `relevant` is what R stands for."""
    if k is None:
        return list(query.shown)
    return list(query.shown[: relevant if k == "R" else k])


def relevant_ranks(query: Query, k: int | str | None, rel: float) -> list[int]:
    return [
        rank
        for rank, grade in enumerate(top(query, k, count_relevant(query, rel)), 1)
        if is_relevant(grade, rel)
    ]


def share(part: float, whole: float) -> float:
    return nan if whole == 0 else part / whole


@twin
def twin_P(query: Query, *, k: Any, rel: float, short: str) -> float:  # noqa: N802
    found = len(relevant_ranks(query, k, rel))
    shown = len(top(query, k, count_relevant(query, rel)))
    if k is None or short == "shrink":
        return share(found, shown)
    return share(found, count_relevant(query, rel) if k == "R" else k)


@twin
def twin_Rprec(query: Query, *, rel: float, mult: float) -> float:  # noqa: N802
    rank = ceil(Fraction(mult).limit_denominator(10_000) * count_relevant(query, rel))
    return share(len([found for found in relevant_ranks(query, None, rel) if found <= rank]), rank)


@twin
def twin_Success(query: Query, *, k: Any, rel: float, of: str) -> float:  # noqa: N802
    relevant, found = count_relevant(query, rel), len(relevant_ranks(query, k, rel))
    if relevant == 0:
        return nan
    return 1.0 if (found > 0 if of == "any" else found == relevant) else 0.0


@twin
def twin_R(query: Query, *, k: Any, rel: float, norm: str) -> float:  # noqa: N802
    relevant = count_relevant(query, rel)
    most = {None: len(query.shown) or 1, "R": relevant}.get(k, k)
    whole = min(relevant, most) if norm == "capped" else relevant
    return share(len(relevant_ranks(query, k, rel)), whole)


@twin
def twin_F(query: Query, *, k: Any, rel: float, short: str, beta: float) -> float:  # noqa: N802
    recall = twin_R(query, k=k, rel=rel, norm="relevant")
    precision = twin_P(query, k=k, rel=rel, short=short)
    return balance(precision, recall, beta)


def balance(precision: float, recall: float, beta: float) -> float:
    if recall != recall:
        return nan
    if recall == 0 or precision == 0:
        return 0.0
    return (1 + beta**2) / (1 / precision + beta**2 / recall)


@twin
def twin_AP(query: Query, *, k: Any, rel: float, norm: str, area: str) -> float:  # noqa: N802
    relevant = count_relevant(query, rel)
    if relevant == 0:
        return nan
    ranks = relevant_ranks(query, k, rel)
    heights = []
    for at, rank in enumerate(ranks):
        precision = (at + 1) / rank
        if area == "trapezoid":
            before = at / (rank - 1) if rank > 1 else 1.0
            precision = (before + precision) / 2
        elif area == "interpolated":
            precision = max((later + 1) / ranks[later] for later in range(at, len(ranks)))
        heights.append(precision)
    cutoff = relevant if k == "R" else k
    divisor = {
        "relevant": relevant,
        "capped": relevant if cutoff is None else min(relevant, cutoff),
        "retrieved": len(ranks) or 1,
        "cutoff": cutoff,
    }[norm]
    return sum(heights) / divisor


def best_precision(query: Query, point: float, rel: float, rounding: str) -> float:
    """The best precision at any depth that reaches the recall point."""
    relevant = count_relevant(query, rel)
    if relevant == 0:
        return nan
    if rounding == "exact":
        needed = ceil(Fraction(point).limit_denominator(10_000) * relevant)
    else:
        needed = floor(point * relevant + (0.5 if rounding == "trec_eval" else 0.9))
    best, found = 0.0, 0
    for depth, grade in enumerate(query.shown, 1):
        found += is_relevant(grade, rel)
        if found >= needed:
            best = max(best, found / depth)
    return best


@twin
def twin_IPrec(query: Query, *, recall: float, rel: float, rounding: str) -> float:  # noqa: N802
    return best_precision(query, recall, rel, rounding)


@twin
def twin_IAP(query: Query, *, points: int | Sequence[float], rel: float, rounding: str) -> float:  # noqa: N802
    wanted = [i / (points - 1) for i in range(points)] if isinstance(points, int) else points
    return sum(best_precision(query, point, rel, rounding) for point in wanted) / len(wanted)


@twin
def twin_RR(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    if count_relevant(query, rel) == 0:
        return nan
    ranks = relevant_ranks(query, k, rel)
    return 1 / ranks[0] if ranks else 0.0


def ranks_of_all(query: Query, rel: float) -> list[float]:
    found = relevant_ranks(query, None, rel)
    return found + [inf] * (count_relevant(query, rel) - len(found))


@twin
def twin_Rank(query: Query, *, rel: float, of: str, aggregate: str) -> float:  # noqa: N802
    ranks = ranks_of_all(query, rel)
    if not ranks:
        return nan
    if of in ("first", "last"):
        return min(ranks) if of == "first" else max(ranks)
    return sum(ranks) / len(ranks) if aggregate == "mean" else median(ranks)


def gain_of(grade: float | None, gain: str, gains: Mapping[float, float] | None) -> float:
    if grade is None:
        return 0.0
    if gains and grade in gains:
        return gains[grade]
    if grade <= 0:
        return 0.0
    return {"linear": grade, "exp": 2**grade - 1, "binary": 1.0}[gain]


def discounted(gains: Sequence[float], base: float) -> float:
    return sum(gain / log(rank + 1, base) for rank, gain in enumerate(gains, 1))


@twin
def twin_DCG(query: Query, *, k: Any, gain: str, gains: Any, log: float) -> float:  # noqa: N802
    return discounted(
        [gain_of(grade, gain, gains) for grade in top(query, k, count_positive(query))], log
    )


@twin
def twin_nDCG(query: Query, *, k: Any, gain: str, gains: Any, ideal: str, log: float) -> float:  # noqa: N802
    best = sorted((gain_of(grade, gain, gains) for grade in query.pool), reverse=True)
    depth = count_positive(query) if k == "R" else k
    if discounted(best[:depth], log) == 0:
        return nan
    if ideal == "retrieved":
        best = sorted(
            (gain_of(grade, gain, gains) for grade in top(query, k, count_positive(query))),
            reverse=True,
        )
    elif ideal == "shown":
        best = best[: len(query.shown)]
    elif ideal == "cutoff":
        best = best[:1] * depth
    if discounted(best[:depth], log) == 0:
        return 0.0
    return twin_DCG(query, k=k, gain=gain, gains=gains, log=log) / discounted(best[:depth], log)


@twin
def twin_RBP(query: Query, *, k: Any, rel: float, p: float, gain: str, max_grade: float) -> float:  # noqa: N802
    rate = 0.0
    for rank, grade in enumerate(top(query, k, count_relevant(query, rel)), 1):
        gained = max(grade or 0, 0) / max_grade if gain == "graded" else is_relevant(grade, rel)
        rate += (1 - p) * gained * p ** (rank - 1)
    return rate


@twin
def twin_ERR(query: Query, *, k: Any, max_grade: float) -> float:  # noqa: N802
    expected, reading = 0.0, 1.0
    for rank, grade in enumerate(top(query, k, count_positive(query)), 1):
        stop = (2 ** max(grade or 0, 0) - 1) / 2**max_grade
        expected += reading * stop / rank
        reading *= 1 - stop
    return expected


def confusion(query: Query, k: Any, rel: float) -> dict[str, int]:
    """Every item of the collection goes into one of four boxes."""
    depth = len(top(query, k, count_relevant(query, rel)))
    boxes = {"TP": 0, "FP": 0, "FN": 0, "TN": 0}
    items = [*query.shown, *query.lost, *[None] * query.elsewhere]
    for place, grade in enumerate(items):
        relevant = is_relevant(grade, rel)
        boxes[("TP" if relevant else "FP") if place < depth else ("FN" if relevant else "TN")] += 1
    return boxes


@twin
def twin_TP(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    return confusion(query, k, rel)["TP"]


@twin
def twin_FP(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    return confusion(query, k, rel)["FP"]


@twin
def twin_FN(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    return confusion(query, k, rel)["FN"]


@twin
def twin_TN(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    return confusion(query, k, rel)["TN"]


@twin
def twin_Accuracy(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    boxes = confusion(query, k, rel)
    return share(boxes["TP"] + boxes["TN"], query.collection)


@twin
def twin_Specificity(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    boxes = confusion(query, k, rel)
    return share(boxes["TN"], boxes["TN"] + boxes["FP"])


@twin
def twin_Judged(query: Query, *, k: Any) -> float:  # noqa: N802
    shown = top(query, k, count_relevant(query, 1))
    return share(sum(grade is not None and grade >= 0 for grade in shown), len(shown))


@twin
def twin_NumRet(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    return len(top(query, k, count_relevant(query, rel)))


@twin
def twin_NumRel(query: Query, *, rel: float) -> float:  # noqa: N802
    return count_relevant(query, rel)


@twin
def twin_NumRelRet(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    return len(relevant_ranks(query, k, rel))


@twin
def twin_NumQ(query: Query) -> float:  # noqa: N802
    return 1.0


def geometric_mean(values: Sequence[float]) -> float:
    return exp(sum(log(max(value, 0.00001)) for value in values) / len(values))


AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: sum(values) / len(values),
    "geometric": geometric_mean,
    "median": median,
    "sum": sum,
}
"""Twins of the aggregations."""
