"""An approximate index next to the exact search: how much of the exact lists it finds, and what the
rest costs."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from judged.arrays import Floats
from judged.embeddings.index_adapter import Adapter, as_index
from judged.embeddings.index_lists import lists_of
from judged.embeddings.product import Product
from judged.embeddings.relations import Relation
from judged.embeddings.search import Search, refuse_changes, refuse_removal, scores_of
from judged.embeddings.top_k import Best
from judged.errors import InputError, quoted
from judged.options import checked_methods, real
from judged.results import Part, Result, Table
from judged.text import plain, shown, to_json

if TYPE_CHECKING:
    import polars as pl

    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.settings import EvaluationSettings
    from judged.options import Ids, IndexLike, Progress

SHARES = {"p5": 0.05, "p25": 0.25, "p50": 0.5}
"""The quantiles of recall that are said, by their names."""


def evaluate(
    index: IndexLike,
    exact: Search,
    relation: Relation,
    request: EvaluationSettings,
    *,
    k: int,
    keys: Ids | None = None,
    progress: Progress | None = None,
) -> IndexEvaluation:
    """Compare an index with the exact search of the same vectors, both cut at k."""
    from judged.evaluation.evaluation import evaluate_rankings  # heavier than what is here
    from judged.evaluation.warnings import announce_warnings

    ties = request.policy.ties
    refuse_changes(exact, "an index")
    refuse_removal(request.policy)
    relevance = relation.bind(exact.queries, exact.items)
    product, _ = scores_of(exact)
    best = Best(product, k, ties=ties)
    assert isinstance(product, Product)  # categories are refused
    adapter = Adapter(as_index(index), product, keys, k=k)
    lists = lists_of(product, relevance, best, adapter, progress)
    rankings = lists.rankings(exact, relation, ties, adapter.notes)
    return IndexEvaluation(
        k=lists.exact.k,
        per_query_recall=lists.recall(),
        evaluation=announce_warnings(evaluate_rankings(rankings, request)),
    )


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class IndexEvaluation(Result):
    """What an index finds of the exact lists, the numbers of both, and what is lost.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.9, 0.1], [0.1, 0.9]])
    >>> def always_the_second(block, k):
    ...     return [[1]] * len(block), [[0.0]] * len(block)
    >>> found = both.evaluate_index(always_the_second, {"0": {"0": 1}}, "RR", k=1)
    >>> found.recall, found.loss
    (0.0, {'RR': 1.0})
    """

    k: int
    """Where both lists were cut."""
    per_query_recall: Floats
    """NaN for a query that has no items to find."""
    evaluation: Evaluation
    """Two rows, `exact@k` and `index@k`."""

    WORDS: ClassVar[frozenset[str]] = frozenset(("run",))

    @property
    def recall(self) -> float:
        """The mean share of the exact first k that the index returned.

        An item that scores as high as the k-th counts as found, whichever of the tied ones the
        exact list holds.
        """
        return (
            math.nan
            if np.isnan(self.per_query_recall).all()
            else float(np.nanmean(self.per_query_recall))
        )

    def quantile(self, share: float) -> float:
        """The recall that so large a share of the queries does not exceed.

        Parameters
        ----------
        share : float
            From 0, the worst query, to 1, the best one; 0.05 says what the worst twentieth gets.

        Returns
        -------
        float

        >>> import judged
        >>> both = judged.Embeddings([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.1], [0.1, 1.0]])
        >>> def always_the_first(block, k):
        ...     return [[0]] * len(block), [[1.0]] * len(block)
        >>> both.evaluate_index(always_the_first, judged.relevance.pairs(), "RR", k=1).quantile(0)
        0.0
        """
        known = self.per_query_recall[~np.isnan(self.per_query_recall)]
        if (at := real(share)) is None or not 0 <= at <= 1:
            raise InputError(f"share must be from 0 to 1; got {quoted(share)}.")
        # The value of a query, not one between two of them.
        return float(np.quantile(known, at, method="inverted_cdf")) if len(known) else math.nan

    @cached_property
    def loss(self) -> dict[str, float]:
        """For each measure how much worse the index does than the exact search; below 0 where it
        does better by luck."""
        exact, found = self.evaluation.runs
        return {
            self.evaluation.label(measure): (exact.summary[measure] - found.summary[measure])
            * (1 if measure.spec.higher_is_better else -1)
            for measure in self.evaluation.measures
        }

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """k, recall, loss and the evaluation of both, as plain Python values.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of each query are in it too; no by default.

        Returns
        -------
        dict
        """
        result: dict[str, Any] = {
            "k": self.k,
            "recall": plain(self.recall),
            "recall_quantiles": {name: plain(self.quantile(at)) for name, at in SHARES.items()},
            "loss": {name: plain(value) for name, value in self.loss.items()},
        }
        if per_query:
            named = zip(
                self.evaluation.runs[0].rankings.queries,
                self.per_query_recall.tolist(),
                strict=True,
            )
            result["per_query_recall"] = {query: plain(value) for query, value in named}
        return {**result, "evaluation": self.evaluation.to_dict(per_query=per_query)}

    def to_frame(self) -> pl.DataFrame:
        """One row for the exact search, one for the index, one for the loss; a column per measure.

        Returns
        -------
        polars.DataFrame
        """
        import polars as pl

        return pl.DataFrame(self._rows(), orient="row", schema=["run", *self.loss])

    def _rows(self) -> list[tuple[Any, ...]]:
        runs = [
            (run.name, *(float(run.summary[measure]) for measure in self.evaluation.measures))
            for run in self.evaluation.runs
        ]
        return [*runs, ("loss", *self.loss.values())]

    def warnings(self) -> list[str]:
        """What could mislead whoever reads the numbers and nothing else.

        Returns
        -------
        list of str
        """
        return self.evaluation.warnings()

    def sentences(self) -> list[str]:
        """Warnings, the recall of the index, and what it loses of each measure.

        Returns
        -------
        list of str
        """
        lost = ", ".join(f"{name} {shown(value)}" for name, value in self.loss.items())
        return [
            *self._warned(),
            f"recall of the index: {shown(self.recall)} of the exact first {self.k:,}; in the "
            f"worst twentieth of the queries at most {shown(self.quantile(0.05))} (p5)",
            f"loss: {lost}",
        ]

    def tables(self) -> list[Table]:
        """One table: the exact search, the index and the loss, a column per measure.

        Returns
        -------
        list of (header, rows)
        """
        return [(["run", *self.loss], [[name, *map(shown, of)] for name, *of in self._rows()])]

    def _numbers(self) -> list[Part]:
        return [*self.evaluation.tables()]

    def _brief(self) -> list[str]:
        return [*self._said(), *self.evaluation._brief()]

    def _folded(self) -> list[str]:
        return self.evaluation._said()

    def parts(self, *, verbose: bool = False, quiet: bool = False) -> list[Part]:
        """The evaluation of both, and the sentences.

        Parameters
        ----------
        verbose : bool, optional
            Whether all sentences of the evaluation stand there too.
        quiet : bool, optional
            Whether the table stands alone.

        Returns
        -------
        list of str or (header, rows)
        """
        found = super().parts(verbose=verbose, quiet=quiet)
        return [*found, *self.evaluation._said()] if verbose else found

    def to_json(self, *, per_query: bool = False) -> str:
        """`to_dict` as JSON.

        Parameters
        ----------
        per_query : bool, optional
            Whether the values of each query are in it too; no by default.

        Returns
        -------
        str
        """
        return to_json(self.to_dict(per_query=per_query))

    def save(self, path: str | os.PathLike[str], *, per_query: bool = False) -> None:
        """Write the result to a file, whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write; the ending says the format: .json, .csv, .md, .html, .txt or .parquet.
        per_query : bool, optional
            Whether the values of each query are written too, which only JSON can hold.
        """
        self._save(path, **({"per_query": True} if per_query else {}))
