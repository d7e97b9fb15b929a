"""An index against the exact search: faiss and usearch, functions, and what may go wrong."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from judged import evaluate_embeddings
from judged.embeddings import product
from judged.embeddings.relevance import same_label, same_row
from judged.errors import InputError, PolicyError
from support.products import evaluate_index

MEASURES = ["nDCG@10", "R@20", "RR", "AP"]

Case = tuple[np.ndarray, np.ndarray, Any]


def quietly(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


@pytest.fixture(scope="module")
def case() -> Case:
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((20, 16))
    of_queries, of_items = rng.integers(0, 20, 70), rng.integers(0, 20, 3000)
    queries, items = (
        (centres[labels] + rng.standard_normal((len(labels), 16))).astype(np.float32)
        for labels in (of_queries, of_items)
    )
    queries, items = (
        each / np.linalg.norm(each, axis=1, keepdims=True) for each in (queries, items)
    )
    return queries, items, same_label(of_queries, of_items)


def brute(items: np.ndarray) -> Any:
    """An index that is exact, as a function."""

    def find(block: np.ndarray, k: int) -> tuple[Any, Any]:
        scores = block @ items.T
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(scores, order, axis=1)

    return find


def test_the_exact_row_is_the_evaluation_of_all_ranks_cut_at_k(case: Case) -> None:
    cut = ["nDCG@10", "R@20", "RR@20", "AP@20", "P@20"]
    result = evaluate_index(brute(case[1]), *case, k=20, measures=cut)
    whole = evaluate_embeddings(*case, measures=cut)
    for measure in cut:
        assert result.evaluation.value(measure, "exact@20") == pytest.approx(
            whole.value(measure), abs=1e-12
        )


def test_a_lossy_faiss_index_loses(case: Case) -> None:
    faiss = quietly("faiss")
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(16), 16, 40, faiss.METRIC_INNER_PRODUCT)
    index.train(case[1])
    index.add(case[1])
    index.nprobe = 1
    result = evaluate_index(index, *case, k=50, measures=MEASURES)
    own = index.search(case[0], 50)[1]
    exact = np.argsort(-(case[0] @ case[1].T), axis=1)[:, :50]
    by_hand = [len(set(row) & set(best)) / 50 for row, best in zip(own, exact, strict=True)]
    assert 0 < result.recall < 1
    assert result.per_query_recall == pytest.approx(by_hand)
    for measure in MEASURES:
        exact_value, own_value = (
            result.evaluation.value(measure, name) for name in ("exact@50", "index@50")
        )
        assert result.loss[measure] == exact_value - own_value != 0


def test_faiss_marks_missing_items_with_minus_one(case: Case) -> None:
    faiss = quietly("faiss")
    index = faiss.IndexFlatIP(16)
    index.add(case[1][:30])
    result = evaluate_index(index, *case, k=100, measures=["R@100"])
    assert result.evaluation.runs[1].rankings.retrieved.tolist() == [30] * 70
    assert result.evaluation.runs[1].audit.notes == (
        "The index holds 30 items, the exact search was over 3,000: it cannot find those it lacks, "
        "which changes its numbers. Build the index from the same items.",
    )
    assert f"index@100: {result.evaluation.runs[1].audit.notes[0]}" in result.warnings()
    assert result.evaluation.runs[0].audit.notes == ()


def test_usearch_with_fewer_items_than_k() -> None:
    library = quietly("usearch.index")
    index = library.Index(ndim=4, metric="cos", dtype="f32")
    vectors = np.eye(4, dtype=np.float32)
    index.add(np.arange(4) + 100, vectors)
    for queries in (vectors, vectors[:1]):
        relevant = same_label(np.arange(len(queries)), np.arange(4))
        result = evaluate_index(
            index, queries, vectors, relevant, k=9, keys=np.arange(4) + 100, measures=["RR"]
        )
        assert result.recall == 1.0
        assert result.evaluation.value("RR", "index@4") == 1.0
        assert result.evaluation.runs[1].rankings.retrieved.tolist() == [4] * len(queries)


def test_texts_are_item_ids_and_rows_may_differ_in_length() -> None:
    def find(block: np.ndarray, k: int) -> Any:
        return [["b", "a"] if query[0] else ["c"] for query in block], None

    relevant = {"0": {"a": 1}, "1": {"b": 1}}
    result = evaluate_index(
        find, np.eye(2, 3), np.eye(3), relevant, item_ids=["a", "b", "c"], k=2, measures=["RR"]
    )
    assert result.evaluation.scored("index@2").values[result.evaluation.measure()].tolist() == [
        0.5,
        0.0,
    ]
    # For each query one item scores 1, the other two 0: a 0 is as good as another in the second
    # place.
    assert result.per_query_recall.tolist() == [1.0, 0.5]


def test_whichever_of_tied_items_is_returned_counts_as_found() -> None:
    def last(block: np.ndarray, k: int) -> Any:
        return np.tile(np.arange(99, 99 - k, -1), (len(block), 1)), None

    relevant = same_label([0, 0], np.arange(100))
    for policy in ({"ties": "id"}, {"ties": "input"}):
        assert (
            evaluate_index(
                last, np.ones((2, 2)), np.ones((100, 2)), relevant, k=5, policy=policy
            ).recall
            == 1.0
        )


def test_excluded_items_are_taken_out_of_the_lists(case: Case) -> None:
    _, items, _ = case
    labels = np.arange(3000) // 3
    exclude = [same_row(), same_label(np.arange(70) % 5, np.arange(3000) % 1500)]
    result = evaluate_index(
        brute(items), items[:70], items, same_label(labels[:70], labels), k=20, exclude=exclude
    )
    assert result.recall == 1.0
    assert set(result.loss.values()) == {0.0}
    assert result.evaluation.runs[1].rankings.retrieved.tolist() == [20] * 70


@pytest.mark.parametrize("height", [1, 3, 69])
def test_where_queries_are_cut_into_blocks_changes_nothing(
    case: Case, monkeypatch: pytest.MonkeyPatch, height: int
) -> None:
    """The index looks at so many items as it is asked for, as HNSW does, and has None for what it
    does not find."""
    queries, items, _ = case

    def find(block: np.ndarray, k: int) -> Any:
        looked, asked = np.arange(0, 3000, max(1, 3000 // (3 * k))), block[:, :1] > 0
        best = looked[np.argsort(-(block @ items[looked].T), axis=1, kind="stable")[:, :k]]
        return [
            list(row) if whole else [*row[:5].tolist(), None]
            for row, whole in zip(best, asked, strict=True)
        ], None

    labels = np.arange(3000) // 3
    exclude = same_label(np.arange(70) % 9, np.minimum(np.arange(3000) // 11, 8))

    def result() -> Any:
        found = evaluate_index(
            find,
            queries,
            items,
            same_label(labels[:70], labels),
            k=20,
            exclude=exclude,
            measures=MEASURES,
        )
        return (
            found.per_query_recall.tolist(),
            found.evaluation.runs[1].rankings.retrieved.tolist(),
            found.loss,
        )

    before = result()
    shape = product._shape
    monkeypatch.setattr(product, "_shape", lambda *given: (height, shape(*given)[1]))
    assert result() == before


def test_numbers_are_rows_whatever_stands_beside_them() -> None:
    def find(block: np.ndarray, k: int) -> Any:
        return [[1, None] if query[0] else ["a", 2] for query in block], None

    arguments = (np.eye(2, 3), np.eye(3), {"0": {"b": 1}, "1": {"c": 1}})
    result = evaluate_index(find, *arguments, item_ids=["a", "b", "c"], k=2, measures=["RR"])
    assert result.evaluation.scored("index@2").values[result.evaluation.measure()].tolist() == [
        1.0,
        0.5,
    ]
    with pytest.raises(InputError) as error:
        evaluate_index(
            lambda block, k: ([[None, 3]] * len(block), None),
            *arguments,
            item_ids=["a", "b", "c"],
            k=2,
        )
    assert str(error.value) == (
        "the index returned item 3 for query '0', but items are numbered from 0 to 2; "
        "if its numbers are keys of its own, give keys, one for each item."
    )


def test_numbers_may_be_the_ids_of_items(case: Case) -> None:
    faiss, usearch = quietly("faiss"), quietly("usearch.index")
    queries, items, relevance = case
    count, wrong = len(items), []
    for name, ids in {
        "from 1": np.arange(1, count + 1),
        "backwards": np.arange(count)[::-1],
        "turned": np.roll(np.arange(count), 1),
        "others": np.random.default_rng(1).permutation(10**6)[:count],
        "half": np.arange(count) + count // 2,
    }.items():
        by_map = faiss.IndexIDMap(faiss.IndexFlatIP(16))
        by_map.add_with_ids(items, ids)
        by_key = usearch.Index(ndim=16, metric="ip", dtype="f32")
        by_key.add(ids, items)
        by_row = faiss.IndexFlatIP(16)
        by_row.add(items)

        def find(block: np.ndarray, k: int, ids: Any = ids) -> Any:
            rows, scores = brute(items)(block, k)
            return ids[rows].tolist(), scores

        for kind, index, are_ids in (
            ("faiss", by_map, True),
            ("usearch", by_key, True),
            ("function", find, True),
            ("rows", by_row, False),
            ("rows of a function", brute(items), False),
        ):
            options = {"item_ids": ids.tolist(), "k": 20, "measures": ["RR"]}
            result = evaluate_index(index, queries, items, relevance, **options)
            noted = "The numbers that the index returns were taken for ids of items."
            if result.recall < 0.9 or (noted in result.evaluation.runs[1].audit.notes) != are_ids:
                wrong.append((name, kind, result.recall))
    assert not wrong


@pytest.mark.parametrize("count", [1, 2, 70])
def test_the_order_tells_ids_from_rows_where_lists_hold_all_items(case: Case, count: int) -> None:
    queries, items = case[0][:count], case[1][:50]
    labels = np.arange(50) % 5
    relevance = same_label(labels[np.arange(count) % 50], labels)
    ids = np.random.default_rng(3).permutation(50)

    def by_id(block: np.ndarray, k: int) -> Any:
        rows, scores = brute(items)(block, k)
        return ids[rows].tolist(), scores

    for index in (by_id, brute(items)):
        for k in (50, 80):
            options: dict[str, Any] = {"item_ids": ids, "k": k, "measures": ["AP"]}
            result = evaluate_index(index, queries, items, relevance, **options)
            notes = result.evaluation.runs[1].audit.notes
            assert any("taken for ids" in note for note in notes) == (index is by_id)
            assert result.loss["AP"] == 0


def test_numbers_that_may_be_rows_or_ids_are_refused(case: Case) -> None:
    queries, items, relevance = case
    rng = np.random.default_rng(2)

    def careless(block: np.ndarray, k: int) -> Any:
        return [rng.permutation(2000)[:k].tolist() for _ in block], None

    options: dict[str, Any] = {"item_ids": np.arange(3000)[::-1], "k": 5, "measures": ["RR"]}
    with pytest.raises(InputError) as error:
        evaluate_index(careless, queries, items, relevance, **options)
    assert str(error.value) == (
        "the index returns numbers that could be ids of items or their row numbers; give keys, "
        "what the index calls each item: keys=item_ids for ids, or keys=range(number of items) "
        "for rows."
    )
    evaluate_index(careless, queries, items, relevance, keys=range(3000), **options)


def test_an_index_of_another_metric(case: Case) -> None:
    faiss, usearch = quietly("faiss"), quietly("usearch.index")
    queries, unit, relevance = case
    items = unit * np.random.default_rng(1).uniform(0.5, 2, (len(unit), 1)).astype(np.float32)
    indexes = {
        "dot": faiss.IndexFlatIP(16),
        "euclidean": faiss.IndexFlatL2(16),
        "cosine": usearch.Index(ndim=16, metric="cos", dtype="f32"),
    }
    normalised = faiss.IndexFlatIP(16)
    normalised.add(unit)
    wrong = []
    for own, index in indexes.items():
        index.add(*((np.arange(len(items)), items) if own == "cosine" else (items,)))
        for name in ("dot", "euclidean", "cosine", "manhattan"):
            options: Any = {"k": 5, "similarity": name, "measures": ["RR"]}
            said = evaluate_index(index, queries, items, relevance, **options).warnings()
            expected = [f"index@5: The index ranks by {own}"] if own != name else []
            if [text.partition(",")[0] for text in said] != expected:
                wrong.append((own, name, said))
    # Vectors that were normalised before they were added rank by cosine.
    options = {"k": 5, "measures": ["RR"]}
    assert not evaluate_index(normalised, queries, items, relevance, **options).warnings()
    assert not wrong
    result = evaluate_index(indexes["euclidean"], queries, items, relevance, **options)
    assert result.warnings() == [
        "index@5: The index ranks by euclidean, the exact search by cosine: its recall and loss "
        "show this difference too, unless all its vectors have one length. Choose the similarity "
        "euclidean, or build the index for cosine."
    ]


def test_a_loss_is_above_0_also_where_less_is_better() -> None:
    def find(block: np.ndarray, k: int) -> Any:
        return [[1] if query[0] else [0] for query in block], None

    result = evaluate_index(
        find, np.eye(2), np.eye(2), same_label([0, 1], [0, 1]), k=1, measures=["FP@1", "P@1"]
    )
    assert result.loss == {"FP@1": 2.0, "P@1": 1.0}  # FP is a count over all queries


def test_nothing_to_find_is_no_recall() -> None:
    def find(block: np.ndarray, k: int) -> Any:
        return np.full((len(block), k), -1), None

    everything = {"0": {"0": 1, "1": 1}}
    result = evaluate_index(
        find,
        np.ones((2, 1)),
        np.ones((2, 1)),
        {"0": {"0": 1}, "1": {"1": 1}},
        k=2,
        exclude=everything,
        measures=["RR"],
    )
    assert np.isnan(result.per_query_recall).tolist() == [True, False]
    assert result.recall == 0.0


def test_text_and_dict() -> None:
    def find(block: np.ndarray, k: int) -> Any:
        return [[1, 0]] * len(block), None

    result = evaluate_index(
        find, np.eye(2), np.eye(2), same_label([0, 1], [0, 1]), k=1, measures=["RR", "Bpref"]
    )
    assert repr(result).splitlines()[0].split() == ["run", "RR", "Bpref"]
    assert repr(result).splitlines()[3].split() == ["loss", "0.5000", "0.5000"]
    assert result.to_text().splitlines()[-2] == (
        "Recall of the index: 0.5000 of the exact first 1. For the worst 5 % of the queries it is "
        "at most 0.0000."
    )
    whole = result.to_dict(per_query=True)
    assert {name: whole[name] for name in ("k", "recall", "loss", "per_query_recall")} == {
        "k": 1,
        "recall": 0.5,
        "loss": {"RR": 0.5, "Bpref": 0.5},
        "per_query_recall": {"0": 0.0, "1": 1.0},
    }
    assert whole["evaluation"]["runs"][1]["name"] == "index@1"
    assert "per_query_recall" not in result.to_dict()


def answering(answer: Any) -> Any:
    return lambda block, k: answer


class Odd:
    d = 3

    def search(self, block: np.ndarray, k: int) -> Any:
        return "nothing"


class Unknown(Odd):
    d = 2


@pytest.mark.parametrize(
    ("index", "options", "message"),
    [
        (
            answering(([[0, 5], [0, 1]], None)),
            {},
            "the index returned item 5 for query 'p', but items are numbered from 0 to 1; "
            "if its numbers are keys of its own, give keys, one for each item.",
        ),
        (
            answering(([[0, 1], [1, 1]], None)),
            {},
            "the index returned item 'b' for query 'q' twice.",
        ),
        (
            answering(([["a"], ["x"]], None)),
            {},
            "the index returned 'x' for query 'q', which is not the id of an item.",
        ),
        (
            answering(([[7], [9]], None)),
            {"keys": [7, 8]},
            "the index returned 9 for query 'q', which is not the key of an item.",
        ),
        (
            answering(([[0]], None)),
            {"keys": [7]},
            "keys: 1 keys for 2 items; the numbers must match.",
        ),
        (answering(([[0]], None)), {"keys": [0, 0]}, "keys: the key 0 occurs more than once."),
        (
            answering((np.arange(2), None)),
            {},
            "the index returned shape (2,) for 2 queries; it must return a matrix, one row per "
            "query, the best item first.",
        ),
        (
            answering(5),
            {},
            "the index returned int; wrap it in a function of (vectors, k) that returns (items, "
            "scores).",
        ),
        (
            Unknown(),
            {},
            "the index returned str; wrap it in a function of (vectors, k) that returns (items, "
            "scores).",
        ),
        (
            Odd(),
            {},
            "the index has 3 dimensions, the queries have 2; the numbers must match. Was it "
            "built from these vectors?",
        ),
        (5, {}, "an index has a search(vectors, k), or is a function of (vectors, k); got int."),
        (answering(([[0], [0]], None)), {"k": 0}, "k must be a whole number from 1; got 0."),
        (
            answering(([[0], [0]], None)),
            {"relevance": same_label([5, 6], [1, 2])},
            "no item is relevant to any query; check the relevance that was given.",
        ),
    ],
)
def test_what_an_index_may_not_do(index: Any, options: dict[str, Any], message: str) -> None:
    given = {"relevance": same_label([0, 1], [0, 1]), "k": 2, **options}
    with pytest.raises(InputError) as error:
        evaluate_index(
            index, np.eye(2), np.eye(2), query_ids=["p", "q"], item_ids=["a", "b"], **given
        )
    assert str(error.value) == message


def test_policies_without_meaning() -> None:
    given = answering(None), np.eye(2), np.eye(2), same_label([0, 1], [0, 1])
    for policy in ({"unjudged": "removed"}, {"ties": "worst"}):
        with pytest.raises(PolicyError, match=r"unjudged=removed|got 'worst'"):
            evaluate_index(*given, policy=policy)
