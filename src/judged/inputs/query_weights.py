"""The weight of each query, whatever it was read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.errors import InputError
from judged.text import counted

if TYPE_CHECKING:
    import polars as pl

GIVEN = "the weights given"
"""What weights are called that come from no file."""


@dataclass(frozen=True, eq=False)
class QueryWeights:
    """The weight of each query by its id."""

    weights: Mapping[str, float]
    source: str = GIVEN
    """What messages and sentences call them."""

    def known(self, queries: Sequence[str]) -> NDArray[np.float64]:
        """One weight for each query; NaN for a query without one.

        Parameters
        ----------
        queries : sequence of str
            Some of the queries.

        Returns
        -------
        numpy.ndarray

        >>> QueryWeights({"a": 3.0}).known(["b", "a"]).tolist()
        [nan, 3.0]
        """
        return np.array([self.weights.get(query, np.nan) for query in queries], np.float64)

    def of(
        self, queries: Sequence[str], one: str = "judged query", many: str = "judged queries"
    ) -> NDArray[np.float64]:
        """One weight for each query; a query without one is refused, and so is a sum of 0.

        Parameters
        ----------
        queries : sequence of str
            The queries that need a weight.
        one, many : str, optional
            What messages call them.

        Returns
        -------
        numpy.ndarray

        >>> QueryWeights({"a": 3.0, "b": 1.0}).of(["b", "a"]).tolist()
        [1.0, 3.0]
        """
        lost = [query for query in queries if query not in self.weights]
        if lost:
            names = ", ".join(map(repr, lost[:3])) + (", …" if len(lost) > 3 else "")
            raise InputError(
                f"{self.source}: {counted(len(lost), f'{one} has', f'{many} have')} no weight "
                f"({names}); give every {one} one, 0 for one that is not to count."
            )
        values = np.array([self.weights[query] for query in queries], np.float64)
        if not values.any():
            raise InputError(
                f"{self.source}: all {many} have the weight 0, so that none counts; give some of "
                "them a weight above 0."
            )
        return values

    def unknown(self, queries: Sequence[str]) -> list[str]:
        """The queries that have a weight and are not judged."""
        judged = set(queries)
        return [query for query in self.weights if query not in judged]


def of_column(frame: pl.DataFrame, source: str) -> QueryWeights:
    """The weights in a column of judgements, the same in all rows of a query."""
    import polars as pl

    weight = pl.col("weight")
    odd = frame.with_row_index("row").filter(~(weight.is_finite() & (weight >= 0)).fill_null(False))
    if odd.height:
        row, query, given = odd.select("row", "query", "weight").row(0)
        raise InputError(
            f"{source}, row {row + 1}: the weight of query {query!r} is "
            f"{'missing' if given is None else given}; a weight is a finite number from 0."
        )
    found = frame.group_by("query", maintain_order=True).agg(
        weight.first(), weight.max().alias("most"), weight.min().alias("least")
    )
    two = found.filter(pl.col("most") > pl.col("least"))
    if two.height:
        query, _, most, least = two.row(0)
        raise InputError(
            f"{source}: query {query!r} has the weights {least:g} and {most:g}; a query has one."
        )
    return QueryWeights(dict(found.select("query", "weight").iter_rows()), f"a column of {source}")
