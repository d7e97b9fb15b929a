"""The same data by every way in: the same bits, and the same audit."""

from __future__ import annotations

import csv as spreadsheet
import gzip
import json
import pickle
import random
from collections import namedtuple
from collections.abc import Callable
from dataclasses import make_dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import judged
from judged import Rankings, evaluate
from judged.errors import InputError
from judged.policy import DUPLICATES
from judged.results import Audit

Lists = dict[str, dict[str, float]]
MEASURES = "AP, nDCG@3, P@2, RR, Bpref, RBP"
EMPTY_WAYS = ["none", "first", "middle", "last", "many"]


def generate(seed: int, empty: str) -> tuple[Lists, Lists]:
    """Judgements and a run with ties, gaps both ways and, where asked for, queries with nothing in
    them."""
    draw = random.Random(seed)
    items = [f"{draw.choice('aZé文')}{number}" for number in range(12)]
    names = [f"q{number}" for number in range(9)]
    places = {"none": [], "first": [0], "middle": [4], "last": [8], "many": [0, 1, 4, 7, 8]}[empty]
    sides: list[Lists] = []
    for values in ([0, 1, 2, -1], [0.5, 0.25, 1.0, 3.0, -2.0]):
        lists: Lists = {}
        for at, name in enumerate(names):
            if at in places and draw.random() < 0.8:
                lists[name] = {}
            elif draw.random() < 0.9:
                chosen = draw.sample(items, draw.randint(1, 10))
                lists[name] = {item: draw.choice(values) for item in chosen}
        sides.append(lists)
    sides[0].setdefault("q5", {items[0]: 1})
    sides[1]["q5"] = {items[0]: 1.0, items[1]: 1.0}
    return sides[0], sides[1]


def rows(lists: Lists) -> list[tuple[str, str | None, float | None]]:
    return [
        row
        for query, inner in lists.items()
        for row in (
            [(query, item, value) for item, value in inner.items()] or [(query, None, None)]
        )
    ]


def columns(lists: Lists, value: str) -> dict[str, list[Any]]:
    query, item, number = zip(*rows(lists), strict=True)
    return {"query": list(query), "item": list(item), value: list(number)}


def polars(lists: Lists, value: str) -> pl.DataFrame:
    return pl.DataFrame(columns(lists, value), schema_overrides={value: pl.Float64})


def in_file(name: str, text: Callable[[Lists, str], str]) -> Callable[[Lists, str, Path], Path]:
    def write(lists: Lists, value: str, folder: Path) -> Path:
        path = folder / f"{value}.{name}"
        path.write_text(text(lists, value), encoding="utf-8")
        return path

    return write


def in_memory(make: Callable[[Lists, str], Any]) -> Callable[[Lists, str, Path], Any]:
    return lambda lists, value, folder: make(lists, value)


def in_lists(result: Callable[[tuple[str, float]], Any]) -> Callable[[Lists, str], Any]:
    """Lists of results; judgements stay a dict."""
    return lambda lists, value: (
        {query: list(map(result, inner.items())) for query, inner in lists.items()}
        if value == "score"
        else lists
    )


def in_parquet(lists: Lists, value: str, folder: Path) -> Path:
    polars(lists, value).write_parquet(folder / f"{value}.parquet")
    return folder / f"{value}.parquet"


def csv(lists: Lists, value: str) -> str:
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows(lists)]
    return "\n".join([f"query,item,{value}", *lines]) + "\n"


def trec(lists: Lists, value: str) -> str:
    line = "{} Q0 {} 1 {} mine\n" if value == "score" else "{} 0 {} {}\n"
    return "".join(line.format(*row) for row in rows(lists))


def untidy_trec(lists: Lists, value: str, folder: Path) -> Path:
    line = " {}  Q0\t{} 1 {} mine more\r\n" if value == "score" else "{}\t0  {} \t{}\r\n"
    text = "".join(line.format(*row) for row in rows(lists))
    path = folder / f"{value}.untidy.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return path


def dicts(lists: Lists, value: str) -> list[dict[str, Any]]:
    return [dict(zip(("query", "item", value), row, strict=True)) for row in rows(lists)]


def namedtuples(lists: Lists, value: str) -> list[Any]:
    kind = namedtuple("Scored", ["query_id", "doc_id", value])  # type: ignore[misc]
    return [kind(*row) for row in rows(lists)]


def dataclasses(lists: Lists, value: str) -> list[Any]:
    kind = make_dataclass("Scored", ["query", "item", value])
    return [kind(*row) for row in rows(lists)]


