"""Which items are relevant to a query, or excluded from its ranking: `judged.relevance`.

Each of these may be given as relevance and as `exclude`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from judged.embeddings.relations import (
    EXCLUSION_LIST,
    Judgements,
    Lists,
    PairedRows,
    Relation,
    SameId,
    SameRow,
)
from judged.embeddings.relevance_by_label import SameLabel, SharedLabel
from judged.errors import InputError
from judged.options import choice

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
    """Items of the query's own label: a class, a person, a clip with five captions, a burst.

    Parameters
    ----------
    query_labels, item_labels : Labels
        One label per vector: texts, or whole numbers. Labels with ids (a dict, or a pandas Series
        whose index holds ids) are joined by id, others are in the order of the vectors.

    Returns
    -------
    Relation

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.1]])
    >>> both.rank(same_label(["cat"], ["cat", "dog"])).hit_rank.tolist()
    [2]
    """
    return SameLabel(query_labels, item_labels)


def shared_label(
    query_labels: Labels | Sequence[Iterable[Any]],
    item_labels: Labels | Sequence[Iterable[Any]],
    *,
    graded: bool = False,
) -> Relation:
    """Items that have at least one label in common with the query.

    Parameters
    ----------
    query_labels, item_labels : sequence of iterables
        Several labels per vector: lists of labels, or a matrix of 0 and 1 (multi-hot) with a column
        per label. Labels with ids are joined by id, as for `same_label`.
    graded : bool, optional
        Whether the grade is the number of labels in common; by default it is 1.

    Returns
    -------
    Relation

    >>> import judged
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.1]])
    >>> relevance = shared_label([["cat", "black"]], [["cat", "black"], ["dog"]], graded=True)
    >>> both.rank(relevance).hit_grade.tolist()
    [2.0]
    """
    return SharedLabel(query_labels, item_labels, graded)


def pairs() -> Relation:
    """The item with the query's own row number, where there are as many items as queries.

    Returns
    -------
    Relation

    >>> import judged
    >>> captions, clips = [[1.0, 0.1], [0.1, 1.0]], [[0.9, 0.0], [0.0, 0.8]]
    >>> judged.Embeddings(captions, clips).rank(pairs()).hit_rank.tolist()
    [1, 1]
    """
    return PairedRows()


def same_row() -> Relation:
    """The item with the query's own row number, if there is one: the query itself, to exclude it.

    Returns
    -------
    Relation

    >>> import judged
    >>> vectors, labels = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], ["a", "a", "b"]
    >>> both = judged.Embeddings(vectors, vectors, exclude=same_row())
    >>> both.rank(same_label(labels, labels)).hit_rank.tolist()
    [1, 1]
    """
    return SameRow()


def same_id() -> Relation:
    """The item with the query's own id, if there is one; both sides need ids.

    Returns
    -------
    Relation

    >>> import judged
    >>> ids = {"query_ids": ["a"], "item_ids": ["b", "a"]}
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.9, 0.1], [1.0, 0.0]], exclude=same_id(), **ids)
    >>> both.top_k(2).to_frame()["item"].to_list()
    ['b']
    """
    return SameId()


def listed(judgements: JudgementsLike) -> Relation:
    """The items that judgements list for a query, whatever their grade: to exclude them.

    Parameters
    ----------
    judgements : JudgementsLike
        A file, a dict {query: {item: grade}}, or a table; ids are those of the vectors, or row
        numbers.

    Returns
    -------
    Relation

    >>> import judged
    >>> exclude = listed({"0": {"1": 1}})
    >>> both = judged.Embeddings([[1.0, 0.0]], [[0.9, 0.1], [1.0, 0.0]], exclude=exclude)
    >>> both.top_k(2).items.tolist()
    [[0, -1]]
    """
    return Judgements(judgements, EXCLUSION_LIST)


_PROTOCOLS = {"easy": ("easy",), "medium": ("easy", "hard"), "hard": ("hard",)}
"""What each protocol of the revisited benchmarks asks for."""


def revisited(
    ground_truth: Sequence[Mapping[str, Sequence[int]]],
    protocol: Literal["easy", "medium", "hard"] = "medium",
) -> tuple[Relation, Relation]:
    """Relevance and exclusion of the revisited Oxford and Paris benchmarks.

    Use it with `AP(area=trapezoid)` and `empty="skip"`, as their own evaluation does.

    Parameters
    ----------
    ground_truth : sequence of dicts
        For each query its lists easy, hard and junk: row numbers of items.
    protocol : {"easy", "medium", "hard"}, optional
        Easy asks for the easy images and excludes the hard ones, hard does the reverse, medium
        asks for both; junk is always excluded.

    Returns
    -------
    tuple of Relation
        What is relevant, and what to exclude.

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

    return Lists(lists(wanted), "relevant"), Lists(lists(excluded), "junk")


def _rows_of(query: Any, part: str, place: int) -> list[int]:
    """Item rows of one list of the ground truth; none where there is no such list."""
    if not isinstance(query, Mapping):
        raise InputError(
            f"the ground truth of query {place} must be a dict of lists; got "
            f"{type(query).__name__}."
        )
    given = query.get(part, ())
    rows = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(rows, (list, tuple)) or not all(
        isinstance(row, (int, np.integer)) and not isinstance(row, bool) for row in rows
    ):
        raise InputError(
            f"the ground truth of query {place}: {part} must be a list of item rows, whole numbers "
            f"from 0; got {given!r}."
        )
    return [int(row) for row in rows]
