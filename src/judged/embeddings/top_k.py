"""The exact first k items of each query, found in the product that ranks are counted in."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.embeddings.categories import AnyProduct
from judged.embeddings.kernel import first_places
from judged.embeddings.normalisation import Fitted
from judged.embeddings.product import ScoreTile, over_blocks
from judged.embeddings.ranks import TieOrder
from judged.errors import PolicyError, quoted
from judged.inputs.vectors.vectors import Vectors
from judged.options import whole
from judged.policy import CHOICES
from judged.rankings.rankings import Rankings, freeze
from judged.results import Display, DisplayOptions, Document, Frame, RunResult, Table
from judged.text import counted, shown

if TYPE_CHECKING:
    import polars as pl

    from judged.options import Progress

TIES = ("id", "input")
"""Tie rules that need no judgements."""


def search(
    product: AnyProduct,
    k: int,
    *,
    ties: str = "id",
    fitted: Fitted | None = None,
    progress: Progress | None = None,
) -> TopK:
    best = TopKSearch(product, k, ties=ties, fitted=fitted)

    def work(begin: int, end: int) -> None:
        excluded = None if product.exclude is None else product.exclude.block(begin, end)
        prepared = product.query_block(begin, end)
        for column in product.columns:
            best.add(product.tile(prepared, begin, column, excluded))

    for _ in over_blocks(product, work, progress):
        pass
    return best.top_k()


class TopKSearch:
    """The first k items of every query so far, from the tiles that it was given."""

    def __init__(
        self, product: AnyProduct, k: int, *, ties: str = "id", fitted: Fitted | None = None
    ) -> None:
        if not isinstance(ties, str) or ties not in TIES:
            raise PolicyError(
                f"the first k items are chosen with ties={' or ties='.join(TIES)}; got "
                f"{quoted(ties)}."
            )
        self.k = min(whole("k", k), len(product.items))
        self._product, self._fitted = product, fitted
        self._rule, self._ties = ties, TieOrder(product, ties)
        self._items: Ints = np.full((len(product.queries), self.k), -1, np.int64)
        self._scores: NDArray[Any] = np.full(
            (len(product.queries), self.k), -np.inf, product.listed
        )

    def add(self, tile: ScoreTile) -> None:
        # Some may be beyond the first k: those that rounding may have put there.
        slack = np.zeros(len(tile.scores)) if tile.slack is None else tile.slack
        columns = [
            first_places(scores, self.k, near)
            for scores, near in zip(tile.scores, slack.tolist(), strict=True)
        ]
        lengths = [len(part) for part in columns]
        row, column = np.repeat(np.arange(len(columns)), lengths), np.concatenate(columns)
        scores: NDArray[Any] = tile.scores[row, column]
        if tile.slack is not None:
            scores = self._product.exact_pairs(row + tile.row, column + tile.column)
        ends = np.cumsum(lengths)[:-1]
        for at, (items, own) in enumerate(
            zip(np.split(column, ends), np.split(scores, ends), strict=True)
        ):
            self._add_row(tile.row + at, items + tile.column, own)

    def _add_row(self, query: int, items: Ints, scores: NDArray[Any]) -> None:
        held = np.count_nonzero(self._items[query] >= 0)
        if held:
            items = np.concatenate([self._items[query, :held], items])
            scores = np.concatenate([self._scores[query, :held], scores])
        chosen = self._first(query, items, scores)
        self._items[query, : len(chosen)] = items[chosen]
        self._scores[query, : len(chosen)] = scores[chosen]

    def _first(self, query: int, items: Ints, scores: NDArray[Any]) -> Ints:
        """Return the places of the first k of a query's items, best first."""
        chosen = np.argsort(-scores)
        ordered = scores[chosen]
        if (ordered[1:] != ordered[:-1]).all():
            return chosen[: self.k]
        if len(chosen) > self.k:
            # A tie may reach far beyond the k-th place. Only its items within are sorted.
            limit = ordered[self.k - 1]
            above, level = np.flatnonzero(scores > limit), np.flatnonzero(scores == limit)
            room = self.k - len(above)
            if room < len(level):
                level = level[np.argpartition(self._place(query, items[level]), room)[:room]]
            chosen = np.concatenate([above, level])
        return chosen[np.lexsort((self._place(query, items[chosen]), -scores[chosen]))]

    def _place(self, query: int, items: Ints) -> Ints:
        return self._ties.places(np.full(len(items), query), items)

    def top_k(self) -> TopK:
        lengths = np.count_nonzero(self._scores > -np.inf, axis=1).astype(np.int64)
        items, scores = self._items, self._scores
        if not self._product.comparable and self._product.listed is np.float32:
            shifts = [self._product.shifts(*block) for block in self._product.blocks()]
            scores = scores + np.concatenate(shifts)
        if self._fitted is not None and self._fitted.normalisation.keeps_order:
            scores = self._fitted.of_lists(scores)
        return TopK(items, scores, lengths, self._product.queries, self._product.items, self._rule)


