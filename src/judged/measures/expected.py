"""Expected values over all orders of tied results: in closed form where a measure declares one,
otherwise by drawing.

A random order is drawn together with its reverse, in which every tie is turned around. Each of the
two is as likely as any order, and their mean varies less than that of two orders drawn apart. The
seed is fixed: the same rankings always get the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from judged.measures.spec import Measure
from judged.rankings.rankings import Rankings
from judged.segments import Floats, Ints, ordinals, starts_of

PAIRS = 250
"""How many random orders are drawn, each with its reverse."""
DRAWS = 2 * PAIRS
SEED = 2008


@dataclass(frozen=True, eq=False)
class Expected:
    """One expected value a query."""

    values: Floats
    errors: Floats | None = None
    """Their standard errors where orders were drawn (0 for a query without ties); None where the
    values are exact."""


def expectations(measures: Iterable[Measure], r: Rankings) -> dict[Measure, Expected]:
    """The mean of each measure over all orders of the tied results, each equally likely."""
    first, last = r.spans
    tied = np.zeros(len(r), bool)
    tied[r.hit_query[last > first]] = True
    if not tied.any():
        return {measure: Expected(measure.computed(r)) for measure in measures}
    loose = r.take(np.flatnonzero(tied))
    plain = {} if tied.all() else _computed(measures, r.take(np.flatnonzero(~tied)))
    exact = {measure: measure.closed(loose) for measure in measures}
    drawn = _drawn([measure for measure, values in exact.items() if values is None], loose)
    result = {}
    for measure, values in exact.items():
        every = np.empty(len(r))
        if measure in plain:
            every[~tied] = plain[measure]
        if values is not None:
            every[tied] = values
            result[measure] = Expected(every)
        else:
            errors = np.zeros(len(r))
            every[tied], errors[tied] = drawn[measure]
            result[measure] = Expected(every, errors)
    return result


def _computed(measures: Iterable[Measure], r: Rankings) -> dict[Measure, Floats]:
    return {measure: measure.computed(r) for measure in measures}


def _drawn(measures: list[Measure], r: Rankings) -> dict[Measure, tuple[Floats, Floats]]:
    """Means over random orders, and their standard errors; all measures see the same orders."""
    if not measures:
        return {}
    tally = {measure: _Tally(len(r)) for measure in measures}
    for order, reverse in _orders(r):
        for measure in measures:
            tally[measure].add((measure.computed(order) + measure.computed(reverse)) / 2)
    return {measure: each.result() for measure, each in tally.items()}


class _Tally:
    """Sums of values and of their squares, both counted from the first value: where all are the
    same, the error is 0."""

    def __init__(self, queries: int) -> None:
        self.base: Floats | None = None
        self.total, self.squares = np.zeros(queries), np.zeros(queries)

    def add(self, values: Floats) -> None:
        if self.base is None:
            self.base = np.where(np.isfinite(values), values, 0.0)
        self.total += values - self.base
        self.squares += (values - self.base) ** 2

    def result(self) -> tuple[Floats, Floats]:
        """The means and their standard errors; an infinite mean is known for sure, and so is that
        there is none."""
        assert self.base is not None
        finite = np.isfinite(self.total)
        total = np.where(finite, self.total, 0.0)
        spread = np.where(finite, self.squares, 0.0) - total**2 / PAIRS
        return self.base + self.total / PAIRS, np.sqrt(
            np.maximum(spread, 0.0) / (PAIRS - 1) / PAIRS
        )


def _orders(r: Rankings) -> Iterator[tuple[Rankings, Rankings]]:
    """Random orders, each with its reverse."""
    draw = np.random.default_rng(SEED)
    first, last = r.spans
    tied = np.flatnonzero(last > first)
    query = r.hit_query[tied]
    new = np.append(True, (query[1:] != query[:-1]) | (first[tied][1:] != first[tied][:-1]))
    tie = np.cumsum(new) - 1
    size = (last - first + 1)[tied][new]
    start = starts_of(size)
    # Every place of every tie gets a random number; the hits of a tie hold its first places, and
    # where those come when the numbers are put in order are their ranks.
    home = np.repeat(np.arange(len(size)), size).astype(np.float64)
    place = start[tie] + ordinals(tie, len(size)) - 1
    at = np.empty(len(home), np.int64)
    for _ in range(PAIRS):
        at[np.argsort(home + draw.random(len(home)))] = np.arange(len(home))
        rank = r.hit_rank.copy()
        rank[tied] = first[tied] + at[place] - start[tie]
        yield _in_order(r, rank), _in_order(r, first + last - rank)


def _in_order(r: Rankings, rank: Ints) -> Rankings:
    """The rankings with ties broken so, and without what is then below the end of a list that a
    depth cut."""
    ordered = r.arranged(rank, ties="input", whole=None)
    seen = ordered.hit_rank <= ordered.retrieved[ordered.hit_query]
    return ordered if seen.all() else replace(ordered, **ordered.hits(seen))
