"""Many relevant items are counted in pieces, with the numbers of all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import judged
from judged.embeddings.ranks import cut
from support.loops import sampled


def numbers(found: judged.Evaluation) -> str:
    """Return all of them, to the last bit, NaN as NaN."""
    return repr(
        (found.to_dict(), found.to_frame(per_query=True).to_dict(as_series=False), found.audit)
    )


def vectors(seed: int) -> tuple[Any, Any]:
    """Whole numbers, whose products are exact, so that there are ties."""
    random = np.random.default_rng(seed)
    return tuple(random.integers(1, 4, (count, 4)).astype(np.float32) for count in (23, 90))  # type: ignore[return-value]


LABELS = [number % 5 for number in range(23)], [number % 4 for number in range(90)]
QRELS = {
    str(query): {str(item): 1 + item % 3 for item in range(query, 90, 7)}
    for query in (0, 3, 4, 9, 22, 40)
}
QRELS["3"]["nowhere"] = 2
QRELS["9"] = {"8": 0}


def by_function(begin: int, end: int) -> Any:
    return (np.arange(begin, end)[:, None] + np.arange(90)) % 3 == 0


RELEVANCE: dict[str, Any] = {
    "labels": judged.relevance.same_label(*LABELS),
    "judgements": QRELS,
    "function": by_function,
    "lists": judged.relevance.shared_label(
        [[number % 5, number % 3] for number in range(23)], [[number % 4] for number in range(90)]
    ),
}
SEARCHES: dict[str, dict[str, Any]] = {
    "plain": {},
    "euclidean": {"similarity": "euclidean"},
    "without itself": {"exclude": judged.relevance.same_row()},
    "without a label": {
        "exclude": judged.relevance.same_label([0] * 23, [number % 9 for number in range(90)]),
        "similarity": "hamming",
    },
    "categories": {"unique": [f"c{number % 40}" for number in range(90)]},
    "normalised": {"normalise": "csls(k=3)", "similarity": "dot"},
}
ASKED: dict[str, dict[str, Any]] = {
    "usual": {"measures": ["AP", "nDCG@10", "RR", "R@20", "F(average=means)@5", "Rank(of=all)"]},
    "tied": {"policy": {"ties": "expected"}},
    "best": {"policy": {"ties": "best", "empty": "skip"}},
}
SHOWING = {
    "tied": {"tie_range": True},
    "best": {"intervals": True},
    "usual": {"unanswerable": True},
}


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pieces of 40 pairs, where everything else would fit."""

    def begin() -> None:
        monkeypatch.setattr("judged.embeddings.ranks._PAIRS_PER_BLOCK", 40)
        monkeypatch.setattr("judged.embeddings.relations._CELLS_PER_PAIR", 5)

    return begin


CASES = [
    *((search, relevance, None) for search in SEARCHES for relevance in RELEVANCE),
    *((search, "judgements", (7, 25)) for search in SEARCHES),
]


@pytest.mark.parametrize(("search", "relevance", "tile"), sampled(CASES, every=4))
@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_pieces_give_the_numbers_of_all_at_once(
    search: str,
    relevance: str,
    tile: tuple[int, int] | None,
    in_pieces: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = judged.Embeddings(*vectors(0), **SEARCHES[search])

    def evaluate(name: str) -> judged.Evaluation:
        return both.evaluate(RELEVANCE[relevance], **ASKED[name]).showing(**SHOWING[name])

    whole = {name: evaluate(name) for name in ASKED}
    evaluated, top = both.evaluate_and_top_k(RELEVANCE[relevance], k=3)
    ranked = both.rank(RELEVANCE[relevance])
    in_pieces()
    if tile is not None:
        monkeypatch.setattr("judged.embeddings.product._shape", lambda *_: tile)
    for name in ASKED:
        assert numbers(evaluate(name)) == numbers(whole[name])
    found, top_again = both.evaluate_and_top_k(RELEVANCE[relevance], k=3)
    assert numbers(found) == numbers(evaluated)
    assert top_again.to_dict() == top.to_dict()
    again = both.rank(RELEVANCE[relevance])
    assert again.hit_rank.tolist() == ranked.hit_rank.tolist()
    assert again.audit == ranked.audit


def test_rows_are_cut_where_pairs_would_be_too_many() -> None:
    sizes = np.array([5, 0, 0, 9, 1, 1, 1, 1])
    assert list(cut(0, 8, sizes, 4)) == [(0, 1), (1, 3), (3, 4), (4, 8)]
    assert list(cut(3, 11, sizes, 100)) == [(3, 11)]
    assert list(cut(0, 2, np.zeros(2, np.int64), 1)) == [(0, 2)]
