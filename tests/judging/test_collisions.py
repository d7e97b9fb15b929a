"""Rows are matched by hash; where hashes collide, the texts decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from judged import InputError
from judged.matching import join, pool
from judged.rankings.rankings import Rankings
from support.generated import Collection, generate
from support.slow_judge import as_judged, judge_slowly

GENERATED = generate(41, queries=12, items=20, longest=20)
# The same items for all queries, so that a clash can have the item right and the query wrong.
GIVEN = Collection(
    {
        query: {item.rpartition("-")[2]: grade for item, grade in grades.items()}
        for query, grades in GENERATED.judgements.items()
    },
    [(query, item.rpartition("-")[2], score) for query, item, score in GENERATED.rows],
)


def frames() -> tuple[pl.DataFrame, pl.DataFrame]:
    judgements = [
        (query, item, float(grade))
        for query, grades in GIVEN.judgements.items()
        for item, grade in grades.items()
    ]
    return (
        pl.DataFrame(judgements, schema=["query", "item", "grade"], orient="row"),
        pl.DataFrame(GIVEN.rows, schema=["query", "item", "score"], orient="row"),
    )


@pytest.fixture
def few_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only sixteen different keys for all rows of both tables."""

    def clash(hashed: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def clashing(table: Any) -> Any:
            rows = hashed(table)
            return replace(rows, key=(rows.key & 0xF) * (1 << 59))

        return clashing

    colliding = clash(join.hashed)
    for module in (join, pool):
        monkeypatch.setattr(module, "hashed", colliding)


@pytest.mark.usefixtures("few_keys")
@pytest.mark.parametrize("route", ["frame", "dict"])
def test_the_texts_decide(route: str) -> None:
    judgements, run = frames()
    rankings = Rankings.from_run(judgements if route == "frame" else GIVEN.judgements, run)
    assert as_judged(rankings) == judge_slowly(GIVEN.judgements, GIVEN.rows)


@pytest.mark.usefixtures("few_keys")
def test_a_clash_is_no_duplicate_and_a_duplicate_is_found_in_a_clash() -> None:
    judgements, run = frames()
    with pytest.raises(
        InputError, match=r"^a data frame, rows 1 and \d+: query .* has item .* more than once\. "
    ):
        Rankings.from_run(judgements, pl.concat([run, run[:1]]))
    rankings = Rankings.from_run(
        judgements, pl.concat([run, run[:1]]), policy={"duplicates": "first"}
    )
    assert as_judged(rankings) == judge_slowly(GIVEN.judgements, GIVEN.rows)


def test_a_row_repeated_many_times_is_refused_at_once() -> None:
    """The pairs of n equal rows are n²; they are not all looked at."""
    rows = pl.DataFrame({"query": ["q"] * 30_000, "item": ["a"] * 30_000, "score": [1.0] * 30_000})
    with pytest.raises(InputError, match="query 'q' has item 'a' more than once"):
        Rankings.from_run({"q": {"a": 1}}, rows)
