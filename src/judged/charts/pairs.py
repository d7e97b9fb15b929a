"""Two systems, query by query."""

from __future__ import annotations

import numpy as np
import polars as pl

from judged.charts.sources import Source, Systems
from judged.measures import Measure, parse_measure

DEFAULT = "nDCG@10"


def paired(source: Source, measure: str | Measure) -> pl.DataFrame:
    """A row for each query that counts in both systems, with the value of each, and the names."""
    systems = Systems.of(source).pair()
    asked = parse_measure(measure)
    first, second = systems.evaluate([asked]).runs
    values = first.values[asked], second.values[asked]
    counts = np.flatnonzero(np.isfinite(values[0]) & np.isfinite(values[1]))
    return pl.DataFrame(
        {
            "measure": pl.Series([str(asked)]).new_from_index(0, len(counts)),
            "run_a": pl.Series([first.name]).new_from_index(0, len(counts)),
            "run_b": pl.Series([second.name]).new_from_index(0, len(counts)),
            "query": pl.Series(first.rankings.queries, dtype=pl.String).gather(counts),
            "a": values[0][counts],
            "b": values[1][counts],
        }
    )


def lower_note(measure: str) -> str:
    """A word about measures that are better when they are lower."""
    return (
        ""
        if parse_measure(measure).spec.higher_is_better
        else f"Lower values of {measure} are better."
    )


def tally(table: pl.DataFrame) -> tuple[int, int, int]:
    """In how many queries the second system is better, the first is, and neither."""
    sign = 1 if parse_measure(table["measure"][0]).spec.higher_is_better else -1
    apart = (table["b"] - table["a"]) * sign
    return int((apart > 0).sum()), int((apart < 0).sum()), int((apart == 0).sum())
