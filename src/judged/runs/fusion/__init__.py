"""Several runs made one, by ranks or by scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.errors import InputError
from judged.inputs import as_runs, read_runs
from judged.options import checked
from judged.runs.fusion.settings import DEPTH, K, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judged.options import (
        ColumnsLike,
        Duplicates,
        FileFormat,
        FusionMethod,
        FusionNormalisation,
        FusionTies,
        RunsLike,
    )
    from judged.runs.fusion.result import Fusion

__all__ = ["fuse"]


@checked
def fuse(
    runs: RunsLike,
    *,
    method: FusionMethod = "rrf",
    k: int = K,
    weights: Sequence[float] | Mapping[str, float] | None = None,
    normalise: FusionNormalisation | None = None,
    depth: int = DEPTH,
    ties: FusionTies = "id",
    duplicates: Duplicates = "error",
    columns: ColumnsLike | None = None,
    run_format: FileFormat | None = None,
) -> Fusion:
    """Make one run of several: by the ranks of their results, or by their scores.

    An item that a list lacks gets nothing from that list. Weights are chosen by nobody but the
    caller; chosen by the queries that are then compared, they flatter the fused run.

    Parameters
    ----------
    runs : RunsLike
        At least two runs: {name: run}, or a list of files.
    method : {"rrf", "combsum", "combmnz", "weighted"}, optional
        What an item's score is: the sum of 1 / (k + rank) over the lists that have it; the sum of
        its normalised scores; that sum times the number of these lists; or the sum with weights,
        which then have to be given.
    k : int, optional
        Of rrf: the greater, the less the first ranks stand out.
    weights : sequence of float or dict, optional
        How much each run counts, in any method: a number for each in their order, or {name:
        number}; by default all count 1.
    normalise : {"minmax", "zscore", "max", "sum", "rank", "none"}, optional
        What is done to the scores of each list before they are added, by default minmax; not for
        rrf.
    depth : int, optional
        How many results of each list count, and how many a fused list has at most.
    ties : {"id", "input", "expected"}, optional
        In which order results with equal scores stand, in the lists and in the fused ones: by item
        id, descending on bytes; as in the input, for fused ones that of the first run that has
        them; or in none: tied results all get the mean of what the ranks of their tie give.
    duplicates : {"error", "first"}, optional
        What is done about an item that occurs twice for a query.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    run_format : FileFormat, optional
        The format of the files, such as "trec" or "csv", where it is not recognised.

    Returns
    -------
    Fusion
        A run, as every function here takes it.

    >>> runs = {"bm25": {"q": {"a": 9.1, "b": 7.4}}, "dense": {"q": {"c": 0.9, "a": 0.8}}}
    >>> fuse(runs).frame["item"].to_list()
    ['a', 'c', 'b']
    >>> fuse(runs, method="combsum", weights=[2, 1]).to_dict()
    {'q': {'a': 2.0, 'c': 1.0, 'b': 0.0}}
    """
    given = as_runs(runs)
    if len(given) < 2:
        raise InputError(
            "fusion takes at least two runs, as {name: run} or a list of files; got one."
        )
    names = [name or "run" for name in given]
    settings = Settings.of(
        names, method=method, k=k, weights=weights, normalise=normalise, depth=depth, ties=ties
    )
    from judged.runs.fusion.runs import fused_run

    read = read_runs(given, "Fusion takes runs alone.", columns=columns, format=run_format)
    return fused_run(read, settings, duplicates)
