"""Relevance and exclusions for embeddings: `judged.relevance`.

Each function returns a `Relation`, which can be given as relevance and as `exclude`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from judged.arrays import Ints, positions, starts_of
from judged.embeddings import relations
from judged.embeddings.relations import (
    EXCLUSION_LIST,
    Bound,
    ComputedPairs,
    DeclaredRelation,
    JudgementRelation,
    Pairs,
    Relation,
)
from judged.errors import InputError
from judged.inputs.vectors.labels import in_order_of
from judged.inputs.vectors.vectors import Vectors, array_of
from judged.options import checked, choice
from judged.text import quote

if TYPE_CHECKING:
    from judged.options import JudgementsLike, Labels

__all__ = [
    "Relation",
    "listed",
    "pairs",
    "revisited",
    "same_id",
    "same_label",
    "same_row",
    "shared_label",
]


def same_label(query_labels: Labels, item_labels: Labels) -> Relation:
    """Make items with the same label as the query relevant, such as a class, person or clip.

    Parameters
    ----------
    query_labels, item_labels : Labels
        One label per vector: texts, or whole numbers. Labels with ids (a dict, or a pandas Series
        whose index holds ids) are joined by id; others are in the order of the vectors.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.1]])
    >>> both.rank(same_label(["cat"], ["cat", "dog"])).hit_rank.tolist()
    [2]
    """

    def bind(queries: Vectors, items: Vectors) -> Bound:
        return _bind_same_label(labels_of(query_labels, queries), labels_of(item_labels, items))

    return DeclaredRelation("items of the query's own label", bind, is_by_label=True)


@checked
def shared_label(
    query_labels: Labels | Sequence[Iterable[Any]],
    item_labels: Labels | Sequence[Iterable[Any]],
    *,
    graded: bool = False,
) -> Relation:
    """Make items that share at least one label with the query relevant.

    Parameters
    ----------
    query_labels, item_labels : sequence of iterables
        Several labels per vector: lists of labels, or a matrix of 0 and 1 (multi-hot) with a column
        per label. Labels with ids are joined by id, as for `same_label`.
    graded : bool, optional
        Whether the grade is the number of labels in common; by default it is 1.

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.1]])
    >>> relevance = shared_label([["cat", "black"]], [["cat", "black"], ["dog"]], graded=True)
    >>> both.rank(relevance).hit_grade.tolist()
    [2.0]
    """

    def bind(queries: Vectors, items: Vectors) -> Bound:
        sides = _lists(query_labels, queries), _lists(item_labels, items)
        return _bind_shared_label(*_without_zeros(sides, (queries, items)), graded)

    grade = "; the grade is how many" if graded else ""
    return DeclaredRelation(
        f"items with a label in common with the query{grade}", bind, is_by_label=True
    )


def pairs() -> Relation:
    """Make the item in the query's own row relevant; there are as many items as queries.

    >>> import judged
    >>> captions, clips = [[1.0, 0.1], [0.1, 1.0]], [[0.9, 0.0], [0.0, 0.8]]
    >>> judged.Embeddings(captions, clips).rank(pairs()).hit_rank.tolist()
    [1, 1]
    """
    return relations.same_row(paired=True)


def same_row() -> Relation:
    """Select the item in the query's own row, if there is one: to exclude queries themselves.

    >>> import judged
    >>> vectors, labels = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], ["a", "a", "b"]
    >>> both = judged.Embeddings(vectors, vectors, exclude=same_row())
    >>> both.rank(same_label(labels, labels)).hit_rank.tolist()
    [1, 1]
    """
    return relations.same_row()


def same_id() -> Relation:
    """Select the item with the query's own id, if there is one; both sides need ids.

    >>> import judged
    >>> ids = {"query_ids": ["a"], "item_ids": ["b", "a"]}
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.9, 0.1], [1.0, 0.0]], exclude=same_id(), **ids)
    >>> both.top_k(2).to_frame()["item"].to_list()
    ['b']
    """
    return DeclaredRelation(
        "the item with the query's own id", relations.bind_same_id, is_by_id=True
    )


def listed(judgements: JudgementsLike) -> Relation:
    """Select the items that judgements list for a query, of any grade: to exclude them.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table; ids are those of the vectors, or row
        numbers.

    >>> import judged
    >>> exclude = listed({"0": {"1": 1}})
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.9, 0.1], [1.0, 0.0]], exclude=exclude)
    >>> both.top_k(2).items.tolist()
    [[0, -1]]
    """
    return JudgementRelation(judgements, EXCLUSION_LIST)


_PROTOCOLS = {"easy": ("easy",), "medium": ("easy", "hard"), "hard": ("hard",)}
"""The lists that are relevant in each protocol of the revisited benchmarks."""


def revisited(
    ground_truth: Sequence[Mapping[str, Sequence[int]]],
    protocol: Literal["easy", "medium", "hard"] = "medium",
) -> tuple[Relation, Relation]:
    """Return relevance and exclusions of the revisited Oxford and Paris benchmarks.

    Use them with `AP(area=trapezoid)` and `empty="skip"`, as in the benchmarks' own evaluation.

    Parameters
    ----------
    ground_truth : sequence of dicts
        For each query its lists easy, hard and junk: row numbers of items.
    protocol : {"easy", "medium", "hard"}, optional
        With easy, easy images are relevant and hard ones are excluded; hard is the reverse. With
        medium, both are relevant. Junk is always excluded.

    Returns
    -------
    tuple of Relation
        Relevance and exclusions.

    >>> import judged
    >>> relevance, exclude = revisited([{"easy": [0], "hard": [2], "junk": [1]}], "easy")
    >>> items = [[0.0, 1.0], [1.0, 0.1], [0.5, 1.0]]
    >>> both = judged.Embeddings([[1.0, 0.0]], items, exclude=exclude)
    >>> both.rank(relevance).hit_rank.tolist()
    [1]
    """
    wanted = _PROTOCOLS[choice("protocol", protocol, _PROTOCOLS)]
    excluded = tuple(part for part in ("easy", "hard", "junk") if part not in wanted)

    if not isinstance(ground_truth, Sequence) or isinstance(ground_truth, (str, bytes)):
        raise InputError(
            "the ground truth must be a sequence of dicts, one for each query; got "
            f"{type(ground_truth).__name__}."
        )

    def lists(parts: tuple[str, ...]) -> list[list[int]]:
        return [
            sorted({number for part in parts for number in _rows_of(query, part, place)})
            for place, query in enumerate(ground_truth)
        ]

    return relations.row_lists(lists(wanted), "relevant"), relations.row_lists(
        lists(excluded), "junk"
    )


def _rows_of(query: Any, part: str, place: int) -> list[int]:
    """Return the item rows of one list of the ground truth."""
    if not isinstance(query, Mapping):
        raise InputError(
            f"the ground truth of query {place} must be a dict of lists; got "
            f"{type(query).__name__}."
        )
    listed_rows = query.get(part, ())
    rows = listed_rows.tolist() if isinstance(listed_rows, np.ndarray) else listed_rows
    if not isinstance(rows, (list, tuple)) or not all(
        isinstance(row, (int, np.integer)) and not isinstance(row, bool) for row in rows
    ):
        raise InputError(
            f"the ground truth of query {place}: {part} must be a list of item rows, whole numbers "
            f"from 0; got {listed_rows!r}."
        )
    return [int(row) for row in rows]


# -- labels


def are_labels(relevance: Any) -> bool:
    """Tell whether relevance is a sequence of labels, or a pair of them.

    >>> are_labels(["a", "b"]), are_labels(([1, 2], [2, 1, 1])), are_labels({"q": {"a": 1}})
    (True, True, False)
    """
    if isinstance(relevance, tuple) and len(relevance) == 2:
        return all(isinstance(side, Mapping) or _is_one_sequence(side) for side in relevance)
    return _is_one_sequence(relevance)


def _is_one_sequence(labels: Any) -> bool:
    if hasattr(labels, "shape"):
        return len(labels.shape) == 1
    return isinstance(labels, (list, tuple)) and all(
        isinstance(label, (str, int, np.generic)) for label in labels
    )


def side_labels(labels: Any, queries: Vectors, items: Vectors) -> tuple[Any, Any]:
    if isinstance(labels, tuple) and len(labels) == 2 and not _is_one_sequence(labels):
        return labels
    if len(queries) != len(items):
        raise InputError(
            f"one sequence of labels is for queries that are the items, but there are "
            f"{len(queries)} queries and {len(items)} items. Give labels=(query labels, item "
            "labels)."
        )
    return labels, labels


def _bind_same_label(query_labels: NDArray[Any], item_labels: NDArray[Any]) -> Bound:
    of_queries, of_items = _codes(query_labels, item_labels)
    order = np.argsort(of_items, kind="stable")
    labels = int(max(of_queries.max(initial=-1), of_items.max(initial=-1))) + 1
    counts = np.bincount(of_items, minlength=labels)
    starts = starts_of(counts)

    def block(begin: int, end: int) -> Pairs:
        code = of_queries[begin:end]
        item = order[positions(starts[code], counts[code])]
        return Pairs(counts[code], item, np.ones(len(item)))

    return ComputedPairs(block, lambda begin, end: counts[of_queries[begin:end]])


def _codes(left: NDArray[Any], right: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return labels as whole numbers, the same for the same label."""
    if left.dtype.kind != right.dtype.kind and "U" in (left.dtype.kind, right.dtype.kind):
        raise InputError(
            f"the labels of queries are {_kind(left)} but those of items are {_kind(right)}. Make "
            "both texts or both numbers."
        )
    # Signed and unsigned 64-bit numbers together fit only into Python's own.
    if np.result_type(left, right).kind == "f":
        left, right = left.astype(object), right.astype(object)
    _, code = np.unique(np.concatenate([left, right]), return_inverse=True)
    return code[: len(left)].astype(np.int64), code[len(left) :].astype(np.int64)


