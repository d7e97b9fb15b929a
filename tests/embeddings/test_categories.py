"""Unique categories: each category's best item stands for it, in embeddings and in plain runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from judged import InputError, Rankings, evaluate, read_judgements, read_run
from judged.embeddings.categories import CategoryLayout, ReorderedVectors, category_codes
from judged.embeddings.relevance import listed, same_label
from judged.inputs.keyed import read_categories
from judged.inputs.tables import Judgements, Run
from judged.inputs.vectors import Vectors, as_vectors
from judged.inputs.vectors.vectors import Lazy
from judged.matching.documents import item_to_category, judgements_by_document, run_by_document
from support.products import rank, top_k

MEASURES = ["Success@5", "RR", "AP", "nDCG", "R@3"]


def rank_categories(
    queries: Any,
    items: Any,
    categories: Any,
    relevance: Any,
    *,
    exclude: Any = None,
    memory: str = "1GB",
    ties: str = "id",
) -> Rankings:
    return rank(
        queries,
        items,
        relevance,
        similarity="dot",
        unique=categories,
        exclude=exclude,
        memory=memory,
        policy={"ties": ties},
    )


def whole_numbers(rng: np.random.Generator, rows: int, dims: int = 3, most: int = 3) -> np.ndarray:
    return rng.integers(-most, most + 1, (rows, dims)).astype(np.float32)


def as_run(
    scores: np.ndarray, gone: set[tuple[int, int]] = frozenset()
) -> dict[str, dict[str, float]]:
    return {
        str(query): {
            str(item): float(score) for item, score in enumerate(row) if (query, item) not in gone
        }
        for query, row in enumerate(scores)
    }


def slowly(run: Any, judgements: Any, category: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The slow twin: best score and best grade of each category, in dicts."""
    tables = []
    for table in (run, judgements):
        best: dict[str, dict[str, float]] = {}
        for query, each in table.items():
            mine = best.setdefault(query, {})
            for item, value in each.items():
                mine[category[item]] = max(value, mine.get(category[item], -np.inf))
        tables.append(best)
    return tables[0], tables[1]


@pytest.mark.parametrize("shape", ["few", "many", "own", "skewed", "one"])
@pytest.mark.parametrize("memory", ["1GB", "1MB"])
def test_embeddings_against_the_slow_twin(shape: str, memory: str) -> None:
    rng = np.random.default_rng(5)
    count = 5000
    labels = {
        "few": rng.integers(0, 40, count),
        "many": rng.integers(0, 2500, count),
        "own": rng.permutation(count),
        "skewed": np.where(rng.random(count) < 0.6, 7, rng.integers(0, 3000, count)),
        "one": np.zeros(count, int),
    }[shape]
    queries, items = whole_numbers(rng, 70), whole_numbers(rng, count)
    grades = (rng.random((70, count)) < 0.001) * rng.integers(1, 4, (70, count))
    grades[:, 0] = 1
    judgements = {
        str(query): {str(item): int(row[item]) for item in np.flatnonzero(row)}
        for query, row in enumerate(grades)
    }
    category = {str(item): str(label) for item, label in enumerate(labels)}
    run, judged = slowly(as_run(queries @ items.T), judgements, category)
    expected = evaluate(judged, run, MEASURES)
    found = rank_categories(queries, items, labels, judgements, memory=memory)
    for measure in MEASURES:
        assert found.evaluate(MEASURES).value(measure) == pytest.approx(
            expected.value(measure), abs=1e-12
        )
    assert found.retrieved.tolist() == [len(set(labels.tolist()))] * 70
    assert np.array_equal(found.hit_rank, expected.rankings["run"].hit_rank)
    assert np.array_equal(found.hit_tie_last, expected.rankings["run"].hit_tie_last)


