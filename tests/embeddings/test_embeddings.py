"""Ranks by embeddings against a sort of the whole matrix: every similarity, tie rule and size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from judged import Rankings, evaluate, evaluate_embeddings
from judged.embeddings.kernel import count_rows, first_equal, keys_of
from judged.embeddings.relevance import listed, same_label, same_row
from judged.errors import InputError
from judged.inputs.vectors import Vectors
from judged.inputs.vectors.vectors import Lazy
from judged.options import size_in_bytes
from judged.policy import CHOICES
from support.dense import (
    Array,
    among,
    as_judgements,
    as_run,
    distances,
    hits_of,
    judged,
    same,
    sample,
    whole_numbers,
)
from support.loops import for_each
from support.products import rank

RULES = tuple(CHOICES["ties"])
RANDOM = np.random.default_rng(1)
WEIGHTS = RANDOM.integers(-2, 3, (4, 4))


def chebyshev(queries: Array, items: Array) -> Array:
    return -np.abs(queries[:, None].astype(float) - items[None]).max(axis=2)


# -- similarities


def unpacked(rows: Array) -> Array:
    return np.unpackbits(rows.astype(np.int8).view(np.uint8), axis=1)


SIMILARITIES: dict[str, tuple[Any, Callable[[Array, Array], Array]]] = {
    "dot": ("dot", lambda q, x: q @ x.T),
    "euclidean": ("euclidean", lambda q, x: -distances(q, x)),
    "manhattan": ("manhattan", lambda q, x: -np.abs(q[:, None] - x[None]).sum(axis=2)),
    "hamming": ("hamming", lambda q, x: ((q[:, None] > 0) == (x[None] > 0)).sum(axis=2)),
    "hamming-packed": (
        "hamming-packed",
        lambda q, x: (unpacked(q)[:, None] == unpacked(x)[None]).sum(axis=2),
    ),
    "bilinear": (WEIGHTS, lambda q, x: q @ WEIGHTS @ x.T),
    "callable": (chebyshev, chebyshev),
}


@for_each("ties", RULES)
@for_each("name", SIMILARITIES)
def test_similarities_with_exact_ties(name: str, ties: str) -> None:
    given_as, twin = SIMILARITIES[name]
    queries, items, relevant, _ = sample(2)
    found = rank(queries, items, among(relevant), similarity=given_as, policy={"ties": ties})
    same(found, twin(queries.astype(float), items.astype(float)), judged(relevant), ties=ties)
    assert found.ties == ties


def test_packed_bits_are_asked_for() -> None:
    rng = np.random.default_rng(31)
    bits = rng.normal(size=(60, 64)) > 0
    queries = bits[:20] ^ (rng.random((20, 64)) < 0.05)
    expected = rank(queries, bits, pairs_of_rows(20), similarity="hamming").hit_rank.tolist()
    assert np.mean(np.array(expected) == 1) > 0.9
    packed = [np.packbits(each, axis=1) for each in (queries, bits)]
    forms: dict[str, Callable[[Array], Any]] = {
        "uint8": lambda rows: rows,
        "int8 view": lambda rows: rows.view(np.int8),
        "int8 moved": lambda rows: (rows.astype(int) - 128).astype(np.int8),
        "int64": lambda rows: rows.astype(np.int64),
        "lists": lambda rows: rows.tolist(),
        "float32": lambda rows: rows.astype(np.float32),
    }
    for form, convert in forms.items():
        left, right = map(convert, packed)
        with pytest.raises(InputError, match="Choose the similarity hamming-packed for bytes"):
            rank(left, right, pairs_of_rows(20), similarity="hamming")
        for memory in ("1GB", "1MB"):
            found = rank(left, right, pairs_of_rows(20), similarity="hamming-packed", memory=memory)
            assert found.hit_rank.tolist() == expected, form
    mixed = forms["int8 moved"](packed[0]), packed[1]
    with pytest.raises(InputError, match="Give both as uint8"):
        rank(*mixed, pairs_of_rows(20), similarity="hamming-packed")
    with pytest.raises(InputError, match="packed bits must be whole numbers from 0 to 255"):
        rank(packed[0] + 0.5, packed[1], pairs_of_rows(20), similarity="hamming-packed")


def test_one_bit_per_number_is_not_taken_for_packed_bits() -> None:
    rng = np.random.default_rng(32)
    for values in (
        rng.integers(0, 2, (9, 8)).astype(np.uint8),
        rng.integers(-1, 2, (9, 8)).astype(np.int8),
        rng.integers(0, 2, (9, 8)).astype(bool),
        rng.integers(0, 2, (9, 8)).astype(np.uint8) * 255,
        rng.integers(-3, 4, (9, 8)),
        rng.normal(size=(9, 8)) * 100,
        rng.integers(-500, 500, (9, 8)),
    ):
        bits = values > 0
        found, expected = (
            rank(each[:4], each, pairs_of_rows(4), similarity="hamming") for each in (values, bits)
        )
        assert hits_of(found) == hits_of(expected)


def pairs_of_rows(count: int) -> dict[str, dict[str, int]]:
    return {str(row): {str(row): 1} for row in range(count)}


@pytest.mark.parametrize("similarity", ["dot", "euclidean", "manhattan", "hamming"])
@pytest.mark.parametrize("dims", [1, 3, 4])
def test_fewer_dimensions_are_those_of_a_slice(similarity: str, dims: int) -> None:
    queries, items, relevant, _ = sample(7)
    found = rank(queries, items, among(relevant), similarity=similarity, dims=dims)
    by_hand = rank(queries[:, :dims], items[:, :dims], among(relevant), similarity=similarity)
    assert hits_of(found) == hits_of(by_hand)
    assert f"only the first {dims} dimensions of the vectors are used" in found.basis


# -- sizes, memory and ways to count


def test_both_kernels_are_their_plain_twins() -> None:
    rng = np.random.default_rng(23)
    for most in (2, 40, 4000):
        scores = rng.integers(0, most, (6, 900)).astype(np.float32)
        lengths = rng.integers(0, 30, 6)
        row = np.repeat(np.arange(6), lengths)
        low = np.concatenate([np.sort(rng.choice(scores[0], count)) for count in lengths])
        high = low + rng.integers(0, 2)
        (counts,) = count_rows(scores, lengths, (low, high))
        assert counts.limits == slice(0, len(row))
        assert counts.above.tolist() == [
            int((scores[r] > h).sum()) for r, h in zip(row, high, strict=True)
        ]
        assert counts.level.tolist() == [
            int((scores[r] >= v).sum()) for r, v in zip(row, low, strict=True)
        ]
        near = [
            (max(within), column)
            for r in range(6)
            for column, score in enumerate(scores[r].tolist())
            if (within := np.flatnonzero((row == r) & (low <= score) & (score <= high)).tolist())
        ]
        assert [*zip(counts.limit.tolist(), counts.column.tolist(), strict=True)] == near
        vectors = rng.integers(-1, 2, (80, 3)).astype(np.float32) * np.float32(most)
        rows = [tuple(vector) for vector in vectors.tolist()]
        for keys in (keys_of(vectors), np.zeros(80, np.uint64)):
            assert first_equal(Vectors(vectors), keys).tolist() == [rows.index(v) for v in rows]


@pytest.mark.parametrize(
    ("similarity", "ties"), [*((name, "id") for name in SIMILARITIES), ("dot", "worst")]
)
def test_a_cap_of_memory_cuts_both_ways_and_changes_nothing(similarity: str, ties: str) -> None:
    given_as, twin = SIMILARITIES[similarity]
    rng = np.random.default_rng(17)
    queries, items = whole_numbers(rng, 130, 4, 2), whole_numbers(rng, 4000, 4, 2)
    left, right = rng.integers(0, 300, 130), rng.integers(0, 300, 4000)
    left[0], right[rng.random(4000) < 0.03] = 7, 7  # one label with many items
    exclude = same_label(np.arange(130) % 11, np.arange(4000) % 11)

    def ranked(memory: str | int) -> Rankings:
        return rank(
            queries,
            items,
            same_label(left, right),
            similarity=given_as,
            exclude=exclude,
            policy={"ties": ties},
            memory=memory,
        )

    whole = ranked("1GB")
    assert hits_of(ranked("1MB")) == hits_of(whole)
    some = [0, 64, 129]
    gone = np.arange(130)[some, None] % 11 == np.arange(4000) % 11
    scores = twin(queries[some].astype(float), items.astype(float))
    same(whole.take(some), scores, judged(left[some, None] == right), gone=gone, ties=ties)


def test_memory_is_written_in_many_ways() -> None:
    sizes = {"2MB": 2e6, " 1 mb ": 1e6, "1.5GB": 1.5e9, 10**6: 1e6, "2000 KB": 2e6, "1e6B": 1e6}
    assert {text: size_in_bytes(text) for text in sizes} == sizes


@pytest.mark.parametrize("memory", ["1GB", "1MB"])
def test_items_that_are_read_in_stretches(memory: str) -> None:
    queries, items, relevant, _ = sample(18, queries=5, items=20_000, share=0.0005)
    lazy = Vectors(Lazy(items.shape, items.dtype, lambda rows, columns: items[rows, columns]))
    found, expected = (
        rank(queries, each, among(relevant), similarity="euclidean", memory=memory)
        for each in (lazy, items)
    )
    assert hits_of(found) == hits_of(expected)


def test_progress_counts_queries() -> None:
    queries, items, relevant, _ = sample(19, queries=150, items=9000, share=0.001)
    seen: list[int] = []
    rank(queries, items, among(relevant), similarity="dot", memory="1MB", progress=seen.append)
    assert sum(seen) == 150
    assert len(seen) > 1


# -- measures and what is said

MEASURES = [
    "AP",
    "AP@20",
    "AP@R",
    "nDCG@10",
    "nDCG(gain=exp)",
    "RR",
    "P@5",
    "R@10",
    "Rprec",
    "Success@3",
    "RBP(p=0.8)",
    "Bpref",
]


@pytest.mark.parametrize("ties", RULES)
def test_every_measure_reads_the_ranks_as_it_reads_those_of_a_run(ties: str) -> None:
    queries, items, relevant, rng = sample(20)
    grades = np.where(relevant, rng.integers(0, 4, relevant.shape), np.nan)
    grades[:, 1] = 1
    gone = np.eye(*relevant.shape) > 0
    found = evaluate_embeddings(
        queries,
        items,
        as_judgements(grades),
        similarity="dot",
        exclude=same_row(),
        measures=MEASURES,
        policy={"ties": ties},
    ).scored()
    run, listed = as_run(queries @ items.T, gone), as_judgements(grades, gone)
    expected = evaluate(listed, run, MEASURES, policy={"ties": ties}).scored()
    assert found.queries == expected.queries
    for (measure, ours), theirs in zip(found.values.items(), expected.values.values(), strict=True):
        assert ours.tolist() == pytest.approx(theirs.tolist(), abs=1e-12), measure


@pytest.mark.parametrize(("ties", "share"), [("id", 0.2), ("expected", 0.1)])
def test_the_share_of_judged_results_does_not_hang_on_an_order_that_there_is_not(
    ties: str, share: float
) -> None:
    # 20 equal items, two of them judged: ids in descending order put both (9 and 8) first, and any
    # order puts each among the first ten as often as not.
    judgements = {"0": {"9": 1, "8": 0}}
    found = rank([[1.0]], np.ones((20, 1)), judgements, policy={"ties": ties})
    assert found.audit is not None
    assert found.audit.judged_at_10 == share


def test_the_basis_says_what_was_ranked() -> None:
    exclude = [listed({"0": {"5": 1}}), same_row()]
    found = rank(
        np.eye(2), np.eye(2), same_label([1, 2], [2, 1]), similarity="euclidean", exclude=exclude
    )
    assert found.basis == (
        "euclidean: the score is minus half the squared Euclidean distance, in double precision",
        "all items are ranked",
        "relevant: items of the query's own label",
        "excluded from the ranking: the items of the exclusion list, and the item with the "
        "query's own row number",
    )


# -- laws

VECTORS = hnp.arrays(
    np.int8, st.tuples(st.integers(1, 12), st.just(3)), elements=st.integers(-3, 3)
)


@given(queries=VECTORS, items=VECTORS, data=st.data())
def test_all_queries_at_once_equals_one_at_a_time(
    queries: Array, items: Array, data: st.DataObject
) -> None:
    relevant = data.draw(hnp.arrays(bool, (len(queries), len(items))))
    relevant[:, 0] = True
    at_once = hits_of(rank(queries, items, among(relevant), similarity="euclidean"))
    for query in range(len(queries)):
        alone = rank(queries[[query]], items, among(relevant[[query]]), similarity="euclidean")
        assert [hit[1:] for hit in hits_of(alone)] == [
            hit[1:] for hit in at_once if hit[0] == query
        ]


@given(
    values=st.lists(st.integers(-1000, 1000), min_size=1, max_size=30, unique=True), data=st.data()
)
def test_the_order_of_items_does_not_matter_where_nothing_ties(
    values: list[int], data: st.DataObject
) -> None:
    items = np.array([[value, value // 7] for value in values])
    queries = np.array(
        [[700, 1], [-700, -1]]
    )  # further apart than any difference of the second number can undo
    grades = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)))
    )
    grades[0] = 2
    order = np.array(data.draw(st.permutations(range(len(values)))))
    ranks = [
        hits_of(rank(queries, items[at], among(np.tile(grades[at], (2, 1))), similarity="dot"))
        for at in (np.arange(len(values)), order)
    ]
    assert ranks[0] == ranks[1]


@given(queries=VECTORS, items=VECTORS, others=VECTORS, data=st.data())
def test_excluded_items_might_as_well_not_be_there(
    queries: Array, items: Array, others: Array, data: st.DataObject
) -> None:
    relevant = data.draw(hnp.arrays(bool, (len(queries), len(items) + len(others))))
    relevant[:, 0] = True
    gone = np.arange(relevant.shape[1]) >= len(items)
    ties = data.draw(st.sampled_from(("input", "best", "worst")))
    with_others = rank(
        queries,
        np.vstack([items, others]),
        among(relevant),
        similarity="dot",
        exclude=among(np.tile(gone, (len(queries), 1))),
        policy={"ties": ties},
    )
    without = rank(
        queries, items, among(relevant[:, : len(items)]), similarity="dot", policy={"ties": ties}
    )
    assert hits_of(with_others) == hits_of(without)
    assert with_others.retrieved.tolist() == without.retrieved.tolist()
    assert with_others.pool_grade.tolist() == without.pool_grade.tolist()
