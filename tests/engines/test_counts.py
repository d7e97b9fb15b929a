"""Counts of shards add up to the ranks of a search in all items at once, bit for bit."""

from __future__ import annotations

import pickle
import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import judged
from judged import Rankings
from judged.engines.spark._counts import Counts, Prepared, prepare
from judged.errors import InputError, PolicyError

SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan", "hamming", "learned", "matrix")


def alike(one: Rankings, other: Rankings) -> None:
    for each in fields(one):
        if each.name in ("audit", "basis"):
            continue
        left, right = getattr(one, each.name), getattr(other, each.name)
        if isinstance(left, np.ndarray):
            same = np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
        else:
            same = left == right
        assert same, each.name
    assert one.audit == other.audit
    assert one.basis == other.basis


class Case:
    """Queries and items with judgements by id, and how they are compared."""

    def __init__(self, seed: int, similarity: str, *, whole: bool = False, kind: Any = np.float32):
        self.random = random = np.random.default_rng(seed)
        queries, items, dims = 9, 120, 6
        if whole:
            vectors = random.integers(-2, 3, (queries + items, dims)).astype(kind)
            vectors[:, 0] = 1  # no zeros
        else:
            vectors = random.normal(size=(queries + items, dims)).astype(kind)
            vectors[queries + 50 : queries + 60] = vectors[queries : queries + 10]  # equal ones
            vectors[queries + 60 : queries + 70] = vectors[queries : queries + 10] * 2
            vectors[queries + 70] += 1e-7
        self.queries, self.items = vectors[:queries], vectors[queries:]
        self.query_ids = [f"q{number}" for number in range(queries)]
        self.item_ids = [f"d{number:03d}" for number in range(items)]
        random.shuffle(self.item_ids)
        self.item_ids[:3] = self.query_ids[:3]
        self.judgements = {
            query: {
                self.item_ids[at]: int(grade)
                for at, grade in zip(
                    random.choice(40, 7, replace=False), random.integers(0, 4, 7), strict=True
                )
            }
            for query in [*self.query_ids[:-1], "absent"]
        }
        self.judgements[self.query_ids[0]]["nowhere"] = 1
        self.similarity: Any = similarity
        if similarity == "matrix":
            self.similarity = random.normal(size=(dims, dims))
        if similarity == "learned":
            labels = np.arange(60) % 3
            seen = np.eye(dims)[labels] + 0.5 * random.normal(size=(60, dims))
            self.similarity = judged.learn.fit(
                judged.Embeddings(seen, seen),
                judged.relevance.same_label(labels, labels),
                kind="diagonal",
                iterations=3,
            )

    def rows(self, only_judged: bool) -> list[int]:
        judged_ids = {item for items in self.judgements.values() for item in items}
        return [
            row for row, name in enumerate(self.item_ids) if (name in judged_ids) == only_judged
        ]

    def prepared(self, **options: Any) -> Prepared:
        rows = self.rows(True)
        return prepare(
            self.queries,
            self.items[rows],
            self.judgements,
            similarity=self.similarity,
            query_ids=self.query_ids,
            item_ids=[self.item_ids[row] for row in rows],
            **options,
        )

    def embeddings(self, **options: Any) -> judged.Embeddings:
        return judged.Embeddings(
            self.queries,
            self.items,
            similarity=self.similarity,
            query_ids=self.query_ids,
            item_ids=self.item_ids,
            **options,
        )

    def counts(self, ready: Prepared, parts: int, rows: Any = None) -> Counts:
        rows = self.random.permutation(len(self.items) if rows is None else rows)
        parts_of = (
            ready.count([self.item_ids[row] for row in some], self.items[some])
            for some in np.array_split(rows, parts)
        )
        return sum(parts_of, ready.nothing())


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_any_cut_gives_the_ranks_of_all_items_at_once(
    similarity: str, whole: bool, kind: Any
) -> None:
    for seed in range(3):
        case = Case(seed, similarity, whole=whole, kind=kind)
        expected = case.embeddings().rank(case.judgements)
        ready = pickle.loads(pickle.dumps(case.prepared()))
        for parts in (1, 3, 7):
            alike(ready.rankings(case.counts(ready, parts), items=120), expected)


