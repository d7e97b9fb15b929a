"""Fused scores and orders: worked by hand, against a plain loop over queries, and what is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import fuse
from judged.errors import InputError, PolicyError
from judged.runs import METHODS, NORMALISATIONS, TIES
from support.errors import error_of
from support.loops import for_each

Lists = Mapping[str, Mapping[str, float]]


def normalised(score: float, rank: float, scores: Sequence[float], how: str) -> float:
    low, high, length = min(scores), max(scores), len(scores)
    if how == "minmax":
        return 1.0 if low == high else (score - low) / (high - low)
    if how == "zscore":
        return 0.0 if low == high else (score - fmean(scores)) / pstdev(scores)
    if how == "max":
        return score / high
    if how == "sum":
        return 1 / length if low == high else (score - low) / sum(each - low for each in scores)
    return 1 - (rank - 1) / length if how == "rank" else score


def ranks(scores: Mapping[str, float], ties: str, depth: int) -> dict[str, list[int]]:
    """The ranks that each item may have, the first `depth` of a list; by `expected` all of its
    tie."""
    order = list(scores)
    if ties != "input":
        order.sort(key=str.encode, reverse=True)
    order.sort(key=lambda item: -scores[item])
    spans = {item: [order.index(item) + 1] for item in order}
    if ties == "expected":
        for item in order:
            spans[item] = [at for at, each in enumerate(order, 1) if scores[each] == scores[item]]
    return {item: span for item, span in spans.items() if span[0] <= depth}


def twin(
    runs: Mapping[str, Lists],
    method: str,
    how: str | None,
    weights: Sequence[float],
    ties: str,
    depth: int = 1000,
) -> dict[str, dict[str, float]]:
    """The slow twin: query by query and item by item, in no order."""
    fused: dict[str, dict[str, float]] = {}
    for query in {query: None for run in runs.values() for query in run}:
        given: dict[str, list[float]] = {}
        for run, weight in zip(runs.values(), weights, strict=True):
            placed = ranks(run.get(query, {}), ties, depth)
            scores = [run[query][item] for item in placed]
            for item, span in placed.items():
                by_rank = [
                    1 / (60 + rank)
                    if method == "rrf"
                    else normalised(run[query][item], rank, scores, str(how))
                    for rank in span
                ]
                given.setdefault(item, []).append(weight * sum(by_rank) / len(by_rank))
        times = (lambda each: len(each)) if method == "combmnz" else (lambda each: 1)
        fused[query] = {item: sum(sorted(each)) * times(each) for item, each in given.items()}
    return fused


scores = st.sampled_from([0.5, 1.0, 2.0, 3.5, 7.0])
lists = st.dictionaries(st.sampled_from("abcdeé😀"), scores, min_size=1, max_size=6)
run = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), lists, max_size=2)
run = run.map(lambda each: {**each, "shared": {"a": 1.0, "b": 0.5}})


@given(
    st.lists(run, min_size=2, max_size=4),
    st.sampled_from([(m, n) for m in METHODS for n in NORMALISATIONS if m != "rrf"])
    | st.just(("rrf", None)),
    st.sampled_from([None, (2.0, 1.0, 0.25, 3.0)]),
    st.sampled_from(list(TIES)),
)
def test_a_plain_loop_finds_the_same(
    given_runs: list[Lists], how: tuple[str, Any], weights: Any, ties: Any
) -> None:
    method, normalise = how
    runs = {f"run{at}": each for at, each in enumerate(given_runs)}
    if method == "weighted":
        weights = weights or (1.0, 2.0, 1.0, 0.5)
    weights = weights and list(weights[: len(runs)])
    found = fuse(runs, method=method, normalise=normalise, weights=weights, policy={"ties": ties})
    expected = twin(runs, method, normalise, weights or [1.0] * len(runs), ties)
    assert list(found.to_dict()) == list(expected)
    for query, items in found.to_dict().items():
        assert items == pytest.approx(expected[query], abs=1e-12)
        order = list(items)
        if ties == "input":
            lists = [run.get(query, {}) for run in runs.values()]
            named = [item for own in lists for item in sorted(own, key=lambda i, own=own: -own[i])]
            named = list(dict.fromkeys(named))
        else:
            named = sorted(items, key=str.encode, reverse=True)
        assert order == sorted(named, key=lambda item: -items[item])


@given(st.lists(run, min_size=3, max_size=4), st.data())
def test_the_order_of_the_runs_does_not_matter(given_runs: list[Lists], data: Any) -> None:
    """Nor do last bits: what is the same sum in another order is a tie, broken by id."""
    runs = {f"run{at}": each for at, each in enumerate(given_runs)}
    names = data.draw(st.sampled_from(list(permutations(runs))))
    other = fuse({name: runs[name] for name in names}).to_dict()
    for query, items in fuse(runs).to_dict().items():
        assert list(items.items()) == list(other[query].items())


def test_reciprocal_ranks_by_hand() -> None:
    runs = {
        "one": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}},
        "two": {"q": {"c": 0.9, "d": 0.8}},
    }
    # a: 1/61; b: 1/62; c: 1/63 + 1/61; d: 1/62, tied with b: the greater id first.
    assert fuse(runs).to_dict() == {
        "q": {"c": 1 / 63 + 1 / 61, "a": 1 / 61, "d": 1 / 62, "b": 1 / 62}
    }
    assert list(fuse(runs, policy={"ties": "input"}).to_dict()["q"]) == ["c", "a", "b", "d"]
    for weights in ([2, 1], {"two": 1, "one": 2}):
        values = list(fuse(runs, weights=weights).to_dict()["q"].values())
        assert values == [2 / 63 + 1 / 61, 2 / 61, 2 / 62, 1 / 62]
    assert fuse(runs, k=1).to_dict()["q"]["c"] == 1 / 4 + 1 / 2


def test_depth_cuts_the_lists_and_the_fused_ones() -> None:
    runs = {
        "one": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}},
        "two": {"q": {"d": 3.0, "e": 2.0, "c": 1.0}},
    }
    found = fuse(runs, policy={"depth": 2})
    assert found.to_dict() == {"q": {"d": 1 / 61, "a": 1 / 61}}
    assert [note for note in found.notes if "cut" in note or "longer" in note] == [
        "one: 1 list is longer than 2; results below do not count.",
        "two: 1 list is longer than 2; results below do not count.",
        "1 fused list was cut at 2 results.",
    ]
    # Where ties have no order none is chosen by it: a and d are tied, and so are b and e.
    assert len(fuse(runs, policy={"depth": 1, "ties": "expected"}).to_dict()["q"]) == 2
    tied = {"one": {"q": {"a": 1.0, "b": 1.0}}, "two": {"q": {"a": 1.0}}}
    found = fuse(tied, policy={"depth": 1, "ties": "expected"}).to_dict()["q"]
    assert found == pytest.approx({"a": 1 / 61 + (1 / 61 + 1 / 62) / 2})


def test_queries_without_results_are_said() -> None:
    runs = {"one": {"q": {"a": 1.0}, "p": {}, "o": {}}, "two": {"q": {"b": 1.0, "a": 0.5}, "o": {}}}
    found = fuse(runs)
    assert found.names() == ["q"]
    assert found.warnings() == [
        "2 queries have no results in any run, so the fused run lacks o, p."
    ]


def test_lists_with_one_score_are_said() -> None:
    runs = {"one": {"q": {"a": 5.0, "b": 5.0}}, "two": {"q": {"a": 2.0, "c": 1.0}}}
    said = {
        "minmax": ({"a": 2.0, "b": 1.0, "c": 0.0}, "1"),
        "zscore": ({"a": 1.0, "b": 0.0, "c": -1.0}, "0"),
        "sum": ({"a": 1.5, "b": 0.5, "c": 0.0}, "the same share"),
    }
    for normalise, (values, word) in said.items():
        found = fuse(runs, method="combsum", normalise=normalise)
        assert found.to_dict() == {"q": values}
        assert found.warnings()[0] == (
            f"one: 1 list has only one score, so each result there counts {word}."
        )
    assert fuse(runs).warnings() == []


def test_what_could_mislead_is_said() -> None:
    same = {"q": {"a": 2.0, "b": 1.0}}
    assert fuse({"one": same, "two": same}).warnings() == [
        "one and two are identical, so their lists count twice."
    ]
    assert fuse({"one": same, "two": {"q": {"doc-a": 1.0}}}).warnings() == [
        "None of the results of one (2) is in another run. Are its item ids spelled like theirs?",
        "None of the results of two (1) is in another run. Are its item ids spelled like theirs?",
    ]
    found = fuse({"one": same, "two": {"q": ["b", "c"]}}, method="combmnz", normalise="zscore")
    assert found.warnings() == [
        "two: the run has an order but no scores, so combmnz adds numbers made from its ranks. Use "
        "rrf for ranks.",
        "2 of 4 scores are below 0 after zscore, so these items get less than items that the list "
        "lacks, which get 0. combmnz lowers them further. Use minmax to avoid this.",
    ]
    raw = fuse({"one": {"q": {"a": -1.0}}, "two": same}, method="combsum", normalise="none")
    assert raw.warnings() == [
        "1 of 3 scores are below 0, so these items get less than items that the list lacks, which "
        "get 0. Use minmax to avoid this."
    ]
    rising = {f"q{at}": {"a": 1.0, "b": 2.0, "c": 3.0} for at in range(4)}
    assert (
        fuse({"one": rising, "two": {"q1": {"b": 1.0}}})
        .warnings()[0]
        .startswith("one: The scores rise from line to line in 4 lists, as distances do")
    )


def test_weights_are_recorded() -> None:
    same = {"q": {"a": 2.0, "b": 1.0}}
    found = fuse({"one": same, "two": {"q": {"a": 1.0}}}, weights=[0.5, 3])
    assert [run.weight for run in found.runs] == [0.5, 3.0]
    assert found.tag == "rrf(k=60,weights=0.5,3)"
    assert (
        "The weights 0.5 and 3 were given by hand. If they were tuned on some queries, compare the "
        "fused run on other queries."
    ) in found.sentences()


def test_extreme_scores() -> None:
    huge = {"q": {"a": 1.7e308, "b": 0.0, "c": -1.7e308}}
    other = {"q": {"a": 1.0, "b": 0.5, "c": 0.0}}
    for normalise in ("minmax", "zscore", "sum"):
        one = fuse({"one": huge, "two": other}, method="combsum", normalise=normalise)
        two = fuse({"one": other, "two": other}, method="combsum", normalise=normalise)
        assert one.to_dict()["q"] == pytest.approx(two.to_dict()["q"], abs=1e-12)
    tiny = {"q": {"a": 1e-323, "b": 5e-324, "c": 0.0}}
    assert fuse({"one": tiny, "two": other}, method="combsum").to_dict()["q"] == {
        "a": 2.0,
        "b": 1.0,
        "c": 0.0,
    }
    infinite = {"q": {"a": np.inf, "b": 1.0, "c": -np.inf}}
    assert list(fuse({"one": infinite, "two": other}).to_dict()["q"]) == ["a", "b", "c"]


GOOD = {"q": {"a": 1.0, "b": 0.5}}


def test_duplicates_keep_the_best_ranked_row() -> None:
    frame = pl.DataFrame({"query": ["q"] * 3, "item": ["a", "b", "a"], "score": [1.0, 2.0, 3.0]})
    found = fuse({"one": frame, "two": GOOD}, policy={"duplicates": "first"})
    assert found.to_dict() == fuse({"one": {"q": {"a": 3.0, "b": 2.0}}, "two": GOOD}).to_dict()
    assert "one: 1 duplicate row was dropped." in found.sentences()
    with pytest.raises(InputError, match="data frame 'one', rows 1 and 3: query 'q' has item 'a'"):
        fuse({"one": frame, "two": GOOD}, policy={"depth": 1})


def test_rows_that_are_not_grouped_or_in_order() -> None:
    frame = pl.DataFrame(
        {"query": ["p", "q", "p", "q"], "item": ["a", "a", "b", "b"], "score": [1.0, 2.0, 3.0, 1.0]}
    )
    dicts = {"p": {"a": 1.0, "b": 3.0}, "q": {"a": 2.0, "b": 1.0}}
    assert (
        fuse({"one": frame, "two": GOOD}).to_dict() == fuse({"one": dicts, "two": GOOD}).to_dict()
    )


@for_each(
    "second, options, message",
    [
        (
            {"q": {}},
            {},
            "a dict: the run is empty. An empty run is not a system that scored zero; is it the "
            "right one?",
        ),
        (
            {"p": {"a": 1.0}},
            {},
            "one has no query in common with another run. It has 'q'; two has 'p'. Do they belong "
            "to the same collection?",
        ),
        (
            {"q": {"a": float("nan")}},
            {},
            "a dict, row 1: the score of item 'a' for query 'q' is NaN. A NaN cannot be "
            "ranked; give it a number or remove it.",
        ),
        (
            {"q": {"a": np.inf}},
            {"method": "combsum"},
            "a dict, row 1: the score of item 'a' for query 'q' is infinite and cannot be added; "
            "give a finite score, or fuse ranks: method='rrf'.",
        ),
        (
            {"q": {"b": -2.0, "a": 0.0}},
            {"method": "combsum", "normalise": "max"},
            "a dict, row 2: the highest score of query 'q' is 0, but max needs a positive one; "
            "choose another normalisation, such as minmax.",
        ),
        (
            {"q": {"a": 1e308}},
            {"method": "combsum", "normalise": "none", "weights": [1, 100]},
            "the sum of some scores overflows; use normalise='minmax', or give smaller weights.",
        ),
        (
            GOOD,
            {"normalise": "minmax"},
            "normalise applies to methods that add scores, but rrf adds ranks; leave it out, or "
            "choose another method, such as combsum.",
        ),
        (
            GOOD,
            {"method": "combsum", "k": 10},
            "k applies to the method rrf, not to combsum; leave it out.",
        ),
        (GOOD, {"method": "weighted"}, "the method weighted needs weights, one for each run."),
        *(
            (
                GOOD,
                {"weights": weights},
                "weights must be a list with a number for each of the 2 runs, or {name: number} "
                f"for one and two; got {weights}.",
            )
            for weights in ([1, 2, 3], {"one": 1})
        ),
        (
            GOOD,
            {"weights": [1, 0]},
            "the weight of two must be a finite number from 1e-09 to 1e+09; got 0.",
        ),
        (
            GOOD,
            {"policy": {"ties": "best"}},
            "ties must be id, input or expected in a fusion; best needs judgements.",
        ),
    ],
)
def test_what_cannot_be_right_is_an_error(second: Any, options: Any, message: str) -> None:
    with pytest.raises((InputError, PolicyError)) as error:
        fuse({"one": GOOD, "two": second}, **options)
    assert str(error.value) == message


def test_one_run_is_too_few() -> None:
    assert error_of(fuse, GOOD) == (
        "fuse needs at least two runs, as {name: run} or a list of files; got one."
    )
