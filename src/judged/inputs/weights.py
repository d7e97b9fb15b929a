"""The weight of each query. `keyed.read_weights` reads them from tables and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from judged.errors import InputError
from judged.inputs.agreement import few
from judged.text import counted

if TYPE_CHECKING:
    import polars as pl

    from judged.arrays import Floats

WEIGHTS_GIVEN = "the weights given"  # the source in messages


class QueryWeights:
    """The weight of each query by its id."""

    def __init__(self, weights: Mapping[str, float], source: str = WEIGHTS_GIVEN) -> None:
        self.weights, self.source = weights, source

    def of(
        self, queries: Sequence[str], one: str = "judged query", many: str = "judged queries"
    ) -> Floats:
        """Return the weight of each query; a query without one, or a sum of 0, is an error."""
        import numpy as np

        missing = [query for query in queries if query not in self.weights]
        if missing:
            raise InputError(
                f"{self.source}: {counted(len(missing), f'{one} has', f'{many} have')} no weight "
                f"({few(missing)}); give every {one} one, 0 for one that is not to count."
            )
        values = np.array([self.weights[query] for query in queries], np.float64)
        if not values.any():
            raise InputError(
                f"{self.source}: all {many} have the weight 0, so that none counts; give some of "
                "them a weight above 0."
            )
        return values

    def unknown(self, queries: Sequence[str]) -> list[str]:
        judged = set(queries)
        return [query for query in self.weights if query not in judged]


def weights_of_column(frame: pl.DataFrame, source: str) -> QueryWeights:
    """Return the weights in a column of judgements, the same in all rows of a query."""
    import polars as pl

    is_weight = pl.col("weight").is_finite() & (pl.col("weight") >= 0)
    wrong = frame.with_row_index("row").filter(~is_weight.fill_null(False))
    if wrong.height:
        row, query, value = wrong.select("row", "query", "weight").row(0)
        raise InputError(
            f"{source}, row {row + 1}: the weight of query {query!r} is "
            f"{'missing' if value is None else value}; a weight is a finite number from 0."
        )
    rows = frame.select("query", "weight").unique(maintain_order=True)
    weights = dict(rows.iter_rows())
    if len(weights) < rows.height:
        query = rows.filter(pl.col("query").is_duplicated())["query"][0]
        one, other, *_ = sorted(rows.filter(pl.col("query") == query)["weight"])
        raise InputError(
            f"{source}: query {query!r} has the weights {one:g} and {other:g}; a query has one."
        )
    return QueryWeights(weights, f"a column of {source}")
