"""An approximate index next to the exact search: how much of the exact lists it finds, and what the
rest costs."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.checks import checked_methods
from judged.embeddings.blocks import over_blocks
from judged.embeddings.index_adapter import Adapter, as_index
from judged.embeddings.itself import warned_of_itself
from judged.embeddings.pairs import Pairs
from judged.embeddings.product import Scores
from judged.embeddings.ranks import relevant_and_excluded
from judged.embeddings.relations import Bound, Relation
from judged.embeddings.search import Search, refuse_changes, refuse_removal, scores_of
from judged.embeddings.top_k import Best, TopK
from judged.errors import InputError
from judged.rankings.findings import Findings
from judged.rankings.rankings import Rankings
from judged.results import Part, Result, Table
from judged.segments import Floats, Ints, descending
from judged.text import plain, shown, to_json

if TYPE_CHECKING:
    import polars as pl

    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.request import Request
    from judged.types import Ids, IndexLike, Progress, Ties

ROUNDING = 1e-6
"""Scores this close, as a share of the query's greatest, are one: the index sums up in another
order than we do."""


def evaluate(
    index: IndexLike,
    exact: Search,
    relation: Relation,
    request: Request,
    *,
    k: int,
    keys: Ids | None = None,
    progress: Progress | None = None,
) -> IndexEvaluation:
    """An index against the exact search of the same vectors, both cut at k."""
    from judged.evaluation.evaluation import evaluate_rankings  # heavier than what is here
    from judged.evaluation.warnings import announced

    ties = request.policy.ties
    refuse_changes(exact, "an index")
    refuse_removal(request.policy)
    opened = as_index(index)
    relevance = relation.bind(exact.queries, exact.items)
    product, _ = scores_of(exact)
    best = Best(product, k, ties=ties)
    adapter = Adapter(opened, product, keys)
    lists = _compare(product, relevance, best, adapter, progress)
    return IndexEvaluation(
        k=best.k,
        per_query_recall=lists.recall(),
        evaluation=announced(
            evaluate_rankings(lists.rankings(exact, ties, adapter.notes), request)
        ),
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
            "loss": {name: plain(value) for name, value in self.loss.items()},
        }
        if per_query:
            named = zip(
                self.evaluation.runs[0].about.queries,
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
            f"recall of the index: {shown(self.recall)} of the exact first {self.k:,}",
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


@dataclass(frozen=True, eq=False)
class _Compared:
    """The exact lists and the index's, with the exact scores of the latter's items, and what is
    relevant."""

    product: Scores
    exact: TopK
    found: Ints
    found_scores: NDArray[Any]
    relevant: Pairs
    ranked: Ints

    def recall(self) -> Floats:
        lengths = self.exact.lengths
        last = np.take_along_axis(
            self.exact.scores, np.maximum(lengths - 1, 0)[:, None], axis=1
        ).astype(np.float64)
        size = np.abs(np.where(np.isfinite(self.exact.scores), self.exact.scores, 0)).max(
            axis=1, keepdims=True
        )
        right = (self.found >= 0) & (self.found_scores >= last - ROUNDING * size)
        share = np.full(len(lengths), np.nan)
        some = lengths > 0
        share[some] = np.minimum(right.sum(axis=1)[some] / lengths[some], 1.0)
        return share

    def rankings(self, search: Search, ties: Ties, notes: tuple[str, ...]) -> list[Rankings]:
        if not len(self.relevant.item):
            raise InputError(
                "no item is relevant to any query; check the relevance that was given."
            )
        k = self.exact.k
        exact = self._rankings(self.exact.items, f"exact@{k}", ties)
        itself = warned_of_itself(search, exact)
        return [
            self._audited(exact, itself),
            self._audited(self._rankings(self.found, f"index@{k}", ties), (*itself, *notes)),
        ]

    def _rankings(self, lists: Ints, name: str, ties: Ties) -> Rankings:
        count = len(self.product.items)
        row, place = np.nonzero(lists >= 0)
        known = np.flatnonzero(self.relevant.item >= 0)
        key = self.relevant.row[known] * count + self.relevant.item[known]
        order = np.argsort(key, kind="stable")
        wanted = row * count + lists[row, place]
        at = np.minimum(np.searchsorted(key[order], wanted), max(len(key) - 1, 0))
        hit = key[order][at] == wanted if len(key) else np.zeros(len(wanted), bool)
        queries = self.product.queries
        lengths = np.bincount(row, minlength=len(queries))
        return Rankings(
            queries=queries.names(),
            retrieved=lengths,
            hit_query=row[hit],
            hit_rank=place[hit] + 1,
            hit_grade=self.relevant.grade[known[order[at[hit]]]],
            pool_query=self.relevant.row,
            pool_grade=descending(self.relevant.grade, self.relevant.lengths),
            missing=np.zeros(len(queries), bool),
            collection=self.ranked,
            ties=ties,
            depth=self.exact.k,
            name=name,
        )

    def _audited(self, rankings: Rankings, notes: tuple[str, ...]) -> Rankings:
        queries, items = self.product.queries, self.product.items
        found = Findings.of(
            rankings,
            run_queries=len(queries),
            notes=tuple(dict.fromkeys(queries.notes + items.notes + notes)),
            complete=True,
            judged_results=len(rankings.hit_query),
        )
        return replace(rankings, findings=found)


def _compare(
    product: Scores,
    relevance: Bound,
    best: Best,
    adapter: Adapter,
    progress: Progress | None,
) -> _Compared:
    """One pass: each block's exact lists, and the scores of what the index returned read from the
    same product."""

    def work(begin: int, end: int) -> tuple[Pairs, Pairs | None, Ints, NDArray[Any]]:
        wanted, excluded = relevant_and_excluded(product, relevance, begin, end)
        items = _found(product, adapter, begin, end, best.k, excluded)
        own: NDArray[Any] = np.full(items.shape, -np.inf, product.listed)
        prepared = product.query_block(begin, end)
        for column in product.columns:
            tile = product.tile(prepared, begin, column, excluded)
            best.add(tile)
            row, place = np.nonzero(tile.holds(items))
            own[row, place] = tile.at(row, items[row, place] - column)
            settled = tile.slack is not None
        if not settled and not product.comparable:
            own = own + product.shifts(begin, end)
        if settled:
            row, place = np.nonzero(items >= 0)
            own[row, place] = product.exact_pairs(begin + row, items[row, place])
        return wanted, excluded, items, own

    relevant, excluded, found, scores = zip(*over_blocks(product, work, progress), strict=True)
    ranked = np.full(len(product.queries), len(product.items), np.int64)
    for (begin, end), gone in zip(product.blocks(), excluded, strict=True):
        if gone is not None:
            ranked[begin:end] -= gone.lengths
    lengths, item, grade = (
        np.concatenate([getattr(each, part) for each in relevant])
        for part in ("lengths", "item", "grade")
    )
    return _Compared(
        product,
        best.top_k(),
        np.concatenate(found),
        np.concatenate(scores),
        Pairs(lengths, item, grade),
        ranked,
    )


def _found(
    product: Scores, adapter: Adapter, begin: int, end: int, k: int, excluded: Pairs | None
) -> Ints:
    """The index's lists of some queries without the excluded items, k long.

    How many more a query asks for depends on what is excluded from its own list and nothing else:
    an approximate index may answer otherwise when it is asked for more. Powers of two keep the
    calls few.
    """
    count = len(product.items)
    gone = np.zeros(end - begin, np.int64) if excluded is None else excluded.lengths
    more = np.where(gone > 0, 1 << np.ceil(np.log2(np.maximum(gone, 1))).astype(np.int64), 0)
    left = np.full((end - begin, k), -1, np.int64)
    for extra in np.unique(more).tolist():
        row = np.flatnonzero(more == extra)
        items = adapter.find(begin + row, min(k + extra, count))
        if excluded is not None:
            known = excluded.item >= 0
            out = np.isin(
                row[:, None] * count + items, excluded.row[known] * count + excluded.item[known]
            )
            items = np.where(out, -1, items)
        items = np.take_along_axis(items, np.argsort(items < 0, axis=1, kind="stable"), axis=1)[
            :, :k
        ]
        left[row, : items.shape[1]] = items
    return left
