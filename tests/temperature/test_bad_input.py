"""What cannot be swept, with the whole message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import judged
from judged.learning.temperature import sweep
from support.errors import error_of
from support.learnable import study
from support.loops import for_each

VECTORS = np.eye(3)
PAIRS = judged.relevance.pairs()
BOTH = judged.Embeddings(VECTORS, VECTORS)
ABOVE_0 = "a temperature must be a number above 0, from 1e-06 to 1e+06; got {!r}."


@for_each("given", [0.0, -1.0, float("nan"), float("inf"), "warm", True])
def test_temperatures(given: Any) -> None:
    assert error_of(sweep, BOTH, PAIRS, [0.1, given]) == ABOVE_0.format(given)
    assert error_of(study, BOTH, PAIRS, [0.1, given]) == ABOVE_0.format(given)


@for_each(
    ("options", "message"),
    [
        ({"temperatures": []}, "temperatures must be a list of numbers; it is empty."),
        ({"temperatures": 0.1}, "temperatures must be a list of numbers; got 0.1."),
        ({"temperatures": "0.1"}, "temperatures must be a list of numbers; got '0.1'."),
        ({"positives": "all"}, "positives must be one of each, any, apart; got 'all'."),
        ({"seed": -1}, "seed must be a whole number from 0; got -1."),
        ({"rel": float("nan")}, "rel must be a finite number; got nan."),
        ({"rel": "high"}, "rel must be a finite number; got 'high'."),
        ({"batch_size": 1}, "batch_size must be a whole number from 2; got 1."),
        (
            {"batch_size": 4},
            "batch_size must be at most the number of queries with a positive, 3; got 4.",
        ),
        ({"query": "99"}, "there is no query '99'."),
        (
            {"query": "1", "batch_size": 2},
            "query is about one query, and batch_size about all; leave one of them out.",
        ),
        (
            {"query": "1", "both": True},
            "query is about one query, and both about all; leave one of them out.",
        ),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    assert error_of(sweep, BOTH, PAIRS, **options) == message


def test_relevance_and_scores() -> None:
    assert error_of(sweep, judged.Embeddings(VECTORS[:1], VECTORS[:1]), PAIRS) == (
        "there is one item only, whose probability is 1 at every temperature; at least two are "
        "needed."
    )
    other = judged.relevance.same_label([0, 0, 0], [1, 1, 1])
    for batch_size in (None, 2):
        assert error_of(sweep, BOTH, other, batch_size=batch_size) == (
            "no item is relevant to any query; check the relevance that was given."
        )
    large = judged.Embeddings(VECTORS + 3e18, VECTORS + 3e19, similarity="dot")
    assert error_of(sweep, large, PAIRS) == (
        "scores are too large for a softmax in single precision; divide all vectors by the same "
        "number."
    )


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_nan(side: int, batch_size: int | None) -> None:
    vectors = [VECTORS.copy(), VECTORS.copy()]
    vectors[side][1, 2] = np.nan
    assert error_of(sweep, judged.Embeddings(*vectors), PAIRS, batch_size=batch_size) == (
        f"the {('queries', 'items')[side]}: vectors 1 hold NaN or infinite numbers; remove or fix "
        "them."
    )


@for_each("function", [sweep, study])
def test_options_of_embeddings_that_mean_nothing_here(function: Any) -> None:
    normalised = judged.Embeddings(VECTORS, VECTORS, normalise="min-max")
    assert error_of(function, normalised, PAIRS) == (
        "temperature.sweep takes scores as they are; leave normalise out of the Embeddings, which "
        "have 'min-max'."
    )
    unique = judged.Embeddings(VECTORS, VECTORS, unique=["a", "b", "b"])
    assert error_of(function, unique, PAIRS) == (
        "temperature.sweep looks at single items, not at their categories; leave unique out of the "
        "Embeddings."
    )
    assert error_of(function, VECTORS, PAIRS) == (
        "temperature.sweep takes judged.Embeddings(queries, items) first, then what is relevant; "
        "got ndarray."
    )


def test_a_study_learns_its_similarity() -> None:
    assert error_of(study, judged.Embeddings(VECTORS, VECTORS, similarity="dot"), PAIRS) == (
        "temperature.sweep learns the similarity, beginning at the cosine; leave similarity out of "
        "the Embeddings, which have 'dot'."
    )
