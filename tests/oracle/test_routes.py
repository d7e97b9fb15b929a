"""The same data by every way in gives the same evaluation, to the last digit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from judged import Evaluation, evaluate
from judged.policy import add_choices
from support.generated import Collection, generate
from support.loops import for_each

MEASURES = [
    "AP",
    "nDCG@10",
    "RR",
    "P@10",
    "R@100",
    "ERR",
    "RBP",
    "IAP",
    "Judged@10",
    "NumRet",
    "NumRel",
    "NumQ",
    "MedianRank",
]
TIED = generate(31)
UNTIED = generate(32, ties=False)


def columns(rows: list[tuple[str, str, float]], value: str) -> dict[str, list[Any]]:
    query, item, number = (list(column) for column in zip(*rows, strict=True))
    return {"query": query, "item": item, value: number}


def judgement_rows(given: Collection) -> list[tuple[str, str, float]]:
    return [
        (query, item, grade)
        for query, grades in given.judgements.items()
        for item, grade in grades.items()
    ]


def trec(given: Collection, folder: Path) -> tuple[Path, Path]:
    qrels, run = folder / "qrels", folder / "run"
    qrels.write_text(
        "".join(f"{q} 0 {item} {grade}\n" for q, item, grade in judgement_rows(given)),
        encoding="utf-8",
    )
    run.write_text(
        "".join(f"{q} Q0 {item} 0 {score!r} tag\n" for q, item, score in given.rows),
        encoding="utf-8",
    )
    return qrels, run


def untidy_trec(given: Collection, folder: Path) -> tuple[Path, Path]:
    qrels, run = folder / "qrels.gz", folder / "run.gz"
    text = "".join(f"{q}\t0  {item} \t{grade}\r\n" for q, item, grade in judgement_rows(given))
    qrels.write_bytes(gzip.compress(f"# judgements\r\n{text}".encode()))
    text = "".join(
        f" {q}  Q0\t{item} 0 {score!r} tag more\n" for q, item, score in given.rows
    ).rstrip("\n")
    run.write_bytes(gzip.compress(text.encode()))
    return qrels, run


def separated(separator: str, suffix: str) -> Callable[[Collection, Path], tuple[Path, Path]]:
    def write(given: Collection, folder: Path) -> tuple[Path, Path]:
        qrels, run = folder / f"qrels{suffix}", folder / f"run{suffix}"
        pl.DataFrame(columns(judgement_rows(given), "relevance")).write_csv(
            qrels, separator=separator
        )
        pl.DataFrame(columns(given.rows, "score")).write_csv(run, separator=separator)
        return qrels, run

    return write


def parquet(given: Collection, folder: Path) -> tuple[Path, Path]:
    qrels, run = folder / "qrels.parquet", folder / "run.parquet"
    pl.DataFrame(columns(judgement_rows(given), "grade")).write_parquet(qrels)
    pl.DataFrame(columns(given.rows, "score")).write_parquet(run)
    return qrels, run


def ndjson(given: Collection, folder: Path) -> tuple[Path, Path]:
    qrels, run = folder / "qrels.ndjson", folder / "run.ndjson"
    pl.DataFrame(columns(judgement_rows(given), "grade")).write_ndjson(qrels)
    pl.DataFrame(columns(given.rows, "score")).write_ndjson(run)
    return qrels, run


def json_dicts(given: Collection, folder: Path) -> tuple[Path, Path]:
    qrels, run = folder / "qrels.json", folder / "run.json"
    qrels.write_text(json.dumps(given.judgements), encoding="utf-8")
    run.write_text(json.dumps(given.run), encoding="utf-8")
    return qrels, run


def frames(
    make: Callable[[dict[str, list[Any]]], Any],
) -> Callable[[Collection, Path], tuple[Any, Any]]:
    return lambda given, folder: (
        make(columns(judgement_rows(given), "grade")),
        make(columns(given.rows, "score")),
    )


ROUTES: dict[str, Callable[[Collection, Path], tuple[Any, Any]]] = {
    "trec files": trec,
    "untidy trec files": untidy_trec,
    "csv files": separated(",", ".csv"),
    "tsv files": separated("\t", ".tsv"),
    "parquet files": parquet,
    "ndjson files": ndjson,
    "json files": json_dicts,
    "polars": frames(pl.DataFrame),
    "lazy polars": frames(lambda columns: pl.DataFrame(columns).lazy()),
    "pandas": frames(pd.DataFrame),
    "pyarrow": frames(pa.table),
    "dict and polars": lambda given, folder: (
        given.judgements,
        pl.DataFrame(columns(given.rows, "score")),
    ),
    "polars and dict": lambda given, folder: (
        pl.DataFrame(columns(judgement_rows(given), "grade")),
        given.run,
    ),
}


def content(evaluation: Evaluation) -> dict[str, Any]:
    """All of an evaluation but what a route may name in its own way: the run, and notes on the
    reading."""
    result = evaluation.to_dict(per_query=True)
    del result["warnings"]
    for run in result["runs"]:
        run["name"] = "run"
        notes = run["audit"].pop("notes")
        del run["audit"]["warnings"]
        run["audit"]["sentences"] = [
            text for text in run["audit"]["sentences"] if text not in notes
        ]
    return result


@for_each(
    "policy", [{}, {"ties": "input"}, {"ties": "worst", "unjudged": "removed", "missing": "skip"}]
)
@for_each("route", ROUTES)
def test_every_route(route: str, policy: dict[str, str], tmp_path: Path) -> None:
    expected = evaluate(TIED.judgements, TIED.run, MEASURES, policy=add_choices(policy, depth=50))
    judgements, run = ROUTES[route](TIED, tmp_path)
    assert content(
        evaluate(judgements, run, MEASURES, policy=add_choices(policy, depth=50))
    ) == content(expected)


@pytest.mark.parametrize("form", [list, tuple])
def test_ranked_lists(form: Callable[[list[str]], Any]) -> None:
    ranked = {
        query: form(sorted(items, key=items.__getitem__, reverse=True))
        for query, items in UNTIED.run.items()
    }
    expected = content(evaluate(UNTIED.judgements, UNTIED.run, MEASURES))
    assert content(evaluate(UNTIED.judgements, ranked, MEASURES)) == expected


def test_a_rank_column_stands_for_the_score(tmp_path: Path) -> None:
    rows = [
        (query, item, rank)
        for query, items in UNTIED.run.items()
        for rank, item in enumerate(sorted(items, key=items.__getitem__, reverse=True), 1)
    ]
    expected = content(evaluate(UNTIED.judgements, UNTIED.run, MEASURES))
    assert (
        content(evaluate(UNTIED.judgements, pl.DataFrame(columns(rows, "rank")), MEASURES))
        == expected
    )
    path = tmp_path / "run.tsv"  # MS MARCO's form
    path.write_text(
        "".join(f"{query}\t{item}\t{rank}\n" for query, item, rank in rows), encoding="utf-8"
    )
    assert content(evaluate(UNTIED.judgements, path, MEASURES)) == expected


def test_integer_ids_are_texts() -> None:
    judgements, run = {"1": {"7": 1}, "2": {"8": 1}}, {"1": {"7": 1.0, "8": 2.0}, "2": {"8": 1.0}}
    numbers = {1: {7: 1}, 2: {8: 1}}, {1: {7: 1.0, 8: 2.0}, 2: {8: 1.0}}
    frames = (
        pl.DataFrame({"query": [1, 2], "item": [7, 8], "grade": [1, 1]}),
        pl.DataFrame({"query": [1, 1, 2], "item": [7, 8, 8], "score": [1.0, 2.0, 1.0]}),
    )
    expected = content(evaluate(judgements, run))
    assert content(evaluate(*numbers)) == expected
    assert content(evaluate(*frames)) == expected
