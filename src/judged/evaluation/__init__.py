"""Values, policy and summary: from rankings to numbers that say what they mean.

`evaluate` is here and not beside `Evaluation`, so that a first file can be read while the measures
are still being loaded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judged.inputs.blocks.room import MEMORY, Room
from judged.inputs.data import Data
from judged.options import checked

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
    from judged.options import (
        CategoriesLike,
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        Duplicates,
        Engine,
        FileFormat,
        GroupsLike,
        ItemToLike,
        JudgementsLike,
        MeasuresLike,
        Memory,
        Path,
        PolicyLike,
        Progress,
        RunsLike,
        WeightsLike,
    )

__all__ = ["evaluate"]


@checked
def evaluate(
    judgements: JudgementsLike,
    run: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    policy: PolicyLike | None = None,
    depth: int | None = None,
    duplicates: Duplicates = "error",
    collection: CollectionLike | None = None,
    unique: CategoriesLike | None = None,
    item_to: ItemToLike | None = None,
    both_levels: bool = False,
    exclude_same_id: bool = False,
    convention: ConventionLike | None = None,
    tie_range: bool = False,
    unjudged_range: bool = False,
    weights: WeightsLike | None = None,
    unanswerable: bool = False,
    answer_threshold: float | None = None,
    interval: bool = False,
    level: float = 0.95,
    groups: GroupsLike | None = None,
    trusted: JudgementsLike | None = None,
    per_query: bool = True,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
    engine: Engine | None = None,
    memory: Memory = MEMORY,
    temporary: Path | None = None,
    jobs: int | None = None,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Score one run, or several, against judgements.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table.
    run : RunsLike, optional
        A file, a dict {query: {item: score}} or {query: [items, best first]}, or a table; several
        runs as {name: run} or as a list of files. None where `judgements` are rows that hold
        relevant and retrieved ids.
    measures : MeasuresLike, optional
        Such as "nDCG@10", or a list; by default AP, nDCG@10, RR, P@10 and R@100.
    policy : PolicyLike, optional
        What is done about ties, missing queries, queries with nothing relevant, and unjudged
        items; see `Policy`.
    depth : int, optional
        Cut every list at this rank first; by default lists count whole.
    duplicates : {"error", "first"}, optional
        What is done about an item that occurs twice for a query.
    collection : CollectionLike, optional
        How many items there are to retrieve: one number, or {query: number}. TN, Accuracy and
        Specificity need it.
    unique : CategoriesLike, optional
        {item: category}: each category's best result stands for it, and categories are ranked, so
        that `Success@5` is whether a relevant category is among the first five.
    item_to : ItemToLike, optional
        Which document an item belongs to: "doc:#" (what stands before the last # of its id),
        "pattern:REGEX" (its first group), "column:NAME", "table:FILE", a dict {item: document}, a
        table or a function. The best result of each document stands for it.
    both_levels : bool, optional
        With `item_to`: score every run twice, by item and by document.
    exclude_same_id : bool, optional
        Take out results that have the id of their query, and judgements of a query for itself.
    convention : ConventionLike, optional
        Score as another library does: its names for measures are understood, ours mean its
        variants of them, and the policy is its own where none is given.
    tie_range : bool, optional
        Add each number's value in the worst order of tied results, on average over all orders,
        and in the best; a warning names the measures whose ends may be further out.
    unjudged_range : bool, optional
        Add each number's values if all unjudged results had been judged: irrelevant, or of the top
        grade; a warning names the measures for which these are no bounds.
    weights : WeightsLike, optional
        How much each query counts in the means, as its traffic: {query: weight}, a table, or a
        file; by default all count the same, or as a column of the judgements says.
    unanswerable : bool, optional
        Take the queries with nothing relevant out of all means and look at them apart: how many
        the run answers, and how well its best score tells them from the others.
    answer_threshold : float, optional
        For these, a result counts as returned if its score is at least this.
    interval : bool, optional
        Add each number's interval: the bounds that would hold the number of all such queries in
        95 % of all samples of queries.
    level : float, optional
        The level of these intervals.
    groups : GroupsLike, optional
        Which queries belong together, as those of a session or about a passage, so that they are
        not independent: {query: group}, a table or a file; by default each stands for itself.
    trusted : JudgementsLike, optional
        Judgements that are trusted, as those of people, of at least 20 of the queries, drawn at
        random: they correct the numbers that cheap judgements, as those of a language model, give
        for all queries (prediction-powered inference).
    per_query : bool, optional
        False for the summaries and the audit alone, where there are more queries than memory can
        hold: the same numbers, by exact sums. Judgements in Spark stay there then.
    columns : ColumnsLike, optional
        What each column of a table is, such as {"query": "question_id", "item": "chunk_id"}; by
        default their names tell.
    judgements_format, run_format : FileFormat, optional
        The format of the files, such as "trec" or "csv", where it is not recognised.
    engine : {"memory", "spark", "tables"}, optional
        What computes with tables that live elsewhere. By default those of DuckDB, ibis and other
        libraries that narwhals knows stay where they are ("tables"); "memory" reads them whole.
    memory : str or int, optional
        What a run may take while it is read: large ones are read in blocks, and one that is not
        grouped by query is put on disk by query first.
    temporary : str or PathLike, optional
        The folder for what is put on disk meanwhile; by default that of the system.
    jobs : int, optional
        How many runs are read and judged at once; by default one for each core. The numbers are
        the same whatever it is.
    skip_bad : bool, optional
        Leave runs out that cannot be evaluated, and warn of each, in place of refusing all runs.
    progress : Progress, optional
        Called after each run with the number of its queries.

    Returns
    -------
    Evaluation

    >>> judgements = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> run = {"q1": {"a": 0.9, "b": 0.8}, "q2": {"b": 0.7, "c": 0.1}}
    >>> evaluate(judgements, run, ["RR", "P@1"]).to_dict()["runs"][0]["scores"]
    {'RR': 0.75, 'P@1': 0.5}
    >>> ours = evaluate(judgements, run, "hit_rate@1, mrr", convention="ranx")
    >>> ours.to_dict()["runs"][0]["scores"]
    {'hit_rate@1': 0.5, 'mrr': 0.75}
    >>> tied = {"q": {"a": 0.5, "b": 0.5}}
    >>> ranged = evaluate({"q": {"a": 1}}, tied, "RR", tie_range=True, unjudged_range=True)
    >>> ranged.tie_range()
    TieRange(worst=0.5, expected=0.75, best=1.0)
    >>> ranged.unjudged_range()
    UnjudgedRange(irrelevant=0.5, relevant=1.0)
    """
    if trusted is not None:
        from judged.evaluation.trusted import refuse_beside

        refuse_beside(
            trusted,
            per_query=not per_query,
            interval=interval,
            groups=groups is not None,
            tie_range=tie_range,
            unjudged_range=unjudged_range,
            unanswerable=unanswerable,
        )
    given = Data.of(
        judgements,
        run,
        columns=columns,
        judgements_format=judgements_format,
        run_format=run_format,
        engine=engine,
    )
    plain = item_to is None and unique is None and trusted is None and not exclude_same_id
    room = Room.of(memory, temporary)
    with replace(given, small=plain, room=room).reading_ahead() as data:
        from judged.evaluation.evaluation import evaluate_rankings, evaluate_runs
        from judged.evaluation.parts import Asked
        from judged.evaluation.request import Request
        from judged.evaluation.runs import evaluated_runs, judged_runs
        from judged.evaluation.warnings import announced

        request = Request.of(measures, policy, convention, prepares=True)
        how: dict[str, Any] = {
            "depth": depth,
            "duplicates": duplicates,
            "collection": collection,
            "weights": weights,
            "progress": progress,
            "both_levels": both_levels,
            "item_to": item_to,
            "unique": unique,
            "exclude_same_id": exclude_same_id,
            "jobs": jobs,
            "skip_bad": skip_bad,
        }
        if trusted is None:
            asked = Asked.of(
                request,
                tie_range=tie_range,
                unjudged_range=unjudged_range,
                unanswerable=unanswerable,
                answer_threshold=answer_threshold,
                weights=weights,
            )
            if not per_query:
                from judged.evaluation.totals import refuse_needing_values

                refuse_needing_values(asked, interval=interval, unanswerable=unanswerable)
                asked = replace(asked, per_query=False)
            evaluated = evaluated_runs(data, asked, **how)
            found = evaluate_runs(
                evaluated.runs, asked, interval=interval, level=level, groups=groups
            )
            found = replace(found, skipped=evaluated.skipped, judgements=evaluated.judgements)
            return announced(found)
        judged = judged_runs(data, request, trusted=trusted, **how)
    from judged.evaluation.trusted import with_trusted

    assert judged.trusted is not None
    found = evaluate_rankings(judged.rankings, request, weights=weights)
    found = with_trusted(found, judged.trusted, level)
    return announced(replace(found, skipped=judged.skipped, judgements=judged.judgements))