class BestScores:
    """The score of each query's first item, which is searched when it is first needed.

    Only `Evaluation.unanswerable` needs it. Finding it together with the ranks made evaluations
    20 % slower (2,000 queries, 100,000 items, 128 dimensions).
    """

    def __init__(self, find: Callable[[], Floats]) -> None:
        self._find = find

    @cached_property
    def _scores(self) -> Floats:
        return self._find()

    def __getitem__(self, index: Any) -> BestScores:
        return BestScores(lambda: self._scores[index])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        # numpy before 2 does not know copy=None.
        return np.array(self._scores, dtype) if copy else np.asarray(self._scores, dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (self._scores,)


def with_best_scores(r: Rankings, first: Callable[[], TopK]) -> Rankings:

    def find() -> Floats:
        best = first()
        scores = np.where(best.lengths > 0, best.scores[:, 0].astype(np.float64), np.nan)
        known = dict(zip(best.query_vectors.names(), scores.tolist(), strict=True))
        return np.array([known.get(query, np.nan) for query in r.queries])

    best_score: Any = BestScores(find)
    return replace(r, best_score=best_score)


@dataclass(frozen=True, eq=False, repr=False)
class TopK(RunResult):
    """The first k items of each query, best first: a run that `judged.evaluate` takes.

    >>> import judged
    >>> found = judged.Embeddings([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]]).top_k(2)
    >>> found
    <TopK: the first 2 of 3 items for 1 query>
    >>> found.items.tolist()
    [[1, 2]]
    """

    items: Ints
    """Row numbers of items, one row per query; -1 where a query has fewer than k."""
    scores: NDArray[Any]
    """Scores of these items, minus infinity beyond the last. Euclidean scores are minus half the
    squared distance."""
    lengths: Ints
    """The number of items of each query."""
    query_vectors: Vectors
    """The queries, for their ids."""
    item_vectors: Vectors
    """The items, for their ids."""
    ties: str
    """The order of tied items: id or input."""
    searched: int | None = None
    """The number of items searched, if `item_vectors` are only those found."""

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def k(self) -> int:
        """The number of items requested, or of all items if there are fewer."""
        return int(self.items.shape[1])

    def __repr__(self) -> str:
        return f"<TopK: {self._summary()}>"

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return {query: {item: score}}, best item first.

        >>> import judged
        >>> both = judged.Embeddings([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]], similarity="dot")
        >>> both.top_k(1).to_dict()
        {'0': {'1': 2.0}}
        """
        queries, items = self.query_vectors.names(), self.item_vectors.name
        return {
            queries[row]: {
                items(item): score
                for item, score in zip(
                    self.items[row, :length].tolist(),
                    self.scores[row, :length].tolist(),
                    strict=True,
                )
            }
            for row, length in enumerate(self.lengths.tolist())
        }

    def to_frame(self) -> Frame:
        """Return one row per result: query, item, score and rank from 1.

        >>> import judged
        >>> found = judged.Embeddings([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]]).top_k(2)
        >>> found.to_frame()["item"].to_list()
        ['1', '0']
        """
        import polars as pl

        there = np.arange(self.k) < self.lengths[:, None]
        row, place = np.nonzero(there)
        return pl.DataFrame(
            {
                "query": _names(self.query_vectors, row),
                "item": _names(self.item_vectors, self.items[there]),
                "score": self.scores[there],
                "rank": place + 1,
            }
        )

    def document(self, display: Display) -> Document:
        frame = self.to_frame()
        rows = [[query, item, shown(score), str(rank)] for query, item, score, rank in frame.rows()]
        table = Table(frame.columns, rows, words=frozenset(("query", "item")))
        return Document(tables=[table], notes=[self._summary(), CHOICES["ties"][self.ties]])

    def _summary(self) -> str:
        items = counted(self.searched or len(self.item_vectors), "item")
        queries = counted(len(self), "query", "queries")
        return f"the first {self.k:,} of {items} for {queries}"

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        tag: str = "judged",
        **display: Unpack[DisplayOptions],
    ) -> None:
        """Write the run to a file, whole or not at all; scores keep all their digits.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write. The file extension decides the format: TREC text (.run, .trec, .txt or
            none), .parquet, .csv, .json, .md or .html.
        tag : str, optional
            The name of the run, in the last column of TREC text.
        **display : Unpack[DisplayOptions]
            Options of `Display`; none has a meaning here.

        >>> import judged
        >>> judged.Embeddings([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]]).top_k(2).save("/dev/null")
        """
        self._display("save", display)
        self._save_run(path, tag)


def _names(vectors: Vectors, rows: NDArray[Any]) -> pl.Series:
    import polars as pl

    if vectors.ids is None:
        return pl.Series(rows).cast(pl.String)
    return pl.Series(vectors.ids, dtype=pl.String).gather(rows)