@pytest.mark.parametrize("memory", ["1GB", "1MB"])
def test_a_category_without_items_left_is_not_ranked(memory: str) -> None:
    rng = np.random.default_rng(6)
    queries, items, labels = whole_numbers(rng, 3), whole_numbers(rng, 9000), np.arange(9000) // 3
    gone = {(0, item) for item in (*range(6), 7)} | {(2, 8999), (2, 0)}
    gone_items: dict[str, dict[str, int]] = {"1": {"no such item": 1}}
    for query, item in gone:
        gone_items.setdefault(str(query), {})[str(item)] = 1
    judgements = {str(query): {"0": 2, "2": 1, "6": 1, "7": 3, "8999": 1} for query in range(3)}
    left = {
        query: {item: grade for item, grade in each.items() if (int(query), int(item)) not in gone}
        for query, each in judgements.items()
    }
    run, judged = slowly(
        as_run(queries @ items.T, gone), left, {str(item): str(item // 3) for item in range(9000)}
    )
    expected = evaluate(judged, run, MEASURES)
    found = rank_categories(
        queries, items, labels, judgements, exclude=listed(gone_items), memory=memory
    )
    assert found.retrieved.tolist() == [2998, 3000, 3000]
    assert np.array_equal(found.hit_rank, expected.rankings["run"].hit_rank)
    assert np.array_equal(found.hit_grade, expected.rankings["run"].hit_grade)
    assert np.array_equal(found.pool_grade, expected.rankings["run"].pool_grade)


def test_categories_can_be_listed_too() -> None:
    found = top_k(
        [[1.0]], [[3.0], [2.0], [1.0], [4.0]], 2, similarity="dot", unique=["a", "b", "c", "b"]
    )
    assert found.to_frame().rows() == [("0", "b", 4.0, 1), ("0", "a", 3.0, 2)]


def test_by_hand() -> None:
    # Scores 5 4 3 2 1 of the categories a a b b c: a has 5, b has 3, c has 1; the last item, of c,
    # is relevant: rank 3.
    items = np.array([[5], [4], [3], [2], [1]], np.float32)
    found = rank_categories([[1.0]], items, list("aabbc"), {"0": {"4": 1}})
    assert found.hit_rank.tolist() == [3]
    assert found.retrieved.tolist() == [3]
    assert found.evaluate(["Success@2", "Success@3"]).to_dict()["runs"][0]["scores"] == {
        "Success@2": 0.0,
        "Success@3": 1.0,
    }


@pytest.mark.parametrize(("ties", "rank"), [("id", 2), ("input", 1)])
def test_tied_categories_are_ordered_by_their_own_ids(ties: str, rank: int) -> None:
    found = rank_categories([[1.0]], [[1.0], [1.0]], ["a", "b"], {"0": {"0": 1}}, ties=ties)
    assert found.hit_rank.tolist() == [rank]


def test_an_item_without_a_vector_is_missed_by_itself() -> None:
    found = rank_categories(
        [[1.0]], [[1.0], [1.0]], ["a", "a"], {"0": {"0": 1, "elsewhere": 1, "nowhere": 2}}
    )
    assert found.hit_rank.tolist() == [1]
    assert found.pool_grade.tolist() == [2.0, 1.0, 1.0]


@pytest.mark.parametrize("categories", [1, 1023, 1024, 1500, 3000])
def test_the_greatest_of_each_category(categories: int) -> None:
    rng = np.random.default_rng(categories)
    sizes = np.minimum(rng.zipf(1.5, categories), 5000).astype(np.int64)
    scores = rng.standard_normal((5, int(sizes.sum()))).astype(np.float32)
    layout = CategoryLayout.of(sizes)
    assert np.array_equal(np.sort(layout.order), np.arange(sizes.sum()))
    expected = np.maximum.reduceat(scores, np.cumsum(sizes) - sizes, axis=1)
    assert np.array_equal(layout.greatest(np.ascontiguousarray(scores[:, layout.order])), expected)


def test_rows_that_can_only_be_read_in_stretches() -> None:
    rng = np.random.default_rng(1)
    queries, items, labels = (
        whole_numbers(rng, 4),
        whole_numbers(rng, 70_000),
        rng.integers(0, 9, 7_000).repeat(10),
    )
    lazy = Vectors(Lazy(items.shape, items.dtype, lambda rows, columns: items[rows, columns]))
    judgements = {str(query): {"5": 1, "69999": 1} for query in range(4)}
    found, expected = (rank_categories(queries, each, labels, judgements) for each in (lazy, items))
    assert np.array_equal(found.hit_rank, expected.hit_rank)


def test_single_rows_in_another_order() -> None:
    items = whole_numbers(np.random.default_rng(1), 9)
    order, rows = np.array([4, 8, 0, 2, 6, 1, 3, 7, 5]), np.array([1, 1, 7, 0])
    lazy = Lazy(items.shape, items.dtype, lambda rows, columns: items[rows, columns])
    for values in (items, lazy):
        gathered = ReorderedVectors(values, order=order)
        assert np.array_equal(gathered.rows(rows), items[order[rows]])
        assert np.array_equal(gathered.block(2, 5), items[order[2:5]])


def test_messages_name_the_item_and_not_its_place_by_category() -> None:
    with pytest.raises(InputError) as error:
        rank_categories([[1.0]], [[1.0], [1.0], [np.nan]], ["b", "a", "b"], {"0": {"0": 1}})
    assert (
        str(error.value) == "the items: vectors 2 hold NaN or infinite numbers; remove or fix them."
    )


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        (["a"], "the items: categories have shape (1,); one is needed for each of the 3 vectors."),
        (["a", None, ""], "the items: item y has no category (and 1 more); give every item one."),
        ([1.0, np.nan, 2.0], "the items: item y has no category; give every item one."),
        (
            [1.0, 1.5, 2.0],
            "the items: categories are floating-point numbers; give whole numbers or texts.",
        ),
        (
            {"x": "a"},
            "the items: 2 items have no category in the categories ('y', 'z'); give every item "
            "one, if need be its own id.",
        ),
    ],
)
def test_categories_that_do_not_fit(categories: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        category_codes(categories, as_vectors(np.eye(3), ids=["x", "y", "z"], source="the items"))
    assert str(error.value) == message


def test_labels_stay_exact() -> None:
    vectors = as_vectors(np.eye(3))
    assert category_codes(np.array([2**63 - 1, 2**63 - 2, 2**63 - 1]), vectors)[1].tolist() == [
        0,
        1,
        0,
    ]
    assert category_codes([3.0, 4.0, 3.0], vectors)[0] == ("3", "4")
    assert category_codes({"0": "x", "1": "y", "2": "x", "3": "z"}, vectors)[1].tolist() == [
        0,
        1,
        0,
    ]


# -- plain runs


@pytest.mark.parametrize("ties", ["id", "input"])
@pytest.mark.parametrize("as_frame", [False, True])
def test_a_run_against_the_slow_twin(ties: str, as_frame: bool) -> None:
    rng = np.random.default_rng(2)
    run = {
        f"q{query}": {f"d{item}": float(rng.integers(0, 9)) for item in rng.permutation(60)[:30]}
        for query in range(20)
    }
    judgements = {
        f"q{query}": {f"d{item}": int(rng.integers(-1, 4)) for item in rng.permutation(60)[:9]}
        for query in range(21)
    }
    category = {f"d{item}": f"c{rng.integers(0, 15)}" for item in range(60)}
    expected_run, expected_judgements = slowly(run, judgements, category)
    if ties == "input":  # where a category's best result stood
        expected_run = {
            query: dict(
                sorted(
                    expected_run[query].items(),
                    key=lambda pair: next(
                        at
                        for at, (item, score) in enumerate(each.items())
                        if (category[item], score) == pair
                    ),
                )
            )
            for query, each in run.items()
        }
    given: Any = run
    if as_frame:
        rows = [(query, item, score) for query, each in run.items() for item, score in each.items()]
        given = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    unique, judged = unique_results(given, category), unique_judgements(judgements, category)
    found = evaluate(judged, unique, MEASURES, policy={"ties": ties}).rankings["run"]
    expected = evaluate(
        expected_judgements, expected_run, MEASURES, policy={"ties": ties}
    ).rankings["run"]
    for part in ("retrieved", "hit_query", "hit_rank", "hit_grade", "pool_grade"):
        assert np.array_equal(getattr(found, part), getattr(expected, part)), part


def test_a_saved_run_of_embeddings_gives_the_ranks_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    queries, items = whole_numbers(rng, 20), whole_numbers(rng, 500)
    labels, wanted = rng.integers(0, 50, 500), rng.integers(0, 50, 20)
    top_k(queries, items, 500, similarity="dot").save(tmp_path / "all.run")
    judgements = {
        str(query): {str(item): 1 for item in np.flatnonzero(labels == label)}
        for query, label in enumerate(wanted)
    }
    table = {str(item): str(label) for item, label in enumerate(labels)}
    unique, judged = (
        unique_results(str(tmp_path / "all.run"), table),
        unique_judgements(judgements, table),
    )
    counted = rank_categories(queries, items, labels, same_label(wanted, labels))
    assert np.array_equal(evaluate(judged, unique).rankings["all"].hit_rank, counted.hit_rank)


def test_names_notes_and_lines_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.run").write_text("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 c 3 1 t\n")
    table = {"a": "x", "b": "x", "c": "y"}
    unique, judged = unique_results("mine.run", table), unique_judgements({"q": {"c": 1}}, table)
    assert unique.name == "mine"
    assert unique.notes == ("3 results were reduced to 2 categories.",)
    assert unique.where([0, 1]) == "lines 1 and 3"
    assert judged.frame.rows() == [("q", "y", 1.0)]


def unique_results(run: Any, table: Any, **options: Any) -> Run:
    return run_by_document(read_run(run), item_to_category(table), **options)


def unique_judgements(judgements: Any, table: Any) -> Judgements:
    return judgements_by_document(read_judgements(judgements), item_to_category(table))


TABLE = [("a", "x"), ("b", "y")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "item,category\na,x\nb,y\n"),
        ("t.csv", "a,x\nb,y\n"),
        ("t.tsv", "label\tdocno\nx\ta\ny\tb\n"),
        ("t.tsv", "a\tx\nb\ty\n"),
        ("t.txt", "a x\n\nb y\n"),
        ("t.json", json.dumps({"a": "x", "b": "y"})),
    ],
)
def test_tables_from_files(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert read_categories(tmp_path / name).frame.rows() == TABLE


def test_tables_from_frames(tmp_path: Path) -> None:
    frame = pl.DataFrame({"item": ["a", "b"], "category": ["x", "y"], "other": [1, 2]})
    frame.write_parquet(tmp_path / "t.parquet")
    for given in (
        frame,
        frame.lazy(),
        pd.DataFrame({"Category": ["x", "y"], "doc_id": ["a", "b"]}),
        tmp_path / "t.parquet",
    ):
        assert read_categories(given).frame.rows() == TABLE
    assert read_categories({1: 2}).frame.rows() == [("1", "2")]
    assert read_categories(read_categories(frame)).frame.rows() == TABLE


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the categories: holds no rows."),
        (
            {"a": None},
            "the categories: the category of item 'a' is missing; give every item one, if need be "
            "its own id.",
        ),
        (
            {"a": 1.5},
            "the categories: the category of item 'a': the id 1.5 is a floating-point number; ids "
            "must be texts or whole numbers.",
        ),
        (5, "categories are a dict {item: category}, a table or a file; got int."),
        (
            pl.DataFrame({"item": ["a", "a"], "category": ["x", "y"]}),
            "the categories, row 2: item 'a' has the categories 'x' and 'y'; an item has one.",
        ),
        (
            pl.DataFrame({"item": ["a"], "kind": ["x"]}),
            "the categories: the columns item and category are needed; the columns are "
            '"item", "kind". '
            "Names understood for the category: category, category_id, class, label, group, "
            "unique.",
        ),
        (
            pl.DataFrame({"item": ["a"], "category": [1.0]}),
            'the categories: column "category" is Float64, but ids must be strings or integers. '
            "Floats come from missing values in pandas, or from ids read as numbers.",
        ),
        ("none.txt", "none.txt: no such file."),
        (
            "three.csv",
            'three.csv, line 2: expected 2 fields, found 3: "b y z".',
        ),
        (
            "one.txt",
            'one.txt, line 1: expected an item and its category, found 1 field: "a". With more '
            "columns, the first line has to name them.",
        ),
        ("bad.json", 'bad.json, line 1: not valid JSON (Expecting value, column 7): "{"a": }".'),
        (
            "list.json",
            "list.json: the category of item 'a' is a list; a category is a text or a whole "
            "number, in {item: category}.",
        ),
        (
            "yes.json",
            "yes.json: the category of item 'a': the id True is of type bool; ids must be texts or "
            "whole numbers.",
        ),
        ("twice.json", 'twice.json, line 1: "a" occurs twice in one object, which ends here.'),
        (
            "latin.txt",
            'latin.txt, line 1: not UTF-8 text: "a \\xe9". Convert the file to UTF-8 first.',
        ),
        (
            "deep.json",
            "deep.json: the JSON is nested too deeply. categories are a dict {item: category}, a "
            "table or a file; JSON is such a dict or table.",
        ),
        (".", ".: is a directory; give a file."),
        ("photo.txt", "photo.txt: this is a PNG image, not categories."),
    ],
)
def test_tables_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("three.csv").write_text("a,x\nb,y,z\n")
    Path("one.txt").write_text("a\n")
    Path("bad.json").write_text('{"a": }')
    Path("latin.txt").write_bytes(b"a \xe9\n")
    Path("deep.json").write_text('{"a": ' * 100_000)
    Path("list.json").write_text('{"a": ["x"]}')
    Path("yes.json").write_text('{"a": true}')
    Path("twice.json").write_text('{"a": "x", "a": "y"}')
    Path("photo.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    with pytest.raises(InputError) as error:
        read_categories(given)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("run", "judgements", "message"),
    [
        (
            {"q": {"a": 1.0, "z1": 1.0, "z2": 0.5}},
            {"q": {"a": 1}},
            "a dict: 2 items have no category in the categories ('z1', 'z2'); give every item "
            "one, if need be its own id.",
        ),
        (
            {"q": {"a": 1.0}},
            {"q": {"z": 1}},
            "the judgements: 1 item has no category in the categories ('z'); give every item one, "
            "if need be its own id.",
        ),
        (
            pl.DataFrame({"query": ["q", "q"], "item": ["a", "a"], "score": [1.0, 2.0]}),
            {"q": {"a": 1}},
            "a data frame, rows 1 and 2: query 'q' has item 'a' more than once. "
            "Remove the repetitions, or keep the best-ranked of each with duplicates='first' "
            "(--duplicates first).",
        ),
        (
            {"q": {"a": float("nan")}},
            {"q": {"a": 1}},
            "a dict, row 1: the score of item 'a' for query 'q' is NaN. "
            "A NaN has no place in a ranking; give it a number or remove the row.",
        ),
    ],
)
def test_runs_that_do_not_fit(run: Any, judgements: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        evaluate(judgements, run, unique={"a": "x"})
    assert str(error.value) == message


def test_repeated_rows_can_be_dropped() -> None:
    run = pl.DataFrame({"query": ["q", "q"], "item": ["a", "a"], "score": [1.0, 2.0]})
    unique = unique_results(run, {"a": "x"}, duplicates="first")
    assert unique.frame.rows() == [("q", "x", 2.0)]


def test_what_was_given_stays_as_it_was() -> None:
    run = read_run(pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "score": [1.0, 2.0]}))
    before = run.frame.clone()
    unique_results(run, {"a": "x", "b": "x"})
    assert run.frame.equals(before)
