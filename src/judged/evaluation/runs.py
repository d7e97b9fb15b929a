"""Runs and judgements, as they were given, to the rankings that an evaluation is of."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from judged.errors import InputError
from judged.evaluation.kept import MOST_ROWS
from judged.evaluation.parts import Kept, evaluated, gathered, part_of
from judged.evaluation.side_by_side import refuse_bad, side_by_side
from judged.inputs.blocks import DistantRun, RunBlocks
from judged.inputs.remote import AnyRun, RemoteRun, stays_in_spark
from judged.matching import Judge, judging
from judged.matching.items import at_both_levels, with_items
from judged.matching.weights import refuse_both

if TYPE_CHECKING:
    from judged.evaluation.parts import Asked
    from judged.evaluation.request import Request
    from judged.evaluation.scored import Scored
    from judged.evaluation.trusted import TrustedRankings
    from judged.inputs.data import Data
    from judged.inputs.tables import Judgements, Lookup, Run
    from judged.options import CollectionLike, JudgementsLike, Progress, WeightsLike
    from judged.rankings.rankings import Rankings

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Runs as they were judged."""

    rankings: list[Rankings]
    judgements: Judgements | Lookup
    tables: list[Run | Lookup]
    """What was judged; empty unless it was to be kept."""
    trusted: TrustedRankings | None = None
    """The same runs by the trusted judgements, where there are some."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Why runs were left out, by their names."""


def judged_runs(
    data: Data,
    request: Request,
    *,
    depth: int | None,
    duplicates: str,
    collection: CollectionLike | None,
    weights: WeightsLike | None,
    progress: Progress | None,
    both_levels: bool = False,
    best_scores: bool = False,
    keep: bool = False,
    trusted: JudgementsLike | None = None,
    jobs: int | None = None,
    skip_bad: bool = False,
    **ranked: Any,
) -> JudgedRuns:
    """Judge the runs, `jobs` of them at once; `ranked` says what their items are (`with_items`),
    and `keep` that the runs stay in memory. `trusted` are further judgements that each run is
    judged by too. Runs that cannot be judged are refused together, or left out (`skip_bad`)."""
    how: dict[str, Any] = {
        "policy": request.policy,
        "depth": depth,
        "duplicates": duplicates,
        "collection": collection,
    }
    ready = _Ready.of(data, request, weights, how, both_levels, best_scores, ranked)
    found = JudgedRuns([], ready.judgements, [])
    by_trusted: list[Any] = [None] * len(ready.levels)
    if trusted is not None:
        from judged.evaluation.trusted import TrustedRankings

        by_trusted = _trusted_judges(ready.levels, trusted, how)
        found = replace(found, trusted=TrustedRankings(_source(trusted), []))

    def judged(tables: Sequence[Any]) -> list[tuple[Any, Rankings, Any]]:
        return [
            (table if keep else None, judge(table), again and again(table))
            for judge, again, table in zip(ready.judges, by_trusted, tables, strict=True)
        ]

    def take(own: list[tuple[Any, Rankings, Any]]) -> int:
        for table, rankings, again in own:
            found.rankings.append(rankings)
            if found.trusted is not None:
                found.trusted.rankings.append(again)
            if table is not None:
                _refuse_remote(table)
                found.tables.append(table)
        return len(own[-1][1])

    found.skipped.update(ready.each(judged, take, progress, jobs, skip_bad))
    return found


@dataclass(frozen=True, eq=False)
class EvaluatedRuns:
    """Runs as they were evaluated."""

    runs: list[tuple[Scored, Rankings | None]]
    """The values of each, and its rankings where these are not too large to keep."""
    skipped: Mapping[str, str]
    """Why runs were left out, by their names."""
    judgements: Judgements | Lookup | None = None
    """What the runs were judged by."""


def evaluated_runs(
    data: Data,
    asked: Asked,
    *,
    depth: int | None,
    duplicates: str,
    collection: CollectionLike | None,
    weights: WeightsLike | None,
    progress: Progress | None,
    both_levels: bool = False,
    jobs: int | None = None,
    skip_bad: bool = False,
    **ranked: Any,
) -> EvaluatedRuns:
    """The values of the runs, `jobs` of them made at once, with their rankings as long as all of
    them are not too large to keep; of a run that is read in blocks, no more than one is in memory.
    """
    how: dict[str, Any] = {
        "policy": asked.request.policy,
        "depth": depth,
        "duplicates": duplicates,
        "collection": collection,
    }
    if not asked.per_query and stays_in_spark(data) and not both_levels:
        from judged.engines.spark.summaries import summaries

        found = summaries(data, asked, how, progress, **ranked)
        return EvaluatedRuns([(each, None) for each in found], {})
    ready = _Ready.of(data, asked.request, weights, how, both_levels, asked.unanswerable, ranked)
    runs: list[tuple[Scored, Rankings | None]] = []
    hits = 0

    def evaluate(tables: Sequence[Any]) -> list[tuple[Scored, Rankings | None]]:
        return [
            evaluated_run(judge, table, asked)
            for judge, table in zip(ready.judges, tables, strict=True)
        ]

    def take(own: list[tuple[Scored, Rankings | None]]) -> int:
        nonlocal hits
        for scored, rankings in own:
            hits += 0 if rankings is None else len(rankings.hit_rank)
            runs.append((scored, rankings if hits <= MOST_HITS else None))
        return len(own[-1][0].about)

    skipped = ready.each(evaluate, take, progress, jobs, skip_bad)
    return EvaluatedRuns(runs, skipped, ready.judgements)


