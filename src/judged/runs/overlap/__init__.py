"""How far ranked lists agree, without judgements."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from judged.errors import InputError, quoted, warn
from judged.inputs import as_runs, read_runs
from judged.options import checked, real
from judged.text import with_source

if TYPE_CHECKING:
    from judged.options import ColumnsLike, Duplicates, FileFormat, RunsLike
    from judged.runs.overlap.result import Overlap

__all__ = ["overlap"]


@checked
def overlap(
    runs: RunsLike,
    *,
    p: float = 0.9,
    depth: int | None = None,
    level: float = 0.95,
    duplicates: Duplicates = "error",
    columns: ColumnsLike | None = None,
    run_format: FileFormat | None = None,
) -> Overlap:
    """How far runs agree on what they return, and in which order; no judgements are needed.

    Every two runs are compared on the queries that both have results for. Ties are not broken, by
    id or otherwise: rank-biased overlap is its mean over all orders of tied results, exactly.

    Parameters
    ----------
    runs : RunsLike
        At least two, as {name: run} or as a list of files.
    p : float, optional
        The persistence of rank-biased overlap, between 0 and 1: the greater, the deeper it looks.
    depth : int, optional
        Cut every list at this rank first; by default lists count whole.
    level : float, optional
        The level of the intervals of means.
    duplicates : {"error", "first"}, optional
        What is done about an item that occurs twice for a query.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    run_format : FileFormat, optional
        The format of the files, where it is not recognised.

    Returns
    -------
    Overlap

    >>> found = overlap({"one": {"q": ["a", "b", "c"]}, "two": {"q": ["a", "c", "d"]}})
    >>> found.pair().shared.estimate, round(found.pair().rbo.estimate, 4)
    (2.0, 0.685)
    """
    persistence = _persistence(p)
    given = as_runs(runs)
    if len(given) < 2:
        raise InputError(
            "overlap takes at least two runs, as {name: run} or a list of files; got one."
        )
    from judged.runs.overlap.lists import lists_of
    from judged.runs.overlap.numbers import numbers_of
    from judged.runs.overlap.pair import pair_of
    from judged.runs.overlap.result import Overlap

    read = read_runs(given, "Overlap takes runs alone.", columns=columns, format=run_format)
    queries, lists = lists_of([*read], duplicates)
    pairs = tuple(
        pair_of(queries, first, second, numbers_of(first, second, persistence, depth), level)
        for first, second in combinations(lists, 2)
    )
    notes = tuple(note for run in lists for note in with_source(run.name, run.notes))
    found = Overlap(pairs, persistence, depth, level, notes=notes)
    for text in found.warnings():
        warn(text)
    return found


def _persistence(given: Any) -> float:
    found = real(given)
    if found is None or not 0 < found < 1:
        raise InputError(f"p must be a number between 0 and 1, as 0.9; got {quoted(given)}.")
    return found
