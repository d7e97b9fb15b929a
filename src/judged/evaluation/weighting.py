"""Weights of queries: what is refused with them, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judged.errors import MeasureError
from judged.measures.aggregation import AGGREGATIONS
from judged.statistics.aggregates import effective_number
from judged.statistics.units import about_few_units, effective_units

if TYPE_CHECKING:
    from judged.evaluation.exports import Exports
    from judged.evaluation.scored import Scored
    from judged.measures import Measure

DOMINANT = 0.5
"""A query with more than this share of all weight decides the mean."""


def refuse_sums(measures: tuple[Measure, ...]) -> None:
    """A weighted sum has no meaning that stays the same when all weights are doubled."""
    for measure in measures:
        if not AGGREGATIONS[measure.params["aggregate"]].weighted:
            raise MeasureError(
                f"{measure} is a sum over the queries, for which weights have no one meaning; "
                f"leave it out, or ask for its mean, {measure(aggregate='mean')}."
            )


def effective_queries(run: Scored, measure: Measure) -> float:
    """How many queries of equal weight would say as much about a summary (Kish); 0 where no query
    counts."""
    assert run.about.weights is not None
    counted = ~np.isnan(run.values[measure])
    return effective_number(run.about.weights.values[counted]) if counted.any() else 0.0


def weight_sources(evaluation: Exports) -> list[str]:
    """Where the weights come from, where there are some."""
    weights = evaluation.runs[0].about.weights
    return [] if weights is None else [weights.source]


def weights_line(evaluation: Exports) -> list[str]:
    """Where the weights come from, and how many equal queries they are worth."""
    weights = evaluation.runs[0].about.weights
    if weights is None:
        return []
    found = [effective_queries(run, m) for run in evaluation.runs for m in evaluation.measures]
    low, high = f"{min(found):,.1f}", f"{max(found):,.1f}"
    return [
        f"weights: queries are weighted by {weights.source}; effective number of queries (Kish) "
        f"{low if low == high else f'{low} to {high}'} of {len(weights.values):,}"
    ]


def about_few(evaluation: Exports) -> list[str]:
    """Warn of intervals from a small effective number of weighted queries, or of groups."""
    if evaluation.level is None:
        return []
    rows = []
    for run in evaluation.runs:
        for measure in evaluation.measures:
            counts = ~np.isnan(run.values[measure])
            groups = None
            if evaluation.groups is not None:
                ids = np.asarray(run.about.queries, object)[counts].tolist()
                groups = np.array([evaluation.groups[query] for query in ids], np.int64)
            size = int(counts.sum())
            effective = effective_units(size, run.about.weights_of(counts), groups)
            number = None if groups is None else len(np.unique(groups))
            rows.append((evaluation.label(measure), size, number, effective))
    return about_few_units(rows)


def about_weights(evaluation: Exports) -> list[str]:
    """What could mislead: one query that outweighs all others, a library that has no weights."""
    r = evaluation.runs[0].about
    if r.weights is None:
        return []
    shares = r.weights.values / r.weights.values.max()
    most = 1 / float(shares.sum())
    said = []
    if most > DOMINANT + 1e-9 and len(r) > 1:
        query = r.queries[int(shares.argmax())]
        said.append(f"Query {query!r} has {most:.0%} of all weight, more than all others together.")
    if evaluation.convention:
        library = evaluation.convention.convention.title
        said.append(
            f"Weights of queries are not part of what {library} computes: each query's value is as "
            f"{library} has it, and their mean is weighted."
        )
    return said