MOST_HITS = 10 * MOST_ROWS
"""Of many runs rankings are kept, in the order given, up to so many hits in all."""


def evaluated_run(
    judge: Judge, run: AnyRun | RunBlocks, asked: Asked
) -> tuple[Scored, Rankings | None]:
    """The values of a run, and its rankings where these are not too large to keep."""
    if not asked.per_query:
        return _summed(judge, run, asked), None
    if isinstance(run, RunBlocks):
        return run.gather(lambda: _in_blocks(judge, run, asked))
    return evaluated(judge(run), asked)


def _in_blocks(judge: Judge, run: RunBlocks, asked: Asked) -> tuple[Scored, Rankings | None]:
    asked = replace(asked, top_grade=judge.top_grade)
    if isinstance(run, DistantRun):
        parts = run.judged(judge, partial(part_of, asked=asked))
        return gathered(parts, asked, judge.queries), None
    kept = Kept()
    with closing(judge.blocks(run)) as blocks:
        parts = (kept.part_of(block, asked) for block in blocks)
        scored = gathered(parts, asked, judge.queries)
    return scored, kept.rankings(scored)


def _summed(judge: Judge, run: AnyRun | RunBlocks, asked: Asked) -> Scored:
    """The summaries of a run; no values of queries are kept."""
    from judged.evaluation.totals import summed, totals_in

    make = partial(totals_in, asked=replace(asked, top_grade=judge.top_grade))

    def made() -> Scored:
        if isinstance(run, DistantRun):
            return summed(run.judged(judge, make), asked, judge.queries)
        with closing(judge.blocks(run)) as blocks:
            return summed(map(make, blocks), asked, judge.queries)

    return run.gather(made) if isinstance(run, RunBlocks) else made()


@dataclass(frozen=True, eq=False)
class _Ready:
    """Judgements made ready, at one level or at both, and the runs that they are for."""

    levels: Sequence[Data]
    request: Request
    judgements: Judgements | Lookup
    judges: list[Judge]

    @classmethod
    def of(
        cls,
        data: Data,
        request: Request,
        weights: WeightsLike | None,
        how: Mapping[str, Any],
        both_levels: bool,
        best_scores: bool,
        ranked: Mapping[str, Any],
    ) -> _Ready:
        items = {**ranked, "duplicates": how["duplicates"]}
        levels = at_both_levels(data, **items) if both_levels else [with_items(data, **items)]
        pools = [level.judgements() for level in levels]
        refuse_both(pools[0], weights)
        judges = [judging(pool, best_scores=best_scores, **how) for pool in pools]
        return cls(levels, request, pools[0], judges)

    def each(
        self,
        make: Callable[[Sequence[Any]], Made],
        take: Callable[[Made], int],
        progress: Progress | None,
        jobs: int | None,
        skip_bad: bool,
    ) -> dict[str, str]:
        """Make something of every run, as the convention's library takes it, once for each level,
        several runs at once; and take it, in the order given, for the number of its queries. Why
        runs were left out, by their names."""
        readings = list(zip(*(level.readings() for level in self.levels), strict=True))
        bad = []

        def made(tables: Sequence[Any]) -> Made:
            return make([self.request.prepare(table) for table in tables])

        # Columns that somebody named are looked for in the first run.
        first_alone = bool(self.levels[0].columns)
        for outcome in side_by_side(readings, made, jobs=jobs, first_alone=first_alone):
            if outcome.made is None:
                bad.append(outcome)
                continue
            queries = take(outcome.made)
            if progress is not None:
                progress(queries)
        refuse_bad(bad, len(readings), skip_bad=skip_bad)
        return {each.name: str(each.error) for each in bad}


def _refuse_remote(run: AnyRun) -> None:
    """Refuse to keep a run that stays where it is."""
    if isinstance(run, (RemoteRun, DistantRun)):
        raise InputError(
            "unjudged_range of a comparison needs every result, and a run stays in its engine; "
            "read it whole (engine='memory')."
        )


def _source(trusted: JudgementsLike) -> str:
    """What messages call trusted judgements."""
    from judged.inputs.formats import printable

    if isinstance(trusted, str) and trusted == "-":
        return "standard input"
    if isinstance(trusted, (str, os.PathLike)):
        return printable(os.fspath(trusted))
    return "the trusted judgements"


def _trusted_judges(levels: Sequence[Data], trusted: JudgementsLike, how: Any) -> list[Any]:
    """What judges a run by the trusted judgements, with the items that are ranked; what is wrong
    with these names them."""
    try:
        own = (replace(each, given=trusted, rows=None, judgements_format=None) for each in levels)
        return [judging(each.judgements(), **how) for each in own]
    except InputError as error:
        raise InputError(f"trusted: {error}") from None
