"""Is the collection itself sound? What is wrong with it, and what that does to the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judged.judgements.check.kinds import MEASURES, NEAR, NEAR_VECTORS
from judged.options import checked
from judged.policy import add_choices

if TYPE_CHECKING:
    from judged.judgements.check.result import CollectionCheck
    from judged.options import (
        CollectionLike,
        ColumnsLike,
        ConventionLike,
        FileFormat,
        Ids,
        ItemToLike,
        JudgementsLike,
        MeasuresLike,
        Memory,
        PolicyLike,
        RunsLike,
        TextsLike,
        VectorsLike,
        WeightsLike,
    )

__all__ = ["check"]


@checked
def check(
    judgements: JudgementsLike,
    runs: RunsLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    queries: TextsLike | VectorsLike | None = None,
    items: TextsLike | VectorsLike | None = None,
    query_vectors: VectorsLike | None = None,
    item_vectors: VectorsLike | None = None,
    query_ids: Ids | None = None,
    item_ids: Ids | None = None,
    training: JudgementsLike | TextsLike | None = None,
    near: float = NEAR,
    near_vectors: float = NEAR_VECTORS,
    rel: float | None = None,
    ignore: str | Sequence[str] = (),
    memory: Memory = "1GB",
    policy: PolicyLike | None = None,
    depth: int | None = None,
    collection: CollectionLike | None = None,
    item_to: ItemToLike | None = None,
    exclude_same_id: bool = False,
    convention: ConventionLike | None = None,
    weights: WeightsLike | None = None,
    columns: ColumnsLike | None = None,
    judgements_format: FileFormat | None = None,
    run_format: FileFormat | None = None,
) -> CollectionCheck:
    """Look for what is wrong with a collection, and say what it does to the numbers.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table. Rows that are about the same are no
        error here, but a finding where their grades differ.
    runs : RunsLike, optional
        A run, several as {name: run}, or a list of files: each finding is evaluated with and
        without. Without runs there are no numbers.
    measures : MeasuresLike, optional
        The measures of these numbers; by default nDCG@10, and with a convention what it has of
        the usual ones.
    queries, items : TextsLike or VectorsLike, optional
        What queries say, and the items that there are: {id: text}, a table, a file, or vectors.
    query_vectors, item_vectors : VectorsLike, optional
        Their vectors, where texts are given too.
    query_ids, item_ids : sequence, optional
        One id per vector, where the vectors have none.
    training : JudgementsLike or TextsLike, optional
        What something was trained on: judgements, or a table of queries with their texts.
    near : float, optional
        Texts are nearly the same with at least this share of their words in common, and the same
        numbers; 1 for the same words in any order.
    near_vectors : float, optional
        Vectors are nearly the same with at least this cosine.
    rel : float, optional
        The lowest grade that is relevant; by default any above 0.
    ignore : str or list of str, optional
        Findings that are not looked for, such as "unreachable".
    memory : str or int, optional
        A cap on what the scores of vectors take, as "2GB".
    policy, depth, collection, item_to, exclude_same_id, convention, weights, columns, \
judgements_format, run_format
        As for `evaluate`. With `item_to` everything is about documents: so are texts and vectors.

    Returns
    -------
    CollectionCheck

    >>> judgements = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1, "b": 0}}
    >>> run = {"q1": ["a", "b"], "q2": ["a", "c"]}
    >>> found = check(judgements, run, "RR", queries={"q1": "Cold war", "q2": "cold  WAR?"})
    >>> print(found.findings[0].says)
    1 pair of queries that are the same or nearly so, with other relevant items: 2 of 2 queries.
    >>> check(judgements, run, items={"a": "Ice", "b": "Snow", "c": "Rain"}).sound
    True
    """
    from judged.evaluation.settings import EvaluationSettings
    from judged.evaluation.warnings import announce_warnings
    from judged.inputs.data import Data
    from judged.judgements.check.collection import Collection, Side
    from judged.judgements.check.numbers import Numbers
    from judged.judgements.check.search import Thresholds, ignored_names, searched
    from judged.judgements.check.training import Training
    from judged.options import size_in_bytes

    size_in_bytes(memory)
    if measures is None and convention is None:
        measures = MEASURES
    chosen = add_choices(policy, depth=depth, duplicates="first")
    request = EvaluationSettings.of(measures, chosen, convention, prepares=True)
    thresholds = Thresholds(near, near_vectors, memory, ignored_names(ignore))
    found = Collection.of(
        Data.of(
            judgements,
            runs,
            columns=columns,
            judgements_format=judgements_format,
            run_format=run_format,
            alone=True,
        ),
        {"item_to": item_to, "exclude_same_id": exclude_same_id},
        Side.of("queries", queries, query_vectors, query_ids),
        Side.of("items", items, item_vectors, item_ids),
        rel,
    )
    options = {"collection": collection, "weights": weights}
    trained = None if training is None else Training.of(training, rel)
    return announce_warnings(searched(found, Numbers(found, request, options), trained, thresholds))