class Held:
    """A table of a library that nobody here knows."""

    def __init__(self, table: Any, method: str) -> None:
        setattr(self, method, lambda: table)


def read(given: Any, value: str) -> Any:
    return judged.read_run(given) if value == "score" else judged.read_judgements(given)


WAYS: dict[str, Callable[[Lists, str, Path], Any]] = {
    "dict": in_memory(lambda lists, value: lists),
    "pairs": in_memory(in_lists(tuple)),
    "mappings": in_memory(in_lists(lambda pair: {"id": pair[0], "score": pair[1]})),
    "polars": in_memory(polars),
    "polars lazy": in_memory(lambda lists, value: polars(lists, value).lazy()),
    "pandas": in_memory(lambda lists, value: pd.DataFrame(columns(lists, value))),
    "pyarrow": in_memory(lambda lists, value: pa.table(columns(lists, value))),
    "list of dicts": in_memory(dicts),
    "generator of dicts": in_memory(lambda lists, value: (row for row in dicts(lists, value))),
    "namedtuples": in_memory(namedtuples),
    "dataclass objects": in_memory(dataclasses),
    "to_polars": in_memory(lambda lists, value: Held(polars(lists, value), "to_polars")),
    "to_pandas": in_memory(
        lambda lists, value: Held(pd.DataFrame(columns(lists, value)), "to_pandas")
    ),
    "pickled dict": in_memory(lambda lists, value: pickle.loads(pickle.dumps(read(lists, value)))),
    "parquet": in_parquet,
    "json": in_file("json", lambda lists, value: json.dumps(lists)),
    "json rows": in_file("rows.json", lambda lists, value: json.dumps(dicts(lists, value))),
    "ndjson": in_file(
        "ndjson", lambda lists, value: "\n".join(map(json.dumps, dicts(lists, value))) + "\n"
    ),
    "csv": in_file("csv", csv),
    "tsv": in_file("tsv", lambda lists, value: csv(lists, value).replace(",", "\t")),
    "trec": in_file("trec", trec),
    "untidy trec": untidy_trec,
}
NAMING_EMPTY = [name for name in WAYS if "trec" not in name]
"""Ways in that can name a query with nothing in it."""


def outcome(qrels: Any, run: Any, **options: Any) -> tuple[Any, ...]:
    """Every value and count; notes are about the way in, and a run is named after its file."""
    evaluation = evaluate(qrels, None if run is None else {"run": run}, MEASURES, **options)
    values = evaluation.scored().to_dict(per_query=True)["per_query"]
    audit: Audit = replace(next(iter(evaluation.audit.values())), notes=())
    summary = {str(m): evaluation.value(m) for m in evaluation.measures}
    return repr(values), summary, audit


@pytest.mark.parametrize("empty", EMPTY_WAYS)
@pytest.mark.parametrize("ties", ["id", "input"])
@pytest.mark.parametrize("seed", range(2))
def test_all_ways_in_give_the_same_bits(empty: str, ties: str, seed: int, tmp_path: Path) -> None:
    qrels, run = generate(seed, empty)
    options = {"policy": {"ties": ties, "missing": "skip"}}
    expected = outcome(qrels, run, **options)
    for name, way in WAYS.items():
        if name not in NAMING_EMPTY and empty != "none":
            continue
        given = way(qrels, "grade", tmp_path), way(run, "score", tmp_path)
        assert outcome(*given, **options) == expected, name
        given = way(qrels, "grade", tmp_path), way(run, "score", tmp_path)
        assert outcome(qrels, given[1], **options) == expected, f"a dict with {name}"
        assert outcome(given[0], run, **options) == expected, f"{name} with a dict"


def test_ranks_and_lists_in_place_of_scores(tmp_path: Path) -> None:
    qrels = {"1": {"7": 1, "8": 2}, "2": {"8": 1}}
    scores = {"1": {"7": 1.0, "8": 2.0, "9": 1.5}, "2": {"8": 1.0}}
    ranked = {"1": ["8", "9", "7"], "2": ["8"]}
    table = [(q, item, at) for q, items in ranked.items() for at, item in enumerate(items, 1)]
    frame = pl.DataFrame(table, schema=["query", "item", "rank"], orient="row")
    path = tmp_path / "msmarco.tsv"
    path.write_text("".join(f"{q}\t{item}\t{at}\n" for q, item, at in table))
    values, summary, _ = outcome(qrels, scores)
    tuples = {query: tuple(items) for query, items in ranked.items()}
    for run in (ranked, tuples, frame, path, frame.cast({"query": pl.Int64, "item": pl.Int64})):
        assert outcome(qrels, run)[:2] == (values, summary)
    numbers = [
        {int(q): {int(i): x for i, x in of.items()} for q, of in each.items()}
        for each in (qrels, scores)
    ]
    assert outcome(*numbers)[:2] == (values, summary)


