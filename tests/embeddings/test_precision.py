"""What precision promises: the same on every machine, threads as they were, and words for it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from judged import Embeddings, InputError
from judged.embeddings.relevance import same_label
from support.dense import Array, hits_of
from support.products import rank

# -- the machine


SCRIPT = """
import hashlib, sys
import numpy as np
from judged import Embeddings
from judged.embeddings.relevance import same_label
rng = np.random.default_rng(13)
base = rng.normal(size=(9, 61))
group = np.arange(1300) % 9
weights = rng.normal(size=(61, 61))
digest = hashlib.sha256()
for dtype, noise in ((np.float32, 1e-3), (np.float32, 1e-7), (np.float64, 1e-14)):
    items = (base[group] * (1 + noise * rng.normal(size=(1300, 61)))).astype(dtype)
    items[:1250:7] = items[1:1250:7] * dtype(2)
    queries = items[:40] + dtype(noise) * items[50:90]
    labels = rng.integers(0, 40, 1300)
    for given in ("cosine", "dot", "euclidean", "manhattan", weights):
        both = Embeddings(queries, items, similarity=given)
        found = both.rank(same_label(np.arange(40), labels))
        listed = both.top_k(20)
        for part in (found.hit_rank, found.hit_tie_first, found.hit_tie_last, listed.items):
            digest.update(np.ascontiguousarray(part, np.int64))
        digest.update(np.ascontiguousarray(listed.scores, np.float64))
print(digest.hexdigest())
"""


@pytest.mark.full
def test_ranks_do_not_depend_on_the_kernel_of_blas() -> None:
    found = set()
    for kernel, threads in (("Haswell", "1"), ("Prescott", "2"), ("Nehalem", "1")):
        own = {
            **os.environ,
            "OPENBLAS_CORETYPE": kernel,
            "OPENBLAS_NUM_THREADS": threads,
            "NPY_DISABLE_CPU_FEATURES": "" if kernel == "Haswell" else "AVX2 FMA3",
            "PYTHONWARNINGS": "ignore",
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=own, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


def test_threads_that_evaluate_at_once_leave_blas_as_it_was() -> None:
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads() -> list[int]:
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    rng = np.random.default_rng(14)
    vectors, labels = rng.normal(size=(600, 8)), np.arange(600) % 7
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        done: list[list[Any]] = []

        def work(count: int) -> None:
            both = Embeddings(vectors[:count], vectors, memory="3MB")
            for _ in range(3):
                done.append(hits_of(both.rank(same_label(labels[:count], labels))))

        several = [threading.Thread(target=work, args=(200 + 90 * at,)) for at in range(4)]
        for each in several:
            each.start()
        for each in several:
            each.join()
        assert len(done) == 12
        assert threads() == before


# -- what is said


def test_the_definition_says_which_precision_it_is() -> None:
    vectors = np.eye(3)
    said = {
        precision: Embeddings(vectors, vectors, precision=precision).rank({"0": {"0": 1}}).basis[0]
        for precision in ("double", "single")
    }
    assert said["double"].endswith(", in double precision")
    assert "in single precision" in said["single"]
    own = Embeddings(vectors, vectors, similarity=lambda q, x: q @ x.T).rank({"0": {"0": 1}})
    assert "may depend on the machine" in own.basis[0]
    with pytest.raises(InputError, match="precision must be double or single; got 'half'"):
        Embeddings(vectors, vectors, precision="half")  # type: ignore[arg-type]


def test_functions_are_given_double_precision_and_keep_it() -> None:
    seen: set[Any] = set()

    def function(queries: Array, items: Array) -> Array:
        seen.update((queries.dtype, items.dtype))
        return queries @ items.T

    close = [[1.0], [1.0 + 1e-12], [1.0 - 1e-12]]
    for precision, tie in (("double", 1), ("single", 3)):
        seen.clear()
        found = rank([[1.0]], close, {"0": {"1": 1}}, similarity=function, precision=precision)
        assert found.hit_tie_last is not None
        assert found.hit_tie_last.tolist() == [tie]
        assert seen == {np.dtype(np.float64 if precision == "double" else np.float32)}


@pytest.mark.parametrize("normalise", ["csls(k=2)", "inverted-softmax", "z-score", "min-max"])
def test_normalised_scores_are_in_double_precision(normalise: str) -> None:
    close = np.array([[1.0, 0.0], [1.0, 1e-7], [1.0, 2e-7], [1.0, -1e-7]])
    found = rank(
        [[1.0, 2.0], [2.0, 1.0]], close, lambda a, b: np.ones((b - a, 4)), normalise=normalise
    )
    assert found.hit_tie_first is not None
    assert sorted(found.hit_tie_first.tolist()) == [1, 1, 2, 2, 3, 3, 4, 4]
