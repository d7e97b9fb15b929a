"""Unique categories: each category's best item stands for it, in embeddings and in plain runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest

import judged
from judged import Rankings, evaluate, read_run
from judged.embeddings.categories import category_codes, reordered
from judged.errors import InputError
from judged.inputs.keyed import read_categories
from judged.inputs.tables import Run
from judged.inputs.vectors import Vectors, as_vectors
from judged.inputs.vectors.vectors import Lazy
from judged.matching.documents import item_to_category, run_by_document
from judged.options import Ties
from support.dense import as_run, whole_numbers
from support.errors import error_of
from support.loops import for_each
from support.products import rank

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
    queries, items = whole_numbers(rng, 70, 3), whole_numbers(rng, count, 3)
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


def test_an_item_without_a_vector_is_missed_by_itself() -> None:
    found = rank_categories(
        [[1.0]], [[1.0], [1.0]], ["a", "a"], {"0": {"0": 1, "elsewhere": 1, "nowhere": 2}}
    )
    assert found.hit_rank.tolist() == [1]
    assert found.pool_grade.tolist() == [2.0, 1.0, 1.0]


def test_single_rows_in_another_order() -> None:
    items = whole_numbers(np.random.default_rng(1), 9, 3)
    order, rows = np.array([4, 8, 0, 2, 6, 1, 3, 7, 5]), np.array([1, 1, 7, 0])
    lazy = Lazy(items.shape, items.dtype, lambda rows, columns: items[rows, columns])
    for values in (items, lazy):
        gathered = reordered(Vectors(values), order)
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
        (["a", "", None], "the items: vector y has no category; give it one."),
        ([1.0, np.nan, 2.0], "the items: vector y has no category; give it one."),
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


def unique_results(run: Any, table: Any, **options: Any) -> Run:
    return run_by_document(read_run(run), item_to_category(table), **options)


TABLE = [("a", "x"), ("b", "y")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "item,category\na,x\nb,y\n"),
        ("t.tsv", "label\tdocno\nx\ta\ny\tb\n"),
        ("t.txt", "a x\n\nb y\n"),
        ("t.json", '{"a": "x", "b": "y"}'),
    ],
)
def test_tables_from_files(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    table = read_categories(tmp_path / name)
    assert list(read_categories(table).by_item.items()) == TABLE
    frame = pl.DataFrame(TABLE, schema=["item", "category"], orient="row")
    assert list(read_categories(frame).by_item.items()) == TABLE


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"a": None},
            "the categories: the category of item 'a' is missing; give every item one, if need be "
            "its own id.",
        ),
        (5, "categories are a dict {item: category}, a table or a file; got int."),
        (
            pl.DataFrame({"item": ["a", "a"], "category": ["x", "y"]}),
            "the categories, row 2: item 'a' has the category 'x' already, and now 'y'; give it "
            "one.",
        ),
        (
            pl.DataFrame({"item": ["a"], "kind": ["x"]}),
            "the categories: the columns item and category are needed; the columns are "
            '"item", "kind". '
            "Names understood for the category: category, category_id, class, label, group, "
            "unique.",
        ),
    ],
)
def test_tables_that_cannot_be_read(given: Any, message: str) -> None:
    assert error_of(read_categories, given) == message


def test_items_without_a_category() -> None:
    for run, judgements, start in (
        ({"q": {"a": 1.0, "z1": 1.0, "z2": 0.5}}, {"q": {"a": 1}}, "a dict: 2 items have no"),
        ({"q": {"a": 1.0}}, {"q": {"z": 1}}, "the judgements: 1 item has no"),
    ):
        message = error_of(evaluate, judgements, run, unique={"a": "x"})
        assert message.startswith(f"{start} category in the categories (")


def test_repeated_rows_can_be_dropped() -> None:
    run = pl.DataFrame({"query": ["q", "q"], "item": ["a", "a"], "score": [1.0, 2.0]})
    unique = unique_results(run, {"a": "x"}, duplicates="first")
    assert unique.frame.rows() == [("q", "x", 2.0)]


# -- vectors and runs agree


SOME_MEASURES = ["AP", "nDCG", "RR", "P@1", "P@3", "R@2", "Rank"]


def drawn(seed: int) -> tuple[Any, ...]:
    """Whole numbers, so that scores are exact and tie often."""
    random = np.random.default_rng(seed)
    queries, items = whole_numbers(random, 6, 2, 2), whole_numbers(random, 24, 2, 1)
    kinds = random.integers(0, random.integers(2, 12), 24)
    table = {str(item): f"k{kind}" for item, kind in enumerate(kinds)}
    grades = {
        str(query): {
            str(item): int(random.integers(1, 4))
            for item in np.flatnonzero(random.random(24) < 0.25)
        }
        for query in range(6)
    }
    gone = random.random((6, 24)) < (0.2 if seed % 2 else 0.0)
    return queries, items, table, {query: own for query, own in grades.items() if own}, gone


def values(found: judged.Evaluation) -> dict[str, list[float]]:
    frame = found.to_frame(per_query=True).sort("query")
    return {name: frame[name].to_list() for name in frame.columns if name in SOME_MEASURES}


def runs_of(scores: Any, gone: Any) -> dict[str, Any]:
    """The same results in item order, and in the order of a list that was ranked before."""
    lists = as_run(scores, gone)
    ranked = {
        query: dict(sorted(own.items(), key=lambda each: -each[1])) for query, own in lists.items()
    }
    rows = [(query, item, score) for query, own in lists.items() for item, score in own.items()]
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    return {"items in order": lists, "ranked": ranked, "a frame": frame}


@for_each("ties", get_args(Ties))
@for_each("seed", range(12))
def test_vectors_and_runs_rank_categories_alike(ties: str, seed: int) -> None:
    queries, items, table, grades, gone = drawn(seed)
    exclude = {
        str(query): {str(item): 1 for item in np.flatnonzero(own)}
        for query, own in enumerate(gone)
        if own.any()
    }
    policy = {"ties": ties}
    # What is excluded is not there: neither ranked nor asked for.
    left = {
        query: {item: grade for item, grade in own.items() if not gone[int(query), int(item)]}
        for query, own in grades.items()
    }
    expected = None
    for memory in ("1GB", "1MB"):
        search = judged.Embeddings(
            queries,
            items,
            similarity="dot",
            unique=table,
            exclude=judged.relevance.listed(exclude) if exclude else None,
            memory=memory,
        )
        found = values(search.evaluate(left, SOME_MEASURES, policy=policy))
        assert expected is None or found == expected
        expected = found
    for name, run in runs_of(queries @ items.T, gone).items():
        of_run = judged.evaluate(left, run, SOME_MEASURES, policy=policy, unique=table)
        for measure, wanted in values(of_run).items():
            assert expected[measure] == pytest.approx(wanted, nan_ok=True), (name, measure)


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean"])
def test_the_first_k_categories_are_in_the_order_of_a_run(similarity: str) -> None:
    # Item 0 is of A and scores low; items 1 (of B) and 2 (of A) tie at the top: B came first.
    items = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    search = judged.Embeddings([[0.0, 1.0]], items, similarity=similarity, unique=["A", "B", "A"])
    assert list(search.top_k(2, ties="input").to_dict()["0"]) == ["B", "A"]
    evaluation, listed = search.evaluate_and_top_k(
        {"0": {"1": 1}}, "RR", k=2, policy={"ties": "input"}
    )
    assert evaluation.value() == 1.0
    assert list(listed.to_dict()["0"]) == ["B", "A"]


def test_many_queries_and_small_tiles_find_the_same_first_categories() -> None:
    random = np.random.default_rng(4)
    queries, items = whole_numbers(random, 70, 3, 1), whole_numbers(random, 9000, 3, 1)
    kinds = random.integers(0, 500, 9000)
    found = [
        judged.Embeddings(queries, items, similarity="dot", unique=kinds, memory=memory)
        .top_k(40, ties="input")
        .to_dict()
        for memory in ("1GB", "1MB")
    ]
    assert found[0] == found[1]
    scores = queries @ items.T
    for query in range(0, 70, 7):
        order = np.argsort(-scores[query], kind="stable")
        wanted = list(dict.fromkeys(str(kind) for kind in kinds[order]))[:40]
        assert list(found[0][str(query)]) == wanted
