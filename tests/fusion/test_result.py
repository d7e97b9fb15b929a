"""The fused run as a result, as a file, and as what every function takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import judged
from judged import evaluate, fuse, read_run
from judged.results import Run
from support.generated import generate
from support.tables import rows_of

TIED = {
    "one": {"q 1": {"a": 3.0, "ä b": 2.0, "c": 2.0}, "q2": {"x": 1.0}},
    "two": {"q 1": {"c": 0.9, "d": 0.8, "=e": 0.1}, "q2": {"y": 1.0}},
}


def test_everything_takes_it() -> None:
    judgements = {"q 1": {"c": 1, "a": 0}, "q2": {"y": 1}}
    found = fuse(TIED)
    value = evaluate(judgements, found.to_dict(), "nDCG@10").value()
    assert evaluate(judgements, found, "nDCG@10").value() == value
    assert evaluate(judgements, {"fused": found, **TIED}, "nDCG@10").value(run="fused") == value
    compared = judged.compare(judgements, {"fused": found, **TIED}, "nDCG@10")
    assert compared.value(run="fused") == value
    assert judged.explain(judgements, found, query="q2", measure="RR").value == 1
    assert judged.gate(judgements, found, "RR", baseline=found).passed
    assert judged.Rankings.from_run(judgements, found).retrieved.tolist() == [5, 2]
    again = fuse({"fused": found, "one": TIED["one"]}, method="combsum")
    assert again.names() == ["q 1", "q2"]
    assert judged.report(judgements, found).to_html()


def test_what_is_said_goes_along() -> None:
    judgements = {"q 1": {"c": 1}}
    said = evaluate(judgements, fuse(TIED, weights=[2, 1]), "RR").sentences()
    assert (
        "note: rrf of one and two: an item's score is the sum over the lists that have it of the "
        "list's weight times 1 / (60 + rank)."
    ) in said
    lacking = {"one": TIED["one"], "two": {"q2": {"x": 1.0}}}
    with pytest.warns(judged.JudgedWarning, match="two lacks 1 of 2 queries"):
        found = fuse(lacking)
    assert evaluate({"q2": {"x": 1}}, found, "RR").warnings() == [
        "two lacks 1 of 2 queries (q 1) and contributes nothing there."
    ]


@pytest.mark.parametrize("ties", ["id", "input", "expected"])
def test_a_file_evaluates_to_the_same(tmp_path: Path, ties: Any) -> None:
    generated = generate(seed=3)
    judgements, run = generated.judgements, generated.run
    half = {query: dict(list(items.items())[::2]) for query, items in run.items()}
    found = fuse({"one": run, "two": half}, method="combmnz", policy={"ties": ties})
    for ending in (".csv", ".json", ".parquet"):
        fuse(TIED, policy={"ties": ties}).save(tmp_path / f"fused{ending}")
        read = read_run(tmp_path / f"fused{ending}")
        assert rows_of(read) == fuse(TIED, policy={"ties": ties}).frame.rows()
    policy = {"ties": ties}
    expected = evaluate(judgements, found, "AP, nDCG@10, RR", policy=policy).to_frame()
    for name in ("fused.run", "fused", "fused.trec", "fused.txt"):
        found.save(tmp_path / name)
        read = evaluate(judgements, {"rrf": tmp_path / name}, "AP, nDCG@10, RR", policy=policy)
        assert read.to_frame().drop("run").equals(expected.drop("run"))
    read_back = read_run(tmp_path / "fused.run")
    assert isinstance(read_back, Run)
    assert read_back.frame.equals(found.frame)
    assert read_back.tag == found.tag
    ranks = [int(line.split()[3]) for line in (tmp_path / "fused.run").read_text().splitlines()]
    assert ranks == found.to_frame()["rank"].to_list()


def test_parquet_says_how_it_was_made(tmp_path: Path) -> None:
    fuse(TIED, method="weighted", weights=[2, 1]).save(tmp_path / "fused.parquet")
    told = json.loads(pl.read_parquet_metadata(tmp_path / "fused.parquet")["fusion"])
    assert told == {
        "method": "weighted",
        "normalise": "minmax",
        "depth": 1000,
        "ties": "id",
        "weights": {"one": 2.0, "two": 1.0},
        "by_hand": True,
    }


def test_its_text() -> None:
    assert fuse(TIED, policy={"ties": "expected"}).to_text().splitlines() == [
        "run  weight  queries  results  only here",
        "one       1        2        4          3",
        "two       1        2        4          3",
        "",
        "rrf of one and two: an item's score is the sum over the lists that have it of 1 / "
        "(60 + rank).",
        "Ties in the runs and in the fused lists: tied results share the mean contribution of "
        "their ranks.",
    ]
