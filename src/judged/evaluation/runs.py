"""Runs and judgements, as they were given, to the rankings that an evaluation is of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judged.errors import InputError
from judged.judging import judging
from judged.judging.items import at_both_levels, with_items
from judged.judging.weights import refuse_both

if TYPE_CHECKING:
    from judged.evaluation.request import Request
    from judged.evaluation.trusted import TrustedRankings
    from judged.inputs.data import Data
    from judged.inputs.tables import Judgements, Lookup, Run
    from judged.rankings.rankings import Rankings
    from judged.types import CollectionLike, JudgementsLike, Progress, WeightsLike


@dataclass(frozen=True, eq=False)
class JudgedRuns:
    """Runs as they were judged."""

    rankings: list[Rankings]
    judgements: Judgements | Lookup
    tables: list[Run | Lookup]
    """What was judged; empty unless it was to be kept."""
    trusted: TrustedRankings | None = None
    """The same runs by the trusted judgements, where there are some."""


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
    **ranked: Any,
) -> JudgedRuns:
    """Judge the runs one after the other; `ranked` says what their items are (`with_items`), and
    `keep` that the runs stay in memory. `trusted` are further judgements that each run is judged
    by too."""
    ranked["duplicates"] = duplicates
    levels = at_both_levels(data, **ranked) if both_levels else [with_items(data, **ranked)]
    pools = [level.judgements() for level in levels]
    refuse_both(pools[0], weights)
    how: dict[str, Any] = {
        "policy": request.policy,
        "depth": depth,
        "duplicates": duplicates,
        "collection": collection,
    }
    judges = [judging(pool, best_scores=best_scores, **how) for pool in pools]
    found = JudgedRuns([], pools[0], [])
    by_trusted: list[Any] = [None] * len(levels)
    if trusted is not None:
        from judged.evaluation.trusted import TrustedRankings

        by_trusted = _trusted_judges(levels, trusted, how)
        found = replace(found, trusted=TrustedRankings(_source(trusted), []))
    for tables in zip(*(level.runs() for level in levels), strict=True):
        prepared = map(request.prepare, tables)
        for judge, again, table in zip(judges, by_trusted, prepared, strict=True):
            found.rankings.append(judge(table))
            if found.trusted is not None:
                found.trusted.rankings.append(again(table))
            if keep:
                found.tables.append(table)
        if progress is not None:
            progress(len(found.rankings[-1]))
    return found


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
