"""Products of a few random vectors, whole or in small tiles; all of `Embeddings` in one call."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judged import Embeddings, Rankings
from judged.embeddings.learned import as_similarity
from judged.embeddings.normalisation import as_normalisation
from judged.embeddings.product import TiledProduct
from judged.embeddings.relations import as_relation, same_row
from judged.embeddings.search import NAME, rank_both_ways
from judged.inputs.vectors import as_vectors
from judged.policy import Policy
from judged.results import Diagnosis, IndexEvaluation, TopK

RANDOM = np.random.default_rng(5)
QUERIES, ITEMS, BANK = (RANDOM.normal(size=(count, 8)).astype(np.float32) for count in (23, 31, 17))


def product_of(
    queries: Any = QUERIES,
    items: Any = ITEMS,
    similarity: Any = "cosine",
    *,
    exclude_self: bool = False,
    height: int | None = None,
    width: int | None = None,
) -> TiledProduct:
    left, right = as_vectors(queries, source="the queries"), as_vectors(items, source="the items")
    exclude = same_row().bind(left, right) if exclude_self else None
    shape = (height, width) if height and width else None
    return TiledProduct(
        left, right, as_similarity(similarity), exclude=exclude, memory="1GB", shape=shape
    )


def normalised(normalisation: Any, product: TiledProduct) -> NDArray[np.float64]:
    """As the engine does it: fit, then change tile after tile, then exclude."""
    fitted = as_normalisation(normalisation).fit(product)
    scores = np.zeros((len(product.queries), len(product.items)))
    for begin, end in product.blocks():
        prepared = product.query_block(begin, end)
        excluded = None if product.exclude is None else product.exclude.block(begin, end)
        for column in product.columns:
            tile = product.tile(prepared, begin, column, None)
            fitted.apply(tile.scores, tile.row, tile.column)
            scores[begin:end, column : column + tile.scores.shape[1]] = tile.scores
        if excluded is not None:
            scores[begin:end][excluded.row, excluded.item] = -np.inf
    return scores


OPTIONS = frozenset(inspect.signature(Embeddings).parameters)


def compared(
    queries: Any, items: Any, options: dict[str, Any]
) -> tuple[Embeddings, dict[str, Any]]:
    """The embeddings, and the options that are not theirs."""
    own = {name: value for name, value in options.items() if name in OPTIONS}
    others = {name: value for name, value in options.items() if name not in OPTIONS}
    return Embeddings(queries, items, **own), others


def rank(queries: Any, items: Any, relevance: Any, **options: Any) -> Rankings:
    both, others = compared(queries, items, options)
    return both.rank(relevance, **others)


def rank_both(both: Embeddings, relevance: Any, *, policy: Any = None, name: str = "") -> Any:
    """The rankings of the queries' search for items, and of the items' search for queries."""
    ways = rank_both_ways(
        both, as_relation(relevance), Policy.of(policy), name=name or NAME, progress=None
    )
    return list(ways)


def top_k(queries: Any, items: Any, k: Any, **options: Any) -> TopK:
    both, others = compared(queries, items, options)
    return both.top_k(k, **others)


def evaluate_index(
    index: Any, queries: Any, items: Any, relevance: Any, **options: Any
) -> IndexEvaluation:
    both, others = compared(queries, items, options)
    return both.evaluate_index(index, relevance, **others)


def diagnose(queries: Any, items: Any, relevance: Any = None, **options: Any) -> Diagnosis:
    both, others = compared(queries, items, options)
    return both.diagnose(relevance, **others)
