"""The lists of indexes beside those of the exact search, from one pass over the vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints, descending
from judged.embeddings.blocks import over_blocks
from judged.embeddings.index_adapter import Adapter
from judged.embeddings.itself import warned_of_itself
from judged.embeddings.pairs import Pairs
from judged.embeddings.product import Scores
from judged.embeddings.ranks import relevant_and_excluded
from judged.embeddings.relations import Bound, Relation
from judged.embeddings.search import Search
from judged.embeddings.top_k import Best, TopK
from judged.errors import InputError
from judged.rankings.audit import Findings
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.options import Progress, Ties

ROUNDING = 1e-6
"""Scores this close, as a share of the query's greatest, are one: the index sums up in another
order than we do."""


@dataclass(frozen=True, eq=False)
class Lists:
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

    def rankings(
        self, search: Search, relation: Relation, ties: Ties, notes: tuple[str, ...]
    ) -> list[Rankings]:
        if not len(self.relevant.item):
            raise InputError(
                "no item is relevant to any query; check the relevance that was given."
            )
        k = self.exact.k
        exact = self._rankings(self.exact.items, f"exact@{k}", ties)
        itself = warned_of_itself(search, relation, exact)
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


def lists_of(
    product: Scores,
    relevance: Bound,
    best: Best,
    adapter: Adapter,
    progress: Progress | None,
) -> Lists:
    """Find the exact lists, and the scores of what the index returned, in one pass."""

    def work(begin: int, end: int) -> tuple[Pairs, Pairs | None, Ints, NDArray[Any]]:
        wanted, excluded = relevant_and_excluded(product, relevance, begin, end)
        found = _found(product, adapter, begin, end, best.k, excluded)
        scores = np.full(found.shape, -np.inf, product.listed)
        prepared = product.query_block(begin, end)
        for column in product.columns:
            tile = product.tile(prepared, begin, column, excluded)
            best.add(tile)
            row, place = np.nonzero(tile.holds(found))
            scores[row, place] = tile.at(row, found[row, place] - column)
            settled = tile.slack is not None
        if not settled and not product.comparable:
            scores = scores + product.shifts(begin, end)
        if settled:
            row, place = np.nonzero(found >= 0)
            scores[row, place] = product.exact_pairs(begin + row, found[row, place])
        return wanted, excluded, found, scores

    relevant, excluded, found, scores = zip(*over_blocks(product, work, progress), strict=True)
    ranked = np.full(len(product.queries), len(product.items), np.int64)
    for (begin, end), gone in zip(product.blocks(), excluded, strict=True):
        if gone is not None:
            ranked[begin:end] -= gone.lengths
    lengths, item, grade = (
        np.concatenate([getattr(each, part) for each in relevant])
        for part in ("lengths", "item", "grade")
    )
    exact, pairs = best.top_k(), Pairs(lengths, item, grade)
    return Lists(product, exact, np.concatenate(found), np.concatenate(scores), pairs, ranked)


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
