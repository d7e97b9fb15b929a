"""A partition judged: its rows, and the judgements of its queries, to rankings, by the same code as
everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.engines.spark.faults import fault_in
from judged.errors import JudgedError
from judged.inputs.tables import Judgements, Lookup, Run
from judged.matching.matcher import Matcher
from judged.matching.pool import pool_of
from judged.matching.subtopics import counts_of
from judged.matching.weights import weighed
from judged.rankings.findings import Findings, total
from judged.rankings.rankings import Rankings
from judged.rankings.weights import Weights
from judged.text import Tallied

if TYPE_CHECKING:
    import polars as pl

    from judged.engines.spark.rows import Described
    from judged.options import CollectionLike
    from judged.policy import Policy


@dataclass(frozen=True)
class How:
    """How a partition is judged; see `Matcher`."""

    policy: Policy
    collection: CollectionLike | None = None
    weights: str | None = None
    """Where the weights of queries come from, where the judgements have a column of them."""


@dataclass(frozen=True)
class JudgePartition:
    """Work: the rankings of a partition, or what is made of them."""

    run: Described
    judgements: Described
    how: How
    of_run: Callable[[Any], Any] | None = None
    """What is done to the run first."""
    of_judgements: Callable[[Any], Any] | None = None
    """The same of the judgements, where nobody did it before they came here."""
    make: Callable[[Rankings], Any] | None = None
    """What is made of the rankings; None: they come back themselves."""

    def __call__(self, rows: pl.DataFrame) -> Iterator[Any]:
        tables: list[tuple[Described, pl.DataFrame]] = []
        try:
            for described in (self.judgements, self.run):
                tables.append((described, described.rows(rows)))
            (_, judged), (_, listed) = tables
            run = self._run(listed)
            if isinstance(run, Run):  # what was taken out is not what is wrong
                tables[1] = self.run, _given(run)
            found = self.rankings(judged, run)
            yield found if self.make is None else self.make(found)
        except JudgedError as error:
            yield fault_in(error, tables, duplicates=self.how.policy.duplicates)

    def _run(self, listed: pl.DataFrame) -> Run | Lookup:
        """The run that some rows are, with what is done to it first."""
        run: Run | Lookup = Lookup({}, self.run.source, self.run.notes, self.run.name)
        if listed.height:
            run = self.run.run(listed)
        return run if self.of_run is None else self.of_run(run)

    def rankings(self, judged: pl.DataFrame, run: Any) -> Rankings:
        """The rankings of a run by the judgements of its queries."""
        how = self.how
        some = self.judgements.judgements(judged)
        judgements: Judgements | Lookup = some
        if self.of_judgements is not None:
            judgements = self.of_judgements(replace(some, part=True))
        # Of a part, ids are looked at even where those of other parts may turn out to be judged.
        pool = replace(pool_of(judgements, duplicates=how.policy.duplicates), is_part=True)
        judge = Matcher(pool, how.policy, how.collection)
        found = judge.block(run, np.arange(len(pool.queries)))
        if how.weights is not None:
            found = weighed(found, _weights(judged, pool.queries, how.weights))
        assert found.findings is not None
        # What the judgements are like is said where all of them are known, but for what adds up.
        taken = (note for note in judgements.notes if isinstance(note, Tallied))
        by_subtopic: tuple[str, ...] = ()
        if pool.subtopics is not None and self.judgements.one_iteration is not None:
            by_subtopic = counts_of(pool.subtopics, len(pool.grades))
        findings = replace(found.findings, notes=(*taken, *by_subtopic, *run.notes))
        dropped = Findings(duplicates_dropped=pool.dropped)
        return replace(found, findings=total([findings, dropped]))


def _weights(rows: pl.DataFrame, queries: tuple[str, ...], source: str) -> Weights:
    """The weight of each query, of the first of its rows: they are all the same."""
    first = rows.unique("query", keep="any").select("query", "weight")
    known = dict(first.iter_rows())
    return Weights(np.array([known[query] for query in queries]), source)


def _given(run: Run) -> pl.DataFrame:
    """The rows of a run, with those that have no item."""
    import polars as pl

    if run.lost is None:
        return run.frame
    return pl.concat([run.frame, run.lost.frame], how="diagonal_relaxed")
