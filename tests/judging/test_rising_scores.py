"""Distances in the place of scores: a list that is read backwards is said to be."""

import numpy as np
import polars as pl
import pytest

from judged.rankings.rankings import Rankings

WARNING = (
    "The scores rise from line to line in {} lists, as distances do; ranks are by score, the "
    "greatest first, so that such a list is read backwards. If they are distances, give them a "
    "minus sign, or give ranks."
)
JUDGEMENTS = {f"q{number}": {"a": 1} for number in range(10)}


def lists(rising: int, falling: int = 0, short: int = 0) -> dict[str, list[tuple[str, float]]]:
    kinds = [(1, 2, 2, 3)] * rising + [(3, 2, 2, 1)] * falling + [(1, 2)] * short
    return {
        f"q{number}": [(item, float(score)) for item, score in zip("abcd", scores, strict=False)]
        for number, scores in enumerate(kinds)
    }


def ways_in(run, folder):
    rows = [(query, item, score) for query, results in run.items() for item, score in results]
    yield run
    yield {query: dict(results) for query, results in run.items()}
    table = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    yield table
    table.write_csv(folder / "x.csv")
    yield folder / "x.csv"


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lists(3), 3),
        (lists(9, 1), 9),
        (lists(8, 1), 0),
        (lists(2), 0),
        (lists(3, short=7), 3),  # lists of two rise by chance
        (lists(0, 10), 0),
    ],
)
def test_every_way_in_says_it_alike(run, said, tmp_path):
    expected = [WARNING.format(said)] if said else []
    for given in ways_in(run, tmp_path):
        warned = [
            text for text in Rankings.from_run(JUDGEMENTS, given).audit.warnings if "rise" in text
        ]
        assert warned == expected


def test_lists_in_no_order_are_not_suspected():
    random = np.random.default_rng(0)
    for _ in range(200):
        run = {query: dict(zip("abcde", random.random(5), strict=True)) for query in JUDGEMENTS}
        assert not Rankings.from_run(JUDGEMENTS, run).audit.warnings
