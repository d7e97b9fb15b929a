"""Which queries a report shows whole: the biggest wins and losses, or the hardest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from judged.comparison.match import matched
from judged.errors import JudgedError

if TYPE_CHECKING:
    from judged.comparison.comparison import Comparison
    from judged.evaluation.evaluation import Evaluation
    from judged.explanation import Explanation
    from judged.measures import Measure
    from judged.web.report.results import Results

LISTED = 5
"""How many wins, how many losses, and how many of the hardest queries are listed."""


@dataclass(frozen=True, eq=False)
class Side:
    """A query's list in one system."""

    run: str
    value: float
    """What the query counts there; NaN where it does not."""
    explanation: Explanation | None
    """The list with its ids, and the sum behind its number."""
    why: str = ""
    """Why there is none, as the library says it."""


@dataclass(frozen=True, eq=False)
class Listed:
    """A query that is shown whole."""

    query: str
    difference: float | None
    """The second system's value minus the first's; None of one system alone."""
    better: bool
    """Whether the second system is the better one here."""
    sides: tuple[Side, ...] = field(default=())


@dataclass(frozen=True, eq=False)
class Differences:
    """Two systems on one measure, query by query."""

    run: str
    against: str
    by_query: dict[str, float]
    """The run's value minus the other's, of the queries that count in both."""
    higher_is_better: bool

    @classmethod
    def of(cls, comparison: Comparison, measure: str, run: str, against: str) -> Differences:
        """Those of a comparison."""
        numbers, known = comparison.numbers, comparison.measure(measure)
        match = matched(numbers, known, run, against)
        queries = [numbers.queries[at] for at in match.ours.place.tolist()]
        by_query = dict(zip(queries, match.differences.tolist(), strict=True))
        return cls(run, against, by_query, known.higher_is_better)

    def biggest(self, most: int = LISTED) -> tuple[list[str], list[str]]:
        """The queries with the biggest wins, and with the biggest losses; first the biggest, and
        equal ones in the order of their ids."""
        sign = 1 if self.higher_is_better else -1
        gains = {query: sign * by for query, by in self.by_query.items() if by and by == by}
        wins = sorted((q for q in gains if gains[q] > 0), key=lambda q: (-gains[q], q))
        losses = sorted((q for q in gains if gains[q] < 0), key=lambda q: (gains[q], q))
        return wins[:most], losses[:most]


def of_pair(
    differences: Differences, results: Results, measure: Measure
) -> tuple[tuple[Listed, ...], tuple[Listed, ...]]:
    """The biggest wins and the biggest losses, with both lists."""
    wins, losses = differences.biggest()
    runs = (differences.against, differences.run)
    looked = results.about({*wins, *losses}, runs)
    found = (
        tuple(
            Listed(
                query,
                differences.by_query[query],
                better,
                tuple(_side(looked, run, query, measure) for run in runs),
            )
            for query in queries
        )
        for queries, better in ((wins, True), (losses, False))
    )
    return next(found), next(found)


def hardest(
    evaluation: Evaluation, results: Results, measure: Measure, most: int = LISTED
) -> tuple[Listed, ...]:
    """The queries of one run with the worst values."""
    run = evaluation.runs[0]
    values = run.values[measure]
    sign = 1 if measure.spec.higher_is_better else -1
    counting = np.flatnonzero(~np.isnan(values)).tolist()
    names = run.rankings.queries
    worst = sorted(counting, key=lambda at: (sign * values[at], names[at]))[:most]
    queries = [names[at] for at in worst]
    looked = results.about(set(queries), [run.name])
    return tuple(
        Listed(query, None, False, (_side(looked, run.name, query, measure),)) for query in queries
    )


def _side(results: Results, run: str, query: str, measure: Measure) -> Side:
    scored = results.evaluation.scored(run)
    value = float(scored.values[measure][scored.rankings.queries.index(query)])
    try:
        return Side(run, value, results.explanation(run, query, measure))
    except JudgedError as refused:
        return Side(run, value, None, str(refused))
