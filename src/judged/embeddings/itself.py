"""Queries that are among the items: each finds itself first, and numbers look better than they
are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Floats, Ints
from judged.embeddings.relations import Relation, all_pairs
from judged.embeddings.relevance_by_label import SameLabel, SharedLabel
from judged.embeddings.similarity.equal import keys_of
from judged.embeddings.similarity.rounding import Precision
from judged.inputs.vectors.vectors import ROWS_AT_A_TIME, Matrix, Vectors, unit
from judged.rankings.rankings import Rankings
from judged.text import Warned

if TYPE_CHECKING:
    from judged.embeddings.search import Search

_SAMPLE = 32
"""Queries that are looked at before all of them are."""

_BY_CHANCE = 8
"""Fewer queries may have vectors of some of the items by chance."""
_SHARE = 0.01
"""Fewer of the queries hardly change a number."""
_SAME_DIRECTION = 1e-12
"""How far a cosine of vectors that differ in length only may be from 1."""
_KEY_COLUMNS = 16
"""Dimensions by which vectors of the same direction are looked up."""


def warned_of_itself(
    search: Search,
    relation: Relation | None = None,
    r: Rankings | None = None,
    *,
    back: bool = False,
) -> tuple[str, ...]:
    """Return a warning where queries are among the items and are ranked for themselves.

    None where what is ranked says that this is what is asked for: nothing is relevant to a query
    but itself. Where some of the queries are items, it is not said of those whose own item is
    judged, or is their pair. `back` is where items search for queries.
    """
    found = _own_items(search)
    if found is None or (r is not None and is_the_answer(r)):
        return ()
    own, how, exclude = found
    if (own < 0).any() and relation is not None and not isinstance(relation, _BY_LABEL):
        own = _without(own, relation, search, back)
    if search.exclude is not None:
        own = _without(own, search.exclude, search)
    ranked = int((own >= 0).sum())
    if not ranked or ranked < _SHARE * len(own):
        return ()
    who = "The queries" if ranked == len(own) else f"{ranked:,} of {len(own):,} queries"
    return (
        Warned(
            f"{who} are ranked among the items for themselves ({how}) and find themselves "
            f"first; leave each out of its own ranking, {exclude}."
        ),
    )


_BY_LABEL = (SameLabel, SharedLabel)


def _without(own: Ints, relation: Relation, search: Search, back: bool = False) -> Ints:
    """Return the items that queries themselves are, without those that a relation names."""
    sides = (search.items, search.queries) if back else (search.queries, search.items)
    pairs = all_pairs(relation.bind(*sides), len(sides[0]))
    query, item = (pairs.item, pairs.row) if back else (pairs.row, pairs.item)
    named = (query * len(search.items) + item)[pairs.item >= 0]
    at = np.arange(len(own)) * len(search.items) + own
    return np.where(np.isin(at, named), -1, own)


def is_the_answer(r: Rankings) -> bool:
    """One relevant item for each query, always at the top: the query itself, as in pairs."""
    sizes = np.bincount(r.pool_query, minlength=len(r))
    first = r.hit_rank if r.hit_tie_first is None else r.hit_tie_first
    return bool(sizes.max(initial=0) <= 1 and (first == 1).all())


_BY_ROW = "as with exclude=judged.relevance.same_row() (--exclude-self)"
_BY_ID = "as with exclude=judged.relevance.same_id() (--exclude-same-id)"
_BY_LIST = (
    "with ids on both sides and exclude=judged.relevance.same_id() (--exclude-same-id), or with a "
    "list of each query and its own item (--exclude-listed); --exclude-self would not do, because "
    "not every query is the item of its row"
)


def _own_items(search: Search) -> tuple[Ints, str, str] | None:
    """For each query the item that is itself, or -1, in which way, and how to exclude it; None
    where too few queries are among the items."""
    queries, items = search.queries, search.items
    if queries.dims != items.dims:
        return None
    by_chance = len(queries) < min(_BY_CHANCE, len(items))
    compared = [(_Numbers(queries, items), "equal vectors")]
    if search.similarity.name == "cosine":
        compared.append((_Directions(queries, items), "vectors of the same direction"))
    best: tuple[Ints, str, str] | None = None
    for same, how in compared:
        for own, exclude in _ways(same, by_chance):
            count = int((own >= 0).sum())
            if count == len(queries):
                return own, how, exclude
            if exclude is not _BY_ID:  # codes of a few bits meet by chance
                own = np.where((own >= 0) & _whole(queries, own), -1, own)
                count = int((own >= 0).sum())
            if count > (0 if best is None else int((best[0] >= 0).sum())):
                # By row, items that have nothing to do with the other queries would go too.
                best = own, how, _BY_LIST if exclude is _BY_ROW else exclude
    return None if best is None or (best[0] >= 0).sum() < _BY_CHANCE else best


def _ways(same: _Numbers, by_chance: bool) -> Iterator[tuple[Ints, str]]:
    """Items that queries may be, -1 for none: those of the same row, of the same id, and those of
    the same vector in memory."""
    queries, items = same.queries, same.items
    if not by_chance:
        rows = np.arange(len(queries))
        yield same.where(np.where(rows < len(items), rows, -1)), _BY_ROW
    if queries.ids is not None and items.ids is not None:
        place = {name: row for row, name in enumerate(items.ids)}
        yield same.where(np.array([place.get(name, -1) for name in queries.ids])), _BY_ID
    # Elsewhere there must be no other way to see it: what is in memory is looked through.
    if not by_chance and isinstance(items.values, np.ndarray):
        own = same.looked_up()
        if own is not None:
            yield same.where(own), _BY_LIST


def _whole(queries: Vectors, own: Ints) -> NDArray[np.bool_]:
    """Which of the queries that have an item hold whole numbers only."""
    rows = np.flatnonzero(own >= 0)
    found = np.zeros(len(own), bool)
    for some in _parts(rows, queries.dims):
        block = _read(queries, some, np.float64)
        found[some] = (block == np.rint(block)).all(axis=1)
    return found


def _parts(rows: Ints, dims: int) -> Iterator[Ints]:
    """Rows in parts of so many numbers as take little memory."""
    step = max(1, _NUMBERS // dims)
    for begin in range(0, len(rows), step):
        yield rows[begin : begin + step]


_NUMBERS = 1 << 22


def _read(side: Vectors, rows: Ints, kind: Precision) -> Matrix:
    """Read some rows, at once where they stand one after the other."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows) and (np.diff(rows) == 1).all():
        return side.block(int(rows[0]), int(rows[-1]) + 1, kind)
    return side.rows(rows, kind)


