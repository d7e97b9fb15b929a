"""Explaining a list takes work that grows with the list, ties or not."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from judged import explain, identify


def calls(ties: str, results: int) -> int:
    """How many functions are called on the way to the explanation of one great tie."""
    run = {"q": {f"d{at:06}": 1.0 for at in range(results)}}
    judgements = {"q": {f"d{at:06}": at % 3 for at in range(0, results, 2)}}
    count = 0

    def counting(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    explain(judgements, run, "P@10", policy={"ties": ties})
    sys.setprofile(counting)
    try:
        explain(judgements, run, "P@10", policy={"ties": ties})
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("ties", ["id", "input", "best", "worst"])
def test_twice_the_ties_are_twice_the_work(ties: str) -> None:
    assert calls(ties, 4000) < 2.5 * calls(ties, 2000)


def test_identify_with_a_depth_that_cuts_a_tie() -> None:
    """The mean over a tie's orders is no list without unjudged items: that pair is not tried."""
    judgements = {"q": {"a": 1, "b": 0, "c": 1}}
    run = {"q": {"a": 2.0, "b": 1.0, "x": 1.0, "c": 1.0}}
    found = identify("0.5", judgements, run, "R", policy={"depth": 2})
    assert found.matches
    assert "was not tried" in found.sentences()[-1]
    assert found.to_dict()["untried"] == found.untried
    assert identify("0.5", judgements, run, "R").untried == ""
