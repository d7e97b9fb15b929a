"""In which order queries come: by a number of each, or by id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from judged.comparison.match import differences
from judged.explanation.listing import ANY

if TYPE_CHECKING:
    from judged.arrays import Floats, Ints
    from judged.evaluation.evaluation import Evaluation
    from judged.measures import Measure


@dataclass(frozen=True)
class Sort:
    """Something that queries can be sorted by, or be in a range of."""

    name: str
    """As the address has it."""
    words: str


@dataclass(frozen=True, eq=False)
class Columns:
    """What queries can be sorted by: one number each, NaN where there is none."""

    evaluation: Evaluation
    measure: Measure
    systems: tuple[str, ...]
    attributes: pl.DataFrame

    def numbers(self, name: str) -> Floats:
        """The numbers of one of the sorts."""
        if name == "relevant":
            return relevant_of(self.evaluation)
        if name == "difference":
            found = difference_of(self.evaluation, self.measure, self.systems)
            assert found is not None
            return found
        kind, _, own = name.partition(":")
        if kind == "system":
            return self.evaluation.scored(own).values[self.measure]
        column = self.attributes[own].cast(pl.Float64)
        return column.fill_null(float("nan")).to_numpy()


def relevant_of(evaluation: Evaluation) -> Floats:
    """How many items are relevant for each query."""
    return evaluation.runs[0].rankings.relevant(ANY)


def difference_of(
    evaluation: Evaluation, measure: Measure, systems: tuple[str, ...]
) -> Floats | None:
    """The last system's values minus the first one's; None where there is one system."""
    if len(systems) < 2:
        return None
    ours, theirs = (evaluation.scored(systems[at]).values[measure] for at in (-1, 0))
    return differences(ours, theirs)


def ordered(columns: Columns, name: str, descending: bool, queries: tuple[str, ...]) -> Ints:
    """The numbers of all queries in an order; those without a number come last, and equal ones in
    the order of the judgements."""
    if name == "query":
        return _by_id(queries, descending)
    numbers = columns.numbers(name)
    order = np.argsort(-numbers if descending else numbers, kind="stable")
    return order.astype(np.int64)


def _by_id(queries: tuple[str, ...], descending: bool) -> Ints:
    """By id, where q9 comes before q10."""
    ids = pl.Series("id", list(queries))
    frame = pl.DataFrame({"id": ids}).with_row_index("at")
    number = pl.col("id").str.extract(r"(\d{1,18})$").cast(pl.Int64)
    name = pl.col("id").str.replace(r"\d{1,18}$", "")
    keys = [name.alias("name"), number.fill_null(-1).alias("number")]
    ordered = frame.with_columns(keys).sort("name", "number", "id", descending=descending)
    return ordered["at"].to_numpy().astype(np.int64)
