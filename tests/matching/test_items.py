"""Documents in place of items: held against a loop, by every way in, and every message."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import judged
from judged import evaluate
from judged.errors import InputError
from judged.rankings.rankings import Rankings
from support.errors import error_of
from support.loops import for_each

Lists = dict[str, dict[str, Any]]
PARTS = ("retrieved", "hit_query", "hit_rank", "hit_grade", "pool_grade", "missing")


def generate(seed: int, *, by_document: bool) -> tuple[Lists, Lists]:
    """Judgements of chunks or documents, and a run of chunks with many ties."""
    draw = random.Random(seed)
    chunks = [f"d{document}#{part}" for document in range(6) for part in range(4)] + ["whole"]
    judgements: Lists = {}
    run: Lists = {}
    for at in range(8):
        judged_ids = draw.sample(chunks, 7)
        if by_document:
            judged_ids = list(dict.fromkeys(item.partition("#")[0] for item in judged_ids))
        judgements[f"q{at}"] = {item: draw.choice([-1, 0, 1, 2]) for item in judged_ids}
        if at != 3:
            found = draw.sample(chunks, draw.randint(0, 12))
            run[f"q{at}"] = {item: draw.choice([0.5, 1.0, 1.5]) for item in found}
    run["unasked"] = {"d1#1": 1.0}
    return judgements, run


def by_hand(lists: Lists) -> Lists:
    """The best value of each document, where the first of its best items stood."""
    result: Lists = {}
    for query, items in lists.items():
        best: dict[str, Any] = {}
        for item, value in items.items():
            document = item.partition("#")[0]
            if document not in best or value > best[document]:
                best.pop(document, None)  # it stands where its first best item does
                best[document] = value
        result[query] = best
    return result


def rows(lists: Lists, value: str) -> pl.DataFrame:
    return pl.DataFrame(
        [(query, item, float(each)) for query, of in lists.items() for item, each in of.items()],
        schema={"query": pl.String, "item": pl.String, value: pl.Float64},
        orient="row",
    )


def as_file(lists: Lists, value: str, folder: Path) -> str:
    path = folder / f"{value}.txt"
    lines = [
        f"{query} Q0 {item} 1 {each} t" if value == "score" else f"{query} 0 {item} {each}"
        for query, of in lists.items()
        for item, each in of.items()
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


WAYS: dict[str, Callable[[Lists, str, Path], Any]] = {
    "dict": lambda lists, value, folder: lists,
    "polars": lambda lists, value, folder: rows(lists, value),
    "pandas": lambda lists, value, folder: pd.DataFrame(
        rows(lists, value).to_dict(as_series=False)
    ),
    "file": as_file,
}
TABLE = {f"d{at}#{part}": f"d{at}" for at in range(6) for part in range(4)} | {"whole": "whole"}
SAYINGS: dict[str, Any] = {
    "separator": "doc:#",
    "pattern": "pattern:^(.*?)#",
    "compiled": re.compile(r"^([^#]*)#\d$"),
    "dict": TABLE,
    "frame": pl.DataFrame({"chunk_id": list(TABLE), "doc_id": list(TABLE.values())}),
    "function": lambda item: item.partition("#")[0],
}


def assert_same(found: judged.Rankings, expected: judged.Rankings) -> None:
    assert found.queries == expected.queries
    for part in PARTS:
        assert np.array_equal(getattr(found, part), getattr(expected, part)), part


@for_each("ties", ["id", "input", "best", "worst"])
@for_each("by_document", [False, True])
@for_each("way", WAYS)
def test_documents_are_ranked_as_a_run_reduced_by_hand(
    way: str, by_document: bool, ties: str, tmp_path: Path
) -> None:
    for seed in range(5):
        judgements, run = generate(seed, by_document=by_document)
        if way != "dict":  # rows cannot name a query with nothing in it
            run = {query: items for query, items in run.items() if items}
        found = Rankings.from_run(
            WAYS[way](judgements, "grade", tmp_path),
            WAYS[way](run, "score", tmp_path),
            item_to="doc:#",
            policy={"ties": ties},
        )
        assert_same(
            found, Rankings.from_run(by_hand(judgements), by_hand(run), policy={"ties": ties})
        )


@pytest.mark.parametrize("says", SAYINGS)
def test_all_ways_to_say_it_are_the_same(says: str, tmp_path: Path) -> None:
    for seed in range(5):
        judgements, run = generate(seed, by_document=bool(seed % 2))
        expected = Rankings.from_run(by_hand(judgements), by_hand(run))
        assert_same(Rankings.from_run(judgements, run, item_to=SAYINGS[says]), expected)
    path = tmp_path / "documents.tsv"
    path.write_text("".join(f"{item}\t{document}\n" for item, document in TABLE.items()))
    assert_same(Rankings.from_run(judgements, run, item_to=f"table:{path}"), expected)
    assert_same(Rankings.from_run(judgements, run, item_to=path), expected)


def test_depth_counts_documents() -> None:
    run = {"q": ["a#1", "a#2", "b#1", "c#1"]}
    found = Rankings.from_run({"q": {"b": 1, "c": 1}}, run, item_to="doc:#", policy={"depth": 2})
    assert (found.retrieved.tolist(), found.hit_rank.tolist()) == ([2], [2])


def test_the_definition_says_it() -> None:
    found = evaluate({"q": {"a": 1}}, {"q": {"b#1": 3, "a#2": 2, "a#1": 1}}, "RR", item_to="doc:#")
    assert found.runs[0].rankings.basis == (
        "the best result of each document stands for it, and documents are ranked",
        "an item's document is what stands before the last '#' of its id",
    )
    assert found.runs[0].audit.notes == ("3 results were reduced to 2 documents.",)


def test_documents_with_the_separator_in_their_ids() -> None:
    run = {"q": {"doc_1_1": 3, "doc_2_2": 2, "doc_2_1": 1}}
    found = Rankings.from_run({"q": {"doc_2": 1, "doc_9": 1}}, run, item_to="doc:_")
    assert found.hit_rank.tolist() == [2]
    assert found.pool_grade.tolist() == [1, 1]
    assert found.audit.notes[0] == (
        "2 judged ids are taken for documents of the run, such as 'doc_2', and stay as they are."
    )
    chunks = Rankings.from_run({"q": {"doc_2_7": 1, "doc_9_1": 1}}, run, item_to="doc:_")
    assert (chunks.hit_rank.tolist(), chunks.pool_grade.tolist()) == ([2], [1, 1])


def test_ids_that_may_be_either_are_warned_of() -> None:
    run = {"q": {"a_1_1": 3, "a_1_1_1": 2, "a_1": 1}}
    found = Rankings.from_run({"q": {"a_1_1": 1}}, run, item_to="doc:_")
    assert found.audit.warnings == (
        "The judgements' ids, such as 'a_1_1', may be items or documents: they are taken for "
        "items. Give documents ids that no item has.",
    )
    table = {"1": "2", "2": "2", "3": "1"}
    found = Rankings.from_run({"q": {"1": 1}}, {"q": ["3", "1"]}, item_to=table)
    assert "such as '1', may be items or documents" in found.audit.warnings[0]


def test_categories_stay_as_they_are() -> None:
    table = {"a1": "A", "a2": "A", "b": "B"}
    run = {"q": ["a1", "a2", "B"]}
    for judgements in ({"q": {"B": 1}}, {"q": {"b": 1}}):
        found = evaluate(judgements, run, "RR", unique=table)
        assert found.value() == 0.5
    assert found.runs[0].rankings.basis == (
        "the best result of each category stands for it, and categories are ranked",
    )


def test_duplicates_are_those_of_items() -> None:
    run = pl.DataFrame(
        {"query": ["q"] * 3, "item": ["a#1", "b#1", "a#1"], "score": [1.0, 2.0, 3.0]}
    )
    with pytest.raises(InputError, match="query 'q' has item 'a#1' more than once"):
        Rankings.from_run({"q": {"a": 1}}, run, item_to="doc:#")
    found = Rankings.from_run({"q": {"a": 1}}, run, item_to="doc:#", policy={"duplicates": "first"})
    assert found.hit_rank.tolist() == [1]
    assert found.audit.duplicates_dropped == 1
    judgements = pl.DataFrame({"query": ["q"] * 2, "item": ["a#1"] * 2, "grade": [1.0, 0.0]})
    found = Rankings.from_run(judgements, run, item_to="doc:#", policy={"duplicates": "first"})
    assert found.audit.duplicates_dropped == 2


def test_a_function_sees_each_id_once() -> None:
    seen: list[str] = []

    def document(item: str) -> str:
        seen.append(item)
        return item.partition("#")[0]

    judgements, run = generate(2, by_document=False)
    evaluate(judgements, {"one": run, "two": run}, "AP", item_to=document)
    assert len(seen) == len(set(seen))


def fails(item: str) -> str:
    raise KeyError(item)


@pytest.mark.parametrize(
    ("item_to", "message"),
    [
        (
            "#",
            "item_to must be doc:SEPARATOR, such as doc:#, pattern:REGEX, column:NAME or "
            "table:FILE; got '#'.",
        ),
        (
            "docs.csv",
            "item_to must be doc:SEPARATOR, such as doc:#, pattern:REGEX, column:NAME or "
            "table:FILE; got 'docs.csv'. For the table in that file: table:docs.csv.",
        ),
        (
            "pattern:(",
            "item_to: '(' is not a valid pattern (missing ), unterminated subpattern at position "
            "0).",
        ),
        (
            "pattern:#",
            "item_to: the pattern '#' has no group; put the document in parentheses, as in "
            r"^(.*?)_\d+$.",
        ),
        (
            "table:docs.csv",
            "a dict: 2 items have no document in docs.csv ('b#1', 'a#1'); give every item one, if "
            "need be its own id.",
        ),
        (
            7,
            "item_to must be a text such as 'doc:#', a compiled pattern, a dict {item: document}, "
            "a table or a function; got 7.",
        ),
        (fails, "item_to: the function failed for item 'a': KeyError: 'a'."),
        (
            lambda item: 1.5,
            "item_to, item 'a': the id 1.5 is of type float; ids must be texts or whole numbers.",
        ),
    ],
)
def test_what_is_refused(
    item_to: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs.csv").write_text("item,document\nc,a\n")
    assert (
        error_of(Rankings.from_run, {"q": {"a": 1}}, {"q": ["b#1", "a#1"]}, item_to=item_to)
        == message
    )


def test_levels_that_are_refused() -> None:
    options: Any = {"item_to": "doc:_", "unique": {"a": "b"}}
    assert error_of(evaluate, {"q": {"d_1": 1}}, {"q": ["d_1_1"]}, **options) == (
        "item_to and unique both say what is ranked; give one of them."
    )
    assert error_of(judged.explain, [1, 0], item_to="doc:#") == (
        "item_to and exclude_same_id are about the ids of a run; there is none."
    )


FILE = "file"
CHUNKS = pl.DataFrame(
    {
        "query": ["q"] * 4,
        "chunk": ["1", "2", "3", "4"],
        "score": [4.0, 3.0, 2.0, 1.0],
        FILE: ["b", "b", "a", "c"],
    }
)
GOLDEN = pl.DataFrame({"query": ["q"] * 2, "chunk": ["3", "9"], "grade": [1, 1], FILE: ["a", "z"]})


@pytest.mark.parametrize("way", ["frame", "csv", "jsonl", "parquet"])
def test_a_column_names_the_documents(way: str, tmp_path: Path) -> None:
    run: Any = CHUNKS
    golden: Any = GOLDEN
    if way != "frame":
        run, golden = tmp_path / f"run.{way}", tmp_path / f"golden.{way}"
        for table, path in ((CHUNKS, run), (GOLDEN, golden)):
            writer = {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}[way]
            getattr(table, writer)(path)
    for judgements, pool in ((golden, [1, 1]), ({"q": {"a": 2}}, [2])):
        for options in (
            {"item_to": "column:file", "columns": {"item": "chunk"}},
            {"columns": {"item": "chunk", "document": "file"}},
        ):
            found = Rankings.from_run(judgements, run, **options)
            assert (found.retrieved.tolist(), found.hit_rank.tolist()) == ([3], [2])
            assert found.pool_grade.tolist() == pool
            assert found.basis[1] == "an item's document is in column 'file'"


@pytest.mark.parametrize(
    ("judgements", "run", "message"),
    [
        (
            GOLDEN.drop(FILE),
            CHUNKS,
            "a data frame: the ids are those of items, such as '3', but the column 'file' with "
            "their documents is missing. Add it, or give a table from item to document.",
        ),
        (
            GOLDEN,
            CHUNKS.drop(FILE),
            "a data frame: there is no column 'file' for item_to; a dict, a TREC file and a table "
            "without it need item_to as a separator, a pattern, a table or a function.",
        ),
        (
            {"q": {"a": 1}},
            CHUNKS.with_columns(file=pl.Series(["b", None, "a", "c"])),
            "a data frame, row 2: the document is missing.",
        ),
    ],
)
def test_columns_that_are_lacking(judgements: Any, run: Any, message: str) -> None:
    options: Any = {"item_to": "column:file", "columns": {"item": "chunk"}}
    assert error_of(evaluate, judgements, run, "RR", **options) == message


def test_several_columns_make_a_document() -> None:
    run = CHUNKS.with_columns(page=pl.Series(["1", "2", "1", "1"]))
    for options in (
        {"item_to": "column:file+page", "columns": {"item": "chunk"}},
        {"columns": {"item": "chunk", "document": ["file", "page"]}},
    ):
        found = Rankings.from_run({"q": {"a#1": 1}}, run, **options)
        assert (found.retrieved.tolist(), found.hit_rank.tolist()) == ([4], [3])


def test_all_runs_tell_what_judgements_name(tmp_path: Path) -> None:
    """The first run alone has none of the judged documents: the order of runs decided before."""
    judgements = {"q": {"doc_2": 1}}
    runs: dict[str, Any] = {"other": {"q": ["x_1"]}, "chunks": {"q": ["doc_2_1", "doc_3_1"]}}
    for number in range(5):  # so many that files are read twice
        path = tmp_path / f"{number}.run"
        path.write_text(f"q Q0 y_{number} 1 1 t\n")
        runs[f"run {number}"] = str(path)
    for names in (list(runs), list(runs)[::-1], ["other", "chunks"]):
        found = evaluate(judgements, {name: runs[name] for name in names}, "RR", item_to="doc:_")
        assert found.scored("chunks").summary == {judged.RR: 1.0}
    broken = {**runs, "broken": str(tmp_path / "none.run")}
    found = evaluate(judgements, broken, "RR", item_to="doc:_", skip_bad=True)
    assert found.scored("chunks").summary == {judged.RR: 1.0}
    assert list(found.skipped) == ["broken"]


def test_runs_that_disagree_on_what_judgements_name_are_refused() -> None:
    judgements = {"q": {"doc_2": 1, "doc_3": 0}}
    runs = [("documents", {"q": ["doc"]}), ("chunks", {"q": ["doc_2_1"]})]
    for order in (runs, runs[::-1]):
        assert error_of(evaluate, judgements, dict(order), "RR", item_to="doc:_") == (
            "the judgements: some judged ids are those of items, such as 'doc_2' by run "
            "'documents', and some those of documents, such as 'doc_2' by run 'chunks'; item_to "
            "would change both. Give a pattern that finds nothing in the ids of documents, or a "
            "table, or evaluate such runs one by one."
        )
