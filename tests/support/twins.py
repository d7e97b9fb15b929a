"""A slow twin of every measure: the definition read aloud, one query at a time, in plain loops.

A twin takes a `Query` and the measure's parameters and returns a float, NaN where the measure has
no value.
"""

# ruff: noqa: N802, N803 (measures and their parameters have names of their own)
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from inspect import signature
from math import ceil, exp, floor, inf, log, log2, nan
from statistics import median
from typing import Any

from scipy.special import zeta

from judged.measures import Measure
from support.rankings import Query

TWINS: dict[str, Callable[..., float]] = {}
"""By the measure's name."""


def twin(function: Callable[..., float]) -> Callable[..., float]:
    TWINS[function.__name__.removeprefix("twin_")] = function
    return function


def by_twin(measure: Measure) -> Callable[[Query], float]:
    """Return the twin of a measure with its parameters."""
    function = TWINS[measure.spec.name]
    taken = signature(function).parameters
    every = "given" in taken
    params = {name: value for name, value in measure.params.items() if name in taken or every}
    if every:
        params.pop("aggregate")
    return lambda query: function(query, **params)


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
def twin_P(query: Query, *, k: Any, rel: float, short: str) -> float:
    found = len(relevant_ranks(query, k, rel))
    shown = len(top(query, k, count_relevant(query, rel)))
    if k is None or short == "shrink":
        return share(found, shown)
    return share(found, count_relevant(query, rel) if k == "R" else k)


@twin
def twin_Rprec(query: Query, *, rel: float, mult: float) -> float:
    rank = ceil(Fraction(mult).limit_denominator(10_000) * count_relevant(query, rel))
    return share(len([found for found in relevant_ranks(query, None, rel) if found <= rank]), rank)


@twin
def twin_Success(query: Query, *, k: Any, rel: float, of: str) -> float:
    relevant, found = count_relevant(query, rel), len(relevant_ranks(query, k, rel))
    if relevant == 0:
        return nan
    return 1.0 if (found > 0 if of == "any" else found == relevant) else 0.0


@twin
def twin_R(query: Query, *, k: Any, rel: float, norm: str) -> float:
    relevant = count_relevant(query, rel)
    most = {None: len(query.shown) or 1, "R": relevant}.get(k, k)
    whole = min(relevant, most) if norm == "capped" else relevant
    return share(len(relevant_ranks(query, k, rel)), whole)


@twin
def twin_F(query: Query, *, k: Any, rel: float, short: str, beta: float) -> float:
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
def twin_AP(query: Query, *, k: Any, rel: float, norm: str, area: str) -> float:
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
def twin_IPrec(query: Query, *, recall: float, rel: float, rounding: str) -> float:
    return best_precision(query, recall, rel, rounding)


@twin
def twin_IAP(query: Query, *, points: int | Sequence[float], rel: float, rounding: str) -> float:
    wanted = [i / (points - 1) for i in range(points)] if isinstance(points, int) else points
    return sum(best_precision(query, point, rel, rounding) for point in wanted) / len(wanted)


@twin
def twin_RR(query: Query, *, k: Any, rel: float) -> float:
    if count_relevant(query, rel) == 0:
        return nan
    ranks = relevant_ranks(query, k, rel)
    return 1 / ranks[0] if ranks else 0.0


def ranks_of_all(query: Query, rel: float) -> list[float]:
    found = relevant_ranks(query, None, rel)
    return found + [inf] * (count_relevant(query, rel) - len(found))


@twin
def twin_Rank(query: Query, *, rel: float, of: str, aggregate: str) -> float:
    ranks = ranks_of_all(query, rel)
    if not ranks:
        return nan
    if of in ("first", "last"):
        return min(ranks) if of == "first" else max(ranks)
    return sum(ranks) / len(ranks) if aggregate == "mean" else median(ranks)


def gain_of(grade: Any, gain: str, gains: Mapping[float, Any] | None) -> Any:
    if grade is None:
        return 0
    if gains and grade in gains:
        return gains[grade]
    if grade <= 0:
        return 0
    if gain == "binary":
        return 1
    return grade if gain == "linear" else 2**grade - 1


def discounted(gains: Sequence[Any], base: Any) -> Any:
    """In floats, or exactly where gains and the base are decimal numbers."""
    if isinstance(base, Decimal):
        logs = [Decimal(rank + 1).ln() / base.ln() for rank, _ in enumerate(gains, 1)]
    else:
        logs = [log(rank + 1, base) for rank, _ in enumerate(gains, 1)]
    return sum(gain / each for gain, each in zip(gains, logs, strict=True))


