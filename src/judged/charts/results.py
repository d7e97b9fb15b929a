"""Runs with their items and scores, for charts that show more than ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import polars as pl

from judged.errors import InputError
from judged.inputs import Judgements, Lookup, as_runs, read_judgements, read_run
from judged.inputs.tables import Run
from judged.judging import pool_of
from judged.judging.join import match
from judged.judging.pool import Pool
from judged.judging.ties import place
from judged.policy import CHOICES
from judged.segments import Floats, positions, starts_of

UNJUDGED = {
    "nonrelevant": "Results that nobody judged count as not relevant.",
    "removed": "Results that nobody judged are left out.",
}


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a run's results: of those that are relevant, and of all that count."""

    relevant: Floats
    every: Floats
    name: str = "scores"
    unjudged: str = ""
    """What became of unjudged results, in words; empty where all were judged."""

    @classmethod
    def of(cls, judgements: Any, run: Any, *, rel: float, unjudged: str) -> Scores:
        """From judgements and a run, or from grades and scores side by side."""
        if unjudged not in UNJUDGED:
            raise InputError(f"unjudged must be {' or '.join(UNJUDGED)}; got {unjudged!r}.")
        if _side_by_side(judgements, run):
            return _of_numbers(judgements, run, rel)
        pool, table = ready(judgements, run)
        found = match(pool, table, duplicates="error")
        grade = pool.grades[found.hit_judgement]
        judged = found.hit_score[grade >= 0]
        if unjudged == "removed":
            every = judged
        else:
            lists = found.list_of[found.list_of >= 0]
            every = found.scores[positions(starts_of(found.lengths)[lists], found.lengths[lists])]
        said = UNJUDGED[unjudged] if unjudged == "removed" or len(judged) < len(every) else ""
        return cls(found.hit_score[grade >= rel], every, table.name, said)


def ready(judgements: Any, run: Any, *, name: str | None = None) -> tuple[Pool, Run | Lookup]:
    """Judgements and a run, read and grouped."""
    return pool_of(read_judgements(judgements)), read_run(run, name=name)


def placed(pool: Pool, run: Run | Lookup, *, ties: str) -> pl.DataFrame:
    """The rank of each judged item that a run holds: columns judgement (its place in the pool) and
    rank."""
    if ties not in CHOICES["ties"] or ties == "expected":
        raise InputError(
            "ties must be one of "
            f"{', '.join(rule for rule in CHOICES['ties'] if rule != 'expected')}; got {ties!r}."
        )
    found = match(pool, run, duplicates="error")
    return pl.DataFrame({"judgement": found.hit_judgement, "rank": place(pool, found, ties).rank})


def two_runs(runs: Any) -> list[tuple[str | None, Any]]:
    listed = list(as_runs(runs).items())
    if len(listed) != 2:
        raise InputError(
            "this chart compares two runs, given as {name: run, name: run} or two paths; got "
            f"{len(listed)}."
        )
    return listed


def _side_by_side(judgements: Any, run: Any) -> bool:
    """Whether these are numbers in a row rather than something with ids."""
    if any(
        isinstance(each, (str, PathLike, Mapping, Judgements, Run, Lookup))
        for each in (judgements, run)
    ):
        return False
    return isinstance(judgements, (list, tuple, np.ndarray)) and isinstance(
        run, (list, tuple, np.ndarray)
    )


def _of_numbers(grades: Any, scores: Any, rel: float) -> Scores:
    flat = [_flat(each) for each in (grades, scores)]
    if len(flat[0]) != len(flat[1]):
        raise InputError(
            f"there are {len(flat[0]):,} grades and {len(flat[1]):,} scores; they must be as many."
        )
    if not all(np.isfinite(each).all() for each in flat):
        raise InputError("grades and scores must be finite numbers.")
    return Scores(flat[1][flat[0] >= rel], flat[1])


def _flat(values: Any) -> Floats:
    rows = [np.atleast_1d(np.asarray(row, dtype=np.float64)) for row in values]
    return np.concatenate([row.ravel() for row in rows]) if rows else np.zeros(0)
