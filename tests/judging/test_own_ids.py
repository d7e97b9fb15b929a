"""A query among its own results: taken out where it was asked for, warned of where it was not."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from judged import InputError, compare_conventions, evaluate, explain
from judged.rankings.rankings import Rankings
from support.loops import for_each

Lists = dict[str, dict[str, Any]]


def generate(seed: int) -> tuple[Lists, Lists]:
    """Queries that are items too; some are all that they find, some are judged for themselves."""
    draw = random.Random(seed)
    names = [f"x{number}" for number in range(12)]
    judgements: Lists = {}
    run: Lists = {}
    for query in names[:8]:
        judgements[query] = {item: draw.choice([0, 1, 2]) for item in draw.sample(names, 4)}
        found = draw.sample(names, draw.randint(1, 8))
        run[query] = {item: draw.choice([1.0, 2.0, 3.0]) for item in found}
    run["x3"] = {"x3": 1.0}
    return judgements, run


def without(lists: Lists) -> Lists:
    return {
        query: {item: value for item, value in items.items() if item != query}
        for query, items in lists.items()
    }


def frame(lists: Lists, value: str) -> pl.DataFrame:
    rows = [(query, item, float(x)) for query, each in lists.items() for item, x in each.items()]
    return pl.DataFrame(rows, schema=["query", "item", value], orient="row")


def as_files(judgements: Lists, run: Lists, folder: Path) -> tuple[str, str]:
    frame(judgements, "grade").write_csv(folder / "judgements.csv")
    frame(run, "score").sample(fraction=1, shuffle=True, seed=1).write_csv(folder / "run.csv")
    return str(folder / "judgements.csv"), str(folder / "run.csv")


@pytest.mark.parametrize("way", ["dict", "frame", "file"])
def test_they_are_taken_out_of_both(way: str, tmp_path: Path) -> None:
    for seed in range(10):
        judgements, run = generate(seed)
        given: tuple[Any, Any] = judgements, run
        if way == "frame":
            given = frame(judgements, "grade"), frame(run, "score")
        if way == "file":
            given = as_files(judgements, run, tmp_path)
        found = Rankings.from_run(*given, exclude_same_id=True)
        expected = Rankings.from_run(without(judgements), without(run))
        assert found.queries == expected.queries
        for part in ("retrieved", "missing", "hit_query", "hit_rank", "hit_grade", "pool_grade"):
            assert np.array_equal(getattr(found, part), getattr(expected, part)), part
        assert found.basis == ("results with the id of their query are left out",)
        assert found.audit is not None
        assert not [note for note in found.audit.warnings if "own id" in note]


def test_what_was_taken_out_is_said() -> None:
    judgements, run = {"a": {"a": 1, "b": 1}, "b": {"b": 1, "a": 1}}, {"a": ["a", "b"], "b": ["a"]}
    audit = Rankings.from_run(judgements, run, exclude_same_id=True).audit
    assert audit is not None
    assert audit.notes == (
        "2 judgements of queries for themselves were taken out.",
        "There are no scores: the order of each list is the ranking.",
        "1 result has the id of its query: taken out.",
    )


def test_documents_with_the_id_of_their_query_are_taken_out_too() -> None:
    run = {"a": {"a#1": 3, "b#1": 2, "a": 1}, "c#1": {"c#1": 3, "c#2": 2, "b#2": 1}}
    judgements = {"a": {"b": 1, "a#2": 1}, "c#1": {"c": 1, "b": 1}}
    found = Rankings.from_run(judgements, run, item_to="doc:#", exclude_same_id=True)
    assert found.hit_rank.tolist() == [1, 1, 2]
    assert found.pool_query.tolist() == [0, 1, 1]
    assert found.audit is not None
    assert "1 document has the id of its query: taken out." in found.audit.notes


def test_nothing_else_was_to_be_found() -> None:
    with pytest.raises(InputError) as error:
        Rankings.from_run({"a": {"a": 1}}, {"a": ["a", "b"]}, exclude_same_id=True)
    assert str(error.value) == (
        "the judgements: every judgement is of a query for itself, so that nothing is left to "
        "find without them; leave exclude_same_id (--exclude-same-id) out."
    )


def test_nothing_else_was_found() -> None:
    with pytest.raises(InputError) as error:
        Rankings.from_run({"a": {"b": 1}}, {"a": ["a"]}, exclude_same_id=True)
    assert str(error.value) == (
        "a dict: every result has the id of its query, so that nothing is left to rank without "
        "them; leave exclude_same_id (--exclude-same-id) out."
    )


def test_a_convention_that_drops_them_too_says_it_once() -> None:
    judgements, run = {"a": {"b": 1}}, {"a": {"a": 2.0, "b": 1.0}}
    beir = evaluate(judgements, run, "ndcg_cut_10", convention="beir")
    both = evaluate(judgements, run, "ndcg_cut_10", convention="beir", exclude_same_id=True)
    assert beir.value() == both.value() == 1.0
    said = "1 result has the id of its query: taken out"
    assert [note for note in beir.audit["run"].notes if "id of its query" in note] == [
        f"{said} first, as BEIR does."
    ]
    assert [note for note in both.audit["run"].notes if "id of its query" in note] == [f"{said}."]
    assert not beir.audit["run"].warnings


def warned(judgements: Any, run: Any) -> tuple[str, ...]:
    audit = Rankings.from_run(judgements, run).audit
    assert audit is not None
    return tuple(note for note in audit.warnings if "own id" in note)


@for_each("way", ["dict", "frame", "judgements", "run"])
@for_each("rank", [0, 4, 15])
@for_each("share", [1, 3, 12])
def test_the_warning(way: str, rank: int, share: int) -> None:
    """Every `share`-th query of 36 has its own id at a rank; the worst score is the first row."""
    judgements: Lists = {}
    run: Lists = {}
    for at in range(36):
        items = [f"x{at}-{number}" for number in range(20)]
        if at % share == 0:
            items.insert(rank, f"x{at}")
        judgements[f"x{at}"] = {f"x{at}-1": 1, f"x{at}-2": 1}
        run[f"x{at}"] = {item: -float(place) for place, item in enumerate(items)}
        run[f"x{at}"] = dict(reversed(run[f"x{at}"].items()))
    found = warned(
        frame(judgements, "grade") if way in ("frame", "judgements") else judgements,
        frame(run, "score") if way in ("frame", "run") else run,
    )
    count = 36 // share
    if rank == 15 or share == 12 or (rank == 4 and share == 3):
        assert not found
    else:
        first = count if rank == 0 else 0
        assert found == (
            f"{count} of 36 queries have their own id among their results, {first} at rank 1. If "
            "queries are items too, take them out: exclude_same_id=True (--exclude-same-id).",
        )


def test_a_caption_that_looks_for_its_own_image_is_no_such_query() -> None:
    run = {f"i{at}": [f"i{at}", "other"] for at in range(10)}
    assert not warned({f"i{at}": {f"i{at}": 1, "other": 0} for at in range(10)}, run)
    assert warned({f"i{at}": {f"i{at}": 1, "other": 1} for at in range(10)}, run)


def test_every_function_warns_and_takes_the_option() -> None:
    judgements, run = {"a": {"b": 1, "c": 1}}, {"a": {"a": 3.0, "b": 2.0}}
    for function in (explain, compare_conventions):
        assert "own id" in function(judgements, run).to_text()  # type: ignore[operator]
        asked = function(judgements, run, exclude_same_id=True)  # type: ignore[operator]
        assert "own id" not in asked.to_text()
