"""The results of single queries, with their ids as far as these are known, and the sum behind a
number of theirs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from judged.explanation import explain
from judged.inputs.tables import Judgements, Lookup, Run

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.explanation import Explanation
    from judged.measures import Measure

SHOWN = 10
"""How many results of a list are shown."""
Table = TypeVar("Table", bound=Judgements | Run | Lookup)


@dataclass(frozen=True, eq=False)
class Results:
    """Where results of single queries are looked up."""

    evaluation: Evaluation
    judgements: Judgements | Lookup | None = None
    """As they were judged; None where there are rankings only, which know no ids."""
    tables: Mapping[str, Run | Lookup] = field(default_factory=dict)
    """The runs by name, as they were judged."""
    first: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)
    """The first items of each query by run, best first, where vectors were searched."""
    judging: Mapping[str, Any] = field(default_factory=dict)
    """`depth`, `duplicates` and `collection`, as the runs were judged."""

    def about(self, queries: Collection[str], runs: Collection[str]) -> Results:
        """The same for some queries of some runs, which are then looked up at once."""
        if self.judgements is None:
            return self
        return replace(
            self,
            judgements=rows_of(self.judgements, queries),
            tables={name: rows_of(self.tables[name], queries) for name in runs},
        )

    def explanation(self, run: str, query: str, measure: Measure) -> Explanation:
        """How a measure comes to its value for a query; the items of the list are in it."""
        policy = self.evaluation.policy
        if self.judgements is not None:
            return explain(
                self.judgements,
                self.tables[run],
                measure,
                query=query,
                policy=policy,
                rows=SHOWN,
                **self.judging,
            )
        rankings = self.evaluation.scored(run).rankings
        alone = rankings.take([rankings.queries.index(query)])
        found = explain(alone, measure=measure, query=query, policy=policy, rows=SHOWN)
        items = self.first.get(run, {}).get(query, {})
        return replace(found, items=dict(enumerate(items, 1))) if items else found


def rows_of(table: Table, queries: Collection[str]) -> Table:
    """The rows of some queries.

    >>> from judged import read_run
    >>> list(rows_of(read_run({"a": ["x"], "b": ["y"]}), {"b"}).lists)
    ['b']
    """
    if isinstance(table, Lookup):
        own_lists = {query: own for query, own in table.lists.items() if query in queries}
        return replace(table, lists=own_lists)
    own = table.frame["query"].is_in(list(queries)).arg_true().to_numpy()
    return replace(
        table,
        frame=table.frame[own],
        rows=own if table.rows is None else table.rows[own],
        queries=tuple(query for query in table.names() if query in queries),
    )
