"""A run that lives in Spark: judged there, in partitions of whole queries, against judgements that
are here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.engines.spark.judging import How, JudgePartition
from judged.engines.spark.local import pool_table
from judged.engines.spark.long_lists import long_blocks
from judged.engines.spark.partitions import (
    ROWS,
    Counts,
    count,
    partitions_for,
    setting,
    together,
)
from judged.engines.spark.rows import Described
from judged.engines.spark.session import address_of
from judged.engines.spark.work import done, some_queries
from judged.errors import InputError, PolicyError
from judged.inputs.blocks import DistantRun
from judged.inputs.tables import Lookup
from judged.matching.faults import EMPTY, nothing_in_common
from judged.matching.weights import about_weights
from judged.rankings.findings import Findings
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.engines.spark.tables import SparkTable
    from judged.matching.matcher import Matcher


@dataclass(frozen=True, eq=False)
class SparkRun(DistantRun):
    """A run in Spark, and what is done to each of its partitions first."""

    table: SparkTable = field(kw_only=True)
    changes: tuple[Callable[[Any], Any], ...] = ()

    @classmethod
    def of(cls, table: SparkTable) -> SparkRun:
        """The run that a table is."""
        return cls(table.name, table.source, table=table)

    def then(self, change: Callable[[Any], Any]) -> SparkRun:
        """The same run, with something done to each partition."""
        return replace(self, changes=(*self.changes, change))

    def judged(
        self, judge: Matcher, make: Callable[[Rankings], Any] | None = None
    ) -> Iterator[Any]:
        """The rankings of each partition, or what is made of them there."""
        refuse_input_order(judge.policy.ties, self.table)
        judgements = pool_table(judge.pool, judge.own_weights, self.table.frame.sparkSession)
        counts = count(self.table, judgements)
        if not counts.judged_queries:
            names = some_queries(self.table.frame)
            raise InputError(nothing_in_common(judge.pool, self.source, names))
        work = self._work(judge, judgements, make)
        found = list(judged_partitions(self.table, judgements, counts, work))
        if not any(findings_in(each).results for each in found):
            raise InputError(f"{self.source}: {EMPTY}")
        closing = () if judge.weights is None else about_weights(judge.weights, judge.queries)
        once = Findings(
            run_queries=counts.queries - counts.judged_queries,
            duplicates_dropped=judge.pool.dropped,
            notes=judge.pool.notes,
            closing=closing,
        )
        nothing = judge.block(Lookup({}, self.source, name=self.name), np.zeros(0, np.int64))
        first = replace(nothing, findings=once)
        yield first if make is None else make(first)
        yield from found

    def _work(
        self, judge: Matcher, judgements: SparkTable, make: Callable[[Rankings], Any] | None
    ) -> JudgePartition:
        weights = judge.own_weights
        how = How(
            judge.policy,
            judge.collection,
            None if weights is None else weights.source,
        )
        change = Changes(self.changes) if self.changes else None
        described = Described.of(self.table), Described.of(judgements)
        return JudgePartition(*described, how, of_run=change, make=make)


def findings_in(made: Any) -> Findings:
    """What was found in a partition, of its rankings or of what was made of them."""
    found = made.findings if isinstance(made, Rankings) else made.rankings.findings
    assert found is not None
    return found


@dataclass(frozen=True)
class Changes:
    """What is done to a run, one after the other."""

    changes: tuple[Callable[[Any], Any], ...]

    def __call__(self, run: Any) -> Any:
        for change in self.changes:
            run = change(run)
        return run


def refuse_input_order(ties: str, table: SparkTable) -> None:
    """Refuse ties in the order of the input, unless ranks give one."""
    if ties == "input" and not table.is_rank:
        raise PolicyError(
            f"ties=input has no meaning for {table.source}: a table in Spark has no order. Give a "
            "column with ranks, or choose ties=id, best, worst or expected."
        )


def judged_partitions(
    run: SparkTable, judgements: SparkTable, counts: Counts, work: JudgePartition
) -> Iterator[Any]:
    """What is made of the rankings of all partitions; lists that are too long for a worker are
    counted where they lie."""
    long = [query for query, _ in counts.longest]
    partitions = partitions_for(counts, setting(run.frame, ROWS))
    frame = together(run, judgements, partitions=partitions, chosen=counts.chosen, without=long)
    yield from done(frame, work, address_of(run.frame))
    if long:
        yield from long_blocks(run, judgements, long, work)
