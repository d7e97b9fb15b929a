"""Numbers of a search: from its ranks at once or, where there are very many, piece after piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from judged.arrays import Ints
from judged.embeddings.basis import Basis, basis_of
from judged.embeddings.categories import UniqueProduct
from judged.embeddings.counted import Counted, piece_of, refuse_nothing, with_absent
from judged.embeddings.ranks import TieOrder, over_pieces
from judged.embeddings.relations import Bound, Judged, Relation
from judged.embeddings.scoring import Numbers, with_best
from judged.embeddings.search import Search, best_of, counted_bound, refuse_removal, scores_of
from judged.options import size_in_bytes
from judged.rankings.rankings import Rankings

if TYPE_CHECKING:
    from judged.embeddings.top_k import TopK
    from judged.evaluation.evaluation import Evaluation
    from judged.evaluation.parts import Asked, Part
    from judged.evaluation.scored import Scored
    from judged.options import Progress

_BYTES = 512
"""What a relevant pair takes, at most, from when it is counted to when rankings are evaluated."""


def evaluate_search(
    search: Search,
    relation: Relation,
    numbers: Numbers,
    *,
    name: str,
    top: int | None,
    progress: Progress | None,
) -> tuple[Evaluation, TopK | None]:
    """The numbers of a search, and from the same pass the first `top` items of every query.

    Where the ranks of all relevant pairs would take more than the memory that was allowed, they are
    evaluated piece after piece, and not kept.
    """
    bound = relation.bind(search.queries, search.items)
    asked = numbers.asked()
    # First scores that are shown otherwise than they are ranked by are known at the end.
    plain = search.normalisation is None and search.precision == "double"
    few = _pairs(search, bound) * _BYTES <= size_in_bytes(search.memory)
    if few or (numbers.unanswerable and not plain):
        policy = asked.request.policy
        ranked, found = counted_bound(search, bound, policy, name=name, top=top, progress=progress)
        r = basis_of(search, relation).of(ranked, len(search.queries))
        return numbers.of([with_best(r, found)]), found
    basis = basis_of(search, relation)
    scored, found = _in_pieces(search, bound, basis, asked, name=name, top=top, progress=progress)
    return numbers.of_runs([scored], asked), found


def _pairs(search: Search, bound: Bound) -> int:
    """How many relevant pairs there are, at most."""
    most = getattr(bound, "most", None)
    queries = len(search.queries)
    return queries * len(search.items) if most is None else int(most(0, queries).sum())


def _in_pieces(
    search: Search,
    bound: Bound,
    basis: Basis,
    asked: Asked,
    *,
    name: str,
    top: int | None,
    progress: Progress | None,
) -> tuple[tuple[Scored, Rankings | None], TopK | None]:
    from judged.evaluation.parts import gathered, part_of

    policy = asked.request.policy
    refuse_removal(policy)
    judged = bound if isinstance(bound, Judged) else None
    scores, fitted = scores_of(search)
    relevance = scores.relevance(bound) if isinstance(scores, UniqueProduct) else bound
    best = None if top is None else best_of(scores, top, policy, fitted)
    names = search.queries.names()

    def rankings(counted: Counted) -> Rankings:
        at = slice(counted.begin, counted.begin + len(counted.ranked))
        r = piece_of(names[at], [counted], policy, name)
        if best is not None and asked.unanswerable:
            r = replace(r, best_score=best.first_scores(at))
        if judged is not None:
            r = r.take(np.flatnonzero(judged.known[at]))
        return r

    # Where it is sure beforehand that ranks are too many to keep, none are kept meanwhile.
    sure = getattr(bound, "exact", False) and search.exclude is None and search.categories is None
    kept = _Kept(0 if sure else size_in_bytes(search.memory) // _BYTES)

    def finish(counted: Counted) -> Part:
        r = basis.of(rankings(counted), len(counted.ranked))
        kept.add(r, counted.begin)
        return part_of(r, asked)

    def parts() -> Iterator[Part]:
        order = TieOrder(scores, policy.ties)
        yield from over_pieces(
            scores, relevance, finish, ties=order, onlooker=best, progress=progress
        )
        if judged is not None and judged.absent and kept.empty is not None:
            absent = with_absent(kept.empty, judged, scores)
            if absent.best_score is not None:
                absent = replace(absent, best_score=np.full(len(absent), np.nan))
            absent = basis.of(absent, 0)
            kept.add(absent, len(names))
            yield part_of(absent, asked)

    queries = names
    if judged is not None:
        known: Ints = np.flatnonzero(judged.known)
        queries = (*(names[at] for at in known.tolist()), *judged.absent)
    scored = gathered(parts(), asked, queries)
    refuse_nothing(kept.pairs)
    return (scored, kept.rankings(scored)), None if best is None else best.top_k()


class _Kept:
    """The rankings of all pieces, as long as there are not too many pairs in them; pieces come from
    several threads."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._pieces: dict[int, Rankings] = {}
        self.pairs = 0
        """Those of all pieces."""
        self.empty: Rankings | None = None
        """Rankings of no query, as these are."""

    def add(self, r: Rankings, begin: int) -> None:
        with self._lock:
            self.pairs += len(r.pool_query)
            if self.empty is None:
                self.empty = r.take([])
            if self.pairs <= self._most:
                self._pieces[begin] = r
            else:
                self._pieces.clear()

    def rankings(self, scored: Scored) -> Rankings | None:
        if self.pairs > self._most:
            return None
        pieces = [self._pieces[begin] for begin in sorted(self._pieces)]
        return replace(Rankings.concat(pieces, scored.queries), findings=scored.about.findings)
