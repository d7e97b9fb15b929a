"""Slow twins of the diversity measures: loops over one query at a time, for tests only."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judged import Rankings

Judged = float | Mapping[str, float]
"""What was judged of an item: {subtopic: grade}, or a grade for the one subtopic there is."""
TWINS: dict[str, Callable[..., float]] = {}


@dataclass(frozen=True)
class Listed:
    """One query: what was judged of each result (None: nobody judged it), and of the items that
    were not retrieved."""

    shown: tuple[Judged | None, ...]
    lost: tuple[Judged, ...] = ()


def rankings_of(queries: Sequence[Any]) -> Rankings:
    """Rankings of what twins take: anything with `shown` and `lost`."""
    shown = [
        [None if each is None else by_subtopic(each) for each in query.shown] for query in queries
    ]
    pool = [
        [by_subtopic(each) for each in query.shown if each is not None]
        + [by_subtopic(each) for each in query.lost]
        for query in queries
    ]
    return Rankings.from_relevance(shown, pool=pool)


def by_subtopic(judged: Judged) -> Mapping[str, float]:
    return judged if isinstance(judged, Mapping) else {"only": judged}


def served(judged: Judged | None, rel: float) -> list[str]:
    return (
        []
        if judged is None
        else sorted(name for name, grade in by_subtopic(judged).items() if grade >= rel)
    )


def everything(query: Any, rel: float) -> list[list[str]]:
    """What each judged item serves, retrieved or not; those that serve nothing are left out."""
    items = [served(each, rel) for each in (*query.shown, *query.lost)]
    return [item for item in items if item]


def depth(query: Any, k: int | str | None, rel: float) -> float:
    return {None: math.inf, "R": len(everything(query, rel))}.get(k, k)  # type: ignore[return-value, call-overload]


def total(items: list[list[str]], weight: Callable[[int], float], alpha: float) -> float:
    times: Counter[str] = Counter()
    result = 0.0
    for rank, item in enumerate(items, 1):
        result += sum((1 - alpha) ** times[name] for name in item) * weight(rank)
        times.update(item)
    return result


def ideal(query: Any, rel: float, alpha: float) -> list[list[str]]:
    """At each rank the item that gains most there; of several, the first."""
    left, times = everything(query, rel), Counter[str]()
    result = []
    while left:
        gains = [math.fsum((1 - alpha) ** times[name] for name in item) for item in left]
        best = next(at for at, gain in enumerate(gains) if gain >= max(gains) * (1 - 1e-12))
        times.update(left[best])
        result.append(left.pop(best))
    return result


def subtopics(query: Any, rel: float) -> set[str]:
    return {name for item in everything(query, rel) for name in item}


def first(items: list[Any], limit: float) -> list[Any]:
    return items if math.isinf(limit) else items[: int(limit)]


def over_ideal(
    query: Any, k: Any, rel: float, alpha: float, weight: Callable[[int], float]
) -> float:
    limit = depth(query, k, rel)
    best = total(first(ideal(query, rel, alpha), limit), weight, alpha)
    shown = first([served(each, rel) for each in query.shown], limit)
    return total(shown, weight, alpha) / best if best else math.nan


def over_thinkable(
    query: Any, k: Any, rel: float, alpha: float, weight: Callable[[int], float]
) -> float:
    limit = depth(query, k, rel)
    length = len(everything(query, rel)) if k is None else int(limit)
    names = sorted(subtopics(query, rel))
    best = total([names] * length, weight, alpha)
    shown = first([served(each, rel) for each in query.shown], limit)
    return total(shown, weight, alpha) / best if best else math.nan


def twin(function: Callable[..., float]) -> Callable[..., float]:
    TWINS[function.__name__.removeprefix("twin_")] = function
    return function


def logarithmic(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def reciprocal(rank: int) -> float:
    return 1 / rank


@twin
def twin_alpha_DCG(query: Any, *, k: Any, rel: float, alpha: float) -> float:  # noqa: N802
    return over_thinkable(query, k, rel, alpha, logarithmic)


@twin
def twin_alpha_nDCG(query: Any, *, k: Any, rel: float, alpha: float) -> float:  # noqa: N802
    return over_ideal(query, k, rel, alpha, logarithmic)


@twin
def twin_ERR_IA(query: Any, *, k: Any, rel: float, alpha: float) -> float:  # noqa: N802
    return over_thinkable(query, k, rel, alpha, reciprocal)


@twin
def twin_nERR_IA(query: Any, *, k: Any, rel: float, alpha: float) -> float:  # noqa: N802
    return over_ideal(query, k, rel, alpha, reciprocal)


@twin
def twin_NRBP(query: Any, *, rel: float, alpha: float, beta: float) -> float:  # noqa: N802
    names = subtopics(query, rel)
    gained = total(
        [served(each, rel) for each in query.shown], lambda rank: beta ** (rank - 1), alpha
    )
    return gained * (1 - (1 - alpha) * beta) / len(names) if names else math.nan


@twin
def twin_nNRBP(query: Any, *, rel: float, alpha: float, beta: float) -> float:  # noqa: N802
    return over_ideal(query, None, rel, alpha, lambda rank: beta ** (rank - 1))


@twin
def twin_AP_IA(query: Any, *, k: Any, rel: float) -> float:  # noqa: N802
    shown = first([served(each, rel) for each in query.shown], depth(query, k, rel))
    averages = []
    for name in subtopics(query, rel):
        hits = [rank for rank, item in enumerate(shown, 1) if name in item]
        known = sum(name in item for item in everything(query, rel))
        averages.append(sum(found / rank for found, rank in enumerate(hits, 1)) / known)
    return sum(averages) / len(averages) if averages else math.nan


@twin
def twin_P_IA(query: Any, *, k: Any, rel: float) -> float:  # noqa: N802
    shown = first([served(each, rel) for each in query.shown], depth(query, k, rel))
    places = (len(shown) if k is None else depth(query, k, rel)) * len(subtopics(query, rel))
    return sum(map(len, shown)) / places if places else math.nan


@twin
def twin_StRecall(query: Any, *, k: Any, rel: float) -> float:  # noqa: N802
    names = subtopics(query, rel)
    seen = {
        name
        for each in first(list(query.shown), depth(query, k, rel))
        for name in served(each, rel)
    }
    return len(seen) / len(names) if names else math.nan
