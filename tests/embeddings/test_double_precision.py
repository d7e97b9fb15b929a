"""Ranks are those of real scores rounded once, whatever the memory, the kernel, the threads and the
other queries."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from judged import Embeddings, evaluate
from judged.embeddings import kernel, product
from judged.embeddings.exact import (
    VectorPairs,
    absolute_sums,
    cosines,
    dots,
    half_squares,
    rounded_once,
)
from judged.embeddings.product import TiledProduct
from judged.embeddings.relevance import same_label, same_row
from judged.errors import InputError
from support.dense import Array, judged, same
from support.loops import for_each
from support.products import rank, top_k
from support.real import scores_of

NAMES = ["cosine", "dot", "euclidean", "manhattan", "hamming"]


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Tiles of so many queries and items, as another cap of memory would make them."""
    return lambda height, width: monkeypatch.setattr(
        product, "_shape", lambda *sides: (height, width)
    )


Cut = Callable[[int, int], None]


# -- ranks


def near_duplicates(
    seed: int, noise: float, dtype: Any = np.float32, *, dims: int = 33
) -> tuple[Array, Array]:
    """Queries and items of six groups, in which they differ by little."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(120) % 6)
    items = rng.normal(size=(6, dims))[group] * (1 + noise * rng.normal(size=(120, dims)))
    items = items.astype(dtype)
    items[7], items[8], items[9] = items[3], items[4] * 2, items[5] * 0.5
    return items[:12] + dtype(0.001) * items[20:32], items


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("dtype", "noise"), [(np.float32, 1e-7), (np.float32, 1e-3), (np.float64, 1e-15)]
)
def test_ranks_are_those_of_exact_arithmetic(name: str, dtype: Any, noise: float, cut: Cut) -> None:
    queries, items = near_duplicates(2, noise, dtype, dims=9)
    queries = queries[:4]
    exact = scores_of(name, queries, items)
    relevant = np.random.default_rng(3).random((4, 120)) < 0.3
    for height, width, ties in ((4, 120, "id"), (3, 17, "input"), (1, 120, "worst")):
        cut(height, width)
        found = rank(
            *(queries, items, lambda a, b: relevant[a:b]), similarity=name, policy={"ties": ties}
        )
        same(found, exact, judged(relevant), ties=ties)
    listed = top_k(queries, items, 30, similarity=name, ties="input")
    order = np.argsort(-exact, axis=1, kind="stable")[:, :30]
    assert listed.items.tolist() == order.tolist()
    assert listed.scores.tolist() == np.take_along_axis(exact, order, axis=1).tolist()


SIMILAR = {"dot": dots, "cosine": cosines, "euclidean": half_squares, "manhattan": absolute_sums}


@for_each("seed", range(60))
def test_any_vectors_in_tiles_of_any_shape(
    seed: int, cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    queried, count, dims = (int(rng.integers(1, most)) for most in (7, 200, 40))
    dtype, noise = rng.choice([np.float32, np.float64]), 10.0 ** rng.integers(-17, 1)
    base = rng.normal(size=(count, dims)) + rng.choice([0, 0, 10, 1e4])
    if seed % 3 == 0:
        base = np.round(base * 8) / rng.choice([1, 8, 10])
    items = base[rng.integers(0, 1 + count // int(rng.integers(1, 30)), count) % count]
    items = items * (1 + noise * rng.normal(size=(count, dims))) * rng.choice([1, 2, 3], (count, 1))
    items = items.astype(dtype)
    queries = items[rng.integers(0, count, queried)] * dtype(1.1)
    items[(items == 0).all(axis=1)] = 1
    queries[(queries == 0).all(axis=1)] = 1
    name = str(rng.choice(list(SIMILAR)))
    pairs = np.repeat(np.arange(queried), count), np.tile(np.arange(count), queried)
    exact = rounded_once(SIMILAR[name], VectorPairs(queries, items, *pairs)).reshape(queried, count)
    relevant = rng.random((queried, count)) < rng.choice([0.05, 0.5, 1])
    relevant[:, 0] = True
    # Rows of any width go through all ways to count and to settle.
    monkeypatch.setattr(kernel, "NEIGHBOURS_PER_BATCH", int(rng.choice([7, 1 << 17])))
    monkeypatch.setattr(kernel, "_SORT_SHARE", int(rng.choice([6, 64, 600])))
    monkeypatch.setattr(kernel, "_COMPARED_WINDOWS", int(rng.choice([0, 8])))
    cut(int(rng.integers(1, 8)), int(rng.choice([count, 1 + count // 3])))
    ties = str(rng.choice(["id", "input", "worst", "best"]))
    found = rank(
        *(queries, items, lambda a, b: relevant[a:b]), similarity=name, policy={"ties": ties}
    )
    same(found, exact, judged(relevant), ties=ties)
    k = int(rng.integers(1, count + 1))
    listed = top_k(queries, items, k, similarity=name, ties="input")
    order = np.argsort(-exact, axis=1, kind="stable")[:, :k]
    assert listed.items.tolist() == order.tolist()
    assert listed.scores.tolist() == np.take_along_axis(exact, order, axis=1).tolist()


def test_one_close_score_beside_others_in_a_tile_without_the_relevant_items(cut: Cut) -> None:
    cut(1, 3001)
    rest = np.linspace(0, 0.5, 3000)
    items = np.concatenate([[1.0, 2.0], rest, [1 + 1e-12, 1 + 2e-12, 2 + 1e-12], rest])[:, None]
    found = rank(np.ones((1, 1)), items, {"0": {"0": 1, "1": 1}}, similarity="dot")
    assert found.hit_rank.tolist() == [2, 5]


def test_bits_need_no_exact_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(TiledProduct, "exact_pairs")
    rng = np.random.default_rng(10)
    queries, items = (rng.integers(-3, 4, size=(n, 6)) for n in (5, 300))
    relevant = rng.random((5, 300)) < 0.4
    found = rank(queries, items, lambda a, b: relevant[a:b], similarity="hamming")
    exact = scores_of("hamming", queries, items)
    same(found, exact, judged(relevant))
    listed = top_k(queries, items, 9, similarity="hamming", ties="input")
    assert listed.scores.tolist() == np.sort(exact, axis=1)[:, :-10:-1].tolist()


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "manhattan"])
def test_first_items_are_in_the_order_of_ranks(name: str, cut: Cut) -> None:
    queries, items = near_duplicates(8, 1e-7)
    for height, width in ((12, 120), (5, 37)):
        cut(height, width)
        both = Embeddings(queries, items, similarity=name, exclude=same_row())
        everything = lambda a, b: np.ones((b - a, 120))  # noqa: E731
        ranks = both.rank(everything)
        listed = both.top_k(120)
        assert listed.lengths.tolist() == [119] * 12
        run = {query: dict(found) for query, found in listed.to_dict().items()}
        judgements = {str(q): {str(i): 1 for i in range(120) if i != q} for q in range(12)}
        again = evaluate(judgements, run, "AP").rankings["run"]
        # Written down and read again, the lists have the same ranks and the same ties.
        for part in ("hit_rank", "hit_tie_first", "hit_tie_last"):
            assert getattr(again, part).tolist() == getattr(ranks, part).tolist()
        _, same_pass = both.evaluate_and_top_k(everything, "AP", k=30)
        assert same_pass.items.tolist() == listed.items[:, :30].tolist()


def test_categories_are_ranked_by_exact_scores_too(cut: Cut) -> None:
    queries, items = near_duplicates(9, 1e-7, dims=9)
    category = np.random.default_rng(10).integers(0, 30, 120)
    names = list(dict.fromkeys(category.tolist()))
    exact = scores_of("cosine", queries[:4], items)
    best = np.array([[row[category == each].max() for each in names] for row in exact])
    relevant = np.isin(np.arange(120), np.arange(0, 120, 11))
    wanted = np.isin(names, category[relevant])
    for height, width in ((4, 120), (3, 37)):
        cut(height, width)
        found = rank(
            *(queries[:4], items, lambda a, b: np.tile(relevant, (b - a, 1))),
            unique=category,
            policy={"ties": "best"},
        )
        same(found, best, judged(np.tile(wanted, (4, 1))), ties="best")


# -- numbers as they were given


def test_numbers_are_used_as_they_were_given() -> None:
    items = 5e6 + np.array([[0.3], [0.1], [0.2]])
    for name in ("euclidean", "manhattan"):
        found = rank([[5e6 + 0.3]], items, {"0": {"0": 1}}, similarity=name)
        assert found.hit_rank.tolist() == [1]
    found = rank([[1.0, 1e-9]], [[1.0, 0.0], [1.0, 1.0]], {"0": {"1": 1}}, similarity="dot")
    assert found.hit_rank.tolist() == [1]


@pytest.mark.parametrize("times_", [2.0, 3.0, 0.1, 1e-30, 7.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parallel_vectors_tie_under_cosine(times_: float, dtype: Any) -> None:
    # Few bits, so that the product with a number of few bits is exact, and vectors parallel.
    rng = np.random.default_rng(11)
    items = rng.integers(-500, 500, (50, 24)).astype(dtype)
    factor = {0.1: 0.125, 1e-30: 2.0**-100}.get(times_, times_)
    both = np.concatenate([items, items * dtype(factor)])
    found = rank(
        rng.normal(size=(30, 24)), both, same_label(np.arange(30), np.tile(np.arange(50), 2))
    )
    assert found.hit_tie_first is not None
    assert found.hit_tie_last is not None
    assert (found.hit_tie_last - found.hit_tie_first).tolist() == [1] * 60


@pytest.mark.parametrize("size", [1e300, 1e-300, 1e30, 1e-30, 1e160, 1e-160])
@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "manhattan"])
def test_numbers_that_single_precision_cannot_hold(name: str, size: float) -> None:
    rng = np.random.default_rng(12)
    queries, items = rng.normal(size=(5, 6)), rng.normal(size=(40, 6))
    relevant = rng.random((5, 40)) < 0.3
    exact = scores_of(name, queries, items)
    grades, options = judged(relevant), {"similarity": name}
    left, right = queries * size, items * size
    fits = name in ("cosine", "manhattan") or 1e-150 < size < 1e150
    if fits:
        same(rank(left, right, lambda a, b: relevant[a:b], **options), exact, grades)
        assert top_k(left, right, 5, **options).items.tolist() == (
            np.argsort(-exact, axis=1)[:, :5].tolist()
        )
    else:
        with pytest.raises(InputError, match=r"so large|so small"):
            top_k(left, right, 5, **options)


def test_excluded_items_are_not_counted_however_large_the_queries_are() -> None:
    # Beside such queries all items are equally far in double precision: 39 tie, of 40.
    rng = np.random.default_rng(13)
    items, labels = rng.normal(size=(40, 6)), np.arange(40)
    for size in (1e20, 1e28, 1e34):
        queries = rng.normal(size=(40, 6)) * size
        options = {"similarity": "euclidean", "exclude": same_row()}
        found = rank(queries, items, same_label(labels, np.roll(labels, 1)), **options)
        assert found.hit_tie_first is not None
        assert found.hit_tie_last is not None
        assert (found.hit_tie_first.tolist(), found.hit_tie_last.tolist()) == ([1] * 40, [39] * 40)
        assert (top_k(queries, items, 40, **options).lengths == 39).all()


def test_one_number_that_single_precision_cannot_hold_spoils_no_others() -> None:
    with pytest.raises(InputError, match="so large that double precision cannot hold a score"):
        top_k([[1.0]], [[1e303], [1.0]], 2, similarity="dot")
    items = np.array([[1e200, 0.0], [1.0, 1.0], [1.0, 1.0000000001], [0.0, 1e-200]])
    queries = np.array([[1.0, 1.0], [0.0, 1.0]])
    for name in ("dot", "cosine", "manhattan"):
        exact = scores_of(name, queries, items)
        same(
            rank(queries, items, lambda a, b: np.ones((b - a, 4)), similarity=name),
            exact,
            np.ones((2, 4)),
        )


def test_scores_far_from_many_tied_ones_are_not_counted_with_them() -> None:
    """Scores may lie further apart than a table of the tied ones reaches."""
    for least, most, far in ((1e-30, 1e-29, 1e10), (-3e38, 3e38, 3e38)):
        numbers = np.linspace(least, most, 10, dtype=np.float32)
        items = np.append(np.tile(numbers, 300), np.float32(far))[:, None]
        found = rank(
            np.ones((1, 1), np.float32),
            items,
            lambda a, b: (np.arange(3001) < 10)[None],
            similarity="dot",
        )
        assert found.hit_tie_first is not None
        assert found.hit_tie_last is not None
        wanted = [np.count_nonzero(items > number) + 1 for number in numbers[::-1]]
        assert found.hit_tie_first.tolist() == wanted
        assert found.hit_tie_last.tolist() == [np.count_nonzero(items >= n) for n in numbers[::-1]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_vectors_of_signs_tie_whatever_a_function_returns(dtype: Any) -> None:
    """Such vectors differ in the highest bits of their numbers alone."""
    rng = np.random.default_rng(13)
    items = rng.choice([-1.0, 1.0], (300, 4)).astype(dtype)
    found = rank(
        np.ones((1, 4)),
        items,
        lambda a, b: np.ones((b - a, 300)),
        similarity=lambda q, x: q @ x.T + np.arange(len(x)) * 1e-9,
    )
    assert found.hit_tie_first is not None
    assert len(np.unique(found.hit_tie_first)) == len(np.unique(items, axis=0)) == 16


# -- machines, threads and words


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
    for core, threads in (("Haswell", "1"), ("Prescott", "2"), ("Nehalem", "1")):
        own = {
            **os.environ,
            "OPENBLAS_CORETYPE": core,
            "OPENBLAS_NUM_THREADS": threads,
            "NPY_DISABLE_CPU_FEATURES": "" if core == "Haswell" else "AVX2 FMA3",
            "PYTHONWARNINGS": "ignore",
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=own, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


# -- what is said


def test_the_definition_says_which_precision_it_is() -> None:
    vectors = np.eye(3)
    basis = Embeddings(vectors, vectors).rank({"0": {"0": 1}}).basis
    assert basis[0].endswith(", in double precision")
    own = Embeddings(vectors, vectors, similarity=lambda q, x: q @ x.T).rank({"0": {"0": 1}})
    assert "may depend on the machine" in own.basis[0]


def test_functions_are_given_double_precision_and_keep_it() -> None:
    seen: set[Any] = set()

    def function(queries: Array, items: Array) -> Array:
        seen.update((queries.dtype, items.dtype))
        return queries @ items.T

    close = [[1.0], [1.0 + 1e-12], [1.0 - 1e-12]]
    found = rank([[1.0]], close, {"0": {"1": 1}}, similarity=function)
    assert found.hit_tie_last is not None
    assert found.hit_tie_last.tolist() == [1]
    assert seen == {np.dtype(np.float64)}
