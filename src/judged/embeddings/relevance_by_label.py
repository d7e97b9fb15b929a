"""Relevance by labels: one per vector, the query's own, or several, one in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints, positions, starts_of
from judged.embeddings.pairs import Pairs
from judged.embeddings.relations import Bound
from judged.errors import InputError
from judged.inputs.vectors.labels import in_order_of
from judged.inputs.vectors.vectors import Vectors, array_of
from judged.text import quote


@dataclass(frozen=True, eq=False)
class SameLabel:
    """Items whose label is the query's own."""

    query_labels: Any
    item_labels: Any
    says: ClassVar[str] = "items of the query's own label"
    complete: ClassVar[bool] = True

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        of_queries, of_items = _codes(
            _labels(self.query_labels, queries), _labels(self.item_labels, items)
        )
        order = np.argsort(of_items, kind="stable")
        counts = np.bincount(
            of_items, minlength=int(max(of_queries.max(initial=-1), of_items.max(initial=-1))) + 1
        )
        return _ByCode(of_queries, order, counts, starts_of(counts))


@dataclass(frozen=True, eq=False)
class _ByCode:
    exact: ClassVar[bool] = True
    query_code: Ints
    order: Ints
    counts: Ints
    starts: Ints

    def block(self, begin: int, end: int) -> Pairs:
        code = self.query_code[begin:end]
        lengths = self.counts[code]
        item = self.order[positions(self.starts[code], lengths)]
        return Pairs(lengths, item, np.ones(len(item)))

    def most(self, begin: int, end: int) -> Ints:
        return self.counts[self.query_code[begin:end]]


def _codes(left: NDArray[Any], right: NDArray[Any]) -> tuple[Ints, Ints]:
    """Labels as whole numbers, the same for the same label; texts and 64-bit numbers stay exact."""
    if left.dtype.kind != right.dtype.kind and "U" in (left.dtype.kind, right.dtype.kind):
        raise InputError(
            f"labels of queries are {_kind(left)}, those of items are {_kind(right)}; make both "
            "texts or both numbers."
        )
    # Signed and unsigned 64-bit numbers, which only Python holds all.
    if np.result_type(left, right).kind == "f":
        left, right = left.astype(object), right.astype(object)
    _, code = np.unique(np.concatenate([left, right]), return_inverse=True)
    return code[: len(left)].astype(np.int64), code[len(left) :].astype(np.int64)


