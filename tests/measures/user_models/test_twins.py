"""Every user model equals its slow twin, with all parameters, on random ragged rankings; and what
the sums rest on."""

from __future__ import annotations

import inspect
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import Rankings, parse_measure
from judged.measures import REGISTRY, bind
from judged.measures.user_models import harmonic, inverse_squares
from measures.user_models.twins import TWINS, overlap

GRADES = (0, 0, 1, 1, 1, 2, 3, 4, -1, -2, 0.5, 1.5, 2.25)
NEED_K = {"SDCG", "BPM", "NERR8", "NERR9"}
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "min_rel": st.sampled_from([0, 0, 1, -1, 0.5]),
    "max_rel": st.sampled_from([4, 4, 5, 6.5]),
    "T": st.sampled_from([1, 2, 0.5, 3.75, 0.75, 40]),
    "p": st.integers(1, 99).map(lambda n: n / 100),
    "normalize": st.sampled_from(["true", "false"]),
}
Lists = list[tuple[list[float | None], list[float]]]


def test_the_models_have_twins() -> None:
    family = {spec.name for spec in REGISTRY.values() if spec.family == "user_models"}
    assert set(TWINS) == family - {"RBP", "ERR"}


@st.composite
def measures(draw: st.DrawFn, name: str) -> Any:
    cutoffs = st.one_of(st.integers(1, 15), st.just("R"), *([] if name in NEED_K else [st.none()]))
    drawn = {
        p.name: draw(cutoffs if p.name == "k" else VALUES[p.name])
        for p in REGISTRY[name].params
        if p.name != "aggregate"
    }
    return bind(REGISTRY[name], drawn)


def batches(longest: int = 12) -> st.SearchStrategy[Lists]:
    grade = st.sampled_from(GRADES)
    query = st.tuples(
        st.lists(st.one_of(st.none(), grade), max_size=longest), st.lists(grade, max_size=5)
    )
    return st.lists(query, min_size=1, max_size=6)


def rankings_of(queries: Lists) -> Rankings:
    pools = [[grade for grade in shown if grade is not None] + lost for shown, lost in queries]
    return Rankings.from_relevance([shown for shown, _ in queries], pool=pools)


@pytest.mark.parametrize("name", TWINS)
@given(data=st.data(), queries=st.one_of(batches(), batches(60)))
def test_values(name: str, data: st.DataObject, queries: Lists) -> None:
    measure = data.draw(measures(name))
    params = {key: value for key, value in measure.params.items() if key != "aggregate"}
    theirs = [
        TWINS[name](shown, [g for g in shown if g is not None] + lost, **params)
        for shown, lost in queries
    ]
    rankings = rankings_of(queries)
    ours = measure.compute(rankings)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13, err_msg=str(measure))
    np.testing.assert_array_equal(np.isnan(ours), measure.undefined(rankings))
    assert np.all((ours >= 0) & (ours <= 1 + 1e-12) | np.isnan(ours))


@pytest.mark.parametrize("name", TWINS)
@given(data=st.data(), queries=batches())
def test_all_queries_at_once_equal_one_at_a_time(
    name: str, data: st.DataObject, queries: Lists
) -> None:
    measure = data.draw(measures(name))
    together = rankings_of(queries)
    values = measure.compute(together)
    for at in range(len(queries)):
        np.testing.assert_array_equal(
            measure.compute(together.take([at])), values[[at]], err_msg=str(measure)
        )


@pytest.mark.parametrize("name", TWINS)
@given(data=st.data(), queries=batches())
def test_what_the_list_holds_after_its_last_judged_item_changes_nothing(
    name: str, data: st.DataObject, queries: Lists
) -> None:
    measure = data.draw(measures(name))
    longer = rankings_of([([*shown, *[None] * 7], lost) for shown, lost in queries])
    np.testing.assert_array_equal(measure.compute(longer), measure.compute(rankings_of(queries)))


SWAPS = [name for name in TWINS if "swap_up_never_hurts" in REGISTRY[name].laws]


def test_only_two_models_may_be_hurt_by_a_better_item_further_up() -> None:
    assert set(TWINS) - set(SWAPS) == {"BPM", "INST"}
    # A gain of 0.75 at rank 5 ends the reading with 1.75/5; at rank 4, with 1 in its place, it ends
    # there with 1/4.
    lists = [[0, 0, 0, 3, 4], [0, 0, 0, 4, 3]]
    before, after = parse_measure("BPM(T=1)@9").compute(Rankings.from_relevance(lists))
    assert (before, after) == (pytest.approx(1.75 / 5), 1 / 4)


@pytest.mark.parametrize("name", SWAPS)
@given(data=st.data(), queries=batches())
def test_a_better_item_further_up_never_hurts(
    name: str, data: st.DataObject, queries: Lists
) -> None:
    measure = data.draw(measures(name))
    better = []
    for shown, lost in queries:
        swapped = list(shown)
        if len(shown) > 1:
            upper, lower = sorted(
                data.draw(st.sampled_from(list(permutations(range(len(shown)), 2))))
            )
            pair = (swapped[upper], swapped[lower])
            swapped[upper], swapped[lower] = sorted(
                pair, key=lambda g: -np.inf if g is None else g, reverse=True
            )
        better.append((swapped, lost))
    after, before = measure.compute(rankings_of(better)), measure.compute(rankings_of(queries))
    assert np.all((after >= before - 1e-12) | np.isnan(before)), str(measure)


@given(data=st.data(), queries=batches())
def test_the_ideal_list_has_compatibility_one(data: st.DataObject, queries: Lists) -> None:
    measure = data.draw(measures("Compat"))(normalize=True)
    perfect: Lists = [
        (sorted([g for g in shown if g is not None] + lost, reverse=True), [])
        for shown, lost in queries
    ]
    best = measure.compute(rankings_of(perfect))
    assert np.all((best == 1.0) | np.isnan(best))


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


def test_sums_without_end() -> None:
    scipy_special = pytest.importorskip("scipy.special")
    x = np.concatenate([np.geomspace(0.01, 1e9, 20_001), np.arange(1, 50_000) / 2])
    np.testing.assert_allclose(inverse_squares(x), scipy_special.zeta(2, x), rtol=3e-15)
    n = np.append(np.arange(5000.0), [1e6, 1e12])
    np.testing.assert_allclose(
        harmonic(n), scipy_special.digamma(n + 1) + np.euler_gamma, rtol=1e-15, atol=1e-15
    )
    assert inverse_squares(np.array([np.inf])).tolist() == [0]


def test_a_far_cutoff_costs_nothing() -> None:
    rankings = Rankings.from_relevance([[1, 0, 4]])
    for name in ("INST", "INSQ", "NERR10", "NERR11", "Compat"):
        endless, far = (
            parse_measure(name + at).compute(rankings)[0] for at in ("", "@1000000000000000")
        )
        assert far == pytest.approx(endless, rel=1e-14)
    # Nobody gets past the sure stop at rank 3, wherever the end is: (1/4 + 3/4) / (1 + 3/4 + 3/4).
    assert parse_measure("NERR8@1000000000000").compute(rankings)[0] == pytest.approx(0.4)


def test_signatures() -> None:
    """A twin names no parameter that its measure does not have."""
    for name, function in TWINS.items():
        named = set(inspect.signature(function).parameters) - {"shown", "pool", "given"}
        assert named <= {param.name for param in REGISTRY[name].params}
