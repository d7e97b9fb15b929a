"""Every measure equals its slow twin, with all parameters, on random ragged rankings."""

from __future__ import annotations

import inspect
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from judged import Policy
from judged.measures import REGISTRY, Measure, bind
from judged.measures.registry import AGGREGATIONS
from measures.diversity.twins import TWINS as DIVERSITY
from support.loops import for_each
from support.rankings import (
    PLAIN,
    Query,
    batches,
    random_measure,
    random_queries,
    rankings_of,
    settings_of,
)
from support.twins import AGGREGATES, TWINS, balance, by_twin, ranks_of_all, twin_P, twin_R

SAME = {"rtol": 1e-12, "atol": 1e-13}
"""Sums in another order: a few units in the last place."""


def test_every_measure_has_a_twin() -> None:
    # The twins of diversity are compared beside it, on judgements with subtopics.
    assert set(TWINS) | set(DIVERSITY) == set(REGISTRY)
    assert set(DIVERSITY) == set(REGISTRY) - set(PLAIN)


def test_every_aggregation_has_a_twin() -> None:
    assert set(AGGREGATES) == set(AGGREGATIONS)


@for_each("name", PLAIN)
def test_a_twin_takes_the_parameters_of_its_measure(name: str) -> None:
    if "given" in inspect.signature(TWINS[name]).parameters:
        return
    # `average` of F and `aggregate` concern the summary (for Rank, `aggregate` is also how a
    # query's own ranks become one).
    taken = set(inspect.signature(TWINS[name]).parameters) - {"query", "aggregate"}
    assert taken == {param.name for param in REGISTRY[name].params} - {"average", "aggregate"}


SUMMARISED_THEIR_OWN_WAY = {name for name, spec in REGISTRY.items() if spec.made_of}


def compare_summary(measure: Measure, queries: list[Query]) -> None:
    if measure.params.get("average") == "means" or measure.params.get("of") == "all":
        return  # see below
    spec = measure.spec
    worst = spec.range[0 if spec.higher_is_better or not spec.rates_relevance else 1]
    settled = [worst if value != value else value for value in map(by_twin(measure), queries)]
    expected = AGGREGATES[measure.params["aggregate"]](settled)
    np.testing.assert_allclose(
        rankings_of(queries).evaluate([measure]).value(), expected, **SAME, err_msg=str(measure)
    )


def compare(measure: Measure, queries: list[Query]) -> None:
    """Values are those of the twin, in the declared range, and NaN exactly where declared."""
    rankings = rankings_of(queries)
    values = measure.compute(rankings)
    np.testing.assert_allclose(
        values, list(map(by_twin(measure), queries)), **SAME, err_msg=str(measure)
    )
    low, high = measure.spec.range
    assert np.all((values >= low) & (values <= high + 1e-12) | np.isnan(values)), measure
    undefined = measure.undefined(rankings)
    np.testing.assert_array_equal(np.isnan(values), undefined, err_msg=str(measure))


@for_each("name", PLAIN)
@given(data=st.data(), queries=batches())
def test_values_and_summaries(name: str, data: st.DataObject, queries: list[Query]) -> None:
    measure = data.draw(settings_of(REGISTRY[name]))
    compare(measure, queries)
    compare_summary(measure, queries)


@for_each("name", PLAIN)
def test_many_combinations_of_parameters(name: str) -> None:
    """Hypothesis tries few and finds the smallest; this tries many."""
    draw = Random(name)
    for _ in range(50):
        compare(random_measure(REGISTRY[name], draw), random_queries(draw, 8))


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
