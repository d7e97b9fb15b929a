"""Ranks beside scores: what contradicts the order that is used is warned of, by every way in."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import judged
from judged.inputs import read_run
from judged.inputs.blocks import Room
from judged.inputs.large_runs import read_run_or_blocks
from judged.inputs.order import AgainstRanks, against_ranks
from support.tables import every_form

Rows = list[tuple[str, str, float, float]]
"""Query, item, rank, score."""


def rows(queries: int, results: int, score: Callable[[int], float]) -> Rows:
    return [
        (f"q{query}", f"d{rank}", rank, score(rank))
        for query in range(queries)
        for rank in range(1, results + 1)
    ]


def table(given: Rows) -> pl.DataFrame:
    names = ["query", "item", "rank", "score"]
    return pl.DataFrame(given, schema=names, orient="row")


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def relation(given: Rows, folder: Path) -> Any:
    import duckdb

    return duckdb.sql(f"SELECT * FROM '{every_form(table(given), folder)['a.parquet']}'")


def records(given: Rows) -> dict[str, Any]:
    lists: dict[str, Any] = {}
    for query, item, rank, score in given:
        lists.setdefault(query, []).append({"item": item, "rank": rank, "score": score})
    return lists


FORMS = ("a.csv", "a.jsonl", "a.json", "a.parquet", "polars", "lazy", "pandas", "rows")
WAYS: dict[str, Callable[[Rows, Path], Any]] = {
    "trec": lambda given, folder: written(
        folder / "a.run", "".join(f"{q} Q0 {d} {r} {s!r} t\n" for q, d, r, s in given)
    ),
    **{
        form: lambda given, folder, form=form: every_form(table(given), folder)[form]
        for form in FORMS
    },
    "lists": lambda given, folder: [
        {
            "query": query,
            "retrieved": [{"id": d, "rank": r, "score": s} for q, d, r, s in given if q == query],
        }
        for query in dict.fromkeys(row[0] for row in given)
    ],
    "records": lambda given, folder: records(given),
    "json records": lambda given, folder: written(folder / "b.json", json.dumps(records(given))),
    "duckdb": relation,
}


def warnings(given: Any) -> list[str]:
    if isinstance(given, list) and "retrieved" in given[0]:
        given = [{**row, "relevant": ["d1"]} for row in given]
        found = judged.evaluate(given, measures="RR")
    else:
        found = judged.evaluate({"q0": {"d1": 1}}, given, "RR")
    return [text for text in found.warnings() if isinstance(text, AgainstRanks)]


ANY_ORDER: dict[str, Callable[[Rows], Rows]] = {
    "by query": lambda given: given,
    "backwards": lambda given: given[::-1],
    "by rank": lambda given: sorted(given, key=lambda row: row[2]),
    "shuffled": lambda given: random.Random(1).sample(given, len(given)),
}
SHAPES = [(1, 2), (3, 5), (1500, 2), (2, 1500)]


@pytest.mark.parametrize("way", WAYS)
def test_ranks_and_scores_are_held_against_each_other(way: str, tmp_path: Path) -> None:
    """Distances, an order of another ranker, swapped columns: in any order, of any size."""
    odd = []
    for queries, results in SHAPES[:2] if way in ("duckdb", "lists") else SHAPES:
        agree = rows(queries, results, lambda rank: 1 / rank)
        distances = rows(queries, results, float)
        other = rows(queries, results, lambda rank: rank * 37 % 101 + 0.5)
        swapped = [(query, item, score, rank) for query, item, rank, score in agree]
        for order, put in ANY_ORDER.items():
            for given, starts in (
                (agree, ""),
                (distances, "The ranks of the run put lower scores first (rank "),
                (other if results > 2 else [], "The ranks and scores of the run contradict"),
                (swapped, "The ranks of the run are fractions, such as 0."),
            ):
                if given:
                    found = warnings(WAYS[way](put(given), tmp_path))
                    if [text[: len(starts)] for text in found] != [starts] * bool(starts):
                        odd.append((queries, results, order, starts, found))
    assert not odd


@pytest.mark.parametrize("way", [*FORMS[:6], "duckdb"])
def test_a_rank_given_as_the_score(way: str, tmp_path: Path) -> None:
    ranks = [(query, item, rank, 0.0) for query, item, rank, _ in rows(3, 5, float)]
    found = judged.evaluate(
        {"q0": {"d1": 1}}, WAYS[way](ranks, tmp_path), "RR", columns={"score": "rank"}
    )
    (warning,) = [text for text in found.warnings() if isinstance(text, AgainstRanks)]
    assert warning.startswith("The ranks of the run put lower scores first (rank 1 has 1, rank 2")
    # Postgres calls the score of a text search so.
    scores = [(query, item, 1 / rank, 0.0) for query, item, rank, _ in ranks]
    quiet = judged.evaluate(
        {"q0": {"d1": 1}}, WAYS[way](scores, tmp_path), "RR", columns={"score": "rank"}
    )
    assert quiet.value() == 1.0
    assert not quiet.warnings()


def test_what_tells_nothing() -> None:
    for given in (
        [("q", 1, 0.5), ("q", 1, 0.7)],  # no ranks
        [("q", 1, 0.5), ("q", 2, 0.5)],  # ties
        [("q", 1, 0.5), ("r", 2, 0.7)],  # of two queries
        [("q", None, 0.5), ("q", "-", 0.7), ("q", float("nan"), 0.9)],
        [("q", 0.06, 0.5), ("q", 0.03, 0.7)],  # no ranks, and no whole scores
        [("q", rank, -rank + (rank == 500)) for rank in range(1000)],  # a slip
    ):
        assert against_ranks(given) == ()  # type: ignore[arg-type]


def test_blocks_are_looked_at_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judged.inputs.source.SMALL", 1)
    for way in ("trec", "a.csv", "a.parquet"):
        given = WAYS[way](rows(3, 5, float), tmp_path)
        run = read_run_or_blocks(given, Room.of("1GB"))
        assert not isinstance(run, type(read_run(given)))
        assert len(warnings(given)) == 1, way


def test_average_ranks_beside_whole_scores() -> None:
    """Ties share an average rank, which is no sign of swapped columns."""
    frame = pd.DataFrame({"user": ["u"] * 4 + ["v"] * 4, "item": list("abcd") * 2})
    frame["score"] = [9, 7, 7, 1, 8, 3, 3, 2]
    frame["rank"] = frame.groupby("user").score.rank(ascending=False)
    judgements = {"u": {"a": 1}, "v": {"a": 1}}
    assert not judged.evaluate(judgements, frame, "RR").warnings()
    frame["rank"] = frame.groupby("user").score.rank()
    (warning,) = judged.evaluate(judgements, frame, "RR").warnings()
    assert warning.startswith("The ranks of the run put lower scores first (rank 1 has 1, rank ")
