from __future__ import annotations

import numpy as np

from judged import Rankings
from judged.charts.kinds.scatter import CELLS, data, scatter


def test_equal_pairs_are_one_point() -> None:
    old = Rankings.from_relevance([[1, 0], [1, 0], [0, 1]], name="old")
    new = Rankings.from_relevance([[0, 1], [0, 1], [0, 1]], name="new")
    table = data([old, new], measure="RR")
    assert table.select("a", "b", "queries", "query").rows() == [
        (1.0, 0.5, 2, None),
        (0.5, 0.5, 1, "3"),
    ]
    assert table.select("better", "worse", "equal").row(0) == (0, 2, 1)


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
    assert sum(chart.data.select("better", "worse", "equal").row(0)) == 4000
    assert f"Queries are put together in a grid of {CELLS} × {CELLS}." in chart.notes
