"""Products of a few random vectors, whole or in small tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from judged.embeddings.product import Product
from judged.embeddings.relevance import SameIndex
from judged.inputs.vectors import as_vectors
from judged.similarity.similarity import as_similarity

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
) -> Product:
    left, right = as_vectors(queries, source="the queries"), as_vectors(items, source="the items")
    exclude = SameIndex().bind(left, right) if exclude_self else None
    shape = (height, width) if height and width else None
    return Product(
        left, right, as_similarity(similarity), exclude=exclude, memory="1GB", shape=shape
    )
