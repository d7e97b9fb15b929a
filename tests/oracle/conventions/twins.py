"""Published definitions of evaluations that cannot be installed, read aloud for one query, in plain
loops.

A list is the grades of its results in rank order, 0 for one that nobody judged; a pool is every
grade above 0.
"""

from __future__ import annotations

from math import ceil, floor, log2
from statistics import mean, median


def precision_of_what_is_there(grades: list[int], k: int) -> float:
    shown = grades[:k]
    return sum(grade > 0 for grade in shown) / len(shown) if shown else 0.0


def recall(grades: list[int], pool: list[int], k: int) -> float:
    return sum(grade > 0 for grade in grades[:k]) / len(pool) if pool else 0.0


def average_precision(
    grades: list[int], pool: list[int], k: int | None = None, *, capped: bool = False
) -> float:
    hits, total = 0, 0.0
    for rank, grade in enumerate(grades[:k], 1):
        if grade > 0:
            hits += 1
            total += hits / rank
    whole = min(len(pool), k) if capped and k else len(pool)
    return total / whole if whole else 0.0


def reciprocal_rank(grades: list[int], k: int) -> float:
    for rank, grade in enumerate(grades[:k], 1):
        if grade > 0:
            return 1 / rank
    return 0.0


def hit(grades: list[int], k: int) -> float:
    return float(any(grade > 0 for grade in grades[:k]))


def exponential_dcg(grades: list[int], k: int) -> float:
    return sum((2**grade - 1) / log2(rank + 1) for rank, grade in enumerate(grades[:k], 1))


def ndcg_of_elasticsearch(grades: list[int], pool: list[int], k: int) -> float:
    """The ideal list has as many items as came back."""
    shown = grades[:k]
    best = exponential_dcg(sorted(pool, reverse=True), len(shown))
    return exponential_dcg(shown, k) / best if best else 0.0


def ndcg_of_all_rated(grades: list[int], pool: list[int], k: int) -> float:
    best = exponential_dcg(sorted(pool, reverse=True), k)
    return exponential_dcg(grades, k) / best if best else 0.0


def expected_reciprocal_rank(grades: list[int], k: int, top: int) -> float:
    trust, value = 1.0, 0.0
    for rank, grade in enumerate(grades[:k], 1):
        useful = (2**grade - 1) / 2**top
        value += trust * useful / rank
        trust *= 1 - useful
    return value


def area_by_trapezoids(grades: list[int], pool: list[int]) -> float:
    """Revisited Oxford: at each relevant image, the mean of the precision just before it and with
    it."""
    area, hits = 0.0, 0
    for before, grade in enumerate(grades):
        if grade > 0:
            left = hits / before if before else 1.0
            hits += 1
            area += (left + hits / (before + 1)) / 2 / len(pool)
    return area


def relevant_in_opensearch(grades: list[int], rated: list[int]) -> tuple[list[int], list[int]]:
    """1 for what OpenSearch 3.6 takes for relevant, 0 for the rest: of the list, and of all that is
    rated, zeros too."""
    ascending = sorted(rated)
    if not ascending or ascending[-1] == 0:
        return [0] * len(grades), []
    least = max(0.5 * ascending[-1], ascending[ceil(0.9 * len(ascending)) - 1])
    return (
        [int(grade >= least and grade > 0) for grade in grades],
        [1 for grade in rated if grade >= least and grade > 0],
    )


def inverse_negative_penalty(grades: list[int], pool: list[int]) -> float:
    last = max(rank for rank, grade in enumerate(grades, 1) if grade > 0)
    return len(pool) / last


def rank_of_the_first(grades: list[int]) -> int:
    return next(rank for rank, grade in enumerate(grades, 1) if grade > 0)


def median_rank_of_clip(ranks: list[int]) -> int:
    """Ranks from 0, their median rounded down, and one more."""
    return floor(median(rank - 1 for rank in ranks)) + 1


def mean_rank_of_clip(ranks: list[int]) -> float:
    return mean(rank - 1 for rank in ranks) + 1
