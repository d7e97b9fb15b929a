"""Ranks are those of real scores rounded once, whatever the memory, the kernel, the threads and the
other queries."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from judged import Embeddings, InputError, evaluate
from judged.embeddings import ready
from judged.embeddings.product import Product
from judged.embeddings.relevance import same_label, same_row
from judged.embeddings.search import counted_one, reversed_search
from judged.inputs.vectors import as_vectors
from judged.policy import Policy
from judged.similarity.choice import as_similarity
from judged.similarity.exact import (
    Pairs,
    absolute_sums,
    cosines,
    dots,
    half_squares,
    lengths,
    times,
)
from support.dense import Array, hits_of, judged, same
from support.products import rank, top_k

NAMES = ["cosine", "dot", "euclidean", "manhattan", "hamming"]


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """Tiles of so many queries and items, as another cap of memory would make them."""
    return lambda height, width: monkeypatch.setattr(
        ready, "_shape", lambda *sides: (height, width)
    )


Cut = Callable[[int, int], None]


# -- the definition, in exact arithmetic


def real(name: str, query: Array, item: Array) -> float:
    """A score without any rounding but one, at the end."""
    getcontext().prec = 80
    left, right = ([Fraction(each) for each in row.tolist()] for row in (query, item))
    both = list(zip(left, right, strict=True))
    dot = sum((a * b for a, b in both), Fraction(0))
    if name == "cosine":
        square = sum(a * a for a in left) * sum(b * b for b in right)
        root = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
        return float(Decimal(dot.numerator) / Decimal(dot.denominator) / root)
    if name == "euclidean":
        return float(-sum((a - b) ** 2 for a, b in both) / 2)
    if name == "manhattan":
        return float(-sum(abs(a - b) for a, b in both))
    if name == "hamming":
        return float(sum(1 if (a > 0) == (b > 0) else -1 for a, b in both))
    return float(dot)


def scores_of(name: str, queries: Array, items: Array) -> Array:
    return np.array([[real(name, query, item) for item in items] for query in queries])


FORMULAS = {
    "dot": dots,
    "cosine": cosines,
    "euclidean": half_squares,
    "manhattan": absolute_sums,
}
NUMBERS = st.one_of(
    st.floats(-1e3, 1e3, width=32),
    st.sampled_from([0.0, 1.0, -1.0, 0.5, 3.0, 2.0**-20, 2.0**20, 1 + 2.0**-23]),
)


@pytest.mark.parametrize("name", FORMULAS)
@given(data=st.data(), wide=st.booleans(), dims=st.integers(1, 9))
def test_scores_are_rounded_once(name: str, data: Any, wide: bool, dims: int) -> None:
    numbers = st.floats(-1e9, 1e9) if wide else NUMBERS
    dtype = np.float64 if wide else np.float32
    both = data.draw(hnp.arrays(dtype, (4, dims), elements=numbers))
    if name == "cosine":
        both[:, 0] += (both == 0).all(axis=1)
        both[np.abs(both) < 1e-100] = 0
        both[:, 0] += (both == 0).all(axis=1)
    query, item = np.repeat([0, 1], 2), np.array([0, 1, 0, 1])
    found = FORMULAS[name](Pairs(both[:2], both[2:], query, item))
    assert found.tolist() == [
        real(name, both[a], both[2 + b]) for a, b in zip(query, item, strict=True)
    ]


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_numbers_of_all_sizes_are_rounded_once(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    small, large = (-18, 18) if dtype is np.float32 else (-140, 140)
    both = (rng.normal(size=(40, 7)) * 10.0 ** rng.integers(small, large, (40, 7))).astype(dtype)
    both[5], both[6], both[7] = both[0] * 2, -both[1], both[2]  # parallel, opposite and equal
    both[8, :2] = both[3, 1], -both[3, 0]
    both[8, 2:] = 0  # at right angles but for what lies beyond
    query, item = np.arange(5).repeat(35), np.tile(np.arange(5, 40) - 5, 5)
    found = FORMULAS[name](Pairs(both[:5], both[5:], query, item))
    wanted = [real(name, both[a], both[5 + b]) for a, b in zip(query, item, strict=True)]
    assert found.tolist() == wanted


def test_a_tie_of_two_numbers_is_rounded_to_the_even_one() -> None:
    for last, wanted in ((2.0**-53, 1.0), (3 * 2.0**-53, 1 + 2.0**-51)):
        item = np.array([[1.0, last, 2.0**-200, -(2.0**-200)]])
        one = np.array([0])
        assert dots(Pairs(np.ones((1, 4)), item, one, one)).tolist() == [wanted]


@given(
    hnp.arrays(np.float64, (3, 11), elements=st.floats(-1e6, 1e6)),
    hnp.arrays(np.float64, (11, 2), elements=st.floats(-1e6, 1e6)),
)
def test_matrix_products_are_in_double_precision_and_the_same_row_by_row(
    left: Array, right: Array
) -> None:
    found = times(left, right)
    size = np.abs(left).max(axis=1, keepdims=True) * np.abs(right).max(axis=0, keepdims=True)
    assert (np.abs(found - left @ right) <= 1e-13 * size).all()
    for row in range(3):
        assert (times(left[row : row + 1], right) == found[row]).all()
    # Another order of the same numbers, as another processor may add them.
    assert (times(left[:, ::-1], right[::-1]) == found).all()
    assert lengths(left) == pytest.approx(np.linalg.norm(left, axis=1))


# -- the bound


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*NAMES[:4], "bilinear"])
@given(data=st.data())
def test_no_score_of_a_tile_is_off_by_more_than_its_bound(
    name: str, precision: Any, data: Any
) -> None:
    seed, dims = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(1, 40))
    power = data.draw(st.sampled_from([0, 0, 3, -3, 12, -12]))
    rng = np.random.default_rng(seed)
    both = rng.normal(size=(12, dims)) * rng.choice([1.0, 1e-4, 1e3], (12, 1)) * 10.0**power
    both[rng.random((12, dims)) < 0.2] *= 1e-9
    both += rng.choice([0.0, 1.0]) * 10.0**power
    weights = rng.normal(size=(dims, dims)) if name == "bilinear" else name
    queries, items = (as_vectors(each, source="x") for each in (both[:4], both[4:]))
    similarity = as_similarity(weights).placed(items)
    whole = Product(queries, items, similarity, exclude=None, memory="1GB")
    if precision is np.float64:
        found, slack = whole.doubled(np.arange(4), np.arange(8))
    else:
        prepared = whole.query_block(0, 4)
        tile = whole.tile(prepared, 0, 0, None)
        assert tile.slack is not None
        # The shift is rounded too, in double precision.
        shift = similarity.shift(similarity.prepare(both[:4], queries, 0, items=False))
        found = tile.scores.astype(float) + shift
        slack = tile.slack + np.abs(shift[:, 0]) * 1e-12
    pairs = np.repeat(np.arange(4), 8), np.tile(np.arange(8), 4)
    exact = whole.exact_pairs(*pairs).reshape(4, 8)
    assert (np.abs(found - exact) <= (slack / 2)[:, None] + np.abs(exact) * 2.0**-53).all()


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


LEARNED = np.random.default_rng(4).normal(size=(33, 33))


@pytest.mark.parametrize("name", [*NAMES, "bilinear"])
@pytest.mark.parametrize("noise", [1e-7, 1e-4, 1e-1])
def test_ranks_do_not_depend_on_memory_or_other_queries(name: str, noise: float, cut: Cut) -> None:
    queries, items = near_duplicates(5, noise)
    labels = np.random.default_rng(6).integers(0, 12, 120)
    given: Any = LEARNED if name == "bilinear" else name
    options: dict[str, Any] = {"similarity": given, "policy": {"ties": "input"}}
    whole = rank(queries, items, same_label(np.arange(12), labels), **options)
    for height, width in ((5, 37), (1, 120), (12, 1)):
        cut(height, width)
        found = rank(queries, items, same_label(np.arange(12), labels), **options)
        assert hits_of(found) == hits_of(whole)
    alone = [
        hits_of(rank(queries[at : at + 1], items, same_label([at], labels), **options))
        for at in range(12)
    ]
    assert [hit[1:] for each in alone for hit in each] == [hit[1:] for hit in hits_of(whole)]
    # The same vectors in another type, and with other items behind them, have the same scores.
    wide = rank(
        queries.astype(float), items.astype(float), same_label(np.arange(12), labels), **options
    )
    assert hits_of(wide) == hits_of(whole)
    back = reversed_search(Embeddings(queries, items, similarity=given))
    both = Embeddings(queries, items, similarity=given).rank_both(
        same_label(np.arange(12), labels), policy={"ties": "input"}
    )
    assert hits_of(both[0]) == hits_of(whole)
    apart, _ = counted_one(
        *(back, same_label(labels, np.arange(12)), Policy.of({"ties": "input"})),
        name="",
        top=None,
        progress=None,
    )
    assert hits_of(both[1]) == hits_of(apart)


def test_rows_that_are_all_too_close_are_multiplied_in_double(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []
    doubled = Product.doubled

    def spy(self: Product, queries: Array, items: Array) -> Any:
        calls.append(len(queries) * len(items))
        return doubled(self, queries, items)

    monkeypatch.setattr(Product, "doubled", spy)
    rng = np.random.default_rng(7)
    items = rng.normal(size=5) * (1 + 1e-9 * rng.normal(size=(400, 5)))
    relevant = rng.random((3, 400)) < 0.3
    for name in ("cosine", "dot"):
        calls.clear()
        found = rank(items[:3] * 3, items, lambda a, b: relevant[a:b], similarity=name)
        assert sum(calls) >= 1200
        same(found, scores_of(name, items[:3] * 3, items), judged(relevant))


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
        again = evaluate(judgements, run, "AP").runs[0].rankings
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
    # In single precision the three distances are one.
    found = rank(
        [[5e8 + 0.3]], items * 100, {"0": {"0": 1}}, similarity="euclidean", precision="single"
    )
    assert found.hit_tie_last is not None
    assert found.hit_tie_last.tolist() == [3]


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
    if size in (1e300, 1e-300):
        # In single precision these are infinite, or zeros: it says so, and what to do.
        with pytest.raises(InputError, match=r"single precision.*precision=single"):
            top_k(left, right, 5, similarity="cosine", precision="single")


def test_one_number_that_single_precision_cannot_hold_spoils_no_others() -> None:
    items = np.array([[1e200, 0.0], [1.0, 1.0], [1.0, 1.0000000001], [0.0, 1e-200]])
    queries = np.array([[1.0, 1.0], [0.0, 1.0]])
    for name in ("dot", "cosine", "manhattan"):
        exact = scores_of(name, queries, items)
        same(
            rank(queries, items, lambda a, b: np.ones((b - a, 4)), similarity=name),
            exact,
            np.ones((2, 4)),
        )


# -- the machine


SCRIPT = """
import hashlib, sys
import numpy as np
from judged import Embeddings
from judged.embeddings.relevance import same_label
rng = np.random.default_rng(13)
base = rng.normal(size=(9, 61))
group = np.arange(2500) % 9
weights = rng.normal(size=(61, 61))
digest = hashlib.sha256()
for dtype, noise in ((np.float32, 1e-3), (np.float32, 1e-7), (np.float64, 1e-14)):
    items = (base[group] * (1 + noise * rng.normal(size=(2500, 61)))).astype(dtype)
    items[:2450:7] = items[1:2450:7] * dtype(2)
    queries = items[:40] + dtype(noise) * items[50:90]
    labels = rng.integers(0, 40, 2500)
    for given in ("cosine", "dot", "euclidean", "manhattan", weights):
        both = Embeddings(queries, items, similarity=given)
        found = both.rank(same_label(np.arange(40), labels))
        listed = both.top_k(20)
        for part in (found.hit_rank, found.hit_tie_first, found.hit_tie_last, listed.items):
            digest.update(np.ascontiguousarray(part, np.int64))
        digest.update(np.ascontiguousarray(listed.scores, np.float64))
print(digest.hexdigest())
"""


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
