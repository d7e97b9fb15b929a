"""Very many relevant items: counted and evaluated in pieces, with the numbers of all at once."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import judged
from judged.embeddings import evaluated
from judged.embeddings.pieces import cut
from judged.embeddings.relations import as_relation


def numbers(found: judged.Evaluation) -> str:
    """All of them, to the last bit, NaN as NaN; but not the warnings that look into kept ranks."""
    said = {name: each for name, each in found.to_dict().items() if name != "warnings"}
    return repr((said, found.per_query.to_dict(as_series=False), found.audit))


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
    "normalised": {"normalise": "csls(k=3)"},
}
ASKED: dict[str, dict[str, Any]] = {
    "usual": {"measures": ["AP", "nDCG@10", "RR", "R@20", "F(average=means)@5", "Rank(of=all)"]},
    "tied": {"tie_range": True, "policy": {"ties": "expected"}},
    "best": {"policy": {"ties": "best", "empty": "skip"}, "interval": True},
    "apart": {"unanswerable": True},
}


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pieces of 40 pairs, where everything else would fit."""

    def begin() -> None:
        monkeypatch.setattr("judged.embeddings.evaluated._BYTES", 1 << 30)
        monkeypatch.setattr("judged.embeddings.pieces.PAIRS", 40)
        monkeypatch.setattr("judged.embeddings.pieces._TALLIED", 60)
        monkeypatch.setattr("judged.embeddings.pieces._CELLS", 200)

    return begin


CASES = [
    *((search, relevance, None) for search in SEARCHES for relevance in RELEVANCE),
    *((search, "judgements", (7, 25)) for search in SEARCHES if search != "normalised"),
]


@pytest.mark.parametrize(("search", "relevance", "tile"), CASES)
@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_pieces_give_the_numbers_of_all_at_once(
    search: str,
    relevance: str,
    tile: tuple[int, int] | None,
    in_pieces: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = judged.Embeddings(*vectors(0), **SEARCHES[search])
    whole = {name: both.evaluate(RELEVANCE[relevance], **asked) for name, asked in ASKED.items()}
    evaluated, top = both.evaluate_and_top_k(RELEVANCE[relevance], k=3)
    ranked = both.rank(RELEVANCE[relevance])
    in_pieces()
    if tile is not None:
        monkeypatch.setattr("judged.embeddings.ready._shape", lambda *_: tile)
    for name, asked in ASKED.items():
        found = both.evaluate(RELEVANCE[relevance], **asked)
        assert numbers(found) == numbers(whole[name])
    found, top_again = both.evaluate_and_top_k(RELEVANCE[relevance], k=3)
    assert numbers(found) == numbers(evaluated)
    assert top_again.to_dict() == top.to_dict()
    again = both.rank(RELEVANCE[relevance])
    assert again.hit_rank.tolist() == ranked.hit_rank.tolist()
    assert again.audit == ranked.audit


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_ranks_are_kept_as_long_as_they_are_few(in_pieces: Any, monkeypatch: Any) -> None:
    both = judged.Embeddings(*vectors(1))
    whole = both.evaluate(by_function, "AP")
    in_pieces()
    assert both.evaluate(by_function, "AP").rankings == {}
    monkeypatch.setattr("judged.embeddings.evaluated._BYTES", 600_000)  # 690 pairs, of 2,070
    kept = both.evaluate(by_function, "AP").rankings["embeddings"]
    ranked = whole.rankings["embeddings"]
    assert kept.hit_rank.tolist() == ranked.hit_rank.tolist()
    assert kept.queries == ranked.queries
    assert kept.audit == ranked.audit


@pytest.mark.parametrize("relevance", RELEVANCE)
def test_relations_that_count_exactly_do(relevance: str) -> None:
    both = judged.Embeddings(*vectors(0))
    bound = as_relation(RELEVANCE[relevance], what="relevance").bind(both.queries, both.items)
    exact = getattr(bound, "exact", False)
    assert exact == (relevance in ("labels", "judgements"))
    if exact:
        assert bound.most(3, 20).tolist() == bound.block(3, 20).lengths.tolist()  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore::judged.JudgedWarning")
def test_ranks_that_are_surely_too_many_are_never_kept(in_pieces: Any, monkeypatch: Any) -> None:
    in_pieces()
    monkeypatch.setattr("judged.embeddings.evaluated._BYTES", 10_000_000)  # 100 pairs, of 414
    kept: list[int] = []
    add = evaluated._Kept.add

    def watched(self: Any, *given: Any) -> None:
        add(self, *given)
        kept.append(len(self._pieces))

    monkeypatch.setattr(evaluated._Kept, "add", watched)
    for search, relevance in (("plain", "labels"), ("without itself", "labels")):
        kept.clear()
        both = judged.Embeddings(*vectors(0), **SEARCHES[search])
        assert both.evaluate(RELEVANCE[relevance], "AP").rankings == {}
        assert len(kept) > 3
        assert any(kept) == (search != "plain")


def test_nothing_relevant_is_refused_in_pieces_too(in_pieces: Any) -> None:
    in_pieces()
    message = "^no item is relevant to any query; check the relevance that was given.$"
    with pytest.raises(judged.InputError, match=message):
        judged.Embeddings(*vectors(0)).evaluate(lambda begin, end: np.zeros((end - begin, 90)))


def test_rows_are_cut_where_pairs_would_be_too_many() -> None:
    sizes = np.array([5, 0, 0, 9, 1, 1, 1, 1])
    assert list(cut(0, 8, sizes, 4)) == [(0, 1), (1, 3), (3, 4), (4, 8)]
    assert list(cut(3, 11, sizes, 100)) == [(3, 11)]
    assert list(cut(0, 2, np.zeros(2, np.int64), 1)) == [(0, 2)]


MANY = """
import resource, sys
import numpy as np
import judged
random = np.random.default_rng(0)
queries, items = (random.normal(size=(count, 8)).astype(np.float32) for count in (600, 10_000))
few = judged.relevance.same_label(np.arange(4), np.arange(8))
judged.evaluate_embeddings(queries[:4], items[:8], few, "AP", memory="20MB")  # loads modules
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
relevance = judged.relevance.same_label(np.zeros(600, int), np.zeros(10_000, int))
judged.evaluate_embeddings(queries, items, relevance, "AP", memory="20MB")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units elsewhere")
def test_ten_thousand_positives_stay_under_a_cap() -> None:
    """Six million pairs: the ranks alone would take 430 MB."""
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100_000  # kB; of 20 MB and what counting a row of each thread takes