@twin
def twin_DCG(query: Query, *, k: Any, gain: str, gains: Any, log: float) -> float:
    return discounted(
        [gain_of(grade, gain, gains) for grade in top(query, k, count_positive(query))], log
    )


@twin
def twin_nDCG(query: Query, *, k: Any, gain: str, gains: Any, ideal: str, log: float) -> float:
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
def twin_RBP(query: Query, *, k: Any, rel: float, p: float, gain: str, max_grade: float) -> float:
    rate = 0 * p
    for rank, grade in enumerate(top(query, k, count_relevant(query, rel)), 1):
        gained = max(grade or 0, 0) / max_grade if gain == "graded" else is_relevant(grade, rel)
        rate += (1 - p) * gained * p ** (rank - 1)
    return rate


@twin
def twin_ERR(query: Query, *, k: Any, max_grade: float) -> float:
    expected, reading = 0 * max_grade, 1
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


def counted(box: str) -> Callable[..., float]:
    return lambda query, *, k, rel: confusion(query, k, rel)[box]


TWINS |= {box: counted(box) for box in ("TP", "FP", "FN", "TN")}


@twin
def twin_Accuracy(query: Query, *, k: Any, rel: float) -> float:
    boxes = confusion(query, k, rel)
    return share(boxes["TP"] + boxes["TN"], query.collection)


@twin
def twin_Specificity(query: Query, *, k: Any, rel: float) -> float:
    boxes = confusion(query, k, rel)
    return share(boxes["TN"], boxes["TN"] + boxes["FP"])


@twin
def twin_Judged(query: Query, *, k: Any) -> float:
    shown = top(query, k, count_relevant(query, 1))
    return share(sum(grade is not None and grade >= 0 for grade in shown), len(shown))


@twin
def twin_NumRet(query: Query, *, k: Any, rel: float) -> float:
    return len(top(query, k, count_relevant(query, rel)))


@twin
def twin_NumRel(query: Query, *, rel: float) -> float:
    return count_relevant(query, rel)


@twin
def twin_NumRelRet(query: Query, *, k: Any, rel: float) -> float:
    return len(relevant_ranks(query, k, rel))


@twin
def twin_NumQ(query: Query) -> float:
    return 1.0


def gains_shown(query: Query, gains: Any, gain: str = "linear") -> list[float]:
    return [gain_of(grade, gain, gains) for grade in query.shown]


def gains_ideal(query: Query, gains: Any, gain: str = "linear") -> list[float]:
    return sorted(
        (value for grade in query.pool if (value := gain_of(grade, gain, gains)) > 0), reverse=True
    )


@twin
def twin_INP(query: Query, *, rel: float) -> float:
    relevant, ranks = count_relevant(query, rel), relevant_ranks(query, None, rel)
    if relevant == 0:
        return nan
    return relevant / ranks[-1] if len(ranks) == relevant else 0.0


@twin
def twin_PrecAtRecall(query: Query, *, recall: float, rel: float) -> float:
    relevant, ranks = count_relevant(query, rel), relevant_ranks(query, None, rel)
    if relevant == 0:
        return nan
    if recall == 0:
        return float(1 in ranks)
    needed = max(ceil(Fraction(recall).limit_denominator(10_000) * relevant), 1)
    return needed / ranks[needed - 1] if needed <= len(ranks) else 0.0


@twin
def twin_RecallAtPrec(query: Query, *, precision: float, rel: float) -> float:
    relevant = count_relevant(query, rel)
    best, found = 0, 0
    for rank, grade in enumerate(query.shown, 1):
        found += is_relevant(grade, rel)
        if found / rank >= precision:
            best = max(best, found)
    return share(best, relevant)


@twin
def twin_RankAUC(query: Query, *, rel: float) -> float:
    """Every pair of a relevant item and another: won, lost, or even where neither was retrieved."""
    away = [is_relevant(grade, rel) for grade in query.lost] + [False] * query.elsewhere
    places = [(rank, is_relevant(grade, rel)) for rank, grade in enumerate(query.shown)]
    places += [(len(query.shown), relevant) for relevant in away]
    good = [place for place, relevant in places if relevant]
    bad = [place for place, relevant in places if not relevant]
    won = sum(1.0 if one < other else 0.5 if one == other else 0.0 for one in good for other in bad)
    return share(won, len(good) * len(bad))


@twin
def twin_YAAP(query: Query, *, rel: float) -> float:
    expected = sum(number / rank for number, rank in enumerate(relevant_ranks(query, None, rel), 1))
    return log((1 + expected) / (1 + count_relevant(query, rel) - expected))


@twin
def twin_IdealDCG(query: Query, *, k: Any, gain: str, gains: Any, log: float) -> float:
    depth = sum(grade > 0 for grade in query.pool) if k == "R" else k
    return discounted(gains_ideal(query, gains, gain)[:depth], log)


