"""How far judges agree, and what their differences do to runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.judgements.agreements.choices import MEASURE
from judged.options import checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judged.judgements.agreements.result import Agreement
    from judged.options import (
        CategoriesLike,
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        FileFormat,
        ItemToLike,
        JudgementsLike,
        MeasuresLike,
        Path,
        PolicyLike,
        RunsLike,
        WeightsLike,
    )

__all__ = ["agreement"]


@checked
def agreement(
    first: JudgementsLike | Mapping[str, JudgementsLike] | Sequence[Path],
    second: JudgementsLike | None = None,
    runs: RunsLike | None = None,
    measures: MeasuresLike = MEASURE,
    *,
    rel: float = 1,
    level: float = 0.95,
    resamples: int = 9_999,
    seed: int = 0,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    unique: CategoriesLike | None = None,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    convention: ConventionLike | None = None,
    weights: WeightsLike | None = None,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
) -> Agreement:
    """Say how far judges agree on the items that both judged, and what it does to runs.

    Parameters
    ----------
    first : JudgementsLike, or dict or list of several
        The judgements of one judge, with those of another as `second`; or of two judges or more,
        as {name: judgements} or a list of files.
    second : JudgementsLike, optional
        The judgements of the other judge.
    runs : RunsLike, optional
        Runs that are scored under each judge's own judgements, on the queries that all judged.
    measures : MeasuresLike, optional
        What runs are scored by.
    rel : float, optional
        The lowest grade that counts as relevant.
    level : float, optional
        The level of intervals, and of verdicts on runs.
    resamples : int, optional
        How often queries are drawn with replacement for an interval.
    seed : int, optional
        What they are drawn from.
    duplicates : {"error", "first"}, optional
        What is done about an item that a judge, or a run, has twice for a query.
    policy, depth, collection, unique, item_to, exclude_same_id, convention, weights, run_format
        Of the runs, as for `evaluate`.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    judgements_format : FileFormat, optional
        The format of the judges' files; by default their content tells.

    Returns
    -------
    Agreement

    >>> ann = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 2, "d": 0}}
    >>> bob = {"q1": {"a": 1, "b": 0, "c": 1}, "q2": {"a": 1, "d": 0}}
    >>> found = agreement(ann, bob)
    >>> found.agreement.estimate, round(found.kappa.estimate, 4)
    (0.6, 0.375)
    """
    from itertools import combinations

    from judged.inputs.columns import as_columns
    from judged.judgements.agreements.faults import (
        checked_scale,
        refuse_columns_of_documents,
        refuse_nothing_shared,
        refuse_without_runs,
    )
    from judged.judgements.agreements.judges import grades_of, named_judges, read_judges
    from judged.judgements.agreements.leaderboards import Terms, leaderboards_of
    from judged.judgements.agreements.pairs import Settings, alphas_of, pair_of
    from judged.judgements.agreements.result import Agreement

    settings = Settings(rel, level, resamples, seed)
    scoring = {
        "policy": policy,
        "depth": depth,
        "collection": collection,
        "unique": unique,
        "item_to": item_to,
        "exclude_same_id": exclude_same_id,
        "convention": convention,
        "weights": weights,
    }
    named = as_columns(columns, alone=False)
    refuse_columns_of_documents(named, item_to)
    if runs is None:
        refuse_without_runs({"measures": measures, "run_format": run_format, **scoring})
    else:  # a column may be one of the runs alone
        columns = named
    judges = read_judges(named_judges(first, second), columns=columns, format=judgements_format)
    grades = grades_of(judges, duplicates=duplicates)
    refuse_nothing_shared(grades)
    notes = checked_scale(grades)
    pairs = [
        pair_of(grades, one, other, settings)
        for one, other in combinations(range(len(grades.judges)), 2)
    ]
    alphas = pairs[0].alphas if len(pairs) == 1 else alphas_of(grades, settings)
    boards = None
    if runs is not None:
        terms = Terms(
            measures,
            columns,
            run_format,
            {"level": level, "seed": seed},
            {**scoring, "duplicates": duplicates},
        )
        boards = leaderboards_of(judges, grades.shared_queries(), runs, terms)
    return Agreement(grades, tuple(pairs), alphas, settings, boards, (*grades.notes, *notes))
