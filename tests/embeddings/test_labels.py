"""Labels given with the vectors: items of the same label are relevant, without the query itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged import Embeddings, InputError, evaluate_embeddings
from judged.embeddings.relevance import are_labels, same_label, same_row
from support.dense import hits_of

RANDOM = np.random.default_rng(3)
ITEMS = RANDOM.normal(size=(30, 4))
QUERIES = RANDOM.normal(size=(7, 4))
OF_ITEMS = RANDOM.integers(0, 4, 30)
OF_QUERIES = RANDOM.integers(0, 4, 7)


def test_labels_are_relevance_by_label() -> None:
    wanted = Embeddings(QUERIES, ITEMS).evaluate(same_label(OF_QUERIES, OF_ITEMS), ["AP", "R@1"])
    both = Embeddings(QUERIES, ITEMS, labels=(OF_QUERIES, OF_ITEMS))
    for found in (
        both.evaluate(["AP", "R@1"]),
        both.evaluate(measures=["AP", "R@1"]),
        evaluate_embeddings(QUERIES, ITEMS, (OF_QUERIES, OF_ITEMS), ["AP", "R@1"]),
    ):
        assert found.to_dict() == wanted.to_dict()
    assert both.diagnose().scores is not None
    assert both.evaluate_index(lambda block, k: ([[0]] * len(block), [[0.0]] * len(block)), k=1)


@pytest.mark.parametrize("items", [ITEMS, ITEMS.copy(), ITEMS.tolist()])
def test_queries_that_are_the_items_do_not_find_themselves(items: Any) -> None:
    whole = Embeddings(ITEMS, ITEMS, exclude=same_row())
    wanted = hits_of(whole.rank(same_label(OF_ITEMS, OF_ITEMS)))
    for labels in (OF_ITEMS, OF_ITEMS.tolist(), (OF_ITEMS, OF_ITEMS)):
        both = Embeddings(ITEMS, items, labels=labels)
        assert hits_of(both.rank()) == wanted
        found = evaluate_embeddings(ITEMS, items, labels, "AP")
        assert found.value() == both.evaluate("AP").value()
    assert (
        "excluded from the ranking: the item with the query's own row number" in both.rank().basis
    )


def test_other_vectors_and_other_exclusions_are_left_as_they_are() -> None:
    other = RANDOM.normal(size=ITEMS.shape)
    assert Embeddings(other, ITEMS, labels=OF_ITEMS).exclude is None
    by_row = same_label(np.arange(30) % 2, np.arange(30) % 2)
    assert Embeddings(ITEMS, ITEMS, labels=OF_ITEMS, exclude=by_row).exclude is by_row


def test_errors() -> None:
    with pytest.raises(InputError) as error:
        Embeddings(QUERIES, ITEMS, labels=OF_ITEMS)
    assert str(error.value) == (
        "one sequence of labels is for queries that are the items, but there are 7 queries and 30 "
        "items. Give labels=(query labels, item labels)."
    )
    with pytest.raises(InputError) as error:
        Embeddings(QUERIES, ITEMS).evaluate()
    assert str(error.value) == (
        "nothing says what is relevant. Give relevance, or labels to Embeddings."
    )
    both = Embeddings(QUERIES, ITEMS, labels=(OF_QUERIES, OF_ITEMS))
    with pytest.raises(InputError) as error:
        both.rank({"0": {"0": 1}})
    assert str(error.value) == "the embeddings have labels; leave out relevance, or the labels."


def test_what_labels_are() -> None:
    frame = [("q", "d", 1)]
    for relevance, wanted in (
        (["a", "b"], True),
        (np.arange(3), True),
        ((["a"], ["a", "b"]), True),
        (({"q": 1}, {"d": 1}), True),
        ("qrels.txt", False),
        ({"q": {"d": 1}}, False),
        (frame, False),
        (same_row(), False),
        (np.eye(3), False),
    ):
        assert are_labels(relevance) == wanted
