"""Embeddings: vectors in, exact ranks and numbers out, without an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from judged.errors import InputError
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
    queries: VectorsLike | Mapping[str, tuple[VectorsLike, VectorsLike]],
    items: VectorsLike | None = None,
    relevance: RelevanceLike | Labels | tuple[Labels, Labels] | None = None,
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
        To compare models, give {model: (queries, items)}: each model becomes a run.
    relevance : RelevanceLike, Labels or pair of Labels
        As for `Embeddings.evaluate`, or one label per vector, or the labels of queries and items.
        With labels, queries that are the items are left out of their own ranking.
    measures : MeasuresLike, optional
        Such as "nDCG@10" or ["AP", "RR"]; the usual ones by default.
    **options : Any
        `memory` of `Embeddings`; `policy`, `convention`, `weights`, `both`, `name`
        and `progress` of `Embeddings.evaluate`.

    >>> import judged
    >>> vectors = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]]
    >>> labels = ["a", "a", "b", "b"]
    >>> judged.evaluate_embeddings([[1.0, 0.2]], vectors, (["a"], labels), "AP").value()
    1.0
    >>> worse = [[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [0.0, 1.0]]
    >>> models = {"good": (vectors, vectors), "worse": (worse, worse)}
    >>> judged.evaluate_embeddings(models, relevance=labels, measures="Success@1")["Success@1"]
    {'good': 1.0, 'worse': 0.75}
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
    if relevance is None:
        raise InputError("relevance is missing; give labels, judgements or judged.relevance.")
    if is_spark(items):
        from judged.engines.spark.embeddings import evaluate_in_spark

        return evaluate_in_spark(queries, items, relevance, measures, **compared, **options)
    from judged.embeddings.embeddings import Embeddings, evaluate_models
    from judged.embeddings.relevance import are_labels  # `judged.relevance` does without it

    if are_labels(relevance):
        compared["labels"], relevance = relevance, None
    others = cast("RelevanceLike | None", relevance)
    if isinstance(queries, Mapping):
        if items is not None:
            raise InputError("models {name: (queries, items)} have items; leave out items.")
        return evaluate_models(queries, others, measures, compared, **options)
    if items is None:
        raise InputError("items are missing; give queries and items, or {model: (queries, items)}.")
    return Embeddings(queries, items, **compared).evaluate(others, measures, **options)
