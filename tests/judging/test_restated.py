"""Rankings under another policy are those that judging makes, to the bit, audit included."""

from __future__ import annotations

import random
from dataclasses import fields, is_dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from judged import JudgedError, Policy
from judged.errors import PolicyError
from judged.matching.variants import restated
from judged.policy import CHOICES, add_choices
from judged.rankings.rankings import Rankings

GRADES = (-1, 0, 0.5, 1, 2)


def differing(one: Any, other: Any, where: str = "") -> list[str]:
    """The fields in which two rankings differ, arrays to the bit."""
    found = []
    for each in fields(one):
        a, b, name = getattr(one, each.name), getattr(other, each.name), where + each.name
        if isinstance(a, np.ndarray):
            same = a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
            found += [] if same else [name]
        elif is_dataclass(a) and each.name in ("whole", "subtopics"):
            found += differing(a, b, f"{name}.")
        elif a != b:
            found.append(name)
    return found


def data(seed: int) -> tuple[Any, Any]:
    """Judgements, of every fourth seed by subtopic, and a run full of ties that lacks a query."""
    draw = random.Random(seed)

    def grade() -> Any:
        if seed % 4:
            return draw.choice(GRADES)
        return {f"s{number}": draw.choice((-1, 0, 1, 2)) for number in range(2)}

    judgements = {
        f"q{query}": {f"d{item}": grade() for item in draw.sample(range(30), 8)}
        for query in range(4)
    }
    run = {
        f"q{query}": {
            f"d{item}": draw.choice([1.0, 2.0, 3.0, float("inf")])
            for item in draw.sample(range(30), 12)
        }
        for query in range(3)
    }
    return judgements, run


@pytest.mark.parametrize("seed", range(12))
def test_as_judging_makes_them(seed: int) -> None:
    judgements, run = data(seed)
    base = {
        ties: Rankings.from_run(judgements, run, policy={"ties": ties}) for ties in ("id", "input")
    }
    for ties, unjudged, depth in product(CHOICES["ties"], CHOICES["unjudged"], (None, 1, 5, 99)):
        policy = Policy(ties=ties, unjudged=unjudged)
        given = base["input" if ties == "input" else "id"]
        calls = (
            lambda p=policy, d=depth: Rankings.from_run(
                judgements, run, policy=add_choices(p, depth=d)
            ),
            lambda p=policy, d=depth, r=given: restated(r, p, d),
        )
        expected, found = map(outcome, calls)
        if isinstance(expected, str):
            assert found == expected
        else:
            assert not differing(found, expected)


def outcome(call: Any) -> Any:
    """Rankings, or why there are none."""
    try:
        return call()
    except JudgedError as error:
        return str(error)


def test_without_ties_every_order_is_the_same() -> None:
    judgements, run = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}
    found = restated(Rankings.from_run(judgements, run), Policy(ties="input"))
    assert not differing(found, Rankings.from_run(judgements, run, policy={"ties": "input"}))


def test_what_was_cut_cannot_be_restated() -> None:
    cut = Rankings.from_run({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, policy={"depth": 1})
    with pytest.raises(PolicyError) as refused:
        restated(cut, Policy())
    assert str(refused.value) == (
        "these rankings were cut or condensed, which cannot be undone here."
    )


def test_another_order_of_ties_needs_the_run() -> None:
    tied = Rankings.from_run({"q": {"a": 1}}, {"q": {"b": 1.0, "a": 1.0}})
    with pytest.raises(PolicyError) as refused:
        restated(tied, Policy(ties="input"))
    assert str(refused.value) == (
        "these rankings were made with ties=id, which cannot be undone; make them again with "
        "ties=input."
    )
