"""What the results of embeddings share with all others: a dict, a table, sentences, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import judged

BOTH = judged.Embeddings([[2.0, 1.0]], [[1.0, 0.0], [0.0, 3.0]], similarity="dot")


def lowest_first(block: Any, k: int) -> tuple[Any, Any]:
    return [[0]] * len(block), [[2.0]] * len(block)


RESULTS = {
    "top_k": BOTH.top_k(2),
    "index": BOTH.evaluate_index(lowest_first, {"0": {"1": 1}}, "RR", k=1),
    "diagnosis": BOTH.diagnose({"0": {"1": 1}}),
}


def test_the_first_k_as_a_run(tmp_path: Path) -> None:
    found = RESULTS["top_k"]
    assert found.to_dict() == {"0": {"1": 3.0, "0": 2.0}}
    assert found.sentences() == [
        "the first 2 of 2 items for 1 query",
        "tied results are ordered by item id, descending on bytes (trec_eval's rule)",
    ]
    for name in ("a.json", "a.csv", "a.parquet", "a.trec"):
        found.save(tmp_path / name)
        assert judged.evaluate({"0": {"0": 1}}, tmp_path / name, "RR").value() == 0.5


def test_an_index_as_a_table() -> None:
    found = RESULTS["index"]
    assert found.to_frame().rows() == [("exact@1", 1.0), ("index@1", 0.0), ("loss", 1.0)]
    assert found.sentences()[0] == (
        "Recall of the index: 0.0000 of the exact first 1. For the worst 5 % of the queries it is "
        "at most 0.0000."
    )
    assert found.tables()[0].rows[2] == ["loss", "1.0000"]


def test_a_diagnosis_as_a_table() -> None:
    numbers = dict(RESULTS["diagnosis"].to_frame().rows())
    assert (numbers["items.count"], numbers["alignment_pairs"]) == (2.0, 1.0)


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("ending", ["json", "csv", "md", "html", "parquet"])
def test_every_result_can_be_saved(name: str, ending: str, tmp_path: Path) -> None:
    found, target = RESULTS[name], tmp_path / f"result.{ending}"
    found.save(target)
    if ending == "json":
        assert json.loads(target.read_text()) == found.to_dict()
    elif ending == "parquet":
        assert pl.read_parquet(target).equals(found.to_frame())
    else:
        assert target.read_text()
    assert "<table" in found.to_html(verbose=True)


@pytest.mark.parametrize("option", [{"normalise": "csls(k=1)"}, {"unique": ["a", "b"]}])
def test_changed_scores_are_refused_where_others_know_only_the_items(option: Any) -> None:
    changed = judged.Embeddings([[2.0, 1.0]], [[1.0, 0.0], [0.0, 3.0]], **option)
    for what, call in {
        "a diagnosis": changed.diagnose,
        "an index": lambda: changed.evaluate_index(lowest_first, {"0": {"1": 1}}),
    }.items():
        with pytest.raises(judged.InputError) as error:
            call()
        assert (
            str(error.value) == f"{next(iter(option))} is not supported for {what}; leave it out."
        )


def test_embeddings_say_what_they_are() -> None:
    weights = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    both = judged.Embeddings([[1.0, 2.0]], [[1.0, 2.0, 3.0]] * 2, similarity=weights)
    assert repr(both) == "<Embeddings: 1 query and 2 items of 2 and 3 dimensions, by bilinear>"


def test_ranks_and_lists_of_one_pass_are_those_of_two() -> None:
    evaluation, lists = BOTH.evaluate_and_top_k({"0": {"0": 1}}, "RR", k=1)
    assert evaluation.value() == BOTH.evaluate({"0": {"0": 1}}, "RR").value()
    assert lists.items.tolist() == BOTH.top_k(1).items.tolist()