@twin
def twin_G(query: Query, *, gains: Any) -> float:
    ideal = gains_ideal(query, gains)
    value = cost = reached = 0.0
    for rank, gain in enumerate(gains_shown(query, gains)):
        cost += max(ideal[rank] if rank < len(ideal) else 0, 1)
        reached += gain
        value += gain / log2(2 + cost - reached) if gain else 0
    return share(value, sum(ideal))


@twin
def twin_binG(query: Query, *, rel: float) -> float:
    ranks = relevant_ranks(query, None, rel)
    return share(
        sum(1 / log2(2 + rank - number) for number, rank in enumerate(ranks, 1)),
        count_relevant(query, rel),
    )


@twin
def twin_nDCGRel(query: Query, *, gains: Any) -> float:
    ideal, shown = gains_ideal(query, gains), gains_shown(query, gains)
    if not ideal:
        return nan
    at = [rank for rank, gain in enumerate(shown, 1) if gain > 0]
    values = [discounted(shown[:rank], 2) / discounted(ideal[:rank], 2) for rank in at]
    values += [discounted(shown, 2) / discounted(ideal, 2)] * (len(ideal) - len(at))
    return sum(values) / len(ideal)


@twin
def twin_RnDCG(query: Query, *, rel: float, gains: Any) -> float:
    ideal, shown = gains_ideal(query, gains), gains_shown(query, gains)
    if count_relevant(query, rel) == 0 or not ideal:
        return nan
    levels = [
        rank
        for rank in range(1, len(ideal) + 1)
        if rank == len(ideal) or ideal[rank] != ideal[rank - 1]
    ]
    if len(shown) > len(ideal) + 1:
        levels.append(len(shown))
    return sum(discounted(shown[:rank], 2) / discounted(ideal[:rank], 2) for rank in levels) / len(
        levels
    )


@twin
def twin_Q(query: Query, *, gain: str, gains: Any, beta: float) -> float:
    ideal, shown = gains_ideal(query, gains, gain), gains_shown(query, gains, gain)
    total = 0 * beta
    for rank, value in enumerate(shown, 1):
        if value > 0:
            found = sum(each > 0 for each in shown[:rank])
            total += (found + beta * sum(shown[:rank])) / (rank + beta * sum(ideal[:rank]))
    return share(total, len(ideal))


@twin
def twin_Bpref(query: Query, *, rel: float) -> float:
    relevant = count_relevant(query, rel)
    nonrelevant = sum(0 <= grade < rel for grade in query.pool)
    value, above = 0.0, 0
    for grade in query.shown:
        if is_relevant(grade, rel):
            value += 1 - (min(above, relevant) / min(nonrelevant, relevant) if above else 0)
        elif grade is not None and grade >= 0:
            above += 1
    return share(value, relevant)


@twin
def twin_infAP(query: Query, *, rel: float) -> float:
    value = 0.0
    for rank, grade in enumerate(query.shown, 1):
        if is_relevant(grade, rel):
            pooled = [each for each in query.shown[: rank - 1] if each is not None]
            good = sum(is_relevant(each, rel) for each in pooled)
            bad = sum(0 <= each < rel for each in pooled)
            value += 1 / rank + len(pooled) / rank * (good + 1e-5) / (good + bad + 2e-5)
    return share(value, count_relevant(query, rel))


@twin
def twin_Unjudged(query: Query, *, k: Any) -> float:
    shown = top(query, k, count_relevant(query, 1))
    places = {None: len(shown), "R": count_relevant(query, 1)}.get(k, k)
    return share(sum(grade is None or grade < 0 for grade in shown), places)


@twin
def twin_RBPResidual(query: Query, *, p: float) -> float:
    unjudged = [
        p ** (rank - 1) for rank, grade in enumerate(query.shown, 1) if grade is None or grade < 0
    ]
    return (1 - p) * sum(unjudged) + p ** len(query.shown)


@twin
def twin_SetAP(query: Query, *, rel: float) -> float:
    found = len(relevant_ranks(query, None, rel))
    return share(found * found, (len(query.shown) or 1) * count_relevant(query, rel))


@twin
def twin_Utility(query: Query, *, rel: float, a: float, b: float, c: float, d: float) -> float:
    boxes = confusion(query, None, rel)
    return a * boxes["TP"] + b * boxes["FP"] + c * boxes["FN"] + d * boxes["TN"]


@twin
def twin_FallOut(query: Query, *, k: Any, rel: float) -> float:
    boxes = confusion(query, k, rel)
    return share(boxes["FP"], boxes["FP"] + boxes["TN"])


