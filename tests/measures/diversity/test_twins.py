"""Every diversity measure equals its slow twin on random lists, and keeps its promises there."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from judged.measures import REGISTRY, Measure, bind, parse_measure
from measures.diversity.twins import TWINS, Listed, everything, ideal, rankings_of
from support.loops import for_each

MEASURES = [name for name, spec in REGISTRY.items() if spec.family == "diversity"]
MANY = settings(
    deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)

ITEM = st.dictionaries(
    st.sampled_from("abcdefg"), st.sampled_from([0, 1, 1, 2, 3, -1, 0.5]), min_size=1, max_size=5
)
QUERY = st.builds(
    Listed,
    shown=st.lists(st.one_of(st.none(), ITEM), max_size=12).map(tuple),
    lost=st.lists(ITEM, max_size=6).map(tuple),
).filter(lambda query: query.lost or any(query.shown))
"""With something judged: rankings with no judgement at all have no subtopics."""
NOTHING = st.sampled_from([Listed(()), Listed((None, None))])
QUERIES = st.tuples(st.lists(st.one_of(QUERY, NOTHING), max_size=4), QUERY).map(
    lambda drawn: [*drawn[0], drawn[1]]
)
VALUES = {
    "k": st.one_of(st.none(), st.just("R"), st.integers(1, 15)),
    "rel": st.sampled_from([1, 1, 2, 0.5, 0, -1, 5]),
    "alpha": st.sampled_from([0.5, 0, 1, 0.1, 0.3, 0.9]),
    "beta": st.sampled_from([0.5, 0.1, 0.9, 0.99]),
    "aggregate": st.just("mean"),
}


def drawn(name: str, data: st.DataObject, **fixed: Any) -> Measure:
    spec = REGISTRY[name]
    return bind(
        spec,
        {param.name: fixed.get(param.name, data.draw(VALUES[param.name])) for param in spec.params},
    )


def by_twin(measure: Measure, query: Listed) -> float:
    twin = TWINS[measure.spec.name]
    return twin(
        query,
        **{name: measure.params[name] for name in list(inspect.signature(twin).parameters)[1:]},
    )


def value(measure: Measure, query: Listed) -> float:
    return float(measure.compute(rankings_of([query]))[0])


def test_every_measure_has_a_twin() -> None:
    assert list(TWINS) == MEASURES


@for_each("name", MEASURES)
@MANY
@given(data=st.data(), queries=QUERIES)
def test_values(name: str, data: st.DataObject, queries: list[Listed]) -> None:
    measure, rankings = drawn(name, data), rankings_of(queries)
    values = measure.compute(rankings)
    wanted = [by_twin(measure, query) for query in queries]
    np.testing.assert_allclose(values, wanted, rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(np.isnan(values), measure.undefined(rankings))
    low, high = measure.spec.range
    assert all(math.isnan(each) or low <= each <= high + 1e-12 for each in values)
    # All at once is one at a time.
    order = data.draw(st.lists(st.sampled_from(range(len(queries))), min_size=1, max_size=8))
    np.testing.assert_array_equal(measure.compute(rankings.take(order)), values[order])


@for_each("name", MEASURES)
@MANY
@given(data=st.data(), query=QUERY)
def test_laws(name: str, data: st.DataObject, query: Listed) -> None:
    measure = drawn(name, data)
    rel, before = measure.params["rel"], value(measure, query)
    # A relevant item moved up past an irrelevant one never hurts. Past irrelevant ones only: which
    # of two equal items the ideal list takes depends on their order, here.
    useful = [bool(everything(Listed((each,)), rel)) for each in query.shown]
    pairs = [
        (up, down)
        for down in range(len(useful))
        for up in range(down)
        if useful[down] and not any(useful[up:down])
    ]
    if pairs:
        up, down = data.draw(st.sampled_from(pairs))
        shown = list(query.shown)
        shown[up], shown[down] = shown[down], shown[up]
        assert value(measure, replace(query, shown=tuple(shown))) >= before - 1e-12
    # Unjudged results at the end, and results below the cutoff, change nothing.
    k = measure.params.get("k")
    if name != "P_IA" or k is not None:
        longer = replace(query, shown=(*query.shown, None, None))
        np.testing.assert_equal(value(measure, longer), before)
    if isinstance(k, int):
        below = tuple(each for each in query.shown[k:] if each is not None)
        cut = Listed(query.shown[:k], (*below, *query.lost))
        np.testing.assert_equal(value(measure, cut), before)


@for_each("name", ["alpha_nDCG", "nERR_IA", "nNRBP"])
@MANY
@given(data=st.data(), query=QUERY)
def test_the_ideal_list_scores_exactly_1(name: str, data: st.DataObject, query: Listed) -> None:
    measure = drawn(name, data, rel=1)
    order = ideal(query, 1, measure.params["alpha"])
    assume(order)
    perfect = Listed(tuple(dict.fromkeys(item, 1) for item in order))
    assert value(measure, perfect) == 1.0


def test_a_greedy_ideal_list_can_be_beaten() -> None:
    """C serves 4 subtopics and is taken first; A and B together serve 6. With alpha=1 and k=2:
    the list has 3 + 3/log2(3), the ideal one 4 + 1/log2(3)."""
    a, b, c = dict.fromkeys("123", 1), dict.fromkeys("456", 1), dict.fromkeys("1245", 1)
    score = value(parse_measure("alpha_nDCG(alpha=1)@2"), Listed((a, b, c)))
    assert score == pytest.approx((3 + 3 / math.log2(3)) / (4 + 1 / math.log2(3)))
    assert score > 1
