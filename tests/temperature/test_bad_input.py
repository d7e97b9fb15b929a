"""What cannot be swept, with the whole message."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import judged
from judged.learning.temperature import sweep
from support.learnable import study

VECTORS = np.eye(3)
PAIRS = judged.relevance.pairs()


@pytest.mark.parametrize(
    ("temperatures", "message"),
    [
        ([0.1, 0.0], "a temperature must be a number above 0, from 1e-06 to 1e+06; got 0.0."),
        ([-1.0], "a temperature must be a number above 0, from 1e-06 to 1e+06; got -1.0."),
        ([float("nan")], "a temperature must be a number above 0, from 1e-06 to 1e+06; got nan."),
        ([float("inf")], "a temperature must be a number above 0, from 1e-06 to 1e+06; got inf."),
        (["warm"], "a temperature must be a number above 0, from 1e-06 to 1e+06; got 'warm'."),
        ([True], "a temperature must be a number above 0, from 1e-06 to 1e+06; got True."),
        ([], "temperatures must be a list of numbers; it is empty."),
        (0.1, "temperatures must be a list of numbers; got 0.1."),
        ("0.1", "temperatures must be a list of numbers; got '0.1'."),
    ],
)
def test_temperatures(temperatures: Any, message: str) -> None:
    with pytest.raises(judged.InputError, match=f"^{re.escape(message)}$"):
        sweep(judged.Embeddings(VECTORS, VECTORS), PAIRS, temperatures)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positives": "all"}, "positives must be one of each, any, apart; got 'all'."),
        ({"seed": -1}, "seed must be a whole number from 0; got -1."),
        ({"rel": float("nan")}, "rel must be a finite number; got nan."),
        ({"rel": "high"}, "rel must be a finite number; got 'high'."),
        ({"batch_size": 1}, "batch_size must be a whole number from 2; got 1."),
        (
            {"batch_size": 4},
            "batch_size must be at most the number of queries with a positive, 3; got 4.",
        ),
        (
            {"batch_size": 100_000},
            "a batch of 100,000 has 10,000,000,000 scores, more than 1GB of memory hold; "
            "allow more memory, or make batches smaller.",
        ),
    ],
)
def test_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(judged.InputError, match=f"^{re.escape(message)}$"):
        sweep(judged.Embeddings(VECTORS, VECTORS), PAIRS, **options)


def test_one_item_only() -> None:
    message = (
        "there is one item only, whose probability is 1 at every temperature; at least two are "
        "needed."
    )
    with pytest.raises(judged.InputError, match=f"^{re.escape(message)}$"):
        sweep(judged.Embeddings(VECTORS[:1], VECTORS[:1]), PAIRS)


@pytest.mark.parametrize("batch_size", [None, 2])
def test_no_positives(batch_size: int | None) -> None:
    message = "no item is relevant to any query; check the relevance that was given."
    with pytest.raises(judged.InputError, match=f"^{re.escape(message)}$"):
        sweep(
            judged.Embeddings(VECTORS, VECTORS),
            judged.relevance.same_label([0, 0, 0], [1, 1, 1]),
            batch_size=batch_size,
        )


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_nan(side: int, batch_size: int | None) -> None:
    vectors = [VECTORS.copy(), VECTORS.copy()]
    vectors[side][1, 2] = np.nan
    message = (
        f"the {('queries', 'items')[side]}: vectors 1 hold NaN or infinite numbers; remove or "
        "fix them."
    )
    with pytest.raises(judged.InputError, match=f"^{re.escape(message)}$"):
        sweep(judged.Embeddings(*vectors), PAIRS, batch_size=batch_size)


def test_scores_that_no_softmax_holds() -> None:
    message = (
        "scores are too large for a softmax in single precision; divide all vectors by the "
        "same number."
    )
    with pytest.raises(judged.InputError, match=f"^{re.escape(message)}$"):
        sweep(judged.Embeddings(VECTORS + 3e18, VECTORS + 3e19, similarity="dot"), PAIRS)


@pytest.mark.parametrize("function", [sweep, study])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"normalise": "z-score"},
            "takes scores as they are; leave normalise out of the Embeddings, which have "
            "'z-score'.",
        ),
        (
            {"unique": ["a", "b", "b"]},
            "looks at single items, not at their categories; leave unique out of the Embeddings.",
        ),
    ],
)
def test_options_of_embeddings_that_mean_nothing_here(
    function: Any, options: dict[str, Any], message: str
) -> None:
    message = f"temperature.sweep {message}"
    with pytest.raises(judged.InputError, match=f"^{re.escape(message)}$"):
        function(judged.Embeddings(VECTORS, VECTORS, **options), PAIRS)


def test_a_study_learns_its_similarity() -> None:
    message = (
        "temperature.sweep learns the similarity, beginning at the cosine; leave "
        "similarity out of the Embeddings, which have 'dot'."
    )
    with pytest.raises(judged.InputError, match=f"^{re.escape(message)}$"):
        study(judged.Embeddings(VECTORS, VECTORS, similarity="dot"), PAIRS)


@pytest.mark.parametrize("function", [sweep, study])
def test_vectors_alone(function: Any) -> None:
    message = (
        "temperature.sweep takes judged.Embeddings(queries, items) first, then "
        "what is relevant; got ndarray."
    )
    with pytest.raises(judged.InputError, match=f"^{re.escape(message)}$"):
        function(VECTORS, PAIRS)
