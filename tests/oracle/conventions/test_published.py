"""Conventions of what cannot be installed, beside twins written by hand from the published
definitions: for one query, in plain loops."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log2
from statistics import mean, median
from typing import Any

import pytest
from ir_measures.bin import msmarco_eval

from support.generated import Collection, generate
from support.loops import for_each
from support.peers import COLLECTIONS, Case, cases, compare, in_order, ours, without_negative

pytestmark = pytest.mark.full

Query = tuple[list[int], list[int]]
"""The grades of a list in rank order, 0 where nobody judged, and all grades above 0 (the pool)."""


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


def read(given: Collection) -> dict[str, Query]:
    found = {}
    for query, grades in given.judgements.items():
        listed = [grades.get(item, 0) for item in given.run.get(query, {})]
        found[query] = listed, [grade for grade in grades.values() if grade > 0]
    return found


SEARCH = {name: in_order(without_negative(given)) for name, given in COLLECTIONS.items()}
"""Responses of a search engine: the order of the rows counts, tied or not."""
RANKED: dict[str, Any] = {"ties": False, "gaps": False, "items": 30, "longest": 30, "shortest": 30}
WHOLE = {
    name: in_order(generate(seed, grades=grades, queries=queries, **RANKED))
    for name, seed, grades, queries in (
        ("half right", 151, (0, 1), 25),
        ("few right", 152, (0,) * 12 + (1,), 25),
        ("an even number", 153, (0, 0, 1), 24),
    )
}
"""A whole collection, ranked for every query."""
ONE = {
    name: in_order(
        Collection({query: {f"d{n}-{(7 * n) % 20}": 1} for n, query in enumerate(queries)}, rows)
    )
    for name, queries in (
        ("odd", [f"q{n}" for n in range(9)]),
        ("also odd", [f"q{n}" for n in range(15)]),
    )
    for rows in [
        [
            (query, f"d{n}-{at}", -float((at * (n + 3)) % 41))
            for n, query in enumerate(queries)
            for at in range(20)
        ]
    ]
}
"""One right answer per query, in the whole collection."""

Twin = Callable[..., float]


def of_list(twin: Callable[..., float], *more: Any) -> Twin:
    """A twin that reads the list and not the pool."""
    return lambda grades, pool, **places: twin(grades, *places.values(), *more)


PRECISION, RANK = of_list(precision_of_what_is_there), of_list(rank_of_the_first)
HIT, RECIPROCAL = of_list(hit), of_list(reciprocal_rank)
GAIN, CASCADE = of_list(exponential_dcg), expected_reciprocal_rank
TWINS: dict[str, tuple[dict[str, Collection], dict[str, Twin]]] = {
    "elasticsearch": (
        SEARCH,
        {
            "precision(k={k})": PRECISION,
            "recall(k={k})": recall,
            "mean_reciprocal_rank(k={k})": RECIPROCAL,
            "dcg(k={k})": GAIN,
            "dcg(k={k}, normalize=true)": ndcg_of_elasticsearch,
            "expected_reciprocal_rank(k={k}, maximum_relevance={m})": of_list(CASCADE),
        },
    ),
    "opensearch": (
        SEARCH,
        {
            "Precision@{k}": PRECISION,
            "MAP@{k}": average_precision,
            "NDCG@{k}": ndcg_of_all_rated,
            "DCG@{k}": GAIN,
            "Recall@{k}": recall,
            "MRR": lambda grades, pool: reciprocal_rank(grades, len(grades)),
            "MRR (k={k})": RECIPROCAL,
        },
    ),
    "quepid": (
        SEARCH,
        {
            "P@{k}": PRECISION,
            "AP@{k}": average_precision,
            "RR@{k}": RECIPROCAL,
            "DCG@{k}": GAIN,
            "NDCG@{k}": ndcg_of_all_rated,
            "ERR@{k}": of_list(CASCADE, 3),
        },
    ),
    "revisitop": (WHOLE, {"mAP": area_by_trapezoids}),
    "gldv2": (
        WHOLE,
        {"mAP@{k}": lambda grades, pool, k: average_precision(grades, pool, k, capped=True)},
    ),
    "reid": (
        WHOLE,
        {
            "Rank-{k}": HIT,
            "mAP": average_precision,
            "mINP": inverse_negative_penalty,
        },
    ),
    "clip": (ONE, {"R@{k}": HIT, "mean_rank": RANK, "median_rank": RANK}),
    "clap": (
        ONE,
        {
            "R@{k}": HIT,
            "text_to_audio_mAP@10": of_list(reciprocal_rank, 10),
            "mean_rank": RANK,
            "median_rank": RANK,
        },
    ),
}
SKIPS_EMPTY = ("revisitop", "gldv2", "reid", "clip", "clap")


@for_each(
    ("name", "case", "collection"),
    [
        (name, case, collection)
        for name, (data, calls) in TWINS.items()
        for case in cases(name, calls)
        for collection in data
    ],
    ids=str,
)
def test_every_name(name: str, case: Case, collection: str) -> None:
    data, by_name = TWINS[name]
    given = data[collection]
    judged = {
        query: lists for query, lists in read(given).items() if lists[1] or name not in SKIPS_EMPTY
    }
    if case.name.threshold:
        judged = {
            query: relevant_in_opensearch(lists[0], list(given.judgements[query].values()))
            for query, lists in judged.items()
        }
    theirs = {
        query: float(by_name[case.name.theirs](*lists, **case.places))
        for query, lists in judged.items()
    }
    if name in ("revisitop", "reid"):
        # Everything but the junk is judged.
        whole = {
            query: {item: grades.get(item, 0) for item in given.run[query]}
            for query, grades in given.judgements.items()
        }
        given = Collection(whole, given.rows)
    compare(name, case, given, theirs, tolerance=1e-12)


@pytest.mark.parametrize("name", ["clip", "clap"])
def test_mean_and_median_rank(name: str) -> None:
    for given in ONE.values():
        ranks = [rank_of_the_first(grades) for grades, _ in read(given).values()]
        assert ours(name, given, "mean_rank").value() == pytest.approx(mean_rank_of_clip(ranks))
        assert ours(name, given, "median_rank").value() == median_rank_of_clip(ranks)


def test_the_median_rank_of_an_even_number_is_rounded_down_there() -> None:
    given = Collection(
        {"q": {"a": 1}, "r": {"b": 1}},
        [("q", "a", 2.0), ("q", "b", 1.0), ("r", "a", 2.0), ("r", "b", 1.0)],
    )
    assert median_rank_of_clip([1, 2]) == 1
    assert ours("clip", given, "median_rank").value() == 1.5


def test_recall_is_a_hit_rate_in_clip() -> None:
    """One of two captions among the first ten: everybody else's recall is 1/2."""
    given = Collection({"q": {"a": 1, "b": 1}}, [("q", "a", 1.0)])
    assert ours("clip", given, "R@10").value() == 1.0


