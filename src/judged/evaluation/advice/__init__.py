"""Which measures these data can bear: what is saturated, capped, unjudged or noisy, what separates
the systems, where K should lie, and what to report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judged.options import LEVEL, checked
from judged.policy import add_choices

if TYPE_CHECKING:
    from judged.evaluation.advice.result import Advice
    from judged.options import (
        ColumnsLike,
        Duplicates,
        FileFormat,
        JudgementsLike,
        MeasuresLike,
        PolicyLike,
        Progress,
        RunsLike,
    )

__all__ = ["advise"]


@checked
def advise(
    judgements: JudgementsLike,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    level: float = LEVEL,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    progress: Progress | None = None,
) -> Advice:
    """Say which measures and cutoffs these data can bear, and what to report.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    runs : RunsLike, optional
        The systems at hand, as `judged.evaluate` takes them; with two or more, measures are also
        held to how well they tell them apart. None where `judgements` are rows that hold relevant
        and retrieved ids.
    measures : MeasuresLike, optional
        What to look at; by default the usual ones at the usual cutoffs.
    level : float, optional
        The level of intervals and tests.
    policy : PolicyLike, optional
        What is done about ties, missing queries, queries with nothing relevant, and unjudged items.
    depth : int, optional
        Cut every list at this rank first.
    duplicates : {"error", "first"}, optional
        What is done about an item that occurs twice for a query.
    columns : ColumnsLike, optional
        What columns are called: {"query": "user_id"}.
    judgements_format, run_format : FileFormat, optional
        The formats of files, where they cannot be told.
    progress : Progress, optional
        Called with each run that was read.

    Returns
    -------
    Advice
        A row for each measure with the numbers behind every word, and sentences.

    Examples
    --------
    >>> import judged
    >>> judgements = {f"q{n}": {"a": 1} for n in range(20)}
    >>> run = {f"q{n}": ["a", "b"] if n else ["b", "a"] for n in range(20)}
    >>> [row] = judged.advise(judgements, run, "Success@1").rows
    >>> row.at_best, row.findings
    (0.95, ('saturated',))
    """
    from judged.evaluation import evaluate
    from judged.evaluation.advice.numbers import advice_of, wanted

    options: dict[str, Any] = {
        "policy": add_choices(policy, depth=depth, duplicates=duplicates),
        "columns": columns,
        "format": {"judgements": judgements_format, "run": run_format},
    }
    asked = wanted(measures)
    found = evaluate(judgements, runs, asked.computed, progress=progress, **options)
    return advice_of(found, asked, level)
