"""Texts and vectors that are the same or nearly so: against every pair compared by hand."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from judged.inputs.vectors import Vectors
from judged.judgements import twins
from judged.judgements.twins import (
    TooManyError,
    plain_ids,
    same_texts,
    same_vectors,
    unlike,
)


def pairs(found: pl.DataFrame) -> set[tuple[int, int]]:
    return set(found.select("one", "other").rows())


def brute_force(texts: list[str], asked: list[int], near: float) -> dict[tuple[int, int], float]:
    sets = [set(text.split()) for text in texts]
    numbers = [{word for word in words if re.search(r"\d", word)} for words in sets]
    found = {}
    for one in asked:
        for other in range(len(texts)):
            if one != other and sets[one] and sets[other] and numbers[one] == numbers[other]:
                share = len(sets[one] & sets[other]) / len(sets[one] | sets[other])
                if share >= near or texts[one] == texts[other]:
                    found[one, other] = share
    return found


@pytest.mark.parametrize("near", [0.5, 2 / 3, 0.8, 0.9, 1.0])
def test_texts_are_those_of_every_pair(near: float) -> None:
    random = np.random.default_rng(3)
    words = [*"abcdefghij", "1", "22"]
    texts = [" ".join(random.choice(words, random.integers(0, 9)).tolist()) for _ in range(300)] + [
        ""
    ] * 3
    asked = np.arange(0, 303, 2)
    found, silent = same_texts(pl.Series(texts), asked, near)
    expected = brute_force(texts, asked.tolist(), near)
    assert silent == texts.count("")
    got = {(one, other): near for one, other, near in found.rows()}
    assert got == pytest.approx(expected)
    assert found.height == len(expected)  # each pair once


def test_the_join_in_parts_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    texts = pl.Series([" ".join(random.choice([*"abcdefg"], 6).tolist()) for _ in range(60)])
    whole = pairs(same_texts(texts, np.arange(60), 0.6)[0])
    monkeypatch.setattr(twins, "PAIRS_PER_JOIN", 500)
    monkeypatch.setattr(twins, "WORDS_PER_COMPARISON", 400)
    monkeypatch.setattr(twins, "TEXTS_PER_BLOCK", 25)
    assert pairs(same_texts(texts, np.arange(60), 0.6)[0]) == whole


@pytest.mark.parametrize("limit", ["MAX_PAIRS", "MAX_CANDIDATES"])
def test_too_many_pairs_are_not_kept(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twins, limit, 10)
    with pytest.raises(TooManyError):
        same_texts(pl.Series(["a b c d", "b a c d"] * 5 + ["c b a d"]), np.arange(11), 0.9)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Cold  War?", "cold war", True),
        ("ﬁne ＷＩＮＥ", "fine wine", True),
        ("caf\u00e9", "cafe\u0301", True),
        ("what's new", "whats new", True),
        ("soft\u00adware", "software", True),
        ("flights london paris", "flights paris london", True),  # the same words
        ("learn c", "learn c++", False),
        ("learn c#", "learn c++", False),
        ("python 2", "python 3", False),
        ("😀", "😢", False),
        ("東京の天気", "東京の天候", False),
        ("best restaurants in paris", "best italian restaurants in paris", False),
        ("one two three four five six seven eight nine ten 2014 cup",) * 1
        + ("one two three four five six seven eight nine ten 2018 cup", False),
        ("one two three four five six seven eight nine ten",) * 1
        + ("one two three four five six seven eight nine ten please", True),  # 10 of 11
        ("", "", False),
        ("?!", "...", False),
    ],
)
def test_what_is_the_same(one: str, other: str, same: bool) -> None:
    found, _ = same_texts(pl.Series([one, other]), np.arange(2), 0.9)
    assert pairs(found) == ({(0, 1), (1, 0)} if same else set())


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("D1", "d1", "case"),
        ("7", "007", "zero padding"),
        ("doc-07", "DOC-7", "case and zero padding"),
        ("caf\u00e9", "cafe\u0301", "Unicode form"),
        ("１２", "12", "Unicode form"),
        (" a", "a", "white space at the ends"),
    ],
)
def test_spellings_of_an_id(one: str, other: str, differ: str) -> None:
    assert plain_ids(pl.Series([one])).to_list() == plain_ids(pl.Series([other])).to_list()
    assert unlike(one, other) == differ


@pytest.mark.parametrize(
    ("one", "other"), [("10", "1"), ("1.10", "1.1"), ("1.05", "1.5"), ("a-b", "ab"), ("0", "")]
)
def test_ids_that_are_two(one: str, other: str) -> None:
    assert plain_ids(pl.Series([one]))[0] != plain_ids(pl.Series([other]))[0]


@pytest.mark.parametrize("near", [0.9, 0.99, 1.0])
def test_vectors_are_those_of_every_pair(near: float) -> None:
    random = np.random.default_rng(5)
    base = random.normal(size=(40, 6))
    noisy = base + random.normal(size=base.shape) * 0.2
    matrix = np.vstack([base, noisy, base[:5] * 4])
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    asked = np.arange(0, len(matrix), 2)
    cosine = unit @ unit.T + 1e-12
    expected = {
        (one, other)
        for one in asked.tolist()
        for other in range(len(matrix))
        if one != other and cosine[one, other] >= near
    }
    found, lost = same_vectors(Vectors(matrix), asked, near, "1MB")
    assert (pairs(found), lost) == (expected, 0)


def test_vectors_without_a_direction_are_left_out() -> None:
    nan, inf = np.nan, np.inf
    matrix = np.array([[1.0, 0], [1, 0], [0, 0], [nan, 1], [inf, 0], [0, 0]], np.float32)
    found, lost = same_vectors(Vectors(matrix), np.arange(6), 0.99)
    assert (pairs(found), lost) == ({(0, 1), (1, 0)}, 4)
    found, lost = same_vectors(Vectors(matrix[2:]), np.arange(4), 0.99)
    assert (pairs(found), lost) == (set(), 4)
