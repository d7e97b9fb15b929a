"""The slow twin of ranking by embeddings: the whole matrix of scores, every row sorted in Python,
ranks read off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged import Rankings

Array = NDArray[Any]
Hit = tuple[int, int, float, int, int]
"""Query, rank, grade, and the first and last rank of its tie."""


def whole_numbers(
    rng: np.random.Generator, rows: int, dims: int, most: int = 3
) -> NDArray[np.float32]:
    """Vectors whose scores are exact, however they are summed up, and tie often."""
    return rng.integers(-most, most + 1, (rows, dims)).astype(np.float32)


def cosines(queries: Array, items: Array) -> Array:
    left, right = (
        each.astype(float) / np.linalg.norm(each.astype(float), axis=1)[:, None]
        for each in (queries, items)
    )
    return left @ right.T


def distances(queries: Array, items: Array) -> Array:
    """Squared distances in double precision, without the shortcut by lengths."""
    return np.array(
        [((items.astype(float) - query) ** 2).sum(axis=1) for query in queries.astype(float)]
    )


def hits(
    scores: Array,
    grades: Array,
    *,
    gone: Array | None = None,
    names: Sequence[str] | None = None,
    ties: str = "id",
    place: Array | None = None,
) -> list[Hit]:
    """All judged items with their ranks; a grade of NaN is an item nobody judged, `gone` marks what
    is not ranked, and `place` is where each stands in the input, where that is not its column."""
    texts = [str(item) for item in range(scores.shape[1])] if names is None else list(names)
    found: list[Hit] = []
    for query, row in enumerate(scores):
        there = [item for item in range(len(row)) if gone is None or not gone[query, item]]
        if place is not None:
            there.sort(key=lambda item, own=place[query]: own[item])
        there = _in_order(there, row, grades[query], texts, ties)
        kept = row[there]
        for rank, item in enumerate(there, 1):
            if not np.isnan(grades[query, item]):
                above, level = int((kept > row[item]).sum()), int((kept == row[item]).sum())
                found.append((query, rank, float(grades[query, item]), above + 1, above + level))
    return found


def _in_order(items: list[int], row: Array, grade: Array, names: list[str], ties: str) -> list[int]:
    if ties in (
        "id",
        "expected",
    ):  # means over all orders are of ties whose hits are kept in the order of ids
        items = sorted(items, key=lambda item: names[item].encode(), reverse=True)
    if ties in ("best", "worst"):  # what nobody judged stands between relevant and irrelevant items
        worth = np.where(np.isnan(grade), 0.0, np.where(grade > 0, grade, grade - 1))
        items = sorted(items, key=lambda item: worth[item], reverse=ties == "best")
    return sorted(items, key=lambda item: -row[item])


def hits_of(r: Rankings) -> list[Hit]:
    assert r.hit_tie_first is not None
    assert r.hit_tie_last is not None
    parts = (r.hit_query, r.hit_rank, r.hit_grade, r.hit_tie_first, r.hit_tie_last)
    return list(zip(*(part.tolist() for part in parts), strict=True))


def same(
    found: Rankings, scores: Array, grades: Array, *, gone: Array | None = None, **options: Any
) -> None:
    """Fail where rankings differ from the twin in a rank, a grade, a tie, a length or the pool."""
    left = np.zeros(scores.shape, bool) if gone is None else gone
    assert hits_of(found) == hits(scores, grades, gone=gone, **options)
    assert found.retrieved.tolist() == (~left).sum(axis=1).tolist()
    pool = [
        sorted(row[~np.isnan(row) & ~out].tolist(), reverse=True)
        for row, out in zip(grades, left, strict=True)
    ]
    assert found.pool_grade.tolist() == [grade for row in pool for grade in row]
    assert np.bincount(found.pool_query, minlength=len(found)).tolist() == [
        len(row) for row in pool
    ]


def judged(relevant: Array) -> Array:
    """Grades from a matrix of what is relevant: 1 there, nobody's judgement elsewhere."""
    return np.where(relevant, 1.0, np.nan)


def as_run(scores: Array, gone: Array | None = None) -> dict[str, dict[str, float]]:
    """The whole matrix as a run that `judged.evaluate` takes."""
    left = np.zeros(scores.shape, bool) if gone is None else gone
    return {
        str(query): {str(item): float(row[item]) for item in np.flatnonzero(~left[query])}
        for query, row in enumerate(scores)
    }


def as_judgements(grades: Array, gone: Array | None = None) -> dict[str, dict[str, float]]:
    left = np.isnan(grades) if gone is None else np.isnan(grades) | gone
    return {
        str(query): {str(item): float(row[item]) for item in np.flatnonzero(~left[query])}
        for query, row in enumerate(grades)
    }


def sample(
    seed: int, queries: int = 30, items: int = 80, dims: int = 4, share: float = 0.1
) -> tuple[Array, Array, Array, np.random.Generator]:
    """Whole-numbered queries and items, and what is relevant, at random."""
    rng = np.random.default_rng(seed)
    relevant = rng.random((queries, items)) < share
    relevant[0, 0] = True
    return whole_numbers(rng, queries, dims), whole_numbers(rng, items, dims), relevant, rng


def among(relevant: Array) -> Callable[[int, int], Array]:
    return lambda begin, end: relevant[begin:end]
