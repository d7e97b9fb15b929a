"""Exact top-k lists: against a full sort, with ties of every kind, and as a run that evaluates to
the same numbers."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import judged
from judged.embeddings.kernel import first_places
from judged.embeddings.relevance import listed
from judged.embeddings.top_k import TopK
from judged.errors import OutputError, PolicyError
from support.dense import whole_numbers
from support.errors import error_of
from support.products import top_k
from support.tables import rows_of


def fully_sorted(
    scores: np.ndarray,
    k: int,
    *,
    names: Sequence[str] | None = None,
    gone: set[tuple[int, int]] = frozenset(),
) -> list[list[int]]:
    """The slow twin: all items of a query, sorted by score and then by the tie rule."""
    place = np.arange(scores.shape[1])
    if names is not None:
        place[
            np.array(sorted(range(len(names)), key=lambda item: names[item].encode(), reverse=True))
        ] = np.arange(len(names))
    lists = []
    for query, row in enumerate(scores):
        there = [item for item in range(len(row)) if (query, item) not in gone]
        lists.append(sorted(there, key=lambda item: (-row[item], place[item]))[:k])
    return lists


def lists_of(results: TopK) -> list[list[int]]:
    assert (results.items >= 0).sum(axis=1).tolist() == results.lengths.tolist()
    return [
        row[:length].tolist() for row, length in zip(results.items, results.lengths, strict=True)
    ]


@pytest.mark.parametrize("k", [1, 7, 100, 1999, 2000])
@pytest.mark.parametrize("most", [0, 1, 3, 1000])
def test_a_full_sort_finds_the_same(k: int, most: int) -> None:
    rng = np.random.default_rng(k + most)
    queries, items = whole_numbers(rng, 9, 4, most), whole_numbers(rng, 2000, 4, most)
    results = top_k(queries, items, k, similarity="dot", ties="input")
    assert lists_of(results) == fully_sorted(queries @ items.T, k)
    assert np.array_equal(
        results.scores, np.take_along_axis(queries @ items.T, results.items, axis=1)
    )


@pytest.mark.parametrize("k", [1, 5, 40])
def test_ties_fall_by_id_descending_on_bytes(k: int) -> None:
    rng = np.random.default_rng(k)
    queries, items = whole_numbers(rng, 6, 2, 1), whole_numbers(rng, 900, 2, 1)
    names = [f"{'é' if number % 3 else 'z'}{number}" for number in rng.permutation(900)]
    results = top_k(queries, items, k, similarity="dot", item_ids=names)
    assert lists_of(results) == fully_sorted(queries @ items.T, k, names=names)


def test_without_ids_row_numbers_are_the_ids() -> None:
    results = top_k([[1.0]], np.ones((12, 1)), 3)
    assert results.items.tolist() == [
        [9, 8, 7]
    ]  # as texts: "9" > "8" > "7" > … > "11" > "10" > "1" > "0"


@given(
    scores=hnp.arrays(
        np.float32,
        st.integers(1, 300),
        elements=st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf]),
    ),
    k=st.integers(1, 20),
)
def test_all_scores_that_reach_the_kth_are_found(scores: np.ndarray, k: int) -> None:
    there = np.sort(scores[scores > -np.inf])[::-1]
    limit = there[min(k, len(there)) - 1] if len(there) else np.inf
    assert sorted(first_places(scores, k).tolist()) == [
        at for at, score in enumerate(scores) if score >= limit and score > -np.inf
    ]


@pytest.mark.parametrize("excluded", [0, 3, 90, 4990, 5000])
def test_excluded_items_never_appear_and_shorten_the_list(excluded: int) -> None:
    rng = np.random.default_rng(excluded)
    queries, items = whole_numbers(rng, 3, 3), whole_numbers(rng, 5000, 3)
    chosen = {(query, int(item)) for query in (0, 2) for item in rng.permutation(5000)[:excluded]}
    gone_items: dict[str, dict[str, int]] = {"1": {"no such item": 1}}
    for query, item in chosen:
        gone_items.setdefault(str(query), {})[str(item)] = 1
    results = top_k(queries, items, 20, similarity="dot", exclude=listed(gone_items), ties="input")
    assert lists_of(results) == fully_sorted(queries @ items.T, 20, gone=chosen)
    assert results.lengths.tolist() == [min(20, 5000 - excluded), 20, min(20, 5000 - excluded)]
    assert np.isneginf(results.scores[results.items < 0]).all()


def test_a_trec_run_has_six_columns_and_all_digits(tmp_path: Path) -> None:
    third = np.float32(1) / np.float32(3)
    scores = np.array([[third, np.nextafter(third, np.float32(0)), 1e-9]], np.float32).T
    top_k([[1.0]], scores, 3, similarity="dot", item_ids=["a", "b", "c"]).save(
        tmp_path / "a.run", tag="mine"
    )
    assert (tmp_path / "a.run").read_text() == (
        "0 Q0 a 1 0.3333333432674408 mine\n0 Q0 b 2 0.3333333134651184 mine\n"
        "0 Q0 c 3 9.999999717180685e-10 mine\n"
    )


@pytest.mark.parametrize(
    ("name", "tag", "message"),
    [
        (
            "r.run",
            "my run",
            "r.run: the tag 'my run' has white space or a NUL in it, or begins like a comment, "
            "which a TREC run cannot hold; write .json, or change it.",
        ),
        (
            "r.run.gz",
            "t",
            "r.run.gz: the ending says the format, and must be .run, .trec, .txt, .json, .csv, "
            ".md, .html or .parquet.",
        ),
        ("no/r.run", "t", "no/r.run: there is no folder no; make it first."),
    ],
)
def test_a_run_that_cannot_be_written(folder: Path, name: str, tag: str, message: str) -> None:
    assert error_of(top_k([[1.0]], [[1.0]], 1).save, name, error=OutputError, tag=tag) == message
    assert not list(folder.iterdir())


def test_ties_need_a_rule_without_grades() -> None:
    assert error_of(top_k, [[1.0]], [[1.0]], 1, error=PolicyError, ties="best") == (
        "the first k items are chosen with ties=id or ties=input; got 'best'."
    )


# -- saved runs


PARTS = ["#", " ", "\t", "\n", "\r", '"', "'", ",", "\ufeff", "\0", "\x0b", "\x1c", "\x85", "\xa0"]
PARTS += ["\u2028", "=", "-", "@", "{", "[", "}", "é", "😀", "\\", "null", "1", "1.0", "NaN", "a"]
WHOLE = ["", "PAR1", "GIF89a", "%PDF-", "BZh91AY&SY", "qid,docno,", "query\titem", '{"', '[{"', "#"]
WHOLE += ['{"query":"a","item":"b","score":1}', "ÿþ", "query_id", "\ufeff", "=1+1", "0", "{}"]


def saved(query: str, item: str, path: Path) -> judged.results.TopK:
    """Two queries with two items each, the odd ones first."""
    both = judged.Embeddings(
        np.eye(2), np.eye(2), query_ids=[query, "other"], item_ids=[item, "another"]
    )
    found = both.top_k(2)
    found.save(path)
    return found


@pytest.mark.parametrize("ending", [".run", "", ".csv", ".parquet", ".json"])
def test_what_is_written_is_read_back(tmp_path, ending):
    draw = random.Random(13)
    path = tmp_path / f"saved{ending}"
    odd = WHOLE + PARTS + ["".join(draw.choices(PARTS, k=draw.randint(2, 3))) for _ in range(5)]
    written = 0
    for each in odd:
        for query, item in ((each, "d"), ("q", each)):
            path.unlink(missing_ok=True)
            refusal = ""
            try:
                found = saved(query, item, path)
            except OutputError as error:
                refusal = str(error)
            if refusal:
                assert f"{each!r} " in refusal
                assert refusal.endswith("change it.")
                assert not path.exists()
            else:
                run = judged.read_run(path)
                rows = found.to_frame().select("query", "item").rows()
                assert [row[:2] for row in rows_of(run)] == rows
                written += 1
    assert written > len(odd)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        *(
            (query, "has white space or a NUL in it, or begins like a comment")
            for query in ("#1", "\ufeff1", "a\0b")
        ),
        *((query, "makes the first line look like another format") for query in ('{"a', "PAR1")),
    ],
)
def test_what_a_trec_run_cannot_hold(folder, query, why):
    assert error_of(saved, query, "d", Path("a.run"), error=OutputError) == (
        f"a.run: the query id {query!r} {why}, which a TREC run cannot hold; write .json, or "
        "change it."
    )
    saved(query, "d", Path("a.json"))
    assert list(json.loads(Path("a.json").read_text(encoding="utf-8"))) == [query, "other"]
