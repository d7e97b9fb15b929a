"""Numbers of a search: from its ranks at once or, where there are very many, piece after piece."""

from __future__ import annotations

from dataclasses import replace
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
    from judged.options import Progress
    from judged.policy import Policy

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
    policy = numbers.request.policy
    # First scores that are shown otherwise than they are ranked by are known at the end.
    plain = search.normalisation is None and search.precision == "double"
    few = _pairs(search, bound) * _BYTES <= size_in_bytes(search.memory)
    basis = basis_of(search, relation)
    if few or (numbers.unanswerable and not plain):
        ranked, found = counted_bound(search, bound, policy, name=name, top=top, progress=progress)
        r = basis.of(ranked, len(search.queries))
        return numbers.of([with_best(r, found)]), found
    r, found = _in_pieces(
        search,
        bound,
        basis,
        policy,
        name=name,
        top=top,
        with_best_scores=numbers.unanswerable,
        progress=progress,
    )
    return numbers.of([r]), found


def _pairs(search: Search, bound: Bound) -> int:
    """How many relevant pairs there are, at most."""
    most = getattr(bound, "most", None)
    queries = len(search.queries)
    return queries * len(search.items) if most is None else int(most(0, queries).sum())


def _in_pieces(
    search: Search,
    bound: Bound,
    basis: Basis,
    policy: Policy,
    *,
    name: str,
    top: int | None,
    with_best_scores: bool,
    progress: Progress | None,
) -> tuple[Rankings, TopK | None]:
    """Rank piece after piece, so that only one piece of the scores is in memory."""
    refuse_removal(policy)
    judged = bound if isinstance(bound, Judged) else None
    scores, fitted = scores_of(search)
    relevance = scores.relevance(bound) if isinstance(scores, UniqueProduct) else bound
    best = None if top is None else best_of(scores, top, policy, fitted)
    names = search.queries.names()

    def finish(counted: Counted) -> tuple[int, Rankings]:
        at = slice(counted.begin, counted.begin + len(counted.ranked))
        r = piece_of(names[at], [counted], policy, name)
        if best is not None and with_best_scores:
            r = replace(r, best_score=best.first_scores(at))
        if judged is not None:
            r = r.take(np.flatnonzero(judged.known[at]))
        return counted.begin, basis.of(r, len(counted.ranked))

    order = TieOrder(scores, policy.ties)
    pieces = dict(
        over_pieces(scores, relevance, finish, ties=order, onlooker=best, progress=progress)
    )
    blocks = [pieces[begin] for begin in sorted(pieces)]
    if judged is not None and judged.absent and blocks:
        absent = with_absent(blocks[0].take([]), judged, scores)
        if absent.best_score is not None:
            absent = replace(absent, best_score=np.full(len(absent), np.nan))
        blocks.append(basis.of(absent, 0))
    refuse_nothing(sum(len(block.pool_query) for block in blocks))
    queries = names
    if judged is not None:
        known: Ints = np.flatnonzero(judged.known)
        queries = (*(names[at] for at in known.tolist()), *judged.absent)
    return Rankings.concat(blocks, queries), None if best is None else best.top_k()