def test_junk_is_taken_out_and_what_is_not_relevant_stays() -> None:
    """junk, wrong, right: the right one is second. Between precision 0/1 and 1/2: 1/4."""
    given = Collection(
        {"q": {"wrong": 0, "right": 1}},
        [("q", "junk", 3.0), ("q", "wrong", 2.0), ("q", "right", 1.0)],
    )
    assert ours("revisitop", given, "mAP").value() == 0.25
    assert ours("reid", given, "mAP").value() == 0.5


@pytest.mark.parametrize("collection", SEARCH)
def test_ms_marco(collection: str) -> None:
    """Its function gives each query's value; the published script divides their sum by the number
    of judged queries."""
    given = SEARCH[collection]
    relevant = {
        query: [item for item, grade in grades.items() if grade > 0]
        for query, grades in given.judgements.items()
    }
    lists = {query: list(scores) for query, scores in given.run.items()}
    found = msmarco_eval.compute_metrics(relevant, lists, max_rank=10)["MRR @10 by query"]
    (case,) = cases("msmarco")
    compare("msmarco", case, given, sum(found.values()) / len(relevant))


def test_a_list_shorter_than_its_ideal_in_elasticsearch() -> None:
    """One relevant result of two relevant items, nothing else returned: as good as it gets with one
    result."""
    given = Collection({"q": {"a": 1, "b": 1}}, [("q", "a", 1.0)])
    assert ours("elasticsearch", given, "ndcg@10").value() == 1.0
    assert ours("opensearch", given, "NDCG@10").value() == pytest.approx(
        1 / (1 + 1 / 1.584962500721156)
    )