def everything(qrels: Lists, run: Lists, form: str) -> list[dict[str, Any]]:
    """Rows that hold both, with values beside the ids or with them."""

    def side(lists: Lists, query: str, ids: str, value: str) -> dict[str, Any]:
        items = lists[query]
        if form == "parallel":
            return {ids: list(items), f"{value}s": list(items.values())}
        if form == "pairs":
            return {ids: [list(pair) for pair in items.items()]}
        if form == "objects":
            return {ids: [{"id": item, value: number} for item, number in items.items()]}
        return {ids: items}

    return [
        {
            "question": query,
            "answer": "a text, [not] a list",
            **side(qrels, query, "gold_ids", "grade"),
            **side(run, query, "retrieved_chunk_ids", "score"),
        }
        for query in qrels
    ]


def in_rows_csv(rows: list[dict[str, Any]], path: Path, cell: Callable[[Any], str]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = spreadsheet.writer(file)
        writer.writerow(rows[0])
        writer.writerows(
            [
                [each if isinstance(each, str) else cell(each) for each in row.values()]
                for row in rows
            ]
        )
    return path


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def in_rows_parquet(rows: list[dict[str, Any]], path: Path) -> Path:
    pl.DataFrame(rows).write_parquet(path)
    return path


ROWS: dict[str, Callable[[list[dict[str, Any]], Path], Any]] = {
    "list of dicts": lambda rows, folder: rows,
    "generator": lambda rows, folder: iter(rows),
    "json": lambda rows, folder: written(folder / "rows.json", json.dumps(rows)),
    "jsonl": lambda rows, folder: written(
        folder / "rows.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows)
    ),
    "json by query": lambda rows, folder: written(
        folder / "by.json", json.dumps({row["question"]: {**row, "question": None} for row in rows})
    ),
    "json by column": lambda rows, folder: written(
        folder / "columns.json", json.dumps({name: [row[name] for row in rows] for name in rows[0]})
    ),
    "csv of JSON": lambda rows, folder: in_rows_csv(rows, folder / "rows.csv", json.dumps),
    "csv of Python": lambda rows, folder: in_rows_csv(rows, folder / "python.csv", str),
}
TYPED: dict[str, Callable[[list[dict[str, Any]], Path], Any]] = {
    "polars": lambda rows, folder: pl.DataFrame(rows),
    "polars lazy": lambda rows, folder: pl.LazyFrame(rows),
    "pandas": lambda rows, folder: pd.DataFrame(rows),
    "pyarrow": lambda rows, folder: pl.DataFrame(rows).to_arrow(),
    "parquet": lambda rows, folder: in_rows_parquet(rows, folder / "rows.parquet"),
}


@pytest.mark.parametrize("form", ["parallel", "pairs", "objects", "mappings"])
@pytest.mark.parametrize("empty", ["none", "many"])
@pytest.mark.parametrize("ties", ["id", "input"])
def test_rows_that_hold_everything_give_the_same_bits(
    form: str, empty: str, ties: str, tmp_path: Path
) -> None:
    for at in ("0", "1"):
        (tmp_path / at).mkdir()
    qrels, run = generate(3, empty)
    names = sorted({*qrels, *run})
    qrels = {query: qrels.get(query, {}) for query in names}
    run = {query: run.get(query, {}) for query in names}
    options = {"policy": {"ties": ties}}
    expected = outcome(qrels, run, **options)
    ways = {**ROWS, **(TYPED if form in ("parallel", "objects") else {})}
    for name, way in ways.items():
        held = everything(qrels, run, form)
        assert outcome(way(held, tmp_path), None, **options) == expected, name
        # A golden set and results, each on its own.
        sides = (
            [{key: row[key] for key in row if key not in left} for row in held]
            for left in (("retrieved_chunk_ids", "scores"), ("gold_ids", "grades"))
        )
        if name not in ("json by query", "json by column"):
            given = [way(side, tmp_path / f"{at}") for at, side in enumerate(sides)]
            assert outcome(*given, **options) == expected, f"{name} in two"


@pytest.mark.parametrize("way", NAMING_EMPTY)
def test_a_query_with_nothing_in_it_is_there(way: str, tmp_path: Path) -> None:
    qrels = {"q1": {}, "q2": {"a": 1}, "q3": {}, "q4": {"b": 1}}
    run = {"q4": {}, "q2": {"a": 1.0}, "q3": {"x": 1.0}, "q9": {}}
    given = WAYS[way](qrels, "grade", tmp_path), WAYS[way](run, "score", tmp_path)
    rankings = Rankings.from_run(*given)
    assert rankings.queries == ("q1", "q2", "q3", "q4")
    assert rankings.missing.tolist() == [True, False, False, False]
    assert rankings.retrieved.tolist() == [0, 1, 1, 0]
    assert rankings.audit.ignored_queries == 1
    assert rankings.audit.nothing_relevant == 2


@pytest.mark.parametrize("way", NAMING_EMPTY)
def test_judgements_with_nothing_in_them(way: str, tmp_path: Path) -> None:
    qrels: Lists = {"q1": {}, "q2": {}}
    for run in ({"q1": {"a": 1.0}}, polars({"q1": {"a": 1.0}}, "score")):
        rankings = Rankings.from_run(WAYS[way](qrels, "grade", tmp_path), run)
        assert rankings.queries == ("q1", "q2")
        assert rankings.retrieved.tolist() == [1, 0]
    with pytest.raises(InputError, match="the run is empty"):
        Rankings.from_run({"q1": {"a": 1}}, WAYS[way](qrels, "score", tmp_path))


@pytest.mark.parametrize("way", ["polars", "pandas", "pyarrow", "parquet", "ndjson", "csv"])
def test_a_row_without_an_item_beside_others_is_incomplete(way: str, tmp_path: Path) -> None:
    class Doubled(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            return [("q1", {"a": 1.0}), ("q1", {})]

    with pytest.raises(InputError, match=r"(row 2|line [23]): the item is missing"):
        Rankings.from_run({"q1": {"a": 1}}, WAYS[way](Doubled(), "score", tmp_path))


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("ties", ["id", "input"])
def test_duplicates_by_every_way_in(duplicates: Any, ties: str, tmp_path: Path) -> None:
    """The best-ranked of each is kept, or the repetition is refused, whatever the data come in."""
    qrels = {"q": {"a": 1, "b": 0, "c": 2}, "p": {"a": 1}}
    pairs = {
        "q": [("a", 1.0), ("b", 2.0), ("a", 3.0), ("c", 2.0), ("b", 2.0), ("x", 2.0)],
        "p": [("a", 1.0)],
    }
    table = [(query, *pair) for query, each in pairs.items() for pair in each]
    frame = pl.DataFrame(table, schema=["query", "item", "score"], orient="row")
    (tmp_path / "run.json").write_text(json.dumps(pairs))
    (tmp_path / "run.trec").write_text(
        "".join(f"{query} Q0 {item} 1 {score} mine\n" for query, item, score in table)
    )
    for run in (pairs, frame, frame.to_pandas(), tmp_path / "run.json", tmp_path / "run.trec"):
        policy = {"ties": ties, "duplicates": duplicates}
        if duplicates == "error":
            with pytest.raises(InputError, match=r"query 'q' has item 'a' more than once"):
                Rankings.from_run(qrels, run, policy=policy)
            continue
        found = Rankings.from_run(qrels, run, policy=policy)
        assert found.hit_rank.tolist() == ([1, 3, 4, 1] if ties == "id" else [1, 2, 3, 1])
        assert found.hit_grade.tolist() == ([1, 2, 0, 1] if ties == "id" else [1, 0, 2, 1])
        assert found.audit.duplicates_dropped == 2


def test_the_first_of_a_ranked_list_is_kept(tmp_path: Path) -> None:
    lists = {"q": ["b", "a", "b", "c", "a"]}
    (tmp_path / "run.json").write_text(json.dumps(lists))
    for run in (lists, tmp_path / "run.json"):
        rankings = Rankings.from_run(
            {"q": {"a": 1, "b": 2, "c": 3}}, run, policy={"duplicates": "first"}
        )
        assert rankings.hit_grade.tolist() == [2, 1, 3]
        assert rankings.retrieved.tolist() == [3]
        assert rankings.audit.duplicates_dropped == 2


LARGE = {"q": {"a": 2**53, "b": 2**53 + 1, "c": 3}}


@pytest.mark.parametrize("way", [name for name in WAYS if name not in ("polars", "polars lazy")])
def test_whole_numbers_that_floats_cannot_tell_apart_are_warned_of(
    way: str, tmp_path: Path
) -> None:
    given: Any = LARGE
    if way not in ("parquet",):
        given = WAYS[way](given, "score", tmp_path)
    audit = Rankings.from_run({"q": {"a": 1}}, given).audit
    assert len(audit.warnings) == 1
    assert "such as 9007199254740992 of query 'q'" in audit.warnings[0]
