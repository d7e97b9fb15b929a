"""An index beside the exact search: what of it `Embeddings` have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judged.embeddings.relations import as_relation
from judged.embeddings.scoring import request_of
from judged.embeddings.search import Search
from judged.options import checked_methods

if TYPE_CHECKING:
    from judged.embeddings.index import IndexEvaluation
    from judged.options import (
        ConventionLike,
        Ids,
        IndexLike,
        MeasuresLike,
        PolicyLike,
        Progress,
        RelevanceLike,
    )


@checked_methods
class Indexed(Search):
    """How far an approximate index is from the exact search of the same vectors."""

    def evaluate_index(
        self,
        index: IndexLike,
        relevance: RelevanceLike,
        measures: MeasuresLike | None = None,
        *,
        k: int = 100,
        policy: PolicyLike | None = None,
        convention: ConventionLike | None = None,
        keys: Ids | None = None,
        progress: Progress | None = None,
    ) -> IndexEvaluation:
        """Evaluate an approximate index against the exact search of the same vectors, cut at k.

        Parameters
        ----------
        index : IndexLike
            A faiss or usearch index or the file of one, anything else with a `search(vectors, k)`
            that answers as they do, or a function (vectors, k) -> (items, scores), one row per
            query, the best first. It is asked for more where items are excluded.
        relevance, measures, policy, convention, progress
            As for `evaluate`.
        k : int, optional
            How many items of each query are compared.
        keys : sequence, optional
            What the index calls each item, where that is neither a row number nor an id, or could
            be both.

        Returns
        -------
        IndexEvaluation

        >>> from judged import Embeddings, relevance
        >>> def always_the_first(block, k):
        ...     return [[0]] * len(block), [[1.0]] * len(block)
        >>> both = Embeddings([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.1], [0.1, 1.0]])
        >>> found = both.evaluate_index(always_the_first, relevance.pairs(), "RR", k=1)
        >>> found.recall, found.loss
        (0.5, {'RR': 0.5})
        """
        from judged.embeddings.index import evaluate

        request = request_of(measures, policy, convention)
        relation = as_relation(relevance, what="relevance")
        return evaluate(index, self, relation, request, k=k, keys=keys, progress=progress)
