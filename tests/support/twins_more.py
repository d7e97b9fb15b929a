"""Slow twins of the measures beyond the first families: trec_eval's own, incomplete judgements,
curves, sets, Q."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import ceil, log, log2, nan
from typing import Any

from measures.user_models.twins import TWINS as USER_MODELS
from support.rankings import Query
from support.twins import (
    TWINS,
    confusion,
    count_relevant,
    discounted,
    gain_of,
    is_relevant,
    relevant_ranks,
    share,
    top,
    twin,
)


def gains_shown(query: Query, gains: Any, gain: str = "linear") -> list[float]:
    return [gain_of(grade, gain, gains) for grade in query.shown]


def gains_ideal(query: Query, gains: Any, gain: str = "linear") -> list[float]:
    return sorted(
        (value for grade in query.pool if (value := gain_of(grade, gain, gains)) > 0), reverse=True
    )


@twin
def twin_INP(query: Query, *, rel: float) -> float:  # noqa: N802
    relevant, ranks = count_relevant(query, rel), relevant_ranks(query, None, rel)
    if relevant == 0:
        return nan
    return relevant / ranks[-1] if len(ranks) == relevant else 0.0


@twin
def twin_PrecAtRecall(query: Query, *, recall: float, rel: float) -> float:  # noqa: N802
    relevant, ranks = count_relevant(query, rel), relevant_ranks(query, None, rel)
    if relevant == 0:
        return nan
    if recall == 0:
        return float(1 in ranks)
    needed = max(ceil(Fraction(recall).limit_denominator(10_000) * relevant), 1)
    return needed / ranks[needed - 1] if needed <= len(ranks) else 0.0


@twin
def twin_RecallAtPrec(query: Query, *, precision: float, rel: float) -> float:  # noqa: N802
    relevant = count_relevant(query, rel)
    best, found = 0, 0
    for rank, grade in enumerate(query.shown, 1):
        found += is_relevant(grade, rel)
        if found / rank >= precision:
            best = max(best, found)
    return share(best, relevant)


@twin
def twin_RankAUC(query: Query, *, rel: float) -> float:  # noqa: N802
    """Every pair of a relevant item and another: won, lost, or even where neither was retrieved."""
    away = [is_relevant(grade, rel) for grade in query.lost] + [False] * query.elsewhere
    places = [(rank, is_relevant(grade, rel)) for rank, grade in enumerate(query.shown)]
    places += [(len(query.shown), relevant) for relevant in away]
    good = [place for place, relevant in places if relevant]
    bad = [place for place, relevant in places if not relevant]
    won = sum(1.0 if one < other else 0.5 if one == other else 0.0 for one in good for other in bad)
    return share(won, len(good) * len(bad))


@twin
def twin_YAAP(query: Query, *, rel: float) -> float:  # noqa: N802
    expected = sum(number / rank for number, rank in enumerate(relevant_ranks(query, None, rel), 1))
    return log((1 + expected) / (1 + count_relevant(query, rel) - expected))


@twin
def twin_IdealDCG(query: Query, *, k: Any, gain: str, gains: Any, log: float) -> float:  # noqa: N802
    depth = sum(grade > 0 for grade in query.pool) if k == "R" else k
    return discounted(gains_ideal(query, gains, gain)[:depth], log)


@twin
def twin_G(query: Query, *, gains: Any) -> float:  # noqa: N802
    ideal = gains_ideal(query, gains)
    value = cost = reached = 0.0
    for rank, gain in enumerate(gains_shown(query, gains)):
        cost += max(ideal[rank] if rank < len(ideal) else 0, 1)
        reached += gain
        value += gain / log2(2 + cost - reached) if gain else 0
    return share(value, sum(ideal))


@twin
def twin_binG(query: Query, *, rel: float) -> float:  # noqa: N802
    ranks = relevant_ranks(query, None, rel)
    return share(
        sum(1 / log2(2 + rank - number) for number, rank in enumerate(ranks, 1)),
        count_relevant(query, rel),
    )


@twin
def twin_nDCGRel(query: Query, *, gains: Any) -> float:  # noqa: N802
    ideal, shown = gains_ideal(query, gains), gains_shown(query, gains)
    if not ideal:
        return nan
    at = [rank for rank, gain in enumerate(shown, 1) if gain > 0]
    values = [discounted(shown[:rank], 2) / discounted(ideal[:rank], 2) for rank in at]
    values += [discounted(shown, 2) / discounted(ideal, 2)] * (len(ideal) - len(at))
    return sum(values) / len(ideal)


@twin
def twin_RnDCG(query: Query, *, rel: float, gains: Any) -> float:  # noqa: N802
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
def twin_Q(query: Query, *, gain: str, gains: Any, beta: float) -> float:  # noqa: N802
    ideal, shown = gains_ideal(query, gains, gain), gains_shown(query, gains, gain)
    total = 0.0
    for rank, value in enumerate(shown, 1):
        if value > 0:
            found = sum(each > 0 for each in shown[:rank])
            total += (found + beta * sum(shown[:rank])) / (rank + beta * sum(ideal[:rank]))
    return share(total, len(ideal))


@twin
def twin_Bpref(query: Query, *, rel: float) -> float:  # noqa: N802
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
def twin_infAP(query: Query, *, rel: float) -> float:  # noqa: N802
    value = 0.0
    for rank, grade in enumerate(query.shown, 1):
        if is_relevant(grade, rel):
            pooled = [each for each in query.shown[: rank - 1] if each is not None]
            good = sum(is_relevant(each, rel) for each in pooled)
            bad = sum(0 <= each < rel for each in pooled)
            value += 1 / rank + len(pooled) / rank * (good + 1e-5) / (good + bad + 2e-5)
    return share(value, count_relevant(query, rel))


@twin
def twin_Unjudged(query: Query, *, k: Any) -> float:  # noqa: N802
    shown = top(query, k, count_relevant(query, 1))
    places = {None: len(shown), "R": count_relevant(query, 1)}.get(k, k)
    return share(sum(grade is None or grade < 0 for grade in shown), places)


@twin
def twin_RBPResidual(query: Query, *, p: float) -> float:  # noqa: N802
    unjudged = [
        p ** (rank - 1) for rank, grade in enumerate(query.shown, 1) if grade is None or grade < 0
    ]
    return (1 - p) * sum(unjudged) + p ** len(query.shown)


@twin
def twin_SetAP(query: Query, *, rel: float) -> float:  # noqa: N802
    found = len(relevant_ranks(query, None, rel))
    return share(found * found, (len(query.shown) or 1) * count_relevant(query, rel))


@twin
def twin_Utility(query: Query, *, rel: float, a: float, b: float, c: float, d: float) -> float:  # noqa: N802
    boxes = confusion(query, None, rel)
    return a * boxes["TP"] + b * boxes["FP"] + c * boxes["FN"] + d * boxes["TN"]


@twin
def twin_FallOut(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    boxes = confusion(query, k, rel)
    return share(boxes["FP"], boxes["FP"] + boxes["TN"])


@twin
def twin_NumNonrelRet(query: Query, *, k: Any, rel: float) -> float:  # noqa: N802
    shown = top(query, k, count_relevant(query, rel))
    return sum(grade is not None and 0 <= grade < rel for grade in shown)


def _by_lists(function: Callable[..., float], query: Query, **given: Any) -> float:
    return function(query.shown, query.pool, **given)


def _without_summary(function: Callable[..., float], query: Query, **given: Any) -> float:
    given.pop("aggregate", None)
    return function(query, **given)


TWINS |= {
    name: partial(_without_summary, partial(_by_lists, function))
    for name, function in USER_MODELS.items()
}

__all__: Sequence[str] = ["TWINS"]
