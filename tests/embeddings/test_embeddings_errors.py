"""What cannot be ranked is refused, and the message says what was wrong, what was given and what to
do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from judged import evaluate_embeddings
from judged.embeddings.normalisation import as_normalisation
from judged.embeddings.relevance import listed, pairs, revisited, same_id, same_label, shared_label
from judged.errors import MeasureError, PolicyError
from support.errors import error_of
from support.loops import for_each
from support.products import rank, top_k

TWO, THREE = np.eye(2), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
PAIRS = {"0": {"0": 1}, "1": {"1": 1}}
TOO_LARGE = (
    "the numbers of the queries and the items are so large that a score would overflow; divide "
    "all of them by the same number."
)


def spoiled(value: float, *rows: int, count: int = 6) -> Any:
    vectors = np.ones((count, 2))
    vectors[list(rows), 1] = value
    return vectors


def ranked(
    queries: Any = TWO, items: Any = THREE, relevance: Any = PAIRS, **options: Any
) -> Callable[[], Any]:
    return lambda: rank(queries, items, relevance, **options)


ERRORS: dict[str, tuple[Callable[[], Any], str]] = {
    # vectors
    "dimensions": (
        ranked(items=np.ones((3, 5))),
        "the queries have 2 dimensions but the items have 5; the numbers must match. Do they come "
        "from the same model?",
    ),
    "NaN": (
        ranked(items=spoiled(np.nan, 4)),
        "the items: vectors 4 hold NaN or infinite numbers; remove or fix them.",
    ),
    "infinite": (
        ranked(queries=spoiled(-np.inf, 0, 1, 3, 5)),
        "the queries: vectors 0, 1, 3, … hold NaN or infinite numbers; remove or fix them.",
    ),
    "NaN by id": (
        ranked(items=spoiled(np.nan, 1, 2, count=3), item_ids=["a", "b", "c"]),
        "the items: vectors b, c hold NaN or infinite numbers; remove or fix them.",
    ),
    "zero item": (
        ranked(items=[[1.0, 0.0], [0.0, 0.0]]),
        "the items: vector 1 is all zeros, so it has no direction and no cosine; remove it, or "
        "choose another similarity.",
    ),
    "zero query": (
        ranked(queries=[[1.0, 0.0], [0.0, 0.0]], query_ids=["p", "q"], relevance={"p": {"1": 1}}),
        "the queries: vector q is all zeros, so it has no direction and no cosine; remove it, or "
        "choose another similarity.",
    ),
    "one vector": (
        ranked(queries=np.ones(2)),
        "the queries: vectors must be a matrix with one row each; got an array of shape (2,). "
        "For a single vector give a matrix of one row, such as x[None, :].",
    ),
    "no vector": (ranked(items=np.ones((0, 2))), "the items: there are no vectors in it."),
    "repeated ids": (
        ranked(item_ids=["a", "b", "a"]),
        "the items: the id 'a' occurs more than once.",
    ),
    "number of ids": (
        ranked(item_ids=["a"]),
        "the items: there are 1 ids for 3 vectors; the numbers must match.",
    ),
    **{
        f"dims {dims!r}": (
            ranked(dims=dims),
            f"the queries: dims must be a whole number from 1 to 2; got {dims!r}.",
        )
        for dims in (0, 3, -1, 1.0, True, "2")
    },
    # similarity
    "unknown similarity": (
        ranked(similarity="cosin"),
        "Unknown similarity 'cosin'; did you mean 'cosine'? Choose one of cosine, dot, "
        "euclidean, manhattan, hamming, hamming-packed.",
    ),
    "no similarity": (
        ranked(similarity=None),
        "a similarity must be a name, a matrix of finite numbers, or a function of two blocks; got "
        "None.",
    ),
    "matrix of another shape": (
        ranked(similarity=np.ones((3, 2))),
        "the matrix of the bilinear similarity is 3 × 2, but queries have 2 dimensions and items "
        "have 2.",
    ),
    "matrix of texts": (
        ranked(similarity=[["a", "b"], ["c", "d"]]),
        "a similarity must be a name, a matrix of finite numbers, or a function of two blocks; got "
        "[['a', 'b'], ['c', 'd']].",
    ),
    "function of another shape": (
        ranked(similarity=lambda queries, items: items @ queries.T),
        "the similarity function returned float64 of shape (3, 2) for 2 queries and 3 items; it "
        "must return numbers of shape (2, 3).",
    ),
    **{
        f"function with {value}": (
            ranked(similarity=lambda queries, items, value=value: np.full((2, 3), value)),
            "the similarity function returned scores that are NaN, infinite or too large. Use "
            "exclude for items that should not be ranked.",
        )
        for value in (np.nan, -np.inf)
    },
    # overflow
    "dot overflow": (ranked(TWO * 1e200, THREE * 1e200, similarity="dot"), TOO_LARGE),
    "euclidean overflow": (ranked(TWO * 1e200, -THREE * 1e200, similarity="euclidean"), TOO_LARGE),
    "euclidean overflow of a difference": (
        ranked(-TWO * 1e308, THREE * 1e308, similarity="euclidean"),
        TOO_LARGE,
    ),
    "bilinear overflow": (ranked(TWO * 1e200, THREE, similarity=np.eye(2) * 1e200), TOO_LARGE),
    "bilinear overflow with zeros": (
        ranked(TWO * 1e200, THREE * 0, similarity=np.eye(2) * 1e200),
        TOO_LARGE,
    ),
    "manhattan overflow": (
        ranked(TWO * 1e308, THREE * 1e308, similarity="manhattan"),
        TOO_LARGE,
    ),
    # relevance
    "number of labels": (
        ranked(relevance=same_label(["a"], ["a", "b", "c"])),
        "the queries: labels have shape (1,); one is needed for each of the 2 vectors.",
    ),
    "labels in a matrix": (
        ranked(relevance=same_label([1, 2], np.ones((3, 2)))),
        "the items: labels have shape (3, 2); one is needed for each of the 3 vectors.",
    ),
    "texts and numbers": (
        ranked(relevance=same_label(["1", "2"], [1, 2, 3])),
        "the labels of queries are texts but those of items are numbers. Make both texts or both "
        "numbers.",
    ),
    "fractions": (
        ranked(relevance=same_label([1, 2], [1.0, 1.5, 2.0])),
        "the items: labels are floating-point numbers; give whole numbers or texts.",
    ),
    "floats that are not exact": (
        ranked(relevance=same_label([1, 2], [1.0, 2.0**53, 2.0])),
        "the items: labels are floating-point numbers; give whole numbers or texts.",
    ),
    "missing label": (
        ranked(relevance=same_label(["a", None], ["a", "b", "c"])),
        "the queries: vector 1 has no label; give it one.",
    ),
    "missing label of a frame": (
        ranked(relevance=same_label([1, 2], pd.Series([1, 2, pd.NA]))),
        "the items: vector 2 has no label; give it one.",
    ),
    "number of lists of labels": (
        ranked(relevance=shared_label([["a"]], [["a"], ["b"], ["a"]])),
        "the queries: 1 lists of labels for 2 vectors; the numbers must match.",
    ),
    "texts for lists of labels": (
        ranked(relevance=shared_label([["cat"], ["dog"]], ["cat", "cow", "tiger"])),
        "the items: 'cat' is one text, not a list of labels; give a list for each vector, or use "
        "judged.relevance.same_label(…).",
    ),
    "pairs": (
        ranked(relevance=pairs()),
        "pairs need as many queries as items, but there are 2 queries and 3 items. For several "
        "queries per item, use labels.",
    ),
    "function of relevance": (
        ranked(relevance=lambda begin, end: np.ones((3, 2))),
        "the relevance function returned float64 of shape (3, 2) for queries 0 to 1; it must "
        "return numbers of shape (2, 3).",
    ),
    "function of relevance with NaN": (
        ranked(relevance=lambda begin, end: np.full((end - begin, 3), np.nan)),
        "the relevance function returned NaN or infinite grades for queries 0 to 1.",
    ),
    "nothing relevant": (
        ranked(relevance=same_label([1, 2], [3, 4, 5])),
        "no item is relevant to any query; check the relevance that was given.",
    ),
    "no query in common": (
        ranked(relevance={"a": {"0": 1}, "b": {"1": 1}}),
        "the judgements and the queries have no query in common: the judgements have 'a', 'b', "
        "the vectors have '0', '1', row numbers; give query_ids.",
    ),
    "no query in common with the junk": (
        ranked(exclude=listed({"a": {"0": 1}}), query_ids=["0", "1"]),
        "the exclusion list and the queries have no query in common: the exclusion list has 'a', "
        "the vectors have '0', '1'.",
    ),
    "no ids": (
        ranked(exclude=same_id(), query_ids=["0", "1"]),
        "same_id needs ids on both sides. Give query_ids and item_ids, or use same_row.",
    ),
    "protocol": (
        lambda: revisited([], "simple"),
        "protocol must be one of easy, medium, hard; got 'simple'.",
    ),
    "lists of another length": (
        ranked(relevance=revisited([{"easy": [0]}])[0]),
        "relevant: 1 lists for 2 queries; the numbers must match.",
    ),
    "no such item": (
        ranked(relevance=revisited([{"easy": [0]}, {"hard": [3]}])[0]),
        "relevant: item 3 does not exist; item numbers go from 0 to 2.",
    ),
    # options
    **{
        f"memory {memory!r}": (
            ranked(memory=memory),
            f"memory must be a size such as '500MB' or '2GB'; got {memory!r}.",
        )
        for memory in ("much", "", "GB", "5XB", "1GBB", "nan", "inf", None)
    },
    **{
        f"memory {memory!r}": (
            ranked(memory=memory),
            f"memory must be at least 1MB; got {memory!r}.",
        )
        for memory in ("999KB", 0, -5, "-1GB")
    },
    **{
        f"k {k!r}": (
            lambda k=k: top_k(TWO, THREE, k),
            f"k must be a whole number from 1; got {k!r}.",
        )
        for k in (0, -3, 1.5, "3", None, True)
    },
    "both with unique": (
        lambda: evaluate_embeddings(TWO, THREE, PAIRS, both=True, unique=["a", "b", "c"]),
        "unique ranks categories of items, so items cannot search queries. Leave out unique or "
        "both.",
    ),
    "both with a bank": (
        lambda: evaluate_embeddings(
            TWO, THREE, PAIRS, both=True, normalise=as_normalisation("csls(k=99)", bank=TWO)
        ),  # refused before it is fitted
        "the bank of csls(bank=2 vectors, k=99) holds queries, but the items' search for queries "
        "would need one of items. Evaluate each direction alone, with its own bank.",
    ),
}


@for_each("name", ERRORS)
def test_messages(name: str) -> None:
    call, message = ERRORS[name]
    assert error_of(call) == message


def test_a_fault_in_the_last_block_is_found_too() -> None:
    queries = spoiled(np.nan, 149, count=150)
    assert error_of(
        rank, queries, np.ones((9000, 2)), {"0": {"0": 1}}, similarity="dot", memory="1MB"
    ) == ("the queries: vectors 149 hold NaN or infinite numbers; remove or fix them.")


def test_unjudged_items_cannot_be_removed() -> None:
    assert error_of(rank, TWO, THREE, PAIRS, error=PolicyError, policy={"unjudged": "removed"}) == (
        "unjudged=removed is not supported for embeddings: every item is ranked, and only "
        "relevant ones are known."
    )


def test_a_judged_query_without_a_vector_can_be_an_error() -> None:
    assert error_of(
        evaluate_embeddings,
        TWO,
        THREE,
        {**PAIRS, "9": {"1": 1}},
        error=PolicyError,
        policy={"missing": "error"},
        name="mine",
    ) == (
        "mine lacks 1 of 3 judged queries (9), and missing=error says to stop; "
        "missing=zero counts them as empty, missing=skip leaves them out."
    )


def test_nothing_is_unjudged_where_every_item_has_a_label() -> None:
    ranked = rank(TWO, THREE, same_label([0, 1], [0, 1, 1]))
    assert error_of(ranked.evaluate("AP").unjudged_range, "AP", error=PolicyError) == (
        "an unjudged range has no meaning for embeddings: every item is judged, and only relevant "
        "ones are listed. Leave it out."
    )


def test_measures_that_ask_who_was_judged_are_refused_where_everything_was() -> None:
    assert error_of(
        evaluate_embeddings,
        [[1.0]],
        [[1.0], [2.0]],
        same_label([1], [1, 2]),
        error=MeasureError,
        measures=["AP", "Bpref"],
    ) == (
        "Bpref tells irrelevant items from unjudged ones; in embeddings every item is judged, and "
        "only relevant ones "
        "are listed. Leave it out."
    )
    judgements = {"0": {"0": 1, "1": 0}}
    assert (
        evaluate_embeddings(
            [[1.0]], [[1.0], [2.0]], judgements, similarity="dot", measures="Bpref"
        ).value()
        == 0.0
    )