def labels_of(
    given: Any, vectors: Vectors, one: str = "label", many: str = "labels"
) -> NDArray[Any]:
    """Return one label for each vector, texts or whole numbers; messages call them `many`."""
    given = in_order_of(vectors, given)
    try:
        labels = np.asarray(array_of(given, f"the {many}") if hasattr(given, "shape") else given)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(
            f"{vectors.source}: one {one} is needed for each of the {len(vectors)} vectors; got "
            f"{type(given).__name__}, which cannot be read as a sequence of {many}."
        ) from None
    if labels.ndim != 1 or len(labels) != len(vectors):
        raise InputError(
            f"{vectors.source}: {many} have shape {labels.shape}; one is needed for each of the "
            f"{len(vectors)} vectors."
        )
    if labels.dtype.kind in "OfUT":
        missing = [row for row, label in enumerate(labels.tolist()) if _is_missing(label)]
        if missing:
            raise InputError(
                f"{vectors.source}: vector {vectors.name(missing[0])} has no {one}; give it one."
            )
    if labels.dtype.kind == "O":
        labels = np.array([str(label) for label in labels.tolist()])
    elif labels.dtype.kind == "S":
        try:
            labels = np.char.decode(labels, "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{vectors.source}: the {many} are not UTF-8 text.") from None
    if labels.dtype.kind not in "biufUOT":
        raise InputError(
            f"{vectors.source}: {many} must be texts or whole numbers; got {labels.dtype}."
        )
    if labels.dtype.kind == "f":
        if (
            not np.isfinite(labels).all()
            or (labels != np.floor(labels)).any()
            or np.abs(labels).max(initial=0) >= 2**53
        ):
            raise InputError(
                f"{vectors.source}: {many} are floating-point numbers; give whole numbers or texts."
            )
        labels = labels.astype(np.int64)
    return labels


