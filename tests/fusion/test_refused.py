"""What fusion refuses, with the whole message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from judged import InputError, PolicyError, fuse

GOOD = {"q": {"a": 1.0, "b": 0.5}}


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        (
            {"one": GOOD},
            {},
            "fuse needs at least two runs, as {name: run} or a list of files; got one.",
        ),
        (GOOD, {}, "fuse needs at least two runs, as {name: run} or a list of files; got one."),
        (
            {"one": GOOD, "two": {"q": {}}},
            {},
            "a dict: the run is empty. An empty run is not a system that scored zero; is it the "
            "right one?",
        ),
        (
            {"one": GOOD, "two": {"p": {"a": 1.0}}},
            {},
            "one has no query in common with another run. It has 'q'; two has 'p'. Do they belong "
            "to the same collection?",
        ),
        (
            {"one": GOOD, "two": {"q": {"a": float("nan")}}},
            {},
            "a dict, row 1: the score of item 'a' for query 'q' is NaN. A NaN has no place in a "
            "ranking; give it a number or remove the row.",
        ),
        (
            {"one": GOOD, "two": {"q": {"a": np.inf}}},
            {"method": "combsum"},
            "a dict, row 1: the score of item 'a' for query 'q' is infinite and cannot be added; "
            "give a finite score, or fuse ranks: method='rrf' (--method rrf).",
        ),
        (
            {"one": GOOD, "two": {"q": {"b": -2.0, "a": -1.0}}},
            {"method": "combsum", "normalise": "max"},
            "a dict, row 2: the highest score of query 'q' is -1, but max needs a positive one; "
            "choose another normalisation, such as minmax.",
        ),
        (
            {"one": GOOD, "two": {"q": {"b": 0.0}}},
            {"method": "combsum", "normalise": "max"},
            "a dict, row 1: the highest score of query 'q' is 0, but max needs a positive one; "
            "choose another normalisation, such as minmax.",
        ),
        (
            {"one": GOOD, "two": {"q": {"a": 1e308}}},
            {"method": "combsum", "normalise": "none", "weights": [1, 100]},
            "the sum of some scores overflows; normalise the scores (--normalise minmax), or give "
            "smaller weights.",
        ),
        (
            {"one": GOOD, "two": {"q": ["a", "b", "a"]}},
            {},
            "a dict: query 'q' has item 'a' more than once. Remove the repetitions, or keep the "
            "best-ranked of each with duplicates='first' (--duplicates first).",
        ),
        (
            {"one": GOOD, "two": GOOD},
            {"normalise": "minmax"},
            "normalise applies to methods that add scores, but rrf adds ranks; leave it out, or "
            "choose another method, such as combsum.",
        ),
        (
            {"one": GOOD, "two": GOOD},
            {"method": "combsum", "k": 10},
            "k applies to the method rrf, not to combsum; leave it out.",
        ),
        (
            {"one": GOOD, "two": GOOD},
            {"method": "weighted"},
            "the method weighted needs weights, one for each run.",
        ),
        (
            {"one": GOOD, "two": GOOD},
            {"method": "combsom"},
            "method must be one of rrf, combsum, combmnz, weighted; got 'combsom'; did you mean "
            "'combsum'?",
        ),
        (
            {"one": GOOD, "two": GOOD},
            {"method": "combsum", "normalise": "l2"},
            "normalise must be one of minmax, zscore, max, sum, rank, none; got 'l2'.",
        ),
        (
            {"one": GOOD, "two": GOOD},
            {"weights": [1, 2, 3]},
            "weights must be a list with a number for each of the 2 runs, or {name: number}; got "
            "[1, 2, 3].",
        ),
        (
            {"one": GOOD, "two": GOOD},
            {"weights": {"one": 1}},
            "weights must have a number for each run (one and two); got {'one': 1}.",
        ),
        (
            {"one": GOOD, "two": GOOD},
            {"weights": [1, 0]},
            "the weight of two must be a finite number from 1e-09 to 1e+09; got 0.",
        ),
    ],
)
def test_what_cannot_be_right_is_refused(runs: Any, options: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        fuse(runs, **options)
    assert str(refused.value) == message


def test_ties_that_need_judgements_are_refused() -> None:
    with pytest.raises(PolicyError) as refused:
        fuse({"one": GOOD, "two": GOOD}, policy={"ties": "best"})
    assert str(refused.value) == (
        "ties must be id, input or expected in a fusion; best needs judgements."
    )