class _Numbers:
    """Queries and items that are compared number for number."""

    def __init__(self, queries: Vectors, items: Vectors) -> None:
        self.queries, self.items = queries, items
        # The precision that both have: the same numbers may be there in two.
        both = queries.precise is np.float64 and items.precise is np.float64
        self._kind: Precision = np.float64 if both else np.float32

    def where(self, own: Ints) -> Ints:
        """Return the items that queries have the vectors of, -1 for others; a few are compared
        first."""
        queries, items = self.queries, self.items
        in_order = np.array_equal(own, np.arange(len(own)))
        if queries.values is items.values and in_order and len(own) <= len(items):
            return own
        rows, found = np.flatnonzero(own >= 0), np.full(len(own), -1)
        few = rows[np.unique(np.linspace(0, len(rows) - 1, _SAMPLE).astype(np.int64))[: len(rows)]]
        if not len(few) or not self._same(*self._both(few, own)).any() or not self._apart(few, own):
            return found
        for some in _parts(rows, queries.dims):
            same = self._same(*self._both(some, own))
            found[some[same]] = own[some[same]]
        queries.release()
        items.release()
        return found

    def looked_up(self) -> Ints | None:
        """For each query the one item that may have its vector, -1 where there is none or several,
        as with coarse codes; None where too few may have one."""
        firsts = self._column(self.items)
        if np.isin(self._column(self.queries), firsts).sum() < _BY_CHANCE:
            return None
        return self._by_key(keys_of)

    def _by_key(self, key: Callable[[Matrix], NDArray[np.uint64]]) -> Ints:
        of_queries, of_items = (
            np.concatenate([key(block) for _, block in side.blocks(ROWS_AT_A_TIME, self._kind)])
            for side in (self.queries, self.items)
        )
        order = np.argsort(of_items, kind="stable")
        begin, end = (
            np.searchsorted(of_items[order], of_queries, side=side) for side in ("left", "right")
        )
        own = np.where(end - begin == 1, order[np.minimum(begin, len(order) - 1)], -1)
        # An item is one query: others of the same vector are no copies of it.
        first = np.unique(own, return_index=True)[1]
        alone = np.zeros(len(own), bool)
        alone[first] = True
        return np.where(alone, own, -1)

    def _column(self, side: Vectors) -> Matrix:
        with np.errstate(over="ignore"):
            blocks = (block[:, 0] for _, block in side.blocks(ROWS_AT_A_TIME, self._kind))
            return (
                side.values[:, 0].astype(self._kind)
                if isinstance(side.values, np.ndarray)
                else np.concatenate(list(blocks))
            )

    def _both(self, rows: Ints, own: Ints) -> tuple[Matrix, Matrix]:
        return _read(self.queries, rows, self._kind), _read(self.items, own[rows], self._kind)

    def _same(self, left: Matrix, right: Matrix) -> NDArray[np.bool_]:
        return (left == right).all(axis=1)

    def _apart(self, few: Ints, own: Ints) -> bool:
        """Whether a query can be told from the items of others."""
        return True


class _Directions(_Numbers):
    """Queries and items that are compared by their directions."""

    def looked_up(self) -> Ints | None:
        at = np.unique(np.linspace(0, self.queries.dims - 1, _KEY_COLUMNS).astype(np.int64))

        def key(block: Matrix) -> NDArray[np.uint64]:
            some = block[:, at].astype(np.float64)
            lengths = np.sqrt(np.einsum("ij,ij->i", some, some))
            # Rounded, so that copies of another length have the same key but for one in thousands.
            near = np.round(some / np.where(lengths > 0, lengths, 1)[:, None], 4)
            return keys_of(near.astype(np.float32))

        return self._by_key(key)

    def _same(self, left: Matrix, right: Matrix) -> NDArray[np.bool_]:
        return self._off(left, right) <= _SAME_DIRECTION

    def _off(self, left: Matrix, right: Matrix) -> Floats:
        """Half the squared distance of vectors of length 1: their cosine's from 1."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
            apart = unit(left) - unit(right)
            return np.asarray(np.einsum("ij,ij->i", apart, apart)) / 2

    def _apart(self, few: Ints, own: Ints) -> bool:
        if len(few) < 2:
            return False
        left, right = self._both(few, own)
        return bool(np.median(self._off(left, np.roll(right, 1, axis=0))) > 1e6 * _SAME_DIRECTION)
