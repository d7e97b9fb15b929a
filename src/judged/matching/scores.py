"""Grades and scores side by side -> Rankings: items without ids, each row a whole collection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judged.arrays import Floats, Ints, descending, ordinals, starts_of
from judged.errors import InputError, PolicyError, quoted
from judged.matching.faults import LargeTies
from judged.matching.ties import spans
from judged.matching.variants import rearranged
from judged.policy import CHOICES
from judged.rankings.findings import Findings
from judged.rankings.grades import plain_array, query_names, rows_of
from judged.rankings.rankings import Rankings
from judged.text import listed


def rankings_from_scores(
    y_true: Iterable[Sequence[float]],
    y_score: Iterable[Sequence[float]],
    *,
    ties: str,
    queries: Sequence[str] | None,
    name: str,
) -> Rankings:
    """See `Rankings.from_scores`."""
    known = [choice for choice in CHOICES["ties"] if choice != "id"]
    if not isinstance(ties, str) or ties not in known:
        raise PolicyError(
            f"items have no ids here: ties must be {listed(known, 'or')}; got {quoted(ties)}."
        )
    grade, lengths = _flat(y_true, "y_true")
    score, own = _flat(y_score, "y_score")
    if len(lengths) != len(own):
        raise InputError(
            f"y_true has {len(lengths)} rows, y_score has {len(own)}; they must be as many."
        )
    if (wrong := np.flatnonzero(lengths != own)).size:
        at = wrong[0]
        raise InputError(
            f"row {at} of y_true has {lengths[at]} values, that of y_score has {own[at]}; they "
            "must be as many."
        )
    query = np.repeat(np.arange(len(lengths)), lengths)
    for what, bad in (("y_true", ~np.isfinite(grade)), ("y_score", np.isnan(score))):
        if (wrong := np.flatnonzero(bad)).size:
            at = wrong[0]
            value = "infinite" if np.isinf(grade[at]) and what == "y_true" else "NaN"
            raise InputError(
                f"{what} is {value} in row {query[at]}, column "
                f"{at - starts_of(lengths)[query[at]]}."
            )
    names = query_names(queries, len(lengths), "y_true has {count} rows")
    order = np.lexsort((-score, query))
    grade, score, rank = grade[order], score[order], ordinals(query, len(lengths))
    first, last = spans(rank, query, score)
    rankings = Rankings(
        queries=names,
        retrieved=lengths,
        hit_query=query,
        hit_rank=rank,
        hit_grade=grade,
        hit_tie_first=first,
        hit_tie_last=last,
        pool_query=query,
        pool_grade=descending(grade, lengths),
        missing=np.zeros(len(names), bool),
        collection=lengths,
        name=name,
    )
    doubts = (LargeTies.of(names, query, score, last > first),)
    found = Findings.of(rankings, run_queries=len(names), doubts=doubts)
    return rearranged(replace(rankings, findings=found), ties)


def _flat(rows: Any, what: str) -> tuple[Floats, Ints]:
    rows = plain_array(rows, what)
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and len(rows) and rows.dtype.kind in "fiub":
        return rows.astype(np.float64).ravel(), np.full(len(rows), rows.shape[1], np.int64)
    parts = rows_of(rows, what)
    if not parts:
        raise InputError(f"{what} holds no rows; give one row for each query.")
    return np.concatenate(parts), np.array([len(part) for part in parts], dtype=np.int64)
