"""Embeddings: from vectors to exact numbers without a sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.inputs.remote import is_spark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judged.evaluation.evaluation import Evaluation
    from judged.options import (
        CategoriesLike,
        ConventionLike,
        GroupsLike,
        Ids,
        Labels,
        MeasuresLike,
        Memory,
        NormalisationLike,
        PolicyLike,
        Precision,
        Progress,
        RelevanceLike,
        SimilarityLike,
        VectorsLike,
        WeightsLike,
    )


__all__ = ["evaluate_embeddings"]


def evaluate_embeddings(
    queries: VectorsLike,
    items: VectorsLike,
    relevance: RelevanceLike,
    measures: MeasuresLike | None = None,
    *,
    similarity: SimilarityLike = "cosine",
    exclude: RelevanceLike | Sequence[RelevanceLike] | None = None,
    memory: Memory = "1GB",
    query_ids: Ids | None = None,
    item_ids: Ids | None = None,
    dims: int | None = None,
    normalise: NormalisationLike | None = None,
    unique: CategoriesLike | Labels | None = None,
    precision: Precision = "double",
    policy: PolicyLike | None = None,
    convention: ConventionLike | None = None,
    both: bool = False,
    tie_range: bool = False,
    weights: WeightsLike | None = None,
    unanswerable: bool = False,
    answer_threshold: float | None = None,
    interval: bool = False,
    level: float = 0.95,
    groups: GroupsLike | None = None,
    name: str = "embeddings",
    progress: Progress | None = None,
) -> Evaluation:
    """Score embeddings by the exact rank of every relevant item in the full ranking of all items.

    Parameters
    ----------
    queries, items, similarity, exclude, memory, query_ids, item_ids, dims, normalise, unique, \
precision
        As for `Embeddings`: the vectors, and how they are compared.
    relevance, measures, policy, convention, both, tie_range, weights, unanswerable, \
answer_threshold, interval, level, groups, name, progress
        As for `Embeddings.evaluate`: what is relevant, and what is computed. Items may be a frame
        of Spark with ids and vectors, which stay there.

    Returns
    -------
    Evaluation

    >>> import judged
    >>> vectors, labels = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], ["a", "a", "b"]
    >>> relevance = judged.relevance.same_label(["a"], labels)
    >>> judged.evaluate_embeddings([[1.0, 0.2]], vectors, relevance, "AP").value()
    1.0
    """
    if is_spark(items):
        from judged.engines.spark.embeddings import evaluate_in_spark

        return evaluate_in_spark(
            queries,
            items,
            relevance,
            measures,
            similarity=similarity,
            exclude=exclude,
            memory=memory,
            query_ids=query_ids,
            item_ids=item_ids,
            dims=dims,
            normalise=normalise,
            unique=unique,
            precision=precision,
            policy=policy,
            convention=convention,
            both=both,
            tie_range=tie_range,
            weights=weights,
            unanswerable=unanswerable,
            answer_threshold=answer_threshold,
            interval=interval,
            level=level,
            groups=groups,
            name=name,
            progress=progress,
        )
    from judged.embeddings.embeddings import Embeddings  # `judged.relevance` does without it

    compared = Embeddings(
        queries,
        items,
        similarity=similarity,
        exclude=exclude,
        memory=memory,
        query_ids=query_ids,
        item_ids=item_ids,
        dims=dims,
        normalise=normalise,
        unique=unique,
        precision=precision,
    )
    return compared.evaluate(
        relevance,
        measures,
        policy=policy,
        convention=convention,
        both=both,
        tie_range=tie_range,
        weights=weights,
        unanswerable=unanswerable,
        answer_threshold=answer_threshold,
        interval=interval,
        level=level,
        groups=groups,
        name=name,
        progress=progress,
    )
