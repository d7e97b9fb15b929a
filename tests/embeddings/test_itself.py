"""Queries that are among the items: warned of, unless they are excluded or are the answer."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judged
from judged import Embeddings, relevance
from judged.errors import JudgedWarning

RANDOM = np.random.default_rng(2)
VECTORS = RANDOM.normal(size=(40, 6)).astype(np.float32)
LABELS = np.arange(40) % 5
SAME = relevance.same_label(LABELS, LABELS)
IDS = [f"i{row}" for row in range(40)]
FIRST = "find themselves first"


def warnings(queries: Any, items: Any, relevant: Any, **options: Any) -> list[str]:
    """Those that are not of ties, which codes and parallel vectors have."""
    found = Embeddings(queries, items, **options).evaluate(relevant, "P@1")
    return [text for text in found.warnings() if not text.startswith("Another order ")]


def test_the_same_vectors_on_both_sides():
    search = Embeddings(VECTORS, VECTORS)
    with pytest.warns(JudgedWarning, match="same_row"):
        found = search.evaluate(SAME, "P@1")
    assert found.value() == 1.0
    expected = (
        "The queries are also items (equal vectors), so they find themselves first and the "
        "numbers are too high. Leave each query out of its own ranking, as with "
        "exclude=judged.relevance.same_row()."
    )
    assert found.warnings() == [expected]
    assert found.to_dict()["warnings"] == [expected]


def some_ways(tmp_path: Path) -> dict[str, tuple[Any, Any]]:
    one, two = tmp_path / "one.npy", tmp_path / "two.npy"
    np.save(one, VECTORS)
    np.save(two, VECTORS)
    return {
        "copies": (VECTORS, VECTORS.copy()),
        "one file": (str(one), str(one)),
        "two files": (str(one), str(two)),
        "file and array": (str(one), VECTORS),
        "other precision": (VECTORS.astype(np.float64), VECTORS),
        "other order in memory": (VECTORS, np.asfortranarray(VECTORS)),
        "lists": (VECTORS.tolist(), VECTORS),
    }


def test_however_they_are_given(tmp_path):
    for way, (queries, items) in some_ways(tmp_path).items():
        assert any("same_row()" in text for text in warnings(queries, items, SAME)), way


def test_some_of_the_items_as_queries():
    some = np.arange(3, 33, 3)
    own = relevance.same_label(LABELS[some], LABELS)
    given = {"query_ids": [IDS[row] for row in some], "item_ids": IDS}
    (said,) = warnings(VECTORS[some], VECTORS, own, **given)
    assert "same_id()" in said
    assert not warnings(VECTORS[some], VECTORS, own, **given, exclude=relevance.same_id())
    # Without ids, or in another order: the vectors alone say it, and rows do not help.
    (said,) = warnings(VECTORS[some], VECTORS, own)
    assert "relevance.listed(pairs)" in said
    (said,) = warnings(VECTORS[some], VECTORS, own, exclude=relevance.same_row())
    assert FIRST in said
    turned = relevance.same_label(LABELS[::-1], LABELS)
    (said,) = warnings(VECTORS[::-1], VECTORS, turned)
    assert FIRST in said
    # The first rows of the items are in their own rows.
    first = relevance.same_label(LABELS[:9], LABELS)
    (said,) = warnings(VECTORS[:9], VECTORS, first)
    assert "same_row()" in said


@pytest.mark.parametrize(
    "exclude",
    [
        relevance.same_row(),
        [relevance.same_row(), relevance.listed({"0": {"1": 1}})],
        relevance.same_label(IDS, IDS),
        {str(row): {str(row): 1} for row in range(40)},
    ],
    ids=["row", "several", "labels", "listed"],
)
def test_what_is_excluded_is_not_warned_of(exclude):
    assert not warnings(VECTORS, VECTORS, SAME, exclude=exclude)


def test_some_that_are_left_are_counted():
    exclude = {str(row): {str(row): 1} for row in range(37)}
    (said,) = warnings(VECTORS, VECTORS, SAME, exclude=exclude)
    assert said.startswith("3 of 40 queries are also items")


def test_where_the_query_itself_is_the_answer_there_is_no_warning():
    assert not warnings(VECTORS, VECTORS, relevance.pairs())
    ids = {"query_ids": IDS, "item_ids": IDS}
    assert not warnings(VECTORS, VECTORS, relevance.same_id(), **ids)
    assert not warnings(VECTORS, VECTORS, relevance.same_label(IDS, IDS))
    assert not warnings(VECTORS, VECTORS, {name: {name: 1} for name in IDS}, **ids)


def test_vectors_that_only_double_precision_tells_apart_are_others():
    left = 5e6 + np.random.default_rng(4).random((40, 6)) / 100
    right = 5e6 + np.random.default_rng(5).random((40, 6)) / 100
    assert (left.astype(np.float32) == right.astype(np.float32)).all()
    assert not warnings(left, right, SAME)
    assert FIRST in warnings(left, left.copy(), SAME)[0]


def test_other_vectors_are_not_warned_of():
    other = RANDOM.normal(size=VECTORS.shape)
    assert not warnings(other, VECTORS, SAME)
    # Codes of a few bits meet by chance: several items have a query's.
    codes = RANDOM.integers(1, 3, (40, 3)).astype(np.float32)
    assert not warnings(codes[::-1], codes, relevance.same_label(LABELS[::-1], LABELS))
    few = other.copy()
    few[:7] = VECTORS[:7]  # may be by chance
    assert not warnings(few, VECTORS, SAME)
    codes = RANDOM.integers(0, 2, (400, 4))
    labels = np.arange(400) % 5
    same = relevance.same_label(labels, labels)
    assert not warnings(codes + 0.0, np.roll(codes, 1, axis=0) + 0.0, same, similarity="dot")


def test_some_queries_that_are_items():
    other = RANDOM.normal(size=(60, 6)).astype(np.float32)
    labels = np.arange(60) % 5
    same = relevance.same_label(labels, LABELS)
    ids = {"query_ids": [f"q{row}" for row in range(60)], "item_ids": IDS}
    for count in (8, 30):
        rows = {"row": np.arange(count), "elsewhere": np.arange(count)[::-1] + 5}
        for way, own in rows.items():
            mixed, at = other.copy(), np.arange(count) + (20 if way == "elsewhere" else 0)
            mixed[at] = VECTORS[own]
            (said,) = warnings(mixed, VECTORS, same)
            assert said.startswith(f"{count} of 60 queries are also items")
            assert "exclude=judged.relevance.same_id()" in said
            assert "same_row" not in said
            gone = {str(query): {str(item): 1} for query, item in zip(at, own, strict=True)}
            assert not warnings(mixed, VECTORS, same, exclude=gone)
    mixed = other.copy()
    mixed[20:50] = VECTORS[:30]
    named = {**ids, "query_ids": [f"i{row - 20}" for row in range(20)] + IDS}
    (said,) = warnings(mixed, VECTORS, same, **named)
    assert said.startswith("30 of 60 queries")
    assert "exclude=judged.relevance.same_id()" in said
    # What is judged relevant, or a pair, is meant to be found.
    judgements = {f"q{row}": {IDS[(row - 20) % 40]: 1} for row in range(60)}
    assert not warnings(mixed, VECTORS, judgements, **ids)
    judgements = {f"q{row}": {IDS[(row - 19) % 40]: 1} for row in range(60)}
    assert len(warnings(mixed, VECTORS, judgements, **ids)) == 1
    assert not warnings(np.concatenate([VECTORS[:30], other[:10]]), VECTORS, relevance.pairs())


def test_categories_normalised_scores_both_ways_and_an_index_are_warned_of():
    assert FIRST in warnings(VECTORS, VECTORS, SAME, unique=IDS)[0]
    assert FIRST in warnings(VECTORS, VECTORS, SAME, normalise="csls")[0]
    search = Embeddings(VECTORS, VECTORS)
    assert len(search.evaluate(SAME, "P@1", both=True).warnings()) == 1

    def index(block: Any, k: int) -> tuple[Any, Any]:
        scores = block @ (VECTORS / np.linalg.norm(VECTORS, axis=1)[:, None]).T
        return np.argsort(-scores, axis=1)[:, :k], -np.sort(-scores, axis=1)[:, :k]

    assert FIRST in search.evaluate_index(index, SAME, "P@1", k=3).warnings()[0]
    assert FIRST in search.evaluate_and_top_k(SAME, "P@1", k=3)[0].warnings()[0]


def test_judgements_without_the_query_itself_are_warned_of_too():
    # The query stands first, unjudged, and all others one rank too low.
    qrels = {IDS[row]: {IDS[(row + 5) % 40]: 1} for row in range(40)}
    found = judged.Embeddings(VECTORS, VECTORS, query_ids=IDS, item_ids=IDS)
    assert FIRST in found.evaluate(qrels, "P@1").warnings()[0]
