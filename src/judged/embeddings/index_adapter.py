"""Indexes of other libraries, from memory or from a file, asked for the rows of the items they
find."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from judged.embeddings.product import Scores
from judged.errors import InputError, MissingExtraError, quoted
from judged.inputs.vectors.vectors import Vectors
from judged.segments import Ints

if TYPE_CHECKING:
    from judged.types import Ids, IndexLike


def as_index(given: IndexLike) -> Any:
    """An index as it is, or a faiss or usearch index from the file it was saved to."""
    return _read(os.fspath(given)) if isinstance(given, (str, os.PathLike)) else given


def _read(label: str) -> Any:
    try:
        with open(label, "rb") as file:
            head = file.read(256)
    except OSError as error:
        raise InputError(f"{label}: cannot be read ({error.strerror or error}).") from None
    except ValueError as error:  # a name that no file can have
        raise InputError(f"{quoted(label)}: cannot be read ({error}).") from None
    if b"usearch" in head or label.endswith(".usearch"):
        return _read_usearch(label)
    try:
        import faiss
    except ImportError:
        raise MissingExtraError(
            f"{label}: reading a faiss index needs faiss: pip install faiss-cpu."
        ) from None
    try:
        return faiss.read_index(label)
    except RuntimeError:
        raise InputError(f"{label}: is neither a faiss nor a usearch index.") from None


def _read_usearch(label: str) -> Any:
    try:
        from usearch.index import Index
    except ImportError:
        raise MissingExtraError(
            f"{label}: reading a usearch index needs usearch: pip install usearch."
        ) from None
    try:
        found = Index.restore(label)
    except (RuntimeError, ValueError) as error:
        raise InputError(f"{label}: not a usearch index that can be read ({error}).") from None
    if found is None:
        raise InputError(f"{label}: not a usearch index that can be read.")
    return found


class Setting(Protocol):
    """How an index searches: applied before it is asked."""

    def of(self, index: Any) -> Any:
        """The index to ask."""
        ...

    def apply(self) -> None: ...


class Adapter:
    """An index of whatever kind, asked for row numbers of items."""

    def __init__(
        self,
        index: Any,
        product: Scores,
        keys: Ids | None,
        *,
        setting: Setting | None = None,
        lock: Lock | None = None,
    ) -> None:
        self._queries, self._items = product.queries, product.items
        self._setting = setting
        self._ask = asking(index if setting is None else setting.of(index))
        self._one_at_a_time = lock or Lock()
        self._keys = None if keys is None else _checked_keys(keys, product.items)
        _check_dims(index, product.queries)
        held = _size(index)
        self.notes: tuple[str, ...] = ()
        if held is not None and held != len(product.items):
            self.notes = (
                f"The index holds {held:,} items, the exact search was over "
                f"{len(product.items):,}.",
            )

    def find(self, queries: Ints, k: int) -> Ints:
        """The rows of the items it returned for these queries, in ascending order, a row per query;
        -1 where there is none."""
        begin, end = int(queries[0]), int(queries[-1]) + 1
        block = (
            self._queries.block(begin, end)
            if end - begin == len(queries)
            else self._queries.rows(queries)
        )
        with self._one_at_a_time:  # one index under several settings is still one index
            if self._setting is not None:
                self._setting.apply()
            answer = self._ask(block, k)
        if answer.ndim != 2 or len(answer) != len(queries):
            raise InputError(
                f"the index returned shape {answer.shape} for {len(queries)} queries; "
                "it must return a matrix, one row per query, the best item first."
            )
        found = self._rows(answer, queries)[:, :k]
        ordered = np.sort(found, axis=1)
        again = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        if again.any():
            row, place = (int(at[0]) for at in np.nonzero(again))
            item = self._items.name(int(ordered[row, place]))
            raise InputError(f"the index returned item {item!r} {self._for(queries[row])} twice.")
        return found

    def _rows(self, answer: NDArray[Any], queries: Ints) -> Ints:
        if self._keys is None and answer.dtype.kind in "iu":
            found = answer.astype(np.int64)
            wrong = (found < -1) | (found >= len(self._items))
            if wrong.any():
                row, place = (int(at[0]) for at in np.nonzero(wrong))
                raise self._no_row(found[row, place], queries[row])
            return found
        place_of = self._keys if self._keys is not None else self._by_id
        none = {-1, None} - place_of.keys()
        found = np.full(answer.shape, -1, np.int64)
        for row, names in enumerate(answer.tolist()):
            for place, name in enumerate(names):
                if name in place_of:
                    found[row, place] = place_of[name]
                elif name in none:
                    continue
                elif self._keys is None and isinstance(name, (int, np.integer)):
                    # A row also where None or a text stands beside it, or it would depend on which
                    # queries are asked together.
                    if not 0 <= name < len(self._items):
                        raise self._no_row(int(name), queries[row])
                    found[row, place] = name
                else:
                    what = "id" if self._keys is None else "key"
                    raise InputError(
                        f"the index returned {name!r} {self._for(queries[row])}, which is no "
                        f"item's {what}."
                    )
        return found

    def _no_row(self, number: int, query: int) -> InputError:
        return InputError(
            f"the index returned item {number} {self._for(query)}, but items are numbered from 0 "
            f"to {len(self._items) - 1}; if its numbers are keys of its own, give keys, one for "
            "each item."
        )

    @cached_property
    def _by_id(self) -> dict[Any, int]:
        return {name: row for row, name in enumerate(self._items.names())}

    def _for(self, query: int) -> str:
        return f"for query {self._queries.name(int(query))!r}"


def asking(index: Any) -> Callable[[Any, int], NDArray[Any]]:
    """The way to ask an index: a block of queries and k in, a matrix of what it calls the items
    out."""
    if hasattr(index, "search"):

        def by_search(block: Any, k: int) -> NDArray[Any]:
            answer = index.search(block, k)
            if hasattr(answer, "keys") and hasattr(answer, "distances"):  # usearch
                return _usearch(answer)
            if isinstance(answer, (tuple, list)) and len(answer) == 2:  # faiss: distances first
                return np.asarray(answer[1])
            raise InputError(
                f"the search of {type(index).__name__} returned {type(answer).__name__}; {_FORMS}."
            )

        return by_search
    if callable(index):

        def by_call(block: Any, k: int) -> NDArray[Any]:
            try:
                answer = index(block, k)
            except TypeError as error:
                raise InputError(
                    f"the index function must take vectors and k ({error})."
                ) from error
            if not isinstance(answer, (tuple, list)) or len(answer) != 2:
                raise InputError(
                    f"the index function returned {type(answer).__name__}; it must return (items, "
                    "scores)."
                )
            return _matrix(answer[0])

        return by_call
    raise InputError(
        "an index has a search(vectors, k), or is a function of (vectors, k); got "
        f"{type(index).__name__}."
    )


_FORMS = "wrap it in a function of (vectors, k) that returns (items, scores)"


def _usearch(answer: Any) -> NDArray[Any]:
    """The keys, where fewer than k were found the rest -1; a single query comes back as one row."""
    keys = np.atleast_2d(np.asarray(answer.keys)).astype(np.int64)
    counts = getattr(answer, "counts", None)
    if counts is not None:
        keys[np.arange(keys.shape[1]) >= np.asarray(counts)[:, None]] = -1
    return keys


def _matrix(items: Any) -> NDArray[Any]:
    """Rows of items as a matrix; shorter rows are filled up with none."""
    if isinstance(items, np.ndarray) or not isinstance(items, (list, tuple)):
        return np.asarray(items)
    rows = [list(row) for row in items]
    width = max(map(len, rows), default=0)
    if all(isinstance(name, (int, np.integer)) for row in rows for name in row):
        return np.array([row + [-1] * (width - len(row)) for row in rows], dtype=np.int64).reshape(
            len(rows), width
        )
    matrix = np.full((len(rows), width), None, dtype=object)
    for at, row in enumerate(rows):
        matrix[at, : len(row)] = row
    return matrix


def _checked_keys(keys: Ids, items: Vectors) -> dict[Any, int]:
    if isinstance(keys, (str, bytes)) or not hasattr(keys, "__iter__"):
        raise InputError(f"keys must be a sequence, one for each item; got {quoted(keys)}.")
    names = np.asarray(list(keys) if isinstance(keys, (set, dict)) else keys).tolist()
    if not isinstance(names, list) or any(isinstance(name, list) for name in names):
        raise InputError(f"keys must be a sequence, one for each item; got {quoted(keys)}.")
    if len(names) != len(items):
        raise InputError(f"keys: {len(names)} keys for {len(items)} items; there must be as many.")
    known = {name: row for row, name in enumerate(names)}
    if len(known) < len(names):
        again = next(name for row, name in enumerate(names) if known[name] != row)
        raise InputError(f"keys: the key {again!r} occurs more than once.")
    return known


def _check_dims(index: Any, queries: Vectors) -> None:
    dims = next(
        (size for name in ("d", "ndim") if isinstance(size := getattr(index, name, None), int)),
        None,
    )
    if dims is not None and dims != queries.dims:
        raise InputError(
            f"the index has {dims} dimensions, {queries.source} have {queries.dims}; they must "
            "have as many. Was it built from these vectors?"
        )


def _size(index: Any) -> int | None:
    held = getattr(index, "ntotal", None)
    if held is None and hasattr(index, "search") and hasattr(index, "__len__"):
        held = len(index)
    return held if isinstance(held, int) else None
