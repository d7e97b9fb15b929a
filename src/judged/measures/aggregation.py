"""How the values of the queries become one number, and its standard error; with weights, each value
counts as often as its weight says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from judged.arrays import Floats
from judged.measures.params import Choice
from judged.statistics import samples
from judged.statistics.samples import Weighed, relative


@dataclass(frozen=True)
class Aggregation:
    """How the queries' values become one number, and their standard errors that of the number."""

    value: Callable[[Floats, Weighed], float]
    error: Callable[[Floats, Floats, Weighed], float]
    says: str
    weighted: bool = True
    """Whether it has a meaning with weights that does not change when all of them are doubled."""

    def __call__(self, values: Floats, weights: Floats | None = None) -> float:
        return self.value(values, relative(weights))

    def standard_error(
        self, values: Floats, errors: Floats, weights: Floats | None = None
    ) -> float:
        """The standard error of the number, from those of the values."""
        return self.error(values, errors, relative(weights))


AGGREGATIONS: dict[str, Aggregation] = {
    "mean": Aggregation(
        samples.weighted_mean, samples.mean_error, "the summary is the mean over the queries"
    ),
    "geometric": Aggregation(
        samples.geometric,
        samples.geometric_error,
        "the summary is the geometric mean over the queries, each value at least "
        f"{samples.GEOMETRIC_FLOOR:.5f}",
    ),
    "median": Aggregation(
        samples.median, samples.median_error, "the summary is the median over the queries"
    ),
    "sum": Aggregation(
        samples.total,
        lambda values, errors, weights: samples.sum_error(errors),
        "the summary is the sum over the queries",
        weighted=False,
    ),
}


def aggregate_param(default: str, names: tuple[str, ...] = tuple(AGGREGATIONS)) -> Choice:
    """Every measure's last parameter: how its values become one number."""
    return Choice(
        "aggregate",
        default,
        "how the queries' values become one number",
        {name: AGGREGATIONS[name].says for name in names},
    )
