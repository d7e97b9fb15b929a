"""Vectors whose relevance is hidden from the cosine, and can be learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import judged


@dataclass(frozen=True)
class Hidden:
    """Queries and items of some classes; how each side shows a class has to be learned."""

    queries: Any
    items: Any
    query_labels: Any
    item_labels: Any

    @property
    def relevance(self) -> Any:
        return judged.relevance.same_label(self.query_labels, self.item_labels)

    @property
    def both(self) -> tuple[Any, Any, Any]:
        return self.queries, self.items, self.relevance

    def given(self, **options: Any) -> tuple[Any, Any]:
        """What training takes; options are those of the embeddings."""
        return judged.Embeddings(self.queries, self.items, **options), self.relevance

    @property
    def split(self) -> Any:
        """The parts of queries and items by the usual shares and the seed 0."""
        from judged.embeddings.relations import as_relation
        from judged.learning._data import TrainingData, split_data

        embeddings, relevance = self.given()
        data = TrainingData.of(embeddings, as_relation(relevance, what="relevance"), rel=1)
        return split_data(data, validation=0.2, held_out=0.2, seed=0)


def behind_noise(
    seed: int = 0, *, queries: int = 60, items: int = 80, classes: int = 5, noise: int = 6
) -> Hidden:
    """The class shows in the first dimensions, and loud noise in the others: weights for dimensions
    can undo it."""
    random = np.random.default_rng(seed)
    of_queries, of_items = np.arange(queries) % classes, np.arange(items) % classes

    def side(labels: Any) -> Any:
        signal = np.eye(classes)[labels] + 0.3 * random.normal(size=(len(labels), classes))
        return np.hstack([signal, 2.5 * random.normal(size=(len(labels), noise))]).astype(
            np.float32
        )

    return Hidden(side(of_queries), side(of_items), of_queries, of_items)


def behind_a_map(
    seed: int = 0,
    *,
    queries: int = 60,
    items: int = 80,
    classes: int = 5,
    query_dims: int = 8,
    item_dims: int = 8,
) -> Hidden:
    """Each side shows the class through a map of its own, so that a cosine sees nothing: a matrix
    can undo it."""
    random = np.random.default_rng(seed)
    of_queries, of_items = np.arange(queries) % classes, np.arange(items) % classes

    def side(labels: Any, dims: int) -> Any:
        shown = random.normal(size=(classes, dims))
        return (shown[labels] + 0.4 * random.normal(size=(len(labels), dims))).astype(np.float32)

    return Hidden(side(of_queries, query_dims), side(of_items, item_dims), of_queries, of_items)


def study(
    embeddings: Any,
    relevance: Any,
    temperatures: Any = None,
    *,
    progress: Any = None,
    **training: Any,
) -> Any:
    """Learn at several temperatures, with options of `judged.learn.fit`."""
    return judged.temperature.sweep(
        embeddings, relevance, temperatures, train=training or True, progress=progress
    )
