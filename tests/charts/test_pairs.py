"""Charts of two systems: differences, scatter plots and flows of ranks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import judged
from judged import Rankings
from judged.charts.kinds.pairs import CELLS, differences, scatter
from judged.charts.lines import LINE
from judged.charts.svg import THEMES
from judged.errors import MeasureError
from judged.evaluation.evaluation import evaluate_rankings
from support.errors import error_of
from support.loops import for_each

# -- differences


def pair(first: list[list[int]], second: list[list[int]]) -> list[Rankings]:
    return [Rankings.from_relevance(first, name="old"), Rankings.from_relevance(second, name="new")]


def test_the_differences_the_greatest_first() -> None:
    # RR old: 1, 1/2, 1/3; new: 1/2, 1, 1/3.
    rankings = pair([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    table = differences(rankings, measure="RR").data
    assert table.select("query", "difference", "place_from").rows() == [
        ("2", 0.5, 1),
        ("3", 0.0, 2),
        ("1", -0.5, 3),
    ]
    chart = differences(rankings, measure="RR")
    assert chart.title == "RR: new minus old, query by query"
    assert chart.notes == (
        "The mean difference is 0.0000; it has no interval: too few queries differ.",
        "RR: only 2 of 3 queries differ between new and old: too few to test.",
        "The two are equal in 1 of 3 queries. Dashed: the mean difference.",
    )


def several(queries: int) -> list[Rankings]:
    """Two systems of which the second finds a relevant item at rank 1 where the first has it at
    ranks from 1 to 5."""
    first = [[0] * (at % 5) + [1] for at in range(queries)]
    return pair(first, [[1] if at % 7 else [0, 0, 0, 1] for at in range(queries)])


@for_each("queries", [20, 2000])
def test_the_interval_and_the_verdict_are_those_of_the_comparison(queries: int) -> None:
    systems = several(queries)
    evaluation = evaluate_rankings(systems, ["RR"])
    row = evaluation.compare().pair()
    for source in (systems, evaluation, evaluation.compare()):
        chart = differences(source, measure="RR")
        facts = chart.data.select("overall", "low", "high", "level", "verdict", "says", "note")
        assert facts.unique().rows() == [
            (row.difference, row.interval.low, row.interval.high, 0.95, row.verdict, row.says, "")
        ]
        assert chart.data.select("wins", "ties", "losses").row(0) == (
            row.wins,
            row.ties,
            row.losses,
        )
        mean = (chart.data["difference"] * chart.data["queries"]).sum() / queries
        assert mean == pytest.approx(row.difference, abs=1e-12)
        assert chart.notes[1] == row.says
        low, high = row.interval.low, row.interval.high
        assert chart.notes[0] == (
            f"The mean difference is {row.difference:+.4f}, its 95 % interval {low:+.4f} to "
            f"{high:+.4f}."
        )
        assert "Dashed: the mean difference; band: its interval." in chart.notes[2]
        band = chart.spec["layer"][0]["data"]["values"]
        assert band == [{"low": pytest.approx(low), "high": pytest.approx(high)}]


@for_each("queries", [40, 3000])
def test_the_queries_that_differ_most_are_named_beside_the_frame(queries: int) -> None:
    systems = several(queries)
    chart = differences(systems, measure="RR")
    row = evaluate_rankings(systems, ["RR"]).compare()
    entries = [row.numbers.entry(row.measure(), name) for name in ("old", "new")]
    apart = entries[1].values - entries[0].values
    ids = row.numbers.queries
    order = sorted(range(queries), key=lambda at: -apart[at])
    named = [(ids[at], f"{apart[at]:+.4f}".replace("-", "−")) for at in (*order[:3], *order[-3:])]
    lines = [
        layer["data"]["values"][0]["words"]
        for layer in chart.spec["layer"]
        if layer["mark"]["type"] == "text"
    ]
    assert len(lines) == 8
    assert lines[0].startswith("new better: ")
    assert lines[4].startswith("new worse: ")
    assert [*lines[1:4], *lines[5:]] == [f"{query}: {by}" for query, by in named]
    for layer in chart.spec["layer"]:
        if layer["mark"]["type"] == "text":
            assert layer["encoding"]["x"]["value"] > chart.spec["width"]
    places = [
        layer["encoding"]["y"]["value"]
        for layer in chart.spec["layer"]
        if layer["mark"]["type"] == "text"
    ]
    assert min(after - before for before, after in pairwise(places)) >= LINE
    assert chart.data["queries"].sum() == queries


def test_infinite_values_are_not_dropped_in_silence() -> None:
    systems = pair([[1]] * 9, [[1] if at % 2 else [0, 1] for at in range(8)] + [[0]])
    systems[1] = judged.Rankings.from_relevance(
        [[1] if at % 2 else [0, 1] for at in range(8)] + [[0]], relevant=[1] * 9, name="new"
    )
    with pytest.raises(MeasureError, match="Rank is infinite for 1 query"):
        differences(systems, measure="Rank")
    found = evaluate_rankings(systems, ["Rank"]).compare(test="sign")
    chart = differences(found)
    assert chart.data["queries"].sum() == 8
    assert "1 query with an infinite value cannot be shown." in chart.notes
    assert chart.data.select("wins", "ties", "losses").row(0) == (0, 4, 5)


def test_colours_are_of_better_and_worse_also_where_lower_is_better() -> None:
    def colour(measure: str) -> str:
        chart = differences(several(20), measure=measure)
        [bars] = [part for part in chart.spec["layer"] if "strokeWidth" in part["encoding"]]
        return str(bars["encoding"]["color"]["value"])

    assert colour("RR") == THEMES["light"].right
    assert colour("Rank") == THEMES["light"].wrong


def test_what_cannot_be_compared() -> None:
    assert (
        error_of(differences, pair([[1]], [[1]])[:1])
        == "this chart compares two systems; got 1: old."
    )
    assert (
        error_of(differences, pair([[1]], [[1], [0]]))
        == "the two systems have different queries; judge both with the same judgements."
    )
    assert (
        error_of(differences, judged.compare_values({name: {"1": 1.0, "2": 2.0} for name in "abc"}))
        == "this chart compares two systems; got 3: a, b, c."
    )


# -- scatter


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