def _is_missing(label: Any) -> bool:
    """Tell whether a label is None, NaN, an empty text, or the missing value of a frame."""
    return type(label).__name__ in ("NoneType", "NAType", "NaTType") or (
        isinstance(label, (float, str)) and (label != label or label == "")
    )


def _kind(labels: NDArray[Any]) -> str:
    return "texts" if labels.dtype.kind == "U" else "numbers"


def _bind_shared_label(left: list[list[Any]], right: list[list[Any]], graded: bool) -> Bound:
    code = {label: number for number, label in enumerate(dict.fromkeys(chain(*right)))}
    of_items = [[code[name] for name in dict.fromkeys(entry)] for entry in right]
    wanted = [[code[name] for name in dict.fromkeys(entry) if name in code] for entry in left]
    item, label = _flat(of_items)
    item = item[np.argsort(label, kind="stable")]
    counts = np.bincount(label, minlength=len(code))
    starts, items_count = starts_of(counts), len(right)

    def block(begin: int, end: int) -> Pairs:
        row, label = _flat(wanted[begin:end])
        lengths = counts[label]
        own = item[positions(starts[label], lengths)]
        pair = np.repeat(row, lengths) * items_count + own
        key, shared = np.unique(pair, return_counts=True)
        grade = shared.astype(np.float64) if graded else np.ones(len(key))
        size = np.bincount(key // items_count, minlength=end - begin)
        return Pairs(size, key % items_count, grade)

    def most(begin: int, end: int) -> Ints:
        row, label = _flat(wanted[begin:end])
        return np.bincount(row, counts[label], minlength=end - begin).astype(np.int64)

    return ComputedPairs(block, most)


def _flat(lists: list[list[int]]) -> tuple[Ints, Ints]:
    row = np.repeat(np.arange(len(lists)), [len(entry) for entry in lists])
    return row, np.array([number for entry in lists for number in entry], dtype=np.int64)


def _lists(given: Any, vectors: Vectors) -> list[Any]:
    given = in_order_of(vectors, given, several=True)
    if hasattr(given, "tocsr") and hasattr(given, "toarray"):  # a sparse matrix of scipy
        given = given.toarray()
    try:
        rows = np.asarray(array_of(given, "the labels")) if hasattr(given, "shape") else given
        lists = [entry if isinstance(entry, str) else _row(entry) for entry in rows]
        for entry in lists:
            set(entry)
    except TypeError:
        raise InputError(
            f"{vectors.source}: a list of labels is needed for each vector, texts or numbers; got "
            f"{quote(repr(given))}."
        ) from None
    numbers = [entry for row in lists for entry in row if isinstance(entry, float)]
    if (bad := next((entry for entry in numbers if entry != np.floor(entry)), None)) is not None:
        raise InputError(
            f"{vectors.source}: labels are whole numbers or texts, or a matrix of 0 and 1; got "
            f"{bad!r}."
        )
    if (text := next((entry for entry in lists if isinstance(entry, str)), None)) is not None:
        raise InputError(
            f"{vectors.source}: {text!r} is one text, not a list of labels; give a list for each "
            "vector, or use judged.relevance.same_label(…)."
        )
    if len(lists) != len(vectors):
        raise InputError(
            f"{vectors.source}: {len(lists)} lists of labels for {len(vectors)} vectors; the "
            "numbers must match."
        )
    return lists


def _row(labels: Any) -> list[Any]:
    """Return the labels of a vector as plain values, also those of an array or a tensor."""
    if hasattr(labels, "shape"):
        return np.asarray(array_of(labels, "the labels")).tolist()
    return [entry.item() if hasattr(entry, "item") else entry for entry in labels]


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
