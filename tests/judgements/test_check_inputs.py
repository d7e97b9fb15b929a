"""The same findings by every way in; what is refused, and what is said of what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import judged
from judged.errors import InputError, JudgedError
from support.errors import error_of

JUDGEMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "b": 0}}
RUN = {"q1": ["b", "a2", "a"], "q2": ["c", "b"]}
ITEMS = {"a": "Ice cream", "a2": "ICE  cream!", "b": "", "c": "rain\x1b[2J"}
QUERIES = {"q1": "what is cold?", "q2": "What is WARM"}


def numbers(found: judged.results.CollectionCheck) -> list[tuple[Any, ...]]:
    return found.to_frame().rows()


def test_texts_come_by_several_ways(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": list(ITEMS), "text": list(ITEMS.values())})
    frame.write_parquet(tmp_path / "items.parquet")
    rows = [{"_id": name, "title": text, "text": ""} for name, text in ITEMS.items()]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = judged.check(JUDGEMENTS, RUN, items=ITEMS, queries=QUERIES)
    assert [each.name for each in expected.findings] == ["item-twins"]
    assert "twins of items: 1 item has an empty text." in expected.unchecked
    for items in (frame, tmp_path / "items.parquet", str(tmp_path / "items.jsonl")):
        found = judged.check(JUDGEMENTS, RUN, items=items, queries=QUERIES)
        assert (numbers(found), found.unchecked) == (numbers(expected), expected.unchecked)


def test_judgements_and_runs_come_by_every_way(tmp_path: Path) -> None:
    qrels = "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\nq2 0 b 0\n"
    (tmp_path / "qrels").write_text(qrels)
    lines = [
        f"{query} Q0 {item} {rank} {-rank} x\n"
        for query, items in RUN.items()
        for rank, item in enumerate(items, 1)
    ]
    (tmp_path / "run").write_text("".join(lines))
    expected = judged.check(JUDGEMENTS, RUN, items=ITEMS)
    for judgements in (tmp_path / "qrels", judged.read_judgements(JUDGEMENTS)):
        for run in (tmp_path / "run", judged.read_run(RUN)):
            found = judged.check(judgements, {"run": run}, items=ITEMS)
            assert numbers(found) == numbers(expected)
    rows = [
        {"query": "q1", "relevant": ["a"], "retrieved": ["a", "b"]},
        {"query": "q2", "relevant": ["c", "x"], "retrieved": ["c"]},
    ]
    found = judged.check(rows)
    assert [(each.name, each.count) for each in found.findings] == [("unreachable", 1)]


def test_without_runs_there_are_no_numbers() -> None:
    found = judged.check({**JUDGEMENTS, "q3": {"b": 0}})
    assert found.sentences()[:7] == [
        "1 kind of problem found (3 queries, 5 judgements checked).",
        "nothing-relevant: 1 of 3 judged queries has no relevant items.",
        "  'q3'",
        "Not checked: (nearly) identical queries: no texts or vectors of queries were given.",
        "Not checked: unjudged twins of relevant items, and judged items that occur nowhere: no "
        "texts or vectors of items were given.",
        "Not checked: queries and items that runs lack, and effects on values: no runs were given.",
        "Not checked: overlap with a training set: none was given.",
    ]
    finding = found.findings[0]
    assert finding.effect.reason == "No runs were given, so the effect on values is unknown."
    assert found.tables() == []
    assert found.to_frame().rows() == [("nothing-relevant", 1, None, None, None, None, None)]


def test_vectors_without_ids() -> None:
    matrix = np.eye(4)
    found = judged.check(JUDGEMENTS, RUN, items=ITEMS, item_vectors=matrix)
    assert "The vectors of the items have no ids; they are in the order of the texts." in found.how
    assert error_of(judged.check, JUDGEMENTS, RUN, items=matrix) == (
        "the vectors of the items have no ids, and no judged item, such as 'a', is a row number "
        "from 0; give ids with judged.Vectors(matrix, ids=...), or a file with ids."
    )
    by_row = {"0": {"0": 1, "1": 0}, "1": {"2": 1, "1": 0}}
    found = judged.check(by_row, {"0": ["0"], "1": ["2"]}, items=matrix, queries=np.eye(2))
    assert found.sound
    assert found.how[2:4] == (
        "The vectors of the queries have no ids; row numbers are used.",
        "The vectors of the items have no ids; row numbers are used.",
    )


def test_vectors_from_files(tmp_path: Path) -> None:
    matrix = np.array([[1.0, 0], [2, 0], [0, 1], [1, 1]])
    np.savez(tmp_path / "items.npz", vectors=matrix, ids=["a", "a2", "b", "c"])
    np.save(tmp_path / "items.npy", matrix)
    expected = judged.check(
        JUDGEMENTS, RUN, items=judged.Vectors(matrix, ids=("a", "a2", "b", "c"))
    )
    assert [each.name for each in expected.findings] == ["item-twins"]
    found = judged.check(JUDGEMENTS, RUN, items=tmp_path / "items.npz")
    assert numbers(found) == numbers(expected)
    table = pl.DataFrame({"id": ["a", "a2", "b", "c"], "embedding": matrix.tolist()})
    table.write_parquet(tmp_path / "items.parquet")
    found = judged.check(JUDGEMENTS, RUN, items=str(tmp_path / "items.parquet"))
    assert numbers(found) == numbers(expected)
    with pytest.raises(InputError, match="have no ids"):
        judged.check(JUDGEMENTS, RUN, items=tmp_path / "items.npy")
    pl.DataFrame({"id": ["a"], "colour": ["red"]}).write_parquet(tmp_path / "neither.parquet")
    with pytest.raises(InputError, match="an id and a title or a text are needed"):
        judged.check(JUDGEMENTS, RUN, items=tmp_path / "neither.parquet")


def test_too_many_twins_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from judged.judgements import findings, twins

    monkeypatch.setattr(twins, "MAX_PAIRS", 0)
    found = judged.check(JUDGEMENTS, RUN, items=ITEMS)
    assert found.sound
    assert found.unchecked[-1] == (
        "twins of items by text: there are more than 0 pairs. Are all texts alike?"
    )
    monkeypatch.undo()
    monkeypatch.setattr(findings, "MAX_PAIRS", 0)
    found = judged.check(JUDGEMENTS, RUN, items=ITEMS)
    assert found.unchecked[-1] == (
        "unjudged twins of relevant items: there are more than 0. Are all items alike?"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"items": np.eye(2), "item_vectors": np.eye(2)},
            "the items are vectors, and vectors of the items were given too; give one of them, or "
            "texts and vectors.",
        ),
        ({"near": 0.2}, "near must be a finite number from 0.5 to 1; got 0.2."),
        (
            {"ignore": "unreachables"},
            "ignore must be one of query-twins, item-twins, two-grades, unreachable, "
            "unknown-items, unknown-queries, missing-queries, unjudged-queries, all-relevant, "
            "nothing-relevant, query-ids, item-ids, training-queries, training-pairs; got "
            "'unreachables'; did you mean 'unreachable'?",
        ),
        (
            {"policy": {"missing": "error"}, "runs": {"q1": ["a"]}},
            "run lacks 1 of 2 judged queries (q2), and missing=error says to stop; missing=zero "
            "counts them as empty, missing=skip leaves them out.",
        ),
        (
            {"runs": None, "item_to": "doc:#"},
            "item_to applies to the items of runs; give a run, or leave it out.",
        ),
        ({"unique": {"a": "x"}}, "check does not use unique; leave it out."),
    ],
)
def test_what_cannot_be_right_is_refused(given: dict[str, Any], message: str) -> None:
    given = {"judgements": JUDGEMENTS, "runs": RUN, **given}
    assert error_of(judged.check, error=JudgedError, **given) == message
