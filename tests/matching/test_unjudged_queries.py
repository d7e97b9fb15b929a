"""Rows of queries that nobody judged are counted and not checked, by every way in alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from judged import evaluate, fuse, overlap, read_judgements
from judged.errors import InputError
from judged.inputs import large_runs
from judged.inputs.blocks import Room
from judged.results import Audit
from support.errors import error_of

JUDGEMENTS = {"q": {"a#1": 1, "b#1": 0}}
ROWS = [
    ("q", "a#1", 2.0),
    ("q", "b#1", np.inf),
    ("r", "a#1", np.nan),
    ("s", "a#1", 1.0),
    ("s", "a#1", 2.0),
    ("s", "b#1", -np.inf),
]


def given(way: str, rows: list[tuple[str, str, float]], folder: Path) -> Any:
    if way == "frame":
        return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    path = folder / ("run.txt" if way == "text" else "run.csv")
    if way == "text":
        lines = [f"{query} Q0 {item} 1 {score} tag" for query, item, score in rows]
    else:
        lines = ["query,item,score", *(f"{q},{item},{score}" for q, item, score in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("options", [{}, {"item_to": "doc:#"}], ids=["items", "documents"])
@pytest.mark.parametrize("duplicates", ["error", "first"])
@pytest.mark.parametrize("way", ["frame", "text", "csv"])
def test_what_no_number_depends_on_stops_nothing(
    way: str, duplicates: Any, options: dict[str, Any], tmp_path: Path
) -> None:
    run = given(way, ROWS, tmp_path)
    found = evaluate(JUDGEMENTS, run, "RR", **options, policy={"duplicates": duplicates}).scored()
    assert found.audit.run_queries == 3
    assert found.audit.ignored_queries == 2
    assert found.audit.infinite_scores == 1
    assert found.audit.duplicates_dropped == 0
    assert list(found.summary.values()) == [0.5]


def test_lists_in_a_dict() -> None:
    run = {"q": ["b#1", "a#1"], "s": ["a#1", "a#1"]}
    audit: Audit = evaluate(JUDGEMENTS, run, "RR").scored().audit
    assert (audit.run_queries, audit.ignored_queries, audit.duplicates_dropped) == (2, 1, 0)
    scores = {"q": {"a#1": 2.0}, "r": {"a#1": np.nan, "b#1": "no number"}}
    assert evaluate(JUDGEMENTS, scores, "RR").scored().audit.ignored_queries == 1


@pytest.mark.parametrize("way", ["frame", "text", "csv"])
def test_judged_queries_are_checked(way: str, tmp_path: Path) -> None:
    word, first = "row" if way == "frame" else "line", 2 if way == "csv" else 1
    for row, said in (
        (("q", "c", np.nan), f"{word} {first + 6}: the score of item 'c' for query 'q' is NaN. "),
        (("q", "b#1", 0.0), f"{word}s {first + 1} and {first + 6}: query 'q' has item 'b#1' more"),
    ):
        assert said in error_of(evaluate, JUDGEMENTS, given(way, [*ROWS, row], tmp_path), "RR")


LOST = ["q,a#1,2", "s,a#1,1", "s,,", "s,b#1,3", "q,b#1,4"]
"""A row of query s lacks its item."""


@pytest.fixture(params=["frame", "csv", "blocks", "on disk", "duckdb"])
def lost(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The same rows by every way in."""
    way = request.param
    lines = LOST if way == "on disk" else sorted(LOST, key=lambda line: line[0])
    if way in ("frame", "duckdb"):
        cells = [[cell or None for cell in line.split(",")] for line in lines]
        frame = pl.DataFrame(cells, schema=["query", "item", "score"], orient="row")
        frame = frame.with_columns(pl.col("score").cast(pl.Float64))
        if way == "frame":
            return frame
        return pytest.importorskip("duckdb").connect().from_arrow(frame.to_arrow())
    path = tmp_path / "run.csv"
    path.write_text("\n".join(["query,item,score", *lines, ""]), encoding="utf-8")
    if way != "csv":
        monkeypatch.setattr("judged.inputs.source.SMALL", 1)
        monkeypatch.setattr(large_runs, "_BYTES_IN_STREAM", 1)
        monkeypatch.setattr(Room, "block", 20)
    return path


def test_a_row_without_an_item_stops_nothing_where_nobody_judged(lost: Any) -> None:
    found = evaluate(JUDGEMENTS, lost, "RR").scored()
    assert list(found.summary.values()) == [0.5]
    assert (found.audit.run_queries, found.audit.ignored_queries) == (2, 1)
    with pytest.raises(InputError, match=r"the item is missing"):
        evaluate({**JUDGEMENTS, "s": {"a#1": 1}}, lost, "RR")


def test_a_row_without_an_item_is_refused_where_every_list_counts() -> None:
    cells = [["s", "a", 1.0], ["s", None, None]]
    frame = pl.DataFrame(cells, schema=["query", "item", "score"], orient="row")
    said = r"^data frame 'one', row 2: the item is missing\.$"
    with pytest.raises(InputError, match=said):
        overlap({"one": frame, "other": {"s": ["a"]}})
    with pytest.raises(InputError, match=said):
        fuse({"one": frame, "other": {"s": ["a"]}})
    with pytest.raises(InputError, match=r"^a data frame, row 2: the item is missing\.$"):
        read_judgements(frame.rename({"score": "grade"}))
