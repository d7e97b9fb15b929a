"""Runs and judgements, as they were given, to the rankings that an evaluation is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judged.judging import judging
from judged.judging.items import at_both_levels, with_items
from judged.judging.weights import refuse_both

if TYPE_CHECKING:
    from judged.evaluation.request import Request
    from judged.inputs.data import Data
    from judged.inputs.tables import Judgements, Lookup, Run
    from judged.rankings.rankings import Rankings
    from judged.types import CollectionLike, Progress, WeightsLike


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Runs as they were judged."""

    rankings: list[Rankings]
    judgements: Judgements | Lookup
    tables: list[Run | Lookup]
    """What was judged; empty unless it was to be kept."""


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
    **ranked: Any,
) -> JudgedRuns:
    """Judge the runs one after the other; `ranked` says what their items are (`with_items`), and
    `keep` that the runs stay in memory."""
    ranked["duplicates"] = duplicates
    levels = at_both_levels(data, **ranked) if both_levels else [with_items(data, **ranked)]
    pools = [level.judgements() for level in levels]
    refuse_both(pools[0], weights)
    judges = [
        judging(
            pool,
            policy=request.policy,
            depth=depth,
            duplicates=duplicates,
            collection=collection,
            best_scores=best_scores,
        )
        for pool in pools
    ]
    found = JudgedRuns([], pools[0], [])
    for tables in zip(*(level.runs() for level in levels), strict=True):
        for judge, table in zip(judges, map(request.prepare, tables), strict=True):
            found.rankings.append(judge(table))
            if keep:
                found.tables.append(table)
        if progress is not None:
            progress(len(found.rankings[-1]))
    return found
