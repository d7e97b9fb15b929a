"""From runs that were read to the fused run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from judged.arrays import Floats
from judged.errors import warn
from judged.inputs.tables import Lookup, Run
from judged.matching.documents import as_table
from judged.matching.join import distinct
from judged.runs.fusion.contributions import contributions
from judged.runs.fusion.findings import notes, refuse_strangers
from judged.runs.fusion.lists import Collected, collect
from judged.runs.fusion.result import FusedRun, Fusion
from judged.runs.fusion.settings import Settings
from judged.runs.fusion.sums import Fused, fused


def fused_run(runs: Iterable[Run | Lookup], settings: Settings, duplicates: str) -> Fusion:
    """The runs, made one."""
    tables = [distinct(as_table(run, duplicates), duplicates).table for run in runs]
    collected = collect(tables, depth=settings.depth, ties=settings.ties)
    refuse_strangers(collected)
    # What is too large is refused by its sum.
    with np.errstate(over="ignore", invalid="ignore"):
        gained = [contributions(run, settings) for run in collected.runs]
        found = fused(collected, gained, settings)
    fusion = _fusion(collected, gained, found, settings)
    for text in fusion.warnings():
        warn(text)
    return fusion


def _fusion(collected: Collected, gained: list[Floats], found: Fused, settings: Settings) -> Fusion:
    frame = pl.DataFrame(
        {
            "query": collected.queries.gather(found.query),
            "item": collected.items.gather(found.row),
            "score": found.score,
        }
    )
    runs = tuple(
        FusedRun(run.run.name, weight, len(run.starts), len(run.row), int(alone))
        for run, weight, alone in zip(
            collected.runs, settings.weights, found.alone.tolist(), strict=True
        )
    )
    return Fusion(
        frame,
        f"the {settings.method} of {len(runs)} runs",
        notes(collected, gained, found, settings),
        name=settings.method,
        tag=settings.tag,
        runs=runs,
        settings=tuple(settings.to_dict().items()),
        weights=settings.weights if settings.by_hand else None,
    )
