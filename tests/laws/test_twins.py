"""Every measure equals its slow twin, with all parameters, on random ragged rankings."""

from __future__ import annotations

import inspect
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judged import Measure, Policy
from judged.measures import REGISTRY, bind
from judged.measures.registry import AGGREGATIONS
from measures.diversity.twins import TWINS as DIVERSITY
from support.rankings import (
    PLAIN,
    Query,
    batches,
    random_measure,
    random_queries,
    rankings_of,
    settings_of,
)
from support.twins import AGGREGATES, balance, ranks_of_all, twin_P, twin_R
from support.twins_more import TWINS

SAME = {"rtol": 1e-12, "atol": 1e-13}
"""Sums in another order: a few units in the last place."""


def by_twin(measure: Measure, queries: list[Query]) -> list[float]:
    twin = TWINS[measure.spec.name]
    taken = inspect.signature(twin).parameters
    params = {
        name: value for name, value in measure.params.items() if name in taken or "given" in taken
    }
    return [twin(query, **params) for query in queries]


def test_every_measure_has_a_twin() -> None:
    # The twins of diversity are compared beside it, on judgements with subtopics.
    assert set(TWINS) | set(DIVERSITY) == set(REGISTRY)
    assert set(DIVERSITY) == set(REGISTRY) - set(PLAIN)


def test_every_aggregation_has_a_twin() -> None:
    assert set(AGGREGATES) == set(AGGREGATIONS)


@pytest.mark.parametrize("name", PLAIN)
def test_a_twin_takes_the_parameters_of_its_measure(name: str) -> None:
    if "given" in inspect.signature(TWINS[name]).parameters:
        return  # an adapter; the twin behind it is checked beside its own tests
    # `average` of F and `aggregate` concern the summary (for Rank, `aggregate` is also how a
    # query's own ranks become one).
    taken = set(inspect.signature(TWINS[name]).parameters) - {"query", "aggregate"}
    assert taken == {param.name for param in REGISTRY[name].params} - {"average", "aggregate"}


@pytest.mark.parametrize("name", PLAIN)
@given(data=st.data(), queries=batches())
def test_values(name: str, data: st.DataObject, queries: list[Query]) -> None:
    measure = data.draw(settings_of(REGISTRY[name]))
    np.testing.assert_allclose(
        measure.compute(rankings_of(queries)),
        by_twin(measure, queries),
        **SAME,
        err_msg=str(measure),
    )


SUMMARISED_THEIR_OWN_WAY = {name for name, spec in REGISTRY.items() if spec.made_of}


def compare_summary(measure: Measure, queries: list[Query]) -> None:
    if measure.params.get("average") == "means" or measure.params.get("of") == "all":
        return  # see below
    spec = measure.spec
    worst = spec.range[0 if spec.higher_is_better or not spec.rates_relevance else 1]
    settled = [worst if value != value else value for value in by_twin(measure, queries)]
    expected = AGGREGATES[measure.params["aggregate"]](settled)
    np.testing.assert_allclose(
        rankings_of(queries).evaluate([measure]).value(), expected, **SAME, err_msg=str(measure)
    )


@pytest.mark.parametrize("name", PLAIN)
@given(data=st.data(), queries=batches())
def test_summaries(name: str, data: st.DataObject, queries: list[Query]) -> None:
    compare_summary(data.draw(settings_of(REGISTRY[name])), queries)


@pytest.mark.parametrize("name", PLAIN)
def test_many_combinations_of_parameters(name: str) -> None:
    """Hypothesis tries few and finds the smallest; this tries many."""
    draw = Random(name)
    batches = [random_queries(draw, 30) for _ in range(5)]
    ready = [rankings_of(batch) for batch in batches]
    for turn in range(100):
        measure, batch = random_measure(REGISTRY[name], draw), turn % len(batches)
        values = measure.compute(ready[batch])
        np.testing.assert_allclose(
            values, by_twin(measure, batches[batch]), **SAME, err_msg=str(measure)
        )
        if turn % 10 == 0:
            compare_summary(measure, batches[batch])


def test_only_two_measures_are_summarised_their_own_way() -> None:
    assert {"F", "Rank"} == SUMMARISED_THEIR_OWN_WAY


@given(
    queries=batches(),
    k=st.one_of(st.none(), st.just("R"), st.integers(1, 15)),
    rel=st.sampled_from([1, 2, 0]),
    beta=st.sampled_from([1, 2, 0.5]),
    short=st.sampled_from(["pad", "shrink"]),
)
def test_f_of_the_means(
    queries: list[Query], k: int | str | None, rel: float, beta: float, short: str
) -> None:
    precisions = [twin_P(query, k=k, rel=rel, short=short) for query in queries]
    recalls = [twin_R(query, k=k, rel=rel, norm="relevant") for query in queries]
    means = [
        sum(0 if value != value else value for value in values) / len(queries)
        for values in (precisions, recalls)
    ]
    measure = bind(
        REGISTRY["F"], {"k": k, "rel": rel, "beta": beta, "short": short, "average": "means"}
    )
    np.testing.assert_allclose(
        rankings_of(queries).evaluate([measure]).value(), balance(*means, beta), **SAME
    )


@given(
    queries=batches(), rel=st.sampled_from([1, 2, 0]), aggregate=st.sampled_from(["mean", "median"])
)
def test_ranks_of_all_relevant_items_together(
    queries: list[Query], rel: float, aggregate: str
) -> None:
    ranks = [rank for query in queries for rank in ranks_of_all(query, rel)]
    measure = bind(REGISTRY["Rank"], {"of": "all", "rel": rel, "aggregate": aggregate})
    value = (
        rankings_of(queries).evaluate([measure], policy=Policy(ties="input", empty="skip")).value()
    )
    np.testing.assert_allclose(
        value, AGGREGATES[aggregate](ranks) if ranks else float("nan"), **SAME
    )
