"""Side by side with scikit-learn's nearest neighbours and distances."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.neighbors import NearestNeighbors

from support.dense import whole_numbers
from support.loops import for_each
from support.products import top_k

RANDOM = np.random.default_rng(1)
QUERIES, ITEMS = RANDOM.normal(size=(30, 10)), RANDOM.normal(size=(160, 10))


@for_each("metric", ["cosine", "euclidean", "manhattan"])
def test_nearest_neighbours(metric: str) -> None:
    # Distances in double precision there; there are no ties, and nothing so close that single
    # precision turns it round.
    model = NearestNeighbors(n_neighbors=20, algorithm="brute", metric=metric).fit(ITEMS)
    distance, expected = model.kneighbors(QUERIES)
    found = top_k(QUERIES, ITEMS, 20, similarity=metric)
    assert found.items.tolist() == expected.tolist()
    ours = {
        "cosine": 1 - found.scores,
        "euclidean": np.abs(2 * found.scores) ** 0.5,
        "manhattan": -found.scores,
    }[metric]
    assert ours == pytest.approx(distance, rel=1e-5)  # scores are of single precision


def test_hamming_distance() -> None:
    rng = np.random.default_rng(2)
    queries, items = whole_numbers(rng, 9, 64) > 0, whole_numbers(rng, 70, 64) > 0
    distance = metrics.pairwise_distances(queries, items, metric="hamming")
    expected = np.argsort(distance, axis=1, kind="stable")[:, :15]
    assert (
        top_k(queries, items, 15, similarity="hamming", ties="input").items.tolist()
        == expected.tolist()
    )


def test_known_disagreement_near_duplicates() -> None:
    """euclidean_distances takes |q|² + |x|² - 2qx in the precision of its input and warns of it in
    its documentation; here what that cannot tell apart is told apart by differences in double
    precision."""
    rng = np.random.default_rng(3)
    items = (1e3 + rng.normal(size=(60, 8)) * 1e-3).astype(np.float32)
    exact = ((items[:, None].astype(float) - items) ** 2).sum(axis=2)
    # It widens single precision to double; for double precision it has nothing wider, so that is
    # where it errs.
    far = items.astype(float) + 1e6
    theirs = metrics.pairwise.euclidean_distances(far, far, squared=True)
    far_exact = ((far[:, None] - far) ** 2).sum(axis=2)
    assert (np.argsort(theirs, axis=1)[:, :10] != np.argsort(far_exact, axis=1)[:, :10]).any()
    found = top_k(items, items, 60, similarity="euclidean", ties="input")
    assert found.items.tolist() == np.argsort(exact, axis=1, kind="stable").tolist()
