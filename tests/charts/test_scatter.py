from __future__ import annotations

import json

import numpy as np
import pytest

from judged import Rankings
from judged.charts.kinds.pairs import CELLS, scatter
from judged.evaluation.evaluation import evaluate_rankings


def test_equal_pairs_are_one_point() -> None:
    old = Rankings.from_relevance([[1, 0], [1, 0], [0, 1]], name="old")
    new = Rankings.from_relevance([[0, 1], [0, 1], [0, 1]], name="new")
    table = scatter([old, new], measure="RR").data
    assert table.select("a", "b", "queries", "query", "named").rows() == [
        (1.0, 0.5, 2, None, "1, 2"),
        (0.5, 0.5, 1, "3", None),
    ]
    assert table.select("wins", "losses", "ties").row(0) == (0, 2, 1)


def test_thousands_of_points_are_put_into_a_grid_and_the_counts_stay() -> None:
    draw = np.random.default_rng(0)
    lists = [(draw.random(30) < 0.3).astype(int).tolist() for _ in range(8000)]
    chart = scatter(
        [
            Rankings.from_relevance(lists[:4000], name="a"),
            Rankings.from_relevance(lists[4000:], name="b"),
        ],
        measure="AP",
    )
    assert chart.data.height <= CELLS * CELLS
    assert chart.data["queries"].sum() == 4000
    assert sum(chart.data.select("wins", "ties", "losses").row(0)) == 4000
    assert f"Queries are put together in a grid of {CELLS} × {CELLS}." in chart.notes


def random_pair(queries: int) -> list[Rankings]:
    draw = np.random.default_rng(3)
    lists = [(draw.random(20) < 0.3).astype(int).tolist() for _ in range(2 * queries)]
    return [
        Rankings.from_relevance(lists[:queries], name="a"),
        Rankings.from_relevance(lists[queries:], name="b"),
    ]


@pytest.mark.parametrize("queries", [60, 4000])
def test_the_interval_the_verdict_and_the_named_queries_are_those_of_the_comparison(
    queries: int,
) -> None:
    systems = random_pair(queries)
    found = evaluate_rankings(systems, ["AP"]).compare()
    row = found.pair()
    chart = scatter(systems, measure="AP")
    assert chart.data.equals(scatter(found).data)
    facts = chart.data.select("overall", "low", "high", "verdict", "says")
    assert facts.unique().rows() == [
        (row.difference, row.interval.low, row.interval.high, row.verdict, row.says)
    ]
    assert chart.notes[1] == row.says
    entries = {name: found.numbers.entry(found.measure(), name) for name in "ab"}
    apart = entries["b"].values - entries["a"].values
    order = sorted(range(queries), key=lambda at: -apart[at])
    for place in (*order[:3], *order[-3:]):
        query = found.numbers.queries[place]
        [point] = chart.data.filter(chart.data["named"] == query).rows(named=True)
        # The point is where the query is, also where others are put into a grid.
        assert (point["a"], point["b"]) == (entries["a"].values[place], entries["b"].values[place])
        line = f"{query}: {point['a']:.4f}, {point['b']:.4f}"
        assert line in [
            layer["data"]["values"][0].get("words")
            for layer in chart.spec["layer"]
            if "data" in layer
        ]
    assert chart.data["named"].drop_nulls().len() == 6
    texts = [layer for layer in chart.spec["layer"] if layer["mark"]["type"] == "text"]
    assert all(layer["encoding"]["x"]["value"] > chart.spec["width"] for layer in texts)


def test_a_measure_that_is_better_when_lower_counts_higher_and_not_better() -> None:
    old = Rankings.from_relevance([[1, 0], [0, 1], [1, 0]], name="old")
    new = Rankings.from_relevance([[0, 1], [0, 1], [0, 1]], name="new")
    chart = scatter([old, new], measure="Rank")
    words = json.dumps(chart.spec)
    assert "new higher: 2" in words
    assert "old higher: 0" in words
    assert chart.data.select("wins", "ties", "losses").row(0) == (0, 1, 2)