@pytest.mark.parametrize("ties", ["id", "best", "worst", "expected"])
def test_judged_items_count_once_whether_a_shard_holds_them_or_not(ties: Any) -> None:
    case = Case(4, "dot", whole=True)
    expected = case.embeddings().rank(case.judgements, policy={"ties": ties})
    ready = case.prepared()
    for rows in (len(case.items), case.rows(False)):
        counts = case.counts(ready, 4, rows)
        alike(ready.rankings(counts, items=120, policy=judged.Policy(ties=ties)), expected)


@pytest.mark.parametrize("similarity", ["cosine", "euclidean", "hamming"])
@pytest.mark.parametrize("tile", [None, (4, 17)])
def test_exclusions(
    similarity: str, tile: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tile is not None:
        monkeypatch.setattr("judged.embeddings.product._shape", lambda *_: tile)
    for seed in range(3):
        case = Case(seed, similarity, whole=seed == 0)
        listed = {"q1": {case.item_ids[3]: 1, case.item_ids[100]: 1}, "q5": {case.item_ids[0]: 1}}
        exclude = [judged.relevance.same_id(), judged.relevance.listed(listed)]
        both = case.embeddings(exclude=exclude)
        expected = both.rank(case.judgements)
        ready = case.prepared(exclude=exclude)
        for parts in (1, 5, 60):
            rankings = ready.rankings(case.counts(ready, parts), items=120)
            alike(rankings, expected)
            found, wanted = (each.evaluate().to_dict()["runs"] for each in (rankings, expected))
            assert found == wanted


def test_an_outlier_among_the_judged_items() -> None:
    """Scores that a shard's precision cannot hold: counted all the same."""
    random = np.random.default_rng(0)
    items = random.normal(size=(50, 4))
    items[0], items[1] = 1e30, -1e30
    queries = random.normal(size=(3, 4))
    judgements = {str(query): {"0": 1, "1": 1, "2": 1} for query in range(3)}
    for similarity in ("dot", "euclidean", "cosine"):
        expected = judged.Embeddings(queries, items, similarity=similarity).rank(judgements)
        ready = prepare(queries, items[:3], judgements, similarity=similarity)
        counts = ready.nothing()
        for begin in range(0, 50, 10):
            counts += ready.count(range(begin, begin + 10), items[begin : begin + 10])
        alike(ready.rankings(counts, items=50), expected)


def test_one_close_score_beside_others_in_a_long_row() -> None:
    """Scores that single precision cannot tell apart: two above one relevant item, and one above
    the other."""
    close = [1 + 1e-12, 1 + 2e-12, 2 + 1e-12]
    shard = np.append(close, np.linspace(0, 0.5, 3000))[:, None]
    ready = prepare([[1.0]], [[1.0], [2.0]], {"0": {"0": 1, "1": 1}}, similarity="dot")
    counts = ready.count([f"other {at}" for at in range(len(shard))], shard)
    assert ready.rankings(counts, items=3005).hit_rank.tolist() == [2, 5]


def refused(error: type[Exception], message: str) -> Any:
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def test_items_that_are_left_out_or_counted_twice() -> None:
    case = Case(3, "cosine")
    ready = case.prepared()
    counts = case.counts(ready, 2)
    for wrong in (ready.nothing(), counts + counts):
        with refused(
            InputError,
            f"{(wrong + ready.start).items} items were counted, of 120: the items in Spark changed "
            "while they were counted. Evaluate again.",
        ):
            ready.rankings(wrong, items=120)
    with refused(
        PolicyError,
        "ties=input needs an order, which items in Spark do not have; choose another rule.",
    ):
        ready.rankings(counts, items=120, policy=judged.Policy(ties="input"))


def test_what_cannot_be_counted_in_shards_is_refused_by_name() -> None:
    sides: Any = ([[1.0, 0.0]], [[1.0, 1.0]], {"0": {"0": 1}})
    with refused(
        InputError,
        "a similarity that is a function has no bound of its rounding, so that counts of "
        "partitions would not add up; give a name, a matrix, or a learned similarity.",
    ):
        prepare(*sides, similarity=lambda queries, items: queries @ items.T)
    with refused(
        InputError,
        "items in Spark are excluded by id; exclude may be judged.relevance.same_id() or "
        "judged.relevance.listed(…), not: the item with the query's own row number.",
    ):
        prepare(*sides, exclude=judged.relevance.same_row())
