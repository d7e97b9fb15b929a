"""Embeddings: vectors in, exact ranks and numbers out, without an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from judged.inputs.tables import is_spark
from judged.options import (
    CategoriesLike,
    Ids,
    Labels,
    MeasuresLike,
    NormalisationLike,
    RelevanceLike,
    SimilarityLike,
    VectorsLike,
    later,
)

if TYPE_CHECKING:
    from judged.evaluation.evaluation import Evaluation
else:  # loaded by `typing.get_type_hints` only
    Evaluation = later("judged:Evaluation")

__all__ = ["evaluate_embeddings"]


def evaluate_embeddings(
    queries: VectorsLike,
    items: VectorsLike,
    relevance: RelevanceLike | Labels | tuple[Labels, Labels],
    measures: MeasuresLike | None = None,
    *,
    similarity: SimilarityLike = "cosine",
    exclude: RelevanceLike | Sequence[RelevanceLike] | None = None,
    query_ids: Ids | None = None,
    item_ids: Ids | None = None,
    dims: int | None = None,
    normalise: NormalisationLike | None = None,
    unique: CategoriesLike | Labels | None = None,
    **options: Any,
) -> Evaluation:
    """Evaluate embeddings by the exact rank of every relevant item among all items.

    Parameters
    ----------
    queries, items, similarity, exclude, query_ids, item_ids, dims, normalise, unique
        As for `Embeddings`. Items may be a Spark frame with ids and vectors, which stay there.
    relevance : RelevanceLike, Labels or pair of Labels
        As for `Embeddings.evaluate`, or one label per vector, or the labels of queries and items.
    measures : MeasuresLike, optional
        Such as "nDCG@10" or ["AP", "RR"]; the usual ones by default.
    **options : Any
        `memory` of `Embeddings`; `policy`, `convention`, `weights`, `both`, `name`
        and `progress` of `Embeddings.evaluate`.

    >>> import judged
    >>> vectors, labels = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], ["a", "a", "b"]
    >>> judged.evaluate_embeddings([[1.0, 0.2]], vectors, (["a"], labels), "AP").value()
    1.0
    """
    compared: dict[str, Any] = {
        "similarity": similarity,
        "exclude": exclude,
        "query_ids": query_ids,
        "item_ids": item_ids,
        "dims": dims,
        "normalise": normalise,
        "unique": unique,
    }
    if "memory" in options:
        compared["memory"] = options.pop("memory")
    if is_spark(items):
        from judged.engines.spark.embeddings import evaluate_in_spark

        return evaluate_in_spark(queries, items, relevance, measures, **compared, **options)
    from judged.embeddings.embeddings import Embeddings  # `judged.relevance` does without it
    from judged.embeddings.relevance import are_labels

    if are_labels(relevance):
        labels = cast("Labels", relevance)
        return Embeddings(queries, items, labels=labels, **compared).evaluate(
            None, measures, **options
        )
    return Embeddings(queries, items, **compared).evaluate(relevance, measures, **options)