def _labels(given: Any, vectors: Vectors) -> NDArray[Any]:
    given = in_order_of(vectors, given)
    try:
        labels = np.asarray(array_of(given, "the labels") if hasattr(given, "shape") else given)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(
            f"{vectors.source}: one label is needed for each of the {len(vectors)} vectors; got "
            f"{type(given).__name__}, which cannot be read as a sequence of labels."
        ) from None
    if labels.dtype.kind == "O" and labels.ndim == 1:
        missing = [row for row, label in enumerate(labels.tolist()) if _is_missing(label)]
        if missing and len(labels) == len(vectors):
            raise InputError(
                f"{vectors.source}: vector {vectors.name(missing[0])} has no label; give it one."
            )
        labels = np.array([str(label) for label in labels.tolist()])
    elif labels.dtype.kind == "S":
        try:
            labels = np.char.decode(labels, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{vectors.source}: the labels are not UTF-8 text.") from None
    if labels.ndim != 1 or len(labels) != len(vectors):
        raise InputError(
            f"{vectors.source}: labels have shape {labels.shape}; one is needed for each of the "
            f"{len(vectors)} vectors."
        )
    if labels.dtype.kind in "UT":
        _refuse_ids((re.split(r"[\s,;]+", str(each), maxsplit=1) for each in labels), vectors)
    if labels.dtype.kind not in "biufUOT":
        raise InputError(
            f"{vectors.source}: labels must be texts or whole numbers; got {labels.dtype}."
        )
    if labels.dtype.kind == "f":
        if (
            not np.isfinite(labels).all()
            or (labels != np.floor(labels)).any()
            or np.abs(labels).max(initial=0) >= 2**53
        ):
            raise InputError(
                f"{vectors.source}: labels are floating-point numbers; give whole numbers or texts."
            )
        labels = labels.astype(np.int64)
    return labels


def _refuse_ids(parts: Iterable[list[Any]], vectors: Vectors) -> None:
    """Refuse labels that begin with the ids of vectors, in lines that have no columns."""
    known, name = set(vectors.ids or ()), None
    for each in parts:
        if len(each) < 2 or each[0] not in known:
            return
        name = each[0]
    if name is None:
        return
    raise InputError(
        f"{vectors.source}: each label begins with the id of a vector, as {name!r}; give labels "
        "and ids in a table (CSV, TSV, Parquet) with the columns id and label."
    )


def _is_missing(label: Any) -> bool:
    """None, NaN, and what frames have for them."""
    return type(label).__name__ in ("NoneType", "NAType", "NaTType") or (
        isinstance(label, float) and label != label
    )


def _kind(labels: NDArray[Any]) -> str:
    return "texts" if labels.dtype.kind == "U" else "numbers"


@dataclass(frozen=True, eq=False)
class SharedLabel:
    """Items that have at least one label in common with the query; several labels per vector."""

    query_labels: Any
    item_labels: Any
    graded: bool = False
    """Whether the grade is the number of labels in common, not 1."""
    complete: ClassVar[bool] = True

    @property
    def says(self) -> str:
        grade = "; the grade is how many" if self.graded else ""
        return f"items with a label in common with the query{grade}"

    @property
    def _both(self) -> tuple[Any, Any]:
        return self.query_labels, self.item_labels

    def bind(self, queries: Vectors, items: Vectors) -> Bound:
        left, right = (
            _lists(part, vectors)
            for part, vectors in zip(self._both, (queries, items), strict=True)
        )
        for labels, vectors in ((left, queries), (right, items)):
            if (text := next((each for each in labels if isinstance(each, str)), None)) is not None:
                raise InputError(
                    f"{vectors.source}: {text!r} is one text, not a list of labels; give a list "
                    "for each vector, or use judged.relevance.same_label(…)."
                )
            if len(labels) != len(vectors):
                raise InputError(
                    f"{vectors.source}: {len(labels)} lists of labels for {len(vectors)} vectors; "
                    "there must be as many."
                )
        left, right = _without_zeros((left, right), (queries, items))
        known = {
            label: code
            for code, label in enumerate(dict.fromkeys(label for each in right for label in each))
        }
        counts = np.array([len(set(each)) for each in right], dtype=np.int64)
        label = np.array(
            [known[name] for each in right for name in dict.fromkeys(each)], dtype=np.int64
        )
        item = np.repeat(np.arange(len(right)), counts)
        order = np.argsort(label, kind="stable")
        per_label = np.bincount(label, minlength=len(known))
        wanted = [[known[name] for name in dict.fromkeys(each) if name in known] for each in left]
        return _ByLabels(
            wanted, item[order], per_label, starts_of(per_label), len(right), self.graded
        )


def _lists(given: Any, vectors: Vectors) -> list[Any]:
    """Return a list of labels for each vector; a text stays as it is."""
    given = in_order_of(vectors, given, several=True)
    if hasattr(given, "tocsr") and hasattr(given, "toarray"):  # a sparse matrix of scipy
        given = given.toarray()
    try:
        rows = np.asarray(array_of(given, "the labels")) if hasattr(given, "shape") else given
        lists = [each if isinstance(each, str) else _row(each) for each in rows]
        for each in lists:
            set(each)
    except TypeError:
        raise InputError(
            f"{vectors.source}: a list of labels is needed for each vector, texts or numbers; got "
            f"{quote(repr(given))}."
        ) from None
    numbers = [each for row in lists for each in row if isinstance(each, float)]
    if (bad := next((each for each in numbers if each != np.floor(each)), None)) is not None:
        raise InputError(
            f"{vectors.source}: labels are whole numbers or texts, or a matrix of 0 and 1; got "
            f"{bad!r}."
        )
    if not any(isinstance(each, str) for each in lists):
        _refuse_ids(map(list, lists), vectors)
    return lists


def _row(labels: Any) -> list[Any]:
    """Return the labels of a vector as plain values, also those of an array or a tensor."""
    if hasattr(labels, "shape"):
        return np.asarray(array_of(labels, "the labels")).tolist()
    return [each.item() if hasattr(each, "item") else each for each in labels]


_BITS = {0: False, 1: True, "0": False, "1": True, "0.0": False, "1.0": True}
_BITS |= {"false": False, "true": True, "False": False, "True": True}
Sides = tuple[list[list[Any]], list[list[Any]]]


def _without_zeros(sides: Sides, vectors: tuple[Vectors, Vectors]) -> Sides:
    """Return lists of labels as they are; of matrices of 0 and 1 the columns that hold a 1.

    A row of a matrix repeats a number, which a list of labels does not: three columns always do.
    """
    widths = [{len(row) for row in rows} for rows in sides]
    bits = [
        len(width) == 1 and all(label in _BITS for row in rows for label in row)
        for width, rows in zip(widths, sides, strict=True)
    ]
    if all(bits) and widths[0] == widths[1]:
        width = widths[0].pop()
        if width == 1 and not all(_BITS[row[0]] for rows in sides for row in rows):
            raise InputError(
                "the labels are one 0 or 1 for each vector, which could be one label each or a "
                "matrix of one column. Use judged.relevance.same_label([0, 1, …]) (--labels) for "
                "one label each. For a matrix of one column, write its label as a text, "
                "['a'] for 1 and an empty list for 0."
            )
        there = [
            [[at for at, label in enumerate(row) if _BITS[label]] for row in rows] for rows in sides
        ]
        return there[0], there[1]
    for rows, is_bits, side in zip(sides, bits, vectors, strict=True):
        repeated = Counter(
            label for row in rows for label, times in Counter(row).items() if times > 1
        )
        if is_bits and repeated:
            raise InputError(
                f"{side.source}: labels are a matrix of 0 and 1, and those of the other side are "
                "lists of labels, or a matrix of other columns; give both in the same form."
            )
        same_width = len({len(row) for row in rows}) == 1
        if same_width and len(repeated) == 1 and next(iter(repeated)) in (0, -1):
            raise InputError(
                f"{side.source}: rows of labels repeat {next(iter(repeated))}, so they could be "
                "counts, one column per label, or lists that are filled up. Give a matrix of 0 "
                "and 1, or lists of labels without filling."
            )
    return sides


@dataclass(frozen=True, eq=False)
class _ByLabels:
    wanted: list[list[int]]
    item: Ints
    counts: Ints
    starts: Ints
    items: int
    graded: bool

    def block(self, begin: int, end: int) -> Pairs:
        lists = self.wanted[begin:end]
        label = np.array([code for each in lists for code in each], dtype=np.int64)
        row = np.repeat(np.arange(len(lists)), [len(each) for each in lists])
        lengths = self.counts[label]
        found = self.item[positions(self.starts[label], lengths)]
        key, shared = np.unique(np.repeat(row, lengths) * self.items + found, return_counts=True)
        grade = shared.astype(np.float64) if self.graded else np.ones(len(key))
        return Pairs(np.bincount(key // self.items, minlength=len(lists)), key % self.items, grade)

    def most(self, begin: int, end: int) -> Ints:
        lists = self.wanted[begin:end]
        label = np.array([code for each in lists for code in each], dtype=np.int64)
        row = np.repeat(np.arange(len(lists)), [len(each) for each in lists])
        return np.bincount(row, self.counts[label], minlength=len(lists)).astype(np.int64)