@twin
def twin_NumNonrelRet(query: Query, *, k: Any, rel: float) -> float:
    shown = top(query, k, count_relevant(query, rel))
    return sum(grade is not None and 0 <= grade < rel for grade in shown)


# -- user models: gain per result read, rank by rank


def gain_per_result(
    go_on: Callable[..., float],
    rest: Callable[..., float],
    query: Query,
    *,
    k: Any,
    min_rel: float,
    max_rel: float,
    **given: float,
) -> float:
    shown = query.shown
    end = {"R": sum(grade > min_rel for grade in query.pool), None: len(shown)}.get(k, k)
    chance, reaped, read, gained = 1.0, 0.0, 0.0, 0.0
    for rank in range(1, end + 1):
        grade = shown[rank - 1] if rank <= len(shown) else None
        gain = 0.0 if grade is None else max(grade - min_rel, 0) / (max_rel - min_rel)
        gained += gain
        reaped += chance * gain
        read += chance
        chance *= go_on(i=rank, gain=gain, gained=gained, **given)
    if k is None and chance > 0:
        read += chance * rest(last=len(shown), gained=gained, **given)
    return reaped / read if read else 0.0


def nothing_known(**_: float) -> float:
    return nan


def squares(last: int, ahead: float) -> float:
    """The sum of S(i) over i > last, where S is 1 at last + 1 and falls as 1/(i - 1 + ahead)²: x²
    (1/x² + 1/(x + 1)² + …)."""
    x = last + ahead
    return float(x**2 * zeta(2, x))


MODELS: dict[str, tuple[Callable[..., float], Callable[..., float]]] = {
    "SDCG": (lambda i, **_: log2(i + 1) / log2(i + 2), nothing_known),
    "INSQ": (
        lambda i, T, **_: ((i + 2 * T - 1) / (i + 2 * T)) ** 2,
        lambda last, T, **_: squares(last, 2 * T),
    ),
    "INST": (
        lambda i, gained, T, **_: ((i + 2 * T - gained - 1) / (i + 2 * T - gained)) ** 2,
        lambda last, gained, T, **_: squares(last, 2 * T - gained),
    ),
    # Rounding: gains that add up to T must end the reading.
    "BPM": (lambda gained, T, **_: float(gained < T - 1e-9), nothing_known),
    "NERR8": (lambda gain, **_: 1 - gain, nothing_known),
    "NERR9": (lambda i, gain, **_: i / (i + 1) * (1 - gain), nothing_known),
    "NERR10": (lambda gain, p, **_: p * (1 - gain), lambda p, **_: 1 / (1 - p)),
    "NERR11": (
        lambda i, gain, T, **_: ((i + 2 * T - 1) / (i + 2 * T)) ** 2 * (1 - gain),
        lambda last, T, **_: squares(last, 2 * T),
    ),
}
"""C of a rank, of its gain and of the gain so far; and what the ranks after the last one of a list
without k add to the reading, per chance of getting to the first of them."""
TWINS |= {name: partial(gain_per_result, *model) for name, model in MODELS.items()}


def overlap(one: Sequence[object], other: Sequence[object], *, p: float, depth: int) -> float:
    """Σ p^(i-1) |first i of one ∩ first i of the other| / i."""
    total, weight, common = 0.0, 1.0, 0
    seen: tuple[set[object], set[object]] = set(), set()
    for i in range(depth):
        for items, own, others in ((one, *seen), (other, *reversed(seen))):
            if i < len(items):
                own.add(items[i])
                common += items[i] in others
        total += weight * common / (i + 1)
        weight *= p
    return total


@twin
def twin_Compat(query: Query, *, k: Any, p: float, normalize: str) -> float:
    shown, lost = query.shown, query.lost
    # Items are numbers: those of the list are their ranks, the others come after.
    grades = {**dict(enumerate(shown, 1)), **dict(enumerate(lost, len(shown) + 1))}
    ideal = sorted(
        (item for item, grade in grades.items() if (grade or 0) > 0),
        key=lambda item: (-(grades[item] or 0), item),
    )
    if not ideal:
        return nan
    endless = int(45 / (1 - p)) + len(grades)
    depth = len(ideal) if k == "R" else endless if k is None else k
    whole = (
        overlap(ideal, ideal, p=p, depth=depth)
        if normalize == "true"
        else sum(p**i for i in range(depth))
    )
    return overlap(range(1, len(shown) + 1), ideal, p=p, depth=depth) / whole if whole else -inf


def geometric_mean(values: Sequence[float]) -> float:
    return exp(sum(log(max(value, 0.00001)) for value in values) / len(values))


AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: sum(values) / len(values),
    "geometric": geometric_mean,
    "median": median,
    "sum": sum,
}
"""Twins of the aggregations."""
