"""A search whose items are counted in parts, each by a process of its own, and put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from judged.arrays import Ints
from judged.embeddings.basis import basis_of
from judged.embeddings.pairs import Pairs
from judged.embeddings.relations import Bound, Judged, Relation, all_pairs
from judged.embeddings.search import Search, refuse_changes
from judged.embeddings.shards import prepared, signed
from judged.embeddings.shards.counts import Counts, read_counts, write_counts
from judged.embeddings.shards.ranks import AllPairs, count_shard
from judged.embeddings.shards.search import Prepared
from judged.errors import InputError
from judged.inputs.vectors.lazy import Lazy
from judged.inputs.vectors.vectors import Vectors
from judged.text import few

if TYPE_CHECKING:
    from judged.options import Path, Progress

_SAMPLE = 4096
"""Items whose numbers are part of the fingerprint of all items."""


class Parts:
    """A search made ready to be counted in parts: rows of items, from the first to the last."""

    def __init__(self, search: Search, relation: Relation, *, k: int | None = None) -> None:
        refuse_changes(search, "items that are counted in parts")
        if search.precision != "double":
            raise InputError(
                "items that are counted in parts are ranked in double precision, in which counts "
                "add up; leave precision (--precision) out."
            )
        self._search = search
        queries, items = search.queries, search.items
        bound = relation.bind(queries, items)
        pairs = all_pairs(bound, len(queries))
        judged = np.unique(pairs.item[pairs.item >= 0])
        self._judged: Ints = judged if len(judged) else np.zeros(1, np.int64)
        """The rows of items that are relevant to some query, or one row where none is."""
        self._gone: Pairs | None = None
        out: Bound | None = None
        if search.exclude is not None:
            self._gone = all_pairs(search.exclude.bind(queries, items), len(queries))
            out = AllPairs.of(self._among_judged(self._gone, others=False))
        inside = self._among_judged(pairs, others=True)
        of_judged = Search(
            queries=queries,
            items=_rows(items, self._judged),
            similarity=search.similarity,
            exclude=None,
            memory=search.memory,
            dims=search.dims,
            normalisation=None,
            categories=None,
        )
        ready = prepared(
            of_judged,
            replace(bound, item=inside.item) if isinstance(bound, Judged) else AllPairs.of(inside),
            out,
            k=k,
            basis=basis_of(search, relation),
        )
        self.ready: Prepared = signed(ready, more=self._fingerprint())

    def _among_judged(self, pairs: Pairs, *, others: bool) -> Pairs:
        """Pairs by the number of the judged item; with or without those of other items, as -1."""
        at = np.minimum(np.searchsorted(self._judged, pairs.item), len(self._judged) - 1)
        there = self._judged[at] == pairs.item
        found = replace(pairs, item=np.where(there, at, -1))
        return found if others else found.where(there)

    def _fingerprint(self) -> bytes:
        """Of what is excluded, and of the items: how many, their ids, and some of their numbers."""
        items, summed = self._search.items, blake2b(digest_size=16)
        summed.update(f"{items.values.shape} {items.values.dtype}".encode())
        rows = np.unique(np.linspace(0, len(items) - 1, _SAMPLE).astype(np.int64))
        summed.update(np.ascontiguousarray(items.rows(rows, np.float64)).data)
        for row in rows.tolist():
            summed.update(items.name(row).encode("utf-8", "surrogatepass") + b"\n")
        if self._gone is not None:
            for array in (self._gone.lengths, self._gone.item):
                summed.update(np.ascontiguousarray(array).data)
        return summed.digest()

    def count(self, part: int, parts: int, *, progress: Progress | None = None) -> Counts:
        """The counts of one part of the items, of so many; parts are numbered from 1."""
        items = self._search.items
        begin, end = (len(items) * at // parts for at in (part - 1, part))
        if begin == end:
            return self.ready.nothing()
        judged = self._judged[slice(*np.searchsorted(self._judged, [begin, end]))]
        gone = None
        if self._gone is not None:
            row, item = self._gone.row, self._gone.item
            here = (item >= begin) & (item < end) & ~np.isin(item, judged)
            gone = row[here], item[here] - begin
        mark = f"{part}/{parts}"
        return count_shard(
            self.ready, _slice(items, begin, end), judged - begin, gone, mark, progress=progress
        )


def save_part(counts: Counts, path: Path, part: int, parts: int) -> None:
    """Write the counts of a part, whole or not at all."""
    write_counts(counts, path, {"part": part, "parts": parts})


def read_parts(paths: Sequence[str]) -> Counts:
    """The counts of all parts, added up; each must be there once."""
    found: dict[int, str] = {}
    total: Counts | None = None
    expected: Any = None
    for path in paths:
        counts, about = read_counts(path)
        part, parts = about.get("part"), about.get("parts")
        if part is None or parts is None:
            raise InputError(
                f"{path}: holds counts, but not of a part, as `judged embeddings --part` writes it."
            )
        if expected not in (None, parts):
            raise InputError(
                f"{path}: is part {part} of {parts}, but {paths[0]} is one of {expected}; parts "
                "must be of one cut."
            )
        expected = parts
        if part in found:
            raise InputError(f"{path}: is part {part} of {parts}, and so is {found[part]}.")
        found[part] = path
        if total is not None and counts.of != total.of:
            raise InputError(
                f"{path}: was counted with other queries, items, relevance or options than "
                f"{paths[0]}; count it again."
            )
        total = counts if total is None else total + counts
    missing = [str(part) for part in range(1, (expected or 0) + 1) if part not in found]
    if total is None or missing:
        raise InputError(
            f"of {expected:,} parts these are missing: {few(missing)}."
            if missing
            else "there is no part to put together."
        )
    return total


def put_together(search: Search, relation: Relation, counts: Counts) -> Prepared:
    """The search that parts were counted for, made ready again; other counts are refused."""
    ready = Parts(search, relation, k=counts.k).ready
    if ready.start.of != counts.of:
        raise InputError(
            "the parts were counted with other queries, items, relevance or options than these; "
            "give the same, or count them again."
        )
    return ready


def _rows(vectors: Vectors, rows: Ints) -> Vectors:
    """Some of the vectors, with the names that they have."""
    names = tuple(vectors.name(row) for row in rows.tolist())
    return replace(vectors, values=vectors.rows(rows, vectors.precise), ids=names)


def _slice(vectors: Vectors, begin: int, end: int) -> Vectors:
    """Some of the vectors, one after the other, with the names that they have."""
    names = tuple(vectors.name(row) for row in range(begin, end))
    values = vectors.values
    if isinstance(values, Lazy):
        return replace(vectors, values=values.part(begin, end), ids=names)
    return replace(vectors, values=values[begin:end], ids=names)
