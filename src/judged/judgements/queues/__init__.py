"""What to judge next: the unjudged results of runs, the most worthwhile first."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, devnull, fspath
from os.path import getsize, isfile
from typing import TYPE_CHECKING

from judged.judgements.queues.choices import BY
from judged.options import checked, choice
from judged.policy import add_choices

if TYPE_CHECKING:
    from judged.judgements.queues.result import Queue
    from judged.measures import Measure
    from judged.options import (
        CategoriesLike,
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        FileFormat,
        ItemToLike,
        JudgementsLike,
        PolicyLike,
        Progress,
        RunsLike,
        TextsLike,
    )

__all__ = ["queue"]


@checked
def queue(
    judgements: JudgementsLike,
    runs: RunsLike | None = None,
    measure: str | Measure = "nDCG@10",
    *,
    depth: int = 10,
    by: str = "effect",
    budget: int | None = None,
    seed: int = 0,
    top_grade: float | None = None,
    only_judged_queries: bool = False,
    texts: TextsLike | None = None,
    queries: TextsLike | None = None,
    policy: PolicyLike | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    unique: CategoriesLike | None = None,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    convention: ConventionLike | None = None,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    progress: Progress | None = None,
) -> Queue:
    """Say which unjudged results to judge next, and what judgements could still change.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table; an empty dict or file where nobody judged
        anything yet.
    runs : RunsLike, optional
        One run or several, as for `evaluate`. None where `judgements` are rows that hold relevant
        and retrieved ids.
    measure : str or Measure, optional
        What effects and differences are measured by.
    depth : int, optional
        Down to which rank of each run results are looked at. Lists are not cut: a measure sees as
        much of them as ever.
    by : {"effect", "depth"}, optional
        What comes first. "effect": by how much the query's difference between the runs, the
        largest over pairs of runs, or the value of the only run, would change if the item alone
        had the top grade. "depth": the best rank in any run, queries in turn.
    budget : int, optional
        How many results are asked for, the most worthwhile; by default all.
    seed : int, optional
        What the items of each query are shuffled by.
    top_grade : float, optional
        The top grade; by default the highest in the judgements, and 1 where none is above 0.
    only_judged_queries : bool, optional
        Leave out queries that have no judgement at all. By default they are in the queue, and
        counted with a difference of 0 so far.
    texts, queries : TextsLike, optional
        What items and queries say, for annotators: {id: text}, {id: {"title": …, "text": …}}, a
        table or a file.
    policy, duplicates, collection, unique, item_to, exclude_same_id, convention, columns, \
judgements_format, run_format, progress
        As for `evaluate`.

    Returns
    -------
    Queue

    >>> runs = {"old": {"q": ["a", "b", "c"]}, "new": {"q": ["c", "a", "d"]}}
    >>> found = queue({"q": {"a": 1}}, runs, "P@2", budget=2)
    >>> [(found.items[at], float(found.effects[at])) for at in found.priority]
    [('c', 0.5), ('b', 0.5)]
    >>> found.bounds[0].says
    'P@2: new - old is 0.0000 and could become -0.5000 to 0.5000: that both are equal can change.'
    """
    from judged.inputs.data import Data

    by = choice("by", by, BY)
    nothing = _is_nothing(judgements)
    given = Data.of(
        _PLACEHOLDER if nothing else judgements,
        runs,
        columns=columns,
        judgements_format=None if nothing else judgements_format,
        run_format=run_format,
    )
    with given.reading_ahead() as data:
        from judged.evaluation.evaluation import evaluate_rankings
        from judged.evaluation.runs import match_runs
        from judged.evaluation.warnings import announce_warnings
        from judged.judgements.queues.making import made, request_of, without_judgements

        request = request_of(measure, add_choices(policy, duplicates=duplicates), convention)
        judged = match_runs(
            without_judgements(data) if nothing else data,
            request,
            collection=collection,
            progress=progress,
            keep=True,
            item_to=item_to,
            unique=unique,
            exclude_same_id=exclude_same_id,
        )
    found = made(
        judged,
        evaluate_rankings(judged.rankings, request),
        depth=depth,
        by=by,
        budget=budget,
        seed=seed,
        top_grade=top_grade,
        only_judged_queries=only_judged_queries,
        texts=texts,
        queries=queries,
        duplicates=duplicates,
        collection=collection,
    )
    return announce_warnings(found)


_PLACEHOLDER: dict[str, dict[str, float]] = {"nobody judged anything": {}}


def _is_nothing(judgements: JudgementsLike) -> bool:
    """Whether nobody judged anything yet: an empty dict, or a file that is empty."""
    if isinstance(judgements, (str, PathLike)):
        path = fspath(judgements)
        return path == devnull or (isfile(path) and not getsize(path))
    return isinstance(judgements, Mapping) and not judgements
