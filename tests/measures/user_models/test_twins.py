"""What the sums of user models rest on; twins of all measures are compared in tests/laws."""

from __future__ import annotations

import inspect
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import Rankings
from judged.measures import REGISTRY, parse_measure
from support.twins import TWINS, overlap

Lists = list[tuple[list[float | None], list[float]]]


MODELS = [
    name for name, function in TWINS.items() if "given" in inspect.signature(function).parameters
]


def rankings_of(queries: Lists) -> Rankings:
    pools = [[grade for grade in shown if grade is not None] + lost for shown, lost in queries]
    return Rankings.from_relevance([shown for shown, _ in queries], pool=pools)


SWAPS = [name for name in MODELS if "swap_up_never_hurts" in REGISTRY[name].laws]


def test_only_two_models_may_be_hurt_by_a_better_item_further_up() -> None:
    assert set(MODELS) - set(SWAPS) == {"BPM", "INST"}
    # A gain of 0.75 at rank 5 ends the reading with 1.75/5; at rank 4, with 1 in its place, it ends
    # there with 1/4.
    lists = [[0, 0, 0, 3, 4], [0, 0, 0, 4, 3]]
    before, after = parse_measure("BPM(T=1)@9").compute(Rankings.from_relevance(lists))
    assert (before, after) == (pytest.approx(1.75 / 5), 1 / 4)


@given(
    shown=st.lists(st.sampled_from([None, 1, 1, 1, 2, 2, 2]), max_size=8).filter(
        lambda g: len(g) - g.count(None) <= 6
    ),
    p=st.sampled_from([0.1, 0.5, 0.8]),
    lost=st.lists(st.sampled_from([1, 2]), max_size=1),
)
def test_no_other_order_of_equal_grades_suits_the_list_better(
    shown: list[float | None], p: float, lost: list[float]
) -> None:
    grades = {**dict(enumerate(shown)), **dict(enumerate(lost, len(shown)))}
    tiers = [[item for item, grade in grades.items() if grade == level] for level in (2, 1)]
    ideals = [high + low for high, low in product(permutations(tiers[0]), permutations(tiers[1]))]
    best = max(overlap(range(len(shown)), ideal, p=p, depth=200) for ideal in ideals)
    ours = parse_measure(f"Compat(p={p}, normalize=false)").compute(rankings_of([(shown, lost)]))[0]
    assert (np.isnan(ours) and best == 0) or ours == pytest.approx(best * (1 - p), abs=1e-12)


def test_a_far_cutoff_costs_nothing() -> None:
    rankings = Rankings.from_relevance([[1, 0, 4]])
    for name in ("INST", "INSQ", "NERR10", "NERR11", "Compat"):
        endless, far = (
            parse_measure(name + at).compute(rankings)[0] for at in ("", "@1000000000000000")
        )
        assert far == pytest.approx(endless, rel=1e-14)
    # Nobody gets past the sure stop at rank 3, wherever the end is: (1/4 + 3/4) / (1 + 3/4 + 3/4).
    assert parse_measure("NERR8@1000000000000").compute(rankings)[0] == pytest.approx(0.4)
